"""Values of the user's own classes, known from their parsed definitions: by fields, as a call would give them."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from difftrust.types.base import Draws, NoValue, Part, Type, all_fit, types_within
from difftrust.types.choices import Choice
from difftrust_core.base.literals import Code, Instance

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter as its file has it."""

    name: str
    annotation: ast.expr | None
    required: bool
    variadic: bool = False
    """It takes all arguments from here on (``*args``)."""
    keyword: bool = False
    """It is given by name, within ``Keywords``; with ``variadic`` it takes all names (``**kwargs``)."""
    default: ast.expr | None = None
    keys: tuple[str, ...] = ()
    """Of a dict, those that it has for sure."""


def parameters_in(arguments: ast.arguments) -> Iterator[Parameter]:
    """Iterate over the parameters of a function, those that stand for several among them."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    named = [*zip(positional, [*defaults, *arguments.defaults], strict=True)]
    only = [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    for each, more, keyword in ((named, arguments.vararg, False), (only, arguments.kwarg, True)):
        for argument, default in each:
            kind = argument.annotation
            required = default is None
            yield Parameter(name=argument.arg, annotation=kind, required=required, keyword=keyword, default=default)
        if more:
            yield Parameter(name=more.arg, annotation=more.annotation, required=False, variadic=True, keyword=keyword)


def decorators_of(function: Function) -> list[str]:
    """Return the last names of the decorators: ``cache`` for ``@functools.cache``, ``setter`` for ``@x.setter``."""
    called = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return [d.attr if isinstance(d, ast.Attribute) else d.id for d in called if isinstance(d, ast.Attribute | ast.Name)]


@dataclass(frozen=True, kw_only=True)
class Field:
    """An argument of a call, or a key of a TypedDict."""

    name: str
    type: Type
    required: bool = True
    by_name: bool = False
    """It can be given by name only."""
    variadic: bool = False
    """It takes all arguments from here on; with ``by_name`` all names."""


def field_of(one: Parameter, kind: Type) -> Field:
    """Return what a parameter takes, of a type."""
    return Field(name=one.name, type=kind, required=one.required, by_name=one.keyword, variadic=one.variadic)


def bind(fields: Sequence[Field], args: Sequence[Any], named: Mapping[str, Any]) -> list[Part] | None:
    """Return the arguments of a call with their types, in the order given; None if it cannot be called so."""
    positional = [one for one in fields if not one.by_name]
    if positional and positional[-1].variadic:
        positional += [positional[-1]] * max(len(args) - len(positional), 0)
    if len(args) > len(positional):
        return None
    found = [Part(v, one.type, one.name) for one, v in zip(positional, args, strict=False)]
    given = {part.name for part in found}
    left = {one.name: one.type for one in fields if not one.variadic and one.name not in given}
    for one in fields:
        if one.variadic and one.by_name:
            left = dict.fromkeys(named, one.type) | left
    if named.keys() & given or named.keys() - left.keys():
        return None
    if any(one.required and one.name not in {*given, *named} for one in fields):
        return None
    return found + [Part(v, left[name], name) for name, v in named.items()]


@dataclass(eq=False)
class Own(Type):
    """Instances of a class that its file defines: dataclass, NamedTuple, a class with ``__init__``."""

    name: str
    read: Callable[[], Sequence[Field]]
    """The fields; read when they are first asked for, as they may name the class itself."""
    abstract: bool = False
    heirs: list["Own"] = field(default_factory=list)
    """Classes of the same file that inherit from it."""

    @cached_property
    def fields(self) -> Sequence[Field]:
        """What a call of the class takes, in its order."""
        return self.read()

    def fits(self, value: Any) -> bool:
        return type(value) is Instance and all_fit(self._bound(value))

    def _bound(self, value: Any) -> list[Part] | None:
        own = self.of(value)
        return bind(own.fields, value.args, value.fields) if own is not None else None

    def draw(self, draws: Draws) -> Any:
        is_a_mere_base = self.abstract or (bool(self.heirs) and not self.fields)
        made = [*self.heirs] if is_a_mere_base else [self, *self.heirs]
        draws.generator.shuffle(made)
        if draws.is_late:
            made.sort(key=lambda one: (one.height, sum(bool(f.required and f.type.inside()) for f in one.fields)))
        for one in made:
            try:
                return one._drawn(draws) if one is self else one.draw(draws)
            except NoValue:
                continue
        raise NoValue

    def _drawn(self, draws: Draws) -> Instance:
        args: list[Any] = []
        named: dict[str, Any] = {}
        leaves_out = False
        for one in self.fields:
            if one.variadic:
                args += [] if leaves_out else [draws.of(one.type, one.name) for _ in range(draws.size(0, None))]
            elif not one.required and (draws.depth >= 4 or (draws.is_late and draws.chance(0.5)) or draws.chance(0.35)):
                leaves_out = leaves_out or not one.by_name
            elif one.by_name or leaves_out:
                named[one.name] = draws.of(one.type, one.name)
            else:
                args.append(draws.of(one.type, one.name))
        return Instance(self.name, tuple(args), named)

    def change(self, value: Any, draws: Draws) -> Any:
        parts = self.parts(value)
        if not parts or draws.chance(0.1):
            return self.draw(draws)
        rest = self._rest_of(value)
        if rest is not None and draws.chance(0.3):
            at, args = draws.below(len(value.args) - rest[0] + 1) + rest[0], list(value.args)
            is_shorter = at < len(args) and draws.chance(0.5)
            args[at : at + is_shorter] = [] if is_shorter else [draws.of(rest[1].type, rest[1].name)]
            return Instance(value.type_name, tuple(args), value.fields)
        at = draws.below(len(parts))
        values = [part.value for part in parts]
        alike = [part.value for part in parts if parts[at].type.fits(part.value)]
        values[at] = draws.one_of(alike) if draws.chance(0.4) else draws.of(parts[at].type, parts[at].name)
        return self.rebuilt(value, values)

    def _rest_of(self, value: Any) -> tuple[int, Field] | None:
        """Return the field that takes all arguments from a place on; None where the value gives none by position."""
        own = self.of(value)
        positional = [one for one in (own.fields if own else ()) if not one.by_name]
        n_before = len(positional) - 1
        takes_all = bool(positional) and positional[-1].variadic and len(value.args) >= n_before
        return (n_before, positional[-1]) if takes_all else None

    def of(self, value: Any) -> "Own | None":
        """Return the class whose name the value has: this one or an heir."""
        if value.type_name == self.name:
            return self
        return next((found for heir in self.heirs for found in [heir.of(value)] if found is not None), None)

    def parts(self, value: Any) -> list[Part]:
        return self._bound(value) or []

    def inside(self) -> Sequence[Type]:
        return [one.type for one in self.fields] + [kind for heir in self.heirs for kind in heir.inside()]

    def ends_within(self, levels: int) -> bool:
        parts = [one.type for one in self.fields if one.required and not one.variadic]
        own_end = not self.abstract and all(levels > 0 and part.ends_within(levels - 1) for part in parts)
        return own_end or any(heir.ends_within(levels) for heir in self.heirs)


AFTER_CALLS = "AfterCalls"
"""The name of an object on which methods were called before: ``AfterCalls(Editor(''), [write('a')])``."""


@dataclass(eq=False)
class Used(Type):
    """Objects of a class as they are made, and after calls of their methods."""

    own: Own
    calls: Type
    """Lists of calls, each as if the method were a class."""

    def fits(self, value: Any) -> bool:
        if type(value) is not Instance or value.type_name != AFTER_CALLS:
            return self.own.fits(value)
        return all_fit(self.parts(value) if len(value.args) == 2 and not value.fields else None)

    def draw(self, draws: Draws) -> Instance:
        made = draws.of(self.own)
        return Instance(AFTER_CALLS, (made, draws.of(self.calls))) if draws.chance(0.5) else made

    def change(self, value: Any, draws: Draws) -> Any:
        made, calls = value.args if value.type_name == AFTER_CALLS else (value, [])
        if draws.chance(0.3):
            made = self.own.change(made, draws)
        else:
            calls = self.calls.change(calls, draws)
        return Instance(AFTER_CALLS, (made, calls)) if calls else made

    def parts(self, value: Any) -> list[Part]:
        if value.type_name != AFTER_CALLS:
            return self.own.parts(value)
        return [Part(part, kind) for part, kind in zip(value.args, (self.own, self.calls), strict=True)]

    def inside(self) -> Sequence[Type]:
        return (self.own,)


def classes_in(kinds: Iterable[Type]) -> set[str]:
    """Return the names that values of these types are written with: of classes, their heirs, and functions as code."""
    found: set[str] = set()
    for kind in types_within(kinds, _with_heirs):
        if isinstance(kind, Own):
            found.add(kind.name.partition(".")[0])
        elif isinstance(kind, Choice):
            found |= {value.text.partition(".")[0] for value in kind.values if type(value) is Code}
    return found


def _with_heirs(kind: Type) -> Sequence[Type]:
    if isinstance(kind, Used):
        return [kind.own, *(one for call in kind.calls.inside() for one in call.inside())]
    return [*kind.inside(), *kind.heirs] if isinstance(kind, Own) else kind.inside()


@dataclass(eq=False)
class Record(Type):
    """Dicts with known keys, as of a TypedDict."""

    read: Callable[[], Sequence[Field]]

    @cached_property
    def fields(self) -> Sequence[Field]:
        """The keys."""
        return self.read()

    def fits(self, value: Any) -> bool:
        return all_fit(bind(self.fields, (), value) if type(value) is dict else None)

    def draw(self, draws: Draws) -> Any:
        kept = [one for one in self.fields if one.required or (draws.depth < 4 and draws.chance(0.6))]
        return {one.name: draws.of(one.type, one.name) for one in kept}

    def change(self, value: Any, draws: Draws) -> Any:
        if not self.fields:
            return value
        one, changed = draws.one_of(self.fields), dict(value)
        if not one.required and one.name in changed and draws.chance(0.5):
            del changed[one.name]
        else:
            changed[one.name] = draws.of(one.type, one.name)
        return changed

    def parts(self, value: Any) -> list[Part]:
        return bind(self.fields, (), value) or []

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        return dict(zip(value, parts, strict=True))

    def inside(self) -> Sequence[Type]:
        return [one.type for one in self.fields]
