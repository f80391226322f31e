"""The answer to "find so many errors of this model with so few false alarms": what to buy, what it finds and costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from difftrust.research.offers import Offers, make_offers
from difftrust.research.policies import Policy, score
from difftrust.research.price_list import (
    BOTH,
    EXAMPLE_AND_CHEAP,
    EXAMPLE_AND_OWN,
    HOT,
    MAJORITY,
    has_price,
    open_market,
)
from difftrust.tables.names import display_name
from difftrust.tables.policies import alarm_in_words, bought_in_words, label_of, policy_row
from difftrust_core.base.records import Coder
from difftrust_core.estimates.pool import Pool

CURVE_SCHEMA: Final[dict[str, Any]] = {
    "series": pl.String,
    "policy": pl.String,
    "models": pl.String,
    "cost": pl.Float64,
    "detection": pl.Float64,
    "false_alarms": pl.Float64,
}
"""A point of a curve: ``series`` is the line it is on; ``cost`` in dollars per 1,000 tasks, or in programs per task."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """One policy, and how it does on the tasks that it was not chosen on."""

    policy: Policy
    is_enough: bool
    """Whether it finds as many as were wished, on the tasks that it was chosen on."""
    row: Mapping[str, Any]
    """Columns of ``policies.POLICY_SCHEMA``."""

    @property
    def m(self) -> int:
        """Return the programs bought at most, the checked one included."""
        return 1 + self.policy.own + len(self.policy.others)

    @property
    def models(self) -> tuple[str, ...]:
        """Return the other models, as people call them."""
        return tuple(display_name(model) for model, _ in self.policy.others)

    @property
    def in_words(self) -> str:
        """Return what to buy, and when there is an alarm."""
        bought = bought_in_words(self.row["model"], self.policy)
        return (
            f"For each program to check, buy {bought}, one after the other until the answer is settled. "
            f"Raise an alarm if {alarm_in_words(self.policy)} from it on some input."
        )


def offers_for(pool: Pool, checked: Coder, *, m: int, n: int) -> Offers:
    """Return what can be bought as a check of ``checked``: at its price, else by number of programs.

    Where no task has a reference, nothing is rated: ``market.evidence.task_ids`` is empty.
    """
    return make_offers(open_market(pool, checked, n=n, m=m, by_price=has_price(pool, checked)))


def answer(offers: Offers, *, detection: float, false_alarms: float) -> Answer | None:
    """Return the cheapest policy that fulfils a wish, else the one that finds about the most with so few false alarms.

    None if no policy has so few. Raises WrongUsage unless both shares lie in [0, 1].
    """
    place = offers.cheapest(detection=detection, false_alarms=false_alarms)
    return None if place is None else _answer(offers, place, detection)


def careful_answer(offers: Offers, *, detection: float) -> Answer | None:
    """Return the policy that finds so many with fewest false alarms; None if none does."""
    place = offers.most_careful(detection=detection)
    return None if place is None else _answer(offers, place, detection)


def _answer(offers: Offers, place: int, detection: float) -> Answer:
    (one,) = score(offers.market.evidence, [offers.policies[place]])
    row = policy_row(offers.market, one, resamples=2000, seed=0)
    return Answer(policy=one.policy, is_enough=bool(offers.fitted.detection[place] >= detection - 1e-9), row=row)


def frontier_curve(offers: Offers, series: str, *, false_alarms: float) -> pl.DataFrame:
    """Return what more money finds with so few false alarms: points of ``CURVE_SCHEMA``, the cheapest first.

    Chosen on the first half of the tasks, the values are those of the other half; what is undefined there is left out.
    """
    scored, rows = offers.scored, []
    costs = scored.usd_per_1000 if offers.market.by_price else scored.programs
    for place in offers.frontier(false_alarms=false_alarms):
        policy = offers.policies[place]
        models = ", ".join(display_name(model) for model, _ in policy.others) or None
        values = (costs[place], scored.detection[place], scored.false_alarms[place])
        rows.append((series, label_of(policy).removesuffix(", stopping"), models, *map(float, values)))
    return pl.DataFrame(rows, schema=CURVE_SCHEMA, orient="row").filter(
        pl.all_horizontal(pl.col("cost", "detection", "false_alarms").is_finite())
    )


def listed_curve(listed: pl.DataFrame, *, by_price: bool) -> pl.DataFrame:
    """Return the price list (``policies.POLICY_SCHEMA``) as points of ``CURVE_SCHEMA``, a line a family of policies."""
    cost = "usd_per_1000" if by_price else "programs"
    return (
        listed.select(
            pl.col("family").replace(_SHORT).alias("series"), "policy", "models", pl.col(cost).alias("cost"), *_RATES
        )
        .drop_nulls(["cost", *_RATES])
        .sort("cost", "detection", maintain_order=True)
    )


_SHORT: Final = {
    MAJORITY: "own, most differ",
    HOT: "own, hotter",
    BOTH: "own + chosen others",
    EXAMPLE_AND_OWN: "example + own",
    EXAMPLE_AND_CHEAP: "example + all cheap",
}
"""Families of policies as they stand beside their lines, on a phone too."""
_RATES: Final = ("detection", "false_alarms")
