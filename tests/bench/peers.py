"""`difftrust check` beside CrossHair and Hypothesis' ghostwriter, on 40 pairs of the cases.

Both are installed into an environment of this benchmark's own, in the user's cache. They get the two candidates with
the signature of the user's function and its preconditions as asserts. What a tool shows counts as found if plain Python
agrees that the input is inside the documented domain and the two differ on it.
"""

import ast
import os
import re
import statistics
import subprocess
import tempfile
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from tests.bench.commands import run_check
from tests.bench.processes import in_turn, run
from tests.check_cases.case import Case
from tests.check_cases.domain import as_arguments, function_of, shows_difference, wrapped

PAIRS = 40
LIMIT = 120
"""Seconds that a tool may take for a pair."""
CROSSHAIR_SECONDS = 10
"""CPU seconds for CrossHair; it explores without end."""
_PACKAGES = ("crosshair-tool", "hypothesis[ghostwriter]", "pytest", "annotated-types")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two candidates of a case."""

    case: Case
    names: tuple[str, str]

    @property
    def differ(self) -> bool:
        """Whether they differ inside the domain."""
        return not self.case.are_same(*self.names)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a tool said of a pair: the arguments that it showed, as in a call; None where it showed none."""

    arguments: str | None
    seconds: float
    """Of processor time."""


def choose_pairs(cases: Sequence[Case]) -> list[Pair]:
    """Choose 40 pairs that all three tools can be given: two that differ, one that does not, and so on."""
    pairs: list[Pair] = []
    for case in cases:
        if not _is_plain(case):
            continue
        differing = [names for names in case.pairs() if not case.are_same(*names)]
        alike = [names for names in case.pairs() if case.are_same(*names)]
        chosen = alike if alike and (not differing or len(pairs) % 3 == 2) else differing
        pairs.append(Pair(case=case, names=chosen[-1]))
    count = min(PAIRS, len(pairs))
    return [pairs[i * len(pairs) // count] for i in range(count)]


def _is_plain(case: Case) -> bool:
    function = function_of(case)
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return (
        isinstance(function, ast.FunctionDef)
        and "." not in case.target
        and not case.needs
        and not case.contradicts
        and case.expected != "undecided"
        and "--example" not in case.options
        and all(each.annotation for each in every)
        and not any(word in ast.unparse(function.args) + str(ast.dump(function)) for word in ("Iterator", "Yield"))
        and "yield" not in case.candidates[next(iter(case.candidates))]
    )


def environment() -> Path:
    """Return the folder with the peers' commands, installed if they are not."""
    folder = Path(platformdirs.user_cache_dir("difftrust-bench")) / "peers"
    if not (folder / "bin" / "crosshair").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *_PACKAGES], check=True)
    return folder / "bin"


def by_difftrust(pair: Pair, folder: Path) -> Finding:
    """Check the pair."""
    where, programs = pair.case.write(folder / "case", pair.names)
    checked = run_check(where, programs, pair.case.options, cwd=folder)
    return Finding(arguments=as_arguments(checked.shown[0]) if checked.shown else None, seconds=checked.cpu)


def by_crosshair(pair: Pair, folder: Path) -> Finding:
    """Compare the pair by symbolic execution."""
    _write_modules(pair, folder)
    name = pair.case.target
    options = ["--exception_equivalence", "SAME_TYPE", "--per_condition_timeout", str(CROSSHAIR_SECONDS)]
    command = ["crosshair", "diffbehavior", *options, f"left.{name}", f"right.{name}"]
    said, seconds = _run(command, folder)
    found = re.search(r"Given: \((.*?)\),?\n\s*left", said, re.DOTALL)
    return Finding(arguments=found[1] if found else None, seconds=seconds)


def by_ghostwriter(pair: Pair, folder: Path) -> Finding:
    """Write the property test of their equivalence, and run it."""
    _write_modules(pair, folder)
    name = pair.case.target
    command = ["hypothesis", "write", "--equivalent", "--except", "AssertionError", f"left.{name}", f"right.{name}"]
    test, first = _run(command, folder)
    (folder / "test_written.py").write_text(test)
    said, second = _run(["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_written.py"], folder)
    lines = "\n".join(line.removeprefix("E").strip() for line in said.splitlines())
    found = re.search(r"(?:Failing test case|Falsifying example): \w+\((.*?)\n\)", lines, re.DOTALL)
    shown = re.sub(r"# .*", "", found[1]).strip().rstrip(",") if found else None
    shown = shown and re.sub(r"<([\w.]+): [^<>]*>", r"\1", shown)  # a member of an Enum
    return Finding(arguments=shown, seconds=first + second)


TOOLS: dict[str, Callable[[Pair, Path], Finding]] = {
    "difftrust check": by_difftrust,
    "CrossHair": by_crosshair,
    "Hypothesis ghostwriter": by_ghostwriter,
}


def judge(pair: Pair, finding: Finding) -> str:
    """Say what a finding is: found, missed, false alarm, or silent where there is nothing to find."""
    if finding.arguments is None:
        return "missed" if pair.differ else "silent"
    shows = shows_difference(pair.case, pair.names, finding.arguments)
    return "found" if pair.differ and shows in (True, None) else "false alarm"


def compare_peers(cases: Sequence[Case], every: int = 1, jobs: int = 1) -> list[str]:
    """Run the three on pairs of the cases; return a table and all that each missed."""
    environment()
    pairs = choose_pairs(cases)[::every]
    rows: dict[str, list[tuple[Pair, Finding, str]]] = {tool: [] for tool in TOOLS}
    for pair, found in in_turn(_findings, pairs, jobs):
        for tool, finding in found.items():
            rows[tool].append((pair, finding, judge(pair, finding)))
    return [f"{len(pairs)} pairs, {sum(pair.differ for pair in pairs)} of them differ", "", *_lines(rows)]


def _findings(pair: Pair) -> dict[str, Finding]:
    found = {}
    for tool, find in TOOLS.items():
        with tempfile.TemporaryDirectory() as folder:
            found[tool] = find(pair, Path(folder))
    return found


def _lines(rows: dict[str, list[tuple[Pair, Finding, str]]]) -> list[str]:
    titles = ("found", "missed", "false alarms", "median CPU s", "worst CPU s", "shown, median characters")
    lines = [f"{'':<24}" + "".join(f"{title:>14}" for title in titles[:5]) + f"  {titles[5]}"]
    details = []
    for tool, answers in rows.items():
        said = [judgement for _, _, judgement in answers]
        seconds = [finding.seconds for _, finding, _ in answers]
        lengths = [len(finding.arguments or "") for _, finding, judgement in answers if judgement == "found"]
        numbers = "".join(f"{said.count(each):>14}" for each in ("found", "missed", "false alarm"))
        length = statistics.median(lengths) if lengths else float("nan")
        lines.append(f"{tool:<24}{numbers}{statistics.median(seconds):>14.1f}{max(seconds):>14.1f}{length:>26.0f}")
        for pair, finding, judgement in answers:
            if judgement in ("missed", "false alarm"):
                details.append(f"{tool}, {judgement}: {pair.case.name} {pair.names} {finding.arguments or ''}"[:200])
    return [*lines, "", *details]


def _write_modules(pair: Pair, folder: Path) -> None:
    (folder / "common.py").write_text(pair.case.module)
    for side, name in zip(("left", "right"), pair.names, strict=True):
        (folder / f"{side}.py").write_text(wrapped(pair.case, name))


def _run(command: list[str], folder: Path) -> tuple[str, float]:
    binaries = environment()
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    variables |= {"PATH": f"{binaries}{os.pathsep}{variables['PATH']}", "PYTHONPATH": str(folder)}
    command = [str(binaries / "python"), "-m", *command] if command[0] == "crosshair" else command
    command = [str(binaries / command[0]), *command[1:]] if command[0] in ("hypothesis", "python") else command
    ended = run(command, cwd=folder, limit=LIMIT, env=variables)
    return ended.stdout, ended.cpu
