"""When two Python texts are one program: alike but for layout, docstrings, annotations and names of own variables.

Only texts of one plain form are joined: functions and what runs beside them, imports of modules that compute, every
attribute and every name from elsewhere one of those that such modules and values have. In that form nothing can look at
its own text, so what is left out of an id changes nothing, nor what of it is left out where it does not load whole
(``sandbox/child/program.trimmed``). Any other text is a program of its own.
"""

import ast
import builtins
import collections
import decimal
import fractions
import importlib
import itertools
import re
from collections.abc import Iterator
from symtable import SymbolTable
from typing import Any, Final

from difftrust_core.languages.language import program_id
from difftrust_core.languages.python.syntax import is_docstring, parsed, scopes

MAX_PARSED: Final = 1 << 18
"""Longer texts are not parsed; they are one program only where they are equal."""
MAX_FIELDS: Final = 1 << 28
"""Nor are texts in which the longest line times the braces is more: Python 3.11 takes so long to read f-strings."""
MAX_NODES: Final = 20_000
"""Nor are trees looked at that have more nodes: ten times those of the largest recorded candidates."""
MAX_ANNOTATION: Final = 50
"""Nodes of the largest annotation that is left out."""
MODULES: Final = (
    *("bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools"),
    *("math", "operator", "random", "re", "statistics", "string", "typing"),
)
"""Modules that compute, and show a program nothing of its own text but for what ``_SEEING`` names."""
_VALUES = (
    *(str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range, slice),
    *(collections.deque, collections.Counter, collections.OrderedDict, collections.defaultdict),
    *(decimal.Decimal, fractions.Fraction, re.Match, re.Pattern, itertools.chain),
)
_SEEING = frozenset(
    (
        *("ForwardRef", "Formatter", "Template", "attrgetter", "clear_overloads", "format", "format_map"),
        *("get_overloads", "get_type_hints", "methodcaller", "singledispatch", "singledispatchmethod"),
        *("update_wrapper", "wraps", "aiter", "anext", "breakpoint", "classmethod", "compile", "delattr", "dir"),
        *("eval", "exec", "getattr", "globals", "id", "locals", "memoryview", "object", "open", "property"),
        *("setattr", "staticmethod", "super", "type", "vars"),
    )
)
"""What of these modules and of Python's own names shows or makes code, or reads from outside."""
_NOT_EVERYWHERE = frozenset(
    (
        *("NoDefault", "PatternError", "ReadOnly", "TypeAliasType", "TypeIs", "batched", "binomialvariate", "fma"),
        *("get_protocol_members", "is_protocol", "kde", "kde_random", "override", "sumprod", "template"),
        "PythonFinalizationError",
    )
)
"""What only some of Python 3.11 to 3.13 have: ids are the same under each."""


def _public(owner: Any) -> frozenset[str]:
    found = getattr(owner, "__all__", None) or dir(owner)
    return frozenset(name for name in found if not name.startswith("_")) - _SEEING - _NOT_EVERYWHERE


_IN_MODULE = {name: _public(importlib.import_module(name)) for name in MODULES}
_IN_MODULE["copy"] -= {"replace"}  # which texts have everywhere, and this module from Python 3.13 on
_MOMENTS = [getattr(importlib.import_module("datetime"), name) for name in ("datetime", "timedelta")]
_ATTRIBUTES = frozenset().union(*_IN_MODULE.values(), *map(_public, (*_VALUES, *_MOMENTS)))
_BUILTIN = frozenset(
    name
    for name, value in vars(builtins).items()
    if name[0] != "_" and getattr(value, "__module__", "builtins") in ("builtins", "_io")
)
"""Python's own names, without what a notebook or the module ``site`` adds."""
_NAMES = _BUILTIN - _SEEING - _NOT_EVERYWHERE | _IN_MODULE["typing"] | _IN_MODULE.keys() | {"__name__"}
"""What a text may read that it does not bind."""
_TEMPLATE = re.compile(r"(?:[^{}]|\{\w*(?:![rsa])?(?::[^{}]*)?\})*")
"""A text for ``format`` whose fields are looked at only as a whole."""
_PLAIN = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Lambda, ast.Return, ast.Yield, ast.YieldFrom, ast.Pass, ast.Expr),
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Delete, ast.Import, ast.ImportFrom, ast.alias),
    *(ast.For, ast.While, ast.Break, ast.Continue, ast.If, ast.IfExp, ast.With, ast.withitem, ast.Assert, ast.Raise),
    *(ast.Try, ast.ExceptHandler, ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence),
    *(ast.MatchMapping, ast.MatchStar, ast.MatchAs, ast.MatchOr, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare),
    *(ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.expr_context),
    *(ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.ListComp),
    *(ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
_IN_ANNOTATION = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.BitOr, ast.Load)
_LONG: Final = 1 << 64


def tree_id(text: str) -> str:
    """Return the id of the program behind ``text``: equal ids mean equal behaviour on every input.

    This holds for programs beside each other in one task, whose preamble does not look at them.
    """
    tree = parsed(text) if _is_soon_parsed(text) else None
    names = _plain_scopes(tree, text) if tree is not None else None
    if tree is None or names is None:
        return f"x{program_id(text)}"
    inner = {(table.get_name(), table.get_lineno()): table for table in names.get_children()}
    given = set(_given_names(tree))
    words = itertools.chain.from_iterable(
        _spelled(statement, _own_variables(statement, inner[statement.name, statement.lineno]) - given)
        if isinstance(statement, ast.FunctionDef)
        else _spelled(statement, set())
        for statement in _body(tree)
    )
    return f"f{program_id(''.join(words))}"


_NO_SYNTAX = frozenset(("kind", "type_comment", "type_ignores"))
"""Fields that say nothing of what is run."""


def _is_soon_parsed(text: str) -> bool:
    if len(text) > MAX_PARSED:
        return False
    return text.count("{") * max(map(len, text.split("\n"))) <= MAX_FIELDS


def _plain_scopes(tree: ast.Module, text: str) -> SymbolTable | None:
    """Return what the names of a text mean, None where it is not of the form that is joined."""
    nodes = list(itertools.islice(_below(_body(tree)), MAX_NODES + 1))
    if len(nodes) > MAX_NODES or not all(map(_is_plain_node, nodes)):
        return None
    found = scopes(text)
    written = {node.id for node in nodes if isinstance(node, ast.Name)}
    return found if found is not None and _foreign(found) & written <= _NAMES else None


def _is_plain_node(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Constant(value=str(template)), attr="format"):
            return _TEMPLATE.fullmatch(template) is not None
        case ast.Attribute(attr=name):
            return name in _ATTRIBUTES
        case ast.Name(id=name) | ast.arg(arg=name):
            return name[:2] != "__" or name == "__name__"
        case ast.Import(names=names):
            return all(alias.name in _IN_MODULE for alias in names)
        case ast.ImportFrom(module=module, level=0, names=names):
            return all(alias.name in _IN_MODULE.get(module or "", ()) for alias in names)
        case ast.ExceptHandler(name=str()) | ast.keyword(arg=None) | ast.ImportFrom():
            return False
    return isinstance(node, _PLAIN)


def _below(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes that count in these trees."""
    waiting: list[Any] = [nodes]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, ast.AST):
            yield node
            waiting += [value for _, value in _fields(node)]


def _tables(top: SymbolTable) -> Iterator[SymbolTable]:
    waiting = [top]
    while waiting:
        table = waiting.pop()
        yield table
        waiting += table.get_children()


def _foreign(module: SymbolTable) -> set[str]:
    """Return the names that a text reads and does not bind at its top, or that are Python's own."""
    bound = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    inner = (table for table in _tables(module) if table is not module)
    read = {symbol.get_name() for table in inner for symbol in table.get_symbols() if symbol.is_global()}
    read |= {symbol.get_name() for symbol in module.get_symbols() if symbol.is_referenced()}
    return {name for name in read if name not in bound or name in _BUILTIN}


def _own_variables(function: ast.FunctionDef, scope: SymbolTable) -> set[str]:
    """Return the names that may be replaced throughout ``function`` by others that it does not hold.

    They mean a variable of its own wherever they stand. Its own parameters are not among them, for callers may give
    them by name.
    """
    symbols = [symbol for table in _tables(scope) for symbol in table.get_symbols()]
    arguments = function.args
    given = [p for p in (arguments.vararg, arguments.kwarg) if p]
    given += [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    outside = [*function.decorator_list, *arguments.defaults, *arguments.kw_defaults]
    spelled = {symbol.get_name() for symbol in symbols if symbol.is_global()} | {p.arg for p in given}
    spelled |= {node.id for part in outside if part for node in ast.walk(part) if isinstance(node, ast.Name)}
    return {symbol.get_name() for symbol in symbols} - spelled


def _given_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names that stand otherwise than as ``Name`` or ``arg``: of functions, imports, patterns, arguments."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name | ast.arg | ast.Constant | ast.Attribute):
            yield from (value.partition(".")[0] for _, value in ast.iter_fields(node) if isinstance(value, str))


def _spelled(statement: ast.stmt, own: set[str]) -> Iterator[str]:
    """Yield the words of a tree: fields that hold something, each with its name, in the order of the grammar."""
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
        if name == "body" and isinstance(node, ast.FunctionDef):
            value = _body(node)
        elif name == "values" and isinstance(node, ast.JoinedStr):
            value = _joined(value)
        elif (name == "returns" or (name == "annotation" and isinstance(node, ast.arg))) and _is_left_out(value):
            continue
        yield name, value


def _constant(value: object) -> str:
    return hex(value) if type(value) is int else ascii(value)  # of long ints Python writes no decimals


def _body(node: ast.FunctionDef | ast.Module) -> list[ast.stmt]:
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


def _is_left_out(annotation: ast.expr) -> bool:
    """Tell whether an annotation is compiled by every Python to nothing that could fail or bind a name."""
    nodes = list(itertools.islice(ast.walk(annotation), MAX_ANNOTATION + 1))
    return len(nodes) <= MAX_ANNOTATION and all(map(_is_in_annotation, nodes))


def _is_in_annotation(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return text.isascii()
        case ast.Constant(value=int(number)):
            return number < _LONG  # a longer one may have more digits than Python writes
        case ast.Constant(value=value):
            return value in (None, ...)
        case ast.BinOp(op=op):
            return isinstance(op, ast.BitOr)
    return isinstance(node, _IN_ANNOTATION)
