"""What a check is asked for, as one record."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftrust_core.metrics.equality import Equality

UNDECIDED = 3
STATUS = {"coherent": 0, "incoherent": 1, "disagreement found": 1, "undecided": UNDECIDED}


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """The options of `difftrust check`, those of one function and those of several."""

    models: tuple[str, ...] = ()
    m: int = 10
    temperature: float = 0.6
    store: Path = Path("difftrust-check")
    api_base: str | None = None
    max_usd: float | None = None
    candidates: Path | None = None
    with_body: bool = False
    """The function's own body is a candidate too."""
    n: int = 1000
    seed: int = 0
    witnesses: int = 100
    examples: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    allow_imports: tuple[str, ...] = ()
    typed: bool = True
    validity: str = "quorum"
    equality: Equality = Equality.VALUE
    tolerance: float = 1e-9
    messages: bool = False
    output: Path | None = None
    pins: tuple[str, ...] = ()
    write_tests: Path | None = None
    """The file that what is right is written to as tests."""
    ask: bool = False
    """Questions follow the report."""
    style: str = "text"
    """The format of what is printed: one of ``report.formats.render.FORMATS``."""
    allow_weak: bool = False

    @property
    def known(self) -> dict[str, Any]:
        """Return what is said of the function, as ``load_stub`` takes it."""
        return {
            "examples": self.examples,
            "assume": self.assume,
            "typed": self.typed,
            "seed": self.seed,
            "allow_imports": self.allow_imports,
        }
