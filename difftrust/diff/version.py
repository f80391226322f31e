"""A version of a function, and with what it rests on as one program for the sandbox; nothing is executed here."""

import ast
import copy
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from difftrust.check.call_runner import installed
from difftrust.source.closure import LIBRARIES, Extent, Module, Modules, evaluated
from difftrust.source.operators import operators_in
from difftrust.source.scopes import bound_by, names_of
from difftrust.source.target import MAKERS, Target, find_target, python_files, root_of, without_texts
from difftrust.types.argument_types import Annotations, ArgumentTypes
from difftrust.types.own import Function, classes_in, parameters_in
from difftrust_core.languages.python.syntax import own_statements

CALL = "difftrust_call"
"""The entry point of a bundle."""
_NOWHERE = "_nowhere"
"""The package of a file that is in none."""


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a function, parsed."""

    where: str
    """``path.py::f``."""
    target: Target

    @property
    def root(self) -> Path:
        """The folder from which the file's package is imported; the file's own where it is in none."""
        return root_of(self.path)

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
        return _module_name(self.path.resolve(), self.root)

    @property
    def package_modules(self) -> set[str]:
        """The names of all modules of the file's package, none for a file in no package."""
        top = self.root / self.module_name.partition(".")[0]
        return {_module_name(path, self.root) for path in python_files(top)}

    @property
    def text(self) -> str:
        """The function alone, without its docstring, decorators included."""
        return ast.unparse(without_texts(self.target.function))


def _module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def load_version(where: str) -> Version:
    """Return the version that ``module.py::function`` or ``module.py::Class.method`` names.

    Raises WrongUsage for another form of words, BadStub if there is no such file, class or function.
    """
    return Version(where=where, target=find_target(where, makers=True))


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
    """Methods of these that nothing which the function rests on names."""
    implied: frozenset[ast.AST]
    """Methods that only operators call which are not in the function itself, and what only these methods name."""
    remade: Callable[[ast.stmt, str], str]
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
    types = ArgumentTypes([*parameters_in(target.function.args)], Annotations(target.module)).types
    modules.want(
        wanted, *names_of(target.function.args), *classes_in(types), *given
    )  # annotations too, which no call evaluates
    packages = [package for package in modules.external if package != "."]
    there = tuple(package for package in packages if package in (*LIBRARIES, *allowed) or installed(package))
    without = tuple(package for package in packages if package not in there and modules.external[package])
    missing = tuple(package for package in (*packages, _NOWHERE) if package not in (*there, *without))
    own = version.module_name
    names = tuple(dict.fromkeys((name, own)))
    owner, _, called = wanted.rpartition(".") if version.makes else target.entry_point.rpartition(".")
    classes, late = _classes(modules), _late(modules)
    left_out: dict[str, list[str] | None] = dict.fromkeys(sorted(version.package_modules))
    left_out |= {module.name: sorted(module.binders.keys() - module.wanted) for module in modules.others}
    left_out |= dict.fromkeys(names, sorted(modules.own.binders.keys() - modules.own.wanted))

    def remade(instead: ast.stmt | None, text: str) -> str:
        texts = {module.name: _text(module, modules, instead, text) for module in modules.every}
        sources = {module.name: (texts[module.name], module.is_package) for module in modules.others}
        for module in [own, *sources]:
            while module := module.rpartition(".")[0]:
                sources.setdefault(module, ("", True))
        return "\n".join((
            "import os as __os",
            "import types as __types",
            "__os.environ.setdefault('HOME', '/')",  # modules that look for it when they are imported
            "__inside = __types.ModuleType('__inside')",
            f"exec(compile({_inside()!r}, '<inside>', 'exec'), __inside.__dict__)",
            f"__inside.install(globals(), {sources!r}, {missing!r}, {names!r}, {left_out!r})",
            texts[modules.own.name],
            *(f"__import__({name!r})" for name in modules.joined),
            f"__inside.complete(globals(), {late!r}, {classes!r})",
            f"{CALL} = __inside.caller(globals(), {owner!r}, {called!r}, {awaitable}, {sorted(sets)!r})",
        ))  # fmt: skip

    return Bundle(
        code=remade(None, ""),
        libraries=there,
        missing=tuple(package for package in missing if package != _NOWHERE),
        without=without,
        modules={module.name: tuple(module.statements) for module in modules.others}
        | {"": tuple(modules.own.statements)},
        idle=frozenset(modules.idle),
        implied=frozenset(modules.implied),
        remade=remade,
    )


def _inside() -> str:
    return resources.files(__package__ or "").joinpath("sandbox_imports.py").read_text(encoding="utf-8")


def _text(module: Module, modules: Modules, instead: ast.stmt | None, given: str) -> str:
    """Return the text of a module; what others take of the own one they get when that is complete.

    ``given`` stands in place of the statement ``instead``.
    """
    lines = []
    for statement in module.statements:
        text = given if statement is instead else ast.unparse(_absolute(statement, module, modules))
        if isinstance(statement, ast.ImportFrom) and module.base(statement) == modules.own.name:
            text = f"try:\n    {text}\nexcept ImportError:\n    pass"
        lines.append(text)
    return "\n".join(lines)


def _late(modules: Modules) -> list[tuple[str, str, str]]:
    """Return what other modules take of the own one: module, name there, name here."""
    return [
        (module.name, alias.asname or alias.name, alias.name)
        for module in modules.others
        for statement in module.statements
        if isinstance(statement, ast.ImportFrom) and module.base(statement) == modules.own.name
        for alias in statement.names
    ]


def _absolute(statement: ast.stmt, module: Module, modules: Modules) -> ast.stmt:
    """Return a statement with the imports that it needs, none relative."""
    if not any(isinstance(node, ast.ImportFrom) for node in ast.walk(statement)):
        return statement
    made: ast.stmt = _Imports(module, modules).visit(copy.deepcopy(statement))
    return made


class _Imports(ast.NodeTransformer):
    """Names the package in relative imports, and takes out of those from it what nothing asks for."""

    def __init__(self, module: Module, modules: Modules):
        self._module, self._modules = module, modules

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        """Return the import, ``pass`` if nothing is left of it."""
        base = self._module.base(node)
        if self._modules.found.get(base) is not None and not self._modules.whole:
            wanted = self._module.wanted
            node.names = [each for each in node.names if each.name == "*" or (each.asname or each.name) in wanted]
        if node.level:
            known = base in self._modules.found or base.partition(".")[0] not in sys.stdlib_module_names
            node.level, node.module = 0, base if base and known else f"{_NOWHERE}.{base}".rstrip(".")
        return node if node.names else ast.Pass()


def _classes(modules: Modules) -> list[tuple[str, str]]:
    """Return the classes of other modules that the own program neither binds nor reads, for inputs are made of them."""
    own = modules.own
    bound = {name for s in own.statements for name in bound_by(_absolute(s, own, modules))} - own.for_types_alone
    read = {node.id for s in own.statements for node in evaluated(s) if isinstance(node, ast.Name)}
    found: dict[str, str] = {}
    for module in modules.others:
        for statement in own_statements(module.statements):
            match statement:
                case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
                    found.setdefault(name, module.name)
    return [(module, name) for name, module in found.items() if name not in bound | read]
