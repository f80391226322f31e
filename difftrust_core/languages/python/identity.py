"""When two Python texts are one program: equal but for formatting and names of variables that no other code sees."""

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from difftrust_core.languages.language import program_id
from difftrust_core.languages.python.syntax import is_docstring, parsed

MAX_DEPTH: Final = 40
"""Scopes within one another; of a function with more, no name is known to be its own."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class _NotKnownError(Exception):
    """The function holds what makes names mean something else: a class, ``global``, ``nonlocal``, ``**`` in a call."""


@dataclass(eq=False)
class _Scope:
    """A function, a lambda or a comprehension within the function."""

    outer: "_Scope | None" = None
    is_comprehension: bool = False
    depth: int = 0
    bound: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    def inner(self, *, is_comprehension: bool) -> "_Scope":
        if self.depth == MAX_DEPTH:
            raise _NotKnownError
        return _Scope(outer=self, is_comprehension=is_comprehension, depth=self.depth + 1)

    def chain(self) -> Iterator["_Scope"]:
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def own_variables(function: Function, called_with: Iterable[str]) -> set[str]:
    """Return the names that may be replaced throughout ``function`` by others that it does not hold.

    These are bound by assignments, loops and parameters of functions inside it, and mean a variable of its own
    wherever they stand. Its own parameters are not among them, for callers may give them by name, nor is what the
    program's calls give by name (``called_with``).
    """
    spelled = {*called_with, *(parameter.arg for parameter in _parameters(function.args))}
    assigned: set[str] = set()
    scopes: list[_Scope] = []
    try:
        for scope in _scopes(function, assigned, spelled):
            scopes.append(scope)
    except _NotKnownError:
        return set()
    for scope in scopes:
        spelled.update(name for name in scope.read if not any(name in outer.bound for outer in scope.chain()))
    return assigned - spelled


def _scopes(function: Function, assigned: set[str], spelled: set[str]) -> Iterator[_Scope]:
    """Yield every scope of ``function``, complete once all were yielded.

    ``assigned`` and ``spelled`` take the names that are bound and written as ``Name`` or ``arg``, and the others.
    """
    top = _Scope(bound={parameter.arg for parameter in _parameters(function.args)})
    yield top
    # What stands before the body (decorators, defaults, annotations) is evaluated outside: its names are no variables.
    spelled.update(node.id for part in _around(function) for node in ast.walk(part) if isinstance(node, ast.Name))
    waiting: list[tuple[ast.AST, _Scope]] = [(statement, top) for statement in function.body]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            inner = scope.inner(is_comprehension=False)
            yield inner
            names = {parameter.arg for parameter in _parameters(node.args)}
            inner.bound |= names
            assigned |= names
            if not isinstance(node, ast.Lambda):
                _of(scope).bound.add(node.name)
                spelled.add(node.name)
            waiting += [(part, scope) for part in _around(node)]
            waiting += [(part, inner) for part in ([node.body] if isinstance(node, ast.Lambda) else node.body)]
        elif isinstance(node, _COMPREHENSIONS):
            inner = scope.inner(is_comprehension=True)
            yield inner
            first = node.generators[0].iter  # evaluated outside
            waiting += [(first, scope), *((child, inner) for child in _within(node) if child is not first)]
        else:
            _note(node, scope, assigned, spelled)
            waiting += [(child, scope) for child in ast.iter_child_nodes(node)]


def _note(node: ast.AST, scope: _Scope, assigned: set[str], spelled: set[str]) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            scope.read.add(name)
        case ast.Name(id=name):
            scope.bound.add(name)
            assigned.add(name)
        case ast.NamedExpr(target=ast.Name(id=name)):
            _of(scope).bound.add(name)
        case ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.keyword(arg=None):
            raise _NotKnownError
        case ast.keyword(arg=str(name)):
            spelled.add(name)
        case ast.alias(name=name, asname=asname):
            _bind((asname or name).partition(".")[0], scope, spelled)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            _bind(name, scope, spelled)
        case ast.MatchMapping(rest=str(name)):
            _bind(name, scope, spelled)


def _bind(name: str, scope: _Scope, spelled: set[str]) -> None:
    scope.bound.add(name)
    spelled.add(name)


def _of(scope: _Scope) -> _Scope:
    """Return where a name that ``:=`` or ``def`` binds belongs: not to a comprehension."""
    return next(outer for outer in scope.chain() if not outer.is_comprehension)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in a comprehension: its elements, and the parts of its loops."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from ast.iter_child_nodes(child)
        else:
            yield child


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    rest = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _around(function: Function | ast.Lambda) -> list[ast.AST]:
    """Return what of a function is evaluated where it stands: decorators, defaults, annotations."""
    arguments = function.args
    found: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
    found += [parameter.annotation for parameter in _parameters(arguments)]
    if not isinstance(function, ast.Lambda):
        found += [*function.decorator_list, function.returns]
    return [part for part in found if part is not None]


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
