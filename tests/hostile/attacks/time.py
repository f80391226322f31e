"""Attacks on time: programs that never end, each in another place."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import CRASHED, GIVEN_UP, N, attack, everywhere, numbers, on_seven

HANGS_ON_SEVEN = on_seven(Kind.TIMEOUT)
NEVER_LOADED = everywhere(Kind.LOAD_ERROR, "timeout")

ATTACKS = [
    attack("busy loop", "def f(x, items):\n while x == 7: pass\n return x", HANGS_ON_SEVEN),
    attack("busy loop on every input", "def f(x, items):\n while True: pass", GIVEN_UP),
    attack(
        "busy loop that catches everything",
        """
def f(x, items):
    while x == 7:
        try:
            while True: pass
        except: pass
    return x
""",
        HANGS_ON_SEVEN,
    ),
    attack("sleep", "import time\ndef f(x, items):\n if x == 7: time.sleep(10**6)\n return x", HANGS_ON_SEVEN),
    attack(
        "wait for nothing",
        "import select\ndef f(x, items):\n if x == 7: select.select([], [], [])\n return x",
        HANGS_ON_SEVEN,
    ),
    attack(
        "wait for its own lock",
        """
import threading
def f(x, items):
    lock = threading.Lock()
    lock.acquire()
    if x == 7: lock.acquire()
    return x
""",
        HANGS_ON_SEVEN,
    ),
    attack(
        "hang inside C",
        """
import collections, itertools
def f(x, items):
    if x == 7: collections.deque(itertools.repeat(0), maxlen=0)
    return x
""",
        HANGS_ON_SEVEN,
    ),
    attack(
        "regular expression that backtracks",
        "import re\ndef f(x, items):\n if x == 7: re.match('(a+)+$', 'a' * 60 + 'b')\n return x",
        HANGS_ON_SEVEN,
    ),
    attack("huge power", "def f(x, items):\n if x == 7: 10 ** 10 ** 8\n return x", HANGS_ON_SEVEN),
    attack(
        "huge number as text",
        "import sys\nsys.set_int_max_str_digits(0)\ndef f(x, items): return str(1 << 10**7) if x == 7 else x",
        HANGS_ON_SEVEN,
    ),
    attack(
        "infinite generator returned",
        "def f(x, items):\n while True: yield x",
        everywhere(Kind.UNSUPPORTED, "an iterator of too many items"),
    ),
    attack("generator that hangs while being read", "def f(x, items):\n yield x\n while True: pass", GIVEN_UP),
    attack(
        "generator that will not close",
        """
def f(x, items):
    def g():
        while True:
            try: yield x
            except GeneratorExit: pass
    return next(g())
""",
        numbers(),
    ),
    attack(
        "destructor that never ends",
        """
class Own:
    def __del__(self):
        while True: pass
def f(x, items):
    own = Own() if x == 7 else None
    return x
""",
        HANGS_ON_SEVEN,
    ),
    attack(
        "destructor of the result that never ends",
        """
class Own:
    def __del__(self):
        while True: pass
def f(x, items): return Own() if x == 7 else x
""",
        HANGS_ON_SEVEN,
    ),
    attack(
        "comparison that never ends",
        """
class Own:
    def __lt__(self, other):
        while True: pass
def f(x, items): return sorted([Own(), Own()]) if x == 7 else x
""",
        HANGS_ON_SEVEN,
    ),
    attack(
        "numbers whose hashes collide",
        "def f(x, items): return len({k * (2**61 - 1) for k in range(10**6)}) if x == 7 else x",
        HANGS_ON_SEVEN,
    ),
    attack("hang in an example", "def f(x, items): return x\nwhile True: pass", numbers()),  # loaded without that line
    attack(
        "hang before the definition", "g = next(x for x in iter(int, 1) if x)\ndef f(x, items): return g", NEVER_LOADED
    ),
    attack(
        "infinite output while loading",
        "def g():\n while True: print('a' * 99)\nh = g()\ndef f(x, items): return h",
        NEVER_LOADED,
    ),
    attack(
        "hang of the compiler",
        "code = compile('1' + '+1' * 10**7, '', 'eval')\ndef f(x, items): return code",
        NEVER_LOADED,
        everywhere(Kind.LOAD_ERROR, "MemoryError"),
        everywhere(Kind.LOAD_ERROR, "RecursionError"),
        everywhere(Kind.LOAD_ERROR, "SIGSEGV"),
    ),
    attack("crash again and again", "import os\ndef f(x, items): os._exit(0)", CRASHED),
    attack(
        "slow to load after every crash",
        "import os\nh = sum(range(10**5))\ndef f(x, items): os._exit(x)",
        CRASHED,
    ),
    attack(
        "alarm clock",
        "import signal\ndef f(x, items):\n signal.setitimer(0, 1e-3 * (x == 7))\n while x == 7: pass\n return x",
        on_seven(Kind.CRASH, "SIGALRM"),
    ),
    attack(
        "alarm clock that cannot be stopped",
        """
import signal
def rearm(*_):
    while True: pass
def f(x, items):
    signal.signal(signal.SIGALRM, rearm)
    if x == 7:  # on others, a busy machine might not get to stop the clock in time
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
    while x == 7: pass
    return x
""",
        HANGS_ON_SEVEN,
    ),
    attack(
        "progress that never rests",
        "def f(x, items):\n head = harness()['head']\n while True: head[2] = (head[2] + 1) % 2**64",
        tuple((Kind.TIMEOUT if i == 0 else Kind.SKIPPED, "") for i in range(N)),
    ),
    attack(
        "loading for ever",
        "def f(x, items):\n head = harness()['head']\n head[0] = 0\n while True: pass",
        everywhere(Kind.LOAD_ERROR, "timeout"),
    ),
]
