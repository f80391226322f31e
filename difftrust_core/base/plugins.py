"""What other packages add to the core, found by their entry points: languages, domains, files, benchmarks, coders.

A package names what it adds in its ``pyproject.toml``, so that every process that has it installed knows it, also the
workers of joblib and dask::

    [project.entry-points."difftrust_core.languages"]
    sql = "difftrust.sql.adapter:LANGUAGE"
"""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from difftrust_core.exceptions import MissingPackage

LANGUAGES: Final = "languages"
"""``Language``, by the name that tasks give."""
DOMAINS: Final = "domains"
"""``Domains`` of a language (``languages.language``), by its name."""
TASK_FILES: Final = "task_files"
"""A function from a path and a benchmark's name to tasks, by the suffix of the file."""
LAYOUTS: Final = "layouts"
"""``Layout`` (``datasets.own_tasks``): benchmark files as they are released, by the name of the layout."""
BENCHMARKS: Final = "benchmarks"
"""A function from a path to tasks, by the canonical name of the benchmark."""
CODERS: Final = "coders"
"""``Coders`` (``generation.providers``) that answer without a network, by the provider's name: ``NAME/model``."""


@cache
def _found(group: str) -> dict[str, Any]:
    """Return the entry points of a group by their names."""
    from importlib.metadata import entry_points  # late: it takes its time, and Python is built in

    return {found.name: found for found in sorted(entry_points(group=f"difftrust_core.{group}"), key=lambda e: e.name)}


def plugin_names(group: str) -> tuple[str, ...]:
    """Return the names of all that is installed of a group, sorted."""
    return tuple(_found(group))


def load_plugin(group: str, name: str, *, purpose: str) -> Any:
    """Import what an installed package offers under ``name``.

    Raises MissingPackage, its message beginning with ``purpose``, where something that it needs is not installed;
    KeyError where nothing is offered under this name.
    """
    try:
        return _found(group)[name].load()
    except ModuleNotFoundError as e:
        extra = next(iter(_found(group)[name].extras), name)
        package = (e.name or name).partition(".")[0]
        raise missing_package(purpose, package, install=f"'difftrust[{extra}]'") from None


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
