"""Scripts in the real sandbox: every way to read, to write and to end, and what one run leaves to the next."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difftrust.contests.adapter import trimmed
from difftrust.contests.child import streams
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.registry import load_language
from difftrust_core.sandbox.host import Sandbox
from tests.sandbox.test_host import run

STDIN = load_language("stdin")
LIMITS = replace(STDIN.limits, call_cpu=1.0, repeat_cpu=0.2, max_timeouts=3, max_crashes=4)
TEXTS = [f"3\n{i} 2 3\n" for i in range(30)]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, runner=STDIN.runner) as started:
        yield started


def ran(sandbox: Sandbox, source: str, texts: list[str] = TEXTS, preamble: str = "") -> list[Outcome]:
    outcomes, facts = run(sandbox, source, [repr((text,)) for text in texts], preamble=preamble, entry_point="main")
    assert not facts.nondeterministic
    return outcomes


def each(text: str, kind: Kind = Kind.VALUE) -> list[Outcome]:
    return [(kind, text)] * len(TEXTS)


SUMS = [(Kind.VALUE, repr(str(i + 5))) for i in range(30)]
WAYS_TO_SUM = {
    "input": "input()\nprint(sum(map(int, input().split())))",
    "readline": "import sys\ninput = sys.stdin.readline\ninput()\nprint(sum(map(int, input().split())))",
    "from": "from sys import stdin, stdout\nn, *a = map(int, stdin.read().split())\nstdout.write(f'{sum(a)}\\n')",
    "main": "def main():\n    input()\n    print(sum(map(int, input().split())))\nif __name__ == '__main__': main()",
    "bytes": "import sys\nd = sys.stdin.buffer.read().split()\nsys.stdout.buffer.write(b'%d' % sum(map(int, d[1:])))",
    "lines": "import sys\n*_, line = sys.stdin\nprint(sum(map(int, line.split())))",
    "readlines": "import sys\nprint(sum(map(int, sys.stdin.readlines()[-1].split())))",
    "open": "print(sum(map(int, open(0).read().split()[1:])), file=open(1, 'w'))",
    "open bytes": "d = open(0, 'rb').read().split()\nopen(1, 'wb').write(b'%d' % sum(map(int, d[1:])))",
    "path": "print(sum(map(int, open('/dev/stdin').read().split()[1:])))",
    "os": (
        "import os\nd = os.read(0, os.fstat(0).st_size).split()\n"
        "os.write(1, str(sum(map(int, d[1:]))).encode())\nassert os.read(0, 9) == b''"
    ),
    "fdopen": "import os\nprint(sum(map(int, os.fdopen(0).read().split()[1:])))",
    "fileinput": "import fileinput\nlines = list(fileinput.input())\nprint(sum(map(int, lines[1].split())))",
    "numpy": "import sys, numpy as np\nprint(np.array(sys.stdin.read().split()[1:], np.int64).sum())",
    "thread": (
        "import sys, threading\nsys.setrecursionlimit(1 << 25)\nthreading.stack_size(1 << 27)\ndef main():\n"
        "    input()\n    print(sum(map(int, input().split())))\nt = threading.Thread(target=main)\nt.start()\nt.join()"
    ),
    "replaced": (
        "import io, os, sys, atexit\nsys.stdin = io.StringIO(sys.stdin.read())\nsys.stdout = io.StringIO()\n"
        "atexit.register(lambda: os.write(1, sys.stdout.getvalue().encode()))\n"
        "input()\nprint(sum(map(int, input().split())))"
    ),
    "own buffer": (
        "import io, os, sys\nclass Out(io.IOBase):\n    def __init__(self): self.said = []\n"
        "    def write(self, text): self.said.append(text)\n"
        "    def flush(self): os.write(1, ''.join(self.said).encode()); self.said.clear()\n"
        "sys.stdout = Out()\ninput()\nprint(sum(map(int, input().split())))"
    ),
    "signals": (
        "import resource, signal\nsignal.alarm(5)\nlimit = resource.getrlimit(resource.RLIMIT_STACK)\n"
        "resource.setrlimit(resource.RLIMIT_STACK, limit)\n"
        "input()\nprint(sum(map(int, input().split())))"
    ),
}


@pytest.mark.parametrize("way", WAYS_TO_SUM)
def test_every_way_to_read_and_write(way: str, sandbox: Sandbox) -> None:
    assert ran(sandbox, WAYS_TO_SUM[way]) == SUMS


@pytest.mark.parametrize("way", [way for way in WAYS_TO_SUM if way not in ("numpy", "path")])
def test_an_ordinary_process_says_the_same(way: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_text(TEXTS[7])
    with open(tmp_path / "input") as given_input:
        command = [sys.executable, "-c", WAYS_TO_SUM[way]]
        done = subprocess.run(command, stdin=given_input, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "12"


WAYS_TO_END = {
    "print(1)\nexit()\nprint(2)": "'1'",
    "import sys\nprint(1)\nsys.exit(0)": "'1'",
    "import os\nprint(1, flush=True)\nprint(2)\nos._exit(0)": "'1'",
    "": "''",
    "import sys\nprint('no', file=sys.stderr)\nprint(1)": "'1'",
    "import threading\ndef f(): print(1); 1 / 0\nthreading.Thread(target=f).start()\nprint(2)": "'1\\n2'",
    "print('a \\t\\n\\n b\\r\\n\\n\\n')": "'a\\n\\n b'",
    "import sys\nsys.stdout.buffer.write(b'\\xff')": "'\ufffd'",
    "import sys\nsys.stdout.close()": "''",
    "import sys\nprint(sys.argv, __file__, __name__)": "\"['main.py'] main.py __main__\"",
    "import random\nprint(random.random() == random.Random(0).random())": "'True'",
    "x: Undefined = 1\nprint(x)": "'1'",
}
WAYS_TO_FAIL = {
    "import sys\nprint(1)\nsys.exit(3)": "SystemExit",
    "import sys\nprint(1)\nsys.exit('no')": "SystemExit",
    "import os\nprint(1, flush=True)\nos._exit(2)": "SystemExit",
    "input(); input(); input()": "EOFError",
    "print(1)\nprint(1 / 0)": "ZeroDivisionError",
    "class Wrong(Exception): pass\nraise Wrong": "Wrong",
    "print('\\ud800')": "UnicodeEncodeError",
    "import sys\nsys.stdin.close()\ninput()": "ValueError",
    "open(0, 'w')": "OSError",
    "open('kept', 'w')": "PermissionError",
}


@pytest.mark.parametrize("source", WAYS_TO_END)
def test_every_way_to_end(source: str, sandbox: Sandbox) -> None:
    assert ran(sandbox, source) == each(WAYS_TO_END[source])


@pytest.mark.parametrize("source", WAYS_TO_FAIL)
def test_every_way_to_fail(source: str, sandbox: Sandbox) -> None:
    assert ran(sandbox, source) == each(WAYS_TO_FAIL[source], Kind.EXCEPTION)


@pytest.mark.parametrize("source", ["print(", "print(1)\0"])
def test_a_text_that_is_no_program_does_not_load(source: str, sandbox: Sandbox) -> None:
    assert ran(sandbox, source) == each("SyntaxError", Kind.LOAD_ERROR)


def test_deep_recursion_does_not_crash(sandbox: Sandbox) -> None:
    deep = (
        "import sys\nfrom functools import lru_cache\nsys.setrecursionlimit(10**6)\n@lru_cache(None)\n"
        "def f(k): return 0 if k == 0 else 1 + f(k - 1)\nprint(f(int(input())))"
    )
    endless = deep.replace("0 if k == 0 else 1 + f(k - 1)", "f(k + 1)").replace("10**6", "10**9")
    of_python = sys.version_info >= (3, 12)  # which has a limit of its own then where C code calls: lru_cache
    too_deep = (Kind.EXCEPTION, "RecursionError") if of_python else (Kind.CRASH, "SIGSEGV")
    deep = deep.replace("@lru_cache(None)\n", "") if of_python else deep
    assert ran(sandbox, deep, ["100000\n", "3\n"]) == [(Kind.VALUE, "'100000'"), (Kind.VALUE, "'3'")]
    assert ran(sandbox, endless, ["1\n"] * 3) == [too_deep] * 3


LEAVES = {
    "builtins": "import builtins\nprint(len('ab'))\nbuiltins.len = lambda x: 9\ndel builtins.max\nprint = None",
    "by name": "print(len('ab'))\n__builtins__.len = None\n__builtins__.__dict__.pop('print')",
    "math": "import math\nprint(math.gcd(4, 6))\nmath.gcd = lambda a, b: 9\nmath.more = 1",
    "sys": "import sys\nprint(sys.maxsize % 5)\nsys.setrecursionlimit(60)\nsys.stdout = None\ndel sys.exit",
    "modules": "import sys\nimport heapq\nprint(max(heapq.merge([2])))\nsys.modules['heapq'] = None\nsys.path.clear()",
    "os": "import os\nprint(2)\nos.write = os.read = os._exit = None",
    "names": "print(2 if 'x' not in globals() else 3)\nx = 1",
    "digits": "import sys\nprint(sys.get_int_max_str_digits() // 2150)\nsys.set_int_max_str_digits(0)",
    "decimals": "import decimal\nprint(decimal.getcontext().prec // 14)\ndecimal.getcontext().prec = 3",
    "trace": "import sys\nprint(2 if sys.gettrace() is None else 3)\nsys.settrace(lambda *a: None)",
    "atexit": "import atexit\nprint(2)\natexit.register(lambda: None)",
    "gc": "import gc\nprint(gc.isenabled() + 1)\ngc.disable()",
    "input": "import sys\nprint(2)\nsys.stdin.readline()\ninput = None",
    "swallowed": "import os\nprint(2, flush=True)\ntry: os._exit(0)\nexcept BaseException: print(3)",
}


@pytest.mark.parametrize("name", LEAVES)
def test_nothing_is_left_to_the_next_run(name: str, sandbox: Sandbox) -> None:
    assert ran(sandbox, LEAVES[name]) == each("'2'")
    assert ran(sandbox, WAYS_TO_SUM["input"]) == SUMS


def test_a_preamble_runs_before_the_program(sandbox: Sandbox) -> None:
    assert ran(sandbox, "print(gcd(4, two))", preamble="from math import *\ntwo = 2") == each("'2'")


def test_long_and_endless_output(sandbox: Sandbox) -> None:
    (long, *_), endless = ran(sandbox, "print('ab' * 20000)"), "while True: print('a' * 1000)"
    assert long[0] == Kind.VALUE
    assert len(long[1]) < 300
    assert "…#" in long[1]
    assert ran(sandbox, endless, TEXTS[:2]) == [(Kind.UNSUPPORTED, "an output of more than 16 MiB")] * 2
    assert ran(sandbox, f"try:\n {endless}\nexcept OSError: pass", TEXTS[:1])[0][0] == Kind.UNSUPPORTED


def test_a_run_without_end_times_out_alone(sandbox: Sandbox) -> None:
    source = "import sys\ns = sys.stdin.read()\nwhile '1 2 3' in s and '11' not in s: pass\nprint(1)"
    outcomes = ran(sandbox, source, TEXTS[:4])
    assert outcomes == [(Kind.VALUE, "'1'"), (Kind.TIMEOUT, ""), (Kind.VALUE, "'1'"), (Kind.VALUE, "'1'")]


def test_a_chance_is_noticed(sandbox: Sandbox) -> None:
    _, facts = run(sandbox, "import os\nprint(os.urandom(8))", [repr((t,)) for t in TEXTS], entry_point="main")
    assert facts.nondeterministic


@given(st.text(alphabet="a \t\r\v\f\n\x85\xa0", max_size=30))
def test_the_child_trims_as_the_host_does(text: str) -> None:
    assert streams.trimmed(text) == trimmed(text)
    assert trimmed(trimmed(text)) == trimmed(text)
    assert read_literal(repr(trimmed(text))) == trimmed(text)
