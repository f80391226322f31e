"""The paper's tables by their numbers, from a store, published values beside them; and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from difftrust_core.ablation.table_3 import MODEL, PARTS, TEMPERATURE, M, N, table_3
from difftrust_core.benchmark import (
    AS_PUBLISHED,
    MEAN,
    MEASURES,
    Detection,
    beside_published,
    mean_absolute_differences,
    rankings,
    table_4,
)
from difftrust_core.corpora.published import in_published_set, load_published
from difftrust_core.equality import PAPER
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.pipeline.estimation import estimates_are_stale, estimates_of_pools, open_pools
from difftrust_core.selection import selection_table
from difftrust_core.store import Store


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """What is asked for; with ``published``, what is left out is as in the paper: t = 0.6, m = 10, n = 1,000."""

    store: Path
    published: bool = False
    detection: Detection = AS_PUBLISHED
    equality: str = PAPER
    temperature: float | None = None
    drop_timeouts: bool = False
    m: int | None = None
    n: int | None = None
    model: str = MODEL
    """For Table 3."""
    intervals: bool = False
    """Over tasks."""
    resamples: int = 2000
    seed: int = 0
    n_jobs: int = 1


@dataclass(frozen=True, kw_only=True)
class MadeTable:
    """A table and what has to be said with it."""

    frame: pl.DataFrame
    notes: tuple[str, ...]


def make_table(name: str, request: TableRequest) -> MadeTable:
    """Return a table of the paper by its number. Raises WrongUsage for another name, NoStore if there is no data."""
    if name not in TABLES:
        raise WrongUsage(f"table is one of {', '.join(TABLES)}, got {name!r}")
    return TABLES[name](request)


def estimates_for(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates that Tables 2 and 4 and Figures 1 and 3 rest on, and what has to be said with them."""
    store = Store.open(request.store)
    wanted = TEMPERATURE if request.temperature is None and request.published else request.temperature
    found, notes = _sized(store, request, wanted)
    if found.is_empty():
        raise NoStore(f"the store {request.store} holds no estimates; run `difftrust execute --store {request.store}`")
    if wanted is not None:
        found = found.filter(pl.col("temperature") == wanted)
    if request.published:
        found = in_published_set(found)
        notes.append("tasks: the published 150 of HumanEval and 412 of MBPP, as far as the store holds them")
    if request.drop_timeouts:
        # The published pipeline dropped what took over 60 s; a timeout is what that comes from.
        kept = found.filter(pl.col("n_timeouts") == 0)
        notes.append(f"left out for a timeout: {found.height - kept.height} (coder, task) pairs")
        found = kept
    if found.is_empty():
        raise NoStore(f"the store {request.store} holds no estimate at temperature {wanted}; leave --temperature out")
    return found, notes


def _sized(store: Store, request: TableRequest, temperature: float | None) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates for the m and n asked for; those at hand if these are all there are."""
    m, n = request.m, request.n
    if m is None and n is None and not request.published:
        from difftrust_core.queries import query_estimates

        stale = estimates_are_stale(store)
        notes = ["the store holds candidates that are not executed yet; run `difftrust execute`"] if stale else []
        found = query_estimates(store, equality=request.equality)
        return found, notes if not found.is_empty() else []
    pools = open_pools(store, equality=request.equality, n_jobs=request.n_jobs)
    if request.published and pools:
        reached = min(len(task.pattern_of_input) for pool in pools.values() for task in pool.tasks)
        m, n = m or M, n or min(N, reached)
    found = estimates_of_pools(store, pools, m=m, n=n, temperature=temperature)
    wanted = {coder for pool in pools.values() for coder in pool.members if temperature in (None, coder[1])}
    left_out = len(wanted) - found.select("model", "temperature").n_unique()
    return found, [f"left out: {left_out} coders not executed on {n} inputs everywhere"] if left_out else []


def make_table_4(request: TableRequest) -> MadeTable:
    """Return Table 4: one row per (benchmark, model), then the mean over models."""
    estimates, notes = estimates_for(request)
    frame, said = _table_4(estimates, request)
    notes += said
    if request.published:
        frame = beside_published(frame, load_published("table_4").drop("model_in_paper"))
        notes.append(_differences(frame))
        notes += _rank_notes(estimates, request.detection)
    return MadeTable(frame=frame, notes=(*notes, _sizes(estimates, request), _counted(estimates)))


def _table_4(estimates: pl.DataFrame, request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return Table 4, with intervals if they are asked for, and what they are."""
    frame = table_4(estimates, detection=request.detection)
    if not request.intervals:
        return frame, []
    from difftrust_core.intervals.tables import with_intervals

    frame = with_intervals(
        frame, estimates, detection=request.detection, resamples=request.resamples, seed=request.seed
    )
    return frame, [f"in brackets: 95 % intervals over tasks (BCa, {request.resamples} resamples, seed {request.seed})"]


def make_table_2(request: TableRequest) -> MadeTable:
    """Return Table 2: the models that the paper picks for their roles, and the mean over all models of the store."""
    estimates, notes = estimates_for(request)
    published = load_published("table_2")
    roles = published.select("benchmark", "model", role="role_in_paper")
    whole, said = _table_4(estimates, request)
    notes += said
    frame = whole.join(roles, on=["benchmark", "model"], how="inner", maintain_order="left")
    frame = frame.select("benchmark", "role", pl.exclude("benchmark", "role"))
    if request.published:
        frame = beside_published(frame, published.drop("role_in_paper"))
        notes.append(_differences(frame))
    notes.append(f"mean: over all {whole.filter(pl.col('model') != MEAN)['model'].n_unique()} models of the store")
    return MadeTable(frame=frame, notes=(*notes, _sizes(estimates, request), _counted(estimates)))


def make_table_3(request: TableRequest, *, part: str = "3") -> MadeTable:
    """Return Table 3, or its part a (m), b (temperature) or c (n): detection rate and expenses of one model."""
    store = Store.open(request.store)
    pools = open_pools(store, equality=request.equality, n_jobs=request.n_jobs)
    if not any(model == request.model for pool in pools.values() for model, _ in pool.members):
        raise NoStore(f"the store {request.store} holds no behaviours of {request.model}; name another --model")
    kept = in_published_set if request.published else pl.DataFrame.clone
    resamples = request.resamples if request.intervals else 0
    frame = table_3(pools, part=part, model=request.model, detection=request.detection, tasks=kept, resamples=resamples)
    notes = [
        f"{request.model}; fixed while another varies: m = {M}, t = {TEMPERATURE}, n = {N}; "
        f"equality {request.equality}, detection {request.detection}; m = 1: one program can disagree with nothing",
        "over_subsets: by all pairs, expected over every choice of m of the recorded candidates",
    ]
    if request.intervals:
        notes.append(f"in brackets: 95 % intervals over tasks (BCa, {resamples} resamples, seed 0)")
    absent = frame.filter(pl.any_horizontal(pl.selectors.ends_with("_detection_rate").is_nan()))
    if not absent.is_empty():
        spelled = ", ".join(f"{varied} = {value:g}" for varied, value in absent.select("varied", "value").iter_rows())
        notes.append(f"not in the store, so NaN: {spelled}; see `make reproduce`")
    if request.published and request.model == MODEL:
        frame = _beside_published_3(frame)
        notes += _differences_3(frame)
    return MadeTable(frame=frame, notes=tuple(notes))


def _beside_published_3(frame: pl.DataFrame) -> pl.DataFrame:
    published = load_published("table_3").with_columns(pl.col("value").cast(pl.Float64))
    measures = [name for name in published.columns[2:] if name in frame.columns]
    renamed = published.select("varied", "value", *[pl.col(name).alias(f"published_{name}") for name in measures])
    joined = frame.join(renamed, on=["varied", "value"], how="left", maintain_order="left")
    columns = [[name, f"published_{name}"] if name in measures else [name] for name in frame.columns]
    return joined.select([name for pair in columns for name in pair])


def _differences_3(frame: pl.DataFrame) -> list[str]:
    rates, prices = [], []
    for name in frame.columns:
        if f"published_{name}" in frame.columns:
            both = frame.select(ours=pl.col(name).fill_nan(None), theirs=f"published_{name}").drop_nulls()
            if name.endswith("_expenses_usd"):
                prices.append((both["ours"] / both["theirs"] - 1).abs())
            else:
                rates.append((both["ours"] - both["theirs"]).abs())
    detection, expenses = pl.concat(rates), pl.concat(prices)
    return [
        f"difference to the published table: detection rate {_spread(detection)}; expenses, as a share, "
        f"{_spread(expenses)}",
        "expenses: tokens of the task's own text, 90 for the published wording around it (what the published expenses "
        "leave for it), and the program alone; the published expenses of the m rows are those of t = 0.2",
    ]


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
        f"{row['rho_found']:.4f} (published {published[row['benchmark']]}); of mean incoherence and mean error "
        f"{row['rho_error']:.4f}"
        for row in rankings(estimates, detection=detection).iter_rows(named=True)
        if row["benchmark"] in published
    ]


def _sizes(estimates: pl.DataFrame, request: TableRequest) -> str:
    sizes = f"m = {_range(estimates['m'])}, n = {_range(estimates['n'])}"
    return f"{sizes}, equality {request.equality}, detection {request.detection}"


def _range(values: pl.Series) -> str:
    low, high = values.min(), values.max()
    return str(low) if low == high else f"{low!s} to {high!s}"


def _counted(estimates: pl.DataFrame) -> str:
    """Say how many (coder, task) pairs the table rests on, and how many break what cannot be broken."""
    defined = estimates.filter(pl.col("incoherence").is_not_nan() & pl.col("error").is_not_nan())
    above = defined.filter(pl.col("incoherence") > 2 * pl.col("error") + 1e-12).height
    false = defined.filter((pl.col("error") == 0) & (pl.col("incoherence") > 0)).height
    slow = estimates.filter(pl.col("n_timeouts") > 0)["task_id"].n_unique()
    return (
        f"{estimates.height} (coder, task) pairs; with I > 2E: {above}; with E = 0 < I: {false}; "
        f"{slow} tasks hold a timeout"
    )


def make_selection(request: TableRequest) -> MadeTable:
    """Return pass@1 of the consensus candidate beside that of a random one, per model."""
    from difftrust_core.pipeline.passes import compute_passes

    found = compute_passes(
        Store.open(request.store),
        equality=request.equality,
        temperature=TEMPERATURE if request.temperature is None and request.published else request.temperature,
        m=request.m or (M if request.published else None),
        n=request.n or (N if request.published else None),
        n_jobs=request.n_jobs,
    )
    passes = in_published_set(found) if request.published and not found.is_empty() else found
    if passes.is_empty():
        raise NoStore(f"the store {request.store} holds nothing to select from; run `difftrust execute` on it first")
    notes = (
        f"m = {_range(passes['m'])}, n = {_range(passes['n'])}, equality {request.equality}",
        "consensus: the smallest program of the largest behaviour cluster; random: the mean over the candidates",
        "low to high: 95% bootstrap interval of the difference over tasks, paired by task (10,000 resamples, seed 0)",
    )
    return MadeTable(frame=selection_table(passes), notes=notes)


TABLES: dict[str, Callable[[TableRequest], MadeTable]] = {
    "2": make_table_2,
    "3": make_table_3,
    **{part: partial(make_table_3, part=part) for part in PARTS},
    "4": make_table_4,
    "selection": make_selection,
}
