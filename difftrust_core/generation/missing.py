"""Which samples a store lacks of which model, how they may be asked for, and what came of it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.generation.extraction import program_in
from difftrust_core.generation.prices import Price, is_offline
from difftrust_core.generation.prompt import prompt_of, request_hash
from difftrust_core.generation.providers import check_model
from difftrust_core.store.imports import by_benchmark, refuse_changes
from difftrust_core.store.replies import Record, ReplyFile
from difftrust_core.store.store import Store

_OVERHEAD = 64
"""Tokens that a provider may put around a prompt."""


@dataclass(frozen=True, kw_only=True)
class GenerationOptions:
    """How models are asked. Every limit holds for each model by itself, the budget for all of them together."""

    api_base: str | None = None
    """Address of an OpenAI-compatible server, for models named ``openai/...``."""
    price: Price | None = None
    """Instead of the list price, for every model."""
    max_tokens: int = 2048
    """Most tokens of one completion; four times as many where a reply is asked for once more."""
    concurrency: int = 8
    """Requests at once; fewer for a while when the provider pushes back."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 120.0
    """Seconds for one whole reply."""
    attempts: int = 6
    """Requests for one sample until it is given up."""
    first_wait: float = 1.0
    """Seconds before the second attempt, plus as much again at random; doubled each time."""
    longest_wait: float = 120.0
    """Seconds; a provider that asks to wait longer is not asked again in this run."""
    max_usd: float | None = None
    """Stop before a request that might bring what this store paid for these samples above it."""
    seed: int = 0
    """Of coders that answer without a network."""
    n_jobs: int = 2

    def __post_init__(self) -> None:
        for name in ("max_tokens", "concurrency", "timeout", "attempts"):
            if not getattr(self, name) >= (0 if name == "timeout" else 1):
                raise WrongUsage(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("requests_per_minute", "tokens_per_minute", "max_usd"):
            given = getattr(self, name)
            if given is not None and not given > 0:
                raise WrongUsage(f"{name} must be positive, got {given}; leave it out for no limit")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One sample that is missing, and the most tokens that asking for it may take."""

    task: Task
    sample_index: int
    prompt: str
    request_hash: str
    prompt_bound: int
    number: int = 1
    """2 where the first reply was cut off or held no function."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One sample that was not got, and why; the reason holds no key."""

    benchmark: str
    model: str
    task_id: str
    sample_index: int
    reason: str
    attempts: int
    """Requests made for it in this run; 0 if it was not asked for."""


@dataclass(kw_only=True)
class ModelQueue:
    """One model, the samples to ask it for, and where its replies go (by benchmark)."""

    model: str
    price: Price | None
    files: dict[str, ReplyFile]
    wanted: deque[Wanted]
    settled: set[tuple[str, str, int]] = field(default_factory=set)
    """Benchmark, task and sample of first replies that stay, for the provider refused to be asked for more."""

    def drop_known(self) -> None:
        """Leave out what the files hold already; a reply that holds no whole program is asked for once more."""
        left = deque[Wanted]()
        for wanted in self.wanted:
            record = self.files[wanted.task.benchmark].records.get((wanted.task.task_id, wanted.sample_index))
            if record is None:
                left.append(wanted)
            elif self.is_pending(record, wanted.task):
                left.append(replace(wanted, number=2))
        self.wanted = left

    def is_pending(self, record: Record, task: Task) -> bool:
        """Tell whether a reply holds no whole program and has yet to be asked for once more.

        Simulated coders are not: what they cut off, they cut off again.
        """
        if record.number > 1 or is_offline(self.model):
            return False
        is_settled = (task.benchmark, task.task_id, record.sample_index) in self.settled
        return not is_settled and not program_in(record, task).is_whole

    def paid(self, max_tokens: int) -> tuple[float, float]:
        """Return the dollars that the replies at hand cost, and a bound of those of unknown cost."""
        records = [record for reply_file in self.files.values() for record in reply_file.paid()]
        known = sum(record.cost_usd for record in records if record.cost_usd is not None)
        n_unknown = sum(record.cost_usd is None for record in records)
        bound = max((wanted.prompt_bound for wanted in self.wanted), default=0)
        each = self.price.of(bound, max_tokens) if self.price else None
        return known, n_unknown * (each or 0.0)


@dataclass(frozen=True, kw_only=True)
class Incomplete:
    """One sample whose reply holds no whole program, although it was asked for once more."""

    benchmark: str
    model: str
    task_id: str
    sample_index: int
    extraction: str
    """The label of ``extraction``."""


@dataclass(kw_only=True)
class Generation:
    """What one ``generate`` has done so far."""

    n_wanted: int
    n_at_hand: int
    """Samples that were there before and so were not asked for."""
    n_replies: int = 0
    """New ones."""
    n_requests: int = 0
    n_retries: int = 0
    n_asked_again: int = 0
    """Samples that were asked for once more, for their first reply was cut off or held no function; both are paid."""
    incomplete: list[Incomplete] = field(default_factory=list)
    """New samples whose reply holds no whole program all the same; they are candidates that do not load."""
    usd: float = 0.0
    """Known cost of the new replies."""
    n_unpriced: int = 0
    """New replies whose cost is unknown."""
    refusal: str = ""
    """Why a model was not asked any more: its key, its name, its server."""
    failures: list[Failure] = field(default_factory=list)
    is_spent: bool = False
    """Stopped before the budget could be passed; what was not asked for is missing, and no failure."""
    spent: float = 0.0
    """Dollars that this store has paid for these samples, by earlier runs too."""
    doubtful: float = 0.0
    """Upper bound of what replies of unknown cost and requests without one may have cost; the budget counts it too."""
    lowest_concurrency: int | None = None
    """Requests at once after the providers pushed back, None if none did."""
    seconds: float = 0.0

    @property
    def n_no_program(self) -> int:
        """Number of new samples without a whole program."""
        return len(self.incomplete)

    @property
    def n_missing(self) -> int:
        """Samples that are still not there."""
        return self.n_wanted - self.n_at_hand - self.n_replies


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """Samples 0 to m-1 of these models at this temperature. Raises WrongUsage if that is nothing."""

    models: tuple[str, ...]
    temperature: float
    m: int

    def __post_init__(self) -> None:
        if self.m < 1:
            raise WrongUsage(f"sampling needs m >= 1 programs, got {self.m}; ask for more with -m")
        if not 0 <= self.temperature <= 2:
            raise WrongUsage(f"the temperature is from 0 to 2, got {self.temperature}")
        if not self.models:
            raise WrongUsage("sampling needs at least one model; name it with --model")

    def n_wanted(self, tasks: Sequence[Task]) -> int:
        """Return how many samples that is."""
        return len(tasks) * self.m * len(set(self.models))


def plan(
    store: Store, tasks: Sequence[Task], request: PlanRequest, *, price_of: Callable[[str], Price | None]
) -> list[ModelQueue]:
    """Return each model with what the store lacks of it.

    Sample 0 of every task comes first, then sample 1, so that whatever stops a run leaves the tasks even.
    Raises BadStore if a reply is there that was made for another prompt, WrongUsage if a task of a user was executed
    and is another now.
    """
    prompts = {(task.benchmark, task.task_id): prompt_of(task) for task in tasks}
    if len(prompts) != len(tasks) or not tasks:
        raise WrongUsage(f"sampling needs distinct tasks, got {len(tasks)} with {len(prompts)} different names")
    for benchmark, listed in by_benchmark(tasks).items():
        refuse_changes(store, benchmark, listed)
    stored = store.read("candidates").filter(pl.col("temperature") == request.temperature)
    queues = []
    for model in dict.fromkeys(request.models):
        files = {
            benchmark: ReplyFile(store, {"benchmark": benchmark, "model": model, "temperature": request.temperature})
            for benchmark in sorted({task.benchmark for task in tasks})
        }
        of_model = stored.filter(pl.col("model") == model).select("benchmark", "task_id", "sample_index")
        known = set(of_model.iter_rows())
        queue = ModelQueue(model=model, price=price_of(model), files=files, wanted=deque())
        for index in range(request.m):
            for task in tasks:
                prompt = prompts[task.benchmark, task.task_id]
                wanted = _wanted(task, prompt, index)
                _check_same_prompt(files[task.benchmark], wanted)
                if (task.benchmark, task.task_id, index) not in known:
                    queue.wanted.append(wanted)
        queue.drop_known()
        queues.append(queue)
    return queues


def _wanted(task: Task, prompt: str, index: int) -> Wanted:
    return Wanted(
        task=task,
        sample_index=index,
        prompt=prompt,
        request_hash=request_hash(prompt),
        # No tokenizer in use makes more tokens of a text than it has bytes.
        prompt_bound=len(prompt.encode("utf-8", "replace")) + _OVERHEAD,
    )


def _check_same_prompt(reply_file: ReplyFile, wanted: Wanted) -> None:
    found = reply_file.records.get((wanted.task.task_id, wanted.sample_index))
    if found is not None and found.request_hash != wanted.request_hash:
        raise BadStore(
            f"{reply_file.path} holds replies for {wanted.task.task_id} to another prompt (the task or the template "
            "has changed since); use a new store"
        )


def check_queues(
    queues: Sequence[ModelQueue], tasks: Sequence[Task], *, api_base: str | None, max_usd: float | None
) -> None:
    """Refuse what cannot work, before anything is asked. Raises WrongUsage."""
    for queue in queues:
        if queue.wanted:
            check_model(queue.model, api_base=api_base, tasks=tasks)
            if max_usd is not None and queue.price is None:
                raise WrongUsage(
                    f"--max-usd needs a price, and that of {queue.model} is not known; give it with --price"
                )
