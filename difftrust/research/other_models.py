"""What other models do on the same task: whether they dissent from a model's answer, err, and err alike.

Suspects are tasks on which most models answer alike and unlike the reference, so that it may be at fault.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust.research.per_candidate import Schema
from difftrust_core.base.records import Coder, Kind
from difftrust_core.datasets.audits import audit_frame
from difftrust_core.estimates.pool import CompactTask, Ints, Pool
from difftrust_core.metrics.estimates import Floats

NO_ANSWER: Final = -1
"""Where none of a coder's programs loads."""
_VALUES: Final = ("incoherence", "both_wrong", "wrong_alike", "error", "other_error")
PAIR_SCHEMA: Final[Schema] = {
    **dict.fromkeys(("benchmark", "task_id", "model", "other"), pl.String),
    **dict.fromkeys(_VALUES, pl.Float64),
}
"""Columns of ``model_pairs``."""


def answer_rows(pool: Pool, coder: Coder, *, m: int | None, inputs: Ints) -> Ints:
    """Return a coder's answer to each task, as a row of the benchmark; NO_ANSWER where none of its programs loads.

    The answer is the behaviour, on the first ``inputs[task]`` inputs, of most of the first ``m`` candidates that load;
    of equally many the one sampled first. The row is the first one that behaves so.
    """
    flat, own = pool.flat, pool.of(coder).first(m)
    rows = flat.first_row[own.task] + own.row
    behaviours = flat.classes(flat.weights(inputs)[1])[rows[flat.loads[rows]]]
    found, first, size = np.unique(behaviours, return_index=True, return_counts=True)
    found = found[np.lexsort((-first, size))]  # of each task the answer last, so that it stays
    answer = np.full(flat.n_tasks, NO_ANSWER)
    answer[flat.task_of_row[found]] = found
    return answer


def with_other_models(pool: Pool, rows: pl.DataFrame, *, m: int | None) -> pl.DataFrame:
    """Return ``rows``, one a coder and task at one temperature, with ``wrong``, ``dissent`` and ``others_err``.

    ``wrong``: the answer of the first ``m`` candidates differs from the reference on one of the row's ``n`` inputs;
    null without a reference. Of the other coders that have a row of the task: ``dissent``, the share whose answer is
    another; ``others_err``, the share with ``error`` above 0. Null where there is no other.
    """
    flat = pool.flat
    tasks = pl.DataFrame({"task_id": [task.task_id for task in pool.tasks]}).with_row_index("task")
    references = [-1 if task.reference is None else task.reference for task in pool.tasks]
    parts = [rows.clear().with_columns(answer=pl.lit(0, pl.Int64), wrong=pl.lit(None, pl.Boolean))]
    for (model, temperature), part in rows.group_by("model", "temperature", maintain_order=True):
        task = part.join(tasks, on="task_id", how="left", maintain_order="left")["task"].to_numpy()
        inputs = np.zeros(flat.n_tasks, dtype=np.int64)
        inputs[task] = part["n"].to_numpy()
        answer = answer_rows(pool, (str(model), float(str(temperature))), m=m, inputs=inputs)[task]
        right = flat.classes(flat.weights(inputs)[1])[flat.first_row[task] + np.array(references)[task]]
        wrong = pl.when(pl.Series(flat.has_reference[task])).then(pl.Series(answer != right))
        parts.append(part.with_columns(answer=pl.Series(answer), wrong=wrong))
    n_others = pl.len().over("task_id").cast(pl.Int64) - 1
    alike = pl.when(pl.col("answer") == NO_ANSWER).then(0).otherwise(pl.len().over("task_id", "answer") - 1)
    errs = (pl.col("error") > 0).cast(pl.Int64)
    return (
        pl.concat(parts)
        .with_columns(
            dissent=pl.when(n_others > 0).then(1 - alike / n_others),
            others_err=pl.when(n_others > 0).then((errs.sum().over("task_id") - errs) / n_others),
        )
        .drop("answer")
    )


def model_pairs(pool: Pool, coders: Sequence[Coder], *, m: int | None, n: int) -> pl.DataFrame:
    """Return a row a task and pair of coders, of one model each, a coder with itself too: PAIR_SCHEMA.

    Over all pairs of a program of the one and a program of the other, two distinct ones of a coder with itself:
    ``incoherence``, how often they differ on one of the first ``n`` inputs; ``both_wrong``, the share of the pairs
    that both differ from the reference somewhere; ``wrong_alike``, the share that do and behave alike on all inputs.
    Programs that do not load are wrong, and alike with none. ``error``, ``other_error``: each one's share of programs
    that are wrong.
    """
    flat = pool.flat
    own = [pool.of(coder).first(m) for coder in coders]
    counts = np.array(
        [np.bincount(flat.first_row[o.task] + o.row, minlength=len(flat.reach)) for o in own], dtype=float
    )
    found = []
    for task, start in zip(pool.tasks, flat.first_row.tolist(), strict=True):
        rows = np.flatnonzero(counts[:, start : start + len(task.kinds)].sum(axis=0))
        found.append(_of_pairs(task, pool.equality, rows, counts[:, start + rows], n))
    first, second = np.triu_indices(len(coders))
    models = np.array([model for model, _ in coders])
    frame = pl.DataFrame({"task_id": [task.task_id for task in pool.tasks]}).join(
        pl.DataFrame({"model": models[first], "other": models[second]}), how="cross"
    )
    values = np.stack(found, axis=1)[:, :, first, second].reshape(len(_VALUES), -1)
    made = frame.with_columns(
        pl.lit(pool.benchmark).alias("benchmark"),
        *(pl.Series(name, column) for name, column in zip(_VALUES, values, strict=True)),
    )
    return made.select(*PAIR_SCHEMA).fill_nan(None).drop_nulls("incoherence")


def _of_pairs(task: CompactTask, equality: str, rows: Ints, counts: Floats, n: int) -> Floats:
    """Return _VALUES of every two coders: (n_values, n_coders, n_coders); NaN where undefined.

    ``counts``: (n_coders, n_rows), programs of each of the task's ``rows``.
    """
    weights = np.bincount(task.pattern_of_input[:n])
    labels = task.labels[equality][:, : len(weights)]
    differs = labels[rows] != labels[task.reference or 0]
    wrong = counts * (differs.any(axis=1) if task.reference is not None else math.nan)
    loads = task.kinds[rows, 0] != Kind.LOAD_ERROR
    kinds = np.unique(labels[rows], axis=0, return_inverse=True)[1].reshape(-1, 1)
    one, same = np.ones(1), np.zeros_like(kinds)
    pairs = _alike(counts, same, one)
    with np.errstate(invalid="ignore"):
        error = np.broadcast_to(wrong.sum(axis=1) / counts.sum(axis=1), pairs.shape)
        return np.stack(
            [
                1 - _alike(counts, labels[rows], weights) / (pairs * n),
                _alike(wrong, same, one) / pairs,
                _alike(wrong * loads, kinds, one) / pairs,
                error.T,
                error,
            ]
        )


def _alike(counts: Floats, kinds: NDArray[Any], weights: NDArray[Any]) -> Floats:
    """Return for every two coders how many pairs of programs are of one kind: summed over columns, by their weights.

    ``kinds``: (n_rows, n_columns). A program makes no pair with itself.
    """
    of_kind = kinds[:, :, np.newaxis] == np.arange(int(kinds.max(initial=0)) + 1)
    there = counts @ of_kind.reshape(len(kinds), -1)
    found: Floats = (there * np.repeat(weights, of_kind.shape[2])) @ there.T
    return found - np.diag(counts.sum(axis=1) * weights.sum())


SHARED_BY = 0.75
"""Of the models, so many share one answer: 12 of 16."""
FEWEST = 3
"""Models that have an answer to a task, for anything to be said of it."""
SUSPECT_SCHEMA: Final[Schema] = {
    "benchmark": pl.String,
    "task_id": pl.String,
    "n_models": pl.UInt32,
    "n_sharing": pl.UInt32,
    "unlike_reference": pl.Float64,
    "input_index": pl.UInt32,
}


def shared_answers(pool: Pool, *, temperature: float, m: int | None, n: int) -> pl.DataFrame:
    """Return a row for each task with a reference: what most models answer there.

    A model's answer is that of ``answer_rows``, from its first m candidates on the first n inputs. ``n_models`` have
    one, ``n_sharing`` of them the most frequent one, which differs from the reference on the share
    ``unlike_reference`` of the inputs, first on ``input_index`` (null: nowhere).
    """
    coders = [coder for coder in sorted(pool.members) if coder[1] == temperature]
    inputs = np.full(len(pool.tasks), n)
    answers = np.array([answer_rows(pool, coder, m=m, inputs=inputs) for coder in coders]).reshape(-1, len(inputs))
    rows = []
    for task, start, answer in zip(pool.tasks, pool.flat.first_row.tolist(), answers.T, strict=True):
        found = answer[answer != NO_ANSWER].tolist()
        if task.reference is None or len(found) < FEWEST:
            continue
        row, n_sharing = min(Counter(found).items(), key=lambda item: (-item[1], item[0]))
        labels = task.labels[pool.equality][:, task.pattern_of_input[:n]]
        differs = labels[row - start] != labels[task.reference]
        first = int(differs.argmax()) if differs.any() else None
        rows.append((pool.benchmark, task.task_id, len(found), n_sharing, float(differs.mean()), first))
    return pl.DataFrame(rows, schema=SUSPECT_SCHEMA, orient="row")


def suspects(pool: Pool, *, temperature: float, m: int | None, n: int) -> pl.DataFrame:
    """Return the tasks on which at least SHARED_BY of the models share an answer unlike the reference.

    The columns of ``shared_answers``, and what a reader found of the task (``audits``), null where nobody read it.
    """
    found = shared_answers(pool, temperature=temperature, m=m, n=n)
    enough = pl.col("n_sharing") >= SHARED_BY * pl.col("n_models")
    audits = audit_frame().select("benchmark", "task_id", "finding", "arguments", "why")
    kept = found.filter(enough & (pl.col("unlike_reference") > 0))
    kept = kept.sort("unlike_reference", descending=True, maintain_order=True)
    return kept.join(audits, on=["benchmark", "task_id"], how="left", maintain_order="left")


def count_findings(frame: pl.DataFrame) -> Sequence[str]:
    """Say how many suspects there are, and how many of each finding."""
    counts = (
        frame.group_by("benchmark", finding=pl.col("finding").fill_null("not read")).len().sort("benchmark", "finding")
    )
    return [f"{benchmark}, {finding}: {count} tasks" for benchmark, finding, count in counts.iter_rows()]
