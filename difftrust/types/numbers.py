"""Whole numbers, floats, complex numbers: drawn small, changed in small and large steps."""

import math
from dataclasses import dataclass
from typing import Any

from difftrust.types.base import Draws, Type

_SPREADS = (10, 10, 30, 100, 100, 1000, 1000)
_MAX_DIGITS = 19
_MOST = 1e300
"""Larger numbers are drawn anew instead of changed."""
_WHOLE = (0, 1, -1, 2, 3, 7, 10, 12, 100, -100, 255, 256, 1000, 1024, 65_536, 1_000_000, 2**31 - 1, 2**31)
_SPECIAL = 0.06
"""How often a float is NaN or infinite, where one is asked for."""
_REAL = (0.0, 1.0, -1.0, 0.5, -0.5, 0.1, 0.01, 2.5, 100.0, 1000.0, 1e6, 1e-3, 99.99, 1e-9)


@dataclass(eq=False)
class Number(Type):
    """Numbers between two bounds."""

    low: Any = None
    high: Any = None
    open_low: bool = False
    open_high: bool = False

    def _inside(self, value: float) -> bool:
        above = self.low is None or (self.low < value if self.open_low else self.low <= value)
        below = self.high is None or (value < self.high if self.open_high else value <= self.high)
        return above and below

    def change(self, value: Any, draws: Draws) -> Any:
        if type(value) not in (int, float) or (draws.is_eager and draws.numbers) or not abs(value) < _MOST:
            return self.draw(draws)
        changed = self._changed(value, draws)
        return changed if self._inside(changed) else self.draw(draws)

    def _changed(self, value: Any, draws: Draws) -> Any:
        """Return a number made of another one, within the bounds or not."""
        raise NotImplementedError


class Whole(Number):
    """Whole numbers between two bounds; True is none."""

    def fits(self, value: Any) -> bool:
        return type(value) is int and self._inside(value)

    def draw(self, draws: Draws) -> int:
        if draws.numbers and (draws.is_eager or draws.chance(0.1)):
            mined = math.floor(draws.one_of(draws.numbers)) + (0 if draws.is_eager else draws.below(3) - 1)
            if self._inside(mined):
                return mined
        spread = draws.one_of(_SPREADS) if draws.chance(0.98) else 10 ** (4 + draws.below(15))
        low: int | None = self.low
        high: int | None = self.high
        if (low is None or low < 0) and (high is None or high > 0):
            drawn = draws.below(2 * spread + 1) - spread
            drawn = drawn if low is None else max(low, drawn)
            return drawn if high is None else min(high, drawn)
        width = spread if low is None or high is None else max(min(spread, high - low), 0)
        offset = draws.below(width + 1)
        if low is None or (high is not None and draws.chance(0.3)):
            assert high is not None
            return high - offset
        return low + offset

    def _changed(self, value: int, draws: Draws) -> int:
        way = draws.below(19)
        if way < 7:
            return value + draws.one_of((-10, -1, 1, 10))
        if way < 9:
            return _with_other_digit(value, draws)
        if way < 11:
            return draws.one_of(_WHOLE) + draws.one_of((0, 0, 0, 1, -1))
        if way < 15 and draws.numbers:
            mined, other = (math.floor(draws.one_of(draws.numbers)) for _ in range(2))
            near = (mined, mined, mined, mined + 1, mined - 1, -mined, value + mined, mined * draws.below(10))
            return draws.one_of((*near, mined + other, other + mined * draws.below(10), value - value % (mined or 1)))
        return draws.one_of((-value, value // 2, value * 2, value * 10)) if way < 17 else self.draw(draws)

    def all_values(self, most: int) -> list[int] | None:
        if self.low is None or self.high is None or self.high - self.low >= most:
            return None
        return sorted(range(self.low, self.high + 1), key=lambda n: (abs(n), n < 0))


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
class Real(Number):
    """Floats between two bounds; a whole number is one too unless ``strict``."""

    strict: bool = False

    def fits(self, value: Any) -> bool:
        return (type(value) is float or (type(value) is int and not self.strict)) and self._inside(value)

    def draw(self, draws: Draws) -> float:
        special = self._special(draws)
        if special is not None:
            return special
        if draws.numbers and (draws.is_eager or draws.chance(0.1)):
            mined = float(draws.one_of(draws.numbers))
            if self._inside(mined):
                return mined
        for _ in range(8):
            is_free = self.low is None and self.high is None
            drawn = self._any(draws) if is_free else self._between(draws)
            if self._inside(drawn):
                return drawn
        return self.low + 1.0 if self.high is None and self.low is not None else self._middle()

    def change(self, value: Any, draws: Draws) -> Any:
        special = self._special(draws)
        return super().change(value, draws) if special is None else special

    def _special(self, draws: Draws) -> float | None:
        """Return NaN or an infinite float now and then, within the bounds, where one is asked for."""
        special = draws.one_of(draws.special) if draws.special and draws.chance(_SPECIAL) else None
        return special if special is not None and self._inside(special) else None

    def _any(self, draws: Draws) -> float:
        if draws.chance(0.08):
            return float(f"{draws.generator.uniform(-1, 1) * 10 ** (draws.below(12) - 4):.6g}")
        if draws.chance(0.3):
            return float(draws.below(21) - 10)
        return (draws.below(2001) - 1000) / draws.one_of((100, 100, 10, 4))

    def _between(self, draws: Draws) -> float:
        low = self.low if self.low is not None else (self.high or 0.0) - 100
        high = self.high if self.high is not None else low + draws.one_of((1.0, 10.0, 1000.0))
        if draws.chance(0.2):
            return float(draws.one_of((low, high)))
        return round(low + draws.generator.random() * (high - low), draws.one_of((0, 1, 2, 4)))

    def _middle(self) -> float:
        high = self.high or 0.0
        return (self.low + high) / 2 if self.low is not None else high - 1.0

    def _changed(self, value: float, draws: Draws) -> float:
        value = float(value)
        way = draws.below(19)
        if way < 5:
            return value + draws.one_of((-10.0, -1.0, 1.0, 10.0))
        if way < 9:
            return value + draws.generator.uniform(-1, 1) * draws.one_of((1.0, 1.0, 10.0))
        if way < 11:
            return draws.one_of(_REAL)
        if way < 14 and draws.numbers:
            mined = float(draws.one_of(draws.numbers))
            return draws.one_of((mined, mined, mined + 0.5, mined - 0.01, -mined, mined + 1.0, mined - 1.0))
        if way < 16:
            return round(value, draws.below(3))
        return value * draws.one_of((-1.0, 0.5, 2.0, 10.0, 0.1)) if way < 17 else self.draw(draws)


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
