"""What comparing programs costs in CPU seconds: `python -m tests.bench.structure`; recorded programs, t = 0.6, m = 10.

Needs the recorded candidates (DIFFTRUST_DATA).
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from difftrust.structure.pairwise import Programs

N_TASKS = 60
WORK: dict[str, Callable[[Programs, range], object]] = {
    "trees (JSD, SCE)": Programs.tree_scores,  # both encodings, both variants of SCE, parsing included
    "with BLEU": Programs.scores,  # and exact match
    "tree edit distances": lambda programs, rows: programs.edit([rows]),
}


def load_groups(data: Path) -> list[list[str]]:
    """Return the ten programs of each of N_TASKS (task, model) pairs, spread over all."""
    table = pl.scan_parquet(data / "difftrust" / "candidates.parquet")
    chosen = table.filter(pl.col("temperature") == 0.6, pl.col("sample_index") < 10).select("task_id", "model", "code")
    groups = chosen.collect().group_by("task_id", "model").agg("code").sort("task_id", "model")
    whole = groups.filter(pl.col("code").list.len() == 10)["code"]
    return [whole[i * len(whole) // N_TASKS].to_list() for i in range(N_TASKS)]


def seconds(groups: list[list[str]], work: Callable[[Programs, range], object]) -> float:
    """Return the CPU seconds of ``work`` on each group, for 1,000 ordered pairs of programs."""
    began = time.process_time()
    for texts in groups:
        distinct = list(dict.fromkeys(texts))
        work(Programs(distinct), range(len(distinct)))
    return (time.process_time() - began) / sum(len(t) * (len(t) - 1) for t in groups) * 1000


if __name__ == "__main__":
    GROUPS = load_groups(Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")))
    for what, done in WORK.items():
        seconds(GROUPS[:1], done)  # imports
        print(f"{what}: {min(seconds(GROUPS, done) for _ in range(3)):.3f} s per 1,000 ordered pairs")
