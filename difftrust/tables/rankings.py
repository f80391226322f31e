"""Rankings of models: by consensus against a random candidate, and by incoherence against error."""

from dataclasses import replace
from typing import Final

import polars as pl

from difftrust.research.coders import RHOS, STRENGTH
from difftrust.results import Table
from difftrust.shipped import PAPER_SETTING
from difftrust.tables.intervals import ranking_intervals
from difftrust.tables.request import TableRequest, settle
from difftrust_core.base.records import Detection
from difftrust_core.estimates.refresh import estimates_of_pools
from difftrust_core.exceptions import NoStore


def make_selection(request: TableRequest) -> Table:
    """Return pass@1 of a random candidate, of the consensus, and of that of those that pass the public examples."""
    from difftrust.research.passed_tests import open_examples
    from difftrust.research.selection import compute_passes, selection_table

    examples = open_examples(request.open(), equality=request.equality, n_jobs=request.n_jobs)
    passes, sizes = request.judged(
        lambda pools, **sizes: compute_passes(pools, examples, **sizes),
        missing="whose right answers are known; give its tasks references, checkers or tests",
    )
    notes = (
        *sizes,
        "random: the mean over the candidates; consensus: the program of fewest tokens of the largest cluster",
        "filtered: the consensus of the candidates that pass the task's public examples, of all where none does; "
        "public are the test inputs that stand in the description (HumanEval) and the first test (MBPP)",
        "consensus_gain, filtered_gain: over random; filter_gain: of filtered over consensus; low to high: 95% "
        "bootstrap intervals over tasks, paired by task (10,000 resamples, seed 0)",
    )
    return Table(selection_table(passes), notes=notes)


PUBLISHED_RHOS: Final = {"HumanEval": 0.946, "MBPP": 0.924}
"""Benchmark -> rho of Figure 1 as the published logs give it; the paper prints 0.94 and 0.92."""
POOLED: Final = "all, pooled"
"""In the column of temperatures: every coder there is, those of all temperatures in one ranking."""


def make_rankings(request: TableRequest) -> Table:
    """Return Spearman's rho over the coders: a row a benchmark, temperature and rule of detection.

    Columns: benchmark, temperature, detection, coders, and each rho of ``coders.rankings`` with its ends; of rho_found
    the p-value and the word for its strength; published, what the paper's Figure 1 has. Raises NoStore if nothing is
    executed.
    """
    request, left_out = settle(request)
    anywhere = replace(request, temperature=None, paper_setting=False, published=False)
    pools = anywhere.shown_pools()
    if not pools:
        raise NoStore(f"the store {request.store} holds no results; run `difftrust execute --store {request.store}`")
    found = estimates_of_pools(request.open(), pools, m=request.m, n=request.n)
    found = request.counted(found)
    parts = [
        _ranking_rows(own, f"{t:g}", request) for (t,), own in found.group_by("temperature") if _is_ranked(t, request)
    ]
    if found["temperature"].n_unique() > 1:
        parts.append(_ranking_rows(_pooled(found), POOLED, request))
    frame = pl.concat(parts).sort("benchmark", pl.col("temperature") == POOLED, "temperature", "detection")
    return Table(
        frame, notes=(*_RANKING_NOTES, f"m = {request.m}, n = {request.n}, equality {request.equality}", *left_out)
    )


_RANKING_NOTES: Final = (
    "rho_found: Figure 1 (§6.3): ranks of the share of tasks with a non-zero incoherence and of the share with a "
    "non-zero error; as-published by the published sampling, all-pairs by every pair and candidate",
    "rho_pass_at_1: of the first of these with 1 - pass@1 (Eq. 11); rho_error, rho_failure: of mean incoherence with "
    "mean error and with 1 - pass@1",
    "rho_found_p: how likely coders whose two rankings have nothing to do with each other come as far from 0, by "
    f"Student's t; rho_found_strength: {', '.join(f'{word} from {least:g}' for least, word in STRENGTH.items())}",
    "in brackets: 95 % intervals over tasks (BCa), the coders as they are",
)


def _is_ranked(temperature: object, request: TableRequest) -> bool:
    usual = PAPER_SETTING.temperature if request.as_in_paper else temperature
    return bool(temperature == (usual if request.temperature is None else request.temperature))


def _pooled(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates with every coder as a model of its own."""
    coder = pl.format("{} at {}", "model", "temperature")
    return estimates.with_columns(model=coder, temperature=pl.lit(None, pl.Float64))


def _ranking_rows(estimates: pl.DataFrame, temperature: str, request: TableRequest) -> pl.DataFrame:
    parts = [
        ranking_intervals(estimates, detection=rule, resamples=request.resamples, seed=request.seed).select(
            "benchmark",
            pl.lit(temperature).alias("temperature"),
            pl.lit(str(rule)).alias("detection"),
            "coders",
            *[f"{rho}{end}" for rho in RHOS for end in ("", "_low", "_high")],
            "rho_found_p",
            pl.coalesce(
                pl.when(pl.col("rho_found").abs() >= least).then(pl.lit(word)) for least, word in STRENGTH.items()
            ).alias("rho_found_strength"),
        )
        for rule in Detection
    ]
    is_paper = temperature == f"{PAPER_SETTING.temperature:g}"
    published = pl.col("benchmark").replace_strict(PUBLISHED_RHOS, default=None, return_dtype=pl.Float64)
    return pl.concat(parts).with_columns(published=published if is_paper else pl.lit(None, pl.Float64))
