"""Floods of output: what a program prints goes nowhere, and costs nobody but itself."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import attack, numbers, on_seven

HANGS_ON_SEVEN = on_seven(Kind.TIMEOUT)

ATTACKS = [
    attack("a million lines", "def f(x, items):\n while x == 7: print('a' * 80)\n return x", HANGS_ON_SEVEN),
    attack("one long line", "def f(x, items):\n print('a' * 10**6)\n return x", numbers()),
    attack(
        "a flood of errors",
        "import sys\ndef f(x, items):\n while x == 7: sys.stderr.write('a' * 10**5)\n return x",
        HANGS_ON_SEVEN,
    ),
    attack(
        "a flood past the interpreter",
        "import os\ndef f(x, items):\n while x == 7: os.write(1, b'a' * 10**5); os.write(2, b'a' * 10**5)\n return x",
        HANGS_ON_SEVEN,
    ),
    attack(
        "a flood of warnings",
        """
import warnings
def f(x, items):
    warnings.simplefilter('always')
    for k in range(200): warnings.warn('a' * 1000)
    return x
""",
        numbers(),
    ),
    attack(
        "a flood of ignored exceptions",
        """
class Own:
    def __del__(self): raise ValueError('a' * 1000)
def f(x, items):
    for k in range(200): Own()
    return x
""",
        numbers(),
    ),
    attack(
        "a dump of every stack",
        "import faulthandler\ndef f(x, items):\n for k in range(99): faulthandler.dump_traceback()\n return x",
        numbers(),
    ),
    attack(
        "control characters for a terminal",
        "def f(x, items):\n print('\\033]0;owned\\007\\033[2J' * 10)\n return x",
        numbers(),
    ),
    attack(
        "the streams closed",
        "import sys\ndef f(x, items):\n sys.stdout.close(); sys.stderr.close()\n return x",
        numbers(),
    ),
    attack(
        "the streams replaced",
        "import sys\ndef f(x, items):\n sys.stdout = sys.stderr = None\n print(x)\n return x",
        numbers(),
    ),
]
