"""Samples that a store lacks, from language models: planned, asked for, kept, and made candidates."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.base.files import scratch_folder
from difftrust_core.base.parallel import Progress
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded import Recorded
from difftrust_core.exceptions import BadStore, DifftrustError, NoStore, StoreInUse, WrongUsage
from difftrust_core.generation.extraction import program_in
from difftrust_core.generation.missing import (
    Generation,
    GenerationOptions,
    Incomplete,
    ModelQueue,
    PlanRequest,
    check_queues,
    plan,
)
from difftrust_core.generation.prices import Price, price_of
from difftrust_core.generation.sampling import Budget, Sampling, run_in_thread
from difftrust_core.store.checksums import room_for_list
from difftrust_core.store.imports import add_candidates, by_benchmark
from difftrust_core.store.mirror import Mirror
from difftrust_core.store.replies import Record, ReplyFile
from difftrust_core.store.store import Store


@contextmanager
def store_at(root: Path) -> Iterator[Store]:
    """Open the store at ``root``, or make it; one that was made is removed if an error ends the work before it began.

    Raises WrongUsage if it can be neither opened nor made.
    """
    is_new = not root.exists()
    try:
        store = Store.create(root)
    except (NoStore, BadStore) as e:
        raise WrongUsage(str(e)) from None
    try:
        yield store
    except DifftrustError:
        if is_new and not _holds_anything(root):
            shutil.rmtree(root, ignore_errors=True)
        raise


@contextmanager
def store_to_look_at(root: Path) -> Iterator[Store]:
    """Open the store at ``root``; where none has been made yet, an empty one elsewhere, which is removed at the end.

    Raises WrongUsage if no store can be made there.
    """
    try:
        Store.refuse_what_is_none(root)
    except NoStore as e:
        raise WrongUsage(str(e)) from None
    with scratch_folder() as folder:
        yield Store.create(folder / "store") if Store.may_be_made(root) else Store.open(root)


def _holds_anything(root: Path) -> bool:
    """Tell whether something is in a store beside its own settings: a reply, a table, a suggestion."""
    files = (path for folder in root.iterdir() if folder.is_dir() for path in folder.rglob("*") if path.is_file())
    return any(path.stat().st_size > 0 for path in files)


_BYTES_A_TOKEN = 4
_TYPICAL_COMPLETION = 300
"""Tokens; a guess for the estimate that is not a bound. Models that think aloud take many times as much."""


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
    reasoning: bool
    """Whether the model bills reasoning too, which ``usd`` leaves out."""


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

    Raises WrongUsage for what cannot work, StoreInUse if another command asks the same models for the same store or
    writes to it for more than a minute after the last reply, BadStore if replies cannot be kept or were made for
    another prompt.
    """
    options = options or GenerationOptions()
    request = PlanRequest(models=tuple(models), temperature=float(temperature), m=m)
    queues = _planned(store, tasks, request, options)
    began = time.monotonic()
    done = Generation(n_wanted=request.n_wanted(tasks), n_at_hand=request.n_wanted(tasks) - _n_lacking(queues))
    try:
        if _n_lacking(queues):
            check_queues(queues, tasks, api_base=options.api_base, max_usd=options.max_usd)
            with room_for_list(store.root), ExitStack() as held:
                if Mirror.of(store.root):  # two machines may not add to the same replies
                    held.enter_context(store.writing())
                for reply_file in [f for queue in queues if queue.wanted for f in queue.files.values()]:
                    held.enter_context(reply_file.appending())
                for queue in queues:  # what another command has brought since the plan was made
                    queue.drop_known()
                done.n_at_hand = done.n_wanted - _n_lacking(queues)
                _ask_all(queues, request, options, done=done, say=say)
    finally:  # also after Ctrl-C: what has arrived can be executed
        done.incomplete = _add_replies(store, tasks, queues, n_jobs=options.n_jobs, say=say)
    done.seconds = time.monotonic() - began
    return done


def _n_lacking(queues: Sequence[ModelQueue]) -> int:
    return sum(len(queue.wanted) for queue in queues)


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
    queues = _planned(store, tasks, request, options)
    return [_estimate(queue, request.n_wanted(tasks) // len(queues), options.max_tokens) for queue in queues]


def _estimate(queue: ModelQueue, n_wanted: int, max_tokens: int) -> Estimate:
    n, bound = len(queue.wanted), sum(wanted.prompt_bound for wanted in queue.wanted)
    about = bound // _BYTES_A_TOKEN
    return Estimate(
        model=queue.model,
        n_at_hand=n_wanted - n,
        n_requests=n,
        prompt_tokens=about,
        most_tokens=bound + n * max_tokens,
        usd=queue.price.of(about, n * min(_TYPICAL_COMPLETION, max_tokens)) if queue.price else None,
        most_usd=queue.price.of(bound, n * max_tokens) if queue.price else None,
        reasoning=queue.price is not None and queue.price.reasoning,
    )


def _planned(store: Store, tasks: Sequence[Task], request: PlanRequest, options: GenerationOptions) -> list[ModelQueue]:
    def price(model: str) -> Price | None:
        return options.price or price_of(model, api_base=options.api_base, environment=os.environ)

    return plan(store, tasks, request, price_of=price)


def _ask_all(
    queues: Sequence[ModelQueue],
    request: PlanRequest,
    options: GenerationOptions,
    *,
    done: Generation,
    say: Callable[[str], None],
) -> None:
    budget = Budget(options.max_usd)
    for queue in queues:
        spent, doubtful = queue.paid(options.max_tokens)
        budget.spent += spent
        budget.doubtful += doubtful
    with Progress(total=_n_lacking(queues), unit="reply", desc="generate", smoothing=0.05) as bar:

        def progress() -> None:
            usd = f"${done.usd:.4f}" if done.usd or not done.n_unpriced else "$ unknown"
            words = f"{done.n_retries} retries, {len(done.failures)} failed, {usd}"
            bar.set_postfix_str(words, refresh=False)
            bar.update(done.n_replies + len(done.failures) - bar.n)

        def tell(line: str) -> None:
            with Progress.external_write_mode(file=sys.stderr):
                say(line)

        sampling = Sampling(request, options, budget=budget, done=done, say=tell, changed=progress)
        run_in_thread(
            lambda: sampling.run([queue for queue in queues if queue.wanted]),
            stop=sampling.stop,
            on_interrupt=lambda: tell("stopping: waiting for the replies under way, for they are paid (Ctrl-C leaves)"),
        )
    done.spent, done.doubtful = budget.spent, budget.doubtful


def _add_replies(
    store: Store, tasks: Sequence[Task], queues: Sequence[ModelQueue], *, n_jobs: int, say: Callable[[str], None]
) -> list[Incomplete]:
    """Make candidates of the replies that are none yet; return those that hold no whole program.

    Another command that writes is waited for: it may be adding its own replies. Raises StoreInUse if it takes long.

    A reply without a program is a candidate with an empty text: it does not load, and counts as that. One that has yet
    to be asked for once more is no candidate.
    """
    asked = {(task.benchmark, task.task_id): task for task in tasks}
    key = ["benchmark", "model", "temperature", "task_id", "sample_index"]
    texts = store.read("programs").select("benchmark", "task_id", "program_id").unique()
    whole = store.read("candidates").join(texts, on=["benchmark", "task_id", "program_id"], how="semi")
    known = set(whole.select(key).iter_rows())
    rows, incomplete = [], []
    for queue, reply_file in [(asked_of, file) for asked_of in queues for file in asked_of.files.values()]:
        where = reply_file.where
        for record in reply_file.records.values():
            task = asked.get((str(where["benchmark"]), record.task_id))
            is_known = (*where.values(), record.task_id, record.sample_index) in known
            if task is not None and not is_known and not queue.is_pending(record, task):
                row, is_whole = _row(reply_file, record, task)
                rows.append({**where, **row})
                if not is_whole:
                    said = {name: row[name] for name in ("task_id", "sample_index", "extraction")}
                    incomplete.append(Incomplete(benchmark=task.benchmark, model=queue.model, **said))
    if not rows:
        return []
    frame = pl.DataFrame(rows, infer_schema_length=None)
    try:
        add_candidates(store, Recorded(candidates=frame), by_benchmark(tasks), n_jobs=n_jobs, on_wait=say)
    except StoreInUse as e:
        kept = f"{len(rows)} replies are kept and will not be requested again"
        raise StoreInUse(f"{e}, then run the command again ({kept})") from None
    return sorted(incomplete, key=lambda one: (one.benchmark, one.task_id, one.sample_index))


def _row(reply_file: ReplyFile, record: Record, task: Task) -> tuple[dict[str, Any], bool]:
    """Return the row of a candidate, which costs what all replies to its sample cost, and whether it is whole."""
    extracted = program_in(record, task)
    earlier = reply_file.earlier.get((record.task_id, record.sample_index))
    paid = [reply for reply in (earlier, record) if reply is not None]

    def total(values: list[Any]) -> Any:
        return None if None in values else sum(values)

    return {
        "task_id": record.task_id,
        "sample_index": record.sample_index,
        "code": extracted.code,
        "extraction": extracted.how,
        "prompt_hash": record.prompt_hash,
        "prompt_tokens": total([reply.prompt_tokens for reply in paid]),
        "completion_tokens": total([reply.completion_tokens for reply in paid]),
        "cost_usd": total([reply.cost_usd for reply in paid]),
        "finish_reason": record.finish_reason,
    }, extracted.is_whole
