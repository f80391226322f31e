"""A candidate that does not load is a detected failure, and never agreement."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.research.mixtures import mixtures
from difftrust.research.per_candidate import judged_candidates
from difftrust.research.selection import compute_passes
from difftrust.tables.paper_tables import make_table_4
from difftrust.tables.request import TableRequest, estimates_for
from difftrust.tasks.clusters import cluster_candidates
from difftrust.tasks.task_view import view_task
from difftrust.verify.rows import check_tables
from difftrust_core.base.records import Kind, Load, Reading
from difftrust_core.estimates.measures import Class, ablation, over_subsets, summary
from difftrust_core.estimates.pool import Pool, compress, strictly_loaded
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import open_pools
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.intervals import false_trust
from tests.estimates.test_ablation import members
from tests.support.tiny import RIGHT, executed

CODER = ("a", 0.6)
LABELS = np.array([[0, 0], [0, 1], [2, 2]], dtype=np.uint16)
"""Row 0 is right, row 1 is wrong on one input, row 2 does not load."""
KINDS = np.array([[0, 0], [0, 0], [Kind.LOAD_ERROR] * 2], dtype=np.uint8)


def pool(*listed: list[int], others: list[list[int]] | None = None, **given: list[int]) -> Pool:
    task = compress("t/0", {"paper": LABELS, "strict": LABELS}, KINDS, reach=np.full(3, 2), reference=0)
    tasks = tuple(replace(task, task_id=f"t/{i}") for i in range(len(listed)))
    coders = {CODER: members(list(listed), **given)} | ({("b", 0.6): members(others)} if others else {})
    return Pool(benchmark="b", equality="paper", tasks=tasks, members=coders)


def test_failures_that_agree_are_detected_and_the_published_measures_stay() -> None:
    # All right; all the same wrong; none loads; one of three does not.
    rows = ablation(pool([0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 0, 2]), [CODER], m=3, n=2)
    assert rows["n_load_failures"].to_list() == [0, 0, 3, 1]
    assert rows["detected"].to_list() == [False, False, True, True]
    assert rows["incoherence"].to_list() == [0, 0, 0, 2 / 3]
    assert rows["p_detected"].to_list() == pytest.approx([0, 0, 0, 1 - 1 / 9])
    assert rows["p_detected_subsets"].to_list() == [0, 0, 1, 1]
    assert rows["undetected_error_subsets"].to_list() == [0, 0.5, 0, 0]
    assert rows["error"].to_list() == [0, 0.5, 1, 1 / 3]
    assert (rows["incoherence"] <= 2 * rows["error"]).all()
    whole = summary(rows)
    assert whole["detection_rate_all_pairs"] == pytest.approx(2 / 3)
    assert whole["undetected_mean_error_all_pairs"] == pytest.approx(0.5 / 2)
    assert false_trust(rows).select("n_coherent", "n_erroneous").row(0) == (2, 1)
    assert ablation(pool([2]), [CODER], m=1, n=2)["detected"].to_list() == [None]


def test_expectations_over_choices_are_those_of_going_through_all() -> None:
    listed = [0, 0, 0, 2, 2, 2, 1]
    classes = [Class(sizes=(listed.count(row),), wrong=w, loads=row != 2) for row, w in ((0, 0), (1, 1), (2, 2))]
    for m in (2, 3, 4):
        choices = list(itertools.combinations(listed, m))
        seen = [len(set(choice)) > 1 or 2 in choice for choice in choices]
        assert over_subsets(classes, [m], n=2).p_detected == pytest.approx(sum(seen) / len(choices))
    both = mixtures(pool([2, 2], others=[[2, 2]]), [CODER, ("b", 0.6)], n_models=2, each=1, m=2, n=2)
    assert both.select("p_detected", "p_erroneous", "p_model_found").row(0) == (1, 1, 1)


def test_a_cluster_that_does_not_load_comes_last() -> None:
    found = cluster_candidates(pool([2, 2, 1]), "t/0", [CODER], m=None, n=2)
    assert [(c.n_candidates, c.loads) for c in found.clusters] == [(1, True), (2, False)]


@pytest.mark.slow
def test_a_store_with_programs_that_do_not_load(tmp_path: Path) -> None:
    broken = dict.fromkeys(RIGHT, "def (:")
    store = executed(tmp_path / "store", n=10, coder=[broken, broken, broken, RIGHT])
    assert check_tables(store) == []
    expected = query_estimates(store)
    assert expected.select("n_load_failures", "detected").unique().rows() == [(3, True)]
    first = query_sql(store, "SELECT * FROM ablation('coder', 'tiny', 0.6, 3, 10)")
    assert first.select("incoherence", "detected", "n_load_failures").unique().rows() == [(0.0, True, 3)]
    passes = compute_passes(judged_candidates(open_pools(store), temperature=None, m=None, n=None), {})
    assert set(passes["consensus"]) == {1.0}  # three of four do not load
    view = view_task(store, open_pools(store)["tiny"], "tiny/double", [("coder", 0.6)], m=3, n=10)
    assert view.clusters.frame["loads"].to_list() == [False]
    assert view.statements[0] == "3 of these 3 programs do not load: a failure that is seen without a reference."
    assert not view.wrong.frame["all_agree"].any()
    for path in store.files("estimates"):  # as written before there was the column
        old = pl.read_parquet(path, hive_partitioning=False).drop("n_load_failures")
        old.with_columns(detected=pl.lit(False)).write_parquet(path)
    assert query_estimates(store).equals(expected)


def test_a_trimmed_program_fails_on_every_input_and_differs_from_all_that_load() -> None:
    """One that loads only without what follows its entry point, where that counts as not loading."""
    four = [0, 0, 1, 1]
    strict = ablation(strictly_loaded(pool(four, trimmed=[0, 1, 0, 1])), [CODER], m=4, n=2).row(0, named=True)
    assert (strict["n_load_failures"], strict["n_load_errors"], strict["n_classes"]) == (2, 4, 3)
    assert strict["error"] == (2 + 3) / 8  # of four programs two do not load, and one is wrong on the second input
    assert strict["incoherence"] == pytest.approx(1 - (4 + 2) / 24)  # alike: 2 + 2 ordered pairs of 12, then 2
    plain, none = pool(four, trimmed=[0, 1, 0, 1]), strictly_loaded(pool(four))
    assert ablation(none, [CODER], m=4, n=2).equals(ablation(plain, [CODER], m=4, n=2))
    with pytest.raises(WrongUsage, match="needs to know which programs were trimmed, and these results of b do not"):
        strictly_loaded(pool(four, trimmed=[0, -1, 0, 0]))


def test_a_store_knows_it_from_its_executions(tmp_path: Path) -> None:
    examples = {task_id: f"{code}\nassert False\n" for task_id, code in RIGHT.items()}
    store = executed(tmp_path / "store", n=10, coder=[RIGHT, examples])
    members = query_sql(store, "SELECT sample_index, trimmed FROM members").unique().sort("sample_index")
    assert members.rows() == [(0, False), (1, True)]
    trimmed, _ = estimates_for(TableRequest(store=store.root))
    assert trimmed["error"].unique().to_list() == [0]
    request = TableRequest(store=store.root, reading=Reading(load=Load.STRICT))
    strict, _ = estimates_for(request)
    assert strict.select("error", "n_load_failures").unique().rows() == [(0.5, 1)]
    assert "3 candidates in 3 pairs do not load, in 0 of these all agree" in make_table_4(request).notes[-1]
