"""The search of a check: inputs sought to show a disagreement, behind the filter of what the task allows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from difftrust.check.input_filter import InDomain, InputFilter, Judged
from difftrust.check.report import Reached
from difftrust.search.drawing import TypedInputs
from difftrust.search.inputs import InputSource
from difftrust.search.search import MOST, Row, Search, Searched, Subjects
from difftrust.search.traces import Trace, coverage_of, read_trace
from difftrust_core.base.records import Kind

_MAX_SEEDS = 60
"""Inputs of the search from which others are drawn at random."""
_MAX_LINES = 8
_SLOW = re.compile(r"\b(?:pandas|polars)\b")
"""A call of what imports one of these costs as much as several others."""


@dataclass(frozen=True, kw_only=True)
class Witnesses:
    """What the search of a check found."""

    searched: Searched
    judged: dict[str, Judged] = field(default_factory=dict)
    """All that ran plainly, in the order in which it was found."""

    @property
    def seeds(self) -> list[str]:
        """Inputs that are kept and on which a program returns a value, the first ones."""
        return [
            text for text, row in self.searched.corpus.items() if row and any(kind == Kind.VALUE for kind, _ in row)
        ][:_MAX_SEEDS]

    def reached(self, codes: Sequence[str], names: Sequence[Sequence[str]]) -> tuple[Reached, ...]:
        """Return what the search reached of each program that it could follow."""
        found = []
        for p, code in enumerate(codes):
            if p not in self.searched.blind and self.searched.reached[p]:
                of = coverage_of(code, frozenset(self.searched.reached[p]))
                found.append(
                    Reached(
                        candidates=tuple(names[p]),
                        branches=of.n_sides,
                        branches_reached=of.n_reached,
                        comparisons=of.n_tests,
                        comparisons_on_both_sides=of.n_both,
                        lines_not_reached=of.unreached,
                    )
                )
        return tuple(found)


def seek_witnesses(source: "InputSource | None", judge: InputFilter, *, key: str) -> Witnesses:
    """Search inputs on which the programs of a filter differ; what is allowed, ``judge`` decides."""
    n = len(judge.programs)
    if not isinstance(source, TypedInputs) or n < 2:
        return Witnesses(searched=Searched(reached=[set() for _ in range(n)]))
    codes, inside, judged = [program.code for program in judge.programs], InDomain(judge.executor), dict[str, Judged]()

    def trace(texts: Sequence[str]) -> list[tuple[Trace, ...]]:
        return [tuple(map(read_trace, row)) for row in judge.executor.run(codes, texts, is_traced=True).rows]

    def plain(texts: Sequence[str]) -> list[Row | None]:
        found = judge.judge(texts)
        judged.update(zip(texts, found, strict=True))
        return [None if each.why else each.outcomes for each in found]

    subjects = Subjects(n=n, trace=trace, allows=inside, judge=plain, classify=judge.answers.classify)
    is_slow = any(map(_SLOW.search, (judge.executor.task.preamble, *codes)))
    search = Search(source, subjects, key=key, most=MOST // 5 if is_slow else MOST)
    return Witnesses(searched=search.run(source.seeds), judged=judged)


def note_of(reached: Sequence[Reached], n_tried: int) -> str:
    """Return in words what agreement rests on: what the inputs reached of each program."""
    said = []
    for each in reached:
        text = f"{', '.join(each.candidates)} {each.branches_reached} of {each.branches} branches"
        if each.lines_not_reached:
            lines = ", ".join(map(str, each.lines_not_reached[:_MAX_LINES]))
            text += f" (line{'s' if len(each.lines_not_reached) > 1 else ''} {lines} not reached)"
        said.append(text)
    return f"the search followed {n_tried} inputs and reached: {'; '.join(said)}" if said else ""
