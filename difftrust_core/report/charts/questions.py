"""pass@1 against the number of answers that a user gave."""

from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.analysis.questions import BEST, RANDOM
from difftrust_core.metrics.aggregate import MEAN
from difftrust_core.report.charts.series import DASHES, Look, lines_of, look_of
from difftrust_core.report.charts.style import LETTERS, SHAPES, SHARE, SHARES, side_by_side, styled
from difftrust_core.report.names import display_name, with_display_names

_DASHES: Final = (*DASHES, (4, 2))
_SHAPES: Final = (*SHAPES, "cross")
_BAND: Final = 0.16
_DASH: Final = [2, 3]
_STEP: Final = 0.05


def draw_questions(frame: pl.DataFrame) -> Any:
    """Draw pass@1 against answers: a panel a benchmark, a line a model, the mean in black with its interval.

    ``frame``: a row a (benchmark, model, question, answers): pass_at_1 and its ends. Dotted is what a random input
    brings, of the mean; of a single model, its own line has the band and the dots.
    """
    names = frame.filter(pl.col("model") != MEAN)["model"].unique().sort().to_list()
    look = look_of(lines_of(names), names, [display_name(name) for name in names])
    best, chance = (frame.filter(question=question) for question in (BEST, RANDOM))
    main = MEAN if MEAN in frame["model"] else names[0]
    low = min(float(x) for x in (best["pass_at_1"].min(), frame.filter(model=main)["pass_at_1_low"].min()))  # type: ignore[arg-type]
    high = max(float(x) for x in (best["pass_at_1"].max(), frame.filter(model=main)["pass_at_1_high"].max()))  # type: ignore[arg-type]
    ends = (max(0.0, low // _STEP * _STEP), min(1.0, (high // _STEP + 1) * _STEP))
    panels = []
    for benchmark in frame["benchmark"].unique().sort():
        own = [with_display_names(part.filter(benchmark=benchmark)) for part in (best, chance)]
        panel = _panel(own[0], own[1], look, display_name(main), ends)
        panels.append(panel.properties(title=benchmark, width=360, height=340))
    return styled(side_by_side(panels))


def _panel(best: pl.DataFrame, chance: pl.DataFrame, look: Look, main: str, ends: tuple[float, float]) -> Any:
    legend = alt.Legend(title=None, orient="bottom", columns=5, symbolOpacity=1, symbolStrokeWidth=0)
    axis = alt.Axis(values=sorted(best["answers"].unique()), format="d")
    x = alt.X("answers:Q", title="answers (0: the consensus)", axis=axis, scale=alt.Scale(padding=8))
    y = _share("pass_at_1", ends)
    tooltip = [
        *(alt.Tooltip("model:N"), alt.Tooltip("question:N"), alt.Tooltip("answers:Q")),
        *(alt.Tooltip(f"pass_at_1{end}:Q", title=said, format=SHARE) for end, said in _ENDS.items()),
    ]
    colours, dashes, shapes = _channels(look, legend)
    drawn, of_chance = best.filter(model=main), chance.filter(model=main)
    colour = LETTERS if main == MEAN else look[0][1]
    lines = alt.Chart(best.filter(pl.col("model") != MEAN)).encode(x=x, y=y)
    whole = alt.Chart(drawn).encode(x=x)
    layers = [
        whole.mark_area(opacity=_BAND, color=colour).encode(
            y=_share("pass_at_1_low", ends), y2=alt.Y2("pass_at_1_high:Q")
        ),
        lines.mark_line(strokeWidth=1.4).encode(color=colours, strokeDash=dashes),
        lines.mark_point(filled=True, size=28, opacity=1).encode(color=colours, shape=shapes, tooltip=tooltip),
        whole.mark_line(strokeWidth=3.5 if main == MEAN else 2, color=colour).encode(y=y, tooltip=tooltip),
        alt.Chart(of_chance)
        .mark_line(strokeWidth=2.5, strokeDash=_DASH, color=colour)
        .encode(x=x, y=y, tooltip=tooltip),
    ]
    return alt.layer(*layers)


def _channels(look: Look, legend: alt.Legend) -> tuple[alt.Color, alt.StrokeDash, alt.Shape]:
    """Return colour, dash and shape of the models; of a family up to five are told apart."""
    names = [name for name, _, _ in look]
    scales = [
        alt.Scale(domain=names, range=wanted)
        for wanted in (
            [colour for _, colour, _ in look],
            [list(_DASHES[turn % len(_DASHES)]) for _, _, turn in look],
            [_SHAPES[turn % len(_SHAPES)] for _, _, turn in look],
        )
    ]
    return (
        alt.Color("model:N", scale=scales[0], legend=legend),
        alt.StrokeDash("model:N", scale=scales[1], legend=None),
        alt.Shape("model:N", scale=scales[2], legend=legend),
    )


_ENDS: Final = {"": "pass@1", "_low": "95 % interval, from", "_high": "to"}


def _share(name: str, ends: tuple[float, float]) -> alt.Y:
    scale = alt.Scale(domain=list(ends), nice=False)
    return alt.Y(f"{name}:Q", title="pass@1 (% of tasks)", scale=scale, axis=alt.Axis(format=SHARES))
