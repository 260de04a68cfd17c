"""What a process reads once for all the runs it makes, and anew when the files have changed."""

from qasel.datasets import load_dataset
from qasel.text import load_vectors

HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"


def write_wikiqa(folder, question):
    folder.mkdir(exist_ok=True)
    for split in ("train", "dev", "test"):
        line = f"Q1\t{question}\tD1\tTitle\tD1-0\tA {split} sentence.\t1\n"
        (folder / f"WikiQA-{split}.tsv").write_text(HEADER + line)


def test_a_data_set_is_read_once_until_a_file_changes(tmp_path):
    write_wikiqa(tmp_path / "wikiqa", "who sleeps")
    first = load_dataset("wikiqa", "all", tmp_path)
    first.splits["mine"] = first.train  # what a caller does to its own is no other's business
    again = load_dataset("wikiqa", "all", tmp_path)
    assert again.train is first.train
    assert set(again.splits) == {"train", "dev", "test"}
    write_wikiqa(tmp_path / "wikiqa", "who never sleeps")
    assert load_dataset("wikiqa", "all", tmp_path).train[0].text == "who never sleeps"


def test_vectors_are_read_once_for_the_same_words_until_the_file_changes(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("cat 1 2\ndog 3 4\n")
    first = load_vectors(str(path), words=["cat", "cow"])
    assert load_vectors(str(path), words=("cow", "cat", "cat")) is first
    assert "dog" not in first
    assert "dog" in load_vectors(str(path), words=["dog"])
    path.write_text("cat 1.5 2\ndog 3 4\n")
    assert load_vectors(str(path), words=["cat", "cow"]).matrix.tolist() == [[1.5, 2.0]]
