"""A file that grows while tasks are done: what it held, what is new, and what an earlier version left beside it."""

from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.execution.resumable import GrowingFile
from difftrust_core.store.store import Store

WHERE: dict[str, object] = {"benchmark": "tiny"}


def row(program: str, n: int) -> dict[str, Any]:
    return {"program_id": program, "n_tokens": n}


def held(store: Store) -> list[tuple[Any, ...]]:
    return store.read("tokens", WHERE).select("program_id", "n_tokens").rows()


def test_new_rows_are_written_in_order_and_replace_those_of_the_same_key(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for rows in ([row("b", 1), row("a", 2)], [row("c", 3), row("b", 4)]):
        with GrowingFile(store, "tokens", WHERE) as file:
            file.add(rows)
    assert held(store) == [("a", 2), ("b", 4), ("c", 3)]
    assert len(store.files("tokens")) == 1


def test_what_was_found_before_a_failure_is_kept(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    try:
        with GrowingFile(store, "tokens", WHERE) as file:
            file.add([row("a", 1)])
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert held(store) == [("a", 1)]


def test_without_anything_new_no_file_is_made_and_several_become_one(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    with GrowingFile(store, "tokens", WHERE):
        pass
    assert store.files("tokens") == []
    for name in ("one", "two"):
        store.write("tokens", pl.DataFrame([row(name, 1)], schema_overrides={"n_tokens": pl.UInt32}), WHERE, name)
    with GrowingFile(store, "tokens", WHERE):
        pass
    assert held(store) == [("one", 1), ("two", 1)]
    assert [path.stem for path in store.files("tokens")] == ["tokens"]
