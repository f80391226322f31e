"""What runs around a version in the sandbox: its package's modules, what is missing, and what a call is seen to do.

Read as a text and executed there only; standard library only.
"""

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import io
import itertools
import operator
import sys
import types
import warnings
from typing import Any

MISSING, LEFT_OUT = "NotAvailable", "LeftOut"
STAND_IN = "_Absent"
_MAX_ITEMS = 20
_PROBES: tuple[tuple[Any, ...], ...] = ((), (0,), (2,), ("a b",), ([3, 1],), (1, 2), (len,))
"""What a function that is returned is called with."""
_CALLED = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    operator.attrgetter,
    operator.itemgetter,
    operator.methodcaller,
)
_OPERATORS = (
    "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor radd rsub rmul rmatmul rtruediv "
    "rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor lt le gt ge neg pos abs invert index int float round "
    "trunc iter len contains setitem delitem"
)
_loading = [True]
_own: set[str] = set()
_left_out: dict[str, list[str] | None] = {}
"""Names of each module of the package that the program does not have; None for a module that it does not have."""


class NotAvailable(BaseException):
    """What was used comes from a package that is not there."""


class LeftOut(NotAvailable):
    """What was used is a name of the version's own package that was not taken into its program."""


class _Absent(type):
    """Stands for anything of a package that is not there: it may be named, inherited from and caught, not used."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return absent(name)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if not _loading[0]:
            raise NotAvailable(cls.__name__)
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not named else cls

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__
    __hash__ = type.__hash__

    def __eq__(cls, other: object) -> bool:
        return bool(_used(cls, cls is other))

    def __bool__(cls) -> bool:
        return bool(_used(cls, True))

    def __str__(cls) -> str:
        return str(_used(cls, cls.__name__))

    def __format__(cls, form: str) -> str:
        return str(_used(cls, cls.__name__))


def _used(cls: type, instead: Any) -> Any:
    """Return ``instead`` while all is loaded; later nobody knows what an operator makes of a missing value."""
    if _loading[0]:
        return instead
    raise NotAvailable(cls.__name__)


for _name in _OPERATORS.split():
    setattr(_Absent, f"__{_name}__", lambda cls, *others: _used(cls, cls))


def absent(name: str) -> Any:
    """Return what stands for a missing thing of that name."""
    return _Absent(name, (Exception,), {})


class _Package(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return absent(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the version's package by their texts, and stands in for packages that are missing."""

    def __init__(self, sources: dict[str, tuple[str, bool]], missing: tuple[str, ...]):
        self._sources, self._missing = sources, missing

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module that is known here, else None."""
        known = name in self._sources
        if not known and _left_out.get(name, ()) is None:
            raise LeftOut(name)
        if not known and name.partition(".")[0] not in self._missing:
            return None
        is_package = self._sources[name][1] if known else True
        return importlib.machinery.ModuleSpec(name, self, is_package=is_package)

    def create_module(self, spec: Any) -> Any:
        """Return the module for a missing package, None for the usual one."""
        return None if spec.name in self._sources else _Package(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute the text of a module of the package."""
        if module.__name__ in self._sources:
            text = self._sources[module.__name__][0]
            module.__file__ = _file_of(module.__name__)
            flags = __import__("__future__").annotations.compiler_flag
            code = compile(text, f"<{module.__name__}>", "exec", flags=flags, dont_inherit=True)
            exec(code, module.__dict__)
            for name in (name for name in _own if name.rpartition(".")[0] == module.__name__):
                if name in sys.modules:  # what was there before its package is no attribute of it yet
                    module.__dict__.setdefault(name.rpartition(".")[2], sys.modules[name])


def _file_of(module: str) -> str:
    """Return the path that a module is told to be at, which is none on this machine."""
    return f"/{module.replace('.', '/')}.py"


def install(
    namespace: dict[str, Any],
    sources: dict[str, tuple[str, bool]],
    missing: tuple[str, ...],
    names: tuple[str, ...],
    left_out: dict[str, list[str] | None],
    is_package: bool,
) -> None:
    """Make the package importable; ``names``: under which the version's module is known, the one it sees first."""
    module = sys.modules[namespace["__name__"]]
    namespace["__name__"] = names[0]
    namespace["__package__"] = names[0] if is_package else names[0].rpartition(".")[0]
    namespace["__spec__"] = importlib.machinery.ModuleSpec(names[0], None)
    namespace["__file__"] = _file_of(names[0])
    namespace["__path__"] = []  # if it is a package, it takes its own modules from itself
    for name in names:
        sys.modules[name] = module
    _own.update(names, sources)
    _left_out.update(left_out)
    sys.meta_path.insert(0, _Finder(sources, missing))


def hear() -> None:
    """Let warnings of the package's modules be printed from here on."""
    warnings.warn = warnings.warn_explicit = _heard


def complete(namespace: dict[str, Any], late: list[tuple[str, str, str]], classes: list[tuple[str, str]]) -> None:
    """Give other modules what they take of the own one, and the own namespace the classes that inputs are made of.

    All is loaded from here on: what a package that is missing would give may not be used any more.
    """
    for module, name, own in late:
        if module in sys.modules and own in namespace:
            setattr(sys.modules[module], name, namespace[own])
    for module, name in classes:
        with contextlib.suppress(Exception):
            namespace.setdefault(name, getattr(importlib.import_module(module), name))
    _loading[0] = False


def _heard(message: Any, category: Any = None, *arguments: Any, **named: Any) -> None:
    """Print the category of a warning that the version gives; others are of no interest."""
    if sys._getframe(1).f_globals.get("__name__") not in _own:
        return
    kind = type(message) if isinstance(message, Warning) else category
    sys.stdout.write(f"warning: {getattr(kind, '__name__', 'UserWarning')}\n")


class Written:
    """A result, and what was written to a stream among the arguments."""

    def __init__(self, value: Any, stream: Any):
        self.value, self.stream = value, stream


class Context:
    """What a context manager gives."""

    def __init__(self, value: Any):
        self.value = value


class Named:
    """What is known by its name: NotImplemented, and classes that are not the version's own."""

    def __init__(self, name: str):
        self.name = name


class Leaving:
    """A result, and attributes of the object as the call leaves them."""

    def __init__(self, value: Any, attributes: dict[str, Any]):
        self.value, self.attributes = value, attributes


class Awaited:
    """What awaiting a result gives."""

    def __init__(self, value: Any):
        self.value = value


class Function:
    """What a returned function does on some arguments."""

    def __init__(self, calls: list[Any]):
        self.calls = calls


def caller(namespace: dict[str, Any], owner: str, name: str, awaitable: bool, sets: list[str]) -> Any:
    """Return what calls the version and says all that is seen of it.

    ``awaitable``: it says too whether the result has to be awaited. ``sets``: attributes of the object, which count as
    they are after the call.
    """
    warnings.simplefilter("ignore")

    def call(*arguments: Any, **named: Any) -> Any:
        streams = [a for a in (*arguments, *named.values()) if type(a) in (io.StringIO, io.BytesIO)]
        before = [(stream.getvalue(), stream.tell()) for stream in streams]
        try:
            value = _function(namespace, owner, name, arguments)(*arguments, **named)
        except (NameError, AttributeError) as error:
            if error.name in (_left_out.get(_module_of(error)) or ()):
                raise LeftOut(error.name) from None
            raise
        if awaitable and type(value) in (types.CoroutineType, types.AsyncGeneratorType):
            return _awaited(value)
        if type(value) is types.CoroutineType:
            return value
        seen = Leaving(_seen(value), {at: getattr(arguments[0], at, None) for at in sets}) if sets else _seen(value)
        after = [(None if stream.closed else stream.getvalue()) for stream in streams]
        changed = [a for (b, _), a in zip(before, after, strict=True) if a != b]
        return Written(seen, changed) if changed else seen

    call.tells_changes = True  # type: ignore[attr-defined]
    return call


def _module_of(error: NameError | AttributeError) -> Any:
    """Return the name of the module in which a name was not found."""
    if isinstance(error, AttributeError):
        return error.obj.__name__ if type(error.obj) is types.ModuleType else ""
    step: Any = error.__traceback__
    while step.tb_next is not None:
        step = step.tb_next
    return step.tb_frame.f_globals.get("__name__")


async def _awaited(value: Any) -> Awaited:
    if type(value) is types.CoroutineType:
        return Awaited(await value)
    found: list[Any] = []
    async for item in value:
        found.append(item)
        if len(found) == _MAX_ITEMS:
            break
    return Awaited(found)


def _function(namespace: dict[str, Any], owner: str, name: str, arguments: tuple[Any, ...]) -> Any:
    if not owner:
        return namespace[name]
    cls = namespace[owner]
    found = next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), None)
    if isinstance(found, staticmethod | classmethod):
        return getattr(cls, name)
    if callable(found) or not hasattr(type(found), "__get__"):
        return getattr(cls, name)
    bind: Any = found
    return lambda self: bind.__get__(self, type(self))


def _seen(value: Any) -> Any:
    kind = type(value)
    if kind is contextlib._GeneratorContextManager:
        with value as inner:
            return Context(inner)
    if kind in _CALLED:
        return Function([_probed(value, arguments) for arguments in _PROBES])
    if value is NotImplemented or (isinstance(value, type) and value.__module__ not in _own):
        return Named(getattr(value, "__qualname__", repr(value)))
    return value


def _probed(function: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        value = function(*arguments)
        if hasattr(value, "__next__"):
            value = list(itertools.islice(value, _MAX_ITEMS))
        return "function" if type(value) in _CALLED else value
    except Exception as error:
        return f"raises {type(error).__name__}"
