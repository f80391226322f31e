"""Values one of a few: None, truth values, literals, members of an Enum, functions; unions; anything at all."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from difftrust_core.base.literals import Code, write_literal
from difftrust_core.languages.python.types.base import Draws, NoValue, Part, Type


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
        self.exact = frozenset((type(None),))

    def fits(self, value: Any) -> bool:
        return value is None


class Truth(Choice):
    """False and True."""

    def __init__(self) -> None:
        super().__init__([False, True])
        self.exact = frozenset((bool,))

    def fits(self, value: Any) -> bool:
        return type(value) is bool


@dataclass(eq=False)
class Member(Choice):
    """The members of an Enum."""

    name: str = ""


@dataclass(eq=False)
class Either(Type):
    """A value of one of several types."""

    options: Sequence[Type]
    only_first: bool = False
    """The first is drawn; the others fit as well."""

    def __post_init__(self) -> None:
        flat: list[Type] = []
        for option in self.options:
            flat += option.options if isinstance(option, Either) and not option.only_first else [option]
        self.options = flat
        self.exact = frozenset().union(*(option.exact for option in flat))

    def fits(self, value: Any) -> bool:
        return any(option.fits(value) for option in self.options)

    def draw(self, draws: Draws) -> Any:
        options = list(self.options[:1] if self.only_first else self.options)
        draws.generator.shuffle(options)
        if draws.is_late:  # what ends soon comes first
            options.sort(key=lambda option: len(option.inside()) > 0)
        for option in options:
            try:
                return option.draw(draws)
            except NoValue:
                continue
        raise NoValue

    def change(self, value: Any, draws: Draws) -> Any:
        option = self.option_of(value)
        if option is None or isinstance(option, Nothing) or (draws.chance(0.15) and not self.only_first):
            return self.draw(draws)
        return option.change(value, draws)

    def option_of(self, value: Any) -> Type | None:
        """Return the first type that the value is of."""
        return next((option for option in self.options if option.fits(value)), None)

    def parts(self, value: Any) -> list[Part]:
        option = self.option_of(value)
        return [] if option is None else option.parts(value)

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        option = self.option_of(value)
        return value if option is None else option.rebuilt(value, parts)

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

    def inside(self) -> Sequence[Type]:
        return self.options


@dataclass(eq=False)
class Functions(Type):
    """Functions of some number of arguments, written as code: ``str.upper``, ``lambda x: x + 1``."""

    known: list[str]
    n_arguments: int | None = None
    """None: any number."""

    def fits(self, value: Any) -> bool:
        if type(value) is not Code:
            return False
        return self.n_arguments is None or takes(value.text, self.n_arguments)

    def draw(self, draws: Draws) -> Code:
        if not self.known:
            raise NoValue
        return Code(draws.one_of(self.known))


def takes(code: str, n: int) -> bool:
    """Tell whether a function that is written as code can be called with n arguments, as far as its text says."""
    tree = ast.parse(code, mode="eval").body
    if not isinstance(tree, ast.Lambda):
        return True
    positional = len(tree.args.posonlyargs) + len(tree.args.args)
    least = positional - len(tree.args.defaults)
    return least <= n and (n <= positional or tree.args.vararg is not None)


@dataclass(eq=False)
class Later(Type):
    """A type that is still being read: an alias or a class that names itself."""

    name: str = ""
    found: list[Type] = field(default_factory=list)

    def _type(self) -> Type:
        return self.found[0]

    def fits(self, value: Any) -> bool:
        return bool(self.found) and self._type().fits(value)

    def draw(self, draws: Draws) -> Any:
        if draws.depth > 8 or not self.found:  # not found: what it was read for cannot be resolved
            raise NoValue
        return self._type().draw(draws)

    def change(self, value: Any, draws: Draws) -> Any:
        return self._type().change(value, draws) if self.found else value

    def parts(self, value: Any) -> list[Part]:
        return self._type().parts(value) if self.found else []

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        return self._type().rebuilt(value, parts)

    def inside(self) -> Sequence[Type]:
        return self.found


@dataclass(eq=False)
class Variable(Type):
    """A type variable: one type an input."""

    name: str
    options: Sequence[Type]
    """What it may stand for; anything fits where it is open."""
    is_open: bool = True

    def _type(self, draws: Draws) -> Type:
        return draws.once(f"type variable {self.name}", lambda: draws.one_of(self.options))

    def fits(self, value: Any) -> bool:
        return self.is_open or any(option.fits(value) for option in self.options)

    def draw(self, draws: Draws) -> Any:
        return self._type(draws).draw(draws)

    def _of(self, value: Any) -> Type | None:
        return next((option for option in self.options if option.fits(value)), None)

    def change(self, value: Any, draws: Draws) -> Any:
        option = self._of(value)
        return value if option is None else option.change(value, draws)

    def parts(self, value: Any) -> list[Part]:
        option = self._of(value)
        return [] if option is None else option.parts(value)

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        option = self._of(value)
        return value if option is None else option.rebuilt(value, parts)
