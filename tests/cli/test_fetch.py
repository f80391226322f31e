"""`difftrust fetch` brings several texts at once, after which the results that lack them show them."""

from pathlib import Path

import polars as pl
import pytest

from difftrust.tasks.find_texts import commands_for_texts
from tests.support.command import Capture, run


def candidates(path: Path) -> None:
    row = {"benchmark": "MBPP", "task_id": "Mbpp/2", "model": "m", "temperature": 0.6, "sample_index": 0, "code": "x"}
    path.parent.mkdir(parents=True)
    pl.DataFrame([row]).write_parquet(path)


def test_the_commands_that_are_named_bring_the_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delenv("DIFFTRUST_DATA", raising=False)
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "cache"))
    candidates(tmp_path / "clone/candidates.parquet")
    before = commands_for_texts("MBPP")
    assert before == ("difftrust fetch mbpp", "difftrust fetch difftrust --from CLONE")
    status, out, _ = run(capsys, *before[1].replace("CLONE", str(tmp_path / "clone")).split()[1:])
    assert (status, out.startswith("ready: ")) == (0, True)
    assert commands_for_texts("MBPP") == before[:1]


def test_several_names_are_brought_in_their_order_up_to_one_that_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / "cache"))
    candidates(tmp_path / "clone/candidates.parquet")
    status, out, err = run(capsys, "fetch", "difftrust", "nonsense", "--from", tmp_path / "clone")
    assert (status, out.startswith("ready: ")) == (2, True)
    assert "nothing to fetch is called 'nonsense'" in err
