"""Compare all pairs and print what was found: ``python -m tests.support.versions.measure``."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from difftrust_core.checks.versions.diff import DiffReport, diff, load_version
from tests.support.versions.pairs import CHANGED, REFACTORED, VersionPair


def compared(pair: VersionPair, folder: Path) -> DiffReport:
    """Write both versions of a pair into files and compare them."""
    places = []
    for which, text in (("old", pair.old), ("new", pair.new)):
        path = folder / pair.name / f"{which}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        places.append(load_version(f"{path}::{pair.entry_point}"))
    return diff(places[0], places[1])


def main() -> int:
    """Print a line a pair and a summary; 1 if a change was missed, shown on a large input, or wrongly flagged."""
    seconds: list[float] = []
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        for pair in (*CHANGED, *REFACTORED):
            began = time.perf_counter()
            report = compared(pair, Path(scratch))
            seconds.append(time.perf_counter() - began)
            nodes = report.changes[0].n_nodes if report.changes else 0
            right = report.verdict == ("changed" if pair.changes else "unchanged") and nodes <= 5
            faults += not right
            shown = (
                f"{report.changes[0].arguments} {report.changes[0].outcomes}" if report.changes else report.statement
            )
            print(f"{'ok   ' if right else 'FAULT'} {pair.name:22} {report.verdict:10} {nodes} nodes  {shown[:120]}")
    print(
        f"{len(CHANGED)} changes, {len(REFACTORED)} refactorings: {faults} wrong; "
        f"median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s"
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
