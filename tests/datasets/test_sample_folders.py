"""Samples in EvalPlus' folders, one for each task, one program a file."""

from pathlib import Path

import pytest

from difftrust.layouts.evalplus import load_evalplus
from difftrust_core.datasets.recorded import Selection
from difftrust_core.datasets.sources import is_sample_folder, read_sample_folder, read_source
from difftrust_core.exceptions import BadSource, WrongUsage
from tests.support.evalplus import RIGHT, WRONG, write_folder, write_release


@pytest.fixture
def tasks(tmp_path: Path) -> dict[str, object]:
    return {task.task_id: task for task in load_evalplus(write_release(tmp_path / "tasks.jsonl"))}


def test_each_file_is_a_candidate(tmp_path: Path, tasks: dict) -> None:
    root = write_folder(tmp_path / "samples", RIGHT, WRONG)
    (root / "HumanEval_900" / "10.py").write_text("# the last one\n")
    found = read_sample_folder(root, tasks, model="mine", temperature=0.6)
    columns = ["benchmark", "task_id", "model", "temperature", "sample_index", "code"]
    assert found.candidates.columns == columns
    assert found.candidates.rows() == [
        ("HumanEval+", "HumanEval/900", "mine", 0.6, 0, RIGHT["HumanEval/900"]),
        ("HumanEval+", "HumanEval/900", "mine", 0.6, 1, WRONG["HumanEval/900"]),
        ("HumanEval+", "HumanEval/900", "mine", 0.6, 10, "# the last one\n"),
        ("HumanEval+", "HumanEval/901", "mine", 0.6, 0, RIGHT["HumanEval/901"]),
        ("HumanEval+", "HumanEval/901", "mine", 0.6, 1, WRONG["HumanEval/901"]),
    ]
    assert found.bad_rows == ()
    first = read_sample_folder(root, tasks, model="mine", temperature=0.6, m=1)
    assert first.candidates["sample_index"].to_list() == [0, 0]


def test_what_cannot_be_used_is_named(tmp_path: Path, tasks: dict) -> None:
    root = write_folder(tmp_path / "samples", RIGHT)
    folder = root / "HumanEval_900"
    (folder / "1.py").write_bytes(b"\xff\xfe")
    (folder / "00.py").write_text("x = 1\n")
    (folder / "notes.txt").write_text("x\n")
    (root / "Other_1").mkdir()
    (root / "Other_1" / "0.py").write_text("x = 1\n")
    found = read_sample_folder(root, tasks, model="mine", temperature=0.6)
    assert found.candidates.height == 2
    assert found.skipped == {"other files": 1}
    assert sorted(row.why.partition(",")[0] for row in found.bad_rows) == [
        "expected a folder named as a task loaded",
        "expected one program 0",
        "expected text in UTF-8 of at most 65",
    ]


def test_a_folder_needs_its_coder(tmp_path: Path, tasks: dict) -> None:
    root = write_folder(tmp_path / "samples", RIGHT)
    assert is_sample_folder(root)
    assert read_source(root, tasks=tasks, model="mine", temperature=0.6).candidates.height == 2
    with pytest.raises(WrongUsage, match="does not name its coder"):
        read_source(root, Selection(), tasks=tasks)
    (tmp_path / "none").mkdir()
    with pytest.raises(BadSource, match="expected folders of tasks with programs"):
        read_sample_folder(tmp_path / "none", tasks, model="mine", temperature=0.6)
