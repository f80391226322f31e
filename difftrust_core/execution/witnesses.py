"""Draw the witness inputs of a store's tasks, run the programs on them, and keep what they did in a table of its own.

Witnesses are sought to show a disagreement (``languages``), so nothing about them enters the measured tables.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.parallel import end_if_orphaned
from difftrust_core.base.progress import Progress
from difftrust_core.base.records import Kind, Validity, Witness
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded.selection import Selection
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.execution.answers import has_answers, run_answers
from difftrust_core.execution.execute import spread_over
from difftrust_core.execution.plan import ChunkJob, names_of, programs_of
from difftrust_core.execution.validity import DomainDraws, jury_of, run_program
from difftrust_core.execution.worker import ChunkReport, classes_of, close_sandbox, sandbox_for
from difftrust_core.languages.language import language_of
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable
from difftrust_core.store.store import REFERENCE, Store, file_name
from difftrust_core.store.tree_ids import renew_tree_ids

N_WITNESSES = 100
"""So many are usual."""
_BATCH = 100
_TRIES = 4
"""So many inputs are judged for each witness that is wanted."""

Judge = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Tells which inputs are valid, as the validity policy has it."""


def draw_witnesses(
    task: Task, programs: Sequence[str], sandbox: Sandbox, *, n: int, seed: int, judge: Judge
) -> list[Witness]:
    """Return up to n witnesses: inputs made of the task's seeds and the programs' texts that ``judge`` calls valid.

    Where the task has a domain they lie inside; else they have the types of the seeds. The first n of more are the
    same. Raises BadTask if the domain is not valid.
    """
    language = language_of(task)
    domain = DomainDraws(task, sandbox, seed=seed) if task.domain is not None else None
    sought = islice(language.witnesses(task, domain.seeds if domain else task.seed_inputs, programs, seed), _TRIES * n)
    found: list[Witness] = []
    while len(found) < n and (batch := list(islice(sought, _BATCH))):
        if domain:
            inside = domain.inside([witness.arguments for witness in batch]).tolist()
            batch = [witness for witness, is_inside in zip(batch, inside, strict=True) if is_inside]
        valid = judge([witness.arguments for witness in batch]).tolist()
        found += [witness for witness, is_valid in zip(batch, valid, strict=True) if is_valid]
    return found[:n]


@dataclass(frozen=True, kw_only=True)
class Witnessed:
    """What one ``execute_witnesses`` did."""

    n_tasks: int = 0
    """Tasks whose witnesses were drawn and run now."""
    n_tasks_at_hand: int = 0
    """Tasks that needed nothing."""
    n_witnesses: int = 0
    n_executions: int = 0
    seconds: float = 0.0
    failures: tuple[ChunkReport, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class WitnessReport(ChunkReport):
    """What became of one task: its rows of ``witnesses`` (None: it has none), or why it failed."""

    rows: pl.DataFrame | None = None


def execute_witnesses(
    store: Store,
    *,
    n: int,
    selection: Selection | None = None,
    n_jobs: int = 1,
    limits: Limits | None = None,
    allow_weak: bool = False,
    scheduler: str = "",
) -> Witnessed:
    """Run the programs of the selection on up to ``n`` witnesses of each task, by the store's seed and validity policy.

    A task's witnesses are a function of its programs that were run on them: they are drawn anew, and run by all of
    these, when there are more programs or more are wanted. Raises WrongUsage if n < 1, WeakSandbox if candidates could
    reach files or network.
    """
    if n < 1:
        raise WrongUsage(f"expected 1 witness or more, got {n}; leave the option out for none")
    began = time.monotonic()
    with store.writing():
        renew_tree_ids(store, n_jobs)
        dues, n_at_hand = _dues(store, n, selection or Selection())
        done = Witnessed(n_tasks_at_hand=n_at_hand)
        if not dues:
            return done
        jobs = _jobs(store, dues, limits=limits, allow_weak=allow_weak)
        first = next(_jobs(store, dues[:1], limits=limits, allow_weak=allow_weak))
        with Sandbox(first.limits, runner=language_of(first.task).runner, allow_weak=allow_weak):
            pass  # it is refused here, once
        try:
            with spread_over(n_jobs, scheduler) as spread, Progress(total=len(dues), desc="witnesses") as bar:
                for report in spread(run_witnesses, jobs):
                    done = _kept(store, report, done)
                    bar.update(1)
        finally:
            close_sandbox()
    return replace(done, seconds=time.monotonic() - began)


def _kept(store: Store, report: ChunkReport, done: Witnessed) -> Witnessed:
    """Write one task's rows, and count them."""
    if report.failure:
        return replace(done, failures=(*done.failures, report))
    if not isinstance(report, WitnessReport) or report.rows is None:
        return done
    job, n_witnesses = report.chunk, report.rows["witness_index"].n_unique()
    partition = {"benchmark": job.task.benchmark, "validity": job.settings.validity}
    store.write("witnesses", report.rows, partition, file_name(job.task.task_id))
    return replace(
        done,
        n_tasks=done.n_tasks + 1,
        n_witnesses=done.n_witnesses + n_witnesses,
        n_executions=done.n_executions + n_witnesses * len(job.programs),
    )


@dataclass(frozen=True, kw_only=True)
class _Due:
    """A task of which a program or a witness is missing: ``n`` are wanted, and run by ``trees``."""

    benchmark: str
    task_id: str
    n: int
    trees: frozenset[str]


def _dues(store: Store, n: int, selection: Selection) -> tuple[list[_Due], int]:
    """Return the tasks that are due, and how many are not."""
    dues, n_at_hand = list[_Due](), 0
    for benchmark, names in names_of(store, selection).items():
        run = _trees_run(store, benchmark)
        chosen = _trees_of(store, benchmark, selection)
        for task_id in names:
            wanted, (limit, trees) = chosen.get(task_id, frozenset()), run.get(task_id, (0, frozenset[str]()))
            if wanted <= trees and n <= limit:
                n_at_hand += 1
            elif wanted:
                dues.append(_Due(benchmark=benchmark, task_id=task_id, n=max(n, limit), trees=wanted | trees))
    return dues, n_at_hand


def _trees_of(store: Store, benchmark: str, selection: Selection) -> dict[str, frozenset[str]]:
    """Return the trees of the selection's candidates, by task."""
    where, ids = {"benchmark": benchmark}, ["task_id", "program_id"]
    chosen = store.read("candidates", where, columns=[*ids, "sample_index"]).filter(selection.predicate())
    trees = store.read("programs", where, columns=[*ids, "tree_id"]).join(chosen, on=ids, how="semi")
    by_task = trees.group_by("task_id").agg(pl.col("tree_id").unique())
    return {task_id: frozenset(names) for task_id, names in by_task.iter_rows()}


def _trees_run(store: Store, benchmark: str) -> dict[str, tuple[int, frozenset[str]]]:
    """Return, by task, how many witnesses were wanted, and which trees were run on them."""
    where = {"benchmark": benchmark, "validity": store.settings().validity}
    rows = store.read("witnesses", where, columns=["task_id", "witness_index", "wanted", "trees"])
    first = rows.filter(pl.col("witness_index") == 0).explode("trees")
    by_task = first.group_by("task_id").agg(pl.col("wanted").first(), pl.col("trees"))
    return {task_id: (wanted, frozenset(trees) - {REFERENCE}) for task_id, wanted, trees in by_task.iter_rows()}


def _jobs(store: Store, dues: Sequence[_Due], *, limits: Limits | None, allow_weak: bool) -> Iterator[ChunkJob]:
    """Yield the job of each task that is due; the texts of one task are held at a time."""
    settings = store.settings()
    for due in dues:
        everyone = programs_of(store, due.benchmark, [due.task_id], Selection())[due.task_id]
        (task,) = store.read_tasks(due.benchmark, [due.task_id])
        if task.seed_inputs:
            yield ChunkJob(
                root=store.root,
                task=task,
                settings=settings,
                jury=everyone,
                limits=limits or language_of(task).limits,
                allow_weak=allow_weak,
                holding=None,
                is_here=True,
                stop=due.n,
                programs=tuple(program for program in everyone if program.tree_id in due.trees),
            )


def run_witnesses(job: ChunkJob) -> WitnessReport:
    """Draw one task's witnesses and run the job's programs on them. A failure is reported, not raised."""
    try:
        end_if_orphaned()
        return WitnessReport(chunk=job, rows=_rows(job, sandbox_for(job)))
    except DifftrustError as e:
        close_sandbox()  # whatever state it is in, the next task gets a new one
        return WitnessReport(chunk=job, failure=str(e))


def _rows(job: ChunkJob, sandbox: Sandbox) -> pl.DataFrame | None:
    task, language, validity = job.task, language_of(job.task), job.settings.validity
    texts = [program.code for program in job.programs]
    jury = jury_of(job, sandbox) if validity in (Validity.REFERENCE, Validity.QUORUM) else None
    witnesses = draw_witnesses(
        task,
        texts if task.reference is None else [task.reference, *texts],
        sandbox,
        n=job.n,
        seed=job.settings.seed,
        judge=jury.valid if jury else lambda inputs: np.ones(len(inputs), dtype=bool),
    )
    if not witnesses:
        return None
    inputs, table = [witness.arguments for witness in witnesses], OutcomeTable.empty(len(witnesses))
    sandbox.load(language.preamble(task), inputs, table)
    ran: dict[str, NDArray[np.uint16]] = {}
    if has_answers(task, Validity.ALL):
        reference = language.source(task, task.reference or "")
        answered = run_answers(task, Validity.ALL, inputs, table, lambda: sandbox.run(reference, task.entry_point))
        ran[REFERENCE] = answered.outcome_ids
    for program in job.programs:
        ran[program.tree_id] = run_program(sandbox, task, program).outcome_ids
    return pl.DataFrame(list(_outcomes(job, witnesses, table, ran))).with_columns(wanted=job.n)


def _outcomes(
    job: ChunkJob, witnesses: Sequence[Witness], table: OutcomeTable, ran: Mapping[str, NDArray[np.uint16]]
) -> Iterator[dict[str, object]]:
    """Yield a row for each distinct outcome on each witness; ``ran``: of each tree, the outcome ids (n_witnesses,)."""
    trees, ids = list(ran), np.array(list(ran.values()))
    paper, strict = classes_of(job, [witness.arguments for witness in witnesses], table.rows)
    for index, (witness, row) in enumerate(zip(witnesses, table.rows, strict=True)):
        for outcome_id, (kind, text) in enumerate(row):
            yield {
                "task_id": job.task.task_id,
                "witness_index": index,
                "origin": witness.origin.value,
                "arguments": witness.arguments,
                "outcome_id": outcome_id,
                "kind": Kind(kind).name.lower(),
                "text": text,
                "paper_class": paper[index][outcome_id],
                "strict_class": strict[index][outcome_id],
                "trees": [trees[at] for at in np.flatnonzero(ids[:, index] == outcome_id).tolist()],
            }
