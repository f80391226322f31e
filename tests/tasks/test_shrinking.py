"""Shrinking all pairs of a task together: minimal, valid, of the same kinds, and unharmed by what programs do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from difftrust.tasks import shrinking
from difftrust.tasks.shrinking import RIGHT, Pair, Shrinking, Smallest
from difftrust.tasks.smallest_inputs import Places
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Domain, Relation, Task
from difftrust_core.execution.answers import Checker
from difftrust_core.metrics.equality import Equality
from difftrust_core.sandbox.host import Limits, Sandbox
from tests.support.tasks import small_task

REFERENCE = "def total(items):\n    if not items:\n        raise ValueError\n    return sum(items)\n"
TASK = small_task("total", "(items: list[int]) -> int", seed_inputs=("([1, 2, 3],)",), reference=REFERENCE)
SKIPS_FIRST = "def total(items):\n    if not items:\n        raise ValueError\n    return sum(items[1:])\n"
ZERO = "def total(items):\n    return sum(items)\n"
BEYOND_NINE = "def total(items):\n    return sum(items) if sum(items) < 10 else -1\n"
LONG = "([17, 250, 3, 0, 90, 4],)"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Return a sandbox for all tests here."""
    with Sandbox(Limits()) as started:
        yield started


def shrunk(
    sandbox: Sandbox,
    codes: Mapping[int, str],
    pairs: Sequence[tuple[int, int]],
    inputs: Sequence[str] = (LONG,),
    *,
    task: Task = TASK,
    validity: str = "reference",
    checker: Checker | None = None,
) -> dict[tuple[int, int], Smallest]:
    work = Shrinking(
        task, codes, sandbox, validity=validity, equality=Equality.PAPER, checker=checker, places=Places(task, sandbox)
    )
    starts = tuple(range(len(inputs)))
    found = work.smallest([Pair(first=one, second=other, starts=starts) for one, other in pairs], list(inputs))
    return {(one.pair.first, one.pair.second): one for one in found}


def test_each_pair_ends_on_its_own_smallest_input(sandbox: Sandbox) -> None:
    found = shrunk(sandbox, {0: SKIPS_FIRST, 1: BEYOND_NINE}, [(0, RIGHT), (1, RIGHT), (0, 1)])
    assert {pair: one.arguments for pair, one in found.items()} == {
        (0, RIGHT): "([1],)",
        (1, RIGHT): "([10],)",
        (0, 1): "([1],)",
    }
    assert all(one.is_smallest for one in found.values())
    assert found[0, RIGHT].outcomes == ((Kind.VALUE, "0"), (Kind.VALUE, "1"))
    assert found[1, RIGHT].outcomes == ((Kind.VALUE, "-1"), (Kind.VALUE, "10"))


def test_an_input_stays_valid_by_the_policy(sandbox: Sandbox) -> None:
    # On [] the reference raises: under `reference` that is no input, under `all` it is the smallest.
    codes = {0: "def total(items):\n    return len(items)\n", 1: "def total(items):\n    return len(items) + 1\n"}
    assert shrunk(sandbox, codes, [(0, 1)])[0, 1].arguments == "([0],)"
    assert shrunk(sandbox, codes, [(0, 1)], validity="all")[0, 1].arguments == "([],)"


def test_inside_a_domain_it_stays_inside(sandbox: Sandbox) -> None:
    domain = Domain(types="items: list[int]", requires="len(items) >= 2 and all(v > 2 for v in items)")
    task = replace(TASK, domain=domain, seed_inputs=("([3, 3],)",))
    found = shrunk(sandbox, {0: SKIPS_FIRST}, [(0, RIGHT)], ["([17, 250, 30, 90, 4],)"], task=task, validity="domain")
    assert (found[0, RIGHT].arguments, found[0, RIGHT].is_smallest) == ("([3, 3],)", True)


def test_the_kinds_of_outcome_stay_as_they_were(sandbox: Sandbox) -> None:
    # On [] the two differ as well, by an exception; what was seen was two values.
    either = "def total(items):\n    return items[0] if len(items) < 3 else sum(items)\n"
    found = shrunk(sandbox, {0: ZERO, 1: either}, [(0, 1)], ["([5, 3],)"], validity="all")
    assert found[0, 1].outcomes[0][0] == Kind.VALUE
    assert found[0, 1].outcomes[1][0] == Kind.VALUE
    assert found[0, 1].arguments == "([0, 1],)"


def test_a_pair_that_does_not_differ_is_left_out(sandbox: Sandbox) -> None:
    assert shrunk(sandbox, {0: ZERO, 1: ZERO + "\n"}, [(0, 1)]) == {}


LEAVES = "import os\ndef total(items):\n    if len(items) > 1: os._exit(0)\n    return 5\n"
HANGS = "def total(items):\n    while len(items) > 2: pass\n    return sum(items)\n"


@pytest.mark.parametrize("hostile", [HANGS, LEAVES], ids=["hangs", "leaves"])
def test_a_program_that_hangs_or_leaves_takes_nothing_along(hostile: str, sandbox: Sandbox) -> None:
    found = shrunk(sandbox, {0: hostile, 1: SKIPS_FIRST}, [(0, RIGHT), (1, RIGHT)])
    assert found[1, RIGHT].arguments == "([1],)"
    if hostile == HANGS:
        assert (found[0, RIGHT].arguments, found[0, RIGHT].is_smallest) == (LONG, False)
    else:
        assert found[0, RIGHT].outcomes[0][0] in (Kind.CRASH, Kind.VALUE)


def test_a_program_of_chance_is_not_called_smallest(sandbox: Sandbox) -> None:
    # It differs at most calls; what is found is run again, and what does not differ then is left out or goes back.
    chance = "import os\ndef total(items):\n    return sum(items) + os.urandom(1)[0] % 2\n"
    found = shrunk(sandbox, {0: chance, 1: SKIPS_FIRST}, [(0, RIGHT), (1, RIGHT)], [LONG, "([5, 5],)", "([7],)"])
    assert found[1, RIGHT].arguments == "([1],)"
    if (0, RIGHT) in found:
        one, other = found[0, RIGHT].outcomes
        assert one != other


def test_a_checker_says_what_is_right(sandbox: Sandbox) -> None:
    relation = Relation(accept="def accept(arguments, output):\n    return output in (sum(arguments[0]), 0)\n")
    task = replace(TASK, relation=relation, reference=None)
    with Sandbox(Limits()) as other:
        codes = {0: BEYOND_NINE, 1: SKIPS_FIRST}
        found = shrunk(
            sandbox, codes, [(0, RIGHT), (1, RIGHT)], task=task, validity="all", checker=Checker(task, other)
        )
    assert found[0, RIGHT].arguments == "([10],)"
    assert found[0, RIGHT].outcomes == ((Kind.VALUE, "-1"), None)
    assert found[1, RIGHT].arguments == "([1, 1],)"  # on one item it returns 0, which is accepted


def test_the_budget_ends_it(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinking, "MAX_CALLS", 1)
    found = shrunk(sandbox, {0: SKIPS_FIRST}, [(0, RIGHT)])
    assert (found[0, RIGHT].arguments, found[0, RIGHT].is_smallest) == (LONG, False)


def test_places_tell_types_from_conditions(sandbox: Sandbox) -> None:
    task = replace(TASK, domain=Domain(types="items: list[int]", requires="len(items) < 3"))
    inputs = ["([1],)", "([1, 2, 3],)", "(['a'],)", "('abc',)"]
    assert Places(task, sandbox).of(inputs) == ["domain", "outside", "types", "types"]
    assert Places(TASK, sandbox).of(inputs) == [None] * 4
    raises = replace(TASK, domain=Domain(types="items: list[int]", requires="items[0] > 0"))
    assert Places(raises, sandbox).of(["([],)", "([1],)"]) == ["outside", "domain"]
