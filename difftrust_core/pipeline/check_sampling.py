"""Candidates for a check from language models, through the store that keeps their replies; and nothing else."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.exceptions import TooFewCandidates
from difftrust_core.records import Candidate
from difftrust_core.store import Store
from difftrust_core.tasks import Task


@dataclass(frozen=True, kw_only=True)
class SamplingRequest:
    """Whom to ask, and for how many programs in all: the models take turns, so the first may give one more."""

    models: tuple[str, ...]
    m: int
    temperature: float
    options: dict[str, Any]
    """Fields of ``GenerationOptions`` that the user set."""

    def shares(self) -> dict[str, int]:
        """Return how many programs each model gives."""
        models = tuple(dict.fromkeys(self.models))
        even, more = divmod(self.m, len(models))
        shares = {model: even + (position < more) for position, model in enumerate(models)}
        return {model: share for model, share in shares.items() if share}


def sample_candidates(
    root: Path, task: Task, request: SamplingRequest, *, say: Callable[[str], None]
) -> list[Candidate]:
    """Return the candidates of the task, sampling those that the store at ``root`` lacks; each is paid for once.

    Raises TooFewCandidates if fewer than two came; what did come is in the store.
    """
    generation: Any = importlib.import_module("difftrust_core.pipeline.generation")
    store = Store.create(root)
    found: list[Candidate] = []
    for model, share in request.shares().items():
        say(f"{share} programs from {model} (replies are kept in {root})")
        done = generation.generate(
            store,
            [task],
            models=[model],
            temperature=request.temperature,
            m=share,
            options=generation.GenerationOptions(**request.options),
            say=say,
        )
        for failure in done.failures:
            say(f"failed: {failure}")
        found += stored_candidates(store, task, model, request.temperature)[:share]
    if len(found) < 2:
        raise TooFewCandidates(f"a check needs m >= 2 candidates, got {len(found)} of {request.m}; run it again")
    return found


def stored_candidates(store: Store, task: Task, model: str, temperature: float) -> Sequence[Candidate]:
    """Return a model's candidates for the task as the store holds them, in the order of their sample index."""
    where: dict[str, object] = {"benchmark": task.benchmark}
    samples = store.read("candidates", where).filter(
        (pl.col("task_id") == task.task_id) & (pl.col("model") == model) & (pl.col("temperature") == temperature)
    )
    texts = store.read("programs", where).select("task_id", "program_id", "code").unique(["task_id", "program_id"])
    rows = samples.join(texts, on=["task_id", "program_id"]).sort("sample_index")
    return [
        Candidate(
            benchmark=task.benchmark,
            task_id=task.task_id,
            model=model,
            temperature=temperature,
            sample_index=sample_index,
            code=code,
        )
        for sample_index, code in rows.select("sample_index", "code").iter_rows()
    ]
