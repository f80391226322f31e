"""Compare the programs of a store, task by task in parallel, into its table ``stability``; resumable."""

import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from difftrust_core.base.parallel import in_parallel
from difftrust_core.base.progress import Progress
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded.selection import Selection
from difftrust_core.exceptions import NoStore
from difftrust_core.languages.language import load_language
from difftrust_core.metrics.structure.compare import Programs, stability
from difftrust_core.metrics.structure.options import Options
from difftrust_core.store.store import PARTITIONS, SCHEMAS, Store

_CODER: Final = ("model", "temperature", "task_id")
_KEEP_EVERY: Final = 20.0
"""Seconds after which what is finished is written."""
_DIGITS: Final = 9
"""Rounded to, so that machines whose last bits differ write the same bytes."""


@dataclass(frozen=True, kw_only=True)
class StabilityRequest:
    """What to compare, and how. ``language`` None: each task's own."""

    options: Options = field(default_factory=Options)
    selection: Selection = field(default_factory=Selection)
    language: str | None = None
    with_tsed: bool = False
    n_jobs: int = 1


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What one run did."""

    n_rows: int
    """(coder, task) pairs compared now."""
    n_at_hand: int
    """Those that needed nothing."""
    n_parse_errors: int = 0
    """Programs compared now that do not parse whole."""
    n_left_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class _Job:
    task_id: str
    texts: tuple[str, ...]
    coders: tuple[tuple[str, float, str, tuple[int, ...]], ...]
    """(model, temperature, digest of its candidates, text of each candidate)."""
    options: Options
    with_tsed: bool


def compare_store(store: Store, request: StabilityRequest) -> Compared:
    """Compare the programs of every coder for every task that is not compared yet, and write what was found.

    Raises NoStore if the store holds no candidates of the selection.
    """
    candidates = store.read("candidates").filter(request.selection.predicate())
    if candidates.is_empty():
        raise NoStore(f"the store {store.root} holds no candidates of this selection; widen it, or import them")
    began, done = time.monotonic(), Compared(n_rows=0, n_at_hand=0)
    with store.writing():
        for (benchmark, language), part in _with_language(store, candidates).group_by(
            "benchmark", "language", maintain_order=True
        ):
            grammar = load_language(str(language)).grammar
            done = _add(done, _compare_benchmark(store, str(benchmark), part, request, own=grammar))
    return replace(done, seconds=time.monotonic() - began)


def _add(one: Compared, other: Compared) -> Compared:
    return Compared(**{name: value + getattr(other, name) for name, value in vars(one).items()})


def _with_language(store: Store, candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates with the language of their tasks."""
    tasks = store.read("tasks").select("benchmark", "task_id", "language")
    joined = candidates.join(tasks, on=["benchmark", "task_id"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("language").fill_null(Task.language))


def _compare_benchmark(
    store: Store, benchmark: str, candidates: pl.DataFrame, request: StabilityRequest, *, own: str
) -> Compared:
    """Compare candidates of one language; ``own``: the grammar that it is compared with unless another is named."""
    options = replace(request.options, language=request.language or own)
    label = (replace(options, language=Options.language) if options.language == own else options).label
    where = {"benchmark": benchmark, "options": label, "first": request.selection.m or 0}
    table = _Table(store, where)
    coders = _coders(candidates)
    known = table.known(options.language, with_tsed=request.with_tsed)
    missing = coders.join(known, on=[*_CODER, "candidates"], how="anti")
    texts = store.read("programs", {"benchmark": benchmark}).unique(["task_id", "program_id"])
    jobs = _jobs(missing, texts, options, with_tsed=request.with_tsed)
    try:
        rows = list(table.collect(_run(jobs, missing["task_id"].n_unique(), benchmark, request.n_jobs)))
    finally:
        table.write()
    return Compared(
        n_rows=len(rows),
        n_at_hand=len(coders) - len(missing),
        n_parse_errors=sum(row["n_parse_errors"] for row in rows),
        n_left_out=sum(row["n_left_out"] for row in rows),
    )


def _coders(candidates: pl.DataFrame) -> pl.DataFrame:
    """Return each coder's program ids for each task, in the order of the samples, and a digest of them."""
    grouped = candidates.sort("sample_index").group_by(_CODER, maintain_order=True).agg("program_id")
    digests = [hashlib.blake2b(" ".join(ids).encode(), digest_size=8).hexdigest() for ids in grouped["program_id"]]
    return grouped.with_columns(pl.Series("candidates", digests, dtype=pl.String)).sort(
        "task_id", "model", "temperature"
    )


def _jobs(missing: pl.DataFrame, texts: pl.DataFrame, options: Options, *, with_tsed: bool) -> Iterator[_Job]:
    code_of = {key[0]: dict(part.select("program_id", "code").iter_rows()) for key, part in texts.group_by("task_id")}
    for (task_id,), coders in missing.group_by("task_id", maintain_order=True):
        ids = coders["program_id"].explode().unique(maintain_order=True).to_list()
        place = {name: i for i, name in enumerate(ids)}
        yield _Job(
            task_id=str(task_id),
            texts=tuple(code_of[task_id][name] for name in ids),
            coders=tuple(
                (model, temperature, digest, tuple(place[name] for name in of_coder))
                for model, temperature, digest, of_coder in coders.select(
                    "model", "temperature", "candidates", "program_id"
                ).iter_rows()
            ),
            options=options,
            with_tsed=with_tsed,
        )


def _run(jobs: Iterable[_Job], n_tasks: int, benchmark: str, n_jobs: int) -> Iterator[list[dict[str, Any]]]:
    n_jobs = max(1, min(n_jobs, n_tasks))
    with Progress(total=n_tasks, unit="task", desc=f"compare {benchmark}", delay=1) as bar:
        for rows in in_parallel(_compare_task, jobs, n_jobs=n_jobs):
            yield rows
            bar.update()


def _compare_task(job: _Job) -> list[dict[str, Any]]:
    programs = Programs(job.texts, job.options)
    if job.with_tsed:
        programs.edit([rows for *_, rows in job.coders])
    found = []
    for model, temperature, digest, rows in job.coders:
        made = stability(programs, rows)
        scores = {name: round(value, _DIGITS) for name, value in made.scores.items()}
        counts = {name: value for name, value in vars(made).items() if name != "scores"}
        found.append(
            {
                **{"model": model, "temperature": temperature, "task_id": job.task_id, "candidates": digest},
                **{"language": job.options.language, "epsilon": job.options.epsilon, "base": job.options.base},
                **counts,
                **(scores if job.with_tsed else scores | {"tsed": None}),
            }
        )
    return found


class _Table:
    """One file of the table: what it held, and what was found since."""

    def __init__(self, store: Store, where: dict[str, object]):
        self.store, self.where = store, where
        path = store.folder("stability", where) / "stability.parquet"
        held = store.read_file("stability", path)
        self.held = pl.DataFrame(schema=SCHEMAS["stability"]) if held is None else held
        self.new: list[dict[str, Any]] = []
        self.written = time.monotonic()

    def known(self, language: str, *, with_tsed: bool) -> pl.DataFrame:
        """Return which coders' candidates are compared by this grammar; with tsed, only where that was asked for."""
        whole = self.held.filter(pl.col("language") == language)
        whole = whole.filter(pl.col("tsed").is_not_null()) if with_tsed else whole
        return whole.select(*_CODER, "candidates")

    def collect(self, found: Iterable[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """Yield the rows, and write them now and then."""
        for rows in found:
            self.new += rows
            yield from rows
            if time.monotonic() - self.written > _KEEP_EVERY:
                self.write()

    def write(self) -> None:
        """Write the file with what is new, unless nothing is."""
        if not self.new:
            return
        new = pl.DataFrame(self.new, schema=SCHEMAS["stability"])
        kept = self.held.join(new, on=list(_CODER), how="anti", maintain_order="left")
        self.held, self.new = pl.concat([kept, new]).sort("model", "temperature", "task_id"), []
        self.store.write("stability", self.held, {k: self.where[k] for k in PARTITIONS["stability"]}, "stability")
        self.written = time.monotonic()
