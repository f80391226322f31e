"""The inputs of a check: seed inputs changed in steps that keep their types, and every fifth drawn from the types.

The inputs of stores are drawn by ``fuzz`` and ``domain``, which stay as they were when results were recorded.
"""

import ast
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from difftrust.search.dictionary import dictionary_of, numbers_in
from difftrust.search.histories import recalled
from difftrust.types.argument_types import (
    ArgumentTypes,
    Parameter,
    arguments_of,
    joined_arguments,
    split_arguments,
    with_values,
)
from difftrust.types.base import (
    Draws,
    NoValue,
    Part,
    Type,
    change_somewhere,
    nodes_of,
    types_within,
    with_node,
)
from difftrust.types.choices import Variable
from difftrust.types.infer import Anything, Tree, common_type, type_of
from difftrust.types.own import AFTER_CALLS
from difftrust.types.standard import Standard
from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.languages.python.fuzz import children, generator_of

_FRESH_EVERY = 5
_FRESH_ATTEMPTS = 8
"""So many attempts of these; after them what was kept is changed in their place too."""
_FAVOUR, _FAVOUR_LEARNT = 0.6, 0.9
"""Of so many changed inputs the seed is one on which programs return a value."""
_STEPS = (1, 1, 1, 2, 2, 3, 5, 10)
_NAMES = ("name", "key", "value", "color", "size", "first", "second", "third", "x1", "x2", "x3")
"""Names for what ``**kwargs`` takes."""
_EAGER = 0.1
"""Of so many inputs all numbers and texts that change become those that programs name."""
_WITHOUT_ZONE = re.compile(r"\bdatetime\([\d, ]*\)")
"""Beside a time with a zone: comparing the two fails in any program."""
_FEW = 20
"""So many parts of a value are looked at for what it keeps to."""
_LIKELY = 0.8
_PLAIN = (
    *("", "a", "abab", "racecar", "Mississippi", "hello world", "Hello, World!", "  x  y ", "1 2 3", "ALL CAPS"),
    *("One. Two! Three?", "the cat and the hat", "It's 5 o'clock.", "word, word; WORD-word.", "Line one\nLine two\n\n"),
    *("Straße café naïve", "日本語 テキスト", "🙂🇫🇷", "é", "tab\tnew"),
)


class KnownTexts:
    """Texts for parameters and fields by name: plain ones, as many of those given, and the ``sure`` ones.

    ``examples``: texts that are given for a name. ``sure``: texts that every second one is to be of, for any name.
    """

    def __init__(self, examples: Mapping[str, Sequence[str]], sure: Sequence[str] = ()):
        self._examples, self._sure = examples, list(sure)
        self._found: dict[str, list[str]] = {}

    def __call__(self, name: str) -> Sequence[str]:
        """Return texts for a name."""
        if name not in self._found:
            given = list(self._examples.get(name, ()))
            found = [*_PLAIN, *_as_often(given, len(_PLAIN))]
            self._found[name] = found + _as_often(self._sure, len(found))
        return self._found[name]


def _as_often(texts: list[str], n: int) -> list[str]:
    """Return texts as often as makes at least n, each equally often."""
    return texts * (1 + n // max(1, len(texts)))


class FreshDraws:
    """Argument tuples drawn from the types of the parameters alone."""

    def __init__(
        self,
        types: ArgumentTypes,
        given: Sequence[tuple[Any, ...]] = (),
        likely: Mapping[str, Type] | None = None,
    ):
        self.likely = dict(likely or {})
        """What parameters of an open type (``list``, ``Any``) hold most of the time."""
        self._types = types
        values = values_by_name(types, given)
        self.types: dict[str, Type] = {}
        """What each parameter is drawn from; without those of which nothing is known."""
        for parameter, kind in zip(types.parameters, types.types, strict=True):
            known = kind if parameter.name not in types.unchecked else _told(parameter, values.get(parameter.name, ()))
            if known is not None:
                self.types[parameter.name] = known
        self.is_possible = all(p.name in self.types or not p.required for p in self._types.parameters)
        """Enough is known of every parameter that needs an argument."""

    def distinct(self, draws: Callable[[], Draws], n: int, *, n_tries: int) -> tuple[str, ...]:
        """Return up to n distinct argument tuples that fit the types, in the text form of ``literals``."""
        found: dict[str, None] = {}
        for _ in range(n_tries if self.is_possible else 0):
            with suppress(NoValue, RecursionError):
                text = write_literal(self.draw(draws()))
                if self._types.accepts(text):
                    found[text] = None
            if len(found) == n:
                break
        return tuple(found)

    def draw(self, draws: Draws) -> tuple[Any, ...]:
        """Return an argument tuple. Raises NoValue where a type has none."""
        values: list[Any] = []
        named: dict[str, Any] = {}
        stops = False
        for parameter in self._types.parameters:
            kind = self.types.get(parameter.name)
            if parameter.name in self.likely and draws.chance(_LIKELY):
                kind = self.likely[parameter.name]
            if kind is None or not (parameter.required or draws.chance(0.6)):
                stops = stops or not parameter.keyword
                continue
            if parameter.variadic:
                n = draws.below(4) if parameter.keyword else draws.size(0, None)
                several = [_value(kind, parameter, draws) for _ in range(n)]
                if parameter.keyword:
                    free = [name for name in _NAMES if all(other.name != name for other in self._types.parameters)]
                    named |= dict(zip(draws.generator.sample(free, len(several)), several, strict=True))
                elif not stops:
                    values += several
            elif parameter.keyword:
                named[parameter.name] = _value(kind, parameter, draws)
            elif not stops:
                values.append(_value(kind, parameter, draws))
        return joined_arguments(values, named)


def _value(kind: Type, parameter: Parameter, draws: Draws) -> Any:
    draws.name = parameter.name
    return kind.draw(draws)


def _told(parameter: Parameter, values: Sequence[Any]) -> Type | None:
    """Return the type of a parameter of unknown type by the values given for it, and its default."""
    known = list(values)
    try:
        default = read_literal(ast.unparse(parameter.default)) if parameter.default is not None else None
    except BadText:
        default = None
    if default is not None or (known and parameter.default is not None):
        known.append(default)
    return common_type(known) if known else None


def values_by_name(types: ArgumentTypes, given: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Return the values that argument tuples have for each parameter."""
    found: dict[str, list[Any]] = {}
    for name, value in chain.from_iterable(map(types.named_values, given)):
        found.setdefault(name, []).append(value)
    return found


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

    ``given``: argument tuples that are known, which tell the types of parameters without any.
    ``columns``: of frames, by name. Deterministic in ``seed``; empty where nothing is known of a parameter.
    """
    fresh = FreshDraws(types, _tuples(given), likely_types(types, given))
    words = dictionary_of((), docstring)
    draws = partial(
        Draws,
        generator=random.Random(f"{seed}/seeds"),
        texts=KnownTexts(texts_by_name(types, given)),
        words=words,
        numbers=numbers_in(words),
        columns=columns or {},
    )
    return fresh.distinct(draws, n_seeds, n_tries=4 * n_seeds)


def likely_types(types: ArgumentTypes, given: Sequence[str]) -> dict[str, Type]:
    """Return what parameters whose annotation leaves it open (``list``, ``dict``, ``Any``) hold by the values given."""
    given_values = values_by_name(types, _tuples(given))
    found: dict[str, Type] = {}
    for parameter, kind in zip(types.parameters, types.types, strict=True):
        values = given_values.get(parameter.name, [])
        if parameter.annotation is not None and _is_open(kind) and not _is_open(shown := common_type(values)):
            found[parameter.name] = shown
    return found


def _is_open(kind: Type) -> bool:
    inside = types_within([kind], lambda one: () if isinstance(one, Tree) else one.inside())
    return any(isinstance(one, Anything) for one in inside)


def texts_by_name(types: ArgumentTypes, given: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts that argument tuples hold for each parameter."""
    found = values_by_name(types, _tuples(given))
    return {name: [text for value in values for text in _texts_in(value)] for name, values in found.items()}


def _texts_in(value: Any) -> list[str]:
    if type(value) is str:
        return [value]
    inside = value.values() if type(value) is dict else () if type(value) is Instance else children(value)
    return [text for part in inside for text in _texts_in(part)]


def _tuples(texts: Sequence[str]) -> list[tuple[Any, ...]]:
    return [found for found in map(arguments_of, texts) if found is not None]


class TypedInputs:
    """What draws the inputs of a check: always the same one for a task, seed, position and attempt.

    ``dictionary``: texts and numbers of ``dictionary_of``. ``texts``: realistic ones by name.
    ``columns``: of frames. ``likely``: what open types hold. ``special``: NaN and infinite floats that come up.
    Attempt ``MAX_ATTEMPTS`` and beyond give an unchanged seed input.
    """

    def __init__(
        self,
        types: ArgumentTypes,
        seeds: Sequence[str],
        *,
        task_id: str,
        seed: int,
        texts: KnownTexts | None = None,
        dictionary: Sequence[str] = (),
        columns: Mapping[str, str] | None = None,
        likely: Mapping[str, Type] | None = None,
        special: Sequence[float] = (),
    ):
        self._types, self._task_id, self._seed = types, task_id, seed
        self._seeds = _tuples(seeds)
        self._fresh = FreshDraws(types, self._seeds, likely)
        self._texts: dict[str, list[str]] = {}
        self._draws = partial(
            Draws,
            texts=lambda name: [*(texts(name) if texts else ()), *self._texts.get(name, ())],
            words=dictionary,
            numbers=numbers_in(dictionary),
            columns=columns or {},
            special=special,
            varies=True,
        )
        self._favoured: list[tuple[Any, ...]] = []
        self._has_learnt = False
        """What is kept was told, for it is rare: most inputs are made of that, and the pool holds only that."""
        self._pool: dict[int, list[Any]] = {}
        self._kept: list[Type] = []  # so that no other type gets the id of one in the pool
        for arguments in self._seeds:
            self._remember(arguments)

    def __call__(self, position: int, attempt: int) -> str:
        """Return the input of one position and attempt, an argument tuple in the text form of ``literals``."""
        generator = generator_of(self._task_id, seed=self._seed, position=position, attempt=attempt)
        if attempt >= MAX_ATTEMPTS and self._seeds:
            return write_literal(self._seeds[int(generator.random() * len(self._seeds))])
        draws = self._draws(generator=generator, is_eager=generator.random() < _EAGER)
        is_fresh = position % _FRESH_EVERY == _FRESH_EVERY - 1 and attempt < _FRESH_ATTEMPTS
        afresh = self._fresh.is_possible and (is_fresh or not (self._seeds or self._favoured))
        try:
            drawn = self._fresh.draw(draws) if afresh else self._changed(draws)
            return write_literal(self._recalled(drawn, draws))
        except (NoValue, BadText, RecursionError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            # Values of seeds may be of no known type; what cannot be changed is run as it is.
            return write_literal(draws.one_of(self._seeds)) if self._seeds else "()"

    @property
    def seeds(self) -> list[str]:
        """The seed inputs."""
        return [write_literal(arguments) for arguments in self._seeds]

    def favour(self, answered: Sequence[bool]) -> None:
        """Change those seeds more often on which programs return a value, where most raise; one flag a seed."""
        some = [seed for seed, has in zip(self._seeds, answered, strict=True) if has]
        self._favoured = some if len(some) < _FAVOUR * len(self._seeds) else []

    def learn(self, kept: Sequence[str]) -> None:
        """Change these inputs too, and put their parts together anew: where few draws are kept, these are near more."""
        found = _tuples(kept)
        if found and not self._has_learnt:
            self._has_learnt = True
            self._pool.clear()
        self._favoured += found
        for arguments in found:
            self._remember(arguments)

    def fresh(self, n: int) -> list[str]:
        """Return the first n inputs that are drawn afresh; none where too little is known."""
        positions = range(_FRESH_EVERY - 1, _FRESH_EVERY * n, _FRESH_EVERY) if self._fresh.is_possible else ()
        return [self(position, 0) for position in positions]

    def accepts(self, text: str) -> bool:
        """Tell whether an argument tuple fits the signature and its types; times are all in zones, or none is."""
        return not ("tzinfo=" in text and _WITHOUT_ZONE.search(text)) and self._types.accepts(text)

    def exhaustive(self, requires: str) -> list[str] | None:
        """Return all argument tuples that types and a condition allow, and others, if they are few; else None."""
        return None if self._types.unchecked else self._types.all_arguments(requires)

    def _remember(self, arguments: tuple[Any, ...]) -> None:
        """Note which texts a seed input has by name, and which values by type."""
        for part in self.parts(arguments):
            waiting = [part]
            while waiting:
                one = waiting.pop()
                self._pool.setdefault(id(one.type), []).append(one.value)
                self._kept.append(one.type)
                if type(one.value) is str and one.name is not None:
                    self._texts.setdefault(one.name, []).append(one.value)
                waiting += [Part(p.value, p.type, p.name or one.name) for p in one.type.parts(one.value)]

    def parts(self, arguments: tuple[Any, ...]) -> list[Part]:
        """Return the arguments with the types by which they change."""
        return [Part(value, self._type_of(name, value), name) for name, value in self._types.named_values(arguments)]

    def _type_of(self, name: str, value: Any) -> Type:
        known = self._fresh.types.get(name)
        if known is None and all(parameter.name != name for parameter in self._types.parameters):
            known = self._types.named_type(name)  # one of **kwargs
        likely = self._fresh.likely.get(name)
        if likely is not None and likely.fits(value):
            return likely
        return known or type_of(value)

    def _recalled(self, arguments: tuple[Any, ...], draws: Draws) -> tuple[Any, ...]:
        """Return the arguments, of an object that was used before some alike."""
        if not any(type(value) is Instance and value.type_name == AFTER_CALLS for value in arguments):
            return arguments
        return with_values(arguments, recalled(self.parts(arguments), draws))

    def _changed(self, draws: Draws) -> tuple[Any, ...]:
        if not self._seeds and not self._favoured:
            raise NoValue
        share = _FAVOUR_LEARNT if self._has_learnt else _FAVOUR
        is_near = bool(self._favoured) and (draws.chance(share) or not self._seeds)  # far from it all raise again
        draws.bound["steps"] = _STEPS[:4] if is_near else _STEPS
        chosen = draws.one_of(self._favoured if is_near else self._seeds)
        parts = self.parts(chosen)
        draws.bound |= _bound_by(parts)
        if not parts:
            return self._fresh.draw(draws) if self._fresh.is_possible else chosen
        changed_ones = self._some(len(parts), draws)
        values = [self._changed_one(part, draws) if at in changed_ones else part.value for at, part in enumerate(parts)]
        changed = with_values(chosen, values)
        return self._with_others(changed, draws) if draws.chance(0.1) else changed

    def _some(self, n: int, draws: Draws) -> Collection[int]:
        """Return which of n arguments change: all, all but one, one alone."""
        way = draws.below(5) if n > 1 else 0
        if way < 3:
            return range(n)
        one = draws.below(n)
        return {one} if way == 4 else {*range(n)} - {one}

    def _changed_one(self, part: Part, draws: Draws) -> Any:
        draws.name = part.name or ""
        way, value = draws.below(16), part.value
        if way == 0:
            return part.type.draw(draws)
        if way <= 2 and len(self._seeds) > 1:
            value = draws.one_of(self._pool.get(id(part.type), [value]))
            if way == 1 and len(self._types.parameters) > 1:
                return value
        for _ in range(draws.one_of(draws.bound.get("steps", _STEPS))):
            draws.name = part.name or ""
            value = self._step(part.type, value, draws)
        return value if part.type.fits(value) else part.value

    def _step(self, kind: Type, value: Any, draws: Draws) -> Any:
        """Change one node, or put one of the same type of another seed input in its place."""
        if draws.chance(0.5 if self._has_learnt else 0.1):
            path, node = draws.one_of(nodes_of(Part(value, kind)))
            return with_node(Part(value, kind), path, self._other(node, draws))
        return change_somewhere(kind, value, draws)

    def _other(self, part: Part, draws: Draws) -> Any:
        """Return a known value for the place of another one."""
        other = draws.one_of(self._pool.get(id(part.type), [part.value]))
        is_alike = type(other) is type(part.value) or not isinstance(part.type, Variable | Anything)
        return other if is_alike else part.value

    def _with_others(self, arguments: tuple[Any, ...], draws: Draws) -> tuple[Any, ...]:
        """Return arguments with one more or less of those that can be left out."""
        values, named = split_arguments(arguments)
        positional = [parameter for parameter in self._types.parameters if not parameter.keyword]
        by_name = [p for p in self._types.parameters if p.keyword and not p.variadic and not p.required]
        at = len(values)
        if positional and draws.chance(0.5):
            following = positional[min(at, len(positional) - 1)]
            last = positional[min(at, len(positional)) - 1]
            if (at < len(positional) or following.variadic) and following.name not in named:
                if following.name in self._fresh.types:
                    values = (*values, _value(self._fresh.types[following.name], following, draws))
            elif values and not last.required:
                values = values[:-1]
        elif by_name:
            one = draws.one_of(by_name)
            if one.name in named:
                named = {name: value for name, value in named.items() if name != one.name}
            elif one.name in self._fresh.types:
                named = {**named, one.name: _value(self._fresh.types[one.name], one, draws)}
        return joined_arguments(values, named)


def _bound_by(parts: Sequence[Part]) -> dict[str, Any]:
    """Return what an input keeps to as it is changed: the types behind its type variables, aware times or not."""
    found: dict[str, Any] = {}
    waiting = list(parts)
    while waiting:
        part = waiting.pop(0)
        if isinstance(part.type, Variable):
            found.setdefault(f"type variable {part.type.name}", part.type.of(part.value) or type_of(part.value))
        elif isinstance(part.type, Anything):
            found.setdefault("anything", type_of(part.value))
        elif isinstance(part.type, Standard) and "datetime" in part.type.names:
            found.setdefault("aware", "tzinfo" in part.value.fields or len(part.value.args) > 7)
        if isinstance(part.type, Variable | Anything) or len(waiting) < _FEW:
            waiting += part.type.parts(part.value)[:_FEW]
    return found
