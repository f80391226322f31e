"""Ablations on compact matrices: the same numbers, to the last bit, as estimates on the whole ones."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust_core.base.records import Kind
from difftrust_core.estimates.measures import (
    KIND_COLUMNS,
    SUBSET_SCHEMA,
    TASK_SCHEMA,
    Class,
    ablation,
    over_subsets,
    shares,
    summary,
    summed,
    whole_rows,
)
from difftrust_core.estimates.pool import MISSING, NO_KIND, Members, Pool, compress
from difftrust_core.exceptions import WrongUsage
from tests.support.plain_estimators import detection_at, estimate

CODER = ("model", 0.6)


def members(rows: list[list[int]], **given: list[int]) -> Members:
    """Return one coder's candidates from the rows of its behaviours, task by task."""
    n = sum(map(len, rows))
    ints = {
        "task": [task for task, listed in enumerate(rows) for _ in listed],
        "sample_index": [i for listed in rows for i in range(len(listed))],
        "row": [row for listed in rows for row in listed],
        **{"prompt_tokens": [10] * n, "completion_tokens": [100] * n, "cost_nanodollars": [1_550_000] * n},
        **{"trimmed": [0] * n, "cost_is_lower_bound": [0] * n, "nondeterministic": [0] * n, **given},
    }
    flags = ("cost_is_lower_bound", "nondeterministic")
    return Members(**{name: np.array(own, dtype=bool if name in flags else np.int64) for name, own in ints.items()})


@st.composite
def benchmarks(draw: st.DrawFn) -> tuple[list[np.ndarray], list[int | None], list[list[int]]]:
    """Return up to three tasks: labels (n_rows, n), the reference's row, and each candidate's row."""
    tasks, references, rows = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        n_rows, n = draw(st.integers(1, 5)), draw(st.integers(1, 12))
        cells = draw(st.lists(st.integers(0, 3), min_size=n_rows * n, max_size=n_rows * n))
        tasks.append(np.array(cells, dtype=np.uint16).reshape(n_rows, n))
        references.append(draw(st.none() | st.just(0)))
        rows.append(draw(st.lists(st.integers(0, n_rows - 1), min_size=1, max_size=7)))
    return tasks, references, rows


def pool_of(tasks: list[np.ndarray], references: list[int | None], listed: dict[tuple[str, float], Members]) -> Pool:
    compact = [
        compress(
            f"task/{i}",
            {"paper": labels, "strict": labels},
            np.zeros(labels.shape, dtype=np.uint8),
            reach=np.full(len(labels), labels.shape[1]),
            reference=reference,
        )
        for i, (labels, reference) in enumerate(zip(tasks, references, strict=True))
    ]
    return Pool(benchmark="b", equality="paper", tasks=tuple(compact), members=listed)


@settings(deadline=None)
@given(benchmarks(), st.integers(1, 8), st.integers(1, 12))
def test_compact_and_whole_matrices_give_the_same_numbers(drawn: tuple, m: int, n: int) -> None:
    tasks, references, rows = drawn
    pool = pool_of(tasks, references, {CODER: members(rows)})
    found = {row["task_id"]: row for row in ablation(pool, [CODER], m=m, n=n).iter_rows(named=True)}
    for i, (labels, reference, listed) in enumerate(zip(tasks, references, rows, strict=True)):
        if labels.shape[1] < n:
            assert f"task/{i}" not in found
            continue
        counts = np.bincount(listed[:m], minlength=len(labels))
        expected = estimate(labels[:, :n], counts, reference)
        row = found[f"task/{i}"]
        for name, value in expected.items():
            assert row[name] == value or (math.isnan(value) and row[name] is None), name


@settings(max_examples=100, deadline=None)
@given(benchmarks(), st.permutations(range(4)))
def test_the_compact_form_keeps_who_agrees_with_whom(drawn: tuple, names: list[int]) -> None:
    """Whatever the classes are called; each pattern stands once, in the order in which it appears."""
    labels = drawn[0][0]
    kinds, reach = np.zeros(labels.shape, dtype=np.uint8), np.full(len(labels), labels.shape[1])
    renamed = np.array(names, dtype=np.uint16)[labels]
    one, other = (compress("t", {"paper": x}, kinds, reach=reach, reference=None) for x in (labels, renamed))
    assert np.array_equal(one.labels["paper"], other.labels["paper"])
    assert np.array_equal(one.pattern_of_input, other.pattern_of_input)
    whole = one.labels["paper"][:, one.pattern_of_input]
    assert np.array_equal(whole[:, None] == whole[None], labels[:, None] == labels[None])
    assert len(np.unique(one.labels["paper"], axis=1).T) == one.labels["paper"].shape[1]
    _, first = np.unique(one.pattern_of_input, return_index=True)
    assert np.array_equal(first, np.sort(first))


def test_patterns_are_refined_by_kind_and_by_both_equalities() -> None:
    paper = np.array([[0, 0, 0, 5], [1, 1, 1, 5]], dtype=np.uint16)
    strict = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.uint16)
    kinds = np.array([[0, 0, 1, 0], [0, 0, 0, 0]], dtype=np.uint8)
    task = compress("t", {"paper": paper, "strict": strict}, kinds, reach=np.array([4, 4]), reference=0)
    assert task.pattern_of_input.tolist() == [0, 0, 1, 2]
    assert task.labels["paper"].tolist() == [[0, 0, 0], [1, 1, 0]]
    assert task.labels["strict"].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert task.kinds.tolist() == [[0, 1, 0], [0, 0, 0]]


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        compress("t", {"paper": np.zeros((2, 3), np.uint16)}, np.zeros((2, 2), np.uint8), reach=np.ones(2), reference=0)


def half_executed() -> Pool:
    """Return one task: rows 0 and 1 known on four inputs, row 2 on the first two; 3 of ``short`` are of row 2."""
    labels = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [1, 1, MISSING, MISSING]], dtype=np.uint16)
    kinds = np.array([[0] * 4, [0, int(Kind.TIMEOUT), 0, 1], [0, int(Kind.SKIPPED), NO_KIND, NO_KIND]], dtype=np.uint8)
    task = compress("t", {"paper": labels}, kinds, reach=np.array([4, 4, 2]), reference=0)
    listed = {("long", 0.6): members([[0, 1, 1, 0]]), ("short", 0.6): members([[0, 2, 2, 2]])}
    return Pool(benchmark="b", equality="paper", tasks=(task,), members=listed)


def test_each_coder_reaches_as_far_as_all_its_programs() -> None:
    pool = half_executed()
    assert ablation(pool, [("long", 0.6)], m=None, n=None)["n"].to_list() == [4]
    assert ablation(pool, [("short", 0.6)], m=None, n=None)["n"].to_list() == [2]
    assert ablation(pool, [("short", 0.6)], m=1, n=4)["n"].to_list() == [4]
    assert ablation(pool, [("short", 0.6)], m=2, n=4).height == 0
    short = ablation(pool, [("short", 0.6)], m=4, n=2)
    assert short.select("error", "incoherence", "n_timeouts").row(0) == (3 / 4, 1 / 2, 0)
    assert short["n_skipped"].to_list() == [3]
    long = ablation(pool, [("long", 0.6)], m=4, n=4)
    assert long.select("error", "n_timeouts", "n_exceptions").row(0) == (1 / 4, 2, 2)


def test_a_mixture_takes_the_first_programs_of_each_evenly() -> None:
    assert shares(10, 3) == [4, 3, 3]
    mixed = ablation(half_executed(), [("long", 0.6), ("short", 0.6)], m=3, n=2)
    assert mixed["model"].to_list() == ["long+short"]
    # Rows 0, 1 of the first and 0 of the second: on input 0 all agree, on input 1 one of three is wrong.
    assert mixed.select("m", "error", "incoherence").row(0) == (3, 1 / 6, 1 / 3)


def test_coders_and_sizes_that_are_not_there_are_refused() -> None:
    pool = half_executed()
    with pytest.raises(WrongUsage, match=r"no candidates of long at 1\.0; there are: long at 0\.6, short at 0\.6"):
        ablation(pool, [("long", 1.0)], m=2, n=2)
    for m, n in ((0, 1), (1, 0)):
        with pytest.raises(WrongUsage, match="n >= 1"):
            ablation(pool, [("long", 0.6)], m=m, n=n)
    with pytest.raises(WrongUsage, match="m >= the number of coders"):
        ablation(pool, [("long", 0.6), ("short", 0.6)], m=1, n=2)


def test_the_rows_of_a_setting_that_is_not_recorded_whole_are_none() -> None:
    pool = half_executed()
    long, short, nobody = (("long", 0.6), ("short", 0.6), ("nobody", 0.6))
    for coders, m, n in (([long, short], 1, 2), ([long], 2, 0), ([nobody], 2, 2), ([long], 5, 2), ([short], 2, 4)):
        assert whole_rows(pool, coders, m=m, n=n) is None
    for coders, m, n in (([long, short], 2, 2), ([long], 1, 1), ([long], 4, 4), ([short], 1, 4)):
        rows = ablation(pool, coders, m=m, n=n, subsets=False)
        assert rows.equals(whole_rows(pool, coders, m=m, n=n))
        assert set(SUBSET_SCHEMA).isdisjoint(rows.columns)
    assert whole_rows(pool, [long], m=5, n=2, fewer=True)["m"].to_list() == [4]


@pytest.mark.parametrize("drawn", [[2, 0], [3, 0], [1, 1], [2, 1], [2, 2]], ids=str)
def test_expectations_over_subsets_are_those_of_all_subsets(drawn: list[int]) -> None:
    pools, wrong = [[0, 0, 0, 1, 2], [0, 1, 1]], {0: 0, 1: 3, 2: 7}
    classes = [Class(sizes=tuple(p.count(row) for p in pools), wrong=wrong[row]) for row in wrong]
    found = over_subsets(classes, drawn, n=10)
    parts = [itertools.combinations(own, k) for own, k in zip(pools, drawn, strict=True)]
    choices = [[*itertools.chain(*choice)] for choice in itertools.product(*parts)]
    silent = [wrong[c[0]] if len(set(c)) == 1 else None for c in choices]
    assert found.p_detected == pytest.approx(silent.count(None) / len(choices))
    assert found.p_erroneous == pytest.approx(np.mean([any(wrong[row] for row in c) for c in choices]))
    assert found.undetected_error == pytest.approx(sum(filter(None, silent)) / len(choices) / 10)


def test_subsets_of_one_coder_are_exact_and_undefined_below_two() -> None:
    classes = [Class(sizes=(size,), wrong=-1) for size in (4, 3, 1)]
    assert math.isnan(over_subsets(classes, [3], n=5).p_erroneous)
    for sizes, m, share in (((5000, 1), 2, 2 / 5001), ((10_000, 1), 9_000, 9_000 / 10_001), ((10,), 7, 0)):
        many = [Class(sizes=(size,), wrong=-1) for size in sizes]  # exact where floats would not be
        assert over_subsets(many, [m], n=5).p_detected == share == detection_at(sizes, m)
    for m in (1, 9):
        assert math.isnan(over_subsets(classes, [m], n=5).p_detected)


def test_the_summary_by_hand() -> None:
    # Two tasks, two inputs; candidates 0, 0, 1, 1: task 0 differs on one input of two, task 1 nowhere.
    split, alike = np.array([[0, 0], [0, 1]], dtype=np.uint16), np.array([[0, 0], [0, 0]], dtype=np.uint16)
    pool = pool_of([split, alike], [0, 0], {CODER: members([[0, 0, 1, 1], [0, 0, 1, 1]])})
    found, whole = (summary(ablation(pool, [CODER], m=m, n=2)) for m in (2, 4))
    assert (found["n_tasks"], found["mean_error"], found["pass_at_1"]) == (2, 0, 1)  # the first two are right
    assert math.isnan(found["detection_rate"])
    assert found["cost_usd"] == pytest.approx(4 * 0.00155)
    # Of the 6 pairs of task 0, 4 disagree, 5 hold a wrong one; the pair 1, 1 is wrong on 1 of 2 inputs, undetected.
    assert found["detection_rate_subsets"] == pytest.approx(4 / 5)
    assert found["undetected_mean_error_subsets"] == pytest.approx((1 / 6 * 1 / 2) / (2 / 6 + 1))
    assert (whole["mean_error"], whole["detection_rate_all_pairs"]) == (1 / 8, 1)
    assert whole["undetected_mean_error"] == pytest.approx(1 / 4 * 1 / 3 / (1 / 3 + 1))


@pytest.mark.parametrize("limit", [6, 10**9])
def test_sums_by_key_are_the_same_counted_and_sorted(limit: int) -> None:
    keys, sums = summed(np.array([5, 2, 5]), np.array([1, 2, 3]), limit)
    assert (keys.tolist(), sums.tolist()) == ([2, 5], [2, 4])


def test_a_cost_is_a_lower_bound_as_soon_as_one_program_s_is_and_unknown_is_not_zero() -> None:
    labels = np.array([[0], [1]], dtype=np.uint16)
    least, unknown = [0, 0, 1, 0], [1_000_000, 1_000_000, 1_000_000, -1]
    listed = {
        CODER: members([[0, 0], [1, 1]]),
        ("reasons", 0.6): members([[0, 1], [0, 1]], cost_is_lower_bound=least, cost_nanodollars=[2_000_000] * 4),
        ("unknown", 0.6): members([[0, 1], [0, 1]], cost_is_lower_bound=least, cost_nanodollars=unknown),
    }
    pool = pool_of([labels] * 2, [0, 0], listed)

    def costs(*coders: str, m: int = 2) -> list[tuple[float | None, bool | None]]:
        rows = ablation(pool, [(name, 0.6) for name in coders], m=m, n=1)
        return rows.select("cost_usd", "cost_usd_is_lower_bound").rows()

    assert costs("model") == [(0.0031, False), (0.0031, False)]
    assert costs("reasons") == [(0.004, False), (0.004, True)]
    assert costs("reasons", m=1) == [(0.002, False), (0.002, True)]
    assert costs("model", "reasons") == [(0.00355, False), (0.00355, True)]  # one program of each
    assert costs("unknown") == [(0.002, False), (None, None)]
    assert math.isnan(summary(ablation(pool, [("unknown", 0.6)], m=2, n=1))["cost_usd"])
    whole = summary(ablation(pool, [CODER, ("reasons", 0.6)], m=2, n=1))
    assert (whole["cost_usd"], whole["cost_usd_is_lower_bound"]) == (0.0071, True)
    assert summary(ablation(pool, [CODER], m=2, n=1))["cost_usd_is_lower_bound"] is False


def test_every_kind_of_outcome_has_a_column() -> None:
    assert [name for name, kind in TASK_SCHEMA.items() if kind == pl.UInt64] == [*KIND_COLUMNS]
    assert {*KIND_COLUMNS.values()} == {*Kind}
