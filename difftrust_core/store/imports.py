"""Tasks and candidates, recorded or simulated, into a store."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.base.records import BadRow
from difftrust_core.base.task import Domain, Relation, Task, TaskTest
from difftrust_core.datasets.artifact import holds_artifact
from difftrust_core.datasets.benchmarks import LAYOUT, benchmark_names, find_file, load_benchmark
from difftrust_core.datasets.recorded import KEY, Recorded, Selection, split_unknown
from difftrust_core.datasets.sources import names_no_coder, read_source
from difftrust_core.exceptions import BadSource, NoBenchmark, WrongUsage
from difftrust_core.languages.language import program_id
from difftrust_core.store.schemas import SCHEMAS
from difftrust_core.store.settings import SETTINGS_FILE, OnWait
from difftrust_core.store.store import PARTITIONS, Store, conform
from difftrust_core.store.tree_ids import TEXT, renew_tree_ids, tree_ids_of

MOST_CODERS = 500
"""In one import; each has a file of its own."""


@dataclass(frozen=True, kw_only=True)
class Import:
    """What one import did."""

    n_candidates: int
    """New in the store."""
    n_known: int
    """In the store before, with the same text."""
    n_programs: int
    """Distinct texts among the new ones."""
    bad_rows: tuple[BadRow, ...]
    skipped: dict[str, int]


def import_source(
    root: Path, source: Path, selection: Selection, *, tasks: Sequence[Task] = (), n_jobs: int = 2
) -> Import:
    """Read recorded candidates and add them to the store in ``root``; ``datasets.sources`` reads them.

    ``tasks``: a user's own, whose candidates these are; those that the store has are known without. Candidates of
    another benchmark of which every task id is one of theirs are taken as theirs: HumanEval+ has the ids of HumanEval.
    For JSONL and folders of EvalPlus, model and temperature of ``selection`` say whose samples these are. A store is
    made only when there is something to put into it. Raises NoStore if ``root`` holds something else, WrongUsage for
    samples of no one coder.
    """
    coder: dict[str, Any] = {}
    is_anyones = names_no_coder(source)
    if is_anyones:
        models, temperatures = selection.models or (), selection.temperatures or ()
        if len(models) != 1 or len(temperatures) != 1:
            raise WrongUsage(
                f"{source.name} does not say whose samples it holds; give one --model and one --temperature"
            )
        coder = {"model": next(iter(models)), "temperature": next(iter(temperatures))}
    Store.refuse_what_is_none(root)
    if str(source) in LAYOUT and not (source.is_file() or holds_artifact(source)):  # a bare name, not the folder of one
        source = find_file(str(source))
    # JSONL and folders leave it to their tasks to say whose they are; the others name their benchmark.
    is_named = selection.benchmarks is None and not is_anyones
    own = own_benchmarks(Store(root)) | by_benchmark(tasks)
    benchmarks = own if tasks or is_named else own | _benchmarks_at_hand(selection, own)
    named = selection.benchmarks or benchmarks
    asked = [task for listed in (*benchmarks.values(), tasks) for task in listed if task.benchmark in named]
    by_id = {task.task_id: task for task in asked}
    recorded = _as_theirs(read_source(source, selection, tasks=by_id, **coder), tasks)
    if is_anyones:
        _refuse_ids_of_two(set(recorded.candidates["task_id"]) - {task.task_id for task in tasks}, asked, by_id)
    for name in sorted(set(recorded.candidates["benchmark"].unique()) - set(benchmarks)):
        if name in benchmark_names():
            benchmarks[name] = load_benchmark(name)  # raises NoBenchmark, which says how to get it
    known = {(name, task.task_id) for name, listed in benchmarks.items() for task in listed}
    recorded = split_unknown(recorded, known)
    if recorded.candidates.is_empty():
        return _nothing_of(recorded)
    used = {name: benchmarks[name] for name in recorded.candidates["benchmark"].unique()}
    return add_candidates(Store.create(root), recorded, used, n_jobs=n_jobs)


def _refuse_ids_of_two(found: Collection[str], asked: Sequence[Task], by_id: Mapping[str, Task]) -> None:
    for task in asked:
        other = by_id[task.task_id].benchmark
        if task.task_id in found and task.benchmark != other:
            raise WrongUsage(f"{task.task_id} is a task of {task.benchmark} and of {other}; say which with --benchmark")


def _as_theirs(recorded: Recorded, tasks: Sequence[Task]) -> Recorded:
    """Return candidates that stand under another benchmark, with task ids of ``tasks`` only, under that of these."""
    found, names = recorded.candidates, list(by_benchmark(tasks))
    if len(names) != 1:
        return recorded
    ids = [task.task_id for task in tasks]
    others = found.filter(~pl.col("task_id").is_in(ids) | pl.col("benchmark").is_in(names))["benchmark"].unique()
    theirs = pl.when(pl.col("benchmark").is_in(others.implode())).then("benchmark").otherwise(pl.lit(names[0]))
    return replace(recorded, candidates=found.with_columns(benchmark=theirs))


def _nothing_of(recorded: Recorded) -> Import:
    return Import(n_candidates=0, n_known=0, n_programs=0, bad_rows=recorded.bad_rows, skipped=dict(recorded.skipped))


def _benchmarks_at_hand(selection: Selection, own: Collection[str]) -> dict[str, list[Task]]:
    """Return the tasks of the benchmarks asked for that are not ``own``, or of all those that are on this machine."""
    if selection.benchmarks is not None:
        return {name: load_benchmark(name) for name in sorted(selection.benchmarks) if name not in own}
    found = {}
    for name in benchmark_names():
        with suppress(NoBenchmark):
            found[name] = load_benchmark(name)
    return found


def add_candidates(
    store: Store, recorded: Recorded, benchmarks: dict[str, list[Task]], *, n_jobs: int = 2, on_wait: OnWait = None
) -> Import:
    """Add candidates and their tasks to a store. A sample that is there with another text is a bad row.

    ``on_wait``: as of ``Store.writing``.
    """
    candidates = recorded.candidates
    if candidates.is_empty():
        return _nothing_of(recorded)
    _refuse_many_coders(candidates)
    codes = candidates["code"].unique(maintain_order=True)
    # One after the other: as Python holds them, all of them may take four times what they take in a table.
    ids = pl.DataFrame({"code": codes, "program_id": [program_id(codes[at]) for at in range(len(codes))]})
    candidates = candidates.join(ids, on="code", maintain_order="left")
    with store.writing(on_wait=on_wait):
        renew_tree_ids(store, n_jobs)
        new, known, conflicts = _split_known(store, candidates)
        add_tasks(store, benchmarks)
        # Of known ones too: theirs may have been damaged and removed since.
        languages = {(name, task.task_id): task.language for name, tasks in benchmarks.items() for task in tasks}
        n_programs = _add_programs(store, pl.concat([new, known]), languages, n_jobs)
        _add_samples(store, new)
    return Import(
        n_candidates=len(new),
        n_known=len(known),
        n_programs=n_programs,
        bad_rows=(*recorded.bad_rows, *conflicts),
        skipped=dict(recorded.skipped),
    )


def _split_known(store: Store, candidates: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, list[BadRow]]:
    """Return the candidates that are new, those that are in the store, and what contradicts it."""
    stored = store.read("candidates").select(*KEY, stored_id="program_id")
    joined = candidates.join(stored, on=KEY, how="left", maintain_order="left")
    new = joined.filter(pl.col("stored_id").is_null()).drop("stored_id")
    known = joined.filter(pl.col("stored_id") == pl.col("program_id")).drop("stored_id")
    other = joined.filter(pl.col("stored_id") != pl.col("program_id"))
    conflicts = [
        BadRow(
            where=f"{benchmark} {task_id} {model} t = {temperature} sample {sample}",
            why="the store holds this sample with another text, which was kept; import into a new store for the other",
        )
        for benchmark, task_id, model, temperature, sample in other.select(KEY).iter_rows()
    ]
    return new, known, conflicts


def _add_programs(store: Store, new: pl.DataFrame, languages: dict[tuple[str, str], str], n_jobs: int) -> int:
    stored = store.read("programs", columns=["task_id", "program_id"])
    key = ["benchmark", "task_id", "program_id"]
    programs = new.select(*key, "code").unique(key, maintain_order=True).join(stored, on=key, how="anti")
    if programs.is_empty():
        return 0
    tasks = programs.select("benchmark", "task_id").iter_rows()
    programs = programs.with_columns(language=pl.Series([languages.get(task, Task.language) for task in tasks]))
    tree_ids = tree_ids_of(programs, n_jobs)
    programs = programs.join(tree_ids, on=TEXT, how="left", maintain_order="left").sort(key)
    for (benchmark,), part in programs.group_by("benchmark", maintain_order=True):
        digest = hashlib.blake2b("".join(part["task_id"] + part["program_id"]).encode(), digest_size=8).hexdigest()
        store.write("programs", part, {"benchmark": benchmark}, f"programs-{digest}")
    return len(programs)


def _refuse_many_coders(candidates: pl.DataFrame) -> None:
    n_coders = candidates.select("benchmark", "model", "temperature").n_unique()
    if n_coders > MOST_CODERS:
        raise BadSource(
            f"expected candidates of at most {MOST_CODERS:,} models and temperatures, found {n_coders:,}; "
            "name some with --model and --temperature"
        )


def _add_samples(store: Store, new: pl.DataFrame) -> None:
    """Write each coder's samples, old and new, as one file; it comes last, so nothing in it is missing."""
    partition = list(PARTITIONS["candidates"])
    for key, part in new.sort(KEY).group_by(partition, maintain_order=True):
        where = dict(zip(partition, key, strict=True))
        stored = store.read("candidates", where)
        merged = pl.concat([conform(frame, "candidates") for frame in (stored, part)])
        store.write("candidates", merged.sort("task_id", "sample_index"), where, "candidates")


_MAY_CHANGE = frozenset(("description", "prompt", "ambiguous", "public_inputs"))
"""What no executed number depends on."""


def add_tasks(store: Store, benchmarks: Mapping[str, Sequence[Task]]) -> None:
    """Write tasks of benchmarks beside those that the store has, the new ones in place of older ones of their id.

    Raises WrongUsage, naming the task, where one of a user's own tasks was executed and is another now.
    """
    for benchmark, tasks in benchmarks.items():
        refuse_changes(store, benchmark, tasks)
    for benchmark, tasks in sorted(benchmarks.items()):
        merged = {task.task_id: task for task in (*store.read_tasks(benchmark), *tasks)}
        store.write("tasks", _task_frame(list(merged.values())), {"benchmark": benchmark}, "tasks")


def own_benchmarks(store: Store) -> dict[str, list[Task]]:
    """Return the tasks of a store whose benchmarks are the user's own, by benchmark; none where there is no store."""
    if not (store.root / SETTINGS_FILE).is_file():
        return {}
    names = sorted(set(store.read("tasks", columns=["task_id"])["benchmark"].unique()) - set(benchmark_names()))
    return {name: store.read_tasks(name) for name in names}


def tasks_of(store: Store, benchmark: str) -> list[Task]:
    """Return the tasks of a user's benchmark in the store, else of a known one. Raises NoBenchmark if it is neither."""
    return own_benchmarks(store).get(benchmark) or load_benchmark(benchmark)


def by_benchmark(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    """Return the tasks of each benchmark, in their order."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.benchmark, []).append(task)
    return found


def refuse_changes(store: Store, benchmark: str, tasks: Sequence[Task]) -> None:
    """Raise WrongUsage, naming the task, where one of a user's own tasks was executed and is another now."""
    if benchmark in benchmark_names():
        return
    known = {task.task_id: task for task in store.read_tasks(benchmark)}
    names = [field.name for field in fields(Task) if field.name not in _MAY_CHANGE]
    changed = {
        new.task_id: what
        for new in tasks
        if (what := [name for name in names if getattr(known.get(new.task_id, new), name) != getattr(new, name)])
    }
    where = {"benchmark": benchmark}
    executed = set(store.read("executions", where, columns=["task_id"], tasks=[*changed])["task_id"]) if changed else ()
    for task_id, what in changed.items():
        if task_id in executed:
            raise WrongUsage(
                f"task {task_id} of {benchmark} was executed, and its {', '.join(what)} changed since; "
                "use a new store for the task as it is now"
            )


def _task_frame(tasks: Sequence[Task]) -> pl.DataFrame:
    records = ("domain", "relation", "tests")
    rows = [vars(task) | {name: _spelled(getattr(task, name)) for name in records} for task in tasks]
    return pl.DataFrame(rows, schema_overrides=SCHEMAS["tasks"])


def _spelled(records: Domain | Relation | tuple[TaskTest, ...] | None) -> str:
    return json.dumps(records, default=asdict) if records else ""
