"""Execute what is missing of a store, task by task; resumable at any moment."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from difftrust_core.corpora.recorded import Selection
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.pipeline.chunks import close_sandbox
from difftrust_core.pipeline.jobs import ChunkJob, ChunkReport
from difftrust_core.pipeline.outstanding import Plan, TaskKey
from difftrust_core.pipeline.spreading import PATIENCE, run_chunks, spread_over
from difftrust_core.sandbox import Limits, Sandbox, describe_layers
from difftrust_core.store import Settings, Store
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
        plan = Plan(store, template, n, selection=selection or Selection(), limits=limits)
        done = Execution(
            n_tasks=len({due.task for due in plan.dues}),
            n_tasks_at_hand=plan.n_at_hand,
            without_seeds=tuple(plan.without_seeds),
        )
        if not plan.dues:
            return done
        first = next(plan.jobs())
        with Sandbox(first.limits, language=first.task.language, allow_weak=allow_weak) as sandbox:
            say(describe_layers(sandbox.active, sandbox.still_open))
        try:
            with spread_over(n_jobs, scheduler) as (spread, n_workers):
                n_programs = sum(due.n_programs for due in plan.dues)
                reports = run_chunks(plan.jobs(), spread, n_workers, n_programs=n_programs, patience=patience)
                done = _run(reports, Counter(due.task for due in plan.dues), done)
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


def _run(reports: Iterator[ChunkReport], outstanding: Counter[TaskKey], done: Execution) -> Execution:
    """Count what ran; ``outstanding``: chunks of each task, so that its programs are forgotten with the last one."""
    began = time.monotonic()
    trees: dict[TaskKey, set[str]] = defaultdict(set)
    n_programs, n_executions, failures = 0, 0, []
    for report in _until_the_end(reports):
        task = report.benchmark, report.task_id
        if report.failure:
            failures.append(report)
        else:
            trees[task].update(program.tree_id for program in report.chunk.programs)
            n_executions += len(report.chunk.programs) * report.chunk.n
        outstanding[task] -= 1
        if not outstanding[task]:
            n_programs += len(trees.pop(task, ()))
    return replace(
        done,
        n_programs=n_programs,
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
