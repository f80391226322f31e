"""The coders of one benchmark side by side: a table, the numbers that are read first, and what all that says."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.research.coders import (
    MEAN,
    MEASURES,
    beside_published,
    mean_absolute_differences,
    strength_of,
    table_4,
    with_exact_share,
)
from difftrust.tables.interval_columns import HIGH, LOW, with_intervals
from difftrust.tables.names import display_name, with_display_names
from difftrust.tables.render import in_percent
from difftrust_core.metrics.aggregate import pass_at_1, spearman

WITH_INTERVALS: Final = ("mean_error", "mean_incoherence", "detection_rate", "undetected_mean_error")
SILENT: Final = "silent_rate"
"""Share of the tasks that are wrong although all programs agree: E > 0, and nothing detected."""
NEEDS_REFERENCE: Final = (
    *("mean_error", "detection_rate", "undetected_mean_error", "pass_at_1", SILENT),
    *("precision", "recall"),
)
"""Columns that are null without a reference, and hidden where the user hides what needs one."""

DOLLARS: Final = {"cost_per_1000_tasks": "usd_per_1000", "cost_usd_is_lower_bound": "usd_per_1000_is_lower_bound"}
"""Column of ``compare`` -> its name in tables for people."""
LOWER_BOUND: Final = "≥: a lower bound, for tokens of reasoning are billed too and were not recorded"
WHERE_ALLOWED: Final = "at least one of them is wrong if the task allows the input"
"""What a disagreement shows; outside a task's domain any outcome may be right."""


def compare(tasks: pl.DataFrame, *, resamples: int = 1000) -> pl.DataFrame:
    """Return a row a model: tasks, WITH_INTERVALS and SILENT with 95 % intervals over tasks, pass_at_1, costs, tokens.

    ``tasks``: ``ablation`` of several models of one benchmark at one temperature. ``cost_usd`` and
    ``completion_tokens`` are sums over all candidates, null where one is not known; ``cost_usd_is_lower_bound``: so is
    that of a task; ``cost_per_1000_tasks``: in dollars, of m candidates each. Sorted by error, then incoherence.
    """
    table = compare_means(tasks, measures=WITH_INTERVALS)
    table = with_intervals(table, tasks, resamples=resamples)
    rows = []
    for (model,), own in tasks.group_by("model", maintain_order=True):
        tokens = None if own["completion_tokens"].has_nulls() else own["completion_tokens"].sum()
        cost = None if own["cost_usd"].has_nulls() else math.fsum(own["cost_usd"])
        per_1000 = None if cost is None else 1000 * cost / own.height
        rows.append((model, pass_at_1(own), cost, per_1000, own["cost_usd_is_lower_bound"].any(), tokens))
    schema = {"model": pl.String, "pass_at_1": pl.Float64, "cost_usd": pl.Float64, "cost_per_1000_tasks": pl.Float64}
    schema |= {"cost_usd_is_lower_bound": pl.Boolean, "completion_tokens": pl.Int64}
    more = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("pass_at_1").fill_nan(None))
    known = tasks.drop_nulls(["error", "detected"]).drop_nans("error")
    silent = ~pl.col("detected") & (pl.col("error") > 0)
    counts = known.group_by("model").agg(known=pl.len(), silent=silent.sum())
    shares = with_exact_share(counts, SILENT, "silent", "known").drop("silent", "known")
    found = table.join(more, on="model").join(shares, on="model", how="left")
    return found.sort("mean_error", "mean_incoherence", "model")


def against_published(tasks: pl.DataFrame, published: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, float]]:
    """Return Table 4 of these tasks beside the published one, and the mean absolute differences by measure."""
    joined = beside_published(table_4(tasks), published)
    return joined, mean_absolute_differences(joined)


def in_words(tasks: pl.DataFrame, *, table: pl.DataFrame | None = None, with_reference: bool = True) -> list[str]:
    """Return what the numbers of ``tasks`` say, a sentence each, for a reader who knows no measure.

    ``table``: ``compare`` of them, where it is at hand.
    """
    table = with_display_names(compare_means(tasks) if table is None else table)
    known = table.drop_nulls("mean_error") if with_reference else table.clear()
    if known.is_empty():
        return _disagreeing(table)
    return [_erring(known), *_ranked(known), *_found(known), *_right(known), *_unknown(tasks)]


def compare_means(tasks: pl.DataFrame, *, measures: Sequence[str] = MEASURES) -> pl.DataFrame:
    """Return Table 4 of these tasks, a row a model, without the means over models."""
    return table_4(tasks, measures=measures).filter(pl.col("model") != MEAN)


def _unknown(tasks: pl.DataFrame) -> list[str]:
    """Say of how many tasks the errors above are, where some have none."""
    n_tasks, n_known = tasks["task_id"].n_unique(), tasks.drop_nulls("error")["task_id"].n_unique()
    if n_known == n_tasks:
        return []
    return [f"These errors are of {n_known:,} of the {n_tasks:,} tasks; the others have no reference."]


def _ordered(table: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    """Return the rows that have a measure, the least first."""
    return table.drop_nulls(measure).sort(measure, "model").to_dicts() if measure in table.columns else []


def _disagreeing(table: pl.DataFrame) -> list[str]:
    rows = _ordered(table, "mean_incoherence")
    if not rows:
        return []
    least, most = rows[0], rows[-1]
    if len(rows) == 1:
        return [f"Two programs of {most['model']} disagree on {_percent(most['mean_incoherence'])} of the inputs."]
    return [
        f"Two programs of {least['model']} disagree on {_percent(least['mean_incoherence'])} of the inputs, two of "
        f"{most['model']} on {_percent(most['mean_incoherence'])}. Where two disagree, {WHERE_ALLOWED}."
    ]


def _erring(table: pl.DataFrame) -> str:
    rows = _ordered(table, "mean_error")
    best, worst = rows[0], rows[-1]
    if len(rows) == 1:
        return f"A program of {best['model']} is wrong on {_percent(best['mean_error'])} of the inputs."
    return (
        f"A program of {best['model']} is wrong on {_percent(best['mean_error'])} of the inputs, the fewest of these "
        f"{len(rows)} models; one of {worst['model']} on {_percent(worst['mean_error'])}, the most."
    )


_TELLING: Final = 5
"""Fewer models can be ranked alike by chance, with a probability above .05."""


def _ranked(table: pl.DataFrame) -> list[str]:
    rho = spearman(table.select(error="mean_error", incoherence="mean_incoherence"))
    if math.isnan(rho):
        return []
    n = table.select("mean_error", "mean_incoherence").fill_nan(None).drop_nulls().height
    how = strength_of(rho) + " and negative" * (rho < 0) if n >= _TELLING else f"one that {n} models may have by chance"
    return [
        "The correlation between ranking the models by how often their programs disagree, which needs no reference, "
        f"and ranking them by error is {how} (Spearman's rho {rho:.2f})."
    ]


def _found(table: pl.DataFrame) -> list[str]:
    rows = _ordered(table, "detection_rate")
    if not rows:
        return []
    mean = float(np.mean([row["detection_rate"] for row in rows]))
    least, most = (f"{_percent(row['detection_rate'])} ({row['model']})" for row in (rows[0], rows[-1]))
    spread = f", from {least} to {most}" if len(rows) > 1 else ""
    return [
        f"Disagreement alone detects {_percent(mean)} of the tasks on which a model errs, on average{spread}; the "
        "others are wrong despite agreement."
    ]


def _right(table: pl.DataFrame) -> list[str]:
    """Say how many alarms are right, where ``table`` has that: ``readings.alarm_rates``."""
    rows = _ordered(table, "precision")
    if not rows:
        return []
    least, most = rows[0], rows[-1]
    others = f", {_percent(least['precision'])} of {least['model']}'s" if len(rows) > 1 else ""
    return [
        f"Of the tasks on which programs of {most['model']} disagree, {_percent(most['precision'])} hold an error on "
        f"an input that the task allows{others}."
    ]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A number and what it says."""

    value: str
    """7.2 % [5.1, 10.3]"""
    words: str
    detail: str
    """Whose number it is, and that of the model to compare with."""


def headlines(table: pl.DataFrame, *, with_reference: bool = True) -> list[Headline]:
    """Return the numbers of ``sentences.compare``: error, detection, what agreement hides, precision if it is there.

    Of the models with least and most error. Without a reference the least and the most incoherence; none of either
    measure where no task defines it.
    """
    measure = "mean_error" if with_reference else "mean_incoherence"
    rows = _ordered(table, measure)
    if not rows:
        return []
    best, worst = rows[0], rows[-1]
    if with_reference:
        return [
            Headline(value=_value(best, name), words=words, detail=f"{_name(best)}{_beside(best, worst, name, what)}")
            for name, words, what in _OF_THE_BEST
            if name != "precision" or best.get(name) is not None
        ]
    ends = {"lowest incoherence: how often two programs of the model disagree": best, "highest incoherence": worst}
    return [
        Headline(value=_value(row, measure), words=words, detail=_name(row))
        for words, row in list(ends.items())[: len(rows)]
    ]


_OF_THE_BEST: Final = (
    ("mean_error", "lowest error: how often a program's result is wrong", "highest: "),
    ("detection_rate", "of the best model's wrong tasks show disagreement", "highest error: "),
    ("precision", "of its tasks with disagreement are wrong on an input that the task allows", "highest error: "),
    (SILENT, "of the tasks are wrong although all its programs agree", "highest error: "),
)
"""Measure, what its number says, and what stands before that of the worst model."""


def _value(row: dict[str, Any], measure: str) -> str:
    return in_percent(row[measure], row[f"{measure}{LOW}"], row[f"{measure}{HIGH}"])


def _name(row: dict[str, Any]) -> str:
    return display_name(row["model"])


def _beside(best: dict[str, Any], worst: dict[str, Any], measure: str, what: str) -> str:
    return "" if best["model"] == worst["model"] else f" · {what}{_name(worst)}, {_value(worst, measure)}"
