"""Folders for the time of a piece of work: gone after it, after a kill with the next one; others' are left alone."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from difftrust_core.base.files import PREFIX, find_shipped, is_plain, scratch_folder

WORKING = """
import sys, time
from pathlib import Path
from difftrust_core.base.files import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "inside").mkdir()
    (folder / "inside" / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


def working(place: Path) -> "tuple[subprocess.Popen[str], Path]":
    process = subprocess.Popen([sys.executable, "-c", WORKING, str(place)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_it_is_gone_after_the_work_and_after_a_failure(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        (folder / "file").write_text("x")
        assert [*tmp_path.iterdir()] == [folder]
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(ValueError, match="failed"), scratch_folder(tmp_path):
        raise ValueError("failed")
    assert [*tmp_path.iterdir()] == []


def test_the_next_one_removes_what_a_killed_process_left_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("mine")
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "kept")
    (tmp_path / f"{PREFIX}file").write_text("not a folder")
    mine = {tmp_path / "kept", tmp_path / f"{PREFIX}link", tmp_path / f"{PREFIX}file"}
    (killed, left), (alive, in_use) = working(tmp_path), working(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert (left / "inside" / "file").exists()
    with scratch_folder(tmp_path) as folder:
        assert {*tmp_path.iterdir()} == {*mine, in_use, folder}
    assert (in_use / "inside" / "file").read_text() == "x"
    alive.kill()
    alive.communicate()
    with scratch_folder(tmp_path):
        pass
    assert {*tmp_path.iterdir()} == mine
    assert (tmp_path / "kept" / "file").read_text() == "mine"


def test_many_at_once_do_not_take_each_other_s_new_folder_for_one_that_was_left(tmp_path: Path) -> None:
    def work(place: Path) -> None:
        for _ in range(60):
            with scratch_folder(place) as folder:
                assert folder.is_dir()

    with ThreadPoolExecutor(8) as pool:
        _ = [*pool.map(work, [tmp_path] * 8)]
    assert [*tmp_path.iterdir()] == []


def test_files_folders_and_nothing_are_plain_but_links_and_pipes_are_not(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert [is_plain(tmp_path / name) for name in (".", "file", "none", "link", "pipe")] == [True] * 3 + [False] * 2


def test_what_is_shipped_lies_in_the_package_or_beside_it() -> None:
    package = Path(__file__).parents[2] / "difftrust_core"
    assert find_shipped("generation/prices.toml") == package / "generation" / "prices.toml"
    assert find_shipped("none", in_wheel="generation/prices.toml") == package / "generation" / "prices.toml"
    assert find_shipped("pyproject.toml") == package.parent / "pyproject.toml"


def test_a_folder_that_is_taken_away_before_it_is_opened_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[str] = []
    make = tempfile.mkdtemp

    def make_and_lose(*args: str, **named: str) -> str:
        made.append(make(*args, **named))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", make_and_lose)
    with scratch_folder(tmp_path) as folder:
        assert [folder] == [*tmp_path.iterdir()] == [Path(made[1])]


def test_work_may_take_its_folder_away_itself(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        folder.rmdir()
    assert [*tmp_path.iterdir()] == []
