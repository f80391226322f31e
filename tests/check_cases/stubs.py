"""Stubs with candidates: ten whose description leaves something open, five whose description does not."""

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
    Case(  # the order of what is equally long
        name="by_length",
        stub='def by_length(words: list[str]) -> list[str]:\n    """Sort the words, the shortest first."""\n',
        candidates=(
            "def by_length(words):\n    return sorted(words, key=len)\n",
            "def by_length(words):\n    return sorted(words, key=lambda w: (len(w), w))\n",
            "def by_length(words):\n    words = list(words)\n    words.sort(key=len)\n    return words\n",
        ),
    ),
    Case(  # whether upper case is another letter
        name="how_often",
        stub='''def how_often(text: str, letter: str) -> int:
    """Count how often the letter occurs in the text.

    >>> how_often("banana", "a")
    3
    """
''',
        candidates=(
            "def how_often(text, letter):\n    return text.count(letter)\n",
            "def how_often(text, letter):\n    return text.lower().count(letter.lower())\n",
            "def how_often(text, letter):\n    return sum(c == letter for c in text)\n",
        ),
    ),
    Case(  # whether what is there twice comes twice
        name="shared",
        stub='def shared(xs: list[int], ys: list[int]) -> list[int]:\n    """List in order what both hold."""\n',
        candidates=(
            "def shared(xs, ys):\n    return sorted(set(xs) & set(ys))\n",
            "def shared(xs, ys):\n    return sorted(x for x in xs if x in ys)\n",
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
    Case(  # what blanks in a row separate
        name="fields",
        stub='''def fields(line: str) -> list[str]:
    """Split the line at its blanks.

    >>> fields("one two")
    ['one', 'two']
    """
''',
        candidates=(
            "def fields(line):\n    return line.split()\n",
            "def fields(line):\n    return line.split(' ')\n",
            "def fields(line):\n    return line.strip().split(' ')\n",
        ),
    ),
    Case(  # whether occurrences may overlap
        name="occurrences",
        stub='''def occurrences(text: str, part: str) -> int:
    """Count the occurrences of part in text.

    >>> occurrences("cocoa", "co")
    2
    """
''',
        candidates=(
            "def occurrences(text, part):\n    return text.count(part)\n",
            "def occurrences(text, part):\n"
            "    return sum(text.startswith(part, i) for i in range(len(text) - len(part) + 1))\n",
        ),
    ),
    Case(  # from where one counts
        name="place_of",
        stub='''def place_of(item: int, items: list[int]) -> int:
    """Return the place of the item in the list, -1 if it is not there.

    >>> place_of(9, [])
    -1
    """
''',
        candidates=(
            "def place_of(item, items):\n    return items.index(item) if item in items else -1\n",
            "def place_of(item, items):\n    return items.index(item) + 1 if item in items else -1\n",
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
        name="total",
        stub='def total(numbers: list[int]) -> int:\n    """Return the sum of the numbers, 0 if there are none."""\n',
        candidates=(
            "def total(numbers):\n    return sum(numbers)\n",
            "def total(numbers):\n    s, left = 0, numbers[:]\n"
            "    while left:\n        s += left.pop()\n    return s\n",
        ),
    ),
    Case(
        name="rises",
        stub='def rises(numbers: list[int]) -> bool:\n    """Tell whether no number is followed by a smaller one."""\n',
        candidates=(
            "def rises(numbers):\n    return numbers == sorted(numbers)\n",
            "def rises(numbers):\n    return all(a <= b for a, b in zip(numbers, numbers[1:]))\n",
        ),
    ),
    Case(
        name="kinds",
        stub='''def kinds(counts: dict[str, int]) -> int:
    """Return how many different values the mapping holds.

    >>> kinds({"a": 1, "b": 1})
    1
    """
''',
        candidates=(
            "def kinds(counts):\n    return len(set(counts.values()))\n",
            "def kinds(counts):\n    seen = []\n    for x in counts.values():\n"
            "        if x not in seen:\n            seen.append(x)\n    return len(seen)\n",
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
