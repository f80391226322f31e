"""Imports point down, never sideways; heavy libraries have one door each; what is named in backticks exists."""

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.layers import (
    FILES,
    MODULES,
    ROOT,
    circles,
    imported_by,
    private_imports,
    room_of,
    tree_of,
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


def test_heavy_libraries_have_one_door() -> None:
    importers: dict[str, set[str]] = {library: set() for library in DOORS}
    for module, path in MODULES.items():
        for library in DOORS.keys() & {name.split(".")[0] for name in imported_by(path)}:
            importers[library] |= {room_of(module)} - {"dashboard"}
    assert importers == DOORS


def test_the_lower_layers_know_no_files_no_network_no_clock() -> None:
    imported = {(m, name.split(".")[0]) for m in MODULES if room_of(m) in PURE for name in imported_by(MODULES[m])}
    assert imported
    assert {(module, name) for module, name in imported if name in FORBIDDEN_IN_PURE} == set()


def test_the_child_side_imports_the_standard_library_only() -> None:
    shared = [ROOT / "difftrust_core" / "base" / name for name in ("literals.py", "standard_types.py")]
    own = {path.stem for path in (*CHILDREN, *shared)}
    for path in (*CHILDREN, *shared):
        for name in imported_by(path):
            if (path.name, name) == ("sql_inputs.py", "_duckdb"):
                continue  # only in the zygote that serves queries
            assert name.split(".")[0] in sys.stdlib_module_names | own, f"{path.name} imports {name}"


def test_modules_open_with_their_duty_in_plain_words_and_no_expression_of_polars_calls_python() -> None:
    # Threads of polars would wait for the interpreter, while a session that makes a pandas frame holds it and waits.
    calls = {"map_elements", "map_batches", "map_groups", "map_rows", "map_columns", "rolling_map"}
    wrong = {}
    for path in (*FILES, *CHILDREN):
        tree = tree_of(path)
        wrong[path] = [
            *(["no docstring"] if not ast.get_docstring(tree) else []),
            *(["nothing else"] if "nothing else" in path.read_text() else []),
            *(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in calls),
        ]
    assert {path: found for path, found in wrong.items() if found} == {}


ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
ANSWERS = re.findall(r"^\| ([^|`]+\?) \| `([^`|]+)` \|$", TEXT, re.MULTILINE)
PATHS = re.findall(r"`((?:difftrust_core|difftrust|dashboard|tests|docs|data|notebooks)/[^`\s*<>{}…]*)`", TEXT)


def test_each_question_has_one_path_and_all_paths_exist() -> None:
    assert len(ANSWERS) >= 20
    assert len({question for question, _ in ANSWERS}) == len(ANSWERS)
    assert {path for path in (*PATHS, *(path for _, path in ANSWERS)) if not (ROOT / path).exists()} == set()


def test_docstrings_name_what_exists() -> None:
    """``module.name`` and ``room.module.name`` in docstrings lead to a module that holds the name."""
    texts = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path.read_text()
        for room in ("difftrust_core", "difftrust", "dashboard")
        for path in (ROOT / room).rglob("*.py")
    }
    found = {(name, module) for module, text in texts.items() for name in re.findall(_DOTTED, text)}
    assert len(found) > 40
    wrong = {
        (name, module)
        for name, module in found
        for head, _, last in [name.rpartition(".")]
        if not any(f".{each}".endswith(f".{name}") for each in texts)
        and not any(f".{each}".endswith(f".{head}") and re.search(rf"\b{last}\b", texts[each]) for each in texts)
        and not re.search(rf"(?<!`)\b{head}\b(?!\.{last}``)", texts[module])
        and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert {name for name, _ in wrong} == {"pytest.mark.parametrize", "utils.text.strip", "models.Line"}, (
        wrong
    )  # examples


_DOTTED = r"``([a-z_]{3,}(?:\.[a-z_]\w{2,})*\.(?!toml\b|json\b|parquet\b|py\b)[a-zA-Z_]\w{2,})(?:\(.*?\))?``"
"""Modules, variables and packages, not files and classes."""
