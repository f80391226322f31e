"""All policies rated at once: as one by one; which one answers a wish, and which ones are worth their money."""

import math
from dataclasses import replace

import numpy as np
import pytest

from difftrust.research.offers import Offers, make_offers
from difftrust.research.policies import Rates, score
from difftrust.research.price_list import Market, has_price, open_market
from difftrust_core.exceptions import WrongUsage
from tests.research.test_price_list import CHECKED, market, pool, with_lower_bounds

RATES = ("detection", "false_alarms", "programs", "usd_per_1000")


def offers_of(*rows: tuple[float, float, float], bounds: tuple[bool, ...] = ()) -> Offers:
    """Return policies by (detection, false alarms, dollars); ``bounds``: whose dollars are a lower bound."""
    detection, alarms, usd = (np.array(column) for column in zip(*rows, strict=True))
    made = Rates(detection=detection, false_alarms=alarms, programs=usd, usd_per_1000=usd)
    is_bound = np.array(bounds or [False] * len(rows))
    return Offers(market=market(), policies=(), fitted=made, scored=made, bought_is_lower_bound=is_bound)


@pytest.mark.parametrize(
    "found",
    [market(), market(n_others=0, hot=False), market(n_others=2, m=2)],
    ids=["all", "own alone", "two programs"],
)
def test_the_rates_are_those_of_each_policy_by_itself(found: Market) -> None:
    offers = make_offers(found)
    scores = score(found.evidence, offers.policies)
    for tasks, own in ((found.first_half, offers.fitted), (~found.first_half, offers.scored)):
        one_by_one = [made.rates(tasks) for made in scores]
        for name in RATES:
            expected = [getattr(rates, name) for rates in one_by_one]
            assert getattr(own, name) == pytest.approx(expected, nan_ok=True), name


def test_lower_bounds_are_those_of_what_is_bought() -> None:
    """Without the checked program, which all policies have, those that buy others only have an exact price."""
    offers = make_offers(open_market(with_lower_bounds(pool(), "checked"), CHECKED, n=1))
    assert offers.bought_is_lower_bound.tolist() == [policy.own > 0 for policy in offers.policies]


def test_the_cheapest_that_suffices_is_chosen_else_what_detects_most() -> None:
    offers = offers_of((0.3, 0.01, 1.0), (0.6, 0.05, 4.0), (0.61, 0.05, 8.0), (0.9, 0.3, 2.0), (0.95, 0.0, math.nan))
    wishes = {
        (0.2, 0.05): 0,
        (0.6, 0.05): 1,
        (0.605, 0.05): 2,
        (0.8, 0.05): 1,  # 0.61 is hardly more, for twice as much
        (None, 0.05): 1,
        (0.8, None): 3,
        (0.1, 0.001): None,
        (0, 0.05): 0,
        (None, 0): None,
    }
    for (detection, alarms), place in wishes.items():
        assert offers.cheapest(detection=detection, false_alarms=alarms) == place
    for name, share in (("detection", 1.5), ("false_alarms", 5), ("detection", -0.1)):
        with pytest.raises(WrongUsage, match=rf"{name.replace('_', ' ')} lies in \[0, 1\], got {share}"):
            offers.cheapest(**{"detection": None, "false_alarms": None, name: share})
    assert offers.cheapest(detection=1, false_alarms=1) == 3


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
    more = 0.1 + 0.2  # 0.30000000000000004
    assert offers_of((0.3, more, 1.0), (more, 0.3, 2.0)).frontier(false_alarms=0.3) == [0]
    assert offers_of((0.3, 0.0, 1.0), (0.31, 0.0, 2.0)).frontier(false_alarms=0.0) == [0, 1]  # the last detects more
    assert offers_of((0.3, 0.0, 1.0), (0.9, 0.5, 1.0)).most_careful(detection=more) == 0


def test_without_prices_programs_are_counted() -> None:
    given = pool()
    unknown = {c: replace(o, cost_nanodollars=np.full_like(o.cost_nanodollars, -1)) for c, o in given.members.items()}
    free = {c: replace(o, cost_nanodollars=np.zeros_like(o.cost_nanodollars)) for c, o in given.members.items()}
    assert has_price(given, CHECKED)
    for members in (unknown, free):
        without = replace(given, members=members)
        assert not has_price(without, CHECKED)
        found = open_market(without, CHECKED, n=1, by_price=False)
        assert sorted(found.cheap) == [(f"m{i}", 0.6) for i in range(4)]
        offers = make_offers(found)
        place = offers.cheapest(detection=0.3, false_alarms=0.5)
        assert place is not None
        fewer = offers.fitted.programs < offers.fitted.programs[place] - 1e-9
        enough = (offers.fitted.detection >= 0.3) & (offers.fitted.false_alarms <= 0.5)
        assert enough[place]
        assert not (fewer & enough).any()
        assert np.isnan(offers.fitted.usd_per_1000).all()


def test_a_policy_at_just_the_false_alarms_asked_for_has_no_more() -> None:
    offers = offers_of((0.5, 0.1 + 0.2, 1.0), (0.4, 0.2, 1.0))
    assert offers.cheapest(detection=0.5, false_alarms=0.3) == 0  # 0.30000000000000004
    assert offers.cheapest(detection=0.4, false_alarms=0.2) == 1


def test_a_policy_that_detects_just_what_is_asked_for_is_preferred_to_a_cheaper_one_that_detects_hardly_less() -> None:
    offers = offers_of((0.3, 0.0, 4.0), (0.29, 0.0, 1.0))
    for detection in (0.3, 0.1 + 0.2):  # 0.30000000000000004
        assert offers.cheapest(detection=detection, false_alarms=None) == 0
    assert offers.cheapest(detection=None, false_alarms=None) == 1
