"""Dicts of anything under names, as configurations and JSON documents are: nested, with names that occur again."""

from typing import Any

from difftrust_core.languages.python.types.base import Draws
from difftrust_core.languages.python.types.containers import Entries
from difftrust_core.languages.python.types.infer import Anything
from difftrust_core.languages.python.types.text import Text

_DEEPEST = 5
_NAMES = ("a", "b", "c", "x", "y", "id", "name", "size", "", "A")


class Tree(Entries):
    """Nested dicts; an input has few names, so that those of two arguments meet at every level."""

    def __init__(self) -> None:
        super().__init__(Text(), Branch(self))

    def _key(self, draws: Draws) -> Any:
        if draws.chance(0.3):
            return super()._key(draws)
        return draws.one_of(draws.once("names", lambda: draws.generator.sample(_NAMES, 3)))


class Branch(Anything):
    """What a nested dict has under a name: a dict like it, or anything."""

    def __init__(self, tree: Tree):
        self._tree = tree

    def draw(self, draws: Draws) -> Any:
        if draws.depth < _DEEPEST and draws.chance(0.4):
            return self._tree.draw(draws)
        return super().draw(draws)

    def change(self, value: Any, draws: Draws) -> Any:
        if type(value) is dict and draws.chance(0.5):
            return self._tree.change(value, draws)
        return self.draw(draws) if draws.chance(0.1) else super().change(value, draws)
