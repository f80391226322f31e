"""The price list: the split of the tasks, what is offered and chosen, intervals; all policies rated at once."""

import hashlib
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from difftrust.research import price_list as module
from difftrust.research.offers import Offers, make_offers
from difftrust.research.policies import Policy, Rates, Score, score
from difftrust.research.price_list import (
    CHOSEN,
    OWN,
    Market,
    fit,
    has_price,
    in_first_half,
    intervals,
    open_market,
    price_list,
    wide_parts,
)
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import Price
from difftrust_core.metrics.intervals import clopper_pearson
from tests.estimates.test_ablation import members, pool_of

CHECKED = ("checked", 0.6)
N_TASKS = 30


def pool(*, n_others: int = 4, m: int = 5, hot: bool = True) -> Pool:
    """Return tasks on which models with random behaviours, of 0 (right) to 3, cost the more the later they come."""
    rng = np.random.default_rng(1)
    labels = np.array([[0], [1], [2], [3]], dtype=np.uint16)
    coders = [(f"m{i}", 0.6) for i in range(n_others)]
    listed = {}
    for place, coder in enumerate([CHECKED, *([("checked", 1.0)] if hot else []), *coders]):
        rows = rng.choice(4, p=[0.6, 0.2, 0.1, 0.1], size=(N_TASKS, m)).tolist()
        listed[coder] = members(rows, cost_nanodollars=[(place + 1) * 1_000_000] * (N_TASKS * m))
    return pool_of([labels] * N_TASKS, [0] * N_TASKS, listed)


def market(**given: int | bool) -> Market:
    return open_market(pool(**given), CHECKED, n=1)


def made_score(erroneous: np.ndarray, detected: np.ndarray, false_alarm: np.ndarray) -> Score:
    same = {"programs": erroneous, "usd": erroneous}
    return Score(policy=Policy(own=1), erroneous=erroneous, detected=detected, false_alarm=false_alarm, **same)


def test_the_split_is_a_hash_of_seed_and_id() -> None:
    ids = [f"task/{i}" for i in range(400)]
    expected = [hashlib.blake2b(f"3/{task_id}".encode(), digest_size=1).digest()[0] % 2 == 0 for task_id in ids]
    assert in_first_half(ids, seed=3).tolist() == expected
    assert 160 < sum(expected) < 240
    assert in_first_half(ids[:7], seed=3).tolist() == expected[:7]  # whatever other tasks there are
    assert in_first_half(ids, seed=4).tolist() != expected
    assert in_first_half(ids).tolist() == in_first_half(ids, seed=0).tolist()


def test_a_market_knows_the_cheap_models_the_higher_temperature_and_what_has_no_price() -> None:
    found = market(n_others=8)
    assert found.cheap == tuple((f"m{i}", 0.6) for i in range(6))
    assert (found.m, found.hot, found.unpriced, found.left_out, found.n_examples) == (5, 1.0, (), 0, 0)

    def at_cost(model: str, nanodollars: int) -> Market:
        given = pool()
        own = given.of((model, 0.6))
        changed = replace(own, cost_nanodollars=np.full_like(own.cost_nanodollars, nanodollars))
        return open_market(replace(given, members={**given.members, (model, 0.6): changed}), CHECKED, n=1)

    gift, missing = at_cost("m3", 0), at_cost("m0", -1)
    assert (gift.cheap[0], gift.unpriced) == (("m3", 0.6), ())
    assert missing.unpriced == ("m0",)
    assert missing.cheap == tuple((f"m{i}", 0.6) for i in (1, 2, 3))


def with_lower_bounds(given: Pool, *names: str) -> Pool:
    """Return the pool with the costs of these models marked as lower bounds."""
    marked = {
        coder: replace(own, cost_is_lower_bound=np.full_like(own.cost_is_lower_bound, coder[0] in names))
        for coder, own in given.members.items()
    }
    return replace(given, members=marked)


def test_a_price_that_is_a_lower_bound_is_not_taken_for_cheap_and_makes_policies_lower_bounds() -> None:
    """Beside what is bought all have the checked program: those that buy others only have an exact price."""
    found = open_market(with_lower_bounds(pool(), "m0"), CHECKED, n=1)
    assert (found.at_least, found.unpriced) == (("m0",), ())
    assert found.cheap == tuple((f"m{i}", 0.6) for i in (1, 2, 3))
    assert not any(line.score.usd_is_lower_bound for line in price_list(found))
    own = open_market(with_lower_bounds(pool(), "checked"), CHECKED, n=1)
    assert own.at_least == ("checked",)
    assert all(line.score.usd_is_lower_bound for line in price_list(own))
    offers = make_offers(own)
    assert offers.bought_is_lower_bound.tolist() == [policy.own > 0 for policy in offers.policies]


def test_public_examples_are_offered_alone_and_beside_own_programs_and_cheap_others() -> None:
    found = market()
    fails = np.zeros(len(found.evidence.task), dtype=bool)
    without, lines = (
        [(line.family, line.score.policy) for line in price_list(each)]
        for each in (found, replace(found, evidence=replace(found.evidence, fails=fails)))
    )
    assert [policy.own for family, policy in without if family == module.HOT] == [1, 4]
    assert lines[: len(without)] == without
    cheap = tuple((f"m{i}", 0.6) for i in range(4))
    assert lines[len(without) :] == [
        (module.EXAMPLE, Policy(examples=True)),
        *((module.EXAMPLE_AND_OWN, Policy(examples=True, own=own)) for own in (1, 4)),
        *((module.EXAMPLE_AND_CHEAP, Policy(examples=True, others=cheap, dissents=d)) for d in (2, 3)),
    ]


@pytest.mark.parametrize(
    ("m", "own", "beside"),
    [
        (1, [], []),
        (2, [1, 1], [1]),
        (3, [1, 2, 2], [2]),
        (4, [1, 3, 3, 3], [2, 3]),
        (5, [1, 4, 4, 4], [2, 4]),
        (10, [1, 4, 9, 9, 9], [2, 9]),
    ],
)
def test_own_programs_are_offered_as_far_as_they_go_all_with_a_stop_from_four_on_a_majority_and_beside_others(
    m: int, own: list[int], beside: list[int]
) -> None:
    lines = price_list(market(m=m, hot=False))
    offered = [line.score.policy for line in lines if line.family in (OWN, module.MAJORITY)]
    assert [policy.own for policy in offered] == own
    assert [policy.stop for policy in offered].count(True) == (m > 1)
    assert [policy.own_dissents for policy in offered if policy.own_dissents > 1] == ([m // 2] if m >= 4 else [])
    bought = [line.score.policy for line in lines if line.family == module.BOTH]
    assert [(policy.own, policy.dissents, len(policy.others)) for policy in bought] == [(k, 2, 3) for k in beside]


@pytest.mark.parametrize(
    ("n_others", "dissents"),
    [
        (0, {}),
        (3, {module.CHEAPEST: [1, 2, 3]}),
        (4, {module.CHEAPEST: [1, 2, 3], module.ALL_CHEAP: [2, 3], CHOSEN: [1, 2, 3]}),
    ],
)
def test_others_are_chosen_only_where_there_are_more_than_three(n_others: int, dissents: dict[str, list[int]]) -> None:
    lines = price_list(market(n_others=n_others, m=1, hot=False))
    found = {line.family: [own.score.policy.dissents for own in lines if own.family == line.family] for line in lines}
    assert found == dissents


def test_a_task_counts_with_one_program_of_each_other_model_and_one_less_of_its_own_at_the_higher_temperature() -> None:
    given = pool()
    for n_hot, left_out in ((4, 0), (3, N_TASKS)):
        least = {CHECKED: 5, ("checked", 1.0): n_hot}
        members = {coder: own.first(least.get(coder, 1)) for coder, own in given.members.items()}
        assert open_market(replace(given, members=members), CHECKED, n=1, m=5).left_out == left_out


def test_the_others_are_chosen_on_the_first_half_alone() -> None:
    found = market(n_others=5)
    chosen = [line.score.policy for line in price_list(found) if line.family == CHOSEN]
    for dissents, policy in enumerate(chosen, 1):
        gains = {}
        for three in itertools.combinations(found.cheap, 3):
            (made,) = score(found.evidence, [Policy(others=three, dissents=dissents)])
            rates = made.rates(found.first_half)
            gains[three] = rates.detection - rates.false_alarms
        assert gains[policy.others] == pytest.approx(max(gains.values()))
    # What happens on the second half changes nothing of the choice.
    wrong = found.evidence.wrong & found.first_half[found.evidence.task]
    worse = replace(found, evidence=replace(found.evidence, wrong=wrong))
    assert [line.score.policy for line in price_list(worse) if line.family == CHOSEN] == chosen


def test_fit_takes_the_largest_difference_and_the_first_of_equal_ones() -> None:
    both, erroneous = np.array([True, True]), np.array([1.0, 0.0])
    least, first, equal, undefined = (
        made_score(erroneous, np.array([detection, 0.0]), np.array([0.0, alarms]))
        for detection, alarms in ((0.5, 0.1), (0.9, 0.4), (0.6, 0.1), (math.nan, 0.0))
    )
    assert fit([least, first, equal], both) is first  # 0.4 and 0.5 and 0.5
    assert fit([undefined, least], both) is least


@pytest.mark.parametrize(
    ("m", "own"), [(4, [(1, 1), (2, 1)]), (5, [(1, 1), (2, 1), (4, 1), (4, 2)]), (11, [(4, 1), (4, 2), (9, 1), (9, 5)])]
)
def test_the_wide_choice_is_every_choice_of_own_programs_with_every_choice_of_others(
    m: int, own: list[tuple[int, int]]
) -> None:
    found = market(m=m, hot=False, n_others=2)
    bought, others = wide_parts(found)
    assert sorted((policy.own, policy.own_dissents) for policy in bought)[-len(own) :] == own
    counts = [(len(policy.others), policy.dissents) for policy in others]
    assert counts == [(0, 1), (1, 1), (1, 1), (2, 1), (2, 2)]
    policies = make_offers(found).policies
    assert all(policy.stop for policy in policies)
    assert len(policies) == len(set(policies)) == len(bought) * len(others) - 1  # without the one that buys nothing


@pytest.mark.parametrize(
    ("recorded", "listed", "expected"),
    [(1, None, True), (0, None, False), (-1, None, False), (-1, (0.0, 1.0), True), (-1, (0.0, 0.0), False)],
)
def test_what_costs_nothing_or_nobody_knows_what_has_no_price(
    recorded: int, listed: tuple[float, float] | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    price = Price(prompt=listed[0], completion=listed[1]) if listed else None
    monkeypatch.setattr(module, "list_price", {CHECKED[0]: price}.get)
    own = pool().of(CHECKED)
    made = replace(own, cost_nanodollars=np.full_like(own.cost_nanodollars, recorded))
    assert has_price(replace(pool(), members={CHECKED: made}), CHECKED) == expected


def test_intervals_cover_tasks() -> None:
    rng = np.random.default_rng(0)
    erroneous, every = rng.random(60), np.ones(60, dtype=bool)
    one = made_score(erroneous, erroneous * 0.5, np.zeros(60))
    found = intervals(one, every, seed=0)
    assert found["detection"] == pytest.approx((0.5, 0.5))  # the same on every task
    assert found["false_alarms"] == clopper_pearson(0, int((1 - erroneous).sum()), alpha=0.025)
    uneven = replace(one, detected=erroneous * (rng.random(60) < 0.5))
    low, high = intervals(uneven, every, seed=0)["detection"]
    assert low < uneven.rates(every).detection < high
    assert intervals(uneven, every, seed=0)["detection"] == (low, high)
    assert all(math.isnan(end) for end in intervals(replace(one, erroneous=np.zeros(60)), every, seed=0)["detection"])


@pytest.mark.parametrize(
    ("erroneous", "caught", "alarms", "of_wrong", "of_right"),
    [
        ([1.0, 0.0], 0, 0, (0, 1), (0, 1)),
        ([0.7, 0.2, 0.1] * 3, 0, 1, (0, 3), (6, 6)),  # adds up to 3, or to a little less
        ([0.7, 0.2, 0.1] * 3, 1, 1, (3, 3), (6, 6)),
    ],
)
def test_shares_that_no_resample_can_change_have_the_limits_of_as_many_programs_as_there_are_tasks(
    erroneous: list[float], caught: int, alarms: int, of_wrong: tuple[int, int], of_right: tuple[int, int]
) -> None:
    wrong = np.array(erroneous)
    found = intervals(made_score(wrong, caught * wrong, alarms * (1 - wrong)), np.ones(len(wrong), dtype=bool), seed=0)
    assert found["detection"] == clopper_pearson(*of_wrong, alpha=0.025)
    assert found["false_alarms"] == clopper_pearson(*of_right, alpha=0.025)


def offers_of(*rows: tuple[float, float, float], bounds: tuple[bool, ...] = ()) -> Offers:
    """Return policies by (detection, false alarms, dollars); ``bounds``: whose dollars are a lower bound."""
    detection, alarms, usd = (np.array(column) for column in zip(*rows, strict=True))
    made = Rates(detection=detection, false_alarms=alarms, programs=usd, usd_per_1000=usd)
    is_bound = np.array(bounds or [False] * len(rows))
    return Offers(market=market(), policies=(), fitted=made, scored=made, bought_is_lower_bound=is_bound)


@pytest.mark.parametrize("given", [{}, {"n_others": 0, "hot": False}, {"n_others": 2, "m": 2}], ids=str)
def test_the_rates_are_those_of_each_policy_by_itself(given: dict[str, int]) -> None:
    found = market(**given)
    offers = make_offers(found)
    scores = score(found.evidence, offers.policies)
    for tasks, own in ((found.first_half, offers.fitted), (~found.first_half, offers.scored)):
        one_by_one = [made.rates(tasks) for made in scores]
        for name in ("detection", "false_alarms", "programs", "usd_per_1000"):
            expected = [getattr(rates, name) for rates in one_by_one]
            assert getattr(own, name) == pytest.approx(expected, nan_ok=True), name


MANY = [(0.3, 0.01, 1.0), (0.6, 0.05, 4.0), (0.61, 0.05, 8.0), (0.9, 0.3, 2.0), (0.95, 0.0, math.nan)]
EXACT = [(0.3, 0.0, 4.0), (0.29, 0.0, 1.0)]
ROUNDED = 0.1 + 0.2  # 0.30000000000000004


@pytest.mark.parametrize(
    ("rows", "detection", "alarms", "place"),
    [
        (MANY, 0.2, 0.05, 0),
        (MANY, 0.6, 0.05, 1),
        (MANY, 0.605, 0.05, 2),
        (MANY, 0.8, 0.05, 1),  # 0.61 is hardly more, for twice as much
        (MANY, None, 0.05, 1),
        (MANY, 0.8, None, 3),
        (MANY, 0.1, 0.001, None),
        (MANY, 0, 0.05, 0),
        (MANY, None, 0, None),
        (MANY, 1, 1, 3),
        # what has just the false alarms that are asked for, and what detects just what is asked for
        ([(0.5, ROUNDED, 1.0), (0.4, 0.2, 1.0)], 0.5, 0.3, 0),
        ([(0.5, ROUNDED, 1.0), (0.4, 0.2, 1.0)], 0.4, 0.2, 1),
        (EXACT, 0.3, None, 0),
        (EXACT, ROUNDED, None, 0),
        (EXACT, None, None, 1),
    ],
)
def test_the_cheapest_that_suffices_is_chosen_else_what_detects_most(
    rows: list[tuple[float, float, float]], detection: float | None, alarms: float | None, place: int | None
) -> None:
    assert offers_of(*rows).cheapest(detection=detection, false_alarms=alarms) == place


def test_a_wish_that_is_no_share_is_refused() -> None:
    for name, share in (("detection", 1.5), ("false_alarms", 5), ("detection", -0.1)):
        with pytest.raises(WrongUsage, match=rf"{name.replace('_', ' ')} lies in \[0, 1\], got {share}"):
            offers_of(*MANY).cheapest(**{"detection": None, "false_alarms": None, name: share})


def test_a_lower_bound_is_chosen_only_where_no_exact_price_will_do() -> None:
    rows = ((0.6, 0.05, 1.0), (0.6, 0.05, 4.0), (0.3, 0.05, 0.5))
    for bounds, place in (((True, False, False), 1), ((True, True, False), 0)):
        assert offers_of(*rows, bounds=bounds).cheapest(detection=0.5, false_alarms=0.1) == place


def test_the_frontier_rises_and_the_most_careful_has_fewest_false_alarms() -> None:
    offers = offers_of((0.5, 0.1, 3.0), (0.4, 0.1, 1.0), (0.4, 0.0, 2.0), (0.9, 0.4, 1.5), (0.7, 0.11, 9.0))
    assert offers.frontier(false_alarms=0.2) == [1, 0, 4]
    assert offers.frontier(false_alarms=0.05) == [2]
    assert offers.frontier(false_alarms=0.0) == [2]
    assert offers_of((0.5, 0.1, 3.0)).frontier(false_alarms=0.0) == []
    assert offers.most_careful(detection=0.45) == 0  # 0.11 is hardly more, but costs more
    assert offers.most_careful(detection=0.8) == 3
    assert offers.most_careful(detection=0.95) is None


def test_differences_by_rounding_make_no_policy_better_or_worse() -> None:
    assert offers_of((0.3, ROUNDED, 1.0), (ROUNDED, 0.3, 2.0)).frontier(false_alarms=0.3) == [0]
    assert offers_of((0.3, 0.0, 1.0), (0.31, 0.0, 2.0)).frontier(false_alarms=0.0) == [0, 1]  # the last detects more
    assert offers_of((0.3, 0.0, 1.0), (0.9, 0.5, 1.0)).most_careful(detection=ROUNDED) == 0


@pytest.mark.parametrize("nanodollars", [-1, 0], ids=["unknown", "free"])
def test_without_prices_programs_are_counted(nanodollars: int) -> None:
    given = pool()
    costs = {c: np.full_like(own.cost_nanodollars, nanodollars) for c, own in given.members.items()}
    own = {c: replace(given.members[c], cost_nanodollars=cost) for c, cost in costs.items()}
    found = open_market(replace(given, members=own), CHECKED, n=1, by_price=False)
    assert sorted(found.cheap) == [(f"m{i}", 0.6) for i in range(4)]
    offers = make_offers(found)
    place = offers.cheapest(detection=0.3, false_alarms=0.5)
    fewer = offers.fitted.programs < offers.fitted.programs[place] - 1e-9
    enough = (offers.fitted.detection >= 0.3) & (offers.fitted.false_alarms <= 0.5)
    assert enough[place]
    assert not (fewer & enough).any()
    assert np.isnan(offers.fitted.usd_per_1000).all()
