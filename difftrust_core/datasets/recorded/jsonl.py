"""Read recorded candidates in the JSONL form of HumanEval and EvalPlus."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from difftrust_core.base.records import BadRow
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import plain_id
from difftrust_core.datasets.recorded.selection import Recorded, Rows, Selection, check_coder, flaw_of
from difftrust_core.datasets.unpacking import Unreadable, read_json, read_lines
from difftrust_core.exceptions import BadSource

MAX_LINE = 4 * 2**20
"""Bytes of one line: a character of a text may take twelve."""
MOST_NAMED = 1_000
"""Lines that hold no candidate and are named; more are counted."""


class _Refused(Exception):
    """The line holds no candidate."""


def read_jsonl(
    path: Path, tasks: Mapping[str, Task], *, model: str, temperature: float, m: int | None = None
) -> Recorded:
    """Return the candidates in ``path``, gzip or plain, all of one coder.

    Each line is an object with ``task_id`` (a key of ``tasks``) and ``solution``, a whole program, or
    ``completion``, which continues the task's prompt; with both, the solution counts. ``sample_index`` is the
    order of a task's lines; a bad line keeps its place, so that it does not change the others' numbers.
    Raises BadSource if the file cannot be read to its end, WrongUsage if the coder or m is none.
    """
    check_coder(model, temperature)
    m = Selection(m=m).m  # refuses m < 1
    found, bad, seen = Rows(), list[BadRow](), Counter[str]()
    n_unnamed = 0
    for number, line in _lines(path):
        try:
            value = _object(line)
            task = _task(value, tasks)
            index = seen[task.task_id]
            seen[task.task_id] += 1
            if m is None or index < m:
                found.add(task.benchmark, task.task_id, model, float(temperature), index, _code(value, task))
        except _Refused as e:
            if len(bad) < MOST_NAMED:
                bad.append(BadRow(where=f"{path}, line {number}", why=str(e)))
            else:
                n_unnamed += 1
    if n_unnamed:
        bad.append(BadRow(where=str(path), why=f"{n_unnamed:,} more lines that hold no candidate"))
    return Recorded(candidates=found.table(), bad_rows=tuple(bad))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        yield from ((number, line) for number, line in read_lines(path, longest=MAX_LINE) if line.strip())
    except Unreadable as e:
        raise BadSource(f"{path}: {e}; copy or export it again") from None


def _object(line: bytes) -> dict[str, object]:
    try:
        value = read_json(line)
    except (ValueError, RecursionError) as e:
        raise _Refused(f"expected a JSON object, found: {str(e)[:120]}") from None
    if not isinstance(value, dict):
        raise _Refused(f"expected a JSON object, found {type(value).__name__}")
    return value


def _task(value: dict[str, object], tasks: Mapping[str, Task]) -> Task:
    task_id = value.get("task_id")
    if type(task_id) is int and str(task_id) in tasks:  # as in APPS
        task_id = str(task_id)
    if not isinstance(task_id, str):
        raise _Refused(f"expected a text in field 'task_id', found {_found(value, 'task_id')}")
    found = tasks.get(task_id) or tasks.get(plain_id(task_id))
    if found is None:
        raise _Refused(f"expected a task of the benchmarks loaded, found {task_id[:80]!r}")
    return found


def _code(value: dict[str, object], task: Task) -> str:
    name = "solution" if "solution" in value else "completion"
    text = value.get(name)
    if not isinstance(text, str):
        raise _Refused(f"expected a text in field 'solution' or 'completion', found {_found(value, name)}")
    code = text if name == "solution" else task.prompt + text
    if flaw := flaw_of(code):
        raise _Refused(f"{flaw} in field {name!r}")
    return code


def _found(value: dict[str, object], name: str) -> str:
    return type(value[name]).__name__ if name in value else "no such field"
