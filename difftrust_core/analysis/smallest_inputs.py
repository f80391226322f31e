"""Find the smallest inputs on which a store's behaviours differ, and write them as the table ``smallest``.

For each task: of each behaviour of the chosen candidates one on which it differs from the reference, and for each coder
one on which its largest cluster differs from each of its others. Texts that the store lacks are taken from what is on
this machine (``datasets.texts``), inputs that it lacks are drawn again by its seed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.analysis.ablation.compact import CompactTask
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.behaviours import cut
from difftrust_core.analysis.pools import load_pool, pool_names
from difftrust_core.analysis.smallest import DISAGREEING, WRONG
from difftrust_core.analysis.task_details import read_arguments, read_disagreements, read_programs
from difftrust_core.base.parallel import end_if_orphaned, in_parallel
from difftrust_core.base.progress import Progress
from difftrust_core.base.records import Coder, Kind, Outcome
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded.selection import Selection
from difftrust_core.datasets.texts import find_programs, find_task
from difftrust_core.exceptions import BadStore, DifftrustError, WrongUsage
from difftrust_core.execution.places import Places
from difftrust_core.execution.plan import ChunkJob
from difftrust_core.execution.shrinking import RIGHT, Pair, Shrinking, Smallest
from difftrust_core.execution.validity import sample_valid_inputs
from difftrust_core.execution.worker import checker_for, close_sandbox, sandbox_for
from difftrust_core.languages.language import language_of
from difftrust_core.metrics.equality import Equality
from difftrust_core.sandbox.host import Sandbox
from difftrust_core.store.checksums import forget
from difftrust_core.store.schemas import KEYS, SCHEMAS
from difftrust_core.store.store import Store, file_name

_UNTELLING = (Kind.TIMEOUT, Kind.MEMORY, Kind.SKIPPED, Kind.CRASH, Kind.FORGED)
_STARTS = 3


@dataclass(frozen=True, kw_only=True)
class Request:
    """Whose behaviours are compared, on which inputs."""

    selection: Selection = field(default_factory=Selection)
    """The first m candidates of these coders."""
    tasks: frozenset[str] = frozenset()
    """Only these; empty: all."""
    n: int = 1000
    """The first so many measured inputs decide who differs."""
    equality: Equality = Equality.PAPER
    n_jobs: int = 1
    allow_weak: bool = False


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one ``find_smallest`` did."""

    n_tasks: int = 0
    """Tasks that were looked at now."""
    n_pairs: int = 0
    """Pairs of behaviours, what is right being one, that lacked an input."""
    n_found: int = 0
    n_smallest: int = 0
    """Pairs whose input no step makes smaller."""
    n_at_hand: int = 0
    """Pairs that had one."""
    without_texts: tuple[str, ...] = ()
    """Tasks whose text or programs are not on this machine."""
    failures: tuple[tuple[str, str], ...] = ()
    """(task, why)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    chunk: ChunkJob
    equality: Equality
    behaviours: CompactTask
    codes: Mapping[int, str]
    pairs: tuple[tuple[int, int], ...]
    inputs: tuple[str, ...]
    """The first n; empty: drawn again."""
    known: Mapping[int, str]
    """Some inputs as the results show them, cut: those that are drawn again must be the same."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Done:
    job: _Job
    rows: tuple[dict[str, Any], ...] = ()
    failure: str = ""


def find_smallest(store: Store, request: Request) -> Found:
    """Find the smallest inputs that ``store`` lacks, and write them; task by task, so that nothing found is lost.

    Raises WrongUsage for an unknown task, StoreInUse if another process writes, WeakSandbox
    if candidates could reach files or network.
    """
    with store.writing():
        _make_room(store)
        found = Found()
        for benchmark in pool_names(store):
            if request.selection.benchmarks is None or benchmark in request.selection.benchmarks:
                found = _find(store, load_pool(store, benchmark, equality=request.equality), request, found)
        if request.tasks and not found.n_pairs and not found.n_at_hand and not found.without_texts:
            named = ", ".join(sorted(request.tasks))
            raise WrongUsage(f"no two programs differ in {named}, or it is no task here; leave --task out for all")
    return found


def _make_room(store: Store) -> None:
    """Let a results store hold the table."""
    settings = store.settings()
    if settings.tables is not None and "smallest" not in settings.tables:
        own = Store(store.root).settings()
        store.write_settings(replace(own, tables=(*(own.tables or ()), "smallest")))


def _find(store: Store, pool: Pool, request: Request, found: Found) -> Found:
    where = {"benchmark": pool.benchmark, "validity": store.settings().validity}
    at_hand = store.read("smallest", where).filter(equality=request.equality)
    keys = set(at_hand.select("task_id", "first", pl.col("second").fill_null(RIGHT)).iter_rows())
    asked = [i for i, task in enumerate(pool.tasks) if not request.tasks or task.task_id in request.tasks]
    missing, n_at_hand = dict[int, list[tuple[int, int]]](), 0
    for i in asked:
        pairs = pairs_of(pool, i, request)
        missing[i] = [pair for pair in pairs if (pool.tasks[i].task_id, *pair) not in keys]
        n_at_hand += len(pairs) - len(missing[i])
    due = [i for i in asked if missing[i]]
    without: list[str] = []
    jobs = _jobs(store, pool, {i: missing[i] for i in due}, request, without)
    found = replace(found, n_at_hand=found.n_at_hand + n_at_hand)
    try:
        with Progress(total=len(due), unit="task", desc=f"smallest {pool.benchmark}") as bar:
            for done in in_parallel(run_smallest, jobs, n_jobs=request.n_jobs):
                found = _kept(store, done, found, where)
                bar.update(1)
            bar.update(len(without))
    finally:
        close_sandbox()
    _merge(store, where)
    return replace(found, without_texts=(*found.without_texts, *without))


def _kept(store: Store, done: _Done, found: Found, where: Mapping[str, object]) -> Found:
    """Write one task's rows beside those that it has, and count them."""
    task_id = done.job.behaviours.task_id
    if done.failure:
        return replace(found, failures=(*found.failures, (task_id, done.failure)))
    if done.rows:
        new = pl.DataFrame(list(done.rows), schema=SCHEMAS["smallest"])
        earlier = store.read("smallest", where, tasks=[task_id]).select(SCHEMAS["smallest"].keys())
        both = pl.concat([earlier, new]).unique(KEYS["smallest"], keep="last").sort(KEYS["smallest"])
        store.write("smallest", both, where, file_name(task_id))
    return replace(
        found,
        n_tasks=found.n_tasks + 1,
        n_pairs=found.n_pairs + len(done.job.pairs),
        n_found=found.n_found + len(done.rows),
        n_smallest=found.n_smallest + sum(row["is_smallest"] for row in done.rows),
    )


def _merge(store: Store, where: Mapping[str, object]) -> None:
    """Write the rows of a partition as one file, and remove the tasks' own; after a kill rows stand in both."""
    paths = store.files("smallest", where)
    if [path.stem for path in paths] in ([], ["smallest"]):
        return
    own = [path for path in paths if path.stem != "smallest"]
    frames = [store.read_file("smallest", path) for path in (*own, *(path for path in paths if path not in own))]
    rows = pl.concat([frame for frame in frames if frame is not None])
    rows = rows.unique(KEYS["smallest"], keep="first", maintain_order=True).sort(KEYS["smallest"])
    store.write("smallest", rows, where, "smallest")
    forget(store.root, [path.relative_to(store.root).as_posix() for path in own])
    for path in own:
        path.unlink()


def pairs_of(pool: Pool, index: int, request: Request) -> list[tuple[int, int]]:
    """Return the pairs of rows of a task that differ on the first n inputs: (row, RIGHT), and (smaller, larger row).

    Rows that do not load are left out. Of rows that are equal on these inputs the first stands for all.
    """
    task, leader = pool.tasks[index], _leaders(pool.tasks[index], request)
    own_of = {coder: _rows(pool, index, coder, request) for coder in _coders(pool, request.selection)}
    loads = task.kinds[:, 0] != Kind.LOAD_ERROR
    found: dict[tuple[int, int], None] = {}
    if task.reference is not None:
        rows = sorted({leader[row] for rows in own_of.values() for row in rows if loads[row]})
        found |= dict.fromkeys((row, RIGHT) for row in rows if row != leader[task.reference])
    for rows in own_of.values():
        clusters = Counter(leader[row] for row in rows if loads[row])
        if len(clusters) > 1:
            largest = min(clusters, key=lambda row: (-clusters[row], row))
            found |= dict.fromkeys((min(largest, row), max(largest, row)) for row in sorted(clusters) if row != largest)
    return list(found)


def _leaders(task: CompactTask, request: Request) -> list[int]:
    """Return for each row the first one that equals it on the first n inputs."""
    width = int(task.pattern_of_input[: request.n].max()) + 1
    first_of: dict[bytes, int] = {}
    return [first_of.setdefault(own.tobytes(), row) for row, own in enumerate(task.labels[request.equality][:, :width])]


def _coders(pool: Pool, selection: Selection) -> list[Coder]:
    return [coder for coder in pool.members if selection.wants(pool.benchmark, *coder)]


def _rows(pool: Pool, index: int, coder: Coder, request: Request) -> list[int]:
    own = pool.of(coder).first(request.selection.m)
    rows = own.row[own.task == index].tolist()
    return [
        row for row in rows if pool.tasks[index].reach[row] >= min(request.n, len(pool.tasks[index].pattern_of_input))
    ]


def _jobs(
    store: Store, pool: Pool, missing: Mapping[int, Sequence[tuple[int, int]]], request: Request, without: list[str]
) -> Iterator[_Job]:
    """Yield the job of each task; those without texts are noted in ``without``."""
    coders = _coders(pool, request.selection)
    for index, pairs in missing.items():
        behaviours = pool.tasks[index]
        task_id = behaviours.task_id
        task = _task(store, pool.benchmark, task_id)
        codes = _codes(store, pool, index, coders, leader=_leaders(behaviours, request))
        if task is None or any(row not in codes for pair in pairs for row in pair if row != RIGHT):
            without.append(task_id)
            continue
        n = min(request.n, len(behaviours.pattern_of_input))
        known = dict(read_disagreements(store, pool.benchmark, task_id).select("input_index", "arguments").iter_rows())
        inputs: tuple[str, ...] = ()
        if store.holds("inputs"):
            arguments = read_arguments(store, pool.benchmark, task_id)
            inputs = tuple(arguments[i] for i in range(n))
        yield _Job(
            chunk=ChunkJob(
                root=store.root,
                task=task,
                settings=store.settings(),
                jury=(),
                limits=language_of(task).limits,
                allow_weak=request.allow_weak,
                holding=None,
                is_here=True,
                stop=n,
            ),
            equality=request.equality,
            behaviours=behaviours,
            codes={row: codes[row] for pair in pairs for row in pair if row != RIGHT},
            pairs=tuple(pairs),
            inputs=inputs,
            known={index: text for index, text in known.items() if index < n},
        )


def _task(store: Store, benchmark: str, task_id: str) -> Task | None:
    if not store.holds("tasks"):
        return find_task(benchmark, task_id)
    return next(iter(store.read_tasks(benchmark, [task_id])), None)


def _codes(store: Store, pool: Pool, index: int, coders: Sequence[Coder], *, leader: Sequence[int]) -> dict[int, str]:
    """Return the shortest text of each row, of a program that is not known to differ from itself where there is one."""
    task_id = pool.tasks[index].task_id
    if store.holds("programs"):
        texts = read_programs(store, pool.benchmark, task_id, coders).frame
    else:
        texts = find_programs(pool.benchmark, task_id, coders)
    code_of = {row[:3]: row[3] for row in texts.select("model", "temperature", "sample_index", "code").iter_rows()}
    found: dict[int, tuple[int, int, str]] = {}
    for coder in coders:
        own = pool.of(coder)
        own = own.where(own.task == index)
        for row, sample, differs in zip(
            own.row.tolist(), own.sample_index.tolist(), own.nondeterministic.tolist(), strict=True
        ):
            code = code_of.get((*coder, sample))
            if code is not None:
                key = (int(differs), len(code), code)
                found[leader[row]] = min(found.get(leader[row], key), key)
    return {row: code for row, (_, _, code) in found.items()}


def run_smallest(job: _Job) -> _Done:
    """Shrink the inputs of one task's pairs. A failure is reported, not raised."""
    try:
        end_if_orphaned()
        sandbox = sandbox_for(job.chunk)
        return _Done(job=job, rows=tuple(_found(job, sandbox)))
    except DifftrustError as e:
        close_sandbox()  # whatever state it is in, the next task gets a new one
        return _Done(job=job, failure=str(e))


def _found(job: _Job, sandbox: Sandbox) -> Iterator[dict[str, Any]]:
    inputs = job.inputs or tuple(sample_valid_inputs(job.chunk, sandbox).texts)
    for index, text in job.known.items():
        if cut(inputs[index]) != text:
            raise BadStore(
                f"input {index} of {job.behaviours.task_id} is {text[:60]} in the results, drawn again it is "
                f"{inputs[index][:60]}; the benchmark or its domain has changed"
            )
    task, places = job.chunk.task, Places(job.chunk.task, sandbox)
    shrinking = Shrinking(
        task,
        job.codes,
        sandbox,
        validity=job.chunk.settings.validity,
        equality=job.equality,
        checker=checker_for(job.chunk),
        places=places,
    )
    starts = _starts(job, inputs)
    pairs = [Pair(first=first, second=second, starts=starts[first, second]) for first, second in job.pairs]
    found = list(shrinking.smallest(pairs, inputs))
    for one, place in zip(found, places.of([one.arguments for one in found]), strict=True):
        yield _row(job, one, place)


def _starts(job: _Job, inputs: Sequence[str]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return, for each pair, inputs on which it differs: of values rather than other outcomes, the shortest first."""
    task = job.behaviours
    labels, kinds = task.labels[job.equality], task.kinds
    shortest: dict[int, int] = {}
    for index in sorted(range(len(inputs)), key=lambda i: (len(inputs[i]), i)):
        shortest.setdefault(int(task.pattern_of_input[index]), index)
    patterns: NDArray[np.int64] = np.array(sorted(shortest), dtype=np.int64)
    found = {}
    for pair in job.pairs:
        one, other = pair[0], task.reference if pair[1] == RIGHT else pair[1]
        assert other is not None
        telling = [
            (_rank(kinds[one, p], kinds[other, p]), len(inputs[shortest[p]]), shortest[p])
            for p in patterns[labels[one, patterns] != labels[other, patterns]].tolist()
        ]
        found[pair] = tuple(index for *_, index in sorted(telling)[:_STARTS])
    return found


def _rank(one: int, other: int) -> int:
    """Return 0 for two values, 2 where an outcome took all its time, 1 for the rest."""
    if one in _UNTELLING or other in _UNTELLING:
        return 2
    return int(one != Kind.VALUE or other != Kind.VALUE)


def _row(job: _Job, found: Smallest, place: str | None) -> dict[str, Any]:
    of_first, of_second = (_said(outcome) for outcome in found.outcomes)
    second = found.pair.second
    return {
        "task_id": job.behaviours.task_id,
        "kind": WRONG if second == RIGHT else DISAGREEING,
        "first": found.pair.first,
        "second": None if second == RIGHT else second,
        "equality": str(job.equality),
        "input_index": found.input_index,
        "arguments": cut(found.arguments),
        "first_kind": of_first[0],
        "first_text": of_first[1],
        "second_kind": of_second[0],
        "second_text": of_second[1],
        "place": place,
        "is_smallest": found.is_smallest,
    }


def _said(outcome: Outcome | None) -> tuple[str | None, str | None]:
    return (None, None) if outcome is None else (outcome[0].name.lower(), cut(outcome[1]))
