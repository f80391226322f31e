"""Options of a structural comparison: every choice that changes a number, with its default."""

from dataclasses import dataclass, fields

from difftrust_core.exceptions import WrongUsage

BASES = ("2", "e")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where the published description leaves a choice, it is one of these; docs/structure.md says why."""

    language: str = "python"
    """``python``, ``sql``, or an importable tree-sitter grammar: ``tree_sitter_java``."""
    epsilon: float = 1e-10
    """What a symbol that a program lacks counts as in the structural cross-entropy."""
    base: str = "2"
    """Of the logarithm in JSD: ``2``, or ``e`` as in the published code, where the similarity ends at 0.307, not 0."""
    subtree_depth: int = 1
    """Levels below a node that its symbol shows."""
    max_depth: int | None = None
    """Only nodes at most this far from the root; None: all."""
    drop_comments: bool = False
    named_only: bool = False
    """Leave out keywords and punctuation."""
    value_gaps: bool = True
    """With values: keep text that lies in no leaf, such as that of a string beside its escapes."""
    skip_parse_errors: bool = False
    """Leave out programs that do not parse whole, rather than count them."""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise WrongUsage(f"epsilon lies between 0 and 1, got {self.epsilon}; the published value is 1e-10")
        if self.base not in BASES:
            raise WrongUsage(f"the base is one of {', '.join(BASES)}, got {self.base!r}")
        if self.subtree_depth < 1:
            raise WrongUsage(f"a subtree has depth >= 1, got {self.subtree_depth}")
        if self.max_depth is not None and self.max_depth < 0:
            raise WrongUsage(f"max_depth is at least 0, got {self.max_depth}; leave it out to take every node")

    @property
    def label(self) -> str:
        """Return the choices that are not the default as one text: ``default``, or ``base=e,max_depth=3``."""
        chosen = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return ",".join(f"{name}={str(value).lower()}" for name, value in chosen) or "default"


DEFAULT = Options()
