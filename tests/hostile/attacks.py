"""The attacks, a group a file: `## NAME -> OUTCOMES | OTHER OUTCOMES [bites]`, and below that line the program.

Outcomes are said in the words of attack.py. Below `## NAME` alone stands what a line NAME of later programs means.
Programs that write a reply of their own differ in the reply only: they are rows here.
"""

import platform
from pathlib import Path

from tests.hostile import attack
from tests.hostile.attack import CRASHED, FORGED, GIVEN_UP, Attack, Kind, Outcomes, each, given_up, numbers

_FOLDER = Path(__file__).with_name("attacks")
_NAMES = (
    *("time", "memory", "processes", "kernel", "files", "network", "forging", "lies", "raising", "surroundings"),
    *("mapping", "doors", "loading", "collisions", "printing"),
)


def read_group(name: str) -> list[Attack]:
    """Return the attacks of a group, with those that only this kind of machine understands."""
    paths = [path for path in (_FOLDER / f"{name}.txt", _FOLDER / f"{name}.{platform.machine()}.txt") if path.exists()]
    shared: dict[str, str] = {}
    found = []
    for block in (block for path in paths for block in path.read_text().split("\n## ")[1:]):
        head, _, source = block.partition("\n")
        said, _, outcomes = head.partition(" -> ")
        source = "".join(shared.get(line.strip(), line) for line in source.rstrip("\n").splitlines(keepends=True))
        if outcomes:
            expected = tuple(eval(words, vars(attack)) for words in outcomes.removesuffix(" bites").split(" | "))
            found.append(Attack(name=said, source=source, expected=expected, bites=outcomes.endswith(" bites")))
        else:
            shared[said] = source + "\n"
    return found


def _poke(body: str) -> str:
    """Return a program that reaches the reply and its header, and does ``body`` with them."""
    return f"""\
import os
def f(x, items):
    m, head = harness()['reply'], harness()['head']
    {body}
    return x
"""


def _replies(text: str, state: int) -> str:
    """Return a program that writes a reply of its own, says that it is in ``state``, and leaves."""
    return _poke(f"m.write({text}); head[0] = {state}; os._exit(0)")


def _fills(byte: int, body: str) -> str:
    return _poke(
        f"import ctypes; ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(m)) + 64, {byte}, len(m) - 64); "
        f"{body}; os._exit(0)"
    )


_RUNNING, _AGAIN, _DONE, _FULL, _NOT_LOADED = 1, 2, 3, 4, 5
_OWN_CHOICE = attack.value("1")
_NO_ROOM = attack.everywhere(Kind.MEMORY)
_EXIT = attack.not_loaded("exit")
_WRITTEN: dict[str, tuple[str, int, Outcomes]] = {
    "all outcomes written at once": ("b'V1\\n' * 20", _DONE, _OWN_CHOICE),
    "run a second time and not yet done": ("b'V1\\n' * 20", _AGAIN, _OWN_CHOICE),
    "an outcome more than inputs": ("b'V1\\n' * 21", _DONE, FORGED),
    "an outcome more than inputs and a crash": ("b'V1\\n' * 21", _RUNNING, FORGED),
    "an outcome too few": ("b'V1\\n' * 19", _DONE, FORGED),
    "no outcome at all": ("b''", _DONE, FORGED),
    "an empty outcome": ("b'\\n' * 20", _DONE, FORGED),
    "a line without its end": ("b'V1\\n' * 19 + b'V1'", _DONE, FORGED),
    "bytes that are no text": ("b'V\\xff\\n' * 20", _DONE, FORGED),
    "text that talks to a terminal": ("b'V\\x1b[m\\n' * 20", _DONE, FORGED),
    "text that turns around": ("b'V\\xe2\\x80\\xae\\n' * 20", _DONE, FORGED),
    "text too long": ("b'V' * 99_999 + b'\\n' + b'V1\\n' * 19", _DONE, FORGED),
    **{f"an outcome that says {letter}": (f"b'{letter}1\\n' * 20", _DONE, FORGED) for letter in "TMCSLFa"},
    "a zero byte amid the outcomes": ("b'V1\\n' * 10 + b'V\\0\\n' + b'V1\\n' * 9", _DONE, FORGED),
    "an outcome with half of a pair": ("b'V\\xed\\xa0\\x80\\n' * 20", _DONE, FORGED),
    "an outcome with a letter written too long": ("b'V\\xc1\\x81\\n' * 20", _DONE, FORGED),
    "an outcome with a carriage return": ("b'V1\\r\\n' * 20", _DONE, FORGED),
    "an outcome with a line of another alphabet": ("b'V1\\xe2\\x80\\xa8\\n' * 20", _DONE, FORGED),
    "an outcome with a control of eight bits": ("b'V\\xc2\\x9b31m\\n' * 20", _DONE, FORGED),
    "an outcome with a mark of the order of bytes": ("b'\\xef\\xbb\\xbfV1\\n' * 20", _DONE, FORGED),
    "a reason not to be loaded that is none": ("b'La\\x07b\\n'", _NOT_LOADED, FORGED),
    "a reason not to be loaded of another kind": ("b'V1\\n'", _NOT_LOADED, FORGED),
    "a reason not to be loaded that is huge": ("b'L' * (1 << 22) + b'\\n'", _NOT_LOADED, _EXIT),
}
"""Name -> what is written, the state that is said, the outcomes."""
_POKED: dict[str, tuple[str, tuple[Outcomes, ...]]] = {
    "every word of its head set": ("for k in range(8): head[k] = (1 << 64) - 1\n    os._exit(0)", (CRASHED,)),
    "an end before the beginning": ("head[0] = 3; head[1] = 1; m.seek(0); os._exit(0)", (FORGED,)),
    "a state that does not exist": ("head[0] = 2**64 - 1; os._exit(0)", (CRASHED,)),
    "a state of full without an outcome": ("head[0] = 4; os._exit(0)", (_NO_ROOM,)),
    "a count of calls that overflows": ("head[2] = 2**64 - 1", (numbers(),)),
    "written at the end of the room": ("m.seek(len(m) - 1)", (_NO_ROOM,)),
    "written before the start": ("m.seek(0)", (FORGED, given_up(Kind.TIMEOUT, 3), CRASHED)),
    "the zygote's word on a crash overwritten": ("if x == 0: os._exit(1)\n    m[64:70] = b'Vexit\\n'", (FORGED,)),
    "earlier outcomes overwritten": ("m[64:67] = b'V9\\n'", (each(lambda i: (Kind.VALUE, str(i or 9))),)),
    "not loaded after all": ("head[0] = 5; os._exit(0)", (_EXIT,)),
}
_FILLED: dict[str, tuple[int, str, tuple[Outcomes, ...]]] = {
    "the room full of newlines": (10, "head[0] = 3", (FORGED, GIVEN_UP)),
    "the room full of one outcome": (86, "m[-1] = 10; head[0] = 3", (FORGED, GIVEN_UP)),
    "the room full of one outcome and a crash": (86, "m[-1] = 10", (_NO_ROOM, GIVEN_UP)),
    "the room full without an outcome": (86, "head[0] = 4", (_NO_ROOM, GIVEN_UP)),
}
_FORGING = [
    *(Attack(name=n, source=_replies(text, state), expected=(e,)) for n, (text, state, e) in _WRITTEN.items()),
    *(Attack(name=n, source=_poke(body), expected=e) for n, (body, e) in _POKED.items()),
    *(Attack(name=n, source=_fills(byte, body), expected=e) for n, (byte, body, e) in _FILLED.items()),
]
GROUPS: dict[str, list[Attack]] = {name: _FORGING * (name == "forging") + read_group(name) for name in _NAMES}
