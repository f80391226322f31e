"""Programs of several models together: what they find, for the same number of programs or the same price."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.research.per_candidate import Schema, counted_ids
from difftrust.research.policies import share_of
from difftrust_core.base.records import Coder
from difftrust_core.estimates.measures import TaskCount, count
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import Price
from difftrust_core.metrics.estimates import Floats, Ints

MIXTURE_SCHEMA: Final[Schema] = {
    "benchmark": pl.String,
    "task_id": pl.String,
    **dict.fromkeys(("error", "p_detected", "p_erroneous", "p_model_errs", "p_model_found", "p_alarm"), pl.Float64),
}
"""Columns of ``mixtures``."""
RATES: Final = ("detection_rate", "check_detection", "check_alarms")
"""Of ``mixture_summary``."""


def mixtures(
    pool: Pool, coders: Sequence[Coder], *, n_models: int, each: int, m: int = 10, n: int | None = 1000
) -> pl.DataFrame:
    """Return, per task, means over every choice of ``n_models`` of the coders and of ``each`` programs of each.

    Programs are chosen from the first ``m`` of each coder. error: of the mixture; p_detected: two of the programs
    disagree on some input, or one does not load; p_erroneous: one of them differs from the reference on some input. As
    a check on one of the coders: p_model_errs, it has a wrong program among its first m; p_model_found, that and a
    disagreement; p_alarm, it has none and there is a disagreement all the same: over every coder checked and every
    choice of the others. Left out are tasks without a reference, and those on which some coder has fewer than m
    candidates or was not executed on n inputs. Raises WrongUsage for fewer than two programs or more than there are.
    """
    if not 1 <= n_models <= len(coders) or not 1 <= each <= m or n_models * each < 2:
        raise WrongUsage(
            f"a mixture takes 1 to {len(coders)} models, 1 to {m} programs of each and 2 in all, "
            f"got {n_models} models and {each} programs"
        )
    counts = count(pool, coders, m=[m] * len(coders), n=n).tasks()
    whole = [c for c in counts if set(_sizes(c).sum(axis=0).tolist()) == {m} and c.classes[0].wrong >= 0]
    every = list(range(len(coders)))
    return _mixed(pool, whole, every, every, n_models, each)


def _mixed(
    pool: Pool, tasks: Sequence[TaskCount], coders: list[int], checked: list[int], n_models: int, each: int
) -> pl.DataFrame:
    """Return the rows of ``mixtures`` of the coders at these places, of which those at ``checked`` are checked."""
    rows = [
        (pool.benchmark, pool.tasks[task.task].task_id, *_chances(task, coders, checked, n_models, each))
        for task in tasks
    ]
    return pl.DataFrame(rows, schema=MIXTURE_SCHEMA, orient="row")


def mixture_summary(tasks: pl.DataFrame) -> dict[str, float]:
    """Return the rates of ``mixtures`` over its tasks; NaN where nothing defines one.

    detection_rate: of the mixture's own functional error; it rewards adding bad coders, whose errors are easily found.
    check_detection: of the tasks on which the model checked errs; check_alarms: among those that it solves.
    """
    total = tasks.drop("benchmark", "task_id").sum().row(0, named=True)
    n_tasks = tasks.height
    return {
        "n_tasks": float(n_tasks),
        "mean_error": share_of(total["error"], n_tasks),
        "detection_rate": share_of(total["p_detected"], total["p_erroneous"]),
        "check_detection": share_of(total["p_model_found"], total["p_model_errs"]),
        "check_alarms": share_of(total["p_alarm"], n_tasks - total["p_model_errs"]),
    }


def _sizes(task: TaskCount) -> Ints:
    """Return how many programs of each class each coder has: (n_classes, n_coders)."""
    return np.array([c.sizes for c in task.classes], dtype=np.int64)


def _seen(silence: Floats | float) -> Any:
    """Return the chance that something is seen, 0 where it is but for rounding."""
    return np.where(np.asarray(silence) > 1 - 1e-12, 0.0, 1 - np.asarray(silence))


def _chances(task: TaskCount, coders: list[int], checked: list[int], n_models: int, each: int) -> tuple[float, ...]:
    """Return the values of MIXTURE_SCHEMA; ``alike``: programs of a coder are all of one class, and load.

    Programs that do not load are seen, even if they all are of one class.
    """
    from scipy.special import comb

    sizes = _sizes(task)[:, coders]
    loads = np.array([[c.loads] for c in task.classes])
    alike: Floats = comb(sizes, each) / comb(sizes.sum(axis=0), each) * loads
    wrong = np.array([c.wrong for c in task.classes], dtype=np.float64)
    together = _all_alike(alike, n_models)
    with_other = np.stack([_all_alike(np.delete(alike, i, axis=1), n_models - 1) for i in checked], axis=1)
    errs = (sizes[wrong > 0][:, checked].sum(axis=0) > 0).astype(np.float64)
    disagree = _seen((alike[:, checked] * with_other).sum(axis=0))  # per checked coder: some two of the programs
    return (
        float((sizes.sum(axis=1) * wrong).sum() / (sizes.sum() * task.n)),
        float(_seen(together.sum())),
        float(1 - together[wrong == 0].sum()) if (wrong > 0).any() else 0.0,
        float(errs.mean()),
        float((errs * disagree).mean()),
        float(((1 - errs) * disagree).mean()),
    )


def _all_alike(alike: Floats, n_models: int) -> Floats:
    """Return, per class, the chance that all programs of a choice of so many of the coders are of it."""
    from scipy.special import comb

    chosen: Floats = _elementary(alike, n_models)[:, n_models] / comb(alike.shape[1], n_models)
    return chosen


def _elementary(terms: Floats, degree: int) -> Floats:
    """Return the elementary symmetric polynomials of each row of ``terms``, of degrees 0 to ``degree``."""
    sums = np.zeros((len(terms), degree + 1))
    sums[:, 0] = 1
    for column in terms.T:
        sums[:, 1:] += column[:, None] * sums[:, :-1].copy()
    return sums


SAME_PRICE_SCHEMA: Final[Schema] = {
    "benchmark": pl.String,
    "models": pl.String,
    "n_models": pl.Int64,
    "each": pl.Int64,
    "usd_per_task": pl.Float64,
    "usd_per_task_is_lower_bound": pl.Boolean,
    **dict.fromkeys(RATES, pl.Float64),
}
"""Columns of ``same_price``."""


def usd_per_program(pool: Pool, coder: Coder, price: Price) -> float:
    """Return the mean price of one recorded program of a coder, in US dollars; NaN where tokens are not known."""
    members = pool.of(coder)
    prompt, completion = members.prompt_tokens, members.completion_tokens
    if not len(prompt) or prompt.min() < 0 or completion.min() < 0:
        return float("nan")
    return float((prompt.mean() * price.prompt + completion.mean() * price.completion) / 1e6)


def same_price(
    pool: Pool,
    checked: Coder,
    prices: Mapping[Coder, Price],
    *,
    m: int = 10,
    n: int | None = 1000,
    most_models: int = 3,
    tasks: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
) -> pl.DataFrame:
    """Return what each choice of models that holds ``checked`` finds for the price of ``m`` programs of it.

    A choice of k models takes as many programs of each as the money pays, equally many, at most those recorded; choices
    for which it does not pay one of each, and two in all, are left out. Columns: SAME_PRICE_SCHEMA. Rates are expected
    over every choice of recorded programs: detection_rate, of the mixture's own functional error; check_detection, of
    the tasks on which a recorded program of ``checked`` is wrong; check_alarms, on the tasks where none is. Over the
    tasks that all coders of ``prices`` have, of which ``tasks`` takes those that count. Where a model of the choice
    bills reasoning the dollars are a lower bound, and the money may pay for fewer programs than here. Raises WrongUsage
    if ``checked`` has no price.
    """
    if checked not in prices:
        raise WrongUsage(f"the model to check needs a price, got none for {checked[0]}; there are: {sorted(prices)}")
    coders = list(prices)
    counts = count(pool, coders, m=[None] * len(coders), n=n).tasks()
    counted = counted_ids(pool, tasks)
    whole = [
        c
        for c in counts
        if pool.tasks[c.task].task_id in counted and c.classes[0].wrong >= 0 and _sizes(c).sum(axis=0).min() >= m
    ]
    recorded = min((int(_sizes(c).sum(axis=0).min()) for c in whole), default=0)
    usd = {coder: usd_per_program(pool, coder, prices[coder]) for coder in coders}
    budget = m * usd[checked]
    rows = []
    others = [coder for coder in coders if coder != checked]
    for chosen in ((checked, *some) for k in range(most_models) for some in combinations(others, k)):
        one_each = sum(usd[coder] for coder in chosen)
        each = min(int(budget / one_each + 1e-9), recorded)
        if each >= 1 and each * len(chosen) >= 2:
            places = [coders.index(coder) for coder in chosen]
            found = mixture_summary(_mixed(pool, whole, places, [0], len(chosen), each))
            models = "+".join(model for model, _ in chosen)
            is_lower_bound = any(prices[coder].reasoning for coder in chosen)
            rows.append(
                (pool.benchmark, models, len(chosen), each, each * one_each, is_lower_bound, *map(found.get, RATES))
            )
    return pl.DataFrame(rows, schema=SAME_PRICE_SCHEMA, orient="row").fill_nan(None)
