"""Which candidate is taken, by consensus or by answers, and what that brings: by hand and against asking plainly."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from difftrust.research.per_candidate import judged_candidates
from difftrust.research.selection import (
    AFTER,
    BEST,
    RANDOM,
    answers_table,
    compute_answers,
    compute_passes,
    selection_table,
)
from difftrust.tables.value_of_choosing import curves_of_answers, gains_said
from difftrust_core.base.records import Kind
from difftrust_core.estimates.pool import CompactTask, Pool, compress
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimates import behaviour_clusters
from tests.estimates.test_ablation import members

CODERS = (("a", 0.6), ("b", 0.6))
N = 7


def test_the_largest_cluster_comes_first_and_in_it_the_smallest_program() -> None:
    labels = np.array([[0, 1, 0], [0, 1, 0], [0, 2, 0], [1, 1, 1], [0, 2, 0]])
    texts = ["aaaa", "bb", "c", "d", "ee"]
    assert behaviour_clusters(labels, np.array([1, 1, 1, 1, 2]), texts) == [[2, 4], [1, 0], [3]]


@pytest.mark.parametrize("seed", range(20))
def test_the_consensus_is_that_of_counting_plainly_in_any_order(seed: int) -> None:
    """Of equally large clusters the one with the smallest program: the shorter, then the first by text."""
    rng = np.random.default_rng(seed)
    labels, counts = rng.integers(0, 2, (8, 3)), rng.integers(0, 4, 8)
    texts = ["x" * int(k // 3) + str(row) for row, k in enumerate(rng.permutation(8))]
    sizes = Counter()
    for row, count in zip(labels.tolist(), counts.tolist(), strict=True):
        sizes[tuple(row)] += count
    best = max(sizes.values())
    expected = min(
        (row for row in range(8) if counts[row] and sizes[tuple(labels[row].tolist())] == best),
        key=lambda row: (len(texts[row]), texts[row]),
    )
    for order in (np.arange(8), rng.permutation(8)):
        found = behaviour_clusters(labels[order], counts[order], [texts[i] for i in order])[0][0]
        assert order[found] == expected


def test_the_table_of_selection_is_paired_by_task() -> None:
    rows = [
        ("t1", "one", 0.5, 1.0, 1.0, True),
        ("t2", "one", 0.25, 0.0, 1.0, False),
        ("t1", "two", 1.0, 1.0, 1.0, True),
        ("t2", "two", 0.25, 0.0, 0.0, False),
    ]
    columns = ["task_id", "model", "random", "consensus", "filtered", "has_example"]
    where = {"benchmark": pl.lit("b"), "temperature": pl.lit(0.6), "m": pl.lit(10), "n": pl.lit(100)}
    passes = pl.DataFrame(rows, schema=columns, orient="row").with_columns(**where)
    table = selection_table(passes)
    assert table.select("model", "tasks", "with_example").rows() == [("one", 2, 1), ("two", 2, 1), ("mean", 2, 1)]
    assert table.select("random", "consensus", "filtered").rows() == [
        (0.375, 0.5, 1.0),
        (0.625, 0.5, 0.5),
        (0.5, 0.5, 0.75),
    ]
    gains = table.select("consensus_gain", "filtered_gain", "filter_gain").rows()
    assert gains == [(0.125, 0.625, 0.5), (-0.125, -0.125, 0.0), (0.0, 0.25, 0.25)]
    # Of two tasks a resample holds one twice or each once: the extremes are the two differences, each in 1 of 4.
    ends = table.select("consensus_gain_low", "consensus_gain_high")
    assert ends.rows() == [(-0.25, 0.5), (-0.25, 0.0), (-0.25, 0.25)]
    assert selection_table(passes.reverse()).equals(table)
    unknown = selection_table(passes.with_columns(filtered=pl.when(model="one").then("filtered")))
    assert unknown["filtered"].to_list() == [1.0, None, None]
    others = [name for name in table.columns if "filter" not in name]
    assert unknown.select(others).equals(table.select(others))


def made(seed: int) -> tuple[Pool, list[tuple[np.ndarray, np.ndarray]]]:
    """Return a pool of three tasks by chance, and of each the labels and kinds on every input; row 0: the reference.

    Of the last task the reference is not known. The last row of each task does not load.
    """
    rng = np.random.default_rng(seed)
    tasks: list[CompactTask] = []
    plain = []
    for i in range(3):
        labels = np.where(rng.random((6, N)) < 0.5, 0, rng.integers(0, 4, (6, N)))
        labels[-1] = 9
        kinds = np.zeros(labels.shape, dtype=np.uint8)
        kinds[-1] = Kind.LOAD_ERROR
        kinds[0] = rng.choice([Kind.VALUE, Kind.EXCEPTION, Kind.TIMEOUT], N, p=[0.6, 0.2, 0.2])
        matrix = {"paper": labels.astype(np.uint16), "strict": labels.astype(np.uint16)}
        tasks.append(compress(f"t/{i}", matrix, kinds, reach=np.full(6, N), reference=None if i == 2 else 0))
        plain.append((labels, kinds))
    coders = {}
    for coder in CODERS:
        own = members([rng.integers(0, 6, 5).tolist(), rng.integers(1, 6, 4).tolist(), [0, 1]])
        coders[coder] = replace(own, completion_tokens=rng.permutation(len(own.row)))
    return Pool(benchmark="x", equality="paper", tasks=tuple(tasks), members=coders), plain


class Asked:
    """One task asked about plainly: lists of candidates, (index, row), and dictionaries."""

    def __init__(self, labels: np.ndarray, kinds: np.ndarray, candidates: list[tuple[int, int]], *, n: int):
        self.outcome = {row: labels[row, :n].tolist() for row in range(len(labels))}
        self.inputs = [i for i in range(n) if kinds[0, i] in (Kind.VALUE, Kind.EXCEPTION)]
        loading = [c for c in candidates if kinds[c[1], 0] != Kind.LOAD_ERROR]
        self.candidates = loading or candidates

    def taken(self, alive: list[tuple[int, int]]) -> bool:
        """Tell whether the smallest program of the largest cluster is right; ``alive``: (tokens, row)."""
        if not alive:
            return False
        sizes = {row: sum(self.outcome[other] == self.outcome[row] for _, other in alive) for _, row in alive}
        _, row = min(alive, key=lambda c: (-sizes[c[1]], c[0]))
        return bool(self.outcome[row] == self.outcome[0])

    def squares(self, alive: list[tuple[int, int]], i: int) -> int:
        seen = [self.outcome[row][i] for _, row in alive]
        return sum(seen.count(label) for label in seen)

    def after(self, alive: list[tuple[int, int]], k: int, *, best: bool) -> tuple[Fraction, Fraction, Fraction]:
        """Return the chance that the program taken after k answers is right, that none is left, and the questions."""
        splitting = [i for i in self.inputs if alive and self.squares(alive, i) < len(alive) ** 2]
        if not k or not splitting:
            return Fraction(self.taken(alive)), Fraction(not alive), Fraction(0)
        asked = [min(splitting, key=lambda i: (self.squares(alive, i), i))] if best else splitting
        found = []
        for i in asked:
            left = [c for c in alive if self.outcome[c[1]][i] == self.outcome[0][i]]
            right, none_left, questions = self.after(left, k - 1, best=best)
            found.append((right, none_left, questions + 1))
        return tuple(sum(column) / Fraction(len(asked)) for column in zip(*found, strict=True))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sizes", [{"m": None, "n": None}, {"m": 3, "n": 5}])
def test_it_agrees_with_asking_plainly(seed: int, sizes: dict[str, Any]) -> None:
    pool, plain = made(seed)
    found = compute_answers(judged_candidates({"x": pool}, temperature=0.6, **sizes))
    assert found["task_id"].unique().sort().to_list() == ["t/0", "t/1"]
    for row in found.iter_rows(named=True):
        index = int(row["task_id"][-1])
        own = pool.of((row["model"], 0.6)).first(sizes["m"])
        at = own.task == index
        candidates = list(zip(own.completion_tokens[at].tolist(), own.row[at].tolist(), strict=True))
        asked = Asked(*plain[index], candidates, n=sizes["n"] or N)
        best = row["question"] == BEST
        for k, name in enumerate(AFTER):
            right, none_left, questions = asked.after(asked.candidates, k, best=best)
            assert row[name] == pytest.approx(float(right), abs=1e-9)
        assert (row["none_left"], row["questions"]) == pytest.approx((float(none_left), float(questions)), abs=1e-9)
        rights = [asked.outcome[r] == asked.outcome[0] for _, r in candidates]
        assert (row["pass_at_1"], row["some_right"]) == (sum(rights) / len(rights), any(rights))


def test_no_answer_is_the_consensus_and_answers_only_help() -> None:
    pool, _ = made(0)
    judged = [*judged_candidates({"x": pool}, temperature=0.6, m=None, n=None)]
    passes, found = compute_passes(judged, {}), compute_answers(judged)
    for question in (BEST, RANDOM):
        own = found.filter(question=question)
        assert own["after_0"].to_list() == passes["consensus"].to_list()
        assert own["pass_at_1"].to_list() == passes["random"].to_list()
        assert (own["after_5"] <= own["some_right"]).all()
    with pytest.raises(WrongUsage, match="executed on 7 inputs, not 8"):
        compute_answers(judged_candidates({"x": pool}, temperature=0.6, m=None, n=8))


def test_the_table_of_answers_is_paired_by_task() -> None:
    columns = ["task_id", "model", "question", "pass_at_1", "some_right", "after_0", "after_1"]
    rows = [
        ("t1", "one", BEST, 0.5, 1.0, 0.0, 1.0),
        ("t2", "one", BEST, 0.25, 1.0, 1.0, 1.0),
        ("t1", "one", RANDOM, 0.5, 1.0, 0.0, 0.5),
        ("t2", "one", RANDOM, 0.25, 1.0, 1.0, 1.0),
        ("t1", "two", BEST, 0.0, 0.0, 0.0, 0.0),
        ("t1", "two", RANDOM, 0.0, 0.0, 0.0, 0.0),
    ]
    answers = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        *[pl.col("after_1").alias(name) for name in AFTER[2:]],
        benchmark=pl.lit("b"), temperature=pl.lit(0.6), none_left=pl.lit(0.0), questions=pl.lit(1.0),
    )  # fmt: skip
    table = answers_table(answers, resamples=2000, seed=0)
    told = ("model", "question", "tasks", "pass_at_1", "consensus", "after_1", "gain_1", "gain_1_over_random")
    assert table.select(told).rows() == [
        ("one", BEST, 2, 0.375, 0.5, 1, 0.5, 0.25),
        ("one", RANDOM, 2, 0.375, 0.5, 0.75, 0.25, None),
        ("two", BEST, 1, 0, 0, 0, 0, 0),
        ("two", RANDOM, 1, 0, 0, 0, 0, None),
        ("mean", BEST, 2, 0.25, 0.5, 0.75, 0.25, 0.125),
        ("mean", RANDOM, 2, 0.25, 0.5, 0.625, 0.125, None),
    ]
    assert table.select("gain_1_low", "gain_1_high").rows()[:2] == [(0, 1), (0, 0.5)]
    assert answers_table(answers.reverse(), resamples=2000, seed=0).equals(table)
    curves = curves_of_answers(table)
    assert curves.filter(model="mean", question=BEST)["pass_at_1"].to_list() == [0.5, *[0.75] * 5]
    assert gains_said(table) == "The first answer brings +25.0 points [0.0, 50.0] on b (95 % over tasks, paired)."
    assert set(curves_of_answers(table.filter(model="one"))["model"]) == {"one"}
