import itertools
import runpy

import numpy as np
import pytest
from scipy import stats

from qasel.errors import QaselError
from qasel.evaluation import (
    all_pairs,
    bootstrap_interval,
    hierarchical_bootstrap,
    holm,
    mean_interval,
    randomisation_test,
)
from qasel.locations import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "rejections.py"))
TESTS = [hierarchical_bootstrap, randomisation_test]


@pytest.fixture(scope="module")
def systems():
    generator = np.random.default_rng(1)
    base = generator.beta(1, 1, 80)
    noise = generator.normal(0, 0.05, (3, 80))
    return {"base": base, "same": base + noise[0], "better": base + 0.1 + noise[1]}


@pytest.mark.parametrize("test", TESTS)
def test_a_clear_difference_is_seen_and_none_is_not(test, systems):
    clear = test(systems["better"], systems["base"])
    assert clear.difference == pytest.approx(0.1, abs=0.02)
    assert clear.p <= 0.001
    assert f"p = {clear.p:.4g}" in str(clear)
    assert test(systems["same"], systems["base"]).p > 0.05
    back = test(systems["base"], systems["better"])
    assert (back.difference, back.p) == pytest.approx((-clear.difference, clear.p))


@pytest.mark.parametrize("test", TESTS)
def test_a_system_equals_itself(test, systems):
    result = test(systems["base"], systems["base"])
    assert (result.difference, result.p) == (0, 1)


@pytest.mark.parametrize("questions", [10, 80])
def test_with_one_seed_it_agrees_with_students_paired_test(questions):
    generator = np.random.default_rng(questions)
    a, b = generator.random((2, questions))
    found, student = hierarchical_bootstrap(a, b, resamples=99_999), stats.ttest_rel(a, b)
    assert found.p == pytest.approx(student.pvalue, abs=0.01)
    low, high = student.confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high), rel=0.05)
    assert (found.seeds, found.questions) == (1, questions)


def test_the_interval_leaves_zero_out_where_p_is_below_a_twentieth():
    generator, sides = np.random.default_rng(0), set()
    for _ in range(200):  # few resamples, so that each one counts
        found = hierarchical_bootstrap(generator.normal(0.6, 1, 12), resamples=39)
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)
        sides.add(found.p < 0.05)
    assert sides == {False, True}


def test_without_variance_over_questions_it_is_students_test_over_seeds():
    by_seed = np.array([0.03, 0.05, 0.01, 0.04])
    found = hierarchical_bootstrap(np.repeat(by_seed[:, None], 50, axis=1), resamples=99_999)
    assert found.p == pytest.approx(stats.ttest_1samp(by_seed, 0).pvalue, abs=0.003)
    assert found.high - found.difference == pytest.approx(mean_interval(by_seed)[2], rel=0.03)


@pytest.mark.parametrize("setting", TOOL["SETTINGS"])
def test_a_null_with_variance_over_seeds_and_questions_is_rejected_at_five_percent(setting):
    """Seeds' variance from none to the largest of the ledger: within the binomial interval.

    Not below it either, but where it cannot be estimated: with two seeds the form is conservative.
    """
    trials = 1_000
    found = TOOL["rejections"](setting, trials)
    low, high = stats.binom.interval(0.998, trials, 0.05)
    assert found["hierarchical"] * trials <= high
    if setting.seeds > 2 and setting.of_seeds:
        assert found["hierarchical"] * trials >= low
        assert found["questions only"] > found["hierarchical"]


def test_one_run_serves_all_seeds_and_the_seeds_widen_the_interval(systems):
    shifts = np.array([[-0.04], [0.0], [0.04]])
    several, once = systems["better"] + shifts, systems["base"]
    found = hierarchical_bootstrap(several, once)
    assert found == hierarchical_bootstrap(several, [once] * 3)
    assert found.seeds == 3
    mean_only = hierarchical_bootstrap(several.mean(axis=0), once)
    assert found.high - found.low > 2 * (mean_only.high - mean_only.low)
    assert "one seed, whose variance is not in" in str(mean_only)


def test_many_pairs_are_tested_as_each_is_alone():
    generator = np.random.default_rng(5)
    systems = {name: generator.random((3, 30)) + 0.1 * n for n, name in enumerate("abc")}
    pairs = list(itertools.combinations(systems, 2))
    alone = [hierarchical_bootstrap(systems[a], systems[b]).p for a, b in pairs]
    assert all_pairs(systems, pairs).tolist() == pytest.approx(alone)


def test_holm_by_hand():
    # 0.01 x 4; 0.02 x 3; 0.03 x 2, but no less than the one before; 0.9
    assert holm([0.03, 0.01, 0.9, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.9, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_randomisation_is_exact_for_few_questions():
    # three questions, each better by one: 2 of the 8 swaps are as far out, p = 1/4
    assert randomisation_test([2, 3, 4], [1, 2, 3]).p == 0.25
    many = randomisation_test(np.arange(40) + 1.0, np.arange(40), seed=0, resamples=999)
    assert many.p == pytest.approx(1 / 1000, abs=1 / 1000)


def test_questions_are_aligned_by_id():
    a = {"q1": 0.9, "q2": 0.4, "q3": 0.8}
    b = {"q3": 0.5, "q1": 0.5, "q2": 0.1}
    aligned = [0.9, 0.4, 0.8], [0.5, 0.1, 0.5]
    for test in TESTS:
        assert test(a, b) == test(*aligned)
    assert hierarchical_bootstrap([a, a], b).difference == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({"q1": 1, "q2": 0}, {"q1": 1, "q3": 0}, "question 'q2'"),
        ([1, 2, 3], [1, 2], "question 2"),
        ({"q1": 1, "q2": 0}, [1, 0], "only one of a and b has question"),
        ([1], [2], "one question is too few"),
        ([1, float("nan")], [1, 2], "a: a list of finite numbers"),
        ([], [], "finite numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(a, b, message):
    for call in (*TESTS, bootstrap_interval):
        with pytest.raises(QaselError, match=message):
            call(a, b)


def test_runs_that_do_not_pair_are_refused():
    with pytest.raises(QaselError, match=r"or one; not \[2, 3\]"):
        hierarchical_bootstrap(np.ones((2, 5)), np.ones((3, 5)))


def test_the_bootstrap_interval_is_near_the_t_interval(systems):
    low, high = bootstrap_interval(systems["base"])
    mean, _, half = mean_interval(systems["base"])
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.01)
    low, high = bootstrap_interval(systems["better"], systems["base"])
    assert 0 < low < (systems["better"] - systems["base"]).mean() < high < 0.2
    assert bootstrap_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


def test_the_same_seed_gives_the_same_numbers(systems):
    pair = systems["same"], systems["base"]
    for test in (*TESTS, bootstrap_interval):
        assert test(*pair, seed=3) == test(*pair, seed=3)
        assert test(*pair, seed=3) != test(*pair, seed=4)


def test_mean_interval_by_hand():
    mean, deviation, half = mean_interval([70.0, 71.0, 72.0])
    assert (mean, deviation) == (71.0, 1.0)
    assert half == pytest.approx(4.302652729911275 / np.sqrt(3))  # t of 2 degrees, 97.5 %
    assert half == pytest.approx(71.0 - stats.t.interval(0.95, 2, 71.0, 1 / np.sqrt(3))[0])
    assert mean_interval([70.0]) == (70.0, None, None)
    with pytest.raises(QaselError, match="finite numbers"):
        mean_interval([])
