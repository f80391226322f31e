"""How many planted faults a check of n = 1,000 inputs finds, by kind."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.commands import run_check
from tests.check_cases.planted import PLANTED, Planted


def found(planted: Planted, options: Sequence[str] = ()) -> bool:
    """Tell whether a check sees that the two programs differ."""
    with tempfile.TemporaryDirectory() as folder:
        where, programs = planted.write(Path(folder) / "case")
        checked = run_check(where, programs, ["-n", "1000", *options], cwd=Path(folder))
    return checked.verdict in ("incoherent", "disagreement found")


def find_planted(every: int = 1) -> None:
    """Print the share found of each kind, and what was missed."""
    chosen = PLANTED[::every]
    answers = {}
    for i, planted in enumerate(chosen, 1):
        print(f"\r{i} of {len(chosen)}: {planted.condition:<60.60}", end="", file=sys.stderr, flush=True)
        answers[planted] = found(planted)
    print(file=sys.stderr)
    for kind in (*dict.fromkeys(planted.kind for planted in chosen), "all"):
        hits = [hit for planted, hit in answers.items() if kind in ("all", planted.kind)]
        print(f"{kind:<20} found {sum(hits)} of {len(hits)}: {sum(hits) / len(hits):.2f}")
    for planted, hit in answers.items():
        if not hit:
            print(f"missed ({planted.kind}): f({planted.parameters}), if {planted.condition}")
