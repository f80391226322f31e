"""Values one of a few: None, truth values, literals, members of an Enum, functions; unions; anything at all."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from difftrust.types.base import Delegate, Draws, NoValue, Type, first_that_fits
from difftrust_core.base.literals import Code, write_literal
from difftrust_core.languages.python.syntax import expression, takes

_MOST_KNOWN = 4096


@dataclass(eq=False)
class Choice(Type):
    """One of some values, simplest first."""

    values: list[Any]

    def __post_init__(self) -> None:
        self._texts = {write_literal(value) for value in self.values}

    def fits(self, value: Any) -> bool:
        return write_literal(value) in self._texts

    def draw(self, draws: Draws) -> Any:
        if not self.values:
            raise NoValue
        return draws.one_of(self.values)

    def all_values(self, most: int) -> list[Any] | None:
        return list(self.values) if len(self.values) <= most else None


class Nothing(Choice):
    """None."""

    def __init__(self) -> None:
        super().__init__([None])

    def fits(self, value: Any) -> bool:
        return value is None


class Truth(Choice):
    """False and True."""

    def __init__(self) -> None:
        super().__init__([False, True])

    def fits(self, value: Any) -> bool:
        return type(value) is bool


@dataclass(eq=False)
class Member(Choice):
    """The members of an Enum."""

    name: str = ""


@dataclass(eq=False)
class Options(Delegate):
    """Values of the first type that they fit."""

    options: Sequence[Type]
    _known: dict[int, tuple[Any, Type | None]] = field(default_factory=dict, init=False, repr=False)
    """By ``id``, values and the option that each is of: asked at each level, else all below would be read each time."""

    def fits(self, value: Any) -> bool:
        return self.of(value) is not None

    def of(self, value: Any) -> Type | None:
        value_and_option = self._known.get(id(value))
        if value_and_option is None:  # nothing changes a value in place, and one that is kept here keeps its id
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            value_and_option = self._known[id(value)] = value, first_that_fits(self.options, value)
        return value_and_option[1]

    def inside(self) -> Sequence[Type]:
        return self.options

    def ends_within(self, levels: int) -> bool:
        return any(option.ends_within(levels) for option in self.options)


@dataclass(eq=False)
class Either(Options):
    """A value of one of several types."""

    only_first: bool = False
    """The first is drawn; the others fit as well."""

    def __post_init__(self) -> None:
        flat: list[Type] = []
        for option in self.options:
            flat += option.options if isinstance(option, Either) and not option.only_first else [option]
        self.options = flat

    def draw(self, draws: Draws) -> Any:
        options = list(self.options[:1] if self.only_first else self.options)
        draws.generator.shuffle(options)
        if draws.is_late:  # what ends soon comes first
            options.sort(key=lambda option: (len(option.inside()) > 0, option.height))
        for option in options:
            try:
                return option.draw(draws)
            except NoValue:
                continue
        raise NoValue

    def change(self, value: Any, draws: Draws) -> Any:
        option = self.of(value)
        if option is None or isinstance(option, Nothing) or (draws.chance(0.15) and not self.only_first):
            return self.draw(draws)
        return option.change(value, draws)

    def all_values(self, most: int) -> list[Any] | None:
        found: dict[str, Any] = {}
        if self.only_first:
            return None
        for option in self.options:
            values = option.all_values(most)
            if values is None:
                return None
            found.update({write_literal(value): value for value in values})
        return list(found.values()) if len(found) <= most else None


@dataclass(eq=False)
class Functions(Type):
    """Functions of some number of arguments, written as code: ``str.upper``, ``lambda x: x + 1``."""

    known: list[str]
    n_arguments: int | None = None
    """None: any number."""

    def fits(self, value: Any) -> bool:
        if type(value) is not Code or self.n_arguments is None:
            return type(value) is Code
        tree = expression(value.text)
        return not isinstance(tree, ast.Lambda) or takes(tree.args, self.n_arguments)

    def draw(self, draws: Draws) -> Code:
        return Code(draws.one_of(self.known))


class Later(Options):
    """A type that is still being read, an alias that names itself: no option yet, then one."""

    def draw(self, draws: Draws) -> Any:
        if draws.depth > 8 or not self.options:  # what it was read for cannot be resolved
            raise NoValue
        return self.options[0].draw(draws)


@dataclass(eq=False)
class Variable(Delegate):
    """A type variable: one type an input."""

    name: str
    options: Sequence[Type]
    """What it may stand for; anything fits where it is open."""
    is_open: bool = True

    def fits(self, value: Any) -> bool:
        return self.is_open or self.of(value) is not None

    def draw(self, draws: Draws) -> Any:
        kind = draws.once(f"type variable {self.name}", lambda: draws.one_of(self.options))
        return kind.draw(draws)

    def of(self, value: Any) -> Type | None:
        return first_that_fits(self.options, value)
