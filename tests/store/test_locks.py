"""Who may write: one run at a time, also when the one before was killed and its workers have not noticed yet."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from difftrust_core.exceptions import StoreInUse
from difftrust_core.store import locks as locking
from difftrust_core.store.locks import hold, share

HOLDER = """
import sys, time
from pathlib import Path
from difftrust_core.store.locks import {call}
with {call}(Path({folder!r})):
    print("held", flush=True)
    sys.stdin.read()
"""


class Holder:
    """Another process that holds or shares a folder until it is told to end."""

    def __init__(self, call: str, folder: Path):
        code = HOLDER.format(call=call, folder=str(folder))
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def end(self) -> None:
        self.process.communicate(timeout=20)


def test_the_second_is_told(tmp_path: Path) -> None:
    other = Holder("hold", tmp_path)
    with pytest.raises(StoreInUse, match="another difftrust command writes to"), hold(tmp_path):
        pass
    other.end()
    with hold(tmp_path):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    other = Holder("hold", tmp_path)
    other.process.kill()
    other.end()
    with hold(tmp_path):
        pass


def test_the_next_waits_for_the_workers_of_the_one_before(tmp_path: Path) -> None:
    worker = Holder("share", tmp_path)
    threading.Timer(0.7, worker.end).start()
    began = time.monotonic()
    with hold(tmp_path):
        assert time.monotonic() - began > 0.5
        with share(tmp_path):  # its own workers need not wait
            pass


def test_workers_that_do_not_end_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "PATIENCE", 0.3)
    worker = Holder("share", tmp_path)
    with pytest.raises(StoreInUse, match="workers of an earlier difftrust command"), hold(tmp_path):
        pass
    worker.end()
