"""The paper's tables, made from a store by their numbers, with the published values beside them, and its rankings."""

from dataclasses import replace
from typing import Final

import polars as pl

from difftrust.research.coders import (
    MEAN,
    MEASURES,
    RHOS,
    STRENGTH,
    beside_published,
    mean_absolute_differences,
    rankings,
    with_ends,
)
from difftrust.results import Table
from difftrust.shipped import PAPER_SETTING, load_published
from difftrust.tables.grid import table_3
from difftrust.tables.interval_columns import ranking_intervals, requested_table_4
from difftrust.tables.render import cell
from difftrust.tables.request import TableRequest, estimates_for, range_of, settle
from difftrust.tables.sentences import LOWER_BOUND
from difftrust.tasks.relation_text import relations_note
from difftrust_core.base.records import Detection, Load, References
from difftrust_core.estimates.refresh import estimates_of_pools
from difftrust_core.exceptions import NoStore
from difftrust_core.generation.prices import recorded_prices


def make_table_4(request: TableRequest) -> Table:
    """Return Table 4: one row per (benchmark, model), then the mean over models."""
    estimates, notes = estimates_for(request)
    frame = requested_table_4(estimates, request)
    notes += _said_of_intervals(request)
    if request.published:
        frame = beside_published(frame, load_published("table_4").drop("model_in_paper"))
        if request.reading.inputs not in (None, "reference") or request.reading.references != References.PUBLISHED:
            notes.append("published values: all tasks, on inputs that the reference accepts; another reading than ours")
        notes.append(_differences(frame))
        notes += _rank_notes(estimates, request.detection)
    own = relations_note(request.open())
    notes += [own] if own else []
    return Table(frame, notes=(*notes, _sizes(estimates, request), _counted(estimates)))


def _said_of_intervals(request: TableRequest) -> list[str]:
    if not request.intervals:
        return []
    return [f"in brackets: 95 % intervals over tasks (BCa, {request.resamples} resamples, seed {request.seed})"]


def make_table_2(request: TableRequest) -> Table:
    """Return Table 2: the models that the paper picks for their roles, and the mean over all models of the store."""
    estimates, notes = estimates_for(request)
    published = load_published("table_2")
    roles = published.select("benchmark", "model", role="role_in_paper")
    whole = requested_table_4(estimates, request)
    notes += _said_of_intervals(request)
    frame = whole.join(roles, on=["benchmark", "model"], how="inner", maintain_order="left")
    frame = frame.select("benchmark", "role", pl.exclude("benchmark", "role"))
    if request.published:
        frame = beside_published(frame, published.drop("role_in_paper"))
        notes.append(_differences(frame))
    notes.append(f"mean: over all {whole.filter(pl.col('model') != MEAN)['model'].n_unique()} models of the store")
    return Table(frame, notes=(*notes, _sizes(estimates, request), _counted(estimates)))


def make_table_3(request: TableRequest, *, part: str = "3") -> Table:
    """Return Table 3, or its part a (m), b (temperature) or c (n): detection rate and expenses of one model."""
    pools = request.pools()
    if not any(model == request.model for pool in pools.values() for model, _ in pool.members):
        raise NoStore(f"the store {request.store} holds no behaviours of {request.model}; name another --model")
    frame = table_3(pools, request, part=part)
    notes = [
        f"{request.model}; fixed while another varies: m = {PAPER_SETTING.m}, t = {PAPER_SETTING.temperature}, "
        f"n = {PAPER_SETTING.n}; "
        f"equality {request.equality}, detection {request.detection}; m = 1: one program can disagree with nothing",
        "over_subsets: by all pairs, expected over every choice of m of the recorded candidates",
    ]
    notes += _said_of_intervals(replace(request, seed=0))
    absent = frame.filter(pl.any_horizontal(pl.selectors.ends_with("_detection_rate").is_null()))
    if not absent.is_empty():
        spelled = ", ".join(f"{varied} = {value:g}" for varied, value in absent.select("varied", "value").iter_rows())
        notes.append(f"not in the store, so empty: {spelled}; see `make reproduce`")
    if request.model != PAPER_SETTING.model:
        notes += _prices(request.model, frame)
    elif request.published:
        frame = beside_published(frame, load_published("table_3"), keys=("varied", "value"))
        notes += _differences_3(frame)
    return Table(frame, notes=tuple(notes))


def _prices(model: str, frame: pl.DataFrame) -> list[str]:
    """Say what the expenses of a model are counted with, and whether they are lower bounds."""
    price = recorded_prices().get(model)
    listed = [] if price is None else [
        f"expenses: tokens of the task's own text and of the program alone, at the list price of {price.date}: "
        f"{price.prompt:g} and {price.completion:g} US dollars per million of prompt and completion"
    ]  # fmt: skip
    is_bound = frame.select(pl.any_horizontal(pl.selectors.ends_with("_is_lower_bound").any())).item()
    return [*listed, *([LOWER_BOUND] if is_bound else [])]


def _differences_3(frame: pl.DataFrame) -> list[str]:
    rates, prices = [], []
    for name in frame.columns:
        if f"published_{name}" in frame.columns:
            both = frame.select(ours=pl.col(name), theirs=f"published_{name}").drop_nulls()
            if name.endswith("_expenses_usd"):
                prices.append((both["ours"] / both["theirs"] - 1).abs())
            else:
                rates.append((both["ours"] - both["theirs"]).abs())
    detection, expenses = pl.concat(rates), pl.concat(prices)
    return [
        *_fold(frame),
        f"difference to the published table: detection rate {_spread(detection)}; expenses, as a share, "
        f"{_spread(expenses)}",
        "expenses: tokens of the task's own text, 90 for the published wording around it (what the published expenses "
        "leave for it), and the program alone; the published expenses of the m rows are those of t = 0.2",
    ]


def _fold(frame: pl.DataFrame) -> list[str]:
    """Say how many times the expenses of m = 10 those of m = 50 are, here and published; nothing where not recorded."""
    dear, usual = (frame.filter(varied="query_budget_m", value=m) for m in (50, PAPER_SETTING.m))
    names = {"MBPP": "mbpp_expenses_usd", "HumanEval": "humaneval_expenses_usd"}
    said = [
        f"{title} {here:.2f} (published {(dear[f'published_{name}'] / usual[f'published_{name}']).item():.2f})"
        for title, name in names.items()
        if name in frame.columns and (here := next(iter(dear[name] / usual[name]), None)) is not None
    ]
    return [f"expenses of m = 50 over those of m = 10: {', '.join(said)}"] if said else []


def _spread(values: pl.Series) -> str:
    mean, most = (float(x) if isinstance(x, int | float) else float("nan") for x in (values.mean(), values.max()))
    return f"{mean:.4f} on average, {most:.4f} at most"


def _differences(frame: pl.DataFrame) -> str:
    differences = mean_absolute_differences(frame)
    spelled = ", ".join(f"{measure} {differences[measure]:.4f}" for measure in MEASURES)
    return f"mean absolute difference to the published table: {spelled}"


def _rank_notes(estimates: pl.DataFrame, detection: Detection) -> list[str]:
    published = {"MBPP": 0.92, "HumanEval": 0.94}
    return [
        f"Figure 1, {row['benchmark']}: rho of tasks found erroneous by incoherence and by the reference "
        f"{cell(row['rho_found'], 'text')} (published {published[row['benchmark']]}); of mean incoherence and mean "
        f"error {cell(row['rho_error'], 'text')}"
        for row in rankings(estimates, detection=detection).iter_rows(named=True)
        if row["benchmark"] in published and row["rho_found"] is not None
    ]


def _sizes(estimates: pl.DataFrame, request: TableRequest) -> str:
    sizes = f"m = {range_of(estimates['m'])}, n = {range_of(estimates['n'])}"
    load = "" if request.reading.load == Load.TRIMMED else ", a program whose trailing lines fail counts as not loading"
    return f"{sizes}, equality {request.equality}, detection {request.detection}{load}"


def _counted(estimates: pl.DataFrame) -> str:
    """Say how many (coder, task) pairs the table rests on, and how many break what cannot be broken."""
    defined = estimates.drop_nulls(["incoherence", "error"])
    above = defined.filter(pl.col("incoherence") > 2 * pl.col("error") + 1e-12).height
    false = defined.filter((pl.col("error") == 0) & (pl.col("incoherence") > 0)).height
    slow = estimates.filter(pl.col("n_timeouts") > 0)["task_id"].n_unique()
    failing = estimates.filter(pl.col("n_load_failures") > 0)
    silent = failing.filter(pl.col("incoherence") == 0).height
    unknown = estimates["error"].null_count()
    known = f"; error known for {estimates.height - unknown}, the others have no reference" if unknown else ""
    sizes = estimates.group_by("benchmark", "model", "temperature").len()
    uneven = sizes.group_by("benchmark").agg(pl.min("len").alias("low"), pl.max("len").alias("high")).sort("benchmark")
    uneven = uneven.filter(pl.col("low") < pl.col("high"))
    differ = "".join(f"; {low} to {high} tasks a coder of {name}" for name, low, high in uneven.iter_rows())
    return (
        f"{estimates.height} (coder, task) pairs{known}{differ}; with I > 2E: {above}; with E = 0 < I: {false}; "
        f"{slow} tasks hold a timeout; {failing['n_load_failures'].sum()} candidates in {failing.height} pairs do not "
        f"load, in {silent} of these all agree, which only all-pairs counts as detected"
    )


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
    found = request.counted(estimates_of_pools(request.open(), pools, m=request.m, n=request.n))
    parts = [
        _ranking_rows(own, f"{t:g}", request)
        for (t,), own in found.group_by("temperature")
        if request.wanted_temperature in (None, t)
    ]
    if found["temperature"].n_unique() > 1:
        coder = pl.format("{} at {}", "model", "temperature")
        pooled = found.with_columns(model=coder, temperature=pl.lit(None, pl.Float64))
        parts.append(_ranking_rows(pooled, POOLED, request))
    frame = pl.concat(parts).sort("benchmark", pl.col("temperature") == POOLED, "temperature", "detection")
    return Table(
        frame, notes=(*_RANKING_NOTES, f"m = {request.m}, n = {request.n}, equality {request.equality}", *left_out)
    )


_RANKING_NOTES: Final = (
    "rho_found: Figure 1 (§6.3): ranks of the share of tasks with a non-zero incoherence and of the share with a "
    "non-zero error; as-published by the published sampling, all-pairs by every pair and candidate",
    "rho_pass_at_1: of the first of these with 1 - pass@1 (Eq. 11); rho_error, rho_failure: of mean incoherence with "
    "mean error and with 1 - pass@1",
    "rho_found_p: how likely coders whose two rankings have nothing to do with each other come as far from 0, of "
    "up to eight by all orders, of more by Student's t; "
    f"rho_found_strength: {', '.join(f'{word} from {least:g}' for least, word in STRENGTH.items())}",
    "in brackets: 95 % intervals over tasks (BCa), the coders as they are",
)


def _ranking_rows(estimates: pl.DataFrame, temperature: str, request: TableRequest) -> pl.DataFrame:
    parts = [
        ranking_intervals(estimates, detection=rule, resamples=request.resamples, seed=request.seed).select(
            "benchmark",
            pl.lit(temperature).alias("temperature"),
            pl.lit(str(rule)).alias("detection"),
            "coders",
            *with_ends(*RHOS),
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
