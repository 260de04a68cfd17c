"""Every public collection that the project knows: protocols, files, reader, source, licence.

A new data set is one more `Collection` here, and a reader in a module of its own.
"""

import difflib
import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from qasel.datasets.base import Split
from qasel.datasets.collection import Collection
from qasel.datasets.lines import group_rows
from qasel.datasets.semeval import B, read_semeval, read_table
from qasel.datasets.sentence_pairs import read_fnc, read_multinli
from qasel.datasets.tables import KEEP, SPLITS, read_questions, read_wikiqa
from qasel.datasets.trecqa import read_trecqa
from qasel.errors import QaselError
from qasel.locations import DATA

QUESTION_PROTOCOLS = {
    "all": "every question",
    "answered": "questions with at least one right answer",
    "mixed": "questions with at least one right and one wrong answer",
}
"""Which questions count, in a collection that does not name its own protocols."""

RELATED = "related"
"""The sample's protocol under which questions are ranked for a question."""


def _read_sample(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """The bundled sample; its related questions are in tables of SemEval's subtask B's form."""
    (folder,) = folders
    if protocol != RELATED:
        return [read_questions(folder / f"{n}.tsv", n).where(KEEP[protocol]) for n in SPLITS], ()
    paths = {name: folder / f"{RELATED}-{name}.tsv" for name in SPLITS}
    return [group_rows(path, name, read_table(path, B)[0]) for name, path in paths.items()], ()


def _glove(name: str, what: str, sha256: str) -> Collection:
    return Collection(
        name,
        f"word vectors, {what}",
        source="https://nlp.stanford.edu/projects/glove",
        licence="PDDL 1.0 (public domain)",
        citation="Pennington, Socher and Manning, GloVe, EMNLP 2014",
        folder="vectors",
        url=f"https://nlp.stanford.edu/data/{name}.zip",
        hash=f"sha256:{sha256}",
        files=(f"{name}.zip",),
    )


COLLECTIONS = {
    collection.name: collection
    for collection in (
        Collection(
            "sample",
            "questions and answers, and related questions, written for qasel, bundled",
            "sample",
            source="part of qasel",
            licence="CC0 1.0, its word vectors PDDL 1.0 (public domain)",
            citation="qasel",
            protocols={
                **QUESTION_PROTOCOLS,
                RELATED: "other texts, of an invented forum: every question with ten that a search "
                "engine (BM25) found for it, right if their answers would help; the form of "
                "SemEval's subtask B",
            },
            default="answered",
            files=tuple(f"{kind}{split}.tsv" for kind in ("", "related-") for split in SPLITS),
            read=_read_sample,
            vectors="sample",
            wider={"mixed": ("answered",)},
        ),
        Collection(
            "wikiqa",
            "Bing queries and sentences of Wikipedia",
            "wikiqa",
            source="https://www.microsoft.com/en-us/download/details.aspx?id=52419",
            licence="Microsoft Research Data License Agreement: research use only",
            citation="Yang, Yih and Meek, WikiQA: A Challenge Dataset for Open-Domain Question "
            "Answering, EMNLP 2015",
            protocols=QUESTION_PROTOCOLS,
            default="answered",
            url="https://download.microsoft.com/download/E/5/F/"
            "E5FCFCEE-7005-4814-853D-DAA7C66507E0/WikiQACorpus.zip",
            files=("WikiQA-train.tsv", "WikiQA-dev.tsv", "WikiQA-test.tsv"),
            read=read_wikiqa,
            layouts=("WikiQACorpus", "wikiqa/WikiQACorpus", "."),
            label="WikiQA",
            wider={"mixed": ("answered",)},
        ),
        Collection(
            "trecqa",
            "TREC QA track questions and newswire sentences",
            "trecqa",
            source="http://cs.jhu.edu/~xuchen/packages",
            licence="none stated; newswire of the TREC QA tracks, research use only",
            citation="Wang, Smith and Mitamura, What is the Jeopardy Model?, EMNLP-CoNLL 2007; "
            "Heilman and Smith, NAACL 2010; Yao et al., NAACL 2013",
            protocols={
                "clean": "dev and test without questions that have only right or only wrong "
                "answers (65 and 68)",
                "raw": "dev and test with every question that has candidates (81 and 95)",
            },
            default="clean",
            url="http://cs.jhu.edu/~xuchen/packages/jacana-qa-naacl2013-data-results.tar.bz2",
            hash="md5:11f0275e95691594cd74825e0c341b7a",
            files=(
                "train2393.cleanup.xml",
                "dev-less-than-40.manual-edit.xml",
                "test-less-than-40.manual-edit.xml",
            ),
            read=read_trecqa,
            layouts=(
                "jacana-qa-naacl2013-data-results",
                "trecqa/jacana-qa-naacl2013-data-results",
                "tree-edit-data/answerSelectionExperiments/answer",
                "tree-edit-data/answerSelectionExperiments/data",
                ".",
            ),
            label="TREC-QA",
            wider={"clean": ("raw",)},
        ),
        Collection(
            "semeval-cqa",
            "SemEval 2015-2017 task 3, community question answering",
            "semeval-cqa",
            source="https://alt.qcri.org/semeval2016/task3 (data and tools: v3.2, and the test of "
            "2016) and https://alt.qcri.org/semeval2017/task3 (the test of 2017)",
            licence="free for general research use",
            citation="Nakov et al., SemEval-2015, 2016 and 2017 Task 3",
            protocols={
                "a-2016": "subtask A, comments of a thread: the test of 2016, all 327 questions",
                "a-2017": "subtask A: the same train and dev, the test of 2017, all 293 questions",
                "b-2016": "subtask B, questions related to another: train is 2016's part 1 (1999 "
                "pairs, often told as 2000), the test of 2016, all 70 questions",
                "b-2017": "subtask B: the same train and dev, the test of 2017, all 88 questions",
            },
            default="a-2016",
            read=read_semeval,
            layouts=(
                "semeval-cqa/v3.2/train",
                "semeval-cqa/v3.2/dev",
                "semeval-cqa/SemEval2016_task3_test/English",
                "semeval-cqa/SemEval2017_task3_test_input_ABCD/English-ABC",
            ),
            scoring="semeval",
            label="SemEval-2016 A",
            labels={
                f"{task}-{year}": f"SemEval-{year} {task.upper()}"
                for task in "ab"
                for year in (2016, 2017)
            },
        ),
        Collection(
            "mnli",
            "natural language inference: samples of MultiNLI, and SNLI dev and test",
            "mnli",
            source="https://cims.nyu.edu/~sbowman/multinli and "
            "https://nlp.stanford.edu/projects/snli",
            licence="MultiNLI: that of its sources, free to use; SNLI: CC BY-SA 4.0; "
            "TaxiNLI: Computational Use of Data Agreement 1.0",
            citation="Williams et al. 2018; Bowman et al. 2015; Joshi et al. 2020",
            pairs="multinli",
            read=read_multinli,
            layouts=("mnli/multinli_1.0", "multinli_1.0"),
        ),
        Collection(
            "fnc-1",
            "Fake News Challenge: headlines and bodies",
            "fnc-1",
            source="https://github.com/FakeNewsChallenge/fnc-1",
            licence="none stated; derived from the Emergent data set",
            citation="Fake News Challenge 2017; Ferreira and Vlachos 2016",
            pairs="fnc-1",
            read=read_fnc,
        ),
        Collection(
            "vectors",
            "word vectors cut to the words of the data sets",
            "vectors",
            source="https://nlp.stanford.edu/projects/glove and spaCy en_core_web_md 3.8",
            licence="PDDL 1.0 and CC0",
            citation="Pennington, Socher and Manning, GloVe, EMNLP 2014; spaCy",
        ),
        _glove(
            "glove.6B",
            "Wikipedia and Gigaword, lower-cased, 50 to 300 numbers (0.9 GB)",
            "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
        ),
        _glove(
            "glove.42B.300d",
            "Common Crawl, lower-cased (1.9 GB)",
            "03d5d7fa28e58762ace4b85fb71fe86a345ef0b5ff39f5390c14869da0fc1970",
        ),
        _glove(
            "glove.840B.300d",
            "Common Crawl, cased (2.2 GB)",
            "c06db255e65095393609f19a4cfca20bf3a71e20cc53e892aafa490347e3849f",
        ),
    )
}


def collection(name: str) -> Collection:
    """The collection of that name; `glove.6B.100d` and its like mean `glove.6B`.

    Raises `QaselError` for an unknown name, with the nearest known one.
    """
    if name.startswith("glove.6B."):
        name = "glove.6B"
    if name not in COLLECTIONS:
        raise QaselError(unknown("data set", name, COLLECTIONS))
    return COLLECTIONS[name]


def unknown(what: str, name: str, known: Mapping[str, object]) -> str:
    """`unknown WHAT 'NAME'; did you mean …? known: …`."""
    close = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} {name!r}; {hint}known: {', '.join(known)}"


@functools.cache
def checksums() -> dict[str, dict[str, dict[str, str | int]]]:
    """Collection → file, relative to a data folder, without `.gz` → `sha256` and `bytes`.

    Both are of the contents, so that a file counts as itself gzipped or not.
    """
    return json.loads((DATA / "checksums.json").read_text(encoding="utf-8"))
