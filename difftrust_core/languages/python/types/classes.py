"""The classes of a parsed file as types: what a call of each takes, an Enum's members, a TypedDict's keys."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from difftrust_core.base.literals import Code
from difftrust_core.languages.python.types.base import Type
from difftrust_core.languages.python.types.choices import Either, Member
from difftrust_core.languages.python.types.containers import Wrapped
from difftrust_core.languages.python.types.infer import Anything, type_of
from difftrust_core.languages.python.types.not_resolved import NotResolved
from difftrust_core.languages.python.types.numbers import Whole
from difftrust_core.languages.python.types.own import Field, Own, Record

_ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"}
_FLAGS = {"Flag", "IntFlag"}
_DATACLASSES = {"dataclass", "define", "frozen", "mutable", "attrs", "s", "attributes"}
_BENIGN = {"object", "ABC", "Generic", "Protocol", "Hashable", "Sized", "Iterable", "Collection", "Container"} | {
    *("Exception", "ValueError", "Sequence", "Mapping", "Iterator", "SupportsFloat", "Callable"),
}
_MODELS = {"BaseModel", "Struct"}


class Resolves(Protocol):
    """What reads the annotations of the same file."""

    def resolve(self, node: ast.expr, bound: Mapping[str, Type] | None = None, depth: int = 0) -> Type:
        """Return the type that an annotation stands for. Raises NotResolved."""
        ...


class Classes:
    """The classes of one file."""

    def __init__(self, statements: Sequence[ast.stmt], annotations: Resolves):
        self._annotations = annotations
        self._nodes = dict(_definitions(statements, ""))
        self._called = dict(_made_by_calls(statements))
        self._types: dict[tuple[Any, ...], Type] = {}

    def knows(self, name: str) -> bool:
        """Tell whether the file defines the class."""
        return name in self._nodes or name in self._called

    def type_of(self, name: str, inside: Sequence[Type], bound: Mapping[str, Type]) -> Type | None:
        """Return the type of a class, with types in its brackets; None if the file does not define it.

        Raises NotResolved where nothing is known of how its values are made.
        """
        if not self.knows(name):
            return None
        node = self._nodes.get(name)
        names = self._variables(node) if node is not None else []
        own_bound = dict(zip(names, inside, strict=False))
        own_bound |= {one: bound[one] for one in names if one in bound and one not in own_bound}
        key = (name, *sorted((one, id(kind)) for one, kind in own_bound.items()))
        if key not in self._types:
            made = self._of_call(name) if node is None else self._of_node(name, node, own_bound)
            self._types[key] = made
            if isinstance(made, Own):
                self._add_heirs(name, made, own_bound)
        return self._types[key]

    def _of_node(self, name: str, node: ast.ClassDef, bound: Mapping[str, Type]) -> Type:
        bases = {last for one in self._line(node) for last in _base_names(one)}
        if bases & _ENUMS:
            return _members(name, self._members(node), is_flag=bool(bases & _FLAGS))
        if "TypedDict" in bases:
            return Record(lambda: list(self._keys(node, bound)))
        strange = bases - _BENIGN - {"NamedTuple"} - _MODELS - set(self._nodes) - _ENUMS
        if strange and not self._makes_itself(node):
            content = self._content(node, bound)
            if content is None:
                raise NotResolved(f"{name}: a class of {', '.join(sorted(strange))}")
            return Own(name, lambda: [Field(name="value", type=content, required=False)])
        made = Own(name, lambda: (), abstract=self._is_abstract(node))
        inner = {**bound, "Self": made, name: made} if not bound else {**bound, "Self": made}
        made.read = lambda: self._fields(node, inner)
        return made

    def _of_call(self, name: str) -> Type:
        call = self._called[name]
        maker = ast.unparse(call.func).rpartition(".")[2]
        entries = _entries_of(call)
        if maker in _ENUMS:
            return _members(name, [member for member, _ in entries], is_flag=maker in _FLAGS)
        required = not any(k.arg == "total" and ast.unparse(k.value) == "False" for k in call.keywords)
        n_defaults = sum(
            len(k.value.elts)
            for k in call.keywords
            if k.arg == "defaults" and isinstance(k.value, ast.Tuple | ast.List)
        )

        def read() -> list[Field]:
            last = len(entries) - n_defaults
            return [
                Field(name=field, type=self._type(node, {}), required=required and i < last)
                for i, (field, node) in enumerate(entries)
            ]

        return Record(read) if maker == "TypedDict" else Own(name, read)

    def _type(self, node: ast.expr | None, bound: Mapping[str, Type], default: ast.expr | None = None) -> Type:
        """Return the type of an annotation; where it is not known, that of the default, or anything."""
        if node is not None:
            try:
                return self._annotations.resolve(node, bound)
            except NotResolved:
                return Anything()
        try:
            value = ast.literal_eval(default) if default is not None else None
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            value = None
        return Anything() if value is None else type_of(value)

    def _line(self, node: ast.ClassDef, depth: int = 0) -> list[ast.ClassDef]:
        """Return the class and the classes of this file that it inherits from, nearest first."""
        found = [node]
        for base in _base_names(node):
            above = self._nodes.get(base)
            if above is not None and above is not node and depth < 20:
                found += [one for one in self._line(above, depth + 1) if one not in found]
        return found

    def _variables(self, node: ast.ClassDef) -> list[str]:
        """Return the type variables of a class in the order of its brackets."""
        for base in node.bases:
            if isinstance(base, ast.Subscript) and ast.unparse(base.value).rpartition(".")[2] in (
                "Generic",
                "Protocol",
            ):
                parts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
                return [ast.unparse(part) for part in parts]
        return [str(one.name) for one in getattr(node, "type_params", [])]

    def _members(self, node: ast.ClassDef) -> list[str]:
        found: dict[str, str] = {}
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                    text = ast.unparse(value)
                    if "auto(" in text or text not in found.values():  # else another name for the same member
                        found[name] = text if "auto(" not in text else name
        return list(found)

    def _keys(self, node: ast.ClassDef, bound: Mapping[str, Type]) -> Iterator[Field]:
        for one in reversed(self._line(node)):
            total = not any(k.arg == "total" and ast.unparse(k.value) == "False" for k in one.keywords)
            for statement in one.body:
                match statement:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                        text = ast.unparse(annotation)
                        required = (total or "Required[" in text) and "NotRequired[" not in text
                        yield Field(name=name, type=self._type(annotation, bound), required=required)

    def _makes_itself(self, node: ast.ClassDef) -> bool:
        return any(_method(one, "__init__") or _is_dataclass(one) for one in self._line(node))

    def _content(self, node: ast.ClassDef, bound: Mapping[str, Type]) -> Type | None:
        """Return the type of a builtin that a class is made of, as of ``class UserId(str)``."""
        for one in self._line(node):
            for base in one.bases:
                try:
                    return self._annotations.resolve(base, bound)
                except NotResolved:
                    continue
        return None

    def _is_abstract(self, node: ast.ClassDef) -> bool:
        if "Protocol" in _base_names(node):
            return True
        missing: set[str] = set()
        for one in reversed(self._line(node)):
            for statement in one.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    abstract = any(ast.unparse(d).endswith("abstractmethod") for d in statement.decorator_list)
                    missing = missing | {statement.name} if abstract else missing - {statement.name}
        return bool(missing)

    def _add_heirs(self, name: str, made: Own, bound: Mapping[str, Type]) -> None:
        node = self._nodes.get(name)
        if node is None:
            return
        methods = _methods(node) if "Protocol" in _base_names(node) else set[str]()
        for other, heir in self._nodes.items():
            inherits = name in _base_names(heir)
            alike = (
                bool(methods)
                and heir is not node
                and "Protocol" not in _base_names(heir)
                and methods <= {method for one in self._line(heir) for method in _methods(one)}
            )
            if inherits or alike:
                try:
                    found = self.type_of(other, (), bound)
                except NotResolved:
                    continue
                if isinstance(found, Own) and found is not made:
                    made.heirs.append(found)

    def _fields(self, node: ast.ClassDef, bound: Mapping[str, Type]) -> list[Field]:
        """Return what a call of the class takes: of its ``__init__``, else of its fields and those it inherits."""
        line = self._line(node)
        for one in line:
            init = _method(one, "__init__") or _method(one, "__new__")
            if init is not None:
                return list(self._parameters(init, bound))
            if _is_dataclass(one):
                break
        found: dict[str, Field] = {}
        by_name = bool({base for one in line for base in _base_names(one)} & _MODELS)
        for one in reversed(line):
            if _is_dataclass(one) or by_name or "NamedTuple" in _base_names(one):
                for field in self._own_fields(one, bound, by_name or _keyword(one, "kw_only")):
                    found[field.name] = field
        return [field for field in found.values() if not field.by_name] + [f for f in found.values() if f.by_name]

    def _own_fields(self, node: ast.ClassDef, bound: Mapping[str, Type], by_name: bool) -> Iterator[Field]:
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    text = ast.unparse(annotation).rpartition(".")[2]
                    if text.startswith("ClassVar"):
                        continue
                    if text == "KW_ONLY":
                        by_name = True
                        continue
                    options = _options(value)
                    if options.get("init") == "False":
                        continue
                    yield Field(
                        name=name,
                        type=self._type(annotation, bound),
                        required=value is None
                        or (bool(options) and not options.keys() & {"default", "default_factory", "factory"}),
                        by_name=by_name or options.get("kw_only") == "True",
                    )

    def _parameters(self, function: ast.FunctionDef, bound: Mapping[str, Type]) -> Iterator[Field]:
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
        for argument, default in list(zip(positional, defaults, strict=True))[1:]:
            kind = self._type(argument.annotation, bound, default)
            yield Field(name=argument.arg, type=kind, required=default is None)
        if arguments.vararg:
            kind = self._type(arguments.vararg.annotation, bound)
            yield Field(name=arguments.vararg.arg, type=kind, required=False, variadic=True)
        for argument, by_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            kind = self._type(argument.annotation, bound, by_default)
            yield Field(name=argument.arg, type=kind, required=by_default is None, by_name=True)


def _members(name: str, members: Sequence[str], *, is_flag: bool) -> Type:
    """Return the members of an Enum; of a Flag also several at once, as ``Access(3)``."""
    single = Member([Code(f"{name}.{member}") for member in members], name)
    return Either([single, Wrapped(name, Whole(0, 2 ** min(len(members), 16) - 1))]) if is_flag else single


def _definitions(statements: Sequence[ast.stmt], within: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            yield within + statement.name, statement
            yield from _definitions(statement.body, f"{within}{statement.name}.")


def _made_by_calls(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    """Iterate over ``P = namedtuple('P', 'x y')`` and its like."""
    makers = {"namedtuple", "NamedTuple", "TypedDict", *_ENUMS}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[_, _, *_]) as call):
                if ast.unparse(func).rpartition(".")[2] in makers:
                    yield name, call


def _entries_of(call: ast.Call) -> list[tuple[str, ast.expr | None]]:
    """Return the names that such a call gives, and their types where it gives those."""
    given = call.args[1]
    if isinstance(given, ast.Dict):
        pairs = zip(given.keys, given.values, strict=True)
        return [(key.value, value) for key, value in pairs if isinstance(key, ast.Constant) and type(key.value) is str]
    if isinstance(given, ast.Constant) and type(given.value) is str:
        return [(name, None) for name in given.value.replace(",", " ").split()]
    found: list[tuple[str, ast.expr | None]] = []
    for element in given.elts if isinstance(given, ast.List | ast.Tuple) else []:
        match element:
            case ast.Constant(value=str(name)):
                found.append((name, None))
            case (
                ast.Tuple(elts=[ast.Constant(value=str(name)), kind])
                | ast.List(elts=[ast.Constant(value=str(name)), kind])
            ):
                found.append((name, kind))
    return found


def _base_names(node: ast.ClassDef) -> list[str]:
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return [name if "." not in name else name.rpartition(".")[2] for name in map(ast.unparse, bases)]


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any(_decorator_name(decorator) in _DATACLASSES for decorator in node.decorator_list)


def _decorator_name(decorator: ast.expr) -> str:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(made).rpartition(".")[2]


def _keyword(node: ast.ClassDef, name: str) -> bool:
    """Tell whether the dataclass decorator has an option switched on."""
    return any(
        keyword.arg == name and ast.unparse(keyword.value) == "True"
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )


def _options(value: ast.expr | None) -> dict[str, str]:
    """Return the options of ``field(...)`` behind a dataclass's field; none where it has a plain default."""
    match value:
        case ast.Call(func=func, keywords=keywords) if ast.unparse(func).rpartition(".")[2] in ("field", "Field", "ib"):
            return {"": "", **{keyword.arg: ast.unparse(keyword.value) for keyword in keywords if keyword.arg}}
    return {}


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == name), None)


def _methods(node: ast.ClassDef) -> set[str]:
    return {s.name for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)}
