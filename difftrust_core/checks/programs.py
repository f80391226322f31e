"""The distinct programs among the candidates of a check, and what they do on inputs."""

import ast
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from difftrust_core.base.records import Candidate, Kind, Outcome, Program
from difftrust_core.base.task import Task
from difftrust_core.languages.language import Language, language_of, program_id
from difftrust_core.sandbox.host import ProgramRun, Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable, line_of
from difftrust_core.sandbox.runner import Runner, runner_for

_OTHERS = 2
"""Texts of a program that are at hand beside the shortest, should that one not load."""
_IDLE = 1.0
"""Seconds without computing, after which a program that answers nothing is not run again."""
_SKIPPED: Outcome = (Kind.SKIPPED, "")
_TIMEOUT: Outcome = (Kind.TIMEOUT, "")
_COMMON = frozenset(("numpy", "pandas", "polars"))
_IMPORTED = re.compile(r"^\s*(?:import|from)\s+([\w.]+)", re.MULTILINE)
_ALWAYS = ("inspect",)
"""What builds a user's own values needs it."""


def distinct_programs(
    candidates: Sequence[Candidate], language: Language, *, by_text: bool = False
) -> tuple[list[Program], dict[str, list[str]]]:
    """Return the distinct programs in the order of their first candidate, and whose each is, by tree.

    ``by_text``: only equal texts are one program: messages that count may quote any name.
    """
    codes: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    single = Counter(candidate.model for candidate in candidates)
    for candidate in candidates:
        tree = program_id(candidate.code) if by_text else language.tree_id(candidate.code)
        codes.setdefault(tree, []).append(candidate.code)
        name = candidate.model if single[candidate.model] == 1 else f"{candidate.model} #{candidate.sample_index}"
        names.setdefault(tree, []).append(name)
    programs = []
    for tree, texts in codes.items():
        code, *others = sorted(set(texts), key=lambda text: (len(text), text))
        programs.append(Program(tree_id=tree, code=code, n_candidates=len(texts), others=tuple(others[:_OTHERS])))
    return programs, names


def subject_of(candidates: Sequence[Candidate]) -> str:
    """Return whose error a check is about: the model of the candidates, or the mixture of their models."""
    counts = Counter(candidate.model for candidate in candidates)
    if len(counts) == 1:
        return next(iter(counts))
    shares = ", ".join(f"{count} of {model}" for model, count in counts.items())
    return f"the mixture of {len(counts)} models ({shares})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ran:
    """What programs did on inputs: ``rows[i][p]`` is the outcome of program p on input i."""

    rows: list[tuple[Outcome, ...]]
    runs: list[ProgramRun]

    @property
    def disturbed(self) -> bool:
        """Whether one of them hung or crashed."""
        return any(run.restarts for run in self.runs)


class Executor:
    """Runs programs of one task in the sandbox."""

    def __init__(self, task: Task, sandbox: Sandbox, programs: Sequence[Program] = ()):
        self.task, self._sandbox, self._language = task, sandbox, language_of(task)
        self._others = {program.code: program.others for program in programs}
        self._hung: dict[str, Outcome] = {}
        """Programs that answered nothing until they were given up, and what they did: they are not run again."""
        self._suspects: set[str] = set()
        self._preamble = self._language.preamble(task)

    def run(self, codes: Sequence[str], inputs: Sequence[str], *, entry_point: str = "") -> Ran:
        """Return what each of the programs does on each input."""
        if not codes or not inputs:
            return Ran(rows=[() for _ in inputs], runs=[])
        table = OutcomeTable.empty(len(inputs))
        self._sandbox.load(self._preamble, inputs, table)
        name = entry_point or self.task.entry_point
        runs = [self._run(code, name, table, is_whole=bool(entry_point)) for code in codes]
        ids = [run.outcome_ids.tolist() for run in runs]
        return Ran(rows=[tuple([row[i] for i in of]) for row, *of in zip(table.rows, *ids, strict=True)], runs=runs)

    def _run(self, code: str, name: str, table: OutcomeTable, *, is_whole: bool) -> ProgramRun:
        texts = (code, *self._others.get(code, ()))
        source, *others = texts if is_whole else [self._language.source(self.task, text) for text in texts]
        n = len(table.rows)
        if source in self._hung:
            return ProgramRun(outcome_ids=table.ids_of([line_of(self._hung[source])] * n))
        run = self._sandbox.run(source, name, others)
        waited = run.wall - run.cpu > _IDLE
        if run.restarts or waited:
            did = {row[i] for row, i in zip(table.rows, run.outcome_ids.tolist(), strict=True)}
            if did == {_TIMEOUT, _SKIPPED} and (waited or source in self._suspects):
                self._hung[source] = _SKIPPED
            elif did == {_TIMEOUT, _SKIPPED}:
                self._suspects.add(source)  # on other inputs it may answer
            elif waited and len(did) == 1 and next(iter(did))[0] == Kind.LOAD_ERROR:
                self._hung[source] = next(iter(did))
        return run


def imported_packages(code: str) -> dict[str, int]:
    """Return the packages that a program imports beyond the standard library, each with the line of the first time."""
    found: dict[str, int] = {}
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in (name.partition(".")[0] for name in names):
            if name not in sys.stdlib_module_names:
                found[name] = min(found.get(name, sys.maxsize), getattr(node, "lineno", 1))
    return found


def why_not_loaded(code: str, said: str, *, entry_point: str, libraries: Collection[str]) -> str:
    """Return why a program does not load: name, line, module, and what would mend it. ``said``: by the sandbox."""
    kind, _, detail = said.partition(": ")
    if kind in ("SyntaxError", "IndentationError", "TabError"):
        return _syntax_error(code) or said
    if kind in ("ModuleNotFoundError", "ImportError"):
        missing = {name: line for name, line in imported_packages(code).items() if name not in libraries}
        for name, line in missing.items():
            if not detail or name in detail:
                return f"line {line}: {kind}: {name}; --allow-import {name} allows it"
    if kind == "NameMissing":
        return f"it defines no {entry_point}"
    if kind == "timeout":
        return "it takes more than 2 seconds of CPU time, or 3 of waiting, to load"
    return said


def _syntax_error(code: str) -> str:
    try:
        _ = ast.parse(code)
    except SyntaxError as e:
        return f"line {e.lineno}: {type(e).__name__}: {e.msg}"
    except (ValueError, RecursionError, MemoryError) as e:
        return f"{type(e).__name__}: {e}"
    return ""


def lacks_package(code: str, said: str) -> bool:
    """Tell whether a program does not load since it imports a package that is not there. ``said``: by the sandbox."""
    return said.partition(": ")[0] in ("ModuleNotFoundError", "ImportError") and bool(imported_packages(code))


def runner_of(task: Task, codes: Sequence[str], libraries: Sequence[str], *, messages: bool) -> Runner:
    """Return what runs the programs of a task inside the sandbox; what they import is loaded there once.

    Packages that candidates commonly import are left out where they are not installed. Raises WrongUsage for another
    that is missing.
    """
    language = language_of(task)
    if language.name != "python":
        return language.runner
    there = [name for name in libraries if name not in _COMMON or importlib.util.find_spec(name) is not None]
    preload = _IMPORTED.findall("\n".join((language.preamble(task), *codes)))
    return runner_for(there, messages=messages, preload=[*preload, *_ALWAYS])
