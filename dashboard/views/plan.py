"""What to buy to find so many of a model's errors: the answer first, then what more money finds."""

from dataclasses import dataclass

import polars as pl
import streamlit as st

from dashboard import downloads, frame, state, text
from dashboard.components.run_missing import show_missing
from dashboard.data import Choice, kept
from dashboard.elements import heading, in_row, show_table
from difftrust.figures.curves import draw_spending
from difftrust.figures.style import family_colour
from difftrust.research.offers import Offers
from difftrust.research.price_list import has_price
from difftrust.tables.names import rewrite
from difftrust.tables.page_table import Measure
from difftrust.tables.plan_answer import (
    CURVE_SCHEMA,
    Answer,
    answer,
    careful_answer,
    frontier_curve,
    listed_curve,
    offers_for,
)
from difftrust.tables.what_to_buy import POLICY_SCHEMA, listed_rows

TITLE = "Plan"
_ABOUT = (
    "Check a model's programs without a reference: buy more programs for the same task, run all on the same inputs, "
    "and raise an alarm where they disagree. How many, of which models, and what does it cost?"
)
SHARES = tuple(step / 100 for step in range(5, 101, 5))
_ALARMS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
_WISH = (0.8, 0.05)
_BEST = "cheapest for this goal"
_RESAMPLES = 1000
_COLUMNS = {
    "models": Measure("other models", "One program of each is bought."),
    "programs": Measure("programs", "Per task, on average, the checked one included.", is_share=False),
    "usd_per_1000": Measure("$ per 1,000 tasks", "At list prices, the checked programs included."),
}
_WIDTH = "The wider the line, the more false alarms. A circle marks the answer above, the dashed line your goal."


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT, names_left_out=False)
    _show(chosen)
    show_missing(chosen, [state.read_one("model", chosen.models, chosen.usual_model)])


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Whose errors are to be found, how many of them, and the most false alarms."""

    chosen: Choice
    model: str
    detection: float
    alarms: float

    @property
    def name(self) -> str:
        """Return what to call the model."""
        return text.model_name(self.model)

    @property
    def offers(self) -> Offers:
        """Return what can be bought."""
        return _offers(self.chosen, self.model)

    @property
    def by_price(self) -> bool:
        """Tell whether dollars are counted, not programs."""
        return self.offers.market.by_price

    @property
    def found(self) -> Answer | None:
        """Return what to buy; None where nothing has so few false alarms."""
        return _answer(self.chosen, self.model, self.detection, self.alarms)


@st.fragment
def _show(chosen: Choice) -> None:
    """Draw what follows the sliders: a change of them draws this part alone."""
    wish = _choose_wish(chosen)
    evidence = wish.offers.market.evidence
    if not evidence.task_ids:
        _say_what_is_missing(wish)
        return
    if not evidence.wrong.any() or evidence.wrong.all():
        text.show_sentence(
            f"All recorded programs of {wish.name} are {'wrong' if evidence.wrong.any() else 'right'} on "
            "these tasks, so there is no error to tell from a right program. Choose another model or benchmark."
        )
        return
    for show in (_show_answer, _show_policies, _show_models, _show_list, _say_what_holds):
        show(wish)


def _choose_wish(chosen: Choice) -> Wish:
    with in_row("wish"):
        detection = state.choose_one(
            "I want to find", SHARES, name="find", default=_WISH[0], show=st.select_slider, format_func=as_share,
            width=200, help="Detection: of the wrong programs, the share with an alarm.",
        )  # fmt: skip
        model = state.choose_one(
            "of the errors of", chosen.models, name="model", default=chosen.usual_model, format_func=text.model_name,
            width=230, help="The model whose programs you use, and want to check.",
        )  # fmt: skip
        alarms = state.choose_one(
            "with false alarms of at most", _ALARMS, name="alarms", default=_WISH[1], show=st.select_slider,
            format_func=as_share, width=220, help="False alarms: of the right programs, the share with an alarm.",
        )  # fmt: skip
    return Wish(chosen=chosen, model=model, detection=detection, alarms=alarms)


@kept(most=256, saying="Rating what can be bought …")
def _offers(chosen: Choice, model: str) -> Offers:
    return offers_for(chosen.pool, (model, chosen.temperature), m=chosen.m, n=chosen.n)


@kept(most=4096)
def _answer(chosen: Choice, model: str, detection: float, alarms: float) -> Answer | None:
    return answer(_offers(chosen, model), detection=detection, false_alarms=alarms)


@kept(saying="Making the price list …")
def _listed(chosen: Choice, model: str) -> pl.DataFrame:
    rows = listed_rows(_offers(chosen, model).market, resamples=_RESAMPLES, seed=0)
    return pl.DataFrame(rows, schema=POLICY_SCHEMA)


@kept(most=1024)
def _models_curve(chosen: Choice, by_price: bool, alarms: float) -> pl.DataFrame:
    """Return what more money finds of each model's errors: points of ``CURVE_SCHEMA``."""
    found = {name: _offers(chosen, name) for name in chosen.models if _is_priced(chosen, name) == by_price}
    parts = [frontier_curve(offers, name, false_alarms=alarms) for name, offers in found.items()]
    return pl.concat([pl.DataFrame(schema=CURVE_SCHEMA), *parts])


def _is_priced(chosen: Choice, model: str) -> bool:
    return has_price(chosen.pool, (model, chosen.temperature))


def _show_answer(wish: Wish) -> None:
    found, most = wish.found, as_share(wish.alarms)
    goal = f"{as_share(wish.detection)} of the errors of {wish.name} with at most {most} false alarms"
    if found is None:
        heading("No policy has so few false alarms")
        text.show_sentence(f"None finds {goal}. Allow more false alarms.")
        if other := _show_careful(wish):
            _show_rows(pl.DataFrame([other.row], schema=POLICY_SCHEMA), wish)
        return
    if found.is_enough:
        heading("Buy this")
    else:
        heading("Nearest recorded policy")
        fitted = found.row["fitted_detection"]
        text.show_sentence(
            f"No policy finds {goal}. On the tasks used for choosing, the one below finds {as_share(fitted)}, "
            "about the most with so few false alarms."
        )
    text.show_sentence(found.in_words)
    other = None if found.is_enough else _show_careful(wish)
    _show_rows(pl.DataFrame([found.row, *([other.row] if other else [])], schema=POLICY_SCHEMA), wish)


def _show_careful(wish: Wish) -> Answer | None:
    """Say whether something reaches the detection with more false alarms than were wished; return it."""
    other, goal = careful_answer(wish.offers, detection=wish.detection), as_share(wish.detection)
    if other is None:
        text.show_sentence(f"No recorded policy finds {goal}, whatever its false alarms.")
    else:
        text.show_sentence(f"To find {goal}, accept more false alarms. {other.in_words}")
    return other


def _show_rows(policies: pl.DataFrame, wish: Wish) -> None:
    """Write policies, what each finds of the wrong programs, and what it costs."""
    rates = [f"{rate}{end}" for rate in ("detection", "false_alarms") for end in ("", "_low", "_high")]
    costs = ["usd_per_1000", "usd_per_1000_is_lower_bound"] if wish.by_price else []
    shown = rewrite(policies.select("policy", "models", *rates, "programs", *costs), ["models"], _names)
    show_table(shown.with_columns(pl.col("models").fill_null("none")), _COLUMNS, rows=12)


def _names(ids: str) -> str:
    return ", ".join(map(text.model_name, ids.split("+")))


def _show_policies(wish: Wish) -> None:
    found, by_price = wish.found, wish.by_price
    curves = [
        frontier_curve(wish.offers, _BEST, false_alarms=wish.alarms),
        listed_curve(_listed(wish.chosen, wish.model), by_price=by_price),
    ]
    table = pl.concat([curve for curve in curves if not curve.is_empty()] or curves)
    heading(f"Errors found against {'dollars' if by_price else 'programs'}: ways to check")
    if table.is_empty():
        st.markdown("No policy can be drawn: the rates are undefined on these tasks.")
        return
    text.show_small(f"Programs of {wish.name}. {_WIDTH}")
    cost = "usd_per_1000" if by_price else "programs"
    point = None if found is None else (found.row[cost], found.row["detection"])
    marked = None if point is None or None in point else point
    downloads.show_chart(
        draw_spending(rewrite(table, ["models"], text.one_line), by_price=by_price, marked=marked, wish=wish.detection),
        table,
        name="plan-policies",
    )


def _show_models(wish: Wish) -> None:
    chosen, by_price = wish.chosen, wish.by_price
    table = _models_curve(chosen, by_price, wish.alarms)
    if table["series"].n_unique() < 2:
        return
    heading("Errors found by cost and model")
    others = [name for name in chosen.models if _is_priced(chosen, name) != by_price]
    unknown = f" Not drawn, their price is unknown: {', '.join(map(text.model_name, others))}." if others else ""
    text.show_sentence(
        "Each line is one model's own errors, found by the best that can be bought with at most "
        f"{as_share(wish.alarms)} false alarms on the tasks used for choosing.{unknown if by_price else ''}"
    )
    named = rewrite(rewrite(table, ["series"], text.model_name), ["models"], text.one_line)
    colours = [(text.model_name(name), family_colour(name)) for name in chosen.models]
    chart = draw_spending(named, by_price=by_price, colours=colours, wish=wish.detection, highlighted=wish.name)
    downloads.show_chart(chart, table, name="plan-models")


def _show_list(wish: Wish) -> None:
    """Write the price list."""
    heading("All policies")
    _show_rows(_listed(wish.chosen, wish.model), wish)


def _say_what_holds(wish: Wish) -> None:
    """Say what the numbers of the page rest on."""
    market = wish.offers.market
    first = int(market.first_half.sum())
    with st.expander("What these numbers hold for"):
        st.markdown(
            f"- Policies are **chosen on {first:,} tasks** and **scored on the other "
            f"{len(market.first_half) - first:,}**: every number above is from tasks that the choice did not see, so "
            "it can miss the wish by a little. Tasks are split by a hash of their ids.\n"
            "- Brackets hold 95 % intervals over tasks (bootstrap). They say what to expect on other tasks of the same "
            "kind, not on another benchmark: thresholds do not carry over. Measure on tasks like yours.\n"
            "- A program is wrong if it differs from the reference on some input. It is compared with what is bought "
            f"on {wish.chosen.n:,} inputs. A program that does not load is an alarm for which nothing is bought.\n"
            "- Rates are exact expectations over the recorded programs; nothing is drawn at random."
        )
        st.markdown(_PRICES if market.by_price else _NO_PRICES)
        unpriced = {"No price is known": market.unpriced if market.by_price else ()}
        unpriced["Only a lower bound of the price is known (reasoning was not recorded)"] = market.at_least
        for why, models in unpriced.items():
            if models:
                text.show_sentence(f"{why}, so never bought: {', '.join(map(text.model_name, models))}.")
        if market.left_out:
            st.markdown(f"- Left out: {market.left_out:,} tasks with too few programs of some model.")


_PRICES = (
    "- Dollars are list prices for the tokens of the task's text and of the program alone, on the day that the price "
    "table says."
)
_NO_PRICES = (
    "- The price of these programs is zero or unknown, so programs are counted in place of dollars; other models are "
    "those whose disagreement says most on the tasks used for choosing."
)


def _say_what_is_missing(wish: Wish) -> None:
    chosen = wish.chosen
    if all(task.reference is None for task in chosen.pool.tasks):
        st.info(
            "This page needs to know which programs were wrong, and no task of this benchmark has a reference. "
            "Import the tasks with references or checkers (`difftrust import --tasks`), or plan on another benchmark."
        )
        return
    text.show_sentence(
        f"No task has a reference and {chosen.m} programs of {wish.name} that ran on {chosen.n:,} inputs. "
        "Choose fewer programs (m) or inputs (n) above."
    )


def as_share(share: float | None) -> str:
    """Return a share as people say it: two digits below 10 %."""
    return "undefined" if share is None else f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
