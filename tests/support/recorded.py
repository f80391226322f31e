"""A data folder in which only some of the recorded candidates are."""

import shutil
from pathlib import Path

import polars as pl


def few_recorded(shared_data: Path, folder: Path, chosen: pl.Expr) -> Path:
    """Make the folder, with the benchmarks as they are and the candidates that ``chosen`` keeps; return it."""
    (folder / "difftrust").mkdir(parents=True)
    for name in ("humaneval", "mbpp"):
        (folder / name).symlink_to(shared_data / name)
    recorded = pl.scan_parquet(shared_data / "difftrust" / "candidates.parquet")
    recorded.filter(chosen).collect().write_parquet(folder / "difftrust" / "candidates.parquet")
    shutil.copy(shared_data / "difftrust" / "prompt_specs.parquet", folder / "difftrust")
    return folder
