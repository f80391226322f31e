"""The steps as functions that return tables: load a benchmark, import, generate, execute, check."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from difftrust.check.prepare import candidates_of, read_programs
from difftrust.results import Benchmark, Table, counted, listed
from difftrust.text import printable
from difftrust.verdicts import Check, Diff
from difftrust_core.base.files import scratch_folder
from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadBenchmark, WrongUsage
from difftrust_core.store.mirror import folder_of

if TYPE_CHECKING:
    from difftrust.check.options import CheckOptions
    from difftrust.source.function import Stub
    from difftrust_core.execution.execute import Execution
    from difftrust_core.store.store import Store

Function = Callable[..., Any]


def load_benchmark(
    name: str | None = None, *, path: str | Path | None = None, tasks: str | Path | None = None
) -> Benchmark:
    """Return the tasks of a benchmark: "starter", "starter-sql", or one fetched with `difftrust fetch`.

    ``tasks``: in place of a name, a file or folder of your own (docs/own_tasks.md). Raises NoBenchmark if it is not on
    this machine, saying how to fetch it; BadBenchmark if its file is damaged.

    >>> dt.load_benchmark("starter")["starter/split_bill"].signature
    '(total_cents: int, people: int) -> list[int]'
    """
    from difftrust_core.datasets import benchmarks, own_tasks

    if (name is None) == (tasks is None):
        raise WrongUsage('expected load_benchmark("starter") or load_benchmark(tasks="tasks.py"), one of the two')
    if tasks is not None:
        return listed(own_tasks.load_tasks(Path(tasks)))
    return listed(benchmarks.load_benchmark(str(name), path=None if path is None else Path(path)))


def import_candidates(
    source: str | Path,
    *,
    store: str | Path,
    model: str | Sequence[str] = (),
    temperature: float | Sequence[float] = (),
    benchmark: str | Sequence[str] = (),
    m: int | None = None,
    tasks: str | Path | None = None,
    n_jobs: int = 2,
) -> Table:
    """Add recorded candidates to a store: JSONL as HumanEval and EvalPlus write it, Parquet, or the paper's artifact.

    For JSONL, ``model`` and ``temperature`` say whose samples these are; for the others they choose some. What could
    not be used is counted and named in ``notes``. ``tasks``: the file or folder of your own tasks that the candidates
    are for. Raises WrongUsage, BadSource, BadBenchmark.

    >>> dt.import_candidates("samples.jsonl", store="my-store", model="my-model", temperature=0.6)  # doctest: +SKIP
    """
    from difftrust_core.datasets.recorded import selection_of
    from difftrust_core.store.imports import import_source

    chosen = selection_of(
        benchmarks=_several(benchmark), models=_several(model), temperatures=_several(temperature), m=m
    )
    own = load_benchmark(tasks=tasks).tasks if tasks is not None else ()
    found = import_source(folder_of(store), Path(source), chosen, tasks=own, n_jobs=n_jobs)
    return counted(
        *(f"skipped: {count} {what}" for what, count in found.skipped.items()),
        *(f"left out: {row.where}: {row.why}" for row in found.bad_rows),
        n_candidates=found.n_candidates,
        n_known=found.n_known,
        n_programs=found.n_programs,
        n_bad_rows=len(found.bad_rows),
    )


def generate(
    benchmark: str | Sequence[Task] | Benchmark,
    *,
    store: str | Path,
    models: str | Sequence[str],
    m: int = 10,
    temperature: float = 0.6,
    max_usd: float | None = None,
    api_base: str | None = None,
    seed: int = 0,
) -> Table:
    """Sample m programs a task from each model, as litellm names it, or "simulated/strong", "/medium", "/weak".

    ``benchmark``: a name, or the tasks themselves (``dt.load_benchmark(tasks="tasks.py")``). Only what the store lacks
    is asked for; every reply is kept at once, and nothing is paid twice. ``max_usd`` stops before a request that might
    cost more. Keys come from the environment. Tasks whose programs cannot be executed are named on stderr first, and in
    ``notes``. Raises WrongUsage, StoreInUse.

    >>> dt.generate("starter", store="my-store", models="simulated/medium", m=5)  # doctest: +SKIP
    """
    from difftrust.demo.simulated import SIMULATED
    from difftrust_core.datasets.benchmarks import benchmark_names
    from difftrust_core.generation.generate import generate as run
    from difftrust_core.generation.missing import GenerationOptions
    from difftrust_core.store.imports import tasks_of
    from difftrust_core.store.store import Store

    root = folder_of(store)
    tasks = tasks_of(Store(root), benchmark) if isinstance(benchmark, str) else tuple(benchmark)
    refuse_without_inputs([task for task in tasks if task.benchmark not in benchmark_names()])
    notes = not_executable(tasks)
    for line in notes:  # before anything is paid for
        print(printable(line), file=sys.stderr)
    opened = Store.create(root)
    rows = []
    for model in _several(models):
        if model in SIMULATED:
            n_new, n_known = _simulate(opened, tasks, model, temperature=temperature, m=m, seed=seed)
            rows.append({"model": model, "n_new": n_new, "n_known": n_known, "n_missing": 0, "usd": 0.0})
            continue
        options = GenerationOptions(max_usd=max_usd, api_base=api_base, seed=seed)
        done = run(opened, tasks, models=[model], temperature=temperature, m=m, options=options)
        max_usd = None if max_usd is None else max(max_usd - done.usd, 1e-9)
        rows.append(
            {
                "model": model,
                "n_new": done.n_replies,
                "n_known": done.n_at_hand,
                "n_missing": done.n_missing,
                "usd": None if done.n_unpriced else done.usd,
            }
        )
    return Table(pl.DataFrame(rows), notes=tuple(notes))


def _simulate(
    store: Any, tasks: Sequence[Task], model: str, *, temperature: float, m: int, seed: int
) -> tuple[int, int]:
    """Sample a simulated coder without the detour of requests; return how many candidates are new and known."""
    from difftrust.demo.simulated import sample_simulated
    from difftrust_core.base.parallel import Progress
    from difftrust_core.datasets.recorded import Recorded
    from difftrust_core.store.imports import add_candidates, by_benchmark

    bar = Progress(tasks, desc=f"sample {model}", unit="task", delay=1)
    drawn = [one for task in bar for one in sample_simulated(task, model, temperature=temperature, m=m, seed=seed)]
    recorded = Recorded(candidates=pl.DataFrame([vars(one) for one in drawn]))
    added = add_candidates(store, recorded, by_benchmark(tasks))
    return added.n_candidates, added.n_known


def execute(
    store: str | Path,
    *,
    n: int = 1000,
    model: str | Sequence[str] = (),
    benchmark: str | Sequence[str] = (),
    seed: int | None = None,
    validity: str | None = None,
    scheduler: str = "",
    n_jobs: int = 2,
    allow_weak: bool = False,
    tests: bool = True,
) -> Table:
    """Run every program of a store on every input of its task, in the sandbox, once, and write the estimates.

    More programs, or a larger n, execute only what is new. ``validity``: which inputs are kept, "reference" (the
    reference returns a value), "quorum" (half of the candidates do) or "all"; fixed, like ``seed``, at the first
    execution. ``scheduler``: address of a dask cluster. ``tests``: run the tests that tasks bring along, too
    (``Study.table("tests")``). Raises WeakSandbox where candidates could reach your files, unless ``allow_weak``.

    >>> dt.execute("my-store", n=200)  # doctest: +SKIP
    """
    from difftrust_core.datasets.recorded import selection_of
    from difftrust_core.store.store import Store

    opened = Store.open(folder_of(store))
    notes: list[str] = []
    selection = selection_of(models=_several(model), benchmarks=_several(benchmark))
    with opened.writing():
        done, tested, _ = run_programs(
            opened, n=n, seed=seed, validity=validity, say=notes.append, tests=tests, selection=selection,
            n_jobs=n_jobs, scheduler=scheduler, allow_weak=allow_weak,
        )  # fmt: skip
    if tested:
        notes.append(f"tests of {tested.n_tasks} tasks executed, {tested.n_tasks_at_hand} needed nothing")
    return counted(
        *notes,
        n_tasks=done.n_tasks,
        n_tasks_known=done.n_tasks_at_hand,
        n_programs=done.n_programs,
        n_executions=done.n_executions,
        n_failures=len(done.failures) + (len(tested.failures) if tested else 0),
    )


def run_programs(
    store: "Store",
    *,
    n: int,
    seed: int | None,
    validity: str | None,
    say: Callable[[str], None],
    tests: bool,
    **how: Any,
) -> tuple["Execution", "Execution | None", bool]:
    """Execute a store's programs on n inputs a task, with ``tests`` on those of the tasks' tests too; write estimates.

    ``how``: selection, n_jobs, scheduler and allow_weak, as ``execution.execute`` takes them. Return what was executed,
    what was on tests, and whether estimates were written.
    """
    from difftrust_core.estimates.refresh import refresh_estimates
    from difftrust_core.execution import execute as execution

    done = execution.execute(store, n=n, seed=seed, validity=validity, say=say, **how)
    tested = execution.execute_tests(store, **how) if tests else None
    refreshed = refresh_estimates(store, n_jobs=how["n_jobs"])
    if tested:
        refresh_estimates(execution.read_on_tests(store), n_jobs=how["n_jobs"])
    return done, tested, refreshed


def check(
    *what: str | Function,
    models: str | Sequence[str] = (),
    candidates: str | Path | None = None,
    m: int = 10,
    n: int = 1000,
    temperature: float = 0.6,
    examples: Sequence[str] = (),
    assume: Sequence[str] = (),
    equality: str = "value",
    tolerance: float = 1e-9,
    allow_imports: Sequence[str] = (),
    seed: int = 0,
    witnesses: int = 100,
) -> Check:
    """See where implementations of one function disagree, without knowing what is right.

    ``check(f, g, h)`` compares functions, or methods of classes: the first one's signature, docstring and examples say
    what is asked for. ``check("module.py::f", models=[...])`` samples m programs for a signature and docstring,
    ``candidates=`` takes the *.py files of a folder. Everything runs in the sandbox. ``examples`` ("f(1) == 2",
    "f([]) raises ValueError") and those of the docstring run first and say what is right; inputs obey ``assume``
    ("start <= end"). In addition to the n random inputs, up to ``witnesses`` seed inputs run unchanged. Outcomes are
    compared by value, floats within ``tolerance``; ``equality="paper"`` allows 0.1 %, "strict" nothing.
    ``allow_imports`` names packages that programs may import. The verdict is coherent, incoherent, disagreement found
    (on a seed input only) or undecided. Raises WrongUsage without anything to compare, BadStub if the
    function cannot be checked.

    >>> def middle(values: list[int]) -> int:
    ...     \"\"\"Return the middle one of the sorted values.\"\"\"
    ...     return sorted(values)[len(values) // 2]
    >>> def other(values: list[int]) -> int:
    ...     return sorted(values)[(len(values) - 1) // 2]
    >>> dt.check(middle, other, n=200).verdict
    'incoherent'
    """
    given = locals()
    from difftrust.check.ask_models import sample_candidates
    from difftrust.check.check import check as run
    from difftrust.check.check import check_to_ask
    from difftrust.check.options import CheckOptions, PreparedCheck
    from difftrust.source.function import load_stub

    notes: tuple[str, ...] = ()
    functions = [one for one in what if not isinstance(one, str | Path)]
    folder = None if candidates is None else Path(candidates)
    options = CheckOptions.of(given, models=_several(models), candidates=folder)
    if len(functions) not in (0, len(what)):
        raise WrongUsage(f"expected functions alone, or one module.py::function, got {what}; leave one kind out")
    if functions:
        function, found = _functions(functions, options)
    else:
        if len(what) != 1 or bool(options.models) == (candidates is not None):
            raise WrongUsage(
                'expected check(f, g, ...), check("module.py::f", models=[...]) or '
                'check("module.py::f", candidates="folder")'
            )
        name = str(what[0]).rpartition("::")[2]
        codes, notes = read_programs(options.candidates, name) if options.candidates is not None else ({}, ())
        programs = tuple(codes.values())
        function = load_stub(str(what[0]), candidates=programs, needs_docstring=not codes, **options.known)
        found = candidates_of(codes, function.task) or sample_candidates(function.task, options)
    subject = "" if options.models else f"these {len(found)} programs"
    prepared = PreparedCheck(function=function, candidates=found, options=options, subject=subject, notes=notes)
    where = None if functions else str(what[0])
    return Check(report=run(prepared), where=where, questions=lambda: check_to_ask(prepared)[1])


def diff(
    old: str | Function,
    new: str | Function,
    *,
    entry_point: str | None = None,
    expect: Sequence[str] = (),
    examples: Sequence[str] = (),
    assume: Sequence[str] = (),
    n: int = 600,
    seed: int = 0,
    equality: str = "value",
    tolerance: float = 1e-9,
    allow_imports: Sequence[str] = (),
) -> Diff:
    """See on which inputs two versions of a function behave differently; neither docstring nor annotation is needed.

    ``old``, ``new``: "file.py::f", "REV:file.py::f", functions, or with ``entry_point`` the texts of two programs.
    ``expect`` ("f(1) == 2", "f([]) raises ValueError") pins what the new version is meant to do: such changes do not
    count, and a pin that does not hold is a failure. n inputs are drawn beside those made of known calls and of what
    the differing lines name. Everything runs in the sandbox. The verdict is unchanged, changed or undecided.
    Raises WrongUsage for other forms of words, BadStub where a function cannot be found.

    >>> def rounded(value: float) -> int:
    ...     return int(value)
    >>> def other(value: float) -> int:
    ...     return round(value)
    >>> dt.diff(rounded, other, n=100).verdict
    'changed'
    """
    given = locals()
    from difftrust.diff.comparison import DiffOptions
    from difftrust.diff.diff import diff as run
    from difftrust.diff.revisions import resolve_where
    from difftrust.diff.version import load_version

    options = DiffOptions.of(given)
    with ExitStack() as stack, scratch_folder() as folder:
        places = [_version(which, what, entry_point, folder) for which, what in (("old", old), ("new", new))]
        versions = [load_version(stack.enter_context(resolve_where(place))) for place in places]
        report = run(versions[0], versions[1], options)
    said = [what if isinstance(what, str) and "::" in what else which for which, what in (("old", old), ("new", new))]
    return Diff(report=replace(report, old=said[0], new=said[1]))


def _version(which: str, what: str | Function, entry_point: str | None, folder: Path) -> str:
    """Return a version as ``file.py::f``; what is not in a file is written into one of the folder."""
    from difftrust.source.function_program import entry_point_of, program_of

    if isinstance(what, str) and entry_point is None:
        return what
    name = entry_point if isinstance(what, str) else entry_point_of(what)
    code = what if isinstance(what, str) else program_of(what, name=str(name))
    path = folder / f"{which}.py"
    path.write_text(code, encoding="utf-8", errors="surrogatepass")
    return f"{path}::{name}"


def _functions(functions: Sequence[Function], options: "CheckOptions") -> tuple["Stub", list[Candidate]]:
    from difftrust.source.function import load_stub
    from difftrust.source.function_program import entry_point_of, program_of

    names = [entry_point_of(function) for function in functions]
    name = names[0]
    if len(functions) < 2:
        raise WrongUsage(f"expected two functions or more to compare, got {name} only")
    codes = [program_of(function, name=name) for function in functions]
    with scratch_folder() as folder:
        path = folder / "functions.py"
        path.write_text(codes[0], encoding="utf-8")
        stub = load_stub(f"{path}::{name}", candidates=codes, needs_docstring=False, **options.known)
    named = [each if names.count(each) == 1 else f"{each} ({place})" for place, each in enumerate(names, 1)]
    return stub, candidates_of(dict(zip(named, codes, strict=True)), stub.task)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def refuse_without_inputs(tasks: Sequence[Task]) -> None:
    """Refuse tasks that have neither seed inputs nor types to draw some from. Raises BadBenchmark naming them."""
    without = [task.task_id for task in tasks if not task.seed_inputs]
    if without:
        more = f" and {len(without) - 5} more" if len(without) > 5 else ""
        raise BadBenchmark(
            f"expected seed inputs, examples or types for every task, found none for {', '.join(without[:5])}{more}; "
            "annotate the parameters with types of the standard library, or give seed_inputs or examples"
        )


def not_executable(tasks: Sequence[Task]) -> list[str]:
    """Return a line a benchmark that names the tasks whose programs cannot be executed, for they have no inputs."""
    lines = []
    for name, n_tasks in Counter(task.benchmark for task in tasks).items():
        without = [task.task_id for task in tasks if task.benchmark == name and not task.seed_inputs]
        if without:
            named = ", ".join(without[:5]) + (f" and {len(without) - 5:,} more" if len(without) > 5 else "")
            which = f"its {n_tasks:,} tasks" if len(without) == n_tasks else named
            lines.append(
                f"{name}: programs of {which} cannot be executed, for there are no inputs; only `difftrust structure` "
                "can compare them"
            )
    return lines
