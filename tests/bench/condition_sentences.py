"""How docstrings that state conditions in many ways are read: `python -m tests.bench.condition_sentences`.

Each docstring of sentences/*.toml has inputs that it allows and inputs that it rules out. It is *read* where the
conditions found judge all of them so, *said* where one that is ruled out passes but a sentence is kept as unread,
*silent* where none is, and *wrong* where an input that is allowed is ruled out. One that states no condition is read
where nothing is kept as one, and *said* where a sentence is kept as unread. The files were written by people who knew
no rule; all have been looked at since.
"""

import ast
import math
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftrust.conditions.reading import Reading, read_docstring
from difftrust.conditions.shapes import shape_of

FOLDER = Path(__file__).with_name("sentences")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How one docstring is read."""

    entry: Mapping[str, Any]
    how: str
    reading: Reading
    ruled_out: int
    """Of the inputs that it rules out."""


def load_sentences(path: Path) -> list[dict[str, Any]]:
    """Read the docstrings of a file, each with a signature and inputs."""
    return list(tomllib.loads(path.read_text())["functions"])


def judge(entry: Mapping[str, Any]) -> Judged:
    """Say how one docstring is read."""
    (function,) = ast.parse(f"def f({entry['signature']}): ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args.args
    defaults = [*[None] * (len(arguments) - len(function.args.defaults)), *function.args.defaults]
    shapes = {a.arg: shape_of(a.annotation, d) for a, d in zip(arguments, defaults, strict=True)}
    reading = read_docstring(entry["docstring"], shapes)
    sure = reading.of("docstring", "raises")

    def passes(values: str) -> bool:
        given = dict(zip(shapes, ast.literal_eval(values), strict=True))
        return all(_holds(each.text, given) for each in sure)

    outside = entry.get("outside", ())
    passing = [values for values in outside if passes(values)]
    if not all(map(passes, entry["inside"])):
        how = "wrong"
    elif passing or not outside:
        how = "said" if reading.unread else "silent" if passing else "read"
    else:
        how = "read"
    return Judged(entry=entry, how=how, reading=reading, ruled_out=len(outside) - len(passing))


def _holds(condition: str, given: Mapping[str, Any]) -> bool:
    try:
        return bool(eval(condition, {"math": math, "re": re, **given}))  # the conditions are of our own files
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        return False


def row(judged: Sequence[Judged]) -> str:
    """Return what docs/check_bench.md says of a file today: inputs ruled out, docstrings whole, wrong, kept."""
    every = sum(len(each.entry.get("outside", ())) for each in judged)
    whole = sum(each.how == "read" for each in judged if "outside" in each.entry)
    wrong = sum(each.how == "wrong" for each in judged)
    kept = sum(each.how != "read" for each in judged if "outside" not in each.entry)
    return f"today | {sum(each.ruled_out for each in judged) / every:.0%} | {whole} | {wrong} | {kept} |".replace(
        "%", " %"
    )


def lines(path: Path) -> Iterator[str]:
    """Iterate over what is said of a file: counts, and each docstring that is not read."""
    judged = [judge(entry) for entry in load_sentences(path)]
    for title, is_stated in (("with conditions", True), ("without", False)):
        of = [each for each in judged if ("outside" in each.entry) is is_stated]
        counts = Counter(each.how for each in of)
        yield f"{path.stem}, {title}: {len(of)} docstrings: " + ", ".join(
            f"{n} {how}" for how, n in counts.most_common()
        )
    yield f"{path.stem}: {row(judged)}"
    for each in judged:
        if each.how != "read":
            yield f"{each.how:7} {each.entry['docstring']!r}: {[p.text for p in each.reading.predicates]}"


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:] or sorted(FOLDER.glob("*.toml"))):
        print(*lines(path), sep="\n")
