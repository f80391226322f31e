"""Charts hold what the table holds, and become files that open without a network."""

import io
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from difftrust_core.exceptions import WrongUsage
from difftrust_core.report.charts.ablation import ablation_drawing
from difftrust_core.report.charts.behaviours import clusters_drawing, heat_map_drawing
from difftrust_core.report.charts.costs import costs_drawing
from difftrust_core.report.charts.error_incoherence import Selection, error_incoherence_drawing
from difftrust_core.report.charts.export import chart_bytes, packed_png, save_chart
from difftrust_core.report.charts.mixtures import draw_false_trust, draw_mixtures
from difftrust_core.report.charts.models import models_drawing
from difftrust_core.report.charts.ranking import ranking_drawing
from difftrust_core.report.charts.series import DASHES
from difftrust_core.report.charts.signals import auroc_drawing, correlations_drawing, roc_drawing
from difftrust_core.report.charts.style import family_colour
from difftrust_core.report.charts.template import Drawing
from difftrust_core.report.charts.workflow import draw_workflow


def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "benchmark": ["HumanEval", "HumanEval", "HumanEval"],
            "model": ["a", "b", "mean"],
            "mean_error": [0.1, 0.3, 0.2],
            "mean_incoherence": [0.05, 0.2, 0.125],
            "detection_rate": [0.5, 0.9, 0.7],
        }
    )


def estimates() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "benchmark": ["HumanEval"] * 4 + ["MBPP"],
            "task_id": ["1", "2", "3", "4", "5"],
            "model": ["a"] * 5,
            "error": [0.0, 0.0, 0.25, 1.0, None],
            "incoherence": [0.0, 0.0, 0.02, 0.0, 0.5],
        }
    )


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """Return every row of data that a chart holds."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_the_ranking_names_every_coder_and_no_mean() -> None:
    shown = [row["model"] for row in rows_of(ranking_drawing(table()).chart()) if "model" in row]
    assert sorted(set(shown)) == ["a", "b"]


def test_charts_show_the_names_of_models() -> None:
    known = table().with_columns(model=pl.Series(["gpt_4o", "claude_opus_4", "mean"]))
    assert {row["model"] for row in rows_of(ranking_drawing(known).chart()) if "model" in row} == {
        "GPT-4o",
        "Claude Opus 4",
    }
    points = estimates().with_columns(model=pl.Series(["gpt_4o", "o1", "gpt_4o", "gpt_4", "gpt_4"]))
    spec = error_incoherence_drawing(points).chart().to_dict()
    assert {row["model"] for row in rows_of(error_incoherence_drawing(points).chart()) if "model" in row} >= {
        "GPT-4o",
        "o1",
    }
    assert spec["layer"][-1]["encoding"]["color"]["scale"]["domain"] == ["GPT-4", "GPT-4o", "o1"]
    mixed = pl.DataFrame({"coder": ["gpt_4+gpt_4o"], "m": [2], "detection_rate": [0.5]})
    spec = ablation_drawing(mixed, measures=["detection_rate"], series="coder").chart().to_dict()
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["GPT-4 + GPT-4o"]


def test_the_bound_of_the_ranking_is_half_the_incoherence() -> None:
    start, end = ranking_drawing(table()).data["bound_0"].to_dicts()
    assert start == {"mean_incoherence": 0.0, "mean_error": 0.0}
    assert end == {"mean_incoherence": pytest.approx(0.212), "mean_error": pytest.approx(0.106)}


def test_the_ranking_has_bars_where_the_table_has_intervals() -> None:
    ends = {f"mean_error_{end}": pl.col("mean_error") + by for end, by in (("low", -0.05), ("high", 0.05))}
    spec = ranking_drawing(table().with_columns(**ends)).chart().to_dict()
    assert "mean_error_high:Q" not in str(ranking_drawing(table()).chart().to_dict())
    assert any(layer["encoding"].get("y2", {}).get("field") == "mean_error_high" for layer in spec["layer"])


def test_below_the_bound_it_is_shaded_and_said_to_be_impossible() -> None:
    data = ranking_drawing(table()).data
    assert data["words_0"]["words"].to_list() == ["impossible: E < I / 2"]
    corners = data["below_0"].rows()
    assert all(y == pytest.approx(min(x / 2, 0.106)) for x, y in corners)
    assert any(layer["mark"]["type"] == "area" for layer in ranking_drawing(table()).chart().to_dict()["layer"])


def test_ranks_have_whole_numbers_and_nothing_impossible() -> None:
    ranks = table().with_columns(found_rank=pl.Series([1.0, 2.0, 1.5]), erroneous_rank=pl.Series([1.0, 2.0, 1.5]))
    spec = ranking_drawing(ranks, x="found_rank", y="erroneous_rank").chart().to_dict()
    axes = [layer["encoding"]["x"]["axis"] for layer in spec["layer"] if "axis" in layer["encoding"].get("x", {})]
    assert axes == [{"format": "d", "tickMinStep": 1}]
    assert not any(layer["mark"]["type"] == "area" for layer in spec["layer"])


def test_shares_stay_numbers_and_are_said_in_the_tooltip() -> None:
    shares = table().with_columns(found=pl.Series([0.5, 0.6, 0.55]), erroneous=pl.Series([0.6, 0.747, 0.67]))
    points = ranking_drawing(shares, x="found", y="erroneous").data["points_0"]
    assert points["erroneous"].to_list() == [0.6, 0.747]
    assert points["said_erroneous"].to_list() == ["60.0 %", "74.7 %"]


def test_a_model_has_the_colour_of_its_family() -> None:
    known = table().with_columns(model=pl.Series(["gpt_4o", "gpt_4", "mean"]))
    spec = ranking_drawing(known).chart().to_dict()
    assert spec["layer"][-1]["encoding"]["color"]["scale"] == {"domain": ["GPT"], "range": [family_colour("gpt_4")]}


def test_a_click_on_a_fluid_chart_says_the_id_of_the_model() -> None:
    known = table().with_columns(id=pl.Series(["gpt_4o", "gpt_4", "mean"]))
    drawing = ranking_drawing(known, is_fluid=True)
    (parameter,) = drawing.chart().to_dict()["params"]
    assert (parameter["name"], parameter["select"]["fields"]) == ("picked", ["id"])
    assert drawing.data["points_0"].select("id", "model").rows() == [("gpt_4o", "a"), ("gpt_4", "b")]


def test_zeros_have_a_place_and_a_tick_of_their_own() -> None:
    chart = error_incoherence_drawing(estimates()).chart()
    points = {row["task_id"]: row for row in rows_of(chart) if "task_id" in row}
    assert set(points) == {"1", "2", "3", "4"}  # the fifth has no error
    assert (points["3"]["at_x"], points["3"]["at_y"]) == (0.02, 0.25)
    # The least positive value is 0.02: the axis begins at 0.01, and zeros lie in the decade before it, apart.
    places = [(points[task]["at_x"], points[task]["at_y"]) for task in ("1", "2")]
    assert len(set(places)) == 2
    assert all(0.001 < value < 0.01 * 0.75 for place in places for value in place)
    assert points["4"]["at_x"] < 0.01 * 0.75
    assert points["4"]["at_y"] == 1.0
    assert "'0'" in str(chart.to_dict())
    assert [row["text"] for row in rows_of(chart) if "text" in row] == ["E = I / 2", "2 with both 0"]


def test_on_the_linear_scale_zero_is_zero() -> None:
    rows = rows_of(error_incoherence_drawing(estimates(), scale="linear").chart())
    assert [(r["at_x"], r["at_y"]) for r in rows if r.get("task_id") in ("1", "4")] == [(0, 0), (0, 1)]
    assert [(r["at_x"], r["at_y"]) for r in rows if set(r) == {"at_x", "at_y"}] == [(0, 0), (1, 0.5)]


def test_without_the_error_nothing_of_it_is_drawn() -> None:
    chart = error_incoherence_drawing(estimates(), with_error=False).chart()
    assert not any("error" in row for row in rows_of(chart))
    assert "error" not in str(chart.to_dict()["concat"])
    assert {row["task_id"] for row in rows_of(chart) if "task_id" in row} == {"1", "2", "3", "4", "5"}
    (third,) = [row for row in rows_of(chart) if row.get("task_id") == "3"]
    assert third["at_y"] == 4  # three tasks of HumanEval have less


def test_a_selection_is_one_over_all_panels() -> None:
    selection = Selection(name="task", fields=("benchmark", "task_id"))
    both = estimates().with_columns(pl.col("error").fill_null(0.5))
    spec = error_incoherence_drawing(both, selection=selection).chart().to_dict()
    (parameter,) = spec["params"]
    assert (parameter["name"], len(parameter["views"])) == ("task", 2)


def test_curves_show_each_value_and_mark_the_chosen_one() -> None:
    curves = pl.DataFrame(
        {"benchmark": ["a", "a"], "m": [2, 10], "detection_rate": [0.4, 0.7], "published_detection_rate": [0.3, None]}
    )
    spec = ablation_drawing(curves, x="m", measures=["detection_rate"], chosen=10).chart().to_dict()
    marked = [layer for layer in spec["layer"] if layer["mark"].get("size") == 190]
    assert [row["m"] for row in spec["datasets"][marked[0]["data"]["name"]]] == [10]
    assert spec["title"]["subtitle"] == "diamonds: published values"


def curves(*ms: int, chosen: int) -> Drawing:
    rows = [(model, m, m / 100, m * 0.5) for model in ("a", "b") for m in ms]
    table = pl.DataFrame(rows, schema=["coder", "m", "detection_rate", "cost_usd"], orient="row")
    return ablation_drawing(table, series="coder", measures=["detection_rate"], chosen=chosen, ticks=[2, 10])


def test_the_same_chart_of_other_data_has_the_same_shape() -> None:
    one, other = curves(2, 5, 10, chosen=5), curves(2, 7, 10, chosen=7)
    assert (one.shape, one.options) == (other.shape, other.options)
    assert one.empty().to_dict() == other.empty().to_dict()
    assert one.data["chosen"]["m"].to_list() == [5.0]
    assert other.data["chosen"]["m"].to_list() == [7.0]
    assert other.data["detection_rate"]["m"].to_list() == [2, 7, 10] * 2


def test_a_shape_names_all_its_tables_and_no_other() -> None:
    drawing = curves(2, 10, chosen=10)
    text = str(drawing.empty().to_dict())
    assert set(re.findall(r"'data': {'name': '(\w+)'}", text)) == set(drawing.data)
    assert "datasets" not in text
    assert [r["m"] for r in rows_of(drawing.chart()) if "coder" in r] == [10, 10, 2, 10, 2, 10]


def test_a_model_has_one_line_in_all_charts_of_the_same_models() -> None:
    table = pl.DataFrame({"model": ["gpt_4o"], "m": [2], "cost_usd": [1.0], "detection_rate": [0.5]})
    renamed = table.rename({"model": "coder"})
    of_both = ["gpt_4", "gpt_4o", "gpt_4+gpt_4o"]
    drawn = [
        costs_drawing(table, among=of_both),
        ablation_drawing(renamed, series="coder", measures=["detection_rate"], among=of_both),
    ]
    found = [each.chart().to_dict()["layer"][0]["encoding"] for each in drawn]
    for encoding in found:
        assert encoding["color"]["scale"] == {"domain": ["GPT-4o"], "range": [family_colour("gpt_4o")]}
        assert encoding["strokeDash"]["scale"]["range"] == [list(DASHES[1])]  # the second of its family


def test_the_workflow_has_a_box_a_stage_and_arrows_between_those_there() -> None:
    stages = pl.DataFrame(
        [dict.fromkeys(("title", "count", "detail"), name) | {"stage": name} for name in ("tasks", "programs", "found")]
    )
    rows = rows_of(draw_workflow(stages))
    assert {row["stage"]: row["needs"] for row in rows if "stage" in row} == {
        "tasks": "needs no reference", "programs": "needs no reference", "found": "needs the reference",
    }  # fmt: skip
    assert [row["angle"] for row in rows if "angle" in row] == [90.0]  # of tasks to programs, to the right


def trust() -> pl.DataFrame:
    numbers = {"p_erroneous": 0.5, "p_erroneous_low": 0.1, "p_erroneous_high": 0.9, "n_coherent": 4, "n_erroneous": 2}
    return pl.DataFrame([{"benchmark": "a", "model": "x", "m": m} | numbers for m in (2, 10)])


def test_trust_and_mixtures_say_their_numbers() -> None:
    assert [row["text"] for row in rows_of(draw_false_trust(trust()))] == ["2 of 4"] * 2
    mixed = pl.DataFrame({"benchmark": ["a"], "n_models": [1], "measure": ["own error found"], "value": [0.7]})
    assert rows_of(draw_mixtures(mixed)) == mixed.to_dicts()


@pytest.mark.parametrize("name", ["figure.svg", "figure.png", "figure.html"])
def test_a_figure_is_the_same_file_each_time_and_needs_no_network(tmp_path: Path, name: str) -> None:
    for folder in ("one", "two"):
        save_chart(error_incoherence_drawing(estimates()).chart(), tmp_path / folder / name)
    made = (tmp_path / "one" / name).read_bytes()
    assert (tmp_path / "two" / name).read_bytes() == made
    if name.endswith("png"):
        assert made.startswith(b"\x89PNG")
        return
    text = made.decode()
    assert "incoherence (no reference needed)" in text
    assert not re.search(r"(src|href)=[\"']?https?:|@import|url\(['\"]?http", text)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"written as \.svg, \.png, \.html, got 'a\.gif'"):
        save_chart(ranking_drawing(table()).chart(), tmp_path / "a.gif")


def signal_table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "signal": ["incoherence", "jsd"],
            "title": ["incoherence", "JSD"],
            "family": ["behaviour", "structure"],
            "auroc": [0.85, 0.69],
            "low": [0.84, 0.67],
            "high": [0.87, 0.71],
            "n_rows": [100, 100],
        }
    )


def shown_in(chart: Any) -> list[dict[str, Any]]:
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_every_signal_has_its_interval_best_first() -> None:
    chart = auroc_drawing(signal_table()).chart()
    assert [(r["title"], r["low"], r["high"]) for r in shown_in(chart) if "title" in r] == [
        ("incoherence", 0.84, 0.87),
        ("JSD", 0.67, 0.71),
    ]
    orders = [layer["encoding"]["y"]["sort"] for layer in chart.to_dict()["layer"] if "y" in layer["encoding"]]
    assert orders == [["incoherence", "JSD"]] * 2
    assert chart_bytes(chart, ".svg").startswith(b"<svg")


def test_roc_curves_keep_their_points() -> None:
    points = {"false_positive_rate": [0.0, 0.0, 1.0], "true_positive_rate": [0.0, 0.7, 1.0]}
    curves = pl.DataFrame({"title": ["incoherence"] * 3, "family": ["behaviour"] * 3, **points})
    chart = roc_drawing(curves).chart()
    assert [r["true_positive_rate"] for r in shown_in(chart) if "title" in r] == [0.0, 0.7, 1.0]
    assert chart_bytes(chart, ".svg").startswith(b"<svg")


def test_correlations_are_a_cell_each() -> None:
    table = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["x", "y", "x", "y"], "r": [1.0, -0.5, -0.5, None]})
    chart = correlations_drawing(table).chart()
    assert [r["r"] for r in shown_in(chart)] == [1.0, -0.5, -0.5, None]
    assert b"\xe2\x88\x920.50" in chart_bytes(chart, ".svg")  # a minus sign


def test_models_have_a_bar_an_interval() -> None:
    table = pl.DataFrame(
        {"model": ["a", "b"], "measure": ["mean_error"] * 2, "value": [0.2, 0.3], "low": [0.1, 0.2], "high": [0.3, 0.4]}
    )
    shown = [(r["model"], r["measure"], r["low"], r["high"]) for r in rows_of(models_drawing(table).chart())]
    assert shown == [("a", "error", 0.1, 0.3), ("b", "error", 0.2, 0.4)]


def test_clusters_do_not_tell_of_the_reference_without_it() -> None:
    table = pl.DataFrame(
        {"cluster": [1, 2], "model": ["a", "a"], "n_candidates": [3, 1], "is_reference": [True, False]}
    )
    assert [r["behaviour"] for r in rows_of(clusters_drawing(table).chart())] == [
        "same as the reference",
        "different from the reference",
    ]
    assert [r["behaviour"] for r in rows_of(clusters_drawing(table, has_checker=True).chart())] == [
        "accepted by the checker",
        "rejected on some input",
    ]
    assert not {"behaviour", "is_reference"} & set(rows_of(clusters_drawing(table, with_reference=False).chart())[0])


def test_cells_of_the_heat_map_cover_the_candidates_of_their_cluster() -> None:
    names = ["cluster", "n_candidates", "first", "last", "place", "input_index", "n_inputs", "rank"]
    table = pl.DataFrame([(1, 3, 0, 3, 0, 7, 2, 0), (2, 1, 3, 4, 0, 7, 2, 9)], schema=names, orient="row")
    shown = [r for r in rows_of(heat_map_drawing(table).chart()) if "cluster" in r]
    assert [(r["first"], r["last"], r["place"], r["right"], r["outcome"]) for r in shown] == [
        (0, 3, 0, 1, "most common"),
        (3, 4, 0, 1, "rarer"),
    ]


def test_a_rare_colour_stays_itself_in_a_picture_of_256() -> None:
    picture = Image.new("RGB", (400, 400))
    picture.putdata([(0, 100 + x // 4, 155 + y // 4) for y in range(400) for x in range(400)])  # 10,000 blues
    picture.paste((0, 158, 115), (390, 90, 393, 93))
    made = io.BytesIO()
    picture.save(made, "png")
    with Image.open(io.BytesIO(packed_png(made.getvalue()))) as packed:
        assert packed.mode == "P"
        assert packed.convert("RGB").getpixel((391, 91)) == (0, 158, 115)
