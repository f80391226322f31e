"""What a version rests on: the statements of its own module and of its package's, chosen by the names they bind."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from difftrust_core.checks.source.target import parse_file
from difftrust_core.exceptions import BadStub

IMPORTS = ast.Import | ast.ImportFrom
_INSTALLED = ("site-packages", "dist-packages")
_MAX_FILE = 512 * 2**10
_MAX_MODULES = 120
_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


@dataclass(kw_only=True, eq=False)
class Module:
    """One module of the package: its tree, and which statements of its top level are wanted."""

    name: str
    path: Path
    tree: ast.Module
    wanted: set[str] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    """Positions in ``tree.body``."""

    @property
    def is_package(self) -> bool:
        """Tell whether it is the ``__init__.py`` of a package."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The package that its relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def binders(self) -> dict[str, list[int]]:
        """Positions of the statements that bind or change each name of the top level."""
        found: dict[str, list[int]] = {}
        for at, statement in enumerate(self.tree.body):
            for name in _bound_or_changed(statement):
                found.setdefault(name, []).append(at)
        return found

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """The statements ``from x import *``."""
        imports = [s for s in ast.walk(self.tree) if isinstance(s, ast.ImportFrom)]
        return [s for s in imports if any(alias.name == "*" for alias in s.names)]

    @cached_property
    def star_places(self) -> list[int]:
        """Positions of the statements that hold one."""
        stars = set(map(id, self.stars))
        return [
            at for at, statement in enumerate(self.tree.body) if any(id(node) in stars for node in ast.walk(statement))
        ]

    @cached_property
    def chains(self) -> dict[str, set[str]]:
        """For each name the dotted texts that start with it: ``utils`` -> ``utils.text.strip``."""
        found: dict[str, set[str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute):
                dotted = _dotted(node)
                if dotted:
                    found.setdefault(dotted.partition(".")[0], set()).add(dotted)
        return found

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements kept, in the order of the file, without those of ``__future__``."""
        body = [self.tree.body[at] for at in sorted(self.kept)]
        return [s for s in body if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]


class Modules:
    """The modules that a version rests on, ``own`` among them; ``whole``: all their statements are kept."""

    def __init__(self, own: Path, name: str, root: Path, tree: ast.Module, *, whole: bool = False):
        self.root, self._whole = root, whole
        self.own = Module(name=name, path=own, tree=tree)
        self.found: dict[str, Module | None] = {name: self.own}
        self.external: dict[str, None] = {}
        """Packages beyond the standard library and the package itself that kept statements import."""
        self._waiting: list[tuple[Module, str]] = []
        self._asked: set[str] = set()
        """Names of attributes that what is kept asks for: methods of these names are followed."""
        self._methods: dict[str, list[tuple[Module, ast.AST]]] = {}
        """Methods that nothing asked for yet, by name."""

    def want(self, *names: str) -> "Modules":
        """Keep what binds names of the own module, and all that this rests on."""
        self._waiting += [(self.own, name) for name in names]
        if self._whole:
            self._keep_all(self.own)
        while self._waiting:
            module, name = self._waiting.pop()
            if name not in module.wanted:
                module.wanted.add(name)
                self._find(module, name)
        return self

    def _is_asked(self, name: str) -> bool:
        return name in self._asked or (name.startswith("__") and name.endswith("__"))

    def ask(self, name: str) -> None:
        """Follow the methods of a name."""
        if name not in self._asked:
            self._asked.add(name)
            for module, method in self._methods.pop(name, ()):
                self._walk(module, method)

    @property
    def others(self) -> list[Module]:
        """The modules but for the own one."""
        return [module for module in self.found.values() if module is not None and module is not self.own]

    def _find(self, module: Module, name: str) -> None:
        for at in module.binders.get(name, ()):
            self._keep(module, at)
        if name not in module.binders:
            for star in module.stars:
                base = self.base(module, star)
                above = self._load(base)
                if above is not None:
                    self._waiting.append((above, name))
            for at in module.star_places:
                self._keep(module, at)
            if module.is_package:
                self._load(f"{module.name}.{name}")

    def _keep(self, module: Module, at: int) -> None:
        if at in module.kept:
            return
        module.kept.add(at)
        statement = module.tree.body[at]
        self._walk(module, statement)

    def _walk(self, module: Module, top: ast.AST) -> None:
        """Follow what a piece of code names; of a class the methods that something asks for."""
        if isinstance(top, ast.ClassDef) and not self._whole:
            for part in top.body:
                if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) or self._is_asked(part.name):
                    self._walk(module, part)
                    if not isinstance(part, _DEFINED):
                        for node in ast.walk(part):
                            if isinstance(node, ast.Name):
                                self.ask(node.id)
                    continue
                self._methods.setdefault(part.name, []).append((module, part))
                for made in (*part.decorator_list, *part.args.defaults, *filter(None, part.args.kw_defaults)):
                    self._walk(module, made)
            for head in (*top.bases, *top.decorator_list, *(k.value for k in top.keywords)):
                self._walk(module, head)
            return
        for node in _evaluated(top):
            if isinstance(node, ast.Name):
                self._waiting.append((module, node.id))
            elif isinstance(node, ast.Attribute):
                self.ask(node.attr)
            elif isinstance(node, ast.ImportFrom):
                self._follow_from(module, node)
            elif isinstance(node, ast.Import):
                self._follow(module, node)
            elif isinstance(node, ast.Constant) and type(node.value) is str and node.value in module.binders:
                self._waiting.append((module, node.value))  # an annotation that is written as a text

    def _keep_all(self, module: Module) -> None:
        for at in range(len(module.tree.body)):
            self._keep(module, at)

    def _follow_from(self, module: Module, node: ast.ImportFrom) -> None:
        base = self.base(module, node)
        source = self._load(base)
        if source is None:
            self._note_external(base, node.level)
            return
        for alias in node.names:
            if alias.name == "*":
                continue
            self._waiting.append((source, alias.name))
            inner = f"{base}.{alias.name}"
            if alias.name not in source.binders and self._load(inner) is not None:
                self._follow_chains(module, alias.asname or alias.name, inner)

    def _follow(self, module: Module, node: ast.Import) -> None:
        for alias in node.names:
            if self._load(alias.name) is None:
                self._note_external(alias.name, 0)
            elif alias.asname:
                self._follow_chains(module, alias.asname, alias.name)
            else:
                head = alias.name.partition(".")[0]
                self._follow_chains(module, head, head)

    def _follow_chains(self, module: Module, name: str, stands_for: str) -> None:
        """Want what a module that is bound to ``name`` is asked for."""
        for dotted in module.chains.get(name, ()):
            current, *rest = [stands_for, *dotted.split(".")[1:]]
            for part in rest:
                found = self._load(current)
                if found is None:
                    break
                self._waiting.append((found, part))
                current = f"{current}.{part}"

    def base(self, module: Module, node: ast.ImportFrom) -> str:
        """Return the absolute name of the module that an import is from, "" for none."""
        if not node.level:
            return node.module or ""
        parts = module.package.split(".") if module.package else []
        kept = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
        return ".".join([*kept, *([node.module] if node.module else [])])

    def _note_external(self, name: str, level: int) -> None:
        top = name.partition(".")[0]
        if top and top not in sys.stdlib_module_names:
            self.external[top] = None
        elif level and not top:
            self.external["."] = None

    def _load(self, name: str) -> Module | None:
        """Return the module of the package, None for one that is not in it."""
        if name not in self.found:
            self.found[name] = None  # while it is read
            path = self._file(name)
            if path is not None and sum(m is not None for m in self.found.values()) < _MAX_MODULES:
                try:
                    self.found[name] = Module(name=name, path=path, tree=parse_file(path))
                except BadStub:
                    return None
                above = name.rpartition(".")[0]
                if above:
                    self._load(above)
                if self._whole:
                    self._keep_all(self.found[name])  # type: ignore[arg-type]
        return self.found[name]

    def _file(self, name: str) -> Path | None:
        parts = name.split(".")
        if not name or not all(part.isidentifier() for part in parts):
            return None
        foreign = parts[0] != self.own.name.partition(".")[0]
        if foreign and (parts[0] in sys.stdlib_module_names or self.root.name in _INSTALLED):
            return None
        place = self.root.joinpath(*parts)
        for path in (place / "__init__.py", place.with_suffix(".py")):
            try:
                if path.is_file() and path.stat().st_size <= _MAX_FILE and path.resolve().is_relative_to(self.root):
                    return path
            except OSError:
                continue
        return None


def _bound_or_changed(statement: ast.stmt) -> Iterator[str]:
    """Iterate over the names of the top level that a statement binds, or whose values it changes."""
    if isinstance(statement, _DEFINED):
        yield statement.name
        return
    if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
        return
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        head = _dotted(statement.value.func)
        if head and "." in head:
            yield head.partition(".")[0]
    for node in _own_nodes(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Attribute(value=value, ctx=ast.Store()) | ast.Subscript(value=value, ctx=ast.Store()):
                root = value
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name):
                    yield root.id
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Expr(value=ast.Call(func=ast.Attribute() as func)):
                head = _dotted(func)
                if head:
                    yield head.partition(".")[0]
    if type(statement).__name__ == "TypeAlias":
        yield statement.name.id  # type: ignore[attr-defined]


def _evaluated(top: ast.AST) -> Iterator[ast.AST]:
    """Iterate over nodes, those of a function's annotations left out, but for what makes an object."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        yield node
        for name, value in ast.iter_fields(node):
            is_annotation = name == "returns" or (name == "annotation" and isinstance(node, ast.arg))
            if is_annotation and not (isinstance(top, ast.FunctionDef) and top.name == "__init__"):
                continue
            waiting += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]


def _own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    yield statement
    if not isinstance(statement, _SCOPES):
        for child in ast.iter_child_nodes(statement):
            yield from _own_nodes(child)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
