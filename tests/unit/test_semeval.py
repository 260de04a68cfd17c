"""SemEval CQA, subtask A: golden counts and scores, both forms of the files, and hostile ones."""

import gzip
import shutil

import pytest
from semeval_files import full, in_order, thread, xml

from qasel import cli
from qasel.datasets import load_dataset
from qasel.datasets.semeval import SKIP, A, read_relevancy, read_table, read_xml
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.evaluation.measures import PROTOCOLS

PART2 = "SemEval2016-Task3-CQA-QL-train-part2"
DEV = "SemEval2016-Task3-CQA-QL-dev"
TEST = "SemEval2016-Task3-CQA-QL-test"
TEST_2017 = "SemEval2017-task3-English-test"
XML_2015 = [
    f"SemEval2015-Task3-CQA-QL-{name}-reformatted-excluding-2016-questions-cleansed.xml"
    for name in ("train", "dev", "test")
]
HEADER = "q_id\tc_id\tpos\tlabel\trelevant\tq_subject\tq_body\tc_text\tform\n"
ROW = "Q1\tQ1_C1\t1\tGood\t1\tVisa\t\tyes\toriginal\n"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A data folder with little in it: part 2 in full form, dev, both tests, 2015 as released."""
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("qasel.locations.DATA", tmp_path / "data")
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    folder = tmp_path / "semeval-cqa"
    folder.mkdir()
    files = {
        f"{PART2}.xml": xml(full("Q201_R1"), full("Q201_R2", "Bad", f'{SKIP}="Q201_R1"')),
        f"{DEV}-subtaskA.xml": xml(thread("Q268_R1", "PotentiallyUseful Good", "", "Dev", "")),
        f"{TEST}-subtaskA.xml": xml(thread("Q318_R1", "Bad", "", "Test")),
        f"{TEST_2017}-subtaskA.xml": xml(thread("Q388_R1", "Good Bad", "", "Later", "")),
        # The release has the train and the test set of 2015 each under the other's name.
        XML_2015[0]: xml(thread("Q2772", "Bad")),
        XML_2015[1]: xml(thread("Q2657", ""), thread("Q2658")),
        XML_2015[2]: xml(thread("Q1", "Good")),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def load(folder, protocol=None):
    return load_dataset("semeval-cqa", protocol, folder.parent)


# The real data.

COUNTS = {
    "a-2016": [(3996, 27368, 12640), (244, 2440, 818), (327, 3270, 1329)],
    "a-2017": [(3996, 27368, 12640), (244, 2440, 818), (293, 2930, 1523)],
}
CHRONOLOGICAL = {"a-2016": (59.53, 67.83, 12), "a-2017": (72.61, 82.37, 6)}


@pytest.mark.parametrize("protocol", COUNTS)
def test_golden_counts_and_the_baseline_in_order_of_time(data_dir, protocol):
    dataset = load_dataset("semeval-cqa", protocol, data_dir)
    counts = [(len(split), split.pairs, split.positives) for split in dataset.splits.values()]
    assert counts == COUNTS[protocol]
    scores = [[-candidate.place for candidate in q.candidates] for q in dataset.test]
    found = evaluate(Run.from_scores(dataset.test, scores), dataset.test, dataset.scoring)
    measured = round(100 * found.map, 2), round(100 * found.mrr, 2), found.unanswered
    assert measured == CHRONOLOGICAL[protocol]


def test_the_notes_tell_what_the_real_data_lack(data_dir):
    notes = load_dataset("semeval-cqa", data_dir=data_dir).notes
    assert notes[:3] == (
        "train: 2016 train-part1 is partial: 528 of 1411 questions, 5280 of 14110 pairs",
        "train: 2016 train-part1 has 1030 of 5280 comments in the form 'from-2017-test'",
        "train: 2015 train has 14893 of 14893 comments in the form 'lemmatised'",
    )
    assert notes[3].startswith("test: 5 of 327 have the text of a question in train (Q350_R26, ")
    assert len(notes) == 4


@pytest.mark.parametrize("form", ["-subtaskA.xml.gz", ".xml.gz"])
def test_the_official_xml_equals_the_tables(data_dir, folder, form):
    shutil.rmtree(folder)
    folder.mkdir()
    for name in (*XML_2015[:2], *(f"{stem}{form}"[:-3] for stem in (PART2, DEV, TEST))):
        shutil.copy(data_dir / "semeval-cqa" / f"{name}.gz", folder)
    official, whole = load(folder), load_dataset("semeval-cqa", "a-2016", data_dir)
    assert in_order(official.dev) == in_order(whole.dev)
    # One question of the test has a quotation mark more in the full file.
    test, same = in_order(official.test), in_order(whole.test)
    differing = {qid for qid in same if test.pop(qid) != same[qid]}
    assert (test, differing) == ({}, set() if form.startswith("-") else {"Q326_R64"})
    train, everything = in_order(official.train), in_order(whole.train)
    assert len(train) == 379 + 290 + 319
    assert train == {qid: question for qid, question in everything.items() if qid in train}
    assert [note for note in official.notes if "train-part2" in note or "2015 test" in note] == []
    assert "train: 2015 dev has 1 without comments, left out (Q2657)" in official.notes


def test_the_test_of_2017_is_the_same_without_its_labels_but_with_the_gold(data_dir, folder):
    packed = (data_dir / f"semeval-cqa/{TEST_2017}-subtaskA.xml.gz").read_bytes()
    text = gzip.decompress(packed).decode()
    for label in ("Good", "Bad"):
        text = text.replace(f'RELC_RELEVANCE2RELQ="{label}"', 'RELC_RELEVANCE2RELQ="?"')
    (folder / f"{TEST_2017}-subtaskA.xml").write_text(text, encoding="utf-8")
    gold = f"{TEST_2017}-subtaskA.xml.subtaskA.relevancy.gz"
    shutil.copy(data_dir / "semeval-cqa" / gold, folder)
    whole = load_dataset("semeval-cqa", "a-2017", data_dir)
    assert in_order(load(folder, "a-2017").test) == in_order(whole.test)


# Good files.


def test_both_layouts_are_read_and_the_swapped_files_of_2015(folder):
    dataset = load(folder)
    assert (dataset.protocol, dataset.scoring) == ("a-2016", "semeval")
    assert list(in_order(dataset.train)) == ["Q201_R1", "Q1", "Q2658", "Q2772"]
    assert in_order(dataset.train)["Q201_R1"] == (
        "Visa How long & where?",
        [("Q201_R1_C1", "Q201_R1 says 1", 1), ("Q201_R1_C2", "Q201_R1 says 2", 0)],
    )
    assert in_order(dataset.dev)["Q268_R1"] == (
        "Dev",
        [("Q268_R1_C1", "Q268_R1 says 1", 0), ("Q268_R1_C2", "Q268_R1 says 2", 1)],
    )
    assert [question.id for question in load(folder, "a-2017").test] == ["Q388_R1"]


def test_other_data_sets_are_measured_as_trec_does_and_have_no_notes():
    sample = load_dataset("sample")
    assert (sample.scoring, sample.notes) == ("trec", ())
    assert {sample.scoring, "semeval"} == set(PROTOCOLS)


def test_notes_are_computed_from_what_is_there(folder, capsys):
    subject = thread("Q318_R1", "Bad", "", "VISA:", "how long; where?")  # other signs, same words
    (folder / f"{TEST}-subtaskA.xml").write_text(xml(subject), encoding="utf-8")
    assert load(folder).notes == (
        "train: 2016 train-part1 is missing: 1411 questions, 14110 pairs",
        "train: 2016 train-part2 is partial: 1 of 379 questions, 2 of 3790 pairs",
        "train: 2015 train is partial: 1 of 2480 questions, 1 of 14893 pairs",
        "train: 2015 dev is partial: 1 of 290 questions, 2 of 1529 pairs",
        "train: 2015 dev has 1 without comments, left out (Q2657)",
        "train: 2015 test is partial: 1 of 319 questions, 1 of 1876 pairs",
        "dev: 2016 dev is partial: 1 of 244 questions, 2 of 2440 pairs",
        "test: 2016 test is partial: 1 of 327 questions, 1 of 3270 pairs",
        "test: 1 of 1 have the text of a question in train (Q318_R1)",
    )
    assert cli.main(["data", "describe", "semeval-cqa", "--data-dir", str(folder.parent)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "semeval-cqa, protocol a-2016"
    assert out[5] == "note: train: 2016 train-part1 is missing: 1411 questions, 14110 pairs"


def test_tables_come_before_the_xml_but_incomplete_ones_after(folder):
    lemmas = ROW.replace("original", "lemmatised")
    for name, text in {
        "subtaskA-2016-dev.tsv": ROW.replace("Q1", "Q300"),
        "subtaskA-2015-train-lemmatised.tsv": lemmas.replace("Q1", "Q9"),
        "subtaskA-2016-train-part1-partial.tsv": lemmas.replace("Q1", "Q1_R1"),
    }.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress((HEADER + text).encode()))
    dataset = load(folder)
    assert [question.id for question in dataset.dev] == ["Q300"]
    # Part 1 has the table only; 2015 train has the XML, too, under the name of the test.
    ids = ["Q1_R1", "Q201_R1", "Q1", "Q2658", "Q2772"]
    assert [question.id for question in dataset.train] == ids
    assert [note for note in dataset.notes if "form" in note] == [
        "train: 2016 train-part1 has 1 of 1 comments in the form 'lemmatised'"
    ]


@pytest.mark.parametrize("form", ["xml", "tsv"])
def test_a_comment_without_words_keeps_label_and_place(folder, form):
    if form == "xml":
        text = xml(thread("Q300_R1")).replace("Q300_R1 says 1", " ")
        (folder / f"{DEV}-subtaskA.xml").write_text(text, encoding="utf-8")
    else:
        rows = ROW.replace("yes", " ") + "Q1\tQ1_C2\t2\tBad\t0\tVisa\t\tno\toriginal\n"
        rows = rows.replace("Q1", "Q300_R1")
        (folder / "subtaskA-2016-dev.tsv").write_text(HEADER + rows, encoding="utf-8")
    found = sorted(load(folder).dev[0].candidates, key=lambda candidate: candidate.place)
    assert [(candidate.text.strip() == "", candidate.label) for candidate in found] == [
        (True, 1),
        (False, 0),
    ]


def test_labels_that_the_xml_hides_come_from_the_gold(folder):
    (folder / f"{TEST_2017}-subtaskA.xml").unlink()
    hidden = xml(full("Q388_R1", "- ?"), full("Q388_R2", "?", f'{SKIP}="Q388_R1"'))
    (folder / f"{TEST_2017}-input.xml").write_text(hidden, encoding="utf-8")
    with pytest.raises(QaselError, match=r"input\.xml:\d+: comment 'Q388_R1_C1' has no label"):
        load(folder, "a-2017")
    gold = folder / f"{TEST_2017}-subtaskA.xml.subtaskA.relevancy"
    gold.write_text("Q388_R1\tQ388_R1_C1\t1\t1\tfalse\n")
    with pytest.raises(QaselError, match="has no label of comment 'Q388_R1_C2'"):
        load(folder, "a-2017")
    gold.write_text(gold.read_text() + "Q388_R1\tQ388_R1_C2\t2\t0.5\ttrue\n")
    (question,) = in_order(load(folder, "a-2017").test).values()
    assert [label for _, _, label in question[1]] == [0, 1]


# Bad files.


@pytest.mark.parametrize("name", [f"{DEV}-subtaskA.xml", f"{TEST}-subtaskA.xml", XML_2015[0]])
def test_a_question_of_another_file_is_refused(folder, name):
    """Whether it would leak from train into dev or test, or stand twice in train."""
    text = xml(thread("Q2772"), thread("Q2658"))
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(QaselError, match=r"\.xml: question 'Q2\d+' is also in .*\.xml; a question"):
        load(folder)


def test_what_is_not_there_is_told_with_names_and_source(folder):
    (folder / f"{DEV}-subtaskA.xml").unlink()
    message = rf"no dev file .*subtaskA-2016-dev\.tsv, {DEV}-subtaskA\.xml.* https://alt\.qcri\.org"
    with pytest.raises(QaselError, match=message):
        load(folder)
    with pytest.raises(QaselError, match="unknown protocol of semeval-cqa 'a-2015'"):
        load(folder, "a-2015")


ENTITIES = '<!DOCTYPE xml [\n<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;">\n]>\n'
BAD_XML = {
    "broken": (
        xml(thread("Q1")).replace("</RelCText>", "", 1),
        r"t\.xml:10: broken XML: mismatched",
    ),
    "cut": (xml(thread("Q1"))[:-8], "broken XML: no element found"),
    "empty": ("", r"t\.xml:1: broken XML"),
    "not UTF-8": (xml(thread("Q1", "Good", "", "é")).encode("latin-1"), r"t\.xml:7: broken XML"),
    "bare &": (xml(thread("Q1", "Good", "", "R&D")), r"t\.xml:7: broken XML"),
    "cut gzip": (gzip.compress(xml(thread("Q1")).encode())[:-12], "broken gzip"),
    "entities": (
        xml(thread("Q1", "Good", "", "&b;"), head=ENTITIES),
        r"t\.xml:2: refused, ent.*'a'",
    ),
    "unknown entity": (xml(thread("Q1", "Good", "", "&nbsp;")), "broken XML: undefined entity"),
    "a DTD elsewhere": (
        xml(thread("Q1"), head='<!DOCTYPE xml SYSTEM "file:///etc/passwd">\n'),
        r"t\.xml:1: refused, the DOCTYPE refers to another file",
    ),
    "a file as entity": (
        xml(head='<!DOCTYPE xml [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>\n'),
        r"t\.xml:1: refused, entity 'p'",
    ),
    "no threads": (xml(), "no threads"),
    "another file": ("<root><Question/></root>", r"t\.xml:1: <root> is out of place"),
    "out of place": (xml(thread("Q1")).replace("RelCText", "Text"), r"t\.xml:10: <Text> is out of"),
    "no text": (
        xml(thread("Q1")).replace("<RelCText>Q1 says 1</RelCText>", ""),
        "without a <RelCText>",
    ),
    "a text twice": (xml(thread("Q1", "Good", "", "</RelQSubject><RelQSubject>")), "out of place"),
    "no question": (xml("<Thread></Thread>"), "<Thread> without a <RelQuestion>"),
    "label": (xml(thread("Q1", "Good good")), r"t\.xml:11: comment 'Q1_C2': unknown label 'good'"),
    "no id": (
        xml(thread("Q1")).replace("RELC_ID", "ID"),
        r"t\.xml:9: <RelComment> without RELC_ID",
    ),
}


@pytest.mark.parametrize("case", BAD_XML)
def test_bad_xml_is_refused_with_file_and_line(tmp_path, case):
    text, message = BAD_XML[case]
    path = tmp_path / "t.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(QaselError, match=message):
        read_xml(path, A)


@pytest.mark.parametrize(
    ("threads", "message"),
    [
        ([thread("Q1"), thread("Q1")], r"A\.xml:16: question id 'Q1' occurs twice"),
        ([thread("Q1").replace("Q1_C2", "Q1_C1")], r"A\.xml:11: .* has two candidates 'Q1_C1'"),
        ([thread("Q1", "Good", "", " ", "")], r"A\.xml:8: the question has no text"),
        ([thread("Q 1")], r"A\.xml:9: question id 'Q 1' is blank or has white space"),
        ([thread("Q1", "")], r"A\.xml: no questions"),
    ],
)
def test_questions_that_cannot_be_are_refused_with_file_and_line(folder, threads, message):
    (folder / f"{DEV}-subtaskA.xml").write_text(xml(*threads), encoding="utf-8")
    with pytest.raises(QaselError, match=message):
        load(folder)


BAD_TABLES = {
    "header": (HEADER.replace("form", "kind") + ROW, r"t\.tsv:1: the header is not q_id c_id"),
    "fields": (HEADER + ROW.replace("\toriginal", ""), r"t\.tsv:2: 8 fields, expected 9"),
    "label": (HEADER + ROW.replace("Good", "good"), r"t\.tsv:2: comment 'Q1_C1': unknown label"),
    "relevant": (HEADER + ROW.replace("Good", "Bad"), r"t\.tsv:2: .*relevant '1' and label 'Bad'"),
    "twice": (HEADER + ROW + ROW, r"t\.tsv:3: comment 'Q1_C1': pos '1', expected 2"),
    "out of order": (HEADER + ROW.replace("_C1\t1", "_C1\t2"), "pos '2', expected 1"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_refused_with_file_and_line(tmp_path, case):
    text, message = BAD_TABLES[case]
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(QaselError, match=message):
        read_table(tmp_path / "t.tsv", A)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Q1\tQ1_C1\t1\t1\n", r"gold:1: 4 fields, expected 5"),
        ("Q1\tQ1_C1\t1\t1\tGood\n", r"gold:1: label 'Good' is not true or false"),
        ("Q1\tQ1_C1\t1\t1\ttrue\n" * 2, r"gold:2: candidate 'Q1_C1' of question 'Q1' occurs twice"),
    ],
)
def test_bad_gold_is_refused_with_file_and_line(tmp_path, text, message):
    (tmp_path / "gold").write_text(text)
    with pytest.raises(QaselError, match=message):
        read_relevancy(tmp_path / "gold")
