"""Types of the standard library that are written as calls: one row each, of fresh arguments and of steps."""

import datetime
import decimal
import fractions
import ipaddress
import re
import uuid
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from difftrust.types.base import Draws, NoValue, Type
from difftrust.types.numbers import Whole
from difftrust.types.texts import Text
from difftrust_core.base.literals import Code, Instance, read_literal
from difftrust_core.base.standard_types import IMPORTED, names_of
from difftrust_core.languages.python.fuzz import children, rebuild

_ZONES: tuple[Any, ...] = (
    *(Code("timezone.utc"), Code("timezone.utc")),
    *(Instance("timezone", (Instance("timedelta", (0, seconds)),)) for seconds in (3600, -18000)),
    *(Instance("ZoneInfo", (key,)) for key in ("Europe/Paris", "America/New_York")),
)
_DAYS = ((2020, 1, 1), (2024, 2, 29), (2023, 2, 28), (2024, 12, 31), (2000, 1, 1), (1970, 1, 1), (1999, 12, 31))
_TEXTS = {
    "Pattern": (
        *("a+", "[a-z]+", r"\d+", r"\w+", r"\s+", ".", "^a", "b$", "(a)(b)?", "a|b", r"(?P<word>\w+)", "[^,]+"),
        *("x*", r"\d{4}-\d{2}-\d{2}", r"[A-Z]\w*", r"(\w+)@(\w+)"),
    ),
    "Path": (
        *("a", "a/b", "a.txt", "data/report.csv", "/", "/tmp/x", ".", "..", "../a", "archive.tar.gz", ".hidden"),
        *("/home/user/notes.md", "dir/sub/", "a b.txt", "README", "src/main.py", "./x/../y", "/etc/hosts", "a.B.c"),
    ),
    "IPv4Address": (
        *("127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "8.8.8.8", "0.0.0.0", "255.255.255.255"),
        *("224.0.0.1", "169.254.7.9", "203.0.113.77"),
    ),
    "IPv6Address": ("::1", "::", "fe80::1", "2001:db8::1", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "2001:4860::8888"),
    "IPv4Network": (
        *("10.0.0.0/8", "192.168.1.0/24", "172.16.0.0/12", "127.0.0.1/32", "0.0.0.0/0", "203.0.113.76/31"),
        *("8.8.8.8/29", "10.0.0.0/16"),
    ),
    "IPv6Network": ("2001:db8::/32", "::/0", "::1/128", "fe80::/10", "2001:db8::/64", "fc00::2/127", "ff02::/120"),
}
"""Texts that values are made of."""
_UTC = dict.fromkeys(("timezone.utc", "datetime.timezone.utc", "UTC"), datetime.UTC)
NO_VALUE = (ValueError, TypeError, ArithmeticError, LookupError, OSError, re.error, RecursionError)
_TRIES = 20


def last_name(value: Instance) -> str:
    """Return the name of a value's type without the module before it."""
    return value.type_name.rpartition(".")[2]


def real(value: Any) -> Any:
    """Return the standard library's value behind a literal. Raises ValueError, TypeError, ArithmeticError or KeyError.

    Only the types of this module are made, of numbers and texts: nothing here can be a user's class.
    """
    if type(value) is Code:
        return _UTC[value.text]
    if type(value) is not Instance:
        return value
    make = _MAKERS[last_name(value)]
    return make(*map(real, value.args), **{name: real(field) for name, field in value.fields.items()})


def _path(*parts: str) -> str:
    if not all(type(part) is str and "\x00" not in part for part in parts):
        raise TypeError
    return "/".join(parts)


def _ip(text: str) -> Any:
    return ipaddress.ip_network(text, strict=True) if "/" in text else ipaddress.ip_address(text)


def _pattern(pattern: str, flags: int = 0) -> Any:
    if len(pattern) > 1_000:
        raise ValueError("a long pattern")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern, flags)


_MADE = names_of("moment", "number") | {"UUID"}
_MAKERS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(import_module(IMPORTED[name]), name) for name in _MADE},
    **dict.fromkeys((name for name in _TEXTS if name.startswith("IP")), _ip),
    **dict.fromkeys(names_of("path"), _path),
    "range": range,
    "compile": _pattern,
}


@dataclass(eq=False)
class Standard(Type):
    """A type of the standard library; what can be made of its arguments is one of its values."""

    make: Callable[[Draws], Any]
    """Fresh arguments; a value itself where there is more than one way to write it."""
    steps: tuple[Any, ...] = ()
    """What is added to a value to change it; without, one of its arguments changes."""
    names: tuple[str, ...] = ()
    """How its values may be written; fresh ones as the first, or with the dotted ``name``."""
    name: str = ""
    low: Any = None
    high: Any = None

    def fits(self, value: Any) -> bool:
        if type(value) is Code:
            return "tzinfo" in self.names and value.text.endswith("timezone.utc")
        if type(value) is not Instance or last_name(value) not in self.names or not (value.args or value.fields):
            return False
        try:
            made = real(value)
            return (self.low is None or self.low <= made) and (self.high is None or made <= self.high)
        except NO_VALUE:
            return False

    def draw(self, draws: Draws) -> Any:
        for _ in range(_TRIES):
            made = self.make(draws)
            drawn = Instance(self.name or self.names[0], made) if type(made) is tuple else made
            if "datetime" in self.names and draws.once("aware", lambda: draws.chance(0.3)):
                zones = draws.once("zones", lambda: [draws.one_of(_ZONES) for _ in range(2)])
                drawn = Instance("datetime", made, {"tzinfo": draws.one_of(zones)})
            if self.fits(drawn):
                return drawn
        bound = self.low if self.low is not None else self.high
        if bound is None:
            raise NoValue
        return Instance(self.names[0], (str(bound),))

    def change(self, value: Any, draws: Draws) -> Any:
        for _ in range(4 if type(value) is Instance and draws.chance(0.85) else 0):
            try:
                is_step = bool(self.steps) and draws.chance(0.6)
                is_other_side = is_step and self.names[0] in names_of("number") and draws.chance(0.15)
                step = -2 * real(value) if is_other_side else draws.one_of(self.steps) if is_step else None
                changed = self.moved(value, step) if is_step else _with_other_argument(value, draws)
            except NO_VALUE:
                continue
            if self.fits(changed):
                return changed
        return self.draw(draws)

    def moved(self, value: Instance, step: Any) -> Instance:
        """Return what lies one step from a value. Raises ValueError, TypeError, ArithmeticError or LookupError."""
        made, zone = real(value) + step, value.fields.get("tzinfo", *value.args[7:8])
        moved = read_literal(repr(made if zone is None else made.replace(tzinfo=None)).removeprefix("datetime."))
        if type(moved) is not Instance:
            raise TypeError  # a fraction and a float make a float
        return Instance(value.type_name, moved.args, moved.fields if zone is None else {"tzinfo": zone})


def _with_other_argument(value: Instance, draws: Draws) -> Any:
    parts = list(children(value))
    places = [at for at, part in enumerate(parts) if type(part) in (int, str)]
    if not places:
        raise NoValue
    at = draws.one_of(places)
    kind: Type = Whole(-1000, 10_000) if type(parts[at]) is int else Text()
    parts[at] = kind.change(parts[at], draws)
    return rebuild(value, parts)


def _day(draws: Draws) -> tuple[int, ...]:
    if draws.chance(0.3):
        return draws.one_of(_DAYS)
    near = datetime.date(2024, 2, 25).toordinal() + draws.below(draws.one_of((40, 1500)))
    found = datetime.date.fromordinal(1 + draws.below(3_652_059) if draws.chance(0.1) else near)
    return found.year, found.month, found.day


def _hours(draws: Draws) -> tuple[int, ...]:
    if draws.chance(0.3):
        return draws.one_of(((0, 0), (12, 0), (23, 59), (9, 30)))
    clock = (draws.below(24), draws.below(60), draws.below(60), draws.below(1_000_000))
    return clock[: draws.one_of((2, 2, 3, 4))]


def _delta(draws: Draws) -> tuple[int, ...]:
    days = draws.one_of((0, 0, 1, 7, -1, 30, 365, draws.below(100)))
    return days, draws.one_of((0, 0, 1, 60, 3600, 3599, draws.below(86_400)))


def _decimal(draws: Draws) -> tuple[str]:
    if draws.numbers and draws.chance(0.15):
        return (str(draws.one_of(draws.numbers)),)
    number = draws.below(2_000) - 500 if draws.chance(0.7) else draws.below(10**8)
    return (str(decimal.Decimal(number).scaleb(-draws.one_of((0, 1, 2, 2, 2, 3, 5)))),)


def _range(draws: Draws) -> tuple[int, ...]:
    start = draws.below(10) - 3
    return start, start + draws.below(15) - 2, draws.one_of((1, 1, 1, 2, 3, -1))


def _path_text(draws: Draws) -> tuple[str]:
    known = draws.texts(draws.name)
    if draws.chance(0.2):
        return ("/".join(Text().draw(draws) for _ in range(1 + draws.below(3))),)
    return (draws.one_of(known if known and draws.chance(0.5) else _TEXTS["Path"]),)


def _of_texts(kind: str, *steps: Any, **written: Any) -> Standard:
    """Return a type whose values are made of one of the known texts."""
    return Standard(lambda draws: (draws.one_of(_TEXTS[kind]),), steps, **written)


_day_steps = tuple(datetime.timedelta(days) for days in (1, -1, 1, -1, 7, -7, 30, 31, 365, 366, -30, -365))
_second_steps = tuple(datetime.timedelta(0, seconds) for seconds in (1, -1, 60, -60, 3600, -3600))
_cents = tuple(map(decimal.Decimal, ("1", "-1", "10", "-10", "0.01", "-0.01", "0.5", "0.005", "0.1")))
_shares = tuple(fractions.Fraction(*parts) for parts in ((1, 1), (-1, 1), (1, 2), (-1, 2), (1, 3), (2, 3), (1, 4)))
_ROWS: Mapping[str, Standard] = {
    "date": Standard(_day, _day_steps),
    "datetime": Standard(lambda draws: (*_day(draws), *_hours(draws)), _day_steps + _second_steps),
    "time": Standard(_hours),
    "timedelta": Standard(_delta, _day_steps + _second_steps),
    "tzinfo": Standard(lambda draws: draws.one_of(_ZONES), names=("tzinfo", "timezone", "ZoneInfo")),
    "timezone": Standard(lambda draws: draws.one_of(_ZONES[1:4]), names=("tzinfo", "timezone")),
    "ZoneInfo": Standard(lambda draws: draws.one_of(_ZONES[4:])),
    "Decimal": Standard(_decimal, _cents),
    "Fraction": Standard(lambda draws: (draws.below(41) - 20, 1 + draws.below(12)), _shares),
    "UUID": Standard(lambda draws: (str(uuid.UUID(int=draws.generator.getrandbits(128), version=4)),)),
    "range": Standard(_range),
    "Pattern": _of_texts("Pattern", names=("compile",), name="re.compile"),
    **dict.fromkeys(("Path", "PosixPath"), Standard(_path_text, names=("Path", "PosixPath"))),
    "PureWindowsPath": Standard(_path_text),
    **{
        name: Standard(_path_text, names=(name, "Path", "PosixPath", "PurePosixPath", "PurePath"))
        for name in ("PurePath", "PurePosixPath")
    },
    **{
        name: _of_texts(name, *((1, -1, 256, -256) if name.endswith("Address") else ()), name=f"ipaddress.{name}")
        for name in _TEXTS
        if name.startswith("IP")
    },
}
_HOMES = {"tzinfo": "datetime", "Pattern": "re", "range": "builtins", **IMPORTED}


def standard_type(path: str) -> Standard | None:
    """Return the type that a dotted path names (``datetime.date``, ``Path``); None for another one."""
    home, _, name = path.rpartition(".")
    row = _ROWS.get(name)
    if row is None or home not in ("", "typing", _HOMES.get(name, "ipaddress")):
        return None
    return replace(row, names=row.names or (name,))
