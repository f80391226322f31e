"""Values as a user's file writes them: expressions of literals, its own classes and standard types, never evaluated."""

import ast
import builtins
import datetime
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from difftrust.source.closure import LIBRARIES, dotted_name
from difftrust.source.scopes import IMPORTS, bound_by, bound_names, free_names
from difftrust.source.target import Target
from difftrust.types.classes import base_names, dataclass_options, methods_of
from difftrust.types.own import parameters_in
from difftrust.types.resolve import assignments_in, imports_of
from difftrust_core.base.literals import Code, Instance, read_literal, write_literal
from difftrust_core.base.standard_types import IMPORTED, STANDARD_TYPES
from difftrust_core.datasets.seeds import NotFolded, fold
from difftrust_core.languages.python.syntax import expression, own_statements

_STANDARD: Final = {
    **{f"{home}.{name}": name for name, home in IMPORTED.items()},
    "re.compile": "re.compile",
}
"""Calls of the standard library that are values, and how inputs write them."""
_SHORT: Final = {name: name for name in _STANDARD.values()} | {
    "datetime.date": "date",
    **{name: f"math.{name}" for name in ("inf", "nan")},
}
PRELUDE: Final = {
    **{module: f"import {module}" for module in ("re", "math", "operator", "string", "collections", "itertools")},
    **{name: f"from {home} import {name}" for name, home in IMPORTED.items()},
    **{name: f"from math import {name}" for name in ("inf", "nan")},
    **{short: f"import {package} as {short}" for package, short in LIBRARIES.items()},
}
"""Names that an example may use without an import, each with the import that it stands for."""
_HOME: Final = {name: home for name, home in IMPORTED.items() if STANDARD_TYPES[name].is_rebuilt} | {"compile": "re"}
"""Where types of the standard library lie that values are written with."""
_WITHOUT_TRUTH: Final = frozenset(("np.array", "pd.DataFrame", "pd.Series", "pd.Index", "pl.DataFrame", "pl.Series"))
_PLAIN: Final = frozenset(("range", "slice", "memoryview", "set", "frozenset", "complex"))
_BUILTINS: Final = _PLAIN | {"bytes", "bytearray", "iter", "dict", "list"}
_BUILTIN_TYPES: Final = frozenset({"str", "int", "float", "list", "dict", "set", "tuple", "bytes"})
_OF_MODULES: Final = {"math", "operator", "string", "statistics"}
_NUMBERS: Final = {"math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan}
_PARSERS: Final[dict[str, Any]] = {
    "date.fromisoformat": datetime.date,
    "time.fromisoformat": datetime.time,
    "datetime.fromisoformat": datetime.datetime,
}
_OWN = "<own>."
"""The module of the function that is checked, whatever other files call it."""


class Scope:
    """What the names of one file stand for: its imports, and what it has of the checked function's module."""

    def __init__(self, target: Target, tree: ast.Module | None = None):
        tree = tree or target.module
        self.bound = bound_names(target.module)
        self._paths = {name: path for node in ast.walk(tree) for name, path in _imports(node, target, self.bound)}
        if tree is target.module:
            self._paths |= {name: _OWN + name for name in self.bound if name not in self._paths}
        self._classes = {s.name for s in target.module.body if isinstance(s, ast.ClassDef)}
        self._functions = {s.name: s for s in target.module.body if isinstance(s, ast.FunctionDef)}
        self._assigned = constants_of(target.module)
        known = {_OWN + name: name for name in target.others}
        self.spelled = {name: known[path] for name, path in self._paths.items() if path in known}
        """How the file names what lies in others, ``models.Line`` say, each with the name that it has there."""

    def resolve(self, dotted: str) -> str:
        """Return ``dotted`` as inputs write it: without its module where it is the checked one, "" if unknown."""
        if path := _by_prefix(dotted, self._paths):
            return _canonical(path)
        return dotted if dotted.partition(".")[0] in _BUILTINS | _BUILTIN_TYPES else _SHORT.get(dotted, "")

    def value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        """Return the value that ``node`` writes, as ``literals`` has it. Raises NotFolded for anything else."""
        with suppress(NotFolded):
            return _spelled(fold(node, names))
        try:
            return self._written(node, names)
        except RecursionError:  # a name that stands for itself, too
            raise NotFolded("too deep") from None

    def _written(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        match node:
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                make: Any = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
                with _folding():
                    return make(self._all(elts, names))
            case ast.Dict(keys=keys, values=values) if all(keys):
                with _folding():
                    return dict(zip(self._all(keys, names), self._all(values, names), strict=True))
            case ast.Name() | ast.Attribute():
                return self._named(node, names)
            case ast.Lambda():
                return self._lambda(node)
            case ast.Call():
                return self._call(node, names)
        raise NotFolded(f"{type(node).__name__} is no literal")

    def _all(self, nodes: Iterable[ast.expr | None], names: Mapping[str, Any]) -> list[Any]:
        return [self.value(node, names) for node in nodes if node]

    def _named(self, node: ast.Name | ast.Attribute, names: Mapping[str, Any]) -> Any:
        dotted = _dotted(node, names)
        resolved = self.resolve(dotted) or (dotted if hasattr(builtins, dotted) else "")
        head, _, rest = resolved.partition(".")
        if resolved in _NUMBERS:
            return _NUMBERS[resolved]
        if resolved in self._assigned and resolved not in names:
            return self.value(self._assigned[resolved], {})
        if resolved in self._functions:
            return Code(_as_lambda(self._functions[resolved]))
        if rest and (head in self._classes or head in _BUILTIN_TYPES | _OF_MODULES or resolved == "timezone.utc"):
            return Code(resolved)
        return _read(resolved)

    def _lambda(self, node: ast.Lambda) -> Any:
        unknown = free_names(node) - set(dir(builtins)) - self.bound
        if unknown:
            raise NotFolded(f"a lambda over {', '.join(sorted(unknown))}")
        return _read(ast.unparse(node))

    def _call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        name = self.resolve(_dotted(node.func, names))
        head = name.partition(".")[0]
        standard = name in _SHORT.values() or name in _BUILTINS or head in LIBRARIES.values()
        if not standard and head not in self._classes and name not in _PARSERS:
            raise NotFolded(f"a call of {name or 'what is not known here'}")
        args, fields = self.arguments(node, names)
        if name in _PARSERS:
            return _parsed(name, args)
        if name in ("set", "list", "dict", "bytes", "frozenset"):
            raise NotFolded(f"a {name} of what is no literal")
        return _read(write_literal(Instance(name, tuple(args), fields)))

    def arguments(self, node: ast.Call, names: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the values of a call's arguments, ``*`` and ``**`` spread. Raises NotFolded."""
        args: list[Any] = []
        for argument in node.args:
            is_spread = isinstance(argument, ast.Starred)
            value = self.value(argument.value if isinstance(argument, ast.Starred) else argument, names)
            if is_spread and not isinstance(value, list | tuple):
                raise NotFolded("* before no list")
            args += value if is_spread else [value]
        fields: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, names)
            value = value if keyword.arg is None else {keyword.arg: value}
            if not isinstance(value, dict) or not all(isinstance(key, str) and key.isidentifier() for key in value):
                raise NotFolded("** before no dict of names")
            fields |= value
        return args, fields


@contextmanager
def _folding() -> Iterator[None]:
    """Raise NotFolded for values that cannot be made: a list in a set, a text that is no literal."""
    try:
        yield
    except (ValueError, TypeError) as e:
        raise NotFolded(str(e)) from None


def _read(text: str) -> Any:
    """Return the value behind a text, in the form in which ``literals`` reads it. Raises NotFolded."""
    with _folding():
        return read_literal(text)


def _spelled(value: Any) -> Any:
    kind = type(value)
    if kind is range:
        return Instance("range", (value.start, value.stop, value.step))
    if kind in (list, tuple):
        return kind([_spelled(v) for v in value])
    return {k: _spelled(v) for k, v in value.items()} if kind is dict else value


def _parsed(name: str, args: list[Any]) -> Any:
    """Return what ``date.fromisoformat('2020-01-01')`` and its like stand for."""
    with _folding():
        made = _PARSERS[name].fromisoformat(*args)
    if getattr(made, "tzinfo", None) is not None:
        raise NotFolded("a time zone")
    return _read(repr(made).removeprefix("datetime."))


def _dotted(node: ast.expr, names: Mapping[str, Any]) -> str:
    """Return a dotted name whose first part no variable hides. Raises NotFolded."""
    dotted = dotted_name(node)
    if not dotted or dotted.partition(".")[0] in names:
        raise NotFolded("no plain name")
    return dotted


def _by_prefix(dotted: str, names: Mapping[str, str]) -> str:
    """Return a dotted name with what the longest part of it at its start stands for, "" where none is known."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        if known := names.get(".".join(parts[:n])):
            return ".".join([known, *parts[n:]])
    return ""


def _canonical(path: str) -> str:
    if path.startswith(_OWN):
        return path.removeprefix(_OWN)
    head, _, rest = path.partition(".")
    if head in LIBRARIES:
        return f"{LIBRARIES[head]}.{rest}"
    for standard, short in _STANDARD.items():
        if path == standard or path.startswith(f"{standard}."):
            return short + path.removeprefix(standard)
    return path if head in _OF_MODULES else ""


def _as_lambda(function: ast.FunctionDef) -> str:
    names = [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]]
    return f"lambda {', '.join(names)}: {function.name}({', '.join(names)})"


def _imports(node: ast.AST, target: Target, bound: set[str]) -> Iterator[tuple[str, str]]:
    """Iterate over (name, path) of one import; the checked module's path is ``<own>``."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            own = is_own_module(target.path, alias.name, 0)
            yield alias.asname or alias.name, _OWN[:-1] if own else alias.name
            yield from _in_module(alias.asname or alias.name, target, alias.name, 0)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        own = is_own_module(target.path, module, node.level)
        for alias in node.names:
            if alias.name == "*":
                yield from ((name, _OWN + name) for name in sorted(bound) if own)
                continue
            path = f"{module}.{alias.name}"
            file = target.others.get(alias.name)
            own_name = own or (_is_package(target.path, module, node.level) and alias.name in bound)
            if own_name or (file is not None and is_own_module(file, module, node.level)):
                path = _OWN + alias.name
            elif is_own_module(target.path, path.lstrip("."), node.level):
                path = _OWN[:-1]
            yield from _in_module(alias.asname or alias.name, target, path.lstrip("."), node.level)
            yield alias.asname or alias.name, path


def _in_module(prefix: str, target: Target, module: str, level: int) -> Iterator[tuple[str, str]]:
    """Iterate over (name, path) of what the checked module has of another one, which is known as ``prefix``."""
    last = module.rpartition(".")[2]
    for name, file in target.others.items():
        if last == file.stem and is_own_module(file, module, level):
            yield f"{prefix}.{name}", _OWN + name


def is_own_module(path: Path, module: str, level: int) -> bool:
    """Tell whether an import of ``module`` is one of the file ``path``, going by its name."""
    own = path.resolve().with_suffix("").parts
    own = own[:-1] if own[-1] == "__init__" else own
    parts = tuple(module.split(".")) if module else ()
    if not parts:
        return False
    return own[-len(parts) :] == parts or (bool(level) and own[-1] == parts[-1])


def _is_package(path: Path, module: str, level: int) -> bool:
    """Tell whether ``module`` is a package around the file, which may give on what the file defines."""
    parts = module.split(".") if module else []
    return (level > 0 and not parts) or (bool(parts) and parts[-1] in path.resolve().parent.parts[-3:])


def constants_of(module: ast.Module) -> dict[str, ast.expr]:
    """Return the values of names that a file assigns once, at its top level."""
    statements = [s for s in own_statements(module.body) if not isinstance(s, ast.If | ast.Try | IMPORTS)]
    counts = Counter(name for statement in statements for name in bound_by(statement))
    return {name: value for name, value in assignments_in(statements) if counts[name] == 1}


class NotSpelled(ValueError):
    """The module has no names for the value; the message says which is missing."""


class Names(ast.NodeTransformer):
    """The names that a module binds at its top level: imports by their path, its own classes and constants."""

    def __init__(self, module: ast.Module, others: Mapping[str, str] | None = None):
        """``others``: what ``module`` has of other files of its package, each with its name here, "" for none."""
        self._others = others or {}
        self._paths = {path: name for statement in module.body for name, path in imports_of(statement)}
        definitions = [s for s in module.body if not isinstance(s, IMPORTS)]
        self._own = {name: statement for statement in definitions for name in bound_by(statement)}

    def spelled(self, text: str) -> str:
        """Return the literal ``text`` as an expression of the module. Raises NotSpelled, BadText."""
        return self._written(read_literal(text))

    def spelled_result(self, text: str) -> str:
        """Return the literal ``text`` as an expression that equals another of the same value.

        Raises NotSpelled, BadText; NotSpelled also for own objects without equality, and for arrays and frames, whose
        == gives no truth value.
        """
        value = read_literal(text)
        tree = expression(write_literal(value))
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(node.func)
            own = self._own.get(name)
            if isinstance(own, ast.ClassDef) and not _is_compared(own):
                raise NotSpelled(f"{name} has no equality of its own")
            init = methods_of(own).get("__init__") if isinstance(own, ast.ClassDef) else None
            if init is not None and not {k.arg for k in node.keywords} <= {p.name for p in parameters_in(init.args)}:
                raise NotSpelled(f"{name} is not made of the attributes that it has")
            if name in _WITHOUT_TRUTH:
                raise NotSpelled(f"two {name} compared give no truth value")
        return self._written(value)

    def spelled_expression(self, text: str) -> str:
        """Return a call's text with its standard types as the module names them. Raises NotSpelled, BadText."""
        tree = expression(text)
        if not isinstance(tree, ast.Call):
            return text
        arguments = [self.spelled(ast.unparse(argument)) for argument in tree.args]
        arguments += [f"{k.arg}={self.spelled(ast.unparse(k.value))}" for k in tree.keywords]
        match tree.func:
            case ast.Attribute(value=ast.Call() as made, attr=method):
                called = f"{self.spelled(ast.unparse(made))}.{method}"
            case _:
                called = ast.unparse(tree.func)
        return f"{called}({', '.join(arguments)})"

    def _written(self, value: object) -> str:
        try:
            return ast.unparse(self.visit(expression(write_literal(value))))
        except NotSpelled:
            raise
        except (ValueError, RecursionError) as e:  # a number too long to print
            raise NotSpelled(str(e)) from None

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Keep code as it is."""
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return code, or a number that has no literal. Raises NotSpelled."""
        if node.id == "nan":
            raise NotSpelled("nan equals nothing")
        return expression("float('inf')" if node.id == "inf" else self._code(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return code as the module names it. Raises NotSpelled."""
        return expression(self._code(ast.unparse(node)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return an object with its type as the module names it. Raises NotSpelled."""
        dotted = ast.unparse(node.func)
        own = self._own.get(dotted)
        args = [self.visit(arg) for arg in node.args]
        if dotted == "float":
            return node if "nan" not in ast.unparse(node) else self.visit_Name(ast.Name(id="nan"))
        match args:
            case [ast.Tuple(elts=elts)] if isinstance(own, ast.ClassDef) and "NamedTuple" in base_names(own):
                args = elts
        keywords = [ast.keyword(arg=k.arg, value=self.visit(k.value)) for k in node.keywords]
        return ast.Call(func=expression(self._name(dotted)), args=args, keywords=keywords)

    def _code(self, text: str) -> str:
        root = text.partition(".")[0]
        known = hasattr(builtins, root) or root in self._own.keys() - self._others or root in self._paths.values()
        return text if known else self._name(text)

    def _name(self, dotted: str) -> str:
        """Return what the module calls a type. Raises NotSpelled."""
        root, point, rest = dotted.partition(".")
        if here := self._others.get(root):
            return here + point + rest
        if root not in self._others and (root in self._own or dotted in _PLAIN):
            return dotted
        packages = {short: package for package, short in LIBRARIES.items()} | {"re": "re"}
        path = ""
        if rest:
            imported = {name: path for path, name in self._paths.items()}
            path = f"{packages.get(root, imported.get(root, root))}.{rest}"
            path = path if path in _STANDARD or path.partition(".")[0] in packages.values() else ""
        elif root in _HOME:
            path = f"{_HOME[root]}.{dotted}"
        if not path:
            raise NotSpelled(f"the module has no {dotted}")
        if known := _by_prefix(path, self._paths):
            return known
        raise NotSpelled(f"the module does not import {dotted}")


def _is_compared(own: ast.ClassDef) -> bool:
    """Tell whether two instances with the same fields are equal."""
    options = dataclass_options(own)
    if options is not None:
        return options.get("eq") != "False"
    compared = {"NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "TypedDict"}
    return "__eq__" in methods_of(own) or not compared.isdisjoint(base_names(own))
