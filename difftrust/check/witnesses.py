"""The search of a check: inputs sought to show a disagreement, behind the filter of what the task allows."""

import re
from collections.abc import Collection, Mapping, Sequence

from difftrust.check.input_filter import InDomain, InputFilter, Judged
from difftrust.search.drawing import TypedInputs
from difftrust.search.search import MOST, Labels, Search
from difftrust.search.traces import Trace, missed_ways, read_trace
from difftrust_core.base.records import Kind, Outcome

_MAX_LINES = 6
_SLOW, _FEW = re.compile(r"\b(?:pandas|polars)\b"), 5
"""A call of what imports one of these costs as much as several others."""
_NO_END = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH, Kind.LOAD_ERROR, Kind.FORGED)


def seek_witnesses(
    source: TypedInputs,
    judge: InputFilter,
    pairs: Collection[tuple[int, int]],
    starts: Sequence[str],
    *,
    key: str,
) -> tuple[Search, list[Judged]]:
    """Search inputs on which pairs of a filter's programs differ; return the search, and what ran plainly."""
    run, inside, ran = judge.executor.run, InDomain(judge.executor), list[Judged]()
    some = sorted({p for pair in pairs for p in pair})
    codes = [judge.programs[p].code for p in some]
    place = {p: at for at, p in enumerate(some)}

    def trace(texts: Sequence[str]) -> Mapping[str, Sequence[Trace]]:
        allowed = [text for text, holds in zip(texts, inside(texts), strict=True) if holds]
        rows = run(codes, allowed, is_traced=True).rows
        return {text: list(map(read_trace, row)) for text, row in zip(allowed, rows, strict=True)}

    def labels(texts: Sequence[str]) -> Mapping[str, Labels]:
        found = judge.judge(texts)
        ran.extend(found)
        return {each.text: _labels(judge, [each.outcomes[p] for p in some]) for each in found if not each.why}

    is_slow = any(map(_SLOW.search, (judge.executor.task.preamble, *codes)))
    inner = {(place[a], place[b]) for a, b in pairs}
    search = Search(source, inner, trace=trace, judge=labels, key=key, most=MOST // _FEW if is_slow else MOST)
    search.run(starts)
    return search, ran


def _labels(judge: InputFilter, row: Sequence[Outcome]) -> Labels:
    numbers = judge.answers.classify(row)
    return [-1 if kind in _NO_END else number for (kind, _), number in zip(row, numbers, strict=True)]


def note_of(search: Search, codes: Sequence[str], names: Sequence[Sequence[str]]) -> str:
    """Return in words what agreement rests on: which ways of the programs the search went."""
    said = []
    for p, code in enumerate(codes):
        n, missed = missed_ways(code, [way for which, way in search.ways if which == p])
        text = f"{', '.join(names[p])} {n - len(missed)} of {n} branches"
        if missed:
            lines = ", ".join(f"line {line} never {str(side).lower()}" for line, side in missed[:_MAX_LINES])
            text += f" ({lines}{', ...' if len(missed) > _MAX_LINES else ''})"
        said += [text] if n else []
    return f"the search followed {search.n_traced} inputs and went {'; '.join(said)}" if said else ""
