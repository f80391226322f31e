"""Cells whose colour says what happened: programs and inputs, and signals."""

from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.interval_bars import LABELS, ROW
from difftrust.figures.style import COLOURS, GREY, SHARE, legend, panels, styled, tips
from difftrust.tables.names import display_name, family_of

RANKS: Final = ("most common", "2nd", "3rd", "4th", "5th", "6th", "rarer")
"""What the colour of a cell says: how common its outcome is among the outcomes on that input."""
_RANK_COLOURS: Final = ("#DCE3EA", COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3], COLOURS[4], "#8A8F98")
LONGEST: Final = 120
"""Characters of an input or an outcome that a tooltip shows."""
_TEXTS: Final = {"arguments": "input", "outcome_text": "outcome"}
"""Column -> what its text is called."""
_MANY: Final = 25
"""Inputs beyond which the lines between cells are hair-thin."""
_CORRELATION_COLOURS: Final = ("#5AA9DC", "#FFFFFF", "#F0883E")
"""Of -1, 0 and 1: blue and orange so pale that black numbers can be read on them, contrast 8 and more."""
_WIDE, _NARROW = 33, 23
"""Pixels of a cell that holds -0.50, and of one that holds -.5."""


def draw_heat_map(table: pl.DataFrame) -> Any:
    """Draw which outcome each candidate has on each kind of input: candidates down, inputs across.

    ``table``: one row a (cluster, kind of input): cluster, first and last (its candidates' places, a row each), place
    (of the input, from 0), input_index, n_inputs of the same kind, rank (0: the outcome of most programs). Where they
    are known, arguments (of the input, shown up to LONGEST characters) and outcome_text (what the cluster does there).
    """
    told = [name for name in _TEXTS if name in table.columns]
    text = pl.col(pl.String)
    cut = pl.when(text.str.len_chars() > LONGEST).then(text.str.head(LONGEST - 1) + "…").otherwise(text)
    shown = table.with_columns(cut.name.keep()).with_columns(
        outcome=pl.col("rank").clip(0, len(RANKS) - 1).replace_strict(dict(enumerate(RANKS)), return_dtype=pl.String),
        right=pl.col("place") + 1,
    )
    down, across = alt.Scale(reverse=True, nice=False, padding=0), alt.Scale(nice=False, padding=0)
    inputs = alt.Axis(title="disagreeing inputs (most different outcomes first)", tickMinStep=1)
    programs = alt.Axis(title="programs (grouped by cluster)", tickMinStep=1)
    is_fine = max(shown["right"].to_list(), default=0) > _MANY
    numbers = {
        "n_candidates": "programs", "input_index": "number of the input", "n_inputs": "inputs with the same split",
    }  # fmt: skip
    cells = (
        alt.Chart(shown)
        .mark_rect(stroke="white", strokeWidth=0.3 if is_fine else 0.8)
        .encode(
            x=alt.X("place:Q", scale=across, axis=inputs),
            x2="right:Q",
            y=alt.Y("first:Q", scale=down, axis=programs),
            y2="last:Q",
            color=alt.Color(
                "outcome:N", scale=alt.Scale(domain=list(RANKS), range=list(_RANK_COLOURS)),
                legend=legend(title="outcome"),
            ),
            tooltip=[
                *tips(*(f"{name}: {_TEXTS[name]}" for name in told), "cluster"),
                *tips(**{name: (said, None) for name, said in numbers.items()}),
                *tips("outcome: how common"),
            ],
        )
    )  # fmt: skip
    edges = shown.select("last").unique(maintain_order=True).filter(pl.col("last") < pl.col("last").max())
    lines = alt.Chart(edges).mark_rule(color=GREY, strokeWidth=0.8).encode(y=alt.Y("last:Q", scale=down))
    return styled(alt.layer(cells, lines).properties(width=640, height=320))


def draw_correlations(table: pl.DataFrame) -> Any:
    """Draw ``signals.correlation_table``: orange together, blue against each other, white not at all.

    A cell says r in as many digits as it has room for.
    """
    names = table["a"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=[-1, 0, 1], range=list(_CORRELATION_COLOURS), interpolate="rgb")
    told = tips("a: signal", "b: other signal", value=("r", ".3f"))
    drawn = _cells(table.rename({"r": "value"}), names, "Pearson's r", scale, told)
    return styled(drawn.properties(width=34 * len(names), height=ROW * len(names)))


def draw_model_pairs(table: pl.DataFrame, *, title: str) -> Any:
    """Draw a value between 0 and 1 of every two models, the deeper the more: a panel a benchmark.

    ``table``: benchmark, a, b (ids of models, each pair both ways), value. Models of one family stand together, lines
    between the families.
    """
    models = sorted(table["a"].unique().to_list(), key=lambda model: (family_of(model), display_name(model)))
    names = [display_name(model) for model in models]
    shown = table.with_columns(pl.col("a", "b").replace_strict(dict(zip(models, names, strict=True))))
    firsts = [one for one, before in zip(models[1:], models, strict=False) if family_of(one) != family_of(before)]
    edges = alt.Chart(pl.DataFrame({"edge": [display_name(model) for model in firsts]}, schema={"edge": pl.String}))
    scale = alt.Scale(domain=[0, 1], range=list(_CORRELATION_COLOURS[1:]), interpolate="rgb")

    def draw(rows: pl.DataFrame) -> Any:
        told = tips("a: model", "b: other model", value=(title, SHARE))
        lines = [
            edges.mark_rule(color=GREY).encode(
                **{side: channel("edge:N", scale=alt.Scale(domain=names), bandPosition=0)}
            )
            for side, channel in (("x", alt.X), ("y", alt.Y))
        ]
        return alt.layer(_cells(rows, names, title, scale, told), *lines)

    size = len(names)
    return panels(shown, "benchmark", draw, width=34 * size, height=ROW * size, columns=1)


def _cells(table: pl.DataFrame, names: list[str], title: str, scale: alt.Scale, told: list[alt.Tooltip]) -> Any:
    """Return a cell for each ``value`` of a and b, in the order of ``names``, with its number where it has room.

    Where columns are too narrow for every name, some are left out; rows, which are the same, have all.
    """
    n = max(1, len(names))
    order = alt.Scale(domain=names)
    base = alt.Chart(table).encode(
        x=alt.X("b:N", scale=order, title=None, axis=alt.Axis(labelAngle=-90, labelLimit=LABELS, labelOverlap=True)),
        y=alt.Y("a:N", scale=order, title=None, axis=alt.Axis(labelLimit=LABELS, labelOverlap=False)),
    )
    shown = alt.Legend(title=title, orient="top", gradientLength=140, tickCount=3)
    cells = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=shown), tooltip=told)
    short = "replace(format(datum.value, '.1f'), '0.', '.')"
    spelled = f"width / {n} >= {_WIDE} ? format(datum.value, '.2f') : width / {n} >= {_NARROW} ? {short} : ''"
    numbers = base.transform_filter("isValid(datum.value)").mark_text(
        fontSize=12, color="black", text=alt.ExprRef(spelled), tooltip=None
    )
    return alt.layer(cells, numbers)
