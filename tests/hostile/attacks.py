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


_FORGES = """\
import ctypes, os
RUNNING, AGAIN, DONE, FULL, NOT_LOADED = 1, 2, 3, 4, 5
def f(x, items):
    m, head = harness()['reply'], harness()['head']
    def leave(state):
        head[0] = state
        os._exit(0)
    def say(text, state):
        m.write(text)
        leave(state)
    def fill(byte):
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(m)) + 64, byte, len(m) - 64)
    BODY
    return x
"""
"""A program that reaches the reply and its header, and does BODY with them."""
_OWN_CHOICE = attack.value("1")
_NO_ROOM = attack.everywhere(Kind.MEMORY)
_EXIT = attack.not_loaded("exit")
_BODIES: dict[str, tuple[str, *tuple[Outcomes, ...]]] = {
    "all outcomes written at once": ("say(b'V1\\n' * 20, DONE)", _OWN_CHOICE),
    "run a second time and not yet done": ("say(b'V1\\n' * 20, AGAIN)", _OWN_CHOICE),
    "an outcome more than inputs": ("say(b'V1\\n' * 21, DONE)", FORGED),
    "an outcome more than inputs and a crash": ("say(b'V1\\n' * 21, RUNNING)", FORGED),
    "an outcome too few": ("say(b'V1\\n' * 19, DONE)", FORGED),
    "no outcome at all": ("say(b'', DONE)", FORGED),
    "an empty outcome": ("say(b'\\n' * 20, DONE)", FORGED),
    "a line without its end": ("say(b'V1\\n' * 19 + b'V1', DONE)", FORGED),
    "bytes that are no text": ("say(b'V\\xff\\n' * 20, DONE)", FORGED),
    "text that talks to a terminal": ("say(b'V\\x1b[m\\n' * 20, DONE)", FORGED),
    "text that turns around": ("say(b'V\\xe2\\x80\\xae\\n' * 20, DONE)", FORGED),
    "text too long": ("say(b'V' * 99_999 + b'\\n' + b'V1\\n' * 19, DONE)", FORGED),
    **{f"an outcome that says {letter}": (f"say(b'{letter}1\\n' * 20, DONE)", FORGED) for letter in "TMCSLFa"},
    "a zero byte amid the outcomes": ("say(b'V1\\n' * 10 + b'V\\0\\n' + b'V1\\n' * 9, DONE)", FORGED),
    "an outcome with half of a pair": ("say(b'V\\xed\\xa0\\x80\\n' * 20, DONE)", FORGED),
    "an outcome with a letter written too long": ("say(b'V\\xc1\\x81\\n' * 20, DONE)", FORGED),
    "an outcome with a carriage return": ("say(b'V1\\r\\n' * 20, DONE)", FORGED),
    "an outcome with a line of another alphabet": ("say(b'V1\\xe2\\x80\\xa8\\n' * 20, DONE)", FORGED),
    "an outcome with a control of eight bits": ("say(b'V\\xc2\\x9b31m\\n' * 20, DONE)", FORGED),
    "an outcome with a mark of the order of bytes": ("say(b'\\xef\\xbb\\xbfV1\\n' * 20, DONE)", FORGED),
    "a reason not to be loaded that is none": ("say(b'La\\x07b\\n', NOT_LOADED)", FORGED),
    "a reason not to be loaded of another kind": ("say(b'V1\\n', NOT_LOADED)", FORGED),
    "a reason not to be loaded that is huge": ("say(b'L' * (1 << 22) + b'\\n', NOT_LOADED)", _EXIT),
    "every word of its head set": ("for k in range(8): head[k] = (1 << 64) - 1\n    os._exit(0)", CRASHED),
    "an end before the beginning": ("head[1] = 1; m.seek(0); leave(DONE)", FORGED),
    "a state that does not exist": ("leave(2**64 - 1)", CRASHED),
    "a state of full without an outcome": ("leave(FULL)", _NO_ROOM),
    "a count of calls that overflows": ("head[2] = 2**64 - 1", numbers()),
    "written at the end of the room": ("m.seek(len(m) - 1)", _NO_ROOM),
    "written before the start": ("m.seek(0)", FORGED, given_up(Kind.TIMEOUT, 3), CRASHED),
    "the zygote's word on a crash overwritten": ("if x == 0: os._exit(1)\n    m[64:70] = b'Vexit\\n'", FORGED),
    "earlier outcomes overwritten": ("m[64:67] = b'V9\\n'", each(lambda i: (Kind.VALUE, str(i or 9)))),
    "not loaded after all": ("leave(NOT_LOADED)", _EXIT),
    "the room full of newlines": ("fill(10); leave(DONE)", FORGED, GIVEN_UP),
    "the room full of one outcome": ("fill(86); m[-1] = 10; leave(DONE)", FORGED, GIVEN_UP),
    "the room full of one outcome and a crash": ("fill(86); m[-1] = 10; os._exit(0)", _NO_ROOM, GIVEN_UP),
    "the room full without an outcome": ("fill(86); leave(FULL)", _NO_ROOM, GIVEN_UP),
}
"""Name -> what is done with the reply, and the outcomes, one of which comes of it."""
_FORGING = [
    Attack(name=name, source=_FORGES.replace("BODY", body), expected=tuple(expected))
    for name, (body, *expected) in _BODIES.items()
]
GROUPS: dict[str, list[Attack]] = {name: _FORGING * (name == "forging") + read_group(name) for name in _NAMES}
