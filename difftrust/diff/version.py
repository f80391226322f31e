"""A version of a function, and with what it rests on as one program for the sandbox; nothing is executed here."""

import ast
import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from difftrust.check.call_runner import installed
from difftrust.source.closure import LIBRARIES, Extent, Modules
from difftrust.source.operators import operators_in
from difftrust.source.package import Package, package_of, text_of
from difftrust.source.scopes import bound_names, names_of
from difftrust.source.target import MAKERS, Target, find_target, module_name, python_files, without_texts
from difftrust.types.argument_types import Annotations, ArgumentTypes
from difftrust.types.own import Function, classes_in, parameters_in
from difftrust_core.exceptions import BadStub

CALL = "difftrust_call"
"""The entry point of a bundle."""


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a function, parsed."""

    where: str
    """``path.py::f``."""
    target: Target

    @property
    def root(self) -> Path:
        """The folder from which the file's package is imported; the file's own where it is in none."""
        return self.target.root

    @property
    def makes(self) -> bool:
        """Tell whether it makes an object (``__init__``): a call of the class is what is compared."""
        return self.target.owner is not None and self.target.function.name in MAKERS

    @property
    def sets(self) -> frozenset[str]:
        """The attributes that a method sets which the constructor calls before: a call of it may change nothing."""
        owner, function = self.target.owner, self.target.function
        makers = [s for s in owner.body if isinstance(s, Function) and s.name in MAKERS] if owner else []
        called = {n.attr for maker in makers for n in ast.walk(maker) if isinstance(n, ast.Attribute)}
        set_here = (n for n in ast.walk(function) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
        is_method = self.target.kind == "method" and function.name in called and not self.makes
        return frozenset(n.attr for n in set_here if ast.unparse(n.value) == "self") if is_method else frozenset()

    @property
    def path(self) -> Path:
        """The file."""
        return self.target.path

    @property
    def module_name(self) -> str:
        """``package.module``, as the package imports the file."""
        return module_name(self.path.resolve(), self.root)

    @property
    def package_modules(self) -> set[str]:
        """The names of all modules of the file's package, none for a file in no package."""
        top = self.root / self.module_name.partition(".")[0]
        return {module_name(path, self.root) for path in python_files(top)}

    @property
    def text(self) -> str:
        """The function alone, without its docstring, decorators included."""
        return ast.unparse(without_texts(self.target.function))


def load_version(where: str) -> Version:
    """Return the version that ``module.py::function`` or ``module.py::Class.method`` names.

    Raises WrongUsage for another form of words, BadStub if there is no such file, class or function.
    """
    return Version(where=where, target=find_target(where, makers=True))


class _Renamed(ast.NodeTransformer):
    def __init__(self, before: str, after: str):
        self._before, self._after = before, after

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._after if node.id == self._before else node.id
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.name = self._after if node.name == self._before else node.name
        self.generic_visit(node)
        return node


def with_class_called(version: Version, name: str) -> Version:
    """Return a version whose class has another name in its file, so that one object serves both versions."""
    target = version.target
    if target.owner is None or name in {target.owner.name, *bound_names(target.module)}:
        return version
    memo: dict[int, ast.AST] = {}
    module = copy.deepcopy(target.module, memo)
    _Renamed(target.owner.name, name).visit(module)
    made = {"owner": memo[id(target.owner)], "function": memo[id(target.function)]}
    return replace(version, target=replace(target, module=module, **made))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A version's program."""

    code: str
    libraries: tuple[str, ...]
    """Packages that are installed here and that it imports."""
    missing: tuple[str, ...]
    """Packages that it imports and that are not there."""
    without: tuple[str, ...]
    """Packages that are not there either, and that it goes on without."""
    modules: Mapping[str, tuple[ast.stmt, ...]]
    """What it is made of: the statements of other modules by their names, then those of its own, ""."""
    idle: frozenset[ast.AST]
    """Of these, methods that nothing which the function rests on names, and what only they rest on.

    Those of its own class may be called on the object before."""
    implied: frozenset[ast.AST]
    """Methods that only operators call which are not in the function itself, and what only these methods name."""
    remade: Callable[[Mapping[ast.stmt, str]], str]
    """Return the program with another text in place of one of the statements."""

    @property
    def definitions(self) -> tuple[ast.stmt, ...]:
        """The statements of all modules, those of its own last."""
        return tuple(statement for statements in self.modules.values() for statement in statements)

    @property
    def own(self) -> tuple[ast.stmt, ...]:
        """The statements of its own module."""
        return self.modules[""]


def bundle_of(
    version: Version,
    *,
    allowed: Sequence[str],
    name: str,
    extent: Extent,
    awaitable: bool,
    sets: Collection[str],
    also: Collection[str],
) -> Bundle:
    """Return the program of a version; nothing of it is imported or executed.

    ``allowed``: packages that it may import beside those that are installed and named by its files. ``name``: under
    which its module is known to itself. ``extent``: what of its modules is kept. ``awaitable``: whether a result has to
    be awaited counts. ``sets``: attributes of the object that count as they are after a call, changed by it or not.
    ``also``: names that its program has too, if its module binds them, also dotted ones.
    """
    target = version.target
    wanted = target.owner.name if target.owner else target.function.name
    modules = Modules(target.path, version.module_name, version.root, target.module, extent=extent)
    given = [dotted for dotted in dict.fromkeys(also) if dotted.partition(".")[0] in modules.own.binders]
    for asked in (target.function.name, *operators_in(*target.body)):
        modules.ask(asked)
    parameters = [*parameters_in(target.function.args)]
    with suppress(BadStub):
        parameters = target.parameters()  # the object of a method too
    types = ArgumentTypes(parameters, Annotations(target.module)).types
    modules.want(
        wanted, *names_of(target.function.args), *classes_in(types), *given
    )  # annotations too, which no call evaluates
    implied = frozenset(modules.implied)
    has_object = target.owner is not None and target.kind not in ("staticmethod", "classmethod")
    methods = target.owner.body if target.owner is not None and has_object else ()
    used = [each.name for each in methods if isinstance(each, ast.FunctionDef)]
    idle = frozenset(modules.want_beside(name for name in used if not name.startswith("_")))
    own = version.module_name
    names = tuple(dict.fromkeys((name, own)))
    owner, _, called = wanted.rpartition(".") if version.makes else target.entry_point.rpartition(".")
    left_out: dict[str, list[str] | None] = dict.fromkeys(sorted(version.package_modules))
    left_out |= {module.name: sorted(module.binders.keys() - module.wanted) for module in modules.others}
    left_out |= dict.fromkeys(names, sorted(modules.own.binders.keys() - modules.own.wanted))

    def made(instead: Mapping[ast.stmt, str]) -> tuple[Package, str]:
        texts = {module.name: text_of(module, modules, instead) for module in modules.every}
        package = package_of(
            modules,
            modules.external,
            texts,
            names=names,
            left_out=left_out,
            is_there=lambda package: package in (*LIBRARIES, *allowed) or installed(package),
        )
        call = f"{CALL} = __inside.caller(globals(), {owner!r}, {called!r}, {awaitable}, {sorted(sets)!r})"
        return package, "\n".join((package.before, "__inside.hear()", texts[own], package.after, call))

    package, code = made({})
    return Bundle(
        code=code,
        libraries=package.libraries,
        missing=package.missing,
        without=package.without,
        modules={module.name: tuple(module.statements) for module in modules.others}
        | {"": tuple(modules.own.statements)},
        idle=idle,
        implied=implied,
        remade=lambda instead: made(instead)[1],
    )
