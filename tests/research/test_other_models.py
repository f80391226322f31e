"""Other models on the same task: dissent and errors by hand, pairs of programs by brute force."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings

from difftrust.research.other_models import model_pairs, shared_answers, suspects, with_other_models
from difftrust.research.selective import answers
from difftrust.research.signals import behaviour_signals
from difftrust_core.base.records import Kind
from difftrust_core.estimates.pool import Pool, compress
from tests.estimates.test_ablation import benchmarks, members, pool_of

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
