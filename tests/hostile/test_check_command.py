"""Hostile files through the whole command: what they try is done in the sandbox only, and nothing is left running."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.proc import below, end

COMMAND = [sys.executable, "-P", "-c", "from difftrust.cli import main; main()", "check"]
TOUCH = "__import__('os').system('touch {}')"
FILE = '''
import os
from dataclasses import dataclass


class Meta(type):
    def __new__(cls, *parts):
        TRIES
        return super().__new__(cls, *parts)

    def __instancecheck__(cls, item):
        TRIES
        return True


def decorated(function):
    TRIES
    return function


@dataclass
class Own(metaclass=Meta):
    x: int

    def __post_init__(self):
        TRIES

    def __class_getitem__(cls, item):
        TRIES
        return cls


@decorated
def f(p: Own, y: (TRIES, int)[1] = (TRIES, 0)[1], z: "Own[TRIES]" = None) -> int:
    """Return the field. \x1b[31m

    >>> import os; TRIES
    0
    >>> f(Own(1), 2)
    1

    Requires:
        p.x > -10 ** 9 or TRIES
    """
    assert TRIES or p.x < 10 ** 9
'''
CANDIDATES = {
    "plain.py": "def f(p, y=0, z=None): return p.x",
    "tries.py": "import os\nTRIES\ndef f(p, y=0, z=None):\n    TRIES\n    return p.x + 0",
    "floods.py": "def f(p, y=0, z=None):\n    print('a' * 20_000)\n    return p.x",
    "replaces.py": "import builtins\nfor n in ('len', 'repr', 'type'): setattr(builtins, n, None)\n"
    "def f(p, y=0, z=None): return p.x",
    "huge.py": "def f(p, y=0, z=None): return 'a' * 10 ** 6",
    "forges.py": "class Got:\n    def __init__(self, x): self.x = x\nclass Effects(Got): pass\n"
    "def f(p, y=0, z=None): return Effects(Got(True))",
    "lies.py": "class Lies(int):\n    def __eq__(self, other): return True\n    def __repr__(self): return '1'\n"
    "    __hash__ = int.__hash__\ndef f(p, y=0, z=None): return Lies(p.x + 1)",
    "a\x1b[2Jb.py": "def f(p, y=0, z=None): return '\\x1b[31m\\u202e'",
}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=300)


def laid_out(folder: Path, module: str, candidates: Mapping[str, str]) -> None:
    """Write a module and candidates for its function."""
    (folder / "module.py").write_text(module)
    (folder / "programs").mkdir()
    for name, text in candidates.items():
        (folder / "programs" / name).write_text(text)


@pytest.mark.quick(1)
@pytest.mark.parametrize("more", [(), ("--format=json",)])
def test_what_a_file_and_its_candidates_try_is_in_vain(tmp_path: Path, more: tuple[str, ...]) -> None:
    bait = tmp_path / "bait"
    tries = TOUCH.format(bait)
    hostile = {name: text.replace("TRIES", tries) for name, text in CANDIDATES.items()}
    laid_out(tmp_path, FILE.replace("TRIES", tries), hostile)
    before = sorted(tmp_path.rglob("*"))
    words = ("--assume", f"p.x or {tries} or True", "--example", f"f({tries})")
    ended = run(tmp_path, "module.py::f", "--candidates", "programs", "-n", "20", *more, *words)
    assert ended.returncode in (1, 2, 3), ended.stderr
    assert sorted(tmp_path.rglob("*")) == before
    assert not {"\x1b", "\x07", "\u202e"} & set(ended.stdout + ended.stderr)
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_candidates_that_lie_forge_or_flood_are_no_coherence(tmp_path: Path) -> None:
    module = 'def f(p: int, y: int = 0) -> int:\n    """Return p.\n\n    >>> f(1)\n    1\n    """\n'
    programs = {name: text.replace("p.x", "p").replace("TRIES", "pass") for name, text in CANDIDATES.items()}
    laid_out(tmp_path, module, programs)
    ended = run(tmp_path, "module.py::f", "--candidates", "programs", "-n", "60", "--format=json")
    found = json.loads(ended.stdout)
    assert (ended.returncode, found["verdict"]) == (1, "incoherent")
    wrong = {name for each in found["contradictions"] for name in each["candidates"]}
    assert wrong == {"forges.py", "huge.py", "a\x1b[2Jb.py"}  # the others are told apart by what they do
    assert sorted(len(cluster["candidates"]) for cluster in found["clusters"]) == [1, 1, 1, 1, 1, 3]
    right = max(found["clusters"], key=lambda cluster: len(cluster["candidates"]))
    assert set(right["candidates"]) == {"plain.py", "tries.py", "replaces.py"}
    assert not {"\x1b", "\u202e"} & set(ended.stdout)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_an_interrupt_leaves_nothing_running(tmp_path: Path) -> None:
    module = 'def f(x: int) -> int:\n    """Return x.\n\n    >>> f(1)\n    1\n    """\n'
    laid_out(tmp_path, module, {f"{k}.py": f"def f(x):\n    while True:\n        x = {k}\n" for k in range(9)})
    words = [*COMMAND, "module.py::f", "--candidates", "programs"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    for line in process.stderr:  # on a busy machine it says first what it is at
        if "9 candidates" in line:
            break
    time.sleep(0.5)
    family = below(process.pid)
    assert family
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in said
    assert "Traceback" not in said
    assert end(family, within=20)


@pytest.mark.slow
def test_a_check_whose_candidates_all_hang_says_so_and_ends(tmp_path: Path) -> None:
    bodies = {"computes": "while True: pass", "waits": "__import__('time').sleep(1000)"}
    programs = {f"{name}.py": f"def f(x):\n    {body}\n" for name, body in bodies.items()}
    laid_out(tmp_path, 'def f(x: int) -> int:\n    """Return x."""\n', programs)
    began = time.monotonic()
    ended = run(tmp_path, "module.py::f", "--candidates", "programs")
    assert time.monotonic() - began < 60
    assert ended.returncode == 3
    assert "timeout in all candidates" in ended.stdout
    assert re.search(r"^\w[\w ]+ \(\d+ s\)$", ended.stderr, re.MULTILINE)  # what it is at, and since when
