"""Sample candidate programs, execute them on the same inputs in a sandbox, and measure their incoherence and error.

The core knows nothing of what stands on it; the public API of the tool is ``import difftrust as dt``.
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: the public names are those of `import difftrust as dt`"
    )
