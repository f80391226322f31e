"""The audits as a table, and how far two readers of the same tasks agree."""

import operator
from collections.abc import Sequence

import polars as pl

from difftrust.results import Table
from difftrust.tables.request import TableRequest
from difftrust_core.datasets.audits import Finding, audit_frame

_ALL = "all"
_SCHEMA = {
    **{"benchmark": pl.String, "finding": pl.String, "settled": pl.Int64, "reader_a": pl.Int64, "reader_b": pl.Int64},
    **{"both": pl.Int64, "agreement": pl.Float64, "kappa": pl.Float64, "changed": pl.Int64},
}


def audit_table() -> Table:
    """Return what readers found of the references of HumanEval and MBPP: a row a task (docs/audits.md).

    ``finding``: reference wrong, description silent, description admits both, programs wrong, nothing found;
    ``arguments``: the input that decides; ``why``: the reason; ``settled_by``: how many readers the finding rests on;
    ``reader_a``, ``reader_b``: what each found, null where two have not read the task.
    """
    frame = audit_frame()
    counts = frame.group_by("settled_by").len().sort("settled_by")
    return Table(frame, notes=tuple(f"settled by {name}: {count} tasks" for name, count in counts.iter_rows()))


def make_audits(request: TableRequest) -> Table:
    """Return a row for each benchmark and finding, then for all findings: settled, by each reader, by both, kappa.

    ``agreement``: of a finding, 2 both / (reader_a + reader_b); of all, the share of tasks read alike.
    ``kappa``: Cohen's, of a finding against all others. ``changed``: tasks whose finding the first reading gave
    otherwise. Null where no two readers have read a task.
    """
    del request
    frame = audit_frame()
    rows = []
    for benchmark in (*frame["benchmark"].unique().sort(), _ALL):
        own = frame if benchmark == _ALL else frame.filter(benchmark=benchmark)
        rows += [_agreement(own, benchmark, name) for name in (*map(str, Finding), _ALL)]
    twice = frame["reader_a"].count()
    note = f"audited tasks: {frame.height}; read by two readers: {twice}"
    return Table(pl.DataFrame(rows, schema=_SCHEMA).fill_nan(None), notes=(note,))


def _agreement(audits: pl.DataFrame, benchmark: str, finding: str) -> dict[str, object]:
    read = audits.drop_nulls(["reader_a", "reader_b"])
    a, b = read["reader_a"].to_list(), read["reader_b"].to_list()
    former = audits.drop_nulls("former")
    changed = former.filter(pl.col("former") != pl.col("finding"))
    settled, found, both = audits, (len(a), len(b)), sum(map(operator.eq, a, b))
    if finding != _ALL:
        settled, changed = audits.filter(finding=finding), changed.filter(former=finding)
        a, b = ([name == finding for name in side] for side in (a, b))
        found, both = (sum(a), sum(b)), sum(map(operator.and_, a, b))
    counts = {"reader_a": found[0], "reader_b": found[1], "both": both} if a else {}
    return {
        "benchmark": benchmark,
        "finding": finding,
        "settled": settled.height,
        **counts,
        "agreement": 2 * both / sum(found) if sum(found) else None,
        "kappa": cohens_kappa(a, b),
        "changed": changed.height if former.height else None,
    }


def cohens_kappa(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Return the agreement of two judges beyond chance, (p - c) / (1 - c); None where c is 1 or there is nothing."""
    n = len(first)
    if not n:
        return None
    alike = sum(map(operator.eq, first, second)) / n
    chance = sum((first.count(name) / n) * (second.count(name) / n) for name in set(first))
    return None if chance == 1 else (alike - chance) / (1 - chance)
