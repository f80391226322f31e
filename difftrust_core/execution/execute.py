"""Execute what is missing of a store, chunk by chunk, on this machine or a cluster; resumable at any moment."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from difftrust_core.base.parallel import in_parallel
from difftrust_core.base.progress import Progress
from difftrust_core.base.records import Validity
from difftrust_core.datasets.recorded.selection import Selection
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.execution.dask_backend import connected
from difftrust_core.execution.plan import ChunkJob, Plan, TaskKey, count_tests, usual_validity
from difftrust_core.execution.worker import ChunkReport, close_sandbox, run_chunk
from difftrust_core.languages.language import language_of
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.layers import describe_layers
from difftrust_core.store.store import Settings, Store
from difftrust_core.store.tree_ids import renew_tree_ids

Spread = Callable[[Callable[[ChunkJob], ChunkReport], Iterable[ChunkJob]], Iterable[ChunkReport]]
"""Runs a function on each job and yields what it returns, in the order in which the jobs end."""


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
    without_domain: tuple[str, ...] = ()
    """Under ``domain``, tasks whose inputs their reference or a quorum accepts, for nobody has said what they allow."""


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
    say: Callable[[str], None] = print,
) -> Execution:
    """Run every program of the store on its task's first ``n`` inputs, each pair once, and only what is missing.

    ``selection``: only the programs of these candidates; estimates go as far as all programs of a coder have gone.
    ``scheduler``: the address of a dask cluster whose workers reach the store's URL, or its folder under the same path;
    else ``n_jobs`` processes of this machine run it.
    ``seed`` and ``validity`` (else ``usual_validity``) are fixed when a store is first executed. Raises WrongUsage if
    they are given and differ, if n < 1, or if a policy does not fit the tasks; WeakSandbox if candidates could reach
    files or network.
    """
    if n < 1 or n_jobs < 1:
        raise WrongUsage(f"n and jobs are at least 1, got n = {n}, jobs = {n_jobs}")
    store.files("candidates")  # a results store has none and says so
    chosen = selection or Selection()
    with store.writing():
        renew_tree_ids(store, n_jobs)
        plan = Plan(
            store,
            _settle(store, seed, validity or usual_validity(store, chosen)),
            n,
            selection=chosen,
            limits=limits,
            allow_weak=allow_weak,
            is_here=not scheduler,
        )
        return _carry_out(plan, store, n_jobs=n_jobs, scheduler=scheduler, allow_weak=allow_weak, say=say)


def execute_tests(
    store: Store,
    *,
    selection: Selection | None = None,
    n_jobs: int = 1,
    limits: Limits | None = None,
    allow_weak: bool = False,
    scheduler: str = "",
    say: Callable[[str], None] = lambda line: None,
) -> Execution | None:
    """Run every program of a task that has tests on the inputs of these, and only what is missing.

    They stand in the store as a further policy, ``tests``, beside its own, which stays. As its tables have one n, every
    task gets as many inputs as the one with most tests has: its own, over and over. None where no task has tests, or
    the store's own policy is ``tests``. ``read_on_tests`` reads the results. Raises as ``execute`` does.
    """
    settings = replace(store.settings(), validity=Validity.TESTS)
    if settings == store.settings():
        return None
    with store.writing():
        counts = count_tests(store)
        if not counts:
            return None
        plan = Plan(
            store,
            settings,
            max(counts.values()),
            selection=selection or Selection(),
            limits=limits,
            allow_weak=allow_weak,
            is_here=not scheduler,
            only=counts.keys(),
        )
        return _carry_out(plan, store, n_jobs=n_jobs, scheduler=scheduler, allow_weak=allow_weak, say=say)


def read_on_tests(store: Store) -> Store:
    """Return a store as it is read on the inputs of its tasks' tests."""
    return store.read_as(replace(store.reading, inputs=Validity.TESTS))


def _carry_out(
    plan: Plan, store: Store, *, n_jobs: int, scheduler: str, allow_weak: bool, say: Callable[[str], None]
) -> Execution:
    done = Execution(
        n_tasks=len({due.task for due in plan.dues}),
        n_tasks_at_hand=plan.n_at_hand,
        without_seeds=tuple(plan.without_seeds),
        without_domain=tuple(plan.without_domain),
    )
    if not plan.dues:
        return done
    first = next(plan.jobs())
    with Sandbox(first.limits, runner=language_of(first.task).runner, allow_weak=allow_weak) as sandbox:
        say(describe_layers(sandbox.active, sandbox.still_open))
    try:
        with spread_over(n_jobs, scheduler) as spread:
            done = _run(plan, spread, done)
    finally:
        close_sandbox()
    if store.mirror and scheduler:
        store.mirror.bring()
    return done


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


@contextmanager
def spread_over(n_jobs: int, scheduler: str) -> Iterator[Spread]:
    """Give a way to spread jobs: over ``n_jobs`` processes here, or over what a dask scheduler has."""
    if not scheduler:
        yield partial(in_parallel, n_jobs=n_jobs)
        return
    with connected(scheduler) as cluster:
        yield partial(cluster.in_parallel, lost=lambda job, why: ChunkReport(chunk=job, failure=why))


def _run(plan: Plan, spread: Spread, done: Execution) -> Execution:
    """Execute and write the chunks, and count what ran; a task's programs are forgotten with its last chunk."""
    began = time.monotonic()
    outstanding, trees = Counter(due.task for due in plan.dues), defaultdict[TaskKey, set[str]](set)
    n_programs, n_executions, failures = 0, 0, []
    total = sum(due.n_programs for due in plan.dues)
    with Progress(total=total, unit=" programs", desc="execute", smoothing=0.05) as bar:
        for report in _until_the_end(spread(run_chunk, plan.jobs())):
            chunk = report.chunk
            if report.failure:
                failures.append(report)
            else:
                trees[chunk.key].update(program.tree_id for program in chunk.programs)
                n_executions += len(chunk.programs) * chunk.n
                bar.update(len(chunk.programs))
                bar.set_postfix_str(f"{bar.n / (time.monotonic() - began):,.0f} programs/s", refresh=False)
            outstanding[chunk.key] -= 1
            if not outstanding[chunk.key]:
                n_programs += len(trees.pop(chunk.key, ()))
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
