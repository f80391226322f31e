"""One attack amid ordinary programs: what all four came to, and what it cost."""

import time
from dataclasses import dataclass

from difftrust_core.sandbox.host import ProgramRun, Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable
from tests.hostile.attack import INPUTS, Outcomes
from tests.hostile.outside import Outside

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


def run_batch(sandbox: Sandbox, outside: Outside, sources: tuple[str, ...]) -> list[Ran]:
    """Run the programs one after the other on the same inputs."""
    table, runs = OutcomeTable.empty(len(INPUTS)), []
    sandbox.load(outside.preamble(), INPUTS, table)
    for source in sources:
        began = time.monotonic()
        run = sandbox.run(source, "f")
        runs.append((run, time.monotonic() - began))
    return [
        Ran(
            outcomes=tuple(row[k] for row, k in zip(table.rows, run.outcome_ids, strict=True)),
            run=run,
            seconds=seconds,
        )
        for run, seconds in runs
    ]
