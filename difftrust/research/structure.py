"""Compare the programs of a store, task by task in parallel, into its table ``stability``; resumable."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from difftrust.structure.pairwise import Programs, stability
from difftrust.structure.trees import Options
from difftrust_core.base.parallel import Progress
from difftrust_core.datasets.recorded import Selection
from difftrust_core.exceptions import NoStore
from difftrust_core.execution.resumable import Ended, GrowingFile, run_missing
from difftrust_core.languages.registry import load_language
from difftrust_core.store.store import Store
from difftrust_core.store.tree_ids import with_language

_CODER: Final = ("model", "temperature", "task_id")
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
        of_languages = with_language(candidates, store.read("tasks", columns=["task_id", "language"]))
        for (benchmark, language), part in of_languages.group_by("benchmark", "language", maintain_order=True):
            grammar = load_language(str(language)).grammar
            more = _compare_benchmark(store, str(benchmark), part, request, own=grammar)
            done = Compared(**{name: value + getattr(more, name) for name, value in vars(done).items()})
    return replace(done, seconds=time.monotonic() - began)


def _compare_benchmark(
    store: Store, benchmark: str, candidates: pl.DataFrame, request: StabilityRequest, *, own: str
) -> Compared:
    """Compare candidates of one language; ``own``: the grammar that it is compared with unless another is named."""
    options = replace(request.options, language=request.language or own)
    label = (replace(options, language=Options.language) if options.language == own else options).label
    where = {"benchmark": benchmark, "options": label, "first": request.selection.m or 0}
    coders, n_parse_errors, n_left_out = _coders(candidates), 0, 0
    with GrowingFile(store, "stability", where) as file:

        def keep(ended: Ended[_Job, list[dict[str, Any]]]) -> None:
            nonlocal n_parse_errors, n_left_out
            if ended.error:
                raise ended.error
            rows = ended.result or []
            file.add(rows)
            n_parse_errors += sum(row["n_parse_errors"] for row in rows)
            n_left_out += sum(row["n_left_out"] for row in rows)

        known = file.rows.filter(pl.col("language") == options.language)
        known = known.filter(pl.col("tsed").is_not_null()) if request.with_tsed else known
        missing = coders.join(known, on=[*_CODER, "candidates"], how="anti")
        texts = store.read("programs", {"benchmark": benchmark}).unique(["task_id", "program_id"])
        n_tasks = missing["task_id"].n_unique()
        run_missing(
            _compare_task,
            _jobs(missing, texts, options, with_tsed=request.with_tsed),
            keep,
            bar=Progress(total=n_tasks, unit="task", desc=f"compare {benchmark}", delay=1),
            n_jobs=max(1, min(request.n_jobs, n_tasks)),
        )
    return Compared(
        n_rows=len(missing), n_at_hand=len(coders) - len(missing), n_parse_errors=n_parse_errors, n_left_out=n_left_out
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
