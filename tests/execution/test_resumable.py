"""A file that grows while tasks are done: what it held, what is new, and what an earlier version left beside it."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust_core.base.parallel import DESCRIPTOR, Progress
from difftrust_core.exceptions import DifftrustError, StoreUnreachable
from difftrust_core.execution.resumable import (
    Ended,
    GrowingFile,
    attempt,
    close_sandboxes,
    run_missing,
    sandbox_of_worker,
)
from difftrust_core.sandbox.host import Limits
from difftrust_core.sandbox.layers import PYTHON
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


def fails(error: DifftrustError) -> None:
    """Raise what the job is."""
    raise error


def test_a_job_that_fails_is_reported_but_a_store_that_is_gone_ends_the_run() -> None:
    assert attempt(fails, DifftrustError("not this one")).failure == "not this one"
    assert attempt(str, 7) == Ended(job=7, result="7")
    assert attempt(str, 7).failure == ""
    with pytest.raises(StoreUnreachable, match="nobody answers"):
        attempt(fails, StoreUnreachable("nobody answers"))


def test_each_job_is_one_step_of_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = list[Ended[int, str]]()
    with open(os.devnull, "w") as nowhere:
        monkeypatch.setenv(DESCRIPTOR, str(nowhere.fileno()))
        bar = Progress(total=3)
        run_missing(str, range(3), kept.append, bar=bar)
    assert [ended.result for ended in kept] == ["0", "1", "2"]
    assert bar.n == 3


def test_a_worker_keeps_its_sandbox_until_another_one_is_wanted() -> None:
    limits = Limits()
    first, again = (sandbox_of_worker("programs", limits, True, PYTHON) for _ in range(2))
    assert again is first
    beside = sandbox_of_worker("checkers", limits, True, PYTHON)
    other = sandbox_of_worker("programs", Limits(call_cpu=2.0), True, PYTHON)
    assert len({id(first), id(beside), id(other)}) == 3
    assert sandbox_of_worker("checkers", limits, True, PYTHON) is beside
    close_sandboxes()
    assert sandbox_of_worker("checkers", limits, True, PYTHON) is not beside
    close_sandboxes()


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
