"""Sandboxes that live through many attacks, and the outside world they are to leave alone."""

import os
from collections.abc import Iterator

import pytest

from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Sandbox
from tests.hostile.attack import LIMITS
from tests.hostile.batch import ORDINARY, Ran, run_batch
from tests.hostile.outside import Outside, descriptors, family
from tests.support.needs import NO_BUBBLEWRAP
from tests.support.proc import adopt_orphans, end

EVERY_LAYER = frozenset({"bubblewrap", "landlock", "seccomp"})
NO_NAMESPACES = frozenset({"landlock", "seccomp"})


@pytest.fixture(scope="package")
def orphans_come_to_us() -> Iterator[None]:
    """Make this process the parent of whatever a sandbox leaves behind, so that it is seen."""
    adopt_orphans()
    before, held = {*family(os.getpid())}, descriptors()
    yield
    assert not {*family(os.getpid())} - before
    assert descriptors() <= held
    adopt_orphans(False)


@pytest.fixture(scope="package")
def outside(orphans_come_to_us: None) -> Iterator[Outside]:
    """Return the world that every attack of this process aims at."""
    with Outside() as world:
        yield world


def _started(wanted: frozenset[str]) -> Iterator[Sandbox]:
    with Sandbox(LIMITS, wanted=wanted) as sandbox:
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
    yield from _started(EVERY_LAYER)


@pytest.fixture(scope="package")
def sandbox_without_namespaces(outside: Outside) -> Iterator[Sandbox]:
    """Return a sandbox with the kernel's filters only."""
    yield from _started(NO_NAMESPACES)


@pytest.fixture(scope="package")
def undisturbed(outside: Outside) -> dict[frozenset[str], list[Ran]]:
    """Return, for each set of layers, what the ordinary programs come to where no attack runs among them."""
    found = {}
    for wanted in (EVERY_LAYER, NO_NAMESPACES):
        with Sandbox(LIMITS, wanted=wanted) as fresh:
            found[wanted] = run_batch(fresh, outside, ORDINARY)
    return found
