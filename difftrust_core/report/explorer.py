"""Sliders in a notebook: m, n, temperature and models; the ranking and its table follow."""

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import polars as pl

from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.report.charts.ranking import ranking_drawing
from difftrust_core.report.names import display_name
from difftrust_core.report.shown import Table, picture

SHOWN = ("mean_error", "mean_incoherence", "detection_rate", "undetected_mean_error", "pass_at_1")


class Explorer:
    """Widgets over the pool of one benchmark; ``frame`` holds what is shown at the moment.

    ``measure`` is ``Study.ablation`` for the benchmark.
    """

    def __init__(self, pool: Pool, measure: Callable[..., Table]):
        self._measure = measure
        coders = sorted(pool.members)
        most_m = max(int(members.sample_index.max()) + 1 for members in pool.members.values())
        most_n = max(pool.reach(coder) for coder in coders)
        temperatures = sorted({temperature for _, temperature in coders})
        models = sorted({model for model, _ in coders})
        wide = {"style": {"description_width": "90px"}, "continuous_update": False}
        self.m = widgets.IntSlider(value=min(10, most_m), min=2, max=most_m, description="programs m", **wide)
        self.n = widgets.SelectionSlider(
            options=_steps(most_n), value=max(n for n in _steps(most_n) if n <= 1000), description="inputs n", **wide
        )
        self.temperature = widgets.SelectionSlider(
            options=temperatures,
            value=0.6 if 0.6 in temperatures else temperatures[0],
            description="temperature",
            **wide,
        )
        self.models = widgets.SelectMultiple(
            options=[(display_name(model), model) for model in models],
            value=tuple(models),
            rows=min(8, len(models)),
            description="models",
            style={"description_width": "90px"},
        )
        self._chart, self._table = widgets.Image(format="png"), widgets.HTML()
        for control in (self.m, self.n, self.temperature, self.models):
            control.observe(self._follow, names="value")
        self._follow()

    def _follow(self, _: object = None) -> None:
        """Compute the setting that the sliders name and show it."""
        found = self._measure(
            self.models.value,
            m=self.m.value,
            n=self.n.value,
            temperature=self.temperature.value,
        )
        self.notes = found.notes
        self.frame = found.frame.select("benchmark", "model", "m", "n", *SHOWN) if len(found) else pl.DataFrame()
        self.chart = ranking_drawing(self.frame).chart() if len(found) else None
        if self.chart is None:
            self._chart.value, self._table.value = b"", "No model is recorded at this setting: move a slider back."
            return
        png, size = picture(self.chart)
        self._chart.value = png["image/png"]
        self._chart.width, self._chart.height = (str(size["image/png"][side]) for side in ("width", "height"))
        self._table.value = Table(self.frame)._repr_html_()

    def __repr__(self) -> str:
        """Return the numbers of the moment as text."""
        return repr(Table(self.frame, notes=self.notes))

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widgets, and beside them a picture for readers that run nothing."""
        controls = widgets.VBox([widgets.HBox([self.m, self.n]), widgets.HBox([self.temperature, self.models])])
        box = widgets.VBox([controls, self._chart, self._table])
        data, metadata = picture(self.chart) if self.chart is not None else ({}, {})
        return {**data, **box._repr_mimebundle_(), "text/plain": repr(self)}, metadata


def _steps(most: int) -> list[int]:
    """Return the stops of the slider of inputs: 1, 2, 5, 10, ... and all of them."""
    stops = [a * 10**k for k in range(len(str(most))) for a in (1, 2, 5)]
    return sorted({*(stop for stop in stops if stop <= most), most})
