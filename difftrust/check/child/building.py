"""Arguments from their texts, of the program's own classes too; runs inside the sandbox, standard library only.

A class is called, so that its ``__init__`` and ``__post_init__`` run; code (``Color.RED``, ``lambda x: x + 1``) is
evaluated among the program's names.
"""

import builtins
import importlib
from typing import Any

from literals import Code, Instance
from standard_types import IMPORTED

Namespace = dict[str, Any]
AFTER_CALLS = "AfterCalls"
"""As ``types.own`` has it: an object on which methods were called; one of them that raises makes it none."""
_BUILTINS = dict(vars(builtins))
_MODULES = {
    "np": "numpy", "pd": "pandas", "pl": "polars",
    **{name: name for name in (
        "array", "functools", "io", "ipaddress", "itertools", "math", "numpy", "operator", "pandas", "polars", "re",
        "statistics", "string", *IMPORTED.values(),
    )},
}  # fmt: skip
_STANDARD = IMPORTED | {"array": "numpy"}
"""Names that stand for the standard library's type, whatever module of that name the program has."""
_import = importlib.import_module


def build(value: Any, namespace: Namespace) -> Any:
    """Return what ``value`` stands for among the names of a program. Raises whatever its classes raise."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return kind([build(v, namespace) for v in value])
    if kind is dict:
        return {build(k, namespace): build(v, namespace) for k, v in value.items()}
    if kind is bytearray:
        return value[:]
    if kind is Code:
        return evaluate(value.text, namespace)
    return _instance(value, namespace) if kind is Instance else value


def _instance(value: Instance, namespace: Namespace) -> Any:
    if value.type_name == AFTER_CALLS:
        used, calls = build(value.args[0], namespace), value.args[1]
        for call in calls:
            fields = {name: build(field, namespace) for name, field in call.fields.items()}
            getattr(used, call.type_name)(*build(list(call.args), namespace), **fields)
        return used
    made = find(value.type_name, namespace)
    args = [build(a, namespace) for a in value.args]
    fields = {name: build(field, namespace) for name, field in value.fields.items()}
    special = _SPECIAL.get(f"{getattr(made, '__module__', '')}.{getattr(made, '__name__', '')}".partition(".")[0])
    if special is not None and fields:
        return special(made, args, fields)
    if args or not fields or not isinstance(made, type) or _takes(made, fields):
        return made(*args, **fields)
    bare: object = object.__new__(made)
    for name, field in fields.items():
        object.__setattr__(bare, name, field)
    return bare


def _takes(cls: type, fields: Namespace) -> bool:
    """Tell whether a class can be called with just these names."""
    import inspect

    try:
        inspect.signature(cls).bind(**fields)
    except (TypeError, ValueError):
        return False
    return True


def _pandas_value(made: Any, args: list[Any], fields: Namespace) -> Any:
    """Return a frame whose columns get their ``dtypes``, or an index by its ``names``."""
    dtypes = fields.pop("dtypes", {})
    names = fields.pop("names", None)
    if names is not None:
        multiple = len(names) > 1
        return made.from_tuples(args[0], names=names) if multiple else made(*args, name=names[0])
    found = made(*args, **fields)
    return found.astype(dtypes) if dtypes else found


def _numpy_value(made: Any, args: list[Any], fields: Namespace) -> Any:
    shape = fields.pop("shape", None)
    found = made(*args, **fields)
    return found if shape is None else found.reshape(shape)


_SPECIAL = {"pandas": _pandas_value, "numpy": _numpy_value}


def find(name: str, namespace: Namespace) -> Any:
    """Return what a dotted name stands for: a builtin, the program's own, the standard library's. Raises NameError."""
    head, *rest = name.split(".")
    for known in (_own, _of_the_standard_library, _module):
        try:
            found = known(head, namespace, rest)
            for part in rest:
                found = getattr(found, part)
        except (AttributeError, KeyError):
            continue
        if not rest and type(found) is type(importlib):  # a module is no value
            continue
        return found
    raise NameError(name)


def _own(name: str, namespace: Namespace, rest: list[str]) -> Any:
    if name in _BUILTINS:
        return _BUILTINS[name]
    own = namespace[name]
    if name in _STANDARD and not isinstance(own, type) and not rest:
        raise KeyError(name)
    return own


def _of_the_standard_library(name: str, namespace: Namespace, rest: list[str]) -> Any:
    return getattr(_import(_STANDARD[name]), name)


def _module(name: str, namespace: Namespace, rest: list[str]) -> Any:
    return _import(_MODULES[name])


def evaluate(code: str, namespace: Namespace) -> Any:
    """Return the value of a dotted name or a lambda."""
    if all(part.isidentifier() for part in code.split(".")):
        return find(code, namespace)
    return eval(compile(code, "<input>", "eval"), _Names(namespace))


class _Names(dict[str, Any]):
    """The names that a lambda may use: the program's own first, then builtins and standard modules."""

    def __init__(self, namespace: Namespace):
        modules = {name: _import(name) for name in ("functools", "math", "operator", "re")}
        super().__init__({**modules, **namespace})


def modules_of(texts: list[str]) -> set[str]:
    """Return the modules that the values of some texts are made with."""
    joined = "\n".join(texts)
    wanted = {_MODULES[name] for name in _MODULES if f"{name}." in joined}
    return wanted | {_STANDARD[name] for name in _STANDARD if f"{name}(" in joined}
