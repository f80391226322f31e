"""How a check is made, and what is known of its function."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from difftrust_core.checks.judge import QUORUM
from difftrust_core.checks.report import Suggestion
from difftrust_core.checks.source.example import Example
from difftrust_core.metrics.by_value import TOLERANCE
from difftrust_core.metrics.equality import Equality

if TYPE_CHECKING:
    from difftrust_core.checks.source.function import Stub
    from difftrust_core.languages.python.argument_types import ArgumentTypes

N_WITNESSES = 100
"""So many are usual."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """How candidates are compared, and what is known of the function."""

    subject: str = ""
    """Whose error the statements are about; by default the models of the candidates."""
    n: int = 1000
    seed: int = 0
    witnesses: int = N_WITNESSES
    """So many inputs that seek a disagreement are run beside the n, at most; 0: none."""
    equality: Equality = Equality.VALUE
    tolerance: float = TOLERANCE
    validity: str = QUORUM
    types: "ArgumentTypes | None" = None
    """What the arguments may be; None: anything."""
    examples: tuple[Example, ...] = ()
    documented: Collection[str] = ()
    """Names of exceptions that the docstring names: to raise one is an answer."""
    suggestion: Suggestion | None = None
    """Conditions of a model: they are kept, and what they leave out is run all the same."""
    dictionary: tuple[str, ...] = ()
    """Texts that strings are made of."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns of frames, and what each holds."""
    libraries: tuple[str, ...] = ()
    """Packages beyond the standard library that programs may import."""
    messages: bool = False
    """The message of an exception counts, not its type alone."""
    own: str = ""
    """The name of the candidate that is the user's own code; the report says where it stands."""
    allow_weak: bool = False
    say: Callable[[str], None] = lambda line: None
    """Is told of progress."""
    phase: Callable[[str], None] = lambda name: None
    """Is told of each step as it begins."""

    @classmethod
    def of(cls, stub: "Stub", **chosen: Any) -> Self:
        """Return options with what is known of the function ``stub``."""
        return cls(
            types=stub.types,
            examples=stub.examples,
            documented=stub.documented_exceptions,
            dictionary=stub.dictionary,
            columns=stub.columns,
            libraries=stub.libraries,
            **chosen,
        )
