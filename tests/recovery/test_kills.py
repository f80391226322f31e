"""Kills at random moments, drawn from a seed: each store ends as if nothing had happened, and no process is left.

DIFFTRUST_KILLS says how many (`make test-recovery`: 200); by default a few of each kind.
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.recovery.kills import KINDS, MOUNTS, World, disturb
from tests.recovery.world import may_mount

KILLS = int(os.environ.get("DIFFTRUST_KILLS", len(KINDS)))
FIRST = int(os.environ.get("DIFFTRUST_KILLS_FROM", 0))
POSSIBLE = [kind for kind in KINDS if kind not in MOUNTS or may_mount()]
"""Mounting what nobody else sees needs root, unshare and nsenter."""
DRAWN = [(number, POSSIBLE[number % len(POSSIBLE)]) for number in range(FIRST, FIRST + KILLS)]
counted: Counter[str] = Counter()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World.make(tmp_path_factory.mktemp("recovery"))
    yield made
    made.close()
    print(f"\n{sum(counted.values())} disturbances, each hit a run: {dict(counted)}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "kind"),
    [
        pytest.param(number, kind, id=f"{number}: {kind}", marks=() if number == 0 else pytest.mark.slow)
        for number, kind in DRAWN
    ],
)
def test_the_next_run_ends_with_the_same_bytes(world: World, number: int, kind: str) -> None:
    result = disturb(world, kind, number)
    assert result.differs == [], result.said
    assert result.n_left == 0
    assert result.hit
    counted[kind] += 1
