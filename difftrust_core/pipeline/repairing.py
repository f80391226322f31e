"""Damaged files of a store moved aside, with those that speak of them; and nothing else."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from difftrust_core.pipeline.findings import DAMAGED, Finding, dependents
from difftrust_core.schemas import CHUNK_TABLES, RESULT_TABLES
from difftrust_core.seals import LIST_FILE, forget
from difftrust_core.store import MERGED_NAME, Store


def move_aside(store: Store, findings: Iterable[Finding]) -> list[str]:
    """Move the files of these findings to ``damaged`` and return their names; replies, which were paid for, stay.

    Missing files are no longer expected afterwards. The order is such that a kill leaves a store that can be repaired.
    """
    names: dict[str, None] = {}
    for finding in findings:
        if finding.table == "replies":
            continue
        names.update(dict.fromkeys(_affected(store, finding)))
    forget(store.root, names)
    moved = [name for name in _last_tables_first(names) if (store.root / name).is_file()]
    if any(_table(name) in (*RESULT_TABLES, *CHUNK_TABLES) for name in names):
        for path in (store.root / "estimates").glob("*.fingerprint"):
            path.unlink(missing_ok=True)  # so that the next `execute` makes the results anew
    for name in moved:
        to = _free(store.root / DAMAGED / name)
        to.parent.mkdir(parents=True, exist_ok=True)
        (store.root / name).rename(to)
    return sorted(moved)


def _table(name: str) -> str:
    return name.split("/", 1)[0]


def _last_tables_first(names: Iterable[str]) -> list[str]:
    """What speaks of other files goes before them."""
    order = {table: -i for i, table in enumerate(CHUNK_TABLES)}
    return sorted(names, key=lambda name: (order.get(_table(name), 0), name))


def _affected(store: Store, finding: Finding) -> Iterator[str]:
    path = store.root / finding.path
    if finding.path == LIST_FILE or not finding.table:
        yield finding.path
        return
    _, _, below = finding.path.partition("/")
    for table in dependents(finding.table):
        if table in CHUNK_TABLES and "start=" in finding.path:
            yield from _of_chunk(store, table, below, is_of_one_task=path.suffix == ".parquet" and path.name[0] != "+")
        elif path.suffix == ".parquet" and table == finding.table:
            yield finding.path
        elif finding.table in RESULT_TABLES or path.is_dir():
            yield from _all_of(store, store.root / table)


def _of_chunk(store: Store, table: str, below: str, *, is_of_one_task: bool) -> Iterator[str]:
    if is_of_one_task:
        yield f"{table}/{below}"
    else:  # a merged file: whose rows speak of it cannot be told apart
        folder = store.root / table / below
        yield from _all_of(store, folder if folder.suffix != ".parquet" else folder.parent)


def _all_of(store: Store, folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet" or path.name == MERGED_NAME:
            yield path.relative_to(store.root).as_posix()


def _free(path: Path) -> Path:
    """Return the path, with a number where something was moved there before."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}.{number}")
    return found
