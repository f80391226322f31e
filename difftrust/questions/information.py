"""Choose the input whose right outcome tells most about which candidates are right.

``labels`` is a (m, n) integer array: equal labels on an input (a column) mean equal outcomes on it. ``counts`` is
(m,): how many candidates stand behind each row, at least one. ``alive`` is (m,) bool, the rows that contradict no
answer so far; ``allowed`` is (n,) bool, the inputs that may be asked.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from difftrust_core.metrics.estimates import Counts, Floats, Ints, Labels

Flags = NDArray[np.bool_]
Choice = Callable[[Flags], Floats]
"""(alive) -> (n,): the probability with which each input is asked about; all 0 where none splits those alive."""


def best_question(labels: Labels, counts: Counts, *, alive: Flags, allowed: Flags) -> int | None:
    """Return the input that splits the alive candidates most evenly, or None where no allowed input splits them.

    It minimises the sum over outcome classes of (candidates in the class)^2: divided by the number of candidates, how
    many are expected to be left, were each of them equally likely to be right. Of equally good inputs the first.
    """
    asked = np.flatnonzero(splitting_inputs(labels, alive=alive, allowed=allowed))
    scores = squared_classes(labels[np.ix_(alive, asked)], counts[alive])
    return int(asked[np.argmin(scores)]) if len(asked) else None


def splitting_inputs(labels: Labels, *, alive: Flags, allowed: Flags) -> Flags:
    """Return on which allowed inputs some two alive candidates have different outcomes: (n,)."""
    rows = labels[alive]
    return np.asarray((rows != rows[:1]).any(axis=0) & allowed)


def squared_classes(labels: Labels, counts: Counts) -> Ints:
    """Return, for each input, the sum over outcome classes of (candidates in the class)^2: (n,)."""
    total = np.zeros(labels.shape[1], dtype=np.int64)
    for row, weight in zip(labels, counts, strict=True):  # sum over pairs: the square of a class, without its name
        total += weight * (counts @ (labels == row))
    return total


def ask_best(labels: Labels, counts: Counts, allowed: Flags) -> Choice:
    """Return the choice of ``best_question``."""

    def choose(alive: Flags) -> Floats:
        chances = np.zeros(labels.shape[1])
        column = best_question(labels, counts, alive=alive, allowed=allowed)
        if column is not None:
            chances[column] = 1.0
        return chances

    return choose


def ask_random(labels: Labels, allowed: Flags, n_inputs: Counts) -> Choice:
    """Return the choice of any allowed input that splits those alive; ``n_inputs``: (n,), those of each column."""

    def choose(alive: Flags) -> Floats:
        weights = n_inputs * splitting_inputs(labels, alive=alive, allowed=allowed)
        total = int(weights.sum())
        return weights / total if total else np.zeros(len(weights))

    return choose


@dataclass(frozen=True, kw_only=True, eq=False)
class Answered:
    """What is expected of one task after 0, 1, ..., ``most`` answers of a user who knows what is right."""

    right: Floats
    """(most + 1,): the probability that the program taken is right on all inputs."""
    none_left: Floats
    """(most + 1,): the probability that every candidate contradicts an answer."""
    questions: float
    """How many questions are asked, at most ``most``: none where nothing splits those that are left."""


def answered(labels: Labels, truth: Labels, choose: Choice, *, most: int) -> Answered:
    """Return what is expected of up to ``most`` questions over every way in which ``choose`` may ask: exact, not drawn.

    ``labels``: (k, n), a row a behaviour, in the order in which they are taken: after each answer the first row that
    contradicts none. ``truth``: (n,), the label of the right outcome on each input, which is the user's answer; a row
    is right if it has all of them. Of more than ten behaviours, where an answer can leave more than 1,024 different
    groups of rows, that many of these stand for all.
    """
    agrees = labels == truth
    is_right = agrees.all(axis=1)
    states: _States = {np.ones(len(labels), dtype=np.bool_).tobytes(): 1.0}
    moves: dict[bytes, _States] = {}
    right, none_left, questions = np.zeros(most + 1), np.zeros(most + 1), 0.0
    for k in range(most + 1):
        after: _States = defaultdict(float)
        for state, chance in states.items():
            alive = np.frombuffer(state, dtype=np.bool_)
            right[k] += chance * (alive.any() and is_right[alive.argmax()])
            none_left[k] += chance * (not alive.any())
            if state not in moves:
                moves[state] = _moves(alive, agrees, choose(alive))
            if k < most:
                questions += chance * bool(moves[state])
                for left, share in (moves[state] or {state: 1.0}).items():
                    after[left] += chance * share
        states = _thinned(after)
    # Probabilities that sum to 1 are 1, not 1 - 1e-16: differences of them are then exactly 0.
    return Answered(right=right.round(12), none_left=none_left.round(12), questions=round(questions, 12))


_States = dict[bytes, float]
"""Which rows are alive, as the bytes of (k,) bool -> the probability of it."""
_MOST_STATES: Final = 1024
"""Of ten candidates no more can be alive in different ways; of hundreds, millions."""


def _thinned(states: _States) -> _States:
    """Return the states, or of too many so many that stand for all: at even steps of their summed probabilities."""
    if len(states) <= _MOST_STATES:
        return states
    summed = np.cumsum(list(states.values()))
    steps = (np.arange(_MOST_STATES) + 0.5) / _MOST_STATES * summed[-1]
    taken, times = np.unique(np.searchsorted(summed, steps), return_counts=True)
    spelled = list(states)
    return {
        spelled[i]: float(summed[-1]) * n / _MOST_STATES for i, n in zip(taken.tolist(), times.tolist(), strict=True)
    }


def _moves(alive: Flags, agrees: Flags, chances: Floats) -> _States:
    """Return which rows are alive after the next answer; nothing where no question is left."""
    found: _States = defaultdict(float)
    for column in np.flatnonzero(chances):
        found[(alive & agrees[:, column]).tobytes()] += float(chances[column])
    return found
