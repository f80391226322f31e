"""Charts hold what the table holds, become files that open without a network, and have colours that can be seen."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from dashboard import theme
from difftrust.figures import chart_file
from difftrust.figures.chart_file import chart_bytes, save_chart
from difftrust.figures.curves import draw_ablation, draw_mixtures
from difftrust.figures.error_incoherence import draw_error_incoherence
from difftrust.figures.heat_maps import LONGEST, draw_correlations, draw_heat_map, draw_model_pairs
from difftrust.figures.interval_bars import draw_auroc, draw_false_trust
from difftrust.figures.ranking import draw_ranking
from difftrust.figures.style import FAMILY_COLOURS, GREY, OUTCOMES, family_colour
from difftrust.figures.workflow import draw_workflow
from difftrust.tables.names import FAMILIES
from difftrust_core.exceptions import DifftrustError, WrongUsage


def table() -> pl.DataFrame:
    numbers = {"mean_error": [0.1, 0.3, 0.2], "mean_incoherence": [0.05, 0.2, 0.125], "detection_rate": [0.5, 0.9, 0.7]}
    return pl.DataFrame({"benchmark": ["HumanEval"] * 3, "model": ["a", "b", "mean"], **numbers})


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


def test_charts_show_the_names_of_models() -> None:
    known = table().with_columns(model=pl.Series(["gpt_4o", "claude_opus_4", "mean"]))
    assert {row["model"] for row in rows_of(draw_ranking(known)) if "model" in row} == {"GPT-4o", "Claude Opus 4"}
    points = estimates().with_columns(model=pl.Series(["gpt_4o", "o1", "gpt_4o", "gpt_4", "gpt_4"]))
    colours = draw_error_incoherence(points).to_dict()["layer"][-1]["encoding"]["color"]["scale"]["domain"]
    assert colours == ["GPT-4", "GPT-4o", "o1"]


def layers_of(chart: Any, kind: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return the layers of a chart with marks of this kind, each with its rows."""
    spec = chart.to_dict()
    own = spec.get("data", {})
    marked = [layer for layer in spec["layer"] if layer["mark"]["type"] == kind]
    return [(layer, spec["datasets"][layer.get("data", own)["name"]]) for layer in marked]


def test_the_ranking_has_bars_and_below_the_bound_of_half_the_incoherence_it_is_shaded() -> None:
    drawn = draw_ranking(table())
    ((_, (start, end)),) = layers_of(drawn, "line")
    assert start == {"mean_incoherence": 0.0, "mean_error": 0.0}
    assert end == {"mean_incoherence": pytest.approx(0.212), "mean_error": pytest.approx(0.106)}
    ((_, corners),) = layers_of(drawn, "area")
    assert all(row["mean_error"] == pytest.approx(min(row["mean_incoherence"] / 2, 0.106)) for row in corners)
    assert "impossible: E < I / 2" in [layer["mark"].get("text") for layer, _ in layers_of(drawn, "text")]
    assert "mean_error_high:Q" not in str(drawn.to_dict())
    ends = {f"mean_error_{end}": pl.col("mean_error") + by for end, by in (("low", -0.05), ("high", 0.05))}
    spec = draw_ranking(table().with_columns(**ends)).to_dict()
    assert any(layer["encoding"].get("y2", {}).get("field") == "mean_error_high" for layer in spec["layer"])


def test_shares_stay_numbers_and_are_said_in_the_tooltip() -> None:
    shares = table().with_columns(found=pl.Series([0.5, 0.6, 0.55]), erroneous=pl.Series([0.6, 0.747, 0.67]))
    ((_, points),) = layers_of(draw_ranking(shares, x="found", y="erroneous"), "point")
    assert [(row["erroneous"], row["said_erroneous"]) for row in points] == [(0.6, "60.0 %"), (0.747, "74.7 %")]


def test_a_click_on_a_fluid_chart_says_the_id_of_the_model() -> None:
    known = table().with_columns(id=pl.Series(["gpt_4o", "gpt_4", "mean"]))
    chart = draw_ranking(known, is_fluid=True)
    (parameter,) = chart.to_dict()["params"]
    assert (parameter["name"], parameter["select"]["fields"]) == ("picked", ["id"])
    ((_, points),) = layers_of(chart, "point")
    assert [(row["id"], row["model"]) for row in points] == [("gpt_4o", "a"), ("gpt_4", "b")]


def test_zeros_have_a_place_and_a_tick_of_their_own() -> None:
    chart = draw_error_incoherence(estimates())
    points = {row["task_id"]: (row["at_x"], row["at_y"]) for row in rows_of(chart) if "task_id" in row}
    assert set(points) == {"1", "2", "3", "4"}  # the fifth has no error
    assert points["3"] == (0.02, 0.25)
    # The least positive value is 0.02: the axis begins at 0.01, and zeros lie in the decade before it, apart.
    assert points["1"] != points["2"]
    assert all(0.001 < value < 0.01 * 0.75 for value in (*points["1"], *points["2"], points["4"][0]))
    assert points["4"][1] == 1.0
    assert "'0'" in str(chart.to_dict())
    assert [row["text"] for row in rows_of(chart) if "text" in row] == ["E = I / 2", "2 with both 0"]


def test_the_workflow_has_a_box_a_stage_and_arrows_between_those_there() -> None:
    stages = pl.DataFrame(
        [dict.fromkeys(("title", "count", "detail"), name) | {"stage": name} for name in ("tasks", "programs", "found")]
    )
    rows = rows_of(draw_workflow(stages))
    assert {row["stage"]: row["needs"] for row in rows if "stage" in row} == {
        "tasks": "needs no reference", "programs": "needs no reference", "found": "needs the reference",
    }  # fmt: skip
    assert [row["angle"] for row in rows if "angle" in row] == [90.0]  # of tasks to programs, to the right


def test_trust_and_mixtures_say_their_numbers() -> None:
    ends = {"p_erroneous_low": [0.1], "p_erroneous_high": [0.9]}
    counts = {"benchmark": ["a"], "model": ["x"], "m": [2], "p_erroneous": [0.5], "n_coherent": [4], "n_erroneous": [2]}
    assert [row["text"] for row in rows_of(draw_false_trust(pl.DataFrame(counts | ends)))] == ["2 of 4"]
    mixed = pl.DataFrame({"benchmark": ["a"], "n_models": [1], "measure": ["own error found"], "value": [0.7]})
    assert rows_of(draw_mixtures(mixed)) == mixed.to_dicts()


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["figure.svg", "figure.png", "figure.html"])
def test_a_figure_is_the_same_file_each_time_and_needs_no_network(tmp_path: Path, name: str) -> None:
    for folder in ("one", "two"):
        save_chart(draw_error_incoherence(estimates()), tmp_path / folder / name)
    made = (tmp_path / "one" / name).read_bytes()
    assert (tmp_path / "two" / name).read_bytes() == made
    if name.endswith("png"):
        assert made.startswith(b"\x89PNG")
        return
    text = made.decode()
    assert "incoherence (no reference needed)" in text
    assert not re.search(r"(src|href)=[\"']?https?:|@import|url\(['\"]?http", text)


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.svg").mkdir()
    (tmp_path / "file").touch()
    failed = r"b?\.svg could not be written: [^;\n]+; name another file$"
    for name, said in (("a.gif", r"\.svg, \.png, \.html, got 'a\.gif'"), ("a.svg", failed), ("file/b.svg", failed)):
        with pytest.raises(WrongUsage, match=said):
            save_chart(draw_ranking(table()), tmp_path / name)


def test_every_signal_has_its_interval_best_first() -> None:
    rows = [
        ("incoherence", "incoherence", "behaviour", 0.85, 0.84, 0.87),
        ("jsd", "JSD", "structure", 0.69, 0.67, 0.71),
    ]
    names = ["signal", "title", "family", "auroc", "low", "high"]
    chart = draw_auroc(pl.DataFrame(rows, schema=names, orient="row").with_columns(n_rows=100))
    shown = [(r["title"], r["low"], r["high"]) for r in rows_of(chart) if "title" in r]
    assert shown == [("incoherence", 0.84, 0.87), ("JSD", 0.67, 0.71)]
    orders = [layer["encoding"]["y"]["sort"] for layer in chart.to_dict()["layer"] if "y" in layer["encoding"]]
    assert orders == [["incoherence", "JSD"]] * 2
    assert chart_bytes(chart, ".svg").startswith(b"<svg")


def test_correlations_are_a_cell_each() -> None:
    table = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["x", "y", "x", "y"], "r": [1.0, -0.5, -0.5, None]})
    chart = draw_correlations(table)
    assert [r["value"] for r in rows_of(chart)] == [1.0, -0.5, -0.5, None]
    assert b"\xe2\x88\x920.50" in chart_bytes(chart, ".svg")  # a minus sign


def test_pairs_of_models_stand_by_family_and_families_apart() -> None:
    models = ["gpt_4o", "gpt_o4_mini", "claude_opus_4"]
    rows = [("MBPP", a, b, 0.5) for a in models for b in models]
    chart = draw_model_pairs(pl.DataFrame(rows, schema=["benchmark", "a", "b", "value"], orient="row"), title="alike")
    names = ["Claude Opus 4", "GPT-4o", "o4-mini"]
    assert chart.to_dict()["layer"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"] == names
    assert [row["edge"] for row in rows_of(chart) if "edge" in row] == ["GPT-4o"]
    assert chart_bytes(chart, ".svg").startswith(b"<svg")


@pytest.mark.quick(1)
@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_no_name_ends_the_process_that_draws(suffix: str) -> None:
    names = ["a\x01", "a\x00b", "\x1b[2J", "\ud800", "a\ufffe", "a\u202eb"]
    known = [name.encode(errors="ignore").decode() for name in names]
    hostile = pl.concat(table().with_columns(model=pl.Series([name, "b", "mean"])) for name in known)
    drawn = chart_bytes(draw_ranking(hostile).properties(title=" ".join(names)), suffix)
    assert len(drawn) > 1000
    # Two or three bytes stand somewhere in a compressed picture by chance.
    assert suffix == ".png" or not [name for name in names if name.encode(errors="surrogatepass") in drawn]


@pytest.mark.slow
def test_what_ends_the_renderer_is_refused_and_the_next_chart_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart_file, "visible", str)  # the abort of a character that was not thought of
    with pytest.raises(DifftrustError, match=r"^the chart cannot be drawn: expected .*, found: it ended$"):
        chart_bytes(draw_ranking(table().with_columns(model=pl.Series(["a\x01", "b", "mean"]))), ".svg")
    assert chart_bytes(draw_ranking(table()), ".svg").startswith(b"<svg")
    with pytest.raises(DifftrustError, match=r"^the chart cannot be drawn: [^\n]*$"):
        chart_bytes(SimpleNamespace(to_dict=lambda **_: {"mark": 7}), ".svg")
    assert chart_bytes(draw_ranking(table()), ".svg").startswith(b"<svg")


def heat_map(**texts: list[str | None]) -> pl.DataFrame:
    names = ["cluster", "n_candidates", "first", "last", "place", "input_index", "n_inputs", "rank"]
    table = pl.DataFrame([(1, 3, 0, 3, 0, 7, 2, 0), (2, 1, 3, 4, 0, 7, 2, 9)], schema=names, orient="row")
    return table.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in texts.items())


def test_a_cell_says_its_input_and_outcome_where_they_are_known() -> None:
    known = draw_heat_map(heat_map(arguments=["([1, 2],)", "x" * 500], outcome_text=["3", None]))
    shown = [(row["arguments"], row["outcome_text"]) for row in rows_of(known) if "cluster" in row]
    assert shown == [("([1, 2],)", "3"), ("x" * (LONGEST - 1) + "…", None)]
    tooltip, without = (
        [(each["field"], each["title"]) for each in chart.to_dict()["layer"][0]["encoding"]["tooltip"]]
        for chart in (known, draw_heat_map(heat_map()))
    )
    assert tooltip[:2] == [("arguments", "input"), ("outcome_text", "outcome")]
    assert {"arguments", "outcome_text"}.isdisjoint(field for field, _ in without)


def test_a_band_is_drawn_where_there_is_an_interval_and_a_point_says_it() -> None:
    ends = {"mean_error_low": [0.1, None], "mean_error_high": [0.3, None]}
    table = pl.DataFrame({"benchmark": ["MBPP"] * 2, "m": [2, 10], "mean_error": [0.2, 0.2], **ends})
    layers = draw_ablation(table).to_dict()["layer"]
    (band,) = [layer for layer in layers if layer["mark"]["type"] == "area"]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("mean_error_low", "mean_error_high")
    told = [each.get("title") for layer in layers for each in layer["encoding"].get("tooltip", [])]
    assert {"95 % interval, from", "to"} <= set(told)


def contrast(a: str, b: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    light, dark = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("is_dark", "ground"), [(False, "#FFFFFF"), (True, "#0E1117")])
def test_points_of_every_family_can_be_seen(is_dark: bool, ground: str) -> None:
    pages = [theme.for_page({"mark": {"color": colour}}, is_dark=is_dark) for colour in FAMILY_COLOURS.values()]
    shown = [str(spec["mark"]["color"]) for spec in pages]
    assert [colour for colour in shown if contrast(colour, ground) < 3] == []
    assert len(set(shown)) == len(shown)


def test_a_family_has_one_colour_and_none_is_that_of_an_outcome() -> None:
    named = {family: {family_colour(model) for model in models} for family, models in FAMILIES.items()}
    assert all(len(colours) == 1 for colours in named.values())
    assert len(set(map(min, named.values()))) == len(FAMILIES)
    assert family_colour("my-own") == GREY == family_colour("simulated/weak")
    assert not set(FAMILY_COLOURS.values()) & set(OUTCOMES.values())


def test_wrong_and_undetected_stands_out_most() -> None:
    light = {outcome: contrast(colour, "#FFFFFF") for outcome, colour in OUTCOMES.items()}
    assert light["right"] < light["detected"] < light["undetected"]
    assert light["undetected"] >= 4.5
