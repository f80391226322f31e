"""Odd results and exceptions: names, fields and messages of a program's own making, values that change when read."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import N, attack, everywhere, numbers


def value(text: str):
    return everywhere(Kind.VALUE, text)


ATTACKS = [
    attack(
        "names that are no names",
        """
def named(name): return type(name, (Exception,), {})
names = ['a' * 10**6, 'a\\nV1', '', 'x y', '\\x1b[2J', 'None', 'class', '\\u202e']
def f(x, items):
    raise named(names[x % len(names)])
""",
        everywhere(Kind.EXCEPTION, "Unnamed"),
    ),
    attack(
        "a name changed to a lie",
        """
class Own(Exception): pass
Own.__name__ = Own.__qualname__ = type('S', (str,), {'isidentifier': lambda s: True, '__len__': lambda s: 1})('V1\\nV2')
def f(x, items): raise Own
""",
        everywhere(Kind.EXCEPTION, "Unnamed"),
        everywhere(Kind.LOAD_ERROR, "TypeError"),
    ),
    attack(
        "fields that are no names",
        "class O: pass\ndef f(x, items):\n o = O(); vars(o)['a=1)\\nV2'] = 1\n return o",
        everywhere(Kind.UNSUPPORTED, "O"),
    ),
    attack(
        "fields that are made up",
        "class D(dict): pass\nclass O:\n @property\n def __dict__(self): return D(a=1)\ndef f(x, items): return O()",
        everywhere(Kind.UNSUPPORTED, "O"),
    ),
    attack(
        "a list that changes while it is read",
        """
class Grows:
    def __init__(self, into): self.into, self.left = into, 3
    def __iter__(self): return self
    def __next__(self):
        if not self.left: raise StopIteration
        self.left -= 1
        self.into.append(self.left)
        return self.left
def f(x, items):
    items = [x]
    items.append(map(int, Grows(items)))
    return items
""",
        tuple((Kind.VALUE, f"[{i}, iterator([2, 1, 0]), 2, 1, 0]") for i in range(N)),
    ),
    attack(
        "a list that grows for ever while it is read",
        """
class Grows:
    def __init__(self, into): self.into, self.done = into, False
    def __iter__(self): return self
    def __next__(self):
        if self.done: raise StopIteration
        self.done = True
        self.into.append(Grows(self.into))
        return 1
def f(x, items):
    items = []
    items.append(Grows(items))
    return [map(int, items[0]), items] if x == 7 else x
""",
        tuple(
            (Kind.VALUE, str(i)) if i != 7 else (Kind.VALUE, "[iterator([1]), [Grows(done=True, into=…")
            for i in range(N)
        ),
        tuple((Kind.VALUE, str(i)) if i != 7 else (Kind.UNSUPPORTED, "a value nested too deeply") for i in range(N)),
        tuple((Kind.VALUE, str(i)) if i != 7 else (Kind.UNSUPPORTED, "too many nodes") for i in range(N)),
    ),
    attack(
        "a dictionary that changes while it is read",
        "def f(x, items):\n d = {}\n d['a'] = (d.setdefault(k, k) for k in range(3))\n return d",
        value("{'a': iterator([0, 1, 2])}"),
        everywhere(Kind.EXCEPTION, "RuntimeError"),
    ),
    attack(
        "a generator that raises when it is closed",
        """
def g():
    try: yield 1
    finally: raise SystemExit(3)
def f(x, items):
    next(kept := g())
    kept.close()
""",
        everywhere(Kind.EXCEPTION, "SystemExit"),
    ),
    attack(
        "an iterator that raises what ends programs",
        "def f(x, items):\n yield 1\n raise (SystemExit, KeyboardInterrupt, GeneratorExit, BaseException)[x % 4]",
        tuple(
            (Kind.EXCEPTION, ("SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException")[i % 4])
            for i in range(N)
        ),
    ),
    attack(
        "exceptions that cannot be made or shown",
        """
class Own(BaseException):
    def __init__(self, *a): pass
    def __str__(self): raise KeyError
    __repr__ = __str__
    def __getattribute__(self, name): raise KeyError
    __traceback__ = __cause__ = __context__ = property(lambda s: 1 / 0)
def f(x, items): raise Own() from Own()
""",
        everywhere(Kind.EXCEPTION, "Own"),
    ),
    attack(
        "a group of exceptions a thousand deep",
        "def f(x, items):\n e = ValueError()\n for _ in range(1000): e = ExceptionGroup('g', [e])\n raise e",
        everywhere(Kind.EXCEPTION, "ExceptionGroup"),
    ),
    attack(
        "the harness's own exceptions raised",
        """
def f(x, items):
    unsupported = harness()['unsupported']
    raise unsupported('a\\x1bb' if x % 2 else 'a\\nb')
""",
        everywhere(Kind.FORGED),
    ),
    attack(
        "the harness's own exception with a message of its own making",
        """
def f(x, items):
    class Own(harness()['unsupported']):
        def __str__(self): raise KeyError
    raise Own if x == 7 else harness()['unsupported']('mine')
""",
        tuple((Kind.CRASH, "exit") if i == 7 else (Kind.UNSUPPORTED, "mine") for i in range(N)),
    ),
    attack(
        "text with surrogates and ends of lines",
        "def f(x, items): return '\\ud800\\r\\n\\u2028\\x85\\0'",
        value(repr("\ud800\r\n\u2028\x85\0")),
    ),
    attack(
        "a class and its lies as arguments",
        "class A:\n def __class_getitem__(cls, k): raise SystemExit\ndef f(x, items): return A[x]",
        everywhere(Kind.EXCEPTION, "SystemExit"),
    ),
    attack(
        "functions and classes as results",
        "def f(x, items): return lambda: 1",
        everywhere(Kind.UNSUPPORTED, "function"),
    ),
    attack(
        "coroutines that are never awaited",
        "async def f(x, items): return 1",
        everywhere(Kind.UNSUPPORTED, "coroutine"),
    ),
    attack(
        "a weak reference with a hook",
        "import weakref\nclass A: pass\ndef f(x, items):\n kept = weakref.ref(A(), lambda r: 1 / 0)\n return x",
        numbers(),
    ),
]
