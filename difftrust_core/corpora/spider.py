"""Spider's dev questions (one JSON object a line) as tasks to compare; and nothing else.

A candidate is a query, not a Python program. Questions have no id of their own: ``Spider/0`` is the first.
"""

from pathlib import Path

from difftrust_core.corpora.entries import Entry, load_lines
from difftrust_core.tasks import Task

_REMEDY = "get the file again with `difftrust fetch spider`"


def load_spider(path: Path) -> list[Task]:
    """Return the questions of ``path`` in their order. Raises BadBenchmark naming file, line and field."""
    return [_task(number, entry) for number, entry in enumerate(load_lines(path, remedy=_REMEDY))]


def _task(number: int, entry: Entry) -> Task:
    _ = entry.text("query")  # a question without its gold query is damaged
    return entry.task(
        benchmark="Spider",
        task_id=f"Spider/{number}",
        entry_point="query",
        signature=f"({entry.text('db_id')})",
        description=entry.text("question"),
        seed_inputs=(),
    )


def questions_of(published: bytes) -> bytes:
    """Return the lines db_id, question, query of Spider's own ``dev.json``, which holds them parsed in full too.

    Raises ValueError or KeyError if it is not that file.
    """
    import json

    entries = json.loads(published)
    kept = ({name: entry[name] for name in ("db_id", "question", "query")} for entry in entries)
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept).encode()
