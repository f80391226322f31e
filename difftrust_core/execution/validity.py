"""Decide which inputs of a task are kept: drawn until the reference, or a quorum of the candidates, accepts them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.literals import read_literal, tuple_text
from difftrust_core.base.records import Kind, Outcome, Program, Validity
from difftrust_core.base.task import Task
from difftrust_core.execution.answers import inputs_of_tests
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.languages.language import MAX_ATTEMPTS, Draw, key_of
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import OutcomeTable, ProgramRun, Sandbox
from difftrust_core.store.store import REFERENCE

PATIENCE: Final = 10
"""After so many positions in a row that brought no new input, a position is drawn once, until one is new: the domain
is exhausted, or what drawing reaches of it. The first of them were drawn MAX_ATTEMPTS times."""
_AHEAD: Final = 64
"""So many positions that repeat an earlier one are drawn and judged at a time: the sandbox is asked less often."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The inputs of some positions and what they took: lists with an element each."""

    texts: list[str]
    attempts: list[int]
    """How often it was drawn; MAX_ATTEMPTS + 1 where an unchanged seed input stands for want of a valid draw."""
    repeats: list[int]
    """How many of these draws were valid and not kept, for they stand at an earlier position or are what repeats."""


class Redraws:
    """Further draws of positions that repeat an earlier one, made and judged when they are first needed.

    Random mutation meets the same input again and again where a domain is small, and an input that is there twice shows
    nothing new. So a position whose first valid draw already stands at an earlier position is drawn further, up to
    MAX_ATTEMPTS draws in all, until it brings an input that does not. If none does, the first one stays: it repeats.
    What stands at a position depends on the positions before it alone. So the first n inputs are the same however many
    follow, and in whatever chunks they are executed.

    ``draw`` returns the input of each (position, attempt); attempts above MAX_ATTEMPTS are further draws.
    ``judge`` tells which inputs are valid; it is asked once about each.
    """

    def __init__(
        self,
        first: Drawn,
        draw: Callable[[Sequence[tuple[int, int]]], list[str]],
        judge: Callable[[Sequence[str]], Sequence[bool]],
    ):
        self._first, self._draw, self._judge = first, draw, judge
        self._further: list[list[str]] = [[] for _ in first.texts]
        self._is_valid = {
            text: n <= MAX_ATTEMPTS for text, n in zip(first.texts, first.attempts, strict=True) if n <= MAX_ATTEMPTS
        }

    def distinct(self) -> Drawn:
        """Return the inputs with those that repeat an earlier one drawn again."""
        kept = Drawn(**{name: list(values) for name, values in vars(self._first).items()})
        seen: set[str] = set()
        idle = 0
        for position, text in enumerate(self._first.texts):
            if text in seen and idle < PATIENCE and kept.attempts[position] < MAX_ATTEMPTS:
                self._replace(position, kept, seen)
            idle = idle + 1 if kept.texts[position] in seen else 0
            seen.add(kept.texts[position])
        return kept

    def _replace(self, position: int, kept: Drawn, seen: set[str]) -> None:
        """Put the first further draw of a position there that is valid and not ``seen``, and count what it took."""
        place = 0
        while kept.attempts[position] < MAX_ATTEMPTS:
            if place == len(self._further[position]):
                self._look_ahead(position, seen)
            text = self._further[position][place]
            place += 1
            kept.attempts[position] += 1
            kept.repeats[position] += self._is_valid[text]
            if self._is_valid[text] and text not in seen:
                kept.texts[position] = text
                return

    def _look_ahead(self, position: int, seen: set[str]) -> None:
        """Draw a position further, and with it the next ones that will have to be, as it seems now."""
        there, chosen = set(seen), [position]
        for later in range(position + 1, len(self._first.texts)):
            if len(chosen) == _AHEAD:
                break
            offered = [self._first.texts[later], *(t for t in self._further[later] if self._is_valid[t])]
            new = next((text for text in offered if text not in there), None)
            if new is None and self._left(later):
                chosen.append(later)
            elif new is not None:
                there.add(new)
        places = [(p, a) for p in chosen for a in self._next_attempts(p)]
        texts = self._draw(places)
        unknown = [text for text in dict.fromkeys(texts) if text not in self._is_valid]
        self._is_valid |= dict(zip(unknown, self._judge(unknown), strict=True)) if unknown else {}
        for (p, _), text in zip(places, texts, strict=True):
            self._further[p].append(text)

    def _left(self, position: int) -> int:
        """Return how often a position may still be drawn."""
        return max(0, MAX_ATTEMPTS - self._first.attempts[position] - len(self._further[position]))

    def _next_attempts(self, position: int) -> range:
        """Return the next attempts of a position, each time twice as many; they are numbered above MAX_ATTEMPTS."""
        done = len(self._further[position])
        start = MAX_ATTEMPTS + self._first.attempts[position] + done
        return range(start, start + min(max(1, done), self._left(position)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Verdict:
    """``valid``: which inputs are; ``cpu``: seconds of the slowest program; ``disturbed``: one hung or crashed."""

    valid: NDArray[np.bool_]
    cpu: float = 0.0
    disturbed: bool = False


_ALL_VALID = Verdict(valid=np.array(True))


class Jury:
    """Programs that judge inputs: one is valid if at least half of the candidates return a value on it.

    With ``must_load`` programs that do not load are dropped first and do not count. Without ``programs`` every input
    is valid.
    """

    def __init__(self, task: Task, programs: Sequence[Program], sandbox: Sandbox, *, must_load: bool = True):
        self._task, self._sandbox, self._voters, self._must_load = task, sandbox, list(programs), must_load

    def judge(self, inputs: Sequence[str]) -> Verdict:
        """Run the programs on the inputs and count."""
        votes, slowest, restarts = np.zeros(len(inputs)), 0.0, 0
        if self._voters and inputs:
            table = OutcomeTable.empty(len(inputs))
            self._sandbox.load(language_of(self._task).preamble(self._task), inputs, table)
            for program in tuple(self._voters):
                run = run_program(self._sandbox, self._task, program)
                slowest, restarts = max(slowest, run.cpu), restarts + run.restarts
                kinds = np.array([kind for kind, _ in table.chosen(run.outcome_ids)])
                votes += program.n_candidates * (kinds == Kind.VALUE)
                if self._must_load and (kinds == Kind.LOAD_ERROR).all():
                    self._voters.remove(program)
        n_candidates = sum(program.n_candidates for program in self._voters)
        return Verdict(valid=2 * votes >= n_candidates, cpu=slowest, disturbed=restarts > 0)


class Draws:
    """Where the inputs of a task come from, and which of them are valid, by the validity policy.

    ``reference`` keeps what the reference returns a value on (as published), ``quorum`` what at least half of the
    candidates that load do, ``domain`` what lies inside the task's domain, ``all`` everything; ``tests`` draws none:
    the inputs of the task's tests (``_tests_inside``), or its seed inputs where it has none, stand as they are.
    """

    def __init__(self, job: ChunkJob, sandbox: Sandbox):
        self.is_unchecked = job.settings.validity in (Validity.ALL, Validity.TESTS)
        if job.settings.validity == Validity.TESTS:
            tests = _tests_inside(job.task, sandbox)
            self._draw: Draw = lambda position, attempt: tests[position % len(tests)]
        else:
            self._draw = language_of(job.task).fuzz(job.task, job.settings.seed)
        self._jury = jury_of(job, sandbox)

    def draw(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return the input of each (position, attempt)."""
        return [self._draw(position, attempt) for position, attempt in places]

    def judge(self, inputs: Sequence[str]) -> Verdict:
        """Tell which inputs are valid."""
        return self._jury.judge(inputs)


class DomainTest:
    """What a task allows, if anybody has said so (``domain``); its programs run in ``sandbox``."""

    def __init__(self, task: Task, sandbox: Sandbox):
        self.domain = language_of(task).domain(task)
        self._preamble, self._sandbox = language_of(task).preamble(task), sandbox

    def run(self, program: str, name: str, inputs: Sequence[str]) -> list[Outcome]:
        """Return what a program of the domain does on each input."""
        return self._sandbox.outcomes(self._preamble, inputs, program, name)[0]

    def holds(self, inputs: Sequence[str]) -> list[bool]:
        """Tell on which argument tuples the predicate holds, whatever their types; not where it takes too long."""
        if self.domain is None or not self.domain.predicate or not inputs:
            return [True] * len(inputs)
        return [kind == Kind.VALUE for kind, _ in self.run(self.domain.predicate, "inside", inputs)]


class DomainDraws(Draws):
    """Inputs inside a task's domain: seed inputs mutated in steps that keep the types, or the domain's own generator.

    Raises BadTask, saying what to mend, if the task has no domain, or one that holds none of its seed inputs, does not
    load, does not end or changes its arguments.
    """

    def __init__(self, task: Task, sandbox: Sandbox, *, seed: int):
        self.test = DomainTest(task, sandbox)
        if self.test.domain is None:
            raise task.refusal("it has no domain; give it one, or choose another validity policy")
        self.is_unchecked = False
        self._task, self._seed, self._domain = task, seed, self.test.domain
        self.seeds = self._seeds_inside()
        """The seed inputs that lie inside."""
        self._mutated = self._domain.draw([read_literal(text) for text in self.seeds], seed)

    def draw(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return the input of each (position, attempt); empty where the generator gave none that fits the types."""
        if not self._domain.generator or all(attempt == MAX_ATTEMPTS for _, attempt in places):
            return [self._mutated(position, attempt) for position, attempt in places]
        keys = [key_of(self._task.task_id, seed=self._seed, position=p, attempt=attempt) for p, attempt in places]
        outcomes = self.test.run(self._domain.generator, "draw", [f"({key},)" for key in keys])
        self._refuse_what_hangs(outcomes, "generate")
        texts = [tuple_text(text) if kind == Kind.VALUE else None for kind, text in outcomes]
        return [text if text is not None and self._domain.fits(text) else "" for text in texts]

    def judge(self, inputs: Sequence[str]) -> Verdict:
        """Tell which inputs lie inside; they fit the types, unless they are empty."""
        valid = np.array([bool(text) for text in inputs])
        if self._domain.predicate and valid.any():
            outcomes = self.test.run(self._domain.predicate, "inside", [text for text in inputs if text])
            self._refuse_what_hangs(outcomes, "requires")
            valid[valid] = [kind == Kind.VALUE for kind, _ in outcomes]
        return Verdict(valid=valid)

    def _seeds_inside(self) -> list[str]:
        fitting = [text for text in self._task.seed_inputs if self._domain.fits(text)]
        inside, why = fitting, "they do not fit its types"
        if fitting and self._domain.predicate:
            outcomes = self.test.run(self._domain.predicate, "inside_and_kept", fitting)
            self._refuse_what_hangs(outcomes, "requires")
            if (Kind.EXCEPTION, "ChangesItsArguments") in outcomes:
                raise self._task.refusal("`requires` of its domain changes its arguments; let it work on a copy")
            inside = [text for text, (kind, _) in zip(fitting, outcomes, strict=True) if kind == Kind.VALUE]
            raised = sorted({text for kind, text in outcomes if kind != Kind.VALUE})
            why = f"`requires` ends with {', '.join(raised) or 'False'}".replace("OutsideTheDomain", "False")
        if not inside:
            shown = f"none of its {len(self._task.seed_inputs)} seed inputs lies inside its domain ({why})"
            raise self._task.refusal(f"{shown}; widen the domain or mend it")
        return inside

    def _refuse_what_hangs(self, outcomes: Sequence[Outcome], name: str) -> None:
        for kind, text in outcomes:
            if kind == Kind.LOAD_ERROR:
                raise self._task.refusal(f"`{name}` of its domain does not load ({text}); mend it")
            if kind not in (Kind.VALUE, Kind.EXCEPTION, Kind.UNSUPPORTED):
                raise self._task.refusal(f"`{name}` of its domain does not end well on an input ({kind.name.lower()})")


def run_program(sandbox: Sandbox, task: Task, program: Program) -> ProgramRun:
    """Run a program of a task on the inputs that ``sandbox`` has loaded: once."""
    return sandbox.run(language_of(task).source(task, program.code), task.entry_point)


def sample_valid_inputs(job: ChunkJob, sandbox: Sandbox) -> Drawn:
    """Return the chunk's inputs and how many draws each took, by the store's validity policy (``Draws``).

    After 100 draws, or a program's whole CPU time, an unchanged seed input is taken, unchecked (its attempts are
    then 101). Inside a domain, inputs that repeat an earlier one are drawn again (``Redraws``); so the inputs before
    the chunk are drawn once more.
    """
    if job.settings.validity != Validity.DOMAIN or job.task.domain is None:
        return _first_valid(job, Draws(job, sandbox))
    draws = DomainDraws(job.task, sandbox, seed=job.settings.seed)
    first = _first_valid(replace(job, start=0), draws)
    every = Redraws(first, draws.draw, lambda texts: draws.judge(texts).valid.tolist()).distinct()
    return Drawn(**{name: values[job.start :] for name, values in vars(every).items()})


def _first_valid(job: ChunkJob, draws: Draws) -> Drawn:
    """Return the first valid draw of each position."""
    n, texts, attempts = job.n, [""] * job.n, [0] * job.n
    pending: NDArray[np.int64] = np.arange(n)
    cpu_left = job.limits.program_cpu * max(1.0, n / 1000)
    attempt, ahead = 0, 1
    while len(pending):
        if cpu_left <= 0:  # a reference that hangs on what is drawn would hang a hundred times
            attempt = MAX_ATTEMPTS
        unchecked = draws.is_unchecked or attempt == MAX_ATTEMPTS
        tried = range(attempt, attempt + 1 if unchecked else min(attempt + ahead, MAX_ATTEMPTS))
        drawn = draws.draw([(job.start + position, a) for a in tried for position in pending.tolist()])
        verdict = _ALL_VALID if unchecked else draws.judge(drawn)
        if len(tried) > 1 and (verdict.disturbed or verdict.cpu >= cpu_left):
            ahead = 1  # as a program that hangs is judged by what it does first, they are tried one by one
            continue
        valid = np.broadcast_to(verdict.valid, len(drawn)).reshape(len(tried), -1)
        for place, (i, which) in enumerate(zip(pending.tolist(), valid.argmax(axis=0).tolist(), strict=True)):
            texts[i], attempts[i] = drawn[which * len(pending) + place], tried[which] + 1
        cpu_left -= verdict.cpu
        pending = pending[~valid.any(axis=0)]
        attempt = tried.stop
        if not verdict.disturbed and len(pending):
            ahead = max(1, min(2 * ahead, n // len(pending)))  # few are left: several attempts of each at a time
    return Drawn(texts=texts, attempts=attempts, repeats=[0] * n)


def _tests_inside(task: Task, sandbox: Sandbox) -> list[str]:
    """Return the inputs of a task's tests but those without an expected value that its domain's ``requires`` excludes.

    EvalPlus calls such inputs invalid: its contracts are there to leave them out. Raises BadTask if all are.
    """
    texts = inputs_of_tests(task)
    asked = [text for text, test in zip(texts, task.tests, strict=False) if test.expected is None]
    if not asked or task.domain is None or not task.domain.requires.strip():
        return texts
    holding = DomainDraws(task, sandbox, seed=0).test.holds(asked)
    outside = {text for text, holds in zip(asked, holding, strict=True) if not holds}
    inside = [text for text in texts if text not in outside]
    if not inside:
        raise task.refusal("none of its tests lies inside its domain; widen the domain or mend it")
    return inside


def jury_of(job: ChunkJob, sandbox: Sandbox) -> Jury:
    """Return who judges the inputs of a task: its reference, or its candidates.

    Under ``domain`` that is so for a task without one: its reference judges where it has one.
    """
    is_of_domain = job.settings.validity == Validity.DOMAIN and job.task.reference is not None
    if job.settings.validity == Validity.REFERENCE or is_of_domain:
        reference = Program(tree_id=REFERENCE, code=job.task.reference or "")
        return Jury(job.task, (reference,), sandbox, must_load=False)
    return Jury(job.task, job.jury, sandbox)
