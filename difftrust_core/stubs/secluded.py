"""Hypothesis's own way to draw, but for its look at the modules around it; and nothing else.

Otherwise it would mix constants from whatever local modules happen to be loaded into what it draws: the same seed would
give other values in another process, after reading every one of these files.
"""

from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

NAME = "difftrust-secluded"


class SecludedProvider(HypothesisProvider):
    """Draws everything at random, no value for having been seen in a source text."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[NAME] = SecludedProvider
