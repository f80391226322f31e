"""Who may write: one run at a time, also when the one before was killed and its workers have not noticed yet."""

import threading
import time
from pathlib import Path

import pytest

from difftrust_core.exceptions import StoreInUse
from difftrust_core.store import settings as locking
from difftrust_core.store.settings import hold, share
from tests.support.holding import Holder


def other(call: str, folder: Path) -> Holder:
    """Let another process hold or share a folder."""
    before = f"from pathlib import Path\nfrom difftrust_core.store.settings import {call}"
    return Holder(before, f"{call}(Path({str(folder)!r}))")


@pytest.mark.parametrize("ends", ["well", "killed"])
def test_the_second_is_told_until_the_first_has_ended(tmp_path: Path, ends: str) -> None:
    first = other("hold", tmp_path)
    with pytest.raises(StoreInUse, match="another difftrust command writes to"), hold(tmp_path):
        pass
    if ends == "killed":
        first.process.kill()
    first.end()
    with hold(tmp_path):
        pass


def test_who_waits_is_told_once_and_goes_on_when_the_first_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "SILENT_WAIT", 0.1)
    said: list[str] = []
    first = other("hold", tmp_path)
    threading.Timer(0.7, first.end).start()
    with hold(tmp_path, on_wait=said.append):
        assert said == [f"another difftrust command writes to {tmp_path}; waiting up to 60 s for it to end"]
    with hold(tmp_path, on_wait=said.append):
        assert len(said) == 1


def test_the_next_waits_for_the_workers_of_the_one_before(tmp_path: Path) -> None:
    worker = other("share", tmp_path)
    threading.Timer(0.7, worker.end).start()
    began = time.monotonic()
    with hold(tmp_path):
        assert time.monotonic() - began > 0.5
        with share(tmp_path):  # its own workers need not wait
            pass


def test_workers_that_do_not_end_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "PATIENCE", 0.3)
    worker = other("share", tmp_path)
    with pytest.raises(StoreInUse, match="workers of an earlier difftrust command"), hold(tmp_path):
        pass
    worker.end()
