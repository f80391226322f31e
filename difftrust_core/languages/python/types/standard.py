"""Types of the standard library that are written as calls: dates and times, exact numbers, paths, UUIDs, patterns."""

import datetime
import decimal
import fractions
import re
import uuid
import warnings
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from difftrust_core.base.literals import Code, Instance
from difftrust_core.languages.python.types.base import Draws, Type
from difftrust_core.languages.python.types.numbers import Whole
from difftrust_core.languages.python.types.text import Text, changed_text

_ZONES: tuple[Any, ...] = (
    Code("timezone.utc"),
    Code("timezone.utc"),
    Instance("ZoneInfo", ("Europe/Paris",)),
    Instance("ZoneInfo", ("America/New_York",)),
    Instance("timezone", (Instance("timedelta", (0, 3600)),)),
    Instance("timezone", (Instance("timedelta", (0, -18000)),)),
)
_DAYS = ((2020, 1, 1), (2024, 2, 29), (2023, 2, 28), (2024, 12, 31), (2000, 1, 1), (1970, 1, 1), (1999, 12, 31))
_PATTERNS = (
    *("a+", "[a-z]+", r"\d+", r"\w+", r"\s+", ".", "^a", "b$", "(a)(b)?", "a|b", r"(?P<word>\w+)", "[^,]+"),
    *("x*", r"\d{4}-\d{2}-\d{2}", r"[A-Z]\w*", r"(\w+)@(\w+)"),
)
_PATHS = (
    *("a", "a/b", "a.txt", "data/report.csv", "/", "/tmp/x", ".", "..", "../a", "archive.tar.gz", ".hidden"),
    *("/home/user/notes.md", "dir/sub/", "a b.txt", "README", "src/main.py", "./x/../y", "/etc/hosts", "a.B.c"),
)
_FOURS = ("127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "8.8.8.8", "0.0.0.0", "255.255.255.255", "224.0.0.1")
_SIXES = ("::1", "::", "fe80::1", "2001:db8::1", "fc00::1", "ff02::1", "::ffff:10.0.0.1")
_FIELDS = {
    "date": ("year", "month", "day"),
    "datetime": ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo"),
    "time": ("hour", "minute", "second", "microsecond", "tzinfo"),
    "timedelta": ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks"),
}


def last_name(value: Instance) -> str:
    """Return the name of a value's type without the module before it."""
    return value.type_name.rpartition(".")[2]


def real(value: Any) -> Any:
    """Return the standard library's value behind a literal. Raises ValueError, TypeError, ArithmeticError or KeyError.

    Only the types of this module are made, of numbers and texts: nothing here can be a user's class.
    """
    if type(value) is Code:
        return {"timezone.utc": datetime.UTC, "datetime.timezone.utc": datetime.UTC, "UTC": datetime.UTC}[value.text]
    if type(value) is not Instance:
        return value
    make = _MAKERS[last_name(value)]
    return make(*map(real, value.args), **{name: real(field) for name, field in value.fields.items()})


def _path(*parts: str) -> str:
    if not all(type(part) is str for part in parts):
        raise TypeError
    return "/".join(parts)


def _ip(text: str) -> Any:
    import ipaddress

    return ipaddress.ip_network(text, strict=True) if "/" in text else ipaddress.ip_address(text)


def _pattern(pattern: str, flags: int = 0) -> Any:
    if len(pattern) > 1_000:
        raise ValueError("a long pattern")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern, flags)


_MAKERS: Mapping[str, Callable[..., Any]] = {
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "timezone": datetime.timezone,
    "ZoneInfo": zoneinfo.ZoneInfo,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "range": range,
    **dict.fromkeys(("IPv4Address", "IPv4Network", "IPv6Address", "IPv6Network"), _ip),
    "compile": _pattern,
    **dict.fromkeys(("Path", "PurePath", "PosixPath", "PurePosixPath", "PureWindowsPath"), _path),
}


@dataclass(eq=False)
class Standard(Type):
    """A type of the standard library: what its values are called, a fresh one, a changed one."""

    names: tuple[str, ...]
    make: Callable[[Draws], Any]
    vary: Callable[[Instance, Draws], Any]
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
        except (ValueError, TypeError, ArithmeticError, LookupError, OSError, re.error, RecursionError):
            return False

    def draw(self, draws: Draws) -> Any:
        for _ in range(20):
            drawn = self.make(draws)
            if (self.low is None and self.high is None) or self.fits(drawn):
                return drawn
        return self._bound(drawn)

    def _bound(self, drawn: Any) -> Any:
        bound = self.low if self.low is not None else self.high
        return Instance("Decimal", (str(bound),)) if "Decimal" in self.names else drawn

    def change(self, value: Any, draws: Draws) -> Any:
        if type(value) is Code or draws.chance(0.15):
            return self.draw(draws)
        for _ in range(4):
            changed = self.vary(value, draws)
            if self.fits(changed):
                return changed
        return self.draw(draws)


def _aware(draws: Draws) -> bool:
    return draws.once("aware", lambda: draws.chance(0.3))


def _zone(draws: Draws) -> Any:
    zones = draws.once("zones", lambda: [draws.one_of(_ZONES) for _ in range(2)])
    return draws.one_of(zones)


def _day(draws: Draws) -> tuple[int, int, int]:
    way = draws.below(10)
    if way < 3:
        return draws.one_of(_DAYS)
    if way == 9:
        found = datetime.date.fromordinal(1 + draws.below(3_652_059))
    else:
        found = datetime.date(2024, 2, 25) + datetime.timedelta(draws.below(40 if way < 6 else 1500))
    return found.year, found.month, found.day


def _hours(draws: Draws) -> tuple[int, ...]:
    way = draws.below(6)
    if way < 2:
        return draws.one_of(((0, 0), (12, 0), (23, 59), (9, 30)))
    clock = (draws.below(24), draws.below(60))
    if way < 4:
        return clock
    return (*clock, draws.below(60)) if way == 4 else (*clock, draws.below(60), draws.below(1_000_000))


def _draw_date(draws: Draws) -> Instance:
    return Instance("date", _day(draws))


def _draw_datetime(draws: Draws) -> Instance:
    fields = {"tzinfo": _zone(draws)} if _aware(draws) else {}
    return Instance("datetime", (*_day(draws), *_hours(draws)), fields)


def _draw_time(draws: Draws) -> Instance:
    return Instance("time", _hours(draws))


def _draw_timedelta(draws: Draws) -> Instance:
    days = draws.one_of((0, 0, 1, 7, -1, 30, 365, draws.below(100)))
    return Instance("timedelta", (days, draws.one_of((0, 0, 1, 60, 3600, 3599, draws.below(86_400)))))


def _vary_moment(value: Instance, draws: Draws) -> Instance:
    """Move a date or time by a day, a month, an hour, a second; or change one field; what is no date is refused."""
    kind = last_name(value)
    fields = {**dict(zip(_FIELDS[kind], value.args, strict=False)), **value.fields}
    numbers = [name for name, field in fields.items() if type(field) is int]
    if not numbers:
        return value
    if kind in ("date", "datetime") and draws.chance(0.5):
        return _moved(value, fields, draws)
    name = draws.one_of(numbers)
    fields[name] = draws.one_of((fields[name] + 1, fields[name] - 1, fields[name] + 10, fields[name] - 10, 1, 0))
    return _written(value, fields)


def _moved(value: Instance, fields: dict[str, Any], draws: Draws) -> Instance:
    steps = draws.one_of((1, -1, 1, -1, 7, -7, 30, 31, 365, 366, -30, -365, draws.below(1000)))
    try:
        day = datetime.date(fields["year"], fields["month"], fields["day"]) + datetime.timedelta(steps)
    except (ValueError, OverflowError, KeyError, TypeError):
        return value
    return _written(value, {**fields, "year": day.year, "month": day.month, "day": day.day})


def _written(value: Instance, fields: dict[str, Any]) -> Instance:
    """Return a value with other fields, those given by position where they were."""
    names = _FIELDS[last_name(value)]
    positional = tuple(fields[name] for name in names[: len(value.args)])
    return Instance(value.type_name, positional, {name: fields[name] for name in value.fields})


def _draw_decimal(draws: Draws) -> Instance:
    way = draws.below(6)
    places = draws.one_of((0, 1, 2, 2, 2, 3, 5))
    number = draws.below(2_000) - 500 if way < 4 else draws.below(10**8)
    if draws.numbers and way == 5:
        return Instance("Decimal", (str(draws.one_of(draws.numbers)),))
    return Instance("Decimal", (str(decimal.Decimal(number).scaleb(-places)),))


def _vary_decimal(value: Instance, draws: Draws) -> Instance:
    number = real(value)
    if not number.is_finite():
        return _draw_decimal(draws)
    step = decimal.Decimal(draws.one_of(("1", "-1", "10", "-10", "0.01", "-0.01", "0.5", "0.005", "0.1")))
    way = draws.below(6)
    if way < 4 and abs(number) < 10**20:
        number += step
    elif way == 4:
        number = -number
    else:
        number = number * draws.one_of((2, 10, 100)) if abs(number) < 10**20 else decimal.Decimal(0)
    return Instance(value.type_name, (str(number),))


def _draw_fraction(draws: Draws) -> Instance:
    return Instance("Fraction", (draws.below(41) - 20, 1 + draws.below(12)))


def _vary_fraction(value: Instance, draws: Draws) -> Instance:
    number = real(value)
    step = fractions.Fraction(draws.below(5) - 2, 1 + draws.below(4))
    changed = number + step if draws.chance(0.8) else -number
    return Instance(value.type_name, (changed.numerator, changed.denominator))


def _draw_uuid(draws: Draws) -> Instance:
    version = draws.one_of((4, 4, 4, 1, 5))
    return Instance("UUID", (str(uuid.UUID(int=draws.generator.getrandbits(128), version=version)),))


def _vary_uuid(value: Instance, draws: Draws) -> Instance:
    return Instance("UUID", (str(uuid.UUID(int=draws.one_of((0, 2**128 - 1, real(value).int ^ 1)))),))


def _draw_range(draws: Draws) -> Instance:
    start = draws.below(10) - 3
    return Instance("range", (start, start + draws.below(15) - 2, draws.one_of((1, 1, 1, 2, 3, -1))))


def _vary_range(value: Instance, draws: Draws) -> Instance:
    numbers = list(value.args)
    at = draws.below(len(numbers))
    numbers[at] = Whole().change(numbers[at], draws) % 1000
    return Instance("range", tuple(numbers))


def _vary_pattern(value: Instance, draws: Draws) -> Instance:
    return Instance(value.type_name, (changed_text(str(value.args[0]), draws), *value.args[1:]))


def _pattern_of(draws: Draws) -> Instance:
    pattern = draws.one_of(_PATTERNS)
    return Instance("re.compile", (pattern, 2) if draws.chance(0.1) else (pattern,))


def _draw_path(name: str) -> Callable[[Draws], Instance]:
    def draw(draws: Draws) -> Instance:
        known = [text for text in draws.texts(draws.name) if "\x00" not in text]
        if draws.chance(0.2):
            return Instance(name, ("/".join(_segment(draws) for _ in range(1 + draws.below(3))),))
        return Instance(name, (draws.one_of(known) if known and draws.chance(0.5) else draws.one_of(_PATHS),))

    return draw


def _segment(draws: Draws) -> str:
    return Text().draw(draws).replace("\x00", "") + draws.one_of(("", "", ".txt", ".py", ".tar.gz"))


def _vary_path(value: Instance, draws: Draws) -> Instance:
    joined = "/".join(value.args) if value.args else "."
    way = draws.below(4)
    if way == 0:
        changed = f"{joined}/{_segment(draws)}"
    elif way == 1:
        changed = joined.rpartition("/")[0] or "."
    else:
        changed = changed_text(joined, draws).replace("\x00", "")
    return Instance(value.type_name, (changed,))


def _draw_ip(name: str) -> Callable[[Draws], Instance]:
    def draw(draws: Draws) -> Instance:
        import ipaddress

        is_six, bits = "v6" in name, 128 if "v6" in name else 32
        texts = _SIXES if is_six else _FOURS
        number = draws.generator.getrandbits(bits)
        make = ipaddress.IPv6Address if is_six else ipaddress.IPv4Address
        address = draws.one_of(texts) if draws.chance(0.6) else str(make(number))
        if name.endswith("Address"):
            return Instance(f"ipaddress.{name}", (address,))
        size = draws.one_of((bits, bits - 1, bits - 8, bits // 2, 8, 0, draws.below(bits + 1)))
        return Instance(f"ipaddress.{name}", (str(ipaddress.ip_network(f"{address}/{size}", strict=False)),))

    return draw


def _vary_ip(value: Instance, draws: Draws) -> Any:
    name = last_name(value)
    if not name.endswith("Address"):
        return _draw_ip(name)(draws)
    near = real(value) + draws.one_of((1, -1, 256, -256))
    return Instance(value.type_name, (str(near),))


def _draw_zone(draws: Draws) -> Any:
    return draws.one_of(_ZONES)


def _unvaried(value: Instance, draws: Draws) -> Any:
    return draws.one_of(_ZONES)


def _number(kind: str) -> Standard:
    draw, vary = (_draw_decimal, _vary_decimal) if kind == "Decimal" else (_draw_fraction, _vary_fraction)
    return Standard((kind,), draw, vary)


def standard_type(path: str) -> Standard | None:
    """Return the type that a dotted path names (``datetime.date``, ``pathlib.Path``); None for another one."""
    name = path.rpartition(".")[2]
    if name in ("Decimal", "Fraction"):
        return _number(name)
    if name in ("Path", "PurePath", "PosixPath", "PurePosixPath", "PureWindowsPath"):
        names = (name, "Path", "PosixPath") if name != "PureWindowsPath" else (name,)
        names = (*names, "PurePosixPath", "PurePath") if name in ("PurePath", "PurePosixPath") else names
        return Standard(names, _draw_path(name), _vary_path)
    if name in ("IPv4Address", "IPv4Network", "IPv6Address", "IPv6Network"):
        return Standard((name,), _draw_ip(name), _vary_ip)
    if name not in _TYPES:
        return None
    return Standard(*_TYPES[name])


_TYPES: Mapping[str, tuple[tuple[str, ...], Callable[[Draws], Any], Callable[[Instance, Draws], Any]]] = {
    "date": (("date",), _draw_date, _vary_moment),
    "datetime": (("datetime",), _draw_datetime, _vary_moment),
    "time": (("time",), _draw_time, _vary_moment),
    "timedelta": (("timedelta",), _draw_timedelta, _vary_moment),
    "tzinfo": (("tzinfo", "timezone", "ZoneInfo"), _draw_zone, _unvaried),
    "timezone": (("tzinfo", "timezone"), lambda draws: draws.one_of((_ZONES[0], *_ZONES[4:])), _unvaried),
    "ZoneInfo": (("ZoneInfo",), lambda draws: draws.one_of(_ZONES[2:4]), lambda v, draws: draws.one_of(_ZONES[2:4])),
    "UUID": (("UUID",), _draw_uuid, _vary_uuid),
    "range": (("range",), _draw_range, _vary_range),
    "Pattern": (("compile",), _pattern_of, _vary_pattern),
}
