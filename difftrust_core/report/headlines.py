"""The three numbers of a benchmark that are read first, each with its 95 % interval and what it means."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from difftrust_core.metrics.intervals.tables import HIGH, LOW
from difftrust_core.report.names import display_name
from difftrust_core.report.sentences import SILENT, in_percent


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A number and what it says."""

    value: str
    """7.2 % [5.1, 10.3]"""
    words: str
    detail: str
    """Whose number it is, and that of the model to compare with."""


def headlines(table: pl.DataFrame, *, with_reference: bool = True) -> list[Headline]:
    """Return the numbers of ``sentences.compare``: error, detection and what agreement hides.

    Of the models with least and most error. Without a reference the least and the most incoherence; none of either
    measure where no task defines it.
    """
    measure = "mean_error" if with_reference else "mean_incoherence"
    known = table.drop_nulls(measure).sort(measure, "model")
    if known.is_empty():
        return []
    best, worst = known.row(0, named=True), known.row(-1, named=True)
    if not with_reference:
        return _of_incoherence(best, worst, known.height)
    return [
        Headline(
            value=_value(best, "mean_error"),
            words="lowest error: how often a program's result is wrong",
            detail=f"{_name(best)}{_beside(best, worst, 'mean_error', 'highest: ')}",
        ),
        Headline(
            value=_value(best, "detection_rate"),
            words="of the errors of the best model show as disagreement among its programs",
            detail=f"{_name(best)}{_beside(best, worst, 'detection_rate', 'highest error: ')}",
        ),
        Headline(
            value=_value(best, SILENT),
            words="of the tasks are wrong although all its programs agree",
            detail=f"{_name(best)}{_beside(best, worst, SILENT, 'highest error: ')}",
        ),
    ]


def _of_incoherence(least: dict[str, Any], most: dict[str, Any], n_models: int) -> list[Headline]:
    measure = "mean_incoherence"
    first = Headline(
        value=_value(least, measure),
        words="lowest incoherence: how often two programs of the model disagree",
        detail=_name(least),
    )
    if n_models == 1:
        return [first]
    return [first, Headline(value=_value(most, measure), words="highest incoherence", detail=_name(most))]


def _value(row: dict[str, Any], measure: str) -> str:
    return in_percent(row[measure], row[f"{measure}{LOW}"], row[f"{measure}{HIGH}"])


def _name(row: dict[str, Any]) -> str:
    return display_name(row["model"])


def _beside(best: dict[str, Any], worst: dict[str, Any], measure: str, what: str) -> str:
    return "" if best["model"] == worst["model"] else f" · {what}{_name(worst)}, {_value(worst, measure)}"
