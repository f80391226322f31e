"""One attack amid ordinary programs: what all four came to, and what it cost."""

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import OutcomeTable, ProgramRun, Sandbox
from tests.hostile.attack import INPUTS, Outcomes
from tests.hostile.attacks import GROUPS
from tests.hostile.outside import Outside, open_files, settled
from tests.support.proc import parent

BEFORE = """
KEPT = 'the reference' + '-answer'
def f(x, items):
    return KEPT + str(x), 'the reference-answer'
"""
VARIED = """
import os
class Own:
    def __init__(self, x): self.x, self.more = x, {x: [x]}
def f(x, items):
    items.append(x)
    items[1].append({x, 'a', None})
    if x == 5: os._exit(x)
    if x == 3: raise KeyError
    return (items, Own(x), (k for k in range(x)), 1 / (x - 4), lambda: 0)[:4 if x != 6 else 5]
"""
SURROUNDINGS = """
import builtins, decimal, gc, locale, os, random, resource, signal, sys, threading, time, warnings
def depth(k=0):
    try: return depth(k + 1)
    except RecursionError: return k
def f(x, items):
    return (
        x, items, random.random(), decimal.getcontext().prec, locale.setlocale(locale.LC_ALL), time.tzname,
        sys.getrecursionlimit(), depth(), hash('a'), list({'a', 'b', 'c'}), sys.getswitchinterval(),
        sys.gettrace(), sys.getprofile(),
        [str(signal.getsignal(s)) for s in sorted(signal.valid_signals())], sorted(sys.modules), len(vars(builtins)),
        len(sys.meta_path), gc.isenabled(), gc.get_threshold(), dict(os.environ), sorted(os.sched_getaffinity(0)),
        len(warnings.filters), sys.flags.hash_randomization, os.getcwd(), sys.path, threading.active_count(), 1 / 3,
        '%.3f' % x, [str(k) for k in range(3)], len('abc'), eval('2 + 1'), type(int).__name__,
    )
"""
ORDINARY = (BEFORE, VARIED, SURROUNDINGS)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a program came to."""

    outcomes: Outcomes
    run: ProgramRun
    seconds: float

    def seen(self) -> tuple[object, ...]:
        """Return all of it that must not depend on what ran before."""
        return self.outcomes, self.run.restarts, self.run.trimmed, self.run.nondeterministic


def run_batch(
    sandbox: Sandbox,
    outside: Outside,
    sources: Sequence[str],
    *,
    inputs: Sequence[str] = INPUTS,
    entry_point: str = "f",
) -> list[Ran]:
    """Run the programs one after the other on the same inputs."""
    table, found = OutcomeTable.empty(len(inputs)), []
    sandbox.load(outside.preamble(), inputs, table)
    for source in sources:
        began = time.monotonic()
        run = sandbox.run(source, entry_point)
        seconds = time.monotonic() - began
        outcomes = tuple(row[k] for row, k in zip(table.rows, run.outcome_ids.tolist(), strict=True))
        found.append(Ran(outcomes=outcomes, run=run, seconds=seconds))
    return found


def n_processes(sandbox: Sandbox) -> int:
    """Return how many processes wait for a program: (unshare, bubblewrap,) zygote, task."""
    behind = ("--kill-child" in layers.bubblewrap()) + 1 if "bubblewrap" in sandbox.active else 0
    return behind + 2


def contained(
    source: str, sandbox: Sandbox, outside: Outside, undisturbed: Sequence[Ran], amid: Sequence[str], **options: Any
) -> Ran:
    """Run an attack after the first of the ordinary programs ``amid``; check everything but its own outcomes.

    ``options``: of ``run_batch``.
    """
    held, zygote, size = open_files(), sandbox.pid, n_processes(sandbox)
    sandbox.load("", options.get("inputs", INPUTS), OutcomeTable.empty(len(INPUTS)))
    below, others = settled(zygote, size)
    before, hostile, *after = run_batch(sandbox, outside, (amid[0], source, *amid[1:]), **options)
    assert [ran.seen() for ran in (before, *after)] == [ran.seen() for ran in undisturbed]
    assert outside.changes() == []
    assert not any(outside.secret in text for _, text in hostile.outcomes)
    assert sandbox.pid == zygote, "the zygote was replaced"
    still, others_still = settled(zygote, size)
    assert still[:-1] == below[:-1]
    ours = [pid for pid in others_still - others if parent(pid) not in {0, *others} - {os.getpid()}]
    assert not ours  # those of tests before this one may come to their end, and start others
    assert open_files() <= held
    assert hostile.run.cpu < sandbox.limits.program_cpu + sandbox.limits.load_cpu
    return hostile


def as_parameters(groups: Iterable[str]) -> list[ParameterSet]:
    """Return the attacks of these groups, all but the first of each group slow."""
    return [
        pytest.param(attack, id=f"{group}-{attack.name}", marks=pytest.mark.slow if number else ())
        for group in groups
        for number, attack in enumerate(GROUPS[group])
    ]
