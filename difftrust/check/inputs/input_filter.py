"""Which inputs of a check are kept: inside the domain, built, answered by enough candidates; drawn until enough are."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from difftrust.check.inputs.implied_conditions import MANY_AXES, ImpliedConditions
from difftrust.check.inputs.in_domain import InDomain
from difftrust.check.options import ALL, QUORUM, Suggestion
from difftrust.check.outcomes import Answers, Measured, OutcomeClasses, builtin_of
from difftrust.check.programs import Executor, Ran, lacks_package
from difftrust.search.inputs import InputSource
from difftrust.source.sandbox_imports import MISSING
from difftrust_core.base.literals import Instance
from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.base.task import Task
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.sandbox.host import ProgramRun

OUTSIDE = "outside the domain"
EXCLUDED = "by conditions that a model suggests"
NOT_FITTING = "outside the types"
NO_TIME_LEFT = "a candidate used up its processor time before"
TOO_LARGE = "a candidate runs out of time or memory on a large number"
OVERFLOWS = "a candidate raises OverflowError on a large number"
_ENDED = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH)
"""What a program that was ended does on an input; on the next ones it may have had another budget."""
_RAN_OUT = (Kind.TIMEOUT, Kind.MEMORY)
_SAYS_NOTHING = (*_RAN_OUT, Kind.SKIPPED)
_MOST_DRAWS = 20
"""For each input wanted, over all positions."""
_FEW = 10
"""A way into the domain is sought where fewer than one draw of so many is kept."""
_RARE, _BARREN = 0.01, 3
"""After so many rounds in each of which a smaller share of the draws was kept, no more are made."""
_FEW_CALLS = 20
"""So many calls, each within its own limit, do not use up a program's time."""
_LARGE = 100_000
"""From here on a number may take more time or memory than there is, and says nothing of what is right."""
_NO_INT_OF_C = 2**31
"""Functions in C raise OverflowError from here on, ``"".expandtabs(2**31)`` for one."""
_NEAR = range(1900, 2101)
"""Years; from others to today a step a day may take more time than there is."""
_MAX_DIFFERING, _MAX_EXCLUDED = 2000, 1000


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


@dataclass(kw_only=True)
class InputFilter:
    """Decides which draws are kept: those inside the domain that can be built and that enough candidates answer on.

    ``quorum``: at least half of the candidates that load answer, by a value or a documented exception; ``all``: any. A
    program that was given up for its timeouts counts, and answers nothing from then on. Where candidates differ on an
    input that the docstring may not allow (``implied``), it is left out and remembered.
    """

    executor: Executor
    programs: Sequence[Program]
    answers: Answers
    validity: str = QUORUM
    implied: ImpliedConditions = field(default_factory=ImpliedConditions)
    """What the docstring takes for granted."""
    suggestion: Suggestion | None = None
    """Conditions of a model."""
    counts: bool = True
    """Whether refusals are counted: not on inputs that were chosen for what programs do on them."""
    n_answered: int = 0
    refused: tuple[int, ...] = ()
    """On so many of the ``n_answered`` inputs with an answer each program gave none."""
    disturbed: bool = field(default=False, init=False)
    """Whether a program hung or crashed on the last draws."""

    def __post_init__(self) -> None:
        self.refused = self.refused or (0,) * len(self.programs)
        self._inside = InDomain(self.executor)
        suggested = self.suggestion.conditions if self.suggestion else ()
        self._inside_suggested = InDomain(self.executor, conditions=suggested)
        self._given_up: set[int] = set()
        self._ever_disturbed = False
        self._rows: dict[str, tuple[Outcome, ...]] = {}
        self._runs: list[ProgramRun] = []

    def fresh(self) -> "InputFilter":
        """Return a filter that has given up no program."""
        return replace(self) if self._given_up else self

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing will be kept any more, for every program was given up."""
        return self.validity != ALL and len(self._given_up) == len(self.programs)

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

    def measure(self, drawn: "Drawn") -> Measured:
        """Run every program on each distinct input, unless it is known, and sort what they did into classes.

        Left out are inputs that a program did not come to, for it used up its time without ever hanging (how many those
        are hangs on the machine); and doubtful ones that it ran out of time or memory on only now, near its limit. All
        others then run once more; doubtful ones to which a program does not come there either are left out, too.
        """
        codes = [program.code for program in self.programs]
        # Where no input was kept, the seed still tells which programs load.
        instead = [self.executor.task.seed_inputs[0]]
        distinct = list(dict.fromkeys(drawn.inputs))
        ran = self.ran(distinct) or self.executor.run(codes, distinct or instead)
        if self._leave_out_doubtful(drawn, distinct, ran, _RAN_OUT):
            distinct = list(dict.fromkeys(drawn.inputs))
            ran = self.executor.run(codes, distinct or instead)
            self._leave_out_doubtful(drawn, distinct, ran, _SAYS_NOTHING)
        everyone, left = range(len(codes)), {*drawn.inputs}
        errors = [_load_error([row[p] for row in ran.rows]) for p in everyone]
        known = [(text, row) for text, row in zip(distinct, ran.rows, strict=False) if text in left]
        spent = [p for p in everyone if _is_spent([row[p][0] for _, row in known])]
        told = [(text, row) for text, row in known if all(row[p][0] != Kind.SKIPPED for p in spent)]
        distinct, rows = [text for text, _ in told], [row for _, row in told]
        position = {text: i for i, text in enumerate(distinct)}
        drawn.leave_out(left - position.keys(), NO_TIME_LEFT)
        return Measured(
            distinct=OutcomeClasses.of(distinct, rows, self.answers, n_programs=len(codes), ran=everyone),
            which=np.array([position[text] for text in drawn.inputs], dtype=np.int64),
            spent=tuple(spent),
            runs=ran.runs,
            load_errors=errors,
            lacks_package=np.array([lacks_package(code, e or "") for code, e in zip(codes, errors, strict=True)]),
        )

    def classify(self, some: Sequence[int], inputs: Sequence[str]) -> OutcomeClasses:
        """Run the programs ``some``, unless it is known what they do; nothing that is measured looks at them.

        An input on which one of them runs out of time or memory says nothing and is left out.
        """
        rows: list[tuple[Outcome, ...]] = []
        if some and inputs:
            known = self.ran(inputs)
            if known is not None:
                rows = [tuple([row[p] for p in some]) for row in known.rows]
            else:
                rows = self.executor.run([self.programs[p].code for p in some], inputs).rows
        told = [
            (t, row) for t, row in zip(inputs, rows, strict=bool(some)) if not {k for k, _ in row} & {*_SAYS_NOTHING}
        ]
        texts, kept = [text for text, _ in told], [row for _, row in told]
        return OutcomeClasses.of(texts, kept, self.answers, n_programs=len(self.programs), ran=some)

    def _run(self, texts: Sequence[str]) -> list[tuple[Outcome, ...]]:
        ran = self.executor.run([p.code for p in self._voting()], texts)
        self.disturbed = ran.disturbed
        self._ever_disturbed = self._ever_disturbed or ran.disturbed
        voting = [i for i in range(len(self.programs)) if i not in self._given_up]
        skipped: Outcome = (Kind.SKIPPED, "")
        rows = []
        for row in ran.rows:
            of = dict(zip(voting, row, strict=True))
            rows.append(tuple(of.get(i, skipped) for i in range(len(self.programs))))
            self._given_up |= {i for i, (kind, _) in of.items() if kind == Kind.SKIPPED}
        if any(kind in _ENDED for row in rows for kind, _ in row):
            self._ever_disturbed = True
        if texts and not self._ever_disturbed:
            self._rows.update(zip(texts, rows, strict=True))
            self._runs = [one.and_then(other) for one, other in zip(self._runs or ran.runs, ran.runs, strict=True)]
        return rows

    def _voting(self) -> list[Program]:
        return [program for i, program in enumerate(self.programs) if i not in self._given_up]

    def _judged(self, text: str, row: tuple[Outcome, ...]) -> Judged:
        unbuilt = next((said for kind, said in row if kind == Kind.UNSUPPORTED and said.startswith("input: ")), "")
        if unbuilt:
            return Judged(text=text, why=f"not built ({unbuilt.removeprefix('input: ')})")
        if any(kind == Kind.EXCEPTION and said.startswith(MISSING) for kind, said in row):
            return Judged(text=text, why="used a package that is not here")
        if self.validity == ALL:
            return Judged(text=text, why="", outcomes=row)
        loaded = [(p, o) for p, o in zip(self.programs, row, strict=True) if o[0] != Kind.LOAD_ERROR]
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
                self.n_answered += 1
                self.refused = tuple(n + (not answers) for n, answers in zip(self.refused, answering, strict=True))

    def _doubted(self, text: str, row: tuple[Outcome, ...]) -> Judged | None:
        """Return why an input on which candidates differ shows nothing for sure; None where it does, or they agree."""
        loaded = [p for p, (kind, _) in enumerate(row) if kind != Kind.LOAD_ERROR]
        if len(loaded) < 2 or len(set(self.answers.classify([row[p] for p in loaded]))) < 2:
            return None
        exhausts = self._exhausts(text, row)
        found = None if exhausts else self.implied.doubt(text)
        doubt = exhausts or (found.why if found else self._refusal(text, row, loaded))
        if not doubt:
            return None
        why = f"on which candidates differ, but {doubt}"
        condition = found.condition if found else ""
        return Judged(text=text, why=why, outcomes=row, differs=True, doubt=doubt, condition=condition)

    def _leave_out_doubtful(self, drawn: "Drawn", texts: Sequence[str], ran: Ran, kinds: Collection[Kind]) -> bool:
        """Leave out the doubtful inputs on which some program ended so; tell whether there are any."""
        ended = [
            (text, row) for text, row in zip(texts, ran.rows, strict=False) if {kind for kind, _ in row} & {*kinds}
        ]
        found = [doubted for text, row in ended if (doubted := self._doubted(text, row))]
        for doubted in found:
            drawn.note(doubted)
            drawn.leave_out({doubted.text}, doubted.why)
        return bool(found)

    def _exhausts(self, text: str, row: tuple[Outcome, ...]) -> str:
        values = [*self.implied.values(text).values()]
        is_over = any(kind == Kind.EXCEPTION and builtin_of(name) == "OverflowError" for kind, name in row)
        if {kind for kind, _ in row} & {*_SAYS_NOTHING} and _has_large(values):
            return TOO_LARGE
        return OVERFLOWS if is_over and _has_large(values, _NO_INT_OF_C) else ""

    def _refusal(self, text: str, row: tuple[Outcome, ...], loaded: Sequence[int]) -> str:
        for p in loaded:
            kind, name = row[p]
            if kind != Kind.EXCEPTION or self.answers.is_answer(row[p]):
                continue
            why = self.implied.may_refuse(text, builtin_of(name))
            if why and (why == MANY_AXES or 2 * self.refused[p] <= self.n_answered):  # how many are drawn is our choice
                return why
        return ""


def _is_spent(kinds: Sequence[Kind]) -> bool:
    """Tell whether a program's time ended though it never hung; one that came nowhere hid that it does."""
    return {*kinds} & {*_ENDED} == {Kind.SKIPPED} and len(kinds) - kinds.count(Kind.SKIPPED) >= _FEW_CALLS


def _has_large(value: Any, large: int = _LARGE) -> bool:
    """Tell whether a value is, or holds, a large number, or a date so far off that steps of a day are many."""
    match value:
        case int() | float():
            return abs(value) >= large
        case str():
            return re.search(rf"[1-9]\d{{{len(str(large)) - 1}}}", value) is not None
        case list() | tuple() | set() | frozenset():
            return any(_has_large(item, large) for item in value)
        case dict():
            return _has_large([*value, *value.values()], large)
        case Instance():
            is_day = value.type_name.rpartition(".")[2] in ("date", "datetime")
            is_far = is_day and any(type(year) is int and year not in _NEAR for year in value.args[:1])
            return is_far or _has_large([*value.args, *value.fields.values()], large)
    return False


def _load_error(outcomes: Sequence[Outcome]) -> str | None:
    return outcomes[0][1] if all(kind == Kind.LOAD_ERROR for kind, _ in outcomes) else None


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
    """These are all inputs that types and conditions allow: none of them was left out."""
    is_rare: bool = False
    """Drawing ended early, for hardly any draw was kept."""
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

    def leave_out(self, texts: Container[str], why: str) -> None:
        """Leave these out after all; seeds that stand for no draw are counted nowhere."""
        kept = [text for text in self.inputs if text not in texts]
        if lost := len(self.inputs) - len(kept):
            self.left_out[why] += min(lost, self.n_draws - self.left_out.total())
            self.inputs, self.n_seeds, self.exhausted = kept, min(self.n_seeds, len(kept)), False


Enter = Callable[[Sequence[str]], list[str]]


def favour_answered(draws: InputSource, judge: InputFilter) -> None:
    """Let the seeds on which some candidate returns a value be changed more often than those on which all raise."""
    judged = judge.fresh().judge(draws.seeds)
    draws.favour([any(kind == Kind.VALUE for kind, _ in each.outcomes) for each in judged])


def draw_inputs(task: Task, draws: InputSource, judge: InputFilter, *, n: int, enter: Enter) -> Drawn:
    """Return up to n inputs: each position tries up to 100 draws, then takes a seed input that is kept, if one is.

    ``enter``: from inputs outside the domain to some that are kept; asked where a first draw hardly ever is.

    Where the types and the task's condition allow few argument tuples, all of these.
    """
    everything = draws.exhaustive(task.domain.requires if task.domain is not None else "")
    if everything is not None:
        drawn = Drawn()
        for judged in judge.judge(everything):
            drawn.count(judged)
            drawn.inputs += [] if judged.why else [judged.text]
        drawn.exhausted = {*drawn.left_out} <= {OUTSIDE}
        return drawn
    drawn = Drawn()
    texts = _fill_positions(draws, judge, drawn, n=n, enter=enter)
    missing = [i for i, text in enumerate(texts) if text is None]
    if missing:
        seeds = list(dict.fromkeys(text for text in task.seed_inputs if draws.accepts(text)))
        kept = [judged.text for judged in judge.fresh().judge(seeds) if not judged.why]
        for place, i in enumerate(missing if kept else []):
            texts[i] = kept[place % len(kept)]
        drawn.n_seeds = len(missing) if kept else 0
    drawn.inputs = [text for text in texts if text is not None]
    return drawn


def _fill_positions(source: InputSource, judge: InputFilter, drawn: Drawn, *, n: int, enter: Enter) -> list[str | None]:
    """Return the first draw of each of n positions that is kept, None where none was.

    Where less than half of a round is kept, what is kept is changed in the rounds that follow.
    """
    texts: list[str | None] = [None] * n
    known: dict[str, Judged] = {}
    pending, attempt, ahead, barren = list(range(n)), 0, 1, 0
    while pending and attempt < MAX_ATTEMPTS and drawn.n_draws < _MOST_DRAWS * n and not drawn.is_rare:
        if attempt and judge.is_hopeless:  # what one draw of each position met is said
            break
        tried = range(attempt, min(attempt + ahead, MAX_ATTEMPTS))
        made = {i: [source(i, a) for a in tried] for i in pending}
        new = [text for text in dict.fromkeys(text for own in made.values() for text in own) if text not in known]
        known |= {text: Judged(text=text, why=NOT_FITTING) for text in new}
        known |= {judged.text: judged for judged in judge.judge([text for text in new if source.accepts(text)])}
        for i in pending:
            for text in made[i]:
                drawn.count(known[text])
                if not known[text].why:
                    texts[i] = text
                    break
        n_tried, pending = len(pending), [i for i in pending if texts[i] is None]
        kept = [text for text in new if not known[text].why]
        if 2 * len(kept) < len(new):
            is_far = not attempt and _FEW * len(kept) < len(new)
            source.learn(kept + (enter([text for text in new if known[text].why == OUTSIDE]) if is_far else []))
        barren = barren + 1 if n_tried - len(pending) < _RARE * n_tried * len(tried) else 0
        drawn.is_rare = barren == _BARREN and bool(pending)
        attempt = tried.stop
        ahead = 1 if judge.disturbed else max(1, min(2 * ahead, n // max(1, len(pending))))
    return texts


def keep_seeds(task: Task, source: InputSource, judge: InputFilter, drawn: Drawn, *, n: int) -> list[str]:
    """Return up to n seed inputs as they are that are kept; ``drawn`` remembers where validation differs."""
    found: list[str] = []
    for judged in judge.judge([text for text in dict.fromkeys(task.seed_inputs[:n]) if source.accepts(text)]):
        drawn.note(judged)
        drawn.excluded |= {judged.text: None} if judged.excluded else {}
        found += [] if judged.why else [judged.text]
    return found
