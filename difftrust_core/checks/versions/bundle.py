"""A version as one program for the sandbox: its function, and what of its module and package it rests on."""

import ast
import copy
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from difftrust_core.checks.source.preamble import names_in
from difftrust_core.checks.source.values import LIBRARIES
from difftrust_core.checks.versions.modules import Module, Modules
from difftrust_core.checks.versions.version import Version
from difftrust_core.sandbox.runner import installed

CALL = "difftrust_call"
"""The entry point of a bundle."""
_NOWHERE = "_nowhere"
"""The package of a file that is in none."""


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A version's program."""

    code: str
    libraries: tuple[str, ...]
    """Packages that are installed here and that it imports."""
    missing: tuple[str, ...]
    """Packages that it imports and that are not there."""
    definitions: tuple[ast.stmt, ...]
    """What it is made of: the statements of other modules, then those of its own."""
    own: tuple[ast.stmt, ...]
    """The statements of its own module."""


def bundle_of(
    version: Version, *, allowed: Sequence[str] = (), also: Sequence[str] = (), name: str = "", whole: bool = False
) -> Bundle:
    """Return the program of a version; nothing of it is imported or executed.

    ``allowed``: packages that it may import beside those that are installed and named by its files. ``also``: names of
    its module that inputs use. ``name``: under which its module is known to itself. ``whole``: all statements of all
    modules are kept, not only those that the function rests on.
    """
    target = version.target
    wanted = target.owner.name if target.owner else target.function.name
    modules = Modules(target.path, version.module_name, version.root, target.module, whole=whole)
    modules.ask(target.function.name)
    modules.want(wanted, *names_in_annotations(target.function), *also)
    packages = [package for package in modules.external if package != "."]
    there = tuple(package for package in packages if package in (*LIBRARIES, *allowed) or installed(package))
    missing = tuple(package for package in (*packages, _NOWHERE) if package not in there)
    sources = {module.name: (_text(module, modules), module.is_package) for module in modules.others}
    for module in list(sources):
        above = module.rpartition(".")[0]
        while above and above not in sources:
            sources[above] = ("", True)
            above = above.rpartition(".")[0]
    own = version.module_name
    above = own.rpartition(".")[0]
    while above and above not in sources:
        sources[above] = ("", True)
        above = above.rpartition(".")[0]
    names = tuple(dict.fromkeys((name or own, own)))
    classes, late = _classes(modules), _late(modules)
    return Bundle(
        code="\n".join((
            "import os as __os",
            "import types as __types",
            "__os.environ.setdefault('HOME', '/')",  # modules that look for it when they are imported
            "__inside = __types.ModuleType('__inside')",
            f"exec(compile({_inside()!r}, '<inside>', 'exec'), __inside.__dict__)",
            f"__inside.install(globals(), {sources!r}, {missing!r}, {names!r})",
            _text(modules.own, modules),
            f"__inside.complete(globals(), {late!r}, {classes!r})",
            f"{CALL} = __inside.caller(globals(), {_owner(version)!r}, {_name(version)!r})",
        )),
        libraries=there,
        missing=tuple(package for package in missing if package != _NOWHERE),
        definitions=tuple(s for module in (*modules.others, modules.own) for s in module.statements),
        own=tuple(modules.own.statements),
    )  # fmt: skip


def _owner(version: Version) -> str:
    owner = version.target.owner
    return "" if version.makes or owner is None else owner.name


def _name(version: Version) -> str:
    owner = version.target.owner
    return owner.name if version.makes and owner is not None else version.target.function.name


def _inside() -> str:
    return resources.files(__package__ or "").joinpath("inside.py").read_text(encoding="utf-8")


def _text(module: Module, modules: Modules) -> str:
    """Return the text of a module; what others take of the own one they get when that is complete."""
    lines = []
    for statement in module.statements:
        text = ast.unparse(_absolute(statement, module, modules))
        if isinstance(statement, ast.ImportFrom) and modules.base(module, statement) == modules.own.name:
            text = f"try:\n    {text}\nexcept ImportError:\n    pass"
        lines.append(text)
    return "\n".join(lines)


def _late(modules: Modules) -> list[tuple[str, str, str]]:
    """Return what other modules take of the own one: module, name there, name here."""
    return [
        (module.name, alias.asname or alias.name, alias.name)
        for module in modules.others
        for statement in module.statements
        if isinstance(statement, ast.ImportFrom) and modules.base(module, statement) == modules.own.name
        for alias in statement.names
    ]


def names_in_annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names in the annotations of a function's parameters, those written as texts included."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    found: set[str] = set()
    for argument in every:
        if argument is not None and argument.annotation is not None:
            for node in ast.walk(argument.annotation):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found |= names_in(node.value)
                elif isinstance(node, ast.Name):
                    found.add(node.id)
    return found


def _absolute(statement: ast.stmt, module: Module, modules: Modules) -> ast.stmt:
    """Return a statement whose relative imports name the package."""
    if not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(statement)):
        return statement
    made = copy.deepcopy(statement)
    for node in ast.walk(made):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = modules.base(module, node)
            head = base.partition(".")[0]
            known = base in modules.found or head not in sys.stdlib_module_names
            node.level, node.module = 0, base if base and known else f"{_NOWHERE}.{base}".rstrip(".")
    return made


def _classes(modules: Modules) -> list[tuple[str, str]]:
    """Return the classes of other modules that the own module does not name, for inputs are made of them too."""
    bound = set(modules.own.binders)
    found: dict[str, str] = {}
    for module in modules.others:
        for statement in module.statements:
            if isinstance(statement, ast.ClassDef) and statement.name not in bound:
                found.setdefault(statement.name, module.name)
    return [(module, name) for name, module in found.items()]
