"""Every attack again as a script that reads standard input, and some on its streams: the programs beside it, the world.

What a script prints is its own choice; that it can do no more is what is tested.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from difftrust_core.base.records import Kind
from difftrust_core.languages.registry import load_language
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Sandbox
from tests.hostile.attack import LIMITS, Attack, N
from tests.hostile.attacks import GROUPS
from tests.hostile.batch import Ran, as_parameters, contained, run_batch
from tests.hostile.conftest import EVERY_LAYER, started
from tests.hostile.outside import Outside
from tests.support.needs import NO_BUBBLEWRAP

STDIN = load_language("stdin")
AS_SCRIPT: dict[str, Any] = {"inputs": [repr((f"{i}\n",)) for i in range(N)], "entry_point": "main"}
CALL = "\nimport sys as _s\n_x = int(_s.stdin.readline())\nprint(f(_x, [_x, [_x]]))\n"
ORDINARY = (
    "KEPT = 'the reference' + '-answer'\nprint(KEPT + input())",
    "import math\nx = int(input())\nprint(math.sqrt(x), 1 / (x - 4), file=open(1, 'w') if x != 6 else None)",
    """
import builtins, os, random, sys
print(sorted(sys.modules), len(vars(builtins)), len(vars(os)), sys.path, sys.flags)
print(random.random(), len(sys.meta_path), dict(os.environ), sys.gettrace(), list(range(3)), len('abc'), input())
""",
)
OWN = {
    "forged lines": "print('\\nV1\\nV2\\nE\\n' * 10)",
    "forged lines past the text layer": "import os\nos.write(1, b'V\\n\\0T\\n' * 99)",
    "the real descriptor": "import posix\nposix.write(1, b'V1\\n' * 99)\nposix.write(0, b'x')",
    "more than there is": "import sys\nwhile True: sys.stdin.read()",
    "reading for ever": "import os\nwhile True: os.read(0, 1 << 30)",
    "writing for ever": "import sys\nwhile True:\n try: sys.stdout.write('x' * 10**6)\n except OSError: pass",
    "a gigabyte": "print('x' * (1 << 30))",
    "gigabytes in parts": "import io, sys\nsys.stdout = io.StringIO()\nwhile True: print('x' * 10**7)",
    "processes": "import os\nwhile True: os.fork()",
    "threads": "import _thread\n_thread.start_joinable_thread(print) if 0 else _thread._set_sentinel()\nprint(1)",
    "endless threads": "import threading\ndef f(): threading.Thread(target=f).start()\nf()",
    "no streams": "import sys\nsys.stdin = sys.stdout = sys.stderr = None\ninput()",
    "hostile streams": "import sys\nclass S:\n def flush(self): raise SystemExit(7)\nsys.stdout = S()",
    "a stream that hangs at the end": "import sys\nclass S:\n def flush(self):\n  while True: pass\nsys.stdout = S()",
    "an exit that never ends": "import atexit\n@atexit.register\ndef f():\n while True: pass",
    "an exit code that lies": "class N(int):\n def __eq__(self, o): return True\nraise SystemExit(N(7))",
    "no builtins": "import builtins\nfor name in dir(builtins): delattr(builtins, name)",
    "no modules": "import sys\nsys.modules.clear()",
    "patched json and str": "import json, builtins\njson.dumps = None\nbuiltins.str = builtins.repr = None",
    "the harness' own frame": """
import sys
frame = sys._getframe()
while frame.f_back: frame = frame.f_back
for name, value in list(frame.f_locals.items()):
    try: value.write(b'V1\\n' * 5)
    except BaseException: pass
""",
    "the doors taken over": "import builtins\nd = builtins.open.__self__\nd.streams = None\nd.write = None\nprint(1)",
    "the raw stream taken over": "import sys\nr = sys.stdout.buffer.raw\nr._streams._parts = [7]\nprint(1)",
    "a destructor after the end": "class D:\n def __del__(self):\n  while True: pass\nx = D()\nprint(1)",
    "names that are no texts": "import builtins, sys\nvars(builtins)[1] = 2\nvars(sys)[()] = 3\nprint(1)",
    "a timer": "import signal as s\ns.signal(s.SIGALRM, lambda *a: 1 / 0)\ns.setitimer(0, 1e-4, 1e-4)\nprint(1)",
    "a trace": "import sys\nsys.settrace(lambda *a: 1 / 0)\nsys.setprofile(lambda *a: 1 / 0)\nprint(1)",
    "an audit hook": "import sys\nsys.addaudithook(lambda *a: 1 / 0)\nprint(1)",
}


@pytest.fixture(scope="module")
def sandbox(outside: Outside) -> Iterator[Sandbox]:
    if not layers.bubblewrap():
        pytest.skip(NO_BUBBLEWRAP)
    yield from started(EVERY_LAYER, replace(LIMITS, program_cpu=4.0), STDIN.runner)


@pytest.fixture(scope="module")
def undisturbed(sandbox: Sandbox, outside: Outside) -> list[Ran]:
    found = run_batch(sandbox, outside, ORDINARY, **AS_SCRIPT)
    assert not any(ran.run.nondeterministic for ran in found)
    assert {kind for ran in found for kind, _ in ran.outcomes} == {Kind.VALUE, Kind.EXCEPTION}
    return found


@pytest.mark.parametrize("name", OWN)
def test_attacks_on_the_streams(name: str, sandbox: Sandbox, outside: Outside, undisturbed: list[Ran]) -> None:
    outcomes = contained(OWN[name], sandbox, outside, undisturbed, ORDINARY, **AS_SCRIPT).outcomes
    assert len(outcomes) == N
    if "forged lines" in name:
        assert {kind for kind, _ in outcomes} == {Kind.VALUE}
        assert len({*outcomes}) == 1


@pytest.mark.quick(4)
@pytest.mark.parametrize("attack", as_parameters(GROUPS))
def test_every_attack_as_a_script(attack: Attack, sandbox: Sandbox, outside: Outside, undisturbed: list[Ran]) -> None:
    ran = contained(attack.source + CALL, sandbox, outside, undisturbed, ORDINARY, **AS_SCRIPT)
    assert len(ran.outcomes) == N
