"""Realistic texts for a parameter, by the kind of text that its name, the docstring or examples speak of."""

from collections.abc import Sequence


def texts_of_kind(name: str, docstring: str, examples: Sequence[str]) -> list[str]:
    """Return texts of the kinds that the parameter seems to hold, valid ones and near misses; none where unknown."""
    return []
