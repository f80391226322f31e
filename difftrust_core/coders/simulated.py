"""Simulated coders: seeded random sources of programs that err the way an LLM errs, and nothing else.

No LLM is involved, and the model names say so. A coder holds a small fixed set of *beliefs* about each task:
the reference program, and a few broken copies of it (see ``mutations``), each with a weight. A sample is a
belief drawn by weight, told in words that vary harmlessly (see ``variations``). So the same mistake recurs, as
an LLM's does, and a coder whose only belief is a wrong one errs without incoherence: the known blind spot of
the measure. Nothing is executed here; programs are only parsed.
"""

import ast
import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from difftrust_core.coders.mutations import edits
from difftrust_core.coders.trees import program_text, same_program
from difftrust_core.coders.variations import VARIATIONS, Variation
from difftrust_core.exceptions import WrongUsage
from difftrust_core.records import Candidate
from difftrust_core.tasks import Task

T = TypeVar("T")

SIMULATED = ("simulated/strong", "simulated/medium", "simulated/weak")
"""Model names of the simulated coders, best first."""


@dataclass(frozen=True, kw_only=True)
class _Strength:
    blind: float
    """Share of tasks on which the coder believes one wrong program and nothing else."""
    knows: tuple[float, float]
    """Parameters of the Beta distribution, over the other tasks, of the right program's weight; U-shaped."""
    truncated: float
    """Share of replies at temperature 1 that stop in the middle and so fail to load."""


# Chosen so that at temperature 0.6 about 0.12, 0.30 and 0.50 of the samples hold a mistake.
STRENGTHS = {
    "simulated/strong": _Strength(blind=0.03, knows=(2.0, 0.31), truncated=0.001),
    "simulated/medium": _Strength(blind=0.08, knows=(0.9, 0.37), truncated=0.004),
    "simulated/weak": _Strength(blind=0.15, knows=(0.55, 0.44), truncated=0.015),
}
_CERTAIN = 0.03
"""A weight this near to 0 or 1 counts as 0 or 1: the coder is never, or always, right."""
MOST_BUGS = 4
BUG_CONCENTRATION = 0.8
"""Dirichlet parameter of the weights of a task's bugs: below 1, so one bug tends to dominate."""
DOUBLE_MISTAKES = 0.2
"""Share of bugs that are two mistakes in one program."""
_MUTATION_ATTEMPTS = 20


@dataclass(frozen=True, kw_only=True)
class Belief:
    """One program that a coder takes for right, and how firmly."""

    tree: ast.Module
    mistakes: tuple[str, ...]
    """Names of the operators that made it from the reference; empty for the reference itself."""
    weight: float
    """Probability at temperature 1; the weights of a task's beliefs sum to 1."""


def sample_simulated(task: Task, model: str, *, temperature: float, m: int, seed: int = 0) -> list[Candidate]:
    """Return m programs of a simulated coder for a task, without the task's preamble.

    A deterministic function of its arguments, the same in every process, and prefix-stable: the first 5 of
    10 are the 5. A temperature of 0 always gives the most probable program.

    Raises WrongUsage for a model not in SIMULATED, a temperature that is negative or not finite, m < 1, and a
    task without a reference.
    """
    _check(task, model)
    if not (math.isfinite(temperature) and temperature >= 0):
        raise WrongUsage(f"the temperature must be a finite number >= 0, got {temperature}; typical are 0 to 1")
    if m < 1:
        raise WrongUsage(f"sampling needs m >= 1 programs, got {m} for {task.task_id}; ask for more with -m")
    if task.language == "sql":
        from difftrust_core.coders.simulated_queries import sample_queries  # which needs what is below

        texts = sample_queries(task, model, temperature=temperature, m=m, seed=seed)
        facts = {"task": task, "model": model, "temperature": float(temperature)}
        return [_candidate(**facts, code=text, sample_index=i) for i, text in enumerate(texts)]  # type: ignore[arg-type]
    held, habits = beliefs(task, model, seed=seed), _habits(task, model, seed)
    sampled = []
    for index in range(m):
        # Each sample has a source of its own, so that the first ones do not depend on m.
        draws = random_of("sample", seed, model, task, temperature=float(temperature), index=index)
        tree = drawn(held, [belief.weight for belief in held], temperature, draws).tree
        for variation, share in habits:
            tree = variation(tree, task.preamble) if happens(share, temperature, draws) else tree
        code = program_text(tree)
        if happens(STRENGTHS[model].truncated, temperature, draws):
            code = _truncated(code, draws)
        sampled.append(_candidate(task, model, code=code, temperature=float(temperature), sample_index=index))
    return sampled


def beliefs(task: Task, model: str, *, seed: int = 0) -> list[Belief]:
    """Return what a simulated coder takes for right on a task: the reference, then 0 to 4 mistakes.

    A mistake changes the program's tree but now and then not what it does, so its weight bounds error from
    above. Every tree can be parsed from its text and defines the entry point.

    Raises WrongUsage for a model not in SIMULATED and for a task without a reference.
    """
    _check(task, model)
    draws, strength = random_of("beliefs", seed, model, task), STRENGTHS[model]
    right = ast.parse(task.reference or "")
    is_blind = draws.random() < strength.blind
    knows = 0.0 if is_blind else snapped(draws.betavariate(*strength.knows))
    n_bugs = 1 if is_blind else draws.randint(1, MOST_BUGS)
    shares = [draws.gammavariate(BUG_CONCENTRATION, 1.0) for _ in range(n_bugs)]
    wrong = _broken_copies(right, n_bugs, draws) if knows < 1 else []
    if not wrong:
        return [Belief(tree=right, mistakes=(), weight=1.0)]
    total = sum(shares[: len(wrong)])
    return [Belief(tree=right, mistakes=(), weight=knows)] + [
        Belief(tree=tree, mistakes=mistakes, weight=(1 - knows) * share / total)
        for (tree, mistakes), share in zip(wrong, shares, strict=False)
    ]


def _check(task: Task, model: str) -> None:
    if model not in SIMULATED:
        raise WrongUsage(f"a simulated coder is one of {', '.join(SIMULATED)}, got {model!r}; name one of these")
    if task.reference is None:
        raise WrongUsage(
            f"a simulated coder needs a task with a reference to break, got {task.task_id} without one;"
            " give it a reference or use an LLM"
        )


def snapped(weight: float) -> float:
    """Return 0 or 1 for a weight that is near to it."""
    return 0.0 if weight < _CERTAIN else 1.0 if weight > 1 - _CERTAIN else weight


def _broken_copies(right: ast.Module, n: int, draws: random.Random) -> list[tuple[ast.Module, tuple[str, ...]]]:
    """Return up to n distinct broken programs; fewer where there is little to break."""
    found: list[tuple[ast.Module, tuple[str, ...]]] = []
    unbroken = ast.parse(program_text(right))
    for _ in range(_MUTATION_ATTEMPTS):
        if len(found) == n:
            break
        tree, mistakes = right, tuple[str, ...]()
        for _ in range(2 if draws.random() < DOUBLE_MISTAKES else 1):
            tree, mistakes = _broken_once(tree, mistakes, draws)
        if not any(same_program(tree, known) for known in [unbroken, *(broken for broken, _ in found)]):
            found.append((tree, mistakes))
    return found


def _broken_once(
    tree: ast.Module, mistakes: tuple[str, ...], draws: random.Random
) -> tuple[ast.Module, tuple[str, ...]]:
    offered = edits(tree)
    if not offered:
        return tree, mistakes
    # First the kind of mistake, then its place: otherwise long programs would break in their constants only.
    edit = draws.choice(offered[draws.choice(list(offered))])
    return edit.applied(tree), (*mistakes, edit.operator)


def _habits(task: Task, model: str, seed: int) -> list[tuple[Variation, float]]:
    """Return every harmless variation with the share of this coder's programs for this task that have it."""
    draws = random_of("habits", seed, model, task)
    return [(variation, draws.random()) for variation in VARIATIONS.values()]


def _tempered(weights: Sequence[float], temperature: float) -> list[float]:
    """Return w ** (1 / temperature), normalised; at 0 the first of the largest weights takes all."""
    if temperature == 0:
        mode = weights.index(max(weights))
        return [float(place == mode) for place in range(len(weights))]
    # Relative to the largest, in logarithms: at temperature 0.001 the powers themselves would all be 0.
    logs = [math.log(weight) if weight > 0 else -math.inf for weight in weights]
    powers = [math.exp((log - max(logs)) / temperature) for log in logs]
    return [power / sum(powers) for power in powers]


def drawn(options: Sequence[T], weights: Sequence[float], temperature: float, draws: random.Random) -> T:
    """Draw one of ``options`` by weight at a temperature."""
    return draws.choices(options, weights=_tempered(weights, temperature))[0]


def happens(share: float, temperature: float, draws: random.Random) -> bool:
    """Draw whether something of this share at temperature 1 happens at a temperature."""
    return drawn((False, True), (1 - share, share), temperature, draws)


def _truncated(code: str, draws: random.Random) -> str:
    """Return the beginning of a program up to where the reply stopped; it does not parse."""
    for end in range(draws.randrange(len(code) // 2, len(code)), 0, -1):
        try:
            _ = ast.parse(code[:end])
        except SyntaxError:
            return code[:end]
    return code[: len("def")]


def random_of(
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


def _candidate(task: Task, model: str, *, code: str, temperature: float, sample_index: int) -> Candidate:
    return Candidate(
        benchmark=task.benchmark,
        task_id=task.task_id,
        model=model,
        temperature=temperature,
        sample_index=sample_index,
        code=code,
    )
