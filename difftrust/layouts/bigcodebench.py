"""Load BigCodeBench (one JSON object a line, gzip or plain) as tasks to compare, not to execute.

Its programs need dozens of libraries, files, networks and random numbers, which the sandbox has not: the tasks have no
seed inputs, so `difftrust execute` leaves them out by name.
"""

from pathlib import Path

from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import Entry, load_lines, natural_order, signature_of

_REMEDY = "get the file again with `difftrust fetch bigcodebench`"


def load_bigcodebench(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in natural order. Raises BadBenchmark naming file, line and field."""
    return sorted((_task(entry) for entry in load_lines(path, remedy=_REMEDY)), key=natural_order)


def _task(entry: Entry) -> Task:
    name, prompt = entry.text("entry_point"), entry.text("prompt")
    program = prompt + entry.text("canonical_solution")
    function = entry.function(entry.tree(program, "prompt and canonical_solution"), name, "the reference")
    return entry.task(
        benchmark="BigCodeBench",
        task_id=entry.text("task_id"),
        entry_point=name,
        signature=signature_of(function),
        description=entry.text("instruction", default=""),
        seed_inputs=(),
        reference=program,
        prompt=prompt,
    )
