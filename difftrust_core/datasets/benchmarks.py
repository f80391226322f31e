"""Find a benchmark by its name, on this machine, and load its tasks: HumanEval, MBPP and the starter tasks."""

import ast
import os
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

from difftrust_core.base.files import find_shipped
from difftrust_core.base.plugins import BENCHMARKS, load_plugin, plugin_names
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import (
    SHIPPED_REMEDY,
    Entry,
    load_lines,
    load_list,
    load_tables,
    natural_order,
    relation_of,
    signature_of,
    with_domains,
)
from difftrust_core.datasets.seeds import seeds_in_examples, seeds_in_tests, seeds_in_text
from difftrust_core.exceptions import BadBenchmark, NoBenchmark

_REMEDY = "get the file again with `difftrust fetch humaneval`"


def load_humaneval(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in natural order. Raises BadBenchmark naming file, line and field."""
    return sorted((_task(entry) for entry in load_lines(path, remedy=_REMEDY)), key=natural_order)


def _task(entry: Entry) -> Task:
    name, prompt = entry.text("entry_point"), entry.text("prompt")
    asked = entry.function(entry.tree(prompt, "field 'prompt'"), name, "field 'prompt'")
    program = prompt + entry.text("canonical_solution")
    reference = entry.function(entry.tree(program, "prompt and canonical_solution"), name, "the reference")
    tests, called = _tests(entry)
    description = docstring_of(asked)
    seeds = seeds_in_tests(tests, called, reference) or seeds_in_examples(description, name, reference)
    told = set(seeds_in_text(description, name, reference))
    return entry.task(
        benchmark="HumanEval",
        task_id=entry.text("task_id"),
        entry_point=name,
        signature=signature_of(asked),
        description=description,
        seed_inputs=seeds,
        public_inputs=tuple(seed for seed in seeds if seed in told),
        reference=program,
        preamble=text_before(prompt, asked),
        prompt=prompt,
    )


def _tests(entry: Entry) -> tuple[list[ast.stmt], str]:
    """Return the body of ``check`` and the name under which it calls the program."""
    check = entry.function(entry.tree(entry.text("test"), "field 'test'"), "check", "field 'test'")
    if not check.args.args:
        raise entry.refusal("check(candidate) in field 'test'", "check without a parameter")
    return check.body, check.args.args[0].arg


def docstring_of(function: ast.FunctionDef) -> str:
    """Return the first text that stands alone in the body: one prompt puts an import before it."""
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str(text))):
                return text.strip()
    return ""


def text_before(prompt: str, function: ast.FunctionDef) -> str:
    """Return what stands in a prompt before its function: imports and helpers."""
    first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    text = "\n".join(prompt.replace("\r\n", "\n").split("\n")[: first - 1]).strip()
    return f"{text}\n" if text else ""


_MBPP_REMEDY = "get the file again with `difftrust fetch mbpp`"


def load_mbpp(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in natural order. Raises BadBenchmark naming file, position and field."""
    return sorted(map(_mbpp_task, load_list(path, remedy=_MBPP_REMEDY)), key=natural_order)


def _mbpp_task(entry: Entry) -> Task:
    code = entry.text("code")
    program = entry.tree(code, "field 'code'")
    per_test = [entry.tree(test, "field 'test_list'").body for test in entry.texts("test_list")]
    tests = [statement for body in per_test for statement in body]
    name = _entry_point(entry, program, tests)
    reference = entry.function(program, name, "field 'code'")
    return entry.task(
        benchmark="MBPP",
        task_id=f"Mbpp/{entry.whole('task_id')}",
        entry_point=name,
        signature=signature_of(reference),
        description=entry.text("prompt"),
        seed_inputs=seeds_in_tests(tests, name, reference),
        public_inputs=seeds_in_tests(per_test[0], name, reference),  # descriptions hold no examples
        reference=code,
    )


def _entry_point(entry: Entry, program: ast.Module, tests: list[ast.stmt]) -> str:
    """Return the first function that the tests call and the code defines: MBPP does not name it itself."""
    defined = {s.name for s in program.body if isinstance(s, ast.FunctionDef)}
    for node in (node for test in tests for node in ast.walk(test)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in defined:
                return name
    raise entry.refusal("tests that call a function of field 'code'", f"calls of none of {sorted(defined)}")


def load_starter(path: Path) -> list[Task]:
    """Return the tasks of the TOML file ``path``, or of all TOML files in the folder ``path``."""
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    return sorted(
        (_starter_task(entry) for file in files for entry in load_tables(file, remedy=SHIPPED_REMEDY)),
        key=natural_order,
    )


def _starter_task(entry: Entry) -> Task:
    return entry.task(
        benchmark="starter",
        task_id=entry.text("task_id"),
        entry_point=entry.text("entry_point"),
        signature=entry.text("signature"),
        description=entry.text("description"),
        seed_inputs=tuple(entry.texts("seed_inputs")),
        reference=entry.text("reference"),
        preamble=entry.text("preamble", default=""),
        ambiguous=entry.flag("ambiguous"),
        relation=relation_of(entry),
    )


_LOADERS: dict[str, Callable[[Path], list[Task]]] = {
    "HumanEval": load_humaneval,
    "MBPP": load_mbpp,
    "starter": load_starter,
}


def benchmark_names() -> tuple[str, ...]:
    """Return the canonical names, as in ``Task.benchmark``: those read here, then those of plugins."""
    return (*_LOADERS, *plugin_names(BENCHMARKS))


LAYOUT = {
    "humaneval": Path("humaneval/HumanEval.jsonl.gz"),
    "mbpp": Path("mbpp/sanitized-mbpp.json"),
    "bigcodebench": Path("bigcodebench/BigCodeBench.jsonl.gz"),
    "spider": Path("spider/dev_questions.jsonl"),
    "spider-tables": Path("spider/tables.json"),
    "difftrust": Path("difftrust/candidates.parquet"),
}
"""Name for `difftrust fetch` -> place below DIFFTRUST_DATA and, alike, below the cache."""


def canonical_name(name: str) -> str:
    """Return the spelling of ``Task.benchmark`` for ``name`` in any case. Raises NoBenchmark."""
    for known in benchmark_names():
        if known.lower() == name.lower():
            return known
    known_ones = ", ".join(benchmark_names())
    raise NoBenchmark(
        f"no benchmark is called {name!r}; the known ones are {known_ones}; a file of your own goes with --tasks"
    )


def known_or_own(name: str) -> str:
    """Return the spelling of a known benchmark for ``name`` in any case, and every other name as it is."""
    return next((known for known in benchmark_names() if known.lower() == name.lower()), name)


def find_benchmark(name: str) -> Path:
    """Return the file of ``name`` (starter: its folder).

    Looked for below DIFFTRUST_DATA, then in the cache; the starter tasks come with the package.
    Raises NoBenchmark, saying how to get it.
    """
    known = canonical_name(name)
    return _find_starter(known) if known.startswith("starter") else find_file(known.lower())


def cache_root() -> Path:
    """Return the folder that `fetch` installs into, laid out as LAYOUT.

    It is ``benchmarks`` below the environment variable DIFFTRUST_CACHE, or below the user's cache folder.
    """
    override = os.environ.get("DIFFTRUST_CACHE")
    return (Path(override) if override else user_cache_path("difftrust")) / "benchmarks"


def find_file(name: str) -> Path:
    """Return the first file for ``name`` (a key of LAYOUT) below DIFFTRUST_DATA, then below the cache.

    Raises NoBenchmark if neither holds it.
    """
    own = os.environ.get("DIFFTRUST_DATA")
    roots = ([Path(own)] if own else []) + [cache_root()]
    for root in roots:
        if (root / LAYOUT[name]).is_file():
            return root / LAYOUT[name]
    looked = " and ".join(str(root) for root in roots)
    raise NoBenchmark(
        f"no {LAYOUT[name].name} below {looked}; run `difftrust fetch {name}`, "
        f"or set DIFFTRUST_DATA to a folder that holds {LAYOUT[name].as_posix()}"
    )


def _find_starter(name: str) -> Path:
    folder = find_shipped(f"data/{name}")
    if any(folder.glob("*.toml")):
        return folder
    raise NoBenchmark(f"no starter task (*.toml) in {folder}; install difftrust again")


def load_benchmark(name: str, *, path: Path | None = None) -> list[Task]:
    """Return the tasks of benchmark ``name`` in natural order, from ``path`` or wherever it is found.

    A task whose tests hold no literal input has no seed inputs. Raises NoBenchmark if it is not on this
    machine, BadBenchmark if its file is damaged.
    """
    known = canonical_name(name)
    source = path if path is not None else find_benchmark(known)
    if not source.exists():
        raise NoBenchmark(f"{source} does not exist; name a file of {known}, or leave the path out")
    with warnings.catch_warnings():
        # Python warns of invalid escapes while it parses: these programs are recorded, not ours to mend.
        warnings.simplefilter("ignore")
        load = _LOADERS.get(known) or load_plugin(BENCHMARKS, known, purpose=f"the benchmark {known}")
        tasks: list[Task] = load(source)
    if not tasks:
        raise BadBenchmark(f"{source}: expected at least one task, found none; get the file again")
    repeated = [task_id for task_id, n in Counter(t.task_id for t in tasks).items() if n > 1]
    if repeated:
        found = ", ".join(repeated[:5])
        raise BadBenchmark(f"{source}: expected every task once, found again: {found}; get the file again")
    return with_domains(known, tasks) if path is None else tasks  # another file may ask for something else
