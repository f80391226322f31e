"""How the lines of a chart of models are told apart: a colour a family, another dash for each further model of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from difftrust_core.report.charts.style import COLOURS, SHAPES, family_colour

MIXTURE: Final = "#D55E00"
"""The colour of several models together, which no family has."""
DASHES: Final = ((1, 0), (7, 4), (2, 3), (10, 3, 2, 3))


@dataclass(frozen=True, kw_only=True)
class Line:
    """What a line looks like."""

    colour: str
    turn: int
    """Its number among the lines of its colour, from 0: says dash and shape."""

    @property
    def dash(self) -> tuple[int, ...]:
        """Return the dash of the line."""
        return DASHES[self.turn % len(DASHES)]

    @property
    def shape(self) -> str:
        """Return the shape of its points."""
        return SHAPES[self.turn % len(SHAPES)]


def lines_of(names: Sequence[str], *, of_models: bool = True) -> dict[str, Line]:
    """Return what each name's line looks like, in their order. ``of_models``: the names are models' ids or mixtures'.

    Else they are benchmarks and the like: a colour each.
    """
    found: dict[str, Line] = {}
    turns: dict[str, int] = {}
    for i, name in enumerate(names):
        colour = _colour_of_models(name) if of_models else COLOURS[i % len(COLOURS)]
        found[name] = Line(colour=colour, turn=turns.get(colour, 0))
        turns[colour] = turns.get(colour, 0) + 1
    return found


def _colour_of_models(name: str) -> str:
    return MIXTURE if "+" in name else family_colour(name)


Look = tuple[tuple[str, str, int], ...]
"""(what the name is called, colour, turn) of each line, in order: as an option of a drawing."""


def look_of(lines: dict[str, Line], names: Sequence[str], called: Sequence[str]) -> Look:
    """Return the lines of ``names``, and what they are ``called``, as an option of a drawing."""
    return tuple((call, lines[name].colour, lines[name].turn) for name, call in zip(names, called, strict=True))


def encodings(column: str, look: Look, *, legend: alt.Legend | None) -> dict[str, Any]:
    """Return the encodings of colour, dash and shape; dash and shape only where two lines share a colour."""
    domain = [name for name, _, _ in look]
    made: dict[str, Any] = {
        "color": alt.Color(
            f"{column}:N", scale=alt.Scale(domain=domain, range=[colour for _, colour, _ in look]), legend=legend
        )
    }
    if any(turn for _, _, turn in look):
        dashes = [list(DASHES[turn % len(DASHES)]) for _, _, turn in look]
        made["strokeDash"] = alt.StrokeDash(f"{column}:N", scale=alt.Scale(domain=domain, range=dashes), legend=legend)
    return made


def shape_encoding(column: str, look: Look) -> dict[str, Any]:
    """Return the encoding of the points' shape; none where no two lines share a colour."""
    if not any(turn for _, _, turn in look):
        return {}
    shapes = [SHAPES[turn % len(SHAPES)] for _, _, turn in look]
    scale = alt.Scale(domain=[name for name, _, _ in look], range=shapes)
    return {"shape": alt.Shape(f"{column}:N", scale=scale, legend=None)}
