"""What numbers usually are by the name of their parameter: a month, an age, a port; hints, never limits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Usual:
    """What most values of a parameter are like, by its name, a docstring or how programs use it."""

    low: float | None = None
    high: float | None = None
    dimensions: tuple[int, ...] = ()
    """Of an array; empty where nothing is known."""
    width: int | None = None
    """The length of an array's last axis."""
    dtype: str = ""
    """Of an array; empty where nothing is known."""


_RANGES: Final[Mapping[tuple[float, float], str]] = {
    (1890, 2110): "year yr yyyy birthyear",
    (1, 12): "month mon mm",
    (1, 31): "day dd mday dayofmonth",
    (1, 366): "yearday yday dayofyear doy",
    (0, 6): "weekday wday dow dayofweek",
    (1, 53): "week weeknumber isoweek",
    (0, 23): "hour hh hr",
    (0, 59): "minute second min sec",
    (0, 100_000): "seconds secs duration elapsed",
    (0, 86_400_000): "millis milliseconds ms",
    (0, 4_102_444_800): "timestamp epoch unixtime",
    (0, 120): "age",
    (0, 100): "percent percentage pct score grade humidity",
    (0, 1): "probability prob fraction alpha confidence quantile opacity prior",
    (0, 0.3): "rate interest discount tax vat",
    (-90, 90): "latitude lat",
    (-180, 180): "longitude lon lng",
    (0, 360): "angle degrees heading bearing azimuth hue deg",
    (-50, 120): "temperature temp celsius fahrenheit",
    (0, 65_535): "port",
    (100, 599): "status statuscode httpstatus",
    (0, 255): "red green blue byte octet pixel gray brightness",
    (2, 36): "base radix",
    (0, 1_114_111): "codepoint",
    (0, 20): "index idx position offset depth level indent digits precision decimals places",
    (0, 30): "n k count size length limit times width height rows cols columns capacity page quantity qty",
    (0, 500): "price amount cost total balance salary weight distance radius",
    (0, 10): "rating stars",
}
_BY_NAME: Final = {name: bounds for bounds, names in _RANGES.items() for name in names.split()}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@cache
def usual_range(name: str) -> tuple[float, float] | None:
    """Return where numbers of a name mostly are; None where the name says nothing."""
    words = [word.lower() for word in _WORDS.findall(name)]
    for n in range(len(words)):
        ending = "".join(words[n:])
        found = _BY_NAME.get(ending) or _BY_NAME.get(ending.removesuffix("s"))
        if found is not None:
            return found
    return None
