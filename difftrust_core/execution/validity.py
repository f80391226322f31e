"""Decide which inputs of a task are kept: drawn until the reference, or a quorum of the candidates, accepts them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.literals import read_literal, tuple_text
from difftrust_core.base.records import Kind, Outcome, Program, Validity
from difftrust_core.base.task import Task
from difftrust_core.execution.answers import inputs_of_tests
from difftrust_core.execution.distinct import Drawn, Redraws
from difftrust_core.execution.plan import ChunkJob
from difftrust_core.languages.language import MAX_ATTEMPTS, Draw, key_of, language_of
from difftrust_core.sandbox.host import ProgramRun, Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable
from difftrust_core.store.store import REFERENCE


@dataclass(frozen=True, kw_only=True, eq=False)
class Verdict:
    """``valid``: which inputs are; ``cpu``: seconds of the slowest program; ``disturbed``: one hung or crashed."""

    valid: NDArray[np.bool_]
    cpu: float = 0.0
    disturbed: bool = False


_ALL_VALID = Verdict(valid=np.array(True))


class Jury:
    """Programs that judge inputs: one is valid if at least half of the candidates that load return a value on it.

    Programs that do not load are dropped first and do not count. Without ``programs`` every input is valid.
    ``dismisses``: for which kinds of outcome a program is not run again: LOAD_ERROR; and SKIPPED, given up for its
    timeouts, which still counts and rejects every input from then on.
    """

    def __init__(
        self,
        task: Task,
        programs: Sequence[Program],
        sandbox: Sandbox,
        *,
        dismisses: Collection[Kind] = (Kind.LOAD_ERROR, Kind.SKIPPED),
    ):
        self._task, self._sandbox, self._language = task, sandbox, language_of(task)
        self._voters, self._dismisses = list(programs), dismisses
        self._n_candidates = sum(program.n_candidates for program in programs)
        self.cpu = 0.0
        """CPU seconds of the slowest program so far."""

    def valid(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of the inputs are valid."""
        return self.judge(inputs).valid

    def judge(self, inputs: Sequence[str]) -> Verdict:
        """Run the programs on the inputs and count."""
        votes, slowest, restarts = np.zeros(len(inputs)), 0.0, 0
        if self._voters and inputs:
            table = OutcomeTable.empty(len(inputs))
            self._sandbox.load(self._language.preamble(self._task), inputs, table)
            for program in tuple(self._voters):
                run = run_program(self._sandbox, self._task, program)
                slowest, restarts = max(slowest, run.cpu), restarts + run.restarts
                kinds = np.array([table.rows[i][code][0] for i, code in enumerate(run.outcome_ids.tolist())])
                votes += program.n_candidates * (kinds == Kind.VALUE)
                self._dismiss(program, kinds)
        self.cpu += slowest
        return Verdict(valid=2 * votes >= self._n_candidates, cpu=slowest, disturbed=restarts > 0)

    def _dismiss(self, program: Program, kinds: NDArray[np.int64]) -> None:
        if Kind.LOAD_ERROR in self._dismisses and (kinds == Kind.LOAD_ERROR).all():
            self._n_candidates -= program.n_candidates
            self._voters.remove(program)
        elif Kind.SKIPPED in self._dismisses and (kinds == Kind.SKIPPED).any():
            self._voters.remove(program)


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


class DomainDraws(Draws):
    """Inputs inside a task's domain: seed inputs mutated in steps that keep the types, or the domain's own generator.

    Raises BadTask, saying what to mend, if the task has no domain, or one that holds none of its seed inputs, does not
    load, does not end or changes its arguments.
    """

    def __init__(self, task: Task, sandbox: Sandbox, *, seed: int):
        found = language_of(task).domain(task)
        if found is None:
            raise task.refusal("it has no domain; give it one, or choose another validity policy")
        self.is_unchecked = False
        self._task, self._sandbox, self._seed, self._domain = task, sandbox, seed, found
        self._preamble = language_of(task).preamble(task)
        self.seeds = self._seeds_inside()
        """The seed inputs that lie inside."""
        self._mutated = found.draw([read_literal(text) for text in self.seeds], seed)

    def draw(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return the input of each (position, attempt); empty where the generator gave none that fits the types."""
        if not self._domain.generator or all(attempt == MAX_ATTEMPTS for _, attempt in places):
            return [self._mutated(position, attempt) for position, attempt in places]
        keys = [key_of(self._task.task_id, seed=self._seed, position=p, attempt=attempt) for p, attempt in places]
        outcomes = self._run(self._domain.generator, "draw", [f"({key},)" for key in keys])
        self._refuse_what_hangs(outcomes, "generate")
        texts = [tuple_text(text) if kind == Kind.VALUE else None for kind, text in outcomes]
        return [text if text is not None and self._domain.fits(text) else "" for text in texts]

    def judge(self, inputs: Sequence[str]) -> Verdict:
        """Tell which inputs lie inside; they fit the types, unless they are empty."""
        valid = np.array([bool(text) for text in inputs])
        if self._domain.predicate and valid.any():
            outcomes = self._run(self._domain.predicate, "inside", [text for text in inputs if text])
            self._refuse_what_hangs(outcomes, "requires")
            valid[valid] = [kind == Kind.VALUE for kind, _ in outcomes]
        return Verdict(valid=valid)

    def inside(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which argument tuples lie inside; one on which the predicate takes too long does not."""
        valid = np.array([self._domain.fits(text) for text in inputs], dtype=bool)
        if valid.any():
            valid[valid] = self.holds([text for text, fits in zip(inputs, valid.tolist(), strict=True) if fits])
        return valid

    def holds(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Tell on which argument tuples the predicate holds, whatever their types; not where it takes too long."""
        if not self._domain.predicate:
            return np.ones(len(inputs), dtype=bool)
        return np.array([kind == Kind.VALUE for kind, _ in self._run(self._domain.predicate, "inside", inputs)])

    def _seeds_inside(self) -> list[str]:
        fitting = [text for text in self._task.seed_inputs if self._domain.fits(text)]
        inside, why = fitting, "they do not fit its types"
        if fitting and self._domain.predicate:
            outcomes = self._run(self._domain.predicate, "inside_and_kept", fitting)
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

    def _run(self, program: str, name: str, inputs: Sequence[str]) -> list[Outcome]:
        table = OutcomeTable.empty(len(inputs))
        self._sandbox.load(self._preamble, inputs, table)
        run = self._sandbox.run(program, name)
        return [table.rows[i][code] for i, code in enumerate(run.outcome_ids.tolist())]

    def _refuse_what_hangs(self, outcomes: Sequence[Outcome], name: str) -> None:
        for kind, text in outcomes:
            if kind == Kind.LOAD_ERROR:
                raise self._task.refusal(f"`{name}` of its domain does not load ({text}); mend it")
            if kind not in (Kind.VALUE, Kind.EXCEPTION, Kind.UNSUPPORTED):
                raise self._task.refusal(f"`{name}` of its domain does not end well on an input ({kind.name.lower()})")


def run_program(sandbox: Sandbox, task: Task, program: Program) -> ProgramRun:
    """Run a program of a task on the inputs that ``sandbox`` has loaded: the first of its texts that loads."""
    source, *others = (language_of(task).source(task, code) for code in (program.code, *program.others))
    return sandbox.run(source, task.entry_point, others)


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
        chosen = np.where(valid.any(axis=0), valid.argmax(axis=0), len(tried) - 1)
        for place, (i, which) in enumerate(zip(pending.tolist(), chosen.tolist(), strict=True)):
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
    draws = DomainDraws(task, sandbox, seed=0)
    outside = {text for text, holds in zip(asked, draws.holds(asked).tolist(), strict=True) if not holds}
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
        return Jury(job.task, (reference,), sandbox, dismisses=())
    return Jury(job.task, job.jury, sandbox, dismisses=(Kind.LOAD_ERROR,))
