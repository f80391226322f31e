"""Whole numbers, floats, complex numbers: drawn small, changed in small and large steps."""

import math
from dataclasses import dataclass
from typing import Any

from difftrust_core.languages.python.types.base import Draws, Type

_SPREADS = (10, 10, 30, 100, 100, 1000, 1000)
_MAX_DIGITS = 19
_MOST = 1e300
"""Larger numbers are drawn anew instead of changed."""
_ODD = (math.nan, math.inf, -math.inf)
_USUAL = 0.7
"""So often a number with a usual range is within it."""
_WHOLE = (0, 1, -1, 2, 3, 7, 10, 12, 100, -100, 255, 256, 1000, 1024, 65_536, 1_000_000, 2**31 - 1, 2**31)
_REAL = (0.0, 1.0, -1.0, 0.5, -0.5, 0.1, 0.01, 2.5, 100.0, 1000.0, 1e6, 1e-3, 99.99, 1e-9)


@dataclass(eq=False)
class Whole(Type):
    """Whole numbers between two bounds; True is none."""

    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        self.exact = frozenset((int,)) if self.low is None and self.high is None else frozenset()

    def fits(self, value: Any) -> bool:
        return type(value) is int and self._inside(value)

    def _inside(self, value: int) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def draw(self, draws: Draws) -> int:
        if draws.numbers and (draws.is_eager or draws.chance(0.1)):
            mined = math.floor(draws.one_of(draws.numbers))
            mined += 0 if draws.is_eager else draws.below(3) - 1
            if self._inside(mined):
                return mined
        usual = draws.range_of()
        if usual is not None and draws.chance(_USUAL):
            drawn = _usual_whole(usual, draws)
            if self._inside(drawn):
                return drawn
        spread = draws.one_of(_SPREADS) if draws.chance(0.98) else 10 ** (4 + draws.below(15))
        low, high = self.low, self.high
        if (low is None or low < 0) and (high is None or high > 0):
            drawn = draws.below(2 * spread + 1) - spread
            drawn = drawn if low is None else max(low, drawn)
            return drawn if high is None else min(high, drawn)
        if self.low is None:
            assert self.high is not None
            return self.high - draws.below(spread + 1)
        width = spread if self.high is None else min(spread, self.high - self.low)
        if self.high is not None and draws.chance(0.3):
            return self.high - draws.below(max(width, 0) + 1)
        return self.low + draws.below(max(width, 0) + 1)

    def sweep(self, number: int, draws: Draws) -> int | None:
        """Return the number of this place where all that are usual come in turn, from 0 outwards; None behind them."""
        usual = draws.range_of()
        low = self.low if self.low is not None or usual is None else math.ceil(usual[0]) - 1
        outwards = number // 2 + 1 if number % 2 else -(number // 2)
        swept = outwards if low is None else low + number
        return swept if self._inside(swept) else None

    def change(self, value: int, draws: Draws) -> int:
        if type(value) is not int or (draws.is_eager and draws.numbers) or not abs(value) < _MOST:
            return self.draw(draws)
        changed = self._changed(value, draws)
        return changed if self._inside(changed) else self.draw(draws)

    def _changed(self, value: int, draws: Draws) -> int:
        way = draws.below(20)
        if way < 7:
            return value + draws.one_of((-10, -1, 1, 10))
        if way < 9:
            return _with_other_digit(value, draws)
        if way < 11 and draws.range_of() is not None:
            return self.draw(draws)
        if way < 11:
            return draws.one_of(_WHOLE) + draws.below(3) - 1 if draws.chance(0.3) else draws.one_of(_WHOLE[:9])
        if way < 15 and draws.numbers:
            mined = math.floor(draws.one_of(draws.numbers))
            other = math.floor(draws.one_of(draws.numbers))
            near = (
                mined,
                mined,
                mined,
                mined + 1,
                mined - 1,
                -mined,
                value + mined,
                mined * draws.below(10),
                mined + other,
            )
            return draws.one_of((*near, other + mined * draws.below(10), value - value % mined if mined else 0))
        if way == 15:
            return -value
        if way == 16:
            return value // 2
        if way == 17:
            return value * draws.one_of((2, 10))
        return self.draw(draws)

    def all_values(self, most: int) -> list[int] | None:
        if self.low is None or self.high is None or self.high - self.low >= most:
            return None
        return sorted(range(self.low, self.high + 1), key=lambda n: (abs(n), n < 0))


def _usual_whole(usual: tuple[float, float], draws: Draws) -> int:
    """Return a number within a usual range, every sixth time at an end of it or right behind one."""
    low, high = math.ceil(usual[0]), math.floor(usual[1])
    end = draws.once("end", lambda: draws.one_of((False, True)) if draws.chance(0.12) else None)
    if end is not None and draws.chance(0.8):  # of all such numbers of an input the same one: 23:59, 31/12
        return high if end else low
    if draws.chance(0.1):
        return draws.one_of((low, high, low - 1, high + 1, low + 1, high - 1))
    return low + draws.below(max(high - low, 0) + 1)


def _with_other_digit(value: int, draws: Draws) -> int:
    """Return a number with another digit, or one digit more or less."""
    digits, way = str(abs(value)), draws.below(4)
    at = draws.below(len(digits))
    if way == 0 and len(digits) < _MAX_DIGITS:
        digits += str(draws.below(10))
    elif way == 1:
        digits = digits[:-1] or "0"
    else:
        digits = digits[:at] + str(draws.below(10)) + digits[at + 1 :]
    return -int(digits) if value < 0 else int(digits)


@dataclass(eq=False)
class Real(Type):
    """Floats between two bounds; a whole number is one too unless ``strict``."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            self.exact = frozenset((float,)) if self.strict else frozenset((float, int))

    def fits(self, value: Any) -> bool:
        return (type(value) is float or (type(value) is int and not self.strict)) and self._inside(value)

    def _inside(self, value: float) -> bool:
        above = self.low is None or (self.low < value if self.open_low else self.low <= value)
        below = self.high is None or (value < self.high if self.open_high else value <= self.high)
        return above and below

    def draw(self, draws: Draws) -> float:
        if draws.numbers and (draws.is_eager or draws.chance(0.1)):
            mined = float(draws.one_of(draws.numbers))
            if self._inside(mined):
                return mined
        is_free = self.low is None and self.high is None
        if draws.odd_floats and is_free and draws.chance(0.02):
            return draws.one_of(_ODD)
        usual = draws.range_of()
        if usual is not None and draws.chance(_USUAL):
            drawn = _usual_real(usual, draws)
            if self._inside(drawn):
                return drawn
        for _ in range(8):
            drawn = self._any(draws) if is_free else self._between(draws)
            if self._inside(drawn):
                return drawn
        return self._middle()

    def _any(self, draws: Draws) -> float:
        way = draws.below(4)
        if way == 0:
            return float(draws.below(21) - 10)
        if way == 1:
            return (draws.below(161) - 80) / 4
        if draws.chance(0.15):
            return float(f"{draws.generator.uniform(-1, 1) * 10 ** (draws.below(12) - 4):.6g}")
        return (draws.below(2001) - 1000) / (100 if way == 2 else 10)

    def _between(self, draws: Draws) -> float:
        low = self.low if self.low is not None else (self.high or 0.0) - 100
        high = self.high if self.high is not None else low + draws.one_of((1.0, 10.0, 1000.0))
        if draws.chance(0.2):
            return float(draws.one_of((low, high)))
        return round(low + draws.generator.random() * (high - low), draws.one_of((0, 1, 2, 4)))

    def _middle(self) -> float:
        if self.low is not None and self.high is not None:
            return (self.low + self.high) / 2
        return self.low + 1.0 if self.low is not None else (self.high or 0.0) - 1.0

    def change(self, value: float, draws: Draws) -> float:
        if type(value) not in (int, float) or (draws.is_eager and draws.numbers) or not abs(value) < _MOST:
            return self.draw(draws)
        changed = self._changed(float(value), draws)
        return changed if self._inside(changed) else self.draw(draws)

    def _changed(self, value: float, draws: Draws) -> float:
        way = draws.below(20)
        if way < 5:
            return value + draws.one_of((-10.0, -1.0, 1.0, 10.0))
        if way < 9:
            spread = 1.0 if draws.below(3) < 2 else 10.0
            return value + draws.generator.uniform(-spread, spread)
        if way < 11:
            return draws.one_of(_REAL)
        if way < 14 and draws.numbers:
            mined = float(draws.one_of(draws.numbers))
            return draws.one_of((mined, mined, mined + 0.5, mined - 0.01, -mined, mined + 1.0, mined - 1.0))
        if way < 16:
            return round(value, draws.below(3)) if math.isfinite(value) else 0.0
        if way == 16:
            return -value
        if way == 17:
            return value * draws.one_of((0.5, 2.0, 10.0, 0.1))
        return self.draw(draws)


def _usual_real(usual: tuple[float, float], draws: Draws) -> float:
    low, high = usual
    if draws.chance(0.12):
        return float(draws.one_of((low, high, low - 1, high + 1, (low + high) / 2)))
    places = draws.one_of((0, 1, 2, 2, 4)) if high - low > 2 else draws.one_of((1, 2, 2, 3))
    return round(low + draws.generator.random() * (high - low), places)


class Complex(Type):
    """Complex numbers."""

    def fits(self, value: Any) -> bool:
        return type(value) is complex

    def draw(self, draws: Draws) -> complex:
        return complex(Real().draw(draws), Real().draw(draws) if draws.chance(0.8) else 0.0)

    def change(self, value: complex, draws: Draws) -> complex:
        if draws.chance(0.5):
            return complex(Real().change(value.real, draws), value.imag)
        return complex(value.real, Real().change(value.imag, draws))
