"""Simulated coders whose true E and I are known, for the tests of estimators and intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
POPULATION = 1000
"""All inputs there are; n of them are drawn, with replacement."""


@dataclass(frozen=True, kw_only=True)
class Coder:
    """A distribution over behaviours on a population of inputs; row 0 is the reference's behaviour."""

    shares: Floats
    labels: npt.NDArray[np.int64]

    def error(self) -> float:
        """Return the true E."""
        return float(self.shares @ (self.labels != self.labels[0]).mean(axis=1))

    def incoherence(self) -> float:
        """Return the true I, of two independent programs."""
        size = int(self.labels.max()) + 1
        cells = self.labels + np.arange(self.labels.shape[1]) * size
        weights = np.repeat(self.shares, self.labels.shape[1])
        mass = np.bincount(cells.ravel(), weights, minlength=size * self.labels.shape[1]).reshape(-1, size)
        return float(1 - (mass**2).sum(axis=1).mean())

    def sample(self, m: int, n: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return labels and counts of m programs on n inputs; row 0 is the reference's, also if nobody wrote it."""
        counts = rng.multinomial(m, self.shares)
        kept = counts > 0
        kept[0] = True
        inputs = rng.integers(self.labels.shape[1], size=n)
        return self.labels[np.ix_(kept, inputs)], counts[kept]


Make = Callable[[np.random.Generator], Coder]


def coder_of(shares: Floats, errors: Floats, rng: np.random.Generator) -> Coder:
    """Return a coder whose behaviour b is wrong on the share errors[b] of the inputs, half the time in its own way."""
    wrong = rng.random((len(errors), POPULATION), dtype=np.float32) < errors[:, None]
    own = rng.random((len(errors), POPULATION), dtype=np.float32) < 0.5
    labels = np.where(wrong, np.where(own, np.arange(len(errors))[:, None] + 1, len(errors) + 1), 0)
    labels[0] = 0
    return Coder(shares=shares, labels=labels)


def _wrongness(size: int, rng: np.random.Generator) -> Floats:
    return np.concatenate([[0.0], rng.beta(0.6, 0.6, size)])


def one_wrong(q: float) -> Make:
    """Right, or with probability q one wrong behaviour."""
    return lambda rng: coder_of(np.array([1 - q, q]), _wrongness(1, rng), rng)


def all_or_nothing(q: float) -> Make:
    """Right on every input, or with probability q wrong on every input."""
    return lambda rng: coder_of(np.array([1 - q, q]), np.array([0.0, 1.0]), rng)


def many_wrong(q: float, size: int = 60) -> Make:
    """Right, or with probability q wrong in a way that hardly any other program is."""
    shares = np.concatenate([[1 - q], np.full(size, q / size)])
    return lambda rng: coder_of(shares, _wrongness(size, rng), rng)


def few_of(size: int, slope: float) -> Make:
    """Return coders of ``size`` behaviours with shares like 1/rank^slope, the right one first."""
    shares = np.arange(1.0, size + 1) ** -slope
    return lambda rng: coder_of(shares / shares.sum(), _wrongness(size - 1, rng), rng)


def all_different(size: int = 60) -> Make:
    """No two programs alike, each wrong on few inputs, nobody right."""
    shares = np.concatenate([[0.0], np.full(size, 1 / size)])
    return lambda rng: coder_of(shares, np.concatenate([[0.0], rng.beta(0.5, 2, size)]), rng)


def diverse(theta: float, size: int = 80) -> Make:
    """Shares by stick breaking: the larger theta, the more behaviours."""

    def make(rng: np.random.Generator) -> Coder:
        sticks = rng.beta(1, theta, size)
        sticks[-1] = 1
        shares = sticks * np.cumprod(np.concatenate([[1], 1 - sticks[:-1]]))
        return coder_of(shares / shares.sum(), _wrongness(size - 1, rng), rng)

    return make


CODERS: dict[str, Make] = {
    **{f"one wrong behaviour, {q:.0%}": one_wrong(q) for q in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)},
    **{f"wrong on all inputs, {q:.0%}": all_or_nothing(q) for q in (0.1, 0.3)},
    **{f"wrong in many ways, {q:.0%}": many_wrong(q) for q in (0.1, 0.3, 0.5, 0.8, 1)},
    "3 behaviours, equally frequent": few_of(3, 0),
    "6 behaviours, shares like 1/rank": few_of(6, 1),
    "6 behaviours, shares like 1/rank^2": few_of(6, 2),
    "no two programs alike": all_different(),
    **{f"stick breaking, theta {theta}": diverse(theta) for theta in (0.1, 0.3, 1, 3, 10)},
}


def rarely_very_wrong(shares: tuple[float, ...], errors: tuple[float, ...]) -> Coder:
    """Return a coder whose behaviours are wrong on nested shares of the inputs, each in its own way."""
    labels = np.zeros((len(shares), POPULATION), dtype=np.int64)
    for row, error in enumerate(errors):
        labels[row, : round(error * POPULATION)] = row
    return Coder(shares=np.array(shares), labels=labels)


RARE = {
    "60/30/10% wrong on 0/20/100% of the inputs": rarely_very_wrong((0.6, 0.3, 0.1), (0, 0.2, 1)),
    "70/27/3% wrong on 0/10/100% of the inputs": rarely_very_wrong((0.7, 0.27, 0.03), (0, 0.1, 1)),
}
"""Coders with a rare behaviour that is very wrong: what is not seen is what matters."""
