"""Measures over many tasks: tables of eight rows with exact answers."""

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from difftrust.research.coders import MEASURES, beside_published, mean_absolute_differences, rankings, table_4
from difftrust_core.base.records import Detection
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.aggregate import (
    detection_rate,
    mean_error,
    mean_incoherence,
    pass_at_1,
    spearman,
    undetected_mean_error,
)

NAN = float("nan")

COLUMNS = {
    "error": [0.0, 0.25, 0.5, 0.75, 1.0, 0.0, 0.5, 1.0],
    "incoherence": [0.0, 0.25, 0.5, 0.25, 0.0, 0.0, 0.0, 0.5],
    "p_erroneous": [0.0, 0.5, 1.0, 1.0, 1.0, 0.0, 0.5, 1.0],
    "p_detected": [0.0, 0.5, 1.0, 0.5, 0.0, 0.0, 0.0, 1.0],
    "functional_error": [0.0, 0.5, 1.0, 1.0, 1.0, 0.0, 0.5, 1.0],
}


def tasks(*, benchmark="HumanEval", model="a", temperature=0.6, **columns):
    columns = COLUMNS | columns
    columns["detected"] = [None if i is None or math.isnan(i) else i > 0 for i in columns["incoherence"]]
    keys = {"benchmark": benchmark, "model": model, "temperature": temperature}
    ids = pl.Series("task_id", [f"T/{i}" for i in range(len(columns["error"]))])
    return pl.DataFrame(columns, strict=False).select(
        *[pl.lit(value).alias(key) for key, value in keys.items()], ids, pl.all().cast(pl.Float64)
    )


EIGHT = tasks()
# One candidate only, without a reference, with neither: what they lack is NaN here, null there.
UNDEFINED = tasks(
    model="b",
    error=[0.5, None, NAN],
    incoherence=[NAN, 0.5, None],
    p_erroneous=[0.5, NAN, None],
    p_detected=[None, 0.5, NAN],
    functional_error=[1.0, None, NAN],
)


def test_pass_at_1():
    assert pass_at_1(EIGHT) == 3 / 8


def test_spearman_by_hand():
    three = EIGHT[:3].with_columns(incoherence=pl.Series([0.1, 0.9, 0.5]))
    assert spearman(three) == pytest.approx(0.5)  # 1 - 6 * (0 + 1 + 1) / (3 * 8)
    assert spearman(EIGHT) == pytest.approx(RHO)


@pytest.mark.parametrize("frame", [EIGHT[:2], EIGHT.with_columns(error=0.5), EIGHT.with_columns(incoherence=0.0)])
def test_spearman_of_too_little_is_nan(frame):
    assert math.isnan(spearman(frame))


@pytest.mark.parametrize("frame", [EIGHT[:0], UNDEFINED[2:]])
def test_nothing_to_average_is_nan(frame):
    assert all(math.isnan(measure(frame)) for measure in (mean_error, mean_incoherence, pass_at_1, spearman))
    for detection in Detection:
        assert math.isnan(detection_rate(frame, detection=detection))
        assert math.isnan(undetected_mean_error(frame, detection=detection))


@pytest.mark.parametrize("detection", Detection)
def test_no_error_has_no_detection_rate_and_full_detection_no_undetected_error(detection):
    right = EIGHT.with_columns(error=0.0, p_erroneous=0.0)
    assert math.isnan(detection_rate(right, detection=detection))
    assert undetected_mean_error(right, detection=detection) == 0
    loud = EIGHT.with_columns(incoherence=0.5, p_detected=1.0, detected=1.0)
    assert math.isnan(undetected_mean_error(loud, detection=detection))
    assert detection_rate(loud, detection=detection) == 1


def test_undefined_rows_are_left_out():
    both = pl.concat([EIGHT, UNDEFINED.with_columns(model=pl.lit("a"))])
    assert (mean_error(both), mean_incoherence(both), pass_at_1(both)) == (4.5 / 9, 2 / 9, 3 / 9)
    assert spearman(both) == spearman(EIGHT)
    for detection in Detection:
        for rate in (detection_rate, undetected_mean_error):
            assert rate(both, detection=detection) == rate(EIGHT, detection=detection)


@pytest.mark.parametrize("measure", [detection_rate, undetected_mean_error, table_4])
def test_another_detection_is_refused(measure):
    with pytest.raises(WrongUsage, match="must be one of as-published, all-pairs, got 'as published'"):
        measure(EIGHT, detection="as published")


RHO = 15 / math.sqrt(40.5 * 36)
"""Of EIGHT: mean ranks 1.5 3 4.5 6 7.5 1.5 4.5 7.5 against 2.5 5.5 7.5 5.5 2.5 2.5 2.5 7.5; after centring, products
sum to 15, squares to 40.5 and 36."""


def test_table_4():
    half = {"error": [0.5, 0.5], "incoherence": [0.0, 0.5], "functional_error": [1.0, 1.0]}
    half |= {"p_erroneous": [1.0, 1.0], "p_detected": [0.0, 0.5]}
    estimates = pl.concat([tasks(model="zeta"), tasks(benchmark="MBPP"), tasks(**half), UNDEFINED])
    expected = pl.DataFrame(
        [
            ("HumanEval", "a", 2, 0.5, 0.25, None, 0.25, 0.5),
            ("HumanEval", "b", 2, 0.5, 0.5, None, None, None),
            ("HumanEval", "zeta", 8, 0.5, 0.1875, RHO, 0.55, 0.4),
            ("HumanEval", "mean", None, 0.5, 0.3125, RHO, 0.4, 0.45),
            ("MBPP", "a", 8, 0.5, 0.1875, RHO, 0.55, 0.4),
            ("MBPP", "mean", None, 0.5, 0.1875, RHO, 0.55, 0.4),
        ],
        schema=["benchmark", "model", "tasks", *MEASURES],
        orient="row",
    )
    # Detected of EIGHT: 0.5*0.5 + 1*1 + 1*0.5 + 1*0 + 0.5*0 + 1*1 = 2.75 of 5; the error of what is not:
    # (0.25*0.5 + 0.75*0.5 + 1*1 + 0.5*1) / (1 + 0.5 + 0.5 + 1 + 1 + 1) = 2 / 5. Of all pairs: 4 of 6, (0+1+0+0.5) / 4.
    assert_frame_equal(table_4(estimates), expected)
    assert_frame_equal(table_4(estimates.sample(fraction=1, shuffle=True, seed=0)), expected)
    all_pairs = table_4(estimates, detection=Detection.ALL_PAIRS).filter(pl.col("benchmark") == "HumanEval")
    assert all_pairs["detection_rate"].to_list() == [1 / 2, None, 2 / 3, (1 / 2 + 2 / 3) / 2]
    assert all_pairs["undetected_mean_error"].to_list() == [0.5, None, 0.375, 0.4375]


def test_table_4_with_several_temperatures():
    estimates = pl.concat([tasks(temperature=1.0), tasks(temperature=0.0, error=[0.0] * 8), tasks(model="b")])
    table = table_4(estimates)
    assert table.columns == ["benchmark", "model", "temperature", "tasks", *MEASURES]
    coders = [("a", 0.0, 0.0), ("a", 1.0, 0.5), ("b", 0.6, 0.5)]
    means = [("mean", 0.0, 0.0), ("mean", 0.6, 0.5), ("mean", 1.0, 0.5)]
    assert table.select("model", "temperature", "mean_error").rows() == coders + means


def test_table_4_of_nothing():
    assert table_4(EIGHT[:0]).rows() == rankings(EIGHT[:0]).rows() == []


def test_rankings():
    """Figure 1 ranks by the share of tasks found; null where coders are alike, or fewer than three."""

    def coder(model, error, incoherence, functional_error, found, erroneous, **keys):
        columns = {"error": error, "incoherence": incoherence, "functional_error": functional_error}
        pairs = {name: [value] * 2 for name, value in columns.items()}
        return tasks(model=model, p_detected=found, p_erroneous=erroneous, **pairs, **keys)

    estimates = pl.concat(
        [
            coder("a", 0.1, 0.1, 0.9, [0.1, 0.5], [0.4, 0.6]),
            coder("b", 0.2, 0.3, 0.5, [0.4, 0.4], [0.6, 0.6]),
            coder("c", 0.3, 0.2, 0.6, [0.2, 0.0], [0.7, 0.7]),
            coder("a", 0.1, 0.1, 0.1, [1.0, 1.0], [1.0, 1.0], benchmark="MBPP"),
            coder("b", 0.2, 0.2, 0.1, [1.0, 1.0], [1.0, 1.0], benchmark="MBPP"),
        ]
    )
    found = rankings(estimates)
    assert found.columns == ["benchmark", "coders", "rho_found", "rho_pass_at_1", "rho_error", "rho_failure"]
    # Shares found: 0.3, 0.4, 0.1; erroneous: 0.5, 0.6, 0.7. Ranks 2 3 1 against 1 2 3: rho = 1 - 6 * 6 / 24.
    assert found.row(0) == ("HumanEval", 3, *map(pytest.approx, (-0.5, -0.5, 0.5, -1.0)))
    assert found.row(1) == ("MBPP", 2, None, None, None, None)
    assert rankings(estimates, detection=Detection.ALL_PAIRS)["rho_found"][0] is None  # all are found everywhere


def test_beside_published():
    table = table_4(pl.concat([EIGHT, tasks(model="b")]))
    published = pl.DataFrame(
        {
            "benchmark": ["HumanEval", "HumanEval", "MBPP"],
            "model": ["a", "mean", "a"],
            "model_in_paper": ["A", "mean", "A"],
            "mean_error": [0.25, 9.0, 9.0],
            "detection_rate": [0.5, 9.0, 9.0],
        }
    )
    joined = beside_published(table, published)
    assert joined.columns == [
        *("benchmark", "model", "tasks", "mean_error", "published_mean_error", "mean_incoherence", "spearman"),
        *("detection_rate", "published_detection_rate", "undetected_mean_error"),
    ]
    assert joined.select("model", "published_mean_error").rows() == [("a", 0.25), ("b", None), ("mean", 9.0)]
    assert mean_absolute_differences(joined) == {"mean_error": 0.25, "detection_rate": pytest.approx(0.05)}
    unpublished = mean_absolute_differences(joined.filter(pl.col("model") == "b"))
    assert all(map(math.isnan, unpublished.values()))
