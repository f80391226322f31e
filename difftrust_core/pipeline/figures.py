"""The paper's figures, and this project's own, by their names, from a store; and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from difftrust_core.ablation import Pool, curves, mixture_summary, mixtures
from difftrust_core.ablation.table_3 import MODEL, PARTS, TEMPERATURE, M, N
from difftrust_core.benchmark import coder_measures
from difftrust_core.charts import (
    draw_ablation,
    draw_error_incoherence,
    draw_false_trust,
    draw_mixtures,
    draw_ranking,
    draw_workflow,
)
from difftrust_core.corpora.published import in_published_set, load_published
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.intervals.tables import ranking_intervals
from difftrust_core.intervals.trust import false_trust
from difftrust_core.pipeline.estimation import open_pools
from difftrust_core.pipeline.tables import TableRequest, estimates_for, make_table
from difftrust_core.pipeline.workflow import workflow_stages
from difftrust_core.store import Store

MEASURES_OF_MIXTURES: Final = {
    "detection_rate": "tasks found, of those on which one of the programs is wrong",
    "check_detection": "tasks found, of those on which the model checked errs",
    "check_alarms": "alarms, among tasks that the model checked solves",
}
"""What the lines of the mixtures are called."""
_PART_OF = {"m": "3a", "temperature": "3b", "n": "3c"}


@dataclass(frozen=True, kw_only=True)
class FigureRequest:
    """What is asked for."""

    table: TableRequest
    """Store, m, n, temperature, detection, equality; ``published``: the published tasks and sizes."""
    models: tuple[str, ...] = ()
    """For Figures 2 and 3 and the ablation; none: the model of ``table`` if the store has it, else its first."""
    benchmark: str | None = None
    """None: all; for Figure 2 the first."""
    vary: str = "m"
    """For the ablation: m, n or temperature."""


@dataclass(frozen=True, kw_only=True)
class MadeFigure:
    """A chart, the table that it draws, and what has to be said with them."""

    chart: Any
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()


def make_figure(name: str, request: FigureRequest) -> MadeFigure:
    """Return a figure by its name. Raises WrongUsage for another name, NoStore if there is no data."""
    if name not in FIGURES:
        raise WrongUsage(f"figure is one of {', '.join(FIGURES)}, got {name!r}")
    return FIGURES[name](request)


def _estimates(request: FigureRequest) -> tuple[pl.DataFrame, tuple[str, ...]]:
    found, notes = estimates_for(request.table)
    if request.benchmark is not None:
        names = found["benchmark"].unique().sort().to_list()
        found = found.filter(pl.col("benchmark") == request.benchmark)
        if found.is_empty():
            raise WrongUsage(f"the store has no benchmark {request.benchmark!r}; there are: {', '.join(names)}")
    return found, tuple(notes)


def _models(request: FigureRequest, there: list[str]) -> list[str]:
    if unknown := [name for name in request.models if name not in there]:
        raise WrongUsage(f"the store has no model {unknown[0]!r}; there are: {', '.join(there)}")
    first = request.table.model if request.table.model in there else there[0]
    return list(request.models) or [first]


def _one_temperature(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of one temperature: 0.6 where there are some."""
    temperatures = estimates["temperature"].unique().sort().to_list()
    chosen = TEMPERATURE if TEMPERATURE in temperatures else temperatures[0]
    return estimates.filter(pl.col("temperature") == chosen)


def _figure_1(request: FigureRequest) -> MadeFigure:
    """Return tasks found erroneous by incoherence against erroneous tasks, a point a model."""
    estimates, notes = _estimates(request)
    estimates = _one_temperature(estimates)
    measures = coder_measures(estimates, detection=request.table.detection)
    rhos = ranking_intervals(estimates, detection=request.table.detection, resamples=request.table.resamples)
    said = (
        f"{row['benchmark']}: rho = {row['rho_found']:.3f} [{row['rho_found_low']:.3f}, {row['rho_found_high']:.3f}] "
        f"over {row['coders']} models (95 % over tasks), p = {row['rho_found_p']:.1g}"
        for row in rhos.iter_rows(named=True)
    )
    return MadeFigure(chart=draw_ranking(measures, x="found", y="erroneous"), frame=measures, notes=(*notes, *said))


def _ranking(request: FigureRequest) -> MadeFigure:
    """Return mean error against mean incoherence, with intervals over tasks."""
    if request.benchmark is not None:
        _ = _estimates(request)
    made = make_table("4", replace(request.table, intervals=True))
    frame = made.frame.filter(pl.lit(request.benchmark is None) | (pl.col("benchmark") == (request.benchmark or "")))
    if "temperature" in frame.columns:
        frame = _one_temperature(frame)
    return MadeFigure(chart=draw_ranking(frame), frame=frame, notes=made.notes)


def _figure_2(request: FigureRequest) -> MadeFigure:
    estimates, notes = _estimates(request)
    estimates = _one_temperature(estimates)
    (model, *_) = _models(request, estimates["model"].unique().sort().to_list())
    own = estimates.filter(pl.col("model") == model)
    stages = workflow_stages(own.filter(pl.col("benchmark") == own["benchmark"].min()))
    return MadeFigure(chart=draw_workflow(stages), frame=stages, notes=notes)


def _figure_3(request: FigureRequest) -> MadeFigure:
    estimates, notes = _estimates(request)
    estimates = _one_temperature(estimates)
    models = _models(request, estimates["model"].unique().sort().to_list())
    own = estimates.filter(pl.col("model").is_in(models))
    return MadeFigure(chart=draw_error_incoherence(own), frame=own, notes=notes)


def _pools(request: FigureRequest) -> dict[str, Pool]:
    pools = open_pools(Store.open(request.table.store), equality=request.table.equality, n_jobs=request.table.n_jobs)
    chosen = {name: pool for name, pool in pools.items() if request.benchmark in (None, name)}
    if not chosen:
        raise NoStore(f"the store {request.table.store} holds no behaviours of {request.benchmark or 'any benchmark'}")
    return chosen


def _counted(request: FigureRequest) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return in_published_set if request.table.published else pl.DataFrame.clone


def _fixed(request: FigureRequest, pools: Mapping[str, Pool]) -> dict[str, float]:
    """Return m, n and temperature: those asked for, else the paper's as far as the store goes."""
    reached = min(len(task.pattern_of_input) for pool in pools.values() for task in pool.tasks)
    temperatures = {coder[1] for pool in pools.values() for coder in pool.members}
    temperature = request.table.temperature
    if temperature is None:
        temperature = TEMPERATURE if TEMPERATURE in temperatures else min(temperatures)
    return {"m": request.table.m or M, "n": request.table.n or min(N, reached), "temperature": temperature}


def _ablation(request: FigureRequest) -> MadeFigure:
    if request.vary not in _PART_OF:
        raise WrongUsage(f"what varies is one of {', '.join(_PART_OF)}, got {request.vary!r}")
    pools = _pools(request)
    there = sorted({model for pool in pools.values() for model, _ in pool.members})
    (model, *_) = _models(request, there)
    fixed = _fixed(request, pools)
    values = sorted({*PARTS[_PART_OF[request.vary]][1], fixed[request.vary]})
    frame = curves(pools, model, vary=request.vary, values=values, fixed=fixed, tasks=_counted(request))
    if frame.is_empty():
        raise NoStore(f"the store {request.table.store} holds no two programs a task of {model}; sample more with -m")
    if request.table.published and model == MODEL:
        frame = frame.join(_published_rates(request.vary), on=["benchmark", request.vary], how="left")
    chart = draw_ablation(frame, x=request.vary, chosen=fixed[request.vary])
    spelled = ", ".join(f"{name} = {value:g}" for name, value in fixed.items() if name != request.vary)
    return MadeFigure(chart=chart, frame=frame, notes=(f"{model}; {spelled}; bands: 95 % over tasks",))


def _published_rates(vary: str) -> pl.DataFrame:
    """Return the published detection rates of a part of Table 3: benchmark, what varies, published_detection_rate."""
    part = load_published("table_3").filter(pl.col("varied") == PARTS[_PART_OF[vary]][0])
    kind = pl.Float64 if vary == "temperature" else pl.Int64
    return pl.concat(
        part.select(
            benchmark=pl.lit(name),
            **{vary: pl.col("value").cast(kind)},
            published_detection_rate=f"{name.lower()}_detection_rate",
        )
        for name in ("HumanEval", "MBPP")
    )


def _false_trust(request: FigureRequest) -> MadeFigure:
    """Return how often a task without a disagreement is wrong, by model, for 2 and for m programs."""
    largest = request.table.m or M
    parts = []
    for m in sorted({2, largest}):
        estimates, _ = _estimates(replace(request, table=replace(request.table, m=m)))
        parts.append(false_trust(_one_temperature(estimates)).with_columns(m=pl.lit(m)))
    frame = pl.concat(parts)
    notes = ("share of tasks without a disagreement that are erroneous; 95 % Clopper-Pearson intervals, over tasks",)
    return MadeFigure(chart=draw_false_trust(frame), frame=frame, notes=notes)


def _mixtures(request: FigureRequest) -> MadeFigure:
    """Return what m programs of 1, 2, 5 and 10 models find."""
    pools = _pools(request)
    fixed = _fixed(request, pools)
    m, n = int(fixed["m"]), int(fixed["n"])
    rows = []
    for name, pool in sorted(pools.items()):
        coders = [coder for coder in pool.members if coder[1] == fixed["temperature"]]
        for k in (1, 2, 5, 10):
            if k <= len(coders) and m % k == 0:
                found = mixture_summary(_counted(request)(mixtures(pool, coders, n_models=k, each=m // k, m=m, n=n)))
                rows += [
                    {
                        "benchmark": name,
                        "n_models": k,
                        "measure": said,
                        "value": found[key],
                        "n_tasks": found["n_tasks"],
                    }
                    for key, said in MEASURES_OF_MIXTURES.items()
                ]
    frame = pl.DataFrame(rows)
    if frame["n_tasks"].max() == 0:
        raise NoStore(f"no task of {request.table.store} has {m} programs of every model; ask for fewer with -m")
    notes = (f"m = {m} programs a task, n = {n}; means over every choice of models and of their first {m} programs",)
    return MadeFigure(chart=draw_mixtures(frame), frame=frame, notes=notes)


FIGURES: Final[dict[str, Callable[[FigureRequest], MadeFigure]]] = {
    "1": _figure_1,
    "2": _figure_2,
    "3": _figure_3,
    "ranking": _ranking,
    "ablation": _ablation,
    "false-trust": _false_trust,
    "mixtures": _mixtures,
}
