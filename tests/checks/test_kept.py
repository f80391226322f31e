"""What was judged, kept: whole files by digest, never too many."""

import os
from pathlib import Path

import pytest

from difftrust_core.checks.several import kept
from difftrust_core.checks.several.kept import Kept, digest_of


def test_what_is_kept_is_found_under_its_digest_alone(tmp_path: Path) -> None:
    one, other = digest_of("check", "a", 1), digest_of("check", "a", 2)
    Kept(tmp_path / "new").keep(one, {"verdict": "coherent"})
    assert Kept(tmp_path / "new").find(one) == {"verdict": "coherent"}
    assert Kept(tmp_path / "new").find(other) is None
    assert len({one, other, digest_of("diff", "a", 1), digest_of("check", "b", 1)}) == 4


def test_what_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    there = Kept(tmp_path / "file")
    there.keep("x", {})
    assert there.find("x") is None


def test_the_oldest_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 4)
    for number in range(5):
        Kept(tmp_path).keep(str(number), {})
        os.utime(tmp_path / f"{number}.json", (number, number))
    Kept(tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2", "3", "4"]
