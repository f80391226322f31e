"""The classes of a parsed file as types: what a call of each takes, an Enum's members, a TypedDict's keys."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from difftrust.types.base import NotResolved, Type
from difftrust.types.choices import Either, Member
from difftrust.types.containers import Items, Wrapped
from difftrust.types.infer import Anything, literal_of, type_of
from difftrust.types.numbers import Whole
from difftrust.types.own import Field, Function, Own, Record, Used, decorators_of, field_of, parameters_in
from difftrust_core.base.literals import Code
from difftrust_core.languages.python.syntax import expression, own_statements

_ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"}
_FLAGS = {"Flag", "IntFlag"}
_AUTO = expression("auto()")
_DATACLASSES = {"dataclass", "define", "frozen", "mutable", "attrs", "s", "attributes"}
_BENIGN = {"object", "ABC", "Generic", "Protocol", "Hashable", "Sized", "Iterable", "Collection", "Container"} | {
    *("Exception", "ValueError", "Sequence", "Mapping", "Iterator", "SupportsFloat", "Callable"),
}
_MODELS = {"BaseModel", "Struct"}
_REQUIRES = re.compile(r"\b(?:requires?|must|assumes?|only if|expects?)\b", re.IGNORECASE)
"""In a docstring: a call may be none that is allowed, so that none is made before the one that is checked."""
_MOST_CALLS = 12
_DEFAULTS = {"default", "default_factory", "factory"}


class Classes:
    """The classes of one file."""

    def __init__(self, body: list[ast.stmt], resolve: Callable[..., Type]):
        """``resolve``: from an annotation, and what type variables stand for, to a type."""
        self._resolve = resolve
        self._nodes = dict(_made_by_calls(own_statements(body))) | dict(_definitions(body, ""))
        self._types: dict[tuple[Any, ...], Type] = {}

    def knows(self, name: str) -> bool:
        """Tell whether the file defines the class."""
        return name in self._nodes

    def type_of(self, name: str, inside: Sequence[Type], bound: Mapping[str, Type]) -> Type | None:
        """Return the type of a class, with types in its brackets; None if the file does not define it.

        Raises NotResolved where nothing is known of how its values are made.
        """
        node = self._nodes.get(name)
        if node is None:
            return None
        names = self._variables(node)
        own_bound = dict(zip(names, inside, strict=False))
        own_bound |= {one: bound[one] for one in names if one in bound and one not in own_bound}
        key = (name, *sorted((one, id(kind)) for one, kind in own_bound.items()))
        if key not in self._types:
            made = self._types[key] = self._of_node(name, node, own_bound)
            if isinstance(made, Own):
                self._add_heirs(name, made, own_bound)
        return self._types[key]

    def used(self, made: Own) -> Type:
        """Return the objects of a class also after calls of its public methods of which nothing is required."""
        node = self._nodes[made.name]
        methods = [
            Own(name, partial(lambda method: list(self._parameters(method, {"Self": made, made.name: made})), method))
            for name, method in methods_of(node).items()
            if isinstance(method, ast.FunctionDef) and not name.startswith("_") and not method.decorator_list
            if not _REQUIRES.search(ast.get_docstring(method) or "")
        ]
        return Used(made, Items((list,), Either(methods), least=1, most=_MOST_CALLS)) if methods else made

    def _of_node(self, name: str, node: ast.ClassDef, bound: Mapping[str, Type]) -> Type:
        bases = {last for one in self._line(node) for last in base_names(one)}
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

    def _type(self, node: ast.expr | None, bound: Mapping[str, Type], default: ast.expr | None = None) -> Type:
        """Return the type of an annotation; where it is not known, that of the default, or anything."""
        if node is not None:
            try:
                return self._resolve(node, bound)
            except NotResolved:
                return Anything()
        value = literal_of(default)
        return Anything() if value is None else type_of(value)

    def _line(self, node: ast.ClassDef, depth: int = 0) -> list[ast.ClassDef]:
        """Return the class and the classes of this file that it inherits from, nearest first."""
        found = [node]
        for base in base_names(node):
            above = self._nodes.get(base)
            if above is not None and above is not node and depth < 20:
                found += [one for one in self._line(above, depth + 1) if one not in found]
        return found

    def _variables(self, node: ast.ClassDef) -> list[str]:
        """Return the type variables of a class in the order of its brackets."""
        for base in node.bases:
            if isinstance(base, ast.Subscript) and last_part(base.value) in ("Generic", "Protocol"):
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
            total = _options(one.keywords).get("total") != "False"
            for statement in one.body:
                match statement:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                        text = ast.unparse(annotation)
                        required = (total or "Required[" in text) and "NotRequired[" not in text
                        yield Field(name=name, type=self._type(annotation, bound), required=required)

    def _makes_itself(self, node: ast.ClassDef) -> bool:
        return any("__init__" in methods_of(one) or dataclass_options(one) is not None for one in self._line(node))

    def _content(self, node: ast.ClassDef, bound: Mapping[str, Type]) -> Type | None:
        """Return the type of a builtin that a class is made of, as of ``class UserId(str)``."""
        for one in self._line(node):
            for base in one.bases:
                try:
                    return self._resolve(base, bound)
                except NotResolved:
                    continue
        return None

    def _is_abstract(self, node: ast.ClassDef) -> bool:
        if "Protocol" in base_names(node):
            return True
        methods = {name: made for one in reversed(self._line(node)) for name, made in methods_of(one).items()}
        return any("abstractmethod" in decorators_of(made) for made in methods.values())

    def _add_heirs(self, name: str, made: Own, bound: Mapping[str, Type]) -> None:
        node = self._nodes[name]
        methods = methods_of(node).keys() if "Protocol" in base_names(node) else set[str]()
        for other, heir in self._nodes.items():
            is_alike = bool(methods) and heir is not node and "Protocol" not in base_names(heir)
            is_alike = is_alike and methods <= {method for one in self._line(heir) for method in methods_of(one)}
            if is_alike or name in base_names(heir):
                with suppress(NotResolved):
                    found = self.type_of(other, (), bound)
                    if isinstance(found, Own) and found is not made:
                        made.heirs.append(found)

    def _fields(self, node: ast.ClassDef, bound: Mapping[str, Type]) -> list[Field]:
        """Return what a call of the class takes: of its ``__init__``, else of its fields and those it inherits."""
        line = self._line(node)
        for one in line:
            init = methods_of(one).get("__init__") or methods_of(one).get("__new__")
            if init is not None:
                return list(self._parameters(init, bound))
            if dataclass_options(one) is not None:
                break
        found: dict[str, Field] = {}
        by_name = bool({base for one in line for base in base_names(one)} & _MODELS)
        for one in reversed(line):
            options = dataclass_options(one)
            if options is not None or by_name or "NamedTuple" in base_names(one):
                is_by_name = by_name or (options or {}).get("kw_only") == "True"
                found |= {field.name: field for field in self._own_fields(one, bound, is_by_name)}
        return sorted(found.values(), key=lambda field: field.by_name)

    def _own_fields(self, node: ast.ClassDef, bound: Mapping[str, Type], by_name: bool) -> Iterator[Field]:
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    is_field = isinstance(value, ast.Call) and last_part(value.func) in ("field", "Field", "ib")
                    options = _options(value.keywords) if is_field and isinstance(value, ast.Call) else {}
                    text = last_part(annotation)
                    by_name = by_name or text == "KW_ONLY"
                    if text.startswith("ClassVar") or text == "KW_ONLY" or options.get("init") == "False":
                        continue
                    yield Field(
                        name=name,
                        type=self._type(annotation, bound),
                        required=value is None or (is_field and not options.keys() & _DEFAULTS),
                        by_name=by_name or options.get("kw_only") == "True",
                    )

    def _parameters(self, function: Function, bound: Mapping[str, Type]) -> Iterator[Field]:
        for one in [*parameters_in(function.args)][1:]:
            if not (one.keyword and one.variadic):
                yield field_of(one, self._type(one.annotation, bound, one.default))


def _members(name: str, members: Sequence[str], *, is_flag: bool) -> Type:
    """Return the members of an Enum; of a Flag also several at once, as ``Access(3)``."""
    single = Member([Code(f"{name}.{member}") for member in members], name)
    return Either([single, Wrapped(name, Whole(0, 2 ** min(len(members), 16) - 1))]) if is_flag else single


def _definitions(body: list[ast.stmt], within: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for statement in own_statements(body):
        if isinstance(statement, ast.ClassDef):
            yield within + statement.name, statement
            yield from _definitions(statement.body, f"{within}{statement.name}.")


def _made_by_calls(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.ClassDef]]:
    """Iterate over ``P = namedtuple('P', 'x y')`` and its like, each as the class that it makes."""
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[_, given, *_]) as call):
                maker, entries = last_part(func).replace("namedtuple", "NamedTuple"), _entries_of(given)
                if maker in {"NamedTuple", "TypedDict", *_ENUMS}:
                    last = [one for k in call.keywords if k.arg == "defaults" for one in getattr(k.value, "elts", [])]
                    defaults = [None] * (len(entries) - len(last)) + last
                    body: list[ast.stmt] = [
                        ast.Assign([ast.Name(member)], kind or _AUTO)
                        if maker in _ENUMS
                        else ast.AnnAssign(ast.Name(member), kind or ast.Name("Any"), default, 1)
                        for (member, kind), default in zip(entries, defaults, strict=False)
                    ]
                    yield name, ast.ClassDef(name, [ast.Name(maker)], call.keywords, body, [])


def _entries_of(given: ast.expr) -> list[tuple[str, ast.expr | None]]:
    """Return the names that such a call gives, and their types where it gives those."""
    pairs: list[tuple[ast.expr | None, ast.expr | None]] = []
    match given:
        case ast.Constant(value=str(names)):
            return [(name, None) for name in names.replace(",", " ").split()]
        case ast.Dict(keys=keys, values=values):
            pairs += zip(keys, values, strict=True)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            for one in elts:
                match one:
                    case ast.Tuple(elts=[key, kind]) | ast.List(elts=[key, kind]):
                        pairs.append((key, kind))
                    case _:
                        pairs.append((one, None))
    return [(key.value, kind) for key, kind in pairs if isinstance(key, ast.Constant) and type(key.value) is str]


def base_names(node: ast.ClassDef) -> list[str]:
    """Return the last names of what a class inherits from."""
    return [last_part(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]


def last_part(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return ast.unparse(node).rpartition(".")[2]


def dataclass_options(node: ast.ClassDef) -> dict[str, str] | None:
    """Return the options of the decorator that makes a dataclass; None where there is none."""
    for one in node.decorator_list:
        call = one if isinstance(one, ast.Call) else None
        if last_part(call.func if call else one) in _DATACLASSES:
            return _options(call.keywords) if call else {}
    return None


def _options(keywords: Sequence[ast.keyword]) -> dict[str, str]:
    return {keyword.arg: ast.unparse(keyword.value) for keyword in keywords if keyword.arg}


def methods_of(node: ast.ClassDef) -> dict[str, Function]:
    """Return the methods that a class itself defines, by name."""
    return {s.name: s for s in node.body if isinstance(s, Function)}
