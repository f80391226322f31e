"""What the executor keeps is what a plain, slow one sees: on recorded programs of 80 tasks, and on simulated ones."""

import ast
import json
import random
import subprocess
from pathlib import Path

import polars as pl
import pytest

from difftrust.demo.simulated import SIMULATED
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.recorded import Selection
from difftrust_core.execution.execute import execute
from difftrust_core.sandbox import layers
from difftrust_core.store.imports import add_candidates, import_source
from difftrust_core.store.store import REFERENCE, Store
from tests.bench.growth import copy_store
from tests.support.needs import needs_bubblewrap
from tests.support.tiny import simulated

PLAIN = (Path(__file__).parents[1] / "support" / "plain_executor.py").read_text()
N = 40
OUTSIDE = ("random", "time", "id(", "hash(", "setrecursionlimit", "numpy")
"""Words of programs whose results depend on more than their input; NumPy is not there for the plain executor."""
UNLIKE = {"timeout", "skipped", "memory", "crash", "forged", "unsupported"}
"""Outcomes that the plain executor has no word for."""


def plain_words(task: Task, sources: list[str], inputs: list[str]) -> list[list[str] | None]:
    """Return the words of each program, from the plain executor."""
    job = {"preamble": task.preamble, "entry_point": task.entry_point, "sources": sources, "inputs": inputs}
    command = [*layers.bubblewrap(), "--", layers.python_binary(), "-s", "-P", "-S", "-B", "-c", PLAIN]
    ended = subprocess.run(command, input=json.dumps(job), stdout=subprocess.PIPE, text=True, cwd="/", check=True)
    found: list[list[str] | None] = json.loads(ended.stdout)
    return found


def is_plain(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except ValueError:
        return False
    return True


def compare(task: Task, tables: dict[str, pl.DataFrame]) -> tuple[int, int]:
    """Assert that both executors see the same; return how many outcomes were compared, and of how many."""
    own = {name: table.filter(task_id=task.task_id) for name, table in tables.items()}
    texts = dict(own["programs"].sort("program_id").unique("tree_id", keep="first").select("tree_id", "code").rows())
    texts[REFERENCE] = task.reference or ""
    inputs = own["inputs"].sort("input_index")["arguments"].to_list()
    kept = [i for i, text in enumerate(inputs) if is_plain(text)]
    runs = own["executions"].filter(restarts=0, trimmed=False, nondeterministic=False)
    runs = runs.filter(~pl.col("tree_id").is_in([t for t, code in texts.items() if any(w in code for w in OUTSIDE)]))
    rows = {row["behaviour_id"]: row["outcome_ids"] for row in own["behaviours"].iter_rows(named=True)}
    said = {
        (row["input_index"], row["outcome_id"]): (row["kind"], row["text"], row["strict_class"])
        for row in own["outcomes"].iter_rows(named=True)
    }
    trees = runs["tree_id"].to_list()
    words = plain_words(task, [texts[tree] for tree in trees], [inputs[i] for i in kept])
    compared = 0
    for position, i in enumerate(kept):
        pairs = set()
        for tree, behaviour, plain in zip(trees, runs["behaviour_id"], words, strict=True):
            kind, text, strict = said[i, rows[behaviour][i]]
            if plain is None:
                assert kind == "load_error", (task.task_id, tree, i, kind, text)
                continue
            seen = plain[position]
            if kind in UNLIKE or "?" in seen:
                continue
            if kind == "exception":
                assert seen == f"raised {text}", (task.task_id, tree, inputs[i])
            else:
                assert kind == "value", (task.task_id, tree, inputs[i], kind)
                assert not seen.startswith("raised"), (task.task_id, tree, inputs[i], seen, text)
            pairs.add((strict, seen))
            compared += 1
        classes, seen_words = {strict for strict, _ in pairs}, {seen for _, seen in pairs}
        assert len(classes) == len(pairs) == len(seen_words), (task.task_id, inputs[i], pairs)
    return compared, sum(plain is not None for plain in words) * len(inputs)


def compare_all(store: Store) -> tuple[int, int]:
    names = ("programs", "inputs", "behaviours", "executions", "outcomes")
    compared, whole = 0, 0
    for (benchmark,) in store.read("tasks").select("benchmark").unique().sort("benchmark").rows():
        tables = {name: store.read(name, {"benchmark": benchmark}) for name in names}
        for task in store.read_tasks(benchmark):
            found = compare(task, tables)
            compared, whole = compared + found[0], whole + found[1]
    return compared, whole


@pytest.mark.slow
@needs_bubblewrap
def test_simulated_programs_do_what_a_plain_executor_sees(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    tasks = [task for task in load_benchmark("starter") if task.reference is not None and task.relation is None]
    for model in SIMULATED:
        add_candidates(store, simulated(tasks, model, m=3, temperature=1.0), {"starter": tasks})
    execute(store, n=N, n_jobs=2, say=lambda line: None)
    compared, whole = compare_all(store)
    assert compared > 0.8 * whole


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
    compared, whole = compare_all(store)
    assert compared > 0.8 * whole
