"""Function objects as programs of their own."""

import asyncio
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pytest

from difftrust.source.function_program import entry_point_of, program_of
from difftrust_core.exceptions import BadStub

RATES = {"a": 2, "b": [1, 2]}
PATTERN = re.compile("a+")
CENT = Decimal("0.01")


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any) -> Any:
        return function(*args)

    return inner


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*args: Any) -> Any:
        return function(*args)

    return inner


@dataclass
class Point:
    x: int

    @property
    def twice(self) -> int:
        return self.x * int(helper("a"))

    @classmethod
    def parse(cls, text: str) -> "Point":
        return cls(int(text))

    @staticmethod
    def scale(k: int) -> int:
        return k * 3

    async def later(self) -> int:
        return self.x


def helper(key: str) -> Any:
    return RATES[key]


def of_constants(text: str) -> tuple[bool, str]:
    return bool(PATTERN.match(text)), str(CENT)


async def awaited(a: int) -> int:
    return a * int(helper("a"))


@logged
def decorated(a: int) -> int:
    return a + 1


@bare
def hidden(a: int) -> int:
    return a + 2


@lru_cache
def cached(a: int) -> int:
    return a + 3


def calls_cached(a: int) -> int:
    return cached(a)


def run(function: Any, name: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(program_of(function, name=name), namespace)
    return namespace


def test_coroutines_decorated_and_cached_functions() -> None:
    assert asyncio.run(run(awaited, "g")["g"](4)) == 8
    assert run(decorated, "g")["g"](4) == 5
    assert run(hidden, "hidden")["hidden"](4) == 6
    assert run(cached, "g")["g"](4) == 7
    assert run(calls_cached, "g")["g"](4) == 7


def test_constants_of_the_module() -> None:
    assert run(of_constants, "of_constants")["of_constants"]("aa") == (True, "0.01")


def test_methods_bring_their_class() -> None:
    assert [entry_point_of(f) for f in (Point.parse, Point.scale, Point.later, helper)] == [
        *("Point.parse", "Point.scale", "Point.later", "helper")
    ]
    made = run(Point.parse, "Point.parse")["Point"]
    assert made.parse("7").twice == 14
    assert run(Point.later, "Other.later")["Other"](3).x == 3


def test_what_has_no_source_is_refused() -> None:
    for function in (len, eval("lambda a: a")):
        with pytest.raises(BadStub, match="source is known"):
            _ = program_of(function, name="f")
