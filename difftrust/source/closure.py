"""What a function rests on: the statements of its module, and of its package's modules, that bind what it names."""

import ast
import copy
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

from difftrust.source.operators import OPERATORS
from difftrust.source.registries import added_to, bases_of, filled_by, hooks_in, is_open, starts_in
from difftrust.source.scopes import ASSIGNED, IMPORTS, MAX_TEXT, bound_by, expression_in, free_names, names_of, root_of
from difftrust.source.target import DEFINED, Target, nodes_of_scope, parse_file
from difftrust.types.own import Function, parameters_in
from difftrust_core.exceptions import BadStub
from difftrust_core.languages.python.syntax import own_statements

LIBRARIES = {"numpy": "np", "pandas": "pd", "polars": "pl"}
"""Packages that inputs and candidates may use, and how inputs write them."""
_DYNAMIC = frozenset(("getattr", "vars", "methodcaller", "attrgetter", "getmembers", "__dict__"))
"""What looks up attributes by names that are made as it runs."""
_LOOKS_UP = frozenset(("globals", "eval", "exec"))
"""What does so in its module."""
_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING")
_INSTALLED = ("site-packages", "dist-packages")
_MAX_FILE = 512 * 2**10
_MAX_MODULES = 120
_MAX_HOPS = 9
"""Imports through which a name is followed."""


def packages_of(*nodes: ast.AST) -> list[str]:
    """Return the packages that imports in the nodes name; "." for the file's own package."""
    found = []
    for node in (part for top in nodes for part in ast.walk(top)):
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append("." if node.level else (node.module or "").partition(".")[0])
    return found


class Definitions:
    """The statements of a top level by the names that they bind or change."""

    def __init__(self, body: Sequence[ast.stmt]):
        self.body = body

    @cached_property
    def binders(self) -> dict[str, list[ast.stmt]]:
        """The statements that bind or change each name."""
        return self._by_name(partial(bound_by, changed=True))

    @cached_property
    def hooks(self) -> dict[ast.stmt, set[str]]:
        """Each definition with the names to which it adds itself."""
        return hooks_in(self.body)

    @cached_property
    def _takers(self) -> set[str]:
        """The names of decorators and of classes that others inherit from."""
        heads = [part for s in self.body if isinstance(s, DEFINED) for part in (*s.decorator_list, *bases_of(s))]
        return {root_of(head.func if isinstance(head, ast.Call) else head) for head in heads}

    @cached_property
    def registered(self) -> dict[str, list[ast.stmt]]:
        """The definitions that add themselves to what has a name."""
        return self._by_name(lambda statement: self.hooks.get(statement, ()))

    def _by_name(self, names: Callable[[ast.stmt], Iterable[str]]) -> dict[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.body:
            for name in names(statement):
                found.setdefault(name, []).append(statement)
        return found

    def passing(self, statement: ast.stmt, *, taken: Collection[str] = ()) -> set[str]:
        """Return the names that a statement only binds or adds to: itself, or as a decorator what it is given.

        On what else was added there it does not rest. ``taken``: names of decorators that other modules use.
        """
        if not isinstance(statement, DEFINED):
            return bound_by(statement, changed=True)
        given = self.hooks.get(statement, set()) | {root_of(head) for head, _ in added_to(statement)}
        filled = filled_by(statement) if statement.name in {*self._takers, *taken} else set()
        return given - names_of(*statement.body) | filled

    def needed(
        self,
        names: Iterable[str],
        *,
        passing: Collection[str] = (),
        reads: Callable[[ast.stmt], set[str]] = names_of,
        may: Callable[[ast.stmt], bool] = lambda statement: True,
    ) -> list[ast.stmt]:
        """Return the statements that bind these names and what those read, in the order of the file.

        ``passing``: names of which what added itself there does not count. ``reads``: the names that a statement rests
        on. ``may``: whether one may be taken.
        """
        kept: set[ast.stmt] = set()
        waiting = [(name, name in passing) for name in names]
        seen = set(waiting)
        while waiting:
            name, is_passing = waiting.pop()
            for statement in [*self.binders.get(name, ()), *([] if is_passing else self.registered.get(name, ()))]:
                if statement not in kept and may(statement):
                    kept.add(statement)
                    only = self.passing(statement)
                    new = {(read, read in only) for read in reads(statement)} - seen
                    seen |= new
                    waiting += new
        return [statement for statement in self.body if statement in kept]


@dataclass(frozen=True, kw_only=True)
class Preamble:
    """The text that runs before each candidate, in the order of the file."""

    text: str
    libraries: tuple[str, ...]
    """Packages beside the standard library that it imports."""
    notes: tuple[str, ...]
    """What was left out of it, and why."""
    left_out: tuple[str, ...] = ()
    """The imports among it, as the file has them."""


def preamble_of(
    target: Target,
    *,
    also: Collection[str] = (),
    allowed: Sequence[str] = (),
    available_import: Callable[[ast.stmt], ast.stmt | None] = lambda statement: None,
) -> Preamble:
    """Return what the signature, the decorators and the body rest on, and the names ``also``, transitively.

    Imports of the standard library all stay, of packages those that may be imported: numpy, pandas, polars and
    ``allowed``. A definition that needs another import when it is made is left out and named. ``available_import``
    returns what of an import from the function's own package is there.
    """
    function, body = target.function, target.module.body
    packages = {name.partition(".")[0] for name in (*LIBRARIES, *allowed)}
    known = packages | sys.stdlib_module_names
    written_body = target.body if target.is_written else []
    wanted = names_of(function.args, function.returns, *function.decorator_list, *written_body) - {function.name}
    wanted |= {target.owner.name} if target.owner else set()

    def written(statement: ast.stmt) -> ast.stmt:
        """Return the statement as the preamble has it: of the checked method the head, of imports what is there."""
        if isinstance(statement, IMPORTS):
            return available_import(statement) or statement
        if statement is not target.owner or not isinstance(statement, ast.ClassDef):
            return statement
        made, method = copy.copy(statement), copy.copy(function)
        method.body = [ast.Expr(value=ast.Constant(value=...))]
        made.body = [method if s is function else s for s in statement.body]
        return made

    needed = Definitions(body).needed(
        wanted | set(also),
        reads=lambda s: names_of(written(s)),
        may=lambda s: s is not function and _is_definition(s),
    )
    notes, left_out = list[str](), list[str]()
    missing: dict[str, str] = {}
    """Names that are not there, each with the package that it needs."""
    lazy = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in body)
    kept = []
    for statement in body:
        is_import = isinstance(statement, IMPORTS)
        is_own = is_import and available_import(statement) is not None
        foreign = [p for p in packages_of(statement) if p not in known] if is_import and not is_own else []
        lacking = [] if is_import else sorted(missing.keys() & _needed_at_once(statement, lazy=lazy))
        is_wanted = statement in needed or (is_own and "*" in bound_by(statement))
        if not is_wanted and (foreign or is_own or not is_import):
            continue
        if foreign:
            missing |= dict.fromkeys(bound_by(statement), foreign[0])
            remedy = "" if foreign[0] == "." else f"; --allow-import {foreign[0]} lets candidates use it"
            left_out.append(ast.unparse(statement))
            notes.append(f"left out for the candidates: {left_out[-1]}{remedy}")
        elif lacking:
            missing |= dict.fromkeys(bound_by(statement), missing[lacking[0]])
            what = ", ".join(sorted(bound_by(statement)))
            notes.append(f"left out for the candidates: {what}, which needs {lacking[0]}")
        else:
            kept.append(statement)
    return Preamble(
        text="".join(f"{ast.unparse(written(s))}\n" for s in kept),
        libraries=tuple(dict.fromkeys(package for package in packages_of(*kept) if package in packages)),
        notes=tuple(notes),
        left_out=tuple(left_out),
    )


def _is_definition(statement: ast.stmt) -> bool:
    """Tell whether a statement defines, assigns or imports; a block, whether all in it does."""
    kinds = DEFINED | ASSIGNED | IMPORTS | ast.If | ast.Try | ast.Pass
    return all(isinstance(s, kinds) or type(s).__name__ == "TypeAlias" for s in own_statements([statement]))


def _needed_at_once(statement: ast.stmt, *, lazy: bool) -> set[str]:
    """Return the names that must be there when the definition is made, not only when it is called."""
    parts: list[ast.AST | None] = []
    inner: set[str] = set()
    match statement:
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            parts = [*statement.decorator_list, *arguments.defaults, *arguments.kw_defaults]
            if not lazy:
                parts += [statement.returns, *(parameter.annotation for parameter in parameters_in(arguments))]
        case ast.ClassDef(body=body):
            parts = [*statement.bases, *statement.decorator_list, *statement.keywords]
            inner = {name for part in body for name in _needed_at_once(part, lazy=lazy)}
        case ast.AnnAssign(value=value) if lazy:
            parts = [value]
        case ast.If() | ast.Try() | ast.Import() | ast.ImportFrom():
            pass
        case _:
            parts = [statement]
    return inner.union(*(free_names(part) for part in parts if part is not None))


class Module(Definitions):
    """One module of the package: its tree, and which statements of its top level are wanted."""

    def __init__(self, name: str, path: Path, tree: ast.Module):
        super().__init__(tree.body)
        self.name, self.path, self.tree = name, path, tree
        self.is_package = path.name == "__init__.py"
        self.package = name if self.is_package else name.rpartition(".")[0]
        """The package that its relative imports start from."""
        self.wanted: set[str] = set()
        self.kept: set[ast.stmt] = set()

    @cached_property
    def imported(self) -> dict[str, list[tuple[str, str]]]:
        """For each name that is imported from modules: these, and the name there."""
        found: dict[str, list[tuple[str, str]]] = {}
        for node in (node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, []).append((self.base(node), alias.name))
        return found

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """The statements ``from x import *``."""
        nodes = (node for statement in self.binders.get("*", ()) for node in ast.walk(statement))
        return [node for node in nodes if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]

    @cached_property
    def chains(self) -> dict[str, set[str]]:
        """For each name the dotted texts that it is read by, as a whole: ``utils`` -> ``utils.text.strip``."""
        found: dict[str, set[str]] = {}
        nodes = [*ast.walk(self.tree)]
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        spelled = (expression_in(text) for text in texts if "." in text and len(text) < MAX_TEXT)  # annotations
        nodes += [node for tree in spelled if tree is not None for node in ast.walk(tree)]
        inner = {node.value for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            match node:
                case ast.Attribute() | ast.Name(ctx=ast.Load()) if node not in inner and (dotted := dotted_name(node)):
                    found.setdefault(dotted.partition(".")[0], set()).add(dotted)
        return found

    @cached_property
    def _places(self) -> dict[str, list[ast.AST]]:
        """For each name where it is a parameter, or a variable or an attribute that is given a value."""
        found: dict[str, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                    found.setdefault(name, []).append(node)
        return found

    @cached_property
    def _patterns(self) -> set[str]:
        """The names to which ``re.compile`` alone gives a value."""
        compiled: set[ast.AST] = set()
        for node in ast.walk(self.tree):
            match node:
                case ast.Assign(targets=[target], value=ast.Call(func=called)) if dotted_name(called) == "re.compile":
                    compiled.add(target)
        return {name for name, nodes in self._places.items() if compiled.issuperset(nodes)}

    @cached_property
    def _standard(self) -> set[str]:
        """The names of modules of the standard library."""
        imported = (alias for node in ast.walk(self.tree) if isinstance(node, ast.Import) for alias in node.names)
        names = {alias.asname or alias.name for alias in imported if alias.name in sys.stdlib_module_names}
        return names - self._places.keys()

    def is_foreign(self, value: ast.expr) -> bool:
        """Tell whether a value is a text, a module of the standard library or a pattern: its methods are not here."""
        match value:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.Name(id=name):
                return name in self._standard or name in self._patterns
            case ast.Attribute(attr=name):
                return name in self._patterns
        return False

    @cached_property
    def guarded(self) -> set[ast.stmt]:
        """The imports in a ``try`` that catches what a missing package raises."""
        tries = [
            node for node in ast.walk(self.tree) if isinstance(node, ast.Try) and any(map(_catches, node.handlers))
        ]
        inside = (part for node in tries for statement in node.body for part in ast.walk(statement))
        return {part for part in inside if isinstance(part, IMPORTS)}

    @property
    def for_types_alone(self) -> set[str]:
        """The names that imports under ``if TYPE_CHECKING`` bind and that nothing which is kept reads when it runs."""
        imports = [s for s in self.body if isinstance(s, ast.If) and ast.unparse(s.test) in _FOR_TYPES and not s.orelse]
        found = {name for statement in imports for name in bound_by(statement)}
        nodes = (node for s in self.statements if s not in imports for node in evaluated(s, makes=True))
        return found - {node.id for node in nodes if isinstance(node, ast.Name)}

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements kept, in the order of the file, without those of ``__future__``."""
        body = (s for s in self.body if s in self.kept)
        return [s for s in body if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]

    def binds(self, name: str) -> bool:
        """Tell whether a name is anything but the package's module of that name: ``from . import keys`` in it."""
        nodes = self.binders.get(name, ())
        return any(not isinstance(node, ast.ImportFrom) or self.base(node) != self.name for node in nodes)

    def modules_in(self, node: ast.AST) -> list[str]:
        """Return the absolute names that a node imports, of which each may be a module."""
        match node:
            case ast.ImportFrom(names=aliases):
                base = self.base(node)
                return [base, *(f"{base}.{alias.name}" for alias in aliases)]
            case ast.Import(names=aliases):
                return [alias.name for alias in aliases]
        return []

    def base(self, node: ast.ImportFrom) -> str:
        """Return the absolute name of the module that an import is from, "" for none."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        return ".".join(filter(None, [*parts[: len(parts) - node.level + 1], node.module]))


Extent = Literal["reached", "whole", "named"]


class Modules:
    """The modules that a function rests on, ``own`` among them, and what of them is kept.

    That is what it may reach, by names that are made as it runs too; only what is ``named``; or the ``whole``.
    """

    def __init__(self, own: Path, name: str, root: Path, tree: ast.Module, *, extent: Extent = "reached"):
        self.root, self.whole, self._by_name = root, extent == "whole", extent == "named"
        self.own = Module(name, own, tree)
        self.found: dict[str, Module | None] = {name: self.own}
        self.external: dict[str, bool] = {}
        """Packages beyond the standard library and the package itself that kept statements import; whether all do so in
        a ``try`` that goes on without them."""
        self._waiting: list[tuple[Module, str]] = []
        self._passing: list[tuple[Module, str]] = []
        """Names that are wanted without what added itself there."""
        self._filled: set[tuple[Module, str]] = set()
        """Names that are wanted with it."""
        self._taken: set[tuple[Module | None, str]] = set()
        """Decorators and bases of what is kept."""
        self.joined: list[str] = []
        """Modules that add to what the function rests on: they are imported for it."""
        self._asked: set[str] = set()
        """Names of attributes that what is kept asks for: methods of these names are followed."""
        self._methods: dict[str, list[tuple[Module, ast.AST]]] = {}
        """Methods that nothing asked for yet, by name."""
        self.implied: list[ast.AST] = []
        """Methods that only operators call, and what only these name."""
        self._is_dynamic = False
        """Attributes are looked up by names that are made as it runs: all methods are followed."""

    @property
    def every(self) -> list[Module]:
        """The modules, the own one first."""
        return [module for module in self.found.values() if module is not None]

    @property
    def others(self) -> list[Module]:
        """The modules but for the own one."""
        return self.every[1:]

    @property
    def idle(self) -> list[ast.AST]:
        """The methods of kept classes that nothing asked for yet."""
        return [method for each in self._methods.values() for _, method in each]

    def want(self, *names: str) -> "Modules":
        """Keep what binds names of the own module, ``models.Line`` as well, and all that this rests on."""
        for dotted in names:
            name = dotted.partition(".")[0]
            self.own.chains.setdefault(name, set()).update({dotted} - {name})
            self._waiting.append((self.own, name))
        if self.whole:
            self._keep(self.own, self.own.body)
        self._follow_all()
        early, methods = {statement for module in self.every for statement in module.kept}, self.idle
        while operators := OPERATORS & self._methods.keys():
            for name in operators:
                self.ask(name)
            self._follow_all()
        left = self.idle
        self.implied += [method for method in methods if method not in left]
        self.implied += [statement for module in self.every for statement in module.kept - early]
        makers = [each for module in self.every for each in module.kept if isinstance(each, Function)]
        made = [node for maker in makers for node in ast.walk(maker) if isinstance(node, ast.ClassDef)]
        self.implied += [
            part for of in made for part in of.body if isinstance(part, Function) and part.name in OPERATORS
        ]
        return self

    def use(self, beside: ast.Module) -> "Modules":
        """Keep what other code rests on that stands where the own module does, by its names or by own imports."""
        module = Module(self.own.name, self.own.path, beside)
        self._keep(module, module.body)
        self._waiting += [(module, name) for name in module.imported]
        return self.want(*sorted({*module.chains, *(each for several in module.chains.values() for each in several)}))

    def want_beside(self, names: Iterable[str]) -> list[ast.AST]:
        """Keep what methods of these names rest on, but where only what is ``named`` is kept.

        Return the methods that were idle before, and the statements that only they need.
        """
        early, idle = {statement for module in self.every for statement in module.kept}, self.idle
        for name in names if not self._by_name else ():
            self.ask(name)
        self._follow_all()
        return [*idle, *(statement for module in self.every for statement in module.kept - early)]

    def ask_all(self) -> "Modules":
        """Follow all methods of kept classes, and keep the classes of loaded modules that inherit from them."""
        while True:
            for name in [*self._methods]:
                self.ask(name)
            self._waiting += [(module, name) for module in self.others for name in self._heirs(module)]
            if not self._waiting:
                return self
            self._follow_all()

    def _heirs(self, module: Module) -> list[str]:
        """Return the classes of a module that are not kept and inherit from one that is."""
        left = [s for s in module.body if isinstance(s, ast.ClassDef) and s not in module.kept]
        bases = [(s.name, self._resolved(module, base)) for s in left for base in s.bases]
        return [name for name, (source, base) in bases if source and not source.kept.isdisjoint(source.binders[base])]

    def available_import(self, statement: ast.stmt) -> ast.stmt | None:
        """Return an import of the own module from the package, of it what is wanted; None where that is not there."""
        match statement:
            case ast.ImportFrom(names=aliases, level=level):
                base = self.own.base(statement)
                source = self._load(base)
                known = {*source.binders} if source is not None else set()
                is_open = not known.isdisjoint(("__getattr__", "*"))
                wanted = [a for a in aliases if a.name == "*" or (a.asname or a.name) in self.own.wanted]
                there = [a for a in wanted if is_open or a.name in known or self._is_there(base, a.name)]
                if there and there == wanted:
                    return ast.ImportFrom(module=statement.module, names=there, level=level)
            case ast.Import(names=aliases) if all(self._load(alias.name) is not None for alias in aliases):
                return statement
        return None

    def put_own_imports_first(self) -> None:
        """Let the modules that the own one imports stand first: where two have a class of one name, theirs counts."""
        nodes = ast.walk(self.own.tree)
        direct = [name for node in nodes for name in self.own.modules_in(node) if name in self.found]
        self.found = {name: self.found[name] for name in (self.own.name, *direct)} | self.found

    def _is_there(self, base: str, name: str) -> bool:
        return self._load(base if name == "*" else f"{base}.{name}") is not None

    def _follow_all(self) -> None:
        while self._waiting or self._passing:
            is_passing = not self._waiting
            module, name = (self._waiting or self._passing).pop()
            if name not in module.wanted:
                module.wanted.add(name)
                self._find(module, name)
                for base, inner in module.imported.get(name, ()):
                    self._follow_name(module, name, base, inner)
                if name in _LOOKS_UP:
                    self._want_all(module)
            if not is_passing and (module, name) not in self._filled:
                self._filled.add((module, name))
                self._fill(module, name)

    def _fill(self, module: Module, name: str) -> None:
        """Keep what adds itself to what has a name, in its module and in others that are imported."""
        self._keep(module, module.registered.get(name, ()))
        for base, inner in module.imported.get(name, ()):
            source = self._load(base)
            self._waiting += [(source, inner)] if source is not None else []
        if any(map(is_open, module.binders.get(name, ()))):
            for other, statement in self._additions.get((module, name), ()):
                self._keep(other, [statement])
                if other is not self.own and other.name not in self.joined:
                    self.joined.append(other.name)

    @cached_property
    def _additions(self) -> dict[tuple[Module, str], list[tuple[Module, ast.stmt]]]:
        """The statements of imported modules that add to what has a name in another module."""
        found: dict[tuple[Module, str], list[tuple[Module, ast.stmt]]] = {}
        for module in self._imported():
            for statement in module.body:
                for place, is_given in added_to(statement):
                    source, name = self._resolved(module, place)
                    if source is None or source is module:
                        continue
                    takers = (taker for made in source.binders[name] for taker in _takers(made, statement))
                    filled = {each for taker in takers for each in filled_by(taker)} if is_given else set()
                    for each in {name, *filled}:
                        found.setdefault((source, each), []).append((module, statement))
        return found

    def _imported(self) -> list[Module]:
        """Return the modules that the own one imports, those that these import, and packages around them."""
        found = [self.own]
        for module in found:
            nodes = (node for statement in module.body for node in nodes_of_scope(statement))
            names = [module.name.rpartition(".")[0], *(name for node in nodes for name in module.modules_in(node))]
            loaded = (self._load(name) for name in names if name and len(found) < _MAX_MODULES // 2)
            found += dict.fromkeys(each for each in loaded if each is not None and each not in found)
        return found

    def _resolved(self, module: Module, place: ast.expr) -> tuple[Module | None, str]:
        """Return the module and the name there that an expression of a module stands for."""
        name, *rest = dotted_name(place).split(".")
        for _ in range(_MAX_HOPS):
            if name not in module.imported:
                return (module, name) if name in module.binders else (None, "")
            base, name = module.imported[name][-1]
            source = self._load(base)
            if source is None or not source.binds(name):
                source, name = self._load(f"{base}.{name}"), rest.pop(0) if rest else ""
            if source is None:
                break
            module = source
        return None, ""

    def ask(self, name: str) -> None:
        """Follow the methods of a name."""
        if name not in self._asked:
            self._asked.add(name)
            for module, method in self._methods.pop(name, ()):
                self._walk(module, method)

    def _want_all(self, module: Module) -> None:
        """Keep all that a module binds, and all methods: names are looked up in it as it runs."""
        if self._by_name:
            return
        self._waiting += [(module, each) for each in module.binders]
        self._look_up()

    def _look_up(self) -> None:
        """Follow all methods but those that only operators call."""
        if self._by_name:
            return
        self._is_dynamic = True
        for name in self._methods.keys() - OPERATORS:
            self.ask(name)

    def _find(self, module: Module, name: str) -> None:
        if name in module.binders:
            self._keep(module, module.binders[name])
            return
        sources = [self._load(module.base(star)) for star in module.stars]
        self._waiting += [(source, name) for source in sources if source is not None]
        self._keep(module, module.binders.get("*", ()))
        if module.is_package:
            self._load(f"{module.name}.{name}")

    def _keep(self, module: Module, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if statement not in module.kept:
                module.kept.add(statement)
                start = len(self._waiting)
                if isinstance(statement, DEFINED):
                    self._taken |= {self._resolved(module, place) for place, _ in added_to(statement)}
                taken = {name for source, name in self._taken if source is module}
                only = {(module, name) for name in module.passing(statement, taken=taken)}
                self._walk(module, statement)
                new = self._waiting[start:]
                self._waiting[start:] = [each for each in new if each not in only]
                self._passing += [each for each in new if each in only]

    def _walk(self, module: Module, top: ast.AST) -> None:
        """Follow what a piece of code names; of a class the methods that something asks for."""
        if isinstance(top, ast.ClassDef) and not self.whole:
            for part in top.body:
                heads: list[ast.AST | None] = [part]
                late = isinstance(part, Function) and part.name in OPERATORS
                is_asked = self._is_dynamic and not late
                if isinstance(part, Function) and not (is_asked or part.name in self._asked or _is_special(part.name)):
                    self._methods.setdefault(part.name, []).append((module, part))
                    heads = [] if late else [*part.decorator_list, *part.args.defaults, *part.args.kw_defaults]
                for head in filter(None, heads):
                    self._walk(module, head)
                if not isinstance(part, DEFINED):
                    for name in names_of(part) - OPERATORS:  # __radd__ = __add__
                        self.ask(name)
            for head in (*top.bases, *top.decorator_list, *(k.value for k in top.keywords)):
                self._walk(module, head)
            return
        by_text: set[ast.AST] = set()
        free = free_names(top)  # not the variables of functions, which may be called as something of the module
        for node in evaluated(top, makes=True):
            match node:
                case ast.Call(func=ast.Name(id="getattr") as called, args=[_, ast.Constant(value=str(name)), *_]):
                    by_text.add(called)
                    self.ask(name)
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in _DYNAMIC and node not in by_text:
                    self._look_up()
                    self._waiting.append((module, name))
                case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
                    self._want_all(module)
                    self._waiting.append((module, "sys"))
                case ast.Name(id=name) if name in free:
                    self._waiting.append((module, name))
                case ast.Attribute(attr=name, value=of) if not module.is_foreign(of):
                    self.ask(name)
                case ast.ImportFrom(level=level, names=aliases):
                    self._import(module, node, module.base(node), level)
                    for alias in aliases if isinstance(top, Function) else ():
                        module.wanted.add(alias.asname or alias.name)
                        self._follow_name(module, alias.asname or alias.name, module.base(node), alias.name)
                case ast.Import(names=names):
                    for alias in names:
                        if self._import(module, node, alias.name):
                            bound = alias.asname or alias.name.partition(".")[0]
                            self._follow_chains(module, bound, alias.name if alias.asname else bound)
                case ast.Constant(value=str(text)) if text in module.binders:  # an annotation written as a text
                    self._waiting.append((module, text))

    def _follow_name(self, module: Module, name: str, base: str, inner: str) -> None:
        """Follow one name of an import to the module that it is from."""
        source, place = self._load(base), f"{base}.{inner}"
        if source is not None and inner != "*":
            self._passing.append((source, inner))
            if not source.binds(inner) and self._load(place) is not None:
                self._follow_chains(module, name, place)

    def _follow_chains(self, module: Module, name: str, stands_for: str) -> None:
        """Want what a module that is bound to ``name`` is asked for."""
        for dotted in module.chains.get(name, ()):
            current = stands_for
            for part in [*dotted.split(".")[1:], ""]:
                found = self._load(current)
                if found is None:
                    break
                if part in ("", "__dict__"):  # the module as a value
                    self._want_all(found)
                else:
                    self._waiting.append((found, part))
                current = f"{current}.{part}"

    def _import(self, module: Module, node: ast.stmt, name: str, level: int = 0) -> bool:
        """Load what a statement imports, if it is a module of the package, else note it; return whether it is one."""
        if self._load(name) is not None:
            return True
        top = name.partition(".")[0] or "." * (level > 0)
        if top and top not in sys.stdlib_module_names:
            self.external[top] = node in module.guarded and self.external.get(top, True)
        return False

    def _load(self, name: str) -> Module | None:
        """Return the module of the package, None for one that is not in it."""
        if name not in self.found:
            self.found[name] = None  # while it is read
            path = self._file(name)
            if path is not None and len(self.every) < _MAX_MODULES:
                try:
                    self.found[name] = module = Module(name, path, parse_file(path))
                except BadStub:
                    return None
                if "." in name:
                    self._load(name.rpartition(".")[0])
                if self.whole:
                    self._keep(module, module.body)
        return self.found[name]

    def _file(self, name: str) -> Path | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
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


def _takers(statement: ast.stmt, given: ast.stmt) -> list[ast.AST]:
    """Return the functions that run when a definition is given to a decorator or inherits from a class."""
    return [*starts_in(statement, given)] if isinstance(statement, ast.ClassDef) else [statement]


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _IMPORT_ERRORS) for kind in caught)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in OPERATORS


def evaluated(top: ast.AST, *, makes: bool = False) -> Iterator[ast.AST]:
    """Iterate over nodes, those of annotations left out; ``makes``: but for fields, and parameters of ``__init__``."""
    waiting = [top]
    is_maker = makes and isinstance(top, ast.FunctionDef) and top.name == "__init__"
    while waiting:
        node = waiting.pop()
        yield node
        kept = makes and isinstance(node, ast.AnnAssign)
        for name, value in ast.iter_fields(node):
            if is_maker or kept or name not in ("returns", "annotation"):
                parts = value if isinstance(value, list) else [value]
                waiting += [part for part in parts if isinstance(part, ast.AST)]


def dotted_name(node: ast.expr) -> str:
    """Return ``a.b.c`` of an expression that is one; "" for others."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
