"""Values that lie about themselves: the canonical text shows what they are, or what they are called."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import attack, everywhere

_LIAR = """
class Liar:
    def __repr__(self): return '1\\\\nV2'
    __str__ = __format__ = __repr__
    def __eq__(self, other): return True
    def __hash__(self): return 1
    def __bool__(self): return True
    def __len__(self): return 3
    def __iter__(self): return iter([1, 2])
    def __reduce__(self): return print, ('owned',)
    def __getattribute__(self, name): return 'a lie' if name != '__class__' else int
    def __dir__(self): return ['a']
    def __instancecheck__(self, other): return True
"""
_META = """
class Meta(type):
    def __hash__(cls): return hash(int)
    def __eq__(cls, other): return True
    def __instancecheck__(cls, o): return True
    def __subclasscheck__(cls, o): return True
    def __getattribute__(cls, name):
        return 'int' if name in ('__name__', '__qualname__') else type.__getattribute__(cls, name)
    def __repr__(cls): return 'int'
    @property
    def __mro__(cls): return (int, object)
"""


def value(text: str):
    return everywhere(Kind.VALUE, text)


ATTACKS = [
    attack("lies in every method", _LIAR + "def f(x, items): return Liar()", value("Liar()")),
    attack(
        "lies inside a list", _LIAR + "def f(x, items): return [1, Liar(), (Liar(),)]", value("[1, Liar(), (Liar(),)]")
    ),
    attack(
        "lies of __class__", "class L:\n __class__ = int\ndef f(x, items): return L(), [L()]", value("(L(), [L()])")
    ),
    attack("lies of a metaclass", _META + "class L(metaclass=Meta): pass\ndef f(x, items): return L()", value("L()")),
    attack(
        "lies of a metaclass in a list",
        _META + "class L(metaclass=Meta):\n def __repr__(s): return '1, 2'\ndef f(x, items): return [1, L()], (L(), 1)",
        value("([1, L()], (L(), 1))"),
    ),
    attack(
        "metaclass that raises",
        """
class Meta(type):
    def __hash__(cls): raise KeyError
    def __eq__(cls, other): raise KeyError
    def __getattribute__(cls, name): raise KeyError
class L(metaclass=Meta): pass
L = type.__call__(Meta, 'L', (), {})
def f(x, items): return object.__new__(L), [object.__new__(L)]
""",
        value("(L(), [L()])"),
    ),
    attack(
        "metaclass with an order of its own",
        """
class Meta(type):
    def mro(cls): return (cls, object)
class L(list, metaclass=Meta): pass
def f(x, items): return [L()]
""",
        value("[L()]"),
    ),
    attack(
        "subclasses of builtins with lies",
        """
def lies(base):
    names = '__repr__ __str__ __iter__ __len__ __getitem__ __eq__ __hash__ __add__ __int__ __index__ items keys values'
    return type('L', (base,), {n: (lambda s, *a: 99) for n in names.split()})
def f(x, items):
    return [
        lies(int)(5), lies(float)(2.5), lies(str)('a'), lies(bytes)(b'b'), lies(list)([1]), lies(tuple)((1,)),
        lies(dict)(a=1), lies(set)([1]), lies(frozenset)([1]), lies(complex)(1j), lies(bytearray)(b'c'),
    ]
""",
        value(
            "[L(5), L(2.5), L('a'), L(b'b'), L([1]), L((1,)), L({'a': 1}), L({1}), L(frozenset({1})), "
            "L(complex(0.0, 1.0)), L(bytearray(b'c'))]"
        ),
    ),
    attack(
        "lies in standard types",
        """
from collections import OrderedDict, deque, Counter, defaultdict
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
def lies(base):
    return type('L', (base,), {n: (lambda s, *a: 'a lie') for n in ('__repr__', '__str__', '__iter__', 'year')})
def f(x, items):
    name = lies(str)('name')
    zone = timezone(lies(timedelta)(0), name)
    return [
        lies(Decimal)('1.5'), lies(Fraction)(1, 3), lies(date)(2020, 1, 2), lies(timedelta)(1), lies(deque)([1]),
        lies(Counter)('a'), zone, datetime(2020, 1, 2, tzinfo=zone),
    ]
""",
        value(
            "[L(Decimal('1.5')), L(Fraction(1, 3)), L(date(2020, 1, 2)), L(timedelta(days=1)), L([1]), L({'a': 1}), "
            "timezone(timedelta(0), 'name'), datetime(2020, 1, 2, 0, 0, tzinfo=timezone(timedelta(0), 'name'))]"
        ),
    ),
    attack(
        "a time zone that claims to be a number",
        _META
        + """
from datetime import datetime, tzinfo
class Zone(tzinfo, metaclass=Meta):
    def __repr__(self): return 'a lie'
def f(x, items): return datetime(2020, 1, 1, tzinfo=Zone())
""",
        everywhere(Kind.UNSUPPORTED, "Zone"),
    ),
    attack(
        "arrays of lies",
        _LIAR
        + """
import numpy
class Array(numpy.ndarray):
    def tolist(self): return 'a lie'
    def __repr__(self): return 'a lie'
def f(x, items):
    held = numpy.empty(2, dtype=object)
    held[0], held[1] = Liar(), 1
    return held, numpy.arange(3).view(Array)
""",
        value("(ndarray([Liar(), 1]), Array([0, 1, 2]))"),
    ),
    attack(
        "NumPy replaced",
        """
import sys, types
import numpy
def f(x, items):
    array = numpy.arange(2)
    sys.modules['numpy'] = types.ModuleType('numpy')
    sys.modules['numpy'].ndarray = sys.modules['numpy'].generic = object
    return array
""",
        everywhere(Kind.EXCEPTION, "AttributeError"),
        value("ndarray([0, 1])"),
    ),
    attack(
        "a pickle that acts when it is loaded",
        """
import io, pickle
import numpy
class Own:
    def __reduce__(self): return tries, (leave_a_file, )
def leave_a_file(): open('/tmp/difftrust-hostile', 'w')
def f(x, items):
    def written(): return io.BytesIO(pickle.dumps(Own()))
    return numpy.load(written(), allow_pickle=True), pickle.load(written()), Own()
""",
        value("(['refused'], ['refused'], Own())"),
    ),
    attack(
        "types named like those that are read again",
        """
class Plain:
    def __init__(self, x): self.x = x
    def __repr__(self): return 'forged'
def f(x, items):
    names = ('bytearray', 'complex', 'frozenset', 'Decimal', 'datetime', 'ndarray', 'iterator')
    return [type(name, (Plain,), {})(1) for name in names]
""",
        value("[Unnamed(x=1), Unnamed(x=1), Unnamed(x=1), Unnamed(x=1), Unnamed(x=1), ndarray(x=1), Unnamed(x=1)]"),
    ),
    attack(
        "a tuple with names that lie",
        """
from collections import namedtuple
class P(namedtuple('P', 'a b')):
    _fields = ('b', 'a', 'c')
    def __iter__(self): return iter([9, 9])
    def __getnewargs__(self): return (8, 8)
    a = property(lambda self: 9)
def f(x, items): return P(1, 2), P._make([3, 4])
""",
        value("(P((1, 2)), P((3, 4)))"),
    ),
    attack(
        "a data class with fields that lie",
        """
import dataclasses
@dataclasses.dataclass
class D:
    a: int
    __dataclass_fields__ = property(lambda self: 1 / 0)
    def __getattr__(self, name): return 9
def f(x, items):
    d = D(1)
    vars(d)['a'] = 2
    return d
""",
        value("D(a=2)"),
    ),
    attack(
        "a member of an enumeration that lies",
        """
import enum
class E(enum.Enum):
    A = 1
    @property
    def value(self): return 9
    def __repr__(self): return 'E.B'
class F(enum.IntFlag):
    A = 1
def f(x, items):
    E.A._name_ = 'B\\nV1'
    return E.A, F.A | F(8)
""",
        value("(E(1), F(9))"),
    ),
    attack(
        "slots and a dictionary that lie",
        """
class Slots:
    __slots__ = ('a', '__dict__')
    def __init__(self): self.a, self.b = 1, 2
class Dict:
    @property
    def __dict__(self): raise SystemExit
    def __dir__(self): return ['forged']
def f(x, items): return Slots(), Dict()
""",
        everywhere(Kind.EXCEPTION, "SystemExit"),
    ),
    attack(
        "a list that changes as it is read",
        """
class Changes:
    def __getattribute__(self, name): held.clear(); return 0
held = []
def f(x, items):
    held[:] = [1, Changes(), 2]
    return held
""",
        value("[1, Changes(), 2]"),
    ),
    attack(
        "an iterator that lies about its length",
        """
class Lies:
    def __iter__(self): return self
    def __length_hint__(self): return 1 << 62
    def __len__(self): return 1 << 62
    def __next__(self): raise StopIteration
def f(x, items): return (k for k in Lies()), map(str, [1]), iter([]), list(Lies()) if x < 0 else 0
""",
        value("(iterator([]), iterator(['1']), iterator([]), 0)"),
    ),
]
