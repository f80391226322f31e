"""What the recorded programs do on the inputs that audits and undetected errors rest on: the evidence of the data set.

It is found again from the benchmarks and the recorded candidates, which have to be on this machine.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

import difftrust as dt
from difftrust.shipped import PAPER_SETTING
from difftrust.tables.readings import undetected_pairs
from difftrust.tables.request import TableRequest
from difftrust.tasks.find_texts import find_programs, find_task
from difftrust.tasks.shrinking import UNTELLING, Place, Places
from difftrust_core.base.records import Coder
from difftrust_core.base.task import Task
from difftrust_core.datasets.audits import Audit
from difftrust_core.estimates.behaviours import cut
from difftrust_core.estimates.pool import Pool
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.execution.validity import sample_valid_inputs
from difftrust_core.languages.registry import language_of
from difftrust_core.metrics.equality import Equality
from difftrust_core.metrics.relation import Classes
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.store.settings import Settings

LONGEST: Final = 1_000
"""Characters of an argument tuple that a table holds."""


def recorded_inputs(request: TableRequest) -> Iterator[dict[str, str | None]]:
    """Yield for each undetected error a published input that shows it: the shortest inside the domain, else outside.

    Of the inputs on which program and reference both end by themselves. ``place``: domain, types or outside; null, as
    ``arguments``, where there is no such input.
    """
    _, pairs = undetected_pairs(request)
    pools = replace(request, reading=dt.open(request.store, inputs="reference").store.reading).pools()
    with Sandbox(Limits()) as sandbox:
        for (benchmark, task_id), own in pairs.sort("benchmark", "task_id", "model").group_by(
            "benchmark", "task_id", maintain_order=True
        ):
            task, pool = find_task(str(benchmark), str(task_id)), pools[str(benchmark)]
            assert task is not None  # the benchmarks are here, and hold what their results are of
            texts, places = _drawn_as_published(task, sandbox), Places(task, sandbox)
            for model in own["model"]:
                wrong = sorted({texts[i] for i in _wrong_inputs(pool, task.task_id, model)}, key=lambda t: (len(t), t))
                found = zip(places.of(wrong), wrong, strict=True)
                place, text = min(found, key=lambda one: one[0] != Place.DOMAIN, default=(None, None))
                shown = text if text is None or len(text) <= LONGEST else None
                row = {"benchmark": task.benchmark, "task_id": task.task_id, "model": model}
                yield {**row, "place": place and str(place), "arguments": shown}


def _drawn_as_published(task: Task, sandbox: Sandbox) -> list[str]:
    settings = Settings(validity="reference")
    job = ChunkJob(root=Path(), task=task, settings=settings, limits=Limits(), allow_weak=False, stop=PAPER_SETTING.n)
    return sample_valid_inputs(job, sandbox).texts


def _wrong_inputs(pool: Pool, task_id: str, model: str) -> list[int]:
    """Return the inputs on which the one behaviour of a coder differs from the reference, both ending by themselves."""
    number, task = next((i, task) for i, task in enumerate(pool.tasks) if task.task_id == task_id)
    members = pool.of((model, PAPER_SETTING.temperature)).first(PAPER_SETTING.m)
    rows = [int(members.row[members.task == number][0]), task.reference or 0]
    first, second = task.labels[pool.equality][rows]
    shows = (first != second) & ~np.isin(task.kinds[rows], UNTELLING).any(axis=0)
    found: list[int] = np.flatnonzero(shows[task.pattern_of_input[: PAPER_SETTING.n]]).tolist()
    return found


def deciding_outcomes(audits: tuple[Audit, ...], coders: list[Coder]) -> Iterator[dict[str, Any]]:
    """Yield what the reference and the recorded programs do on the input that decides each audit: a row an outcome.

    ``n_programs``: of the first ten of each coder, the reference aside; ``reference``: whether the reference does so.
    """
    with Sandbox(Limits()) as sandbox:
        for audit in audits:
            task = find_task(audit.benchmark, audit.task_id) if audit.arguments else None
            if task is not None and task.reference is not None:
                key = {name: getattr(audit, name) for name in ("benchmark", "task_id", "arguments")}
                yield from (key | row for row in _outcomes(task, task.reference, audit.arguments, coders, sandbox))


def _outcomes(
    task: Task, reference: str, arguments: str, coders: list[Coder], sandbox: Sandbox
) -> Iterator[dict[str, Any]]:
    language = language_of(task)
    programs = find_programs(task.benchmark, task.task_id, coders).filter(pl.col("sample_index") < PAPER_SETTING.m)
    counts = Counter[str](programs["tree_id"])
    codes = [(reference, 0)]
    codes += [
        (code, counts[tree])
        for tree, code in programs.unique("tree_id").sort("tree_id").select("tree_id", "code").iter_rows()
    ]
    preamble, name = language.preamble(task), task.entry_point
    seen = [sandbox.outcomes(preamble, [arguments], language.source(task, code), name)[0][0] for code, _ in codes]
    labels = Classes(Equality.PAPER, task.relation).classify(seen, ())
    for label in sorted(set(labels), key=labels.index):
        own = [i for i, other in enumerate(labels) if other == label]
        kind, text = seen[own[0]]
        n = sum(codes[i][1] for i in own)
        yield {"reference": label == labels[0], "n_programs": n, "kind": kind.name.lower(), "text": cut(text)}
