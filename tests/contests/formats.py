"""Twenty formats of input texts, each with a generator of examples, a strict validator, a right program and wrong ones.

A validator raises on a text that the format does not allow: IndexError, ValueError, AssertionError.
"""

import itertools
import random
from typing import ClassVar

Answers = tuple[object, ...]
"""What the right program says of a text, and then what each wrong one does."""


class Format:
    """One format; every class below is one."""

    name: str
    all: ClassVar[list["Format"]] = []

    def __init_subclass__(cls, name: str) -> None:
        cls.name = name
        Format.all.append(cls())

    def example(self, draws: random.Random) -> str:
        raise NotImplementedError

    def check(self, text: str) -> None:
        raise NotImplementedError

    def answers(self, text: str) -> Answers:
        raise NotImplementedError

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


def grouped(n: int, edges: list[list[int]]) -> list[int]:
    """Return a number for each of n nodes, the same where edges join them."""
    group = list(range(n + 1))
    for a, b in edges:
        group = [group[a] if g == group[b] else g for g in group]
    return group[1:]


class List(Format, name="a list"):
    def example(self, draws: random.Random) -> str:
        n = draws.randint(1, 6)
        return joined(n, numbers(draws, n, -9, 30))

    def check(self, text: str) -> None:
        (n,), values = rows(text)
        assert n == len(values) >= 1
        assert all(abs(v) <= 10**9 for v in values)

    def answers(self, text: str) -> Answers:
        values = rows(text)[1]
        low, high = min(values), max(values)
        return high - low, max(0, high) - low, high - values[0], abs(max(values, key=abs)) - low


class Cases(Format, name="test cases"):
    def example(self, draws: random.Random) -> str:
        lists = [numbers(draws, draws.randint(1, 5), 1, 20) for _ in range(draws.randint(2, 4))]
        return joined(len(lists), *(line for values in lists for line in ([len(values)], values)))

    def check(self, text: str) -> None:
        (t,), *rest = rows(text)
        assert t >= 1
        assert len(rest) == 2 * t
        for (n,), values in zip(rest[::2], rest[1::2], strict=True):
            assert n == len(values) >= 1
            assert min(values) >= 1

    def answers(self, text: str) -> Answers:
        lists = rows(text)[2::2]
        repeated = [len(values) - len({*values}) for values in lists]
        pairs = [sum(a == b for a, b in itertools.pairwise(values)) for values in lists]
        return repeated, pairs, repeated[:3], list(map(bool, repeated))


class Grid(Format, name="a grid"):
    def example(self, draws: random.Random) -> str:
        h, w = draws.randint(2, 4), draws.randint(2, 5)
        return joined([h, w], *("".join(draws.choice(".#") for _ in range(w)) for _ in range(h)))

    def check(self, text: str) -> None:
        head, *grid = text[:-1].split("\n")
        h, w = map(int, head.split())
        assert (h, text[-1]) == (len(grid), "\n")
        assert h >= 1 <= w
        assert all(len(row) == w and set(row) <= set(".#") for row in grid)

    def answers(self, text: str) -> Answers:
        grid = text.split("\n")[1:-1]
        counts = [row.count("#") for row in grid]
        columns = [column.count("#") for column in zip(*grid, strict=True)]
        return (
            max(counts),
            max(columns),
            max(counts[:-1] or counts),
            max(len(s) for row in grid for s in row.split(".")),
        )


class Ranges(Format, name="ranges"):
    def example(self, draws: random.Random) -> str:
        n, q = draws.randint(3, 6), draws.randint(2, 4)
        queries = [sorted(numbers(draws, 2, 1, n)) for _ in range(q)]
        return joined([n, q], numbers(draws, n, 1, 50), *queries)

    def check(self, text: str) -> None:
        (n, q), values, *queries = rows(text)
        assert (n, q) == (len(values), len(queries))
        assert n >= 1 <= q
        assert all(1 <= low <= high <= n for low, high in queries)
        assert min(values) >= 1

    def answers(self, text: str) -> Answers:
        _, values, *queries = rows(text)
        sums, *wrong = ([sum(values[low - 1 : high + end]) for low, high in queries] for end in (0, -1, 1))
        return sums, *wrong, [total % 100 for total in sums]


class Word(Format, name="a word"):
    def example(self, draws: random.Random) -> str:
        half = "".join(draws.choice("abcde") for _ in range(draws.randint(1, 4)))
        return joined(draws.choice((half + half[::-1], half + draws.choice("xyz") + half, half)))

    def check(self, text: str) -> None:
        assert text[-1] == "\n"
        assert text[:-1].islower()
        assert text[:-1].isascii()
        assert text[:-1].isalpha()

    def answers(self, text: str) -> Answers:
        word = text.strip()
        is_mirrored = word == word[::-1]
        return is_mirrored, word[0] == word[-1], len(word) > 1 and is_mirrored, is_mirrored or sorted(word) == [*word]


class Text(Format, name="a line of text"):
    def example(self, draws: random.Random) -> str:
        words = ["the", "cat", "Sat", "on", "a", "mat", "And", "so", "did", "I"]
        return joined([draws.choice(words) for _ in range(draws.randint(2, 6))])

    def check(self, text: str) -> None:
        words = text[:-1].split(" ")
        assert text[-1] == "\n"
        assert all(word.isascii() and word.isalpha() for word in words)

    def answers(self, text: str) -> Answers:
        words = text.split()
        return max(map(len, words)), len(words[-1]), max(map(len, words[:-1] or words)), len(max(words))


class Tree(Format, name="a tree"):
    def example(self, draws: random.Random) -> str:
        n = draws.randint(3, 6)
        return joined(n, *([draws.randint(1, i), i + 1] for i in range(1, n)))

    def check(self, text: str) -> None:
        (n,), *edges = rows(text)
        assert len(edges) == n - 1 >= 0
        assert all(len(edge) == 2 and 1 <= min(edge) <= max(edge) <= n for edge in edges)
        assert len({*grouped(n, edges)}) == 1

    def answers(self, text: str) -> Answers:
        (n,), *edges = rows(text)
        ends = [end for edge in edges for end in edge]
        degrees = [ends.count(i) for i in range(1, n + 1)]
        leaves = degrees.count(1)
        return leaves, degrees[1:].count(1), n - max(degrees), min(leaves, 4)


class Graph(Format, name="a graph"):
    """Without loops and double edges."""

    def example(self, draws: random.Random) -> str:
        n = draws.randint(4, 6)
        pairs = [[a, b] for a in range(1, n + 1) for b in range(a + 1, n + 1)]
        edges = draws.sample(pairs, draws.randint(2, 5))
        return joined([n, len(edges)], *([b, a] if draws.random() < 0.5 else [a, b] for a, b in edges))

    def check(self, text: str) -> None:
        (n, m), *edges = rows(text)
        assert m == len(edges)
        assert all(1 <= min(e) < max(e) <= n and len(e) == 2 for e in edges)
        assert len({frozenset(e) for e in edges}) == m

    def answers(self, text: str) -> Answers:
        (n, m), *edges = rows(text)
        parts = len({*grouped(n, edges)})
        return parts, max(1, n - m), len({*grouped(n, edges[:-1])}), min(parts, 3)


class Commands(Format, name="commands"):
    """On a stack."""

    def example(self, draws: random.Random) -> str:
        lines = [f"push {draws.randint(1, 20)}" if draws.random() < 0.6 else "pop" for _ in range(draws.randint(4, 7))]
        return joined(len(lines), *lines)

    def check(self, text: str) -> None:
        head, *lines = text[:-1].split("\n")
        assert int(head) == len(lines) >= 1
        assert all(line == "pop" or (line.split()[0] == "push" and int(line[5:]) >= 1) for line in lines)

    def answers(self, text: str) -> Answers:
        held = self._held(text)
        return held, self._held(text, first=True), self._held(text, stays=True), sorted(held)

    def _held(self, text: str, first: bool = False, stays: bool = False) -> list[int]:
        held: list[int] = []
        for line in text.split("\n")[1:-1]:
            if line != "pop":
                held.append(int(line[5:]))
            elif held and not (stays and len(held) == 1):
                held.pop(0 if first else -1)
        return held


class Kinds(Format, name="queries of two kinds"):
    """`1 x` adds x, `2` asks for the sum and empties it."""

    def example(self, draws: random.Random) -> str:
        lines = [f"1 {draws.randint(1, 9)}" if draws.random() < 0.6 else "2" for _ in range(draws.randint(4, 7))]
        return joined(len(lines), *lines)

    def check(self, text: str) -> None:
        (q,), *queries = rows(text)
        assert q == len(queries)
        assert all(query == [2] or (query[0] == 1 and len(query) == 2) for query in queries)

    def answers(self, text: str) -> Answers:
        said = self._sums(text)
        return said, self._sums(text, limit=20), self._sums(text, empties=False), said[:2]

    def _sums(self, text: str, limit: int = 10**9, empties: bool = True) -> list[int]:
        total, found = 0, []
        for kind, *added in rows(text)[1:]:
            if kind == 1:
                total = min(limit, total + added[0])
            else:
                found.append(total)
                total = 0 if empties else total
        return found


class Marked(Format, name="pairs up to a mark"):
    def example(self, draws: random.Random) -> str:
        return joined(*(numbers(draws, 2, 1, 30) for _ in range(draws.randint(1, 4))), [0, 0])

    def check(self, text: str) -> None:
        *pairs, last = rows(text)
        assert last == [0, 0]
        assert pairs
        assert all(len(pair) == 2 and min(pair) >= 1 for pair in pairs)

    def answers(self, text: str) -> Answers:
        pairs = rows(text)[:-1]
        most = [max(pair) for pair in pairs]
        return most, [a for a, _ in pairs], most[:4], [a + b - min(a, b, 5) for a, b in pairs]


class Sized(Format, name="a word of known length"):
    def example(self, draws: random.Random) -> str:
        n = draws.randint(3, 8)
        return joined(n, "".join(draws.choice("ACGT") for _ in range(n)))

    def check(self, text: str) -> None:
        head, word = text[:-1].split("\n")
        assert int(head) == len(word) >= 1
        assert set(word) <= set("ACGT")

    def answers(self, text: str) -> Answers:
        word = text.split()[1]
        most, without_first = (max(map(letters.count, "ACGT")) for letters in (word, word[1:]))
        return most, word.count(word[0]), max(map(word.count, "ACG")), max(1, without_first)


class Two(Format, name="two lists"):
    """Of different lengths."""

    def example(self, draws: random.Random) -> str:
        n, m = draws.sample(range(2, 7), 2)
        return joined([n, m], numbers(draws, n, 1, 12), numbers(draws, m, 1, 12))

    def check(self, text: str) -> None:
        (n, m), one, two = rows(text)
        assert (n, m) == (len(one), len(two))
        assert min(*one, *two, 99) >= 1
        assert n >= 1 <= m

    def answers(self, text: str) -> Answers:
        _, one, two = rows(text)
        both = {*one} & {*two}
        return len(both), sum(a in two for a in one), int(bool(both)), len({*one} & {*two[:-1]})


class Squares(Format, name="square matrices"):
    def example(self, draws: random.Random) -> str:
        sizes = [draws.randint(1, 3) for _ in range(draws.randint(2, 3))]
        return joined(len(sizes), *(row for n in sizes for row in ([n], *(numbers(draws, n, 0, 9) for _ in range(n)))))

    def check(self, text: str) -> None:
        for square in self._squares(text):
            assert square
            assert all(len(row) == len(square) and min(row) >= 0 for row in square)

    def answers(self, text: str) -> Answers:
        squares = self._squares(text)
        sums, firsts = ([sum(s[i][i] for i in range(len(s))[:n]) for s in squares] for n in (None, 2))
        others = [sum(s[i][-1 - i] for i in range(len(s))) for s in squares]
        return sums, others, firsts, [s[0][0] + s[-1][-1] for s in squares]

    def _squares(self, text: str) -> list[list[list[int]]]:
        (t,), *rest = rows(text)
        found, at = [], 0
        for _ in range(t):
            (n,) = rest[at]
            found.append(rest[at + 1 : at + 1 + n])
            at += 1 + n
        assert at == len(rest)
        return found


class OwnLengths(Format, name="lists with their lengths"):
    def example(self, draws: random.Random) -> str:
        lists = [numbers(draws, draws.randint(1, 4), 1, 30) for _ in range(draws.randint(2, 4))]
        return joined(len(lists), *([len(values), *values] for values in lists))

    def check(self, text: str) -> None:
        (n,), *lists = rows(text)
        assert n == len(lists) >= 1
        assert all(len(values) == values[0] + 1 > 1 for values in lists)

    def answers(self, text: str) -> Answers:
        lists = rows(text)[1:]
        most, of_three = max(sum(v[1:]) for v in lists), max(sum(v[1:4]) for v in lists)
        return most, sum(max(lists, key=len)[1:]), max(map(sum, lists)), of_three


class Named(Format, name="names and ages"):
    def example(self, draws: random.Random) -> str:
        people = draws.sample(["ann", "bob", "cy", "dora", "eve", "finn"], draws.randint(2, 4))
        return joined(len(people), *([name, draws.randint(1, 60)] for name in people))

    def check(self, text: str) -> None:
        people = self._people(text)
        assert int(text.split("\n")[0]) == len(people) >= 1
        assert all(name.islower() and name.isalpha() and age >= 1 for name, age in people)

    def answers(self, text: str) -> Answers:
        people = self._people(text)
        oldest = [max(listed, key=lambda person: person[1])[0] for listed in (people, people[::-1], people[:3])]
        return *oldest, max(people, key=lambda person: str(person[1]))[0]

    def _people(self, text: str) -> list[tuple[str, int]]:
        return [(line.split()[0], int(line.split()[1])) for line in text[:-1].split("\n")[1:]]


class Permutation(Format, name="a permutation"):
    def example(self, draws: random.Random) -> str:
        n = draws.randint(4, 6)
        return joined(n, draws.sample(range(1, n + 1), n))

    def check(self, text: str) -> None:
        (n,), values = rows(text)
        assert sorted(values) == list(range(1, n + 1))
        assert n >= 1

    def answers(self, text: str) -> Answers:
        values = rows(text)[1]
        fixed = [v == i for i, v in enumerate(values, 1)]
        return sum(fixed), sum(fixed[:4]), min(2, sum(fixed)), sum(v == i for i, v in enumerate(values))


class Sorted(Format, name="a sorted list and a number"):
    def example(self, draws: random.Random) -> str:
        n = draws.randint(4, 7)
        values = sorted(numbers(draws, n, 1, 40))
        return joined([n, draws.choice((*values, 17))], values)

    def check(self, text: str) -> None:
        (n, k), values = rows(text)
        assert n == len(values) >= 1
        assert values == sorted(values)
        assert min(*values, k) >= 1

    def answers(self, text: str) -> Answers:
        (n, k), values = rows(text)
        less = sum(v < k for v in values)
        return less, sum(v <= k for v in values), min(less, n - 1), sum(v < k for v in {*values})


class Decimals(Format, name="decimal numbers"):
    def example(self, draws: random.Random) -> str:
        n = draws.randint(2, 5)
        return joined(n, [f"{draws.uniform(0, 20):.2f}" for _ in range(n)])

    def check(self, text: str) -> None:
        head, line = text[:-1].split("\n")
        assert int(head) == len(line.split()) >= 1
        assert all(float(word) >= 0 and len(word.partition(".")[2]) == 2 for word in line.split())

    def answers(self, text: str) -> Answers:
        values = list(map(float, text.split()[1:]))
        mean, of_whole, of_four = (round(sum(v) / len(values), 6) for v in (values, map(int, values), values[:4]))
        return mean, of_whole, sorted(values)[len(values) // 2], of_four


class Pair(Format, name="two numbers"):
    """One of them at least as large."""

    def example(self, draws: random.Random) -> str:
        return joined([draws.randint(5, 30), draws.randint(1, 4)])

    def check(self, text: str) -> None:
        ((n, k),) = rows(text)
        assert n >= 1 <= k

    def answers(self, text: str) -> Answers:
        ((n, k),) = rows(text)
        return -(-n // k), n // k, n // k + 1, max(2, -(-n // k))


FORMATS = Format.all
