"""What a function rests on: the statements of its module, and of its package's modules, that bind what it names."""

import ast
import copy
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from difftrust.source.target import DEFINED, Target, is_written, nodes_of_scope, parse_file
from difftrust.types.own import Function, parameters_in
from difftrust_core.exceptions import BadStub
from difftrust_core.languages.python.syntax import own_statements, parsed

IMPORTS = ast.Import | ast.ImportFrom
LIBRARIES = {"numpy": "np", "pandas": "pd", "polars": "pl"}
"""Packages that inputs and candidates may use, and how inputs write them."""
_ASSIGNED = ast.Assign | ast.AnnAssign | ast.AugAssign
_DYNAMIC = frozenset(("getattr", "vars", "globals", "eval", "exec", "methodcaller", "attrgetter", "getmembers"))
_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_ADDS = frozenset(("add", "append", "extend", "insert", "register", "setdefault", "update"))
"""Methods that keep their arguments."""
_MAX_TEXT = 200
"""Characters of a text that may be an annotation."""
_FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING")
_INSTALLED = ("site-packages", "dist-packages")
_MAX_FILE = 512 * 2**10
_MAX_MODULES = 120


def expression_in(text: str) -> ast.expr | None:
    """Return the expression that a text is, None where it is none."""
    body = tree_of(text.strip()).body
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None


def tree_of(code: str | bytes) -> ast.Module:
    """Return the tree of a program, an empty one where Python cannot parse it."""
    return parsed(code) or ast.Module(body=[], type_ignores=[])


def names_of(*nodes: ast.AST | None) -> set[str]:
    """Return all names in nodes, those in annotations that are written as texts included."""
    found = set()
    for part in (part for node in nodes if node is not None for part in ast.walk(node)):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < _MAX_TEXT:
            spelled = expression_in(part.value)
            found |= {n.id for n in ast.walk(spelled) if isinstance(n, ast.Name)} if spelled is not None else set()
    return found


def free_names(node: ast.AST) -> set[str]:
    """Return the names that ``node`` reads, or declares global, and that no scope around them in it binds."""
    found: set[str] = set()
    waiting: list[ast.AST | None] = [node]
    while waiting:
        part = waiting.pop()
        match part:
            case None:
                continue
            case ast.Name(id=name, ctx=ast.Load()):
                found.add(name)
            case ast.Module(body=body):
                found |= _free_in(body) - _bound_in(body)
            case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given) | ast.Lambda(args=given):
                inner: Sequence[ast.AST] = part.body if isinstance(part.body, list) else [part.body]
                declared = [n for s in inner for n in ast.walk(s) if isinstance(n, ast.Global)]
                found |= _free_in(inner) - _bound_in(inner) - {p.name for p in parameters_in(given)}
                found |= {name for each in declared for name in each.names}
                waiting += [*given.defaults, *given.kw_defaults, *(p.annotation for p in parameters_in(given))]
                waiting += [] if isinstance(part, ast.Lambda) else [*part.decorator_list, part.returns]
            case ast.ClassDef(body=body):
                made: set[str] = set()  # its methods do not see it
                for statement in body:
                    own = made if not isinstance(statement, DEFINED) else set()
                    found |= free_names(statement) - own
                    made |= _bound_in([statement])
                waiting += [*part.bases, *part.keywords, *part.decorator_list]
            case ast.ListComp(generators=loops) | ast.SetComp(generators=loops) | ast.GeneratorExp(generators=loops):
                found |= _free_in([part.elt, *loops]) - _bound_in(loops)
                waiting.append(loops[0].iter)
            case ast.DictComp(generators=loops):
                found |= _free_in([part.key, part.value, *loops]) - _bound_in(loops)
                waiting.append(loops[0].iter)
            case _:
                waiting += ast.iter_child_nodes(part)
    return found


def _free_in(parts: Iterable[ast.AST]) -> set[str]:
    return {name for part in parts for name in free_names(part)}


def _bound_in(parts: Iterable[ast.AST]) -> set[str]:
    """Return the names that the scope of which these are parts binds; those declared global or nonlocal it does not."""
    found: set[str] = set()
    outer: set[str] = set()
    waiting = list(parts)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Import() | ast.ImportFrom():
                found |= imported_by([node])
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer |= {*names}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                walrus = (n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
                found |= {target.id for target in walrus}
                continue
        waiting += ast.iter_child_nodes(node)
    return found - outer


def imported_by(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that those of the nodes bind that are imports."""
    return {a.asname or a.name.partition(".")[0] for n in nodes if isinstance(n, IMPORTS) for a in n.names}


def packages_of(*nodes: ast.AST) -> list[str]:
    """Return the packages that imports in the nodes name; "." for the file's own package."""
    found = []
    for node in (part for top in nodes for part in ast.walk(top)):
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append("." if node.level else (node.module or "").partition(".")[0])
    return found


def bound_by(statement: ast.stmt, *, changed: bool = False) -> set[str]:
    """Return the names of the top level that a statement binds, in its blocks too.

    ``changed``: also the names whose values it changes in place, by ``T[3] = 4`` or ``T.update(...)``.
    """
    found: set[str] = set()
    if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
        return found
    for node in nodes_of_scope(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Import() | ast.ImportFrom():
                found |= imported_by([node])
            case _ if isinstance(node, DEFINED):
                found.add(node.name)
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
                | ast.Expr(value=ast.Call(func=ast.Attribute()))
            ) if changed:
                root = _root(node.value.func if isinstance(node, ast.Expr) else node)  # type: ignore[attr-defined]
                found |= {root} - {""}
    return found


def _root(node: ast.AST) -> str:
    """Return the name that ``a.b[0].c`` starts with, "" where it starts otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _filled_by(function: ast.AST) -> set[str]:
    """Return the names of the module where a function keeps what it is given: ``REG[name] = f``, ``REG.append(f)``."""
    nodes = [node for part in ast.iter_child_nodes(function) for node in ast.walk(part)]
    given = {n.arg for n in nodes if isinstance(n, ast.arg)} | {n.name for n in nodes if isinstance(n, DEFINED)}
    found: set[str] = set()
    for node in nodes:
        places: list[ast.expr] = []
        kept: list[ast.expr] = []
        match node:
            case ast.Assign(targets=targets, value=value):
                places, kept = [t for t in targets if not isinstance(t, ast.Name)], [value]
            case ast.Call(func=ast.Attribute(value=place, attr=attr), args=args) if attr in _ADDS:
                inner = isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute)
                places, kept = [place.func if inner else place], args  # type: ignore[attr-defined]
        if any(isinstance(n, ast.Name) and n.id in given for part in kept for n in _held(part, given)):
            found |= {_root(place) for place in places} - {""}
    return found - given


def _bases(statement: ast.stmt) -> list[ast.expr]:
    """Return what makes a class: those that it inherits from, and its metaclass."""
    if not isinstance(statement, ast.ClassDef):
        return []
    return [*statement.bases, *_metaclass(statement)]


def _metaclass(statement: ast.ClassDef) -> list[ast.expr]:
    return [keyword.value for keyword in statement.keywords if keyword.arg == "metaclass"]


def _starts_in(base: ast.AST, made: ast.stmt) -> list[Function]:
    """Return the methods of a base or metaclass that run when a class is made of it."""
    is_metaclass = isinstance(made, ast.ClassDef) and getattr(base, "name", "") in map(_root, _metaclass(made))
    makers = ("__init__", "__new__") if is_metaclass else ("__init_subclass__",)
    return [node for node in ast.walk(base) if isinstance(node, Function) and node.name in makers]


def _held(node: ast.expr, given: Collection[str]) -> Iterator[ast.expr]:
    """Iterate over what a value is or holds; what is called is not held."""
    yield node
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            yield from parts
        case ast.Call(func=called, args=parts) if _root(called) not in given:
            yield from parts


def bound_names(module: ast.Module) -> set[str]:
    """Return all names that a file's top level binds, imports included; ``*`` if it imports all of another module."""
    return {name for statement in module.body for name in bound_by(statement)}


class Definitions:
    """The statements of a top level by the names that they bind or change."""

    def __init__(self, body: Sequence[ast.stmt]):
        self.body = body

    @cached_property
    def binders(self) -> dict[str, list[int]]:
        """Places of the statements that bind or change each name."""
        found: dict[str, list[int]] = {}
        for at, statement in enumerate(self.body):
            for name in bound_by(statement, changed=True):
                found.setdefault(name, []).append(at)
        return found

    @cached_property
    def hooks(self) -> dict[ast.stmt, set[str]]:
        """Each definition with the names to which it adds itself, by a decorator or as a subclass.

        ``@show.register``, ``@reg("b")`` where ``reg`` keeps what it is given in ``REG``, a class with a
        metaclass, a subclass of one with ``__init_subclass__``, or of any where ``__subclasses__`` is asked for.
        """
        own = {s.name: s for s in self.body if isinstance(s, DEFINED)}
        objects = {name for s in self.body if isinstance(s, _ASSIGNED) for name in bound_by(s)}
        nodes = (node for statement in self.body for node in ast.walk(statement))
        listed = any(isinstance(node, ast.Attribute) and node.attr == "__subclasses__" for node in nodes)
        found: dict[ast.stmt, set[str]] = {}
        heirs: dict[str, set[str]] = {}
        for statement in (s for s in self.body if isinstance(s, DEFINED)):
            hooks: set[str] = set()
            for decorator in statement.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                root = _root(called)
                if isinstance(called, ast.Attribute) and root in {*own, *objects}:
                    hooks.add(root)
                elif root in own:
                    hooks |= _filled_by(own[root])
            for base in (own[name] for name in map(_root, _bases(statement)) if name in own):
                starts = _starts_in(base, statement)
                filled = {name for start in starts for name in _filled_by(start)}
                hooks |= heirs.get(base.name, set()) | ({base.name, *filled} if listed or starts else set())
            if hooks:
                found[statement] = hooks
                heirs[statement.name] = hooks | {statement.name}
        return found

    @cached_property
    def _takers(self) -> set[str]:
        """The names of decorators and of classes that others inherit from."""
        heads = [part for s in self.body if isinstance(s, DEFINED) for part in (*s.decorator_list, *_bases(s))]
        return {_root(head.func if isinstance(head, ast.Call) else head) for head in heads}

    @cached_property
    def registered(self) -> dict[str, list[int]]:
        """Places of the definitions that add themselves to what has a name."""
        found: dict[str, list[int]] = {}
        for at, statement in enumerate(self.body):
            for name in self.hooks.get(statement, ()):
                found.setdefault(name, []).append(at)
        return found

    def passing(self, statement: ast.stmt) -> set[str]:
        """Return the names that a statement only binds or adds to: itself, or as a decorator what it is given.

        On what else was added there it does not rest.
        """
        if not isinstance(statement, DEFINED):
            return bound_by(statement, changed=True)
        filled = _filled_by(statement) if statement.name in self._takers else set()
        own = self.hooks.get(statement)
        return (own - names_of(*statement.body) if own else set()) | filled

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
        kept: set[int] = set()
        waiting = [(name, name in passing) for name in names]
        seen = set(waiting)
        while waiting:
            name, is_passing = waiting.pop()
            for at in [*self.binders.get(name, ()), *([] if is_passing else self.registered.get(name, ()))]:
                if at not in kept and may(self.body[at]):
                    kept.add(at)
                    only = self.passing(self.body[at])
                    new = {(read, read in only) for read in reads(self.body[at])} - seen
                    seen |= new
                    waiting += new
        return [self.body[at] for at in sorted(kept)]


@dataclass(frozen=True, kw_only=True)
class Preamble:
    """The text that runs before each candidate, in the order of the file."""

    text: str
    libraries: tuple[str, ...]
    """Packages beside the standard library that it imports."""
    notes: tuple[str, ...]
    """What was left out of it, and why."""


def preamble_of(target: Target, *, also: Collection[str] = (), allowed: Sequence[str] = ()) -> Preamble:
    """Return what the signature, the decorators and the body rest on, and the names ``also``, transitively.

    Imports of the standard library all stay, of packages those that may be imported: numpy, pandas, polars and
    ``allowed``. A definition that needs another import when it is made is left out and named.
    """
    function, body = target.function, target.module.body
    packages = {name.partition(".")[0] for name in (*LIBRARIES, *allowed)}
    known = packages | sys.stdlib_module_names
    written_body = target.body if is_written(target) else []
    wanted = names_of(function.args, function.returns, *function.decorator_list, *written_body) - {function.name}
    wanted |= {target.owner.name} if target.owner else set()

    def written(statement: ast.stmt) -> ast.stmt:
        """Return the statement as the preamble has it: the checked method without its body."""
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
    notes: list[str] = []
    missing: dict[str, str] = {}
    """Names that are not there, each with the package that it needs."""
    lazy = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in body)
    kept = []
    for statement in body:
        is_import = isinstance(statement, IMPORTS)
        foreign = [package for package in packages_of(statement) if package not in known] if is_import else []
        lacking = [] if is_import else sorted(missing.keys() & _needed_at_once(statement, lazy=lazy))
        if statement not in needed and (foreign or not is_import):
            continue
        if foreign:
            missing |= dict.fromkeys(bound_by(statement), foreign[0])
            remedy = "" if foreign[0] == "." else f"; --allow-import {foreign[0]} lets candidates use it"
            notes.append(f"left out for the candidates: {ast.unparse(statement)}{remedy}")
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
    )


def _is_definition(statement: ast.stmt) -> bool:
    """Tell whether a statement defines, assigns or imports; a block, whether all in it does."""
    kinds = DEFINED | _ASSIGNED | IMPORTS | ast.If | ast.Try | ast.Pass
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
        self.name, self.tree = name, tree
        self.is_package = path.name == "__init__.py"
        self.package = name if self.is_package else name.rpartition(".")[0]
        """The package that its relative imports start from."""
        self.wanted: set[str] = set()
        self.kept: set[int] = set()
        """Places of statements."""

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """The statements ``from x import *``."""
        nodes = (node for at in self.binders.get("*", ()) for node in ast.walk(self.body[at]))
        return [node for node in nodes if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]

    @cached_property
    def chains(self) -> dict[str, set[str]]:
        """For each name the dotted texts that start with it: ``utils`` -> ``utils.text.strip``."""
        found: dict[str, set[str]] = {}
        for node in ast.walk(self.tree):
            dotted = dotted_name(node) if isinstance(node, ast.Attribute) else ""
            if dotted:
                found.setdefault(dotted.partition(".")[0], set()).add(dotted)
        return found

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
        nodes = (node for s in self.statements if s not in imports for node in _evaluated(s))
        return found - {node.id for node in nodes if isinstance(node, ast.Name)}

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements kept, in the order of the file, without those of ``__future__``."""
        body = [self.body[at] for at in sorted(self.kept)]
        return [s for s in body if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]

    def base(self, node: ast.ImportFrom) -> str:
        """Return the absolute name of the module that an import is from, "" for none."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".") if self.package else []
        kept = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
        return ".".join([*kept, *([node.module] if node.module else [])])


class Modules:
    """The modules that a function rests on, ``own`` among them; ``whole``: all their statements are kept."""

    def __init__(self, own: Path, name: str, root: Path, tree: ast.Module, *, whole: bool = False):
        self.root, self._whole = root, whole
        self.own = Module(name, own, tree)
        self.found: dict[str, Module | None] = {name: self.own}
        self.external: dict[str, bool] = {}
        """Packages beyond the standard library and the package itself that kept statements import; whether all do so in
        a ``try`` that goes on without them."""
        self._waiting: list[tuple[Module, str]] = []
        self._passing: list[tuple[Module, str]] = []
        """Names that are wanted without what added itself there."""
        self._asked: set[str] = set()
        """Names of attributes that what is kept asks for: methods of these names are followed."""
        self._methods: dict[str, list[tuple[Module, ast.AST]]] = {}
        """Methods that nothing asked for yet, by name."""

    @property
    def others(self) -> list[Module]:
        """The modules but for the own one."""
        return [module for module in self.found.values() if module is not None and module is not self.own]

    @property
    def idle(self) -> list[ast.AST]:
        """The methods of kept classes that nothing which is kept names; none where names are looked up as it runs."""
        if any(_DYNAMIC & module.wanted for module in (self.own, *self.others)) or "__dict__" in self._asked:
            return []
        return [method for each in self._methods.values() for _, method in each]

    def want(self, *names: str) -> "Modules":
        """Keep what binds names of the own module, and all that this rests on."""
        self._waiting += [(self.own, name) for name in names]
        if self._whole:
            self._keep(self.own, range(len(self.own.body)))
        while self._waiting or self._passing:
            is_passing = not self._waiting
            module, name = (self._waiting or self._passing).pop()
            if name not in module.wanted:
                module.wanted.add(name)
                self._find(module, name)
            if not is_passing:
                self._keep(module, module.registered.get(name, ()))
        return self

    def ask(self, name: str) -> None:
        """Follow the methods of a name."""
        if name not in self._asked:
            self._asked.add(name)
            for module, method in self._methods.pop(name, ()):
                self._walk(module, method)

    def _find(self, module: Module, name: str) -> None:
        if name in module.binders:
            self._keep(module, module.binders[name])
            return
        sources = [self._load(module.base(star)) for star in module.stars]
        self._waiting += [(source, name) for source in sources if source is not None]
        self._keep(module, module.binders.get("*", ()))
        if module.is_package:
            self._load(f"{module.name}.{name}")

    def _keep(self, module: Module, places: Iterable[int]) -> None:
        for at in places:
            if at not in module.kept:
                module.kept.add(at)
                start, only = len(self._waiting), {(module, name) for name in module.passing(module.body[at])}
                self._walk(module, module.body[at])
                new = self._waiting[start:]
                self._waiting[start:] = [each for each in new if each not in only]
                self._passing += [each for each in new if each in only]

    def _walk(self, module: Module, top: ast.AST) -> None:
        """Follow what a piece of code names; of a class the methods that something asks for."""
        if isinstance(top, ast.ClassDef) and not self._whole:
            for part in top.body:
                heads: list[ast.AST | None] = [part]
                if isinstance(part, Function) and not (part.name in self._asked or _is_special(part.name)):
                    self._methods.setdefault(part.name, []).append((module, part))
                    heads = [*part.decorator_list, *part.args.defaults, *part.args.kw_defaults]
                for head in filter(None, heads):
                    self._walk(module, head)
                if not isinstance(part, DEFINED):
                    for name in names_of(part):
                        self.ask(name)
            for head in (*top.bases, *top.decorator_list, *(k.value for k in top.keywords)):
                self._walk(module, head)
            return
        for node in _evaluated(top):
            match node:
                case ast.Name(id=name):
                    self._waiting.append((module, name))
                case ast.Attribute(attr=name):
                    self.ask(name)
                case ast.ImportFrom():
                    self._follow_from(module, node)
                case ast.Import():
                    self._follow(module, node)
                case ast.Constant(value=str(text)) if text in module.binders:  # an annotation written as a text
                    self._waiting.append((module, text))

    def _follow_from(self, module: Module, node: ast.ImportFrom) -> None:
        base = module.base(node)
        source = self._load(base)
        if source is None:
            self._note_external(module, node, base, node.level)
            return
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            if alias.name != "*":
                self._waiting.append((source, alias.name))
                if alias.name not in source.binders and self._load(inner) is not None:
                    self._follow_chains(module, alias.asname or alias.name, inner)

    def _follow(self, module: Module, node: ast.Import) -> None:
        for alias in node.names:
            head = alias.name.partition(".")[0]
            if self._load(alias.name) is None:
                self._note_external(module, node, alias.name)
            else:
                self._follow_chains(module, alias.asname or head, alias.name if alias.asname else head)

    def _follow_chains(self, module: Module, name: str, stands_for: str) -> None:
        """Want what a module that is bound to ``name`` is asked for."""
        for dotted in module.chains.get(name, ()):
            current = stands_for
            for part in dotted.split(".")[1:]:
                found = self._load(current)
                if found is None:
                    break
                self._waiting.append((found, part))
                current = f"{current}.{part}"

    def _note_external(self, module: Module, node: ast.stmt, name: str, level: int = 0) -> None:
        top = name.partition(".")[0] or "." * (level > 0)
        if top and top not in sys.stdlib_module_names:
            self.external[top] = node in module.guarded and self.external.get(top, True)

    def _load(self, name: str) -> Module | None:
        """Return the module of the package, None for one that is not in it."""
        if name not in self.found:
            self.found[name] = None  # while it is read
            path = self._file(name)
            if path is not None and sum(m is not None for m in self.found.values()) < _MAX_MODULES:
                try:
                    self.found[name] = module = Module(name, path, parse_file(path))
                except BadStub:
                    return None
                if "." in name:
                    self._load(name.rpartition(".")[0])
                if self._whole:
                    self._keep(module, range(len(module.body)))
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


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in _IMPORT_ERRORS) for kind in caught)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _evaluated(top: ast.AST) -> Iterator[ast.AST]:
    """Iterate over nodes, those of a function's annotations left out, but for what makes an object."""
    waiting = [top]
    makes = isinstance(top, ast.FunctionDef) and top.name == "__init__"
    while waiting:
        node = waiting.pop()
        yield node
        for name, value in ast.iter_fields(node):
            is_annotation = name == "returns" or (name == "annotation" and isinstance(node, ast.arg))
            if makes or not is_annotation:
                parts = value if isinstance(value, list) else [value]
                waiting += [part for part in parts if isinstance(part, ast.AST)]


def dotted_name(node: ast.expr) -> str:
    """Return ``a.b.c`` of an expression that is one; "" for others."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
