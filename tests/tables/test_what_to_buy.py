"""The price list as a table, the recommendation and the answer to a wish in words, and the curves of both."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.figures.curves import draw_policies, draw_spending
from difftrust.research.offers import Offers
from difftrust.research.policies import Policy
from difftrust.results import Table
from difftrust.tables import plan_answer, what_to_buy
from difftrust.tables.plan_answer import answer, careful_answer, listed_curve, offers_for, recommended
from difftrust.tables.request import TableRequest
from difftrust.tables.what_to_buy import POLICY_SCHEMA, label_of, listed_rows, make_policies
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import NoStore, WrongUsage
from tests.estimates.test_ablation import members, pool_of
from tests.figures.test_figures import rows_of
from tests.research.test_price_list import CHECKED, N_TASKS, pool

B, C, D = ("b", 0.6), ("c", 0.6), ("d", 0.6)
ASKED = TableRequest(store=Path(), model="checked", resamples=200)
POOLS = {"b": pool()}


@contextmanager
def opened(pools: Mapping[str, Pool]) -> Iterator[None]:
    """Let a store hold these behaviours, and no results on public examples."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (what_to_buy, plan_answer):
            patch.setattr(module, "open_asked", lambda _: (pools, {}))
        yield


def policies(request: TableRequest, pools: Mapping[str, Pool] = POOLS) -> Table:
    with opened(pools):
        return make_policies(request)


def advised(request: TableRequest, pools: Mapping[str, Pool] = POOLS, **wish: float | None) -> Table:
    with opened(pools):
        return recommended(request, **wish)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy(own=1), "2 own: that one differs"),
        (Policy(own=9, stop=True), "10 own: any differ, stopping"),
        (Policy(own=9, own_dissents=5), "10 own: at least 5 of 9 differ"),
        (Policy(own=9, temperature=1.0), "1 own, 9 at t = 1: any differ"),
        (Policy(others=(B, C, D), dissents=2), "1 own + 3 others: at least 2 of 3 differ"),
        (Policy(others=(B, C, D), dissents=3), "1 own + 3 others: all differ"),
        (Policy(own=2, others=(B, C), dissents=2), "3 own + 2 others: any own or all others differ"),
    ],
)
def test_labels(policy: Policy, said: str) -> None:
    assert label_of(policy) == said


def test_the_table_holds_the_second_half() -> None:
    made = policies(ASKED)
    assert dict(made.frame.schema) == {name: kind() for name, kind in POLICY_SCHEMA.items()}
    row = made.frame.row(0, named=True)
    assert row["policy"] == "2 own: that one differs"
    assert row["usd_per_1000"] == pytest.approx(2.0)  # two programs, a thousandth of a dollar each
    assert 0 < row["n_tasks"] < N_TASKS
    assert row["detection_low"] < row["detection"] < row["detection_high"]
    assert "b: 30 tasks, m = 5, t = 0.6; cheap models, by price: m0, m1, m2, m3" in made.notes
    assert "3 own + 3 others" in " ".join(made.frame["policy"])
    assert made.frame.equals(policies(ASKED).frame)
    assert not made.frame.equals(policies(replace(ASKED, seed=1)).frame)


def test_what_is_undefined_is_null_and_drawn_nowhere() -> None:
    made = policies(replace(ASKED, model="m0", temperature=0.6)).frame
    assert made["usd_per_1000"].null_count() == 0
    some = made.with_columns(detection=pl.when(pl.col("policy").str.contains("others")).then("detection"))
    drawn = {row["policy"] for row in rows_of(draw_policies(some)) if "policy" in row}
    assert drawn == {policy for policy in made["policy"] if "others" in policy}
    right = {"b": pool_of([np.zeros((1, 1))] * 4, [0] * 4, {CHECKED: members([[0, 0]] * 4)})}
    rates = policies(ASKED, right).frame.select("detection", "false_alarms_high", "n_tasks").unique()
    ((detection, high, n_tasks),) = rates.rows()
    assert (detection, high) == (None, pytest.approx(1 - 0.025 ** (1 / n_tasks)))


def test_the_recommendation_is_a_row_and_a_sentence() -> None:
    made = advised(ASKED, detection=0.3, false_alarms=0.5)
    (row,) = made.frame.iter_rows(named=True)
    assert row["fitted_detection"] >= 0.3
    assert row["fitted_false_alarms"] <= 0.5
    said = made.notes[0]
    assert said.startswith("for checked on b at 50 % false alarms: beside the program to check buy 1 more of checked, ")
    assert f"${row['usd_per_1000']:.2f} per 1,000 tasks" in said
    assert f"on the other {row['n_tasks']}: detection {row['detection']:.3f} [{row['detection_low']:.3f}, " in said
    more = advised(ASKED, detection=1.0, false_alarms=0.3).notes[0]
    assert "at 30 % false alarms: none detects 100 %; the most: beside the program to check buy one program" in more
    none = advised(ASKED, detection=None, false_alarms=0.0)
    assert (none.frame.height, none.notes[0]) == (0, "for checked on b at 0 % false alarms: no policy has so few")


def test_misuse_is_refused() -> None:
    with pytest.raises(NoStore, match="holds no behaviours of z there; name another --model or --benchmark"):
        policies(replace(ASKED, model="z"))
    unpriced = pool()
    own = unpriced.members[CHECKED]
    own.cost_nanodollars[:] = -1
    with pytest.raises(WrongUsage, match="needs the price of a program, which is not known of checked"):
        advised(ASKED, {"b": unpriced}, detection=None, false_alarms=0.1)
    assert policies(ASKED, {"b": unpriced}).frame["usd_per_1000"].null_count() > 0


def offers() -> Offers:
    return offers_for(pool(), CHECKED, m=5, n=1)


def test_the_answer_is_the_recommendation() -> None:
    found = answer(offers(), detection=0.3, false_alarms=0.5)
    assert found.is_enough
    request = TableRequest(store=Path(), model="checked", m=5, n=1)
    expected = advised(request, detection=0.3, false_alarms=0.5)
    assert expected.frame.row(0, named=True) == found.row
    assert (found.m, found.models) == (1 + found.policy.own + len(found.policy.others), ())
    assert found.in_words.startswith("For each program to check, buy 1 more of checked, one after the other until ")
    assert "alarm if that one differs from it" in expected.notes[0]


def test_what_cannot_be_reached_is_said_with_the_nearest_on_either_side() -> None:
    made = offers()
    nearest, careful = answer(made, detection=0.9, false_alarms=0.1), careful_answer(made, detection=0.9)
    assert (nearest.is_enough, careful.is_enough) == (False, True)
    assert nearest.row["fitted_false_alarms"] <= 0.1 < careful.row["fitted_false_alarms"] < 0.2
    assert answer(made, detection=0.5, false_alarms=0.01) is None
    assert careful_answer(offers_for(pool(n_others=0, hot=False), CHECKED, m=2, n=1), detection=1.0) is None


def test_the_chart_holds_every_point_its_names_apart_and_the_wish() -> None:
    made = offers()
    listed = pl.DataFrame(listed_rows(made.market, resamples=200, seed=0), schema=POLICY_SCHEMA)
    curve = listed_curve(listed, by_price=True)
    chart = draw_spending(curve, by_price=True, marked=(2.0, 0.5), wish=0.8)
    rows = rows_of(chart)
    assert {row["policy"] for row in rows if "policy" in row} == set(curve["policy"])
    labels = sorted(row["label"] for row in rows if "label" in row)
    assert len(labels) == curve["series"].n_unique()
    assert min(np.diff(labels)) >= 15 / 400 - 1e-9
    assert {"cost": 2.0, "detection": 0.5} in rows
    assert {"detection": 0.8} in rows
    low, high = chart.layer[-1].to_dict()["encoding"]["x"]["scale"]["domain"]
    assert low <= min(*curve["cost"], 2.0)
    assert max(*curve["cost"], 2.0) <= high
    assert {"detection": 0.8} not in rows_of(draw_spending(curve, by_price=True))
