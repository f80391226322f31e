"""Policies of buying programs: every expectation equals the mean over all choices, listed one by one."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust.research.passed_tests import FAILS, PASSES, UNKNOWN
from difftrust.research.policies import Evidence, Policy, gather, is_lower_bound, score
from difftrust_core.base.records import Coder, Kind
from difftrust_core.estimates.pool import NO_KIND, Pool, compress
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import Price
from tests.estimates.test_ablation import members, pool_of

OWN, HOT, B, C = ("a", 0.6), ("a", 1.0), ("b", 0.6), ("c", 0.6)
LABELS = np.array([[0, 0], [0, 1], [1, 1], [2, 0]], dtype=np.uint16)
"""Row 0 is the reference's behaviour; the others differ from it and from each other."""
ROWS = {OWN: [[0, 0, 1, 0], [1, 1, 2, 3]], HOT: [[0, 1, 2], [1, 1, 1]], B: [[0, 1], [1, 0]], C: [[2], [1]]}
PRICES = {OWN: 1.0, HOT: 2.0, B: 0.5, C: 0.25}
"""Dollars of a program."""


def pool(rows: Mapping[Coder, list[list[int]]] = ROWS) -> Pool:
    """Return tasks of LABELS; the programs of a coder all cost its price."""
    listed = {
        coder: members(of_task, cost_nanodollars=[int(PRICES[coder] * 1e9)] * sum(map(len, of_task)))
        for coder, of_task in rows.items()
    }
    n_tasks = len(next(iter(rows.values())))
    return pool_of([LABELS] * n_tasks, [0] * n_tasks, listed)


def evidence_of(made: Pool, *, n: int = 2, own: int = 4) -> Evidence:
    least = {coder: own if coder == OWN else 1 for coder in made.members}
    return gather(made, OWN, least, n=n, prices=dict.fromkeys(least))


def plain(rows: Mapping[Coder, list[list[int]]], policy: Policy, task: int, n: int) -> tuple[float, ...]:
    """Return erroneous, detected, false_alarm, programs, usd: means over every checked program and every purchase."""
    behaviour = [tuple(row[:n]) for row in LABELS.tolist()]
    found = []
    for checked, bought in purchases(rows, policy, task):
        mine = behaviour[checked]
        n_others = len(policy.others)
        differ = [behaviour[row] != mine for _, row in bought]
        kept = settled(differ, policy, n_others) if policy.stop else [*range(len(bought))]
        alarm = sum(differ[:n_others]) >= policy.dissents and n_others > 0
        alarm |= sum(differ[n_others:]) >= policy.own_dissents and policy.own > 0
        wrong = mine != behaviour[0]
        usd = PRICES[OWN] + sum(PRICES[bought[place][0]] for place in kept)
        found.append((wrong, wrong and alarm, alarm and not wrong, 1 + len(kept), usd))
    return tuple(np.mean(found, axis=0).tolist())


def purchases(
    rows: Mapping[Coder, list[list[int]]], policy: Policy, task: int
) -> Iterator[tuple[int, list[tuple[Coder, int]]]]:
    """Yield each checked program with each sequence of programs bought, all equally likely."""
    own = OWN if policy.temperature is None else HOT
    for place, checked in enumerate(rows[OWN][task]):
        there = [row for at, row in enumerate(rows[own][task]) if own != OWN or at != place]
        for other in itertools.product(*(rows[coder][task] for coder in policy.others)):
            for more in itertools.permutations(there, policy.own):
                yield checked, [*zip(policy.others, other, strict=True), *((own, row) for row in more)]


def settled(differ: list[bool], policy: Policy, n_others: int) -> list[int]:
    """Return the places of the programs that are bought when each could still change the answer."""
    kept = []
    for begin, end, needed in ((0, n_others, policy.dissents), (n_others, len(differ), policy.own_dissents)):
        dissents = 0
        for place in range(begin, end):
            if dissents + (end - place) < needed:
                break  # these can raise no alarm any more
            kept.append(place)
            dissents += differ[place]
            if dissents == needed:
                return kept
    return kept


@settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries({c: st.lists(st.integers(0, 3), min_size=4, max_size=5) for c in (OWN, HOT, B, C)}),
    st.integers(0, 3),
    st.integers(1, 2),
    st.permutations([B, C]),
    st.integers(0, 2),
    st.sampled_from([None, 1.0]),
    st.booleans(),
    st.integers(1, 2),
)
def test_expectations_are_means_over_all_choices(rows, own, own_dissents, others, dissents, hot, stop, n) -> None:
    policy = Policy(
        own=own,
        own_dissents=min(own_dissents, max(own, 1)),
        temperature=hot,
        others=tuple(others[:dissents]),
        dissents=max(dissents, 1),
        stop=stop,
    )
    of_tasks = {coder: [listed, listed[::-1][:4]] for coder, listed in rows.items()}
    (made,) = score(evidence_of(pool(of_tasks), n=n), [policy])
    for task in range(2):
        found = [part[task] for part in (made.erroneous, made.detected, made.false_alarm, made.programs, made.usd)]
        assert found == pytest.approx(plain(of_tasks, policy, task, n))


def test_rates_by_hand() -> None:
    # Task 0: the checked program is right 3 of 4 times, then 1 of 3 others differs; wrong 1 of 4 times, all 3 differ.
    # Task 1: it is always wrong: 1, 1 see one alike of three, 2 and 3 none.
    (pair,) = score(evidence_of(pool()), [Policy(own=1)])
    rates = pair.rates(np.array([True, True]))
    assert rates.detection == pytest.approx((0.25 + 5 / 6) / 1.25)
    assert rates.false_alarms == pytest.approx(0.25 / 0.75)
    assert (rates.programs, rates.usd_per_1000) == (2.0, 2000.0)
    assert math.isnan(pair.rates(np.array([False, True])).false_alarms)  # no right program there: undefined
    assert math.isnan(pair.rates(np.array([False, False])).usd_per_1000)


def test_a_program_that_does_not_load_is_an_alarm_and_costs_no_more() -> None:
    labels = np.array([[0], [1]], dtype=np.uint16)
    kinds = np.array([[Kind.VALUE], [Kind.LOAD_ERROR]], dtype=np.uint8)
    task = compress("t", {"paper": labels}, kinds, reach=np.array([1, 1]), reference=0)
    made = replace(pool({OWN: [[1, 1]], B: [[1]]}), tasks=(task,))
    for found in score(evidence_of(made, n=1, own=2), [Policy(), Policy(own=1), Policy(others=(B,))]):
        assert (found.detected.tolist(), found.programs.tolist()) == ([1.0], [1.0])  # though all of them agree


def test_tasks_without_enough_programs_or_inputs_or_a_reference_are_left_out() -> None:
    made = pool({coder: listed * 2 for coder, listed in ROWS.items()})
    tasks = list(made.tasks)
    tasks[1] = replace(tasks[1], reference=None)
    tasks[2] = replace(tasks[2], reach=np.array([2, 1, 2, 2]), kinds=np.where(tasks[2].kinds, 0, NO_KIND))
    made = replace(made, tasks=tuple(tasks))
    assert evidence_of(made).task_ids == ("task/0", "task/3")
    assert evidence_of(made, n=1).task_ids == ("task/0", "task/2", "task/3")
    assert evidence_of(made, own=5).task_ids == ()
    kept = gather(made, OWN, {}, n=1, prices={}, counts=lambda task_id: task_id != "task/0")
    assert kept.task_ids == ("task/2", "task/3")
    of_reference = replace(tasks[2], reach=np.array([1, 2, 2, 2]))  # which has fewer results than the programs
    short = replace(pool({OWN: [[1, 2], [1, 2]]}), tasks=(of_reference, tasks[3]))
    assert gather(short, OWN, {}, n=2, prices={}).task_ids == ("task/3",)
    few = pool({OWN: [[0], [1, 1], []], B: [[0], [], [1]]})
    for least, kept_tasks in (({}, ("task/0", "task/1")), ({OWN: 2}, ("task/1",)), ({B: 1}, ("task/0",))):
        assert gather(few, OWN, least, n=1, prices={}).task_ids == kept_tasks


def test_what_is_wrong_differs_from_the_reference_whichever_row_it_is() -> None:
    made = pool_of([LABELS, LABELS], [1, 3], {OWN: members([[0, 1, 1, 2], [3, 3, 3, 0]])})
    (alone,) = score(gather(made, OWN, {}, n=2, prices={}), [Policy()])
    assert alone.erroneous.tolist() == [0.5, 0.25]


def test_of_each_behaviour_the_share_that_fails_the_examples_is_known_if_all_verdicts_are() -> None:
    made = pool_of([LABELS] * 3, [0, None, 0], {OWN: members([[1, 0, 0, 3], [0], [1, 1, 1, 3]])})
    verdicts = np.array([PASSES, FAILS, PASSES, FAILS, UNKNOWN, FAILS, PASSES, FAILS, FAILS])
    evidence = gather(made, OWN, {}, n=2, prices={}, verdicts=verdicts)
    assert evidence.fails == pytest.approx([1 / 2, 0, 1, 2 / 3, 1])
    (found,) = score(evidence, [Policy(examples=True)])
    assert found.detected == pytest.approx([1 / 4, 3 / 4])
    assert found.false_alarm == pytest.approx([1 / 4, 0])
    (careless,) = score(evidence, [Policy()])
    assert careless.detected.tolist() == [0, 0]
    verdicts[0] = UNKNOWN
    unknown = gather(made, OWN, {}, n=2, prices={}, verdicts=verdicts)
    assert unknown.fails is None
    with pytest.raises(WrongUsage, match="found none of some"):
        score(unknown, [Policy(examples=True)])


def test_dollars_are_recorded_ones_then_those_of_the_tokens_then_unknown() -> None:
    def bought(price: Price | None, costs: list[int], **tokens: list[int]) -> Evidence:
        made = pool_of([LABELS], [0], {OWN: members([[0, 0]], cost_nanodollars=costs, **tokens)})
        return gather(made, OWN, {}, n=2, prices={OWN: price})

    price = Price(prompt=10_000.0, completion=1_000.0)  # 10 and 100 tokens: 0.2 dollars
    assert bought(price, [2_000_000_000, -1]).usd[OWN].tolist() == pytest.approx([1.1])
    assert bought(price, [0, 0]).usd[OWN].tolist() == [0]
    assert bought(price, [-1, -1], prompt_tokens=[0, 0]).usd[OWN].tolist() == pytest.approx([0.1])
    unknown = bought(None, [2_000_000_000, -1])
    assert math.isnan(unknown.usd[OWN].item())
    (found,) = score(unknown, [Policy(own=1)])
    assert math.isnan(found.rates(np.array([True])).usd_per_1000)
    assert found.rates(np.array([True])).false_alarms == 0


@pytest.mark.parametrize(
    ("nanodollars", "bills_reasoning", "expected"),
    [([0, 0], True, False), ([5, 0], True, False), ([5, -1], True, True), ([5, -1], False, False)],
)
def test_a_cost_that_is_not_recorded_is_a_lower_bound_where_reasoning_is_billed_and_none_is_none(
    nanodollars: list[int], bills_reasoning: bool, expected: bool
) -> None:
    price = Price(prompt=1.0, completion=1.0, reasoning=bills_reasoning)
    assert is_lower_bound(members([[0, 0]], cost_nanodollars=nanodollars), price) == expected
    assert not is_lower_bound(members([[0, 0]], cost_nanodollars=nanodollars), None)


def test_more_than_is_recorded_is_refused() -> None:
    with pytest.raises(WrongUsage, match="expected 4 further programs of a on each task, got 3"):
        score(evidence_of(pool()), [Policy(own=4)])
    with pytest.raises(WrongUsage, match=r"a temperature that a was gathered at, got 0.2"):
        score(evidence_of(pool()), [Policy(own=1, temperature=0.2)])
    with pytest.raises(WrongUsage, match="no candidates of z"):
        gather(pool(), ("z", 0.6), {}, n=2, prices={})
