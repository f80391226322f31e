"""A user's own function as a task: its file read, its argument types, its seeds, its pinned examples.

Nothing of the file is executed or imported: it is parsed.
"""

from difftrust_core.stubs.pinning import Pin, parse_pin, pin_example
from difftrust_core.stubs.reading import Stub, load_stub
from difftrust_core.stubs.types import ArgumentTypes

__all__ = ["ArgumentTypes", "Pin", "Stub", "load_stub", "parse_pin", "pin_example"]
