"""Compare settings (m, n, temperature, model): Table 3, curves, and rows of recorded settings."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from difftrust_core.analysis.ablation.measures import ablation, shares, summary
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.base.records import Coder
from difftrust_core.datasets.published import PAPER_SETTING
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.detection import Detection
from difftrust_core.metrics.intervals.over_tasks import bootstrap_tasks, ratio_limits, statistic_of

Filter = Callable[[pl.DataFrame], pl.DataFrame]
"""Takes the rows of the tasks that count, by their benchmark and task_id."""
keep_all: Filter = pl.DataFrame.clone
SETTING_SCHEMA: Final = {
    "model": pl.String,
    "temperature": pl.Float64,
    "m": pl.Int64,
    "n": pl.Int64,
    "n_tasks": pl.Int64,
    "mean_error": pl.Float64,
    "mean_incoherence": pl.Float64,
    "detection_rate": pl.Float64,
    "detection_rate_all_pairs": pl.Float64,
    "undetected_mean_error": pl.Float64,
    "undetected_mean_error_all_pairs": pl.Float64,
    "cost_usd": pl.Float64,
    "cost_usd_is_lower_bound": pl.Boolean,
}
"""Columns of ``settings_frame``."""
WITH_LIMITS: Final = {
    "mean_error": ("mean_error", Detection.AS_PUBLISHED),
    "mean_incoherence": ("mean_incoherence", Detection.AS_PUBLISHED),
    "detection_rate": ("detection_rate", Detection.AS_PUBLISHED),
    "detection_rate_all_pairs": ("detection_rate", Detection.ALL_PAIRS),
    "undetected_mean_error": ("undetected_mean_error", Detection.AS_PUBLISHED),
    "undetected_mean_error_all_pairs": ("undetected_mean_error", Detection.ALL_PAIRS),
}
"""Columns that have a <column>_low and <column>_high -> measure and detection."""


def whole_rows(
    pool: Pool,
    coders: Sequence[Coder],
    *,
    m: int | None,
    n: int | None,
    fewer: bool = False,
    subsets: bool = False,
    tasks: Filter = keep_all,
) -> pl.DataFrame | None:
    """Return the rows of ``ablation``, one a task, or None where the setting is not recorded whole.

    Whole: on every task, all that are there of the first m candidates were executed on n inputs, for a mean over fewer
    tasks than other settings have would mislead; and some task has all m of them, unless ``fewer``. ``tasks`` takes
    the rows of the tasks that count.
    """
    if (m is not None and m < len(coders)) or (n is not None and n < 1) or any(c not in pool.members for c in coders):
        return None
    each = [None] * len(coders) if m is None else shares(m, len(coders))
    wanted = {task for coder, share in zip(coders, each, strict=True) for task in pool.tasks_of(coder, m=share)}
    rows = tasks(ablation(pool, coders, m=m, n=n, subsets=subsets))
    counted = tasks(pl.DataFrame({"benchmark": pool.benchmark, "task_id": list(wanted)}))
    is_whole = not rows.is_empty() and rows.height == counted.height and (fewer or rows["m"].max() == m)
    return rows if is_whole else None


def recorded(pool: Pool, coder: Coder) -> int:
    """Return how many candidates of a coder are recorded for the task that has most of them; 0 for an unknown one."""
    members = pool.members.get(coder)
    return 0 if members is None else int(members.sample_index.max(initial=-1)) + 1


def settings_frame(
    pool: Pool, coders: Sequence[Coder], points: Sequence[tuple[int, int]], *, resamples: int = 0
) -> pl.DataFrame:
    """Return one row for each (m, n) that is recorded whole: the columns of SETTING_SCHEMA, null where undefined.

    ``resamples`` > 0: and <column>_low and <column>_high for those of WITH_LIMITS, 95 % over tasks.
    """
    made, schema = [], dict(SETTING_SCHEMA)
    if resamples:
        schema |= {f"{name}_{end}": pl.Float64 for name in WITH_LIMITS for end in ("low", "high")}
    for m, n in points:
        found = whole_rows(pool, coders, m=m, n=n) if m > 1 else None
        if found is not None:
            made.append({**_coder_columns(coders), "m": m, "n": n, **summary(found), **_limits(found, resamples)})
    rows = [{name: row[name] for name in schema} for row in made]
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def _limits(found: pl.DataFrame, resamples: int) -> dict[str, float]:
    """Return the limits of WITH_LIMITS by the names of their columns; none without resamples."""
    limits = ratio_limits(found, WITH_LIMITS, resamples=resamples) if resamples else {}
    return {f"{name}_{end}": x for name, pair in limits.items() for end, x in zip(("low", "high"), pair, strict=True)}


def _coder_columns(coders: Sequence[Coder]) -> dict[str, object]:
    temperatures = {temperature for _, temperature in coders}
    return {
        "model": "+".join(model for model, _ in coders),
        "temperature": temperatures.pop() if len(temperatures) == 1 else None,
    }


VARIED: Final = ("m", "n", "temperature")
CURVES: Final = ("detection_rate", "mean_error", "mean_incoherence")
"""Measures that have an interval."""


def curves(
    pools: Mapping[str, Pool],
    model: str,
    *,
    vary: str,
    values: Sequence[float],
    fixed: Mapping[str, float],
    tasks: Filter = keep_all,
    resamples: int = 500,
) -> pl.DataFrame:
    """Return one row a benchmark and value of what varies: benchmark, model, m, n, temperature, the measures.

    ``fixed``: m, n and temperature of what does not vary. Measures: those of ``summary``, and <measure>_low and _high
    for CURVES, 95 % over tasks. Values that are not all recorded or executed are left out, as are those with m < 2.
    ``tasks`` takes the rows of ``ablation`` that count. Raises WrongUsage for another name.
    """
    if vary not in VARIED:
        raise WrongUsage(f"what varies is one of {', '.join(VARIED)}, got {vary!r}")
    rows = []
    for name, pool in sorted(pools.items()):
        for value in values:
            at = {**fixed, vary: value}
            m, n, coder = int(at["m"]), int(at["n"]), (model, float(at["temperature"]))
            found = whole_rows(pool, [coder], m=m, n=n, subsets=True, tasks=tasks) if m > 1 else None
            if found is not None:
                place = {"benchmark": name, "model": model, "m": m, "n": n, "temperature": coder[1]}
                rows.append(place | summary(found) | _ends(found, resamples))
    return pl.DataFrame(rows).fill_nan(None)


def _ends(found: pl.DataFrame, resamples: int) -> dict[str, float]:
    ends: dict[str, float] = {}
    for measure in CURVES:
        interval = bootstrap_tasks(found, statistic_of(measure), resamples=resamples)
        ends |= {f"{measure}_low": interval.low, f"{measure}_high": interval.high}
    return ends


PARTS: Final = {
    "3a": ("query_budget_m", (1, 2, 5, 10, 25, 50)),
    "3b": ("temperature_t", (0.2, 0.6, 1.0)),
    "3c": ("test_inputs_n", (100, 1000, 2000, 5000, 10000)),
}
"""Part of the table -> what varies, and its values."""
_ENDS = ("detection_rate_low", "detection_rate_high")
_BOUND = "expenses_usd_is_lower_bound"


def table_3(
    pools: Mapping[str, Pool],
    *,
    part: str = "3",
    model: str = PAPER_SETTING.model,
    detection: Detection = Detection.AS_PUBLISHED,
    tasks: Filter = keep_all,
    resamples: int = 0,
) -> pl.DataFrame:
    """Return Table 3 or one part of it: ``varied``, ``value``, and four columns a benchmark.

    <benchmark>_expenses_usd: of all m programs of all tasks, and whether it _is_lower_bound;
    <benchmark>_detection_rate: of the first m candidates, by ``detection``;
    <benchmark>_over_subsets: all pairs, expected over every choice of m of the recorded candidates.
    One program cannot disagree with another: at m = 1 nothing is detected, which is counted, not undefined. Null where
    the candidates of a setting are not all here, or were not all executed on n inputs. ``tasks`` takes the rows of
    ``ablation`` that count. ``resamples`` > 0: <benchmark>_detection_rate_low and _high, 95 % over tasks.
    """

    def cell(pool: Pool, varied: str, value: float) -> dict[str, float | None]:
        return _cell(pool, model, (varied, value), detection, (tasks, resamples))

    rows = []
    for varied, values in (PARTS[part],) if part in PARTS else PARTS.values():
        for value in values:
            row: dict[str, object] = {"varied": varied, "value": float(value)}
            for name, pool in sorted(pools.items(), reverse=True):
                row |= {f"{name.lower()}_{key}": x for key, x in cell(pool, varied, value).items()}
            rows.append(row)
    bounds = {f"{name.lower()}_{_BOUND}": pl.Boolean for name in pools}
    return pl.DataFrame(rows, schema_overrides=bounds).fill_nan(None)


def _cell(
    pool: Pool, model: str, setting: tuple[str, float], detection: Detection, sample: tuple[Filter, int]
) -> dict[str, float | None]:
    (varied, value), (tasks, resamples) = setting, sample
    m = int(value) if varied == "query_budget_m" else PAPER_SETTING.m
    n = int(value) if varied == "test_inputs_n" else PAPER_SETTING.n
    coder = (model, value if varied == "temperature_t" else PAPER_SETTING.temperature)
    found = whole_rows(pool, [coder], m=m, n=n, subsets=True, tasks=tasks)
    if found is None:
        names = ("detection_rate", *(_ENDS if resamples else ()), "over_subsets")
        return {"expenses_usd": math.nan, _BOUND: None} | dict.fromkeys(names, math.nan)
    whole = summary(found)
    rate = whole["detection_rate_all_pairs" if detection == Detection.ALL_PAIRS else "detection_rate"]
    rates = (0.0, 0.0) if m == 1 else (rate, whole["detection_rate_subsets"])
    ends: dict[str, float | None] = {}
    if resamples:
        over_tasks = bootstrap_tasks(found, statistic_of("detection_rate", detection=detection), resamples=resamples)
        ends = dict(zip(_ENDS, (0.0, 0.0) if m == 1 else (over_tasks.low, over_tasks.high), strict=True))
    cost = {"expenses_usd": whole["cost_usd"], _BOUND: whole["cost_usd_is_lower_bound"]}
    return {**cost, "detection_rate": rates[0], **ends, "over_subsets": rates[1]}
