"""The paper's figures and this project's own, made from a store by their names."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from difftrust.figures.curves import draw_ablation, draw_mixtures, draw_policies, draw_questions, draw_risk_coverage
from difftrust.figures.error_incoherence import draw_error_incoherence
from difftrust.figures.heat_maps import draw_model_pairs
from difftrust.figures.interval_bars import draw_readings
from difftrust.figures.ranking import draw_ranking
from difftrust.figures.style import WIDTH, sizes_of, stacked, titled_figure
from difftrust.figures.workflow import draw_workflow, workflow_stages
from difftrust.research.coders import coder_measures, strength_of
from difftrust.research.mixtures import mixture_summary, mixtures
from difftrust.research.selection import answers_table
from difftrust.results import Figure
from difftrust.shipped import PAPER_SETTING, load_published, usual_temperature
from difftrust.tables.agreement import answers_for
from difftrust.tables.grid import PARTS, curves
from difftrust.tables.interval_columns import ranking_intervals
from difftrust.tables.names import display_name
from difftrust.tables.page_table import VARIED
from difftrust.tables.paper_tables import make_table_4
from difftrust.tables.readings import ALL
from difftrust.tables.registry import make_table
from difftrust.tables.render import in_brackets
from difftrust.tables.request import TableRequest, estimates_for, programs_of, require_reached
from difftrust.tables.value_of_choosing import PUBLISHED, curves_of_answers, gains_said, user_answers
from difftrust.tables.what_to_buy import make_policies
from difftrust_core.base.records import References, Validity
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import NoStore, WrongUsage

_OF_MIXTURES: Final = {
    "detection_rate": "tasks found, of those on which one of the programs is wrong",
    "check_detection": "tasks found, of those on which the model checked errs",
    "check_alarms": "alarms, among tasks that the model checked solves",
}
"""What the lines of the mixtures are called."""
_PANEL: Final = (370, 330)
"""Width and height of one of two panels beside each other."""
_INPUTS: Final[dict[str, str]] = {
    Validity.REFERENCE: "inputs that the reference accepts",
    Validity.DOMAIN: "inputs in the domain",
}
_VARIED: Final = {"m": "number of programs", "n": "number of inputs", "temperature": "temperature"}
_SEEN: Final = {
    "m": "More programs find more errors; error and incoherence stay as they are.",
    "n": "More inputs find few errors more.",
    "temperature": "Higher temperatures find more errors; the error itself hardly moves.",
}
"""What varies -> what to see."""
_OF_TABLE_3: Final = {VARIED[varied]: (varied, values) for varied, values in PARTS.values()}
"""What varies -> what Table 3 calls it, and its values there."""


@dataclass(frozen=True, kw_only=True)
class FigureRequest(TableRequest):
    """Which data a figure shows; ``published``: the published tasks and sizes."""

    models: tuple[str, ...] = ()
    """For Figures 2 and 3 and the ablation; none: ``model`` if the store has it, else its first."""
    vary: str = "m"
    """For the ablation: m, n or temperature."""
    panels: str = "benchmark"
    """For Figure 3: a panel for each benchmark, or for each model."""


def make_figure(name: str, request: FigureRequest) -> Figure:
    """Return a figure by its name. Raises WrongUsage for another name, NoStore if there is no data."""
    if name not in FIGURES:
        raise WrongUsage(f"figure is one of {', '.join(FIGURES)}, got {name!r}")
    return FIGURES[name](request)


def _estimates(request: FigureRequest) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the estimates of one temperature, with notes. Raises WrongUsage for a benchmark that is not there."""
    found, notes = estimates_for(request)
    return _one_temperature(_of_benchmark(found, request)), tuple(notes)


def _of_benchmark(rows: pl.DataFrame, request: FigureRequest) -> pl.DataFrame:
    """Return the rows of the benchmark asked for; all where none is."""
    if request.benchmark is None:
        return rows
    names = rows["benchmark"].unique().sort().to_list()
    if request.benchmark not in names:
        raise WrongUsage(f"the store has no benchmark {request.benchmark!r}; there are: {', '.join(names)}")
    return rows.filter(benchmark=request.benchmark)


def _models(request: FigureRequest, there: Collection[str]) -> list[str]:
    if unknown := [name for name in request.models if name not in there]:
        raise WrongUsage(f"the store has no model {unknown[0]!r}; there are: {', '.join(sorted(there))}")
    first = request.model if request.model in there else min(there)
    return list(request.models) or [first]


def _one_temperature(estimates: pl.DataFrame) -> pl.DataFrame:
    return estimates.filter(temperature=usual_temperature(set(estimates["temperature"])))


def _figure_1(request: FigureRequest) -> Figure:
    """Return tasks found erroneous by incoherence against erroneous tasks, a point a model."""
    estimates, notes = _estimates(request)
    ranked = coder_measures(estimates, detection=request.detection).with_columns(  # 1 has the fewest tasks
        pl.col(name).fill_nan(None).rank().over("benchmark").alias(f"{name}_rank") for name in ("found", "erroneous")
    )
    rhos = ranking_intervals(estimates, detection=request.detection, resamples=request.resamples)
    said = (
        f"{row['benchmark']}: rho = {in_brackets(row['rho_found'], row['rho_found_low'], row['rho_found_high'])} "
        f"over {row['coders']} models (95 % over tasks)"
        + ("" if row["rho_found_p"] is None else f", {strength_of(row['rho_found'])}, p = {row['rho_found_p']:.1g}")
        for row in rhos.iter_rows(named=True)
    )
    ranks, shares = (
        draw_ranking(ranked, x=f"found{kind}", y=f"erroneous{kind}", width=_PANEL[0], height=_PANEL[1])
        for kind in ("_rank", "")
    )
    rho = ", ".join(
        f"{'undefined' if row['rho_found'] is None else format(row['rho_found'], '.2f')} on {row['benchmark']}"
        for row in rhos.iter_rows(named=True)
    )
    return titled_figure(
        stacked(ranks, shares),
        ranked,
        f"Models ranked without and with a reference: {setting_of(estimates, request)}",
        f"Above, the ranks: near the dashed line both rankings agree (Spearman's rho {rho}).",
        "Below, the shares they rank: higher means wrong on more tasks, further right programs disagree on more tasks.",
        notes=(*notes, *said),
    )


def setting_of(frame: pl.DataFrame, request: FigureRequest) -> str:
    """Return in words what numbers rest on: m = 10, n = 1,000, temperature 0.6, inputs that the reference accepts."""
    return ", ".join([*sizes_of(frame), inputs_of(request)])


def inputs_of(request: FigureRequest) -> str:
    """Return in words which inputs are counted, and which tasks."""
    inputs = _INPUTS.get(str(request.open().settings().validity), "its own inputs")
    audited = request.reading.references == References.AUDITED
    return inputs + (", without faulty references" if audited else "")


def _ranking(request: FigureRequest) -> Figure:
    """Return mean error against mean incoherence, with intervals over tasks."""
    made = make_table_4(replace(request, intervals=True))
    frame = _of_benchmark(made.frame, request)
    if "temperature" in frame.columns:
        frame = _one_temperature(frame)
    sizes = _one_temperature(estimates_for(request)[0])
    return titled_figure(
        draw_ranking(frame, width=_PANEL[0], height=_PANEL[1]),
        frame,
        f"Models by error and incoherence: {setting_of(sizes, request)}",
        "Further right, programs disagree more, which needs no reference; higher, they err more. Crosses: 95 % "
        "intervals over tasks. What lies above the dashed line E = I / 2 is error that programs share.",
        notes=made.notes,
    )


def _figure_2(request: FigureRequest) -> Figure:
    estimates, notes = _estimates(request)
    own = estimates.filter(model=_models(request, set(estimates["model"]))[0])
    shown = own.filter(pl.col("benchmark") == own["benchmark"].min())
    name = shown["benchmark"][0]
    stages = workflow_stages(shown)
    return titled_figure(
        draw_workflow(stages),
        stages,
        f"{_named(own)} on {name}: {setting_of(shown, request)}",
        "From tasks to errors that are found; only the boxes below use a reference.",
        notes=notes,
    )


def _figure_3(request: FigureRequest) -> Figure:
    estimates, notes = _estimates(request)
    own = estimates.filter(pl.col("model").is_in(_models(request, set(estimates["model"]))))
    n_panels = own[request.panels].n_unique()
    width, height = (360, 340) if n_panels < 3 else (240, 240)
    where = f"{own['benchmark'][0]}, " if own["benchmark"].n_unique() == 1 else ""
    return titled_figure(
        draw_error_incoherence(own, by=request.panels, width=width, height=height),
        own,
        f"{_named(own)}, task by task: {where}{setting_of(own, request)}",
        "A point is a task. None lies below the dashed line. In the grey strip at the left stand errors that no "
        "disagreement shows: all programs are wrong in the same way.",
        width=WIDTH if n_panels > 1 else width + 60,
        notes=notes,
    )


def _named(rows: pl.DataFrame) -> str:
    """Return the names of the models of some rows."""
    names = [display_name(model) for model in rows["model"].unique(maintain_order=True)]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _pools(request: FigureRequest) -> dict[str, Pool]:
    chosen = {name: pool for name, pool in request.pools().items() if request.benchmark in (None, name)}
    if not chosen:
        raise NoStore(f"the store {request.store} holds no behaviours of {request.benchmark or 'any benchmark'}")
    return chosen


def _fixed(request: FigureRequest, pools: Mapping[str, Pool], model: str | None = None) -> dict[str, float]:
    """Return m, n and temperature: those asked for, else the paper's as far as the store, or the model in it, goes.

    Raises WrongUsage for an m or n that is not recorded.
    """
    reached = min(len(task.pattern_of_input) for pool in pools.values() for task in pool.tasks)
    coders = [(pool, coder) for pool in pools.values() for coder in pool.members if model in (None, coder[0])]
    temperature = request.temperature
    if temperature is None:
        temperature = usual_temperature({coder[1] for _, coder in coders})
    there = [(pool, coder) for pool, coder in coders if coder[1] == temperature] or coders
    most = max(programs_of(pool, coder) for pool, coder in there)
    m, n = request.m or min(PAPER_SETTING.m, most), request.n or min(PAPER_SETTING.n, reached)
    require_reached("-m", m, most, "generate more")
    require_reached("-n", n, max(pool.reach(coder) for pool, coder in there), f"run {request.execution(n)}")
    return {"m": m, "n": n, "temperature": temperature}


def _ablation(request: FigureRequest) -> Figure:
    if request.vary not in _OF_TABLE_3:
        raise WrongUsage(f"what varies is one of {', '.join(_OF_TABLE_3)}, got {request.vary!r}")
    pools = _pools(request)
    (model, *_) = _models(request, {model for pool in pools.values() for model, _ in pool.members})
    fixed = _fixed(request, pools, model)
    values = sorted({*_OF_TABLE_3[request.vary][1], fixed[request.vary]})
    frame = curves(pools, model, vary=request.vary, values=values, fixed=fixed, tasks=request.counted)
    if frame.is_empty():
        raise NoStore(f"the store {request.store} holds no two programs a task of {model}; sample more with -m")
    if request.as_in_paper and model == PAPER_SETTING.model:
        frame = frame.join(_published_rates(request.vary), on=["benchmark", request.vary], how="left")
    spelled = ", ".join(f"{name} = {value:g}" for name, value in fixed.items() if name != request.vary)
    published = any(name.startswith("published_") for name in frame.columns)
    notes = (f"{display_name(model)}; {spelled}; bands: 95 % intervals over tasks",)
    return titled_figure(
        draw_ablation(frame, x=request.vary, chosen=fixed[request.vary]),
        frame,
        f"{display_name(model)} by {_VARIED[request.vary]}: {spelled}, {inputs_of(request)}",
        f"{_SEEN[request.vary]} Bands: 95 % intervals over tasks; dashed: the paper's setting"
        f"{'; diamonds: published values' if published else ''}.",
        notes=notes,
    )


def _published_rates(vary: str) -> pl.DataFrame:
    """Return the published detection rates of a part of Table 3: benchmark, what varies, published_detection_rate."""
    part = load_published("table_3").filter(pl.col("varied") == _OF_TABLE_3[vary][0])
    kind = pl.Float64 if vary == "temperature" else pl.Int64
    return pl.concat(
        part.select(
            benchmark=pl.lit(name),
            **{vary: pl.col("value").cast(kind)},
            published_detection_rate=f"{name.lower()}_detection_rate",
        )
        for name in ("HumanEval", "MBPP")
    )


def _risk_coverage(request: FigureRequest) -> Figure:
    """Return the share of wrong answers against the share of tasks answered, a line a model."""
    from difftrust.research.selective import curve_table

    rows, notes = answers_for(replace(request, only=request.models))
    rows = _of_benchmark(rows, request)
    if request.temperature is None:
        rows = _one_temperature(rows)
    frame = curve_table(rows, signal=request.signal)
    said = f"each line from where all programs agree to where every task is answered, by {request.signal}"
    return titled_figure(
        draw_risk_coverage(frame),
        frame,
        f"What agreement is worth, by model: {setting_of(rows, request)}",
        "From left to right more tasks are answered, those first on which programs agree most. A line that rises means "
        "that agreement tells right answers from wrong ones; its mark is where all programs agree.",
        notes=(said, *notes),
    )


def _mixtures(request: FigureRequest) -> Figure:
    """Return what m programs of 1, 2, 5 and 10 models find."""
    pools = _pools(request)
    fixed = _fixed(request, pools)
    m, n = int(fixed["m"]), int(fixed["n"])
    rows = []
    for name, pool in sorted(pools.items()):
        coders = [coder for coder in pool.members if coder[1] == fixed["temperature"]]
        for k in (1, 2, 5, 10):
            if k <= len(coders) and m % k == 0:
                found = mixture_summary(request.counted(mixtures(pool, coders, n_models=k, each=m // k, m=m, n=n)))
                rows += [(name, k, said, found[key], found["n_tasks"]) for key, said in _OF_MIXTURES.items()]
    columns = ["benchmark", "n_models", "measure", "value", "n_tasks"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").fill_nan(None)
    if frame["n_tasks"].max() == 0:
        raise NoStore(f"no task of {request.store} has {m} programs of every model; ask for fewer with -m")
    notes = (
        f"m = {m} programs a task, n = {n}; means over every choice of models and of their first {m} programs",
        "finding the mixture's own errors rewards adding bad coders, whose errors are easily found",
    )
    return titled_figure(
        draw_mixtures(frame),
        frame,
        f"Programs of one model or of several: m = {m}, n = {n:,}, temperature {fixed['temperature']:g}, "
        f"{inputs_of(request)}",
        "More models find more errors with as many programs, and raise more alarms in vain.",
        notes=notes,
    )


def _policies(request: FigureRequest) -> Figure:
    """Return what ways to check a program of one model find, against how often they raise an alarm in vain."""
    (model,) = request.models or (request.model,)
    made = make_policies(replace(request, model=model))
    frame = _of_benchmark(made.frame, request)
    if frame.drop_nulls(["detection", "false_alarms"]).is_empty():
        raise NoStore(f"there is nothing to draw: all programs of {model} are right, or all wrong; execute more tasks")
    return titled_figure(
        draw_policies(frame),
        frame,
        f"Ways to check a program of {display_name(model)}, with $ per 1,000 tasks: {inputs_of(request)}",
        "Higher finds more of the wrong programs, further left alarms less often in vain. Points of one line buy more "
        "programs, or ask for fewer of them to differ.",
        notes=made.notes,
    )


def _questions(request: FigureRequest) -> Figure:
    """Return pass@1 after so many answers of a user."""
    rows, said = user_answers(replace(request, only=request.models))
    rows = _one_temperature(_of_benchmark(rows, request))
    table = answers_table(rows, resamples=request.resamples, seed=request.seed)
    frame = curves_of_answers(table)
    names = rows["benchmark"].unique().sort().to_list()
    where = f"{names[0]}, " if len(names) == 1 else ""
    of_mean = "Thick, with its 95 % interval over tasks: the mean; dotted: the mean, asked about"
    drawn = "Band: its 95 % interval over tasks; dotted: asked about" if rows["model"].n_unique() == 1 else of_mean
    return titled_figure(
        draw_questions(frame),
        frame,
        f"pass@1 by number of answers: {where}{setting_of(rows, request)}",
        "Each question is about the input that splits the remaining programs most evenly; the reference answers.",
        f"{drawn} a random input that splits them.",
        gains_said(table),
        "Where a line ends, the other tasks have no right program among those sampled, or need more answers.",
        width=WIDTH if len(names) > 1 else 420,
        notes=(*said, PUBLISHED),
    )


def _correlated(request: FigureRequest) -> Figure:
    """Return how alike two models err, a cell a pair."""
    made = make_table("correlated", replace(request, only=request.models))
    rows = _of_benchmark(made.frame, request).filter(pl.col("model") != ALL)
    if rows.is_empty():
        raise NoStore(f"there is nothing to draw: {request.store} holds no two wrong programs of a task; sample more")
    frame = _one_temperature(rows)
    pair = frame.select("benchmark", a="model", b="other", value="wrong_alike")
    both = pl.concat([pair, pair.select("benchmark", a="b", b="a", value="value").filter(pl.col("a") != pl.col("b"))])
    return titled_figure(
        draw_model_pairs(both, title="both wrong in the same way"),
        frame,
        f"Wrong alike, by pair of models: {setting_of(frame, request)}",
        "Of the pairs of programs that are both wrong, the share that behave alike on all inputs; on the diagonal two "
        "programs of one model. Lines part the families of models.",
        notes=made.notes,
    )


FIGURES: Final[dict[str, Callable[[FigureRequest], Figure]]] = {
    "1": _figure_1,
    "2": _figure_2,
    "3": _figure_3,
    "ranking": _ranking,
    "ablation": _ablation,
    "mixtures": _mixtures,
    "readings": draw_readings,
    "risk-coverage": _risk_coverage,
    "questions": _questions,
    "policies": _policies,
    "correlated": _correlated,
}
