import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, TieWarning, evaluate
from qasel.rankers import (
    BASELINES,
    BM25,
    Constant,
    FileOrder,
    History,
    IdfOverlap,
    RandomRanker,
    Ranker,
    SemEvalRandom,
    WordOverlap,
)

DATA = Path(os.environ.get("QASEL_DATA") or "no data")
golden = pytest.mark.skipif(
    not os.environ.get("QASEL_DATA"), reason="golden numbers need the real data: set QASEL_DATA"
)


def question(qid, text, *answers):
    """Answers are (text, label)."""
    candidates = (Candidate(f"{qid}-{i}", t, label, i) for i, (t, label) in enumerate(answers))
    return Question(qid, text, tuple(candidates))


TOY = Split(
    "toy",
    (
        question(
            "q1",
            "Where is the Eiffel tower ?",
            ("The cat is on the mat .", 0),
            ("The Eiffel tower stands in Paris .", 1),
            ("A tower , a tower !", 0),
        ),
        question("q2", "Who wrote Hamlet ?", ("Nobody knows .", 0), ("Shakespeare wrote it .", 1)),
        question("q3", "xyzzy", ("plugh", 1), ("The mat .", 0)),
    ),
)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_is_a_ranker_and_survives_saving(name, tmp_path):
    ranker = BASELINES[name]()
    assert isinstance(ranker, Ranker)
    history = ranker.fit(TOY, TOY)
    assert isinstance(history, History)
    assert (history.epochs, history.best_epoch) == ([], None)
    run = ranker.rank(TOY)
    assert run.tag == name
    ranker.save(tmp_path / "model")
    assert [file.name for file in (tmp_path / "model").iterdir()] == ["ranker.json"]
    again = BASELINES[name].load(tmp_path / "model")
    assert again.rank(TOY) == run
    assert json.loads((tmp_path / "model/ranker.json").read_text())["ranker"] == name


@pytest.mark.parametrize("name", BASELINES)
def test_neither_labels_nor_the_order_of_candidates_matter(name):
    ranker = BASELINES[name]()
    ranker.fit(TOY, None)
    blind = Split(
        "blind",
        tuple(
            Question(
                q.id, q.text, tuple(Candidate(c.id, c.text, None, c.place) for c in q.candidates)
            )
            for q in TOY.shuffled()
        ),
    )
    assert ranker.rank(blind) == ranker.rank(TOY)


def test_saved_files_that_are_not_the_rankers_own(tmp_path):
    Constant().save(tmp_path)
    with pytest.raises(QaselError, match="holds the ranker 'constant', not 'bm25'"):
        BM25.load(tmp_path)
    (tmp_path / "ranker.json").write_text("[1]")
    with pytest.raises(QaselError, match="not a saved ranker"):
        Constant.load(tmp_path)
    with pytest.raises(QaselError, match="cannot be read"):
        Constant.load(tmp_path / "nothing")


def test_what_is_no_split_or_no_setting_is_refused():
    data = load_dataset("sample")
    with pytest.raises(QaselError, match=r"takes a split, such as data\.train, not a Dataset"):
        BM25().fit(data)
    with pytest.raises(QaselError, match="takes a split, not a str"):
        BM25().rank("x")
    for settings in ({"k1": -1.0}, {"b": 1.5}, {"k1": float("nan")}):
        with pytest.raises(QaselError, match="k1 of 0 or more"):
            BM25(**settings)


def test_constant_and_file_order():
    with pytest.warns(TieWarning):
        assert evaluate(Constant().rank(TOY), TOY).p1 == 0
    run = FileOrder().rank(TOY.shuffled())
    assert run.ranking("q1") == ["q1-0", "q1-1", "q1-2"]


def test_random_depends_on_the_seed_and_the_question_only():
    one = RandomRanker(1).rank(TOY)
    assert one == RandomRanker(1).rank(TOY)
    assert one != RandomRanker(2).rank(TOY)
    part = TOY.where(lambda q: q.id == "q2")
    assert RandomRanker(1).rank(part).scores["q2"] == one.scores["q2"]
    with pytest.raises(QaselError, match="negative"):
        RandomRanker(-1)


def test_overlap_counts_word_types():
    scores = WordOverlap().rank(TOY).scores
    assert list(scores["q1"].values()) == [2, 3, 1]  # the, is; the, eiffel, tower; tower
    assert list(scores["q2"].values()) == [0, 1]


def test_idf_overlap_by_hand():
    ranker = IdfOverlap()
    with pytest.raises(QaselError, match="fit"):
        ranker.rank(TOY)
    ranker.fit(TOY, None)
    scores = ranker.rank(TOY).scores["q1"]
    # 7 sentences: "the" in 3, "is" in 1, "eiffel" in 1, "tower" in 2
    expected = [np.log(8 / 4) + np.log(8 / 2), np.log(8 / 4) + np.log(8 / 2) + np.log(8 / 3)]
    assert list(scores.values()) == pytest.approx([*expected, np.log(8 / 3)])
    unseen = Split("new", (question("q", "zebra", ("zebra", 1), ("the", 0)),))
    assert list(ranker.rank(unseen).scores["q"].values()) == pytest.approx([np.log(8), 0])


def test_bm25_by_hand():
    texts = ["red fox", "red red dog", "blue cat and bird"]
    split = Split("toy", (question("q", "red fox", *((text, 0) for text in texts)),))
    k1, b, mean = 1.5, 0.75, 3.0
    idf = {"red": np.log(1 + (3 - 2 + 0.5) / 2.5), "fox": np.log(1 + (3 - 1 + 0.5) / 1.5)}

    def part(word, count, length):
        return idf[word] * count / (count + k1 * (1 - b + b * length / mean))

    expected = [part("red", 1, 2) + part("fox", 1, 2), part("red", 2, 3), 0]
    assert list(BM25().rank(split).scores["q"].values()) == pytest.approx(expected)


def test_bm25_background_and_questions_without_a_known_word():
    ranker = BM25()
    before = ranker.rank(TOY)
    assert list(before.scores["q3"].values()) == [0, 0]
    other = Split("train", (question("t", "?", *((f"the number {i}", 0) for i in range(50))),))
    ranker.fit(other, None)
    assert ranker.rank(TOY).scores["q1"] != before.scores["q1"]


@pytest.mark.parametrize("name", BASELINES)
def test_texts_without_words(name):
    split = Split("soft hyphens", (question("q", "\u00ad", ("\u00ad", 1), ("\u00ad\u00ad", 0)),))
    ranker = BASELINES[name]()
    ranker.fit(split, None)
    assert len(ranker.rank(split).scores["q"]) == 2


def test_scores_do_not_depend_on_the_hash_seed():
    code = (
        "from test_baselines import *\n"
        "for c in (IdfOverlap, BM25): r = c(); r.fit(TOY, None); print(r.rank(TOY).scores)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(outputs) == 1


def shaken(run, split, how, times=1):
    """Mean MAP with ties broken by chance ("random") or by the file ("file")."""
    generator = np.random.default_rng(0)
    maps = []
    for _ in range(times):
        rows = {}
        for q in split:
            shift = {
                c.id: generator.random() if how == "random" else -c.place for c in q.candidates
            }
            rows[q.id] = {cid: run.scores[q.id][cid] + 1e-6 * shift[cid] for cid in shift}
        maps.append(evaluate(Run(rows), split).map)
    return 100 * np.mean(maps)


@golden
@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_trecqa_clean_test():
    split = load_dataset("trecqa", "clean", DATA).test
    assert (len(split), split.pairs) == (68, 1442)
    words, constant = WordOverlap().rank(split), Constant().rank(split)
    against = 100 * evaluate(words, split).map
    assert shaken(words, split, "file") == pytest.approx(77.4, abs=0.1)
    assert shaken(words, split, "random", 50) == pytest.approx(63.2, abs=0.7)
    assert against == pytest.approx(54.05, abs=0.1)
    assert shaken(constant, split, "random", 50) == pytest.approx(40.1, abs=1.0)
    assert 100 * evaluate(constant, split).map < 40.1 - 10
    assert evaluate(FileOrder().rank(split), split).map == 1  # why files are shuffled
    assert 100 * evaluate(BM25().rank(split), split).map == pytest.approx(67.3, abs=0.2)


@golden
def test_wikiqa_test():
    split = load_dataset("wikiqa", "mixed", DATA).test
    assert (len(split), split.pairs) == (237, 2341)
    assert 100 * evaluate(FileOrder().rank(split), split).map == pytest.approx(63.31, abs=0.005)
    draws = [evaluate(RandomRanker(seed).rank(split), split) for seed in range(20)]
    assert 100 * np.mean([draw.map for draw in draws]) == pytest.approx(38.2, abs=1.0)
    with pytest.warns(TieWarning, match="155 of 237"):
        evaluate(WordOverlap().rank(split), split)


SEMEVAL_RANDOM = {
    ("a-2016", "test"): (52.80, 58.71, None),
    ("a-2017", "test"): (62.30, 68.74, None),
    ("a-2016", "dev"): (45.56, 53.50, None),
    ("b-2016", "test"): (46.98, 50.96, 67.92),
    ("b-2017", "test"): (29.81, 33.02, 62.65),
    ("b-2016", "dev"): (55.95, 62.23, None),
}


@golden
@pytest.mark.parametrize(("protocol", "name"), SEMEVAL_RANDOM)
def test_the_official_random_baseline_of_semeval(protocol, name):
    split = load_dataset("semeval-cqa", protocol, DATA)[name]
    mean = evaluate(SemEvalRandom().rank(split), split, "semeval").mean
    *published, average_recall = SEMEVAL_RANDOM[protocol, name]
    assert [round(100 * mean[measure], 2) for measure in ("map", "mrr")] == published
    if average_recall:
        assert round(100 * mean["avgrec"], 2) == average_recall
