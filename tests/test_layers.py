"""Imports point down, never sideways; heavy libraries have one door each."""

import ast
from pathlib import Path

import pytest

import difftrust_core

PACKAGE = Path(difftrust_core.__file__).parent
LAYERS = (
    {"records", "exceptions", "literals"},
    {"mutations"},
    {
        "tasks",
        "inputs",
        "programs",
        "equality",
        "estimators",
        "benchmark",
        "schemas",
        "selection",
        "differences",
        "structure",
    },
    {"intervals", "planning", "shrinking", "sqltasks"},
    {"seals", "locking", "scratch", "frames", "rereading"},
    {"settings", "remote"},
    {"syncing"},
    {"mirrors"},
    {"store", "ablation"},
    {"results", "clusters", "comparison"},
    {"evidence", "signals"},
    {"coders", "corpora", "sandbox", "queries", "charts"},
    {"stubs"},
    {"pipeline"},
    {"cli"},
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
DOORS = {
    "fsspec": {"remote"},
    "joblib": {"pipeline"},
    "duckdb": {"queries"},
    "litellm": {"coders"},
    "markdown_it": {"coders"},
    "tiktoken": {"coders"},
    "distributed": {"pipeline"},
    "tenacity": {"pipeline"},
    "typer": {"cli"},
    "hypothesis": {"stubs"},
    "sqlglot": {"sqltasks", "programs", "coders"},
    "tree_sitter": {"structure"},
    "sacrebleu": {"structure"},
}
PURE = LAYERS[0] | LAYERS[1] | LAYERS[2] | LAYERS[3] | {"ablation", "clusters", "comparison"}
FORBIDDEN_IN_PURE = {"os", "pathlib", "socket", "time", "datetime", "urllib", "subprocess", "shutil", "tempfile"}
FILES = sorted(p for p in PACKAGE.rglob("*.py") if "child" not in p.parts)


def part_of(path: Path) -> str:
    inside = path.relative_to(PACKAGE)
    return inside.parts[0].removesuffix(".py")


def imported_by(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    for name in imported_by(path):
        if name.startswith("difftrust_core."):
            target = name.split(".")[1]
            if target in LEVEL and target != part:
                assert LEVEL[target] < LEVEL[part], f"{part} imports {target}"


def test_every_part_has_a_layer() -> None:
    assert {part_of(path) for path in FILES} - {"__init__"} == set(LEVEL)


@pytest.mark.parametrize(("library", "parts"), sorted(DOORS.items()))
def test_heavy_libraries_have_one_door(library: str, parts: set[str]) -> None:
    importers = {part_of(path) for path in FILES if any(n.split(".")[0] == library for n in imported_by(path))}
    assert importers <= parts


@pytest.mark.parametrize("path", [p for p in FILES if part_of(p) in PURE], ids=lambda p: p.name)
def test_the_lower_layers_know_no_files_no_network_no_clock(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported_by(path)} & FORBIDDEN_IN_PURE


def test_the_child_side_imports_the_standard_library_only() -> None:
    import sys

    own = {path.stem for path in (PACKAGE / "sandbox" / "child").glob("*.py")} | {"literals"}
    for path in (*(PACKAGE / "sandbox" / "child").glob("*.py"), PACKAGE / "literals.py"):
        for name in imported_by(path):
            if (path.name, name) == ("databases.py", "_duckdb"):
                continue  # only in the zygote that serves queries
            assert name.split(".")[0] in sys.stdlib_module_names | own, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_stay_short_and_open_with_their_duty(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
    assert len(text.splitlines()) < 300


@pytest.mark.parametrize("folder", [PACKAGE, PACKAGE.parent / "dashboard"], ids=lambda p: p.name)
def test_no_expression_of_polars_calls_python(folder: Path) -> None:
    # Its threads would wait for the interpreter, while a session that makes a pandas frame holds it and waits for them.
    calls = ("map_elements", "map_batches", "map_groups", "map_rows", "map_columns", "rolling_map")
    paths = list(folder.rglob("*.py"))
    assert paths
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.Attribute) and node.attr in calls), f"{path}: {ast.unparse(node)}"


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("chunks", {"scipy", "sqlglot", "pyarrow", "duckdb", "joblib", "hypothesis", "tiktoken", "markdown_it"}),
        ("execution", {"scipy", "sqlglot", "pyarrow", "duckdb", "hypothesis", "tiktoken", "markdown_it"}),
        ("recorded", {"scipy", "sqlglot", "pyarrow", "duckdb", "hypothesis", "tiktoken", "markdown_it"}),
        ("tables", {"scipy", "sqlglot", "pyarrow", "joblib", "hypothesis", "tiktoken", "markdown_it"}),
    ],
)
def test_a_worker_and_each_step_load_only_what_they_need(module: str, without: set[str]) -> None:
    import subprocess
    import sys

    code = f"import sys, difftrust_core.pipeline.{module}; print(*{{m.split('.')[0] for m in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "polars" in loaded
    assert not without & set(loaded)
