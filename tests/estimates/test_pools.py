"""Results and estimates of a store: compact tables, alone in a small store, by SQL, per coder, and made anew."""

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.findings_in_store import query_disagreement
from difftrust.verify.rows import check_tables
from difftrust_core.base.records import Kind
from difftrust_core.base.task import TaskTest
from difftrust_core.datasets.recorded import Recorded, selection_of
from difftrust_core.estimates.behaviours import count_draws, cut, telling_patterns
from difftrust_core.estimates.measures import ablation, summary
from difftrust_core.estimates.pool import MISSING, load_pool, member_costs, pool_of
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import estimates_are_stale, open_pools, refresh_estimates
from difftrust_core.exceptions import BadStore, NoStore, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.generation.prices import PUBLISHED_WORDING_TOKENS, count_tokens, recorded_prompt_tokens
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.store.imports import add_candidates, add_tasks
from difftrust_core.store.settings import Settings
from difftrust_core.store.store import SCHEMAS, Store
from tests.support.command import succeed
from tests.support.estimates import compute_estimates
from tests.support.tasks import small_task
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, executed, filled, silent

LONG = {**RIGHT, "tiny/double": "def double(x):\n    return 'y' * 500\n"}
N, DEEP = 24, 50
FAR, NEAR = ("gpt_4o", 0.6), ("near", 0.6)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store with two coders, one of them executed on more inputs than the other."""
    store = filled(tmp_path_factory.mktemp("full") / "store", RIGHT, WRONG, WRONG, RIGHT, model=FAR[0])
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
    store = filled(tmp_path / "store", RIGHT, WRONG, model="gpt_4o")
    mixed = {task.task_id: (RIGHT if i else OTHER)[task.task_id] for i, task in enumerate(TASKS)}
    for model, second in (("near", mixed), ("whole", WRONG)):
        add_candidates(store, candidates(model, RIGHT, second), {"tiny": TASKS}, n_jobs=1)
    execute(store, n=10, say=silent)
    execute(store, n=20, selection=selection_of(models=["gpt_4o"]), say=silent)
    refresh_estimates(store)
    # On two of three tasks `near` has no program that `gpt_4o` has not.
    assert query_estimates(store).filter(model="near")["n"].to_list() == [10, 20, 20]
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


def test_a_results_store_has_the_same_numbers_and_bytes_and_no_text_of_others(
    full: Store, results: Store, tmp_path: Path
) -> None:
    assert query_estimates(results).equals(query_estimates(full))
    assert not estimates_are_stale(results)
    again = export_results(full, tmp_path / "again")
    export_results(full, tmp_path / "again")  # a results store is replaced
    one, other = (
        {str(p.relative_to(made.root)): p.read_bytes() for p in made.root.rglob("*") if p.is_file()}
        for made in (results, again)
    )
    assert one == other
    told = "\n".join(str(results.read(table).rows()) for table in results.settings().tables or ())
    texts = [text for task in TASKS for text in (task.description, task.signature)]
    texts += [text for program in (RIGHT, WRONG, OTHER) for code in program.values() for text in code.splitlines()[1:]]
    assert not [text for text in texts if text in told]


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
    for folder in (tmp_path, full.root):
        with pytest.raises(NoStore, match="no results store"):
            export_results(full, folder)
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
    for second in ((0, 1, 0, 1), (MISSING, 1, 1, 1)):  # only two together tell all rows apart
        labels = np.array([(0, 0, 1, 2), second], dtype=np.uint16).T
        assert telling_patterns(labels, np.array([1, 1])) == [0, 1]


def test_a_text_is_cut_where_it_has_more_than_200_characters() -> None:
    assert [cut("x" * length) for length in (200, 201)] == ["x" * 200, "x" * 199 + "…"]


def test_disagreements_show_what_each_cluster_says(results: Store) -> None:
    shown = query_sql(results, "SELECT * FROM disagreements WHERE task_id = 'tiny/first' ORDER BY rank, label")
    # On an empty list WRONG raises; of the longer ones OTHER takes the last item. RIGHT 2 + 1, WRONG 2 + 1, OTHER 1.
    assert shown.filter(rank=1)["n_candidates"].sum() == 7
    told = {row[:-1]: row[-1] for row in shown.select("arguments", "kind", "text", "n_candidates").iter_rows()}
    assert told["([],)", "exception", "IndexError"] == 3
    assert told["([],)", "value", "None"] == 4
    assert shown.filter("reference").height == shown["rank"].n_unique()


def test_what_recorded_models_cost_follows_from_their_tokens_when_they_are_read(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for model in ("gpt_o4_mini", "deepseek_v3_0324", "my-model"):
        double = candidates(model, RIGHT, WRONG, LONG).candidates.filter(task_id="tiny/double")
        add_candidates(store, Recorded(candidates=double), {"tiny": TASKS}, n_jobs=1)
    execute(store, n=5, say=silent)
    refresh_estimates(store)
    assert store.read("members")["cost_nanodollars"].is_null().all()
    completion = sum(count_tokens([RIGHT["tiny/double"], WRONG["tiny/double"]]))
    prompt = 2 * recorded_prompt_tokens(TASKS[0])
    pool = load_pool(store, "tiny")
    assert [task.task_id for task in pool.tasks] == ["tiny/double"]  # tasks without candidates leave no trace
    costs = [
        ablation(pool, [(model, 0.6)], m=2, n=1).select("cost_usd", "cost_usd_is_lower_bound").row(0)
        for model in ("gpt_o4_mini", "deepseek_v3_0324", "my-model")
    ]
    assert costs == [
        (pytest.approx((1.10 * prompt + 4.40 * completion) / 1e6, abs=1e-9), True),
        (pytest.approx((0.27 * prompt + 1.10 * completion) / 1e6, abs=1e-9), False),
        (None, None),  # never 0
    ]
    long = query_sql(store, "SELECT DISTINCT text FROM disagreements WHERE text LIKE '''y%'")["text"].item()
    assert (len(long), long[-2:]) == (200, "y…")  # long values are cut


@pytest.mark.parametrize("cost", [7, 5_000_000_000])  # in four bytes, and not
def test_a_cost_that_was_recorded_is_exact_whatever_the_model_bills(full: Store, cost: int) -> None:
    frames = {name: full.read(name, {"benchmark": "tiny"}) for name in ("patterns", "classes", "members")}
    paid = pl.lit(cost, dtype=pl.Int64)
    frames["members"] = frames["members"].with_columns(model=pl.lit("gpt_o4_mini"), cost_nanodollars=paid)
    own = pool_of(frames.__getitem__, "tiny", "paper").of(("gpt_o4_mini", 0.6))
    assert set(own.cost_nanodollars.tolist()) == {cost}
    assert not own.cost_is_lower_bound.any()


def test_tokens_are_counted_offline() -> None:
    assert count_tokens(["", "def f(x):\n    return x\n"]) == [0, 8]
    own = f"def {TASKS[0].entry_point}{TASKS[0].signature}:\n{TASKS[0].description}"
    assert recorded_prompt_tokens(TASKS[0]) == count_tokens([own])[0] + PUBLISHED_WORDING_TOKENS


def test_what_an_llm_was_paid_is_taken_as_it_is(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG, model="gpt_4o")
    known = {"prompt_tokens": [7, None], "completion_tokens": [9, None], "cost_usd": [0.25, None]}
    listed = store.read("candidates").filter(task_id="tiny/double").sort("sample_index")
    listed = listed.with_columns(**{name: pl.Series(values) for name, values in known.items()})
    found = member_costs(store, "tiny", listed).sort("sample_index")
    paid, counted = found.select("prompt_tokens", "completion_tokens", "cost_nanodollars").rows()
    assert paid == (7, 9, 250_000_000)
    prompt, completion = recorded_prompt_tokens(TASKS[0]), count_tokens([WRONG["tiny/double"]])[0]
    assert counted == (prompt, completion, 5_000 * prompt + 15_000 * completion)


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ("patterns", lambda rows: pl.concat([rows, rows]), "twice"),
        ("members", lambda rows: rows.with_columns(model=pl.lit(None, pl.String)), "nulls in model"),
    ],
)
def test_what_names_no_task_or_model_is_refused_in_one_line(
    full: Store, tmp_path: Path, table: str, change: Callable[[pl.DataFrame], pl.DataFrame], said: str
) -> None:
    store = Store(shutil.copytree(full.root, tmp_path / "store"))
    path = store.files(table)[0]
    change(pl.read_parquet(path, hive_partitioning=False)).write_parquet(path)
    with pytest.raises(BadStore, match=said):
        load_pool(store, "tiny")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    nearly = {**RIGHT, "tiny/double": "def double(x):\n    return 2.0001 * x\n"}
    coders = {"several": (RIGHT, RIGHT, WRONG, OTHER), "one": (WRONG,), "near": (RIGHT, nearly)}
    return executed(tmp_path_factory.mktemp("estimates") / "store", n=60, **coders)


def test_switching_equality_needs_no_execution(store: Store) -> None:
    near = {equality: query_estimates(store, equality=equality) for equality in EQUALITIES}
    errors = {name: frame.filter(model="near", task_id="tiny/double")["error"].item() for name, frame in near.items()}
    assert errors == {"paper": 0.0, "strict": 0.5}


def test_every_column_of_the_estimates_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text()
    assert [name for name in SCHEMAS["estimates"] if f"`{name}`" not in text] == []
    assert [kind.name.lower() for kind in Kind if f"| `{kind.name.lower()}` |" not in text] == []


@pytest.mark.slow
def test_estimates_of_another_version_are_written_anew(tmp_path: Path) -> None:
    store = executed(tmp_path / "store", n=20, coder=[RIGHT, WRONG])
    before = query_estimates(store)
    for path in store.files("estimates"):
        pl.read_parquet(path, hive_partitioning=False).drop("n_values").write_parquet(path)
    (store.root / "estimates" / "reference.fingerprint").write_text("made when there was no such column")
    assert query_estimates(store).is_empty()
    assert refresh_estimates(store)
    assert query_estimates(store).equals(before)


@pytest.mark.slow
def test_what_is_undefined_is_null_whatever_the_file_holds(tmp_path: Path) -> None:
    store = executed(tmp_path / "store", n=10, coder=[WRONG])
    for path in store.files("estimates"):  # as written before
        before = pl.read_parquet(path, hive_partitioning=False)
        assert before["incoherence"].null_count() == before.height
        before.with_columns(pl.col("incoherence", "p_detected").fill_null(math.nan)).write_parquet(path)
    for frame in (store.read("estimates"), query_estimates(store), query_sql(store, "SELECT * FROM all_estimates")):
        assert frame.select("incoherence", "p_detected").null_count().row(0) == (frame.height,) * 2
    assert query_sql(store, "SELECT avg(incoherence) FROM estimates").item() is None
    assert query_sql(store, "SELECT count(incoherence) FROM ablation('coder', 'tiny', 0.6, 1, 10)").item() == 0
    assert check_tables(store) == []


def test_without_a_reference_incoherence_is_defined_and_error_is_not(tmp_path: Path) -> None:
    tasks = [replace(task, reference=None) for task in TASKS]
    store = executed(tmp_path / "store", n=40, tasks=tasks, validity="all", coder=(RIGHT, WRONG))
    with pytest.raises(WrongUsage, match="tiny/double has none; use --inputs quorum or all"):
        execute(store, n=20, validity="reference", say=silent)
    estimates = query_estimates(store)
    assert all(i > 0 for i in estimates["incoherence"])
    assert estimates["error"].is_null().all()


def test_the_shortest_disagreeing_input_is_found(store: Store) -> None:
    found = query_disagreement(store, task_id="tiny/first", model="several")
    assert found is not None
    assert found.arguments == "([],)"
    assert found.outcomes == ((3, "value", "None"), (1, "exception", "IndexError"))


def write_inputs(store: Store, rows: Sequence[tuple[object, ...]], validity: str) -> None:
    inputs = pl.DataFrame(rows, schema=SCHEMAS["inputs"], orient="row")
    store.write("inputs", inputs, {"benchmark": "tiny", "validity": validity, "start": 0}, "t")


def test_attempts_beyond_the_last_are_unchanged_seeds_taken_after_as_many_draws(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    rows = [("t", 0, "(1,)", 1, 0), ("t", 1, "(2,)", MAX_ATTEMPTS, 0), ("t", 2, "(2,)", MAX_ATTEMPTS + 1, 1)]
    write_inputs(store, rows, store.settings().validity)
    (counted,) = count_draws(store, "tiny").iter_rows(named=True)
    assert (counted["n"], counted["n_distinct"], counted["n_repeats"]) == (3, 2, 1)
    assert (counted["n_unchanged"], counted["n_draws"]) == (1, 1 + MAX_ATTEMPTS + MAX_ATTEMPTS)


def test_groups_of_tests_are_known_where_all_of_a_task_were_executed(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store", Settings(validity="tests"))
    tests = tuple(TaskTest(arguments=f"({at},)", expected="1", group=group) for at, group in enumerate("aab"))
    given = {"all": tests, "one": tests[:1], "some": tests, "without": ()}
    add_tasks(store, {"tiny": [small_task(name, task_id=name, tests=own) for name, own in given.items()]})
    executed_on = {"all": 3, "one": 1, "some": 2, "without": 1}
    write_inputs(store, [(name, at, f"({at},)", 1, 0) for name, n in executed_on.items() for at in range(n)], "tests")
    groups = dict(count_draws(store, "tiny").select("task_id", "groups").iter_rows())
    assert groups == {"all": ["a", "a", "b"], "one": ["a"], "some": None, "without": None}
