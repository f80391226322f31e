"""What is wanted of which model, how it may be asked for, and what came of it: records, and nothing else."""

from collections import deque
from dataclasses import dataclass, field

from difftrust_core.coders.prices import Price
from difftrust_core.pipeline.replies import ReplyFile
from difftrust_core.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How requests are made; see ``generation.GenerationOptions``."""

    temperature: float
    m: int
    max_tokens: int
    timeout: float
    api_base: str | None
    seed: int
    concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    attempts: int
    first_wait: float
    longest_wait: float
    prompt_hash: str


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One sample that is missing, and the most tokens that asking for it may take."""

    task: Task
    sample_index: int
    prompt: str
    request_hash: str
    prompt_bound: int


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
class Coder:
    """One model, what is wanted of it, and where its replies go (by benchmark)."""

    model: str
    price: Price | None
    files: dict[str, ReplyFile]
    wanted: deque[Wanted]

    def drop_known(self) -> None:
        """Want nothing that the files hold."""
        self.wanted = deque(
            w for w in self.wanted if (w.task.task_id, w.sample_index) not in self.files[w.task.benchmark].records
        )

    def paid(self, max_tokens: int) -> tuple[float, float]:
        """Return the dollars that the replies at hand cost, and a bound of those of unknown cost."""
        records = [record for reply_file in self.files.values() for record in reply_file.records.values()]
        known = sum(record.cost_usd for record in records if record.cost_usd is not None)
        n_unknown = sum(record.cost_usd is None for record in records)
        bound = max((wanted.prompt_bound for wanted in self.wanted), default=0)
        each = self.price.of(bound, max_tokens) if self.price else None
        return known, n_unknown * (each or 0.0)


@dataclass(kw_only=True)
class Tally:
    """What a sampling has done so far."""

    replies: int = 0
    requests: int = 0
    retries: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Replies whose cost is unknown."""
    lowest_concurrency: int | None = None
    """Set if a provider pushed back."""
    failures: list[Failure] = field(default_factory=list)
    is_spent: bool = False
    """Stopped before the budget could be passed."""
