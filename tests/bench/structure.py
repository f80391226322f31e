"""What comparing programs costs in CPU seconds: `python -m tests.bench.structure`; recorded programs, t = 0.6, m = 10.

Needs the recorded candidates (DIFFTRUST_DATA).
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from difftrust.structure.compare import Programs

N_TASKS = 60


def load_groups(data: Path, n: int = N_TASKS) -> list[list[str]]:
    """Return the ten programs of each of n (task, model) pairs, spread over all."""
    table = pl.scan_parquet(data / "difftrust" / "candidates.parquet")
    chosen = table.filter(pl.col("temperature") == 0.6, pl.col("sample_index") < 10).select("task_id", "model", "code")
    groups = chosen.collect().group_by("task_id", "model").agg("code").sort("task_id", "model")
    whole = groups.filter(pl.col("code").list.len() == 10)["code"]
    return [whole[i * len(whole) // n].to_list() for i in range(n)]


def seconds_per_thousand_pairs(groups: Sequence[list[str]], work: Callable[[list[str]], object]) -> float:
    """Return the CPU seconds of ``work`` on each group, for 1,000 ordered pairs of programs."""
    began = time.process_time()
    for texts in groups:
        work(texts)
    return (time.process_time() - began) / sum(len(t) * (len(t) - 1) for t in groups) * 1000


def trees(texts: list[str]) -> object:
    """Compare trees: both encodings, JSD and both variants of SCE, parsing included."""
    distinct = list(dict.fromkeys(texts))
    return Programs(distinct).tree_scores(range(len(distinct)))


def everything(texts: list[str]) -> object:
    """Compare trees and texts: with BLEU and exact match."""
    distinct = list(dict.fromkeys(texts))
    return Programs(distinct).scores(range(len(distinct)))


def edits(texts: list[str]) -> object:
    """Compute tree edit distances only."""
    distinct = list(dict.fromkeys(texts))
    programs = Programs(distinct)
    return programs.edit([range(len(distinct))])


def main() -> None:
    """Print the cost of each."""
    groups = load_groups(Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")))
    for name, work in (("trees (JSD, SCE)", trees), ("with BLEU", everything), ("tree edit distances", edits)):
        work(groups[0])  # imports
        cost = min(seconds_per_thousand_pairs(groups, work) for _ in range(3))
        print(f"{name}: {cost:.3f} s per 1,000 ordered pairs")


if __name__ == "__main__":
    main()
