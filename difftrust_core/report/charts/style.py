"""How every chart looks: colours that all can tell apart, letters large enough, words and units for columns."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import altair as alt

from difftrust_core.report.names import family_of

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
SHAPES: Final = ("circle", "square", "triangle-up", "diamond")
"""Told apart where colours repeat."""
GREY: Final = "#767676"
PALE: Final = "#EFEFEF"
LETTERS: Final = "#444444"
"""Of axes, legends and titles: 9.7 : 1 on white; a dark page exchanges it."""
FONT_SIZE: Final = 11

TITLES: Final = {
    "mean_incoherence": "mean incoherence (no reference needed)",
    "mean_error": "mean error (against the reference)",
    "incoherence": "incoherence (no reference needed)",
    "error": "error (against the reference)",
    "found": "tasks flagged by incoherence (% of all tasks)",
    "erroneous": "erroneous tasks (% of all tasks)",
    "found_rank": "rank by tasks flagged by incoherence (1 = fewest)",
    "erroneous_rank": "rank by erroneous tasks (1 = fewest)",
    "failure": "1 - pass@1",
    "detection_rate": "detection rate (% of erroneous tasks)",
    "detection_rate_all_pairs": "detection rate (% of erroneous tasks)",
    "undetected_mean_error": "mean error of undetected tasks",
    "undetected_mean_error_all_pairs": "mean error of undetected tasks",
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


def colour_of(column: str, names: Sequence[str], *, among: Sequence[str] | None = None, **options: Any) -> alt.Color:
    """Return the colour encoding of a column of names, in their order; the colours repeat after eight.

    ``among``: all names, where this chart shows some of them: a name has one colour in all charts of the same ones.
    """
    place = {name: i for i, name in enumerate(names if among is None else among)}
    repeated = [COLOURS[place[name] % len(COLOURS)] for name in names]
    return alt.Color(f"{column}:N", scale=alt.Scale(domain=list(names), range=repeated), **options)


def family_colour(model: str) -> str:
    """Return the colour of a model's family, the same in every chart; grey for a model of no known family."""
    return FAMILY_COLOURS.get(family_of(model), GREY)


def shape_of(column: str, names: Sequence[str], **options: Any) -> alt.Shape:
    """Return the shape encoding that goes with ``colour_of``: another one for each further eight names."""
    repeated = [SHAPES[i // len(COLOURS) % len(SHAPES)] for i in range(len(names))]
    return alt.Shape(f"{column}:N", scale=alt.Scale(domain=list(names), range=repeated), **options)


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
