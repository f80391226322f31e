"""One version of a function: its file, its place in it, and the package around the file. Nothing is executed."""

import ast
import copy
from dataclasses import dataclass
from pathlib import Path

from difftrust_core.checks.source.target import Function, Target, find_target, parse_file, top_level, without_docstring
from difftrust_core.exceptions import BadStub

_MADE = ("__init__", "__new__", "__post_init__")
_MAX_DEPTH = 12


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a function, parsed."""

    where: str
    """``path.py::f``."""
    target: Target
    root: Path
    """The folder from which the file's package is imported; the file's own where it is in none."""
    makes: bool = False
    """The function is what makes an object (``__init__``): a call of the class is what is compared."""

    @property
    def path(self) -> Path:
        """The file."""
        return self.target.path

    @property
    def module_name(self) -> str:
        """``package.module``, as the package imports the file."""
        parts = self.path.resolve().relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    @property
    def is_package(self) -> bool:
        """Tell whether the file is a package's ``__init__.py``."""
        return self.path.name == "__init__.py"

    @property
    def text(self) -> str:
        """The function alone, without its docstring, decorators included."""
        return function_text(self.target.function)


def load_version(where: str) -> Version:
    """Return the version that ``module.py::function`` or ``module.py::Class.method`` names.

    Raises WrongUsage for another form of words, BadStub if there is no such file, class or function.
    """
    path, _, name = where.rpartition("::")
    owner, _, method = name.rpartition(".")
    made = method in _MADE and owner.isidentifier() and bool(path)
    target = _maker(Path(path), owner, method) if made else find_target(where)
    return Version(where=where, target=target, root=root_of(target.path), makes=made)


def _maker(path: Path, owner: str, method: str) -> Target:
    module = parse_file(path)
    for found in top_level(module.body):
        if isinstance(found, ast.ClassDef) and found.name == owner:
            for function in top_level(found.body):
                if isinstance(function, Function) and function.name == method:
                    return Target(path=path, module=module, function=function, owner=found)
    raise BadStub(f"expected {owner}.{method} in {path}, found none; name a function or a method of the file")


def root_of(path: Path) -> Path:
    """Return the folder from which the package around a file is imported."""
    folder = path.resolve().parent
    for _ in range(_MAX_DEPTH):
        if not (folder / "__init__.py").is_file():
            break
        folder = folder.parent
    return folder


def function_text(function: Function) -> str:
    """Return the text of a function without its docstring."""
    kept = copy.copy(function)
    kept.body = without_docstring(function.body) or function.body
    return ast.unparse(kept)
