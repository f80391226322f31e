"""The distinct programs of a check or a comparison, what they do on inputs, and the smallest on which they do it."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from difftrust.check.call_runner import NOTED, installed, runner_for
from difftrust.check.options import RunOptions
from difftrust.search.shrink import Shrunk, shrink_shown
from difftrust.source.package import ALONE, Package
from difftrust.text import by_length
from difftrust_core.base.records import Candidate, Kind, Outcome, Program
from difftrust_core.base.task import Task
from difftrust_core.languages.language import Language, program_id
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import OutcomeTable, ProgramRun, Sandbox, line_of

_IDLE = 1.0
"""Seconds without computing, after which a program that answers nothing is not run again."""
_SKIPPED: Outcome = (Kind.SKIPPED, "")
_TIMEOUT: Outcome = (Kind.TIMEOUT, "")
_CALL, _REPEAT, _LOAD = 2.0, 0.5, 3.0
"""Seconds that somebody waits for a program that waits itself; computing is limited by CPU time."""
_MOST_CPU = 8.0
"""Seconds of CPU time for each thousand calls: work on data frames takes up to two, more on a slower machine."""
_IMPORTED = re.compile(r"^\s*(?:import|from)\s+([\w.]+)", re.MULTILINE)
_ALWAYS = ("inspect",)
"""What builds a user's own values needs it."""


def distinct_programs(
    candidates: Sequence[Candidate], language: Language, *, by_text: bool
) -> tuple[list[Program], list[tuple[str, ...]]]:
    """Return the distinct programs in the order of their first candidate, and the names of each one's candidates.

    ``by_text``: only equal texts are one program: messages that count may quote any name.
    """
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        tree = program_id(candidate.code) if by_text else language.tree_id(candidate.code)
        found.setdefault(tree, []).append(candidate)
    count = Counter(candidate.model for candidate in candidates)
    programs, names = [], []
    for tree, own in found.items():
        code = min((c.code for c in own), key=by_length)
        programs.append(Program(tree_id=tree, code=code, n_candidates=len(own)))
        names.append(tuple(c.model if count[c.model] == 1 else f"{c.model} #{c.sample_index}" for c in own))
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

    def __init__(self, task: Task, sandbox: Sandbox, package: Package = ALONE):
        """``package``: what the programs have around them."""
        self.task, self._sandbox, self._language = task, sandbox, language_of(task)
        self._hung: dict[str, Outcome] = {}
        """Programs that answered nothing until they were given up, and what they did: they are not run again."""
        self._suspects: set[str] = set()
        self._preamble = package.around(self._language.preamble(task))

    def run(self, codes: Sequence[str], inputs: Sequence[str], *, entry_point: str = "", is_noted: bool = False) -> Ran:
        """Return what each of the programs does on each input; ``is_noted``: what it compares there."""
        if not codes or not inputs:
            return Ran(rows=[() for _ in inputs], runs=[])
        table = OutcomeTable.empty(len(inputs))
        self._sandbox.load(self._preamble, inputs, table)
        name = NOTED * is_noted + (entry_point or self.task.entry_point)
        runs = [self._run(code, name, table, is_whole=bool(entry_point)) for code in codes]
        ids = [run.outcome_ids.tolist() for run in runs]
        return Ran(rows=[tuple([row[i] for i in of]) for row, *of in zip(table.rows, *ids, strict=True)], runs=runs)

    def _run(self, code: str, name: str, table: OutcomeTable, *, is_whole: bool) -> ProgramRun:
        source = code if is_whole else self._language.source(self.task, code)
        n = len(table.rows)
        if source in self._hung:
            return ProgramRun(outcome_ids=table.ids_of([line_of(self._hung[source])] * n))
        run = self._sandbox.run(source, name)
        if name.startswith(NOTED):
            return run
        waited = run.wall - run.cpu > _IDLE
        if run.restarts or waited:
            did = {row[i] for row, i in zip(table.rows, run.outcome_ids.tolist(), strict=True)}
            if did == {_TIMEOUT, _SKIPPED} and source in self._suspects:
                self._hung[source] = _SKIPPED
            elif did == {_TIMEOUT, _SKIPPED}:
                self._suspects.add(source)  # on other inputs it may answer
            elif waited and len(did) == 1 and next(iter(did))[0] == Kind.LOAD_ERROR:
                self._hung[source] = next(iter(did))
        return run


Shows = Callable[..., bool | None]
"""Whether the outcomes of the programs, one argument each, show what is to be kept; None where that is not known."""
Keeps = Callable[[Sequence[str]], list[bool]]
_STARTS = 5
"""So many inputs are tried as a start, shortest first: one may disagree by chance alone."""
_MOST_CALLS, _ROUND = 6_000, 60
"""Of programs, that this may take, a round at least so many; what is left untried then is not known to agree."""


class Duel:
    """Programs of one task, and what of them is to be seen on an input that ``keeps`` lets pass.

    Nothing more is found out once they were called so often: no input shown hangs on the speed of the machine.
    """

    def __init__(self, executor: Executor, codes: Sequence[str], shows: Shows, keeps: Keeps):
        self._executor, self._codes, self._shows, self._keeps = executor, codes, shows, keeps
        self._left = _MOST_CALLS

    def outcomes(self, arguments: str) -> tuple[Outcome, Outcome]:
        """Return what the first two do on one input."""
        one, other = self._executor.run(self._codes[:2], [arguments]).rows[0]
        return one, other

    def show(self, inputs: Sequence[str]) -> list[bool | None]:
        """Return on which inputs it is seen; None where that was not found out with the calls there are."""
        tried = inputs[: max(self._left // len(self._codes), 0)]
        self._left -= max(len(tried) * len(self._codes), _ROUND)
        ran = self._executor.run(self._codes, tried)
        found = [None if any(kind == Kind.SKIPPED for kind, _ in row) else self._shows(*row) for row in ran.rows]
        seen = [i for i, shown in enumerate(found) if shown]
        if seen:
            for i, kept in zip(seen, self._keeps([inputs[i] for i in seen]), strict=True):
                found[i] = kept
        return [*found, *[None] * (len(inputs) - len(tried))]

    def smallest(self, starts: Sequence[str], known: Sequence[str], accepts: Callable[[str], bool]) -> Shrunk | None:
        """Return the smallest input found on which it is seen; None if on none it is when it is tried again.

        ``starts``: inputs on which it was seen. ``known``: small ones that may do as well.
        """
        task, few = self._executor.task, sorted([*sorted(starts, key=by_length)[:_STARTS], *known], key=by_length)
        return shrink_shown(few, self.show, language_of(task).around(task), accepts=accepts)


def imported_packages(code: str) -> dict[str, int]:
    """Return the packages that a program imports beyond the standard library, each with the line of the first time."""
    tree, lines = parsed(code), dict[str, list[int]]()
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                names = [module]
            case _:
                continue
        for name in names:
            lines.setdefault(name.partition(".")[0], []).append(node.lineno)
    return {name: min(of) for name, of in lines.items() if name not in sys.stdlib_module_names}


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


def open_sandbox(task: Task, codes: Sequence[str], libraries: Sequence[str], options: RunOptions) -> Sandbox:
    """Return a sandbox for the programs of a task; what they import is loaded there once.

    pandas, which need not be there, is left out where it is not installed. Raises WrongUsage for another package.
    """
    language = language_of(task)
    runner = language.runner
    if language.name == "python":
        there = [name for name in libraries if name != "pandas" or installed(name)]
        preload = _IMPORTED.findall("\n".join((language.preamble(task), *codes)))
        runner = runner_for(there, messages=options.messages, preload=[*preload, *_ALWAYS])
    limits = replace(language.limits, call_wall=_CALL, repeat_wall=_REPEAT, load_wall=_LOAD)
    limits = replace(limits, program_cpu=max(limits.program_cpu, _MOST_CPU))
    return Sandbox(limits, runner=runner, allow_weak=options.allow_weak, wait=False)
