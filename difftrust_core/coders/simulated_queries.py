"""The simulated coders on text-to-SQL tasks: the same strengths and temperatures, beliefs that are queries."""

import random

import sqlglot

from difftrust_core.coders.simulated import (
    BUG_CONCENTRATION,
    DOUBLE_MISTAKES,
    MOST_BUGS,
    STRENGTHS,
    drawn,
    happens,
    random_of,
    snapped,
)
from difftrust_core.exceptions import WrongUsage
from difftrust_core.sqltasks.mutations import mutants
from difftrust_core.sqltasks.parsing import NotAQuery
from difftrust_core.sqltasks.schema import read_schema
from difftrust_core.tasks import Task

_ATTEMPTS = 20
_PRETTY = 0.3
"""Share of replies at temperature 1 that are laid out over several lines."""


def sample_queries(task: Task, model: str, *, temperature: float, m: int, seed: int) -> list[str]:
    """Return m queries of a simulated coder; a deterministic, prefix-stable function of its arguments."""
    held = query_beliefs(task, model, seed=seed)
    sampled = []
    for index in range(m):
        draws = random_of("sample", seed, model, task, temperature=float(temperature), index=index)
        text = drawn([text for text, _ in held], [weight for _, weight in held], temperature, draws)
        if happens(_PRETTY, temperature, draws):
            text = sqlglot.transpile(text, read="sqlite", write="sqlite", pretty=True)[0]
        if happens(STRENGTHS[model].truncated, temperature, draws):
            text = text[: max(len("SELECT"), draws.randrange(len(text)))]
        sampled.append(text)
    return sampled


def query_beliefs(task: Task, model: str, *, seed: int = 0) -> list[tuple[str, float]]:
    """Return the queries that a coder takes for right, the reference first, each with its weight at temperature 1."""
    draws, strength = random_of("beliefs", seed, model, task), STRENGTHS[model]
    is_blind = draws.random() < strength.blind
    knows = 0.0 if is_blind else snapped(draws.betavariate(*strength.knows))
    n_bugs = 1 if is_blind else draws.randint(1, MOST_BUGS)
    shares = [draws.gammavariate(BUG_CONCENTRATION, 1.0) for _ in range(n_bugs)]
    right = task.reference or ""
    wrong = _broken_copies(task, n_bugs, draws) if knows < 1 else []
    if not wrong:
        return [(right, 1.0)]
    total = sum(shares[: len(wrong)])
    return [(right, knows), *((text, (1 - knows) * s / total) for text, s in zip(wrong, shares, strict=False))]


def _broken_copies(task: Task, n: int, draws: random.Random) -> list[str]:
    found: list[str] = []
    for _ in range(_ATTEMPTS):
        text = task.reference or ""
        for _ in range(2 if draws.random() < DOUBLE_MISTAKES else 1):
            text = _broken_once(text, task, draws)
        if len(found) < n and text != task.reference and text not in found:
            found.append(text)
    return found


def _broken_once(text: str, task: Task, draws: random.Random) -> str:
    try:
        offered = mutants(text, read_schema(task.preamble))
    except NotAQuery as e:
        raise WrongUsage(f"a simulated coder needs a reference that is a query, {task.task_id}: {e}") from None
    return draws.choice(offered[draws.choice(list(offered))]).query if offered else text
