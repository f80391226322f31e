"""What the executor keeps is what a plain, slow one sees: on recorded programs of 80 tasks, and on simulated ones."""

import ast
import json
import random
import subprocess
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from difftrust.demo.simulated import SIMULATED
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.recorded import Selection
from difftrust_core.estimates.queries import query_sql
from difftrust_core.execution.execute import execute
from difftrust_core.sandbox import layers
from difftrust_core.store.imports import add_candidates, import_source
from difftrust_core.store.store import Store
from tests.bench.growth import copy_store
from tests.support.needs import needs_bubblewrap
from tests.support.tiny import simulated

PLAIN = (Path(__file__).parents[1] / "support" / "plain_executor.py").read_text()
N = 40
OUTSIDE = ("random", "time", "id(", "hash(", "setrecursionlimit", "numpy")
"""Words of programs whose results depend on more than their input; NumPy is not there for the plain executor."""
UNLIKE = {"timeout", "skipped", "memory", "crash", "forged", "unsupported"}
"""Outcomes that the plain executor has no word for."""


def plain_words(task: Task, sources: list[str], inputs: list[str]) -> list[dict[str, str] | None]:
    """Return the words of each program by input, from the plain executor; None if it does not load."""
    job = {"preamble": task.preamble, "entry_point": task.entry_point, "sources": sources, "inputs": inputs}
    command = [*layers.bubblewrap(), "--", layers.python_binary(), "-s", "-P", "-S", "-B", "-c", PLAIN]
    ended = subprocess.run(command, input=json.dumps(job), stdout=subprocess.PIPE, text=True, cwd="/", check=True)
    found = json.loads(ended.stdout)
    return [None if words is None else dict(zip(inputs, words, strict=True)) for words in found]


def is_plain(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except ValueError:
        return False
    return True


SEEN = """
SELECT benchmark, task_id, e.tree_id, coalesce(p.code, t.reference) AS code, i.arguments, o.kind, o.text, o.strict_class
FROM executions e
JOIN tasks t USING (benchmark, task_id)
JOIN behaviours b USING (benchmark, task_id, start, behaviour_id)
JOIN inputs i USING (benchmark, task_id)
JOIN outcomes o USING (benchmark, task_id, start, input_index)
LEFT JOIN (
  SELECT benchmark, task_id, tree_id, min_by(code, program_id) AS code FROM programs GROUP BY ALL
) p USING (benchmark, task_id, tree_id)
WHERE o.outcome_id = b.outcome_ids[i.input_index - start + 1]
  AND e.restarts = 0 AND NOT e.trimmed AND NOT e.nondeterministic
ORDER BY e.tree_id, i.input_index
"""
"""What each program came to on each input; of texts that are one program, the first. The reference is one of them."""


def compare(task: Task, seen: pl.DataFrame) -> tuple[int, int]:
    """Assert that both executors see the same; return how many outcomes were compared, and of how many."""
    codes = dict(seen.select("tree_id", "code").unique(maintain_order=True).rows())
    codes = {tree: code for tree, code in codes.items() if not any(word in code for word in OUTSIDE)}
    inputs = [text for text in seen["arguments"].unique(maintain_order=True) if is_plain(text)]
    plain = dict(zip(codes, plain_words(task, [*codes.values()], inputs), strict=True))
    pairs: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
    compared = whole = 0
    for *_, tree, _, arguments, kind, text, strict in seen.rows():
        if tree not in plain:
            continue
        where = (task.task_id, tree, arguments, kind, text)
        words = plain[tree]
        if words is None:
            assert kind == "load_error", where
            continue
        whole += 1
        word = words.get(arguments, "?")
        if kind in UNLIKE or "?" in word:
            continue
        assert word == f"raised {text}" if kind == "exception" else not word.startswith("raised"), where
        assert kind in ("exception", "value"), where
        pairs[arguments].add((strict, word))
        compared += 1
    for arguments, found in pairs.items():
        assert len({strict for strict, _ in found}) == len(found) == len({word for _, word in found}), arguments
    return compared, whole


def compare_all(store: Store) -> None:
    """Compare them on a store; most outcomes have a word of the plain executor."""
    compared = whole = 0
    for (benchmark, task_id), seen in query_sql(store, SEEN).group_by("benchmark", "task_id"):
        (task,) = store.read_tasks(str(benchmark), [str(task_id)])
        found = compare(task, seen)
        compared, whole = compared + found[0], whole + found[1]
    assert compared > 0.8 * whole > 0


@pytest.mark.slow
@needs_bubblewrap
def test_simulated_programs_do_what_a_plain_executor_sees(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    tasks = [task for task in load_benchmark("starter") if task.reference is not None and task.relation is None]
    for model in SIMULATED:
        add_candidates(store, simulated(tasks, model, m=3, temperature=1.0), {"starter": tasks})
    execute(store, n=N, n_jobs=2, say=lambda line: None)
    compare_all(store)


@pytest.mark.long
@pytest.mark.slow
@needs_bubblewrap
def test_recorded_programs_of_80_tasks_do_what_a_plain_executor_sees(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIFFTRUST_DATA", str(shared_data))
    source = tmp_path / "source"
    chosen = Selection(models=frozenset({"gpt_3_5", "llama_3_1_8b_instruct"}), temperatures=frozenset({0.6}), m=3)
    import_source(source, shared_data / "difftrust" / "candidates.parquet", chosen, n_jobs=2)
    opened = Store.open(source)
    every = sorted(opened.read("tasks").select("benchmark", "task_id").rows())
    store = copy_store(opened, tmp_path / "store", random.Random(0).sample(every, 80), m=3, copies=1)
    execute(store, n=N, n_jobs=2, say=lambda line: None)
    compare_all(store)
