"""Attacks while a program loads: what it leaves in the interpreter for its own calls, and for the next program."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import N, attack, everywhere, numbers, untouched

ATTACKS = [
    attack(
        "an entry point that is made on demand",
        "def __getattr__(name): return (lambda x, items: x) if name == 'f' else 1 / 0",
        everywhere(Kind.LOAD_ERROR, "NameMissing"),
    ),
    attack(
        "an entry point that is given up while loading",
        "def f(x, items): return x\nclass Gone:\n def __del__(self): globals().clear()\nGone()",
        everywhere(Kind.LOAD_ERROR, "NameMissing"),
        numbers(),
    ),
    attack(
        "a timer that goes off in a call",
        "import signal\nsignal.signal(signal.SIGALRM, lambda *_: 1 / 0)\nsignal.setitimer(signal.ITIMER_REAL, 0.1)\n"
        "def f(x, items):\n while x == 0: pass\n return x",
        tuple((Kind.EXCEPTION, "ZeroDivisionError") if i == 0 else (Kind.VALUE, str(i)) for i in range(N)),
        tuple((Kind.CRASH, "exit") if i == 0 else (Kind.VALUE, str(i)) for i in range(N)),
    ),
    attack(
        "codecs' handling of errors replaced",
        "import codecs\nfor name in ('strict', 'replace', 'surrogateescape', 'backslashreplace'):\n"
        " codecs.register_error(name, lambda e: ('forged', 0))\ndef f(x, items): return x, items",
        untouched(),
    ),
    attack(
        "digits without a limit",
        "import sys\nsys.set_int_max_str_digits(0)\ndef f(x, items): return len(str(10 ** 9_999))",
        everywhere(Kind.VALUE, "10000"),
    ),
    attack(
        "standard types replaced",
        """
import collections, datetime, decimal, enum, fractions, types
class Fake(int):
    def __repr__(self): return 'forged'
for module in (collections, datetime, decimal, enum, fractions, types):
    for name in dir(module):
        if name[:1].isupper() or name in ('date', 'deque', 'timezone'): setattr(module, name, Fake)
def f(x, items): return x, items
""",
        untouched(),
    ),
    attack(
        "a library planted under a name that is yet to be imported",
        """
import sys, types
import numpy
for name in [n for n in sys.modules if n.partition('.')[0] in ('numpy', 'array', 'json')] + ['pandas', 'polars']:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__getattr__ = lambda n: 1 / 0
def f(x, items): return x, items
""",
        untouched(),
    ),
    attack(
        "objects that act as they are taken away",
        """
import weakref
class Own:
    def __del__(self): raise SystemExit
kept = []
def f(x, items):
    own = Own(); own.own = own
    weakref.finalize(own, lambda: 1 / 0)
    kept.append(weakref.ref(own, lambda _: 1 / 0))
    return x
""",
        numbers(),
    ),
    attack(
        "the names of the file and the module changed",
        "__name__ = __file__ = __spec__ = __loader__ = __doc__ = __builtins__ = 7\ndef f(x, items): return x",
        numbers(),
    ),
    attack(
        "memory filled before the first call",
        "kept = [0]\nwhile True: kept += kept\ndef f(x, items): return x",
        everywhere(Kind.LOAD_ERROR, "MemoryError"),
        everywhere(Kind.LOAD_ERROR, "killed"),
        everywhere(Kind.LOAD_ERROR, "timeout"),
    ),
    attack(
        "a name for what kept it from loading that is no name",
        "raise type('E\\nV1\\n' * 9, (Exception,), {})",
        everywhere(Kind.LOAD_ERROR, "Unnamed"),
    ),
    attack(
        "a number for each call kept in a default",
        "def f(x, items, seen=[]):\n seen.append(x)\n return len(seen) == x + 1",
        ((Kind.VALUE, "True"),) * N,
    ),
]
