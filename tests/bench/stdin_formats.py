"""How well mutated texts fit their formats: `python -m tests.bench.stdin_formats`.

For each format and for several sets of examples: which share of 500 drawn texts its validator accepts, which share is
distinct, and which share of the planted faults shows on the accepted ones.
"""

import argparse
import statistics
import time
from dataclasses import dataclass

from difftrust.contests.mutate_texts import draw_text
from difftrust_core.languages.language import key_of
from tests.contests.formats import FORMATS, Format


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One format, over several sets of examples."""

    accepted: float
    distinct: float
    found: float
    microseconds: float


def measure(one: Format, *, n: int = 500, sets: int = 5, n_examples: int = 3) -> Measured:
    """Return the shares, each a mean over the sets of examples."""
    accepted, distinct, found, spent = [], [], [], 0.0
    for seed in range(sets):
        examples = one.examples(seed, n_examples)
        began = time.perf_counter()
        keys = [key_of(one.name, seed=seed, position=i, attempt=0) for i in range(n)]
        drawn = [draw_text(examples, key) for key in keys]
        spent += time.perf_counter() - began
        valid = [text for text in drawn if one.allows(text)]
        accepted.append(len(valid) / n)
        distinct.append(len({*drawn}) / n)
        right, *wrong = zip(*map(one.answers, valid), strict=True)
        found += [said != right for said in wrong]
    return Measured(
        accepted=statistics.mean(accepted),
        distinct=statistics.mean(distinct),
        found=statistics.mean(found),
        microseconds=1e6 * spent / (n * sets),
    )


def main() -> None:
    """Print a line a format, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, nargs="+", default=[1, 2, 3, 5])
    parser.add_argument("-n", type=int, default=500)
    asked = parser.parse_args()
    for n_examples in asked.examples:
        print(f"\n{n_examples} examples          accepted  distinct  faults found  us a draw")
        of_formats = {one.name: measure(one, n=asked.n, n_examples=n_examples) for one in FORMATS}
        for name, m in of_formats.items():
            print(f"{name:26s} {m.accepted:8.1%} {m.distinct:9.1%} {m.found:13.1%} {m.microseconds:10.0f}")
        for what in ("accepted", "distinct", "found"):
            values = [getattr(m, what) for m in of_formats.values()]
            print(f"{what}: median {statistics.median(values):.1%}, mean {statistics.mean(values):.1%}")


if __name__ == "__main__":
    main()
