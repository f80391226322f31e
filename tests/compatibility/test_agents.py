"""Tools of the MCP server, and the schemas of what they take and give."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.doors import REPOSITORY
from tests.compatibility.golden import assert_golden

pytest.importorskip("mcp", reason="mcp is not installed")

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client


async def list_tools(folder: Path) -> list[Any]:
    called = "from tests.compatibility.doors import command_line; command_line()()"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", called, "mcp"],
        cwd=str(folder),
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        return list((await session.list_tools()).tools)


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


def test_tools(tmp_path: Path) -> None:
    tools = asyncio.run(list_tools(tmp_path))
    found = {}
    for tool in sorted(tools, key=lambda tool: tool.name):
        dumped = tool.model_dump(by_alias=True)
        found[tool.name] = {side: plain(dumped[side]) for side in ("inputSchema", "outputSchema")}
    assert_golden("mcp_tools", found)
