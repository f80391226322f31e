"""A hostile file of the user's: whatever runs when it is loaded or its classes are called runs in the sandbox only."""

import json
import os
import time
from pathlib import Path

import pytest

from difftrust.check.call_runner import CALLS, runner_for
from difftrust_core.base.records import Kind
from difftrust_core.sandbox.host import Sandbox
from tests.hostile.attack import LIMITS
from tests.sandbox.test_host import run

ATTEMPTS = """
import os, socket, subprocess
def tries():
    found = []
    for attempt in (
        lambda: open(BAIT).read(), lambda: open(BAIT, 'a').write('x'), lambda: os.listdir('/etc'), os.fork,
        lambda: subprocess.run(['/bin/true']), lambda: socket.socket().connect(('127.0.0.1', 9)),
        lambda: os.kill(os.getppid(), 9),
    ):
        try:
            attempt()
            found.append('done')
        except OSError:
            pass
    SAID.extend(found)
    CAME.append(1)
    return int
SAID, CAME = [], []
"""
PLACES = {
    "annotation": "def helper(x: tries()) -> tries(): pass\nhelper.__annotations__\ntries()",
    "default value": "def helper(x=tries()): pass",
    "decorator": "@lambda f: tries() and f\ndef helper(): pass",
    "__class_getitem__": "class Own:\n def __class_getitem__(cls, item): return tries()\nkind = Own[int]",
    "metaclass": "class Meta(type):\n"
    " def __new__(*a): tries(); return type.__new__(*a)\nclass Own(metaclass=Meta): pass",
    "__init_subclass__": "class Base:\n def __init_subclass__(cls): tries()\nclass Own(Base): pass",
    "__post_init__": "from dataclasses import dataclass\n@dataclass\n"
    "class Own:\n x: int\n def __post_init__(self): tries()",
    "_missing_": "from enum import Enum\nclass Own(Enum):\n A = 0\n @classmethod\n"
    " def _missing_(cls, value): tries(); return cls.A",
    "__set_name__": "class D:\n def __set_name__(self, o, n): tries()\nclass Own:\n d = D()",
    "__init__": "class Own:\n def __init__(self, x): tries()",
}
BUILT = {"__post_init__": "Own(1)", "_missing_": "Own(7)", "__init__": "Own(1)"}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS, runner=CALLS) as started:
        assert started.still_open == ()
        yield started


@pytest.fixture
def bait(tmp_path: Path) -> Path:
    file = tmp_path / "bait"
    file.write_text("nothing that matters")
    return file


@pytest.mark.parametrize("place", PLACES)
def test_what_the_file_does_is_done_in_the_sandbox_and_in_vain(sandbox, bait, place):
    preamble = f"BAIT = {str(bait)!r}\n{ATTEMPTS}\n{PLACES[place]}"
    text = f"({BUILT.get(place, '0')},)"
    (outcome,), _ = run(sandbox, "def f(x): return bool(CAME), SAID", [text], preamble=preamble)
    assert outcome == (Kind.VALUE, "(True, [])")
    assert bait.read_text() == "nothing that matters"


LIAR = """
class Liar:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __repr__(self): return 'Liar(0)'
    def __reduce__(self): return (print, ('reduced',))
    def __getattribute__(self, name): return 0
    def __format__(self, spec): return 'Liar(0)'
    __class__ = int
"""


def test_an_object_cannot_lie_about_its_fields(sandbox):
    outcomes, _ = run(sandbox, "def f(x): return x", ["(Liar(1),)", "(Liar(2),)"], preamble=LIAR)
    assert outcomes == [(Kind.VALUE, "Liar(x=1)"), (Kind.VALUE, "Liar(x=2)")]


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
def test_a_class_that_says_it_is_of_a_library(sandbox, library):
    source = f"class Own:\n __module__ = {library!r}\n def __init__(self): self.x = 1\ndef f(x): return Own()"
    (outcome,), _ = run(sandbox, source, ["(0,)"])
    assert outcome == (Kind.VALUE, "Own(x=1)")


def test_a_flood_of_prints_is_cut_and_still_told_apart(sandbox):
    source = "def f(x):\n for k in range(2000): print('a' * 99)\n print(x)"
    outcomes, _ = run(sandbox, source, ["(1,)", "(2,)"])
    (kind, first), (_, second) = outcomes
    assert kind == Kind.VALUE
    assert first != second
    assert len(first) < 11_000


HANGS = {
    "coroutine": "async def f(x):\n while x: pass\n return x",
    "coroutine that waits for nothing": "import asyncio\n"
    "async def f(x):\n if x: await asyncio.Event().wait()\n return x",
    "coroutine that sleeps again and again": "import asyncio\n"
    "async def f(x):\n while x: await asyncio.sleep(1)\n return x",
    "generator between two items": "def f(x):\n yield 0\n while x: pass",
    "prints for ever": "def f(x):\n while x: print('a' * 80)",
    "representation": "class Own:\n def __repr__(self):\n  while True: pass\ndef f(x): return Own() if x else 0",
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", HANGS)
def test_what_never_ends_is_a_timeout(sandbox, name):
    began = time.monotonic()
    example = repr(json.dumps({"source": "f(1)", "want": "0\n"}))
    outcomes, _ = run(sandbox, HANGS[name], ["(0,)", example, "(0,)"])
    assert [kind for kind, _ in outcomes] == [Kind.VALUE, Kind.TIMEOUT, Kind.VALUE]
    assert time.monotonic() - began < 60


def test_an_input_whose_class_never_ends(sandbox):
    preamble = "class Own:\n def __init__(self, x):\n  while x: pass"
    outcomes, _ = run(sandbox, "def f(x): return 0", ["(Own(1),)", "(Own(0),)"], preamble=preamble)
    assert outcomes == [(Kind.TIMEOUT, ""), (Kind.VALUE, "0")]


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.stdout = sys.stderr = None\ndef f(x): return x",
        "import sys\ndef f(x):\n sys.stdout.close()\n sys.stdout = None\n return x",
        "import sys\nsys.stdout.take = sys.stdout.write = None\ndef f(x): return x",
        "import builtins\nfor name in ('type', 'len', 'repr', 'str', 'print'): setattr(builtins, name, None)\n"
        "def f(x): return x",
        "import marshal, json, re\nmarshal.loads = json.loads = re.compile = None\ndef f(x): return x",
        "import sys\nsys.modules.clear()\ndef f(x): return x",
        "import asyncio, sys\nasyncio.Runner = None\nsys.modules['asyncio'] = None\ndef f(x): return x",
    ],
)
def test_what_a_program_replaces_is_its_own(sandbox, source):
    outcomes, _ = run(sandbox, source, ["(1,)", "([2],)"])
    assert outcomes == [(Kind.VALUE, "1"), (Kind.VALUE, "[2]")]
    outcomes, _ = run(sandbox, "def f(x):\n print(x)\n return x", ["(1,)"])
    assert outcomes == [(Kind.VALUE, r"Effects(value=1, printed='1\n')")]


THREADS = """
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
def f(x):
    held = []
    for attempt in (os.fork, lambda: os.open('/etc/passwd', 0), lambda: os.kill(os.getppid(), 9)):
        def work():
            try: attempt()
            except OSError: held.append(1)
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
    held.append(1 if libc.syscall(56, 17, 0, 0, 0, 0) == -1 else 0)  # clone(SIGCHLD): a process
    held.append(1 if libc.syscall(58) == -1 else 0)  # vfork
    return held
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the system calls are those of x86_64")
def test_a_thread_is_confined_like_its_process():
    pytest.importorskip("polars")
    with Sandbox(LIMITS, runner=runner_for(["polars"])) as sandbox:
        assert sandbox.still_open == ()
        outcomes, _ = run(sandbox, THREADS, ["(0,)"])
    assert outcomes == [(Kind.VALUE, "[1, 1, 1, 1, 1]")]
