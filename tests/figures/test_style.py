"""Colours that can be seen and told apart on white and on a dark page, and letters that can be read."""

import pytest

from dashboard import theme
from difftrust.figures.style import FAMILY_COLOURS, GREY, OUTCOMES, family_colour
from difftrust.tables.names import FAMILIES

GROUNDS = {"light": "#FFFFFF", "dark": "#0E1117"}


def contrast(a: str, b: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    light, dark = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def on_page(colour: str, name: str) -> str:
    """Return a colour as the page of this theme shows it."""
    spec = theme.for_page({"mark": {"color": colour}}, is_dark=name == "dark")
    return str(spec["mark"]["color"])


@pytest.mark.parametrize("name", GROUNDS)
def test_points_of_every_family_can_be_seen(name: str) -> None:
    shown = [on_page(colour, name) for colour in FAMILY_COLOURS.values()]
    assert [colour for colour in shown if contrast(colour, GROUNDS[name]) < 3] == []
    assert len(set(shown)) == len(shown)


def test_a_family_has_one_colour_and_none_is_that_of_an_outcome() -> None:
    named = {family: {family_colour(model) for model in models} for family, models in FAMILIES.items()}
    assert all(len(colours) == 1 for colours in named.values())
    assert len(set(map(min, named.values()))) == len(FAMILIES)
    assert family_colour("my-own") == GREY == family_colour("simulated/weak")
    assert not set(FAMILY_COLOURS.values()) & set(OUTCOMES.values())


def test_wrong_and_undetected_stands_out_most() -> None:
    light = {outcome: contrast(colour, "#FFFFFF") for outcome, colour in OUTCOMES.items()}
    assert light["right"] < light["detected"] < light["undetected"]
    assert light["undetected"] >= 4.5
