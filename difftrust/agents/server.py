"""The tools of `difftrust mcp` over standard input and output, each call in a process of its own that ends with it."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool

from difftrust import __version__
from difftrust.agents.tool_results import AskResult, CheckResult, DiffResult, PinResult
from difftrust.text import printable, shorten
from difftrust_core.exceptions import DifftrustError

_KEPT = 50
"""Checks that may be asked about, the latest."""
_AT_ONCE = 2
"""Calls that run at the same time; others wait."""
_MOST_SECONDS = 900.0
_MOST_INPUTS = 100_000
_MOST_PROGRAMS = 100
"""Distinct programs of a check, each of which runs on every input."""
_INSTRUCTIONS = (
    "Finds inputs on which implementations of a Python function disagree, or on which a new version behaves unlike the "
    "old one, without a reference. Programs run in a sandbox. A disagreement proves that a program is wrong only where "
    "the function allows the input; agreement proves nothing right. When ask_next asks what is right, ask the user."
)


@dataclass
class _Kept:
    """A check that may be asked about: its inputs as the worker wrote them, and the answers so far."""

    board: Any
    place: dict[str, str]
    answers: list[list[str]] = field(default_factory=list)


class Tools:
    """The state of one server: what it may spend, and the checks that may be asked about."""

    def __init__(self, *, max_usd: float | None):
        self._max_usd, self._spent = max_usd, 0.0
        self._checks: OrderedDict[str, _Kept] = OrderedDict()
        self._room = anyio.Semaphore(_AT_ONCE)
        self._purse = anyio.Lock()

    async def check(
        self,
        ctx: Context,
        entry_point: str,
        source: str = "",
        path: str = "",
        candidates: list[str] | None = None,
        models: list[str] | None = None,
        m: int = 10,
        examples: list[str] | None = None,
        assume: list[str] | None = None,
        n: int = 400,
        seconds: float = 120.0,
    ) -> CheckResult:
        """See where implementations of one function disagree, without knowing what is right.

        Give the file as ``source`` or ``path`` (relative to the server's folder) and the function as ``entry_point``
        (``f`` or ``Class.f``); its docstring, types and examples say what is asked for. ``candidates``: sources of two
        to a hundred programs that each define it. ``models`` samples m programs instead, which costs money and needs a
        server with a budget. ``examples``: "f(1) == 2", "f([]) raises ValueError"; ``assume``: "start <= end".
        ``n``: random inputs.
        """
        place = {"entry_point": entry_point, "source": source, "path": path}
        if bool(candidates) == bool(models):
            raise ToolError("expected either candidates or models, got " + ("both" if models else "neither"))
        n_programs = m if models else len(set(candidates or ()))
        if n_programs > _MOST_PROGRAMS:
            raise ToolError(
                f"expected at most {_MOST_PROGRAMS} distinct programs, got {n_programs:,}; each runs on every input: "
                "give some of them"
            )
        request = {
            "tool": "check",
            "place": place,
            "candidates": candidates or [],
            "models": models,
            "m": m,
            "examples": examples,
            "assume": assume,
            "n": n,
        }
        made = await self._run(ctx, request, seconds)
        name = uuid.uuid4().hex[:12]
        self._checks[name] = _Kept(board=made["board"], place=place)
        while len(self._checks) > _KEPT:
            self._checks.popitem(last=False)
        return CheckResult(check_id=name, **made["result"])

    async def diff(
        self,
        ctx: Context,
        entry_point: str,
        old: str = "",
        new: str = "",
        path: str = "",
        revision: str = "",
        expect: list[str] | None = None,
        examples: list[str] | None = None,
        assume: list[str] | None = None,
        n: int = 400,
        seconds: float = 120.0,
    ) -> DiffResult:
        """Find the smallest inputs on which a new version of a function behaves unlike the old one.

        Give both as sources (``old``, ``new``), or a ``path`` in the server's folder and the git ``revision`` to
        compare the file with (such as HEAD). Values, exceptions, changed arguments and prints count. ``expect``: what
        the new version is meant to do, "f(1) == 2"; such a change is expected. ``examples``: calls to start from.
        """
        if bool(path) == bool(old or new) or bool(path) != bool(revision):
            raise ToolError("expected old and new, or path and revision")
        place = {"entry_point": entry_point, "path": path}
        request = {
            "tool": "diff",
            "old": {**place, "source": old, "revision": revision},
            "new": {**place, "source": new},
            "expect": expect,
            "examples": examples,
            "assume": assume,
            "n": n,
        }
        made = await self._run(ctx, request, seconds)
        return DiffResult(**made["result"])

    async def ask_next(self, ctx: Context, check_id: str, answer: str = "") -> AskResult:
        """Take the answer to the question of a check, if one is given, and return the next question.

        A question shows the input that splits the candidates left most evenly. Answers: a value as a Python literal,
        "raises ValueError", "not allowed" (the input), "either" (all are right). Candidates that contradict an answer
        drop out; at most five questions. Whoever knows what the function is for should answer.
        """
        kept = self._kept(check_id)
        made = await self._ask(ctx, kept, answer or None)
        kept.answers = made["answers"]
        return AskResult(check_id=check_id, **made["result"])

    async def _ask(self, ctx: Context, kept: _Kept, answer: str | None) -> dict[str, Any]:
        request = {"tool": "ask", "board": kept.board, "answers": kept.answers, "answer": answer}
        return await self._run(ctx, request, 60.0)

    async def pin(
        self,
        ctx: Context,
        check_id: str = "",
        entry_point: str = "",
        source: str = "",
        path: str = "",
        examples: list[str] | None = None,
    ) -> PinResult:
        """Write what is right into a function's docstring as doctest examples.

        Of a check (``check_id``): its answers, and ``examples``. Else name the function as for check. A file at a path
        is edited; of a source the new text is returned.
        """
        place, wanted = {"entry_point": entry_point, "source": source, "path": path}, list(examples or [])
        if check_id:
            kept = self._kept(check_id)
            place = kept.place
            now = await self._ask(ctx, kept, None)
            wanted = [*now["result"]["examples"], *wanted]
        if not wanted:
            raise ToolError('expected an example such as "f(1) == 2", or a check with answers, got none')
        made = await self._run(ctx, {"tool": "pin", "place": place, "examples": wanted}, 60.0)
        return PinResult(**made["result"])

    def _kept(self, name: str) -> _Kept:
        if name not in self._checks:
            raise ToolError(f"expected the check_id of one of the last {_KEPT} checks, got {name[:40]!r}; check again")
        return self._checks[name]

    def _left(self) -> float:
        if self._max_usd is None:
            raise ToolError("sampling costs money; start the server with --max-usd, or give candidates")
        if self._spent >= self._max_usd:
            raise ToolError(f"the budget of {self._max_usd:g} US dollars is spent; give candidates")
        return self._max_usd - self._spent

    async def _run(self, ctx: Context, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Run a call. Raises ToolError with one line."""
        n_steps = 0

        async def progress(text: str) -> None:
            nonlocal n_steps
            n_steps += 1
            await ctx.report_progress(float(n_steps), None, text)

        if not 0 < seconds <= _MOST_SECONDS:
            raise ToolError(f"expected seconds from 1 to {_MOST_SECONDS:g}, got {seconds:g}")
        if not 1 <= request.get("n", 1) <= _MOST_INPUTS:
            raise ToolError(f"expected n from 1 to {_MOST_INPUTS:,}, got {request['n']}")
        async with AsyncExitStack() as stack:
            if request.get("models"):  # one at a time, so that none spends what another has spent
                await stack.enter_async_context(self._purse)
                request = request | {"max_usd": self._left()}
            await stack.enter_async_context(self._room)
            usd = request.get("max_usd") or 0.0  # all of it, unless the call comes to say what it cost
            try:
                made = await call(request, seconds=seconds, progress=progress)
                usd = made.get("usd", 0.0)
                return made
            except CallFailed as e:
                usd = usd if e.may_have_cost else 0.0
                raise ToolError(str(e)) from None
            finally:
                self._spent += usd


class _StrictTool(Tool):
    """A tool that refuses arguments that it does not have: the library ignores them."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """Run the tool. Raises ToolError with one line for an unknown argument."""
        known = self.parameters["properties"]
        if unknown := [name for name in arguments if name not in known]:
            said = shorten(printable(repr(unknown[0])), 60)
            raise ToolError(f"{self.name} has no argument {said}; it has: {', '.join(known)}")
        return await super().run(arguments, context, convert_result)


def make_server(*, max_usd: float | None = None) -> MCPServer:
    """Return the server; ``max_usd``: what sampling may cost over its life, in US dollars; None: nothing is sampled."""
    tools = Tools(max_usd=max_usd)
    strict = [_StrictTool.from_function(each) for each in (tools.check, tools.diff, tools.ask_next, tools.pin)]
    for tool in strict:
        tool.parameters["additionalProperties"] = False
    return MCPServer("difftrust", instructions=_INSTRUCTIONS, version=__version__, tools=list(strict))


Progress = Callable[[str], Awaitable[None]]
_MOST = 64 * 2**20
"""Bytes of an answer."""
_LINE = 600
"""Characters of a message."""


class CallFailed(DifftrustError):
    """A call ended without an answer; the message, one short line, says why."""

    def __init__(self, text: str, *, may_have_cost: bool = True):
        super().__init__(shorten(printable(text), _LINE))
        self.may_have_cost = may_have_cost
        """A model may have been asked."""


async def call(request: dict[str, Any], *, seconds: float, progress: Progress) -> dict[str, Any]:
    """Return the answer of a worker. Raises CallFailed with one line where there is none after ``seconds``.

    However this ends, cancelled too, the worker and all it started are gone then.
    """
    command = [sys.executable, "-P", "-c", "from difftrust.agents.worker_process import main; main()"]
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
