"""What may tell where an error is without a reference, compared: ROC curves, AUROC, what one adds to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from difftrust.figures.curves import draw_roc
from difftrust.figures.heat_maps import draw_correlations
from difftrust.figures.interval_bars import draw_auroc
from difftrust.figures.style import sizes_of, titled_figure
from difftrust.research.signals import SIGNALS, added_table, auroc_table, correlation_table, roc_table
from difftrust.results import Figure, Table
from difftrust.tables.names import display_name

_NARROW: Final = 520
"""Pixels of a title over a chart that is not as wide as the page."""


@dataclass(frozen=True, eq=False, repr=False)
class Signals(Table):
    """Error beside every signal, a row a (coder, task); ``filter`` keeps some of the rows."""

    def auroc(self, signals: Sequence[str] = ()) -> Figure:
        """Return the AUROC for error > 0 of these signals, or of all, with 95 % intervals over tasks."""
        table = _of(auroc_table(self.frame), signals)
        return titled_figure(
            draw_auroc(table),
            table.rename({"low": "auroc_low", "high": "auroc_high"}),
            f"Which signal tells erroneous tasks from right ones? {self._setting}",
            "A point further right tells them apart better; the dashed line at 0.5 is chance.",
            width=_NARROW,
        )

    def roc(self, signals: Sequence[str] = ()) -> Figure:
        """Return ROC curves: of these signals, or of all."""
        curves = _of(roc_table(self.frame), signals)
        return titled_figure(
            draw_roc(curves),
            curves,
            f"Errors found against false alarms, by signal: {self._setting}",
            "The higher a line runs, the better; the thin diagonal is chance.",
            width=_NARROW,
        )

    def correlations(self, columns: Sequence[str] | None = None) -> Figure:
        """Return Pearson's r between every two signals and error, or between these columns."""
        table = correlation_table(self.frame, columns)
        return titled_figure(
            draw_correlations(table),
            table,
            f"Correlation of every two measures (Pearson's r): {self._setting}",
            "Orange: they rise together; blue: one falls as the other rises; pale: neither.",
            width=_NARROW,
        )

    def added(self, base: Sequence[str], others: Sequence[str]) -> Table:
        """Return what each of ``others`` adds to the AUROC of the signals of ``base``, cross-validated over tasks."""
        gains = added_table(self.frame, list(base), list(others))
        return Table(gains.rename({"low": "gain_low", "high": "gain_high"}))

    def means(self, columns: Sequence[str]) -> "Signals":
        """Return the means of these columns: a row for each benchmark and model; undefined values are left out."""
        averaged = self.frame.group_by("benchmark", "model").agg(pl.col(columns).mean())
        return Signals(averaged.sort("benchmark", "model"))

    @property
    def _setting(self) -> str:
        models = sorted(map(display_name, self.frame["model"].unique()))
        benchmarks = self.frame["benchmark"].unique().sort().to_list()
        whose = models[0] if len(models) == 1 else f"{len(models)} models"
        return ", ".join([f"{whose} on {' and '.join(benchmarks)}", *sizes_of(self.frame)])

    @property
    def families(self) -> dict[str, str]:
        """Return each signal's family: behaviour, structure, text or length."""
        return {signal.column: signal.family for signal in SIGNALS}


def _of(table: pl.DataFrame, signals: Sequence[str]) -> pl.DataFrame:
    return table.filter(pl.col("signal").is_in(list(signals))) if signals else table
