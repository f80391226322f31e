"""What the README promises: its commands exist and run, its links lead somewhere; and console blocks of pages."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from tests.support.command import Capture, run, succeed, write_samples
from tests.support.console import Command, matches, read_blocks, run_command
from tests.support.repository import repository, write
from tests.support.stubs import returning

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
ELSEWHERE = re.compile(r"fetch|dashboard|.* --store paper|check .* --model")
"""Commands that need the network, a model, a server or the recorded candidates."""
COMMANDS = [
    command
    for block in re.findall(r"```\n(.*?)```", README, re.DOTALL)
    for command in re.findall(r"^ *difftrust (.+)$", block, re.MULTILINE)
    if not ELSEWHERE.match(command)
]
SLOW = ("table tests", "table dissent --inputs domain", "figure 3 --model gpt_4o --out figure_3.svg")
"""Quickly run on smaller stores by tests/compatibility/test_results.py."""


def test_the_two_commands_and_all_links_lead_somewhere() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_no_machine_is_named() -> None:
    for path in (ROOT / "README.md", ROOT / "SECURITY.md", *ROOT.glob("docs/*.md"), *ROOT.glob("data/*.md")):
        assert not re.search(r"/(root|home|work)/", path.read_text())


@pytest.mark.parametrize(
    "command", [pytest.param(each, marks=pytest.mark.slow if each in SLOW else ()) for each in COMMANDS]
)
def test_commands_run_as_written(
    command: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(shutil.copytree(prepared, tmp_path / "here"))
    capsys.readouterr()
    status, out, err = run(capsys, *shlex.split(command))
    assert status == 0, err
    assert out


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the commands speak of: `my-store`, from samples of a starter task, and programs."""
    folder = tmp_path_factory.mktemp("prepared")
    task = load_benchmark("starter")[0]
    one, other = returning("function(n)", "2 * n", "n + n")
    module = 'def function(n: int) -> int:\n    """Return twice n."""\n'
    write(folder, {"module.py": module, "tasks.py": module, "programs/a.py": one, "programs/b.py": other})
    wrong = f"def {task.entry_point}(*args):\n    return None\n"
    codes = {task.task_id: (task.reference, task.reference, wrong) * 2, "function": [one]}
    samples, store = write_samples(folder / "samples.jsonl", codes), folder / "my-store"
    repository(folder, {"src/f.py": "def f(x):\n    return x / 2\n"}, {"src/f.py": "def f(x):\n    return 0.5 * x\n"})
    succeed(*f"import {samples} --model other --temperature 0.6 --store {store}".split())
    succeed(*f"execute -n 500 --store {store}".split())
    return folder


PAGES = ("../README.md", "check.md", "own_tasks.md", "contests.md", "report.md", "diff.md", "ci.md")
BLOCKS = {
    f"{page}: {next(command.words for command in block if not command.shown_file)}": block
    for page in PAGES
    for block in read_blocks(ROOT / "docs" / page)
}


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_block_prints_what_it_shows(block: list[Command], tmp_path: Path) -> None:
    """Each stands for itself, in a folder of its own."""
    wrong = [found for command in block if (found := run_command(command, tmp_path))]
    assert not wrong, "\n".join(wrong)


def test_three_dots_stand_for_anything_but_not_for_other_lines() -> None:
    assert matches("a ... c\n...\nend\n", "a b c\nx\ny\nend\n")
    assert matches("...\n", "")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a ...\n", "b\n")
