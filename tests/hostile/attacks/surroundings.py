"""Attacks on what surrounds a program: the interpreter's state, hooks, and the state that the next one meets."""

import hashlib

from difftrust_core.base.records import Kind
from tests.hostile.attack import CRASHED, N, attack, everywhere, numbers, untouched

SHOWN_OF_CUT = 200


def _cut(text: str) -> str:
    return f"{text[:SHOWN_OF_CUT]}…#{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


def _then(body: str) -> str:
    """Return a program that does ``body`` in each call and returns x."""
    return "def f(x, items):\n " + body.replace("\n", "\n ") + "\n return x"


ATTACKS = [
    attack("exit at once", "import os\ndef f(x, items): os._exit(0)", CRASHED),
    attack("exit politely", "import sys\ndef f(x, items): sys.exit(0)", everywhere(Kind.EXCEPTION, "SystemExit")),
    attack("interrupted", "def f(x, items): raise KeyboardInterrupt", everywhere(Kind.EXCEPTION, "KeyboardInterrupt")),
    attack(
        "the base of all exceptions",
        "def f(x, items): raise BaseException",
        everywhere(Kind.EXCEPTION, "BaseException"),
    ),
    attack(
        "exit by signal",
        "import signal\ndef f(x, items): signal.raise_signal(signal.SIGKILL)",
        everywhere(Kind.EXCEPTION, "PermissionError"),
    ),
    attack(
        "exit hooks", "import atexit, os\natexit.register(lambda: os._exit(9))\ndef f(x, items): return x", numbers()
    ),
    attack(
        "builtins replaced",
        """
import builtins
for name in ('len', 'repr', 'type', 'isinstance', 'sorted', 'map', 'list', 'hash', 'id', 'open', 'print', 'hex', 'max'):
    setattr(builtins, name, lambda *a, **k: 99)
def f(x, items): return x, items
""",
        untouched(),
    ),
    attack(
        "builtins emptied", "import builtins\nvars(builtins).clear()\ndef f(x, items): return x, items", untouched()
    ),
    attack("builtins of its own", "__builtins__ = {}\ndef f(x, items): return x, items", untouched()),
    attack("__import__ replaced", "import builtins\nbuiltins.__import__ = None\ndef f(x, items): return x", numbers()),
    attack(
        "an import hook",
        """
import sys
class Hook:
    def find_spec(self, *a): raise SystemExit
sys.meta_path.insert(0, Hook())
sys.path_hooks.insert(0, Hook)
sys.path_importer_cache.clear()
def f(x, items): return x
""",
        numbers(),
    ),
    attack("modules forgotten", "import sys\nsys.modules.clear()\ndef f(x, items): return x, items", untouched()),
    attack(
        "the standard library replaced",
        """
import hashlib, json, marshal, mmap, os, random, re
for module in (hashlib, json, marshal, mmap, os, random, re):
    for name in dir(module):
        if not name.startswith('__'): setattr(module, name, None)
def f(x, items): return x, items, 'a' * 20_000, x
""",
        tuple((Kind.VALUE, _cut(f"({i}, [{i}, [{i}]], '{'a' * 20_000}', {i})")) for i in range(N)),
    ),
    attack("recursion limits", _then("import sys\nsys.setrecursionlimit(200)"), numbers()),
    attack(
        "random state",
        _then("import random\nrandom.seed(x)\nrandom.setstate = random.random = random.getstate = None"),
        numbers(),
    ),
    attack(
        "NumPy's random state",
        "import numpy\ndef f(x, items):\n numpy.random.seed(x)\n numpy.random.rand = None\n return x",
        numbers(),
    ),
    attack(
        "NumPy's printing and errors",
        "import numpy\ndef f(x, items):\n numpy.set_printoptions(precision=1); numpy.seterr(all='raise')\n return x",
        numbers(),
    ),
    attack(
        "decimal context",
        _then("import decimal\ndecimal.setcontext(decimal.Context(prec=1, traps=[]))\ndecimal.DefaultContext.prec = 1"),
        numbers(),
    ),
    attack(
        "locale",
        _then("import locale, os, time\nlocale.setlocale(locale.LC_ALL, 'C')\nos.environ['TZ'] = 'X'\ntime.tzset()"),
        numbers(),
    ),
    attack("hash seed", _then("import os, sys\nos.environ['PYTHONHASHSEED'] = '7'\nos.environ.clear()"), numbers()),
    attack(
        "signal handlers",
        """
import signal
def f(x, items):
    for number in signal.valid_signals():
        try: signal.signal(number, signal.SIG_IGN)
        except OSError: pass
    try: signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    except OSError: pass
    while x == 7: pass
    return x
""",
        tuple((Kind.TIMEOUT, "") if i == 7 else (Kind.VALUE, str(i)) for i in range(N)),
    ),
    attack(
        "a handler of crashes",
        "import faulthandler, signal\nfaulthandler.enable()\n" + _then("signal.signal(signal.SIGSEGV, signal.SIG_IGN)"),
        numbers(),
    ),
    attack(
        "trace functions",
        "import sys\ndef t(*a): return t\nsys.settrace(t); sys.setprofile(t)\ndef f(x, items): return x",
        numbers(),
    ),
    attack(
        "a trace function that raises in the harness",
        """
import sys
def f(x, items):
    def trace(frame, event, arg):
        if x == 7 and frame.f_code.co_filename.endswith(('program.py', 'canonical.py')): raise SystemExit
        return trace
    sys.settrace(trace)
    frame = sys._getframe()
    while frame: frame.f_trace, frame = trace, frame.f_back
    return x
""",
        tuple((Kind.CRASH, "exit") if i == 7 else (Kind.VALUE, str(i)) for i in range(N)),
        tuple((Kind.EXCEPTION, "SystemExit") if i == 7 else (Kind.VALUE, str(i)) for i in range(N)),
    ),
    attack(
        "a trace function that never ends",
        "import sys\ndef t(*a):\n while True: pass\ndef f(x, items):\n sys.settrace(t if x == 7 else None)\n return x",
        tuple((Kind.TIMEOUT, "") if i == 7 else (Kind.VALUE, str(i)) for i in range(N)),
    ),
    attack(
        "audit hooks",
        "import sys\ndef hook(*a): raise SystemExit\n" + _then("sys.addaudithook(hook) if x == 7 else 0"),
        numbers(),
        tuple((Kind.EXCEPTION, "SystemExit") if i > 7 else (Kind.VALUE, str(i)) for i in range(N)),
    ),
    attack("the switch interval", _then("import sys\nsys.setswitchinterval(1e9)"), numbers()),
    attack(
        "the collector",
        _then(
            "import gc\ngc.disable(); gc.set_threshold(1); gc.unfreeze()\n"
            "gc.set_debug(gc.DEBUG_SAVEALL); gc.callbacks.append(print)"
        ),
        numbers(),
    ),
    attack(
        "exception hooks",
        _then("import sys\nsys.excepthook = sys.unraisablehook = sys.displayhook = sys.breakpointhook = None"),
        numbers(),
    ),
    attack(
        "a breakpoint",
        "def f(x, items): breakpoint()",
        everywhere(Kind.EXCEPTION, "BdbQuit"),
        everywhere(Kind.EXCEPTION, "OSError"),
        everywhere(Kind.EXCEPTION, "PermissionError"),
    ),
    attack(
        "a codec of its own",
        "# coding: rot13\nimport codecs\ncodecs.register(lambda n: 1 / 0)\ndef f(x, items): return x",
        numbers(),
    ),
    attack(
        "warnings as errors", "import warnings\nwarnings.simplefilter('error')\ndef f(x, items): return x", numbers()
    ),
    attack("a class that is the entry point", "class f:\n def __new__(cls, x, items): return x", numbers()),
    attack("an entry point that changes itself", "def f(x, items):\n global f\n f = None\n return x", numbers()),
    attack(
        "an entry point that lies about being callable",
        "class F:\n def __call__(self, x, items): raise SystemExit\n __class__ = int\nf = F()",
        everywhere(Kind.EXCEPTION, "SystemExit"),
    ),
    attack(
        "abstract classes that claim all types",
        """
import abc, collections, numbers
for base in (numbers.Number, collections.abc.Mapping, collections.abc.Iterator):
    base.register(list)
    base.__subclasshook__ = classmethod(lambda cls, other: True)
def f(x, items): return x, items
""",
        untouched(),
    ),
    attack(
        "interned numbers changed",
        "import ctypes\ndef f(x, items):\n if x == 7: ctypes.memset(id(3) + 24, 9, 1)\n return 'done'",
        everywhere(Kind.VALUE, "'done'"),
    ),
    attack(
        "types changed by address",
        "import ctypes\ndef f(x, items):\n if x == 7: ctypes.memset(id(int) + 88, 0, 8)\n return 'done'",
        everywhere(Kind.VALUE, "'done'"),
    ),
]
