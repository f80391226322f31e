"""The inputs of a check: drawn until the candidates answer on them; each draw that is left out is counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from difftrust_core.base.records import Kind
from difftrust_core.base.task import Task
from difftrust_core.checks.judge import Judge, Judged
from difftrust_core.languages.language import MAX_ATTEMPTS, language_of

if TYPE_CHECKING:
    from difftrust_core.languages.python.argument_types import ArgumentTypes

NOT_FITTING = "outside the types"
_CPU = 2.0
"""CPU seconds, for 1,000 inputs, that the slowest program may take to judge draws."""
_MAX_EXHAUSTIVE = 1000
_MAX_DIFFERING, _MAX_EXCLUDED = 200, 1000
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
    _n_differing: Counter[bool] = field(default_factory=Counter)
    """How many of them are such as the docstring states to be outside, and how many are not."""
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
        if judged.differs and self._n_differing[judged.stated] < _MAX_DIFFERING:
            self._n_differing[judged.stated] += judged.text not in self.differing
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
    from difftrust_core.checks.source.hints import known_texts, likely_types
    from difftrust_core.checks.source.usual import asks_for_odd_floats, usual_of
    from difftrust_core.languages.python.dictionary import dictionary_of, quoted
    from difftrust_core.languages.python.drawing import CheckDraws
    from difftrust_core.languages.python.pattern_texts import key_texts, pattern_texts

    known = known_texts(types, task.description, task.seed_inputs)
    sure = [*pattern_texts([*codes, task.preamble], seed=seed), *quoted(task.description), *key_texts(task.preamble)]
    words = [*dictionary_of([*codes, task.preamble], task.description), *dictionary]
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
