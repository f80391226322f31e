"""Signals and other models: AUROC, dissent and errors by hand, by pairs and by the shipped corpus."""

import itertools
import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import rankdata

from difftrust.research.other_models import model_pairs, shared_answers, suspects, with_other_models
from difftrust.research.selective import answers
from difftrust.research.signals import (
    SIGNALS,
    Contest,
    added_table,
    auroc,
    auroc_interval,
    auroc_table,
    behaviour_signals,
    cluster_entropy,
    correlation_table,
    joined_score,
    largest_share,
    pass_at_k,
    roc,
    roc_table,
    signals,
    task_numbers,
)
from difftrust.shipped import find_results
from difftrust_core.base.records import Kind
from difftrust_core.estimates.pool import Pool, compress
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.store.store import Store
from tests.estimates.test_ablation import benchmarks, members, pool_of

scored = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)
"""(score, erroneous, task)."""


def slow_auroc(score: list[float], erroneous: list[bool]) -> float:
    wins = [
        (a > b) + (a == b) / 2
        for (a, wrong), (b, also) in itertools.product(zip(score, erroneous, strict=True), repeat=2)
        if wrong and not also
    ]
    return sum(wins) / len(wins) if wins else math.nan


def test_a_score_that_is_undefined_takes_no_part() -> None:
    assert auroc(np.array([2.0, math.nan, 1.0]), np.array([True, False, False])) == 1.0


@given(scored)
@settings(deadline=None)
def test_auroc_is_the_share_of_pairs_and_the_area_below_the_curve(rows: list[tuple[int, bool, int]]) -> None:
    score, erroneous = [float(s) for s, _, _ in rows], [e for _, e, _ in rows]
    found = auroc(np.array(score), np.array(erroneous))
    want = slow_auroc(score, erroneous)
    assert found == pytest.approx(want, nan_ok=True, abs=1e-14)
    curve = roc(np.array(score), np.array(erroneous))
    if not math.isnan(want):
        area = np.trapezoid(curve["true_positive_rate"].to_numpy(), curve["false_positive_rate"].to_numpy())
        assert area == pytest.approx(want, abs=1e-12)
        assert curve.row(0) == (0.0, 0.0)
        assert curve.row(-1) == (1.0, 1.0)


@given(scored, st.lists(st.integers(0, 3), min_size=4, max_size=4))
@settings(deadline=None)
def test_weights_are_repetitions(rows: list[tuple[int, bool, int]], weights: list[int]) -> None:
    score, erroneous, task = (np.array(column) for column in zip(*rows, strict=True))
    contest = Contest(score.astype(float), erroneous, task, 4)
    repeated = [row for row in rows for _ in range(weights[row[2]])]
    want = slow_auroc([float(s) for s, _, _ in repeated], [e for _, e, _ in repeated])
    assert contest.auroc(np.array([weights], dtype=float))[0] == pytest.approx(want, nan_ok=True)


def test_clusters_and_pass_at_k() -> None:
    assert [cluster_entropy(sizes) for sizes in ([10], [5, 5], [1] * 8)] == [0, 1, 3]
    assert math.isnan(cluster_entropy([]))
    assert largest_share([7, 2, 1]) == 0.7
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(4, 2, 2) == pytest.approx(5 / 6)  # of six pairs one has no right one
    assert pass_at_k(2, 1, 2) == 1
    assert pass_at_k(3, 0, 3) == 0
    assert math.isnan(pass_at_k(3, 3, 4))
    with pytest.raises(WrongUsage, match="pass@k needs"):
        pass_at_k(3, 4, 1)


def test_what_executing_says_by_hand() -> None:
    """One is right, two are alike and wrong on half of the inputs, three do not load, which agree with nobody."""
    made = pool(a=[[0, 1, 1, 3, 3, 3], [0, 0, 0, 0, 1, 2]])
    hot = replace(made, members={**made.members, ("a", 1.0): made.of(("a", 0.6))})
    told = behaviour_signals(hot, temperature=0.6, m=6, n=2).sort("task_id")
    assert told["model"].to_list() == ["a", "a"]
    first, second = told.iter_rows(named=True)
    assert (first["n_clusters"], first["largest_share"]) == (5, 2 / 6)
    assert first["cluster_entropy"] == pytest.approx(math.log2(3) / 3 + 4 * math.log2(6) / 6)
    assert first["incoherence"] == pytest.approx((2 * 0.5 + 9 + 3) / 15)
    assert first["error"] == pytest.approx((2 * 0.5 + 3) / 6)
    assert (first["pass_at_1"], first["pass_at_5"]) == pytest.approx((1 / 6, 5 / 6))
    assert (second["n_clusters"], second["largest_share"]) == (3, 4 / 6)
    unknown = replace(made, tasks=tuple(replace(task, reference=None) for task in made.tasks))
    rows = behaviour_signals(unknown, temperature=0.6, m=6, n=2)
    assert rows["pass_at_1"].to_list() == rows["pass_at_5"].to_list() == [None, None]


def made_rows(n_tasks: int = 60) -> pl.DataFrame:
    """Return rows of three models a task: incoherence finds half of the errors, length says a little, JSD nothing."""
    rng = np.random.default_rng(3)
    n = 3 * n_tasks
    wrong = rng.random(n) < 0.5
    numbers = {name: np.full(n, math.nan) for name in (*(s.column for s in SIGNALS), "pass_at_1", "pass_at_5")} | {
        "error": np.where(wrong, rng.random(n), 0),
        "incoherence": np.where(wrong & (rng.random(n) < 0.5), rng.random(n), 0),
        "jsd": rng.random(n),
        "mean_length": 100 * rng.random(n) + 40 * wrong,
    }
    keys = {"task_id": [f"t{task}" for task in range(n_tasks) for _ in "abc"], "model": [*"abc"] * n_tasks}
    same = {"benchmark": pl.lit("b"), "temperature": pl.lit(0.6), "m": pl.lit(10), "n": pl.lit(1000)}
    return pl.DataFrame(keys | numbers).with_columns(**same)


def test_tables_of_signals() -> None:
    rows = made_rows()
    table = auroc_table(rows, resamples=300)
    assert table["signal"].to_list() == ["incoherence", "jsd", "mean_length"]
    of = dict(zip(table["signal"], table.select("auroc", "low", "high").rows(), strict=True))
    erroneous = (rows["error"] > 0).to_numpy()
    assert of["incoherence"][0] == pytest.approx(auroc(rows["incoherence"].to_numpy(), erroneous))
    assert of["jsd"][0] == pytest.approx(1 - auroc(rows["jsd"].to_numpy(), erroneous))  # alike means no error
    assert all(low < value < high for value, low, high in of.values())
    assert of["jsd"][1] < 0.5 < of["jsd"][2]
    assert set(roc_table(rows)["signal"]) == {"incoherence", "jsd", "mean_length"}
    r = correlation_table(rows, ["jsd", "mean_length"])
    assert r["r"].to_list()[0] == 1
    assert r["r"][1] == pytest.approx(r["r"][2]) == pytest.approx(np.corrcoef(rows["jsd"], rows["mean_length"])[0, 1])
    of_all = correlation_table(rows.with_columns(jsd=pl.lit(0.5)))
    measured = ["error", "incoherence", "JSD", "mean program length"]
    assert of_all["a"].to_list() == [title for title in measured for _ in measured]
    assert of_all.filter(b="JSD")["r"].to_list() == [None, None, 1, None]


def test_a_drawn_curve_keeps_the_first_and_the_last_point_of_each_hundredth() -> None:
    rows = made_rows(700)
    (signal,) = (s for s in SIGNALS if s.column == "jsd")
    whole = roc(signal.score(rows), (rows["error"] > 0).to_numpy()).rows()
    steps = [math.floor((across + up) * 100) for across, up in whole]
    ends = {0, len(steps) - 1}
    ends |= {i for i in range(1, len(steps) - 1) if not steps[i - 1] == steps[i] == steps[i + 1]}
    drawn = roc_table(rows).filter(signal="jsd").select("false_positive_rate", "true_positive_rate").rows()
    assert drawn == [whole[i] for i in sorted(ends)]
    assert len(drawn) < len(whole)


def test_what_a_signal_adds() -> None:
    added = added_table(made_rows(), ["incoherence"], ["jsd", "mean_length"], resamples=300)
    gain = dict(zip(added["added"], added.select("gain", "low", "high").rows(), strict=True))
    assert gain["mean program length"][1] > 0
    assert gain["JSD"][0] < 0.05
    with pytest.raises(WrongUsage, match="at least 10 tasks, got 3"):
        joined_score(made_rows(3), ["incoherence"])
    assert len(joined_score(made_rows(10), ["incoherence"])) == 30


def test_signals_are_joined_by_the_likeliest_slopes_on_the_other_tasks() -> None:
    rows, columns = made_rows(20), ["incoherence", "jsd", "mean_length"]
    found, task = joined_score(rows, columns), np.repeat(np.arange(20), 3)
    number, _ = task_numbers(rows)
    fold, erroneous = np.random.default_rng(0).permutation(20)[number] % 10, (rows["error"] > 0).to_numpy()
    signed = [sign * rows[name].to_numpy() for name, sign in zip(columns, (1, -1, 1), strict=True)]
    ranks = np.column_stack([np.ones(60), *(rankdata(score) / 60 - 0.5 for score in signed)])
    for out in range(10):
        design, wrong = ranks[fold != out], erroneous[fold != out]

        def unlikely(slopes: np.ndarray, design: np.ndarray = design, wrong: np.ndarray = wrong) -> float:
            return float(np.logaddexp(0, np.where(wrong, -1, 1) * (design @ slopes)).sum() + 0.5e-3 * slopes @ slopes)

        slopes = minimize(unlikely, np.zeros(4), tol=1e-9).x[1:]
        assert found[fold == out] == pytest.approx(ranks[fold == out, 1:] @ slopes / np.linalg.norm(slopes), abs=2e-5)
    other = rows.with_columns(error=pl.when(task_id="t7").then(1 - pl.col("error").sign()).otherwise("error"))
    assert joined_score(other, columns)[task == 7].tolist() == found[task == 7].tolist()  # it was not looked at


def test_a_task_seen_by_many_models_counts_as_one() -> None:
    rows = made_rows(20)
    score = rows["mean_length"].to_numpy()
    narrow = auroc_interval(rows, score, resamples=500)
    twice = pl.concat([rows, rows.with_columns(model=pl.col("model") + "'")])
    again = auroc_interval(twice, np.concatenate([score, score]), resamples=500)
    assert (again.low, again.high) == (pytest.approx(narrow.low), pytest.approx(narrow.high))


@pytest.mark.slow
def test_the_recorded_corpus_says_what_is_expected() -> None:
    shipped = signals(Store.open(find_results()))
    assert (shipped["m"].max(), shipped["n"].unique().to_list(), shipped.height) == (10, [1000], 9005)
    erroneous = (shipped["error"] > 0).to_numpy()
    found = {s.column: auroc(s.sign * shipped[s.column].fill_null(math.nan).to_numpy(), erroneous) for s in SIGNALS}
    expected = {"incoherence": 0.85, "jsd": 0.68, "bleu": 0.68, "tsed": 0.71}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=0.02)
    silent = shipped.filter(pl.col("incoherence") == 0)
    at_zero = auroc(-silent["jsd"].to_numpy(), (silent["error"] > 0).to_numpy())
    assert at_zero == pytest.approx(0.5, abs=0.02)
    both = shipped.select(pl.col("jsd", "jsd_structural").fill_nan(None)).drop_nulls()
    assert both.select(pl.corr("jsd", "jsd_structural")).item() == pytest.approx(0.91, abs=0.01)


@pytest.mark.parametrize(("m", "said"), [(10, " -m 10"), (None, "")])
def test_a_store_without_comparisons_says_how_to_make_them(m: int | None, said: str) -> None:
    with pytest.raises(NoStore, match=rf"run `difftrust structure --temperature 0\.2{said} --store DIR`"):
        signals(Store.open(find_results()), temperature=0.2, m=m)


LABELS = np.array([[0, 0], [0, 1], [1, 1], [2, 2]], dtype=np.uint16)
"""Row 0 is right, rows 1 and 2 are wrong, row 3 does not load."""


def pool(**programs: list[list[int]]) -> Pool:
    """Return the programs of each model, a list a task, by the rows of LABELS."""
    kinds = np.zeros(LABELS.shape, dtype=np.uint8)
    kinds[3] = Kind.LOAD_ERROR
    n_tasks = max(map(len, programs.values()))
    tasks = [
        compress(f"t/{i}", {"paper": LABELS, "strict": LABELS}, kinds, reach=np.full(4, 2), reference=0)
        for i in range(n_tasks)
    ]
    coders = {(model, 0.6): members(listed) for model, listed in programs.items()}
    return Pool(benchmark="b", equality="paper", tasks=tuple(tasks), members=coders)


def test_dissent_and_errors_of_others_by_hand() -> None:
    """The first task: a is right, b and c wrong in two ways; the second: a's tie goes to the first, c does not load."""
    made = pool(a=[[0, 0, 1], [1, 0]], b=[[1, 1, 1], [1, 1]], c=[[2, 2, 0], [3, 3]], d=[[0, 0, 0]])
    rows = behaviour_signals(made, temperature=0.6, m=3, n=2).sort("task_id", "model")
    assert rows["wrong"].to_list() == [False, True, True, False, True, True, True]
    assert rows["dissent"].to_list() == pytest.approx([2 / 3, 1, 1, 2 / 3, 1 / 2, 1 / 2, 1])
    assert rows["others_err"].to_list() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1, 1, 1, 1])
    two = behaviour_signals(pool(a=[[0, 0]], b=[[1, 1]]), temperature=0.6, m=2, n=2)
    assert two.select("dissent", "others_err").rows() == [(1, 1), (1, 0)]
    alone = behaviour_signals(pool(a=[[0, 1]]), temperature=0.6, m=2, n=2)
    assert alone.select("dissent", "others_err").row(0) == (None, None)


def test_the_reference_of_a_task_may_be_any_of_its_rows_and_what_does_not_load_is_no_answer() -> None:
    made = pool_of([LABELS[:3]] * 3, [1, 2, 0], {("a", 0.6): members([[1], [1], [0]])})
    assert answers(made, temperature=0.6, m=1, n=2).sort("task_id")["wrong"].to_list() == [False, True, False]
    rows = answers(pool(a=[[3, 3, 0], [3, 3, 1], [3, 3]]), temperature=0.6, m=3, n=2)
    assert rows["wrong"].to_list() == [False, True, True]


def test_of_answers_shared_by_as_many_models_the_first_row_counts() -> None:
    """Rows 1 and 2 have two models each; row 1 differs from the reference on the second input alone."""
    made = pool(a=[[2], [2], [1]], b=[[2], [2], [1]], c=[[1], [2], [1]], d=[[1], [0], [0]])
    rows = shared_answers(made, temperature=0.6, m=1, n=2).select("n_sharing", "unlike_reference", "input_index").rows()
    assert rows == [(2, 0.5, 1), (3, 1.0, 0), (3, 0.5, 1)]
    assert suspects(made, temperature=0.6, m=1, n=2)["task_id"].to_list() == ["t/1", "t/2"]
    alike = [[2 - at % 2] for at in range(100)]
    ordered = suspects(pool(a=alike, b=alike, c=alike), temperature=0.6, m=1, n=2)["task_id"].to_list()
    assert ordered == [f"t/{at}" for at in (*range(0, 100, 2), *range(1, 100, 2))]


def test_rows_stay_in_the_order_in_which_they_are_given() -> None:
    made = pool(**{model: [[0, 0], [0, 1]] for model in "fbdaec"})
    rows = behaviour_signals(made, temperature=0.6, m=2, n=2).sort("model", "task_id", descending=[True, False])
    again = with_other_models(made, rows.drop("wrong", "dissent", "others_err"), m=2)
    assert again.rows() == rows.select(again.columns).rows()


@settings(max_examples=100, deadline=None)
@given(benchmarks())
def test_pairs_of_models_are_those_of_going_through_all_programs(drawn: tuple) -> None:
    tasks, references, rows = drawn
    n = min(labels.shape[1] for labels in tasks)
    listed = {"one": rows, "two": [own[::-1][:3] for own in rows]}
    made = pool_of(tasks, references, {(model, 0.6): members(own) for model, own in listed.items()})
    found = {row[1:4]: row[4:] for row in model_pairs(made, sorted(made.members), m=None, n=n).iter_rows()}
    for i, (labels, reference) in enumerate(zip(tasks, references, strict=True)):
        for model, other in (("one", "one"), ("one", "two"), ("two", "two")):
            ours, theirs = listed[model][i], listed[other][i]
            pairs = list(combinations(ours, 2) if model == other else product(ours, theirs))
            if not pairs:
                assert (f"task/{i}", model, other) not in found
                continue
            cut = labels[:, :n]
            incoherence, both, alike, error, _ = found[f"task/{i}", model, other]
            assert incoherence == pytest.approx(np.mean([(cut[a] != cut[b]).mean() for a, b in pairs]))
            if reference is None:
                assert both is alike is error is None
                continue
            wrong = [not np.array_equal(row, cut[reference]) for row in cut]
            assert both == pytest.approx(np.mean([wrong[a] and wrong[b] for a, b in pairs]))
            same = [wrong[a] and np.array_equal(cut[a], cut[b]) for a, b in pairs]
            assert alike == pytest.approx(np.mean(same))
            assert error == pytest.approx(np.mean([wrong[a] for a in ours]))
