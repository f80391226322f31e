"""Which samples a store lacks, and whether they can be asked for; and nothing else."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from difftrust_core.coders.prices import Price
from difftrust_core.coders.prompt import prompt_of, request_hash
from difftrust_core.coders.providers import check_model
from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.pipeline.replies import ReplyFile
from difftrust_core.pipeline.wanted import Coder, Wanted
from difftrust_core.store import Store
from difftrust_core.tasks import Task

_OVERHEAD = 64
"""Tokens that a provider may put around a prompt."""


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
) -> list[Coder]:
    """Return each model with what the store lacks of it.

    Sample 0 of every task comes first, then sample 1, so that whatever stops a run leaves the tasks even.
    Raises BadStore if a reply is there that was made for another prompt.
    """
    prompts = {(task.benchmark, task.task_id): prompt_of(task) for task in tasks}
    if len(prompts) != len(tasks) or not tasks:
        raise WrongUsage(f"sampling needs distinct tasks, got {len(tasks)} with {len(prompts)} different names")
    stored = store.read("candidates").filter(pl.col("temperature") == request.temperature)
    coders = []
    for model in dict.fromkeys(request.models):
        files = {
            benchmark: ReplyFile(store, {"benchmark": benchmark, "model": model, "temperature": request.temperature})
            for benchmark in sorted({task.benchmark for task in tasks})
        }
        of_model = stored.filter(pl.col("model") == model).select("benchmark", "task_id", "sample_index")
        known = set(of_model.iter_rows())
        coder = Coder(model=model, price=price_of(model), files=files, wanted=deque())
        for index in range(request.m):
            for task in tasks:
                prompt = prompts[task.benchmark, task.task_id]
                wanted = _wanted(task, prompt, index)
                _check_same_prompt(files[task.benchmark], wanted)
                if (task.benchmark, task.task_id, index) not in known:
                    coder.wanted.append(wanted)
        coder.drop_known()
        coders.append(coder)
    return coders


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


def check_coders(
    coders: Sequence[Coder], tasks: Sequence[Task], *, api_base: str | None, max_usd: float | None
) -> None:
    """Refuse what cannot work, before anything is asked. Raises WrongUsage."""
    for coder in coders:
        if coder.wanted:
            check_model(coder.model, api_base=api_base, tasks=tasks)
            if max_usd is not None and coder.price is None:
                raise WrongUsage(
                    f"--max-usd needs a price, and that of {coder.model} is not known; give it with --price"
                )
