"""Rankings of coders with and without a reference, in numbers."""

import polars as pl
import pytest
from scipy.stats import spearmanr

import difftrust_core as dt
from difftrust_core.report.rankings import POOLED


def test_rankings_are_those_of_the_shares_at_one_temperature_and_of_all() -> None:
    study = dt.open()
    study = type(study)(store=study.store, is_published=True, n_jobs=1)
    made = study.table("rankings")
    frame = made.frame
    assert frame.select("benchmark", "temperature", "detection").rows() == [
        (name, temperature, rule)
        for name in ("HumanEval", "MBPP")
        for temperature in ("0.6", POOLED)
        for rule in ("all-pairs", "as-published")
    ]
    tasks = study.estimates(benchmark="HumanEval", temperature=0.6, m=10, n=1000).frame
    coders = tasks.group_by("model").agg(
        found=pl.col("p_detected").mean(),
        detected=pl.col("detected").mean(),
        erroneous=(pl.col("error") > 0).mean(),
        failure=pl.col("functional_error").mean(),
    )
    row = frame.row(0, named=True)
    assert row["coders"] == coders.height == 16
    assert row["rho_found"] == pytest.approx(spearmanr(coders["detected"], coders["erroneous"]).statistic)
    assert row["rho_pass_at_1"] == pytest.approx(spearmanr(coders["detected"], coders["failure"]).statistic)
    assert row["rho_found_low"] < row["rho_found"] < row["rho_found_high"]
    assert frame["published"].to_list() == [0.946, 0.946, None, None, 0.924, 0.924, None, None]
