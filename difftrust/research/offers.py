"""All that a recommendation is chosen from, rated at once: any wish is then answered by looking along arrays.

A policy buys of the checked model and of others. Its alarm, programs and dollars are sums over cells of products of
what the two parts do there, so the rates of all pairs of parts are products of matrices: milliseconds for 2,500.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from difftrust.research.per_candidate import Bools
from difftrust.research.policies import Evidence, Policy, Rates, Votes, bought_coders, other_votes, own_votes
from difftrust.research.price_list import CLOSE, Market, wide_parts
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimates import Floats

_ROUNDING = 1e-9
"""Sums of products differ by so much with the order in which they are added up."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Offers:
    """Policies for one market, rated on the tasks they are chosen on and on the others."""

    market: Market
    policies: tuple[Policy, ...]
    fitted: Rates[Floats]
    """Over the first half of the tasks, on which policies are chosen."""
    scored: Rates[Floats]
    """Over the others."""
    bought_is_lower_bound: Bools
    """Whether only a lower bound is known of what is bought beside the checked program."""

    @property
    def costs(self) -> Floats:
        """Return what policies cost on the first half: dollars, or programs where prices are not looked at."""
        return self.fitted.usd_per_1000 if self.market.by_price else self.fitted.programs

    def cheapest(self, *, detection: float | None, false_alarms: float | None) -> int | None:
        """Return the place of the cheapest policy that on the first half detects so much at no more false alarms.

        One of which only a lower bound of the price is known is cheaper than no other: it is returned only where no
        other will do. Where none detects so much, or ``detection`` is None: the cheapest whose detection is CLOSE to
        the largest one at no more false alarms. None where no policy with a known price has so few. Raises WrongUsage
        unless both shares lie in [0, 1].
        """
        for name, share in (("detection", detection), ("false alarms", false_alarms)):
            if share is not None and not 0 <= share <= 1:
                raise WrongUsage(f"a share of {name} lies in [0, 1], got {share:g}")
        fitted, costs, most = self.fitted, self.costs, 1.0 if false_alarms is None else false_alarms
        with np.errstate(invalid="ignore"):
            allowed = (fitted.false_alarms <= most + _ROUNDING) & ~np.isnan(costs + fitted.detection)
        if not allowed.any():
            return None
        found = float(fitted.detection[allowed].max())
        wanted = detection if detection is not None and detection <= found + _ROUNDING else found - CLOSE
        enough = np.flatnonzero(allowed & (fitted.detection >= wanted - _ROUNDING))
        bounds = self.bought_is_lower_bound[enough]
        order = np.lexsort((-fitted.detection[enough].round(9), costs[enough].round(9), bounds))
        return int(enough[order[0]])

    def most_careful(self, *, detection: float) -> int | None:
        """Return the place of the policy that detects so much with fewest false alarms, None if none does.

        Among those with hardly more false alarms (``CLOSE``) it is the cheapest.
        """
        enough = self.fitted.detection >= detection - _ROUNDING
        alarms = self.fitted.false_alarms[enough & ~np.isnan(self.costs)]
        if not alarms.size:
            return None
        return self.cheapest(detection=detection, false_alarms=min(1.0, float(alarms.min()) + CLOSE))

    def frontier(self, *, false_alarms: float) -> list[int]:
        """Return the places of policies with so few false alarms, each of which detects more than the one before.

        Chosen on the first half, the cheapest first; more by ``CLOSE``, or the last one that detects more at all.
        """
        detection, costs = self.fitted.detection, self.costs
        allowed = np.flatnonzero(
            (self.fitted.false_alarms <= false_alarms + _ROUNDING)
            & ~np.isnan(costs + detection)
            & ~self.bought_is_lower_bound
        )
        order = allowed[np.lexsort((-detection[allowed], costs[allowed]))]
        chosen: list[int] = []
        best = max(detection[order].tolist(), default=0.0)
        for place in order.tolist():
            so_far = detection[chosen[-1]] if chosen else -math.inf
            is_last = detection[place] >= best - _ROUNDING and so_far < best - _ROUNDING
            if is_last or detection[place] >= so_far + CLOSE:
                chosen.append(place)
        return chosen


def make_offers(market: Market) -> Offers:
    """Return all that ``price_list.wide_parts`` allow but to buy nothing, rated on both halves of the tasks."""
    evidence = market.evidence
    own, others = wide_parts(market)
    own_parts = [own_votes(evidence, policy) for policy in own]
    other_parts = [other_votes(evidence, policy) for policy in others]
    bounds = [
        [not evidence.at_least.isdisjoint(bought_coders(evidence, policy)) for policy in part] for part in (own, others)
    ]
    first, second = (
        _rated(evidence, own_parts, other_parts, tasks, with_prices=market.by_price)
        for tasks in (market.first_half, ~market.first_half)
    )
    return Offers(
        market=market,
        policies=tuple(replace(a, others=b.others, dissents=b.dissents) for a in own for b in others)[1:],
        fitted=first,
        scored=second,
        bought_is_lower_bound=np.logical_or.outer(*bounds).ravel()[1:],
    )


def _rated(
    evidence: Evidence, own: Sequence[Votes], others: Sequence[Votes], tasks: Bools, *, with_prices: bool
) -> Rates[Floats]:
    """Return the rates of all pairs over these tasks, own by own; without the first, which buys nothing."""
    n_tasks = int(tasks.sum())
    weight = evidence.share * tasks[evidence.task]
    judged = weight * evidence.loads
    silent_own = 1 - np.array([one.alarm for one in own])
    silent_others = 1 - np.array([one.alarm for one in others])

    def alarms(among: Bools) -> Floats:
        """Return the share with an alarm of the checked programs of these cells."""
        whole = float(weight[among].sum())
        silent = (silent_own * (judged * among)) @ silent_others.T
        rates: Floats = (whole - silent) / whole if whole > _ROUNDING else np.full(silent.shape, math.nan)
        return rates

    def bought(of_own: Floats, of_others: Floats) -> Floats:
        """Return what is bought in all; of the checked model only where the others have raised no alarm."""
        with np.errstate(invalid="ignore"):
            total: Floats = (of_own * judged) @ silent_others.T + (of_others @ judged)[None, :]
        return total

    programs = bought(np.array([one.programs for one in own]), np.array([one.programs for one in others]))
    usd = np.full(programs.shape, math.nan)
    if with_prices:
        checked = float(evidence.usd[evidence.checked][tasks].sum())
        usd = checked + bought(np.array([one.usd for one in own]), np.array([one.usd for one in others]))
    parts = {
        "detection": alarms(evidence.wrong),
        "false_alarms": alarms(~evidence.wrong),
        "programs": (n_tasks + programs) / n_tasks if n_tasks else np.full(programs.shape, math.nan),
        "usd_per_1000": 1000 * usd / n_tasks if n_tasks else usd,
    }
    return Rates(**{name: values.clip(min=0).ravel()[1:] for name, values in parts.items()})
