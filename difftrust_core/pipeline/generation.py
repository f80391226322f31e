"""Samples that a store lacks, from language models: planned, asked for, kept, and made candidates; resumable."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields

from tqdm import tqdm

from difftrust_core.coders.prices import Price, price_of
from difftrust_core.coders.prompt import prompt_hash
from difftrust_core.exceptions import WrongUsage
from difftrust_core.mirrors import Mirror
from difftrust_core.pipeline.apart import run_apart
from difftrust_core.pipeline.lacking import PlanRequest, check_coders, plan
from difftrust_core.pipeline.pacing import Budget
from difftrust_core.pipeline.sampling import Sampling
from difftrust_core.pipeline.tabulation import add_replies
from difftrust_core.pipeline.wanted import Coder, Failure, Limits, Tally
from difftrust_core.store import Store
from difftrust_core.tasks import Task

_BYTES_A_TOKEN = 4
_TYPICAL_COMPLETION = 300
"""Tokens; a guess for the estimate that is not a bound. Models that think aloud take many times as much."""


@dataclass(frozen=True, kw_only=True)
class GenerationOptions:
    """How models are asked. Every limit holds for each model by itself, the budget for all of them together."""

    api_base: str | None = None
    """Address of an OpenAI-compatible server, for models named ``openai/...``."""
    price: Price | None = None
    """Instead of the list price, for every model."""
    max_tokens: int = 2048
    """Most tokens of one completion."""
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
    """Of the simulated coders."""
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
class Estimate:
    """What asking one model for all that is missing takes; None is unknown."""

    model: str
    n_at_hand: int
    n_requests: int
    prompt_tokens: int
    """About."""
    most_tokens: int
    """Bound: a prompt has at most as many tokens as bytes, a completion at most ``max_tokens``."""
    usd: float | None
    """About, at 300 tokens a completion."""
    most_usd: float | None
    """Bound, if every request is answered at the first attempt."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What one ``generate`` did."""

    n_wanted: int
    n_at_hand: int
    """Samples that were there before and so were not asked for."""
    n_replies: int = 0
    """New ones."""
    n_requests: int = 0
    n_retries: int = 0
    n_no_program: int = 0
    """New replies in which no program was found; they are candidates that do not load."""
    usd: float = 0.0
    """Known cost of the new replies."""
    n_unpriced: int = 0
    """New replies whose cost is unknown."""
    failures: tuple[Failure, ...] = ()
    is_spent: bool = False
    """Stopped before the budget could be passed; what was not asked for is missing, and no failure."""
    lowest_concurrency: int | None = None
    """Requests at once after the providers pushed back, None if none did."""
    seconds: float = 0.0

    @property
    def n_missing(self) -> int:
        """Samples that are still not there."""
        return self.n_wanted - self.n_at_hand - self.n_replies


def generate(
    store: Store,
    tasks: Sequence[Task],
    *,
    models: Sequence[str],
    temperature: float,
    m: int,
    options: GenerationOptions | None = None,
    say: Callable[[str], None] = print,
) -> Generation:
    """Ask every model for the samples 0 to m-1 of every task that the store lacks, and make candidates of the replies.

    Each reply is on disk before anything else is done, so a run can be killed and repeated at any moment; with nothing
    missing nothing is asked. Samples that were imported count as there. Tasks need no reference (but for the simulated
    coders) and no seed inputs.

    Raises WrongUsage for what cannot work, StoreInUse if another command asks the same models for the same store,
    BadStore if replies cannot be kept or were made for another prompt.
    """
    options = options or GenerationOptions()
    request = PlanRequest(models=tuple(models), temperature=float(temperature), m=m)
    coders = plan(store, tasks, request, price_of=lambda model: _price(model, options))
    began, tally = time.monotonic(), Tally()
    files = [reply_file for coder in coders for reply_file in coder.files.values()]
    n_lacking = sum(len(coder.wanted) for coder in coders)
    try:
        if n_lacking:
            check_coders(coders, tasks, api_base=options.api_base, max_usd=options.max_usd)
            with ExitStack() as held:
                if Mirror.of(store.root):  # two machines may not add to the same replies
                    held.enter_context(store.writing())
                for reply_file in [f for coder in coders if coder.wanted for f in coder.files.values()]:
                    held.enter_context(reply_file.appending())
                for coder in coders:  # what another command has brought since the plan was made
                    coder.drop_known()
                n_lacking = sum(len(coder.wanted) for coder in coders)
                _ask_all(coders, _limits(options, request, tasks[0].language), options, tally=tally, say=say)
    finally:  # also after Ctrl-C: what has arrived can be executed
        n_no_program = add_replies(store, tasks, files, n_jobs=options.n_jobs)
    return Generation(
        n_wanted=request.n_wanted(tasks),
        n_at_hand=request.n_wanted(tasks) - n_lacking,
        n_replies=tally.replies,
        n_requests=tally.requests,
        n_retries=tally.retries,
        n_no_program=n_no_program,
        usd=tally.usd,
        n_unpriced=tally.unpriced,
        failures=tuple(tally.failures),
        is_spent=tally.is_spent,
        lowest_concurrency=tally.lowest_concurrency,
        seconds=time.monotonic() - began,
    )


def estimate_generation(
    store: Store,
    tasks: Sequence[Task],
    *,
    models: Sequence[str],
    temperature: float,
    m: int,
    options: GenerationOptions | None = None,
) -> list[Estimate]:
    """Return what ``generate`` with the same arguments would take, for each model. Nothing is asked."""
    options = options or GenerationOptions()
    request = PlanRequest(models=tuple(models), temperature=float(temperature), m=m)
    coders = plan(store, tasks, request, price_of=lambda model: _price(model, options))
    return [_estimate(coder, request.n_wanted(tasks) // len(coders), options.max_tokens) for coder in coders]


def _estimate(coder: Coder, n_wanted: int, max_tokens: int) -> Estimate:
    n, bound = len(coder.wanted), sum(wanted.prompt_bound for wanted in coder.wanted)
    about = bound // _BYTES_A_TOKEN
    return Estimate(
        model=coder.model,
        n_at_hand=n_wanted - n,
        n_requests=n,
        prompt_tokens=about,
        most_tokens=bound + n * max_tokens,
        usd=coder.price.of(about, n * min(_TYPICAL_COMPLETION, max_tokens)) if coder.price else None,
        most_usd=coder.price.of(bound, n * max_tokens) if coder.price else None,
    )


def _price(model: str, options: GenerationOptions) -> Price | None:
    return options.price or price_of(model, api_base=options.api_base, environment=os.environ)


def _limits(options: GenerationOptions, request: PlanRequest, language: str) -> Limits:
    shared = {f.name: getattr(options, f.name) for f in fields(Limits) if hasattr(options, f.name)}
    return Limits(temperature=request.temperature, m=request.m, prompt_hash=prompt_hash(language), **shared)


def _ask_all(
    coders: Sequence[Coder], limits: Limits, options: GenerationOptions, *, tally: Tally, say: Callable[[str], None]
) -> None:
    budget = Budget(options.max_usd)
    for coder in coders:
        spent, doubtful = coder.paid(options.max_tokens)
        budget.spent += spent
        budget.doubtful += doubtful
    total = sum(len(coder.wanted) for coder in coders)
    with tqdm(total=total, unit="reply", desc="generate", disable=None, file=sys.stderr, smoothing=0.05) as bar:

        def progress(now: Tally) -> None:
            usd = f"${now.usd:.4f}" if now.unpriced < now.replies else "$ unknown"
            words = f"{now.retries} retries, {len(now.failures)} failed, {usd}"
            bar.set_postfix_str(words, refresh=False)
            bar.update(now.replies + len(now.failures) - bar.n)

        def tell(line: str) -> None:
            with tqdm.external_write_mode(file=sys.stderr):
                say(line)

        sampling = Sampling(limits, budget, tally=tally, say=tell, progress=progress)
        run_apart(
            lambda: sampling.run([coder for coder in coders if coder.wanted]),
            stop=sampling.stop,
            on_interrupt=lambda: tell("stopping: waiting for the replies under way, for they are paid (Ctrl-C leaves)"),
        )
