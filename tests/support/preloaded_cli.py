"""The command line in fresh processes that need not import litellm again: a line of JSON in, a process id out.

litellm takes seconds to import. This process imports it and what else is slow, but nothing of the tables (which must
not be forked), then forks one child for each command; the child is the real command line, to be killed like any other.
"""

import asyncio
import json
import os
import sys
import threading

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import joblib
import scipy.stats

from difftrust_core.base.task import Task
from difftrust_core.generation.providers import Ask, NoReply, close_connections, sample_reply

TASK = Task(benchmark="none", task_id="none", entry_point="f", signature="()", description="", seed_inputs=())


async def ask_nobody() -> None:
    """Make litellm import what it imports at its first request, on a port where nobody listens."""
    asked = {"model": "openai/none", "prompt": "", "temperature": 0.0, "max_tokens": 1, "timeout": 60.0, "task": TASK}
    try:
        await sample_reply(Ask(**asked, api_base="http://127.0.0.1:9/v1", sample_index=0, m=1, seed=0))  # type: ignore[arg-type]
    except NoReply:
        await close_connections()


def serve() -> None:
    asyncio.run(ask_nobody())
    assert {joblib.__name__, scipy.stats.__name__} <= set(sys.modules)
    assert not {"polars", "duckdb"} & set(sys.modules)
    assert threading.active_count() == 1
    print("ready", flush=True)
    for line in sys.stdin:
        words, log = json.loads(line)
        pid = os.fork()
        if pid == 0:
            run(words, log)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run(words: list[str], log: str) -> None:
    """Be the command line, with its output in a file, and never return."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(handle, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    from difftrust_core.cli import main

    status = 1
    try:
        main(words)
    except SystemExit as e:
        status = int(e.code or 0)
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve()
