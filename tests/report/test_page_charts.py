"""The charts of inputs, settings and signals: what their marks say, and that no two labels touch."""

import polars as pl

from difftrust_core.report.charts.behaviours import LONGEST, heat_map_drawing
from tests.report.test_charts import rows_of


def heat_map(**texts: list[str | None]) -> pl.DataFrame:
    names = ["cluster", "n_candidates", "first", "last", "place", "input_index", "n_inputs", "rank"]
    table = pl.DataFrame([(1, 3, 0, 3, 0, 7, 2, 0), (2, 1, 3, 4, 0, 7, 2, 9)], schema=names, orient="row")
    return table.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in texts.items())


def test_a_cell_says_its_input_and_outcome_where_they_are_known() -> None:
    known = heat_map_drawing(heat_map(arguments=["([1, 2],)", "x" * 500], outcome_text=["3", None])).chart()
    shown = [row for row in rows_of(known) if "cluster" in row]
    assert [row["arguments"] for row in shown] == ["([1, 2],)", "x" * (LONGEST - 1) + "…"]
    assert [row["outcome_text"] for row in shown] == ["3", None]
    tooltip = known.to_dict()["layer"][0]["encoding"]["tooltip"]
    assert [(each["field"], each["title"]) for each in tooltip[:2]] == [
        ("arguments", "input"),
        ("outcome_text", "outcome"),
    ]
    without = heat_map_drawing(heat_map()).chart().to_dict()["layer"][0]["encoding"]["tooltip"]
    assert {"arguments", "outcome_text"}.isdisjoint(each["field"] for each in without)
