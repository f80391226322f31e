"""Replies on disk to candidates in a store, each once, whatever became of it; and nothing else."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from difftrust_core.coders.extraction import NO_PROGRAM, program_of, query_of
from difftrust_core.corpora.candidates import Recorded
from difftrust_core.pipeline.recorded import add_candidates
from difftrust_core.pipeline.replies import Record, ReplyFile
from difftrust_core.pipeline.stored_tasks import load_tasks
from difftrust_core.store import Store
from difftrust_core.tasks import Task


def add_replies(store: Store, tasks: Sequence[Task], files: Sequence[ReplyFile], *, n_jobs: int = 2) -> int:
    """Make candidates of the replies that are none yet; return how many of them hold no program.

    A reply without a program is a candidate with an empty text: it does not load, and counts as that.
    """
    asked = {(task.benchmark, task.task_id): task for task in tasks}
    key = ["benchmark", "model", "temperature", "task_id", "sample_index"]
    texts = store.read("programs").select("benchmark", "task_id", "program_id").unique()
    whole = store.read("candidates").join(texts, on=["benchmark", "task_id", "program_id"], how="semi")
    known = set(whole.select(key).iter_rows())
    rows = []
    for reply_file in files:
        where = reply_file.where
        for record in reply_file.records.values():
            task = asked.get((str(where["benchmark"]), record.task_id))
            if task is not None and (*where.values(), record.task_id, record.sample_index) not in known:
                rows.append({**where, **_row(record, task)})
    if not rows:
        return 0
    frame = pl.DataFrame(rows, infer_schema_length=None)
    benchmarks = {name: _with_stored(store, name, tasks) for name in frame["benchmark"].unique().sort()}
    add_candidates(store, Recorded(candidates=frame), benchmarks, n_jobs=n_jobs)
    return frame.filter(pl.col("extraction") == NO_PROGRAM).height


def _row(record: Record, task: Task) -> dict[str, Any]:
    is_query = task.language == "sql"
    extracted = query_of(record.text) if is_query else program_of(record.text, task.entry_point)
    return {
        "task_id": record.task_id,
        "sample_index": record.sample_index,
        "code": extracted.code,
        "extraction": extracted.how,
        "prompt_hash": record.prompt_hash,
        "prompt_tokens": record.prompt_tokens,
        "completion_tokens": record.completion_tokens,
        "cost_usd": record.cost_usd,
        "finish_reason": record.finish_reason,
    }


def _with_stored(store: Store, benchmark: str, tasks: Sequence[Task]) -> list[Task]:
    """Return a benchmark's tasks in the store and the new ones: its file is written whole, and may hold more."""
    merged = {task.task_id: task for task in load_tasks(store, benchmark)}
    merged.update({task.task_id: task for task in tasks if task.benchmark == benchmark})
    return list(merged.values())
