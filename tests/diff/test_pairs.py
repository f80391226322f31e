"""Changes are found on small inputs, refactorings are not flagged; the whole list is the slow test."""

from pathlib import Path

import pytest

from tests.support.versions.pairs import CHANGED, REFACTORED, VersionPair, compared

QUICK = {"boundary", "exception", "mutates", "warns", "keyword", "own_class", "stream", "formatted", "generator"}
PAIRS = (*CHANGED, *REFACTORED)


def name_of(pair: VersionPair) -> str:
    return f"{pair.name}-{'changed' if pair.changes else 'refactored'}"


def is_right(pair: VersionPair, folder: Path) -> None:
    report = compared(pair, folder)
    assert report.verdict == ("changed" if pair.changes else "unchanged"), report.statement
    assert not report.undecided
    if pair.changes:
        assert report.changes[0].n_nodes <= 5
        assert report.n_differing >= 1
    else:
        assert report.n_differing == 0
        assert report.changes == ()


def test_there_are_thirty_pairs() -> None:
    assert len(CHANGED) >= 20
    assert len(REFACTORED) >= 10
    assert len({name_of(pair) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.quick(4)
@pytest.mark.parametrize("pair", [p for p in PAIRS if p.name in QUICK], ids=name_of)
def test_pair(pair: VersionPair, tmp_path: Path) -> None:
    is_right(pair, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [p for p in PAIRS if p.name not in QUICK], ids=name_of)
def test_other_pair(pair: VersionPair, tmp_path: Path) -> None:
    is_right(pair, tmp_path)
