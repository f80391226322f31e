"""A file that grows while tasks are done: what it held, what is new, and what an earlier version left beside it."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust_core.base.parallel import Progress
from difftrust_core.exceptions import DifftrustError
from difftrust_core.execution.resumable import Ended, GrowingFile, run_missing
from difftrust_core.store.store import Store
from tests.support.waiting import until

WHERE: dict[str, object] = {"benchmark": "tiny"}


def row(program: str, n: int) -> dict[str, Any]:
    return {"program_id": program, "n_tokens": n}


def held(store: Store) -> list[tuple[Any, ...]]:
    return store.read("tokens", WHERE).select("program_id", "n_tokens").rows()


def end_the_worker_after_the_first(job: tuple[int, Path]) -> int:
    """Return at once for job 0; for another one, be killed once the first is kept."""
    number, kept = job
    if number:
        until(kept.exists)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_worker_that_was_killed_is_named_with_how_many_tasks_are_kept(tmp_path: Path) -> None:
    def keep(ended: Ended[tuple[int, Path], int]) -> None:
        kept.append(ended.result)
        ended.job[1].touch()

    kept: list[int | None] = []
    jobs = [(number, tmp_path / "kept") for number in range(2)]
    with pytest.raises(DifftrustError, match="a worker process was killed after 1 tasks"):
        run_missing(end_the_worker_after_the_first, jobs, keep, bar=Progress(total=2), n_jobs=2)
    assert kept == [0]


def test_rows_replace_those_of_the_same_key_and_several_files_become_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.create(tmp_path / "store")
    with GrowingFile(store, "tokens", WHERE):
        pass
    assert store.files("tokens") == []  # nothing new
    for name in ("one", "two"):
        store.write("tokens", pl.DataFrame([row(name, 1)], schema_overrides={"n_tokens": pl.UInt32}), WHERE, name)
    with GrowingFile(store, "tokens", WHERE):
        pass
    assert held(store) == [("one", 1), ("two", 1)]
    with suppress(KeyboardInterrupt), GrowingFile(store, "tokens", WHERE) as file:
        file.add([row("two", 2), row("a", 3)])
        assert held(store) == [("one", 1), ("two", 1)]  # written now and then: not yet
        monkeypatch.setattr("difftrust_core.execution.resumable._KEEP_EVERY", -1)
        file.add([row("b", 4)])
        assert held(store) == [("a", 3), ("b", 4), ("one", 1), ("two", 2)]
        monkeypatch.undo()
        file.add([row("b", 5)])
        raise KeyboardInterrupt  # what was found before is kept
    assert held(store) == [("a", 3), ("b", 5), ("one", 1), ("two", 2)]
    assert [path.stem for path in store.files("tokens")] == ["tokens"]
