"""Everything recorded, executed and written as results: the run behind the project's tables; and nothing else."""

from collections.abc import Callable
from pathlib import Path

from difftrust_core.ablation.table_3 import MODEL, PARTS, TEMPERATURE, N
from difftrust_core.corpora.recorded import Selection
from difftrust_core.exceptions import DifftrustError
from difftrust_core.pipeline.estimation import refresh_estimates
from difftrust_core.pipeline.execution import Execution, execute
from difftrust_core.pipeline.export import export_results
from difftrust_core.pipeline.recorded import import_source, selection_of
from difftrust_core.pipeline.stability import StabilityRequest, compare_store
from difftrust_core.store import Store

M = 10
"""Candidates whose structure is compared, at the temperature of Table 3."""
N_DEEP = max(int(n) for n in PARTS["3c"][1])
"""Inputs for the model of Table 3."""


def reproduce(
    store: Path,
    to: Path,
    *,
    selection: Selection | None = None,
    n: int = N,
    n_deep: int = N_DEEP,
    n_jobs: int = 2,
    allow_weak: bool = False,
    say: Callable[[str], None] = print,
) -> Store:
    """Import the recorded candidates, execute and compare them, export the results; return the results store.

    All on ``n`` inputs, those of GPT-4o at t = 0.6 on ``n_deep``. Every step does only what is missing, so it can be
    stopped and run again. ``selection``: only these candidates. Raises DifftrustError if a task failed, before
    exporting.
    """
    selection = selection or Selection()
    imported = import_source(store, Path("difftrust"), selection, n_jobs=n_jobs)
    opened = Store.open(store)
    say(f"imported {imported.n_candidates} candidates; {imported.n_known} were there before")
    deep = selection_of(models=[MODEL], temperatures=[TEMPERATURE])
    for wanted, inputs in ((None, n), (deep, n_deep)):
        if wanted is None or _holds(opened, wanted):
            done = execute(opened, n=inputs, selection=wanted, n_jobs=n_jobs, allow_weak=allow_weak, say=say)
            _check(done)
            say(f"executed {done.n_executions:,} program-input pairs in {done.seconds:.0f} s, n = {inputs}")
    refresh_estimates(opened, n_jobs=n_jobs)
    compared = selection_of(temperatures=[TEMPERATURE], m=M)
    if _holds(opened, compared):
        found = compare_store(opened, StabilityRequest(selection=compared, with_tsed=True, n_jobs=n_jobs))
        say(f"compared the programs of {found.n_rows:,} (coder, task) pairs, {found.n_at_hand:,} were there before")
    made = export_results(opened, to, n_jobs=n_jobs)
    say(f"results in {to}: {sum(path.stat().st_size for path in to.rglob('*') if path.is_file()) / 1e6:.1f} MB")
    return made


def _holds(store: Store, selection: Selection) -> bool:
    return not store.read("candidates").filter(selection.predicate()).is_empty()


def _check(done: Execution) -> None:
    if done.failures:
        first = done.failures[0]
        raise DifftrustError(
            f"{len(done.failures)} tasks failed, the first {first.task_id}: {first.failure}; run the command again"
        )
