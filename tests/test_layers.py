"""Imports point down, never sideways; heavy libraries have one door each."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers import FILES, LAYERS, PACKAGE, circles, imported_by, layer_of, private_imports, upward_imports

DOORS = {
    "fsspec": {"store/remote"},
    "joblib": {"base", "execution"},
    "duckdb": {"analysis"},
    "litellm": {"generation"},
    "markdown_it": {"generation"},
    "tiktoken": {"generation"},
    "distributed": {"execution"},
    "tenacity": {"generation"},
    "typer": {"cli", "cli/checking", "cli/commands"},
    "sqlglot": {"languages/sql"},
    "tree_sitter": {"metrics/structure"},
    "sacrebleu": {"metrics/structure"},
    "ipywidgets": {"report"},
}
PURE = {"metrics", "languages"}
FORBIDDEN_IN_PURE = {"os", "pathlib", "socket", "time", "datetime", "urllib", "subprocess", "shutil", "tempfile"}


def test_imports_point_down() -> None:
    assert upward_imports() == []


def test_there_is_no_circle() -> None:
    assert circles() == []


def test_no_private_name_is_imported() -> None:
    assert private_imports() == []


def test_every_part_has_a_layer() -> None:
    assert {layer_of(path) for path in FILES} - {"__init__"} == set(LAYERS)


@pytest.mark.parametrize(("library", "folders"), sorted(DOORS.items()))
def test_heavy_libraries_have_one_door(library: str, folders: set[str]) -> None:
    importers = {
        str(path.parent.relative_to(PACKAGE))
        for path in FILES
        if any(name.split(".")[0] == library for name in imported_by(path))
    }
    assert importers
    assert importers <= folders


@pytest.mark.parametrize("path", [p for p in FILES if layer_of(p) in PURE], ids=lambda p: p.name)
def test_the_lower_layers_know_no_files_no_network_no_clock(path: Path) -> None:
    found = {name.split(".")[0] for name in imported_by(path)} & FORBIDDEN_IN_PURE
    assert found <= ({"datetime"} if path.name == "standard.py" else set())  # types there, not the clock


def test_the_child_side_imports_the_standard_library_only() -> None:
    own = {path.stem for path in (PACKAGE / "sandbox" / "child").glob("*.py")} | {"literals"}
    for path in (*(PACKAGE / "sandbox" / "child").glob("*.py"), PACKAGE / "base" / "literals.py"):
        for name in imported_by(path):
            if (path.name, name) == ("sql_inputs.py", "_duckdb"):
                continue  # only in the zygote that serves queries
            assert name.split(".")[0] in sys.stdlib_module_names | own, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_stay_short_and_open_with_their_duty(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
    assert len(text.splitlines()) <= 400


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
        (
            "execution.worker",
            {"scipy", "sqlglot", "pyarrow", "duckdb", "joblib", "hypothesis", "tiktoken", "markdown_it"},
        ),
        ("execution.execute", {"scipy", "sqlglot", "pyarrow", "duckdb", "hypothesis", "tiktoken", "markdown_it"}),
        ("store.imports", {"scipy", "sqlglot", "pyarrow", "duckdb", "hypothesis", "tiktoken", "markdown_it"}),
        ("report.tables", {"scipy", "sqlglot", "pyarrow", "joblib", "hypothesis", "tiktoken", "markdown_it"}),
    ],
)
def test_a_worker_and_each_step_load_only_what_they_need(module: str, without: set[str]) -> None:
    code = f"import sys, difftrust_core.{module}; print(*{{m.split('.')[0] for m in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "polars" in loaded
    assert not without & set(loaded)
