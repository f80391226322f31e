"""The server for agents as a real process, asked by the SDK's own client over standard input and output."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import psutil
import pytest

from difftrust.agents import worker_process
from difftrust_core.exceptions import WrongUsage
from tests.bench.processes import DIFFTRUST
from tests.compatibility.golden import assert_golden
from tests.support.waiting import until

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

MODULE = '''
def middle(values: list[int]) -> int:
    """Return the middle one of the values in order, the smaller one of two."""
'''
SMALLER = "def middle(values):\n    return sorted(values)[(len(values) - 1) // 2]\n"
LARGER = "def middle(values):\n    return sorted(values)[len(values) // 2]\n"
SLOW = "def middle(values):\n    total = 0\n    for i in range(10 ** 7):\n        total += i\n    return total\n"
Talk = Callable[["ClientSession", psutil.Process], Awaitable[Any]]


@pytest.fixture(autouse=True, scope="module")
def needs_mcp() -> None:
    """Skip where it is missing; imported here, it costs nothing to the processes that run none of these tests."""
    pytest.importorskip("mcp", reason="mcp is not installed")


@asynccontextmanager
async def connected(folder: Path, *options: str) -> AsyncIterator[tuple["ClientSession", psutil.Process]]:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    python, *words = DIFFTRUST
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    server = StdioServerParameters(command=python, args=[*words, "mcp", *options], cwd=str(folder), env=own)
    before = set(psutil.Process().children())
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        (process,) = set(psutil.Process().children()) - before
        yield session, process


def talk(folder: Path, told: Talk, *options: str) -> Any:
    async def run() -> Any:
        async with connected(folder, *options) as (session, process):
            return await told(session, process)

    return asyncio.run(run())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(MODULE)
    return tmp_path


def asked(**more: Any) -> dict[str, Any]:
    return {"entry_point": "middle", "path": "m.py", "candidates": [SMALLER, LARGER, LARGER + "\n"], "n": 40} | more


async def answer(session: "ClientSession", tool: str, arguments: dict[str, Any]) -> Any:
    return (await session.call_tool(tool, arguments)).structured_content


async def refusal(session: "ClientSession", tool: str, arguments: dict[str, Any]) -> str:
    """Return the one line that a call is refused with."""
    found = await session.call_tool(tool, arguments)
    assert found.is_error, arguments
    (line,) = found.content[0].text.split("\n")
    return str(line)


async def until_idle(process: psutil.Process) -> None:
    with anyio.fail_after(20):
        while process.children(recursive=True):
            await anyio.sleep(0.05)


async def until_running(process: psutil.Process) -> list[psutil.Process]:
    """Return the worker and what it started, its sandbox included."""
    with anyio.fail_after(60):
        while len(running := process.children(recursive=True)) < 3:
            await anyio.sleep(0.05)
    return running


def plain(schema: Any, names: dict[str, Any] | None = None) -> Any:
    """Return a schema with definitions in place; names of classes, descriptions and witnesses left out."""
    if isinstance(schema, list):
        return [plain(each, names) for each in schema if "witness" not in str(each)]
    if not isinstance(schema, dict):
        return schema
    names = schema.get("$defs", names) or {}
    if "$ref" in schema:
        return plain(names[schema["$ref"].rpartition("/")[2]], names)
    is_properties = "type" not in schema and all(isinstance(each, dict) for each in schema.values())
    left_out = () if is_properties else ("title", "description", "$defs")
    return {key: plain(each, names) for key, each in schema.items() if key not in left_out and "witness" not in key}


def wait_for_the_end(running: list[psutil.Process]) -> None:
    until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in running), 20)


def test_an_agent_checks_asks_answers_and_pins(folder: Path) -> None:
    async def told(session: "ClientSession", process: psutil.Process) -> None:
        tools = sorted((await session.list_tools()).tools, key=lambda tool: tool.name)
        assert all(tool.description for tool in tools)
        dumped = {tool.name: tool.model_dump(by_alias=True) for tool in tools}
        schemas = ("inputSchema", "outputSchema")
        assert_golden("mcp_tools", {name: {side: plain(one[side]) for side in schemas} for name, one in dumped.items()})
        steps: list[str | None] = []

        async def step(done: float, total: float | None, message: str | None) -> None:
            steps.append(message)

        found = await session.call_tool("check", asked(), progress_callback=step)
        check = found.structured_content
        assert check is not None, found.content
        assert (check["verdict"], check["found_by"]) == ("incoherent", "inputs")
        smallest = check["witnesses"][0]["call"]
        assert smallest in ("middle([0, 1])", "middle([1, 0])")  # equally small
        assert {each["outcome"] for each in check["witnesses"][0]["outcomes"]} == {"0", "1"}
        assert check["interval"]["low"] <= check["incoherence"] <= check["interval"]["high"]
        assert [len(cluster["candidates"]) for cluster in check["clusters"]] == [2, 1]
        assert "execution starts" in check["sandbox"]
        assert "running the candidates on the inputs" in steps
        many = asked(candidates=[f"{SMALLER}# {i}" for i in range(1000)])
        assert "expected at most 100 distinct programs, got 1,000" in await refusal(session, "check", many)

        name = {"check_id": check["check_id"]}
        first = await answer(session, "ask_next", name)
        assert first["question"]["call"] == smallest
        assert sorted(option["answer"] for option in first["question"]["options"]) == ["== 0", "== 1"]
        assert "expected a letter, a value" in await refusal(session, "ask_next", name | {"answer": "perhaps"})
        then = await answer(session, "ask_next", name | {"answer": "0"})
        assert (then["question"], then["n_answers"], then["n_left"]) == (None, 1, 1)
        assert then["program"] == SMALLER
        pinned = await answer(session, "pin", name)
        assert pinned == {"written": [f"{smallest} == 0"], "there_already": [], "source": None}
        assert f">>> {smallest}\n    0" in (folder / "m.py").read_text()
        again = await answer(session, "check", asked())
        assert (again["verdict"], again["found_by"]) == ("incoherent", "examples")
        await until_idle(process)

    talk(folder, told)


@pytest.mark.slow
def test_two_versions_and_a_pin_into_a_source(folder: Path) -> None:
    async def told(session: "ClientSession", process: psutil.Process) -> None:
        old, new = "def f(x):\n    return x + 1\n", "def f(x):\n    return x + 1 if x != 100 else 0\n"
        question = {"entry_point": "f", "old": old, "new": new, "n": 40}
        found = await answer(session, "diff", question)
        assert (found["verdict"], found["changes"][0]["call"]) == ("changed", "f(100)")
        assert (found["changes"][0]["old"], found["changes"][0]["new"]) == ("101", "0")
        meant = await answer(session, "diff", question | {"expect": ["f(100) == 0"]})
        assert meant["changes"][0]["expected"]
        pin = {"entry_point": "f", "source": 'def f(x):\n    """Add."""\n    return x + 1\n', "examples": ["f(1) == 2"]}
        pinned = await answer(session, "pin", pin)
        assert ">>> f(1)\n    2" in pinned["source"]
        await until_idle(process)

    talk(folder, told)


@pytest.mark.slow
def test_a_bad_question_gets_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "outside").symlink_to("/etc")
    bad = {
        "/etc/passwd": "relative to the folder",
        "../m.py": "relative to the folder",
        "outside/passwd": "expected a file in the folder",
        "nowhere.py": "expected a file in the folder",
        ".": "expected a file in the folder",
        "m\0.py": "relative to the folder",
    }

    async def told(session: "ClientSession", process: psutil.Process) -> None:
        for more, said in (
            ({"path": "../m.py"}, "relative to the folder"),
            ({"candidates": []}, "expected either candidates or models"),
            ({"candidates": [], "models": ["gpt-4o"]}, "start the server with --max-usd"),
            ({"seconds": 0}, "expected seconds from 1"),
            ({"entry_point": "other"}, "other"),
            ({"equality": "zz"}, "check has no argument 'equality'; it has: entry_point, source, path, candidates"),
        ):
            assert said in await refusal(session, "check", asked(**more))
        assert "check again" in await refusal(session, "ask_next", {"check_id": "none"})
        versions = {"entry_point": "f", "old": "def f(x):\n    return x\n", "new": "def f(x:\n"}
        assert "new.py" in await refusal(session, "diff", versions)

    talk(folder, told)
    monkeypatch.chdir(folder)
    for path, said in bad.items():
        with pytest.raises(WrongUsage, match=said):
            worker_process.inside(path)
    assert worker_process.inside("m.py") == Path("m.py")


@pytest.mark.slow
def test_a_cancelled_call_leaves_nothing_running_and_two_go_on_at_once(folder: Path) -> None:
    async def told(session: "ClientSession", process: psutil.Process) -> None:
        slow = asked(candidates=[SLOW, SLOW.replace("i\n", "1\n")], n=4000)
        async with anyio.create_task_group() as group:
            group.start_soon(session.call_tool, "check", slow)
            running = await until_running(process)
            group.cancel_scope.cancel()
        await until_idle(process)
        wait_for_the_end(running)

        late = await refusal(session, "check", slow | {"seconds": 2})
        assert "expected an answer within 2 s, got none" in late
        await until_idle(process)

        both: list[Any] = []

        async def one(**more: Any) -> None:
            both.append(await answer(session, "check", asked(**more)))

        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(lambda: one(candidates=[SMALLER, SMALLER.replace("- 1", "- 1 + 0")]))
        assert {each["verdict"] for each in both} == {"incoherent", "coherent"}
        assert len({each["check_id"] for each in both}) == 2

    talk(folder, told)


def test_a_server_that_is_killed_leaves_nothing_running(folder: Path) -> None:
    async def told(session: "ClientSession", process: psutil.Process) -> list[psutil.Process]:
        async with anyio.create_task_group() as group:
            group.start_soon(session.call_tool, "check", asked(candidates=[SLOW, SLOW + "\n#"], n=4000))
            running = await until_running(process)
            process.kill()
            group.cancel_scope.cancel()
        return running

    wait_for_the_end(talk(folder, told))


@pytest.mark.slow
def test_the_worked_exchange_of_the_documentation_holds(folder: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    blocks = [json.loads(each) for each in re.findall(r"(?<!not run -->\n)```json\n(.*?)```", text, re.DOTALL)]
    asked_for, said = blocks[::2], blocks[1::2]
    assert len(asked_for) == len(said) == 4

    async def told(session: "ClientSession", process: psutil.Process) -> None:
        name: dict[str, str] = {}
        for question, wanted in zip(asked_for, said, strict=True):
            found = await answer(session, question["tool"], question["arguments"] | name)
            assert part(found, wanted) == wanted
            name = name or {"check_id": found["check_id"]}

    talk(folder, told)


def part(found: Any, wanted: Any) -> Any:
    """Return of what was found that which is wanted: some keys, the first items."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {key: part(found[key], value) for key, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(found, list):
        return [part(one, other) for one, other in zip(found, wanted, strict=False)]
    return found


@pytest.mark.slow
def test_long_texts_get_short_answers(folder: Path) -> None:
    programs = [f"def middle(values):\n    # {'x' * 3000}\n    return {'𝕏' * 3000 + chr(i)!r}\n" for i in range(65, 77)]

    async def told(session: "ClientSession", process: psutil.Process) -> None:
        for more in ({"entry_point": "x" * 20_000}, {"examples": ["middle([1]) == \n(" * 300]}, {"n": -1}):
            assert len(await refusal(session, "check", asked(**more))) < 700
        found = await session.call_tool("check", asked(candidates=programs * 84))
        check = found.structured_content
        assert "4 clusters" in check["left_out"]
        first = await session.call_tool("ask_next", {"check_id": check["check_id"]})
        for each in (found, first):
            assert len(each.content[0].text.encode()) <= 6000
            assert each.structured_content["question" if each is first else "clusters"]
            assert "texts were cut to" in each.structured_content["left_out"]

    talk(folder, told)


def test_a_call_that_does_not_say_what_it_cost_counts_as_all_that_it_might_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from difftrust.agents import server

    tools = server.Tools(max_usd=1.0)
    ends: list[Any] = [
        server.CallFailed("no such function", may_have_cost=False),
        {"usd": 0.25},
        server.CallFailed("late"),
    ]
    lent: list[float] = []

    async def call(request: dict[str, Any], **_: Any) -> dict[str, Any]:
        lent.append(request["max_usd"])
        end = ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return dict(end)

    async def told() -> None:
        context: Any = None
        for said in ("no such function", None, "late", "the budget of 1 US dollars is spent"):
            with pytest.raises(server.ToolError, match=said) if said else nullcontext():
                await tools._run(context, {"models": ["any"]}, 1.0)

    monkeypatch.setattr(server, "call", call)
    asyncio.run(told())
    assert lent == [1.0, 1.0, 0.75]
