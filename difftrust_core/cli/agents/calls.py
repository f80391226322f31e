"""Calls of the server, each in a process of its own that is killed with all it started when nobody wants its answer."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from difftrust_core.base.text import printable
from difftrust_core.exceptions import DifftrustError

Progress = Callable[[str], Awaitable[None]]
_MOST = 64 * 2**20
"""Bytes of an answer."""
_LINE = 600
"""Characters of a message."""


class CallFailed(DifftrustError):
    """A call ended without an answer; the message, one short line, says why."""

    def __init__(self, text: str, *, may_have_cost: bool = True):
        shown = printable(text)
        super().__init__(shown if len(shown) <= _LINE else f"{shown[: _LINE - 1]}…")
        self.may_have_cost = may_have_cost
        """A model may have been asked."""


async def call(request: dict[str, Any], *, seconds: float, progress: Progress) -> dict[str, Any]:
    """Return the answer of a worker. Raises CallFailed with one line where there is none after ``seconds``.

    However this ends, cancelled too, the worker and all it started are gone then.
    """
    command = [sys.executable, "-P", "-c", "from difftrust_core.cli.agents.worker import main; main()"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, limit=_MOST
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        async with asyncio.timeout(seconds):
            told = asyncio.create_task(_tell(process, progress))
            try:
                text = await process.stdout.read(-1)
                last = await told
            finally:
                told.cancel()
    except TimeoutError:
        raise CallFailed(f"expected an answer within {seconds:g} s, got none; take a smaller n, or more") from None
    finally:
        await _end(process)
    try:
        answer = json.loads(text)
    except ValueError:
        raise CallFailed(f"the call itself failed and decided nothing: {last or 'no message'}") from None
    if "error" in answer:
        raise CallFailed(str(answer["error"]), may_have_cost=bool(answer["asked"]))
    return dict(answer["answer"])


async def _tell(process: asyncio.subprocess.Process, progress: Progress) -> str:
    """Pass progress on; return the last line that is none."""
    assert process.stderr is not None
    last = ""
    async for raw in process.stderr:
        line = raw.decode("utf-8", "replace").strip()
        try:
            said = json.loads(line)
        except ValueError:
            last = line or last
            continue
        if isinstance(said, str):
            await progress(said)
    return last


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with anyio.CancelScope(shield=True):
        await process.wait()
