"""Load a user's own tasks: TOML, JSONL, Python modules, folders of these, and released files by their layout."""

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.plugins import DOMAINS, LAYOUTS, TASK_FILES, load_plugin, plugin_names
from difftrust_core.base.task import MOST_NAME, Domain, Task, TaskTest
from difftrust_core.datasets.entries import (
    MAX_RELEASE,
    RELATION_FIELDS,
    Entry,
    domain_in,
    load_lines,
    load_tables,
    relation_of,
    signature_of,
)
from difftrust_core.exceptions import BadBenchmark, BadTask, NoBenchmark
from difftrust_core.languages.language import load_domains
from difftrust_core.languages.python.syntax import is_empty_function, parsed, takes
from difftrust_core.languages.registry import language_names

SUFFIXES: Final = (".toml", ".jsonl", ".jsonl.gz")
MOST_WORK: Final = 8_000_000
"""Characters of inputs in the tasks of any file; a long file may have more."""
_WORK_A_BYTE, _WORK_AN_INPUT = 4, 64


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a benchmark's files are laid out as they are released; a plugin."""

    is_layout_of: Callable[[Mapping[str, Any]], bool]
    """Whether a file is of this layout, by the fields of its first entry."""
    load: Callable[[Path], Iterable[Task]]
    """Reads the tasks. Raises BadBenchmark."""
    is_folder_of: Callable[[Path], bool] = lambda path: False
    """Whether a folder is of this layout, and is read whole."""


def load_tasks(path: Path) -> list[Task]:
    """Return the tasks of a file, or of all files of a folder, in their order.

    A file is TOML with ``[[task]]`` tables, JSONL (plain or gzip; one object a task, our own fields or the layout of a
    plugin), or a file that a plugin reads. The benchmark is called as its file says, or as the file. Raises NoBenchmark
    if there is nothing, BadBenchmark naming file, place and field.
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


def _files(path: Path) -> list[Path]:
    if not path.is_dir() or any(layout.is_folder_of(path) for layout in _layouts()):
        return [path]
    suffixes = (*SUFFIXES, *plugin_names(TASK_FILES))
    files = sorted(file for file in path.iterdir() if file.name.endswith(suffixes) and file.is_file())
    if not files:
        raise BadBenchmark(f"{path}: expected files of tasks ({', '.join(suffixes)}), found none; name another folder")
    return files


def _load_file(file: Path, given: Path) -> list[Task]:
    name = (given if given.is_dir() else file).resolve().name.partition(".")[0]
    if file.suffix in plugin_names(TASK_FILES):
        load = load_plugin(TASK_FILES, file.suffix, purpose=f"tasks in a file {file.suffix}")
        return _bounded(load(file, benchmark=checked_name(name, str(file))), file)
    if file.suffix == ".toml":
        return _bounded((_named(entry, name) for entry in load_tables(file, remedy=REMEDY)), file)
    if file.is_dir():
        return [task for layout in _layouts() if layout.is_folder_of(file) for task in layout.load(file)]
    first = next(load_lines(file, remedy=REMEDY, most=MAX_RELEASE), None)
    layout = next((layout for layout in _layouts() if first and layout.is_layout_of(first.fields)), None)
    if layout:
        return list(layout.load(file))
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


def _layouts() -> list[Layout]:
    return [load_plugin(LAYOUTS, name, purpose=f"files in the layout of {name}") for name in plugin_names(LAYOUTS)]


def _named(entry: Entry, name: str) -> Task:
    entry = replace(entry, fields={key: value for key, value in entry.fields.items() if value is not None})
    unknown = sorted(str(field) for field in entry.fields.keys() - set(FIELDS))
    if unknown:
        raise entry.refusal(f"fields of {', '.join(FIELDS)}", f"{', '.join(unknown[:5])}")
    return own_task(entry, benchmark=checked_name(entry.text("benchmark", default=name), entry.where))


REMEDY: Final = "correct the file (docs/own_tasks.md shows one)"
FIELDS: Final = (
    *("task_id", "entry_point", "signature", "description", "reference", "preamble", "seed_inputs", "examples"),
    *("tests", "domain", "language", "ambiguous", "ambiguity", "benchmark", *RELATION_FIELDS),
)
"""What an own task may say, in TOML and JSONL."""
EXAMPLES, TESTS = "examples", "tests"
ENOUGH: Final = 100
"""Seed inputs that a task gets from its types where it names none itself."""


def checked_name(name: str, where: str) -> str:
    """Return the name of an own benchmark. Raises BadBenchmark where it is that of a known one, or none."""
    from difftrust_core.datasets.benchmarks import benchmark_names

    taken = [known for known in benchmark_names() if known.lower() == name.lower()]
    if taken:
        raise BadBenchmark(f'{where}: {taken[0]} is another benchmark; say `benchmark = "..."` or rename the file')
    if len(name) > MOST_NAME:
        raise BadBenchmark(f"{where}: expected at most {MOST_NAME} characters, found {len(name):,}; {REMEDY}")
    if not name.strip() or not name.isprintable() or "/" in name:
        raise BadBenchmark(f"{where}: expected a plain name of a benchmark, found {name[:80]!r}; {REMEDY}")
    return name


def own_task(entry: Entry, *, benchmark: str) -> Task:
    """Return the task that the fields of FIELDS make."""
    task_id = entry.text("task_id")
    if not entry.text("description").strip():
        raise entry.refusal("what the function shall do in field 'description'", "an empty text")
    name = entry.text("entry_point", default="main" if _is_stdin(entry) else task_id.rpartition("/")[2])
    reference = entry.text("reference") if "reference" in entry.fields else None
    examples, tests = tests_of(entry, EXAMPLES), tests_of(entry, TESTS)
    given = entry.texts("seed_inputs") if "seed_inputs" in entry.fields else []
    seeds = tuple(dict.fromkeys([*given, *(test.arguments for test in (*examples, *tests))]))
    task = entry.task(
        benchmark=benchmark,
        task_id=task_id,
        entry_point=name,
        signature=_signature(entry, name, reference),
        description=entry.text("description"),
        seed_inputs=seeds,
        reference=reference,
        preamble=entry.text("preamble", default=""),
        language=_language(entry),
        ambiguous=entry.flag("ambiguous"),
        domain=domain_of(entry),
        public_inputs=tuple(dict.fromkeys(test.arguments for test in examples)),
        relation=relation_of(entry),
        tests=(*examples, *tests),
    )
    return callable_by_position(completed(task, entry), entry)


def callable_by_position(task: Task, entry: Entry) -> Task:
    """Return the task. Raises BadBenchmark where its function or reference cannot be called with its seed inputs."""
    if task.language != "python" or "." in task.entry_point:
        return task
    name = task.entry_point
    declared, reference = parsed(f"def {name}{task.signature}: ..."), parsed(task.reference or "")
    for what, tree in ((f"{name}{task.signature}", declared), (f"the reference {name}", reference)):
        found = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name] if tree else []
        for seed, values in zip(task.seed_inputs, task.arguments(), strict=True) if found else ():
            if not takes(found[-1].args, len(values)):
                raise entry.refusal(f"arguments that {what} takes by position", seed[:80])
    return task


def completed(task: Task, entry: Entry) -> Task:
    """Return a task with what its types give: a domain, and ENOUGH seed inputs where it has none.

    Raises BadBenchmark as ``checked`` does.
    """
    checked(task, entry)
    if task.language not in plugin_names(DOMAINS):
        return task
    n_seeds = 0 if entry.fields.get("seed_inputs") else ENOUGH - len(task.seed_inputs)
    try:
        return load_domains(task.language).completed(task, n_seeds=n_seeds)
    except BadTask as e:
        raise entry.refusal("a signature and a domain that can be read", str(e)) from None


def checked(task: Task, entry: Entry) -> Task:
    """Return the task. Raises BadBenchmark for a reference that does nothing, or a text that is no UTF-8."""
    for name in ("description", "preamble", "signature", "reference"):
        text = getattr(task, name) or ""
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise entry.refusal(f"text in UTF-8 in field {name!r}", "lone surrogates")
    if task.language != "python" or task.reference is None:
        return task
    if is_empty_function(task.reference, task.entry_point):
        raise entry.refusal(
            f"a reference that computes {task.entry_point}, or none", "a function whose body does nothing"
        )
    return task


def _is_stdin(entry: Entry) -> bool:
    return entry.fields.get("language") == "stdin"


def _language(entry: Entry) -> str:
    name = entry.text("language", default=Task.language)
    if name not in language_names():
        raise entry.refusal(f"a language of {', '.join(language_names())}", repr(name[:80]))
    return name


def _signature(entry: Entry, name: str, reference: str | None) -> str:
    default = "(text: str) -> str" if _is_stdin(entry) else None
    if "signature" in entry.fields or reference is None or default is not None:
        return entry.text("signature", default=default)
    return signature_of(entry.function(entry.tree(reference, "field 'reference'"), name, "the reference"))


def domain_of(entry: Entry) -> Domain | None:
    """Return the domain that the field ``domain`` spells, None where it is missing."""
    if "domain" not in entry.fields:
        return None
    return domain_in(entry.fields["domain"], where=f"{entry.where}, domain", remedy=entry.remedy)


def tests_of(entry: Entry, name: str) -> tuple[TaskTest, ...]:
    """Return the tests that a list of pairs (arguments, expected value) spells, both in the form of ``literals``."""
    pairs = entry.fields.get(name, [])
    if type(pairs) is not list:
        raise entry.refusal(f"a list of [arguments, expected value] in field {name!r}", type(pairs).__name__)
    found = []
    for number, pair in enumerate(pairs, 1):
        where = f"{name[:-1]} {number}"
        if type(pair) is not list or len(pair) != 2 or any(type(text) is not str for text in pair):
            raise entry.refusal(f"{where} as two texts [arguments, expected value]", repr(pair)[:80])
        found.append(TaskTest(arguments=pair[0], expected=_canonical(entry, pair[1], where), group=name))
    return tuple(found)


def _canonical(entry: Entry, text: str, where: str) -> str:
    try:
        return write_literal(read_literal(text))
    except BadText as e:
        raise entry.refusal(f"a literal as expected value of {where}", str(e)) from None
