"""What of a store has not been executed yet: chunks, one task on one range of inputs each, and a job for each chunk.

A job holds its programs' texts, so jobs are made for a few tasks at a time, once to count them and once to run them.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from difftrust_core.base.records import Program, Validity
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import benchmark_names
from difftrust_core.datasets.recorded import Selection
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.execution.answers import has_answers
from difftrust_core.languages.language import Language
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import Limits
from difftrust_core.store.mirror import Holding
from difftrust_core.store.store import REFERENCE, Settings, Store, chunk_starts

TaskKey = tuple[str, str]
"""Benchmark and task id."""
_AT_A_TIME = 32
"""Tasks whose texts are held; each time, the tables' ids are looked through once."""


@dataclass(frozen=True, kw_only=True)
class ChunkJob:
    """What is missing of one task on its inputs ``start`` to ``stop``: the programs that have not met them yet.

    ``jury``: the task's programs, for the quorum policy. ``holding``: the store's URL, if it has one. ``is_here``:
    whether workers reach ``root`` as well.
    """

    root: Path
    task: Task
    settings: Settings
    jury: tuple[Program, ...] = ()
    limits: Limits
    allow_weak: bool
    holding: Holding | None = None
    is_here: bool = True
    start: int = 0
    stop: int = 0
    programs: tuple[Program, ...] = ()

    @property
    def key(self) -> TaskKey:
        """The task's."""
        return self.task.benchmark, self.task.task_id

    @property
    def partition(self) -> dict[str, object]:
        """Where the chunk's rows stand in the store."""
        return {"benchmark": self.task.benchmark, "validity": self.settings.validity, "start": self.start}

    @property
    def n(self) -> int:
        """Inputs."""
        return self.stop - self.start


@dataclass(frozen=True, kw_only=True)
class Due:
    """A chunk on which ``n_programs`` have not been executed yet."""

    task: TaskKey
    start: int
    stop: int
    n_programs: int


class Plan:
    """What is due of a store on each task's first ``n`` inputs, and what is not.

    The chunks with most programs times inputs come first, so that no core idles at the end. ``only``: the tasks that
    count; None: all. Raises NoStore if there is nothing of the selection, WrongUsage if a task does not fit the
    validity policy.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        n: int,
        *,
        selection: Selection,
        limits: Limits | None,
        allow_weak: bool,
        is_here: bool,
        only: Collection[TaskKey] | None = None,
    ):
        self._store, self._settings, self._n = store, settings, n
        self._selection, self._limits, self._allow_weak, self._is_here = selection, limits, allow_weak, is_here
        self.dues: list[Due] = []
        self.n_at_hand = 0
        self.without_seeds: list[str] = []
        self.without_domain: list[str] = []
        names = names_of(store, selection)
        if only is not None:
            names = {benchmark: [t for t in listed if (benchmark, t) in only] for benchmark, listed in names.items()}
        self._done = {benchmark: _done(store, benchmark, settings.validity) for benchmark in names}
        for benchmark, listed in names.items():
            for start in range(0, len(listed), _AT_A_TIME):
                self._look_at(benchmark, listed[start : start + _AT_A_TIME])
        self.dues.sort(key=lambda due: due.n_programs * (due.stop - due.start), reverse=True)

    def _look_at(self, benchmark: str, names: Sequence[str]) -> None:
        for task, jobs in self._jobs_of(benchmark, names):
            if not task.seed_inputs:
                self.without_seeds.append(task.task_id)
                continue
            if self._settings.validity == Validity.DOMAIN and task.domain is None:
                self.without_domain.append(task.task_id)
            self.n_at_hand += not jobs
            self.dues += [
                Due(task=job.key, start=job.start, stop=job.stop, n_programs=len(job.programs)) for job in jobs
            ]

    def jobs(self) -> Iterator[ChunkJob]:
        """Yield the job of each chunk that is due, in their order."""
        for first in range(0, len(self.dues), _AT_A_TIME):
            dues = self.dues[first : first + _AT_A_TIME]
            names: dict[str, list[str]] = defaultdict(list)
            for benchmark, task_id in dict.fromkeys(due.task for due in dues):
                names[benchmark].append(task_id)
            made = {
                (job.key, job.start): job
                for benchmark, listed in names.items()
                for _, jobs in self._jobs_of(benchmark, listed)
                for job in jobs
            }
            for due in dues:
                yield made.pop((due.task, due.start))

    def _jobs_of(self, benchmark: str, names: Sequence[str]) -> Iterator[tuple[Task, list[ChunkJob]]]:
        store = self._store
        programs = programs_of(store, benchmark, names, self._selection)
        tasks, validity = store.read_tasks(benchmark, names), self._settings.validity
        judged = [t for t in tasks if validity == Validity.QUORUM or (validity == Validity.DOMAIN and t.domain is None)]
        everyone = programs_of(store, benchmark, [t.task_id for t in judged], Selection()) if judged else {}
        for task in tasks:
            if task.task_id not in programs:  # their texts are gone; `difftrust verify` says so
                continue
            of_task = ChunkJob(
                root=store.root,
                task=task,
                settings=self._settings,
                jury=everyone.get(task.task_id, ()),
                limits=self._limits or limits_of(language_of(task), validity),
                allow_weak=self._allow_weak,
                holding=store.mirror.holding if store.mirror else None,
                is_here=self._is_here,
            )
            done = self._done[benchmark].get(task.task_id, {})
            yield task, _jobs(of_task, programs[task.task_id], done, self._n) if task.seed_inputs else []


def limits_of(language: Language, validity: str) -> Limits:
    """Return what one program may use: more on tests, which may be large, if the language says so."""
    return language.test_limits or language.limits if validity == Validity.TESTS else language.limits


def names_of(store: Store, selection: Selection) -> dict[str, list[str]]:
    """Return the tasks of the selection by benchmark, in the order in which they are stored."""
    candidates = store.read("candidates", columns=["task_id", "sample_index"])
    if candidates.is_empty():
        raise NoStore(f"the store {store.root} holds no candidates; bring some with `difftrust import`")
    found = candidates.filter(selection.predicate()).select("benchmark", "task_id").unique()
    if found.is_empty():
        raise NoStore(f"the store {store.root} holds no candidates of this selection; widen it, or import them")
    tasks = store.read("tasks", columns=["task_id"]).join(found, on=["benchmark", "task_id"], maintain_order="left")
    return {
        benchmark: tasks.filter(benchmark=benchmark)["task_id"].to_list()
        for benchmark in sorted(tasks["benchmark"].unique())
    }


def usual_validity(store: Store, selection: Selection) -> str:
    """Return the policy of a store for which none was chosen: that of its settings where something was executed.

    A user's own tasks need not have what the published policy asks for: theirs is ``domain`` where one of them has a
    domain, else ``reference`` where every one has a reference, else ``quorum``.
    """
    settled = store.settings().validity
    names = names_of(store, selection)
    if settled != Validity.REFERENCE or store.files("executions") or not set(names).isdisjoint(benchmark_names()):
        return settled
    tasks = [task for benchmark, listed in names.items() for task in store.read_tasks(benchmark, listed)]
    if any(task.domain is not None for task in tasks):
        return Validity.DOMAIN
    return Validity.REFERENCE if all(task.reference is not None for task in tasks) else Validity.QUORUM


def count_tests(store: Store) -> dict[TaskKey, int]:
    """Return how many tests each task of a store has that has some."""
    tasks = store.read("tasks", columns=["task_id", "tests"]).filter(pl.col("tests").fill_null("") != "")
    return {(benchmark, task_id): len(json.loads(tests)) for benchmark, task_id, tests in tasks.iter_rows()}


def programs_of(
    store: Store, benchmark: str, names: Sequence[str], selection: Selection
) -> dict[str, tuple[Program, ...]]:
    """Return each task's distinct programs by tree, with the texts that have the smallest ids."""
    where, columns = {"benchmark": benchmark}, ["task_id", "sample_index", "program_id"]
    candidates = store.read("candidates", where, columns=columns, tasks=names).filter(selection.predicate())
    texts = store.read("programs", where, tasks=names).unique(["task_id", "program_id"])
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
    if settings.validity == Validity.REFERENCE and task.reference is None:
        raise WrongUsage(
            f"validity `reference` needs a reference program, {task.task_id} has none; use --inputs quorum or all"
        )
    jobs = []
    for start, stop in chunk_starts(sorted(done), n):
        finished = done.get((start, stop), set())
        missing = tuple(program for program in programs if program.tree_id not in finished)
        if missing or (has_answers(task, settings.validity) and REFERENCE not in finished):
            jobs.append(replace(template, start=start, stop=stop, programs=missing))
    return jobs
