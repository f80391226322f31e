"""Twenty formats of input texts, each with a generator of examples, a strict validator, a right program and wrong ones.

Programs are functions of the text. A validator raises on a text that the format does not allow: IndexError, ValueError,
AssertionError.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

Program = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format."""

    name: str
    example: Callable[[random.Random], str]
    check: Callable[[str], None]
    right: Program
    wrong: tuple[Program, ...]

    def allows(self, text: str) -> bool:
        """Tell whether the validator accepts a text."""
        try:
            self.check(text)
        except (AssertionError, ValueError, IndexError):
            return False
        return True

    def examples(self, seed: int, n: int = 3) -> list[str]:
        """Return n examples as a task's author would give them."""
        draws = random.Random(f"{self.name}/{seed}")
        found = [self.example(draws) for _ in range(n)]
        assert all(map(self.allows, found)), found
        return found


def rows(text: str) -> list[list[int]]:
    """Return the numbers of each line; they must be written as programs print them."""
    assert text.endswith("\n")
    found = [list(map(int, line.split())) for line in text[:-1].split("\n")]
    assert text == "".join(" ".join(map(str, row)) + "\n" for row in found)
    return found


def numbers(draws: random.Random, n: int, low: int, high: int) -> list[int]:
    """Return n numbers."""
    return [draws.randint(low, high) for _ in range(n)]


def joined(*lines: object) -> str:
    """Return lines of values as a text."""
    return "".join((" ".join(map(str, line)) if isinstance(line, list | tuple) else str(line)) + "\n" for line in lines)


# One list: its length, then its numbers.
def _list_example(draws: random.Random) -> str:
    n = draws.randint(1, 6)
    return joined(n, numbers(draws, n, -9, 30))


def _list_check(text: str) -> None:
    (n,), values = rows(text)
    assert n == len(values) >= 1
    assert all(abs(v) <= 10**9 for v in values)


def _values(text: str) -> list[int]:
    return rows(text)[1]


LIST = Format(
    name="a list",
    example=_list_example,
    check=_list_check,
    right=lambda t: max(_values(t)) - min(_values(t)),
    wrong=(
        lambda t: max(0, *_values(t)) - min(_values(t)),
        lambda t: max(_values(t)) - _values(t)[0],
        lambda t: len({*_values(t)}) and abs(max(_values(t), key=abs)) - min(_values(t)),
    ),
)


# Test cases, each a length and a list.
def _cases_example(draws: random.Random) -> str:
    lists = [numbers(draws, draws.randint(1, 5), 1, 20) for _ in range(draws.randint(2, 4))]
    return joined(len(lists), *(line for values in lists for line in ([len(values)], values)))


def _cases_check(text: str) -> None:
    (t,), *rest = rows(text)
    assert t >= 1
    assert len(rest) == 2 * t
    for (n,), values in zip(rest[::2], rest[1::2], strict=True):
        assert n == len(values) >= 1
        assert min(values) >= 1


def _each(text: str, solve: Callable[[list[int]], object]) -> list[object]:
    return [solve(values) for values in rows(text)[2::2]]


CASES = Format(
    name="test cases",
    example=_cases_example,
    check=_cases_check,
    right=lambda t: _each(t, lambda v: len(v) - len({*v})),
    wrong=(
        lambda t: _each(t, lambda v: sum(a == b for a, b in itertools.pairwise(v))),
        lambda t: _each(t, lambda v: len(v) - len({*v}))[:3],
        lambda t: _each(t, lambda v: int(len(v) > len({*v}))),
    ),
)


# A grid of characters.
def _grid_example(draws: random.Random) -> str:
    h, w = draws.randint(2, 4), draws.randint(2, 5)
    return joined([h, w], *("".join(draws.choice(".#") for _ in range(w)) for _ in range(h)))


def _grid_check(text: str) -> None:
    head, *grid = text[:-1].split("\n")
    h, w = map(int, head.split())
    assert (h, text[-1]) == (len(grid), "\n")
    assert h >= 1 <= w
    assert all(len(row) == w and set(row) <= set(".#") for row in grid)


def _grid(text: str) -> list[str]:
    return text.split("\n")[1:-1]


GRID = Format(
    name="a grid",
    example=_grid_example,
    check=_grid_check,
    right=lambda t: max(row.count("#") for row in _grid(t)),
    wrong=(
        lambda t: max("".join(col).count("#") for col in zip(*_grid(t), strict=True)),
        lambda t: max(row.count("#") for row in _grid(t)[:-1] or _grid(t)),
        lambda t: max(max(map(len, row.split("."))) for row in _grid(t)),
    ),
)


# A list and queries of ranges within it.
def _ranges_example(draws: random.Random) -> str:
    n, q = draws.randint(3, 6), draws.randint(2, 4)
    queries = [sorted(numbers(draws, 2, 1, n)) for _ in range(q)]
    return joined([n, q], numbers(draws, n, 1, 50), *queries)


def _ranges_check(text: str) -> None:
    (n, q), values, *queries = rows(text)
    assert (n, q) == (len(values), len(queries))
    assert n >= 1 <= q
    assert all(1 <= low <= high <= n for low, high in queries)
    assert min(values) >= 1


def _sums(text: str, last: int = 0, most: int = 10**9) -> list[int]:
    (_, _), values, *queries = rows(text)
    return [sum(values[low - 1 : high + last]) % most for low, high in queries]


RANGES = Format(
    name="ranges",
    example=_ranges_example,
    check=_ranges_check,
    right=_sums,
    wrong=(lambda t: _sums(t, last=-1), lambda t: _sums(t, last=1), lambda t: _sums(t, most=100)),
)


# One word of small letters.
def _word_example(draws: random.Random) -> str:
    half = "".join(draws.choice("abcde") for _ in range(draws.randint(1, 4)))
    return joined(draws.choice((half + half[::-1], half + draws.choice("xyz") + half, half)))


def _word_check(text: str) -> None:
    assert text[-1] == "\n"
    assert text[:-1].islower()
    assert text[:-1].isascii()
    assert text[:-1].isalpha()


WORD = Format(
    name="a word",
    example=_word_example,
    check=_word_check,
    right=lambda t: t.strip() == t.strip()[::-1],
    wrong=(
        lambda t: t[0] == t.strip()[-1],
        lambda t: len(t) > 2 and t.strip() == t.strip()[::-1],
        lambda t: t.strip() == t.strip()[::-1] or sorted(t.strip()) == list(t.strip()),
    ),
)


# A line of text.
def _text_example(draws: random.Random) -> str:
    words = ["the", "cat", "Sat", "on", "a", "mat", "And", "so", "did", "I"]
    return joined([draws.choice(words) for _ in range(draws.randint(2, 6))])


def _text_check(text: str) -> None:
    words = text[:-1].split(" ")
    assert text[-1] == "\n"
    assert all(word.isascii() and word.isalpha() for word in words)


TEXT = Format(
    name="a line of text",
    example=_text_example,
    check=_text_check,
    right=lambda t: max(map(len, t.split())),
    wrong=(
        lambda t: len(t.split()[-1]),
        lambda t: max(map(len, t.split()[:-1] or t.split())),
        lambda t: len(max(t.split())),
    ),
)


# A tree as edges.
def _tree_example(draws: random.Random) -> str:
    n = draws.randint(3, 6)
    edges = [[draws.randint(1, i), i + 1] for i in range(1, n)]
    return joined(n, *edges)


def _tree_check(text: str) -> None:
    (n,), *edges = rows(text)
    assert len(edges) == n - 1 >= 0
    group = list(range(n + 1))
    for a, b in edges:
        assert 1 <= min(a, b) <= max(a, b) <= n
        assert group[a] != group[b]
        group = [group[a] if g == group[b] else g for g in group]


def _degrees(text: str) -> list[int]:
    (n,), *edges = rows(text)
    ends = [end for edge in edges for end in edge]
    return [ends.count(i) for i in range(1, n + 1)]


TREE = Format(
    name="a tree",
    example=_tree_example,
    check=_tree_check,
    right=lambda t: sum(d == 1 for d in _degrees(t)),
    wrong=(
        lambda t: sum(d == 1 for d in _degrees(t)[1:]),
        lambda t: len(_degrees(t)) - max(_degrees(t)),
        lambda t: min(sum(d == 1 for d in _degrees(t)), 4),
    ),
)


# A graph without loops and double edges.
def _graph_example(draws: random.Random) -> str:
    n = draws.randint(4, 6)
    pairs = [[a, b] for a in range(1, n + 1) for b in range(a + 1, n + 1)]
    edges = draws.sample(pairs, draws.randint(2, 5))
    return joined([n, len(edges)], *([b, a] if draws.random() < 0.5 else [a, b] for a, b in edges))


def _graph_check(text: str) -> None:
    (n, m), *edges = rows(text)
    assert m == len(edges)
    assert all(1 <= min(e) < max(e) <= n and len(e) == 2 for e in edges)
    assert len({frozenset(e) for e in edges}) == m


def _parts(text: str, kept: int | None = None) -> int:
    (n, _), *edges = rows(text)
    group = list(range(n + 1))
    for a, b in edges[:kept]:
        group = [group[a] if g == group[b] else g for g in group]
    return len({*group[1:]})


GRAPH = Format(
    name="a graph",
    example=_graph_example,
    check=_graph_check,
    right=_parts,
    wrong=(
        lambda t: max(1, rows(t)[0][0] - rows(t)[0][1]),
        lambda t: _parts(t, -1),
        lambda t: min(_parts(t), 3),
    ),
)


# Queries of two kinds on a stack.
def _stack_example(draws: random.Random) -> str:
    lines = [f"push {draws.randint(1, 20)}" if draws.random() < 0.6 else "pop" for _ in range(draws.randint(4, 7))]
    return joined(len(lines), *lines)


def _stack_check(text: str) -> None:
    head, *lines = text[:-1].split("\n")
    assert int(head) == len(lines) >= 1
    assert all(line == "pop" or (line.split()[0] == "push" and int(line[5:]) >= 1) for line in lines)


def _stack(text: str, first: bool = False, stays: bool = False) -> list[int]:
    held: list[int] = []
    for line in text.split("\n")[1:-1]:
        if line != "pop":
            held.append(int(line[5:]))
        elif held and not (stays and len(held) == 1):
            held.pop(0 if first else -1)
    return held


STACK = Format(
    name="commands",
    example=_stack_example,
    check=_stack_check,
    right=_stack,
    wrong=(lambda t: _stack(t, first=True), lambda t: _stack(t, stays=True), lambda t: sorted(_stack(t))),
)


# Numbered queries: `1 x`, `2`.
def _kinds_example(draws: random.Random) -> str:
    lines = [f"1 {draws.randint(1, 9)}" if draws.random() < 0.6 else "2" for _ in range(draws.randint(4, 7))]
    return joined(len(lines), *lines)


def _kinds_check(text: str) -> None:
    (q,), *queries = rows(text)
    assert q == len(queries)
    assert all(query == [2] or (query[0] == 1 and len(query) == 2) for query in queries)


def _kinds(text: str, limit: int = 10**9, empties: bool = True) -> list[int]:
    total, found = 0, []
    for query in rows(text)[1:]:
        if query[0] == 1:
            total = min(limit, total + query[1])
        else:
            found.append(total)
            total = 0 if empties else total
    return found


KINDS = Format(
    name="queries of two kinds",
    example=_kinds_example,
    check=_kinds_check,
    right=_kinds,
    wrong=(lambda t: _kinds(t, limit=20), lambda t: _kinds(t, empties=False), lambda t: _kinds(t)[:2]),
)


# Pairs up to `0 0`.
def _marked_example(draws: random.Random) -> str:
    return joined(*(numbers(draws, 2, 1, 30) for _ in range(draws.randint(1, 4))), [0, 0])


def _marked_check(text: str) -> None:
    *pairs, last = rows(text)
    assert last == [0, 0]
    assert pairs
    assert all(len(pair) == 2 and min(pair) >= 1 for pair in pairs)


MARKED = Format(
    name="pairs up to a mark",
    example=_marked_example,
    check=_marked_check,
    right=lambda t: [max(pair) for pair in rows(t)[:-1]],
    wrong=(
        lambda t: [pair[0] for pair in rows(t)[:-1]],
        lambda t: [max(pair) for pair in rows(t)[:-1]][:4],
        lambda t: [a + b - min(a, b, 5) for a, b in rows(t)[:-1]],
    ),
)


# A length and a word of that length.
def _sized_example(draws: random.Random) -> str:
    n = draws.randint(3, 8)
    return joined(n, "".join(draws.choice("ACGT") for _ in range(n)))


def _sized_check(text: str) -> None:
    head, word = text[:-1].split("\n")
    assert int(head) == len(word) >= 1
    assert set(word) <= set("ACGT")


def _letters(text: str) -> str:
    return text.split()[1]


SIZED = Format(
    name="a word of known length",
    example=_sized_example,
    check=_sized_check,
    right=lambda t: max(map(_letters(t).count, "ACGT")),
    wrong=(
        lambda t: _letters(t).count(_letters(t)[0]),
        lambda t: max(map(_letters(t).count, "ACG")),
        lambda t: max(1, max(map(_letters(t)[1:].count, "ACGT"))),
    ),
)


# Two lists of different lengths.
def _two_example(draws: random.Random) -> str:
    n, m = draws.sample(range(2, 7), 2)
    return joined([n, m], numbers(draws, n, 1, 12), numbers(draws, m, 1, 12))


def _two_check(text: str) -> None:
    (n, m), one, two = rows(text)
    assert (n, m) == (len(one), len(two))
    assert min(*one, *two, 99) >= 1
    assert n >= 1 <= m


def _two(text: str) -> tuple[list[int], list[int]]:
    _, one, two = rows(text)
    return one, two


TWO = Format(
    name="two lists",
    example=_two_example,
    check=_two_check,
    right=lambda t: len({*_two(t)[0]} & {*_two(t)[1]}),
    wrong=(
        lambda t: sum(a in _two(t)[1] for a in _two(t)[0]),
        lambda t: int(bool({*_two(t)[0]} & {*_two(t)[1]})),
        lambda t: len({*_two(t)[0]} & {*_two(t)[1][:-1]}),
    ),
)


# Test cases of square matrices.
def _squares_example(draws: random.Random) -> str:
    sizes = [draws.randint(1, 3) for _ in range(draws.randint(2, 3))]
    return joined(len(sizes), *(row for n in sizes for row in ([n], *(numbers(draws, n, 0, 9) for _ in range(n)))))


def _squares(text: str) -> list[list[list[int]]]:
    (t,), *rest = rows(text)
    found, at = [], 0
    for _ in range(t):
        (n,) = rest[at]
        found.append(rest[at + 1 : at + 1 + n])
        at += 1 + n
    assert at == len(rest)
    return found


def _squares_check(text: str) -> None:
    for square in _squares(text):
        assert square
        assert all(len(row) == len(square) and min(row) >= 0 for row in square)


SQUARES = Format(
    name="square matrices",
    example=_squares_example,
    check=_squares_check,
    right=lambda t: [sum(s[i][i] for i in range(len(s))) for s in _squares(t)],
    wrong=(
        lambda t: [sum(s[i][-1 - i] for i in range(len(s))) for s in _squares(t)],
        lambda t: [sum(s[i][i] for i in range(min(len(s), 2))) for s in _squares(t)],
        lambda t: [s[0][0] + s[-1][-1] for s in _squares(t)],
    ),
)


# Lists that begin with their own length.
def _own_lengths_example(draws: random.Random) -> str:
    lists = [numbers(draws, draws.randint(1, 4), 1, 30) for _ in range(draws.randint(2, 4))]
    return joined(len(lists), *([len(values), *values] for values in lists))


def _own_lengths_check(text: str) -> None:
    (n,), *lists = rows(text)
    assert n == len(lists) >= 1
    assert all(len(values) == values[0] + 1 > 1 for values in lists)


OWN_LENGTHS = Format(
    name="lists with their lengths",
    example=_own_lengths_example,
    check=_own_lengths_check,
    right=lambda t: max(sum(values[1:]) for values in rows(t)[1:]),
    wrong=(
        lambda t: sum(max(rows(t)[1:], key=len)[1:]),
        lambda t: max(sum(values) for values in rows(t)[1:]),
        lambda t: max(sum(values[1:4]) for values in rows(t)[1:]),
    ),
)


# Names and ages.
def _named_example(draws: random.Random) -> str:
    people = draws.sample(["ann", "bob", "cy", "dora", "eve", "finn"], draws.randint(2, 4))
    return joined(len(people), *([name, draws.randint(1, 60)] for name in people))


def _named_check(text: str) -> None:
    head, *lines = text[:-1].split("\n")
    people = [(line.split()[0], int(line.split()[1])) for line in lines]
    assert int(head) == len(people) >= 1
    assert all(name.islower() and name.isalpha() and age >= 1 for name, age in people)


def _people(text: str) -> list[tuple[str, int]]:
    return [(line.split()[0], int(line.split()[1])) for line in text.split("\n")[1:-1]]


NAMED = Format(
    name="names and ages",
    example=_named_example,
    check=_named_check,
    right=lambda t: max(_people(t), key=lambda p: p[1])[0],
    wrong=(
        lambda t: max(reversed(_people(t)), key=lambda p: p[1])[0],
        lambda t: max(_people(t), key=lambda p: str(p[1]))[0],
        lambda t: max(_people(t)[:3], key=lambda p: p[1])[0],
    ),
)


# A permutation.
def _permutation_example(draws: random.Random) -> str:
    n = draws.randint(4, 6)
    return joined(n, draws.sample(range(1, n + 1), n))


def _permutation_check(text: str) -> None:
    (n,), values = rows(text)
    assert sorted(values) == list(range(1, n + 1))
    assert n >= 1


PERMUTATION = Format(
    name="a permutation",
    example=_permutation_example,
    check=_permutation_check,
    right=lambda t: sum(v == i for i, v in enumerate(_values(t), 1)),
    wrong=(
        lambda t: sum(v == i for i, v in enumerate(_values(t)[:4], 1)),
        lambda t: min(2, sum(v == i for i, v in enumerate(_values(t), 1))),
        lambda t: sum(v == i for i, v in enumerate(_values(t))),
    ),
)


# A sorted list and a number.
def _sorted_example(draws: random.Random) -> str:
    n = draws.randint(4, 7)
    values = sorted(numbers(draws, n, 1, 40))
    return joined([n, draws.choice((*values, 17))], values)


def _sorted_check(text: str) -> None:
    (n, k), values = rows(text)
    assert n == len(values) >= 1
    assert values == sorted(values)
    assert min(*values, k) >= 1


def _places(text: str) -> tuple[int, list[int]]:
    (_, k), values = rows(text)
    return k, values


SORTED = Format(
    name="a sorted list and a number",
    example=_sorted_example,
    check=_sorted_check,
    right=lambda t: sum(v < _places(t)[0] for v in _places(t)[1]),
    wrong=(
        lambda t: sum(v <= _places(t)[0] for v in _places(t)[1]),
        lambda t: min(sum(v < _places(t)[0] for v in _places(t)[1]), len(_places(t)[1]) - 1),
        lambda t: sum(v < _places(t)[0] for v in {*_places(t)[1]}),
    ),
)


# Decimal numbers.
def _decimals_example(draws: random.Random) -> str:
    n = draws.randint(2, 5)
    return joined(n, [f"{draws.uniform(0, 20):.2f}" for _ in range(n)])


def _decimals_check(text: str) -> None:
    head, line = text[:-1].split("\n")
    assert int(head) == len(line.split()) >= 1
    assert all(float(word) >= 0 and len(word.partition(".")[2]) == 2 for word in line.split())


def _decimals(text: str) -> list[float]:
    return list(map(float, text.split()[1:]))


DECIMALS = Format(
    name="decimal numbers",
    example=_decimals_example,
    check=_decimals_check,
    right=lambda t: round(sum(_decimals(t)) / len(_decimals(t)), 6),
    wrong=(
        lambda t: round(sum(map(int, _decimals(t))) / len(_decimals(t)), 6),
        lambda t: sorted(_decimals(t))[len(_decimals(t)) // 2],
        lambda t: round(sum(_decimals(t)[:4]) / len(_decimals(t)), 6),
    ),
)


# Two numbers, one of them at least as large.
def _pair_example(draws: random.Random) -> str:
    n = draws.randint(5, 30)
    return joined([n, draws.randint(1, 4)])


def _pair_check(text: str) -> None:
    ((n, k),) = rows(text)
    assert n >= 1 <= k


PAIR = Format(
    name="two numbers",
    example=_pair_example,
    check=_pair_check,
    right=lambda t: -(-rows(t)[0][0] // rows(t)[0][1]),
    wrong=(
        lambda t: rows(t)[0][0] // rows(t)[0][1],
        lambda t: rows(t)[0][0] // rows(t)[0][1] + 1,
        lambda t: max(2, -(-rows(t)[0][0] // rows(t)[0][1])),
    ),
)

FORMATS = [
    LIST, CASES, GRID, RANGES, WORD, TEXT, TREE, GRAPH, STACK, KINDS, MARKED, SIZED, TWO, SQUARES, OWN_LENGTHS, NAMED,
    PERMUTATION, SORTED, DECIMALS, PAIR,
]  # fmt: skip
