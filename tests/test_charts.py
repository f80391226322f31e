"""Charts hold what the table holds, and can be drawn without a network."""

import polars as pl

from difftrust_core.charts import draw_ranking


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


def test_the_ranking_shows_every_coder_and_no_mean() -> None:
    spec = draw_ranking(table()).to_dict()
    shown = [row["model"] for rows in spec["datasets"].values() for row in rows if "model" in row]
    assert sorted(set(shown)) == ["a", "b"]


def test_the_bound_is_half_the_incoherence() -> None:
    spec = draw_ranking(table()).to_dict()
    (line,) = [rows for rows in spec["datasets"].values() if "model" not in rows[0]]
    assert [(p["mean_incoherence"], p["mean_error"]) for p in line] == [(0.0, 0.0), (0.2, 0.1)]


def test_it_becomes_an_svg_offline(tmp_path: object) -> None:
    import vl_convert

    svg = vl_convert.vegalite_to_svg(draw_ranking(table()).to_dict())
    assert svg.startswith("<svg")
    assert "mean incoherence" in svg
