"""Execute what is missing of a store, chunk by chunk, on this machine or a cluster; resumable at any moment."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from difftrust_core.base.parallel import Progress
from difftrust_core.base.records import Validity
from difftrust_core.datasets.recorded import Selection
from difftrust_core.exceptions import WrongUsage
from difftrust_core.execution.jobs import ChunkJob, Plan, TaskKey, count_tests, usual_validity
from difftrust_core.execution.resumable import Ended, run_missing
from difftrust_core.execution.worker import run_chunk
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.layers import describe_layers
from difftrust_core.store.store import Settings, Store
from difftrust_core.store.tree_ids import renew_tree_ids


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A task on which execution failed, and why."""

    task: TaskKey
    why: str


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
    failures: tuple[Failure, ...] = ()
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
    ``seed`` is fixed when a store is first executed; ``validity`` (else ``usual_validity``) becomes the store's policy.
    Raises WrongUsage if the seed differs, if n < 1, or if a policy does not fit the tasks, and leaves the store as it
    was; WeakSandbox if candidates could reach files or network.
    """
    if n < 1 or n_jobs < 1:
        raise WrongUsage(f"n and jobs are at least 1, got n = {n}, jobs = {n_jobs}")
    store.files("candidates")  # a results store has none and says so
    chosen = selection or Selection()
    with store.writing():
        renew_tree_ids(store, n_jobs)
        settings = _settings(store, seed, validity or usual_validity(store, chosen))
        plan = Plan(
            store,
            settings,
            n,
            selection=chosen,
            limits=limits,
            allow_weak=allow_weak,
            is_here=not scheduler,
        )
        if settings != store.settings():
            store.write_settings(settings)
            if store.mirror:
                store.mirror.bring()  # before a worker sends what rests on them
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
    done = _run(plan, done, n_jobs=n_jobs, scheduler=scheduler)
    if store.mirror and scheduler:
        store.mirror.bring()
    return done


def _settings(store: Store, seed: int | None, validity: str) -> Settings:
    """Return the settings that hold: those given, if nothing was executed with another seed before."""
    found = store.settings()
    if seed not in (None, found.seed) and store.files("executions"):
        raise WrongUsage(f"this store was executed with seed {found.seed}, got {seed}; use a new store for it")
    return replace(found, seed=found.seed if seed is None else seed, validity=validity)


def _run(plan: Plan, done: Execution, *, n_jobs: int, scheduler: str) -> Execution:
    """Execute and write the chunks, and count what ran; a task's programs are forgotten with its last chunk."""
    began = time.monotonic()
    outstanding, trees = Counter(due.task for due in plan.dues), defaultdict[TaskKey, set[str]](set)
    n_programs, n_executions, failures = 0, 0, list[Failure]()

    def keep(ended: Ended[ChunkJob, None]) -> None:
        nonlocal n_programs, n_executions
        chunk = ended.job
        if ended.error:
            failures.append(Failure(task=chunk.key, why=ended.failure))
        else:
            trees[chunk.key].update(program.tree_id for program in chunk.programs)
            n_executions += len(chunk.programs) * chunk.n
        outstanding[chunk.key] -= 1
        if not outstanding[chunk.key]:
            n_programs += len(trees.pop(chunk.key, ()))

    run_missing(
        run_chunk,
        plan.jobs(),
        keep,
        bar=Progress(total=sum(due.n_programs for due in plan.dues), unit=" programs", desc="execute", smoothing=0.05),
        size=lambda chunk: len(chunk.programs),
        n_jobs=n_jobs,
        scheduler=scheduler,
    )
    return replace(
        done,
        n_programs=n_programs,
        n_executions=n_executions,
        seconds=time.monotonic() - began,
        failures=tuple(failures),
    )
