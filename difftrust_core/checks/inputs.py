"""The inputs of a check: drawn until the candidates answer on them; each draw that is left out is counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.base.task import Task
from difftrust_core.checks.answers import Answers, builtin_of
from difftrust_core.checks.likely import Expected
from difftrust_core.checks.predicate import Inside
from difftrust_core.checks.programs import Executor, Ran
from difftrust_core.checks.report import Suggestion
from difftrust_core.languages.language import MAX_ATTEMPTS, language_of
from difftrust_core.sandbox.host import ProgramRun

if TYPE_CHECKING:
    from difftrust_core.languages.python.argument_types import ArgumentTypes

QUORUM, ALL = "quorum", "all"
OUTSIDE, NOT_FITTING = "outside the domain", "outside the types"
EXCLUDED = "by conditions that a model suggests"
_CPU = 2.0
"""CPU seconds, for 1,000 inputs, that the slowest program may take to judge draws."""
_MAX_EXHAUSTIVE = 1000
_MAX_DIFFERING, _MAX_EXCLUDED = 200, 1000
_ENDED = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH)
"""What a program that was ended does on an input; on the next ones it may have had another budget."""
_BATCH, _TRIES = 100, 4


class Draws(Protocol):
    """Where the inputs of a check come from."""

    def __call__(self, position: int, attempt: int) -> str:
        """Return an argument tuple, always the same one for a position and an attempt."""
        ...

    def exhaustive(self) -> list[str] | None:
        """Return all argument tuples that the types allow, where these are few."""
        ...

    def accepts(self, text: str) -> bool:
        """Tell whether an argument tuple fits the types."""
        ...

    @property
    def seeds(self) -> list[str]:
        """The seed inputs that can be favoured."""
        ...

    def favour(self, answered: Sequence[bool]) -> None:
        """Change those seeds more often on which a program returns a value; one flag a seed."""
        ...


class FuzzDraws:
    """The draws of a language's own fuzzing, filtered by what fits the types."""

    def __init__(self, task: Task, accepts: Callable[[str], bool] | None, *, seed: int):
        self._draw = language_of(task).fuzz(task, seed)
        self._accepts = accepts

    def __call__(self, position: int, attempt: int) -> str:
        """Return an argument tuple, always the same one for a position and an attempt."""
        return self._draw(position, attempt)

    def exhaustive(self) -> list[str] | None:
        """Return None: the types are not known."""
        return None

    def accepts(self, text: str) -> bool:
        """Tell whether an argument tuple fits the types."""
        return self._accepts is None or self._accepts(text)

    @property
    def seeds(self) -> list[str]:
        """None: fuzzing changes all seeds alike."""
        return []

    def favour(self, answered: Sequence[bool]) -> None:
        """Do nothing: fuzzing changes all seeds alike."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One draw: why it is left out ("" where it is kept), and what the programs did."""

    text: str
    why: str
    outcomes: tuple[Outcome, ...] = ()
    """Of each program; empty where none was run."""
    differs: bool = False
    """It is left out, but some candidates return a value there and others raise or return another one."""
    doubt: str = ""
    """Why the docstring may not allow it."""
    condition: str = ""
    """The condition for --assume that leaves such inputs out, where one is known."""
    excluded: bool = False
    """It is left out by a condition that a model suggests, not by the task's own."""


class Judge:
    """Decides which draws are kept: those inside the domain that can be built and that enough candidates answer on.

    ``quorum``: at least half of the candidates that load answer, by a value or a documented exception; ``all``: any. A
    program that was given up for its timeouts counts, and answers nothing from then on. Where candidates differ on an
    input that the docstring may not allow (``expected``), it is left out and remembered.
    """

    def __init__(
        self,
        executor: Executor,
        programs: Sequence[Program],
        answers: Answers,
        *,
        validity: str,
        expected: Expected | None = None,
        suggestion: Suggestion | None = None,
    ):
        """``expected``: what the docstring takes for granted. ``suggestion``: conditions of a model."""
        self._executor, self._programs, self._validity = executor, programs, validity
        self.answers, self.suggestion = answers, suggestion
        self._expected = expected or Expected()
        self._n_answered, self._refused = 0, [0] * len(programs)
        self.counts = True
        """Whether refusals are counted: not on inputs that were chosen for what programs do on them."""
        self._inside = Inside(executor)
        self._inside_suggested = Inside(executor, conditions=suggestion.conditions if suggestion else ())
        self._given_up: set[int] = set()
        self.cpu = 0.0
        """CPU seconds of the slowest program so far."""
        self.disturbed = False
        """Whether a program hung or crashed on the last draws."""
        self._ever_disturbed = False
        self._rows: dict[str, tuple[Outcome, ...]] = {}
        self._runs: list[ProgramRun] = []

    def fresh(self) -> "Judge":
        """Return a judge that has given up no program."""
        if not self._given_up:
            return self
        return self._anew(self.suggestion)

    def without_suggestions(self) -> "Judge":
        """Return a judge that leaves nothing out for a condition of a model."""
        return self._anew(None)

    def _anew(self, suggestion: Suggestion | None) -> "Judge":
        made = Judge(
            self._executor,
            self._programs,
            self.answers,
            validity=self._validity,
            expected=self._expected,
            suggestion=suggestion,
        )
        made._n_answered, made._refused = self._n_answered, list(self._refused)
        made.counts = self.counts
        return made

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing will be kept any more, for every program was given up."""
        return self._validity != ALL and len(self._given_up) == len(self._programs)

    def judge(self, texts: Sequence[str]) -> list[Judged]:
        """Return what becomes of each draw."""
        left_out = self._left_out(texts)
        run = [text for text in texts if text not in left_out]
        rows = self._run(run)
        if self.counts:
            self._count_refusals(rows)
        judged = {text: self._judged(text, row) for text, row in zip(run, rows, strict=True)} | left_out
        return [judged[text] for text in texts]

    def _left_out(self, texts: Sequence[str]) -> dict[str, Judged]:
        """Return the draws that a condition leaves out."""
        inside = self._inside(texts)
        found = {text: Judged(text=text, why=OUTSIDE) for text, holds in zip(texts, inside, strict=True) if not holds}
        left = [text for text in texts if text not in found]
        for text, holds in zip(left, self._inside_suggested(left), strict=True):
            if not holds:
                found[text] = Judged(text=text, why=EXCLUDED, excluded=True)
        return found

    def keeps(self, texts: Sequence[str]) -> list[bool]:
        """Return which draws are kept."""
        return [not judged.why for judged in self.judge(texts)]

    def ran(self, texts: Sequence[str]) -> Ran | None:
        """Return what the programs did when they judged these texts.

        None where one of them was not judged, or a program hung or crashed: then they are run anew, all in one go.
        """
        if self._ever_disturbed or not texts or not self._rows.keys() >= set(texts):
            return None
        return Ran(rows=[self._rows[text] for text in texts], runs=self._runs)

    def _run(self, texts: Sequence[str]) -> list[tuple[Outcome, ...]]:
        ran = self._executor.run([p.code for p in self._voting()], texts)
        self.cpu += max((run.cpu for run in ran.runs), default=0.0)
        self.disturbed = ran.disturbed
        self._ever_disturbed = self._ever_disturbed or ran.disturbed
        voting = [i for i in range(len(self._programs)) if i not in self._given_up]
        skipped: Outcome = (Kind.SKIPPED, "")
        rows = []
        for row in ran.rows:
            of = dict(zip(voting, row, strict=True))
            rows.append(tuple(of.get(i, skipped) for i in range(len(self._programs))))
            self._given_up |= {i for i, (kind, _) in of.items() if kind == Kind.SKIPPED}
        if any(kind in _ENDED for row in rows for kind, _ in row):
            self._ever_disturbed = True
        if texts and not self._ever_disturbed:
            self._rows.update(zip(texts, rows, strict=True))
            self._runs = [one.and_then(other) for one, other in zip(self._runs or ran.runs, ran.runs, strict=True)]
        return rows

    def _voting(self) -> list[Program]:
        return [program for i, program in enumerate(self._programs) if i not in self._given_up]

    def _judged(self, text: str, row: tuple[Outcome, ...]) -> Judged:
        unbuilt = next((said for kind, said in row if kind == Kind.UNSUPPORTED and said.startswith("input: ")), "")
        if unbuilt:
            return Judged(text=text, why=f"not built ({unbuilt.removeprefix('input: ')})")
        if self._validity == ALL:
            return Judged(text=text, why="", outcomes=row)
        loaded = [(p, o) for p, o in zip(self._programs, row, strict=True) if o[0] != Kind.LOAD_ERROR]
        answering = sum(p.n_candidates for p, outcome in loaded if self.answers.is_answer(outcome))
        if 2 * answering >= sum(p.n_candidates for p, _ in loaded):
            return self._doubted(text, row) or Judged(text=text, why="", outcomes=row)
        refusals = sorted({_named(outcome) for _, outcome in loaded if not self.answers.is_answer(outcome)})
        who = "all candidates" if not answering else "most candidates, others return"
        raises = any(o[0] == Kind.EXCEPTION and not self.answers.is_answer(o) for _, o in loaded)
        return Judged(
            text=text, why=f"{' or '.join(refusals)} in {who}", outcomes=row, differs=bool(answering) and raises
        )

    def _count_refusals(self, rows: Sequence[tuple[Outcome, ...]]) -> None:
        """Count what each program raises where some other answers: one that mostly raises is no judge of inputs."""
        for row in rows:
            answering = [self.answers.is_answer(outcome) for outcome in row]
            if any(answering):
                self._n_answered += 1
                self._refused = [n + (not answers) for n, answers in zip(self._refused, answering, strict=True)]

    def _doubted(self, text: str, row: tuple[Outcome, ...]) -> Judged | None:
        """Return why an input on which candidates differ shows nothing for sure; None where it does, or they agree."""
        loaded = [p for p, (kind, _) in enumerate(row) if kind != Kind.LOAD_ERROR]
        if len(loaded) < 2 or len(set(self.answers.classify([row[p] for p in loaded]))) < 2:
            return None
        found = self._expected.broken(text)
        doubt = f"not {found.text}" if found else self._refusal(text, row, loaded)
        if not doubt:
            return None
        condition = found.text if found and found.code else ""
        why = f"on which candidates differ, but {doubt}"
        return Judged(text=text, why=why, outcomes=row, differs=True, doubt=doubt, condition=condition)

    def _refusal(self, text: str, row: tuple[Outcome, ...], loaded: Sequence[int]) -> str:
        for p in loaded:
            kind, name = row[p]
            if kind != Kind.EXCEPTION or self.answers.is_answer(row[p]) or 2 * self._refused[p] > self._n_answered:
                continue
            if why := self._expected.may_refuse(text, builtin_of(name)):
                return why
        return ""


def _named(outcome: Outcome) -> str:
    kind, text = outcome
    if kind == Kind.EXCEPTION:
        return text
    return {Kind.SKIPPED: "timeout", Kind.UNSUPPORTED: f"no plain value ({text})"}.get(kind, kind.name.lower())


@dataclass(kw_only=True)
class Drawn:
    """The inputs of a check, and what became of the draws."""

    inputs: list[str] = field(default_factory=list)
    n_draws: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    n_seeds: int = 0
    """Inputs that are unchanged seeds, since no draw at their position was kept."""
    exhausted: bool = False
    """These are all inputs that the types allow."""
    differing: dict[str, Judged] = field(default_factory=dict)
    """Draws that are left out, but on which some candidates return and others raise."""
    excluded: dict[str, None] = field(default_factory=dict)
    """Draws that only a model's conditions leave out."""

    def count(self, judged: Judged) -> None:
        """Count one draw."""
        self.n_draws += 1
        if judged.why:
            self.left_out[judged.why] += 1
        self.note(judged)

    def note(self, judged: Judged) -> None:
        """Remember a draw on which validation differs, and one that only a model's conditions leave out."""
        if judged.excluded and len(self.excluded) < _MAX_EXCLUDED:
            self.excluded[judged.text] = None
        if judged.differs and len(self.differing) < _MAX_DIFFERING:
            self.differing.setdefault(judged.text, judged)


def draws_of(
    task: Task,
    types: "ArgumentTypes | None",
    codes: Sequence[str],
    *,
    seed: int,
    dictionary: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> Draws:
    """Return where the inputs of a check come from: the types and the seeds, or without types the language's fuzzing.

    ``dictionary``: texts that strings are made of, beside what the programs' ``codes`` and the description hold.
    ``columns``: of frames.
    """
    if types is None or task.language != "python":
        return FuzzDraws(task, types.accepts if types is not None else None, seed=seed)
    from difftrust_core.checks.hints import known_texts, likely_types
    from difftrust_core.checks.usual import asks_for_odd_floats, usual_of
    from difftrust_core.languages.python.dictionary import dictionary_of, quoted
    from difftrust_core.languages.python.drawing import CheckDraws
    from difftrust_core.languages.python.pattern_texts import pattern_texts

    known = known_texts(types, task.description, task.seed_inputs)
    sure = [*pattern_texts(codes, seed=seed), *quoted(task.description)]
    words = [*dictionary_of(codes, task.description), *dictionary]
    usual = usual_of([parameter.name for parameter in types.parameters], task.description, codes)
    likely = likely_types(types, task.seed_inputs, codes)

    def texts(name: str) -> list[str]:
        found = list(known(name))
        return found + sure * (1 + len(found) // len(sure)) if sure else found

    def draws(seeds: Sequence[str]) -> CheckDraws:
        return CheckDraws(
            types,
            seeds,
            task_id=task.task_id,
            seed=seed,
            dictionary=list(dict.fromkeys(words)),
            texts=texts,
            columns=columns,
            usual=usual,
            likely=likely,
            odd_floats=asks_for_odd_floats(task.description, codes),
        )

    first = draws(task.seed_inputs)
    more = [first(position, 0) for position in first.fresh_positions(len(task.seed_inputs))] if sure else []
    return draws([*task.seed_inputs, *more]) if more else first


def favour_answered(draws: Draws, judge: Judge) -> None:
    """Let the seeds on which some candidate returns a value be changed more often than those on which all raise."""
    judged = judge.fresh().judge(draws.seeds)
    draws.favour([any(kind == Kind.VALUE for kind, _ in each.outcomes) for each in judged])


def draw_inputs(task: Task, draws: Draws, judge: Judge, *, n: int) -> Drawn:
    """Return up to n inputs: each position tries up to 100 draws, then takes a seed input that is kept, if one is.

    Where the types allow few argument tuples, all of these.
    """
    everything = draws.exhaustive()
    if everything is not None and len(everything) <= _MAX_EXHAUSTIVE:
        drawn = Drawn(exhausted=True)
        for judged in judge.judge(everything):
            drawn.count(judged)
            drawn.inputs += [] if judged.why else [judged.text]
        return drawn
    drawn = Drawn()
    texts = _Positions(draws, judge, drawn, n).fill()
    missing = [i for i, text in enumerate(texts) if text is None]
    if missing:
        seeds = list(dict.fromkeys(text for text in task.seed_inputs if draws.accepts(text)))
        kept = [judged.text for judged in judge.fresh().judge(seeds) if not judged.why]
        for place, i in enumerate(missing if kept else []):
            texts[i] = kept[place % len(kept)]
        drawn.n_seeds = len(missing) if kept else 0
    drawn.inputs = [text for text in texts if text is not None]
    return drawn


class _Positions:
    """The n positions of a check, each filled by the first of its draws that is kept."""

    def __init__(self, draws: Draws, judge: Judge, drawn: Drawn, n: int):
        self._draws, self._judge, self._drawn, self._n = draws, judge, drawn, n
        self._texts: list[str | None] = [None] * n
        self._known: dict[str, Judged] = {}

    def fill(self) -> list[str | None]:
        """Return the input of each position, None where no draw was kept."""
        pending, attempt, ahead = list(range(self._n)), 0, 1
        budget = _CPU * max(1.0, self._n / 1000)
        while pending and attempt < MAX_ATTEMPTS and self._judge.cpu <= budget:
            if attempt and self._judge.is_hopeless:  # what one draw of each position met is said
                break
            tried = range(attempt, min(attempt + ahead, MAX_ATTEMPTS))
            drawn = {i: [self._draws(i, a) for a in tried] for i in pending}
            self._judge_new(text for texts in drawn.values() for text in texts)
            pending = [i for i in pending if not self._chosen(i, drawn[i])]
            attempt = tried.stop
            ahead = 1 if self._judge.disturbed else max(1, min(2 * ahead, self._n // max(1, len(pending))))
        return self._texts

    def _judge_new(self, texts: Iterable[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        fitting = [text for text in new if self._draws.accepts(text)]
        self._known.update({text: Judged(text=text, why=NOT_FITTING) for text in new})
        self._known.update({judged.text: judged for judged in self._judge.judge(fitting)})

    def _chosen(self, position: int, texts: Sequence[str]) -> bool:
        for text in texts:
            judged = self._known[text]
            self._drawn.count(judged)
            if not judged.why:
                self._texts[position] = text
                return True
        return False


def draw_witnesses(
    task: Task, codes: Sequence[str], draws: Draws, judge: Judge, drawn: Drawn, *, n: int, seed: int
) -> list[str]:
    """Return up to n inputs that seek a disagreement and are kept; ``drawn`` remembers where validation differs."""
    if not n:
        return []
    sought = islice(language_of(task).witnesses(task, task.seed_inputs, codes, seed), _TRIES * n)
    found: list[str] = []
    while len(found) < n and (batch := [witness.arguments for witness in islice(sought, _BATCH)]):
        for judged in judge.judge([text for text in batch if draws.accepts(text)]):
            drawn.note(judged)
            drawn.excluded |= {judged.text: None} if judged.excluded else {}
            found += [] if judged.why else [judged.text]
    return found[:n]
