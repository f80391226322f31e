"""For each of a SQL task's queries: a small database on which it differs from the reference; and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from difftrust_core.equality import PAPER, Forms, Policy, classify
from difftrust_core.pipeline.check_inputs import Jury
from difftrust_core.pipeline.disagreeing import Duel
from difftrust_core.pipeline.languages import InputSource, preamble_of, source_of
from difftrust_core.records import Kind
from difftrust_core.sandbox import OutcomeTable, Sandbox
from difftrust_core.shrinking import Shrunk
from difftrust_core.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Found:
    """A query that differs from the reference, and the smallest database found that shows it."""

    query: str
    smallest: Shrunk


def differing(
    task: Task, queries: Sequence[str], sandbox: Sandbox, *, inputs: Sequence[str], equality: Policy = PAPER
) -> dict[str, list[str]]:
    """Return the inputs on which each query differs from the reference, where the reference returns a value."""
    table = OutcomeTable.empty(len(inputs))
    sandbox.load(preamble_of(task), inputs, table)
    truth, *runs = [sandbox.run(source_of(task, code), task.entry_point) for code in (task.reference or "", *queries)]
    forms = Forms()
    classes = [classify(row, policy=equality, forms=forms) for row in table.rows]
    right = truth.outcome_ids.tolist()
    valid = [i for i, row in enumerate(table.rows) if row[right[i]][0] is Kind.VALUE]
    found = {}
    for query, run in zip(queries, runs, strict=True):
        ids = run.outcome_ids.tolist()
        parted = [i for i in valid if classes[i][ids[i]] != classes[i][right[i]]]
        found[query] = [inputs[i] for i in parted if table.rows[i][ids[i]][0] is not Kind.SKIPPED]
    return found


def distinguish(
    task: Task, queries: Sequence[str], sandbox: Sandbox, *, steps: Sequence[int], seed: int, equality: Policy = PAPER
) -> list[Found]:
    """Return a small distinguishing database for each query for which one is found.

    ``steps``: how many databases all queries meet, then how many more those that are left, and so on.
    """
    source, drawn, left = InputSource(task, seed), 0, list(queries)
    shown: dict[str, list[str]] = {}
    for step in steps:
        inputs = [source.draw(position, 0) for position in range(drawn, drawn + step)]
        drawn += step
        shown |= differing(task, left, sandbox, inputs=inputs, equality=equality)
        left = [query for query in left if not shown[query]]
        if not left:
            break
    return _shrunk(task, shown, sandbox, equality)


def _shrunk(task: Task, shown: dict[str, list[str]], sandbox: Sandbox, equality: Policy) -> list[Found]:
    """Shrink for one query after the other; a database that shows others too is taken for them as it is."""
    found: dict[str, Shrunk] = {}
    for query, starts in shown.items():
        if query in found or not starts:
            continue
        duel = Duel(task, (task.reference or "", query), sandbox, equality=equality, jury=Jury(task, (), sandbox))
        smallest = duel.smallest(starts, (), lambda text: True)
        if smallest is None:
            continue
        found[query] = smallest
        others = [q for q, s in shown.items() if s and q not in found]
        for other, where in differing(task, others, sandbox, inputs=[smallest.arguments], equality=equality).items():
            if where:
                found[other] = replace(smallest, minimal=False)
    return [Found(query=query, smallest=found[query]) for query in shown if query in found]
