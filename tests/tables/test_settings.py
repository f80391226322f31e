"""One rule for every table: one m, one n and one temperature a row, said in it, and who lacks them is named."""

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import difftrust as dt
from difftrust.export import export_results
from difftrust.page.subject import make_subject
from difftrust.study import Study, open_study
from difftrust.tables.registry import TABLES, make_table
from difftrust.tables.request import TableRequest, estimates_for
from difftrust_core.base.records import Reading
from difftrust_core.base.task import Domain
from difftrust_core.datasets.recorded import Recorded, selection_of
from difftrust_core.estimates.queries import query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, executed, silent

OWN_RULES = ("3", "3a", "3b", "3c", "draws", "audits", "versions", "policies")
SETTLED = sorted(TABLES.keys() - set(OWN_RULES))
DOMAIN = {"tiny/double": "x: int", "tiny/first": "items: list[int]", "tiny/total": "items: list[int]"}
HOT = 1.0


def heated(model: str, *programs: dict[str, str]) -> Recorded:
    return Recorded(candidates=candidates(model, *programs).candidates.with_columns(temperature=pl.lit(HOT)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """At 0.6 "far" has four programs on 20 inputs, "near" three on 10, "one" a single one; at 1.0 two have two."""
    made = Store.create(tmp_path_factory.mktemp("settings") / "store")
    tasks = [replace(task, domain=Domain(types=DOMAIN[task.task_id])) for task in TASKS]
    cold = {"far": (RIGHT, WRONG, RIGHT, WRONG), "near": (OTHER, RIGHT, RIGHT), "one": (WRONG,)}
    added = [candidates(model, *programs) for model, programs in cold.items()]
    for own in (*added, heated("far", WRONG, WRONG), heated("near", WRONG, RIGHT)):
        add_candidates(made, own, {"tiny": tasks}, n_jobs=1)
    for validity in ("domain", "tests", "reference"):
        execute(made, n=10, validity=validity, say=silent)
        refresh_estimates(made)
    execute(made, n=20, selection=selection_of(models=["far"]), say=silent)
    refresh_estimates(made)
    return made


def test_what_executes_more_names_the_store_and_the_inputs(store: Store, tmp_path: Path) -> None:
    results = export_results(store, tmp_path / "results").root
    more = "--inputs domain -n 99`"
    anew = f"difftrust import difftrust --store DIR` and `difftrust execute --store DIR {more}, DIR a new folder"
    for root, command in ((store.root, f"difftrust execute --store {store.root} {more}"), (results, anew)):
        with pytest.raises(WrongUsage, match=f"run `{command}$"):
            estimates_for(TableRequest(store=root, reading=Reading(inputs="domain"), n=99))


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", SETTLED)
def test_a_row_has_one_m_one_n_and_one_temperature_and_says_so(store: Store, name: str) -> None:
    """Each temperature's rows are those of that temperature alone, and asking for the m and n shown changes nothing."""
    request = TableRequest(store=store.root, resamples=100)
    made = make_table(name, request)
    assert made.frame.select(pl.col("m", "n").n_unique()).row(0) == (1, 1) or made.frame.is_empty()
    assert any("left out at t = 0.6" in note and "one on tiny" in note for note in made.notes)
    asked = {"m": 2, "n": 10}
    for temperature in (0.6, HOT):
        alone = make_table(name, replace(request, temperature=temperature, **asked)).frame
        same = made.frame.filter(pl.col("temperature").cast(pl.String) == str(temperature))
        if name != "rankings":  # whose last row is of all temperatures
            assert_frame_equal(alone, same)
        if not alone.is_empty():
            assert set(alone.select("m", "n").row(0)) == set(asked.values())


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", SETTLED)
def test_models_without_the_m_asked_for_are_left_out_and_named(store: Store, name: str) -> None:
    made = make_table(name, TableRequest(store=store.root, m=4, resamples=100))
    models = set(made.frame["model"]) if "model" in made.frame.columns else set()
    assert models <= {"far", "mean", "all"}
    assert any("left out at t = 0.6, without m = 4" in note and "near on tiny" in note for note in made.notes)


@pytest.mark.parametrize("name", ["4", "dissent", "alarms"])
def test_a_model_without_results_at_the_temperature_is_named(store: Store, name: str) -> None:
    made = make_table(name, TableRequest(store=store.root, temperature=HOT, only=("far", "one"), resamples=100))
    assert "left out, without results at this temperature: one" in made.notes


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", ["policies", *SETTLED])
def test_what_nobody_has_is_refused_with_what_is_recorded(store: Store, name: str) -> None:
    request = TableRequest(store=store.root, model="far")
    with pytest.raises(WrongUsage, match=r"expected -m of at most 4, .* got 99"):
        make_table(name, replace(request, m=99))
    with pytest.raises(WrongUsage, match=r"expected -n of at most .0, .* got 99"):
        make_table(name, replace(request, n=99))


def test_reading_of_tests_has_all_tests_of_each_task(store: Store) -> None:
    frame = make_table("4", TableRequest(store=store.root, reading=Reading(inputs="tests"))).frame
    assert frame["n"].null_count() == frame.height


def test_trust_takes_the_sizes_there_are_and_refuses_others(store: Store, tmp_path: Path) -> None:
    study = open_study(executed(tmp_path / "store", n=10, same=[RIGHT] * 3).root)
    assert study.wrong_despite_agreement().frame.select("m", "n").rows() == [(3, 10)]
    for asked in ({"m": [99]}, {"m": []}, {"judged_on": 99}):
        with pytest.raises(WrongUsage, match=r"^expected "):
            study.wrong_despite_agreement(**asked)  # type: ignore[arg-type]
    with pytest.raises(NoStore, match="nothing to draw"):
        open_study(store.root).wrong_despite_agreement()


def test_defaults_of_python_are_what_the_store_holds(tmp_path: Path) -> None:
    programs = {"two": (RIGHT, WRONG), "three": (RIGHT, RIGHT, OTHER)}
    study = open_study(executed(tmp_path / "store", n=20, **programs).root)
    setting = ["model", "temperature", "m", "n"]

    def n_shown(own: Study, **given: int) -> int:
        return own.task("tiny/first", model="three", **given).clusters.frame["n_candidates"].sum()

    assert study.ablation("three").frame.select(setting).rows() == [("three", 0.6, 3, 20)]
    assert study.ablation().frame.select(setting).rows() == [("three", 0.6, 2, 20), ("two", 0.6, 2, 20)]
    assert study.ablation("three", m=[1, 2]).frame.select("m", "n").rows() == [(1, 20), (2, 20)]
    assert (n_shown(study), n_shown(study, m=1, n=7)) == (3, 1)
    assert study.mixtures().frame.select("n_models", "n_tasks").rows() == [(1, 3), (2, 3)]
    assert study.same_price("two", {"two": "gpt-4o", "three": "gpt-4o"}).frame["models"].to_list()[0] == "two"
    on_tests = open_study(executed(tmp_path / "tests", n=20, validity="tests", **programs).root)
    assert on_tests.ablation("three").frame["m"].to_list() == [3]
    assert n_shown(on_tests) == 3
    alone = Store.create(tmp_path / "hot")
    add_candidates(alone, heated("hot", RIGHT, WRONG), {"tiny": TASKS}, n_jobs=1)
    execute(alone, n=10, say=silent)
    refresh_estimates(alone)
    assert open_study(alone.root).ablation().frame.select(setting).rows() == [("hot", HOT, 2, 10)]


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Of "more" the first two programs are executed, two are not; of "new" none, but one text is that of another."""
    made = executed(tmp_path_factory.mktemp("half") / "store", n=10, more=(RIGHT, WRONG))
    add_candidates(made, candidates("more", RIGHT, WRONG, RIGHT, OTHER), {"tiny": TASKS}, n_jobs=1)
    shared = {**OTHER, "tiny/double": RIGHT["tiny/double"]}
    add_candidates(made, candidates("new", shared, shared), {"tiny": TASKS}, n_jobs=1)
    return made


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", SETTLED)
def test_programs_that_are_not_executed_do_not_count_and_are_named(half: Store, name: str) -> None:
    """Also the third of "more" does not, whose text is that of its first: a table of m = 3 would be of fewer tasks."""
    command = f"difftrust execute --store {half.root} -n 10"
    request = TableRequest(store=half.root, resamples=100)
    if name not in ("alarms", "undetected", "readings", "tests"):  # which need other inputs too
        made = make_table(name, request)
        named = "more on tiny at t = 0.6 from program 4 on, new on tiny at t = 0.6"
        assert f"left out, not executed on every task: {named}; run `{command}`" in made.notes
        if "model" in made.frame.columns:
            assert set(made.frame["model"]) <= {"more", "mean", "all"}
        assert set(made.frame["m"]) <= {3}
        assert not [note for note in make_table(name, replace(request, only=("more",), m=3)).notes if command in note]
    with pytest.raises(WrongUsage, match=f"-m of at most 3, .* got 4; choose fewer, or run `{command}`"):
        make_table(name, replace(request, m=4))


def test_no_way_to_ask_counts_programs_that_are_not_executed(half: Store, tmp_path: Path) -> None:
    for m, model in ((3, "more"), (4, "more"), (1, "new")):
        for macro in ("ablation", "ablation_summary"):
            with pytest.raises(WrongUsage, match=r"no candidates of new|got m = .*run `difftrust execute --store"):
                query_sql(half, f"SELECT * FROM {macro}('{model}', 'tiny', 0.6, {m}, 10)")
    with pytest.raises(WrongUsage, match=r"-m of at most 2, .* got 4; choose fewer, or run `difftrust execute --store"):
        make_subject(half, m=4)
    subject = make_subject(half, m=2)
    assert (subject.models, subject.left_out) == (["more"], ("new",))
    with pytest.raises(NoStore, match="no program of new was executed on every task; run `difftrust execute --store"):
        make_table("4", TableRequest(store=half.root, only=("new",)))
    whole = Store.open(shutil.copytree(half.root, tmp_path / "whole"))
    execute(whole, n=10, say=silent)
    refresh_estimates(whole)
    assert query_sql(whole, "SELECT m FROM ablation('more', 'tiny', 0.6, 4, 10)")["m"].to_list() == [4, 4, 4]
    frame = make_table("4", TableRequest(store=whole.root, only=("more",))).frame
    assert frame["m"].to_list() == [4, 4]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Coder "two" has two programs a task, "three" has three, of which the first two are right."""
    root = tmp_path_factory.mktemp("tables") / "store"
    return executed(root, n=20, two=(RIGHT, WRONG), three=(RIGHT, RIGHT, OTHER))


def test_a_plain_table_has_the_largest_m_that_all_have_and_says_so_and_one_model_all_of_its_own(plain: Store) -> None:
    made = make_table("4", TableRequest(store=plain.root))
    errors = dict(made.frame.select("model", "mean_error").iter_rows())
    assert errors["three"] == 0  # the third program, which is wrong, is no part of it
    assert any(note.startswith("m = 2, n = 20: the largest that all coders shown have") for note in made.notes)
    assert set(estimates_for(TableRequest(store=plain.root))[0]["m"]) == {2}
    made = make_table("4", TableRequest(store=plain.root, only=("three",)))
    assert made.frame["model"].to_list() == ["three", "mean"]
    assert made.frame["mean_error"][0] > 0
    assert not [note for note in made.notes if "the largest that all" in note]
    assert set(estimates_for(TableRequest(store=plain.root, only=("three",), m=3))[0]["m"]) == {3}
    with pytest.raises(WrongUsage, match="no model 'four'; there are: three, two"):
        make_table("4", TableRequest(store=plain.root, only=("four",)))


def test_a_pool_without_some_tasks_has_the_others_unchanged(plain: Store) -> None:
    pool = dt.open(plain.root).pool("tiny")
    fewer = pool.without({"tiny/double"})
    assert [task.task_id for task in fewer.tasks] == [t.task_id for t in pool.tasks if t.task_id != "tiny/double"]
    for coder in pool.members:
        assert fewer.tasks_of(coder) == [name for name in pool.tasks_of(coder) if name != "tiny/double"]
    assert pool.without({"tiny/none"}) is pool
