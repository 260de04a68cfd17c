"""SemEval CQA, subtask B: golden counts and scores, both forms of the files, and hostile ones."""

import re
import shutil

import pytest
from semeval_files import full, in_order, thread, xml

from qasel.datasets import load_dataset
from qasel.datasets.semeval import SKIP, B, read_table, read_xml
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.rankers import FileOrder

OFFICIAL = "SemEval2016-Task3-CQA-QL"
HEADER = "\t".join(B.columns) + "\n"
ROW = "Q1\tQ1_R3\t1\t3\tRelevant\t1\tVisa\thow long\tLong visa\thow?\toriginal\n"
NEXT = "Q1\t\t2\t\tIrrelevant\t0\tVisa\thow long\tOther\t\toriginal\n"


def kin(original, related, label, subject="Visa", **options):
    """An original question with one of those related to it, as the file of all subtasks has it."""
    text = f"<OrgQSubject>{subject}</OrgQSubject>\n<OrgQBody>how\n long</OrgQBody>"
    inner = thread(related, **options).replace(
        "<RelQuestion ", f'<RelQuestion RELQ_RELEVANCE2ORGQ="{label}" '
    )
    return f'\n<OrgQuestion ORGQ_ID="{original}">{text}{inner}\n</OrgQuestion>'


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A data folder with a list for each split of `b-2016`: a table, and twice the XML."""
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("qasel.locations.DATA", tmp_path / "data")
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    folder = tmp_path / "semeval-cqa"
    folder.mkdir()
    # Subtask B knows no repeated threads, and looks at no comment.
    repeated = kin("Q268", "Q268_R9", "Irrelevant", attributes=f'{SKIP}="Q1_R1"', labels="")
    files = {
        "subtaskB-2016-train-part1.tsv": HEADER + ROW + NEXT,
        f"{OFFICIAL}-dev.xml": xml(kin("Q268", "Q268_R4", "PerfectMatch"), repeated),
        f"{OFFICIAL}-test.xml": xml(kin("Q318", "Q318_R1", "Relevant", subject="Bank")),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def load(folder, protocol="b-2016"):
    return load_dataset("semeval-cqa", protocol, folder.parent)


# The real data.

TEST = {
    "b-2016": ((70, 700, 233, 8), (74.75, 83.79, 88.30), 88.57),
    "b-2017": ((88, 880, 163, 29), (41.85, 46.42, 77.59), 67.05),
}


def counts(split):
    unanswered = sum(not question.answered for question in split)
    return len(split), split.pairs, split.positives, unanswered


def percents(run, split):
    mean = evaluate(run, split, "semeval").mean
    return tuple(round(100 * mean[name], 2) for name in ("map", "mrr", "avgrec"))


@pytest.mark.parametrize("protocol", TEST)
def test_golden_counts_the_search_engine_and_the_ceiling(data_dir, protocol):
    dataset = load_dataset("semeval-cqa", protocol, data_dir)
    assert dataset.scoring == "semeval"
    assert counts(dataset.train) == (200, 1999, 787, 24)
    assert counts(dataset.dev) == (50, 500, 214, 7)
    assert percents(FileOrder().rank(dataset.dev), dataset.dev)[:2] == (71.35, 76.67)
    golden, baseline, ceiling = TEST[protocol]
    assert counts(dataset.test) == golden
    assert percents(FileOrder().rank(dataset.test), dataset.test) == baseline
    oracle = Run.from_scores(dataset.test, [question.labels for question in dataset.test])
    assert percents(oracle, dataset.test)[0] == ceiling


def test_the_notes_tell_what_the_real_data_lack(data_dir):
    lemmatised = "related questions in the form 'subject-lemmatised'"
    assert load_dataset("semeval-cqa", "b-2017", data_dir).notes == (
        f"train: 2016 train-part1 has 29 of 1999 {lemmatised}",
        f"test: 2017 test has 27 of 880 {lemmatised}",
        "test: 2017 test has 853 of 880 related questions in the form 'subject-original': "
        "only the original questions' subjects are lemmatised",
    )


@pytest.mark.parametrize("hidden", [False, True])
def test_the_official_xml_equals_the_tables(data_dir, folder, hidden):
    real = data_dir / "semeval-cqa"
    shutil.rmtree(folder)
    folder.mkdir()
    shutil.copy(real / "subtaskB-2016-train-part1.tsv.gz", folder)
    for part in ("dev", "test"):
        shutil.copy(real / f"{OFFICIAL}-{part}.xml.gz", folder)
        shutil.copy(real / f"{OFFICIAL}-{part}.xml.subtaskB.relevancy.gz", folder)
    if hidden:
        rows, _ = read_xml(real / f"{OFFICIAL}-test.xml.gz", B)
        text = "".join(kin(row.question_id, row.id, "?") for row in rows)
        (folder / f"{OFFICIAL}-test.xml").write_text(xml(text), encoding="utf-8")
    official, whole = load(folder), load_dataset("semeval-cqa", "b-2016", data_dir)
    assert in_order(official.dev) == in_order(whole.dev)
    if hidden:
        assert [q.labels.tolist() for q in official.test] == [q.labels.tolist() for q in whole.test]
    else:
        assert in_order(official.test) == in_order(whole.test)
        assert official.notes == whole.notes


def test_part_2_is_the_same_in_both_forms(data_dir):
    real = data_dir / "semeval-cqa"
    official, _ = read_xml(real / f"{OFFICIAL}-train-part2.xml.gz", B)
    table, remarks = read_table(real / "subtaskB-2016-train-part2.tsv.gz", B)
    parts = [
        [(row.question_id, row.question, row.id, row.text, row.label) for row in rows]
        for rows in (official, table)
    ]
    assert parts[0] == parts[1]
    assert (len(table), sum(row.label for row in table), remarks) == (670, 296, [])


# Good files.


def test_both_forms_are_read(folder):
    dataset = load(folder)
    assert in_order(dataset.train) == {
        "Q1": ("Visa how long", [("Q1_R3", "Long visa how?", 1), ("Q1-1", "Other", 0)])
    }
    text = "Visa How long & where?"
    assert in_order(dataset.dev) == {
        "Q268": ("Visa how long", [("Q268_R4", text, 1), ("Q268_R9", text, 0)])
    }
    assert in_order(dataset.test) == {"Q318": ("Bank how long", [("Q318_R1", text, 1)])}
    assert dataset.notes == (
        "train: 2016 train-part1 is partial: 1 of 200 questions, 2 of 1999 pairs",
        "dev: 2016 dev is partial: 1 of 50 questions, 2 of 500 pairs",
        "test: 2016 test is partial: 1 of 70 questions, 1 of 700 pairs",
        "dev: 1 of 1 have the text of a question in train (Q268)",
    )


def test_of_texts_that_differ_in_punctuation_the_first_stands(folder):
    twice = xml(kin("Q2", "Q2_R1", "Relevant", '"Visa'), kin("Q2", "Q2_R2", "Irrelevant", "Visa"))
    (folder / f"{OFFICIAL}-dev.xml").write_text(twice, encoding="utf-8")
    assert [(q.text, len(q.candidates)) for q in load(folder).dev] == [('"Visa how long', 2)]


def test_labels_that_the_xml_hides_come_from_the_gold(folder):
    (folder / f"{OFFICIAL}-test.xml").write_text(xml(kin("Q318", "Q318_R1", "?")))
    with pytest.raises(QaselError, match=r"related question 'Q318_R1' has no label.*subtaskB\.rel"):
        load(folder)
    gold = folder / f"{OFFICIAL}-test.xml.subtaskB.relevancy"
    gold.write_text("Q318\tQ318_R2\t1\t1\ttrue\n")
    with pytest.raises(QaselError, match="has no label of related question 'Q318_R1'"):
        load(folder)
    gold.write_text("Q318\tQ318_R1\t1\t1\ttrue\n")
    assert load(folder).test[0].labels.tolist() == [1]


def test_what_is_not_there_is_told(folder):
    with pytest.raises(QaselError, match=r"no test file .*subtaskB-2017-test\.tsv, SemEval2017"):
        load(folder, "b-2017")


# Bad files.

BAD_XML = {
    "label": (xml(kin("Q1", "Q1_R1", "Good")), r"\.xml:10: related question 'Q1_R1': unkn"),
    "no original question": (xml(thread("Q1_R1")), r"\.xml:7: .*without an <OrgQuestion>"),
    "no thread": (
        xml(re.sub("(?s)<Thread.*</Thread>", "", full("Q1_R1"))),
        r"\.xml:9: <OrgQuestion> 'Q1' without a <Thread>",
    ),
    "no id": (xml(full("Q1_R1").replace("ORGQ_ID", "ID")), r"\.xml:7: <OrgQuestion> without ORGQ"),
    "two texts": (
        xml(kin("Q1", "Q1_R1", "Relevant"), kin("Q1", "Q1_R2", "Relevant", "Bank")),
        r"\.xml:2\d: question id 'Q1' stands for two different texts",
    ),
    "an id again": (
        xml(*(kin(q, f"{q}_R{i}", "Relevant") for i, q in enumerate(("Q1", "Q2", "Q1")))),
        r"\.xml:\d+: question id 'Q1' occurs twice",
    ),
    "twice": (
        xml(*[kin("Q1", "Q1_R1", "Relevant")] * 2),
        r"\.xml:\d+: question 'Q1' has two candidates 'Q1_R1'",
    ),
    "no text": (
        xml(re.sub("(?s)<RelQS.*</RelQBody>", "", kin("Q1", "Q1_R1", "Relevant"))),
        r"\.xml:10: a candidate of question 'Q1' has no text",
    ),
}

BAD_TABLES = {
    "header": (HEADER.replace("se_rank", "rank") + ROW, r"\.tsv:1: the header is not orgq_id"),
    "fields": (HEADER + ROW.replace("\toriginal", ""), r"\.tsv:2: 10 fields, expected 11"),
    "label": (HEADER + ROW.replace("Relevant", "Good"), r"\.tsv:2: related question 'Q1_R3': unkn"),
    "relevant": (HEADER + ROW.replace("\t1\tVisa", "\t0\tVisa"), r"\.tsv:2: .*relevant '0' and"),
    "pos": (HEADER + NEXT, r"\.tsv:2: .*pos '2', expected 1"),
    "twice": (HEADER + ROW + ROW, r"\.tsv:3: .*pos '1', expected 2"),
    "an id again": (
        HEADER + ROW + ROW.replace("Q1", "Q2") + ROW.replace("Q1_R3", "Q1_R4"),
        r"\.tsv:4: question id 'Q1' occurs twice",
    ),
    "two texts": (HEADER + ROW + NEXT.replace("long", "short"), r"\.tsv:3: .*two different texts"),
    "an id twice": (
        HEADER + ROW + NEXT.replace("\t\t2\t", "\tQ1_R3\t2\t"),
        r"\.tsv:3: question 'Q1' has two candidates 'Q1_R3'",
    ),
    "no text": (HEADER + ROW + NEXT.replace("Other", " "), r"\.tsv:3: a candidate .* has no text"),
}


@pytest.mark.parametrize("case", BAD_XML)
def test_bad_xml_is_refused_with_file_and_line(folder, case):
    text, message = BAD_XML[case]
    (folder / f"{OFFICIAL}-dev.xml").write_text(text, encoding="utf-8")
    with pytest.raises(QaselError, match=rf"dev{message}"):
        load(folder)


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_refused_with_file_and_line(folder, case):
    text, message = BAD_TABLES[case]
    (folder / "subtaskB-2016-dev.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(QaselError, match=rf"dev{message}"):
        load(folder)
