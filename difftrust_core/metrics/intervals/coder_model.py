"""Draw coders that could have written these m programs: distributions over behaviours.

A coder is a distribution over behaviours: one of them is its usual one, the rest a Dirichlet process (Ewens' sampling
formula) whose diversity is not known. Both the rarity of the rest and its diversity have log-uniform priors that
contain what 16 LLMs show on 559 tasks (docs/uncertainty.md). So a program unlike all seen is as likely next as the
number of behaviours among m programs suggests, and nothing is taken to be absent because m programs do not show it.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RARITY: Final = np.geomspace(0.05, 5, 24)
"""theta of the usual behaviour: its share is Beta(1, theta) before anything is seen."""
DIVERSITY: Final = np.geomspace(0.05, 50, 24)
"""theta of the rest: how many behaviours share it."""
DISTANCE: Final = (0.6, 0.6)
"""On which share of the inputs two behaviours differ: a beta distribution, U-shaped as recorded."""
NOVELTY: Final = 0.75
"""How often an unseen behaviour is like none of those seen, where being like a given one counts 1."""


@dataclass(frozen=True, kw_only=True)
class Coders:
    """Possible coders, one a draw. Unseen behaviours are counted with the type they resemble."""

    seen: Floats
    """(draws, n_behaviours): the share of each behaviour that was seen."""
    unseen: Floats
    """(draws, n_types): the share of the unseen behaviours of each type; rows of both sum to 1."""
    sameness: Floats
    """(draws, n_types): the probability that two unseen programs of one type behave alike."""
    distance: Floats
    """(draws,): how far unseen behaviours that resemble no seen one are from the usual one."""


def sample_coders(counts: Floats, types: Floats, *, draws: int, rng: np.random.Generator) -> Coders:
    """Return ``draws`` coders that could have written the programs, in proportion to how well they explain them.

    ``counts``: (n_behaviours,) programs of each behaviour, the usual one first. ``types``: (n_types,) how much
    unseen behaviours resemble each type, 0 for not at all.
    """
    usual, rest = counts[0], counts[1:]
    others = float(rest.sum())
    beta = _log_gammas(others + RARITY) - _log_gammas(usual + others + RARITY) + math.lgamma(usual)
    rarity = _sample(RARITY, np.log(RARITY) + beta, draws, rng)
    ewens = len(rest) * np.log(DIVERSITY) + _log_gammas(DIVERSITY) - _log_gammas(DIVERSITY + others)
    diversity = _sample(DIVERSITY, ewens, draws, rng)
    share = rng.beta(usual, others + rarity)[:, None]
    weight = _gammas(types, draws, rng)
    strength = diversity[:, None] * weight / weight.sum(axis=1, keepdims=True)
    seen, unseen = _gammas(rest, draws, rng), rng.standard_gamma(strength)
    total = seen.sum(axis=1, keepdims=True) + unseen.sum(axis=1, keepdims=True)
    # A gamma of tiny shape may come out as 0: then the rest has no mass of its own, and the usual one has it all.
    scale = np.divide(1 - share, total, out=np.zeros_like(total), where=total > 0)
    share = np.where(total > 0, share, 1.0)
    stick = rng.beta(1, np.maximum(strength, 1e-12))
    return Coders(
        seen=np.hstack([share, seen * scale]),
        unseen=unseen * scale,
        sameness=stick**2 + (1 - stick) ** 2 / (1 + strength),
        distance=rng.beta(*DISTANCE, size=draws),
    )


def sample_incoherence(counts: Floats, distances: Floats, *, draws: int, rng: np.random.Generator) -> Floats:
    """Return the incoherence of each of ``draws`` coders: (draws,) in [0, 1].

    ``distances``: (n_behaviours, n_behaviours) the share of the inputs on which two behaviours differ. An unseen
    behaviour is about as far from the seen ones as a seen one that is not the usual is, or like none of them.
    """
    n_behaviours = len(counts)
    types = np.ones(n_behaviours + 1)
    types[0], types[-1] = 0, NOVELTY
    coders = sample_coders(counts, types, draws=draws, rng=rng)
    alike, unlike = coders.unseen[:, :-1], coders.unseen[:, -1]
    mass = coders.seen + alike
    among_seen = ((mass @ distances) * mass).sum(axis=1)
    apart = _distance_to_another(distances, draws, rng)
    within = 2 * (coders.seen * alike * apart).sum(axis=1)
    within += (alike**2 * (1 - coders.sameness[:, :-1]) * apart).sum(axis=1)
    d = coders.distance
    from_seen = 1 - (1 - d[:, None]) * (1 - distances[0])
    among_unlike = unlike**2 * (1 - coders.sameness[:, -1]) * (1 - (1 - d) ** 2)
    found = among_seen + within + 2 * unlike * (mass * from_seen).sum(axis=1) + among_unlike
    limited: Floats = np.minimum(found, 1.0)
    return limited


def _log_gammas(values: Floats) -> Floats:
    """Return ln gamma of each value; SciPy's takes a quarter of a second to load."""
    return np.array([math.lgamma(value) for value in values])


def _sample(grid: Floats, log_weights: Floats, draws: int, rng: np.random.Generator) -> Floats:
    up_to = np.exp(log_weights - log_weights.max()).cumsum()
    drawn: Floats = grid[np.searchsorted(up_to / up_to[-1], rng.random(draws), side="right")]
    return drawn


def _gammas(shapes: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return one gamma variable a shape and draw: (draws, len(shapes)); 0 for a shape of 0."""
    drawn: Floats = rng.standard_gamma(shapes, size=(draws, len(shapes)))
    return drawn


def _distance_to_another(distances: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return, for each draw and seen behaviour, its distance from another one that was seen, picked at random."""
    n_behaviours = len(distances)
    if n_behaviours == 1:
        return np.zeros((draws, 1))
    rows = np.arange(n_behaviours)
    others = (rows + rng.integers(1, n_behaviours, size=(draws, n_behaviours))) % n_behaviours
    found: Floats = distances[rows, others]
    return found
