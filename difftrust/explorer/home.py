"""What every home of the explorer gets: its script and style, what there is, and what a task has beside its numbers."""

from functools import cache
from typing import Any, Final

from difftrust.explorer.cube import INPUTS_IN_WORDS, readings
from difftrust.tables.agreement import others_in_words
from difftrust.tables.request import TableRequest
from difftrust.tasks.details import WRONG
from difftrust.tasks.task_inputs import as_test, read_inputs
from difftrust.tasks.task_view import REFERENCE_CLUSTER, TaskView, view_task
from difftrust.text import Marked, count_of, cut, marked_program, visible
from difftrust_core.base.files import read_packaged
from difftrust_core.base.records import Coder
from difftrust_core.estimates.pool import Pool
from difftrust_core.store.store import Store

_PROGRAMS: Final = 3
_LINE, _LINES = 300, 80


@cache
def style() -> str:
    """Return the explorer's style."""
    return _read("explorer.css")


@cache
def script(last: str) -> str:
    """Return the explorer's module, with the line that a home adds."""
    return f"{_read('explorer.js')}\n{last}\n"


def _read(name: str) -> str:
    return read_packaged(__package__, name)


def inputs_there(store: Store) -> list[dict[str, str]]:
    """Return the input filters that a store holds results of, each with its id and in words."""
    return [{"id": one, "words": f"inputs: {INPUTS_IN_WORDS.get(one, one)}"} for one in readings(store)]


def task_details(store: Store, pool: Pool, task_id: str, coder: Coder, *, m: int, n: int) -> dict[str, Any]:
    """Return a task's description, what its inputs and other models show, its programs and tests: as safe texts.

    No text of a program where neither the store nor this machine holds them. Raises WrongUsage or TooFewCandidates as
    ``view_task`` does.
    """
    view = view_task(store, pool, task_id, [coder], m=m, n=n)
    wrong = read_inputs(view, WRONG) if view.task else []
    request = TableRequest(
        store=store.root, reading=store.reading, equality=pool.equality, temperature=coder[1], m=m, n=n
    )
    tests = {_safe(one.arguments): as_test(view.task.entry_point, one) for one in wrong if view.task}
    return {
        "description": _safe(view.task.description.strip()) if view.task else "",
        "others": _safe(others_in_words(pool, task_id, coder[0], request)),
        "statements": [_safe(line) for line in view.statements],
        "programs": marked_programs(view),
        "tests": {arguments: test for arguments, test in tests.items() if test},
    }


def marked_programs(view: TaskView) -> list[tuple[str, Marked]]:
    """Return the shortest program of the largest clusters and the reference; in each what the first one lacks."""
    largest = view.clustering.clusters[:_PROGRAMS]
    titles = {one.number: f"cluster {one.number}, {count_of(one.n_candidates)}" for one in largest}
    known = {
        title: _safe(code.strip("\n"))
        for number, title in (titles | {REFERENCE_CLUSTER: "reference"}).items()
        if (code := view.code_of(number)) is not None
    }
    if set(known) <= {"reference"}:
        return []
    first = next(iter(known.values()))
    return [(title, [piece for piece in marked_program(code, first) if piece[0]]) for title, code in known.items()]


def _safe(text: str) -> str:
    return visible(cut(text, line=_LINE, lines=_LINES))
