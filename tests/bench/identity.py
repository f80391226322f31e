"""How many programs the recorded texts are: `python -m tests.bench.identity`, of Table 4's setting; `--all` of all.

Needs the recorded candidates (DIFFTRUST_DATA, or ../shared/data). One processor reads 150 texts a second or more.
"""

import argparse
import os
from pathlib import Path

import polars as pl

from difftrust_core.store.tree_ids import TEXT, tree_ids_of

TABLE_4 = (pl.col("temperature") == 0.6) & (pl.col("sample_index") < 10)
_TASK = ["benchmark", "task_id"]


def count_programs(candidates: pl.DataFrame, n_jobs: int = 1) -> dict[str, int]:
    """Return how many texts, texts of the plain form, and programs the candidates of each task are, over all tasks."""
    texts = (
        candidates.select(*_TASK, "code").unique().with_columns(language=pl.lit("python"), program_id=pl.col("code"))
    )
    named = texts.join(tree_ids_of(texts, n_jobs), on=TEXT)
    return {
        "candidates": candidates.height,
        "texts": named.height,
        "texts of the plain form": named.filter(pl.col("tree_id").str.starts_with("f")).height,
        "programs": named.select(*_TASK, "tree_id").n_unique(),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all recorded candidates, not those of Table 4 alone")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    data = Path(os.environ.get("DIFFTRUST_DATA", "../shared/data")) / "difftrust" / "candidates.parquet"
    candidates = pl.scan_parquet(data).filter(True if asked.all else TABLE_4)
    for what, number in count_programs(candidates.collect(), asked.jobs).items():
        print(f"{number:9,} {what}")


if __name__ == "__main__":
    main()
