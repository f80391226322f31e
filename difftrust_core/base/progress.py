"""Progress bars: on a terminal, or as JSON lines for a program that watches."""

import contextlib
import io
import json
import os
import sys
from typing import Any, Final

from tqdm import tqdm

DESCRIPTOR: Final = "DIFFTRUST_PROGRESS_FD"
"""Environment variable: the file descriptor that JSON lines are written to."""


class Progress(tqdm):  # type: ignore[misc]
    """A bar on standard error if that is a terminal; JSON lines where ``DESCRIPTOR`` names a descriptor."""

    def __init__(self, *things: Any, **options: Any) -> None:
        self._descriptor = os.environ.get(DESCRIPTOR, "")
        # tqdm's own output goes nowhere then; it still decides how often to write.
        where = {"file": io.StringIO(), "disable": False} if self._descriptor else {"file": sys.stderr, "disable": None}
        super().__init__(*things, **where, **options)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Show how far it is: done, total, unit, and seconds so far."""
        if not self._descriptor:
            super().display(msg, pos)
            return
        known = self.format_dict
        line = {"done": self.n, "total": self.total, "unit": self.unit.strip(), "seconds": known["elapsed"]}
        with contextlib.suppress(OSError, ValueError):  # who watched is gone
            os.write(int(self._descriptor), json.dumps(line).encode() + b"\n")
