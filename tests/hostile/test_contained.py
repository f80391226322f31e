"""Every attack is contained: its outcomes, the programs after it, the world outside, and its time.

``DIFFTRUST_HOSTILE_ROUNDS=20 python -m pytest tests/hostile`` goes through all of them 20 times.
"""

import os
import threading

import pytest

from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Sandbox
from tests.hostile.attack import LIMITS, SECONDS
from tests.hostile.attacks import GROUPS
from tests.hostile.batch import ORDINARY, as_parameters, contained, n_processes, run_batch
from tests.hostile.conftest import EVERY_LAYER, NO_NAMESPACES
from tests.hostile.outside import Outside, family
from tests.support.needs import NO_BUBBLEWRAP
from tests.support.proc import peak_mb

ROUNDS = range(1, 1 + int(os.environ.get("DIFFTRUST_HOSTILE_ROUNDS", "1")))
MOST_MB = 400
"""No process of the harness may hold more: a reply of 256 MiB, which it shares with the child, and the interpreter."""


_ASKING = ["processes", "kernel", "files", "network", "mapping", "doors"]
WITHOUT_NAMESPACES = _ASKING if layers.bubblewrap() and len(ROUNDS) == 1 else [*GROUPS]
"""Groups to which namespaces make a difference; in many rounds, and where there are none, all of them."""


@pytest.mark.parametrize("repeat", ROUNDS)
@pytest.mark.parametrize("attack", as_parameters([*GROUPS]))
def test_contained(attack, repeat, sandbox, outside, undisturbed, record_property):
    hostile = contained(attack.source, sandbox, outside, undisturbed[EVERY_LAYER], ORDINARY)
    record_property("seconds", hostile.seconds)
    assert hostile.outcomes in attack.expected
    assert hostile.seconds < SECONDS


@pytest.mark.parametrize("repeat", ROUNDS)
@pytest.mark.parametrize("attack", as_parameters(WITHOUT_NAMESPACES))
def test_contained_without_namespaces(attack, repeat, sandbox_without_namespaces, outside, undisturbed):
    hostile = contained(attack.source, sandbox_without_namespaces, outside, undisturbed[NO_NAMESPACES], ORDINARY)
    assert hostile.outcomes in attack.expected
    assert hostile.seconds < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [attack.source for attack in GROUPS["forging"] if attack.name.startswith("the room full")]
)
def test_a_flood_of_outcomes_does_not_fill_the_zygote(source, sandbox, outside):
    peaks, done = [0.0], threading.Event()

    def watch():
        while not done.wait(0.002):
            peaks.append(max(map(peak_mb, family(sandbox.pid)[: n_processes(sandbox)])))  # without the candidate

    watcher = threading.Thread(target=watch)
    watcher.start()
    run_batch(sandbox, outside, (source,))
    done.set()
    watcher.join()
    assert 20 < max(peaks) < MOST_MB


@pytest.mark.parametrize("attack", [p for p in as_parameters([*GROUPS]) if p.values[0].bites])
def test_attacks_succeed_where_nothing_stops_them(attack, orphans_come_to_us):
    with Outside() as world, Sandbox(LIMITS, wanted=frozenset(), allow_weak=True) as open_door:
        ran, *_ = run_batch(open_door, world, (attack.source,))
        assert ran.outcomes not in attack.expected
        assert world.changes() or any(world.secret in text or "kept.txt" in text for _, text in ran.outcomes)


PROBES = """
import os, socket
def fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
def send(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hello', ('127.0.0.1', UDP))
def connect(family, address):
    with socket.socket(family) as s: s.connect(address)
def write():
    os.close(os.open(OUTSIDE + '/difftrust-hostile', os.O_CREAT | os.O_WRONLY))
def f(x, items):
    tries(
        write, send, lambda: connect(socket.AF_INET, ('127.0.0.1', TCP)), lambda: connect(socket.AF_UNIX, UNIX),
        lambda: connect(socket.AF_UNIX, b'\\0' + ABSTRACT.encode()),
    )
    acts = {'files': lambda: os.listdir(HOME), 'processes': fork, 'signals': lambda: os.kill(os.getppid(), 0)}
    return [word for word, act in acts.items() if tries(act) != ['refused']]
"""
SEEN_OUTSIDE = {
    "writing": {"kept/difftrust-hostile"},
    "TCP": {"TCP was reached"},
    "UDP": {"UDP was reached"},
    "local sockets": {"local socket was reached", "abstract socket was reached"},
}
"""What is left open, and where it shows."""
WEAKER = [
    ({"bubblewrap"}, {"files", "writing", "TCP", "UDP", "local sockets"}),
    ({"landlock"}, {"files", "writing", "TCP", "signals"}),
    ({"seccomp"}, {"writing", "TCP", "UDP", "local sockets", "processes", "signals"}),
    (set(), set()),
]


@pytest.mark.parametrize(("wanted", "shut"), WEAKER, ids=["bubblewrap", "landlock", "seccomp", "none"])
def test_what_weaker_layers_leave_open_is_what_is_said(wanted, shut, orphans_come_to_us):
    if "bubblewrap" in wanted and not layers.bubblewrap():
        pytest.skip(NO_BUBBLEWRAP)
    with Outside() as world, Sandbox(LIMITS, wanted=frozenset(wanted), allow_weak=True) as weak:
        assert weak.active == {"rlimits", *wanted}
        said = set(weak.still_open)
        (ran,) = run_batch(weak, world, (PROBES,))
        ((kind, text),) = set(ran.outcomes)
        found = {word for word, signs in SEEN_OUTSIDE.items() if signs & {*world.changes()}}
    assert kind == Kind.VALUE
    assert found | {*read_literal(text)} == said
    assert not shut & said
