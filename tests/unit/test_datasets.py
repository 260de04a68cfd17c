"""Reading data sets: real ones against golden counts, and whatever may be wrong in a file."""

import gzip
import json
import shutil

import pytest

from qasel.datasets import describe, load_dataset, read_questions
from qasel.datasets.tables import read_table
from qasel.datasets.trecqa import read_jacana
from qasel.errors import QaselError
from qasel.text import load_vectors

HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"
TABLE = f"""{HEADER}
Q1\twho "is it\tD1\tIt\tD1-0\tIt is he .\t1
Q1\twho "is it\tD1\tIt\tD1-1\tIt rains .\t0
Q2\twhy\tD2\tWhy\tD2-0\tBecause .\t0
"""

COUNTS = {
    ("wikiqa", "all"): [(2118, 20360, 1040), (296, 2733, 140), (633, 6165, 293)],
    ("wikiqa", "answered"): [(873, 8672, 1040), (126, 1130, 140), (243, 2351, 293)],
    ("wikiqa", "mixed"): [(857, 8651, 1019), (122, 1126, 136), (237, 2341, 283)],
    ("trecqa", "raw"): [(1229, 53417, 6403), (81, 1148, 222), (95, 1517, 284)],
    ("trecqa", "clean"): [(1229, 53417, 6403), (65, 1117, 205), (68, 1442, 248)],
}


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A machine without any real data."""
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("qasel.locations.DATA", tmp_path / "data")
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# The real data.


@pytest.mark.parametrize(("name", "protocol"), COUNTS)
def test_golden_counts(data_dir, name, protocol):
    dataset = load_dataset(name, protocol, data_dir)
    counts = [(len(split), split.pairs, split.positives) for split in dataset.splits.values()]
    assert counts == COUNTS[name, protocol]
    assert list(dataset.splits) == [split.name for split in dataset.splits.values()]


@pytest.mark.parametrize(
    ("name", "protocol", "lengths"),
    [("wikiqa", "all", [22.73, 22.16, 22.42]), ("trecqa", "raw", [28.98, 24.89, 25.53])],
)
def test_golden_lengths(data_dir, name, protocol, lengths):
    rows = describe(load_dataset(name, protocol, data_dir))
    assert [round(row["sentence_tokens"], 2) for row in rows] == lengths


@pytest.mark.parametrize(
    ("xml", "table"), [("train", "train"), ("dev", "raw-dev"), ("test", "raw-test")]
)
def test_jacana_xml_equals_the_tables(data_dir, xml, table):
    from_xml = read_jacana(data_dir / f"trecqa/{xml}-less-than-40.manual-edit.xml.gz")
    assert from_xml.questions == read_table(data_dir / f"trecqa/{table}.tsv.gz").questions


@pytest.mark.parametrize("kept", [["raw-*"], ["dev-less*", "test-less*"]])
@pytest.mark.parametrize("protocol", ["clean", "raw"])
def test_trecqa_is_the_same_from_the_raw_tables_and_the_xml(
    data_dir, tmp_path, no_data, kept, protocol
):
    folder = tmp_path / "here" / "trecqa"
    folder.mkdir(parents=True)
    for pattern in kept:
        for path in (data_dir / "trecqa").glob(pattern):
            shutil.copy(path, folder)
    shutil.copy(data_dir / "trecqa" / "train.tsv.gz", folder / "train-all.tsv.gz")
    derived = load_dataset("trecqa", protocol, folder.parent)
    assert len(derived.train) == 93
    whole = load_dataset("trecqa", protocol, data_dir)
    assert derived.dev == whole.dev
    assert derived.test == whole.test


def test_real_files_unzipped_in_the_official_layout(data_dir, tmp_path, no_data):
    folder = tmp_path / "WikiQACorpus"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        data = gzip.decompress((data_dir / f"wikiqa/WikiQA-{split}.tsv.gz").read_bytes())
        (folder / f"WikiQA-{split}.tsv").write_bytes(data)
    dataset = load_dataset("wikiqa", "all", tmp_path)
    assert dataset.test == load_dataset("wikiqa", "all", data_dir).test


# What a data set is once loaded.


def test_candidates_are_shuffled_once_and_for_all_and_keep_their_place():
    first, again = load_dataset("sample"), load_dataset("sample")
    assert first.splits == again.splits
    places = [[c.place for c in question.candidates] for question in first.train]
    assert all(sorted(order) == list(range(len(order))) for order in places)
    assert any(order != sorted(order) for order in places)
    # Nothing can be won by taking the candidate that stands first.
    shares = [question.candidates[0].label for question in first.train]
    assert sum(shares) / len(shares) < 0.3


def test_a_folder_of_ones_own(tmp_path):
    write(tmp_path / "train.tsv", TABLE)
    line = {"question": "why", "candidates": ["so", {"text": "not so", "label": 1}]}
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(json.dumps(line).encode()))
    dataset = load_dataset(tmp_path)
    assert (dataset.name, dataset.protocol) == (tmp_path.name, "all")
    assert {name: len(split) for name, split in dataset.splits.items()} == {"train": 2, "test": 1}
    assert len(load_dataset(str(tmp_path), "answered").train) == 1
    with pytest.raises(QaselError, match="has no split 'dev'"):
        _ = dataset.dev
    write(tmp_path / "train.jsonl", json.dumps(line))
    with pytest.raises(QaselError, match="keep only one"):
        load_dataset(tmp_path)


@pytest.mark.parametrize(
    ("name", "protocol", "message"),
    [
        ("wikki", None, "unknown data set 'wikki'; did you mean 'wikiqa'"),
        ("wikiqa", "claen", "unknown protocol of wikiqa 'claen'.*known: all, answered, mixed"),
        ("trecqa", "cleen", "did you mean 'clean'"),
        ("wikiqa", None, "no train file.*qasel data fetch wikiqa.*QASEL_DATA"),
        ("trecqa", None, "no train file.*qasel data fetch trecqa.*QASEL_DATA"),
        ("mnli", None, "cannot be loaded.*qasel data check mnli"),
        ("glove.6B", None, "cannot be loaded"),
        ("no/such/folder", None, "no such folder"),
        ("sample/mixed", None, "by itself, `--protocol mixed`, of a run `--set protocol=mixed`"),
    ],
)
def test_what_is_not_there_is_told(no_data, name, protocol, message):
    with pytest.raises(QaselError, match=message):
        load_dataset(name, protocol)


def test_a_folder_that_is_misspelt_is_told(no_data, monkeypatch, tmp_path):
    monkeypatch.setenv("QASEL_DATA", str(tmp_path / "dta"))
    for ask in (lambda: load_dataset("wikiqa"), lambda: load_vectors("glove.6B.50d")):
        with pytest.raises(QaselError, match=r"it names .*dta, which is no folder"):
            ask()


def test_a_protocol_that_leaves_nothing_is_refused(tmp_path):
    write(tmp_path / "train.tsv", "question\tcandidate\tlabel\nwhy\tso\t0\n")
    with pytest.raises(QaselError, match="leaves no question in train"):
        load_dataset(tmp_path, "answered")
    write(tmp_path / "empty", "")
    (tmp_path / "sub").mkdir()
    with pytest.raises(QaselError, match="no train, dev or test file"):
        load_dataset(tmp_path / "sub")


# Good files.


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz", "t.txt"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_reads_the_same_however_it_is_stored(tmp_path, ending, name, mark):
    data = (mark + TABLE).replace("\n", ending).encode()
    split = read_questions(write(tmp_path / name, gzip.compress(data) if "gz" in name else data))
    assert [(q.id, q.text) for q in split] == [("Q1", 'who "is it'), ("Q2", "why")]
    assert [(c.id, c.text, c.label, c.place) for c in split[0].candidates] == [
        ("D1-0", "It is he .", 1, 0),
        ("D1-1", "It rains .", 0, 1),
    ]
    assert split.name == "t"


def test_a_users_table_groups_consecutive_rows(tmp_path):
    text = "question\tcandidate\na\tx\na\ty\n\nb\tx\nc\tz\u2028z\n"
    split = read_questions(write(tmp_path / "t.tsv", text))
    assert [(q.id, [c.text for c in q.candidates]) for q in split] == [
        ("q1", ["x", "y"]),
        ("q2", ["x"]),
        ("q3", ["z\u2028z"]),
    ]
    assert split[0].candidates[0].label is None
    assert split[0].candidates[1].id == "q1-1"


@pytest.mark.parametrize("column", ["qid", "question_id", "QuestionID"])
def test_a_users_question_ids_group_rows_wherever_they_stand(tmp_path, column):
    text = f"label\t{column}\tcandidate\tquestion\n1\t7\tx\ta\n0\t8\tx\tb\n0\t7\ty\ta\n"
    split = read_questions(write(tmp_path / "t.tsv", text))
    assert [(q.id, list(q.labels)) for q in split] == [("7", [1, 0]), ("8", [0])]


def test_both_forms_of_json_lines(tmp_path):
    lines = [
        {"question": "a", "candidates": ["x", {"text": "y", "label": 1, "id": "why"}]},
        {"question": "a", "candidates": [{"text": "z", "cid": "zed"}]},
        {"question": "b", "candidate": "x", "label": 0},
        {"question": "b", "candidate": "y", "label": None},
    ]
    text = "\n".join(map(json.dumps, lines))
    split = read_questions(write(tmp_path / "t.jsonl", text))
    assert [(q.id, [(c.id, c.label) for c in q.candidates]) for q in split] == [
        ("q1", [("q1-0", None), ("why", 1)]),
        ("q2", [("zed", None)]),
        ("q3", [("q3-0", 0), ("q3-1", None)]),
    ]


XML = """<QApairs id='1.1'>
<question>
Who\tis\tR&D\t<num>\t?
WP\tVBZ\tNN\tCD\t.
</question>
<positive>
He\tis
PRP\tVBZ
</positive>
<negative>

DT\tNN
</negative>
<negative>
</negative>
</QApairs>
<QApairs id='2'>
<question>
Why\t?
</question>
</QApairs>
"""


def test_jacana_keeps_blank_sentences_and_drops_questions_without_any(tmp_path):
    split = read_jacana(write(tmp_path / "TEST.xml", XML), "test")
    assert [q.text for q in split] == ["Who is R&D <num> ?"]
    assert [(c.id, c.text, c.label) for c in split[0].candidates] == [
        ("1.1-0", "He is", 1),
        ("1.1-1", "", 0),
        ("1.1-2", "", 0),
    ]


# Bad files: the message names file and line.

BAD_TABLES = {
    "no candidate column": ("question\tlabel\nq\t1\n", r"t\.tsv:1: no column 'candidate' or 'sent"),
    "commas": ("question,candidate\nq,c\n", "columns are set apart by tabs"),
    "no question column": ("Q\tSentence\nq\t1\n", "no column 'question' in the header, there: 'Q'"),
    "a column twice": ("question\tcandidate\tSentence\nq\ta\tb\n", "two columns for the candidate"),
    "too few fields": ("question\tcandidate\nq\ta\nq\n", r"t\.tsv:3: 1 fields, expected 2"),
    "too many fields": ("question\tcandidate\nq\ta\tb\n", r"t\.tsv:2: 3 fields"),
    "a NUL in an id": (
        "qid\tquestion\tcandidate\tlabel\na\0b\tq\ta\t1\n",
        r"t\.tsv:2: question id 'a\\x00b' is blank or has white space or a NUL",
    ),
    "label 2": ("question\tcandidate\tlabel\nq\ta\t2\n", r"t\.tsv:2: label '2' is not 0 or 1"),
    "no label": ("question\tcandidate\tlabel\nq\ta\t\n", r"t\.tsv:2: label ''"),
    "no candidate": ("question\tcandidate\nq\ta\nr\t \n", r"t\.tsv:3: question 'q2' has no cand"),
    "no question": ("question\tcandidate\n \ta\n", r"t\.tsv:2: the question has no text"),
    "two texts": ("qid\tquestion\tcandidate\n1\ta\tx\n1\tb\tx\n", r"t\.tsv:3: .*two different"),
    "blank id": ("qid\tquestion\tcandidate\na b\ta\tx\n", r"t\.tsv:2: question id 'a b'"),
    "an id twice": (
        "qid\tquestion\tSentenceID\tcandidate\n1\ta\ts\tx\n1\ta\ts\tx\n",
        r"t\.tsv:3: question '1' has two candidates 's'",
    ),
    "header only": ("question\tcandidate\n", "no questions"),
    "empty": ("", "the file is empty"),
    "blank": ("\n \n", "the file is empty"),
    "old line ends": ("question\tcandidate\rq\ta\r", "lines end in CR alone"),
    "not UTF-8": (b"question\tcandidate\nq\t\xe9t\xe9\n", r"t\.tsv:2: not UTF-8"),
    "UTF-16": ("question\tcandidate\nq\ta\n".encode("utf-16"), r"t\.tsv:1: not UTF-8"),
    "cut gzip": (gzip.compress(TABLE.encode())[:-12], r"t\.tsv: broken gzip"),
    "damaged gzip": (b"\x1f\x8b" + b"x" * 50, r"t\.tsv: broken gzip"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_refused_with_file_and_line(tmp_path, case):
    text, message = BAD_TABLES[case]
    with pytest.raises(QaselError, match=message):
        read_questions(write(tmp_path / "t.tsv", text))


BAD_JSON = {
    "broken": ('{"question": "q", "candidates": ["a"]}\n{"quest', r"t\.jsonl:2: Invalid JSON: .*"),
    "deep": ("[" * 100_000, r"t\.jsonl:1: Invalid JSON"),
    "long number": ('{"question": ' + "9" * 5000 + "}", r"t\.jsonl:1: "),
    "a list": ('["q"]', r"t\.jsonl:1: Input should be an object"),
    "no question": ('{"candidates": ["a"]}', r"t\.jsonl:1: question: Field required"),
    "no candidates": ('{"question": "q", "candidates": []}', r"t\.jsonl:1: .*no candidate here"),
    "nothing": ('{"question": "q"}', r"t\.jsonl:1: neither 'candidates' nor 'candidate'"),
    "a string": (
        '{"question": "q", "candidates": "a"}',
        r"t\.jsonl:1: candidates: Input should be a valid array",
    ),
    "a number": (
        '{"question": "q", "candidates": [1]}',
        r"t\.jsonl:1: candidates\.0: Input should be",
    ),
    "no text": (
        '{"question": "q", "candidates": [{"label": 1}]}',
        r"t\.jsonl:1: candidates\.0\.text: Field required",
    ),
    "blank text": ('{"question": "q", "candidates": [" "]}', "has no text"),
    "label 2": ('{"question": "q", "candidate": "a", "label": 2}', "label 2 is not 0, 1 or null"),
    "label true": ('{"question": "q", "candidate": "a", "label": true}', "label True"),
    "label text": ('{"question": "q", "candidate": "a", "label": "1"}', "label '1'"),
    "label list": ('{"question": "q", "candidate": "a", "label": []}', r"label \[\]"),
    "half a pair": (
        '{"question": "q\\ud800", "candidates": ["a"]}',
        r"t\.jsonl:1: Invalid JSON: .* hex escape",
    ),
    "an id twice": ('{"id": 1, "question": "q", "candidates": ["a"]}\n' * 2, "'1' occurs twice"),
    "a qid twice": (
        "".join(f'{{"qid": "Q", "id": {i}, "question": "q", "candidates": ["a"]}}\n' for i in "12"),
        "'Q' occurs twice",
    ),
    "ids and none": (
        '{"qid": 1, "question": "q", "candidate": "a"}\n{"question": "q", "candidate": "a"}',
        r"t\.jsonl:2: some questions have an id",
    ),
    "a question's id as a candidate's": (
        '{"id": "q1", "question": "q", "candidate": "a"}\n' * 2,
        r"t\.jsonl:2: .*two candidates 'q1'; .* `qid`",
    ),
    "an odd id": ('{"id": [], "question": "q", "candidate": "a"}', r"id \[\] is not a string"),
}


def test_where_a_line_is_a_candidate_an_id_is_its_own(tmp_path):
    lines = [{"id": f"c{i}", "question": "who", "candidate": text} for i, text in enumerate("ab")]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (question,) = read_questions(tmp_path / "t.jsonl")
    assert (question.id, [c.id for c in question.candidates]) == ("q1", ["c0", "c1"])


@pytest.mark.parametrize("case", BAD_JSON)
def test_bad_json_lines_are_refused_with_file_and_line(tmp_path, case):
    text, message = BAD_JSON[case]
    with pytest.raises(QaselError, match=message):
        read_questions(write(tmp_path / "t.jsonl", text))


BAD_XML = {
    "another file": ("<xml>\n", r"t\.xml:1: expected <QApairs"),
    "cut": (XML[:-12], r"the file ends inside question '2'"),
    "cut in an element": (XML[:60], "the file ends inside"),
    "unclosed": (XML.replace("</positive>\n", ""), r"</QApairs> inside <positive>"),
    "stray": (XML.replace("<positive>", "<neutral>"), r"t\.xml:6: '<neutral>' is out of place"),
    "twice": (XML.replace("'2'", "'1.1'"), "'1.1' occurs twice"),
    "no words": (XML.replace("Why\t?\n", ""), "question '2' has no words"),
    "no candidates": (XML[XML.index("<QApairs id='2'>") :], "no questions with candidates"),
}


@pytest.mark.parametrize("case", BAD_XML)
def test_bad_jacana_files_are_refused_with_file_and_line(tmp_path, case):
    text, message = BAD_XML[case]
    with pytest.raises(QaselError, match=message):
        read_jacana(write(tmp_path / "t.xml", text))


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(QaselError, match="no such file"):
        read_questions(tmp_path / "none.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(QaselError, match="cannot be read"):
        read_questions(tmp_path / "folder.tsv")
    with pytest.raises(QaselError, match=r"unknown kind of file '\.csv'"):
        read_questions(tmp_path / "table.csv")
