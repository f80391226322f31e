"""What is estimated is what it says, and intervals hold the truth as often as they say; coders with known E and I."""

import numpy as np
import pytest

from difftrust_core.base.records import Detection
from tests.support.coverage import biases, over_inputs, over_programs, over_tasks
from tests.support.simulated import CODERS, RARE, Coder, few_of

EXPERIMENTS = 2000
AT_LEAST, AT_MOST = 0.93, 0.97
BINOMIAL = np.sqrt(0.95 * 0.05 / EXPERIMENTS)
"""Standard error of a coverage of 95 % in so many experiments: 0.005."""


@pytest.fixture(scope="module")
def coders() -> list[Coder]:
    """Five coders of each of 22 kinds."""
    rng = np.random.default_rng(0)
    return [make(rng) for make in CODERS.values() for _ in range(5)]


@pytest.mark.slow
@pytest.mark.parametrize("m", [pytest.param(5, marks=pytest.mark.slow), 10, pytest.param(50, marks=pytest.mark.slow)])
def test_intervals_over_programs_cover_the_llm_and_naive_ones_do_not(coders: list[Coder], m: int) -> None:
    names = ("I", "I naive")
    found = over_programs(coders, m=m, n=100, experiments=EXPERIMENTS, seed=m, draws=150, names=names)
    # Five programs easily miss a rare behaviour, and the interval reckons with one: it covers a little more there.
    assert AT_LEAST <= found["I"].coverage <= (0.98 if m == 5 else AT_MOST)
    assert found["I naive"].coverage < 0.5
    assert found["I naive"].width < found["I"].width / 3


@pytest.mark.slow
@pytest.mark.parametrize("m", [5, 10, 50])
@pytest.mark.parametrize("coder", RARE.values(), ids=list(RARE))
def test_a_rare_behaviour_that_is_very_wrong_is_reckoned_with(coder: Coder, m: int) -> None:
    found = over_programs([coder], m=m, n=1000, experiments=300, seed=m, draws=150, names=("I",))
    assert found["I"].coverage >= 0.9


@pytest.mark.parametrize("m", [5, 10, 50])
def test_the_guaranteed_ones_never_fall_short(coders: list[Coder], m: int) -> None:
    names = ("I chernoff", "E at least")
    found = over_programs(coders, m=m, n=200, experiments=EXPERIMENTS // 5, seed=m, draws=1, names=names)
    assert all(tally.coverage >= 0.95 for tally in found.values())


@pytest.mark.quick(1)
@pytest.mark.parametrize("n", [100, 1000])
def test_intervals_over_inputs_cover_the_given_programs(coders: list[Coder], n: int) -> None:
    found = over_inputs(coders, m=10, n=n, experiments=EXPERIMENTS, seed=n, names=("I calibrated",))
    assert AT_LEAST <= found["I calibrated"].coverage <= AT_MOST


def test_the_guaranteed_ones_over_inputs_are_wider_and_never_fall_short(coders: list[Coder]) -> None:
    found = over_inputs(coders, m=10, n=100, experiments=EXPERIMENTS // 5, seed=3)
    assert all(found[name].coverage >= 0.95 for name in ("I chernoff", "I hoeffding"))
    assert found["I calibrated"].width < found["I chernoff"].width < found["I hoeffding"].width


@pytest.mark.slow
def test_intervals_over_tasks_cover_all_tasks() -> None:
    measures = (("mean_error", Detection.AS_PUBLISHED), ("detection_rate", Detection.ALL_PAIRS))
    found = over_tasks(measures, n_tasks=60, experiments=EXPERIMENTS, seed=1, resamples=200)
    for tally in found.values():
        assert AT_LEAST - BINOMIAL <= tally.coverage <= AT_MOST + BINOMIAL


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(5, 50), (10, 200), (50, 500)])
def test_estimators_are_unbiased_and_never_cry_wolf(m: int, n: int) -> None:
    coder = few_of(6, 1)(np.random.default_rng(7))
    found = biases(coder, m=m, n=n, experiments=EXPERIMENTS, seed=m)
    for name, (truth, mean, standard_error) in found.items():
        assert 0 < truth <= 1
        assert mean == pytest.approx(truth, abs=4 * standard_error + 1e-12), name
    # V is not an estimate of I: its bias is I/m, and shows.
    v, i = found["incoherence_v"], found["incoherence"]
    assert i[0] - v[1] == pytest.approx(i[0] / m, abs=4 * v[2])
    assert i[0] - v[1] > 4 * v[2] or m == 50
