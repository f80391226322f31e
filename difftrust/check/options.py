"""What a check is asked for, as one record that is passed whole from every door down to the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from difftrust_core.metrics.by_value import TOLERANCE
from difftrust_core.metrics.equality import Equality

if TYPE_CHECKING:
    from difftrust.source.function import Stub
    from difftrust_core.base.records import Candidate


QUORUM, ALL = "quorum", "all"
VALIDITIES = (QUORUM, ALL)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What checks and comparisons are asked alike: which inputs are run, and when two outcomes are equal."""

    n: int = 1000
    """Inputs drawn."""
    seed: int = 0
    examples: tuple[str, ...] = ()
    """Calls to start from; ``f(1) == 2`` says what is right, too."""
    assume: tuple[str, ...] = ()
    """Conditions that the arguments obey."""
    allow_imports: tuple[str, ...] = ()
    """Packages that programs may import, beside numpy, pandas and polars."""
    equality: Equality = Equality.VALUE
    tolerance: float = TOLERANCE
    """Relative, of floats."""
    messages: bool = False
    """The message of an exception counts, not its type alone."""
    allow_weak: bool = False
    say: Callable[[str], None] = lambda line: None
    """Is told of progress."""
    phase: Callable[[str], None] = lambda name: None
    """Is told of each step as it begins."""

    @classmethod
    def of(cls, given: Mapping[str, Any], **more: Any) -> Self:
        """Return the options among ``given`` and ``more`` by their names, lists as tuples; what is None by default."""
        named = {field.name for field in fields(cls)}
        chosen = {k: v for k, v in {**given, **more}.items() if k in named and v is not None}
        found: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in chosen.items()}
        return cls(**found | {"equality": Equality(found.get("equality", cls.equality))})


@dataclass(frozen=True, kw_only=True)
class CheckOptions(RunOptions):
    """The options of a check: who writes the candidates, what is known of the function, how they are compared."""

    models: tuple[str, ...] = ()
    """Models that take turns in writing the candidates."""
    m: int = 10
    """So many in all."""
    temperature: float = 0.6
    store: Path = Path("difftrust-check")
    """Where replies are kept."""
    api_base: str | None = None
    max_usd: float | None = None
    """For all models together."""
    candidates: Path | None = None
    """The folder of programs, where no model is asked."""
    with_body: bool = False
    """The function's own body is a candidate too."""
    typed: bool = True
    """Inputs keep to the annotated types."""
    witnesses: int = 100
    """At most so many seed inputs run unchanged, in addition to the n; 0: none, and none are sought."""
    validity: str = QUORUM

    @property
    def known(self) -> dict[str, Any]:
        """Return what is said of the function, as ``load_stub`` takes it."""
        return {name: getattr(self, name) for name in ("examples", "assume", "typed", "seed", "allow_imports")}

    def shares(self) -> dict[str, int]:
        """Return how many programs each model gives: they take turns, so the first may give one more."""
        models = tuple(dict.fromkeys(self.models))
        even, more = divmod(self.m, len(models))
        shares = {model: even + (position < more) for position, model in enumerate(models)}
        return {model: share for model, share in shares.items() if share}


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """Conditions over the arguments that a model suggests."""

    by: str
    """The model."""
    where: str
    """The file that holds them."""
    conditions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PreparedCheck:
    """One function with its candidates: all that a check rests on."""

    function: "Stub"
    candidates: "list[Candidate]"
    options: CheckOptions = CheckOptions()
    subject: str = ""
    """Whose error the statements are about; by default the models of the candidates."""
    own: str = ""
    """The name of the candidate that is the user's own code; the report says where it stands."""
    suggestion: Suggestion | None = None
    """Conditions of a model: they are kept, and what they leave out is run all the same."""
    notes: tuple[str, ...] = ()
    usd: float = 0.0
    """What its candidates cost, those sampled earlier included; counted where a budget is set."""
