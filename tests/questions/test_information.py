"""The input to ask about, against counting plainly."""

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from difftrust.questions.information import (
    answered,
    ask_best,
    ask_random,
    best_question,
    splitting_inputs,
    squared_classes,
)

LABELS = np.array([[0, 7, 1, 0], [0, 7, 2, 0], [0, 7, 2, 1], [0, 9, 3, 1]])
ONES = np.ones(4, dtype=np.int64)


ALL = np.ones(4, dtype=np.bool_)
NONE = ~ALL


def test_only_the_alive_and_the_allowed_count() -> None:
    def best(alive: NDArray[np.bool_], allowed: NDArray[np.bool_]) -> int | None:
        return best_question(LABELS, ONES, alive=alive, allowed=allowed)

    assert best(ALL, np.array([True, True, False, False])) == 1
    assert best(np.array([True, True, False, False]), ALL) == 2
    for alive, allowed in ((np.array([False, True, False, False]), ALL), (ALL, np.arange(4) == 0), (NONE, ALL)):
        assert best(alive, allowed) is None


@pytest.mark.parametrize("seed", range(30))
def test_it_agrees_with_counting_plainly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, counts = rng.integers(-2, 3, (7, 9)), rng.integers(1, 4, 7)
    alive, allowed = rng.random(7) < 0.7, rng.random(9) < 0.7
    expected: list[tuple[int, int]] = []
    for column in range(9):
        sizes: Counter[int] = Counter()
        for row in range(7):
            if alive[row]:
                sizes[int(labels[row, column])] += int(counts[row])
        assert squared_classes(labels[alive], counts[alive])[column] == sum(size**2 for size in sizes.values())
        if allowed[column] and len(sizes) > 1:
            expected.append((sum(size**2 for size in sizes.values()), column))
    assert best_question(labels, counts, alive=alive, allowed=allowed) == (min(expected)[1] if expected else None)
    splitting = splitting_inputs(labels, alive=alive, allowed=allowed)
    assert np.flatnonzero(splitting).tolist() == [column for _, column in expected]
    again = best_question(labels * 5 + 3, counts, alive=alive, allowed=allowed)  # names of classes do not matter
    assert again == best_question(labels, counts, alive=alive, allowed=allowed)


def test_answers_by_hand() -> None:
    """The third row is right; the question is input 2, which leaves rows 1 and 2; then input 3, which leaves row 2."""
    truth = LABELS[2]
    found = answered(LABELS, truth, ask_best(LABELS, ONES, ALL), most=3)
    assert found.right.tolist() == [0, 0, 1, 1]
    assert (found.none_left.tolist(), found.questions) == ([0, 0, 0, 0], 2)
    # Input 3 leaves row 2 first. After input 1 rows 0 to 2 are left, of which input 3, twice as likely as 2, finds it.
    found = answered(LABELS, truth, ask_random(LABELS, ALL, np.array([9, 1, 1, 2])), most=2)
    assert found.right.tolist() == [0, 0.5, pytest.approx(0.5 + 0.25 + 0.25 * 2 / 3)]
    assert found.questions == 2


def test_a_user_learns_that_no_candidate_is_right() -> None:
    truth = np.array([0, 8, 2, 0])
    found = answered(LABELS, truth, ask_best(LABELS, ONES, np.array([True, True, False, False])), most=2)
    assert (found.right.tolist(), found.none_left.tolist(), found.questions) == ([0, 0, 0], [0, 1, 1], 1)
    silent = answered(LABELS, truth, ask_best(LABELS, ONES, NONE), most=2)
    assert (silent.none_left.tolist(), silent.questions) == ([0, 0, 0], 0)


def test_of_very_many_behaviours_some_ways_of_asking_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (12, 40))
    labels[-1] = 0
    allowed, n_inputs = np.ones(40, dtype=np.bool_), np.arange(1, 41)
    exact = answered(labels, labels[-1], ask_random(labels, allowed, n_inputs), most=4)
    monkeypatch.setattr("difftrust.questions.information._MOST_STATES", 100)
    found = answered(labels, labels[-1], ask_random(labels, allowed, n_inputs), most=4)
    assert exact.right[-1] > 0.5
    assert found.right != pytest.approx(exact.right, abs=1e-9)
    assert found.right == pytest.approx(exact.right, abs=0.05)
    assert found.none_left.tolist() == [0] * 5
