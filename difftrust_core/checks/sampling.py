"""Candidates and suggestions for a check from language models, through a store that keeps their replies."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.checks.suggestion_file import read_suggestions, suggestion_path, write_suggestions
from difftrust_core.checks.suggestions import Reading, Suggested, question_about, read_reply
from difftrust_core.exceptions import TooFewCandidates, WrongUsage
from difftrust_core.generation.extraction import CUT_OFF, is_whole
from difftrust_core.generation.generate import generate
from difftrust_core.generation.place import store_at
from difftrust_core.generation.plan import GenerationOptions, Incomplete, incomplete_lines
from difftrust_core.generation.question import NotAnswered, Question, ask_question
from difftrust_core.store.store import Store

_SHOWN = 400
"""Characters of the calls that are shown; the file holds all."""


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
    root: Path,
    task: Task,
    request: SamplingRequest,
    *,
    say: Callable[[str], None],
    note: Callable[[str], None] = lambda line: None,
) -> list[Candidate]:
    """Return the candidates of the task, sampling those that the store at ``root`` lacks; each is paid for once.

    Replies that were cut off or hold no complete function are no candidates: ``say`` and ``note`` are told which.
    Raises WrongUsage where nothing can be asked before something is mended (the store stays as it was, or unmade),
    TooFewCandidates if fewer than two came; what did come is in the store.
    """
    with store_at(root) as store:
        sampling = _Sampling(store, task, request, say)
        found = [candidate for model, share in request.shares().items() for candidate in sampling.of(model, share)]
        lines = incomplete_lines(sampling.incomplete)
        for line in lines:
            say(line)
            note(line)
        if len(found) < 2 and sampling.refusals:
            raise WrongUsage(next(iter(sampling.refusals.values())))
        if len(found) < 2:
            why = f" ({'; '.join(lines)})" if lines else ""
            remedy = "try another model, or another store" if lines else "run it again"
            raise TooFewCandidates(f"a check needs m >= 2 candidates, got {len(found)} of {request.m}{why}; {remedy}")
    for model, reason in sampling.refusals.items():
        say(f"{model}: {reason}")
    n_missing = request.m - len(found) - len(sampling.incomplete)
    if n_missing:
        say(f"{n_missing} of {request.m} programs are missing; the check goes on without them")
    return found


class _Sampling:
    """The models of one request, asked one after the other within one budget."""

    def __init__(self, store: Store, task: Task, request: SamplingRequest, say: Callable[[str], None]):
        self._store, self._task, self._request, self._say = store, task, request, say
        self._left = request.max_usd
        self.incomplete: list[Incomplete] = []
        self.refusals: dict[str, str] = {}
        """What has to be mended before a model can be asked."""

    def of(self, model: str, share: int) -> Iterator[Candidate]:
        """Yield the candidates of one model."""
        self._say(f"{share} programs from {model} (replies are kept in {self._store.root})")
        if self._left is None or self._left > 0:
            self._ask(model, share)
        temperature = self._request.temperature
        samples = stored_samples(self._store, self._task, model, temperature).head(share)
        if self._left is not None and "cost_usd" in samples.columns:
            self._left -= float(samples["cost_usd"].sum())
        for row in samples.iter_rows(named=True):
            if row.get("extraction") is not None and not self._is_program(row):
                self.incomplete.append(_incomplete(row, self._task, model))
                continue
            yield Candidate(
                benchmark=self._task.benchmark,
                task_id=self._task.task_id,
                model=model,
                temperature=temperature,
                sample_index=row["sample_index"],
                code=row["code"],
            )

    def _is_program(self, row: dict[str, Any]) -> bool:
        return row.get("finish_reason") != "length" and is_whole(row["code"], self._task)

    def _ask(self, model: str, share: int) -> None:
        request = self._request
        options = GenerationOptions(api_base=request.api_base, max_usd=self._left)
        done = generate(
            self._store,
            [self._task],
            models=[model],
            temperature=request.temperature,
            m=share,
            options=options,
            say=self._say,
        )
        if done.refusal:
            self.refusals[model] = done.refusal
        by_reason: dict[str, list[str]] = {}
        for failure in done.failures:
            by_reason.setdefault(failure.reason, []).append(str(failure.sample_index))
        for reason, indices in by_reason.items():
            if reason != done.refusal:
                self._say(f"failed: sample{'s' if len(indices) > 1 else ''} {', '.join(indices)} of {model}: {reason}")


def _incomplete(row: dict[str, Any], task: Task, model: str) -> Incomplete:
    return Incomplete(
        benchmark=task.benchmark,
        model=model,
        task_id=task.task_id,
        sample_index=row["sample_index"],
        extraction=CUT_OFF if row.get("finish_reason") == "length" else row["extraction"],
    )


def ask_about(
    store_root: Path,
    task: Task,
    model: str,
    *,
    api_base: str | None = None,
    max_usd: float | None = None,
    temperature: float = 0.6,
    say: Callable[[str], None],
) -> Suggested:
    """Return realistic calls of a function and the preconditions of its callers, as a model sees them.

    One request, whose answer is kept in the store at ``store_root`` in a TOML file that may be edited; it is read again
    where it is there. ``say`` is told what was taken and where it is. Nothing of it is executed here.

    Raises WrongUsage for a file that was edited into something else, and for what has to be mended before the model
    can be asked.
    """
    path = suggestion_path(store_root, task)
    usd: float | None = 0.0
    is_new = not path.exists()
    if not is_new:
        reading = read_suggestions(path, task)
        say(f"suggestions taken from {path}: {_counted(reading)}; edit it to change them, delete it to ask anew")
    else:
        question = Question(
            prompt=question_about(task),
            task=task,
            model=model,
            temperature=temperature,
            api_base=api_base,
            max_usd=max_usd,
        )
        try:
            with store_at(store_root):
                answer = ask_question(question, say=say)
                reading, usd = read_reply(answer.text, task), answer.usd
                write_suggestions(path, task, reading, model=model, usd=usd, reply=answer.text)
        except NotAnswered as e:
            say(f"{model} was not asked for calls and preconditions: {e}; the check goes on without them")
            return Suggested(path=path)
        say(f"suggestions by {model}, kept in {path}: {_counted(reading)}; edit it to change them")
    _say_reading(reading, say)
    return Suggested(calls=reading.calls, conditions=reading.conditions, path=path, is_new=is_new, usd=usd)


def _counted(reading: Reading) -> str:
    n, k = len(reading.calls), len(reading.conditions)
    return f"{n} call{'' if n == 1 else 's'}, {k} condition{'' if k == 1 else 's'}"


def _say_reading(reading: Reading, say: Callable[[str], None]) -> None:
    for what, texts in (("calls", reading.calls), ("conditions", reading.conditions)):
        shown = "; ".join(texts)
        if shown:
            say(f"  {what}: {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '...'}")
    if reading.left_out:
        n = len(reading.left_out)
        say(f"  {n} line{'s' if n > 1 else ''} of the reply left out: no call with literal arguments, no condition")


def spent_on(root: Path, task: Task, request: SamplingRequest) -> float:
    """Return what the candidates of the task in the store at ``root`` cost, in dollars; unknown prices count as 0."""
    with store_at(root) as store:
        found = [
            stored_samples(store, task, model, request.temperature).head(share)
            for model, share in request.shares().items()
        ]
    return sum(float(samples["cost_usd"].sum()) for samples in found if "cost_usd" in samples.columns)


def stored_samples(store: Store, task: Task, model: str, temperature: float) -> pl.DataFrame:
    """Return a model's samples for the task as the store holds them, with their code, by sample index."""
    where: dict[str, object] = {"benchmark": task.benchmark}
    samples = store.read("candidates", where).filter(
        (pl.col("task_id") == task.task_id) & (pl.col("model") == model) & (pl.col("temperature") == temperature)
    )
    texts = store.read("programs", where).select("task_id", "program_id", "code").unique(["task_id", "program_id"])
    return samples.join(texts, on=["task_id", "program_id"]).sort("sample_index")
