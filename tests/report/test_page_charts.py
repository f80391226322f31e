"""The charts of inputs, settings and signals: what their marks say, and that no two labels touch."""

import math

import polars as pl

from difftrust_core.report.charts.ablation import ablation_drawing, domains_of
from difftrust_core.report.charts.behaviours import LONGEST, heat_map_drawing
from difftrust_core.report.charts.costs import costs_drawing, labels_of
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


def crowded() -> pl.DataFrame:
    """Return 40 points within a third of a decade of dollars, and one far away."""
    rows = [("a", m, 1.0 + m / 20, 0.5 + m / 1_000) for m in range(2, 42)] + [("b", 100, 50.0, 0.9)]
    return pl.DataFrame(rows, schema=["model", "m", "cost_usd", "detection_rate"], orient="row")


def test_numbers_on_the_chart_of_costs_never_touch_and_the_chosen_one_is_there() -> None:
    rows, ends = crowded(), (0.0, 1.0)
    labels = labels_of(rows, "detection_rate", ends, chosen=17, width=300)
    assert {17, 2, 100} <= set(labels["m"])
    assert labels.height < rows.height  # not all fit
    spread = math.log(50.0 / 1.1)
    boxes = []
    for m, cost, value, shift in labels.iter_rows():
        x, y = 14 + math.log(cost / 1.1) / spread * 272, 300 * (1 - value) + shift
        boxes.append((x - 3.3 * len(str(m)), y - 6, x + 3.3 * len(str(m)), y + 6))
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:i]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


def test_without_a_crowd_each_point_has_its_number() -> None:
    rows = pl.DataFrame(
        {"model": ["a"] * 3, "m": [2, 10, 100], "cost_usd": [1.0, 5.0, 50.0], "mean_error": [0.1, 0.1, 0.2]}
    )
    labels = costs_drawing(rows, measure="mean_error", chosen=10).data["labels"].sort("m")
    assert labels["shift"].to_list() == [-12, -12, 14]  # above, but for the one at the top


def test_error_and_incoherence_share_an_axis_and_rates_go_to_one() -> None:
    one = pl.DataFrame({"mean_error": [0.31], "mean_incoherence": [0.1], "detection_rate": [0.7]})
    other = pl.DataFrame({"mean_error": [0.2], "mean_incoherence": [0.1], "mean_incoherence_high": [0.42]})
    other = other.with_columns(detection_rate=pl.lit(None, dtype=pl.Float64))
    measures = ["detection_rate", "mean_error", "mean_incoherence"]
    expected = {"detection_rate": (0.0, 1.0), "mean_error": (0.0, 0.45), "mean_incoherence": (0.0, 0.45)}
    found = domains_of([one, other], measures)
    assert {measure: tuple(round(end, 9) for end in ends) for measure, ends in found.items()} == expected


def test_a_band_is_drawn_where_there_is_an_interval_and_a_point_says_it() -> None:
    ends = {"mean_error_low": [0.1, None], "mean_error_high": [0.3, None]}
    table = pl.DataFrame({"coder": ["gpt_4o"] * 2, "m": [2, 10], "mean_error": [0.2, 0.2], **ends})
    layers = ablation_drawing(table, series="coder", measures=["mean_error"]).chart().to_dict()["layer"]
    (band,) = [layer for layer in layers if layer["mark"]["type"] == "area"]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("mean_error_low", "mean_error_high")
    told = [each.get("title") for layer in layers for each in layer["encoding"].get("tooltip", [])]
    assert {"95 % interval, from", "to"} <= set(told)
