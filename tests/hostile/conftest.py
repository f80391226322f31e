"""Sandboxes that live through many attacks, and the outside world they are to leave alone."""

import os
from collections.abc import Iterator

import pytest

from difftrust_core.base.records import Kind
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.runner import Runner
from tests.hostile.attack import LIMITS
from tests.hostile.batch import ORDINARY, Ran, run_batch
from tests.hostile.outside import Outside, family, open_files
from tests.support.needs import NO_BUBBLEWRAP
from tests.support.proc import adopt_orphans, end

EVERY_LAYER = frozenset({"bubblewrap", "landlock", "seccomp"})
NO_NAMESPACES = frozenset({"landlock", "seccomp"})


@pytest.fixture(scope="package")
def orphans_come_to_us() -> Iterator[None]:
    """Make this process the parent of whatever a sandbox leaves behind, so that it is seen."""
    adopt_orphans()
    before, held = {*family(os.getpid())}, open_files()
    yield
    assert {*family(os.getpid())} <= before
    assert len(open_files()) <= len(held)
    adopt_orphans(False)


@pytest.fixture(scope="package")
def outside(orphans_come_to_us: None) -> Iterator[Outside]:
    """Return the world that every attack of this process aims at."""
    with Outside() as world:
        yield world


def started(wanted: frozenset[str], limits: Limits = LIMITS, runner: Runner = layers.PYTHON) -> Iterator[Sandbox]:
    """Yield a sandbox that leaves nothing open, and after it see that nothing of it is left."""
    with Sandbox(limits, wanted=wanted, runner=runner) as sandbox:
        assert sandbox.active == wanted | {"rlimits"}
        assert sandbox.still_open == ()
        yield sandbox
        below = family(sandbox.pid)
    assert end(below)


@pytest.fixture(scope="package")
def sandbox(outside: Outside) -> Iterator[Sandbox]:
    """Return a sandbox with every layer, which is to live through all attacks."""
    if not layers.bubblewrap():
        pytest.skip(NO_BUBBLEWRAP)
    yield from started(EVERY_LAYER)


@pytest.fixture(scope="package")
def sandbox_without_namespaces(outside: Outside) -> Iterator[Sandbox]:
    """Return a sandbox with the kernel's filters only."""
    yield from started(NO_NAMESPACES)


@pytest.fixture(scope="package")
def undisturbed(outside: Outside) -> dict[frozenset[str], list[Ran]]:
    """Return, for each set of layers, what the ordinary programs come to where no attack runs among them."""
    found = {}
    for wanted in (EVERY_LAYER, NO_NAMESPACES):
        with Sandbox(LIMITS, wanted=wanted) as fresh:
            found[wanted] = run_batch(fresh, outside, ORDINARY)
        assert not any(ran.run.nondeterministic for ran in found[wanted])
        before, varied, surroundings = ({kind for kind, _ in ran.outcomes} for ran in found[wanted])
        assert before == surroundings == {Kind.VALUE}
        assert varied == {Kind.VALUE, Kind.EXCEPTION, Kind.CRASH, Kind.UNSUPPORTED}
    return found
