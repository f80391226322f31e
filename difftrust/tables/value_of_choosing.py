"""What choosing among candidates is worth, as tables: by consensus, by public examples, by answers to questions."""

from typing import Final

import polars as pl

from difftrust.research.coders import MEAN, with_ends
from difftrust.research.passed_tests import open_examples
from difftrust.research.selection import (
    AFTER,
    BEST,
    GAINS,
    MOST,
    OVER_RANDOM,
    answers_table,
    compute_answers,
    compute_passes,
    selection_table,
)
from difftrust.results import Table
from difftrust.tables.request import TableRequest


def make_selection(request: TableRequest) -> Table:
    """Return pass@1 of a random candidate, of the consensus, and of that of those that pass the public examples."""
    examples = open_examples(request.open(), equality=request.equality, n_jobs=request.n_jobs)
    passes, sizes = request.judged(
        lambda candidates: compute_passes(candidates, examples),
        missing="whose right answers are known; give its tasks references, checkers or tests",
    )
    notes = (
        *sizes,
        "random: the mean over the candidates; consensus: the program of fewest tokens of the largest cluster",
        "filtered: the consensus of the candidates that pass the task's public examples, of all where none does; "
        "public are the test inputs that stand in the description (HumanEval) and the first test (MBPP)",
        "consensus_gain, filtered_gain: over random; filter_gain: of filtered over consensus; low to high: 95% "
        "bootstrap intervals over tasks, paired by task (10,000 resamples, seed 0)",
    )
    return Table(selection_table(passes), notes=notes)


PUBLISHED: Final = (
    "published for another model and setting: pass@1 0.482 to 0.707 on MBPP after one answer, 0.860 after five (Lahiri "
    "et al., arXiv 2208.05950: Codex; asked is whether a test that the model wrote is right; right is what passes the "
    "benchmark's tests)"
)
"""Not comparable cell by cell."""
_SHOWN: Final = (1, 2, 3, 5)
"""Numbers of answers that the table has columns of."""
_VALUES: Final = ("pass_at_1", "consensus", *(AFTER[k] for k in _SHOWN), "some_right", "none_left", "questions")


def user_answers(request: TableRequest) -> tuple[pl.DataFrame, list[str]]:
    """Return what answered questions are worth in a store, a row a coder, task and way to ask, and what they rest on.

    Raises NoStore where no task has a reference.
    """
    found, (sizes, *notes) = request.judged(
        compute_answers,
        missing="with a reference, which is the user that answers; give its tasks references",
    )
    without = sum(task.reference is None for pool in request.pools().values() for task in pool.tasks)
    return found, [f"{sizes}; the user is the reference; tasks without a reference, left out: {without}", *notes]


def make_questions(request: TableRequest) -> Table:
    """Return pass@1 after 0, 1, 2, 3 and 5 answers: two rows a model, asked about the best and about a random input."""
    answers, said = user_answers(request)
    frame = answers_table(answers, resamples=request.resamples, seed=request.seed)
    values = with_ends(*_VALUES) if request.intervals else _VALUES
    frame = frame.select(*frame.columns[:5], *values, *with_ends(*GAINS, OVER_RANDOM))
    notes = (
        *said,
        "pass_at_1: of a random candidate; consensus: 0 answers; after_k: of the largest cluster that contradicts none "
        "of k answers; right: like the reference on all n inputs",
        "best input: splits the candidates that are left most evenly; random input: any that splits them, expected "
        f"over all of them; no question is asked where none splits them, or after {MOST}",
        f"some_right: tasks with a right candidate, which no answer can exceed; none_left: tasks on which after {MOST} "
        "questions every candidate contradicts an answer, so that the user knows that none is right; questions: asked "
        "per task",
        "gain_1, gain_5: of 1 and 5 answers over the consensus; gain_1_over_random: of the best input over a random "
        f"one; low to high: 95 % bootstrap intervals over tasks, paired by task ({request.resamples:,} resamples, seed "
        f"{request.seed})",
        PUBLISHED,
    )
    return Table(frame, notes=notes)


def gains_said(table: pl.DataFrame) -> str:
    """Return in words what the first answer brings, of the means of a table of answers."""
    rows = table.filter(model=MEAN, question=BEST).iter_rows(named=True)
    gains = [[100 * row[name] for name in with_ends("gain_1")] + [row["benchmark"]] for row in rows]
    said = (f"{value:+.1f} points [{low:.1f}, {high:.1f}] on {name}" for value, low, high, name in gains)
    return f"The first answer brings {', '.join(said)} (95 % over tasks, paired)."


def curves_of_answers(table: pl.DataFrame) -> pl.DataFrame:
    """Return pass@1 by number of answers: benchmark, temperature, model, question, tasks, answers, pass_at_1, its ends.

    ``table``: of ``answers_table``. Of a single model the means, which repeat it, are left out.
    """
    key = ["benchmark", "temperature", "model", "question", "tasks"]
    parts = [
        table.select(
            *key, answers=pl.lit(k), pass_at_1=name, pass_at_1_low=f"{name}_low", pass_at_1_high=f"{name}_high"
        )
        for k, name in enumerate(["consensus", *AFTER[1:]])
    ]
    frame = pl.concat(parts).sort("benchmark", "temperature", pl.col("model") == MEAN, "model", "question", "answers")
    models = frame.filter(pl.col("model") != MEAN)
    return models if models["model"].n_unique() == 1 else frame
