"""With the tool deleted, the core generates, executes and estimates a benchmark from a script of ten lines."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from tests.layers import ROOT
from tests.support.llm_server import Server

SCRIPT = """
import sys
from pathlib import Path
import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.execution.execute import execute
from difftrust_core.generation.generate import GenerationOptions, generate
from difftrust_core.store.store import Store
tasks, store = load_benchmark("starter")[:3], Store.create(Path("store"))
generate(store, tasks, models=["openai/m"], temperature=0.6, m=4, options=GenerationOptions(api_base=sys.argv[1]))
execute(store, n=50, n_jobs=2)
refresh_estimates(store)
print(query_estimates(store).select("task_id", "m", "n", "error", "incoherence").rows())
"""
WITHOUT_THE_TOOL = """
import sys
class Deleted:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("difftrust", "dashboard", "tests"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Deleted())
"""


@pytest.mark.slow
def test_the_core_generates_executes_and_estimates_a_benchmark_alone(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "difftrust_core", tmp_path / "difftrust_core", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("starter", "domains"):
        shutil.copytree(ROOT / "data" / name, tmp_path / "data" / name)
    # What site imports first holds for the worker processes too.
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_THE_TOOL)
    (tmp_path / "alone.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "OPENAI_API_KEY": "none"}
    names = [task.entry_point for task in load_benchmark("starter")[:3]]
    with Server(text=lambda serial: "\n".join(f"def {name}(*given): return {serial % 2}" for name in names)) as server:
        done = subprocess.run(
            [sys.executable, "alone.py", server.url],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == 12
    rows = ast.literal_eval(done.stdout.splitlines()[-1])
    assert [(m, n) for _, m, n, _, _ in rows] == [(4, 50)] * 3
    assert all(incoherence <= 2 * error and error > 0 for *_, error, incoherence in rows)
    assert any(
        incoherence > 0 for *_, incoherence in rows
    )  # six programs return 0, six 1: not all tasks have four alike
