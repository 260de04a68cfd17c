"""The sample's related questions, and the tool that makes their tables."""

import runpy
from itertools import combinations

import pytest

from qasel.datasets import load_dataset
from qasel.datasets.lines import read_lines
from qasel.datasets.semeval import B
from qasel.evaluation import evaluate
from qasel.locations import DATA, ROOT
from qasel.rankers import FileOrder, RandomRanker, WordOverlap
from qasel.text import load_vectors, tokenize

TOOL = runpy.run_path(str(ROOT / "tools" / "sample_related.py"))

COUNTS = {"train": (60, 600, 104, 7), "dev": (20, 200, 34, 2), "test": (25, 250, 43, 3)}
"""Split → questions, pairs, relevant ones, questions with nothing relevant."""

SEARCH_ENGINE = {"train": 0.550, "dev": 0.498, "test": 0.514}
"""Split → MAP of the search engine's order."""


@pytest.fixture(scope="module")
def dataset():
    return load_dataset("sample", "related")


def rows(name):
    lines = [line.split("\t") for _, line in read_lines(DATA / "sample" / f"related-{name}.tsv")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def test_golden_counts_without_data(monkeypatch):
    monkeypatch.delenv("QASEL_DATA", raising=False)
    dataset = load_dataset("sample", "related")
    assert (dataset.protocol, dataset.scoring, dataset.notes) == ("related", "semeval", ())
    counts = {
        name: (len(split), split.pairs, split.positives, sum(not q.answered for q in split))
        for name, split in dataset.splits.items()
    }
    assert counts == COUNTS


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
@pytest.mark.parametrize("name", COUNTS)
def test_the_search_engine_beats_chance_and_leaves_much_to_do(dataset, name):
    split = dataset[name]
    score = {
        ranker.name: evaluate(ranker.rank(split), split, "semeval").map
        for ranker in (FileOrder(), WordOverlap(), RandomRanker())
    }
    ceiling = 1 - COUNTS[name][3] / COUNTS[name][0]
    assert 0.85 <= ceiling <= 0.95
    assert score["file-order"] == pytest.approx(SEARCH_ENGINE[name], abs=5e-4)
    assert score["random"] + 0.1 < score["file-order"] < ceiling - 0.3
    assert 0.4 < score["word-overlap"] < ceiling - 0.3


def test_the_tables_are_the_tools():
    tables = TOOL["tables"]()
    assert sorted(tables) == sorted(f"related-{name}.tsv" for name in COUNTS)
    for name, text in tables.items():
        assert (DATA / "sample" / name).read_text(encoding="utf-8") == text, (
            f"{name} differs from its source; run `python tools/sample_related.py`"
        )


@pytest.mark.parametrize("name", COUNTS)
def test_every_label_is_there_and_every_list_has_ten(name):
    table = rows(name)
    assert {row["label"] for row in table} == set(B.labels)
    assert [int(row["pos"]) for row in table] == [*range(1, 11)] * COUNTS[name][0]
    assert all(row["pos"] == row["se_rank"] for row in table)
    # What is filled in counts as irrelevant.
    own = {
        row["relq_id"].startswith(f"{row['orgq_id']}_R") for row in table if row["relevant"] > "0"
    }
    assert own == {True}


def test_no_text_is_in_two_splits_or_in_its_own_list(dataset):
    texts = {
        name: {text.lower() for q in split for text in (q.text, *(c.text for c in q.candidates))}
        for name, split in dataset.splits.items()
    }
    assert not any(texts[one] & texts[other] for one, other in combinations(texts, 2))
    for split in dataset.splits.values():
        for question in split:
            found = [candidate.text.lower() for candidate in question.candidates]
            assert question.text.lower() not in found
            assert len(set(found)) == len(found)


def test_one_id_one_text(dataset):
    text = {}
    for split in dataset.splits.values():
        for question in split:
            for each in (question, *question.candidates):
                assert text.setdefault(each.id, each.text) == each.text
    assert len(set(text.values())) == len(text)


def test_the_samples_vectors_cover_the_words(dataset):
    vectors = load_vectors("sample")
    for split in dataset.splits.values():
        texts = [text for q in split for text in (q.text, *(c.text for c in q.candidates))]
        words = {word for text in texts for word in tokenize(text)}
        assert vectors.coverage(w for w in words if w.isalpha() and len(w) > 1) > 0.97


SOURCE = """Any words.

# train

F1 Where is the cat | she ran
P A cat ran | where
I The DOG | ran

F2 zebra | xyzzy
F3 My cat | grey

# test
F4 cat | cat
"""


def test_lists_are_filled_and_ordered_by_bm25():
    splits = TOOL["read"](SOURCE)
    assert list(splits) == ["train", "test"]
    found = {
        original.id: [(text.id, text.label) for text in ten]
        for original, ten in TOOL["found"](splits["train"])
    }
    # Ties, as without a common word, keep the order of the source; no other split is looked at.
    assert found == {
        "F1": [
            ("F1_R1", "PerfectMatch"),
            ("F1_R2", "Irrelevant"),
            ("F3", "Irrelevant"),
            ("F2", "Irrelevant"),
        ],
        "F2": [("F1", "Irrelevant"), ("F3", "Irrelevant")],
        "F3": [("F1", "Irrelevant"), ("F2", "Irrelevant")],
    }
    first = TOOL["table"](splits["train"]).splitlines()[1]
    told = ["F1", "F1_R1", "1", "1", "PerfectMatch", "1"]
    assert first.split("\t") == [
        *told,
        "Where is the cat",
        "she ran",
        "A cat ran",
        "where",
        "original",
    ]


@pytest.mark.parametrize(
    "line", ["P first | of all", "X what | is it", "F9 no body", "F9 a\tb | c", "F9 a | "]
)
def test_a_line_that_is_none_is_refused(line):
    with pytest.raises(ValueError, match=r"^line 2 "):
        TOOL["read"](f"# dev\n{line}\n")
