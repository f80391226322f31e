"""The answer to "find so many errors of this model with so few false alarms": what to buy, what it finds and costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from difftrust.research.coders import with_ends
from difftrust.research.offers import Offers, make_offers
from difftrust.research.per_candidate import Schema
from difftrust.research.policies import Policy, score
from difftrust.research.price_list import (
    BOTH,
    CLOSE,
    EXAMPLE_AND_CHEAP,
    EXAMPLE_AND_OWN,
    HOT,
    MAJORITY,
    Market,
    has_price,
    open_market,
)
from difftrust.results import Table
from difftrust.tables.names import display_name
from difftrust.tables.render import in_brackets
from difftrust.tables.request import TableRequest
from difftrust.tables.what_to_buy import (
    POLICY_SCHEMA,
    RATES,
    alarm_in_words,
    bought_in_words,
    compared_in_words,
    label_of,
    markets,
    open_asked,
    policy_row,
    rates_in_words,
)
from difftrust_core.base.records import Coder
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import WrongUsage

CURVE_SCHEMA: Final[Schema] = {
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


def answer(
    offers: Offers, *, detection: float | None, false_alarms: float | None, resamples: int = 2000, seed: int = 0
) -> Answer | None:
    """Return the cheapest policy that fulfils a wish, else the one that finds about the most with so few false alarms.

    None if no policy has so few. Raises WrongUsage unless both shares lie in [0, 1].
    """
    place = offers.cheapest(detection=detection, false_alarms=false_alarms)
    return None if place is None else _answer(offers, place, detection, resamples=resamples, seed=seed)


def careful_answer(offers: Offers, *, detection: float) -> Answer | None:
    """Return the policy that finds so many with fewest false alarms; None if none does."""
    place = offers.most_careful(detection=detection)
    return None if place is None else _answer(offers, place, detection)


def _answer(offers: Offers, place: int, detection: float | None, *, resamples: int = 2000, seed: int = 0) -> Answer:
    (one,) = score(offers.market.evidence, [offers.policies[place]])
    row = policy_row(offers.market, one, resamples=resamples, seed=seed)
    is_enough = detection is None or bool(offers.fitted.detection[place] >= detection - 1e-9)
    return Answer(policy=one.policy, is_enough=is_enough, row=row)


def recommended(request: TableRequest, *, detection: float | None, false_alarms: float | None) -> Table:
    """Return the policy to buy for the request's model on each benchmark: a row each, and a sentence each in the notes.

    It is the cheapest that on the first half of the tasks detects at least ``detection`` at no more than
    ``false_alarms``; where none does, one that detects about as much as any at so few. Raises NoStore if too little is
    recorded of the model, WrongUsage if its programs have no known price.
    """
    rows, advice, notes = [], [], rates_in_words(request, _PLANNED)
    for market in markets(request, *open_asked(request)):
        model = market.evidence.checked[0]
        if model in market.unpriced:
            raise WrongUsage(
                f"a plan needs the price of a program, which is not known of {model}; choose another --model"
            )
        found = answer(
            make_offers(market),
            detection=detection,
            false_alarms=false_alarms,
            resamples=request.resamples,
            seed=request.seed,
        )
        limit = "" if false_alarms is None else f" at {100 * false_alarms:g} % false alarms"
        whose = f"for {display_name(model)} on {market.evidence.benchmark}{limit}"
        if found is None:
            advice.append(f"{whose}: no policy has so few")
            continue
        rows.append(found.row)
        said = "" if found.is_enough else f"none detects {100 * (detection or 0):g} %; the most: "
        advice.append(f"{whose}: {said}{_advice(market, found)}")
        notes.append(compared_in_words(market))
    return Table(pl.DataFrame(rows, schema=POLICY_SCHEMA).drop("family"), notes=(*advice, *notes))


def _advice(market: Market, found: Answer) -> str:
    row = found.row
    fitted, scored = (
        ", ".join(f"{rate.replace('_', ' ')} {in_brackets(*map(row.get, with_ends(start + rate)))}" for rate in RATES)
        for start in ("fitted_", "")
    )
    bought = bought_in_words(market.evidence.checked[0], found.policy)
    return (
        f"beside the program to check buy {bought}, one after the other until the answer is settled; "
        f"alarm if {alarm_in_words(found.policy)} from it; {'at least ' if row['usd_per_1000_is_lower_bound'] else ''}"
        f"${row['usd_per_1000']:,.2f} per 1,000 tasks with the checked programs; "
        f"chosen on {int(market.first_half.sum())} tasks ({fitted}), on the other {row['n_tasks']}: {scored}"
    )


_PLANNED: Final = (
    "the policy is the cheapest on the first half that detects enough at so few false alarms; if there is none, or how "
    f"much is enough was not said, the cheapest within {CLOSE:g} of the largest detection there"
)


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
            pl.col("family").replace(_SHORT).alias("series"), "policy", "models", pl.col(cost).alias("cost"), *RATES
        )
        .drop_nulls(["cost", *RATES])
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
