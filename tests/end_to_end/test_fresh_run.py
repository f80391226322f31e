"""The results that come with the project say what a fresh run says, to the last bit; and a changed number is seen.

Skipped where the recorded candidates are not at hand.
"""

import shutil
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.cli.commands.reproduce import run_all as reproduce
from difftrust_core.datasets.published import find_results
from difftrust_core.store.store import PARTITIONS, SCHEMAS, Store

pytestmark = pytest.mark.slow

TASKS = ("HumanEval/97", "HumanEval/121", "Mbpp/75")
"""Drawn at random from tasks with 5 to 12 behaviours, without a timeout: seconds, and the same on every machine."""
TABLES = ("patterns", "classes", "members", "disagreements", "estimates", "stability", "smallest")


@pytest.fixture(scope="module")
def fresh(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return what `difftrust reproduce` writes when only these tasks' candidates are recorded."""
    folder = tmp_path_factory.mktemp("fresh")
    for name in ("humaneval", "mbpp"):
        (folder / "data" / name).parent.mkdir(exist_ok=True)
        (folder / "data" / name).symlink_to(shared_data / name)
    (folder / "data" / "difftrust").mkdir()
    recorded = pl.scan_parquet(shared_data / "difftrust" / "candidates.parquet")
    few = recorded.filter(pl.col("task_id").is_in(TASKS)).collect()
    few.write_parquet(folder / "data" / "difftrust" / "candidates.parquet")
    shutil.copy(shared_data / "difftrust" / "prompt_specs.parquet", folder / "data" / "difftrust")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIFFTRUST_DATA", str(folder / "data"))
        return reproduce(folder / "store", folder / "to", n_jobs=2, say=lambda line: None)


def rows_of(store: Store, table: str, task_id: str) -> pl.DataFrame:
    """Return the rows of one task, in the order of all of its columns that can be sorted by."""
    columns = [*PARTITIONS[table], *SCHEMAS[table]]
    rows = store.read(table).filter(pl.col("task_id") == task_id).select(columns)
    keys = [name for name, kind in rows.schema.items() if not kind.is_nested()]
    return rows.sort(keys, nulls_last=True)


def differing(one: Store, other: Store) -> list[tuple[str, str]]:
    """Return the (table, task) whose rows are not exactly the same."""
    return [
        (table, task_id)
        for table in TABLES
        for task_id in TASKS
        if not rows_of(one, table, task_id).equals(rows_of(other, table, task_id), null_equal=True)
    ]


def test_a_fresh_run_says_what_the_shipped_results_say(fresh: Store) -> None:
    assert {table: fresh.read(table).is_empty() for table in TABLES} == dict.fromkeys(TABLES, False)
    assert differing(Store.open(find_results()), fresh) == []


@pytest.mark.parametrize(
    ("table", "column", "changed"),
    [
        ("estimates", "error", pl.col("error") + 1e-9),
        ("members", "row", pl.col("row") + 1),
        ("classes", "reach", pl.col("reach") - 1),
        ("disagreements", "text", pl.lit("another")),
        ("stability", "jsd", pl.col("jsd") + 1e-9),
        ("smallest", "arguments", pl.lit("(1,)")),
    ],
)
def test_one_changed_number_is_seen(fresh: Store, tmp_path: Path, table: str, column: str, changed: pl.Expr) -> None:
    copy = tmp_path / "results"
    shutil.copytree(find_results(), copy)
    paths = [p for p in (copy / table).rglob("*.parquet") if "MBPP" in str(p) and "strict" not in str(p)]
    path = min(paths, key=str)  # of the two policies that inside the domain
    frame = pl.read_parquet(path, hive_partitioning=False).with_row_index("_at")
    first = frame.filter(pl.col("task_id") == TASKS[2])["_at"][0]
    value = pl.when(pl.col("_at") == first).then(changed).otherwise(pl.col(column)).cast(frame.schema[column])
    frame.with_columns(value.alias(column)).drop("_at").write_parquet(path)
    assert differing(Store.open(copy), fresh) == [(table, TASKS[2])]
