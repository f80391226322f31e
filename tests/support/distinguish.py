"""For each of a SQL task's queries: a small database on which it differs from the reference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from difftrust.check.programs import Duel, Executor
from difftrust.search.shrink import Shrunk
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.base.task import Task
from difftrust_core.languages.registry import language_of
from difftrust_core.metrics.equality import Comparison, Equality, classify
from difftrust_core.metrics.forms import Forms
from difftrust_core.sandbox.host import OutcomeTable, Sandbox


@dataclass(frozen=True, kw_only=True)
class Found:
    """A query that differs from the reference, and the smallest database found that shows it."""

    query: str
    smallest: Shrunk


def differing(
    task: Task, queries: Sequence[str], sandbox: Sandbox, *, inputs: Sequence[str], equality: Equality = Equality.PAPER
) -> dict[str, list[str]]:
    """Return the inputs on which each query differs from the reference, where the reference returns a value."""
    table, language = OutcomeTable.empty(len(inputs)), language_of(task)
    sandbox.load(language.preamble(task), inputs, table)
    sources = [language.source(task, code) for code in (task.reference or "", *queries)]
    truth, *runs = [sandbox.run(source, task.entry_point) for source in sources]
    forms = Forms()
    classes = [classify(row, equality=equality, forms=forms) for row in table.rows]
    right = truth.outcome_ids.tolist()
    valid = [i for i, row in enumerate(table.rows) if row[right[i]][0] is Kind.VALUE]
    found = {}
    for query, run in zip(queries, runs, strict=True):
        ids = run.outcome_ids.tolist()
        parted = [i for i in valid if classes[i][ids[i]] != classes[i][right[i]]]
        found[query] = [inputs[i] for i in parted if table.rows[i][ids[i]][0] is not Kind.SKIPPED]
    return found


def distinguish(
    task: Task,
    queries: Sequence[str],
    sandbox: Sandbox,
    *,
    steps: Sequence[int],
    seed: int,
    equality: Equality = Equality.PAPER,
) -> list[Found]:
    """Return a small distinguishing database for each query for which one is found.

    ``steps``: how many databases all queries meet, then how many more those that are left, and so on.
    """
    draw, drawn, left = language_of(task).fuzz(task, seed), 0, list(queries)
    shown: dict[str, list[str]] = {}
    for step in steps:
        inputs = [draw(position, 0) for position in range(drawn, drawn + step)]
        drawn += step
        shown |= differing(task, left, sandbox, inputs=inputs, equality=equality)
        left = [query for query in left if not shown[query]]
        if not left:
            break
    return _shrunk(task, shown, sandbox, equality)


def _shrunk(task: Task, shown: dict[str, list[str]], sandbox: Sandbox, equality: Equality) -> list[Found]:
    """Shrink for one query after the other; a database that shows others too is taken for them as it is."""
    found: dict[str, Shrunk] = {}
    comparison = Comparison(equality)

    def differs(right: Outcome, answer: Outcome) -> bool:
        return right[0] is Kind.VALUE and not comparison.are_equal(right, answer)

    for query, starts in shown.items():
        if query in found or not starts:
            continue
        codes = (task.reference or "", query)
        duel = Duel(Executor(task, sandbox), codes, differs, keeps=lambda inputs: [True] * len(inputs))
        smallest = duel.smallest(starts, (), lambda text: True)
        if smallest is None:
            continue
        found[query] = smallest
        others = [q for q, s in shown.items() if s and q not in found]
        for other, where in differing(task, others, sandbox, inputs=[smallest.arguments], equality=equality).items():
            if where:
                found[other] = replace(smallest, minimal=False)
    return [Found(query=query, smallest=found[query]) for query in shown if query in found]


def most_rows(database: dict[str, list[Any]]) -> int:
    """Return how many rows the longest table has."""
    return max((len(rows) for rows in database.values()), default=0)
