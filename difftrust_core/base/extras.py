"""Optional packages: import one, or say which command installs it."""

from importlib import import_module
from types import ModuleType

from difftrust_core.exceptions import MissingPackage


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, which the extra ``extra`` of this package installs. Raises MissingPackage where it is missing.

    ``purpose`` begins the message: "a store at a URL needs fsspec, which is not installed; run ...".
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as e:
        package = (e.name or module).partition(".")[0]
        raise missing_package(purpose, package, install=f"'difftrust[{extra}]'") from None


def missing_package(purpose: str, package: str, *, install: str) -> MissingPackage:
    """Return the error that names a package which is not installed and the command that installs it."""
    return MissingPackage(f"{purpose} needs {package}, which is not installed; run `pip install {install}`")
