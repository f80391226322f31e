"""The consensus candidate: which program it is, and what choosing it brings, against counts by hand."""

import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.research.selection import selection_table
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.metrics.estimates import behaviour_clusters
from tests.support.command import Capture, run

LABELS = np.array([[0, 1, 0], [0, 1, 0], [0, 2, 0], [1, 1, 1], [0, 2, 0]])


def consensus(labels: np.ndarray, counts: np.ndarray, texts: list[str]) -> int:
    return behaviour_clusters(labels, counts, texts)[0][0]


def test_the_largest_cluster_wins_and_in_it_the_smallest_program() -> None:
    counts = np.array([1, 1, 1, 1, 2])
    texts = ["aaaa", "bb", "c", "d", "ee"]
    assert behaviour_clusters(LABELS, counts, texts) == [[2, 4], [1, 0], [3]]
    assert consensus(LABELS, counts, texts) == 2


def test_ties_go_to_the_smaller_program_by_length_then_by_text() -> None:
    counts = np.array([1, 0, 1, 1, 0])
    assert consensus(LABELS, counts, ["aaa", "", "bb", "cc", ""]) == 2
    assert consensus(LABELS, counts, ["aaa", "", "cc", "bb", ""]) == 3
    assert consensus(LABELS, counts, ["a", "", "bb", "cc", ""]) == 0


@pytest.mark.parametrize("seed", range(20))
def test_clusters_agree_with_counting_plainly_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, counts = rng.integers(0, 2, (8, 3)), rng.integers(0, 4, 8)
    texts = ["x" * int(k) + str(row) for row, k in enumerate(rng.permutation(8))]
    sizes = Counter()
    for row, count in zip(labels.tolist(), counts.tolist(), strict=True):
        sizes[tuple(row)] += count
    best = max(sizes.values())
    expected = min(
        (row for row in range(8) if counts[row] and sizes[tuple(labels[row].tolist())] == best),
        key=lambda row: (len(texts[row]), texts[row]),
    )
    assert consensus(labels, counts, texts) == expected
    order = rng.permutation(8)
    assert order[consensus(labels[order], counts[order], [texts[i] for i in order])] == expected


def test_the_table_is_paired_by_task() -> None:
    rows = [
        ("b", "t1", "one", 0.6, 10, 100, 0.5, 1.0, 1.0, True),
        ("b", "t2", "one", 0.6, 10, 100, 0.25, 0.0, 1.0, False),
        ("b", "t1", "two", 0.6, 10, 100, 1.0, 1.0, 1.0, True),
        ("b", "t2", "two", 0.6, 10, 100, 0.25, 0.0, 0.0, False),
    ]
    columns = ["benchmark", "task_id", "model", "temperature", "m", "n"]
    columns += ["random", "consensus", "filtered", "has_example"]
    passes = pl.DataFrame(rows, schema=columns, orient="row")
    table = selection_table(passes)
    assert table["model"].to_list() == ["one", "two", "mean"]
    assert table["tasks"].to_list() == [2, 2, 2]
    assert table["with_example"].to_list() == [1, 1, 1]
    assert table["random"].to_list() == [0.375, 0.625, 0.5]
    assert table["consensus"].to_list() == [0.5, 0.5, 0.5]
    assert table["filtered"].to_list() == [1.0, 0.5, 0.75]
    assert table["consensus_gain"].to_list() == [0.125, -0.125, 0.0]
    assert table["filtered_gain"].to_list() == [0.625, -0.125, 0.25]
    assert table["filter_gain"].to_list() == [0.5, 0.0, 0.25]
    # Of two tasks a resample holds one twice or each once: the extremes are the two differences, each in 1 of 4.
    ends = table.select("consensus_gain_low", "consensus_gain_high")
    assert ends.rows() == [(-0.25, 0.5), (-0.25, 0.0), (-0.25, 0.25)]
    assert table.select("filter_gain_low", "filter_gain_high").rows() == [(0.0, 1.0), (0.0, 0.0), (0.0, 0.5)]
    shuffled = pl.DataFrame(rows[::-1], schema=columns, orient="row")
    assert selection_table(shuffled).equals(table)
    unknown = passes.with_columns(filtered=pl.when(pl.col("model") == "one").then("filtered"))
    found = selection_table(unknown)
    assert found["filtered"].to_list() == [1.0, None, None]
    others = [name for name in table.columns if "filter" not in name]
    assert found.select(others).equals(table.select(others))


def test_on_a_store_by_hand(tmp_path: Path, capsys: Capture) -> None:
    """Two of three right: a random one passes in 2/3, their consensus does. One of three: 1/3, and it does not."""
    one, other = load_benchmark("starter")[:2]
    lines = []
    for task, codes in ((one, "RRW"), (other, "RWW")):
        wrong = f"def {task.entry_point}(*args):\n    return 'wrong'\n"
        lines += [{"task_id": task.task_id, "solution": task.reference if c == "R" else wrong} for c in codes]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    store = tmp_path / "store"
    run(capsys, "import", tmp_path / "s.jsonl", "--model", "m1", "--temperature", "0.6", "--store", store)
    run(capsys, "execute", "--store", store, "-n", "30", "--jobs", "1")
    status, out, err = run(capsys, "table", "selection", "--store", store, "--format", "csv", "--jobs", "1")
    assert status == 0
    table = pl.read_csv(io.StringIO(out))
    row = table.row(0, named=True)
    assert (row["benchmark"], row["model"], row["tasks"]) == ("starter", "m1", 2)
    assert (row["random"], row["consensus"], row["consensus_gain"]) == pytest.approx((0.5, 0.5, 0.0))
    assert (row["consensus_gain_low"], row["consensus_gain_high"]) == pytest.approx((-1 / 3, 1 / 3))
    assert "m = 3, n = 30, equality paper" in err
    _, out, _ = run(capsys, "table", "selection", "--store", store, "--format", "csv", "-m", "2", "--jobs", "1")
    # Of the first two candidates both are right, or one is: a tie, which the shorter program wins.
    row = pl.read_csv(io.StringIO(out)).row(0, named=True)
    assert len(other.reference or "") > len(lines[-1]["solution"] or "")
    assert (row["random"], row["consensus"]) == (0.75, 0.5)
