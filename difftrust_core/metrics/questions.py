"""Choose the input whose right outcome tells most about which candidates are right.

``labels`` is a (m, n) integer array: equal labels on an input (a column) mean equal outcomes on it. ``counts`` is
(m,): how many candidates stand behind each row; rows of count 0 have no part. ``alive`` is (m,) bool, the rows that
contradict no answer so far (None: all); ``allowed`` is (n,) bool, the inputs that may be asked (None: all).
"""

import numpy as np
from numpy.typing import NDArray

from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimators import Counts, Labels

Flags = NDArray[np.bool_]


def best_question(
    labels: Labels, counts: Counts, *, alive: Flags | None = None, allowed: Flags | None = None
) -> int | None:
    """Return the input that splits the alive candidates most evenly, or None where no allowed input splits them.

    It minimises the sum over outcome classes of (candidates in the class)^2: divided by the number of candidates, how
    many are expected to be left, were each of them equally likely to be right. Of equally good inputs the first.
    Raises WrongUsage if the shapes do not fit.
    """
    scores = squared_classes(labels, counts, alive=alive)
    asked = np.flatnonzero(splitting_inputs(labels, counts, alive=alive, allowed=allowed))
    return int(asked[np.argmin(scores[asked])]) if len(asked) else None


def splitting_inputs(
    labels: Labels, counts: Counts, *, alive: Flags | None = None, allowed: Flags | None = None
) -> Flags:
    """Return on which allowed inputs some two alive candidates have different outcomes: (n,).

    Raises WrongUsage if the shapes do not fit.
    """
    rows = _alive(labels, counts, alive)
    differing = (labels[rows] != labels[rows[:1]]).any(axis=0)
    if allowed is None:
        return np.asarray(differing)
    if allowed.shape != labels.shape[1:]:
        raise WrongUsage(f"allowed has one entry an input, shape {labels.shape[1:]}, got {allowed.shape}")
    return np.asarray(differing & allowed)


def squared_classes(labels: Labels, counts: Counts, *, alive: Flags | None = None) -> NDArray[np.int64]:
    """Return, for each input, the sum over outcome classes of (alive candidates in the class)^2: (n,).

    Raises WrongUsage if the shapes do not fit.
    """
    rows = _alive(labels, counts, alive)
    own, weights = labels[rows], counts[rows].astype(np.int64)
    total = np.zeros(labels.shape[1], dtype=np.int64)
    for row, weight in zip(own, weights, strict=True):  # sum over pairs: the square of a class, without its name
        total += weight * (weights @ (own == row))
    return total


def survivors(labels: Labels, column: int, label: int) -> Flags:
    """Return which candidates have this outcome on this input: (m,). None may: then no candidate is right."""
    return np.asarray(labels[:, column] == label)


def _alive(labels: Labels, counts: Counts, alive: Flags | None) -> NDArray[np.int64]:
    """Return the rows that stand for a candidate that is alive."""
    for name, flags in (("counts", counts), ("alive", alive)):
        if flags is not None and flags.shape != labels.shape[:1]:
            raise WrongUsage(f"{name} has one entry a candidate, shape {labels.shape[:1]}, got {flags.shape}")
    kept = counts > 0 if alive is None else (counts > 0) & alive
    return np.flatnonzero(kept)
