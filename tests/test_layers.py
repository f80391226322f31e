"""Imports point down, never sideways; heavy libraries have one door each."""

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.layers import (
    FILES,
    MODULES,
    PACKAGES,
    ROOT,
    circles,
    imported_by,
    private_imports,
    room_of,
    unplaced,
    upward_imports,
    words_of_the_tool,
)

DOORS = {
    "fsspec": {"difftrust_core.store"},
    "joblib": {"difftrust_core.base", "difftrust_core.execution"},
    "duckdb": {"difftrust_core.estimates", "difftrust_core.datasets"},
    "litellm": {"difftrust_core.generation"},
    "markdown_it": {"difftrust_core.generation"},
    "tiktoken": {"difftrust_core.generation"},
    "distributed": {"difftrust_core.execution", "difftrust.cli"},
    "tenacity": {"difftrust_core.generation"},
    "typer": {"difftrust.cli"},
    "sqlglot": {"difftrust.sql"},
    "tree_sitter": {"difftrust.structure"},
    "sacrebleu": {"difftrust.structure"},
    "anywidget": {"difftrust.explorer", "difftrust.study"},
}
PURE = {"difftrust_core.metrics", "difftrust_core.languages"}
FORBIDDEN_IN_PURE = {"os", "pathlib", "socket", "time", "datetime", "urllib", "subprocess", "shutil", "tempfile"}
CHILD = ROOT / "difftrust_core" / "sandbox" / "child"
CHILDREN = [*sorted(CHILD.glob("*.py")), *sorted((ROOT / "difftrust").glob("*/child/*.py"))]


@pytest.mark.parametrize("broken", [upward_imports, words_of_the_tool, circles, private_imports, unplaced])
def test_imports_point_down_and_every_room_has_a_layer(broken: Callable[[], list[str]]) -> None:
    assert broken() == []


@pytest.mark.parametrize(("library", "rooms"), sorted(DOORS.items()))
def test_heavy_libraries_have_one_door(library: str, rooms: set[str]) -> None:
    importers = {
        room_of(module)
        for module, path in MODULES.items()
        if any(name.split(".")[0] == library for name in imported_by(path)) and room_of(module) != "dashboard"
    }
    assert importers == rooms


@pytest.mark.parametrize("module", [m for m in MODULES if room_of(m) in PURE])
def test_the_lower_layers_know_no_files_no_network_no_clock(module: str) -> None:
    assert not {name.split(".")[0] for name in imported_by(MODULES[module])} & FORBIDDEN_IN_PURE


def test_the_child_side_imports_the_standard_library_only() -> None:
    shared = [ROOT / "difftrust_core" / "base" / name for name in ("literals.py", "standard_types.py")]
    own = {path.stem for path in (*CHILDREN, *shared)}
    for path in (*CHILDREN, *shared):
        for name in imported_by(path):
            if (path.name, name) == ("sql_inputs.py", "_duckdb"):
                continue  # only in the zygote that serves queries
            assert name.split(".")[0] in sys.stdlib_module_names | own, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", [*FILES, *CHILDREN], ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_open_with_their_duty_in_plain_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
    assert "nothing else" not in text


@pytest.mark.parametrize("folder", [ROOT / name for name in PACKAGES], ids=lambda p: p.name)
def test_no_expression_of_polars_calls_python(folder: Path) -> None:
    # Its threads would wait for the interpreter, while a session that makes a pandas frame holds it and waits for them.
    calls = ("map_elements", "map_batches", "map_groups", "map_rows", "map_columns", "rolling_map")
    paths = list(folder.rglob("*.py"))
    assert paths
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.Attribute) and node.attr in calls), f"{path}: {ast.unparse(node)}"


_NEVER = {"scipy", "sqlglot", "pyarrow", "hypothesis", "tiktoken", "markdown_it"}


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("difftrust_core.execution.worker", _NEVER | {"duckdb", "joblib"}),
        ("difftrust_core.execution.execute", _NEVER | {"duckdb"}),
        ("difftrust_core.store.imports", _NEVER | {"duckdb"}),
        ("difftrust.tables.paper_tables", _NEVER | {"joblib"}),
    ],
)
def test_a_worker_and_each_step_load_only_what_they_need(module: str, without: set[str]) -> None:
    code = f"import sys, {module}; print(*{{m.split('.')[0] for m in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "polars" in loaded
    assert not without & set(loaded)
