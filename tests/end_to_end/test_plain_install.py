"""What an install without extras can do, and what the other commands say: real packages, without those of extras."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.repository import write
from tests.support.stubs import returning

MOST_PACKAGES = 45
WORKING = {
    "table 4": 0,
    "table agreement": 0,
    "sql select(count(*))from(estimates)": 0,
    "plan --false-alarms 0.05": 0,
    "check f.py::largest --candidates answers": 1,
    "diff old.py::largest new.py::largest": 1,
    "generate --model simulated/strong --benchmark starter --task starter/split_bill --store s -m 3": 0,
    "execute --store s -n 50 --jobs 1": 0,
    "table 4 --store s": 0,
    "verify --store s": 0,
    "export --store s --to results": 0,
    "compact --store s": 0,
}
"""Command -> exit status, in this order."""
REFUSED = {
    "figure 1 --out figure.svg": "plots",
    "report --out report.html": "plots",
    "dashboard": "dashboard",
    "generate --model openai/o --benchmark starter --store t": "llm",
    "structure --store s": "structure",
    "generate --model simulated/strong --benchmark starter-sql --store t": "sql",
    "table 4 --store s3://bucket/store": "url",
    "execute --store s --backend dask --scheduler tcp://127.0.0.1:1": "dask",
    "mcp": "mcp",
}
"""Command -> the extra that it lacks."""


def required(name: str) -> Iterator[str]:
    """Yield the distribution and all that it needs without extras."""
    todo, seen = [name], set()
    while todo:
        one = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if one in seen:
            continue
        seen.add(one)
        yield one
        for line in distribution(one).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(requirement.name)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment that holds links to what is required, and to nothing else."""
    folder = tmp_path_factory.mktemp("plain")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/*/site-packages"))
    for name in required("difftrust"):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or [] if file.parts[0] != ".."}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(found.locate_file(top))).resolve())
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a function, its two versions, and answers that disagree."""
    folder = tmp_path_factory.mktemp("user")
    bodies = ("max(numbers)", "sorted(numbers)[-1]", "sorted(numbers)[0]", "numbers[0]")
    right, same, least, first = returning("largest(numbers: list[int]) -> int", *bodies)
    write(folder, {"f.py": right, "old.py": right, "new.py": least})
    write(folder, {"answers/1.py": right, "answers/2.py": same, "answers/3.py": first})
    return folder


def run(python: Path, folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    start = [python, "-c", "from difftrust.cli import main; main()"]
    weak = ["--allow-weak-sandbox"] if command.partition(" ")[0] in ("check", "diff", "execute") else []
    return subprocess.run(
        [*start, *command.split(), *weak], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def test_few_packages_are_required() -> None:
    n = len(list(required("difftrust")))
    assert n <= MOST_PACKAGES
    assert f"execution need: {n}\npackages" in (Path(__file__).parents[2] / "README.md").read_text()


@pytest.mark.slow
def test_commands_work_without_extras(python: Path, folder: Path) -> None:
    found = {command: run(python, folder, command) for command in WORKING}
    said = {command: done.stdout[-400:] + done.stderr[-400:] for command, done in found.items()}
    assert {command: done.returncode for command, done in found.items()} == WORKING, said
    assert not [command for command, done in found.items() if "leaked" in done.stderr]


@pytest.mark.quick(2)
@pytest.mark.parametrize("command", REFUSED)
def test_a_command_says_which_extra_it_lacks_before_it_does_anything(
    python: Path, tmp_path: Path, command: str
) -> None:
    done = run(python, tmp_path, command)
    assert f"run `pip install 'difftrust[{REFUSED[command]}]'`" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
