"""Which tasks of a store are worth reading first."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from difftrust.page.subject import Subject

MOST: Final = 10
_SILENT: Final = 6
"""So many of the tasks are wrong although all agree, if there are as many others."""


@dataclass(frozen=True, kw_only=True)
class Worth:
    """One task of one model, and why it is worth reading."""

    task_id: str
    model: str
    why: str


def worth_reading(subject: Subject) -> list[Worth]:
    """Return at most MOST tasks, each once: wrong though all programs agree, then the most incoherent.

    Of the first kind those with an error inside the task's domain come first, then those on which most models err so;
    shown is the model with the lowest mean error among them.
    """
    silent, incoherent = _silent(subject), _incoherent(subject)
    taken = silent[: max(_SILENT, MOST - len(incoherent))]
    names = {one.task_id for one in taken}
    rest = [one for one in incoherent if one.task_id not in names]
    return [*taken, *rest][:MOST]


def _silent(subject: Subject) -> list[Worth]:
    order = {model: place for place, model in enumerate(subject.table["model"])}
    rows = subject.tasks.filter(~pl.col("detected"), pl.col("error") > 0).select("task_id", "model", "error")
    by_task: dict[str, list[tuple[bool, int, float, str]]] = {}
    for task_id, model, error in rows.iter_rows():
        one = ((model, task_id) not in subject.in_domain, order[model], error, model)
        by_task.setdefault(task_id, []).append(one)
    found = []
    for task_id, ones in by_task.items():
        outside, _, error, model = min(ones)
        alike = sum(one[0] == outside for one in ones)
        worth = Worth(task_id=task_id, model=model, why=_why(outside, alike, subject))
        found.append(((outside, -alike, -error, task_id), worth))
    return [worth for _, worth in sorted(found, key=lambda one: one[0])]


def _why(outside: bool, alike: int, subject: Subject) -> str:
    many = f"; the same holds for {alike} models" if alike > 1 else ""
    if not subject.knows_domain:
        return f"All programs agree and differ from the reference{many}."
    if outside:
        return f"All programs agree and differ from the reference; inside the task's domain no error was found{many}."
    return f"All programs agree and differ from the reference on inputs in the domain{many}."


def _incoherent(subject: Subject) -> list[Worth]:
    order = pl.DataFrame({"model": subject.table["model"], "place": range(subject.table.height)})
    rows = subject.tasks.filter(pl.col("incoherence") > 0).join(order, on="model")
    rows = rows.sort("incoherence", "place", "task_id", descending=[True, False, False])
    rows = rows.unique("task_id", keep="first", maintain_order=True)
    return [
        Worth(
            task_id=task_id,
            model=model,
            why=f"Two of the programs disagree on {100 * incoherence:.0f} % of the inputs, the most of all models.",
        )
        for task_id, model, incoherence in rows.select("task_id", "model", "incoherence").iter_rows()
    ]
