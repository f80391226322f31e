"""What was judged, kept: whole files by digest, never too many."""

import os
from pathlib import Path

import pytest

from difftrust.check import verdict_cache as kept
from difftrust.check.verdict_cache import KeptVerdicts


def test_what_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    there = KeptVerdicts(tmp_path / "file")
    there.keep("x", {})
    assert there.find("x") is None


def test_the_oldest_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 4)
    for number in range(5):
        KeptVerdicts(tmp_path).keep(str(number), {})
        os.utime(tmp_path / f"{number}.json", (number, number))
    KeptVerdicts(tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2", "3", "4"]
