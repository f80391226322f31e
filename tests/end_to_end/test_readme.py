"""What the README promises: its commands exist and run, its table is the one in the docs, its links lead somewhere."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from difftrust.cli import main
from difftrust_core.datasets.benchmarks import load_benchmark
from tests.support.command import Capture
from tests.support.repository import git, repository, write

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
COMMANDS = [
    line.strip()
    for language, block in re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if not language and line.strip().startswith("difftrust ")
] + re.findall(r"`(difftrust [^`]+)`", README.partition("## And then")[2].partition("\n## ")[0])


def test_the_two_commands_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_no_machine_is_named() -> None:
    for path in (ROOT / "README.md", ROOT / "SECURITY.md", *ROOT.glob("docs/*.md"), *ROOT.glob("data/*.md")):
        assert not re.search(r"/(root|home|work)/", path.read_text())


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run_as_written(
    command: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    words = shlex.split(command)[1:]
    if (
        words[0] in ("fetch", "dashboard")
        or words == ["mcp"]
        or "paper" in words
        or (words[0] == "check" and "--model" in words)
    ):
        with pytest.raises(SystemExit) as ended:
            main([words[0], "--help"])
        assert ended.value.code == 0
        return
    monkeypatch.chdir(shutil.copytree(prepared, tmp_path / "here"))
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words)
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    assert out


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the commands speak of: `my-store`, from samples of a starter task, and programs."""
    folder = tmp_path_factory.mktemp("prepared")
    task = load_benchmark("starter")[0]
    for name in ("module", "tasks"):
        (folder / f"{name}.py").write_text('def function(n: int) -> int:\n    """Return twice n."""\n')
    (folder / "programs").mkdir()
    for name, twice in (("a", "2 * n"), ("b", "n + n")):
        (folder / "programs" / f"{name}.py").write_text(f"def function(n):\n    return {twice}\n")
    wrong = f"def {task.entry_point}(*args):\n    return None\n"
    lines = [{"task_id": task.task_id, "solution": code} for code in (task.reference, task.reference, wrong) * 2]
    lines.append({"task_id": "function", "solution": "def function(n):\n    return 2 * n\n"})
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    half = "def f(x):\n    return {}\n"
    repository(folder, {"src/f.py": half.format("x / 2")}, {"src/f.py": half.format("0.5 * x")})
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    write(folder, {"old.py": half.format("x / 2"), "new.py": half.format("0.5 * x")})
    for words in (
        ["import", str(folder / "samples.jsonl"), "--model", "other", "--temperature", "0.6"],
        ["execute", "-n", "500"],
    ):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--store", str(folder / "my-store")])
        assert ended.value.code == 0
    return folder
