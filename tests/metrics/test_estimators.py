"""Estimators of one task: examples by hand, invariances, and brute force over all pairs and subsets."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from difftrust_core.exceptions import BrokenInvariant, TooFewCandidates, Undefined, WrongUsage
from difftrust_core.metrics.estimates import check_invariants, disagreement_per_input, error, incoherence
from tests.support.plain_estimators import estimate, functional_classes

# Five candidates: two behave as row 0, two as row 1, one as row 2; the reference behaves as row 0.
#   input 0: all agree. 1: 2 | 2 | 1. 2: 4 | 1. 3: 2 | 3.
LABELS = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [0, 2, 1, 1]], dtype=np.uint16)
COUNTS = np.array([2, 2, 1])


def test_by_hand_per_input():
    assert disagreement_per_input(LABELS, COUNTS).tolist() == [0, 16 / 20, 8 / 20, 12 / 20]
    assert incoherence(LABELS, COUNTS) == 36 / 80
    assert functional_classes(LABELS, COUNTS) == (2, 2, 1)


def test_estimate_is_all_of_them():
    assert estimate(LABELS, COUNTS, 0) == {
        "m": 5,
        "n": 4,
        "error": 7 / 20,
        "incoherence": 9 / 20,
        "incoherence_v": 9 / 25,
        "p_detected": pytest.approx(1 - (1 / 5) * (3 / 5) * (2 / 5), abs=1e-15),
        "p_erroneous": pytest.approx(1 - (2 / 5) * (4 / 5) * (2 / 5), abs=1e-15),
        "functional_incoherence": 4 / 5,
        "functional_error": 3 / 5,
        "n_classes": 3,
        "n_load_failures": 0,
        "detected": True,
    }


def test_a_candidate_that_does_not_load_is_detected_and_changes_no_mean():
    silent = np.array([0, 5, 0])
    failed = estimate(LABELS, silent, 0, load_failures=5)
    assert {**failed, "n_load_failures": 0, "detected": False} == estimate(LABELS, silent, 0)
    assert (failed["n_load_failures"], failed["detected"]) == (5, True)
    assert estimate(LABELS, np.array([0, 1, 0]), 0, load_failures=1)["detected"] is None  # m = 1


def test_undefined_is_nan_in_the_record():
    one = estimate(LABELS, np.array([0, 1, 0]), 0)
    undefined = {"incoherence", "incoherence_v", "p_detected", "functional_incoherence"}
    assert {name for name, value in one.items() if value != value} == undefined
    assert (one["m"], one["error"], one["p_erroneous"], one["functional_error"]) == (1, 0.5, 1, 1)
    assert one["detected"] is None
    unreferenced = estimate(LABELS, COUNTS, None)
    undefined = {"error", "p_erroneous", "functional_error"}
    assert {name for name, value in unreferenced.items() if value != value} == undefined
    assert unreferenced["incoherence"] == 9 / 20


def test_no_candidates_and_no_inputs_are_refused():
    for measure in (disagreement_per_input, incoherence):
        with pytest.raises(TooFewCandidates, match="incoherence needs m >= 2 candidates, got 1"):
            measure(LABELS, np.array([0, 1, 0]))
    with pytest.raises(TooFewCandidates, match="m >= 1 candidates, got 0"):
        estimate(LABELS, np.array([0, 0, 0]), 0)
    with pytest.raises(TooFewCandidates, match="got 0"):
        estimate(LABELS[:0], COUNTS[:0], None)
    with pytest.raises(Undefined, match="n = 0"):
        estimate(LABELS[:, :0], COUNTS, 0)


MISUSES = [
    (LABELS, np.array([1, 2]), r"got \(3, 4\), \(2,\)"),
    (LABELS[0], COUNTS, r"got \(4,\), \(3,\)"),
    (LABELS, np.array([3, -1, 2]), "counts must be >= 0, got -1"),
]


def test_misuse_is_refused():
    for labels, counts, message in MISUSES:
        with pytest.raises(ValueError, match=message):
            estimate(labels, counts, 0)


def test_a_broken_invariant_is_reported():
    # m = 2, one wrong candidate on one input: 2 disagreeing ordered pairs, the most there can be.
    check_invariants(*np.array([[2], [1], [2]]))
    with pytest.raises(BrokenInvariant, match=r"form D.* 3 disagreeing"):
        check_invariants(*np.array([[2, 3], [1, 1], [2, 2]]))
    with pytest.raises(BrokenInvariant, match="0 wrong outcomes"):
        check_invariants(*np.array([[1], [0], [10]]))


# --- brute force: one row per candidate, every pair of them on every input


@st.composite
def tasks(draw):
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    labels = draw(hnp.arrays(np.uint16, shape, elements=st.integers(0, 3)))
    counts = draw(hnp.arrays(np.int64, shape[0], elements=st.integers(0, 3)).filter(lambda c: c.sum() > 1))
    return labels, counts, draw(st.integers(0, shape[0] - 1))


def brute_force(labels, counts, reference):
    rows = [tuple(row) for row, count in zip(labels.tolist(), counts, strict=True) for _ in range(count)]
    f = tuple(labels[reference].tolist())
    m, n = len(rows), len(f)
    pairs, product = list(itertools.permutations(rows, 2)), list(itertools.product(rows, rows))
    e = [Fraction(sum(row[i] != f[i] for row in rows), m) for i in range(n)]
    d = [Fraction(sum(a[i] != b[i] for a, b in pairs), len(pairs)) for i in range(n)]
    v = [Fraction(sum(a[i] != b[i] for a, b in product), len(product)) for i in range(n)]
    return {
        "m": m,
        "n": n,
        "error": sum(e) / n,
        "incoherence": sum(d) / n,
        "incoherence_v": sum(v) / n,
        "p_detected": 1 - math.prod(1 - x for x in d),
        "p_erroneous": 1 - math.prod(1 - x for x in e),
        "functional_incoherence": Fraction(sum(a != b for a, b in pairs), len(pairs)),
        "functional_error": Fraction(sum(row != f for row in rows), m),
        "n_classes": len(set(rows)),
        "detected": any(a != b for a, b in pairs),
    }


@settings(deadline=None)
@given(tasks())
def test_fast_is_brute_force(task):
    expected = {name: pytest.approx(float(x), abs=1e-12) for name, x in brute_force(*task).items()}
    assert estimate(*task) == expected | {"n_load_failures": 0}
    labels, counts, _ = task
    assert incoherence(labels, counts) == estimate(*task)["incoherence"]
    assert disagreement_per_input(labels, counts).mean() == pytest.approx(incoherence(labels, counts))


@settings(deadline=None)
@given(tasks(), st.data())
def test_names_of_classes_do_not_matter(task, data):
    labels, counts, reference = task
    bounds = data.draw(st.sampled_from([(0, 3), (-5, 5), (0, 60), (-(2**62), 2**62)]))
    names = st.lists(st.integers(*bounds), min_size=4, max_size=4, unique=True)
    columns = [np.array(data.draw(names), dtype=np.int64)[column] for column in labels.T]
    assert estimate(np.stack(columns, axis=1), counts, reference) == estimate(*task)


def test_error_is_the_share_of_wrong_outcomes() -> None:
    assert error([[0, 0], [0, 1]], reference=[0, 0]) == 0.25
    with pytest.raises(WrongUsage, match="expected a reference of 2 labels, one an input, got shape"):
        error([[0, 0], [0, 1]], reference=[0, 0, 0])
