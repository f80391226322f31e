"""`difftrust report` as a user meets it."""

from pathlib import Path

import pytest

from difftrust.shipped import find_starter_results
from tests.cli.test_cli import run
from tests.support.command import Capture


def test_a_report_is_written(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    status, said, err = run(capsys, "report", "--store", find_starter_results(), "--out", out, "-m", "5", "-n", "100")
    assert (status, err) == (0, "")
    assert said == f"wrote {out}: starter: where programs are wrong ({out.stat().st_size / 1e6:.1f} MB)\n"
    assert b"Programs per task (m): 5" in out.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "r.pdf"), "a report is written as .html, got 'r.pdf'; name it report.html"),
        (("--out", "r.html", "--model", "gpt_4o"), "--model goes with --task"),
        (("--out", "r.html", "--store", "nowhere"), "no difftrust store in"),
        ((), "Missing option '--out'"),
    ],
)
def test_refusals_say_what_to_type(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "report", *words)
    assert (status, out) == (1 if "nowhere" in words else 2, "")
    assert said in err
    assert not list(tmp_path.iterdir())
