"""Attacks on memory: programs that take all there is, keep it in the result, or exhaust the stack."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import GIVEN_UP, attack, everywhere, given_up, on_seven, refused

GONE_ON_SEVEN = on_seven(Kind.MEMORY)
TOO_DEEP = everywhere(Kind.UNSUPPORTED, "a value nested too deeply")

ATTACKS = [
    attack("list of a billion", "def f(x, items): return [0] * 10**9 if x == 7 else x", GONE_ON_SEVEN),
    attack(
        "list that grows",
        "def f(x, items):\n kept = [0]\n while x == 7: kept += kept\n return x",
        GONE_ON_SEVEN,
        on_seven(Kind.TIMEOUT),
    ),
    attack(
        "string that doubles",
        "def f(x, items):\n s = 'ab'\n while x == 7: s += s\n return x",
        GONE_ON_SEVEN,
        on_seven(Kind.TIMEOUT),
    ),
    attack(
        "memory taken, given back and taken again",
        """
def f(x, items):
    while x == 7:
        try: kept = [bytearray(2**20) for _ in range(10**4)]
        except MemoryError: kept = None
    return x
""",
        on_seven(Kind.TIMEOUT),
        GONE_ON_SEVEN,
    ),
    attack("result of a gigabyte", "def f(x, items): return 'a' * 2**30", given_up(Kind.MEMORY, 3)),
    attack("result of 300 MiB", "def f(x, items): return 'a' * (300 << 20)", given_up(Kind.MEMORY, 3), GIVEN_UP),
    attack("bytes of 300 MiB", "def f(x, items): return bytes(300 << 20)", given_up(Kind.MEMORY, 3), GIVEN_UP),
    attack("deep recursion", "def f(x, items): return f(x, items)", everywhere(Kind.EXCEPTION, "RecursionError")),
    attack(
        "recursion without a limit",
        "import sys\nsys.setrecursionlimit(2**31 - 1)\ndef f(x, items): return [*map(f, [x], [items])]",
        given_up(Kind.CRASH, 4, "SIGSEGV"),
    ),
    attack(
        "recursion limit of nothing",
        "import sys\ndef f(x, items):\n sys.setrecursionlimit(30)\n return x",
        tuple((Kind.VALUE, str(i)) for i in range(20)),
        everywhere(Kind.EXCEPTION, "RecursionError"),
    ),
    attack("recursion in the result", "def f(x, items):\n items.append(items)\n return items", TOO_DEEP),
    attack(
        "keys whose hash takes for ever",
        "def f(x, items):\n k = ()\n for _ in range(99 if x == 7 else 1): k = (k, k)\n return {k: 1} and x",
        on_seven(Kind.TIMEOUT),
    ),
    attack(
        "result a hundred thousand deep",
        "def f(x, items):\n for _ in range(10**5): items = [items]\n return items",
        TOO_DEEP,
    ),
    attack(
        "object that holds itself",
        "class Own: pass\ndef f(x, items):\n own = Own(); own.own = own\n return own",
        TOO_DEEP,
    ),
    attack(
        "billion laughs",
        "def f(x, items):\n for _ in range(9 if x == 7 else 0): items = [items] * 10\n return items if x == 7 else x",
        on_seven(Kind.UNSUPPORTED, "too many nodes"),
        on_seven(Kind.TIMEOUT),
    ),
    attack(
        "exception with a huge message",
        "def f(x, items): raise ValueError('a' * 10**7)",
        everywhere(Kind.EXCEPTION, "ValueError"),
    ),
    attack(
        "a terabyte mapped",
        "import mmap\ndef f(x, items): return tries(lambda: mmap.mmap(-1, 1 << 40))",
        refused(1),
    ),
    attack(
        "a terabyte of numbers", "import numpy\ndef f(x, items): return numpy.ones(1 << 37)", given_up(Kind.MEMORY, 3)
    ),
    attack(
        "the kernel asked for 300 MiB a call",
        """
import ctypes, mmap
kept = []
def f(x, items):
    if x == 7:
        while True: kept.append(mmap.mmap(-1, 64 << 20)); kept[-1].write(bytes(64 << 20))
    return x
""",
        on_seven(Kind.EXCEPTION, "OSError"),
        on_seven(Kind.TIMEOUT),
    ),
    attack(
        "every file descriptor",
        """
def f(x, items):
    kept = []
    try:
        while True: kept.append(open('/dev/null'))
    except OSError: return len(kept) < 64
""",
        everywhere(Kind.VALUE, "True"),
    ),
    attack(
        "parser out of its stack",
        "def f(x, items): return eval('(' * 10**5 + ')' * 10**5)",
        everywhere(Kind.EXCEPTION, "SyntaxError"),
        given_up(Kind.MEMORY, 3),
        everywhere(Kind.EXCEPTION, "RecursionError"),
    ),
]
