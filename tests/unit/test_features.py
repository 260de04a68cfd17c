"""Features of pairs: values worked out by hand, the tree kernel by its fragments, the cache."""

import gzip
import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

from qasel.datasets import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.text import features, tokenize
from qasel.text.features import documents, pairs, trees
from qasel.text.features.pairs import Concepts, content_stems, stems
from qasel.text.features.trees import Tree, parse, partial_tree_kernel, ptk

try:
    trees.find_parser()
    NO_PARSER = ""
except QaselError as error:
    NO_PARSER = str(error)
needs_parser = pytest.mark.skipif(bool(NO_PARSER), reason=NO_PARSER)


OF_WORDS = features.NAMES[:6]


def of_words(name, question, candidate):
    return getattr(pairs, name)(question.split(), candidate.split())


@pytest.mark.parametrize(
    ("name", "question", "candidate", "value"),
    [
        ("cosine", "a a b", "a b b b", (2 * 1 + 1 * 3) / math.sqrt(5 * 10)),
        ("cosine", "a b", "b a b a", 1.0),
        ("jaccard", "a a b c", "b c c d", 2 / 4),
        ("containment", "a a b c", "c b e f g", 2 / 3),
        ("containment", "c b e f g", "a a b c", 2 / 5),
        ("longest_common_substring", "a b c d", "x b c y a b z", 2 / 4),
        ("longest_common_substring", "x b c y b c d", "b c d e", 3 / 4),
        ("longest_common_substring", "a a a", "a b a a b", 2 / 3),
        ("longest_common_subsequence", "a b c d", "b x d y a", 2 / 4),
        ("longest_common_subsequence", "b x d y a", "a b c d", 2 / 4),
        ("longest_common_subsequence", "a b c b d a b", "b d c a b a", 4 / 6),
        # One tile of three words; `c d` is too short to be the next.
        ("greedy_string_tiling", "a b e c d", "c d x a b e", 3 / 5),
        # Two blocks, swapped, count in full.
        ("greedy_string_tiling", "a b c d e f g", "d e f g a b c", 1.0),
        ("greedy_string_tiling", "a b", "a b", 0.0),
        # `a b c d` first; then `a b c` finds the candidate's one `a b c` taken.
        ("greedy_string_tiling", "a b c x a b c d", "y a b c d z z z", 4 / 8),
    ],
)
def test_words_by_hand(name, question, candidate, value):
    assert of_words(name, question, candidate) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("name", OF_WORDS)
def test_words_at_the_ends_of_the_range(name):
    assert of_words(name, "to be or to be", "to be or to be") == 1.0
    assert of_words(name, "a b c a", "d e f d") == 0.0
    for question, candidate in [("", ""), ("", "a b c"), ("a b c", "")]:
        assert of_words(name, question, candidate) == 0.0


def test_words_are_numbers_between_0_and_1_whatever_comes():
    draw = random.Random(0)
    for _ in range(200):
        a, b = ([draw.choice("abc") for _ in range(draw.randrange(9))] for _ in range(2))
        values = [getattr(pairs, name)(a, b) for name in OF_WORDS]
        assert all(0 <= value <= 1 for value in values)
        substring, subsequence = values[3:5]
        assert substring <= subsequence


def tree_of(*roots):
    """From nested tuples, label first: `tree_of(("S", ("NP", "I"), ("VP", "run")))`."""
    nodes = list(roots)
    for node in nodes:
        nodes += () if isinstance(node, str) else node[1:]
    labels = (node if isinstance(node, str) else node[0] for node in nodes)
    children = (0 if isinstance(node, str) else len(node) - 1 for node in nodes)
    return Tree(tuple(labels), tuple(children))


def fragments(tree, decay, depth):
    """Weight of each fragment of a nested tuple: all of them, one by one, from the definition."""
    label, *children = (tree,) if isinstance(tree, str) else tree
    rooted = Counter({(label,): math.sqrt(depth) * decay})
    everywhere = Counter()
    below = []
    for child in children:
        from_child, under_child = fragments(child, decay, depth)
        below.append(from_child)
        everywhere.update(under_child)
    for size in range(1, len(children) + 1):
        for chosen in itertools.combinations(range(len(children)), size):
            gaps = chosen[-1] - chosen[0] + 1 - size
            for parts in itertools.product(*(below[i].items() for i in chosen)):
                weight = math.prod(weight for _, weight in parts)
                shape = (label, *(shape for shape, _ in parts))
                rooted[shape] += math.sqrt(depth) * decay**gaps * weight
    everywhere.update(rooted)
    return rooted, everywhere


def by_fragments(a, b, decay, depth):
    mine, other = fragments(a, decay, depth)[1], fragments(b, decay, depth)[1]
    return sum(weight * other[shape] for shape, weight in mine.items() if shape in other)


def random_tree(draw, depth=2):
    label = draw.choice("ab")
    children = draw.randrange(4) if depth else 0
    return (label, *(random_tree(draw, depth - 1) for _ in range(children))) if children else label


def test_tree_kernel_by_hand():
    def kernel(a, b):
        return partial_tree_kernel(tree_of(a), tree_of(b), 0.5, 0.4)

    leaf = 0.4 * 0.25  # μ λ²
    assert kernel("a", "a") == pytest.approx(leaf)
    assert kernel("a", "b") == 0
    assert kernel("a", ("b", "a", "a")) == pytest.approx(2 * leaf)
    # The child, and the root with and without it.
    assert kernel(("a", "b"), ("a", "b")) == pytest.approx(leaf + 0.4 * (0.25 + leaf))
    # Shared: b; c; a with none, b, c, or both, skipping one child of the second tree.
    both = 0.5 * leaf * leaf
    second = ("a", "b", "x", "c")
    root = 0.4 * (0.25 + 2 * leaf + both)
    assert kernel(("a", "b", "c"), second) == pytest.approx(2 * leaf + root)
    # In the other order no pair of children is shared.
    root = 0.4 * (0.25 + 2 * leaf)
    assert kernel(("a", "c", "b"), second) == pytest.approx(2 * leaf + root)


def test_tree_kernel_counts_all_fragments():
    draw = random.Random(1)
    for decay, depth in [(0.4, 0.4), (1.0, 1.0), (0.7, 0.2)] * 50:
        a, b = random_tree(draw), random_tree(draw)
        found = partial_tree_kernel(tree_of(a), tree_of(b), decay, depth)
        assert found == pytest.approx(by_fragments(a, b, decay, depth), rel=1e-12)


def test_normalised_tree_kernel():
    draw = random.Random(2)
    for _ in range(50):
        a, b = tree_of(random_tree(draw)), tree_of(random_tree(draw), random_tree(draw))
        assert ptk(a, a) == 1.0
        assert ptk(a, b) == pytest.approx(ptk(b, a), rel=1e-12)
        assert 0 <= ptk(a, b) <= 1
    assert ptk(tree_of("a"), tree_of("a")) == 1.0
    assert ptk(tree_of("a"), tree_of(("a", "b"))) == pytest.approx(
        # λ = μ = 0.4: a leaf is worth 0.064, the tree a(b) 0.064 + 0.4 (0.16 + 0.064).
        0.064 / math.sqrt(0.064 * (0.064 + 0.4 * 0.224))
    )
    assert ptk(tree_of("a"), tree_of("b")) == 0.0
    assert ptk(tree_of(), tree_of()) == ptk(tree_of(), tree_of("a")) == 0.0


def unit(place):
    return place / np.linalg.norm(place)


def test_concepts_by_hand():
    space = Concepts(["cat cat dog", "dog bird", "bird fish"])
    # idf: log 3 for cat and fish, log 1.5 for dog and bird; a word's second time adds log 2.
    rare, common = math.log(3), math.log(1.5)
    first, third = (1 + math.log(2)) * rare, math.hypot(rare, common)
    cat = np.array([first / math.hypot(first, common), 0, 0])
    dog = np.array([common / math.hypot(first, common), math.sqrt(0.5), 0])
    bird = np.array([0, math.sqrt(0.5), common / third])
    found = space.vectors(["dog", "a cat and a bird", "nothing known"]).toarray()
    expected = [unit(dog), unit(rare * cat + common * bird), [0, 0, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = space.similarity("dog", ["dog", "bird", "fish", "", "unheard", "cat"])
    expected = [1, unit(dog) @ unit(bird), 0, 0, 0, unit(dog)[0]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # A list's own article, here the only document with both words, is no axis for it.
    space = Concepts(["bird\ndog", "bird", "fish"])
    assert space.similarity("bird", ["bird", "dog"]).tolist() == [1.0, 0.0]
    assert space.similarity("bird", ["bird", "dog", "fish"])[1] > 0
    # A word in every document says nothing.
    assert Concepts(["cat dog", "cat bird"]).similarity("cat", ["cat"]).tolist() == [0.0]


def a_split(*lists):
    return Split(
        "test",
        tuple(
            Question(f"Q{n}", text, tuple(Candidate(str(i), c, 0, -i) for i, c in enumerate(given)))
            for n, (text, *given) in enumerate(lists)
        ),
    )


def test_documents(tmp_path):
    # Candidates go by their place in the file, and two questions may have one article.
    split = a_split(("q", "two", "one", "one"), ("r", "two", "one"), ("s", "three"))
    assert documents(split) == documents(("one\ntwo", "three")) == ("one\ntwo", "three")
    lines = tmp_path / "lines.gz"
    lines.write_bytes(gzip.compress(b"first one\n\nsecond\nfirst one\n"))
    assert documents(lines) == ("first one", "second")
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "b.txt").write_text("one\ntwo\n")
    (folder / "below" / "c.txt.gz").write_bytes(gzip.compress(b"three"))
    (folder / "other.md").write_text("not this")
    assert documents(str(folder)) == ("one\ntwo", "three")
    with pytest.raises(QaselError, match="no such file"):
        documents(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(QaselError, match=r"no documents in .+; name a text file or a folder"):
        documents(tmp_path / "empty")


def test_stems():
    assert stems("Who wrote the caves?") == ("who", "wrote", "the", "cave", "?")
    assert content_stems("Who wrote the caves?") == ("wrote", "cave")
    assert content_stems("Who is it?") == ()


SPLIT = a_split(
    ("who wrote hamlet", "Shakespeare wrote Hamlet.", "", "Who wrote Hamlet"),
    ("is it late", "Shakespeare wrote Hamlet."),
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of its own, a parser that reads words as a flat tree, and what it was asked."""
    asked = []

    def flat(texts, parser):
        asked.extend(texts)
        return [tree_of(*((("S", *tokenize(text)),) if text else ())) for text in texts]

    monkeypatch.setenv("QASEL_CACHE", str(tmp_path))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # other processes would not see the parser
    monkeypatch.setattr(pairs, "find_parser", lambda: ("flat", "1"))
    monkeypatch.setattr(pairs, "parse", flat)
    return asked


def test_features_of_pairs(cache):
    corpus = ("who wrote plays", "hamlet is one of them")
    table = features.pair_features(SPLIT, corpus=corpus)
    assert [array.shape for array in table] == [(3, 14), (1, 14)]
    assert table[0].dtype == np.float64
    # question: who wrote hamlet; candidate: shakespeare wrote hamlet .
    expected = [2 / math.sqrt(3 * 4), 2 / 5, 2 / 3, 2 / 3, 2 / 3, 0]
    np.testing.assert_allclose(table[0][0, :6], expected, rtol=1e-12)
    # Without stop words: wrote hamlet; shakespeare wrote hamlet.
    expected = [2 / math.sqrt(2 * 3), 2 / 3, 2 / 2, 2 / 2, 2 / 2, 0]
    np.testing.assert_allclose(table[0][0, 6:12], expected, rtol=1e-12)
    np.testing.assert_array_equal(table[0][1], np.zeros(14))
    # Two content words are too few for a tile.
    np.testing.assert_allclose(table[0][2], [*np.ones(11), 0, 1, 1], rtol=1e-12)
    np.testing.assert_array_equal(table[1][0, :12], np.zeros(12))
    flat = (
        tree_of(("S", "who", "wrote", "hamlet")),
        tree_of(("S", "shakespeare", "wrote", "hamlet", ".")),
    )
    assert table[0][0, features.NAMES.index("ptk")] == ptk(*flat)
    # A sentence in two lists was parsed once.
    assert len(cache) == len(set(cache)) == 5


def test_the_cache(cache, monkeypatch):
    first = features.pair_features(SPLIT, corpus=SPLIT)
    cache.clear()
    # Part of a split, and another corpus, find the trees.
    other = a_split(("cats and dogs", "Dogs bark.", "Hamlet is late."))
    features.pair_features(Split("part", SPLIT[:1]), corpus=other)
    assert cache == []
    # The same texts find everything.
    monkeypatch.setattr(pairs, "ptk", None)
    monkeypatch.setattr(pairs, "Concepts", None)
    again = features.pair_features(SPLIT, corpus=SPLIT)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)


def test_no_questions(cache):
    assert features.pair_features(Split("none", ()), corpus=SPLIT) == []


def test_bad_input(tmp_path, cache, monkeypatch):
    with pytest.raises(QaselError, match="no such file"):
        features.pair_features(SPLIT, corpus=tmp_path / "missing")
    monkeypatch.setattr(trees, "_version", lambda package: None)
    with pytest.raises(QaselError, match=r'pip install "qasel\[parse\]"'):
        trees.find_parser()


@needs_parser
def test_parse():
    sentence = "The cats slept on a bed."
    tree, two, none, same = parse(
        [sentence, f"{sentence} {sentence}", " ", " The  cats slept on a be\u00add ."]
    )
    # Three nodes a word, bar the stop.
    assert len(tree.labels) == len(tree.children) == 3 * 6
    assert {"“the”", "“cat”", "“sleep”", "“on”", "“a”", "“bed”"} <= set(tree.labels)
    assert {"DET", "NOUN", "VERB", "ADP", "nsubj", "det"} <= set(tree.labels)
    # A word's dependents, then its relation and part of speech; the next level after all these.
    assert tree.labels[:8] == ("“sleep”", "“cat”", "“on”", "ROOT", "VERB", "“the”", "nsubj", "NOUN")
    assert tree.children[:8] == (4, 3, 3, 0, 0, 2, 0, 0)
    assert two.labels[:2] == ("“sleep”", "“sleep”")
    assert len(two.labels) == 36
    assert none == Tree((), ())
    assert same == tree
    # A tree does not depend on the texts beside it.
    assert parse([sentence]) == [tree]


@needs_parser
def test_workers_change_nothing(tmp_path, monkeypatch):
    tables = []
    for workers in (1, 2):
        monkeypatch.setenv("QASEL_CACHE", str(tmp_path / str(workers)))
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", str(workers))
        tables.append(features.pair_features(SPLIT, corpus=SPLIT))
    for one, two in zip(*tables, strict=True):
        np.testing.assert_array_equal(one, two)
