"""Read recorded candidates in the folders of EvalPlus: one for each task, one program a file."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from difftrust_core.base.records import BadRow
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded.selection import Recorded, Row, Selection, as_table, check_coder, flaw_of
from difftrust_core.datasets.unpacking import MAX_CODE
from difftrust_core.exceptions import BadSource

_NUMBERED = re.compile(r"([0-9]+)\.py")


def is_sample_folder(path: Path) -> bool:
    """Tell whether ``path`` holds folders with programs ``<n>.py``."""
    return path.is_dir() and any(_NUMBERED.fullmatch(file.name) for file in path.glob("*/*.py"))


def read_sample_folder(
    root: Path, tasks: Mapping[str, Task], *, model: str, temperature: float, m: int | None = None
) -> Recorded:
    """Return the candidates in ``<root>/<task>/<n>.py``, all of one coder: n is the ``sample_index``.

    A folder is named as its task, with ``_`` for ``/``: ``HumanEval_0``. What cannot be used becomes a bad row.
    Raises BadSource if there is no such file, WrongUsage if the coder or m is none.
    """
    check_coder(model, temperature)
    m = Selection(m=m).m  # refuses m < 1
    if not is_sample_folder(root):
        raise BadSource(f"{root}: expected folders of tasks with programs 0.py, 1.py, ... in them; check the path")
    by_folder = {task_id.replace("/", "_"): task for task_id, task in tasks.items()}
    rows, bad, skipped = [], [], Counter[str]()
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        files = [(found, path) for path in folder.iterdir() if (found := _NUMBERED.fullmatch(path.name))]
        skipped["other files"] += sum(1 for _ in folder.iterdir()) - len(files)
        task = by_folder.get(folder.name)
        if files and task is None:
            bad.append(BadRow(where=str(folder), why="expected a folder named as a task loaded, found another name"))
            continue
        for number, path in sorted((int(found[1]), path) for found, path in files):
            if task is None or (m is not None and number >= m):
                continue
            code = _text(path)
            if code is None:
                bad.append(BadRow(where=str(path), why=f"expected text in UTF-8 of at most {MAX_CODE:,} bytes"))
            else:
                rows.append((task.benchmark, task.task_id, model, float(temperature), number, code))
    return Recorded(candidates=as_table(_once(rows, bad, root)), bad_rows=tuple(bad), skipped=dict(+skipped))


def _once(rows: list[Row], bad: list[BadRow], root: Path) -> list[Row]:
    """Set aside a second file of the same number: ``01.py`` beside ``1.py``."""
    first: dict[tuple[str, int], Row] = {}
    for row in rows:
        if first.setdefault((row[1], row[4]), row) is not row:
            bad.append(BadRow(where=f"{root}, {row[1]}", why=f"expected one program {row[4]}, found a further one"))
    return list(first.values())


def _text(path: Path) -> str | None:
    if not path.is_file():  # a pipe would be waited for
        return None
    try:
        with path.open("rb") as file:
            text = file.read(MAX_CODE + 1).decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if flaw_of(text) else text
