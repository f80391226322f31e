"""The command line in processes that need not import everything again: `python -m tests.support.preloaded_cli KIND`.

Importing takes longer than the commands of these tests. This process imports what commands of a kind need (``execute``,
or ``generate`` with litellm) and then forks one child for each command; the child is the real command line, to be
killed like any other. Nothing of the tables is used before the fork. What a child leaves behind becomes a child of this
process, so that it is seen whether everything ends.

A line of JSON in: words, log file, and what to do first, as Python. Out: the process id; when it has ended its status;
when all it started has ended, how many had to be killed.
"""

import asyncio
import faulthandler
import importlib
import json
import os
import sys
import threading
import traceback

from tests.support.proc import adopt_orphans, reap

os.environ["OPENBLAS_NUM_THREADS"] = "1"

STUCK = 200
"""Seconds after which a command says where it is and ends."""
PATIENCE = 20.0
"""Seconds for what a killed process has started to end by itself."""


def preload_execute() -> None:
    """Import what executes, merges and verifies."""
    for name in ("scipy.stats", "difftrust.cli", "difftrust.verify.verification", "difftrust_core.execution.execute"):
        importlib.import_module(name)
    from difftrust_core.generation.prices import count_tokens

    count_tokens(["x"])


def preload_generate() -> None:
    """Import litellm, and what it imports at its first request, on a port where nobody listens; but no tables."""
    for name in ("scipy.stats", "joblib"):
        importlib.import_module(name)
    from difftrust_core.base.task import Task
    from difftrust_core.generation.providers import Ask, NoReply, close_connections, sample_reply

    task = Task(benchmark="none", task_id="none", entry_point="f", signature="()", description="", seed_inputs=())
    asked = {"model": "openai/none", "prompt": "", "temperature": 0.0, "max_tokens": 1, "timeout": 60.0, "task": task}

    async def ask_nobody() -> None:
        try:
            await sample_reply(Ask(**asked, api_base="http://127.0.0.1:9/v1", sample_index=0, m=1, seed=0))  # type: ignore[arg-type]
        except NoReply:
            await close_connections()

    asyncio.run(ask_nobody())
    assert not {"polars", "duckdb"} & set(sys.modules)
    assert threading.active_count() == 1


def serve() -> None:
    adopt_orphans()
    print("ready", flush=True)
    for line in sys.stdin:
        words, log, prelude = json.loads(line)
        pid = os.fork()
        if pid == 0:
            be(words, log, prelude)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
        print(len(reap(PATIENCE)), flush=True)


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
        from difftrust.cli import main

        main(words)
    except SystemExit as e:
        status = int(e.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    {"execute": preload_execute, "generate": preload_generate}[sys.argv[1]]()
    serve()
