"""The charts of inputs, settings and signals: what their marks say, and that no two labels touch."""

import polars as pl

from difftrust.figures.curves import draw_ablation
from difftrust.figures.heat_maps import LONGEST, draw_heat_map
from tests.figures.test_figures import rows_of


def heat_map(**texts: list[str | None]) -> pl.DataFrame:
    names = ["cluster", "n_candidates", "first", "last", "place", "input_index", "n_inputs", "rank"]
    table = pl.DataFrame([(1, 3, 0, 3, 0, 7, 2, 0), (2, 1, 3, 4, 0, 7, 2, 9)], schema=names, orient="row")
    return table.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in texts.items())


def test_a_cell_says_its_input_and_outcome_where_they_are_known() -> None:
    known = draw_heat_map(heat_map(arguments=["([1, 2],)", "x" * 500], outcome_text=["3", None]))
    shown = [row for row in rows_of(known) if "cluster" in row]
    assert [row["arguments"] for row in shown] == ["([1, 2],)", "x" * (LONGEST - 1) + "…"]
    assert [row["outcome_text"] for row in shown] == ["3", None]
    tooltip = known.to_dict()["layer"][0]["encoding"]["tooltip"]
    assert [(each["field"], each["title"]) for each in tooltip[:2]] == [
        ("arguments", "input"),
        ("outcome_text", "outcome"),
    ]
    without = draw_heat_map(heat_map()).to_dict()["layer"][0]["encoding"]["tooltip"]
    assert {"arguments", "outcome_text"}.isdisjoint(each["field"] for each in without)


def test_a_band_is_drawn_where_there_is_an_interval_and_a_point_says_it() -> None:
    ends = {"mean_error_low": [0.1, None], "mean_error_high": [0.3, None]}
    table = pl.DataFrame({"benchmark": ["MBPP"] * 2, "m": [2, 10], "mean_error": [0.2, 0.2], **ends})
    layers = draw_ablation(table).to_dict()["layer"]
    (band,) = [layer for layer in layers if layer["mark"]["type"] == "area"]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("mean_error_low", "mean_error_high")
    told = [each.get("title") for layer in layers for each in layer["encoding"].get("tooltip", [])]
    assert {"95 % interval, from", "to"} <= set(told)
