"""Results: compact tables beside what they come from, alone in a small store, by SQL, and per coder's reach."""

import math
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.findings_in_store import query_disagreement
from difftrust_core.datasets.recorded import Recorded, selection_of
from difftrust_core.estimates.behaviours import cut, load_matrix, telling_patterns
from difftrust_core.estimates.measures import ablation, summary
from difftrust_core.estimates.pool import MISSING, compress, load_pool, pool_of
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import estimates_are_stale, open_pools, refresh_estimates
from difftrust_core.exceptions import BadStore, NoStore, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.generation.prices import PUBLISHED_WORDING_TOKENS, count_tokens, recorded_prompt_tokens
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import REFERENCE, Store
from tests.support.command import succeed
from tests.support.estimates import compute_estimates
from tests.support.plain_estimators import estimate
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, filled, silent

LONG = {**RIGHT, "tiny/double": "def double(x):\n    return 'y' * 500\n"}
N, DEEP = 24, 50
FAR, NEAR = ("gpt_4o", 0.6), ("near", 0.6)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store with two coders, one of them executed on more inputs than the other."""
    store = Store.create(tmp_path_factory.mktemp("full") / "store")
    add_candidates(store, candidates(FAR[0], RIGHT, WRONG, WRONG, RIGHT), {"tiny": TASKS}, n_jobs=1)
    add_candidates(store, candidates(NEAR[0], WRONG, OTHER, RIGHT), {"tiny": TASKS}, n_jobs=1)
    execute(store, n=N, say=silent)
    deep = execute(store, n=DEEP, selection=selection_of(models=[FAR[0]]), say=silent)
    assert (deep.n_tasks, deep.n_programs) == (3, 6)  # OTHER stays behind
    refresh_estimates(store)
    return store


@pytest.fixture(scope="module")
def results(full: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return export_results(full, tmp_path_factory.mktemp("small") / "results")


def test_each_coder_is_estimated_as_far_as_its_programs_went(full: Store) -> None:
    reached = dict(query_estimates(full).select("model", "n").unique().iter_rows())
    assert reached == {FAR[0]: DEEP, NEAR[0]: N}
    assert set(compute_estimates(full, n=DEEP)["paper"]["model"]) == {FAR[0]}
    assert set(compute_estimates(full, n=N)["paper"]["model"]) == {FAR[0], NEAR[0]}
    with pytest.raises(
        WrongUsage, match=f"executed on {DEEP} inputs, not 51; run `difftrust execute --store DIR -n 51`"
    ):
        compute_estimates(full, n=DEEP + 1)


def test_a_coder_that_reaches_n_on_some_tasks_only_is_left_out_and_counted(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    mixed = {task.task_id: (RIGHT if i else OTHER)[task.task_id] for i, task in enumerate(TASKS)}
    add_candidates(store, candidates("gpt_4o", RIGHT, WRONG), {"tiny": TASKS}, n_jobs=1)
    add_candidates(store, candidates("near", RIGHT, mixed), {"tiny": TASKS}, n_jobs=1)
    add_candidates(store, candidates("whole", RIGHT, WRONG), {"tiny": TASKS}, n_jobs=1)
    execute(store, n=10, say=silent)
    execute(store, n=20, selection=selection_of(models=["gpt_4o"]), say=silent)
    refresh_estimates(store)
    # On two of three tasks `near` has no program that `gpt_4o` has not.
    assert query_estimates(store).filter(pl.col("model") == "near")["n"].to_list() == [10, 20, 20]
    pool = load_pool(store, "tiny")
    assert (pool.reach(("gpt_4o", 0.6)), pool.reach(("near", 0.6))) == (20, 10)
    assert pool.tasks_of(("near", 0.6)) == [task.task_id for task in TASKS]
    assert set(compute_estimates(store, n=20)["paper"]["model"]) == {"gpt_4o", "whole"}
    out = succeed("table", 4, "-n", 20, "--store", store.root)
    assert "left out at t = 0.6, without m = 2 or n = 20: near on tiny" in out
    assert "near" not in out.split("left out")[0]


def test_a_later_execution_of_all_goes_no_further_than_asked_and_one_of_nobody_is_refused(full: Store) -> None:
    again = execute(full, n=N, say=silent)
    assert (again.n_tasks, again.n_tasks_at_hand) == (0, 3)
    with pytest.raises(NoStore, match="no candidates of this selection"):
        execute(full, n=N, selection=selection_of(models=["nobody"]), say=silent)


@pytest.mark.parametrize(("coder", "m", "n"), [(FAR, 4, DEEP), (FAR, 3, 7), (NEAR, 3, N), (NEAR, 2, 1)], ids=str)
def test_ablations_equal_estimates_on_the_whole_matrix(
    full: Store, results: Store, coder: tuple[str, float], m: int, n: int
) -> None:
    programs = {FAR: (RIGHT, WRONG, WRONG, RIGHT), NEAR: (WRONG, OTHER, RIGHT)}[coder][:m]
    trees = dict(full.read("programs").select("code", "tree_id").iter_rows())
    of_task = {
        equality: ablation(load_pool(results, "tiny", equality=equality), [coder], m=m, n=n) for equality in EQUALITIES
    }
    for task in TASKS:
        matrix = load_matrix(full, {"benchmark": "tiny", "validity": "reference"}, task.task_id, (0, N))
        rows = [matrix.row_of[trees[program[task.task_id]]] for program in programs]
        counts = np.bincount(rows, minlength=len(matrix.reach))
        n_exceptions = int((counts[:, None] * (matrix.kinds[:, :n] == 1)).sum())
        for equality, frame in of_task.items():
            found = frame.row(by_predicate=pl.col("task_id") == task.task_id, named=True)
            expected = estimate(matrix.labels[equality][:, :n], counts, matrix.row_of[REFERENCE])
            assert {name: found[name] for name in expected} == expected
            assert found["n_exceptions"] == n_exceptions


def test_the_compact_matrix_expands_to_the_matrix(full: Store) -> None:
    matrix = load_matrix(full, {"benchmark": "tiny", "validity": "reference"}, "tiny/total", (0, N))
    task = compress("t", matrix.labels, matrix.kinds, reach=matrix.reach, reference=None)
    for equality, labels in matrix.labels.items():
        whole = task.labels[equality][:, task.pattern_of_input[:DEEP]]
        assert np.array_equal(whole[:, None] == whole[None], labels[:, None] == labels[None])
        assert np.array_equal(whole == MISSING, labels == MISSING)
    assert sorted(set(matrix.reach.tolist())) == [N, DEEP]


def test_a_results_store_has_the_same_numbers_and_bytes_and_no_text_of_others(
    full: Store, results: Store, tmp_path: Path
) -> None:
    assert query_estimates(results).equals(query_estimates(full))
    assert not estimates_are_stale(results)
    again = export_results(full, tmp_path / "again")
    export_results(full, tmp_path / "again")  # a results store is replaced
    files = {str(p.relative_to(results.root)): p.read_bytes() for p in results.root.rglob("*") if p.is_file()}
    assert {str(p.relative_to(again.root)): p.read_bytes() for p in again.root.rglob("*") if p.is_file()} == files
    told = "\n".join(str(results.read(table).rows()) for table in results.settings().tables or ())
    for program in (RIGHT, WRONG, OTHER):
        assert not any(code in told or code.splitlines()[1] in told for code in program.values())
    assert not any(task.description in told or task.signature in told for task in TASKS)


def test_what_a_results_store_lacks_is_named_with_the_command_that_brings_it(results: Store) -> None:
    for table in ("tasks", "candidates", "programs", "inputs", "outcomes", "executions"):
        for ask in (results.read, lambda table: query_sql(results, f"SELECT * FROM {table}")):
            with pytest.raises(NoStore, match=rf"results only, no {table}; .*`difftrust import difftrust --store DIR`"):
                ask(table)


def test_a_results_store_is_not_executed_nor_filled(results: Store) -> None:
    before = {p: p.read_bytes() for p in results.root.rglob("*.*") if p.is_file() and p.name != ".lock"}
    for act in (
        lambda: execute(results, n=5, say=silent),
        lambda: add_candidates(results, candidates("x", RIGHT), {"tiny": TASKS}, n_jobs=1),
        lambda: query_disagreement(results),
    ):
        with pytest.raises(NoStore, match="holds results only"):
            act()
    assert {p: p.read_bytes() for p in before} == before


def test_export_replaces_nothing_else(full: Store, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(NoStore, match="no results store"):
        export_results(full, tmp_path)
    with pytest.raises(NoStore, match="no results store"):
        export_results(full, full.root)
    with pytest.raises(NoStore, match="no results to export"):
        export_results(Store.create(tmp_path / "empty"), tmp_path / "new")
    assert (tmp_path / "mine.txt").read_text() == "keep me"


@pytest.mark.parametrize("which", ["full", "results"])
def test_the_sql_macros_give_the_same_numbers(full: Store, results: Store, which: str) -> None:
    store = {"full": full, "results": results}[which]
    pool = load_pool(store, "tiny")
    mine = ablation(pool, [FAR], m=3, n=20)
    assert query_sql(store, "SELECT * FROM ablation('gpt_4o', 'tiny', 0.6, 3, 20)").equals(mine, null_equal=True)
    (row,) = query_sql(store, "SELECT * FROM ablation_summary('gpt_4o', 'tiny', 0.6, 3, 20)").iter_rows(named=True)
    assert row == {name: None if math.isnan(value) else value for name, value in summary(mine).items()}
    one = query_sql(store, "SELECT m, error, incoherence FROM ablation('gpt_4o', 'tiny', 0.6, 1, 20)")
    assert one.rows() == [(1, 0.0, None)] * 3  # what is undefined is NULL in SQL
    mixed = query_sql(store, "SELECT * FROM ablation('gpt_4o+near', 'tiny', 0.6, NULL, NULL)")
    assert mixed.equals(ablation(pool, [FAR, NEAR], m=None, n=None), null_equal=True)
    assert mixed.select("m", "n").unique().rows() == [(7, N)]
    with pytest.raises(WrongUsage, match=r"^tiny has no candidates of nobody at 0\.6; there are: gpt_4o at 0\.6"):
        query_sql(store, "SELECT * FROM ablation('nobody', 'tiny', 0.6, 3, 20)")
    with pytest.raises(WrongUsage, match="macros: ablation"):
        query_sql(store, "SELECT nonsense FROM estimates")


def test_an_execution_that_is_out_of_date_is_measured_as_it_is(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG)
    execute(store, n=10, say=silent)
    with pytest.raises(NoStore, match="run `difftrust execute"):
        load_pool(store, "tiny")
    pool = open_pools(store)["tiny"]
    assert ablation(pool, [("coder", 0.6)], m=None, n=None)["m"].to_list() == [2, 2, 2]
    assert not (store.root / "classes").exists()


def test_telling_patterns_split_most_and_then_what_is_left() -> None:
    # Columns: 3 clusters; the same 3; 2 clusters that split what the first left; nothing new.
    labels = np.array([[0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 1], [2, 2, 0, 1]], dtype=np.uint16)
    size = np.array([9, 5, 7, 1])
    assert telling_patterns(labels, size) == [1, 2]
    assert telling_patterns(labels, size, limit=1) == [1]
    assert telling_patterns(labels[:1], size) == []
    bits = np.array([[row >> bit & 1 for bit in range(6)] for row in range(64)], dtype=np.uint16)
    assert telling_patterns(bits, np.arange(6)) == [0, 1, 2, 3, 4]  # five at most


@pytest.mark.parametrize("second", [(0, 1, 0, 1), (MISSING, 1, 1, 1)])
def test_rows_that_only_two_patterns_together_tell_apart_are_told_apart(second: tuple[int, ...]) -> None:
    labels = np.array([(0, 0, 1, 2), second], dtype=np.uint16).T
    assert telling_patterns(labels, np.array([1, 1])) == [0, 1]


@pytest.mark.parametrize(("text", "shown"), [("x" * 200, "x" * 200), ("x" * 201, "x" * 199 + "…")])
def test_a_text_is_cut_where_it_has_more_than_200_characters(text: str, shown: str) -> None:
    assert cut(text) == shown


def test_disagreements_show_what_each_cluster_says(results: Store) -> None:
    shown = query_sql(results, "SELECT * FROM disagreements WHERE task_id = 'tiny/first' ORDER BY rank, label")
    first = shown.filter(pl.col("rank") == 1)
    # On an empty list WRONG raises; of the longer ones OTHER takes the last item. RIGHT 2 + 1, WRONG 2 + 1, OTHER 1.
    assert first["n_candidates"].sum() == 7
    told = {(row["arguments"], row["kind"], row["text"]): row["n_candidates"] for row in shown.iter_rows(named=True)}
    assert told["([],)", "exception", "IndexError"] == 3
    assert told["([],)", "value", "None"] == 4
    assert shown.filter("reference").height == shown["rank"].n_unique()
    assert shown["text"].str.len_chars().max() <= 200


def test_what_recorded_models_cost_follows_from_their_tokens_when_they_are_read(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for model in ("gpt_o4_mini", "deepseek_v3_0324", "my-model"):
        double = candidates(model, RIGHT, WRONG, LONG).candidates.filter(pl.col("task_id") == "tiny/double")
        add_candidates(store, Recorded(candidates=double), {"tiny": TASKS}, n_jobs=1)
    execute(store, n=5, say=silent)
    refresh_estimates(store)
    assert store.read("members")["cost_nanodollars"].is_null().all()
    completion = sum(count_tokens([RIGHT["tiny/double"], WRONG["tiny/double"]]))
    prompt = 2 * recorded_prompt_tokens(TASKS[0])
    pool = load_pool(store, "tiny")
    assert [task.task_id for task in pool.tasks] == ["tiny/double"]  # tasks without candidates leave no trace

    def cost(model: str) -> tuple[float | None, bool | None]:
        return ablation(pool, [(model, 0.6)], m=2, n=1).select("cost_usd", "cost_usd_is_lower_bound").row(0)

    assert cost("gpt_o4_mini") == (pytest.approx((1.10 * prompt + 4.40 * completion) / 1e6, abs=1e-9), True)
    assert cost("deepseek_v3_0324") == (pytest.approx((0.27 * prompt + 1.10 * completion) / 1e6, abs=1e-9), False)
    assert cost("my-model") == (None, None)  # never 0
    assert math.isnan(summary(ablation(pool, [("my-model", 0.6)], m=2, n=1))["cost_usd"])
    long = query_sql(store, "SELECT DISTINCT text FROM disagreements WHERE text LIKE '''y%'")["text"].item()
    assert (len(long), long[-2:]) == (200, "y…")  # long values are cut


@pytest.mark.parametrize("cost", [7, 5_000_000_000])  # in four bytes, and not
def test_a_cost_that_was_recorded_is_exact_whatever_the_model_bills(full: Store, cost: int) -> None:
    where = {"benchmark": "tiny"}
    frames = {name: full.read(name, where) for name in ("patterns", "classes", "members")}
    paid = frames["members"].with_columns(
        model=pl.lit("gpt_o4_mini"), temperature=pl.lit(0.6), cost_nanodollars=pl.lit(cost, dtype=pl.Int64)
    )
    own = pool_of({**frames, "members": paid}.__getitem__, "tiny", "paper").of(("gpt_o4_mini", 0.6))
    assert set(own.cost_nanodollars.tolist()) == {cost}
    assert not own.cost_is_lower_bound.any()


def test_tokens_are_counted_offline() -> None:
    assert count_tokens(["", "def f(x):\n    return x\n"]) == [0, 8]
    own = f"def {TASKS[0].entry_point}{TASKS[0].signature}:\n{TASKS[0].description}"
    assert recorded_prompt_tokens(TASKS[0]) == count_tokens([own])[0] + PUBLISHED_WORDING_TOKENS


def test_what_an_llm_was_paid_is_taken_as_it_is(tmp_path: Path) -> None:
    from difftrust_core.estimates.pool import member_costs

    store = Store.create(tmp_path / "store")
    add_candidates(store, candidates("gpt_4o", RIGHT, WRONG), {"tiny": TASKS}, n_jobs=1)
    listed = (
        store.read("candidates")
        .sort("task_id", "sample_index")
        .with_columns(
            prompt_tokens=pl.Series([7, None] * 3),
            completion_tokens=pl.Series([9, None] * 3),
            cost_usd=pl.Series([0.25, None] * 3),
        )
    )
    found = member_costs(store, "tiny", listed).filter(pl.col("task_id") == "tiny/double").sort("sample_index")
    paid, counted = found.select("prompt_tokens", "completion_tokens", "cost_nanodollars").rows()
    assert paid == (7, 9, 250_000_000)
    prompt, completion = recorded_prompt_tokens(TASKS[0]), count_tokens([WRONG["tiny/double"]])[0]
    assert counted == (prompt, completion, 5_000 * prompt + 15_000 * completion)


def test_what_names_no_task_or_model_is_refused_in_one_line(full: Store, tmp_path: Path) -> None:
    root = tmp_path / "store"
    shutil.copytree(full.root, root)
    for table, change, said in (
        ("patterns", lambda rows: pl.concat([rows, rows]), "twice"),
        ("members", lambda rows: rows.with_columns(model=pl.lit(None, pl.String)), "nulls in model"),
    ):
        path = Store(root).files(table)[0]
        whole = path.read_bytes()
        change(pl.read_parquet(path, hive_partitioning=False)).write_parquet(path)
        with pytest.raises(BadStore, match=said):
            load_pool(Store(root), "tiny")
        path.write_bytes(whole)
