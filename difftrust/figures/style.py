"""How every chart looks: colours that all can tell apart, letters large enough, words and units for columns."""

import textwrap
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import altair as alt
import polars as pl

from difftrust.results import Figure
from difftrust.tables.names import display_name, family_of

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Okabe and Ito's, blue and vermillion first; ochre for their yellow, which white paper swallows."""
FAMILY_COLOURS: Final = {
    "Claude": "#C4588E",
    "DeepSeek": "#000000",
    "Gemini": "#0072B2",
    "GPT": "#009E73",
    "Llama": "#8C6D31",
    "Mistral": "#7A4FB5",
}
"""Family -> colour of its models in every chart; at least 3 : 1 on white and on a dark page, apart from OUTCOMES."""
OUTCOMES: Final = {"right": "#DCE3EA", "detected": "#E69F00", "undetected": "#B5400A", "undefined": "#BBBBBB"}
"""What happened on a task -> colour: the model is right; wrong and detected; wrong, all programs agree; unknown."""
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross")
"""Told apart where colours repeat."""
DASHES: Final = ((1, 0), (7, 4), (2, 3), (10, 3, 2, 3), (4, 2))
MIXTURE: Final = "#D55E00"
"""The colour of several models together, which no family has."""
GREY: Final = "#767676"
PALE: Final = "#EFEFEF"
LETTERS: Final = "#444444"
"""Of axes, legends and titles: 9.7 : 1 on white; a dark page exchanges it."""
FONT_SIZE: Final = 12
WIDTH: Final = 860
"""Pixels that a title may be wide; with axes a chart then fits the page of a notebook."""
_TITLE_SIZE: Final = 14
BAND: Final = 0.14
"""Opacity of an interval along a line."""
_LETTER: Final = 0.52
"""Mean width of a letter, in units of the font size."""

TITLES: Final = {
    "mean_incoherence": "mean incoherence (no reference needed)",
    "mean_error": "mean error (against the reference)",
    "incoherence": "incoherence (no reference needed)",
    "error": "error (against the reference)",
    "found": "tasks flagged by incoherence (% of all tasks)",
    "erroneous": "erroneous tasks (% of all tasks)",
    "found_rank": "rank by tasks flagged by incoherence (1 = fewest)",
    "erroneous_rank": "rank by erroneous tasks (1 = fewest)",
    "detection_rate": "detection rate (% of erroneous tasks)",
    "m": "programs per task (m)",
    "n": "inputs per task (n)",
    "temperature": "sampling temperature",
}
"""Column -> title of its axis."""
SHARES: Final = "~%"
"""Format of an axis of shares: 0.072 is 7.2%."""
SHARE: Final = ".3~p"
"""Format of one share, in three digits."""


def title_of(column: str) -> str:
    """Return what to call a column on an axis."""
    return TITLES.get(column, column.replace("_", " "))


def axis(
    channel: Any,
    column: str,
    *,
    title: str | None,
    ends: tuple[float, float] | None = None,
    scale: Mapping[str, Any] | None = None,
    format: str = SHARES,
    **drawn: Any,
) -> Any:
    """Return ``channel`` (alt.X or alt.Y) of a column of numbers, shares unless ``format`` is another.

    ``ends``: the values at the ends of the axis. ``scale`` and ``drawn``: what else Altair takes for scale and axis.
    """
    exact: dict[str, Any] = {"domain": list(ends), "nice": False} if ends else {}
    made = alt.Scale(**exact, **(scale or {}))
    return channel(f"{column}:Q", title=title, scale=made, axis=alt.Axis(format=format, **drawn))


def legend(columns: int = 4, orient: Any = "bottom", *, title: str | None = None, **look: Any) -> alt.Legend:
    """Return a legend below the chart, or where ``orient`` says."""
    return alt.Legend(title=title, orient=orient, columns=columns, **look)


def tips(*names: str, **numbers: str | tuple[str, str | None] | None) -> list[alt.Tooltip]:
    """Return what a mark tells: columns of names, then of numbers: column = format, or (title, format).

    A name may be ``column: title``; without a format a number is told as it is.
    """
    made = []
    for said in names:
        column, _, title = said.partition(": ")
        made.append(alt.Tooltip(f"{column}:N", title=title or column.replace("_", " ")))
    for column, told in numbers.items():
        title, spelled = told if isinstance(told, tuple) else (column.replace("_", " "), told)
        made.append(alt.Tooltip(f"{column}:Q", title=title, format=spelled or alt.Undefined))
    return made


class Line(NamedTuple):
    """How one of several lines is told apart."""

    colour: str
    turn: int
    """Its number among the lines of its colour, from 0: says dash and shape."""


def lines_of(names: Sequence[str], *, of_models: bool = True) -> dict[str, Line]:
    """Return what each name's line looks like, in their order. ``of_models``: the names are models' ids or mixtures'.

    Else they are benchmarks and the like: a colour each, the colours repeat after eight.
    """
    found: dict[str, Line] = {}
    turns: dict[str, int] = {}
    for i, name in enumerate(names):
        colour = (MIXTURE if "+" in name else family_colour(name)) if of_models else COLOURS[i % len(COLOURS)]
        found[name] = Line(colour, turns.get(colour, 0))
        turns[colour] = turns.get(colour, 0) + 1
    return found


def channels(column: str, lines: Mapping[str, Line], legend: alt.Legend | None) -> dict[str, Any]:
    """Return the channels color, strokeDash and shape of a column of names; the last two where lines share a colour.

    The column holds the names of ``lines`` as people read them.
    """
    names = [display_name(name) for name in lines]

    def channel(kind: Any, looks: Sequence[Any]) -> Any:
        return kind(f"{column}:N", scale=alt.Scale(domain=names, range=list(looks)), legend=legend)

    made = {"color": channel(alt.Color, [line.colour for line in lines.values()])}
    if any(line.turn for line in lines.values()):
        turns = [line.turn for line in lines.values()]
        made["strokeDash"] = channel(alt.StrokeDash, [list(DASHES[turn % len(DASHES)]) for turn in turns])
        made["shape"] = channel(alt.Shape, [SHAPES[turn % len(SHAPES)] for turn in turns])
    return made


def line_layers(
    table: pl.DataFrame, x: Any, y: Any, look: Mapping[str, Any], *, tooltip: Any, band: str = "", **line: Any
) -> list[Any]:
    """Return a line and its points, and below them a band from ``band``_low to ``band``_high where there are such.

    ``y`` makes the axis of a column's name; ``look``: ``channels``. ``line``: encodings of the line alone.
    """
    shown = alt.Chart(table).encode(x=x, color=look["color"])
    low, high = f"{band}_low", f"{band}_high"
    layers = []
    if low in table.columns:
        area = shown.transform_filter(f"isValid(datum.{low})").mark_area(opacity=BAND, line=False)
        layers.append(area.encode(y=y(low), y2=f"{high}:Q"))
    dash, shape = ({name: look[name]} if name in look else {} for name in ("strokeDash", "shape"))
    layers.append(shown.mark_line(strokeWidth=2).encode(y=y(), **dash, **line))
    layers.append(shown.mark_point(filled=True, size=55, opacity=1).encode(y=y(), tooltip=tooltip, **shape))
    return layers


def dashed_line(points: pl.DataFrame, **at: Any) -> Any:
    """Return a dashed line through points; at one value alone across the whole chart."""
    chart = alt.Chart(points)
    mark = chart.mark_line if points.height > 1 else chart.mark_rule
    return mark(color=GREY, strokeDash=[4, 4]).encode(**at)


def panels(table: pl.DataFrame, by: str, draw: Any, *, width: int, height: Any, columns: int = 3) -> Any:
    """Return a finished chart with a panel for each value of the column ``by``; ``draw`` makes one of its rows."""
    parts = table.sort(by, maintain_order=True).group_by(by, maintain_order=True)
    made = [draw(rows).properties(title=display_name(str(name)), width=width, height=height) for (name,), rows in parts]
    return styled(side_by_side(made, columns=columns))


def family_colour(model: str) -> str:
    """Return the colour of a model's family, the same in every chart; grey for a model of no known family."""
    return FAMILY_COLOURS.get(family_of(model), GREY)


def styled(chart: Any) -> Any:
    """Return a finished chart in the common look: white ground, dark letters of 11 pixels, a light grid."""
    finished = chart.copy(deep=False)  # each configure_... would copy the whole chart
    finished.config = _look().copy()
    return finished


@cache
def _look() -> alt.Config:
    return alt.Config(
        background="white",
        view=alt.ViewConfig(stroke="#BBBBBB"),
        axis=alt.AxisConfig(**_letters(), titleFontWeight="normal", gridColor=PALE, labelFlush=False),
        legend=alt.LegendConfig(**_letters(), labelLimit=0, symbolSize=70),
        header=alt.HeaderConfig(labelColor=LETTERS, titleColor=LETTERS),
        title=alt.TitleConfig(
            fontSize=FONT_SIZE + 1, anchor="start", fontWeight="bold", color=LETTERS, subtitleColor=LETTERS
        ),
        concat=alt.CompositionConfig(spacing=24),
    )


def _letters() -> dict[str, Any]:
    return {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "labelColor": LETTERS, "titleColor": LETTERS}


def side_by_side(panels: list[Any], *, columns: int = 3) -> Any:
    """Return the panels in rows of ``columns``; a single one as it is."""
    with warnings.catch_warnings():
        # One selection in several panels is meant to be one: Altair warns that it makes it one.
        warnings.filterwarnings("ignore", message="Automatically deduplicated selection")
        return panels[0] if len(panels) == 1 else alt.concat(*panels, columns=columns)


def titled_figure(
    chart: Any, frame: pl.DataFrame, title: str, *lines: str, notes: tuple[str, ...] = (), width: int = WIDTH
) -> Figure:
    """Return the chart under a title and lines that say what to see, each folded to ``width`` pixels.

    ``frame``: the table that it draws.
    """
    made = chart.copy(deep=False)
    made.title = alt.Title(
        text=folded(title, _TITLE_SIZE, width),
        subtitle=[part for line in lines for part in folded(line, FONT_SIZE, width)],
        anchor="start",
        fontSize=_TITLE_SIZE,
        fontWeight="bold",
        subtitleFontSize=FONT_SIZE,
        subtitleColor=LETTERS,
        subtitleLineHeight=15,
        subtitlePadding=5,
        offset=12,
    )
    return Figure(chart=made, frame=frame, notes=notes)


def folded(text: str, size: int, width: int) -> list[str]:
    """Return a text in lines that fit ``width`` pixels in letters of ``size``."""
    return textwrap.wrap(text, max(20, int(width / (size * _LETTER)))) or [""]


def stacked(*charts: Any) -> Any:
    """Return finished charts one below the other, in the look of the first."""
    parts = [chart.copy(deep=False) for chart in charts]
    look = parts[0].config
    for part in parts:
        part.config = alt.Undefined
    made = alt.vconcat(*parts, spacing=26).resolve_scale(color="independent", shape="independent")
    made.config = look
    return made


def sizes_of(frame: pl.DataFrame) -> list[str]:
    """Return in words the m, n and temperature that rows rest on, as far as they have such columns."""
    said = []
    if "m" in frame.columns and frame["m"].count():
        said.append(f"m = {frame['m'].sort()[-1]}")
    for name, written in (("n", "n = {}"), ("temperature", "temperature {}")):
        if name in frame.columns:
            values = frame[name].drop_nulls().unique().sort().to_list()
            ends = list(dict.fromkeys([f"{value:,g}" for value in (*values[:1], *values[-1:])]))
            said += [written.format(" to ".join(ends))] if ends else []
    return said
