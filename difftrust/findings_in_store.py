"""Ask a store for single findings: an input on which candidates disagree, tasks with nondeterministic programs."""

from dataclasses import dataclass

import polars as pl

from difftrust_core.estimates.queries import connect, query_sql
from difftrust_core.store.store import Store


def query_nondeterministic(store: Store) -> pl.DataFrame:
    """Return the tasks on which an executed program differed from itself: benchmark, task_id, n_programs and how many.

    ``n_nondeterministic`` counts distinct programs, the reference among them.
    """
    counts = "SELECT * FROM task_counts WHERE n_nondeterministic > 0 ORDER BY benchmark, task_id"
    return query_sql(store, counts)


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """An input on which candidates of one coder for one task disagree."""

    benchmark: str
    task_id: str
    model: str
    arguments: str
    """The argument tuple, in the text form of ``literals``."""
    outcomes: tuple[tuple[int, str, str], ...]
    """(candidates, kind, text) of each distinct outcome under the paper's equality, the most frequent first."""


_DISAGREEMENTS = """
    WITH votes AS (
        SELECT c.benchmark, c.task_id, c.model, c.temperature, e.start, e.behaviour_id, count(*) AS n_candidates
        FROM candidates c JOIN program_texts p USING (benchmark, task_id, program_id)
        JOIN executions e USING (benchmark, task_id, tree_id)
        WHERE ($model IS NULL OR c.model = $model) AND ($task_id IS NULL OR c.task_id = $task_id)
        GROUP BY ALL
    ), cells AS (
        SELECT v.*, v.start + unnest(range(len(outcome_ids))) AS input_index, unnest(outcome_ids) AS outcome_id
        FROM votes v JOIN behaviours b USING (benchmark, task_id, start, behaviour_id)
    ), classes AS (
        SELECT c.benchmark, c.task_id, c.model, c.temperature, c.input_index, o.paper_class AS class,
               sum(n_candidates) AS n_candidates, any_value(o.kind ORDER BY outcome_id) AS kind,
               any_value(o.text ORDER BY outcome_id) AS text
        FROM cells c JOIN outcomes o USING (benchmark, task_id, input_index, outcome_id)
        GROUP BY ALL
    ), splits AS (
        SELECT benchmark, task_id, model, temperature, input_index,
               list({'n': n_candidates::INT, 'kind': kind, 'text': text}
                    ORDER BY n_candidates DESC, kind, text) AS found
        FROM classes GROUP BY ALL HAVING count(*) > 1 AND bool_and(kind IN ('value', 'exception'))
    )
    SELECT s.benchmark, s.task_id, s.model, i.arguments, s.found
    FROM splits s JOIN inputs i USING (benchmark, task_id, input_index)
    ORDER BY len(i.arguments), s.task_id, s.model, i.arguments LIMIT 1
"""


def query_disagreement(store: Store, *, model: str | None = None, task_id: str | None = None) -> Disagreement | None:
    """Return the shortest executed input on which candidates of one coder disagree, None where there is none."""
    store.files("outcomes")  # which says what to do where there are none
    found = connect(store).execute(_DISAGREEMENTS, {"model": model, "task_id": task_id}).fetchone()
    if found is None:
        return None
    benchmark, task, whose, arguments, outcomes = found
    return Disagreement(
        benchmark=benchmark,
        task_id=task,
        model=whose,
        arguments=arguments,
        outcomes=tuple((o["n"], o["kind"], o["text"]) for o in outcomes),
    )
