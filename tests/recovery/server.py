"""The command line in processes that need not import everything again, in a mount namespace of their own.

Importing takes longer than the commands of these tests. This process imports and then forks one child for each command;
the child is the real command line, to be killed like any other. Nothing of the tables is used before the fork. What a
child leaves behind becomes a child of this process, so that it is seen whether everything ends.

A line of JSON in: words, log file, and what to do first, as Python. Out: the process id; when it has ended its status;
when all it started has ended, how many had to be killed.
"""

import ctypes
import faulthandler
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import scipy.stats

from difftrust_core.cli import main
from difftrust_core.execution import execute
from difftrust_core.generation.prices import count_tokens
from difftrust_core.store import merge as merging
from difftrust_core.store.verify import verification

PR_SET_CHILD_SUBREAPER = 36
STUCK = 200
"""Seconds after which a command says where it is and ends."""
PATIENCE = 20.0
"""Seconds for what a killed process has started to end by itself."""


def serve() -> None:
    count_tokens(["x"])
    assert {merging.__name__, verification.__name__, execute.__name__, scipy.stats.__name__} <= set(sys.modules)
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    print("ready", flush=True)
    for line in sys.stdin:
        words, log, prelude = json.loads(line)
        pid = os.fork()
        if pid == 0:
            be(words, log, prelude)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
        print(reap(), flush=True)


def be(words: list[str], log: str, prelude: str) -> None:
    """Be the command line, with its output in a file, and never return."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(handle, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    status = 1
    faulthandler.dump_traceback_later(STUCK, exit=True)
    try:
        exec(prelude, {"__name__": "prelude"})
        main(words)
    except SystemExit as e:
        status = int(e.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def reap() -> int:
    """Wait until this process has no child, and return how many of them had to be killed."""
    end, n_killed = time.monotonic() + PATIENCE, 0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return n_killed
        if pid == 0:
            if time.monotonic() > end:
                for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                    os.kill(int(child), signal.SIGKILL)
                    n_killed += 1
            time.sleep(0.02)


if __name__ == "__main__":
    serve()
