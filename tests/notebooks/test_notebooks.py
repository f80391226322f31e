"""The notebooks run from the shipped results, without a network, and say what their committed outputs say."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.__main__ import FOLDER, execute, read, tidy, written
from tests.support.tiny import OTHER, RIGHT, WRONG, executed

PATHS = sorted(FOLDER.glob("*.ipynb"))
WANTED = {
    "quickstart", "table_2_effectiveness", "table_3_ablation", "table_4_all_models", "figure_1_rankings",
    "figure_2_workflow", "figure_3_error_vs_incoherence", "more_models_or_more_samples",
    "what_agreement_is_worth", "which_signal_finds_errors", "sce_table_2", "sce_figure_1_correlations",
    "which_programs_to_buy", "errors_that_are_errors", "what_other_models_tell",
}  # fmt: skip


def said(notebook: Any) -> list[tuple[int, str, str]]:
    """Return every output that is text: (cell, kind, text). Of pictures only that they are there."""
    found = []
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                found.append((number, output.name, output.text))
                continue
            data = output.get("data", {})
            found += [(number, kind, "" if kind == "image/png" else data[kind]) for kind in sorted(data)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, id=path.stem, marks=() if path.stem == "quickstart" else (pytest.mark.slow, pytest.mark.long)
        )
        for path in PATHS
    ],
)
def test_it_runs_offline_and_says_what_is_committed(path: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("DIFFTRUST_STORE", raising=False)
    committed = said(read(path))
    assert said(execute(path)) == committed  # CellExecutionError if a cell fails or takes too long
    assert not any(kind == "stderr" for _, kind, _ in committed)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_is_committed_is_small_whole_tells_of_no_machine_and_needs_public_names_alone(path: Path) -> None:
    text, notebook = path.read_text(), read(path)
    assert path.stat().st_size < 600_000
    assert written(tidy(notebook)) == text  # as `make notebooks` writes it
    assert not re.search(r"/(root|home|tmp|work)/", text)
    assert notebook.cells[0].cell_type == "markdown"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    assert len(code[0].source.splitlines()) <= 3
    nodes = [node for cell in code for node in ast.walk(ast.parse(cell.source))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {"difftrust"} <= imported <= {"difftrust", "polars"}


def test_all_are_there_in_the_readme_and_have_a_table_and_a_picture() -> None:
    assert {path.stem for path in PATHS} == WANTED
    readme = (FOLDER / "README.md").read_text()
    assert {name for name in WANTED if f"({name}.ipynb)" not in readme} == set()
    for path in PATHS:
        kinds = {kind for _, kind, _ in said(read(path))}
        assert "text/html" in kinds, path.stem
        assert "image/png" in kinds or "table_" in path.stem, path.stem


@pytest.mark.slow
def test_the_quickstart_runs_on_any_store(tmp_path: Path, monkeypatch: Any) -> None:
    store = executed(tmp_path / "store", n=20, mine=(RIGHT, WRONG, OTHER))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    found = said(execute(FOLDER / "quickstart.ipynb", environment={"DIFFTRUST_STORE": str(store.root)}))
    assert any("tiny/" in text for _, _, text in found)
    assert [kind for _, kind, _ in found].count("image/png") == 2
