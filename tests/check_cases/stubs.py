"""Stubs with candidates: some whose description leaves something open, some whose description does not."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Case:
    """A stub, and candidates that all fit its description."""

    name: str
    stub: str
    candidates: tuple[str, ...]

    def write(self, folder: Path) -> tuple[str, Path]:
        """Write stub and candidates; return what names the stub, and the folder of the candidates."""
        (folder / "stub.py").write_text(self.stub)
        programs = folder / "programs"
        programs.mkdir()
        for number, code in enumerate(self.candidates):
            (programs / f"candidate_{number}.py").write_text(code)
        return f"{folder / 'stub.py'}::{self.name}", programs


AMBIGUOUS = [
    Case(  # which way a half is rounded
        name="halved",
        stub='def halved(n: int) -> int:\n    """Return half of n, rounded to the nearest whole number."""\n',
        candidates=(
            "def halved(n):\n    return round(n / 2)\n",
            "def halved(n):\n    return (n + 1) // 2\n",
            "def halved(n):\n    return n // 2\n",
        ),
    ),
    Case(  # whether the end belongs to the range
        name="total_between",
        stub='def total_between(low: int, high: int) -> int:\n    """Add up the whole numbers from low to high."""\n',
        candidates=(
            "def total_between(low, high):\n    return sum(range(low, high + 1))\n",
            "def total_between(low, high):\n    return sum(range(low, high))\n",
            "def total_between(low, high):\n    return sum(x for x in range(low, high + 1))\n",
        ),
    ),
    Case(  # what nothing has for a maximum
        name="largest",
        stub='''def largest(numbers: list[int]) -> int:
    """Return the largest of the numbers.

    >>> largest([3, 9, 4])
    9
    """
''',
        candidates=(
            "def largest(numbers):\n    return max(numbers, default=0)\n",
            "def largest(numbers):\n    return max(numbers) if numbers else None\n",
            "def largest(numbers):\n    best = -1\n"
            "    for x in numbers:\n        best = max(x, best)\n    return best\n",
        ),
    ),
    Case(  # the sign of a remainder
        name="left_over",
        stub='def left_over(things: int, boxes: int) -> int:\n    """Say what is left of things divided by boxes."""\n',
        candidates=(
            "def left_over(things, boxes):\n    return things % boxes\n",
            "import math\n\ndef left_over(things, boxes):\n    return int(math.fmod(things, boxes))\n",
            "def left_over(things, boxes):\n    return things - things // boxes * boxes\n",
        ),
    ),
]

COHERENT = [
    Case(
        name="backwards",
        stub='def backwards(text: str) -> str:\n    """Return the characters of the text in reverse order."""\n',
        candidates=(
            "def backwards(text):\n    return text[::-1]\n",
            "def backwards(text):\n    return ''.join(reversed(text))\n",
            "def backwards(text):\n    made = ''\n    for c in text:\n        made = c + made\n    return made\n",
        ),
    ),
    Case(
        name="clamped",
        stub='''def clamped(x: float, low: float, high: float) -> float:
    """Return low if x < low, else high if x > high, else x.

    >>> clamped(5.0, 1.0, 3.0)
    3.0
    """
''',
        candidates=(
            "def clamped(x, low, high):\n    return low if x < low else high if x > high else x\n",
            "def clamped(x, low, high):\n    if x < low:\n        return low\n    return min(x, high)\n",
        ),
    ),
]
