"""The answer to a wish, the curves of what more money finds, and their chart."""

from pathlib import Path

import numpy as np
import polars as pl

from difftrust.figures.curves import draw_spending
from difftrust.research.offers import Offers
from difftrust.tables.plan_answer import answer, careful_answer, listed_curve, offers_for, recommendation
from difftrust.tables.request import TableRequest
from difftrust.tables.what_to_buy import POLICY_SCHEMA, listed_rows
from tests.figures.test_figures import rows_of
from tests.research.test_price_list import CHECKED, pool


def offers(**given: int | bool) -> Offers:
    return offers_for(pool(**given), CHECKED, m=5, n=1)


def test_the_answer_is_the_recommendation() -> None:
    found = answer(offers(), detection=0.3, false_alarms=0.5)
    assert found is not None
    assert found.is_enough
    request = TableRequest(store=Path(), model="checked", m=5, n=1)
    expected = recommendation(request, {"b": pool()}, {}, detection=0.3, false_alarms=0.5)
    assert expected.frame.row(0, named=True) == found.row
    assert (found.m, found.models) == (1 + found.policy.own + len(found.policy.others), ())
    assert found.in_words.startswith("For each program to check, buy 1 more of checked, one after the other until ")
    assert "alarm if that one differs from it" in expected.notes[0]


def test_what_cannot_be_reached_is_said_with_the_nearest_on_either_side() -> None:
    made = offers()
    nearest = answer(made, detection=0.9, false_alarms=0.1)
    assert nearest is not None
    assert not nearest.is_enough
    assert nearest.row["fitted_false_alarms"] <= 0.1
    careful = careful_answer(made, detection=0.9)
    assert careful is not None
    assert careful.is_enough
    assert 0.1 < careful.row["fitted_false_alarms"] < 0.2
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
