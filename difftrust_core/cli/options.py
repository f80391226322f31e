"""Options that several commands share, spelled once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class Validity(StrEnum):
    """Which inputs are kept; see `difftrust execute --help`."""

    REFERENCE = "reference"
    QUORUM = "quorum"
    ALL = "all"


class Backend(StrEnum):
    """Where programs run."""

    LOCAL = "local"
    DASK = "dask"


class Equality(StrEnum):
    """When two outcomes agree."""

    PAPER = "paper"
    STRICT = "strict"


class Detection(StrEnum):
    """How a task counts as detected."""

    AS_PUBLISHED = "as-published"
    ALL_PAIRS = "all-pairs"


def store_folder(place: str | Path) -> Path:
    """Return the folder of a store, of one at a URL that of its mirror, brought up to date."""
    if "://" not in str(place):
        return Path(place)
    from difftrust_core.mirrors import folder_of

    return folder_of(place)


StoreOption = Annotated[
    Path, typer.Option("--store", help="The folder or URL of the store.", metavar="DIR", parser=store_folder)
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print it.")]
EqualityOption = Annotated[Equality, typer.Option(help="Numbers within 0.1 % agree (paper), or only equal ones.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
WeakOption = Annotated[
    bool, typer.Option("--allow-weak-sandbox", help="Execute even where candidates could reach files or network.")
]
