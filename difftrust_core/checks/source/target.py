"""The function that `module.py::function` names: found in its parsed file, never executed."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from difftrust_core.exceptions import BadStub, WrongUsage
from difftrust_core.languages.python import syntax
from difftrust_core.languages.python.argument_types import Parameter

Function = ast.FunctionDef | ast.AsyncFunctionDef
_PROPERTIES = {"property", "cached_property"}
_OF_PROPERTIES = {"setter", "deleter"}
MAKERS = ("__init__", "__new__", "__post_init__")
"""Methods that a call of the class runs."""
_NOT_CALLED = {*MAKERS, "__init_subclass__", "__class_getitem__", "__del__"}


@dataclass(frozen=True, kw_only=True)
class Target:
    """A function, or a method with its class, in its file."""

    path: Path
    module: ast.Module
    function: Function
    owner: ast.ClassDef | None = None
    """The class of a method."""

    @property
    def entry_point(self) -> str:
        """``function`` or ``Class.method``."""
        return f"{self.owner.name}.{self.function.name}" if self.owner else self.function.name

    @property
    def kind(self) -> str:
        """One of function, method, classmethod, staticmethod, property."""
        if self.owner is None:
            return "function"
        for decorator in decorators_of(self.function):
            if decorator in ("classmethod", "staticmethod"):
                return decorator
            if decorator in _PROPERTIES:
                return "property"
        return "method"

    @property
    def is_generator(self) -> bool:
        """Tell whether the body yields, or the annotation says so."""
        returns = ast.unparse(self.function.returns) if self.function.returns else ""
        said = returns.partition("[")[0].rpartition(".")[2].strip("'\"")
        return "Generator" in said or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(self.function))

    @property
    def docstring(self) -> str:
        """The docstring, without its margin; empty where there is none."""
        return (ast.get_docstring(self.function) or "").strip()

    @property
    def body(self) -> list[ast.stmt]:
        """The statements after the docstring."""
        return without_docstring(self.function.body)

    def parameters(self) -> list[Parameter]:
        """Return what a call takes, the object of a method first; ``cls`` is left out.

        Raises BadStub where there is nothing to fuzz.
        """
        found = list(_parameters(self.function.args))
        if self.owner is not None and self.kind != "staticmethod":
            if not found or found[0].keyword:
                raise BadStub(f"expected a first parameter self or cls in {self.entry_point}, found none; add it")
            own = ast.Name(id=self.owner.name, ctx=ast.Load())
            first = Parameter(name=found[0].name, annotation=own, required=True)
            found[:1] = [] if self.kind == "classmethod" else [first]
        if not found:
            raise BadStub(f"expected a function with parameters, {self.entry_point} has none; there is nothing to fuzz")
        return found


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    for argument, default in zip(positional, [*defaults, *arguments.defaults], strict=True):
        yield _parameter(argument, default, keyword=False)
    if arguments.vararg:
        more = arguments.vararg
        yield Parameter(name=more.arg, annotation=more.annotation, required=False, variadic=True)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default, keyword=True)
    if arguments.kwarg:
        more = arguments.kwarg
        yield Parameter(name=more.arg, annotation=more.annotation, required=False, variadic=True, keyword=True)


def _parameter(argument: ast.arg, default: ast.expr | None, *, keyword: bool) -> Parameter:
    return Parameter(
        name=argument.arg, annotation=argument.annotation, required=default is None, keyword=keyword, default=default
    )


def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of the file ``path``. Raises BadStub if it cannot be read as Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the file contains, e.g. an invalid escape
            return ast.parse(path.read_bytes())
    except OSError as e:
        raise BadStub(f"expected a Python file, {path} cannot be read: {e.strerror or e}; check its path") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        said = f"{e.msg} in line {e.lineno}" if isinstance(e, SyntaxError) else str(e)
        raise BadStub(f"expected Python in {path}, found {type(e).__name__}: {said}; correct the file") from None


def find_target(where: str) -> Target:
    """Return the function that ``module.py::function`` or ``module.py::Class.method`` names.

    Raises WrongUsage for another form of words, BadStub if there is no such file, class or function.
    """
    path, separator, name = where.rpartition("::")
    parts = name.split(".")
    if not separator or not path or "::" in path or len(parts) > 2 or not all(part.isidentifier() for part in parts):
        raise WrongUsage(
            f"expected module.py::function or module.py::Class.method, got {where!r}; "
            "name the file, two colons, the function"
        )
    module = parse_file(Path(path))
    owner = _class_of(module, parts[0], path) if len(parts) == 2 else None
    found = _function(owner.body if owner else module.body, parts[-1], name, path, module)
    if owner and found.name in _NOT_CALLED:
        raise BadStub(f"expected a method that is called on an object, got {name}; name one that uses it")
    return Target(path=Path(path), module=module, function=found, owner=owner)


def targets_in(path: Path, module: ast.Module, *, makers: bool = False) -> list[Target]:
    """Return every function and method of a file that ``find_target`` finds, in the order of the file.

    ``makers``: those too that make an object, ``__init__`` for one.
    """
    classes = {s.name: s for s in top_level(module.body) if isinstance(s, ast.ClassDef)}
    found: dict[str, Target] = {}
    for statement in top_level(module.body):
        owner = classes[statement.name] if isinstance(statement, ast.ClassDef) else None
        for function in top_level(owner.body) if owner is statement and owner else [statement]:
            is_maker = makers and isinstance(function, Function) and function.name in MAKERS
            if isinstance(function, Function) and (is_maker or _is_called(function, owner)):
                target = Target(path=path, module=module, function=function, owner=owner)
                found[target.entry_point] = target
    return sorted(found.values(), key=lambda target: target.function.lineno)


def _is_called(function: Function, owner: ast.ClassDef | None) -> bool:
    marks = set(decorators_of(function))
    return not (_OF_PROPERTIES | {"overload"}) & marks and not (owner and function.name in _NOT_CALLED)


def find_function(where: str) -> tuple[Path, ast.Module, Function]:
    """Return the file, its tree and the function that ``where`` names. Raises as ``find_target`` does."""
    target = find_target(where)
    return target.path, target.module, target.function


def _class_of(module: ast.Module, name: str, path: str) -> ast.ClassDef:
    classes = [s for s in top_level(module.body) if isinstance(s, ast.ClassDef)]
    for found in reversed(classes):
        if found.name == name:
            return found
    there = ", ".join(found.name for found in classes) or "none"
    raise BadStub(f"expected a class {name} in {path}, found: {there}; name one of these")


def _function(body: list[ast.stmt], name: str, said: str, path: str, module: ast.Module) -> Function:
    found = [s for s in top_level(body) if isinstance(s, Function)]
    for function in reversed(found):
        if function.name == name and _is_called(function, None):
            return function
    there = ", ".join(dict.fromkeys(f.name for f in found)) or "none"
    for statement in module.body:
        if isinstance(statement, ast.ClassDef) and statement.name == said:
            methods = [s.name for s in statement.body if isinstance(s, Function) and s.name not in _NOT_CALLED]
            one = methods[0] if methods else "method"
            raise BadStub(f"expected a function, {said} in {path} is a class; name a method, {path}::{said}.{one}")
    what = "a top-level function" if "." not in said else "a method"
    raise BadStub(f"expected {what} {said} in {path}, found: {there}; name one of these")


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Iterate over statements, those in ``if`` and ``try`` blocks included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            yield from top_level(statement.body)
            for handler in getattr(statement, "handlers", []):
                yield from top_level(handler.body)
            yield from top_level(statement.orelse)


def decorators_of(function: Function | ast.ClassDef) -> list[str]:
    """Return the last names of the decorators: ``cache`` for ``@functools.cache``, ``setter`` for ``@x.setter``."""
    called = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return [d.attr if isinstance(d, ast.Attribute) else d.id for d in called if isinstance(d, ast.Attribute | ast.Name)]


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements after a docstring."""
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Iterate over the nodes below, without those of functions and classes defined within."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield child
            yield from own_nodes(child)


def is_written(target: Target) -> bool:
    """Tell whether the function has a body of its own, beyond ``...``, ``pass`` and ``raise NotImplementedError``."""
    return syntax.is_written(target.body)
