"""Each wrong word on the way to a check: one clear line, status 2, and nothing left behind."""

import shlex
from pathlib import Path

import pytest

from tests.support.command import Capture, run
from tests.support.repository import write
from tests.support.stubs import returning

MODULE = '''import datetime


class Box:
    def __init__(self, size: int):
        self.size = size

    def add(self, x: int) -> int:
        """Return the size, plus x.

        >>> Box(1).add(2)
        3
        """
        ...


def double(x: int) -> int:
    """Return x, doubled.

    >>> double(1)
    2
    """
    ...
'''
ONE = "module.py::double"
OPENAI = f"{ONE} --model openai/x"
CHECK = f"{ONE} --candidates programs"
REFUSALS = {
    "missing folder": (f"{ONE} --candidates nowhere", "nowhere cannot be read"),
    "empty folder": (f"{ONE} --candidates empty", "found none; give another folder"),
    "file as folder": (f"{ONE} --candidates module.py", "module.py cannot be read"),
    "folder as module": ("empty::double --candidates programs", "empty cannot be read: Is a directory"),
    "syntax error": ("broken.py::double --candidates programs", "SyntaxError: '(' was never closed in line 1"),
    "deep": ("deep.py::double --candidates programs", "a few hundred levels at most, found more"),
    "missing class": ("module.py::Bag.add --candidates programs", "found: Box; name one of these"),
    "missing method": ("module.py::Box.take --candidates programs", "found: __init__, add"),
    "a class": ("module.py::Box --candidates programs", "such as programs/Box.add/*.py, found programs/*.py"),
    "no colons": ("module --candidates programs", "got 'module'; name the file, two colons"),
    "a file": ("module.py --candidates programs", "a folder of candidates for each function"),
    "a folder without functions": ("empty --candidates programs", "expected functions in empty, found none"),
    "several and nowhere": ("module.py nowhere --candidates programs", "a file or a folder, got 'nowhere'"),
    "several, neither": ("module.py", "got neither; name an LLM, or a folder of programs"),
    "several, an example": ('module.py --example "f(1)" --model openai/x', "one function with --example"),
    "several, an output": ("module.py --out x.py --candidates programs", "one function with --out"),
    "several, a pin": ("module.py --pin 1 --candidates programs", "expected one function with --pin"),
    "no target": ("--candidates programs", "expected what to check, got nothing"),
    "no revision": ("--changed-since x --candidates programs", "git repository"),
    "body of a stub": (f"{CHECK} --with-body", "expected a body in double to compare, found none"),
    "colons twice": ("module.py::Box::add --candidates programs", "got 'module.py::Box::add'"),
    "both": (f"{CHECK} --model openai/x", "got both; leave one out"),
    "store in another folder": (f"{OPENAI} --store empty/..", "is no difftrust"),
    "store in a file": (f"{OPENAI} --store module.py", "is no difftrust store"),
    "store that cannot be made": (f"{OPENAI} --store module.py/s", "cannot be made: Not a directory"),
    "unknown package": (f"{CHECK} --allow-import no_such_thing", "no package 'no_such_thing' is installed"),
    "assume without sense": (f'{CHECK} --assume "x >"', "got 'x >': invalid syntax; write e.g."),
    "assume of another": (f'{CHECK} --assume "y > 1"', "y is not known; use the parameters' names"),
    "assume of nothing": (f'{CHECK} --assume "1 < 2"', "which names none of them"),
    "example of an unknown name": (f'{CHECK} --example "double(y)"', "y is not defined"),
    "example of another": (f'{CHECK} --example "triple(1) == 3"', "expected a call of double"),
    "no inputs": (f"{CHECK} -n 0", "greater than or equal to 1"),
    "witnesses": (f"{CHECK} --witnesses -1", "greater than or equal to 0"),
    "tolerance": (f"{CHECK} --tolerance -1", "greater than or equal to 0"),
    "equality": (f"{CHECK} --equality loose", "'paper', 'strict', 'value'"),
    "validity": (f"{CHECK} --inputs most", "'quorum', 'all'"),
    "unknown option": (f"{CHECK} --bogus", "No such option: --bogus"),
    "output nowhere": (f"{CHECK} --out nowhere/x.py", "is no folder; change --out"),
    "output is a folder": (f"{CHECK} --out empty", "it is a folder; change --out"),
    "pins of answers that nobody gives": (f"{CHECK} --pin answers", "expected --ask with --pin answers"),
    "pin without result": (f'{ONE} --pin "double(1)"', "expected a call and its result"),
    "pin of another": (f'{ONE} --pin "triple(1) == 3"', "expected a call of double"),
    "pin against an example": (f'{ONE} --pin "double(1) == 3"', "already says double(1) is 2"),
    "second pin against the first": (
        f'{ONE} --pin "double(5) == 10" --pin "double(5) == 11"',
        "already says double(5) is 10",
    ),
    "pin, then no folder": (f'{ONE} --pin "double(5) == 10" --candidates nowhere', "nowhere cannot be read"),
    "pin of a method against an example": (
        'module.py::Box.add --pin "Box(1).add(2) == 4"',
        "already says Box(1).add(2) is 3",
    ),
    "pin that the module cannot spell": (
        f"{ONE} --pin \"double(2) == Decimal('4')\"",
        "the module does not import Decimal",
    ),
    "pin of nan": (f"{ONE} --pin \"double(2) == float('nan')\"", "nan equals nothing"),
    "pin that runs code": (f"{ONE} --pin \"double(2) == open('x')\"", "double(2) == open('x')"),
    "two behaviours": (f"{CHECK} --pin 1 --pin 2", "expected one behaviour to be right, got 2"),
    "address": (f"{OPENAI} --api-base localhost:9", "write http://localhost:9"),
    "no server": (f"{OPENAI} --api-base http://127.0.0.1:9/v1", "127.0.0.1:9"),
}
"""What stands after `difftrust check` -> what is said."""


def state(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else "" for p in folder.rglob("*")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "planted-0123456789-abcdefghij-key")
    programs = zip("abc", returning("double(x)", "2 * x", "x + x", "x * 3"), strict=True)
    write(tmp_path, {"module.py": MODULE, **{f"programs/{name}.py": text for name, text in programs}})
    write(tmp_path, {"broken.py": "def double(\n", "deep.py": f"def double(x):\n    return x{'+x' * 500}\n"})
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_and_leaves_nothing_behind(name: str, folder: Path, capsys: Capture) -> None:
    words, message = REFUSALS[name]
    before = state(folder)
    status, out, err = run(capsys, "check", *shlex.split(words))
    lines = [line for line in err.splitlines() if line.startswith("difftrust: ")]
    assert (status, out, len(lines)) == (2, "", 1)
    assert message in lines[0] == err.splitlines()[-1]
    assert state(folder) == before


def test_a_behaviour_that_is_not_there_is_refused_and_pins_before_it_are_taken_back(
    folder: Path, capsys: Capture
) -> None:
    status, _, err = run(capsys, "check", *CHECK.split(), "-n", "50", "--pin", "double(5) == 10", "--pin", "9")
    assert (status, "got 9" in err) == (2, True)
    assert (folder / "module.py").read_text() == MODULE
