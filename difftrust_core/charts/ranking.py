"""Mean error against mean incoherence, a point a model (Figure 1)."""

import altair as alt
import polars as pl

_COLOURS = ["#0072B2", "#D55E00"]  # Okabe and Ito's blue and vermillion: told apart by everyone


def _apart(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points whose names can be written without covering the name of another, outermost first."""
    wide, high = (float(points[name].max() or 0) for name in ("mean_incoherence", "mean_error"))  # type: ignore[arg-type]
    kept: list[dict[str, float]] = []
    for row in points.sort("mean_incoherence", "model", descending=True).iter_rows(named=True):
        x, y = row["mean_incoherence"], row["mean_error"]
        if all(abs(x - k["mean_incoherence"]) > wide / 4.5 or abs(y - k["mean_error"]) > high / 28 for k in kept):
            kept.append(row)
    return pl.DataFrame(kept, schema=points.schema)


def draw_ranking(table: pl.DataFrame) -> alt.LayerChart:
    """Draw mean error against mean incoherence, one point a (benchmark, model) of ``benchmark.table_4``.

    The line is E = I / 2: no coder can lie below it (I <= 2E).
    """
    points = table.filter(pl.col("model") != "mean")
    highest = max(float(points["mean_incoherence"].max()), 0.01)  # type: ignore[arg-type]
    bound = pl.DataFrame({"mean_incoherence": [0.0, highest], "mean_error": [0.0, highest / 2]})
    incoherence = alt.X("mean_incoherence:Q", title="mean incoherence (no reference needed)")
    error = alt.Y("mean_error:Q", title="mean error (against the reference)")
    dots = alt.Chart(points).mark_point(filled=True, size=70, opacity=0.9)
    names = alt.Chart(_apart(points)).mark_text(align="left", dx=7, dy=3, fontSize=9)
    line = alt.Chart(bound).mark_line(color="#888", strokeDash=[4, 4]).encode(x=incoherence, y=error)
    chart: alt.LayerChart = (
        alt.layer(
            line,
            dots.encode(
                x=incoherence,
                y=error,
                color=alt.Color("benchmark:N", scale=alt.Scale(range=_COLOURS)),
                shape=alt.Shape("benchmark:N"),
                tooltip=["benchmark", "model", "mean_error", "mean_incoherence", "detection_rate"],
            ),
            names.encode(x=incoherence, y=error, text="model:N"),
        )
        .properties(width=620, height=360)
        .configure(background="white")
    )
    return chart
