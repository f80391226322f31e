"""Load a user's own tasks: TOML, JSONL, Python modules, folders of these, and released files by their layout."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import MAX_RELEASE, Entry, load_lines, load_tables
from difftrust_core.datasets.module_tasks import load_module
from difftrust_core.datasets.own_fields import FIELDS, REMEDY, checked_name, own_task
from difftrust_core.exceptions import BadBenchmark, NoBenchmark

SUFFIXES: Final = (".toml", ".py", ".jsonl", ".jsonl.gz")
MOST_WORK: Final = 8_000_000
"""Characters of inputs in the tasks of any file; a long file may have more."""
_WORK_A_BYTE, _WORK_AN_INPUT = 4, 64
_LAYOUTS: tuple[str, ...] = ("evalplus", "livecodebench", "apps", "codecontests")
"""Modules of ``layouts``, each with ``is_NAME(fields)`` and ``load_NAME(path)``."""


def load_tasks(path: Path) -> list[Task]:
    """Return the tasks of a file, or of all files of a folder, in their order.

    A file is TOML with ``[[task]]`` tables, JSONL (plain or gzip; one object a task, our own fields or the layout of
    EvalPlus, LiveCodeBench, APPS or CodeContests), or a Python module whose functions with docstrings are the tasks; it
    is parsed, never imported. The benchmark is called as its file says, or as the file. Raises NoBenchmark if there is
    nothing, BadBenchmark naming file, place and field.
    """
    if not path.exists():
        raise NoBenchmark(f"expected a file or folder of tasks, {path} does not exist; name another")
    tasks = [task for file in _files(path) for task in _load_file(file, path)]
    if not tasks:
        raise BadBenchmark(f"{path}: expected at least one task, found none; {REMEDY}")
    names = Counter((task.benchmark, task.task_id) for task in tasks)
    repeated = [task_id for (_, task_id), count in names.items() if count > 1]
    if repeated:
        raise BadBenchmark(f"{path}: expected every task once, found again: {', '.join(repeated[:5])}; {REMEDY}")
    return tasks


def refuse_without_inputs(tasks: Sequence[Task]) -> None:
    """Refuse tasks that have neither seed inputs nor types to draw some from. Raises BadBenchmark naming them."""
    without = [task.task_id for task in tasks if not task.seed_inputs]
    if without:
        more = f" and {len(without) - 5} more" if len(without) > 5 else ""
        raise BadBenchmark(
            f"expected seed inputs, examples or types for every task, found none for {', '.join(without[:5])}{more}; "
            "annotate the parameters with types of the standard library, or give seed_inputs or examples"
        )


def _files(path: Path) -> list[Path]:
    if not path.is_dir() or _is_apps_folder(path):
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES) and file.is_file())
    if not files:
        raise BadBenchmark(f"{path}: expected files of tasks ({', '.join(SUFFIXES)}), found none; name another folder")
    return files


def _load_file(file: Path, given: Path) -> list[Task]:
    name = (given if given.is_dir() else file).resolve().name.partition(".")[0]
    if file.suffix == ".py":
        return _bounded(load_module(file, benchmark=checked_name(name, str(file))), file)
    if file.suffix == ".toml":
        return _bounded((_named(entry, name) for entry in load_tables(file, remedy=REMEDY)), file)
    if file.is_dir():
        return _load_layout("apps", file)
    first = next(load_lines(file, remedy=REMEDY, most=MAX_RELEASE), None)
    layout = _layout(first.fields) if first else ""
    if layout:
        return _load_layout(layout, file)
    return _bounded((_named(entry, name) for entry in load_lines(file, remedy=REMEDY)), file)


def _bounded(tasks: Iterable[Task], file: Path) -> list[Task]:
    """Return the tasks. Raises BadBenchmark where their inputs and programs are many times as long as their file.

    Inputs are drawn from types, and a function brings what it needs: a short file may stand for hours of work.
    """
    kept, left = list[Task](), MOST_WORK + _WORK_A_BYTE * file.stat().st_size
    for task in tasks:
        inputs = sum(len(text) + _WORK_AN_INPUT for text in task.seed_inputs)
        left -= inputs + _WORK_A_BYTE * (len(task.reference or "") + len(task.preamble))
        if left < 0:
            raise BadBenchmark(
                f"{file}: expected fewer tasks in one file, found that they take too long to read at task "
                f"{len(kept) + 1:,}; divide it into files of one folder"
            )
        kept.append(task)
    return kept


def _layout(fields: Mapping[str, Any]) -> str:
    return next((name for name in _LAYOUTS if getattr(_module(name), f"is_{name}")(fields)), "")


def _load_layout(name: str, path: Path) -> list[Task]:
    return list(getattr(_module(name), f"load_{name}")(path))


def _is_apps_folder(path: Path) -> bool:
    return bool(_module("apps").is_apps_folder(path))


def _module(name: str) -> Any:
    return import_module(f"{__package__}.layouts.{name}")


def _named(entry: Entry, name: str) -> Task:
    entry = replace(entry, fields={key: value for key, value in entry.fields.items() if value is not None})
    unknown = sorted(str(field) for field in entry.fields.keys() - set(FIELDS))
    if unknown:
        raise entry.refusal(f"fields of {', '.join(FIELDS)}", f"{', '.join(unknown[:5])}")
    return own_task(entry, benchmark=checked_name(entry.text("benchmark", default=name), entry.where))
