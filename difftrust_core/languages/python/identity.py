"""When two Python texts are one program.

Texts are executed once where every Python would compile and run them alike: where their syntax trees are equal but for
layout, comments, docstrings, plain annotations of functions, and the names of variables that only a function sees.
A text that may look at any of these is one program only with texts that equal it. So is one that this file does not
know for certain to be harmless: two programs too many cost time, one too few costs a candidate its outcomes.

The id is made of this file's own spelling of the tree, which is the same for every Python from 3.11 on.
"""

import ast
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from difftrust_core.languages.language import program_id
from difftrust_core.languages.python.scopes import own_variables
from difftrust_core.languages.python.syntax import is_docstring, parsed

MAX_PARSED: Final = 1 << 18
"""Longer texts are not parsed; they are one program only where they are equal."""
MAX_FIELDS: Final = 1 << 28
"""Nor are texts in which the longest line times the braces is more: Python 3.11 takes so long to read f-strings."""
MAX_NODES: Final = 20_000
"""Nor are trees looked at that have more nodes: ten times those of the largest recorded candidates."""
MAX_ANNOTATION: Final = 50
"""Nodes of the largest annotation that is left out."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef, ast.Module)
_PLAIN = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp),
    *(ast.BitOr, ast.Load),
)
_SILENT = (ast.expr_context, ast.operator, ast.cmpop, ast.Expr, ast.Assign, ast.BinOp, ast.Compare, ast.Call, ast.Tuple)
"""Nodes that name nothing themselves, and are many."""
_NO_SYNTAX = frozenset(("kind", "type_comment", "type_ignores"))
"""Fields that say nothing of what is run."""
_NEW_SYNTAX = frozenset(("TypeAlias", "TypeVar", "TypeVarTuple", "ParamSpec", "TemplateStr", "Interpolation"))
"""What Python 3.11 does not have."""
_BLIND_MODULES = frozenset(
    (
        *("__future__", "abc", "array", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses"),
        *("datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math"),
        *("numbers", "operator", "random", "re", "statistics", "string", "struct", "sys", "time", "typing"),
        "unicodedata",
    )
)
"""Modules that show a program nothing of its own text, but for what ``_SEEING`` names."""
_SEEING = frozenset(
    (
        *("breakpoint", "delattr", "dir", "eval", "exec", "getattr", "globals", "help", "locals", "setattr", "vars"),
        *("attrgetter", "methodcaller", "Formatter", "get_type_hints", "get_annotations", "metaclass"),
        *("singledispatch", "singledispatchmethod", "exc_info", "excepthook", "unraisablehook", "displayhook"),
        *("last_exc", "last_value", "last_traceback", "modules", "monitoring", "setprofile", "settrace"),
        *("call_tracing", "open", "object_hook", "_getframe", "_getframemodulename", "_current_frames"),
        *("signature", "inspect", "traceback", "doctest", "pydoc", "linecache", "importlib", "gc", "ast", "dis"),
        *("builtins", "types", "pickle", "marshal", "runpy", "logging", "warnings", "ctypes"),  # a preamble may import
        *("_current_exceptions", "gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code", "tb_frame"),
    )
)
"""Names by which a program can get at its docstrings, annotations, names of variables or lines."""
_SAFE_DUNDERS = frozenset(
    f"__{name}__"
    for name in (
        *("abs", "add", "and", "bool", "call", "class", "contains", "delitem", "enter", "eq", "exit", "float"),
        *("floordiv", "ge", "getitem", "gt", "hash", "iadd", "index", "init", "int", "invert", "iter", "le", "len"),
        *("lshift", "lt", "main", "mod", "mul", "name", "ne", "neg", "new", "next", "or", "pos", "post_init", "pow"),
        *("radd", "repr", "rmul", "rshift", "rsub", "setitem", "slots", "str", "sub", "truediv", "xor"),
    )
)


def tree_id(text: str) -> str:
    """Return the id of the program behind ``text``: equal ids mean equal behaviour on every input.

    A text that Python cannot parse, or that may look at itself, is a program of its own.
    """
    tree = parsed(text) if _is_soon_parsed(text) else None
    if tree is None:
        return f"x{program_id(text)}"
    every = list(itertools.islice(ast.walk(tree), MAX_NODES + 1))
    if len(every) > MAX_NODES:
        return f"x{program_id(text)}"
    nodes = [node for node in every if not isinstance(node, _SILENT)]
    if any(map(_may_see, nodes)) or "__" in "".join(_texts(nodes)).replace("__main__", ""):
        return f"x{program_id(text)}"
    return f"p{program_id(''.join(_spelled(tree, _renamed(tree, nodes))))}"


def _is_soon_parsed(text: str) -> bool:
    if len(text) > MAX_PARSED:
        return False
    return text.count("{") * max(map(len, text.split("\n"))) <= MAX_FIELDS


def _may_see(node: ast.AST) -> bool:
    """Tell whether a node is not known to be blind to text, docstrings, annotations and names of variables."""
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] not in _BLIND_MODULES for alias in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            return module.partition(".")[0] not in _BLIND_MODULES or any(_is_seeing(alias.name) for alias in names)
        case ast.ImportFrom():
            return True
        case ast.Attribute(value=value, attr=name):
            if name in ("format", "format_map"):  # "{0.__doc__}".format(f)
                return not isinstance(value, ast.Constant)
            return _is_seeing(name) or (name == "compile" and not _is_named(value, "re"))
        case ast.Name(id="compile"):
            return True
        case ast.Name(id=name) | ast.keyword(arg=str(name)) | ast.arg(arg=name):
            return _is_seeing(name)
        case ast.MatchClass(kwd_attrs=names):
            return any(map(_is_seeing, names))
    return type(node).__name__ in _NEW_SYNTAX or bool(getattr(node, "type_params", None))


def _is_seeing(name: str) -> bool:
    is_dunder = name.startswith("__") and name.endswith("__")
    return name in _SEEING or (is_dunder and name not in _SAFE_DUNDERS)


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the strings of a program that are no docstrings."""
    left_out: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, _DOCUMENTED):
            left_out.update(ast.walk(node.body[0]) if node.body and is_docstring(node.body[0]) else ())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield f"{node.value}\n"


def _renamed(tree: ast.Module, nodes: Iterable[ast.AST]) -> dict[ast.AST, set[str]]:
    """Return the top-level functions whose own variables are numbered, and which these are.

    None where a message may quote a variable's name, or arguments are given by names that are not in the text.
    """
    called_with = set()
    for node in nodes:
        match node:
            case ast.ExceptHandler(name=str()) | ast.keyword(arg=None):
                return {}
            case ast.FunctionDef(name="__exit__" | "__aexit__") | ast.AsyncFunctionDef(name="__exit__" | "__aexit__"):
                return {}
            case ast.keyword(arg=str(name)):
                called_with.add(name)
    functions = (statement for statement in tree.body if isinstance(statement, _FUNCTIONS))
    return {function: own_variables(function, called_with) for function in functions}


def _spelled(tree: ast.Module, renamed: dict[ast.AST, set[str]]) -> Iterator[str]:
    """Yield the words of a tree: fields that hold something, each with its name, in the order of the grammar."""
    for statement in _body(tree):
        yield from _spelled_statement(statement, renamed.get(statement, set()))


def _spelled_statement(statement: ast.stmt, own: set[str]) -> Iterator[str]:
    numbers: dict[str, str] = {}
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is _Word:
            yield node
        elif kind is list:
            yield "["
            waiting.append(_END_OF_LIST)
            waiting += reversed(node)
        elif isinstance(node, ast.expr_context):
            yield kind.__name__ + "()"
        elif isinstance(node, ast.AST):
            yield kind.__name__ + "("
            waiting.append(_END)
            for name, value in reversed(list(_fields(node))):
                if isinstance(value, str) and value in own and isinstance(node, ast.Name | ast.arg):
                    value = _Word(numbers.setdefault(value, str(len(numbers))))
                waiting += (value, _Word(f" {name}="))
        else:
            yield ascii(node)


class _Word(str):
    """What is already spelled."""

    __slots__ = ()


_END, _END_OF_LIST = _Word(")"), _Word("]")


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield what of a node counts and is there."""
    if isinstance(node, ast.Constant):
        yield "value", _Word(_constant(node.value))
        return
    for name in node._fields:
        value = getattr(node, name, None)
        if name in _NO_SYNTAX or value is None or value == []:
            continue
        if name == "body" and isinstance(node, _DOCUMENTED):
            value = _body(node)
        elif name == "values" and isinstance(node, ast.JoinedStr):
            value = _joined(value)
        elif (name == "returns" or (name == "annotation" and isinstance(node, ast.arg))) and _is_plain(value):
            continue
        yield name, value


def _constant(value: object) -> str:
    return hex(value) if type(value) is int else ascii(value)  # of long ints Python writes no decimals


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) -> list[ast.stmt]:
    if node.body and is_docstring(node.body[0]):
        return node.body[1:] or [ast.Pass()]
    return node.body


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with each text between them as one: Pythons part them differently."""
    found: list[ast.expr] = []
    for value in values:
        before = found[-1] if found else None
        if isinstance(before, ast.Constant) and isinstance(value, ast.Constant):
            found[-1] = ast.Constant(str(before.value) + str(value.value))
        elif not (isinstance(value, ast.Constant) and value.value == ""):
            found.append(value)
    return found


def _is_plain(annotation: ast.expr) -> bool:
    """Tell whether an annotation is compiled by every Python to nothing that could fail or bind a name."""
    nodes = list(itertools.islice(ast.walk(annotation), MAX_ANNOTATION + 1))
    return len(nodes) <= MAX_ANNOTATION and all(
        isinstance(node, _PLAIN) and (not isinstance(node, ast.BinOp) or isinstance(node.op, ast.BitOr))
        and (not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node.value.isascii())
        for node in nodes
    )  # fmt: skip
