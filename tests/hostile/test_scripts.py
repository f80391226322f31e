"""Every attack again as a script that reads standard input, and some on its streams: the programs beside it, the world.

What a script prints is its own choice; that it can do no more is what is tested.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.language import load_language
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import ProgramRun, Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable
from tests.hostile.attack import LIMITS, N
from tests.hostile.attacks import GROUPS
from tests.hostile.outside import Outside, family, gone, open_files, settled
from tests.hostile.test_contained import n_processes
from tests.support.needs import NO_BUBBLEWRAP

STDIN = load_language("stdin")
INPUTS = [repr((f"{i}\n",)) for i in range(N)]
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
    with Sandbox(replace(LIMITS, program_cpu=4.0), runner=STDIN.runner) as started:
        assert started.still_open == ()
        yield started
        below = family(started.pid)
    assert gone(below)


def run_scripts(sandbox: Sandbox, preamble: str, sources: tuple[str, ...]) -> list[tuple[list[Outcome], ProgramRun]]:
    table = OutcomeTable.empty(N)
    sandbox.load(preamble, INPUTS, table)
    runs = [sandbox.run(source, "main") for source in sources]
    return [([row[k] for row, k in zip(table.rows, run.outcome_ids.tolist(), strict=True)], run) for run in runs]


@pytest.fixture(scope="module")
def undisturbed(sandbox: Sandbox, outside: Outside) -> list[list[Outcome]]:
    found = run_scripts(sandbox, outside.preamble(), ORDINARY)
    assert [run.nondeterministic for _, run in found] == [False] * len(ORDINARY)
    assert {kind for outcomes, _ in found for kind, _ in outcomes} == {Kind.VALUE, Kind.EXCEPTION}
    return [outcomes for outcomes, _ in found]


def contained(source: str, sandbox: Sandbox, outside: Outside, undisturbed: list[list[Outcome]]) -> list[Outcome]:
    """Run a script amid ordinary ones, and check everything but its own outcomes."""
    held, zygote, size = open_files(), sandbox.pid, n_processes(sandbox)
    before, hostile, *after = run_scripts(sandbox, outside.preamble(), (ORDINARY[0], source, *ORDINARY[1:]))
    assert [outcomes for outcomes, _ in (before, *after)] == undisturbed
    assert outside.changes() == []
    assert not any(outside.secret in text for _, text in hostile[0])
    assert sandbox.pid == zygote, "the zygote was replaced"
    settled(zygote, size)
    assert open_files() <= held
    assert hostile[1].cpu < 4.0 + LIMITS.load_cpu
    return hostile[0]


@pytest.mark.parametrize("name", OWN)
def test_attacks_on_the_streams(
    name: str, sandbox: Sandbox, outside: Outside, undisturbed: list[list[Outcome]]
) -> None:
    outcomes = contained(OWN[name], sandbox, outside, undisturbed)
    assert len(outcomes) == N
    if "forged lines" in name:
        assert {kind for kind, _ in outcomes} == {Kind.VALUE}
        assert len({*outcomes}) == 1


@pytest.mark.parametrize(
    ("group", "number"),
    [
        pytest.param(group, number, id=f"{group}-{one.name}", marks=pytest.mark.slow if number else ())
        for group, attacks in GROUPS.items()
        for number, one in enumerate(attacks)
    ],
)
def test_every_attack_as_a_script(
    group: str, number: int, sandbox: Sandbox, outside: Outside, undisturbed: list[list[Outcome]]
) -> None:
    assert len(contained(GROUPS[group][number].source + CALL, sandbox, outside, undisturbed)) == N
