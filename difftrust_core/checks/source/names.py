"""Values spelled with the names that a module has, so that they evaluate to the same there."""

import ast
import builtins
from collections.abc import Iterator

from difftrust_core.base.literals import Code, Instance, read_literal, write_literal

_HOME = {
    **dict.fromkeys(("date", "datetime", "time", "timedelta", "timezone"), "datetime"),
    **dict.fromkeys(("Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"), "pathlib"),
    **dict.fromkeys(("Counter", "OrderedDict", "deque"), "collections"),
    "Decimal": "decimal",
    "Fraction": "fractions",
    "UUID": "uuid",
    "ZoneInfo": "zoneinfo",
    "compile": "re",
}
"""Where types of the standard library lie that values are written with."""
_FULL = frozenset(f"{home}.{name}" for name, home in _HOME.items())
_LIBRARIES = {"np": "numpy", "pd": "pandas", "pl": "polars", "re": "re"}
_WITHOUT_TRUTH = frozenset(("np.array", "pd.DataFrame", "pd.Series", "pd.Index", "pl.DataFrame", "pl.Series"))
_BUILTINS = frozenset(("range", "slice", "memoryview"))


class NotSpelled(ValueError):
    """The module has no names for the value; the message says which is missing."""


class Names:
    """The names that a module binds at its top level: imports by their path, its own classes and constants."""

    def __init__(self, module: ast.Module):
        self._paths: dict[str, str] = {}
        self._own: dict[str, ast.stmt] = {}
        for statement in module.body:
            for name, path in _imported(statement):
                self._paths[path] = name
            for name in _bound(statement):
                self._own[name] = statement

    def spelled(self, text: str) -> str:
        """Return the literal ``text`` as an expression of the module. Raises NotSpelled, BadText."""
        return self._written(read_literal(text))

    def spelled_result(self, text: str) -> str:
        """Return the literal ``text`` as an expression that equals another of the same value.

        Raises NotSpelled, BadText; NotSpelled also for own objects without equality, and for arrays and frames, whose
        == gives no truth value.
        """
        value = read_literal(text)
        for name in _made(value):
            own = self._own.get(name)
            if isinstance(own, ast.ClassDef) and not _is_compared(own):
                raise NotSpelled(f"{name} has no equality of its own")
            if name in _WITHOUT_TRUTH:
                raise NotSpelled(f"two {name} compared give no truth value")
        return self._written(value)

    def spelled_expression(self, text: str) -> str:
        """Return a call's text with its standard types as the module names them. Raises NotSpelled, BadText."""
        tree = ast.parse(text, mode="eval").body
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
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            if value != value:
                raise NotSpelled("nan equals nothing")
            return f"float('{value}')"
        if isinstance(value, list | tuple | set | frozenset | dict):
            return self._container(value)
        if isinstance(value, Instance):
            return self._instance(value)
        if isinstance(value, Code):
            return self._code(value.text)
        return write_literal(value)

    def _container(self, value: object) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._written(k)}: {self._written(v)}" for k, v in value.items()) + "}"
        assert isinstance(value, list | tuple | set | frozenset)
        parts = [self._written(part) for part in value]
        if isinstance(value, list):
            return f"[{', '.join(parts)}]"
        if isinstance(value, tuple):
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        inside = "{" + ", ".join(sorted(parts)) + "}"
        if isinstance(value, set):
            return inside if parts else "set()"
        return f"frozenset({inside if parts else ''})"

    def _instance(self, value: Instance) -> str:
        args, fields = list(value.args), dict(value.fields)
        if value.type_name == "float" and len(args) == 1 and not fields:
            return self._written(float(str(args[0])))
        name = self._name(value.type_name)
        own = self._own.get(value.type_name)
        is_tuple = isinstance(own, ast.ClassDef) and "NamedTuple" in _bases(own)
        if is_tuple and len(args) == 1 and isinstance(args[0], tuple):
            args = list(args[0])
        parts = [self._written(arg) for arg in args]
        parts += [f"{field}={self._written(content)}" for field, content in fields.items()]
        return f"{name}({', '.join(parts)})"

    def _code(self, text: str) -> str:
        root = text.split(".", maxsplit=1)[0]
        if text.startswith("lambda") or hasattr(builtins, root) or root in self._own or root in self._paths.values():
            return text
        return self._name(text)

    def _name(self, dotted: str) -> str:
        """Return what the module calls a type. Raises NotSpelled."""
        root, _, rest = dotted.partition(".")
        if root in self._own or (not rest and dotted in _BUILTINS):
            return dotted
        imported = {name: path for path, name in self._paths.items()}
        written = [f"{imported[root]}.{rest}" if root in imported else "", dotted] if rest else []
        full = [path for path in written if path in _FULL or path.partition(".")[0] in _LIBRARIES.values()]
        if full:
            path = full[0]
        elif rest and root in _LIBRARIES:
            path = f"{_LIBRARIES[root]}.{rest}"
        elif root in _HOME:
            path = f"{_HOME[root]}.{dotted}"
        else:
            raise NotSpelled(f"the module has no {dotted}")
        parts = path.split(".")
        for n in range(len(parts), 0, -1):
            known = self._paths.get(".".join(parts[:n]))
            if known is not None:
                return ".".join([known, *parts[n:]])
        raise NotSpelled(f"the module does not import {dotted}")


def _imported(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], alias.name if alias.asname else alias.name.split(".")[0]
    elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        for alias in statement.names:
            yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _made(value: object) -> Iterator[str]:
    """Yield the name of each type that the value is made of by a call."""
    if isinstance(value, Instance):
        yield value.type_name
        value = [*value.args, *value.fields.values()]
    elif isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _made(part)


def _bases(own: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in own.bases}


def _is_compared(own: ast.ClassDef) -> bool:
    """Tell whether two instances with the same fields are equal."""
    decorators = [ast.unparse(decorator) for decorator in own.decorator_list]
    if any("dataclass" in text.partition("(")[0] for text in decorators):
        return not any("eq=False" in text for text in decorators)
    return bool(_bases(own) & {"NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "TypedDict"}) or any(
        isinstance(s, ast.FunctionDef) and s.name == "__eq__" for s in own.body
    )
