"""Tasks with several right answers, with programs known right or wrong: three with a checker, one for each relation."""

from dataclasses import dataclass, replace
from textwrap import dedent

from difftrust_core.base.task import Domain, Order, Relation, Task
from tests.support.tasks import small_task

BENCHMARK = "several"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A task; ``right`` programs differ in what they return, ``wrong`` ones are wrong on some of the inputs drawn."""

    task: Task
    right: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of its task."""
        return self.task.entry_point


def _case(
    signature: str, seeds: list[str], relation: Relation, domain: Domain, *, right: list[str], wrong: list[str]
) -> Case:
    name, _, rest = signature.partition("(")
    programs = [dedent(text).lstrip() for text in right]
    return Case(
        task=small_task(
            name,
            f"({rest}",
            benchmark=BENCHMARK,
            description=f"Return {name}.",
            seed_inputs=tuple(seeds),
            reference=programs[0],
            relation=relation,
            domain=domain,
        ),
        right=tuple(programs),
        wrong=tuple(dedent(text).lstrip() for text in wrong),
    )


def _accept(text: str) -> Relation:
    return Relation(accept=dedent(text).lstrip())


CHECKED = [
    _case(
        "pair(numbers: list[int], total: int) -> tuple[int, int] | None",
        ["([1, 2, 3, 4], 5)", "([2, 2], 4)", "([1], 2)", "([5, -5, 0, 1, 9], 0)"],
        _accept("""
            def accept(arguments, output):
                numbers, total = arguments
                pairs = {(a, b) for i, a in enumerate(numbers) for j, b in enumerate(numbers) if i != j}
                pairs = {(a, b) for a, b in pairs if a + b == total}
                return tuple(output) in pairs if pairs else output is None
            """),
        Domain(types="numbers: list[int], total: int"),
        right=[
            """
            def pair(numbers, total):
                for i, a in enumerate(numbers):
                    for b in numbers[i + 1:]:
                        if a + b == total:
                            return a, b
            """,
            """
            def pair(numbers, total):
                for j in range(len(numbers) - 1, -1, -1):
                    for i in range(j - 1, -1, -1):
                        if numbers[i] + numbers[j] == total:
                            return [numbers[j], numbers[i]]
            """,
        ],
        wrong=[
            """
            def pair(numbers, total):
                for a in numbers:
                    if total - a in numbers:
                        return a, total - a
            """,
            "def pair(numbers, total):\n    return (total, 0)\n",
            "def pair(numbers, total):\n    return (0, total)\n",
            "def pair(numbers, total):\n    raise ValueError\n",
        ],
    ),
    _case(
        "order(n: int, edges: list[tuple[int, int]]) -> list[int]",
        ["(4, [(0, 1), (0, 2), (1, 3)])", "(3, [])", "(5, [(4, 0), (3, 1), (4, 1)])"],
        _accept("""
            def accept(arguments, output):
                n, edges = arguments
                place = {node: i for i, node in enumerate(output)}
                return sorted(output) == list(range(n)) and all(place[a] < place[b] for a, b in edges)
            """),
        Domain(
            types="n: int, edges: list[tuple[int, int]]",
            generate=dedent("""
                def generate(random):
                    n = random.randrange(7)
                    names = random.sample(range(n), n)
                    pairs = [(names[i], names[j]) for j in range(n) for i in range(j)]
                    return n, random.sample(pairs, min(len(pairs), random.randrange(6)))
                """),
        ),
        right=[
            """
            def order(n, edges):
                found = []
                while len(found) < n:
                    found.append(next(node for node in range(n) if node not in found
                                      and all(a in found for a, b in edges if b == node)))
                return found
            """,
            """
            def order(n, edges):
                found = []
                while len(found) < n:
                    found.insert(0, next(node for node in range(n) if node not in found
                                         and all(b in found for a, b in edges if a == node)))
                return found
            """,
        ],
        wrong=[
            "def order(n, edges):\n    return list(range(n))\n",
            "def order(n, edges):\n    return sorted(range(n), key=lambda node: sum(b == node for a, b in edges))\n",
            "def order(n, edges):\n    return list(range(n - 1))\n",
        ],
    ),
    _case(
        "brackets(n: int) -> str",
        ["(0,)", "(3,)", "(5,)"],
        _accept("""
            def accept(arguments, output):
                (n,) = arguments
                depth = 0
                for c in output:
                    depth += {"(": 1, ")": -1}[c]
                    if depth < 0:
                        return False
                return depth == 0 and len(output) == 2 * max(n, 0)
            """),
        Domain(types="n: int", requires="-5 < n < 50"),
        right=["def brackets(n):\n    return n * '()'\n", "def brackets(n):\n    return n * '(' + n * ')'\n"],
        wrong=["def brackets(n):\n    return n * ')('\n", "def brackets(n):\n    return abs(n) * '()'\n"],
    ),
]

_RING = """
def normal(arguments, output):
    return min([output[i:] + output[:i] for i in range(len(output))], default=[])
"""
COMPARED = [
    _case(
        "divisors(n: int) -> list[int]",
        ["(12,)", "(7,)", "(36,)"],
        Relation(order=Order.UNORDERED),
        Domain(types="n: int", requires="0 < n < 500"),
        right=[
            "def divisors(n):\n    return [d for d in range(1, n + 1) if n % d == 0]\n",
            "def divisors(n):\n    return [d for d in range(n, 0, -1) if n % d == 0]\n",
        ],
        wrong=["def divisors(n):\n    return [d for d in range(1, n) if n % d == 0]\n"],
    ),
    _case(
        "repeated(words: list[str]) -> list[str]",
        ["(['a', 'b', 'a', 'a'],)", "([],)", "(['x', 'x', 'y', 'y'],)"],
        Relation(order=Order.SET),
        Domain(types="words: list[str]"),
        right=[
            "def repeated(words):\n    return [word for word in words if words.count(word) > 1]\n",
            "def repeated(words):\n    return sorted({word for word in words if words.count(word) > 1})[::-1]\n",
        ],
        wrong=["def repeated(words):\n    return list(dict.fromkeys(words))\n"],
    ),
    _case(
        "mean(numbers: list[float]) -> float",
        ["([1.0, 2.0],)", "([0.1, 0.2, 0.7],)", "([-3.5, 3.5],)"],
        Relation(atol=1e-6),
        Domain(types="numbers: list[float]", requires="numbers and all(abs(x) < 1e6 for x in numbers)"),
        right=[
            "def mean(numbers):\n    return sum(numbers) / len(numbers)\n",
            "import math\n\ndef mean(numbers):\n    return math.fsum(x / len(numbers) for x in numbers)\n",
        ],
        wrong=["def mean(numbers):\n    return round(sum(numbers) / len(numbers), 3)\n"],
    ),
    _case(
        "table(numbers: list[float]) -> str",
        ["([1.0, 2.25],)", "([],)", "([0.5],)"],
        Relation(tokens=True, atol=1e-6),
        Domain(types="numbers: list[float]", requires="all(abs(x) < 1e6 for x in numbers)"),
        right=[
            "def table(numbers):\n    return ' '.join(f'{x:.8f}' for x in numbers)\n",
            "def table(numbers):\n    return '\\n'.join(map(repr, numbers))\n",
        ],
        wrong=["def table(numbers):\n    return ' '.join(f'{x:.3f}' for x in numbers)\n"],
    ),
    _case(
        "ring(items: list[int]) -> list[int]",
        ["([3, 1, 2],)", "([1, 2],)", "([],)"],
        Relation(normal=_RING),
        Domain(types="items: list[int]"),
        right=["def ring(items):\n    return items\n", "def ring(items):\n    return items[1:] + items[:1]\n"],
        wrong=["def ring(items):\n    return items[::-1]\n", "def ring(items):\n    return sorted(items)\n"],
    ),
    _case(
        "share(a: int, b: int) -> float",
        ["(1, 3)", "(2000, 3)", "(5, 7)"],
        Relation(equality="strict"),
        Domain(types="a: int, b: int", requires="b > 0"),
        right=["def share(a, b):\n    return a / b\n", "def share(a, b):\n    return a.__truediv__(b)\n"],
        wrong=["def share(a, b):\n    return round(a / b, 4)\n"],
    ),
]

CASES = [*CHECKED, *COMPARED]


def without_reference(case: Case) -> Case:
    """Return a case whose task has no reference."""
    return replace(case, task=replace(case.task, reference=None))
