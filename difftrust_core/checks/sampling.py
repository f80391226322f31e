"""Candidates for a check from language models, through a store that keeps their replies."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import TooFewCandidates
from difftrust_core.generation.generate import generate
from difftrust_core.generation.plan import GenerationOptions
from difftrust_core.store.store import Store


@dataclass(frozen=True, kw_only=True)
class SamplingRequest:
    """Whom to ask, and for how many programs in all: the models take turns, so the first may give one more."""

    models: tuple[str, ...]
    m: int
    temperature: float
    api_base: str | None = None
    max_usd: float | None = None
    """For all models together."""

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
    store = Store.create(root)
    found: list[Candidate] = []
    left = request.max_usd
    for model, share in request.shares().items():
        say(f"{share} programs from {model} (replies are kept in {root})")
        if left is None or left > 0:
            options = GenerationOptions(api_base=request.api_base, max_usd=left)
            done = generate(
                store, [task], models=[model], temperature=request.temperature, m=share, options=options, say=say
            )
            for failure in done.failures:
                say(f"failed: sample {failure.sample_index} of {failure.model}: {failure.reason}")
        samples = stored_samples(store, task, model, request.temperature).head(share)
        if left is not None and "cost_usd" in samples.columns:
            left -= float(samples["cost_usd"].sum())
        found += [
            Candidate(
                benchmark=task.benchmark,
                task_id=task.task_id,
                model=model,
                temperature=request.temperature,
                sample_index=sample_index,
                code=code,
            )
            for sample_index, code in samples.select("sample_index", "code").iter_rows()
        ]
    if len(found) < 2:
        raise TooFewCandidates(f"a check needs m >= 2 candidates, got {len(found)} of {request.m}; run it again")
    if len(found) < request.m:
        say(f"{request.m - len(found)} of {request.m} programs are missing; the check goes on without them")
    return found


def stored_samples(store: Store, task: Task, model: str, temperature: float) -> pl.DataFrame:
    """Return a model's samples for the task as the store holds them, with their code, by sample index."""
    where: dict[str, object] = {"benchmark": task.benchmark}
    samples = store.read("candidates", where).filter(
        (pl.col("task_id") == task.task_id) & (pl.col("model") == model) & (pl.col("temperature") == temperature)
    )
    texts = store.read("programs", where).select("task_id", "program_id", "code").unique(["task_id", "program_id"])
    return samples.join(texts, on=["task_id", "program_id"]).sort("sample_index")
