"""Kept answers: computed once for all who ask, again after an error, and anew for another version."""

import threading
import time
from pathlib import Path

import pytest

from dashboard.data import Source, kept
from dashboard.handed_out import TooBusy, room_for_report


def test_an_answer_is_computed_once_for_each_version_however_many_ask() -> None:
    computed: list[tuple[int, ...]] = []

    @kept()
    def answer(source: Source) -> int:
        time.sleep(0.05)
        computed.append(source.version)
        return max(source.version)

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(answer(Source(Path("s"), (1, 7))))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [7] * 4
    assert answer(Source(Path("s"), (1, 8))) == 8
    assert computed == [(1, 7), (1, 8)]


def test_an_error_is_not_kept() -> None:
    asked: list[str] = []

    @kept()
    def answer(name: str) -> str:
        asked.append(name)
        if len(asked) == 1:
            raise OSError("the file is gone")
        return name

    with pytest.raises(OSError, match="gone"):
        answer("a")
    assert answer("a") == answer("a") == "a"
    assert asked == ["a", "a"]


def test_two_reports_are_made_at_a_time() -> None:
    for _ in range(2):
        with room_for_report(), room_for_report(), pytest.raises(TooBusy, match="at most two"), room_for_report():
            pass
