"""Values as a user's file writes them: expressions of literals, its own classes and standard types, never evaluated."""

import ast
import builtins
import datetime
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from difftrust_core.base.literals import BadText, Code, Instance, read_literal, write_literal
from difftrust_core.checks.source.target import Function, Target, top_level
from difftrust_core.datasets.seeds import NotFolded, fold

_STANDARD: Final = {
    **{f"datetime.{name}": name for name in ("date", "time", "datetime", "timedelta", "timezone")},
    **{f"pathlib.{name}": name for name in ("Path", "PurePath", "PurePosixPath", "PureWindowsPath", "PosixPath")},
    **{f"collections.{name}": name for name in ("Counter", "OrderedDict", "defaultdict", "deque")},
    "decimal.Decimal": "Decimal",
    "fractions.Fraction": "Fraction",
    "uuid.UUID": "UUID",
    "zoneinfo.ZoneInfo": "ZoneInfo",
    "re.compile": "re.compile",
    "types.SimpleNamespace": "SimpleNamespace",
}
"""Calls of the standard library that are values, and how inputs write them."""
_SHORT: Final = {name: name for name in _STANDARD.values()} | {"datetime.date": "date"}
LIBRARIES: Final = {"numpy": "np", "pandas": "pd", "polars": "pl"}
"""Packages that inputs may use, and how inputs write them."""
PRELUDE: Final = {
    **{module: f"import {module}" for module in ("re", "math", "operator", "string", "collections", "itertools")},
    **{
        path.rpartition(".")[2]: f"from {path.rpartition('.')[0]} import {path.rpartition('.')[2]}"
        for path in _STANDARD
        if path != "re.compile"
    },
    **{short: f"import {package} as {short}" for package, short in LIBRARIES.items()},
}
"""Names that an example may use without an import, each with the import that it stands for."""
_BUILTINS: Final = frozenset({"complex", "range", "bytes", "bytearray", "frozenset", "iter", "set", "dict", "list"})
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
_DEPTH = 60


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

    def resolve(self, dotted: str) -> str:
        """Return ``dotted`` as inputs write it: without its module where it is the checked one, "" if unknown."""
        parts = dotted.split(".")
        for n in range(len(parts), 0, -1):
            path = self._paths.get(".".join(parts[:n]))
            if path is not None:
                return _canonical(".".join([path, *parts[n:]]))
        return dotted if parts[0] in _BUILTINS | _BUILTIN_TYPES else _SHORT.get(dotted, "")

    def value(self, node: ast.expr, names: Mapping[str, Any], depth: int = 0) -> Any:
        """Return the value that ``node`` writes, as ``literals`` has it. Raises NotFolded for anything else."""
        if depth > _DEPTH:
            raise NotFolded("too deep")
        try:
            return _spelled(fold(node, names))
        except NotFolded:
            pass
        match node:
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                make: Any = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
                return _made(make, [self.value(e, names, depth + 1) for e in elts])
            case ast.Dict(keys=keys, values=values) if all(keys):
                pairs = zip(keys, values, strict=True)
                return _made(
                    dict, [(self.value(k, names, depth + 1), self.value(v, names, depth + 1)) for k, v in pairs if k]
                )
            case ast.Name() | ast.Attribute():
                return self._named(node, names, depth)
            case ast.Lambda():
                return self._lambda(node)
            case ast.Call():
                return self._call(node, names, depth)
        raise NotFolded(f"{type(node).__name__} is no literal")

    def _named(self, node: ast.Name | ast.Attribute, names: Mapping[str, Any], depth: int) -> Any:
        dotted = _dotted(node, names)
        resolved = self.resolve(dotted) or (dotted if hasattr(builtins, dotted) else "")
        head, _, rest = resolved.partition(".")
        if resolved in _NUMBERS:
            return _NUMBERS[resolved]
        if resolved in self._assigned and resolved not in names:
            return self.value(self._assigned[resolved], {}, depth + 1)
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

    def _call(self, node: ast.Call, names: Mapping[str, Any], depth: int) -> Any:
        name = self.resolve(_dotted(node.func, names))
        head = name.partition(".")[0]
        standard = name in _SHORT.values() or name in _BUILTINS or head in LIBRARIES.values()
        if not standard and head not in self._classes and name not in _PARSERS:
            raise NotFolded(f"a call of {name or 'what is not known here'}")
        args, fields = self.arguments(node, names, depth)
        if name in _PARSERS:
            return _parsed(name, args)
        if name in ("set", "list", "dict", "bytes", "frozenset"):
            raise NotFolded(f"a {name} of what is no literal")
        return _read(write_literal(Instance(name, tuple(args), fields)))

    def arguments(self, node: ast.Call, names: Mapping[str, Any], depth: int = 0) -> tuple[list[Any], dict[str, Any]]:
        """Return the values of a call's arguments, ``*`` and ``**`` spread. Raises NotFolded."""
        args: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                spread = self.value(argument.value, names, depth + 1)
                args += spread if isinstance(spread, list | tuple) else _refuse("* before no list")
            else:
                args.append(self.value(argument, names, depth + 1))
        fields: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, names, depth + 1)
            if keyword.arg is not None:
                fields[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) and key.isidentifier() for key in value):
                fields |= value
            else:
                _refuse("** before no dict of names")
        return args, fields


def _refuse(why: str) -> Any:
    raise NotFolded(why)


def _made(make: Any, parts: list[Any]) -> Any:
    try:
        return make(parts)
    except TypeError as e:  # a list in a set
        raise NotFolded(str(e)) from None


def _read(text: str) -> Any:
    """Return the value behind a text, in the form in which ``literals`` reads it. Raises NotFolded."""
    try:
        return read_literal(text)
    except (BadText, TypeError) as e:
        raise NotFolded(str(e)) from None


def _spelled(value: Any) -> Any:
    kind = type(value)
    if kind is range:
        return Instance("range", (value.start, value.stop, value.step))
    if kind in (list, tuple):
        return kind([_spelled(v) for v in value])
    return {k: _spelled(v) for k, v in value.items()} if kind is dict else value


def _parsed(name: str, args: list[Any]) -> Any:
    """Return what ``date.fromisoformat('2020-01-01')`` and its like stand for."""
    try:
        made = _PARSERS[name].fromisoformat(*args)
    except (ValueError, TypeError) as e:
        raise NotFolded(str(e)) from None
    if getattr(made, "tzinfo", None) is not None:
        raise NotFolded("a time zone")
    return _read(repr(made).removeprefix("datetime."))


def _dotted(node: ast.expr, names: Mapping[str, Any]) -> str:
    """Return a dotted name whose first part no variable hides. Raises NotFolded."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in names:
        raise NotFolded("no plain name")
    return ".".join([node.id, *reversed(parts)])


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
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        own = is_own_module(target.path, module, node.level)
        for alias in node.names:
            if alias.name == "*":
                yield from ((name, _OWN + name) for name in sorted(bound) if own)
                continue
            path = f"{module}.{alias.name}"
            if own or (_is_package(target.path, module, node.level) and alias.name in bound):
                path = _OWN + alias.name
            elif is_own_module(target.path, path.lstrip("."), node.level):
                path = _OWN[:-1]
            yield alias.asname or alias.name, path


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


def bound_names(module: ast.Module) -> set[str]:
    """Return all names that a file's top level binds, imports left out."""
    return {name for statement in top_level(module.body) for name in bound_by(statement)}


def bound_by(statement: ast.stmt) -> set[str]:
    """Return the names that a definition or an assignment binds."""
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return {name}
    if type(statement).__name__ == "TypeAlias":  # Python 3.12
        return {statement.name.id}  # type: ignore[attr-defined]
    return set()


def constants_of(module: ast.Module) -> dict[str, ast.expr]:
    """Return the values of names that a file assigns once, at its top level."""
    found: dict[str, ast.expr] = {}
    counts: dict[str, int] = {}
    for statement in top_level(module.body):
        for name in bound_by(statement):
            counts[name] = counts.get(name, 0) + 1
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
    return {name: value for name, value in found.items() if counts[name] == 1}


def free_names(node: ast.AST) -> set[str]:
    """Return the names that ``node`` reads and does not bind itself (in a comprehension, a lambda, an assignment)."""
    nodes = list(ast.walk(node))
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    made = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    made |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    made |= {a.asname or a.name.partition(".")[0] for n in nodes if isinstance(n, IMPORTS) for a in n.names}
    made |= {n.name for n in nodes if isinstance(n, Function | ast.ClassDef)}
    made |= {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    return read - made


IMPORTS = ast.Import | ast.ImportFrom
