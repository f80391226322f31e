"""How many planted faults a check of n = 1,000 inputs finds, by kind."""

import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.bench.check import Check
from tests.bench.commands import run_check
from tests.check_cases.planted import PLANTED, Planted


def found(planted: Planted, options: Sequence[str] = (), check: Check = run_check) -> bool:
    """Tell whether a check sees that the two programs differ."""
    with tempfile.TemporaryDirectory() as folder:
        where, programs = planted.write(Path(folder) / "case")
        checked = check(where, programs, ["-n", "1000", *options], Path(folder))
    return checked.verdict in ("incoherent", "disagreement found")


def find_planted(every: int = 1, jobs: int = 1) -> list[str]:
    """Return a line for each kind, with the share found, and one for each that was missed."""
    chosen = PLANTED[::every]
    hits: dict[Planted, bool] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for i, (planted, hit) in enumerate(zip(chosen, pool.map(found, chosen), strict=True), 1):
            hits[planted] = hit
            print(f"\r{i} of {len(chosen)}: {planted.condition:<60.60}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    lines = []
    for kind in (*dict.fromkeys(planted.kind for planted in chosen), "all"):
        of_kind = [hit for planted, hit in hits.items() if kind in ("all", planted.kind)]
        lines.append(f"{kind:<20} found {sum(of_kind):>2} of {len(of_kind):>2}: {sum(of_kind) / len(of_kind):.2f}")
    missed = [planted for planted, hit in hits.items() if not hit]
    return lines + [f"missed ({each.kind}): f({each.parameters}), if {each.condition}" for each in missed]
