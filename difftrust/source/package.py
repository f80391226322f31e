"""A function with its package around it: what its file imports from there as inputs read it, and as programs run it."""

import ast
import base64
import copy
import functools
import marshal
import sys
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difftrust.source.closure import LIBRARIES, Module, Modules, dotted_name, evaluated, packages_of
from difftrust.source.scopes import IMPORTS, bound_by, expression_in, names_in_prose, names_of, tree_of
from difftrust.source.target import Target, module_name, nodes_of_scope
from difftrust.source.values import Names, Scope
from difftrust.types.own import Function
from difftrust_core.base.files import read_packaged
from difftrust_core.languages.python.syntax import own_statements
from difftrust_core.sandbox.runner import file_of

_NOWHERE = "_nowhere"
"""The package of a file that is in none."""


def with_modules(target: Target, root: Path, modules: Mapping[str, Sequence[ast.stmt]]) -> Target:
    """Return a function in its file, before this the definitions of other modules, each name as its own module has it.

    ``modules``: statements by the names of their modules. Of a name that several have, the first one's counts.
    """
    own = {name for s in target.module.body for name in bound_by(s) - _imported_by(s)}
    files: dict[str, Path] = {}
    for name, statements in modules.items():
        path = root.joinpath(*name.split(".")).with_suffix(".py")
        bound = {each for s in statements if not isinstance(s, IMPORTS | Function) for each in bound_by(s)} - own
        files = dict.fromkeys(bound, path) | files
    target = replace(target, others=files)
    copies: dict[int, Any] = {}
    body: list[ast.stmt] = []
    taken: set[str] = set()
    for statements in (*modules.values(), target.module.body):
        names = Scope(target, ast.Module(body=[*statements], type_ignores=[])).spelled
        is_own = statements is target.module.body
        defined = [s for s in statements if is_own or not (isinstance(s, IMPORTS) or bound_by(s) & taken)]
        body += [_respelled(s, names, copies) for s in defined]
        taken |= {name for s in defined for name in bound_by(s)}
    return replace(
        target,
        module=ast.Module(body=body, type_ignores=[]),
        function=copies.get(id(target.function), target.function),
        owner=copies.get(id(target.owner), target.owner),
    )


def _imported_by(statement: ast.stmt) -> set[str]:
    return {name for node in nodes_of_scope(statement) if isinstance(node, IMPORTS) for name in bound_by(node)}


def _respelled(statement: ast.stmt, names: Mapping[str, str], copies: dict[int, Any]) -> ast.stmt:
    """Return a statement in which what lies in other modules has its name there; itself where it names none of it.

    ``copies`` takes the nodes of what is returned by the ids of the given ones.
    """
    other = {name: own for name, own in names.items() if name != own}
    text = ast.unparse(statement) if other else ""
    if not any(name in text for name in other):
        return statement
    made: ast.stmt = _Respelled(other).visit(copy.deepcopy(statement, copies))
    return made


class _Respelled(ast.NodeTransformer):
    """Writes ``Line`` for ``models.Line``."""

    def __init__(self, names: Mapping[str, str]):
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the name that it has in its own module."""
        return ast.Name(id=self._names.get(node.id, node.id), ctx=node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Return the name alone, in place of one that is qualified by its module."""
        name = self._names.get(dotted_name(node))
        return self.generic_visit(node) if name is None else ast.Name(id=name, ctx=node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Return a parameter with its annotation, which may be a text."""
        node.annotation = _InAnnotations(self._names).visit(node.annotation) if node.annotation else None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Return a field with its annotation, which may be a text."""
        node.annotation = _InAnnotations(self._names).visit(node.annotation)
        return self.generic_visit(node)


class _InAnnotations(_Respelled):
    """Does so in texts too."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Return a text with those names in place of the given ones, if it has any."""
        inner = expression_in(node.value) if isinstance(node.value, str) else None
        text = ast.unparse(inner) if inner is not None else ""
        made = ast.unparse(self.visit(copy.deepcopy(inner))) if inner is not None else ""
        return ast.Constant(value=made) if made != text else node


@dataclass(frozen=True, kw_only=True)
class Package:
    """What a function's program has around it in the sandbox."""

    before: str = ""
    """Runs before the text of its own module: it makes the other modules known."""
    after: str = ""
    """Runs after it: other modules get what they take of it, and it gets the classes that inputs are made of."""
    codes: tuple[str, ...] = ()
    """The texts of these modules, as far as they are taken."""
    libraries: tuple[str, ...] = ()
    """Packages that they import and that are there."""
    missing: tuple[str, ...] = ()
    """Packages that they import and that are not there."""
    without: tuple[str, ...] = ()
    """Packages that are not there either, and that they go on without."""

    def around(self, text: str) -> str:
        """Return the text of the own module with what runs around it; annotations are evaluated in none."""
        text = text.replace("from __future__ import annotations\n", "") if self.before else text
        return f"{self.before}\n{text}\n{self.after}\n" if self.before else text


ALONE = Package()
"""Nothing around it."""


def names_for(target: Target, text: str) -> Names:
    """Return the names that a function's file has for what ``text`` names: its own, and its package's."""
    whole = surroundings_of(target, (text,), allowed=()).target
    imports = [s for s in target.module.body if isinstance(s, IMPORTS | ast.Try)]  # not those for types alone
    spelled = Scope(whole, ast.Module(body=[*imports], type_ignores=[])).spelled
    here = {name: written for written, name in spelled.items()}
    return Names(whole.module, {name: here.get(name, "") for name in whole.others})


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a function and its candidates take of its package."""

    target: Target
    """The function as inputs are read from it, with the definitions of other modules."""
    package: Package
    available_import: Callable[[ast.stmt], ast.stmt | None]
    """Return what of an import from it is there."""
    names: frozenset[str] = frozenset()
    """Of its own file, what it takes."""
    notes: tuple[str, ...] = ()
    """What candidates cannot use of it."""


def surroundings_of(target: Target, texts: Sequence[str], *, allowed: Collection[str]) -> Surroundings:
    """Return what a function has around it of its package, as far as its own file or candidates ask for it.

    ``texts``: candidates and whatever else names what the file binds. ``allowed``: packages that may be imported.
    """
    root = target.root
    name = module_name(target.path.resolve(), root)
    modules = Modules(target.path, name, root, target.module)
    beside = ast.Module(body=[s for text in texts for s in tree_of(text).body], type_ignores=[])
    named = names_of(target.function, target.owner) | names_in_prose(target.docstring)
    modules.use(beside).want(*sorted(named)).ask_all()
    modules.put_own_imports_first()
    if not modules.others:
        return Surroundings(target=target, package=ALONE, available_import=lambda statement: None)
    taken = {module.name: module.statements for module in modules.others}
    imported = packages_of(*(statement for statements in taken.values() for statement in statements))
    package = package_of(
        modules,
        {package: guarded for package, guarded in modules.external.items() if package in imported},
        {module.name: text_of(module, modules) for module in modules.others},
        names=(name,),
        left_out={},
        is_there=lambda package: package in (*LIBRARIES, *allowed) or file_of(package) is not None,
    )
    target = with_modules(target, root, taken)
    absent = [each for each in package.missing if each != name.partition(".")[0]]
    said = f"not installed here, so inputs on which its package uses it are left out: {', '.join(absent)}"
    return Surroundings(
        target=target,
        package=package,
        available_import=modules.available_import,
        names=frozenset(modules.own.wanted),
        notes=(said,) if absent else (),
    )


def package_of(
    modules: Modules,
    external: Mapping[str, bool],
    texts: Mapping[str, str],
    *,
    names: Collection[str],
    left_out: Mapping[str, list[str] | None],
    is_there: Callable[[str], bool],
) -> Package:
    """Return what the own module of ``modules`` has around it.

    ``external``: packages that the modules import, and whether all do so in a ``try`` that goes on without them.
    ``texts``: of the modules, by name. ``names``: under which the own one is known, the one it sees first.
    ``left_out``: names of modules that are not in their texts, None for a module that has none. ``is_there``: whether
    a package may be imported.
    """
    packages = [package for package in external if package != "."]
    there = tuple(filter(is_there, packages))
    without = tuple(package for package in packages if package not in there and external[package])
    missing = tuple(package for package in packages if package not in (*there, *without))
    sources = {module.name: (texts[module.name], module.is_package) for module in modules.others}
    for name in [modules.own.name, *sources]:
        while name := name.rpartition(".")[0]:
            sources.setdefault(name, ("", True))
    given = (sources, (*missing, _NOWHERE), tuple(names), dict(left_out), modules.own.is_package)
    before = (
        "import os as __os",
        "import types as __types",
        "__os.environ.setdefault('HOME', '/')",  # modules that look for it when they are imported
        "__inside = __types.ModuleType('__inside')",
        "import binascii as __binascii, marshal as __marshal, zlib as __zlib",
        f"__inside_code = __marshal.loads(__zlib.decompress(__binascii.a2b_base64({_inside()!r})))",
        "exec(__inside_code, __inside.__dict__)",
        f"__inside.install(globals(), {', '.join(map(repr, given))})",
    )
    after = (
        *(f"__import__({name!r})" for name in modules.joined),
        f"__inside.complete(globals(), {_late(modules)!r}, {_classes(modules)!r})",
    )
    return Package(
        before="\n".join(before),
        after="\n".join(after),
        codes=tuple(text for text, _ in sources.values() if text),
        libraries=there,
        missing=missing,
        without=without,
    )


@functools.cache
def _inside() -> str:
    """Return the code of what runs around a program, for the same Python: compiling it for each run takes 10 ms."""
    text = read_packaged(__package__, "sandbox_imports.py")
    code = compile(text, "<inside>", "exec", optimize=2, dont_inherit=True)
    without_references = 2  # which would hang on what else this process holds
    return base64.b64encode(zlib.compress(marshal.dumps(code, without_references))).decode()


def text_of(module: Module, modules: Modules, instead: Mapping[ast.stmt, str] | None = None) -> str:
    """Return the text of a module; what others take of the own one they get when that is complete.

    ``instead``: texts that stand in place of statements.
    """
    lines = []
    for statement in module.statements:
        given = instead.get(statement) if instead else None
        text = ast.unparse(_absolute(statement, module, modules)) if given is None else given
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
