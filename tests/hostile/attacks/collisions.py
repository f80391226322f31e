"""Programs that want another one's identity: an outcome or a name that reads like something else."""

from difftrust_core.base.records import Kind
from tests.hostile.attack import attack, everywhere

ATTACKS = [
    attack(
        "an outcome that reads like one that was cut",
        "def f(x, items): return 'a' * 190 + '…#' + '0' * 32",
        everywhere(Kind.VALUE, f"'{'a' * 190}…#{'0' * 32}'"),
    ),
    attack(
        "an exception that is named like a limit",
        "timeout = type('timeout', (BaseException,), {})\ndef f(x, items): raise timeout",
        everywhere(Kind.EXCEPTION, "timeout"),
    ),
    attack(
        "an exception whose name holds two outcomes",
        "def f(x, items): raise type('E\\nV1', (Exception,), {})",
        everywhere(Kind.EXCEPTION, "Unnamed"),
    ),
    attack(
        "a class whose name is a value",
        "def f(x, items): return type('1, 2', (), {})(), [type('[]', (), {})()]",
        everywhere(Kind.VALUE, "(Unnamed(), [Unnamed()])"),
    ),
    attack(
        "a field whose name is a value",
        "class Own: pass\ndef f(x, items):\n own = Own(); vars(own)['a=1, b'] = 2\n return own",
        everywhere(Kind.UNSUPPORTED, "Own"),
    ),
    attack(
        "letters that look alike",
        "def f(x, items): return 'a\u0430\u200b', 'e\u0301', '\u00e9', '\u202e', '\\x1b[2J'",
        everywhere(Kind.VALUE, "('a\u0430\\u200b', 'e\u0301', '\u00e9', '\\u202e', '\\x1b[2J')"),
    ),
    attack(
        "keys that are equal to others",
        "class Key(int):\n def __eq__(s, o): return False\n __hash__ = int.__hash__\n"
        "def f(x, items): return {Key(1): 'a', 1: 'b', True: 'c'}, [*map(hash, {Key(1), 1})]",
        everywhere(Kind.VALUE, "({1: 'c', Key(1): 'a'}, [1, 1])"),
    ),
]
