"""How docstrings that state conditions in many ways are read: `python -m tests.bench.condition_sentences`.

Each docstring of condition_sentences.toml has inputs that it allows and inputs that it rules out. It is *read* where
the conditions found judge all of them so, *said* where one that is ruled out passes but a sentence is kept as unread,
*silent* where none is, and *wrong* where an input that is allowed is ruled out or a sentence without a condition is
kept as one.
"""

import ast
import math
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from difftrust.conditions.reading import Reading, read_docstring
from difftrust.conditions.shapes import shape_of

SENTENCES = Path(__file__).with_suffix(".toml")


def judge(entry: Mapping[str, Any]) -> tuple[str, Reading]:
    """Say how one docstring is read, and what was read."""
    (function,) = ast.parse(f"def f({entry['signature']}): ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args.args
    defaults = [*[None] * (len(arguments) - len(function.args.defaults)), *function.args.defaults]
    shapes = {a.arg: shape_of(a.annotation, d) for a, d in zip(arguments, defaults, strict=True)}
    reading = read_docstring(entry["docstring"], shapes)

    def passes(values: str) -> bool:
        given = dict(zip(shapes, ast.literal_eval(values), strict=False))
        return all(_holds(each.text, given) for each in reading.of("docstring"))

    outside = entry.get("outside", ())
    if not all(map(passes, entry["inside"])) or (reading.unread and not outside):
        return "wrong", reading
    if not any(map(passes, outside)):
        return "read", reading
    return "said" if reading.unread else "silent", reading


def _holds(condition: str, given: Mapping[str, Any]) -> bool:
    try:
        return bool(eval(condition, {"math": math, "re": re, **given}))  # the conditions are of our own file
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        return True


if __name__ == "__main__":
    entries = tomllib.loads(Path(*sys.argv[1:2] or [SENTENCES]).read_text())["functions"]
    judged = [(entry, *judge(entry)) for entry in entries]
    for title, is_stated in (("with conditions", True), ("without", False)):
        counts = Counter(how for entry, how, _ in judged if ("outside" in entry) is is_stated)
        print(f"{title}: {counts.total()} docstrings: {', '.join(f'{n} {how}' for how, n in counts.most_common())}")
    for entry, how, reading in judged:
        if how != "read":
            print(f"{how:7} {entry['docstring']!r}: {[each.text for each in reading.predicates]}")
