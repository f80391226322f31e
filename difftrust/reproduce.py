"""Import, execute and compare everything recorded, and write the results that come with the project."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from difftrust_core.datasets.recorded import Selection
    from difftrust_core.store.store import Store

M = 10
"""Candidates of a coder that are executed inside the domains, and whose structure is compared."""
STARTER_TEMPERATURES = (0.6, 1.0)
"""Of the simulated coders in the store that comes with the project."""


def run_all(
    store: Path,
    to: Path,
    *,
    selection: "Selection | None" = None,
    n: int = 1000,
    n_deep: int = 10_000,
    n_jobs: int = 2,
    allow_weak: bool = False,
    say: Callable[[str], None] = print,
) -> "Store":
    """Import the recorded candidates, execute and compare them, export the results; return the results store.

    All on ``n`` inputs that the references accept, as published, those of GPT-4o at t = 0.6 on ``n_deep``; the first M
    of every coder on ``n`` inputs inside the tasks' domains and on their tests, in a store beside the first. Every step
    does only what is missing, so it can be stopped and run again. ``selection``: only these candidates. Raises
    DifftrustError if a task failed, before exporting.
    """
    from difftrust.export import export_results, megabytes
    from difftrust.research.structure import StabilityRequest, compare_store
    from difftrust.shipped import PAPER_SETTING
    from difftrust.tasks.smallest_inputs import refuse_failures
    from difftrust_core.datasets.recorded import Selection, selection_of
    from difftrust_core.estimates.refresh import refresh_estimates
    from difftrust_core.execution.execute import execute
    from difftrust_core.store.imports import import_source
    from difftrust_core.store.store import Store

    how: dict[str, Any] = {"n_jobs": n_jobs, "allow_weak": allow_weak, "say": say}
    chosen = selection or Selection()
    imported = import_source(store, Path("difftrust"), chosen, n_jobs=n_jobs)
    opened = Store.open(store)
    say(f"imported {imported.n_candidates} candidates; {imported.n_known} were there before")
    deep = selection_of(models=[PAPER_SETTING.model], temperatures=[PAPER_SETTING.temperature])
    beside = store.with_name(f"{store.name}-domains")
    import_source(beside, Path("difftrust"), replace(chosen, m=min(M, chosen.m or M)), n_jobs=n_jobs)
    domains = Store.open(beside)
    for place, wanted, inputs, validity in (
        (opened, None, n, "reference"),
        (opened, deep, n_deep, "reference"),
        (domains, None, n, "domain"),
        (domains, None, n, "tests"),
    ):
        if wanted is None or _holds(place, wanted):
            done = execute(place, n=inputs, selection=wanted, validity=validity, **how)
            refuse_failures([(failure.task[1], failure.why) for failure in done.failures])
            pairs = f"{done.n_executions:,} program-input pairs"
            say(f"executed {pairs} in {done.seconds:.0f} s, n = {inputs}, inputs: {validity}")
    refresh_estimates(opened, n_jobs=n_jobs)
    compared = selection_of(temperatures=[PAPER_SETTING.temperature], m=M)
    if _holds(opened, compared):
        for place, validity in ((opened, "reference"), (domains, "domain")):
            _find_smallest(place, validity, compared, **how)
        found = compare_store(opened, StabilityRequest(selection=compared, with_tsed=True, n_jobs=n_jobs))
        say(f"compared the programs of {found.n_rows:,} (coder, task) pairs, {found.n_at_hand:,} were there before")
    made = export_results(opened, to, n_jobs=n_jobs, beside=domains)
    say(f"results in {to}: {megabytes(to):.1f} MB")
    return made


def run_starter(
    store: Path,
    to: Path,
    *,
    temperatures: Sequence[float] = STARTER_TEMPERATURES,
    m: int = M,
    n: int = 1000,
    n_jobs: int = 2,
    allow_weak: bool = False,
    say: Callable[[str], None] = print,
) -> "Store":
    """Execute m candidates of each simulated coder on the starter tasks, and pack the store, texts included.

    On ``n`` inputs inside the domains and on ``n`` that the references accept. Every step does only what is missing.
    Raises DifftrustError if a task failed, before packing.
    """
    from difftrust.demo.simulated import SIMULATED
    from difftrust.export import megabytes, pack_store
    from difftrust.pipeline import generate
    from difftrust.tasks.smallest_inputs import refuse_failures
    from difftrust_core.datasets.recorded import Selection
    from difftrust_core.execution.execute import execute
    from difftrust_core.store.store import Store

    how: dict[str, Any] = {"n_jobs": n_jobs, "allow_weak": allow_weak, "say": say}
    for temperature in temperatures:
        generate("starter", store=store, models=SIMULATED, m=m, temperature=temperature)
    opened = Store.open(store)
    for validity in ("domain", "reference"):  # the last one is what the store is read on
        done = execute(opened, n=n, validity=validity, **how)
        refuse_failures([(failure.task[1], failure.why) for failure in done.failures])
        say(f"executed {done.n_executions:,} program-input pairs in {done.seconds:.0f} s, inputs: {validity}")
    for validity in ("domain", "reference"):
        _find_smallest(opened, validity, Selection(m=m), **how)
    made = pack_store(opened, to, replaceable=SIMULATED, n_jobs=n_jobs)
    say(f"results in {to}: {megabytes(to):.1f} MB")
    return made


def _find_smallest(
    store: "Store", validity: str, selection: "Selection", *, n_jobs: int, allow_weak: bool, say: Callable[[str], None]
) -> None:
    """Find the smallest inputs on which these candidates differ. Raises DifftrustError if a task failed."""
    from difftrust.tasks.smallest_inputs import Request, find_smallest, refuse_failures
    from difftrust_core.base.records import Reading
    from difftrust_core.estimates.refresh import refresh_estimates

    place = store.read_as(Reading(inputs=validity))
    refresh_estimates(place, n_jobs=n_jobs)
    found = find_smallest(place, Request(selection=selection, n_jobs=n_jobs, allow_weak=allow_weak))
    refuse_failures(found.failures)
    say(f"found the smallest inputs of {found.n_found:,} pairs of behaviours, inputs: {validity}")


def _holds(store: "Store", selection: "Selection") -> bool:
    return not store.read("candidates").filter(selection.predicate()).is_empty()
