"""Progress: JSON lines for a program that watches, nothing where nobody looks."""

import json
import os

import pytest

from difftrust_core.base.parallel import DESCRIPTOR, Progress


def test_each_step_is_a_json_line_where_a_descriptor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    monkeypatch.setenv(DESCRIPTOR, str(write))
    with Progress(total=3, unit=" programs", mininterval=0) as bar:
        bar.update(1)
        bar.update(2)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = [json.loads(line) for line in pipe]
    assert [line["done"] for line in told] == sorted(line["done"] for line in told)
    assert (told[-1]["done"], told[-1]["total"], told[-1]["unit"]) == (3, 3, "programs")
    assert all(line["seconds"] >= 0 for line in told)


def test_work_goes_on_where_the_watcher_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    monkeypatch.setenv(DESCRIPTOR, str(write))
    assert list(Progress(range(3), mininterval=0)) == [0, 1, 2]
    os.close(write)


def test_nothing_is_drawn_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(DESCRIPTOR, raising=False)
    assert list(Progress(range(3), desc="work")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")
