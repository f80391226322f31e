"""How often `difftrust diff` is right on recorded programs whose behaviour is known."""

from collections import Counter
from enum import StrEnum
from typing import Final

import polars as pl

from difftrust.research.coders import with_exact_share
from difftrust.research.per_candidate import Schema
from difftrust.results import Table
from difftrust.tables.request import TableRequest
from difftrust_core.base.files import find_shipped
from difftrust_core.exceptions import NoBenchmark

SHIPPED: Final = "data/versions/pairs.csv"
"""A row a pair; ``make bench-versions`` runs diff on each and writes it."""


class Stratum(StrEnum):
    """What the recorded inputs say of two programs of one task."""

    EQUAL = "alike"
    """Alike on all recorded inputs, types and all."""
    OUTSIDE = "differ outside the domain"
    """On inputs that the reference accepts, on none drawn inside the domain."""
    FEW = "differ on few inputs"
    """On at most 1 % of those drawn inside the domain."""
    MANY = "differ on many inputs"
    """On more."""


class Judgement(StrEnum):
    """What a verdict is worth."""

    ALIKE = "unchanged"
    """Rightly, as far as the recorded inputs say."""
    FOUND = "found"
    """Changed, and the recorded inputs say so too."""
    NEW_INPUT = "found on a new input"
    """Alike on all recorded inputs; on the input that diff names they differ, run again."""
    EFFECT = "differ in effects"
    """Alike in what they return; what they print or do to their arguments differs, which is not recorded."""
    FALSE = "false difference"
    """Neither a recorded input nor the one that diff names shows a difference."""
    MISSED = "missed"
    """Unchanged, though recorded inputs show a difference."""
    UNDECIDED = "undecided"


SCHEMA: Final[Schema] = {
    **dict.fromkeys(("benchmark", "task_id", "stratum"), pl.String),
    **{"old_model": pl.String, "old_sample": pl.Int64, "new_model": pl.String, "new_sample": pl.Int64},
    **dict.fromkeys(("domain", "domain_values", "domain_n", "published", "published_values"), pl.Int64),
    **{"verdict": pl.String, "differing": pl.Int64, "inputs": pl.Int64},
    **{"judgement": pl.String, "place": pl.String, "why": pl.String},
}
"""Columns of SHIPPED. ``domain``, ``published``: recorded inputs that show a difference, inside the domain and as
published; ``_values``: of these, those on which both return. ``differing``: inputs of diff's ``inputs`` that do.
``place``: of the input that diff names."""
_RIGHT: Final = (Judgement.ALIKE, Judgement.FOUND, Judgement.NEW_INPUT, Judgement.EFFECT)


def make_versions(request: TableRequest) -> Table:
    """Return a row for each benchmark and stratum: how many pairs of recorded programs, and each Judgement of them.

    ``right_share``: of the pairs, those whose verdict is no false difference, not missed and not undecided, with its
    exact 95 % interval. At most one pair a task, of the first ten programs of each model at t = 0.6. Raises NoBenchmark
    if the pairs were not installed.
    """
    del request
    path = find_shipped(SHIPPED)
    if not path.is_file():
        raise NoBenchmark(f"no compared pairs in {path}; `make bench-versions` makes them")
    pairs = pl.read_csv(path, schema=SCHEMA)
    judged = pl.col("judgement")
    counted = {"pairs": judged.is_not_null(), **{each.replace(" ", "_"): judged == each for each in Judgement}}
    counted["right"] = judged.is_in(_RIGHT)
    frame = (
        pl.concat([pairs, pairs.with_columns(benchmark=pl.lit("all"))])
        .group_by("benchmark", "stratum")
        .agg(**{name: which.sum().cast(pl.Int64) for name, which in counted.items()})
        .sort(pl.col("benchmark") == "all", "benchmark", pl.col("stratum").cast(pl.Enum(Stratum)))
    )
    undecided = Counter(pairs.filter(judgement=Judgement.UNDECIDED)["why"])
    missed = pairs.filter(judgement=Judgement.MISSED)
    raising = missed.filter(pl.max_horizontal("domain_values", "published_values") == 0)
    return Table(
        with_exact_share(frame, "right_share", "right", "pairs").drop("right"),
        notes=(
            f"missed: {missed.height}; on {missed['why'].count()} of them the report notes a difference that the "
            f"function may not allow; on {raising.height} one version raises wherever the recorded outcomes differ",
            *(f"undecided: {why}: {count}" for why, count in sorted(undecided.items())),
        ),
    )
