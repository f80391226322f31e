"""A table on a page: percent, words, whole m, few columns; the frame stays exact."""

import re

import polars as pl

import difftrust as dt
from difftrust.tables.page_table import MEASURES, explained, page_table, shown_value


def heads(frame: pl.DataFrame) -> list[str]:
    return re.findall(r"<th[^>]*>([^<]*)</th>", page_table(frame))


def test_shares_are_percent_and_intervals_stand_beside_them() -> None:
    assert shown_value("mean_error", 0.07234) == "7.2 %"
    assert shown_value("mean_error", 0.07234, (0.052, 0.1049)) == "7.2 % [5.2,\u00a010.5]"
    assert shown_value("spearman", 0.7121) == "0.712"
    assert shown_value("usd_per_1000", 3.7) == "$3.70"
    assert shown_value("usd_per_task", 0.0295) == "$0.0295"
    assert shown_value("tasks", 1500) == "1,500"
    assert shown_value("mean_error", float("nan")) == ""


def test_the_main_numbers_come_before_dollars_and_counts() -> None:
    frame = pl.DataFrame({"model": ["a"], "tasks": [3], "usd_per_1000": [2.0], "detection": [0.5]})
    assert heads(frame) == ["model", "detection", "$ per 1,000 tasks", "tasks"]


def test_a_part_of_table_3_is_by_whole_m_in_order() -> None:
    frame = pl.DataFrame({"varied": ["query_budget_m"] * 2, "value": [2.0, 10.0], "mbpp_detection_rate": [0.4, 0.7]})
    assert heads(frame) == ["m", "MBPP: detected"]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", page_table(frame)) == ["2", "40.0 %", "10", "70.0 %"]


def test_published_values_and_bounds_need_no_column_of_their_own() -> None:
    frame = pl.DataFrame(
        {
            "model": ["<b>"],
            "mean_error": [0.1],
            "mean_error_low": [0.05],
            "mean_error_high": [0.2],
            "published_mean_error": [0.11],
            "usd_per_1000": [2.5],
            "usd_per_1000_is_lower_bound": [True],
        }
    )
    made = page_table(frame)
    assert heads(frame) == ["model", "error", "$ per 1,000 tasks"]
    assert "10.0 % [5.0,\u00a020.0]<br>" in made
    assert "published 11.0 %" in made
    assert "≥ $2.50" in made
    assert "<b>" not in made


def test_the_frame_stays_exact() -> None:
    table = dt.Table(pl.DataFrame({"model": ["gpt_4o"], "mean_error": [0.123456]}))
    assert "12.3 %" in table._repr_html_()
    assert "GPT-4o" in table._repr_html_()
    assert table.frame.row(0) == ("gpt_4o", 0.123456)


def test_each_measure_is_explained_once() -> None:
    line = explained(["model", "mean_error", "error", "mean_incoherence"])
    assert (
        line == f"Measures: **error**: {MEASURES['error'].meaning}; **incoherence**: {MEASURES['incoherence'].meaning}."
    )
    assert explained(["model", "tasks"]) == ""
