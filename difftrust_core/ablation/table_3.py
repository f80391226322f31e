"""Table 3: one model's detection rate and expenses as m, the temperature and n vary; and nothing else."""

from collections.abc import Callable, Mapping
from typing import Final

import polars as pl

from difftrust_core.ablation.measures import ablation, summary
from difftrust_core.ablation.pool import Pool
from difftrust_core.benchmark import ALL_PAIRS, AS_PUBLISHED, Detection
from difftrust_core.intervals.tasks import bootstrap_tasks, statistic_of

M: Final = 10
TEMPERATURE: Final = 0.6
N: Final = 1000
"""What the paper holds fixed while something else varies."""
PARTS: Final = {
    "3a": ("query_budget_m", (1, 2, 5, 10, 25, 50)),
    "3b": ("temperature_t", (0.2, 0.6, 1.0)),
    "3c": ("test_inputs_n", (100, 1000, 2000, 5000, 10000)),
}
"""Part of the table -> what varies, and its values."""
MODEL: Final = "gpt_4o"
_ENDS = ("detection_rate_low", "detection_rate_high")

Filter = Callable[[pl.DataFrame], pl.DataFrame]


def table_3(
    pools: Mapping[str, Pool],
    *,
    part: str = "3",
    model: str = MODEL,
    detection: Detection = AS_PUBLISHED,
    tasks: Filter = lambda frame: frame,
    resamples: int = 0,
) -> pl.DataFrame:
    """Return Table 3 or one part of it: ``varied``, ``value``, and three columns a benchmark.

    <benchmark>_expenses_usd: of all m programs of all tasks; <benchmark>_detection_rate: of the first m candidates, by
    ``detection``; <benchmark>_over_subsets: all pairs, expected over every choice of m of the recorded candidates.
    One program cannot disagree with another: at m = 1 nothing is detected, which is counted, not undefined. NaN where
    the candidates of a setting are not all here, or were not all executed on n inputs. ``tasks`` takes the rows of
    ``ablation`` that count. ``resamples`` > 0: <benchmark>_detection_rate_low and _high, 95 % over tasks.
    """

    def cell(pool: Pool, varied: str, value: float) -> list[tuple[str, float]]:
        return _cell(pool, model, (varied, value), detection, (tasks, resamples))

    rows = []
    for varied, values in (PARTS[part],) if part in PARTS else PARTS.values():
        for value in values:
            row: dict[str, object] = {"varied": varied, "value": float(value)}
            for name, pool in sorted(pools.items(), reverse=True):
                row |= {f"{name.lower()}_{key}": x for key, x in cell(pool, varied, value)}
            rows.append(row)
    return pl.DataFrame(rows)


def _cell(
    pool: Pool, model: str, setting: tuple[str, float], detection: Detection, sample: tuple[Filter, int]
) -> list[tuple[str, float]]:
    (varied, value), (tasks, resamples) = setting, sample
    names = ("expenses_usd", "detection_rate", *(_ENDS if resamples else ()), "over_subsets")
    m = int(value) if varied == "query_budget_m" else M
    n = int(value) if varied == "test_inputs_n" else N
    coder = (model, value if varied == "temperature_t" else TEMPERATURE)
    nothing = [(name, float("nan")) for name in names]
    if coder not in pool.members:
        return nothing
    found = tasks(ablation(pool, [coder], m=m, n=n))
    wanted = tasks(pl.DataFrame({"benchmark": pool.benchmark, "task_id": pool.tasks_of(coder, m=m)}))
    if found.is_empty() or found.height < wanted.height or _most(found["m"]) < m:
        return nothing
    whole = summary(found)
    rate = whole["detection_rate_all_pairs" if detection == ALL_PAIRS else "detection_rate"]
    rates = (0.0, 0.0) if m == 1 else (rate, whole["detection_rate_subsets"])
    ends: tuple[float, ...] = ()
    if resamples:
        over_tasks = bootstrap_tasks(found, statistic_of("detection_rate", detection=detection), resamples=resamples)
        ends = (0.0, 0.0) if m == 1 else (over_tasks.low, over_tasks.high)
    return list(zip(names, (whole["cost_usd"], rates[0], *ends, rates[1]), strict=True))


def _most(values: pl.Series) -> int:
    return int(values.max())  # type: ignore[arg-type]
