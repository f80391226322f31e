"""Verdicts are compared by their counts, within what seeds differ by."""

import pytest

from tests.compatibility.verdicts import Verdicts, compare, load_recorded, tolerance


def verdicts(right: int, green: int = 0, undecided: int = 0) -> Verdicts:
    said = ["right: coherent"] * right + ["false green: coherent"] * green + ["undecided: undecided"] * undecided
    return {f"check {i}": each for i, each in enumerate(said)} | {"diff a": "right: changed"}


def test_the_tolerance_is_half_a_prediction_interval_and_one_question_at_least() -> None:
    assert tolerance([7], 1) == tolerance([7, 7, 7], 3) == 1.0
    assert tolerance([0, 4], 2) == pytest.approx(12.7062 * 8**0.5)  # Student's t of one degree of freedom
    assert tolerance([0, 4], 1) > tolerance([0, 4], 2)


def test_a_difference_within_the_noise_is_said_and_allowed() -> None:
    before = {"0": verdicts(10), "1": verdicts(10)}
    lines, is_alike = compare(before, {"0": verdicts(9, undecided=1), "1": verdicts(10)})
    assert is_alike
    assert lines[-1] == "seed 0, check 9: right: coherent -> undecided: undecided"


def test_more_errors_than_seeds_explain_are_worse_and_fewer_are_not() -> None:
    before = {"0": verdicts(8, green=2), "1": verdicts(8, green=2)}
    assert not compare(before, {"0": verdicts(6, green=4), "1": verdicts(6, green=4)})[1]
    assert compare(before, {"0": verdicts(10), "1": verdicts(10)})[1]


def test_every_recorded_seed_asks_the_same() -> None:
    recorded = load_recorded()
    assert len({tuple(said) for said in recorded.values()}) == 1
    assert len(next(iter(recorded.values()))) > 200
