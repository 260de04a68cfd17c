import numpy as np
import pytest
from scipy import stats

from qasel.errors import QaselError
from qasel.evaluation import (
    bootstrap_interval,
    mean_interval,
    paired_ttest,
    randomisation_test,
    tukey_hsd_randomised,
)

TESTS = [paired_ttest, randomisation_test]


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
    assert clear.n == 80
    assert test(systems["same"], systems["base"]).p > 0.05
    back = test(systems["base"], systems["better"])
    assert (back.difference, back.p) == pytest.approx((-clear.difference, clear.p))
    assert f"n = {clear.n}" in str(clear)


@pytest.mark.parametrize("test", TESTS)
def test_a_system_equals_itself(test, systems):
    result = test(systems["base"], systems["base"])
    assert (result.difference, result.p) == (0, 1)


def test_randomisation_is_exact_for_few_questions():
    # three questions, each better by one: 2 of the 8 swaps are as far out, p = 1/4
    assert randomisation_test([2, 3, 4], [1, 2, 3]).p == 0.25
    assert paired_ttest([2, 3, 4], [1, 2, 3]).p == 0  # no spread at all
    many = randomisation_test(np.arange(40) + 1.0, np.arange(40), seed=0, resamples=999)
    assert many.p == pytest.approx(1 / 1000, abs=1 / 1000)


def test_questions_are_aligned_by_id():
    a = {"q1": 0.9, "q2": 0.4, "q3": 0.8}
    b = {"q3": 0.5, "q1": 0.5, "q2": 0.1}
    assert paired_ttest(a, b) == paired_ttest([0.9, 0.4, 0.8], [0.5, 0.1, 0.5])
    assert tukey_hsd_randomised({"a": a, "b": b})["a", "b"].difference == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({"q1": 1, "q2": 0}, {"q1": 1, "q3": 0}, "question 'q2'"),
        ([1, 2, 3], [1, 2], "3 questions, b 2"),
        ({"q1": 1, "q2": 0}, [1, 0], "dicts by question for both"),
        ([1], [2], "one question is too few"),
        ([1, float("nan")], [1, 2], "a: a list of finite numbers"),
        ([], [], "finite numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(a, b, message):
    calls = (paired_ttest, randomisation_test, bootstrap_interval)
    for call in (*calls, lambda a, b: tukey_hsd_randomised({"a": a, "b": b})):
        with pytest.raises(QaselError, match=message):
            call(a, b)


def test_the_bootstrap_interval_is_near_the_t_interval(systems):
    low, high = bootstrap_interval(systems["base"])
    mean, _, half = mean_interval(systems["base"])
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.01)
    low, high = bootstrap_interval(systems["better"], systems["base"])
    assert 0 < low < (systems["better"] - systems["base"]).mean() < high < 0.2
    assert bootstrap_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


def test_tukey_corrects_for_the_number_of_pairs(systems):
    result = tukey_hsd_randomised(systems)
    assert list(result) == [("base", "same"), ("base", "better"), ("same", "better")]
    assert result["base", "same"].p > 0.05
    assert result["base", "better"].p == 1 / 10_000
    alone = randomisation_test(systems["base"], systems["same"])
    assert result["base", "same"].p > alone.p
    two = tukey_hsd_randomised({"base": systems["base"], "same": systems["same"]})
    assert two["base", "same"].p == pytest.approx(alone.p, abs=0.02)
    with pytest.raises(QaselError, match="two or more systems"):
        tukey_hsd_randomised({"base": systems["base"]})


def test_tukey_keeps_its_level_when_nothing_differs():
    generator = np.random.default_rng(0)
    smallest = []
    for _ in range(60):
        rows = dict(zip("abcde", generator.random((5, 30)), strict=True))
        smallest.append(min(c.p for c in tukey_hsd_randomised(rows, resamples=299).values()))
    assert np.mean(np.array(smallest) <= 0.05) <= 0.15  # uncorrected pairs: about 0.3


def test_the_same_seed_gives_the_same_numbers(systems):
    pair = systems["same"], systems["base"]
    assert randomisation_test(*pair, seed=3) == randomisation_test(*pair, seed=3)
    assert randomisation_test(*pair, seed=3) != randomisation_test(*pair, seed=4)
    assert bootstrap_interval(*pair, seed=3) == bootstrap_interval(*pair, seed=3)
    assert bootstrap_interval(*pair, seed=3) != bootstrap_interval(*pair, seed=4)
    assert tukey_hsd_randomised(systems, seed=3) == tukey_hsd_randomised(systems, seed=3)


def test_mean_interval_by_hand():
    mean, deviation, half = mean_interval([70.0, 71.0, 72.0])
    assert (mean, deviation) == (71.0, 1.0)
    assert half == pytest.approx(4.302652729911275 / np.sqrt(3))  # t of 2 degrees, 97.5 %
    assert half == pytest.approx(71.0 - stats.t.interval(0.95, 2, 71.0, 1 / np.sqrt(3))[0])
    assert mean_interval([70.0]) == (70.0, None, None)
    with pytest.raises(QaselError, match="finite numbers"):
        mean_interval([])
