"""The list of a store's files, the room that is kept for it, and why a file could not be written."""

import errno
from pathlib import Path
from types import SimpleNamespace

import pytest

from difftrust_core.base.files import file_state
from difftrust_core.store.checksums import (
    LIST_FILE,
    forget,
    is_whole,
    read_list,
    room_for_list,
    sound_list,
    why_not_written,
    write_list,
)


def test_names_are_listed_and_forgotten_and_the_list_is_written_only_where_it_changes(tmp_path: Path) -> None:
    path = tmp_path / LIST_FILE
    forget(tmp_path)
    assert not path.exists()
    assert read_list(tmp_path) == sound_list(tmp_path) == set()
    write_list(tmp_path, ["b.parquet", "a.parquet"])
    before = file_state(path)
    write_list(tmp_path, ["a.parquet", "b.parquet"])
    assert file_state(path) == before
    write_list(tmp_path, ["a.parquet", "b.parquet", "c.parquet"])
    forget(tmp_path, ["a.parquet", "z.parquet"])
    assert read_list(tmp_path) == sound_list(tmp_path) == {"b.parquet", "c.parquet"}
    forget(tmp_path)
    assert sound_list(tmp_path) == set()


def test_a_changed_list_and_a_link_are_no_list(tmp_path: Path) -> None:
    write_list(tmp_path, ["a.parquet"])
    path = tmp_path / LIST_FILE
    kept = path.rename(tmp_path / "kept")
    path.symlink_to(kept)
    assert (sound_list(tmp_path), read_list(tmp_path)) == (None, set())
    path.unlink()
    path.write_text(kept.read_text().replace("a.parquet", "b.parquet"))
    assert (sound_list(tmp_path), read_list(tmp_path)) == (None, set())


def test_room_for_the_list_and_for_new_names_is_kept_and_given_back(tmp_path: Path) -> None:
    write_list(tmp_path, [f"{number}.parquet" for number in range(5_000)])
    room = tmp_path / ".room.tmp"
    with room_for_list(tmp_path):
        assert room.stat().st_size >= (tmp_path / LIST_FILE).stat().st_size + 150 * 100
    assert not room.exists()
    with room_for_list(tmp_path):
        room.unlink()
    with room_for_list(tmp_path / "none"):
        pass


def test_where_nothing_can_be_taken_away_the_room_hides_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(KeyError), room_for_list(tmp_path / "none"):
        raise KeyError


@pytest.mark.parametrize(("free", "why"), [((1 << 16) - 1, "No space left on device"), (1 << 16, "it failed")])
def test_a_disk_with_hardly_any_room_is_called_full(
    free: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=free))
    assert why_not_written(OSError("it failed\nhere"), tmp_path) == why


def test_where_the_room_is_unknown_the_error_is_said(tmp_path: Path) -> None:
    assert why_not_written(OSError("it failed"), tmp_path / "none") == "it failed"


def test_a_file_that_only_begins_and_ends_like_parquet_is_not_whole() -> None:
    assert is_whole(b"PAR1" + b"x" * 100 + b"PAR1", "a.parquet") is False
    for content in (b"PAR1" + b"x" * 100, b"x" * 100 + b"PAR1"):
        with pytest.raises(ValueError, match="begin and end like a Parquet file"):
            is_whole(content, "a.parquet")
