"""The measures of many settings, as far as these are recorded."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import polars as pl

from difftrust_core.analysis.ablation.measures import ablation, summary
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.base.records import Coder
from difftrust_core.report.shown import Table


def ablation_table(
    pools: Mapping[str, Pool],
    series: Mapping[str, Sequence[str]],
    sizes: Sequence[tuple[float, int, int]],
    *,
    tasks: Callable[[pl.DataFrame], pl.DataFrame],
    by_task: bool = False,
) -> Table:
    """Return a row for each benchmark, model or mixture (``series``: its name -> models) and size.

    ``sizes``: (temperature, m, n); ``tasks`` takes the rows of the tasks that count; ``by_task``: a row a task instead.
    Settings that are not recorded or executed whole are left out and named in the notes.
    """
    rows, left_out = [], []
    for (name, pool), (model, parts), (t, m, n) in product(pools.items(), series.items(), sizes):
        found = _setting(pool, [(part, t) for part in parts], (m, n), tasks)
        setting = {"benchmark": name, "model": model, "temperature": t, "m": m, "n": n}
        if found is None:
            left_out.append(", ".join(f"{key} = {value}" for key, value in setting.items()))
        elif by_task:
            rows.append(found)
        else:
            rows.append(pl.DataFrame([setting | summary(found) | {"n_tasks": found.height}]))
    frame = pl.concat(rows, how="vertical_relaxed").fill_nan(None) if rows else pl.DataFrame()
    return Table(frame, notes=tuple(f"left out, not recorded or not executed: {one}" for one in left_out))


def _setting(
    pool: Pool, coders: Sequence[Coder], size: tuple[int, int], tasks: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame | None:
    """Return the tasks of one setting, None where some are not recorded or executed."""
    m, n = size
    if any(coder not in pool.members for coder in coders):
        return None
    found = tasks(ablation(pool, coders, m=m, n=n, subsets=False))
    expected = {task_id for coder in coders for task_id in pool.tasks_of(coder, m=m // len(coders))}
    wanted = tasks(pl.DataFrame({"benchmark": pool.benchmark, "task_id": sorted(expected)}))
    return found if found.height and found["m"].max() == m and found.height >= wanted.height else None
