"""Seed inputs drawn from the types of a function's parameters."""

import ast
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.checks.source.kinds import texts_of_kind
from difftrust_core.checks.source.usage import usage_types
from difftrust_core.checks.source.usual import usual_of
from difftrust_core.languages.python.argument_types import Annotations, ArgumentTypes, NotResolved
from difftrust_core.languages.python.dictionary import dictionary_of, numbers_in
from difftrust_core.languages.python.drawing import FreshDraws, values_by_name
from difftrust_core.languages.python.syntax import parsed
from difftrust_core.languages.python.types.base import Draws, NoValue, Type
from difftrust_core.languages.python.types.infer import Anything, common_type
from difftrust_core.languages.python.types.nested import Tree


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
    codes: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return up to ``n_seeds`` distinct argument tuples that fit ``types``, in the text form of ``literals``.

    ``given``: argument tuples that are known, which tell the types of parameters without any, and what texts are like.
    ``columns``: of frames, by name. ``codes``: programs, which tell what arrays and bare ``list`` hold.
    Deterministic in ``seed``; empty where nothing is known of a parameter.
    """
    fresh = FreshDraws(types, _tuples(given), likely_types(types, given, codes))
    if not fresh.is_possible:
        return ()
    texts, generator = known_texts(types, docstring, given), random.Random(f"{seed}/seeds")
    words = dictionary_of((), docstring)
    usual = usual_of([parameter.name for parameter in types.parameters], docstring, codes)
    found: dict[str, None] = {}
    for _ in range(4 * n_seeds):
        draws = Draws(
            generator=generator,
            texts=texts,
            words=words,
            numbers=numbers_in(words),
            columns=dict(columns or {}),
            usual=usual,
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


def likely_types(types: ArgumentTypes, given: Sequence[str], codes: Sequence[str]) -> dict[str, Type]:
    """Return what parameters most likely hold whose annotation leaves it open (``list``, ``dict``, ``Any``).

    By the values given, else by how programs use them; only what the annotation allows.
    """
    open_ones = [
        p for p, t in zip(types.parameters, types.types, strict=True) if p.annotation is not None and _is_open(t)
    ]
    if not open_ones:
        return {}
    values = values_by_name(types, _tuples(given))
    found: dict[str, Type] = {}
    for parameter in open_ones:
        shown = common_type(values.get(parameter.name, ()))
        likely = shown if not _is_open(shown) else _by_use(parameter.name, types, codes)
        kind = types.named_type(parameter.name)
        if likely is not None and _allows(kind, likely) and all(map(likely.fits, values.get(parameter.name, ()))):
            found[parameter.name] = likely
    return found


def _is_open(kind: Type) -> bool:
    waiting, seen = [kind], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Tree):
            continue
        if isinstance(one, Anything):
            return True
        if id(one) not in seen:
            seen.add(id(one))
            waiting += one.inside()
    return False


def _by_use(name: str, types: ArgumentTypes, codes: Sequence[str]) -> Type | None:
    """Return the type of a parameter by how the functions of programs use it; None where nothing is known."""
    for code in codes:
        tree = parsed(code)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                used = usage_types(node, codes).get(name)
                if used is not None:
                    with suppress(NotResolved, RecursionError):
                        return Annotations(ast.Module(body=[], type_ignores=[])).resolve(used)
    return None


def _allows(kind: Type, likely: Type) -> bool:
    """Tell whether what one type draws fits the other."""
    draws = Draws(generator=random.Random(0))
    try:
        return all(kind.fits(likely.draw(draws)) for _ in range(20))
    except (NoValue, RecursionError):
        return False


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
