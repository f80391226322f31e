"""A language that the core does not know goes from candidates to a table (tests/support/rpn.py); one may be missing."""

import sys
import time
from pathlib import Path

import pytest

from difftrust.demo.simulated import sample_simulated
from difftrust.research.structure import StabilityRequest, compare_store
from difftrust.tables.registry import make_table
from difftrust.tables.request import TableRequest
from difftrust_core.base.literals import read_literal
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.estimates.queries import query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import MissingPackage, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.generation.extraction import program_of
from difftrust_core.generation.prompt import prompt_of
from difftrust_core.languages import registry
from difftrust_core.languages.registry import language_of, load_language
from difftrust_core.store.store import Store
from tests.support.estimates import compute_estimates
from tests.support.rpn import RPN
from tests.support.tasks import add_programs, small_task

TASK = small_task(
    "area",
    "(x, y)",
    benchmark="calculator",
    description="The area of a rectangle with sides x and y.",
    seed_inputs=("(2, 3)", "(0, 5)", "(-1, 1)"),
    reference="x y *",
    language="rpn",
)
CODES = ["x y *", "x  y *", "x x *", "x y", "x (y) *"]
"""Right, right, wrong; the last two do not load: two values are left, and `(y)` is no token."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "store")
    done = add_programs(store, (TASK, "someone", CODES))
    assert (done.n_candidates, done.n_programs) == (5, 5)
    assert store.read("programs")["tree_id"].n_unique() == 4
    return store


def test_from_candidates_to_a_table(store: Store) -> None:
    done = execute(store, n=200, n_jobs=1, say=lambda line: None)
    assert not done.failures
    pairs = [read_literal(text) for text in store.read("inputs")["arguments"]]
    differ = sum(x * y != x * x for x, y in pairs) / 200
    assert 0 < differ < 1
    (row,) = compute_estimates(store)["paper"].iter_rows(named=True)
    assert (row["m"], row["n"], row["n_load_errors"]) == (5, 200, 400)
    assert row["error"] == pytest.approx((2 + differ) / 5)
    # Of the 10 pairs, the right ones agree, those that do not load agree, 2 differ somewhere, 6 everywhere.
    assert row["incoherence"] == pytest.approx((6 + 2 * differ) / 10)
    refresh_estimates(store)
    made = make_table("4", TableRequest(store=store.root)).frame.row(0, named=True)
    assert (made["benchmark"], made["model"], made["tasks"]) == ("calculator", "someone", 1)
    found = made["mean_error"], made["mean_incoherence"]
    assert found == pytest.approx((row["error"], row["incoherence"]), abs=0.001)


def test_structure_by_a_grammar_of_its_own(store: Store) -> None:
    began = time.monotonic()
    done = compare_store(store, StabilityRequest())
    assert (done.n_rows, done.n_at_hand, done.n_parse_errors, done.n_left_out) == (1, 0, 0, 0)
    assert 0 < done.seconds <= time.monotonic() - began
    (row,) = query_sql(store, "select * from stability").iter_rows(named=True)
    assert (row["language"], row["options"], row["m"]) == ("rpn", "default", 5)
    assert row["mean_nodes"] == pytest.approx((4 + 4 + 4 + 3 + 4) / 5)  # the root, and a leaf for each token


def test_prompt_reply_and_simulated_coder() -> None:
    assert prompt_of(TASK).endswith("over the arguments x, y, z.\n\nThe area of a rectangle with sides x and y.\n")
    assert program_of("So:\n```\nx y *\n```", "area", RPN).code == "x y *\n"
    assert program_of("It is x times y.", "area", RPN).code == ""
    codes = [c.code for c in sample_simulated(TASK, "simulated/weak", temperature=1.5, m=40)]
    assert len(set(codes)) > 1
    assert all(RPN.is_program(code) for code in codes)
    assert language_of(TASK) is RPN


def test_a_language_that_nobody_registered_is_refused_by_name() -> None:
    with pytest.raises(WrongUsage, match="expected a language of python, rpn, sql, stdin, got 'cobol'"):
        load_language("cobol")


@pytest.mark.parametrize("asked_for", ["Spider", "starter-sql"])
def test_queries_without_sqlglot(asked_for: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    for name in [name for name in sys.modules if name.startswith("difftrust.sql.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingPackage) as refused:
        load_benchmark(asked_for, path=tmp_path if asked_for == "Spider" else None)
    assert str(refused.value) == (
        f"the benchmark {asked_for} needs sqlglot, which is not installed; run `pip install 'difftrust[sql]'`"
    )
    assert load_benchmark("starter")
