"""Which draws of a check are kept: inside the domain, built, answered by enough candidates; and what they did there."""

from collections.abc import Sequence
from dataclasses import dataclass

from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.checks.answers import Answers, builtin_of
from difftrust_core.checks.likely import Expected
from difftrust_core.checks.predicate import Inside
from difftrust_core.checks.programs import Executor, Ran
from difftrust_core.checks.report import Suggestion
from difftrust_core.sandbox.host import ProgramRun

QUORUM, ALL = "quorum", "all"
OUTSIDE = "outside the domain"
EXCLUDED = "by conditions that a model suggests"
_ENDED = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH)
"""What a program that was ended does on an input; on the next ones it may have had another budget."""


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
    stated: bool = False
    """The docstring says in words that it does not allow it."""
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
        return Judged(
            text=text,
            why=why,
            outcomes=row,
            differs=True,
            doubt=doubt,
            condition=condition,
            stated=found is not None and found.stated,
        )

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
