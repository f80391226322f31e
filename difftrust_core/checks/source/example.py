"""One example of what a function does: a doctest of its docstring, or one given on the command line."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from difftrust_core.base.literals import write_literal


@dataclass(frozen=True, kw_only=True)
class Example:
    """Statements that run on every candidate first, and what they shall give."""

    source: str
    """What runs: the statements before it in the same docstring first, for names may be bound there."""
    want: str = ""
    """What it shall print or give, as doctest has it; empty where nothing is said."""
    options: Mapping[str, bool] = field(default_factory=dict)
    """Of doctest, by name, e.g. ``{"ELLIPSIS": True}``."""
    origin: str = "docstring"
    """Or ``--example``."""
    stated: bool = False
    """It says what is right: a value, or an exception."""
    shown: str = ""
    """The last statement as its author wrote it."""

    @property
    def text(self) -> str:
        """The example as the sandbox takes it: a string literal that holds an object of JSON."""
        return write_literal(json.dumps({"source": self.source, "want": self.want, "options": dict(self.options)}))

    @property
    def exception(self) -> str:
        """The name of the exception that it states, "" for none."""
        if not self.want.lstrip().startswith("Traceback ("):
            return ""
        named = re.findall(r"^\s*([A-Za-z_][\w.]*)(?=:|\s*$)", self.want, re.MULTILINE)
        return named[-1].rpartition(".")[2] if named else ""
