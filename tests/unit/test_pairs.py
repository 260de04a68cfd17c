"""Tasks on sentence pairs: golden counts, official and other forms, and hostile files."""

import json
from collections import Counter

import pytest

from qasel import cli
from qasel.datasets import Pair, PairTask, describe_pairs, load_dataset, load_pairs, pairs_of
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError

BODIES = 'Body ID,articleBody\n0,"Two\n\nlines, ""quoted"""\n7,Another body\n'
STANCES = 'Headline,Body ID,Stance\n"A, B",7,agree\nC,0,unrelated\nC,7,discuss\n'

JSON = [
    {"gold_label": "neutral", "sentence1": 'A "man .', "sentence2": "He  sleeps .", "pairID": 1},
    {"gold_label": "-", "sentence1": "A", "sentence2": "B"},
    {"gold_label": "entailment", "sentence1": "C", "sentence2": "D"},
]
SAMPLE = "premise\thypothesis\tgold_label\tgenre\nA\tB\tcontradiction\tslate\n"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A data folder with folders for both, and nothing else on the machine."""
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("qasel.locations.DATA", tmp_path / "data")
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    (tmp_path / "fnc-1").mkdir()
    (tmp_path / "mnli").mkdir()
    return tmp_path


def fnc(folder, stances=STANCES, bodies=BODIES):
    (folder / "fnc-1/train_stances.csv").write_text(stances, encoding="utf-8")
    (folder / "fnc-1/train_bodies.csv").write_text(bodies, encoding="utf-8")
    return load_pairs("fnc-1", folder)


def multinli(folder, text, name="mnli-train-20k-tokenised.tsv"):
    (folder / "mnli" / name).write_text(text, encoding="utf-8")
    return load_pairs("multinli", folder)


def triples(task):
    return [(pair.left, pair.right, task.labels[pair.label]) for pair in task.pairs]


# The real data.

COUNTS = {
    "fnc-1": {"unrelated": 36545, "discuss": 8909, "agree": 3678, "disagree": 840},
    "multinli": {"entailment": 6709, "neutral": 6646, "contradiction": 6645},
}


@pytest.mark.parametrize("name", COUNTS)
def test_golden_counts(data_dir, name):
    task = load_pairs(name, data_dir)
    assert Counter(task.labels[pair.label] for pair in task.pairs) == COUNTS[name]
    assert {row["label"]: row["pairs"] for row in describe_pairs(task)} == COUNTS[name]
    if name == "fnc-1":
        assert len({pair.left for pair in task.pairs}) == 1648
        assert task.notes == ()
    else:
        sample = "a sample, 20000 of 392702 pairs, words and punctuation set apart by blanks"
        assert task.notes == (sample,)


def test_subtask_a_as_a_task(data_dir):
    task = pairs_of(load_dataset("semeval-cqa", "a-2016", data_dir).train)
    assert [row["pairs"] for row in describe_pairs(task)] == [27368 - 12640, 12640]


# Good files.


def test_fnc_in_its_official_form(folder):
    task = fnc(folder)
    assert (task.name, task.labels) == ("fnc-1", ("agree", "disagree", "discuss", "unrelated"))
    assert triples(task) == [
        ("A, B", "Another body", "agree"),
        ("C", 'Two lines, "quoted"', "unrelated"),
        ("C", "Another body", "discuss"),
    ]
    assert task.notes == ("3 of 49972 pairs",)


def test_multinli_in_its_official_form(folder):
    multinli(folder, SAMPLE)  # comes after the official one
    task = multinli(folder, "\n".join(map(json.dumps, JSON)), "multinli_1.0_train.jsonl")
    assert (task.name, task.labels) == ("multinli", ("entailment", "neutral", "contradiction"))
    assert triples(task) == [
        ('A "man .', "He sleeps .", "neutral"),
        ("C", "D", "entailment"),
    ]
    assert task.notes == ("3 of 392702 pairs", "1 pairs without a gold label, left out")


def test_the_sample_of_multinli_says_that_it_is_one(folder):
    task = multinli(folder, SAMPLE)
    assert triples(task) == [("A", "B", "contradiction")]
    assert task.notes[0].startswith("a sample, 1 of 392702 pairs")


def test_a_ranking_split_as_a_task():
    candidates = (Candidate("a", "no", 0, 1), Candidate("b", "yes", 1, 0))
    task = pairs_of(Split("train", (Question("q", "why", candidates),)))
    assert task == PairTask(
        "train", ("irrelevant", "relevant"), (Pair("why", "no", 0), Pair("why", "yes", 1))
    )
    assert len(task) == 2
    with pytest.raises(QaselError, match="'q' has candidates without a label"):
        pairs_of(Split("new", (Question("q", "why", (Candidate("a", "no", None, 0),)),)))


def test_describe_says_counts_per_label(folder, capsys):
    fnc(folder)
    assert cli.main(["data", "describe", "fnc-1", "--data-dir", str(folder)]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["fnc-1,", "3", "pairs"],
        ["label", "pairs", "left", "tokens", "right", "tokens"],
        ["agree", "1", "2.00", "2.00"],
        ["disagree", "0", "0.00", "0.00"],
        ["discuss", "1", "1.00", "2.00"],
        ["unrelated", "1", "1.00", "3.00"],
        ["note:", "3", "of", "49972", "pairs"],
    ]
    multinli(folder, SAMPLE)
    assert cli.main(["data", "describe", "mnli", "--data-dir", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("multinli, 1 pairs\nlabel ")
    assert cli.main(["data", "describe", "mnli", "--protocol", "all"]) == 2
    assert "mnli has sentence pairs and no protocols" in capsys.readouterr().err


# Bad files, and none.


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mnli", "unknown task on pairs 'mnli'; did you mean 'multinli'"),
        ("fnc-1", r"no train file.*train_stances\.csv, train_bodies\.csv.*github\.com"),
        ("multinli", r"no train file.*multinli_1\.0_train\.jsonl.*nyu\.edu"),
    ],
)
def test_what_is_not_there_is_told(folder, name, message):
    with pytest.raises(QaselError, match=message):
        load_pairs(name, folder)


def test_a_task_holds_pairs_with_its_labels():
    with pytest.raises(QaselError, match="mine: no pairs"):
        PairTask("mine", ("no", "yes"), ())
    with pytest.raises(QaselError, match=r"mine: label 2, but there are 2 labels \(no, yes\)"):
        PairTask("mine", ("no", "yes"), (Pair("a", "b", 2),))


BAD_FNC = {
    "stance": (STANCES.replace("agree", "agrees"), BODIES, r"stances\.csv:2: unknown stance 'agr"),
    "body id": (STANCES.replace("C,0", "C,9"), BODIES, r"stances\.csv:3: body id '9' is not in"),
    "no header": (STANCES.partition("\n")[2], BODIES, r"stances\.csv:1: the header is not Headl"),
    "fields": (STANCES + "D,7\n", BODIES, r"stances\.csv:5: 2 fields, expected 3"),
    "only a header": (STANCES.partition("\n")[0] + "\n", BODIES, r"stances\.csv: no stances"),
    "empty": ("", BODIES, r"stances\.csv: the file is empty"),
    "other header": (STANCES, BODIES.replace("Body ID", "id"), r"bodies\.csv:1: the header is not"),
    "a body twice": (STANCES, BODIES + "0,again\n", r"bodies\.csv:6: body id '0' occurs twice"),
    "body fields": (STANCES, BODIES + "8,a,b\n", r"bodies\.csv:6: 3 fields, expected 2"),
    "cut": (STANCES, BODIES + '8,"cut', r"bodies\.csv:6: broken CSV: unexpected end of data"),
}


@pytest.mark.parametrize("case", BAD_FNC)
def test_bad_files_of_fnc_are_refused_with_file_and_line(folder, case):
    stances, bodies, message = BAD_FNC[case]
    with pytest.raises(QaselError, match=message):
        fnc(folder, stances, bodies)


BAD_MULTINLI = {
    "label": ("tsv", SAMPLE.replace("contradiction", "yes"), r"\.tsv:2: unknown label 'yes'"),
    "no header": ("tsv", SAMPLE.partition("\n")[2], r"\.tsv:1: not one column 'premise'"),
    "a column twice": ("tsv", "gold_label\t" + SAMPLE, r"\.tsv:1: not one column 'gold_label'"),
    "too few fields": ("tsv", SAMPLE.replace("\tslate", ""), r"\.tsv:2: 3 fields, expected 4"),
    "too many fields": ("tsv", SAMPLE + "neutral" + "\t" * 8, r"\.tsv:3: 9 fields"),
    "no pairs": ("tsv", SAMPLE.partition("\n")[0], r"\.tsv: no pairs with a label"),
    "no text": (
        "jsonl",
        '{"gold_label": "neutral", "sentence1": "A"}',
        r"\.jsonl:1: sentence2: Field required",
    ),
    "no JSON": ("jsonl", json.dumps(JSON[0]) + "\n{", r"\.jsonl:2: Invalid JSON"),
}
FORMS = {"tsv": "mnli-train-20k-tokenised.tsv", "jsonl": "multinli_1.0_train.jsonl"}


@pytest.mark.parametrize("case", BAD_MULTINLI)
def test_bad_files_of_multinli_are_refused_with_file_and_line(folder, case):
    form, text, message = BAD_MULTINLI[case]
    with pytest.raises(QaselError, match=message):
        multinli(folder, text, FORMS[form])
