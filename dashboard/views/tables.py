"""Further tables: what to buy, signals that need no reference, and what every number means."""

from importlib import import_module

from dashboard import state

PARTS = {"plan": "What to buy", "signals": "Signals without a reference", "measures": "What every number means"}
"""Module in ``views`` -> words."""


def draw(path: str = "") -> None:
    """Draw the part that the address names; ``path``: the one where it names none."""
    part = state.choose_tab("Table", PARTS, name="part", default=path if path in PARTS else next(iter(PARTS)))
    import_module(f"dashboard.views.{part}").draw()
