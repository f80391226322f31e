"""The paper's tables, made from a store by their numbers, with the published values beside them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from difftrust_core.analysis.ablation.grid import PARTS, table_3
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.estimates import estimates_are_stale, estimates_of_pools, open_pools
from difftrust_core.base.records import AS_STORED, Reading
from difftrust_core.datasets.published import PAPER_SETTING, in_published_set, load_published
from difftrust_core.exceptions import NoStore
from difftrust_core.metrics.aggregate import (
    MEAN,
    MEASURES,
    beside_published,
    mean_absolute_differences,
    rankings,
    table_4,
)
from difftrust_core.metrics.consensus import selection_table
from difftrust_core.metrics.detection import Detection
from difftrust_core.metrics.equality import Equality
from difftrust_core.report.shown import Table
from difftrust_core.store.store import Store


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """Which data a table shows."""

    store: Path
    reading: Reading = AS_STORED
    published: bool = False
    """Whether published values stand beside; with ``paper_setting``."""
    paper_setting: bool = False
    """Whether what is left out is as in the paper: its tasks, t = 0.6, m = 10, n = 1,000."""
    detection: Detection = Detection.AS_PUBLISHED
    equality: str = Equality.PAPER
    temperature: float | None = None
    drop_timeouts: bool = False
    m: int | None = None
    n: int | None = None
    model: str = PAPER_SETTING.model
    """For Table 3 and the policies."""
    only: tuple[str, ...] = ()
    """The models that other tables show; none: all."""
    intervals: bool = False
    """Over tasks."""
    resamples: int = 2000
    seed: int = 0
    n_jobs: int = 1
    signal: str = "incoherence"
    """For agreement: what is answered by."""
    alpha: float = 0.1
    """For agreement: what the risk is to be at most."""
    delta: float = 0.1
    """For agreement: with which probability it may be more."""

    def open(self) -> Store:
        """Open the store, read as asked."""
        return Store.open(self.store, self.reading)

    @property
    def as_in_paper(self) -> bool:
        """Tell whether the paper's tasks and sizes are meant where others are not named."""
        return self.published or self.paper_setting

    @property
    def wanted_temperature(self) -> float | None:
        """Return the temperature asked for; without one the paper's, where its sizes are meant; None for all."""
        return PAPER_SETTING.temperature if self.temperature is None and self.as_in_paper else self.temperature


def estimates_for(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates that Tables 2 and 4 and Figures 1 and 3 rest on, with notes."""
    store = request.open()
    wanted = request.wanted_temperature
    found, notes = _sized(store, request)
    if found.is_empty():
        asked = f" --validity {request.reading.inputs}" if request.reading.inputs else ""
        remedy = f"run `difftrust execute --store {request.store}{asked}`"
        raise NoStore(f"the store {request.store} holds no estimates of such inputs; {remedy}")
    if wanted is not None:
        found = found.filter(pl.col("temperature") == wanted)
    if request.as_in_paper:
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


def _sized(store: Store, request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates for the m and n asked for; those at hand if these are all there are."""
    m, n, temperature = request.m, request.n, request.wanted_temperature
    if m is None and n is None and not request.as_in_paper:
        from difftrust_core.analysis.queries import query_estimates

        stale = estimates_are_stale(store)
        notes = ["the store holds candidates that are not executed yet; run `difftrust execute`"] if stale else []
        found = query_estimates(store, equality=request.equality)
        return found, notes if not found.is_empty() else []
    pools = open_pools(store, equality=request.equality, n_jobs=request.n_jobs)
    if request.as_in_paper and pools:
        m, n = paper_sizes(request, pools)
    found = estimates_of_pools(store, pools, m=m, n=n, temperature=temperature)
    wanted = {coder for pool in pools.values() for coder in pool.members if temperature in (None, coder[1])}
    left_out = len(wanted) - found.select("model", "temperature").n_unique()
    return found, [f"left out: {left_out} coders not executed on {n} inputs everywhere"] if left_out else []


def paper_sizes(request: TableRequest, pools: Mapping[str, Pool]) -> tuple[int, int]:
    """Return the m and n asked for, else the paper's as far as the store goes."""
    reached = min(len(task.pattern_of_input) for pool in pools.values() for task in pool.tasks)
    return request.m or PAPER_SETTING.m, request.n or min(PAPER_SETTING.n, reached)


def make_table_4(request: TableRequest) -> Table:
    """Return Table 4: one row per (benchmark, model), then the mean over models."""
    estimates, notes = estimates_for(request)
    frame, said = _table_4(estimates, request)
    notes += said
    if request.published:
        frame = beside_published(frame, load_published("table_4").drop("model_in_paper"))
        notes.append(_differences(frame))
        notes += _rank_notes(estimates, request.detection)
    return Table(frame, notes=(*notes, _sizes(estimates, request), _counted(estimates)))


def _table_4(estimates: pl.DataFrame, request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return Table 4, with intervals if they are asked for, and what they are."""
    frame = table_4(estimates, detection=request.detection)
    if not request.intervals:
        return frame, []
    from difftrust_core.metrics.intervals.tables import with_intervals

    frame = with_intervals(
        frame, estimates, detection=request.detection, resamples=request.resamples, seed=request.seed
    )
    return frame, [f"in brackets: 95 % intervals over tasks (BCa, {request.resamples} resamples, seed {request.seed})"]


def make_table_2(request: TableRequest) -> Table:
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
    return Table(frame, notes=(*notes, _sizes(estimates, request), _counted(estimates)))


def make_table_3(request: TableRequest, *, part: str = "3") -> Table:
    """Return Table 3, or its part a (m), b (temperature) or c (n): detection rate and expenses of one model."""
    store = request.open()
    pools = open_pools(store, equality=request.equality, n_jobs=request.n_jobs)
    if not any(model == request.model for pool in pools.values() for model, _ in pool.members):
        raise NoStore(f"the store {request.store} holds no behaviours of {request.model}; name another --model")
    kept = in_published_set if request.as_in_paper else pl.DataFrame.clone
    resamples = request.resamples if request.intervals else 0
    frame = table_3(pools, part=part, model=request.model, detection=request.detection, tasks=kept, resamples=resamples)
    notes = [
        f"{request.model}; fixed while another varies: m = {PAPER_SETTING.m}, t = {PAPER_SETTING.temperature}, "
        f"n = {PAPER_SETTING.n}; "
        f"equality {request.equality}, detection {request.detection}; m = 1: one program can disagree with nothing",
        "over_subsets: by all pairs, expected over every choice of m of the recorded candidates",
    ]
    if request.intervals:
        notes.append(f"in brackets: 95 % intervals over tasks (BCa, {resamples} resamples, seed 0)")
    absent = frame.filter(pl.any_horizontal(pl.selectors.ends_with("_detection_rate").is_nan()))
    if not absent.is_empty():
        spelled = ", ".join(f"{varied} = {value:g}" for varied, value in absent.select("varied", "value").iter_rows())
        notes.append(f"not in the store, so NaN: {spelled}; see `make reproduce`")
    if request.published and request.model == PAPER_SETTING.model:
        frame = beside_published(frame, load_published("table_3"), keys=("varied", "value"))
        notes += _differences_3(frame)
    return Table(frame, notes=tuple(notes))


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
    sizes = f"m = {range_of(estimates['m'])}, n = {range_of(estimates['n'])}"
    return f"{sizes}, equality {request.equality}, detection {request.detection}"


def range_of(values: pl.Series) -> str:
    """Return the values as ``10``, or as ``6 to 10`` where they differ."""
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


def make_selection(request: TableRequest) -> Table:
    """Return pass@1 of the consensus candidate beside that of a random one, per model."""
    from difftrust_core.analysis.clusters import compute_passes

    store = request.open()
    found = compute_passes(
        store,
        open_pools(store, equality=request.equality, n_jobs=request.n_jobs),
        temperature=request.wanted_temperature,
        m=request.m or (PAPER_SETTING.m if request.as_in_paper else None),
        n=request.n or (PAPER_SETTING.n if request.as_in_paper else None),
    )
    passes = in_published_set(found) if request.as_in_paper and not found.is_empty() else found
    if passes.is_empty():
        raise NoStore(f"the store {request.store} holds nothing to select from; run `difftrust execute` on it first")
    notes = (
        f"m = {range_of(passes['m'])}, n = {range_of(passes['n'])}, equality {request.equality}",
        "consensus: the smallest program of the largest behaviour cluster; random: the mean over the candidates",
        "low to high: 95% bootstrap interval of the difference over tasks, paired by task (10,000 resamples, seed 0)",
    )
    return Table(selection_table(passes), notes=notes)


TABLES: dict[str, Callable[[TableRequest], Table]] = {
    "2": make_table_2,
    "3": make_table_3,
    **{part: partial(make_table_3, part=part) for part in PARTS},
    "4": make_table_4,
    "selection": make_selection,
}
