"""Execute what is missing of a store, task by task; resumable at any moment."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import polars as pl

from difftrust_core.corpora.recorded import Selection
from difftrust_core.exceptions import DifftrustError, NoStore, WrongUsage
from difftrust_core.pipeline.chunks import close_sandbox
from difftrust_core.pipeline.jobs import ChunkJob, ChunkReport, Program
from difftrust_core.pipeline.languages import LIMITS
from difftrust_core.pipeline.spreading import PATIENCE, run_chunks, spread_over
from difftrust_core.pipeline.stored_tasks import load_tasks
from difftrust_core.sandbox import Limits, Sandbox, describe_layers
from difftrust_core.store import REFERENCE, Settings, Store, chunk_starts
from difftrust_core.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Execution:
    """What one ``execute`` did."""

    n_tasks: int
    """Tasks on which something was executed now."""
    n_tasks_at_hand: int
    """Tasks that needed nothing."""
    n_programs: int = 0
    n_executions: int = 0
    seconds: float = 0.0
    failures: tuple[ChunkReport, ...] = ()
    without_seeds: tuple[str, ...] = ()
    """Tasks that cannot be fuzzed, for they have no seed input."""


@dataclass(kw_only=True)
class _Plan:
    jobs: list[ChunkJob] = field(default_factory=list)
    n_at_hand: int = 0
    without_seeds: list[str] = field(default_factory=list)


def execute(
    store: Store,
    *,
    n: int,
    selection: Selection | None = None,
    n_jobs: int = 1,
    seed: int | None = None,
    validity: str | None = None,
    limits: Limits | None = None,
    allow_weak: bool = False,
    scheduler: str = "",
    patience: float = PATIENCE,
    say: Callable[[str], None] = print,
) -> Execution:
    """Run every program of the store on its task's first ``n`` inputs, each pair once, and only what is missing.

    ``selection``: only the programs of these candidates; estimates go as far as all programs of a coder have gone.
    ``scheduler``: the address of a dask cluster whose workers reach the store's URL, or its folder under the same path;
    else ``n_jobs`` processes of this machine run it.
    ``patience``: seconds after which a task is shared among the workers; it changes no outcome.
    ``seed`` and ``validity`` are fixed when a store is first executed. Raises WrongUsage if they are given and differ,
    if n < 1, or if a policy does not fit the tasks; WeakSandbox if candidates could reach files or network.
    """
    if n < 1 or n_jobs < 1:
        raise WrongUsage(f"n and jobs are at least 1, got n = {n}, jobs = {n_jobs}")
    store.files("candidates")  # a results store has none and says so
    with store.writing():
        settings = _settle(store, seed, validity)
        template = ChunkJob(
            root=store.root,
            task=_PLACEHOLDER,
            settings=settings,
            start=0,
            stop=0,
            programs=(),
            allow_weak=allow_weak,
            holding=store.mirror.holding if store.mirror else None,
            is_here=not scheduler,
        )
        plan = _plan(store, template, n, selection=selection or Selection(), limits=limits)
        done = Execution(
            n_tasks=len({_task_key(job) for job in plan.jobs}),
            n_tasks_at_hand=plan.n_at_hand,
            without_seeds=tuple(plan.without_seeds),
        )
        if not plan.jobs:
            return done
        first = plan.jobs[0]
        with Sandbox(first.limits, language=first.task.language, allow_weak=allow_weak) as sandbox:
            say(describe_layers(sandbox.active, sandbox.still_open))
        try:
            with spread_over(n_jobs, scheduler) as (spread, n_workers):
                done = _run(run_chunks(plan.jobs, spread, n_workers, patience=patience), done)
        finally:
            close_sandbox()
        if store.mirror and scheduler:
            store.mirror.bring()
        return done


_PLACEHOLDER = Task(benchmark="none", task_id="none", entry_point="none", signature="", description="", seed_inputs=())


def _settle(store: Store, seed: int | None, validity: str | None) -> Settings:
    """Return the settings that hold, having written those given now if nothing was executed before."""
    found = store.settings()
    wanted = replace(
        found,
        seed=found.seed if seed is None else seed,
        validity=found.validity if validity is None else validity,
    )
    if wanted == found:
        return found
    if wanted.seed != found.seed and store.files("executions"):
        raise WrongUsage(f"this store was executed with seed {found.seed}, got {seed}; use a new store for it")
    store.write_settings(wanted)
    return wanted


def _plan(store: Store, template: ChunkJob, n: int, *, selection: Selection, limits: Limits | None) -> _Plan:
    candidates = store.read("candidates")
    if candidates.is_empty():
        raise NoStore(f"the store {store.root} holds no candidates; bring some with `difftrust import`")
    if candidates.filter(selection.predicate()).is_empty():
        raise NoStore(f"the store {store.root} holds no candidates of this selection; widen it, or import them")
    plan = _Plan()
    for benchmark in sorted(candidates["benchmark"].unique()):
        of_benchmark = candidates.filter(pl.col("benchmark") == benchmark)
        programs = _programs(store, benchmark, of_benchmark.filter(selection.predicate()))
        has_jury = template.settings.validity == "quorum"
        everyone = _programs(store, benchmark, of_benchmark) if has_jury else {}
        done = _done(store, benchmark, template.settings.validity)
        for task in load_tasks(store, benchmark):
            if task.task_id not in programs:
                continue
            if not task.seed_inputs:
                plan.without_seeds.append(task.task_id)
                continue
            jury = everyone.get(task.task_id, ())
            template_of_task = replace(template, task=task, jury=jury, limits=limits or LIMITS[task.language])
            jobs = _jobs(template_of_task, programs[task.task_id], done.get(task.task_id, {}), n)
            plan.jobs += jobs
            plan.n_at_hand += not jobs
    plan.jobs.sort(key=lambda job: len(job.programs) * job.n, reverse=True)  # no core idles at the end
    return plan


def _task_key(job: ChunkJob) -> tuple[str, str]:
    return job.task.benchmark, job.task.task_id


def _programs(store: Store, benchmark: str, candidates: pl.DataFrame) -> dict[str, tuple[Program, ...]]:
    """Return each task's distinct programs by tree, with one text each (the one with the smallest id)."""
    texts = store.read("programs", {"benchmark": benchmark}).unique(["task_id", "program_id"])
    joined = candidates.group_by("task_id", "program_id").len().join(texts, on=["task_id", "program_id"])
    by_tree = (
        joined.sort("program_id")
        .group_by("task_id", "tree_id")
        .agg(pl.col("code").first(), pl.col("len").sum())
        .sort("task_id", "tree_id")
    )
    found: dict[str, list[Program]] = defaultdict(list)
    for task_id, tree_id, code, count in by_tree.iter_rows():
        found[task_id].append(Program(tree_id=tree_id, code=code, n_candidates=count))
    return {task_id: tuple(programs) for task_id, programs in found.items()}


_Done = dict[tuple[int, int], set[str]]


def _done(store: Store, benchmark: str, validity: str) -> dict[str, _Done]:
    """Return, for each task and chunk (start, stop), the trees that were executed on it."""
    part = {"benchmark": benchmark, "validity": validity}
    spans = store.read("inputs", part, columns=["task_id"]).group_by("task_id", "start").len().sort("task_id", "start")
    trees = store.read("executions", part, columns=["task_id", "tree_id"]).group_by("task_id", "start").agg("tree_id")
    by_chunk = {(task_id, start): set(ids) for task_id, start, ids in trees.iter_rows()}
    found: dict[str, _Done] = defaultdict(dict)
    for task_id, start, count in spans.iter_rows():
        found[task_id][start, start + count] = by_chunk.get((task_id, start), set())
    return found


def _jobs(template: ChunkJob, programs: tuple[Program, ...], done: _Done, n: int) -> list[ChunkJob]:
    settings, task = template.settings, template.task
    if settings.validity == "reference" and task.reference is None:
        raise WrongUsage(
            f"validity `reference` needs a reference program, {task.task_id} has none; use --validity quorum or all"
        )
    jobs = []
    for start, stop in chunk_starts(sorted(done), n):
        finished = done.get((start, stop), set())
        missing = tuple(program for program in programs if program.tree_id not in finished)
        if missing or (task.reference is not None and REFERENCE not in finished):
            jobs.append(replace(template, start=start, stop=stop, programs=missing))
    return jobs


def _run(reports: Iterator[ChunkReport], done: Execution) -> Execution:
    began = time.monotonic()
    trees: dict[tuple[str, str], set[str]] = defaultdict(set)
    n_executions, failures = 0, []
    for report in _until_the_end(reports):
        if report.failure:
            failures.append(report)
            continue
        trees[_task_key(report.chunk)].update(program.tree_id for program in report.chunk.programs)
        n_executions += len(report.chunk.programs) * report.chunk.n
    return replace(
        done,
        n_programs=sum(map(len, trees.values())),
        n_executions=n_executions,
        seconds=time.monotonic() - began,
        failures=tuple(failures),
    )


def _until_the_end(reports: Iterable[ChunkReport]) -> Iterator[ChunkReport]:
    """Yield the reports; a worker that dies ends the run with what is finished kept."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    count = 0
    try:
        for report in reports:
            yield report
            count += 1
    except TerminatedWorkerError:
        raise DifftrustError(
            f"a worker process was killed after {count} tasks (out of memory?); what is finished is kept, "
            "run the command again, with fewer --jobs"
        ) from None
