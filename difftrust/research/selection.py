"""Take one of a task's candidates: at random, by consensus, among those that pass public examples, by a user's answers.

The user is the reference: measured is what answered questions are worth, on recorded candidates.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.questions.information import answered, ask_best, ask_random
from difftrust.research.coders import with_ends
from difftrust.research.passed_tests import FAILS, UNKNOWN, PublicExamples
from difftrust.research.per_candidate import CODER_SCHEMA, KEY, KEY_SCHEMA, Candidates, Schema, means_table
from difftrust_core.base.records import Kind
from difftrust_core.estimates.pool import Ints
from difftrust_core.metrics.estimates import clusters_by_size

_RULES: Final = dict.fromkeys(("random", "consensus", "filtered"), pl.Float64)
"""Ways to take one of the candidates."""
_GAINS: Final = {
    "consensus_gain": pl.col("consensus") - pl.col("random"),
    "filtered_gain": pl.col("filtered") - pl.col("random"),
    "filter_gain": pl.col("filtered") - pl.col("consensus"),
}
PASSES_SCHEMA: Final = {**KEY_SCHEMA, "m": pl.Int64, "n": pl.Int64, **_RULES, "has_example": pl.Boolean}


def compute_passes(judged: Iterable[Candidates], examples: Mapping[str, PublicExamples]) -> pl.DataFrame:
    """Return one row per coder and task of ``judged_candidates``.

    ``random``: the share of the candidates that pass; ``consensus``: 1 if the consensus of them does, else 0;
    candidates that do not load have no part in it. ``filtered``: the same of the candidates that pass the task's public
    examples, of all where none does; null where ``examples`` do not say which do. To pass is to agree with the
    reference on their inputs.
    """
    rows = [_passes(one, examples.get(one.pool.benchmark)) for one in judged]
    return pl.DataFrame(rows, schema=PASSES_SCHEMA).sort("benchmark", "model", "temperature", "task_id")


def _passes(one: Candidates, examples: PublicExamples | None) -> dict[str, Any]:
    def taken(voting: Ints) -> float:
        """Return whether the consensus passes: the program of fewest tokens of the largest cluster."""
        return float(one.right[clusters_by_size(one.labels[one.rows], voting, one.tokens)[0][0]])

    told = np.full(len(one.rows), UNKNOWN) if examples is None else examples.verdicts_on(one)
    kept = one.votes * (told != FAILS)
    return one.key | {
        "m": len(one.rows),
        "n": len(one.patterns),
        "random": float(one.right.mean()),
        "consensus": taken(one.votes),
        "filtered": None if (told == UNKNOWN).any() else taken(kept if kept.any() else one.votes),
        "has_example": None if examples is None else one.task.task_id in examples.positions,
    }


def selection_table(passes: pl.DataFrame) -> pl.DataFrame:
    """Return pass@1 of a random candidate and of those taken by rule: one row per coder, then means per benchmark.

    ``passes``: of ``compute_passes``. Columns: benchmark, model, temperature, tasks, with_example (tasks), pass@1 of
    each, what the consensus and the filtered one gain over a random candidate and the filter over the consensus, each
    with the ends of its interval over tasks, paired by task. As ``means_table`` has it.
    """
    ends = dict.fromkeys(with_ends(*_GAINS), pl.Float64)
    schema = {**CODER_SCHEMA, "tasks": pl.Int64, "with_example": pl.Int64, **_RULES, **ends}
    return means_table(passes.with_columns(**_GAINS).rename({"has_example": "with_example"}), schema, resamples=10_000)


MOST: Final = 5
"""Questions that are asked at most."""
BEST, RANDOM = "best input", "random input"
AFTER: Final = tuple(f"after_{k}" for k in range(MOST + 1))
SHARES: Final = ("pass_at_1", "consensus", *AFTER[1:], "some_right", "none_left", "questions")
ANSWERS_SCHEMA: Final[Schema] = {
    **{**KEY_SCHEMA, "m": pl.Int64, "n": pl.Int64, "question": pl.String, "pass_at_1": pl.Float64},
    **dict.fromkeys(("some_right", *AFTER, "none_left", "questions"), pl.Float64),
}
_SAID: Final = (Kind.VALUE, Kind.EXCEPTION)
"""Outcomes of the reference that a user can give as an answer."""


def compute_answers(judged: Iterable[Candidates]) -> pl.DataFrame:
    """Return two rows per coder and task of ``judged_candidates``: asked about the best input, and about a random one.

    ``pass_at_1``: the share of the candidates that are right; ``some_right``: whether any is (0 or 1);
    ``after_k``: the probability that the program taken after k answers is; ``none_left``: that after ``MOST`` answers
    no candidate is left; ``questions``: how many are asked. To be right is to agree with the reference on their
    inputs. Asked is about those of them on which the reference returns or raises, and the answer is its
    outcome. Candidates that do not load have no part, unless none loads. Taken is the program of fewest tokens of the
    largest cluster that contradicts no answer; without an answer that is the consensus of ``selection``. Where nothing
    splits the candidates that are left nothing more is asked.
    """
    rows = [row for one in judged for row in _questions_about(one)]
    return pl.DataFrame(rows, schema=ANSWERS_SCHEMA).sort("benchmark", "model", "temperature", "task_id", "question")


def _questions_about(one: Candidates) -> Iterator[dict[str, Any]]:
    """Yield a row for each way to ask about these candidates."""
    clusters = clusters_by_size(one.labels[one.rows], one.votes, one.tokens)
    labels, truth = one.labels[one.rows[[members[0] for members in clusters]]], one.labels[one.task.reference]
    counts = np.array([len(members) for members in clusters])
    allowed = np.isin(one.kinds[one.task.reference], _SAID)
    best = answered(labels, truth, ask_best(labels, counts, allowed), most=MOST)
    random = best
    if len(clusters) > 1:
        chances = ask_random(labels, allowed, np.bincount(one.patterns))
        random = answered(labels, truth, chances, most=MOST)
    for question, found in ((BEST, best), (RANDOM, random)):
        yield one.key | {
            **{"m": len(one.rows), "n": len(one.patterns), "question": question},
            **{"pass_at_1": float(one.right.mean()), "some_right": float(one.right.any())},
            **dict(zip(AFTER, found.right.tolist(), strict=True)),
            **{"none_left": float(found.none_left[-1]), "questions": found.questions},
        }


GAINS: Final = {"gain_1": ("after_1", "consensus"), "gain_5": ("after_5", "consensus")}
"""Name -> what the mean difference is of."""
OVER_RANDOM: Final = "gain_1_over_random"
_TABLE: Final[Schema] = {
    **{"benchmark": pl.String, "temperature": pl.Float64, "model": pl.String, "question": pl.String, "tasks": pl.Int64},
    **dict.fromkeys(with_ends(*SHARES, *GAINS, OVER_RANDOM), pl.Float64),
}


def answers_table(answers: pl.DataFrame, *, resamples: int, seed: int) -> pl.DataFrame:
    """Return the means of ``compute_answers`` over tasks: a row per coder and question, then means per benchmark.

    Columns: benchmark, temperature, model, question, tasks, and each of SHARES, GAINS (what the first, and five
    answers gain over the consensus) and OVER_RANDOM (what the best input gains over a random one after one answer),
    with the ends of its interval over tasks, differences paired by task. As ``means_table`` has it.
    """
    random = answers.filter(question=RANDOM).select(*KEY, by_chance="after_1")
    paired = answers.rename({"after_0": "consensus"}).join(random, on=KEY, maintain_order="left")
    paired = paired.with_columns(
        *[(pl.col(a) - pl.col(b)).alias(name) for name, (a, b) in GAINS.items()],
        pl.when(question=BEST).then(pl.col("after_1") - pl.col("by_chance")).alias(OVER_RANDOM),
    )
    return means_table(paired, _TABLE, by=("question",), resamples=resamples, seed=seed)
