"""The results that come with the project say what a fresh run says, exactly; and a changed number is seen.

Skipped where the recorded candidates are not at hand.
"""

from pathlib import Path

import polars as pl
import pytest

from difftrust.reproduce import run_all as reproduce
from difftrust.shipped import find_results
from difftrust_core.store.schemas import KIND_COUNTS
from difftrust_core.store.store import PARTITIONS, SCHEMAS, Store
from tests.support.recorded import few_recorded

pytestmark = pytest.mark.slow

TASKS = ("HumanEval/97", "HumanEval/121", "Mbpp/75")
"""Drawn at random from tasks with 5 to 12 behaviours, without a timeout: seconds, and the same on every machine."""
TABLES = ("patterns", "classes", "members", "disagreements", "estimates", "stability", "smallest")


@pytest.fixture(scope="module")
def fresh(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return what `difftrust reproduce` writes when only these tasks' candidates are recorded."""
    folder = tmp_path_factory.mktemp("fresh")
    few = few_recorded(shared_data, folder / "data", pl.col("task_id").is_in(TASKS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIFFTRUST_DATA", str(few))
        return reproduce(folder / "store", folder / "to", n_jobs=2, say=lambda line: None)


def rows_of(store: Store, table: str, task_id: str) -> pl.DataFrame:
    """Return the rows of one task, in the order of all of its columns that can be sorted by.

    Behaviours and classes are compared by what they are, not by their numbers, which follow the order in which programs
    ran; and on the first N inputs, which every coder was executed on: how far beyond a coder's programs went depends on
    which of them are also programs of a coder that was executed further.
    """
    if table == "members":
        return _on_the_first_inputs(store, task_id)
    columns = [name for name in (*PARTITIONS[table], *SCHEMAS[table]) if name not in NUMBERS.get(table, ())]
    rows = store.read(table).filter(pl.col("task_id") == task_id)
    if table == "classes":
        rows = rows.with_columns(reach=pl.min_horizontal("reach", pl.lit(N, dtype=pl.UInt32)))
        rows = rows.join(_first_patterns(store, task_id), on=WHERE)
        kinds = pl.col("kinds").list.gather("first").cast(pl.List(pl.String)).list.join(" ")
        rows = rows.with_columns(kinds=kinds)
    if table == "estimates":
        further = pl.col("n") > N
        rows = rows.with_columns(pl.when(~further).then(name).alias(name) for name in ("n", *KIND_COUNTS))
    rows = rows.select(columns).unique()
    keys = [name for name, kind in rows.schema.items() if not kind.is_nested()]
    return rows.sort(keys, nulls_last=True)


N = 1_000
WHERE = ["benchmark", "validity", "task_id"]
NUMBERS = {"classes": ("row", "paper", "strict"), "disagreements": ("label",), "smallest": ("first", "second")}
"""Columns that only number what others say."""


def _first_patterns(store: Store, task_id: str) -> pl.DataFrame:
    patterns = store.read("patterns").filter(pl.col("task_id") == task_id)
    first = pl.col("pattern_of_input").list.head(N).list.unique(maintain_order=True)
    return patterns.select(*WHERE, first=first)


def _on_the_first_inputs(store: Store, task_id: str) -> pl.DataFrame:
    """Return each candidate with its class on each pattern, numbered in the order of the candidates."""
    rows = store.read("classes").filter(pl.col("task_id") == task_id).join(_first_patterns(store, task_id), on=WHERE)
    labels = [pl.col(name).list.gather("first") for name in ("paper", "strict")]
    members = store.read("members").filter(pl.col("task_id") == task_id)
    joined = members.join(rows.select(*WHERE, "row", *labels), on=[*WHERE, "row"], how="left")
    joined = joined.drop("row").sort(*WHERE, "model", "temperature", "sample_index")
    for name in ("paper", "strict"):
        found = []
        for (_, validity, _), part in joined.group_by(WHERE, maintain_order=True):
            known: dict[tuple[object, int, int], int] = {}
            for listed in part[name].to_list():
                at = [(validity, place, label) for place, label in enumerate(listed or [])]
                found.append([known.setdefault(key, len(known)) for key in at])
        joined = joined.with_columns(pl.Series(name, found))
    return joined


def differing(one: Store, other: Store) -> list[tuple[str, str]]:
    """Return the (table, task) whose rows do not say exactly the same."""
    found = []
    for table in TABLES:
        for task_id in TASKS:
            mine, others = rows_of(one, table, task_id), rows_of(other, table, task_id)
            if table == "estimates" and mine.height == others.height:
                known = [mine["n"].is_not_null() & others["n"].is_not_null()] * (1 + len(KIND_COUNTS))
                mine, others = (
                    rows.with_columns(
                        pl.when(k).then(rows[name]).alias(name)
                        for k, name in zip(known, ("n", *KIND_COUNTS), strict=True)
                    )
                    for rows in (mine, others)
                )
            if not mine.equals(others, null_equal=True):
                found.append((table, task_id))
    return found


def test_a_fresh_run_says_what_the_shipped_results_say(fresh: Store) -> None:
    assert {table: fresh.read(table).is_empty() for table in TABLES} == dict.fromkeys(TABLES, False)
    assert differing(Store.open(find_results()), fresh) == []
