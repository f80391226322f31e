"""Changes are found on small inputs, refactorings are not flagged; the whole list is the slow test."""

from pathlib import Path

import pytest

from tests.support.versions.pairs import CHANGED, REFACTORED, VersionPair, compared

QUICK = {"boundary", "formatted"}
PAIRS = (*CHANGED, *REFACTORED)


def name_of(pair: VersionPair) -> str:
    return f"{pair.name}-{'changed' if pair.changes else 'refactored'}"


@pytest.mark.quick(2)
@pytest.mark.parametrize("pair", sorted(PAIRS, key=lambda pair: pair.name not in QUICK), ids=name_of)
def test_a_change_is_found_on_a_small_input_and_a_refactoring_is_none(pair: VersionPair, tmp_path: Path) -> None:
    report = compared(pair, tmp_path)
    assert report.verdict == ("changed" if pair.changes else "unchanged"), report.statement
    assert not report.undecided
    assert (report.n_differing >= 1, len(report.changes) >= 1) == (pair.changes, pair.changes)
    assert not pair.changes or report.changes[0].n_nodes <= 5
