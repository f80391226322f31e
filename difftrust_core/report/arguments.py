"""What a user may name: one value or several, and only what is there."""

from collections.abc import Sequence
from typing import TypeVar

from difftrust_core.exceptions import WrongUsage

T = TypeVar("T", int, float)


def each(value: T | Sequence[T]) -> Sequence[T]:
    """Return several values as they are, and one as a sequence of one."""
    return value if isinstance(value, Sequence) else (value,)


def known(what: str, name: str | None, there: Sequence[str]) -> str:
    """Return ``name`` if it is there. Raises WrongUsage that lists what is."""
    if name is not None and name not in there:
        raise WrongUsage(f"the store has no {what} {name!r}; it has: {', '.join(there)}")
    return name or ""
