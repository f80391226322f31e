"""Simulated coders: seeded random sources of programs that err the way an LLM errs.

No LLM is involved, and the model names say so. A coder holds a small fixed set of *beliefs* about each task: the
reference program, and a few broken copies of it (the mistakes of its language's ``Bugs``), each with a weight. A sample
is a belief drawn by weight, rewritten by habits that change no behaviour. So the same mistake recurs, as an LLM's does,
and a coder whose only belief is a wrong one errs without incoherence: the known blind spot of the measure. Nothing is
executed here; programs are only parsed.
"""

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from difftrust.demo.mistakes import Bugs, bugs_of
from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.providers import Coders

T = TypeVar("T")

SIMULATED = ("simulated/strong", "simulated/medium", "simulated/weak")
"""Model names of the simulated coders, best first."""


@dataclass(frozen=True, kw_only=True)
class _Strength:
    blind: float
    """Share of tasks on which the coder believes in a single wrong program."""
    knows: tuple[float, float]
    """Parameters of the Beta distribution, over the other tasks, of the right program's weight; U-shaped."""
    truncated: float
    """Share of replies at temperature 1 that stop in the middle and so fail to load."""


# Chosen so that at temperature 0.6 about 0.12, 0.30 and 0.50 of the samples hold a mistake.
_STRENGTHS = {
    "simulated/strong": _Strength(blind=0.03, knows=(2.0, 0.31), truncated=0.001),
    "simulated/medium": _Strength(blind=0.08, knows=(0.9, 0.37), truncated=0.004),
    "simulated/weak": _Strength(blind=0.15, knows=(0.55, 0.44), truncated=0.015),
}
_CERTAIN = 0.03
"""A weight this near to 0 or 1 counts as 0 or 1: the coder is never, or always, right."""
_MOST_BUGS = 4
_BUG_CONCENTRATION = 0.8
"""Dirichlet parameter of the weights of a task's bugs: below 1, so one bug tends to dominate."""
_DOUBLE_MISTAKES = 0.2
"""Share of bugs that are two mistakes in one program."""
_MUTATION_ATTEMPTS = 20


@dataclass(frozen=True, kw_only=True)
class Belief:
    """One program that a coder takes for right, and how firmly."""

    program: Any
    """A tree or a text, as its language's ``Bugs`` has it."""
    weight: float
    """Probability at temperature 1; the weights of a task's beliefs sum to 1."""


def sample_simulated(task: Task, model: str, *, temperature: float, m: int, seed: int = 0) -> list[Candidate]:
    """Return m programs of a simulated coder for a task, without the task's preamble.

    A deterministic function of its arguments, the same in every process, and prefix-stable: the first 5 of
    10 are the 5. A temperature of 0 always gives the most probable program.

    Raises WrongUsage for a model not in SIMULATED, a temperature that is negative or not finite, m < 1, and a
    task without a reference.
    """
    check_coder(task, model)
    if not (math.isfinite(temperature) and temperature >= 0):
        raise WrongUsage(f"the temperature must be a finite number >= 0, got {temperature}; typical are 0 to 1")
    if m < 1:
        raise WrongUsage(f"sampling needs m >= 1 programs, got {m} for {task.task_id}; ask for more with -m")
    bugs, held = bugs_of(task), beliefs(task, model, seed=seed)
    habits = bugs.habits(_random_of("habits", seed, model, task))
    sampled = []
    for index in range(m):
        # Each sample has a source of its own, so that the first ones do not depend on m.
        draws = _random_of("sample", seed, model, task, temperature=float(temperature), index=index)
        program = _drawn(held, [belief.weight for belief in held], temperature, draws).program
        for rewritten, share in habits:
            program = rewritten(program) if _happens(share, temperature, draws) else program
        code = bugs.text(program)
        if _happens(_STRENGTHS[model].truncated, temperature, draws):
            code = bugs.cut(code, draws)
        sampled.append(
            Candidate(
                benchmark=task.benchmark,
                task_id=task.task_id,
                model=model,
                temperature=float(temperature),
                sample_index=index,
                code=code,
            )
        )
    return sampled


def beliefs(task: Task, model: str, *, seed: int = 0) -> list[Belief]:
    """Return what a simulated coder takes for right on a task: the reference, then 0 to 4 mistakes.

    A mistake changes the program's text but now and then not what it does, so its weight bounds error from above.

    Raises WrongUsage for a model not in SIMULATED and for a task without a reference.
    """
    check_coder(task, model)
    draws, strength = _random_of("beliefs", seed, model, task), _STRENGTHS[model]
    bugs = bugs_of(task)
    is_blind = draws.random() < strength.blind
    knows = 0.0 if is_blind else draws.betavariate(*strength.knows)
    knows = 0.0 if knows < _CERTAIN else 1.0 if knows > 1 - _CERTAIN else knows
    n_bugs = 1 if is_blind else draws.randint(1, _MOST_BUGS)
    shares = [draws.gammavariate(_BUG_CONCENTRATION, 1.0) for _ in range(n_bugs)]
    wrong = _broken_copies(bugs, n_bugs, draws) if knows < 1 else []
    total = sum(shares[: len(wrong)])
    right = Belief(program=bugs.reference(), weight=knows if wrong else 1.0)
    return [right] + [
        Belief(program=program, weight=(1 - knows) * share / total)
        for program, share in zip(wrong, shares, strict=False)
    ]


def check_coder(task: Task, model: str) -> None:
    """Raise WrongUsage for a model not in SIMULATED and for a task without a reference."""
    if model not in SIMULATED:
        raise WrongUsage(f"a simulated coder is one of {', '.join(SIMULATED)}, got {model!r}; name one of these")
    if task.reference is None:
        raise WrongUsage(
            f"a simulated coder needs a reference to break, got {task.task_id} without one;"
            " give it a reference or use an LLM"
        )


class SimulatedCoders:
    """The simulated coders as a provider of ``generation``."""

    check = staticmethod(check_coder)
    sample = staticmethod(sample_simulated)


CODERS: Coders = SimulatedCoders()


def _broken_copies(bugs: Bugs, n: int, draws: random.Random) -> list[Any]:
    """Return up to n distinct broken programs; fewer where there is little to break."""
    found: dict[str, Any] = {}
    right = bugs.reference()
    unbroken = bugs.text(right)
    for _ in range(_MUTATION_ATTEMPTS):
        if len(found) == n:
            break
        broken = right
        for _ in range(2 if draws.random() < _DOUBLE_MISTAKES else 1):
            broken = _broken_once(bugs, broken, draws)
        text = bugs.text(broken)
        if text != unbroken:
            found.setdefault(text, broken)
    return list(found.values())


def _broken_once(bugs: Bugs, program: Any, draws: random.Random) -> Any:
    offered = bugs.mistakes(program)
    if not offered:
        return program
    # First the kind of mistake, then its place: otherwise long programs would break in their constants only.
    return draws.choice(offered[draws.choice(list(offered))])()


def tempered(weights: Sequence[float], temperature: float) -> list[float]:
    """Return w ** (1 / temperature), normalised; at 0 the first of the largest weights takes all."""
    if temperature == 0:
        mode = weights.index(max(weights))
        return [float(place == mode) for place in range(len(weights))]
    # Relative to the largest, in logarithms: at temperature 0.001 the powers themselves would all be 0.
    logs = [math.log(weight) if weight > 0 else -math.inf for weight in weights]
    powers = [math.exp((log - max(logs)) / temperature) for log in logs]
    return [power / sum(powers) for power in powers]


def _drawn(options: Sequence[T], weights: Sequence[float], temperature: float, draws: random.Random) -> T:
    """Draw one of ``options`` by weight at a temperature."""
    return draws.choices(options, weights=tempered(weights, temperature))[0]


def _happens(share: float, temperature: float, draws: random.Random) -> bool:
    """Draw whether something of this share at temperature 1 happens at a temperature."""
    return _drawn((False, True), (1 - share, share), temperature, draws)


def _random_of(
    purpose: str,
    seed: int,
    model: str,
    task: Task,
    *,
    temperature: float | None = None,
    index: int | None = None,
) -> random.Random:
    """Return a source of random numbers that depends on these alone; ``hash`` is salted by process."""
    text = repr((purpose, int(seed), model, task.benchmark, task.task_id, temperature, index))
    return random.Random(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big"))
