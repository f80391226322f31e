"""One example of what a function does: a doctest of its docstring, or one given on the command line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from difftrust_core.base.literals import write_literal


@dataclass(frozen=True, kw_only=True)
class Example:
    """Statements that call the function, and what they shall print."""

    source: str
    """What it rests on of the same docstring is before the call, which is the last statement."""
    want: str = ""
    """As doctest has it: the printed value, or a traceback; empty where nothing is stated."""
    options: Mapping[str, bool] = field(default_factory=dict)
    """Doctest's options by name, e.g. ``{"ELLIPSIS": True}``."""
    origin: str
    """``docstring`` or ``--example``."""
    shown: str
    """The call itself, as its author wrote it."""

    @property
    def stated(self) -> bool:
        """Tell whether it says what is right."""
        return bool(self.want)

    @property
    def text(self) -> str:
        """The form in which the sandbox takes it: the literal of a text that holds JSON."""
        import json

        told = {"source": self.source, "want": self.want, "options": dict(self.options)}
        return write_literal(json.dumps(told))

    @property
    def exception(self) -> str:
        """The name of the exception that it states, "" for none."""
        if not self.want.lstrip().startswith("Traceback ("):
            return ""
        named = re.findall(r"^([A-Za-z_][\w.]*)(?=:|\s*$)", self.want, re.MULTILINE)
        return named[-1].rpartition(".")[2] if named else ""
