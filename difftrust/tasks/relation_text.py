"""Say by which relation the outcomes of a task are compared, where it has one of its own."""

from collections import Counter
from typing import Final

import polars as pl

from difftrust_core.base.task import Order, Relation
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.store import Store

_AT_MOST_ONE: Final = "of two programs that differ on an input, at most one is right there"
_EQUALITIES = {
    Equality.PAPER.value: "numbers are equal within 0.1 %",
    Equality.STRICT.value: "values are compared exactly",
}
_ORDERS = {
    Order.UNORDERED.value: "the order of a list does not count",
    Order.SET.value: "neither order nor repeated elements of a list count",
}


def relation_in_words(relation: Relation | None) -> str:
    """Return when two outcomes of a task are both right, in a sentence; empty where the reader's choice decides."""
    parts = ["values are equal if their normal forms, by `normal`, are"] if relation and relation.normal else []
    parts += _parts(relation) if relation else []
    if relation and relation.accept:
        rest = f" ({'; '.join(parts)})" if parts else ""
        return (
            "Checker of this task: all values that `accept` accepts count as one outcome, others are compared by value"
            f"{rest}; {_AT_MOST_ONE}."
        )
    return f"Comparison of this task: {'; '.join(parts)}; {_AT_MOST_ONE}." if parts else ""


def _parts(relation: Relation) -> list[str]:
    tolerances = [f"{relation.atol:g}"] if relation.atol else []
    tolerances += [f"{relation.rtol:g} of the larger one"] if relation.rtol else []
    parts = [_ORDERS[relation.order]] if relation.order in _ORDERS else []
    parts += [_EQUALITIES[relation.equality]] if relation.equality else []
    parts += [f"numbers are equal within {' plus '.join(tolerances)}"] if tolerances else []
    return parts + (["texts are compared word by word, numbers among them as numbers"] if relation.tokens else [])


def relations_note(store: Store) -> str:
    """Return how many tasks of a store say themselves when two outcomes are both right; empty if none does.

    A results store does not know.
    """
    if not store.holds("tasks"):
        return ""
    known = store.read("tasks", columns=["task_id", "relation"])
    own = known.filter(pl.col("relation").fill_null("") != "").select("benchmark", "task_id")
    relations = [
        task.relation
        for (benchmark,), rows in own.group_by("benchmark", maintain_order=True)
        for task in store.read_tasks(str(benchmark), rows["task_id"].to_list())
    ]
    if not relations:
        return ""
    counts = Counter(_kind(relation) for relation in relations if relation)
    spelled = ", ".join(f"{count} by {kind}" for kind, count in sorted(counts.items()))
    return f"{len(relations)} of {len(known)} tasks say themselves when two outcomes are both right: {spelled}"


def _kind(relation: Relation) -> str:
    if relation.accept or relation.normal:
        return "a checker" if relation.accept else "a normal form"
    if relation.atol or relation.rtol:
        return "a tolerance"
    if relation.tokens:
        return "the words of what is printed"
    return "an order that does not count" if relation.order != Order.KEPT else "an equality of their own"
