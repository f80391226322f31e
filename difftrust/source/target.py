"""The functions that files, classes and folders name: found in parsed files, never executed."""

import ast
import copy
import itertools
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from difftrust.types.own import Function, Parameter, decorators_of, parameters_in
from difftrust_core.exceptions import BadStub, WrongUsage
from difftrust_core.languages.python import syntax
from difftrust_core.languages.python.syntax import own_statements

DEFINED = Function | ast.ClassDef
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_KINDS = {
    "classmethod": "classmethod",
    "staticmethod": "staticmethod",
    "property": "property",
    "cached_property": "property",
}
"""By the decorator that makes it."""
_OF_PROPERTIES = {"setter", "deleter"}
MAKERS = ("__init__", "__new__", "__post_init__")
"""Methods that a call of the class runs."""
_MAX_DEPTH = 12
"""Folders that a package may be deep."""
_NOT_CALLED = {*MAKERS, "__init_subclass__", "__class_getitem__", "__del__"}


@dataclass(frozen=True, kw_only=True)
class Target:
    """A function, or a method with its class, in its file."""

    path: Path
    module: ast.Module
    function: Function
    owner: ast.ClassDef | None = None
    """The class of a method."""
    others: Mapping[str, Path] = field(default_factory=dict)
    """Classes and constants that ``module`` has of other files of the package, each with its file."""

    @property
    def entry_point(self) -> str:
        """``function`` or ``Class.method``."""
        return f"{self.owner.name}.{self.function.name}" if self.owner else self.function.name

    @cached_property
    def root(self) -> Path:
        """The folder from which the package around its file is imported; the file's own where it is in none.

        A folder without ``__init__.py`` is a package if the file imports from it by its name or relatively (PEP 420).
        """
        folder = self.path.resolve().parent
        for _ in range(_MAX_DEPTH):
            if not (folder / "__init__.py").is_file():
                break
            folder = folder.parent
        nodes = [*ast.walk(self.module)]
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        modules = [f"{s.module}.{alias.name}" for s in imports if s.module and not s.level for alias in s.names]
        modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        named = [name.split(".") for name in modules if name.partition(".")[0] not in sys.stdlib_module_names]
        named = [parts for parts in named if not any(map(_is_module, _below(folder, parts)))]
        above = [*self.path.resolve().parents][: _MAX_DEPTH + 1]
        roots = [above[s.level] for s in imports if 0 < s.level < len(above)]
        for package in (folder, *folder.parents):
            inside = [parts[1:] for parts in named if parts[0] == package.name]
            roots += [package.parent for parts in inside if any(map(_is_module, _below(package, parts)))]
        return min((folder, *roots), key=lambda root: len(root.parts))

    @property
    def kind(self) -> str:
        """One of function, method, classmethod, staticmethod, property."""
        if self.owner is None:
            return "function"
        return next((_KINDS[name] for name in decorators_of(self.function) if name in _KINDS), "method")

    @property
    def is_generator(self) -> bool:
        """Tell whether the body yields, or the annotation says so."""
        returns = ast.unparse(self.function.returns).strip("'\"") if self.function.returns else ""
        prefix = "Async" if isinstance(self.function, ast.AsyncFunctionDef) else ""
        nodes = (node for statement in self.function.body for node in nodes_of_scope(statement))
        is_said = re.fullmatch(rf"([\w.]+\.)?{prefix}(Generator|Iterator)(\[.*\])?", returns) is not None
        return is_said or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)

    @property
    def docstring(self) -> str:
        """The docstring, without its margin; empty where there is none."""
        return (ast.get_docstring(self.function) or "").strip()

    @property
    def body(self) -> list[ast.stmt]:
        """The statements after the docstring."""
        return without_docstring(self.function.body)

    @property
    def is_written(self) -> bool:
        """Tell whether the body is more than ``...``, ``pass`` and ``raise NotImplementedError``."""
        return syntax.is_written(self.body)

    @property
    def where(self) -> str:
        """``module.py::function`` or ``module.py::Class.method``."""
        return f"{self.path}::{self.entry_point}"

    def call_with(self, fields: str, arguments: str) -> str:
        """Return how a call is written; ``fields``: what the object of a method is made of."""
        if self.owner is None or self.kind in ("classmethod", "staticmethod"):
            return f"{self.entry_point}({arguments})"
        method = f"{self.owner.name}({fields}).{self.function.name}"
        return method if self.kind == "property" else f"{method}({arguments})"

    def parameters(self) -> list[Parameter]:
        """Return what a call takes, the object of a method first; ``cls`` is left out.

        Raises BadStub where there is nothing to fuzz.
        """
        found = self._overloaded()
        if self.owner is not None and self.kind != "staticmethod":
            if not found or found[0].keyword:
                raise BadStub(f"expected a first parameter self or cls in {self.entry_point}, found none; add it")
            own = ast.Name(id=self.owner.name, ctx=ast.Load())
            first = Parameter(name=found[0].name, annotation=own, required=True)
            found[:1] = [] if self.kind == "classmethod" else [first]
            found = [_of_own_class_too(parameter, self.owner.name) for parameter in found]
        if not found:
            raise BadStub(f"expected a function with parameters, {self.entry_point} has none; there is nothing to fuzz")
        return found

    def _overloaded(self) -> list[Parameter]:
        """Return the parameters, the one that tells overloads apart as any of theirs where it has no annotation.

        Where several tell them apart, not every pair of their annotations is allowed, and they stay as they are.
        """
        found = list(parameters_in(self.function.args))
        statements = own_statements(self.owner.body if self.owner else self.module.body)
        same = [s for s in statements if isinstance(s, Function) and s.name == self.function.name]
        kinds: dict[str, dict[str, None]] = {}
        for parameter in (p for s in same if "overload" in decorators_of(s) for p in parameters_in(s.args)):
            if parameter.annotation is not None:
                kinds.setdefault(parameter.name, {})[ast.unparse(parameter.annotation)] = None
        unions = {name: syntax.expression(" | ".join(several)) for name, several in kinds.items()}
        if sum(len(several) > 1 for several in kinds.values()) > 1:
            return found
        return [replace(p, annotation=unions.get(p.name)) if p.annotation is None else p for p in found]


def _of_own_class_too(parameter: Parameter, owner: str) -> Parameter:
    """Return a parameter of a method, drawn also from its class where any object is taken, as by ``__eq__``."""
    said = parameter.annotation
    if not (isinstance(said, ast.Name) and said.id == "object"):
        return parameter
    return replace(parameter, annotation=syntax.expression(f"{owner} | object"))


def _below(package: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield the places below a package that ``a.b.c`` may be, the last of it being a name of the module before it."""
    for end in range(len(parts), 0, -1):
        yield package.joinpath(*parts[:end])


def _is_module(place: Path) -> bool:
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


@contextmanager
def refuse_deep_nesting() -> Iterator[None]:
    """Raise BadStub where a function, or what it rests on, nests deeper than its syntax tree can be followed."""
    try:
        yield
    except RecursionError:
        raise BadStub("expected code that nests a few hundred levels at most, found more; split it up") from None


def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of the file ``path``. Raises BadStub if it cannot be read as Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the file contains, e.g. an invalid escape
            code = path.read_bytes()
            with suppress(SyntaxError):  # a type comment may stand where none can be
                return ast.parse(code, type_comments=True)
            return ast.parse(code)
    except OSError as e:
        raise BadStub(f"expected a Python file, {path} cannot be read: {e.strerror or e}; check its path") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        said = f"{e.msg} in line {e.lineno}" if isinstance(e, SyntaxError) else str(e)
        raise BadStub(f"expected Python in {path}, found {type(e).__name__}: {said}; correct the file") from None


def module_name(path: Path, root: Path) -> str:
    """Return the name by which the file ``path`` is imported from the folder ``root``."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def find_target(where: str, *, makers: bool = False) -> Target:
    """Return the function that ``module.py::function`` or ``module.py::Class.method`` names.

    ``makers``: it may be one that makes an object, ``__init__`` for one. Raises WrongUsage for another form of words,
    BadStub if there is no such file, class or function.
    """
    path, separator, name = where.rpartition("::")
    is_name = all(part.isidentifier() for part in name.split("."))
    if separator and is_name and name.count(".") > 1:
        raise BadStub(
            f"expected module.py::function or module.py::Class.method, {name} is in a class within a class; "
            "name a function that uses it"
        )
    if not separator or not path or "::" in path or not is_name:
        raise WrongUsage(
            f"expected module.py::function or module.py::Class.method, got {where!r}; "
            "name the file, two colons, the function"
        )
    module = parse_file(Path(path))
    found = {target.entry_point: target for target in _all_targets(Path(path), module)}
    if name not in found:
        raise _absence(name, path, module, list(found.values()))
    if not _is_called(found[name], makers=makers):
        raise BadStub(f"expected a method that is called on an object, got {name}; name one that uses it")
    _read_type_comments(found[name].function)
    return found[name]


def _read_type_comments(function: Function) -> None:
    """Annotate parameters by the comment behind a signature, ``# type: (int) -> str``, or behind each of them."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    with suppress(SyntaxError):
        types = ast.parse(function.type_comment or "()->None", mode="func_type").argtypes
        for argument, kind in zip(reversed(arguments), reversed(types), strict=False):
            is_open = isinstance(kind, ast.Constant)  # "..." says that each has a comment of its own
            argument.annotation = argument.annotation or (None if is_open else kind)
        for argument in arguments:
            if argument.type_comment and argument.annotation is None:
                argument.annotation = syntax.expression(argument.type_comment)


def targets_in(path: Path, module: ast.Module, *, makers: bool = False) -> list[Target]:
    """Return every function and method of a file that ``find_target`` finds, in the order of the file.

    ``makers``: those too that make an object, ``__init__`` for one.
    """
    found = {target.entry_point: target for target in _all_targets(path, module) if _is_called(target, makers=makers)}
    return sorted(found.values(), key=lambda target: target.function.lineno)


def _all_targets(path: Path, module: ast.Module) -> Iterator[Target]:
    """Iterate over the functions of a file, and the methods of the last class of each name."""
    for owner in (None, *{owner.name: owner for owner in _classes_of(module)}.values()):
        for function in own_statements(owner.body if owner else module.body):
            if isinstance(function, Function) and not {*_OF_PROPERTIES, "overload"} & {*decorators_of(function)}:
                yield Target(path=path, module=module, function=function, owner=owner)


def _classes_of(owner: ast.Module | ast.ClassDef) -> list[ast.ClassDef]:
    return [s for s in own_statements(owner.body) if isinstance(s, ast.ClassDef)]


def nested_targets(path: Path, module: ast.Module) -> dict[str, Target]:
    """Return the methods of classes within classes, ``A.B.f``, which ``find_target`` does not take."""
    found: dict[str, Target] = {}
    outer = [(owner.name, owner) for owner in _classes_of(module)]
    for name, owner in outer:
        inner = [(f"{name}.{each.name}", each) for each in _classes_of(owner)]
        for dotted, each in inner:
            for function in (s for s in own_statements(each.body) if isinstance(s, Function)):
                found[f"{dotted}.{function.name}"] = Target(path=path, module=module, function=function, owner=each)
        outer += inner
    return found


def _is_called(target: Target, *, makers: bool) -> bool:
    """Tell whether the function is called as such, or is a method that makes an object and may be one."""
    name = target.function.name
    return target.owner is None or name not in _NOT_CALLED or (makers and name in MAKERS)


def _absence(name: str, path: str, module: ast.Module, there: Sequence[Target]) -> BadStub:
    """Return why a name is not found in a file, and what is there instead."""
    classes = dict.fromkeys(each.name for each in _classes_of(module))
    owner, _, method = name.rpartition(".")
    if owner and owner not in classes:
        return BadStub(f"expected a class {owner} in {path}, found: {', '.join(classes) or 'none'}; name one of these")
    if method in classes and not owner:
        methods = [t.function.name for t in there if t.owner and t.owner.name == name and _is_called(t, makers=False)]
        one = methods[0] if methods else "method"
        return BadStub(f"expected a function, {name} in {path} is a class; name a method, {path}::{name}.{one}")
    known = dict.fromkeys(t.function.name for t in there if (t.owner.name if t.owner else "") == owner)
    what = "a method" if owner else "a top-level function"
    return BadStub(f"expected {what} {name} in {path}, found: {', '.join(known) or 'none'}; name one of these")


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements after a docstring."""
    return body[1:] if body and syntax.is_docstring(body[0]) else body


def without_texts(node: ast.stmt) -> ast.stmt:
    """Return a copy of a statement without the texts that stand in it as statements, docstrings among them."""
    made = copy.copy(node)
    waiting: list[ast.AST] = [made]
    while waiting:  # copy.deepcopy calls itself six times for each elif of a chain
        part = waiting.pop()
        for name, value in ast.iter_fields(part):
            parts = value if isinstance(value, list) else [value]
            if name in ("body", "orelse", "finalbody") and any(map(syntax.is_docstring, parts)):
                parts = [s for s in parts if not syntax.is_docstring(s)] or [ast.Pass()]
            copies = [copy.copy(each) if isinstance(each, ast.AST) else each for each in parts]
            setattr(part, name, copies if isinstance(value, list) else copies[0])
            waiting += [each for each in copies if isinstance(each, ast.AST)]
    return made


def nodes_of_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over a node and those below it, without what stands in functions, classes and comprehensions."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, DEFINED | ast.Lambda | COMPREHENSIONS):
            waiting += reversed([*ast.iter_child_nodes(part)])


def own_candidate(where: str) -> dict[str, str]:
    """Return the body of ``module.py::function`` by what a candidate of it is called.

    Raises BadStub where it has none yet.
    """
    target = find_target(where)
    if not target.is_written:
        raise BadStub(f"expected a body in {target.entry_point} to compare, found none; leave out --with-body")
    return {f"your code in {target.path.name}": _text(target)}


def _text(target: Target) -> str:
    """Return the function's lines with its decorators, as the file has them."""
    function = target.function
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    lines = target.path.read_bytes().decode("utf-8", "replace").splitlines()
    text = textwrap.dedent("\n".join(lines[first - 1 : function.end_lineno])) + "\n"
    # Another encoding, or something else stands on its lines.
    return text if syntax.parsed(text) else ast.unparse(function) + "\n"


LEFT_OUT = {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env"}
"""Folders that hold no code of the project."""
_TESTS = ("test", "tests", "testing")


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """What was not taken, and why."""

    where: str
    """``module.py::function`` or a file."""
    why: str
    is_fault: bool = False
    """The file cannot be read as Python, so what it holds is not known."""


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Functions as ``module.py::function``, in the order of the files."""

    found: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def find_targets(what: Sequence[str]) -> Targets:
    """Return the functions that ``mod.py``, ``mod.py::Class``, ``mod.py::function`` and folders name.

    Of files, classes and folders, those are left out that nobody calls with arguments, or that are not for others:
    tests, private and abstract ones, special methods, functions without parameters. What is named by itself is taken.
    Raises WrongUsage where nothing of that name is there.
    """
    found: dict[str, None] = {}
    skipped: dict[str, Skipped] = {}
    for each in itertools.chain.from_iterable(map(_named, what)):
        if each.why:
            skipped.setdefault(each.where, each)
        else:
            found[each.where] = None
    return Targets(found=tuple(found), skipped=tuple(s for s in skipped.values() if s.where not in found))


def is_test(path: str) -> bool:
    """Tell whether a file is one of tests, by its name and folders."""
    *folders, name = path.replace("\\", "/").split("/")
    by_name = name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "tests.py")
    return by_name or any(folder in _TESTS for folder in folders)


def is_several(text: str) -> bool:
    """Tell whether a text names a file, a class or a folder, and not one function."""
    path, colons, name = text.rpartition("::")
    if not colons:
        return Path(text).is_dir() or (Path(text).is_file() and text.endswith(".py"))
    with suppress(BadStub):
        return Path(path).is_file() and name in _classes(parse_file(Path(path)))
    return False


def _named(text: str) -> Iterator[Skipped]:
    """Iterate over what one text names, and why it is left out: "" where it is not."""
    path, colons, name = text.rpartition("::")
    if not is_several(text):
        if not colons:
            raise WrongUsage(
                f"expected module.py::function, a class, a file or a folder, got {text!r}; "
                "name the file, two colons, the function, or what holds several"
            )
        yield Skipped(where=find_target(text).where, why="")
    elif colons:
        for target in targets_in(Path(path), parse_file(Path(path))):
            if target.owner is not None and target.owner.name == name:
                yield Skipped(where=target.where, why=why_left_out(target))
    else:
        folder = Path(text) if Path(text).is_dir() else Path(text).parent
        for file in python_files(folder, text) if folder == Path(text) else [Path(text)]:
            yield from _in_file(file, is_test=is_test(str(file.relative_to(folder))))


def _in_file(path: Path, *, is_test: bool) -> Iterator[Skipped]:
    try:
        for target in targets_in(path, parse_file(path)):
            yield Skipped(where=target.where, why="a test" if is_test else why_left_out(target))
    except BadStub as e:
        yield Skipped(where=str(path), why=str(e), is_fault=True)


def why_left_out(target: Target) -> str:
    """Return why a function that is not named by itself is not taken; empty where it is."""
    names = [target.function.name, *([target.owner.name] if target.owner else [])]
    if names[0].startswith("__") and names[0].endswith("__"):
        return "a special method"
    if any(name.startswith("_") for name in names):
        return "private"
    if names[0].startswith("test_") or names[-1].startswith("Test"):
        return "a test"
    if "abstractmethod" in decorators_of(target.function):
        return "abstract"
    try:
        target.parameters()
    except BadStub:
        return "takes no arguments"
    return ""


def _classes(module: ast.Module) -> set[str]:
    functions = {target.function.name for target in targets_in(Path(), module) if target.owner is None}
    return {s.name for s in ast.walk(module) if isinstance(s, ast.ClassDef)} - functions


def python_files(folder: Path, named: str = "") -> Iterator[Path]:
    """Iterate over the Python files below a folder in order; hidden ones, links and environments are left out.

    Raises WrongUsage for a folder that cannot be read and was ``named``.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as e:
        if not named:
            return
        raise WrongUsage(f"expected a folder, {named} cannot be read: {e.strerror or e}; name another") from None
    for entry in entries:
        if entry.is_symlink() or entry.name.startswith(".") or entry.name in LEFT_OUT:
            continue
        if entry.is_dir() and not (entry / "pyvenv.cfg").exists():
            yield from python_files(entry, named)
        elif entry.suffix == ".py" and entry.is_file():
            yield entry
