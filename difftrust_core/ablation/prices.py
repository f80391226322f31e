"""What several models find for the price of a few programs of one of them; and nothing else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.ablation.counting import TaskCount, count
from difftrust_core.ablation.pool import Coder, Pool
from difftrust_core.exceptions import WrongUsage

Price = tuple[float, float]
"""US dollars per million tokens: of the prompt, of the completion."""
SAME_PRICE_SCHEMA: Final[dict[str, Any]] = {
    "benchmark": pl.String,
    "models": pl.String,
    "n_models": pl.Int64,
    "each": pl.Int64,
    "usd_per_task": pl.Float64,
    **dict.fromkeys(("detection_rate", "check_detection", "check_alarms"), pl.Float64),
}
"""Columns of ``same_price``."""


def usd_per_program(pool: Pool, coder: Coder, price: Price) -> float:
    """Return the mean price of one recorded program of a coder, in US dollars; NaN where tokens are not known."""
    members = pool.of(coder)
    prompt, completion = members.prompt_tokens, members.completion_tokens
    if not len(prompt) or prompt.min() < 0 or completion.min() < 0:
        return float("nan")
    return float((prompt.mean() * price[0] + completion.mean() * price[1]) / 1e6)


def same_price(
    pool: Pool,
    checked: Coder,
    prices: Mapping[Coder, Price],
    *,
    m: int = 10,
    n: int = 1000,
    most_models: int = 3,
    tasks: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
) -> pl.DataFrame:
    """Return what each choice of models that holds ``checked`` finds for the price of ``m`` programs of it.

    A choice of k models takes as many programs of each as the money pays, equally many, at most those recorded; choices
    for which it does not pay one of each, and two in all, are left out. Columns: SAME_PRICE_SCHEMA. Rates are expected
    over every choice of recorded programs: detection_rate, of the mixture's own functional error; check_detection, of
    the tasks on which a recorded program of ``checked`` is wrong; check_alarms, on the tasks where none is. Over the
    tasks that all coders of ``prices`` have, of which ``tasks`` takes those that count. Raises
    WrongUsage if ``checked`` has no price.
    """
    if checked not in prices:
        raise WrongUsage(f"the model to check needs a price, got none for {checked[0]}; there are: {sorted(prices)}")
    coders = list(prices)
    counts = count(pool, coders, m=[None] * len(coders), n=n).tasks()
    names = pl.DataFrame({"benchmark": pool.benchmark, "task_id": [task.task_id for task in pool.tasks]})
    counted = set(tasks(names)["task_id"])
    whole = [
        c
        for c in counts
        if pool.tasks[c.task].task_id in counted and c.classes[0].wrong >= 0 and _sizes(c).sum(axis=0).min() >= m
    ]
    recorded = min((int(_sizes(c).sum(axis=0).min()) for c in whole), default=0)
    usd = {coder: usd_per_program(pool, coder, prices[coder]) for coder in coders}
    budget = m * usd[checked]
    rows = []
    for chosen in _choices(coders, checked, most_models):
        one_each = sum(usd[coder] for coder in chosen)
        each = min(int(budget / one_each + 1e-9), recorded)
        if each >= 1 and each * len(chosen) >= 2:
            rates = _rates(whole, [coders.index(coder) for coder in chosen], coders.index(checked), each)
            models = "+".join(model for model, _ in chosen)
            rows.append((pool.benchmark, models, len(chosen), each, each * one_each, *rates))
    return pl.DataFrame(rows, schema=SAME_PRICE_SCHEMA, orient="row")


def _choices(coders: Sequence[Coder], checked: Coder, most: int) -> Iterator[tuple[Coder, ...]]:
    others = [coder for coder in coders if coder != checked]
    for k in range(most):
        for chosen in combinations(others, k):
            yield (checked, *chosen)


def _sizes(task: TaskCount) -> NDArray[np.int64]:
    return np.array([c.sizes for c in task.classes], dtype=np.int64)


def _rates(tasks: Sequence[TaskCount], chosen: list[int], checked: int, each: int) -> tuple[float, float, float]:
    from scipy.special import comb

    detected, erroneous, errs = (np.zeros(len(tasks)) for _ in range(3))
    for at, task in enumerate(tasks):
        sizes = _sizes(task)
        wrong = np.array([c.wrong for c in task.classes]) > 0
        alike = (comb(sizes[:, chosen], each) / comb(sizes[:, chosen].sum(axis=0), each)).prod(axis=1)
        detected[at] = 1 - alike.sum() if alike.sum() < 1 - 1e-12 else 0.0
        erroneous[at] = 1 - alike[~wrong].sum() if wrong.any() else 0.0
        errs[at] = float(sizes[wrong, checked].sum() > 0)
    return (
        _share(detected.sum(), erroneous.sum()),
        _share((detected * errs).sum(), errs.sum()),
        _share((detected * (1 - errs)).sum(), (1 - errs).sum()),
    )


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
