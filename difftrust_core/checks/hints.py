"""Seed inputs drawn from the types of a function's parameters."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.checks.kinds import texts_of_kind
from difftrust_core.languages.python.argument_types import ArgumentTypes
from difftrust_core.languages.python.drawing import FreshDraws, dictionary_of, numbers_in, values_by_name
from difftrust_core.languages.python.types.base import Draws, NoValue


class KnownTexts:
    """Realistic texts for parameters and fields, by their names, a docstring and the texts given as examples."""

    def __init__(self, docstring: str, examples: Mapping[str, Sequence[str]]):
        self._docstring, self._examples = docstring, examples
        self._found: dict[str, list[str]] = {}

    def __call__(self, name: str) -> Sequence[str]:
        """Return texts for a name; none where nothing speaks for a kind."""
        if name not in self._found:
            examples = list(self._examples.get(name, ()))
            self._found[name] = texts_of_kind(name, self._docstring, examples) + examples
        return self._found[name]


def known_texts(types: ArgumentTypes, docstring: str, given: Sequence[str]) -> KnownTexts:
    """Return the realistic texts of a function's parameters; ``given``: argument tuples that are known."""
    examples = {
        name: [text for value in values for text in _texts_in(value)]
        for name, values in values_by_name(types, _tuples(given)).items()
    }
    return KnownTexts(docstring, examples)


def sample_seeds(
    types: ArgumentTypes,
    *,
    seed: int,
    n_seeds: int = 40,
    docstring: str = "",
    given: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return up to ``n_seeds`` distinct argument tuples that fit ``types``, in the text form of ``literals``.

    ``given``: argument tuples that are known, which tell the types of parameters without any, and what texts are like.
    ``columns``: of frames, by name. Deterministic in ``seed``; empty where nothing is known of a parameter.
    """
    fresh = FreshDraws(types, _tuples(given))
    if not fresh.is_possible:
        return ()
    texts, generator = known_texts(types, docstring, given), random.Random(f"{seed}/seeds")
    words = dictionary_of((), docstring)
    found: dict[str, None] = {}
    for _ in range(4 * n_seeds):
        draws = Draws(
            generator=generator, texts=texts, words=words, numbers=numbers_in(words), columns=dict(columns or {})
        )
        try:
            text = write_literal(fresh.draw(draws))
        except (NoValue, RecursionError):
            continue
        if types.accepts(text):
            found[text] = None
        if len(found) == n_seeds:
            break
    return tuple(found)


def _tuples(texts: Sequence[str]) -> list[tuple[Any, ...]]:
    found = []
    for text in texts:
        try:
            value = read_literal(text)
        except BadText:
            continue
        if type(value) is tuple:
            found.append(value)
    return found


def _texts_in(value: Any) -> list[str]:
    if type(value) is str:
        return [value]
    if type(value) in (list, tuple, set, frozenset):
        return [text for part in value for text in _texts_in(part)]
    return [text for part in value.values() for text in _texts_in(part)] if type(value) is dict else []
