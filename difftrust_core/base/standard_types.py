"""The standard library's types that values are written with: one row a type, for the sandbox and for the host.

This module also runs inside the sandbox: it imports the standard library only.
"""

from typing import NamedTuple


class StandardType(NamedTuple):
    """A type whose values are written as calls, ``date(2024, 2, 29)``."""

    home: str
    """The module that it is imported from; empty: none that a value's text stands for."""
    kind: str = ""
    """``moment``, ``number``, ``path``, ``content``, ``span``: what decides when two are equal."""
    is_stored: bool = False
    """Stores have its text, which no class of a candidate may pass for; equal are those of the same text."""
    is_rebuilt: bool = True
    """Its text, as the sandbox writes it, makes it again."""
    fields: str = ""
    """What its call takes, in that order."""
    origin: tuple[int, ...] = ()
    """Arguments of the simplest one; shrinking goes there."""
    n_required: int = 0


_CLOCK = "hour minute second microsecond tzinfo"
_PATHS = ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
_VIEWS = ("array", "slice", "memoryview", "iterator", "dict_keys", "dict_values", "dict_items")
STANDARD_TYPES: dict[str, StandardType] = {
    "date": StandardType("datetime", "moment", True, fields="year month day", origin=(2000, 1, 1), n_required=3),
    "datetime": StandardType(
        "datetime", "moment", True, fields=f"year month day {_CLOCK}", origin=(2000, 1, 1, 0, 0, 0, 0), n_required=5
    ),
    "time": StandardType("datetime", "moment", True, fields=_CLOCK, origin=(0, 0, 0, 0), n_required=2),
    "timedelta": StandardType("datetime", "moment", True, fields="days seconds microseconds"),
    "timezone": StandardType("datetime", "moment", True),
    "ZoneInfo": StandardType("zoneinfo", "moment"),
    "Decimal": StandardType("decimal", "number", True),
    "Fraction": StandardType("fractions", "number", True, fields="numerator denominator"),
    "UUID": StandardType("uuid"),
    **dict.fromkeys(_PATHS, StandardType("pathlib", "path")),
    "range": StandardType("builtins", "span", True, fields="start stop step"),
    "deque": StandardType("collections", "span"),
    "Counter": StandardType("collections", "content"),
    "OrderedDict": StandardType("collections", "content"),
    "defaultdict": StandardType("collections", "content", is_rebuilt=False),
    "ChainMap": StandardType("collections", is_rebuilt=False),
    "SimpleNamespace": StandardType("types", is_rebuilt=False),
    "MappingProxyType": StandardType("types", is_rebuilt=False),
    **dict.fromkeys(_VIEWS, StandardType("", "span", is_rebuilt=False)),
}
"""By the name that a value's text begins with. A ``span`` is written like a subclass of a builtin, ``Name(content)``,
and does not equal its content; a ``content`` does."""


def names_of(*kinds: str) -> frozenset[str]:
    """Return the names of the types of some kinds."""
    return frozenset(name for name, row in STANDARD_TYPES.items() if row.kind in kinds)


STORED = frozenset(name for name, row in STANDARD_TYPES.items() if row.is_stored)
"""The names of what stores write."""
IMPORTED = {name: row.home for name, row in STANDARD_TYPES.items() if row.home not in ("", "builtins")}
"""Names that stand for a type of the standard library, and its module."""
