"""The sandbox itself, with every layer it has: what programs do, what they cannot do, and what they leave behind."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WeakSandbox
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Limits, OutcomeTable, Sandbox
from difftrust_core.sandbox.layers import describe_layers
from tests.support.proc import below, cpu_seconds, end

LIMITS = Limits(
    memory_bytes=256 << 20,
    call_cpu=0.1,
    repeat_cpu=0.05,
    call_wall=3.0,
    load_cpu=0.3,
    program_cpu=3.0,
    program_wall=90.0,
    max_timeouts=3,
    max_crashes=4,
)
N = 20
INPUTS = [f"({i},)" for i in range(N)]


@pytest.fixture(scope="module")
def sandbox():
    os.environ["DIFFTRUST_PLANTED"] = "secret"
    with Sandbox(LIMITS) as started:
        yield started
    del os.environ["DIFFTRUST_PLANTED"]


def run(sandbox, source, inputs=INPUTS, *, preamble="", entry_point="f"):
    """Return the outcomes, one an input, and the run's facts."""
    return sandbox.outcomes(preamble, inputs, source, entry_point)


def test_a_program_has_a_gibibyte_unless_told():
    with Sandbox(Limits(call_cpu=5.0)) as started:
        found, _ = run(started, "def f(n):\n    return len(bytearray(n << 20))\n", ["(700,)", "(1500,)"])
    assert found == [(Kind.VALUE, str(700 << 20)), (Kind.MEMORY, "")]


def values(*texts):
    return [(Kind.VALUE, text) for text in texts]


def one(sandbox, body, *, preamble=""):
    """Return the outcome of a function of one argument called on 0."""
    (outcome,), _ = run(sandbox, "def f(x):\n " + body.replace("\n", "\n "), ["(0,)"], preamble=preamble)
    return outcome


SQUARES = values(*[str(i * i) for i in range(N)])


def test_values_in_the_order_of_the_inputs(sandbox):
    assert describe_layers(sandbox.active, ()).endswith("files, network, processes and signals are shut")
    outcomes, ran = run(sandbox, "def f(x): return x * x")
    assert outcomes == SQUARES
    assert (ran.restarts, ran.trimmed, ran.nondeterministic) == (0, False, False)
    assert ran.outcome_ids.typecode == "H"


KINDS = {
    Kind.VALUE: {
        "return {'b': (x, -0.0), 'a': {2, 1}}": "{'a': {1, 2}, 'b': (0, 0.0)}",
        "yield 1\nyield [x]": "iterator([1, [0]])",
    },
    Kind.EXCEPTION: {
        "return 1 / x": "ZeroDivisionError",
        "class Own(Exception): pass\nraise Own": "Own",
        "raise SystemExit": "SystemExit",
        "return f(x)": "RecursionError",
        "input()": "EOFError",
        "yield 1\nraise KeyError": "KeyError",
    },
    Kind.UNSUPPORTED: {"return f": "function", "while True: yield 1": "an iterator of too many items"},
    Kind.MEMORY: {"return [0] * 10**9": ""},
    Kind.CRASH: {
        "import os\nos._exit(3)": "exit",
        "import ctypes\nctypes.string_at(0)": "SIGSEGV",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nwhile True: pass": "SIGALRM",
    },
    Kind.TIMEOUT: {
        "while True: pass": "",
        "while True:\n try:\n  while True: pass\n except: pass": "",
        "import itertools\nreturn len(set(map(len, itertools.product(range(99), repeat=9))))": "",
        "import time\ntime.sleep(99)": "",
    },
}
"""What the body of a function comes to: kind -> body -> text."""


@pytest.mark.parametrize(("kind", "body"), [(kind, body) for kind in KINDS for body in KINDS[kind]])
def test_kinds_of_outcomes(sandbox, kind, body):
    assert one(sandbox, body) == (kind, KINDS[kind][body])


def test_abort_is_a_crash(sandbox):
    kind, text = one(sandbox, "import os\nos.abort()")
    assert kind == Kind.CRASH
    assert text in ("SIGABRT", "SIGSEGV")  # the filter refuses the signal, and abort(3) then halts the processor


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def f(x) return x", "SyntaxError"),
        ("def f(x):\nreturn x", "IndentationError"),
        ("def g(x): return x", "NameMissing"),
        ("f = 1", "NameMissing"),
        ("", "NameMissing"),
        ("import nothing_like_it\ndef f(x): return x", "ModuleNotFoundError"),
        ("undefined\ndef f(x): return x", "NameError"),
        ("raise SystemExit\ndef f(x): return x", "SystemExit"),
        ("while True: pass\ndef f(x): return x", "timeout"),
        ("import os\nos._exit(0)\ndef f(x): return x", "exit"),
        ("a = [0] * 10**9\ndef f(x): return a", "MemoryError"),
        ("x = '\x00'", "SyntaxError"),
        ("x = '\ud800'", "UnicodeEncodeError"),
    ],
)
def test_programs_that_do_not_load(sandbox, source, text):
    outcomes, ran = run(sandbox, source)
    assert outcomes == [(Kind.LOAD_ERROR, text)] * N
    assert not ran.nondeterministic


@pytest.mark.parametrize(
    ("example", "trimmed"),
    [
        ("if __name__ == '__main__': raise ValueError", False),
        ("print(f(2))", False),
        ("assert f(2) == 5", True),
        ("n = int(input())\nprint(f(n))", True),
        ("exit()", True),
        ("while True: pass", True),
    ],
)
def test_examples_after_the_function_are_left_out_where_they_fail(sandbox, example, trimmed):
    outcomes, ran = run(sandbox, f"def f(x): return x * x\n{example}")
    assert (outcomes, ran.trimmed) == (SQUARES, trimmed)


def test_what_the_function_needs_is_kept_where_examples_are_left_out(sandbox):
    outcomes, ran = run(sandbox, "def f(x): return g(x) * K\nprint(f(2))\nK = 1\nimport math\ndef g(x): return x ** 2")
    assert (outcomes, ran.trimmed) == (SQUARES, True)


@pytest.mark.parametrize("hang", ["while x == 7: pass", "if x == 7: return 10 ** 10 ** 8"], ids=["Python", "C"])
def test_one_hanging_input_costs_its_timeout_once(sandbox, hang):
    outcomes, ran = run(sandbox, f"def f(x):\n {hang}\n return x * x")
    assert not ran.nondeterministic
    assert outcomes == [*SQUARES[:7], (Kind.TIMEOUT, ""), *SQUARES[8:]]
    assert ran.restarts == 1
    assert LIMITS.call_cpu < ran.cpu < LIMITS.call_cpu + 0.3


@pytest.mark.parametrize(
    ("source", "outcome", "times"),
    [
        ("def f(x):\n while True: pass", (Kind.TIMEOUT, ""), LIMITS.max_timeouts),
        ("import os\ndef f(x): os._exit(1)", (Kind.CRASH, "exit"), LIMITS.max_crashes),
    ],
    ids=["hangs", "crashes"],
)
def test_a_program_that_always_hangs_is_given_up(sandbox, source, outcome, times):
    outcomes, ran = run(sandbox, source)
    assert outcomes == [outcome] * times + [(Kind.SKIPPED, "")] * (N - times)
    assert ran.cpu < 1.5


def test_many_long_values_come_back_whole(sandbox):
    outcomes, _ = run(sandbox, "def f(x): return str(x) * 8000")
    assert outcomes == values(*[repr(str(i) * 8000) for i in range(N)])


def test_a_program_out_of_its_budget_is_cut_short(sandbox):
    source = (
        "import time\ndef f(x):\n end = time.process_time() + 0.08\n while time.process_time() < end: pass\n return x"
    )
    outcomes, ran = run(sandbox, source, INPUTS * 3)
    assert outcomes.count((Kind.SKIPPED, "")) > 15
    assert {kind for kind, _ in outcomes} == {Kind.VALUE, Kind.SKIPPED}
    assert outcomes[-1] == (Kind.SKIPPED, "")
    assert LIMITS.program_cpu < ran.cpu < LIMITS.program_cpu + 0.3


def test_running_out_of_memory_while_inputs_run_again_costs_no_outcome(sandbox):
    source = "kept = []\ndef f(x):\n kept.append(x)\n if len(kept) > 20: raise MemoryError\n return x * x"
    outcomes, ran = run(sandbox, source)
    assert outcomes == SQUARES
    assert ran.nondeterministic
    assert sandbox.run("def f(x): return x * x", "f").restarts == 0


def test_arguments_are_fresh_for_every_call_and_every_program(sandbox):
    inputs = ["([1, 2], {'a': [3]}, bytearray(b'x'))"] * 3
    source = "def f(a, b, c):\n a.append(b['a'].pop()); b.clear(); c.append(33)\n return a, b, c"
    for _ in range(2):
        assert run(sandbox, source, inputs)[0] == values(*["([1, 2, 3], {}, bytearray(b'x!'))"] * 3)
    sandbox.run(source, "f")
    assert run(sandbox, "def f(a, b, c): return a, b, c", inputs)[0] == values(inputs[0]) * 3


def test_objects_are_of_the_preambles_classes(sandbox):
    preamble = "class Node:\n def __init__(self): raise ValueError\n def total(self): return self.left + self.right\n"
    source = "def f(nodes):\n got = [n.total() for n in nodes]; nodes[0].left = 0\n return got, nodes[0], scale(1)"
    outcomes, _ = run(
        sandbox, source, ["([Node(left=1, right=2)],)"] * 2, preamble=preamble + "def scale(x): return 10 * x"
    )
    assert outcomes == values("([3], Node(left=0, right=2), 10)") * 2


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        ("import random\ndef f(x): return random.random()", 1),
        ("import random\nK = random.random()\ndef f(x): return K", 1),
        ("from statistics import NormalDist\ndef f(x): return NormalDist().samples(1)", N),
    ],
    ids=["in a call", "at load", "unnamed"],
)
def test_random_is_seeded_before_the_program_loads_and_for_every_call_that_names_it(sandbox, source, drawn):
    outcomes, ran = run(sandbox, source)
    assert outcomes == run(sandbox, source)[0]
    assert len({*outcomes}) == drawn
    assert ran.nondeterministic == (drawn > 1)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x, seen=[]):\n seen.append(x)\n return len(seen)",
        "import time\ndef f(x): return time.perf_counter()",
        "import os\ndef f(x): return os.urandom(8)",
    ],
)
def test_programs_that_differ_from_themselves_are_flagged(sandbox, source):
    assert run(sandbox, source)[1].nondeterministic


def test_a_program_that_differs_from_itself_on_some_inputs_differs_from_itself(sandbox):
    differs = run(sandbox, "import os\ndef f(x): return os.urandom(8)")[1]
    same = run(sandbox, "def f(x): return x")[1]
    assert [one.and_then(other).nondeterministic for one in (differs, same) for other in (differs, same)] == [
        *(True, True),
        *(True, False),
    ]


def test_the_second_run_of_an_input_has_the_same_room_for_recursion(sandbox):
    source = "def f(x):\n try: return 1 + f(x)\n except RecursionError: return 1"
    assert not run(sandbox, source)[1].nondeterministic


def test_sets_of_strings_have_one_order(sandbox):
    source = "def f(x): return list({'a', 'bb', 'ccc', str(x), object})[:3], sorted(map(id, [object, len]))"
    texts = run(sandbox, "def f(x): return list({'a', 'bb', 'ccc', str(x)})")[0]
    with Sandbox(LIMITS) as other:
        assert run(other, "def f(x): return list({'a', 'bb', 'ccc', str(x)})")[0] == texts
        if layers.probe_fixed_addresses().command:
            assert run(other, source)[0] == run(sandbox, source)[0]


OURS = ("canonical", "channel", "confine", "literals", "program", "watchdog", "zygote", "difftrust_core", "polars")


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ("open('/etc/passwd')", {"FileNotFoundError", "PermissionError"}),
        ("open('/tmp/written', 'w')", {"FileNotFoundError", "PermissionError"}),
        ("import socket\nsocket.socket()", {"PermissionError"}),
        ("import os\nos.fork()", {"PermissionError"}),
        ("import threading\nthreading.Thread(target=print).start()", {"RuntimeError"}),
        ("import subprocess\nsubprocess.run(['true'])", {"PermissionError"}),
        ("import os\nos.kill(os.getppid(), 9)", {"PermissionError"}),
        ("import os\nos.write(3, b'x')", {"OSError"}),
        *[(f"import {name}", {"ModuleNotFoundError"}) for name in OURS],
    ],
)
def test_refused(sandbox, body, errors):
    kind, text = one(sandbox, body)
    assert kind == Kind.EXCEPTION
    assert text in errors


def test_numpy_is_the_one_library_beyond_the_standard_one():
    with Sandbox(Limits()) as started:
        source = "import numpy as np\ndef f(x): return np.arange(3) * x, np.int64(x), np.float64(-0.0), np.array(x)"
        outcomes, ran = run(started, source, ["(2,)"])
    assert outcomes == values("(ndarray([0, 2, 4]), int64(2), float64(0.0), ndarray(2))")
    assert not ran.trimmed


def test_the_environment_holds_nothing_of_ours(sandbox):
    kind, text = one(sandbox, "import os\nreturn dict(os.environ)")
    assert kind == Kind.VALUE
    assert "secret" not in text
    assert read_literal(text).keys() <= {*layers._ENVIRONMENT, "PWD"}


SEARCH = """
import sys, struct
def mapping():
    frame = sys._getframe()
    while 'reply' not in frame.f_locals: frame = frame.f_back
    return frame.f_locals['reply'], frame.f_locals['head']
def f(x):
    m, head = mapping()
    BODY
    return x
"""
FORGED = [(Kind.FORGED, "")] * N
WITHOUT_IMPORT = values("0") + [(Kind.EXCEPTION, "ImportError")] * (N - 1)
HOSTILE: dict[str, tuple[str, list[tuple[Kind, str]] | None]] = {
    "no end of the text": ("m[64:] = b'V' * (len(m) - 64)", None),
    "done at once": ("head[0] = 3; import os; os._exit(0)", FORGED),
    "full": ("m.write(b'V1\\n'); head[0] = 4; import os; os._exit(0)", [*values("1"), *[(Kind.MEMORY, "")] * (N - 1)]),
    "a line of another kind": ("m.write(b'T\\n' * 20); head[0] = 3; import os; os._exit(0)", FORGED),
    "a control character": ("m.write(b'V\\x01\\n' * 20); head[0] = 3; import os; os._exit(0)", FORGED),
    "too many lines": ("m.write(b'V1\\n' * 100); head[0] = 3; import os; os._exit(0)", FORGED),
    "all lines and a crash": ("m.write(b'V1\\n' * 20); import os; os._exit(0)", values("1") * N),
    "not text": ("m.write(b'V\\xff\\n' * 20); head[0] = 3; import os; os._exit(0)", FORGED),
    "loading again": ("head[0] = 0; import os; os._exit(0)", None),
    "counts that never rest": ("\n    while True: head[2] += 1", None),
    "builtins deleted": ("import builtins; vars(builtins).clear()", WITHOUT_IMPORT),
    "exit replaced": ("import os, builtins; os._exit = None; vars(builtins).clear(); x()", None),
}
"""Name -> what is done with the reply, and what comes of it where that is always the same; more in tests/hostile."""


@pytest.mark.parametrize(("body", "outcomes"), HOSTILE.values(), ids=HOSTILE)
def test_forged_replies_are_called_that(sandbox, body, outcomes):
    process, table = sandbox.pid, OutcomeTable.empty(N)
    sandbox.load("", INPUTS, table)
    hostile, good = sandbox.run(SEARCH.replace("BODY", body), "f"), sandbox.run("def f(x): return x * x", "f")
    found = table.chosen(hostile.outcome_ids)
    assert outcomes in (None, found)
    assert all(len(text) < 20_000 and text.isprintable() for row in table.rows for _, text in row)
    assert hostile.cpu < LIMITS.program_cpu + 1
    assert table.chosen(good.outcome_ids) == SQUARES
    assert sandbox.pid == process  # the zygote was not even replaced


def test_one_table_serves_several_programs(sandbox):
    table = OutcomeTable([[], [(Kind.VALUE, "seen before")]])
    sandbox.load("", ["(0,)", "(1,)"], table)
    ids = [sandbox.run(f"def f(x): return {body}", "f").outcome_ids.tolist() for body in ("x", "-x", "x", "1")]
    assert ids == [[0, 1], [0, 2], [0, 1], [1, 1]]
    assert table.rows == [values("0", "1"), values("seen before", "1", "-1")]


def test_no_inputs(sandbox):
    assert run(sandbox, "def f(x): return x", [])[0] == []


def descriptors(pid="self"):
    """Return how many descriptors a process holds; of a zygote, which nobody may look into, only root is told."""
    with contextlib.suppress(PermissionError if os.geteuid() else ()):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def test_nothing_is_left_behind():
    ours = descriptors()
    with Sandbox(LIMITS) as started:
        run(started, "def f(x): return x")
        these = [started.pid, *below(started.pid)]
        held = [descriptors(pid) for pid in these]
        for k in range(30):
            started.run(("def f(x): return x", "import os\ndef f(x): os._exit(x)", "def f(x")[k % 3], "f")
        assert [started.pid, *below(started.pid)] == these
        assert [descriptors(pid) for pid in these] == held
        assert descriptors() == ours + 4  # the socket, the two shared files, the zygote's standard error
    assert descriptors() == ours
    assert not [pid for pid in these if Path(f"/proc/{pid}").exists()]


def test_the_zygote_ends_with_its_host():
    code = (
        "import os, sys\nfrom difftrust_core.sandbox.host import Limits, Sandbox\n"
        "from difftrust_core.sandbox.host import OutcomeTable\n"
        "s = Sandbox(Limits()); s.load('', ['(0,)'], OutcomeTable.empty(1)); print(s.pid, flush=True)\n"
        "s._socket.settimeout(9); s._send(3, {'index': 1, 'entry_point': 'f', 'source': 'while 1: pass'}); os._exit(0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert end([int(ran.stdout)])


@pytest.mark.parametrize("killed", [slice(None), slice(-1, None)], ids=["the zygote", "the task's own process"])
def test_a_zygote_killed_between_two_programs_costs_neither_its_outcomes(killed):
    with Sandbox(LIMITS) as started:
        table = OutcomeTable.empty(N)
        started.load("", INPUTS, table)
        for pid in below(started.pid)[killed]:
            with contextlib.suppress(ProcessLookupError):  # it ended with the one before
                os.kill(pid, signal.SIGKILL)
        first, second = (started.run("def f(x): return x * x", "f") for _ in range(2))
    assert table.chosen(first.outcome_ids) == table.chosen(second.outcome_ids) == SQUARES


@pytest.mark.slow
def test_a_program_whose_zygote_is_killed_each_time_is_called_forged():
    def kill_whatever_runs():
        """Kill the first below the sandbox once a program runs, twice: nothing else takes a second of CPU time."""
        seen = set()
        for _ in range(2):
            found = []
            while {*found} & seen or not any(cpu_seconds(pid) > 1 for pid in found):
                time.sleep(0.05)
                found = below(started.pid)
            seen |= {*found}
            os.kill(found[0], signal.SIGKILL)

    with Sandbox(Limits(call_cpu=60, program_cpu=60)) as started:
        table = OutcomeTable.empty(N)
        started.load("", INPUTS, table)
        killer = threading.Thread(target=kill_whatever_runs)
        killer.start()
        hanging = started.run("def f(x):\n    while True: pass", "f")
        killer.join()
        after = started.run("def f(x): return x * x", "f")
    assert table.chosen(hanging.outcome_ids) == [(Kind.FORGED, "")] * N
    assert table.chosen(after.outcome_ids) == SQUARES


def test_without_layers_it_refuses_and_names_the_way_out():
    ours = descriptors()
    with pytest.raises(WeakSandbox) as refused:
        Sandbox(LIMITS, wanted=frozenset())
    assert str(refused.value).endswith("`difftrust doctor` says what helps, or accept it with --allow-weak-sandbox")
    assert "candidates could reach files, writing, TCP, UDP, local sockets on this machine" in str(refused.value)
    assert "(missing: bubblewrap: not wanted; landlock: not wanted; seccomp: not wanted)" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert descriptors() == ours


@pytest.mark.parametrize(("kind", "own_nonce", "length"), [(1, False, 2), (2, True, 2), (1, True, 1 << 31)])
def test_a_frame_is_the_zygotes_only_with_its_kind_its_nonce_and_a_length_that_fits(kind, own_nonce, length):
    with Sandbox(Limits()) as sandbox, contextlib.ExitStack() as sockets:
        here, there = map(sockets.enter_context, socket.socketpair())
        of_sandbox, sandbox._socket = sandbox._socket, here
        nonce = sandbox._nonce if own_nonce else bytes(len(sandbox._nonce))
        there.sendall(struct.pack("=IB16s", length, kind, nonce) + b"{}")
        there.shutdown(socket.SHUT_WR)
        with pytest.raises(ValueError, match="not the zygote's"):
            sandbox._receive(1)
        sandbox._socket = of_sandbox
