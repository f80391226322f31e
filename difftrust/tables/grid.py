"""Compare settings (m, n, temperature, model): Table 3, curves, and ablations."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import polars as pl

from difftrust.research.per_candidate import Schema
from difftrust.results import Table
from difftrust.shipped import PAPER_SETTING
from difftrust.tables.page_table import VARIED
from difftrust.tables.request import TableRequest
from difftrust_core.base.records import Detection
from difftrust_core.estimates.measures import Filter, keep_all, summary, whole_rows
from difftrust_core.estimates.pool import Pool
from difftrust_core.metrics.intervals import bootstrap_tasks, statistic_of

CURVES: Final = ("detection_rate", "mean_error", "mean_incoherence")
"""Measures of curves that have an interval."""


def ablation_table(
    pools: Mapping[str, Pool],
    series: Mapping[str, Sequence[str]],
    sizes: Sequence[tuple[float, int | None, int | None]],
    *,
    tasks: Filter,
    by_task: bool,
) -> Table:
    """Return a row for each benchmark, model or mixture (``series``: its name -> models) and size.

    ``sizes``: (temperature, m, n); ``tasks`` takes the rows of the tasks that count; ``by_task``: a row a task instead.
    Settings that are not recorded or executed whole are left out and named in the notes.
    """
    rows, left_out = [], []
    for (name, pool), (model, parts), (t, m, n) in product(pools.items(), series.items(), sizes):
        found = whole_rows(pool, [(part, t) for part in parts], m=m, n=n, tasks=tasks)
        setting = {"benchmark": name, "model": model, "temperature": t, "m": m, "n": n}
        if found is None:
            left_out.append(", ".join(f"{key} = {value}" for key, value in setting.items()))
        else:
            rows.append(found if by_task else pl.DataFrame([setting | summary(found) | {"n_tasks": found.height}]))
    frame = pl.concat(rows, how="vertical_relaxed").fill_nan(None) if rows else pl.DataFrame()
    return Table(frame, notes=tuple(f"left out, not recorded or not executed: {one}" for one in left_out))


def curves(
    pools: Mapping[str, Pool],
    model: str,
    *,
    vary: str,
    values: Sequence[float],
    fixed: Mapping[str, float],
    tasks: Filter = keep_all,
) -> pl.DataFrame:
    """Return one row a benchmark and value of what varies: benchmark, model, m, n, temperature, the measures.

    ``fixed``: m, n and temperature of what does not vary. Measures: those of ``summary``, and <measure>_low and _high
    for those of CURVES, 95 % over tasks. Values that are not all recorded or executed are left out, as
    are those with m < 2. ``tasks`` takes the rows of ``ablation`` that count.
    """
    rows = []
    for (name, pool), value in product(sorted(pools.items()), values):
        at = {**fixed, vary: value}
        m, n, coder = int(at["m"]), int(at["n"]), (model, float(at["temperature"]))
        found = whole_rows(pool, [coder], m=m, n=n, subsets=True, tasks=tasks) if m > 1 else None
        if found is not None:
            place = {"benchmark": name, "model": model, "m": m, "n": n, "temperature": coder[1]}
            rows.append(place | summary(found) | _limits(found, CURVES, resamples=500))
    return pl.DataFrame(rows).fill_nan(None)


def _limits(
    found: pl.DataFrame, measures: Sequence[str], *, resamples: int, detection: Detection = Detection.AS_PUBLISHED
) -> dict[str, float | None]:
    """Return <measure>_low and <measure>_high of each of ``measures``; none without resamples."""
    ends: dict[str, float | None] = {}
    for measure in measures if resamples else ():
        interval = bootstrap_tasks(found, statistic_of(measure, detection=detection), resamples=resamples)
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


def table_3(pools: Mapping[str, Pool], request: TableRequest, *, part: str = "3") -> pl.DataFrame:
    """Return Table 3 of the request's model or one part of it: ``varied``, ``value``, and four columns a benchmark.

    <benchmark>_expenses_usd: of all m programs of all tasks, and whether it _is_lower_bound;
    <benchmark>_detection_rate: of the first m candidates, by the request's ``detection``;
    <benchmark>_over_subsets: all pairs, expected over every choice of m of the recorded candidates.
    One program cannot disagree with another: at m = 1 nothing is detected, which is counted, not undefined. Null where
    the candidates of a setting are not all here, or were not all executed on n inputs. With intervals also
    <benchmark>_detection_rate_low and _high, 95 % over tasks.
    """
    columns = ["expenses_usd", _BOUND, "detection_rate", *(_ENDS if request.intervals else ()), "over_subsets"]
    schema: Schema = {"varied": pl.String, "value": pl.Float64}
    rows: list[dict[str, object]] = [
        {"varied": varied, "value": float(value)}
        for varied, values in ((PARTS[part],) if part in PARTS else PARTS.values())
        for value in values
    ]
    for name, pool in sorted(pools.items(), reverse=True):
        schema |= {f"{name.lower()}_{key}": pl.Boolean if key == _BOUND else pl.Float64 for key in columns}
        for row in rows:
            cell = _cell(pool, row, request)
            row |= {f"{name.lower()}_{key}": x for key, x in cell.items()}
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def _cell(pool: Pool, setting: Mapping[str, Any], request: TableRequest) -> dict[str, float | None]:
    """Return the four columns of one benchmark for one row; none where its setting is not here."""
    at = vars(PAPER_SETTING) | {VARIED[setting["varied"]]: setting["value"]}
    m, coder = int(at["m"]), (request.model, at["temperature"])
    found = whole_rows(pool, [coder], m=m, n=int(at["n"]), subsets=True, tasks=request.counted)
    if found is None:
        return {}
    whole, rule = summary(found), request.detection
    resamples = request.resamples if request.intervals else 0
    rates: dict[str, float | None] = {
        "detection_rate": whole["detection_rate_all_pairs" if rule == Detection.ALL_PAIRS else "detection_rate"],
        **_limits(found, ["detection_rate"], resamples=resamples, detection=rule),
        "over_subsets": whole["detection_rate_subsets"],
    }
    cost: dict[str, float | None] = {"expenses_usd": whole["cost_usd"], _BOUND: whole["cost_usd_is_lower_bound"]}
    return cost | (dict.fromkeys(rates, 0.0) if m == 1 else rates)
