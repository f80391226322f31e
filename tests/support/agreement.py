"""Write docs/agreement.md: what agreement is worth, and how often its bound is kept; run by make agreement."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import difftrust_core as dt
from difftrust_core.analysis.selective import THRESHOLDS
from difftrust_core.metrics.consensus import consensus
from difftrust_core.metrics.selective import NONE, counts_at, loosest, share_broken
from difftrust_core.report.names import display_name
from tests.support.estimates import estimate
from tests.support.simulated import CODERS

TARGET = Path(__file__).parents[2] / "docs" / "agreement.md"
ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.4)
DELTA = 0.1
REPETITIONS = 1000
Population = tuple[np.ndarray, np.ndarray, tuple[float, ...]]
"""(score, wrong, thresholds): all tasks there are."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Shares of repetitions."""

    answering: float
    broken: float


def worst_case(*, alpha: float) -> Population:
    """Return tasks of ten scores, at each of which the share wrong is just above alpha."""
    each = 1000
    wrong = np.arange(each) < round(alpha * each) + 1
    return np.repeat(np.arange(10.0), each), np.tile(wrong, 10), tuple(range(10))


def population(*, n_tasks: int, seed: int) -> Population:
    """Return tasks of simulated coders of every kind: incoherence of ten programs, and whether the answer is wrong."""
    rng = np.random.default_rng(seed)
    kinds, score, wrong = list(CODERS.values()), [], []
    for task in range(n_tasks):
        labels, counts = kinds[task % len(kinds)](rng).sample(10, 200, rng)
        answer = consensus(labels, counts, [f"{i:03}" for i in rng.permutation(len(labels))])
        score.append(estimate(labels, counts, 0).incoherence)
        wrong.append(bool((labels[answer] != labels[0]).any()))
    return np.array(score), np.array(wrong), THRESHOLDS["incoherence"]


def kept_on(
    score: np.ndarray, wrong: np.ndarray, thresholds: tuple[float, ...], *, n_tasks: int, alpha: float, **options: Any
) -> Kept:
    """Return how often a threshold from ``n_tasks`` drawn independently breaks the bound on the whole population.

    ``options``: delta, repetitions, seed.
    """
    rng = np.random.default_rng(options["seed"])
    drawn = rng.integers(len(score), size=(options["repetitions"], n_tasks))
    counts = [one[drawn].sum(axis=1) for one in counts_at(score, wrong, thresholds)]
    chosen = loosest(*counts, alpha=alpha, delta=options["delta"])
    broken = share_broken(chosen, score, wrong, thresholds, alpha=alpha)
    return Kept(answering=float((chosen != NONE).mean()), broken=broken)
