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


StoreOption = Annotated[Path, typer.Option("--store", help="The folder of the store.", metavar="DIR")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print it.")]
EqualityOption = Annotated[Equality, typer.Option(help="Numbers within 0.1 % agree (paper), or only equal ones.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
WeakOption = Annotated[
    bool, typer.Option("--allow-weak-sandbox", help="Execute even where candidates could reach files or network.")
]
