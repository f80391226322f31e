"""Attacks on the harness's memory: outcomes forged, its code rewritten, other programs' data looked for."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import CRASHED, FORGED, GIVEN_UP, N, attack, everywhere, given_up, numbers


def _poke(body: str) -> str:
    """Return a program that reaches the reply and its header, and does ``body`` with them."""
    return f"""
import os
def f(x, items):
    m, head = harness()['reply'], harness()['head']
    {body}
    return x
"""


def _replies(text: str, state: int) -> str:
    """Return a program that writes a reply of its own, says that it is in ``state``, and leaves."""
    return _poke(f"m.write({text}); head[0] = {state}; os._exit(0)")


def _fill(byte: int, body: str) -> str:
    return _poke(
        f"import ctypes; ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(m)) + 64, {byte}, len(m) - 64); "
        f"{body}; os._exit(0)"
    )


RUNNING, DONE, FULL, NOT_LOADED = 1, 3, 4, 5
_NINE_FIRST = tuple((Kind.VALUE, str(i) if i else "9") for i in range(N))
OWN_CHOICE = everywhere(Kind.VALUE, "1")
NO_ROOM = everywhere(Kind.MEMORY)

ATTACKS = [
    attack("all outcomes written at once", _replies("b'V1\\n' * 20", DONE), OWN_CHOICE),
    attack("an outcome more than inputs", _replies("b'V1\\n' * 21", DONE), FORGED),
    attack("an outcome more than inputs and a crash", _replies("b'V1\\n' * 21", RUNNING), FORGED),
    attack("an outcome too few", _replies("b'V1\\n' * 19", DONE), FORGED),
    attack("no outcome at all", _replies("b''", DONE), FORGED),
    attack("an empty outcome", _replies("b'\\n' * 20", DONE), FORGED),
    attack("a line without its end", _replies("b'V1\\n' * 19 + b'V1'", DONE), FORGED),
    attack("bytes that are no text", _replies("b'V\\xff\\n' * 20", DONE), FORGED),
    attack("text that talks to a terminal", _replies("b'V\\x1b[m\\n' * 20", DONE), FORGED),
    attack("text that turns around", _replies("'V\u202e\\n'.encode() * 20", DONE), FORGED),
    attack("text too long", _replies("b'V' * 99_999 + b'\\n' + b'V1\\n' * 19", DONE), FORGED),
    *[
        attack(f"an outcome that says {letter}", _replies(f"b'{letter}1\\n' * 20", DONE), FORGED)
        for letter in "TMCSLFa"
    ],
    attack("a zero byte amid the outcomes", _replies("b'V1\\n' * 10 + b'V\\0\\n' + b'V1\\n' * 9", DONE), FORGED),
    *[
        attack(f"an outcome with {name}", _replies(f"bytes.fromhex('{text.hex()}') * 20", DONE), FORGED)
        for name, text in {
            "half of a pair": b"V\xed\xa0\x80\n",
            "a letter written too long": b"V\xc1\x81\n",
            "a carriage return": b"V1\r\n",
            "a line of another alphabet": "V1\u2028\n".encode(),
            "a control of eight bits": b"V\xc2\x9b31m\n",
            "a mark of the order of bytes": "\ufeffV1\n".encode(),
        }.items()
    ],
    attack("every word of its head set", _poke("for k in range(8): head[k] = (1 << 64) - 1\n    os._exit(0)"), CRASHED),
    attack("an end before the beginning", _poke("head[0] = 3; head[1] = 1; m.seek(0); os._exit(0)"), FORGED),
    attack(
        "run a second time and not yet done",
        _replies("b'V1\\n' * 20", 2),
        OWN_CHOICE,
    ),
    attack(
        "the host's request rewritten",
        """
import os
def f(x, items):
    wrote = 0
    for descriptor in range(64):
        try: wrote += os.pwrite(descriptor, b'{}', 0)
        except (OSError, AttributeError): pass
    return x + wrote
""",
        numbers(),
    ),
    attack("a state that does not exist", _poke("head[0] = 2**64 - 1; os._exit(0)"), CRASHED),
    attack("a state of full without an outcome", _poke("head[0] = 4; os._exit(0)"), NO_ROOM),
    attack("a count of calls that overflows", _poke("head[2] = 2**64 - 1"), numbers()),
    attack("written at the end of the room", _poke("m.seek(len(m) - 1)"), NO_ROOM),
    attack("written before the start", _poke("m.seek(0)"), FORGED, given_up(Kind.TIMEOUT, 3), CRASHED),
    attack(
        "the zygote's word on a crash overwritten",
        _poke("if x == 0: os._exit(1)\n    m[64:70] = b'Vexit\\n'"),
        FORGED,
    ),
    attack("earlier outcomes overwritten", _poke("m[64:67] = b'V9\\n'"), _NINE_FIRST),
    attack("the room full of newlines", _fill(10, "head[0] = 3"), FORGED, GIVEN_UP),
    attack("the room full of one outcome", _fill(86, "m[-1] = 10; head[0] = 3"), FORGED, GIVEN_UP),
    attack("the room full of one outcome and a crash", _fill(86, "m[-1] = 10"), NO_ROOM, GIVEN_UP),
    attack("the room full without an outcome", _fill(86, "head[0] = 4"), NO_ROOM, GIVEN_UP),
    attack("not loaded after all", _poke("head[0] = 5; os._exit(0)"), everywhere(Kind.LOAD_ERROR, "exit")),
    attack("a reason not to be loaded that is none", _replies("b'La\\x07b\\n'", NOT_LOADED), FORGED),
    attack("a reason not to be loaded of another kind", _replies("b'V1\\n'", NOT_LOADED), FORGED),
    attack(
        "a reason not to be loaded that is huge",
        _replies("b'L' * (1 << 22) + b'\\n'", NOT_LOADED),
        everywhere(Kind.LOAD_ERROR, "exit"),
    ),
    attack(
        "written by address",
        """
import ctypes, os
def f(x, items):
    m = harness()['reply']
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    ctypes.memset(at, 0xff, 64)
    ctypes.memset(at + 64, 0x41, 1 << 20)
    os._exit(0)
""",
        FORGED,
    ),
    attack(
        "memory overwritten until it crashes",
        """
import ctypes
def f(x, items):
    at = id(items)
    while True:
        ctypes.memset(at, 0xff, 4096)
        at += 4096
""",
        given_up(Kind.CRASH, 4, "SIGSEGV"),
    ),
    attack(
        "a pointer to nothing",
        "import ctypes\ndef f(x, items): ctypes.string_at(0)",
        given_up(Kind.CRASH, 4, "SIGSEGV"),
    ),
    attack(
        "the reply resized and closed",
        """
def f(x, items):
    m, head = harness()['reply'], harness()['head']
    m.madvise(4)
    for act in (m.close, lambda: m.resize(1), head.release):
        try: act()
        except (BufferError, SystemError, OSError, ValueError): pass
    return x
""",
        numbers(),
    ),
    attack(
        "a frame sent to the host",
        """
import os, socket, struct
def f(x, items):
    reply = struct.pack('=IB16s', 40, 6, bytes(16)) + b'{"index": 1, "lines": ["V1"]}' + bytes(11)
    sent = 0
    for descriptor in range(3, 300):
        try: sent += os.write(descriptor, reply)
        except OSError: pass
    try: sent += harness()['channel'].socket.send(reply)
    except OSError: pass
    return x + sent
""",
        numbers(),
    ),
    attack(
        "the harness's functions rewritten",
        """
def f(x, items):
    for name in ('text_of', 'name_of'):
        harness()[name].__code__ = (lambda *_: '99').__code__
    return x
""",
        everywhere(Kind.VALUE, "99"),
    ),
    attack(
        "the harness's modules overwritten",
        """
import gc, sys, types
HARNESS = ('canonical', 'program', 'watch', 'confine', 'channel', 'zygote', 'literals')
def f(x, items):
    gc.unfreeze()
    for o in gc.get_objects():
        if type(o) is types.ModuleType and o.__name__ in HARNESS:
            vars(o).clear()
    for name in [*sys.modules]:
        if name not in ('sys', 'builtins'): sys.modules[name] = None
    return x
""",
        CRASHED,
        numbers(),
    ),
    attack(
        "modules of the harness put in its place",
        """
import sys, types
for name in ('canonical', 'program', 'watch', 'confine', 'channel', 'zygote', 'literals', '__main__'):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].canonical = sys.modules[name].run = lambda *_: 'forged'
def f(x, items): return x
""",
        numbers(),
    ),
    attack(
        "every function of the harness found and replaced",
        """
import gc, types
def instead(*_, **__): return 'forged'
def f(x, items):
    gc.unfreeze()
    for o in gc.get_objects():
        if type(o) is types.FunctionType and o.__module__ in ('watch', 'confine', 'channel', '__main__', 'zygote'):
            o.__code__ = instead.__code__
    return x
""",
        numbers(),
    ),
    attack(
        "other inputs changed",
        """
def f(x, items):
    inputs = harness()['inputs']
    before = inputs._values[:]
    inputs._values[:] = [(99, [])] * len(before)
    inputs._blobs[:] = [None] * len(before)
    return before[x]
""",
        tuple((Kind.VALUE, f"({i}, [{i}, [{i}]])") if i == 0 else (Kind.EXCEPTION, "IndexError") for i in range(N)),
    ),
    attack(
        "arguments changed after the call",
        "kept = []\ndef f(x, items):\n for k in kept: k.clear()\n kept.append(items)\n return x, items",
        tuple((Kind.VALUE, f"({i}, [{i}, [{i}]])") for i in range(N)),
    ),
    attack(
        "another program's data looked for",
        """
import gc, sys
gc.unfreeze()
def f(x, items):
    wanted = '-'.join(['reference', 'answer'])
    def strings(o, depth=0):
        if type(o) is str: yield o
        elif type(o) is bytes: yield o.decode('latin-1')
        elif depth < 3 and type(o) in (list, tuple, dict, set):
            for part in [*o, *o.values()] if type(o) is dict else [*o]: yield from strings(part, depth + 1)
    if x % 5: return []
    found = [s[:60] for o in gc.get_objects() for s in strings(o) if wanted in s and s != wanted]
    found += [s[:60] for v in harness().values() for s in strings(v) if wanted in s and s != wanted]
    return found
""",
        everywhere(Kind.VALUE, "[]"),
    ),
    attack(
        "another program's data looked for in freed memory",
        """
import ctypes, gc
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
libc.access.argtypes = [ctypes.c_void_p, ctypes.c_int]
PAGE, ARENA = 4096, 1 << 20
def there(at):
    ctypes.set_errno(0)
    libc.access(at, 0)
    return ctypes.get_errno() != 14  # the kernel could read it
def f(x, items):
    wanted = bytes(b ^ 1 for b in b'sdgdsdobd,`orvds')
    stop = start = libc.sbrk(0) & -PAGE
    while x == 0 and there(start - PAGE): start -= PAGE
    found = ctypes.string_at(start, stop - start).count(wanted)
    for base in sorted({id(o) & -ARENA for o in gc.get_objects()})[x::20]:  # a share for each input
        stop = base
        while there(stop) and stop < base + ARENA: stop += PAGE
        found += ctypes.string_at(base, stop - base).count(wanted)
    return found > 2  # once as ``wanted`` itself, once in a copy of it
""",
        everywhere(Kind.VALUE, "False"),
    ),
    attack(
        "another program's data looked for in the reply",
        """
def f(x, items):
    reply = harness()['reply']
    return reply.find(b'reference', 0, 1 << 22), reply.tell() > 64 + 30 * x
""",
        everywhere(Kind.VALUE, "(-1, False)"),
    ),
    attack(
        "the host's objects looked for",
        """
import gc
gc.unfreeze()
def f(x, items):
    names = {type(o).__name__ for o in gc.get_objects()}
    return sorted(names & {'Sandbox', 'OutcomeTable', 'Popen', 'DataFrame'})
""",
        everywhere(Kind.VALUE, "[]"),
    ),
]
