"""The texts that results lack, found where the benchmark and the recorded candidates are on this machine."""

import json
from pathlib import Path

import polars as pl
import pytest

from difftrust.tasks.find_texts import commands_for_texts, find_programs, find_task
from difftrust_core.languages.registry import language_of

CODE = "def double(x):\n    return 2 * x\n"
SPACED = "def double(x):\n    return 2*x\n"
OTHER = "def double(x):\n    return x\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for DIFFTRUST_DATA that holds one task of MBPP and candidates for it."""
    entry = {"task_id": 9001, "prompt": "Double a number.", "code": CODE, "test_imports": [], "source_file": "",
             "test_list": ["assert double(2) == 4", "assert double(3) == 6"]}  # fmt: skip
    (tmp_path / "mbpp").mkdir()
    (tmp_path / "mbpp/sanitized-mbpp.json").write_text(json.dumps([entry]))
    rows = [("a", 0.6, 1, SPACED), ("a", 0.6, 0, CODE), ("a", 1.0, 0, OTHER), ("b", 0.6, 0, OTHER)]
    columns = {"model": pl.String, "temperature": pl.Float64, "sample_index": pl.Int64, "code": pl.String}
    where = {"benchmark": pl.lit("MBPP"), "task_id": pl.lit("Mbpp/9001")}
    (tmp_path / "difftrust").mkdir()
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(**where)
    frame.write_parquet(tmp_path / "difftrust/candidates.parquet")
    monkeypatch.setenv("DIFFTRUST_DATA", str(tmp_path))
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_a_task_and_its_programs_are_found_by_coder_and_number(data: Path) -> None:
    task = find_task("MBPP", "Mbpp/9001")
    assert (task.entry_point, task.reference) == ("double", CODE)
    found = find_programs("MBPP", "Mbpp/9001", [("a", 0.6), ("b", 0.6), ("nobody", 0.6)])
    keys = found.select("model", "temperature", "sample_index", "code").rows()
    assert keys == [("a", 0.6, 0, CODE), ("a", 0.6, 1, SPACED), ("b", 0.6, 0, OTHER)]
    trees = found["tree_id"].to_list()
    assert trees[0] == trees[1] == language_of(task).tree_id(CODE) != trees[2]
    assert commands_for_texts("MBPP") == ()


def test_what_is_not_here_is_none_and_the_commands_that_bring_it_are_named(data: Path) -> None:
    assert find_task("MBPP", "Mbpp/1") is None
    assert find_task("HumanEval", "HumanEval/0") is None
    assert find_task("my-own", "a/b") is None
    assert find_programs("HumanEval", "HumanEval/0", [("a", 0.6)]).is_empty()
    assert find_programs("starter", "starter/clamp", [("a", 0.6)]).is_empty()
    assert commands_for_texts("HumanEval") == ("difftrust fetch humaneval",)
    (data / "difftrust/candidates.parquet").unlink()
    assert commands_for_texts("MBPP") == ("difftrust fetch difftrust --from CLONE",)
    assert find_programs("MBPP", "Mbpp/9001", [("a", 0.6)]).is_empty()


def test_a_damaged_file_is_as_good_as_none(data: Path) -> None:
    (data / "difftrust/candidates.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    assert find_programs("MBPP", "Mbpp/9001", [("a", 0.6)]).is_empty()
    (data / "mbpp/sanitized-mbpp.json").write_text("[")
    assert find_task("MBPP", "Mbpp/9001") is None
