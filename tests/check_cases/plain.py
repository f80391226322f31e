"""Run a candidate of a case in this process, to try whether what a case says of it is true."""

import ast
import asyncio
import contextlib
import inspect
import io
import math
import random
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from tests.check_cases.case import Case

MAX_ITEMS = 1000


def namespace(case: Case, candidate: str) -> dict[str, Any]:
    """Return the names that a call of a candidate may use: the user's module with the candidate in it."""
    module = types.ModuleType(f"case_{case.name}_{candidate}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    names = module.__dict__
    names["asyncio"] = asyncio
    exec(case.module, names)
    owner, _, method = case.target.rpartition(".")
    whole = names.get(owner)
    exec(case.candidates[candidate], names)
    if owner and names[owner] is whole:
        old = vars(names[owner]).get(method)
        made, wrappers = names[method], (staticmethod, classmethod, property)
        bare = isinstance(old, wrappers) and not isinstance(made, wrappers)
        setattr(names[owner], method, type(old)(made) if bare else made)
    return names


def outcome(names: dict[str, Any], call: str) -> tuple[str, Any]:
    """Evaluate a call: how it ended, and its value and what it printed, or the exception's name."""
    printed = io.StringIO()
    tree = ast.parse(call, mode="eval")
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = plain(eval(compile(tree, "<call>", "eval"), names))
    except Exception as e:
        return "raises", type(e).__name__
    return "value", (value, printed.getvalue())


def plain(value: Any) -> Any:
    """Turn a value into plain data: objects by their fields, iterators by their items, arrays and frames by content."""
    if inspect.iscoroutine(value):
        return plain(asyncio.run(value))
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return ("array", value.dtype.kind, getattr(value, "shape", ()), plain(value.tolist()))
    if isinstance(value, Enum):
        return str(value)
    if type(value).__name__ == "DataFrame":
        return ("frame", list(value.columns), [plain(value[name].to_list()) for name in value.columns])
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, {f.name: plain(getattr(value, f.name)) for f in fields(value)})
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Iterator):
        return ["iterator", *(plain(item) for _, item in zip(range(MAX_ITEMS), value, strict=False))]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if type(value).__module__.startswith("case_") and hasattr(value, "__dict__"):
        return (type(value).__name__, plain(vars(value)))
    return value


def equal(one: Any, other: Any) -> bool:
    """Tell whether two plain values are equal: floats within 1e-9 relative, NaN equal to NaN."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return (one != one and other != other) or one == other or math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def draws(case: Case, n: int) -> list[str]:
    """Draw n calls inside the domain."""
    r = random.Random(case.name)
    return [eval(case.draw, {"r": r}) for _ in range(n)]


def falsehoods(case: Case, n: int) -> list[str]:
    """Return what is not as the case says, tried on n calls: a line each."""
    found = []
    if not case.candidates or frozenset(case.candidates) != frozenset().union(*case.same):
        found.append("same does not name every candidate")
    spaces = {name: namespace(case, name) for name in case.candidates}
    for call in draws(case, n):
        outcomes = {name: outcome(space, call) for name, space in spaces.items()}
        for first, second in case.pairs():
            if case.are_same(first, second) and not equal(outcomes[first], outcomes[second]):
                found.append(f"{first}, {second}: {call} gives {outcomes[first]} and {outcomes[second]}")
        if case.expected == "coherent" and all(how == "raises" for how, _ in outcomes.values()):
            found.append(f"all raise: {call}: {outcomes}")
    for first, second in case.pairs():
        if not case.are_same(first, second):
            call = case.differing_call(first, second)
            one, other = outcome(spaces[first], call), outcome(spaces[second], call)
            if equal(one, other):
                found.append(f"{first}, {second}: {call} gives {one} from both")
    if case.ruled_out:
        ends = [outcome(space, case.ruled_out) for space in spaces.values()]
        if all(equal(ends[0], other) for other in ends):
            found.append(f"nothing differs on the ruled-out call {case.ruled_out}: {ends[0]}")
    return found
