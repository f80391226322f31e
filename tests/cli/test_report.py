"""`difftrust report` as a user meets it."""

from pathlib import Path

import pytest

from difftrust.shipped import find_starter_results
from tests.cli.test_cli import run


def test_a_report_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    status, said, err = run(capsys, "report", "--store", find_starter_results(), "--out", out, "-m", "5", "-n", "100")
    assert (status, err) == (0, "")
    assert said == f"wrote {out}: starter: where programs are wrong ({out.stat().st_size / 1e6:.1f} MB)\n"
    assert b"Programs per task (m): 5" in out.read_bytes()


def test_a_report_of_one_task_needs_no_script(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    words = ("--task", "HumanEval/122", "--model", "gpt_4o", "--equality", "strict")
    status, said, _ = run(capsys, "report", "--out", out, *words)
    assert status == 0
    assert "wrote" in said
    assert b"<script" not in out.read_bytes()
    assert b"Outcome comparison: strict" in out.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "r.pdf"), "a report is written as .html, got 'r.pdf'; name it report.html"),
        (("--out", "r.html", "--task", "x"), "the store has no task 'x'; its benchmarks: HumanEval, MBPP"),
        (("--out", "r.html", "--model", "gpt_4o"), "--model goes with --task"),
        (("--out", "r.html", "--store", "nowhere"), "no difftrust store in"),
        ((), "Missing option '--out'"),
    ],
)
def test_refusals_say_what_to_type(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "report", *words)
    assert (status, out) == (1 if "nowhere" in words else 2, "")
    assert said in err
    assert not list(tmp_path.iterdir())
