"""Commands, their options and defaults, their exit codes, and the keys of what they print as JSON."""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.golden import DATA, REPOSITORY, assert_golden, shape
from tests.support.command import Capture, run
from tests.support.repository import repository

GIVEN_UP = ("--witnesses", "--detection-rate")
_TAKES_TIME = re.compile(r"\(\d+ s\)$")
"""What is said where a command takes its time, which depends on the machine."""


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the pinned files, opened, with a cache folder of its own."""
    folder = Path(shutil.copytree(DATA / "pins", tmp_path / "pins"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)
    return folder


def sections(text: str) -> dict[str, list[str]]:
    """Return the entries of a help text by section, each on one line."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if re.fullmatch(r"\w+:", line):
            current = found.setdefault(line[:-1], [])
        elif line.startswith("  Example"):
            current = []
        elif re.match(r"  \S", line):
            current.append(line.strip())
        elif current and line.strip():
            current[-1] += "  " + line.strip()
    return found


def options(capsys: Capture, command: str) -> dict[str, str]:
    """Return the options of a command, names and type, with their defaults."""
    found = {}
    for entry in sections(run(capsys, command, "--help").out).get("Options", []):
        names, _, words = entry.partition("  ")
        default = re.search(r"\[(?:.*; *)?default: +(.*?)(?:;.*)?\]", words)
        found[names] = re.sub(r" +", " ", default.group(1)) if default else ""
    return {names: default for names, default in found.items() if not names.startswith(GIVEN_UP)}


def test_commands_and_options(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(REPOSITORY)
    commands = [entry.split()[0] for entry in sections(run(capsys, "--help").out)["Commands"]]
    assert_golden("commands", {command: options(capsys, command) for command in sorted(commands)})


def parsed(capsys: Capture, *words: object) -> tuple[int, Any]:
    """Return a command's exit status and the JSON that it prints."""
    said = run(capsys, *words)
    assert said.out, said.err
    return said.status, json.loads(said.out)


def test_keys_of_check(pins: Path, capsys: Capture) -> None:
    one = parsed(capsys, "check", "pinned.py::middle", "--candidates", "middle", "-n", 60, "--json")
    (pins / "two").mkdir()
    shutil.copy("old.py", "two/a.py")
    Path("two/b.py").write_text("def parity(number):\n    return ('even', 'odd')[number % 2]\n")
    alike = parsed(capsys, "check", "pinned.py::parity", "--candidates", "two", "-n", 60, "--json")
    (pins / "all").mkdir()
    shutil.copytree(pins / "middle", pins / "all" / "middle")
    several = parsed(capsys, "check", "pinned.py", "--candidates", "all", "-n", 60, "--format", "json")
    found = {"incoherent": one, "coherent": alike, "several": several}
    assert_golden("keys_of_check", {name: [status, shape(said)] for name, (status, said) in found.items()})


@pytest.mark.slow
def test_keys_of_diff(pins: Path, capsys: Capture) -> None:
    repository(pins, {"parities.py": Path("old.py").read_text()})
    shutil.copy("new.py", "parities.py")
    found = {
        "changed": parsed(capsys, "diff", "old.py::parity", "new.py::parity", "--format", "json"),
        "unchanged": parsed(capsys, "diff", "old.py::parity", "pinned.py::parity", "--format", "json"),
        "expected": parsed(
            capsys, *("diff", "old.py::parity", "new.py::parity", "--format", "json"),
            *("--expect", "parity(True) == 'even'"),
        ),
        "of a revision": parsed(capsys, "diff", "HEAD", "--format", "json"),
    }  # fmt: skip
    assert_golden("keys_of_diff", {name: [status, shape(said)] for name, (status, said) in found.items()})


@pytest.mark.quick(1)
@pytest.mark.parametrize("command", ["check", "diff"])
def test_formats_of_findings(command: str, pins: Path, capsys: Capture) -> None:
    asked: dict[str, tuple[object, ...]] = {
        "check": ("check", "pinned.py::middle", "--candidates", "middle", "-n", 60),
        "diff": ("diff", "old.py::parity", "new.py::parity"),
    }
    words = asked[command]
    sarif = parsed(capsys, *words, "--format", "sarif")[1]
    tree = ElementTree.fromstring(run(capsys, *words, "--format", "junit").out)
    github = run(capsys, *words, "--format", "github").out
    found = {
        "sarif": shape(sarif),
        "sarif rules": [rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]],
        "sarif results": sorted({result["ruleId"] for result in sarif["runs"][0]["results"]}),
        "junit": sorted({f"{each.tag} {' '.join(sorted(each.attrib))}" for each in tree.iter()}),
        "github": sorted(set(re.findall(r"^::\w+ |\b(?:file|line|title)(?==)", github, re.MULTILINE))),
        "markdown": run(capsys, *words, "--format", "markdown").out.splitlines()[0],
    }
    assert_golden(f"formats_of_{command}", found)


@pytest.mark.slow
def test_keys_of_other_commands(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = shutil.copytree(DATA / "stores" / "domain", tmp_path / "store")
    damaged = shutil.copytree(DATA / "stores" / "domain", tmp_path / "damaged")
    next((damaged / "outcomes").rglob("*.parquet")).write_bytes(b"")
    Path("a.py").write_text("def f(x):\n    return x\n")
    Path("b.py").write_text("def f(y):\n    return y + 1\n")
    found = {
        "verify": parsed(capsys, "verify", "--store", store, "--json"),
        "verify damaged": parsed(capsys, "verify", "--store", damaged, "--json"),
        "doctor": parsed(capsys, "doctor", "--json"),
        "sql": parsed(capsys, "sql", "select task_id, m, error from estimates", "--store", store, "--format", "json"),
        "compare": parsed(capsys, "compare", "a.py", "b.py", "--format", "json"),
        "plan": parsed(capsys, "plan", "--false-alarms", 0.05, "--model", "gpt_4o", "--format", "json"),
    }
    assert_golden("keys_of_others", {name: [status, shape(said)] for name, (status, said) in found.items()})


SITUATIONS: dict[str, tuple[object, ...]] = {
    "help": ("--help",),
    "version": ("--version",),
    "no such command": ("nothing",),
    "no such option": ("table", "4", "--nothing"),
    "a number that is none": ("execute", "--store", "store", "-n", "many"),
    "check: one candidate": ("check", "pinned.py::middle", "--candidates", "one"),
    "check: no such function": ("check", "pinned.py::nothing", "--candidates", "middle"),
    "check: no such file": ("check", "nothing.py::middle", "--candidates", "middle"),
    "check: nothing to ask": ("check", "pinned.py::middle"),
    "check: all is left out": ("check", "pinned.py::middle", "--candidates", "broken", "-n", 40),
    "diff: no such revision": ("diff", "nothing:old.py::parity", "old.py::parity"),
    "diff: an expectation that does not hold": (
        *("diff", "old.py::parity", "new.py::parity", "-n", 40),
        *("--expect", "parity(2) == 'odd'"),
    ),
    "diff: does not load": ("diff", "old.py::parity", "broken/a.py::parity"),
    "table: no such table": ("table", "nothing"),
    "table: no such store": ("table", "4", "--store", "nothing"),
    "figure: no such figure": ("figure", "nothing", "--out", "a.svg"),
    "figure: no such format": ("figure", "1", "--out", "a.txt"),
    "sql: no such column": ("sql", "select nothing from tasks", "--store", "store"),
    "sql: not a query": ("sql", "drop table tasks", "--store", "store"),
    "sql: no such store": ("sql", "select 1", "--store", "nothing"),
    "verify: no such store": ("verify", "--store", "nothing"),
    "execute: no such store": ("execute", "--store", "nothing"),
    "execute: another seed": ("execute", "--store", "store", "--seed", 5),
    "generate: no such benchmark": ("generate", "--benchmark", "nothing", "--model", "a", "--store", "new"),
    "import: no such file": ("import", "nothing.jsonl", "--store", "new"),
    "compare: no such file": ("compare", "nothing.py", "old.py"),
    "export: onto itself": ("export", "--store", "store", "--out", "store"),
    "fetch: no such name": ("fetch", "nothing"),
    "compact": ("compact", "--store", "store"),
}


def test_exit_codes(pins: Path, capsys: Capture) -> None:
    shutil.copytree(DATA / "stores" / "sql", "store")
    for name, text in (("one", "def middle(values):\n    return 1\n"), ("broken", "import nothing\n")):
        Path(name).mkdir()
        Path(name, "a.py").write_text(text)
    shutil.copy("broken/a.py", "broken/b.py")
    found = {}
    for situation, words in SITUATIONS.items():
        said = run(capsys, *words)
        lines = [line for line in said.err.strip().splitlines() if not _TAKES_TIME.search(line)]
        message = lines[-1] if said.status and lines else ""
        found[situation] = [said.status, message.replace(str(pins), "HERE").replace(", witnesses", "")]
    assert_golden("exit_codes", found)


def test_candidates_are_held_against_pins(pins: Path, capsys: Capture) -> None:
    """What earlier code pinned, in a docstring and as tests, is what a check and a diff go by."""
    status, report = parsed(capsys, "check", "pinned.py::middle", "--candidates", "middle", "-n", 100, "--json")
    contradictions = {(each["call"], name) for each in report["contradictions"] for name in each["candidates"]}
    assert contradictions == {("middle([3, 1, 2])", "unsorted.py"), ("middle([0, 1])", "larger.py")}
    assert (status, report["n_examples"], report["verdict"]) == (1, 3, "incoherent")


def test_a_pin_is_written_as_it_was_then(pins: Path, capsys: Capture) -> None:
    then = {name: Path(name).read_text() for name in ("pinned.py", "said_tests.py")}
    shutil.copy("module.py", "pinned.py")
    Path("said_tests.py").unlink()
    written = ("--write-tests", "said_tests.py")
    for pin in ("middle([0, 1]) == 0", "middle([]) raises IndexError"):
        assert run(capsys, "check", "pinned.py::middle", "--pin", pin, *written).status == 0
    words = ("diff", "old.py::parity", "new.py::parity", "--expect", "parity(True) == 'even'")
    said = run(capsys, *words, *written)
    assert said.status == 0
    assert "Behaviour changed only where it was expected." in said.out
    assert {name: Path(name).read_text() for name in then} == then


def test_the_tests_written_then_run(pins: Path) -> None:
    shutil.copy("middle/smaller.py", "pinned.py")
    called = "import said_tests as t; [getattr(t, name)() for name in dir(t) if name.startswith('test_')]"
    done = subprocess.run([sys.executable, "-c", called], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
