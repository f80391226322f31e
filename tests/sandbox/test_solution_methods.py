"""A method of a class ``Solution`` as the entry point: a new object for every call, or a function in its place."""

from collections.abc import Iterator
from textwrap import dedent

import pytest

from difftrust.layouts.contests import IMPORTS
from difftrust_core.base.records import Kind
from difftrust_core.sandbox.host import Limits, Sandbox
from tests.sandbox.test_host import run, values

INPUTS = ["([3, 1], 1)", "([], 2)", "([5], 0)"]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits()) as started:
        yield started


def called(sandbox: Sandbox, source: str) -> list[tuple[Kind, str]]:
    outcomes, _ = run(sandbox, dedent(source), INPUTS, preamble=IMPORTS, entry_point="Solution.f")
    return list(outcomes)


def test_typing_and_the_judges_imports_are_at_hand(sandbox: Sandbox) -> None:
    source = """
    class Solution:
        def f(self, xs: List[int], k: Optional[int]) -> Dict[str, int]:
            seen = defaultdict(int, Counter(xs))
            heap = sorted(seen)
            heapify(heap)
            return pow(2, k, 7) + len(heap) if gcd(4, 6) == 2 else -1
    """
    assert called(sandbox, source) == values("4", "4", "2")


def test_every_call_has_an_object_of_its_own(sandbox: Sandbox) -> None:
    source = """
    class Solution:
        def __init__(self):
            self.calls = []
        def f(self, xs, k):
            self.calls.append(k)
            return len(self.calls), self.g()
        def g(self):
            return self.calls[-1]
    """
    assert called(sandbox, source) == values("(1, 1)", "(1, 2)", "(1, 0)")


@pytest.mark.parametrize(
    "source",
    [
        "def f(xs, k): return len(xs) + k",
        "def f(self, xs, k): return len(xs) + k",
        "f = lambda xs, k: len(xs) + k",
        "class Solution:\n    @staticmethod\n    def f(xs, k): return len(xs) + k",
        "class Solution:\n    @classmethod\n    def f(cls, xs, k): return len(xs) + k",
        "class Base:\n    def f(self, xs, k): return len(xs) + k\nclass Solution(Base): pass",
        "class Solution:\n    def f(self, xs, k): return len(xs) + k\ndef f(xs, k): return None",
        "class Solution: pass\ndef f(xs, k): return len(xs) + k",
    ],
)
def test_ways_to_write_it(sandbox: Sandbox, source: str) -> None:
    assert called(sandbox, source) == values("3", "2", "1")


def test_a_program_without_it_does_not_load(sandbox: Sandbox) -> None:
    for source in ("class Solution:\n    def g(self): pass", "def g(): pass", "f = 3", "Solution = 3"):
        assert called(sandbox, source) == [(Kind.LOAD_ERROR, "NameMissing")] * 3


def test_an_object_that_cannot_be_made_fails_every_call(sandbox: Sandbox) -> None:
    source = "class Solution:\n    def __init__(self, x): pass\n    def f(self, xs, k): return 1"
    assert called(sandbox, source) == [(Kind.EXCEPTION, "TypeError")] * 3
