"""The paper's tables by their numbers, from a store; and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from difftrust_core.benchmark import MEASURES, Detection, beside_published, mean_absolute_differences, table_4
from difftrust_core.corpora.published import in_published_set, load_published
from difftrust_core.exceptions import NoStore
from difftrust_core.pipeline import compute_estimates, estimates_are_stale
from difftrust_core.pipeline.passes import compute_passes
from difftrust_core.queries import query_estimates
from difftrust_core.selection import selection_table
from difftrust_core.store import Store

PUBLISHED_TEMPERATURE = 0.6


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """What was asked for on the command line."""

    store: Path
    published: bool
    detection: Detection
    equality: str
    temperature: float | None
    drop_timeouts: bool
    m: int | None
    n: int | None
    n_jobs: int


@dataclass(frozen=True, kw_only=True)
class MadeTable:
    """A table and what has to be said with it."""

    frame: pl.DataFrame
    notes: tuple[str, ...]


def _estimates(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    store = Store.open(request.store)
    notes = []
    if request.m is not None or request.n is not None:
        found = compute_estimates(store, n=request.n, m=request.m, n_jobs=request.n_jobs)[request.equality]
    else:
        found = query_estimates(store, equality=request.equality)
        if not found.is_empty() and estimates_are_stale(store):
            notes.append("the store holds candidates that are not executed yet; run `difftrust execute`")
    if found.is_empty():
        raise NoStore(f"the store {request.store} holds no estimates; run `difftrust execute --store {request.store}`")
    wanted = request.temperature
    if wanted is None and request.published:
        wanted = PUBLISHED_TEMPERATURE
    if wanted is not None:
        found = found.filter(pl.col("temperature") == wanted)
    if request.published:
        found = in_published_set(found)
    if request.drop_timeouts:
        # The published pipeline dropped what took over 60 s; a timeout is what that comes from.
        kept = found.filter(pl.col("n_timeouts") == 0)
        notes.append(f"left out for a timeout: {found.height - kept.height} (coder, task) pairs")
        found = kept
    if found.is_empty():
        raise NoStore(f"the store {request.store} holds no estimate at temperature {wanted}; leave --temperature out")
    return found, notes


def make_table_4(request: TableRequest) -> MadeTable:
    """Return Table 4: one row per (benchmark, model), then the mean over models."""
    estimates, notes = _estimates(request)
    frame = table_4(estimates, detection=request.detection)
    if request.published:
        published = load_published("table_4").drop("model_in_paper")
        frame = beside_published(frame, published)
        differences = mean_absolute_differences(frame)
        spelled = ", ".join(f"{measure} {differences[measure]:.4f}" for measure in MEASURES)
        notes.append(f"mean absolute difference to the published table: {spelled}")
        notes.append("tasks: the published 150 of HumanEval and 412 of MBPP, as far as the store holds them")
    sizes = f"m = {_range(estimates['m'])}, n = {_range(estimates['n'])}"
    notes.append(f"{sizes}, equality {request.equality}, detection {request.detection}")
    notes.append(_counted(estimates))
    return MadeTable(frame=frame, notes=tuple(notes))


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
    temperature = PUBLISHED_TEMPERATURE if request.temperature is None and request.published else request.temperature
    passes = compute_passes(
        Store.open(request.store),
        equality=request.equality,
        temperature=temperature,
        m=request.m,
        n=request.n,
        n_jobs=request.n_jobs,
    )
    if request.published and not passes.is_empty():
        passes = in_published_set(passes)
    if passes.is_empty():
        raise NoStore(f"the store {request.store} holds nothing to select from; run `difftrust execute` on it first")
    notes = (
        f"m = {_range(passes['m'])}, n = {_range(passes['n'])}, equality {request.equality}",
        "consensus: the smallest program of the largest behaviour cluster; random: the mean over the candidates",
        "low to high: 95% bootstrap interval of the difference over tasks, paired by task (10,000 resamples, seed 0)",
    )
    return MadeTable(frame=selection_table(passes), notes=notes)


TABLES: dict[str, Callable[[TableRequest], MadeTable]] = {"4": make_table_4, "selection": make_selection}
