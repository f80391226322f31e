"""What the published sampling takes on a random sample of (model, task) pairs: the yardstick of `make bench`."""

import json
import random
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from difftrust_core.base.task import Task
from difftrust_core.languages.python.fuzz import sample_input
from difftrust_core.sandbox import layers
from difftrust_core.store.store import Store

YARDSTICK = (Path(__file__).parent / "yardstick.py").read_text()
DROPPED_AFTER = 60.0
"""Seconds after which the published pipeline dropped a task from a model's row."""
_FLAGS = ("-s", "-P", "-S", "-B", "-c")
_DRAWS = 200
"""Inputs drawn to see what drawing takes."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One task and the programs of one coder, with the inputs that a valid one was found for."""

    task: Task
    model: str
    candidates: tuple[str, ...]
    inputs: tuple[str, ...]
    attempts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What one pair took: seconds of one process, at most ``DROPPED_AFTER``."""

    seconds: float
    incoherence: float
    """NaN where the pair was dropped, or a program brought its process down."""


def sample_pairs(store: Store, n_pairs: int, *, seed: int) -> tuple[list[Pair], int]:
    """Return a random sample of the (model, task) pairs of an executed store, and how many pairs there are."""
    candidates = store.read("candidates").sort("benchmark", "task_id", "model", "sample_index")
    executed = store.read("inputs").select("benchmark", "task_id").unique()
    keys = candidates.join(executed, on=["benchmark", "task_id"]).select("benchmark", "task_id", "model").unique()
    chosen = random.Random(seed).sample(sorted(keys.rows()), min(n_pairs, keys.height))
    tasks = {(t.benchmark, t.task_id): t for b in {key[0] for key in chosen} for t in store.read_tasks(b)}
    texts = store.read("programs").select("benchmark", "task_id", "program_id", "code")
    pairs = []
    for benchmark, task_id, model in chosen:
        own = candidates.filter(benchmark=benchmark, task_id=task_id, model=model).join(
            texts, on=["benchmark", "task_id", "program_id"], maintain_order="left"
        )
        inputs = store.read("inputs", {"benchmark": benchmark}).filter(task_id=task_id).sort("input_index")
        drawn = {"inputs": tuple(inputs["arguments"]), "attempts": tuple(inputs["attempts"])}
        pairs.append(Pair(task=tasks[benchmark, task_id], model=model, candidates=tuple(own["code"]), **drawn))
    return pairs, keys.height


def run_published(pairs: Sequence[Pair], *, n_processes: int, n: int) -> list[Taken]:
    """Measure each pair on n inputs, ``n_processes`` at a time."""
    if not layers.bubblewrap():
        raise SystemExit("the yardstick runs recorded programs behind bubblewrap, which is missing here; install it")
    with ThreadPoolExecutor(n_processes) as pool:
        return list(pool.map(lambda pair: _run(pair, n), pairs))


def _run(pair: Pair, n: int) -> Taken:
    job = {name: getattr(pair.task, name) for name in ("preamble", "reference", "entry_point")}
    job |= {"candidates": pair.candidates, "inputs": pair.inputs[:n], "attempts": pair.attempts[:n]}
    command = [*layers.bubblewrap(), "--die-with-parent", "--", layers.python_binary(), *_FLAGS, YARDSTICK]
    drawing = 2 * sum(pair.attempts[:n]) * _seconds_a_draw(pair.task)
    began = time.perf_counter()
    try:
        ended = subprocess.run(
            command, input=json.dumps(job), capture_output=True, text=True, timeout=DROPPED_AFTER, cwd="/"
        )
    except subprocess.TimeoutExpired:
        return Taken(seconds=DROPPED_AFTER, incoherence=float("nan"))
    if ended.returncode:  # a program brought its process down
        return Taken(seconds=drawing + time.perf_counter() - began, incoherence=float("nan"))
    found = json.loads(ended.stdout)
    return Taken(seconds=min(drawing + found["seconds"], DROPPED_AFTER), incoherence=found["incoherence"])


def _seconds_a_draw(task: Task) -> float:
    seeds, began = task.arguments(), time.perf_counter()
    for position in range(_DRAWS):
        sample_input(task.task_id, seeds, seed=0, position=position, attempt=0)
    return (time.perf_counter() - began) / _DRAWS
