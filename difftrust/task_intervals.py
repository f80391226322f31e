"""Confidence intervals for one task: over inputs, and over the programs of the LLM itself.

Over inputs: what these m programs would show on all the inputs that could have been drawn. Over programs: what the LLM
itself does, of which these m programs are a sample; mostly much wider, for they hold for other programs and inputs
alike.

A behaviour with a share of w stays unseen with probability (1 - w)^m, however wrong it is. So the upper calibrated
limit is at least that of the programs at hand and one more behaviour, unlike them on every input, whose share is the
largest that stays unseen so often: (1 - w)^2 I + 2 w (1 - w), w = 1 - delta^(1/m) (Theorem 4.3, programs instead of
inputs). Where all m programs behave alike, delta is the interval's risk, else twice that.

Calibrated limits are quantiles over *coders* that could have written the programs: distributions over behaviours, one
of them the usual one, the rest a Dirichlet process (Ewens' sampling formula) whose diversity is not known. Both the
rarity of the rest and its diversity have log-uniform priors that contain what 16 LLMs show on 559 tasks
(docs/uncertainty.md). So a program unlike all seen is as likely next as the number of behaviours among m programs
suggests, and nothing is taken to be absent because m programs do not show it.

``alpha`` is what a limit may miss: each end of a two-sided 95 % interval has alpha = 0.025. SciPy is not used: it takes
long to load.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import Undefined, WrongUsage
from difftrust_core.metrics.estimates import (
    Counts,
    Floats,
    Interval,
    Labels,
    Limits,
    checked_confidence,
    disagreement_per_input,
)

_LEAST, _MOST = 1e-300, 1 - 1e-16


def checked_values(values: npt.NDArray[Any]) -> Floats:
    """Return ``values`` as floats. Raises Undefined without any, ValueError unless all lie in [0, 1]."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not found.size:
        raise Undefined(f"an interval needs one disagreement for each of n >= 1 draws, got shape {found.shape}")
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"each disagreement lies in [0, 1], got {float(found.min())} to {float(found.max())}")
    return found


_HALVINGS = 60


def hoeffding(mean: float, n: int, *, alpha: float) -> Limits:
    """Return mean -+ sqrt(ln(1/alpha) / 2n), within [0, 1]. Guaranteed. Hoeffding 1963, theorem 1; Theorem 4.2."""
    half_width = math.sqrt(math.log(1 / alpha) / (2 * n))
    return max(0.0, mean - half_width), min(1.0, mean + half_width)


def chernoff(mean: float, n: int, *, alpha: float) -> Limits:
    """Return the means mu with n kl(mean, mu) <= ln(1/alpha): guaranteed, and far narrower near 0 and 1.

    kl(a, b) = a ln(a/b) + (1-a) ln((1-a)/(1-b)). A mean of 0 gives 1 - alpha^(1/n), as Theorem 4.3 does.
    Hoeffding 1963, equation 2.1.
    """
    budget = math.log(1 / alpha) / n

    def excess(mu: float) -> float:
        below = mean * math.log(mean / mu) if mean > 0 else 0.0
        above = (1 - mean) * math.log((1 - mean) / (1 - mu)) if mean < 1 else 0.0
        return below + above - budget

    return _crossing(excess, mean, _LEAST), _crossing(excess, mean, _MOST)


def _crossing(excess: Callable[[float], float], mean: float, end: float) -> float:
    """Return where ``excess``, negative at the mean, becomes 0 on the way to ``end``; else that end, 0 or 1."""
    if excess(end) <= 0:
        return float(round(end))
    inside, outside = (mean if 0 < mean < 1 else 1 - end), end
    for _ in range(_HALVINGS):  # scipy.optimize does it in fewer steps, but takes half a second to load
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if excess(middle) > 0 else (middle, outside)
    return inside


def binomial_limits(successes: int, trials: int, *, alpha: float) -> Limits:
    """Return the exact limits of a probability to about nine digits. Clopper & Pearson 1934."""
    k = np.arange(trials + 1)
    factorials = np.array([math.lgamma(i + 1) for i in range(trials + 1)])
    choose = factorials[-1] - factorials - factorials[::-1]

    def excess(p: float, chosen: slice) -> float:
        likely = choose[chosen] + k[chosen] * math.log(p) + (trials - k[chosen]) * math.log1p(-p)
        return alpha - float(np.exp(likely).sum())

    mean = successes / trials
    low = _crossing(lambda p: excess(p, slice(successes, None)), mean, _LEAST)
    return low, _crossing(lambda p: excess(p, slice(successes + 1)), mean, _MOST)


def beta_of_mean(values: Floats) -> tuple[float, float]:
    """Return (a, b) of a beta distribution that says where the mean of what ``values`` were drawn from may lie.

    To the sample are added half an observation of 0 and half of its largest value (of 1 where all are equal); the
    mean and variance of the Bayesian bootstrap of that are the beta's. On zeros and ones it is Jeffreys' interval;
    on values with few distinct non-zero ones it keeps that interval's coverage (docs/calibration.md).
    """
    n = len(values)
    largest = float(values.max())
    largest = largest if values.min() < largest else 1.0
    mean = (float(values.sum()) + 0.5 * largest) / (n + 1)
    square = (float(values @ values) + 0.5 * largest**2) / (n + 1)
    concentration = mean * (1 - mean) * (n + 2) / (square - mean**2) - 1
    return mean * concentration, (1 - mean) * concentration


def incoherence_interval_over_inputs(disagreement_per_input: npt.NDArray[Any], *, confidence: float = 0.95) -> Interval:
    """Return the guaranteed interval for I of these programs from D_i: (n,) in [0, 1], as ``estimators`` has it.

    Raises WrongUsage for another confidence, Undefined if n = 0, ValueError outside [0, 1]. Theorem 4.2 of
    Valentin et al.
    """
    values = checked_values(disagreement_per_input)
    estimate, n = float(values.mean()), len(values)
    limits = hoeffding(estimate, n, alpha=(1 - checked_confidence(confidence)) / 2)
    statement = (
        f"The incoherence of exactly these programs, over all inputs that could have been drawn as these {n:,} "
        "were, is within the limits; nothing is said about other programs of the same LLM."
    )
    return _interval("inputs", estimate, limits, confidence, "hoeffding", statement)


def _interval(
    covers: Literal["inputs", "programs"],
    estimate: float,
    limits: Limits,
    confidence: float,
    method: str,
    statement: str,
) -> Interval:
    low, high = limits
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence=confidence,
        method=method,
        covers=covers,
        statement=statement,
    )


def proportion_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Return the exact (Clopper-Pearson) interval of a probability from yes-or-no answers on independent inputs.

    Raises WrongUsage unless 0 <= successes <= trials and trials >= 1.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise WrongUsage(f"a proportion needs 0 <= successes <= trials and trials >= 1, got {successes} of {trials}")
    limits = binomial_limits(successes, trials, alpha=(1 - checked_confidence(confidence)) / 2)
    statement = f"the probability of which {successes} of {trials} independent draws are a sample"
    return _interval("inputs", successes / trials, limits, confidence, "exact", statement)


def at_most_after_no_disagreement(n: int, delta: float) -> float:
    """Return 1 - delta^(1/n): what I is at most, with probability 1 - delta, after n inputs without a disagreement.

    Raises WrongUsage unless n >= 1 and 0 < delta < 1. Theorem 4.3.
    """
    _check_open("delta", delta)
    if n < 1:
        raise WrongUsage(f"a bound needs n >= 1 inputs, got {n}")
    return float(-np.expm1(math.log(delta) / n))


def inputs_for(epsilon: float, delta: float) -> int:
    """Return how many inputs put E and I within epsilon of their true values, each with probability 1 - delta.

    n = ceil(ln(2/delta) / (2 epsilon^2)). Raises WrongUsage unless both lie between 0 and 1. Theorem 4.2.
    """
    _check_open("epsilon", epsilon)
    _check_open("delta", delta)
    return math.ceil(math.log(2 / delta) / (2 * epsilon**2))


def inputs_for_no_disagreement(epsilon: float, delta: float) -> int:
    """Return how many inputs without a disagreement show that I <= epsilon, with probability 1 - delta.

    n = ceil(ln(delta) / ln(1 - epsilon)). Raises as ``inputs_for``. Theorem 4.3.
    """
    _check_open("epsilon", epsilon)
    _check_open("delta", delta)
    return math.ceil(math.log(delta) / math.log1p(-epsilon))


def _check_open(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise WrongUsage(f"{name} lies between 0 and 1, got {value}")


Method = Literal["calibrated", "chernoff"]
METHODS: Final = ("calibrated", "chernoff")
"""Right on average over coders like the recorded ones (docs/calibration.md); guaranteed for every coder, and wide."""
UNSEEN: Final = 2.0
"""How likely a behaviour may be to stay unseen and still be reckoned with, in risks of the interval: 10 % at 95 %."""
DRAWS: Final = 10_000
"""Coders sampled; the ends of an interval move by about 1 % of its width with another seed."""


def incoherence_interval_over_programs(
    labels: Labels,
    counts: Counts,
    *,
    confidence: float = 0.95,
    method: Method = "calibrated",
    seed: int = 0,
    draws: int = DRAWS,
) -> Interval:
    """Return the interval for the LLM's own I (Eq. 8) from m of its programs on n inputs.

    calibrated: quantiles of I over the coders that could have written them, the estimate included. chernoff: the
    U-statistic is a mean of averages over min(floor(m/2), n) disjoint pairs, each on an input of its own. Raises
    TooFewCandidates if m < 2, Undefined if n = 0, WrongUsage for another confidence or method.
    """
    per_input, m = disagreement_per_input(labels, counts), int(counts.sum())
    alpha = (1 - checked_confidence(confidence)) / 2
    if method not in METHODS:
        raise WrongUsage(f"method is one of {', '.join(METHODS)}, got {method!r}")
    if method == "chernoff":
        limits = _guaranteed_limits(per_input, m, alpha=alpha)
    else:
        rng = np.random.default_rng(seed)
        low, high = _calibrated_limits(*_behaviours(labels, counts), per_input, alpha=alpha, draws=draws, rng=rng)
        limits = min(low, float(per_input.mean())), max(high, float(per_input.mean()))
    statement = _statement("incoherence", m, len(per_input), "within the limits")
    return _interval("programs", float(per_input.mean()), limits, confidence, method, statement)


def error_lower_bound_over_programs(labels: Labels, counts: Counts, *, confidence: float = 0.95) -> Interval:
    """Return [low, 1] for the LLM's own E, whatever the right outcomes are: no reference is needed.

    I is bounded from below first, then E >= 1 - sqrt(1 - I), which is at least I/2 and holds for the LLM's own E and
    I but not for D of a fixed pool of programs. One-sided, guaranteed (chernoff). Raises as for incoherence.
    """
    per_input, m = disagreement_per_input(labels, counts), int(counts.sum())
    low, _ = _guaranteed_limits(per_input, m, alpha=1 - checked_confidence(confidence))
    estimate, limits = _least_error(float(per_input.mean())), (_least_error(low), 1.0)
    statement = _statement("error", m, len(per_input), "at least the lower limit")
    return _interval("programs", estimate, limits, confidence, "chernoff", statement)


def _least_error(incoherence: float) -> float:
    """Return 1 - sqrt(1 - I). E I(x) <= E[1 - (1 - e)^2] <= 1 - (1 - E)^2, by Jensen."""
    return 1 - math.sqrt(1 - incoherence)


def _guaranteed_limits(per_input: Floats, m: int, *, alpha: float) -> Limits:
    return chernoff(float(per_input.mean()), min(m // 2, len(per_input)), alpha=alpha)


def _calibrated_limits(
    sizes: Floats, distances: Floats, per_input: Floats, *, alpha: float, draws: int, rng: np.random.Generator
) -> Limits:
    drawn = sample_incoherence(sizes, distances, draws=draws, rng=rng)
    low, high = _quantiles(drawn, per_input, alpha, rng)
    agree = len(sizes) == 1
    risk = min(1.0, 2 * alpha * (1 if agree else UNSEEN))
    other = min(0.5, 1 - risk ** (1 / int(sizes.sum())))
    seen = float(per_input.mean())
    return 0.0 if agree else low, max(high, (1 - other) ** 2 * seen + 2 * other * (1 - other))


def _quantiles(drawn: Floats, per_input: Floats, alpha: float, rng: np.random.Generator) -> Limits:
    """Return the quantiles of ``drawn`` when the n inputs are a sample too: each scatters as a mean over n does."""
    concentration = float(sum(beta_of_mean(per_input)))
    scattered = rng.beta(drawn * concentration + 1e-9, (1 - drawn) * concentration + 1e-9)
    low, high = np.quantile(scattered, [alpha, 1 - alpha])
    return float(low), float(high)


def _behaviours(labels: Labels, counts: Counts) -> tuple[Floats, Floats]:
    """Return how many programs have each behaviour, the most frequent first, and how far any two of them are apart.

    Neither row order nor class names change the order.
    """
    k: dict[bytes, int] = {}
    first: dict[bytes, int] = {}
    for row, count in enumerate(counts.tolist()):
        if count:
            behaviour = labels[row].tobytes()
            k[behaviour] = k.get(behaviour, 0) + count
            first.setdefault(behaviour, row)
    rows, sizes = labels[list(first.values())], np.array(list(k.values()), dtype=np.float64)
    distances = np.array([(rows != row).mean(axis=1) for row in rows])
    order = np.lexsort((distances @ sizes, -sizes))
    return sizes[order], distances[np.ix_(order, order)]


def _statement(what: str, m: int, n: int, claim: str) -> str:
    return (
        f"The {what} of the LLM itself on this task, over all programs and inputs of which these {m:,} and {n:,} are a "
        f"sample, is {claim}."
    )


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
