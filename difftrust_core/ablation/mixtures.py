"""The same number of programs from one model or from several: exact means over every choice; and nothing else."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.ablation.counting import TaskCount, count
from difftrust_core.ablation.pool import Coder, Pool
from difftrust_core.exceptions import WrongUsage

Floats = NDArray[np.float64]
MIXTURE_SCHEMA: Final[dict[str, Any]] = {
    "benchmark": pl.String,
    "task_id": pl.String,
    **dict.fromkeys(("error", "p_detected", "p_erroneous", "p_model_errs", "p_model_found", "p_alarm"), pl.Float64),
}
"""Columns of ``mixtures``."""


def mixtures(
    pool: Pool, coders: Sequence[Coder], *, n_models: int, each: int, m: int = 10, n: int = 1000
) -> pl.DataFrame:
    """Return, per task, means over every choice of ``n_models`` of the coders and of ``each`` programs of each.

    Programs are chosen from the first ``m`` of each coder. error: of the mixture; p_detected: two of the programs
    disagree on some input; p_erroneous: one of them differs from the reference on some input. As a check on one of the
    coders: p_model_errs, it has a wrong program among its first m; p_model_found, that and a disagreement; p_alarm, it
    has none and there is a disagreement all the same: over every coder checked and every choice of the others. Left out
    are tasks without a reference, and those on which some coder has fewer than m candidates or was not executed on n
    inputs. Raises WrongUsage for fewer than two programs or more than there are.
    """
    if not 1 <= n_models <= len(coders) or not 1 <= each <= m or n_models * each < 2:
        raise WrongUsage(
            f"a mixture takes 1 to {len(coders)} models, 1 to {m} programs of each and 2 in all, "
            f"got {n_models} models and {each} programs"
        )
    counts = count(pool, coders, m=[m] * len(coders), n=n).tasks()
    whole = [c for c in counts if set(_sizes(c).sum(axis=0).tolist()) == {m} and c.classes[0].wrong >= 0]
    rows = [(pool.benchmark, pool.tasks[c.task].task_id, *_chances(c, n_models, each)) for c in whole]
    return pl.DataFrame(rows, schema=MIXTURE_SCHEMA, orient="row")


def mixture_summary(tasks: pl.DataFrame) -> dict[str, float]:
    """Return the rates of ``mixtures`` over its tasks; NaN where nothing defines one.

    detection_rate: of the mixture's own functional error; check_detection: of the tasks on which the model checked
    errs; check_alarms: among those that it solves.
    """
    total = {name: float(tasks[name].sum()) for name in tasks.columns if name not in ("benchmark", "task_id")}
    n_tasks = tasks.height

    def share(part: float, whole: float) -> float:
        return part / whole if whole > 0 else float("nan")

    return {
        "n_tasks": float(n_tasks),
        "mean_error": share(total["error"], n_tasks),
        "detection_rate": share(total["p_detected"], total["p_erroneous"]),
        "check_detection": share(total["p_model_found"], total["p_model_errs"]),
        "check_alarms": share(total["p_alarm"], n_tasks - total["p_model_errs"]),
    }


def _sizes(task: TaskCount) -> NDArray[np.int64]:
    """Return how many programs of each class each coder has: (n_classes, n_coders)."""
    return np.array([c.sizes for c in task.classes], dtype=np.int64)


def _chances(task: TaskCount, n_models: int, each: int) -> tuple[float, ...]:
    from scipy.special import comb

    sizes = _sizes(task)
    m = int(sizes[:, 0].sum())
    wrong = np.array([c.wrong for c in task.classes], dtype=np.float64)
    alike = comb(sizes, each) / comb(m, each)  # chance that all programs of one coder are of one class
    together = _elementary(alike, n_models)[:, n_models] / comb(sizes.shape[1], n_models)
    with_other = np.stack([_others(alike, i, n_models) for i in range(sizes.shape[1])], axis=1)
    quiet = (alike * with_other).sum(axis=0)  # per checked coder: no two of the programs disagree
    errs = (sizes[wrong > 0].sum(axis=0) > 0).astype(np.float64)
    disagree = np.where(quiet > 1 - 1e-12, 0.0, 1 - quiet)
    silence = float(together.sum())
    return (
        float((sizes.sum(axis=1) * wrong).sum() / (sizes.sum() * task.n)),
        0.0 if silence > 1 - 1e-12 else 1 - silence,
        float(1 - together[wrong == 0].sum()) if (wrong > 0).any() else 0.0,
        float(errs.mean()),
        float((errs * disagree).mean()),
        float(((1 - errs) * disagree).mean()),
    )


def _others(alike: Floats, checked: int, n_models: int) -> Floats:
    """Return, per class, the chance that all programs of the other n_models - 1 coders are of it."""
    from scipy.special import comb

    others = np.delete(alike, checked, axis=1)
    chosen: Floats = _elementary(others, n_models - 1)[:, n_models - 1] / comb(others.shape[1], n_models - 1)
    return chosen


def _elementary(terms: Floats, degree: int) -> Floats:
    """Return the elementary symmetric polynomials of each row of ``terms``, of degrees 0 to ``degree``."""
    sums = np.zeros((len(terms), degree + 1))
    sums[:, 0] = 1
    for column in terms.T:
        sums[:, 1:] += column[:, None] * sums[:, :-1].copy()
    return sums
