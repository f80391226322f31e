"""A programming task and what makes one valid; its language asks for the rest."""

import keyword
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.exceptions import BadTask

MOST_NAME: Final = 200
"""Characters of a name: folders are called by it."""
MOST_ID: Final = 500
"""Characters of a task's id."""


def name_flaw(model: str) -> str:
    """Return what was expected of a model's name and found; empty where nothing is wrong."""
    if not 0 < len(model) <= MOST_NAME:
        return f"expected the name of a model, 1 to {MOST_NAME} characters, found {len(model):,}"
    return "" if model.isprintable() else f"expected printable characters in the name of a model, found {model!a}"


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Which argument tuples a task allows: those that fit ``types`` and on which ``requires`` holds.

    All three are source texts in the language of the task; nothing of them runs outside the sandbox.
    """

    types: str = ""
    """The parameters with their types, e.g. ``numbers: list[float], k: int``; empty: as in the signature."""
    requires: str = ""
    """An expression over the parameters, or a text that defines ``requires``; False or raising: outside."""
    generate: str = ""
    """A text that defines ``generate(random)``, which draws one argument tuple; empty: seed inputs are mutated."""


class Order(StrEnum):
    """What the order of a returned list says."""

    KEPT = "kept"
    UNORDERED = "unordered"
    """Nothing: the same elements in another order are the same value."""
    SET = "set"
    """Nothing, nor does it matter how often an element stands there."""


@dataclass(frozen=True, kw_only=True)
class Relation:
    """When two outcomes of a task are both right: an equivalence relation on the outcomes seen on one input.

    ``normal`` is applied first, then ``order``, then ``equality``. Under ``accept`` all accepted ones are one class.
    The texts are Python and run in the sandbox alone.
    """

    equality: str = ""
    """``paper`` or ``strict``, whatever the reader chooses; empty: as the reader chooses."""
    order: str = Order.KEPT
    atol: float = 0.0
    """With ``rtol``: numbers are equal if they differ by at most atol + rtol times the larger one."""
    rtol: float = 0.0
    tokens: bool = False
    """A text is compared word by word, and words that are numbers as numbers."""
    normal: str = ""
    """A text that defines ``normal(arguments, output)``: values are equal where their normal forms are."""
    accept: str = ""
    """A text that defines ``accept(arguments, output)``: true for every right value; False or raising: wrong."""


@dataclass(frozen=True, kw_only=True)
class TaskTest:
    """An input with the value expected on it."""

    arguments: str
    """An argument tuple in the text form of ``literals``."""
    expected: str | None = None
    """The expected value in the text form of ``literals``; None: what the reference returns."""
    group: str = "tests"
    """What its source calls it: ``base``, ``plus``, ``public``, ``private``, ``examples``."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task: what a coder is asked for, and what its programs are executed on.

    ``reference`` is the ground truth f* of the paper; without one (None) error is undefined.
    """

    benchmark: str
    task_id: str
    """Unique within the benchmark, e.g. ``HumanEval/0``."""
    entry_point: str
    """Name of the function that every program must define; ``Class.method`` for a method."""
    signature: str
    """Parameters and return annotation, e.g. ``(numbers: list[int]) -> int``."""
    description: str
    """What the function shall do, in natural language."""
    seed_inputs: tuple[str, ...]
    """Argument tuples in the text form of ``literals``, e.g. ``([1, 2], 'a')``; fuzzing starts from these."""
    reference: str | None = None
    """A whole program that defines the entry point."""
    preamble: str = ""
    """Source that the task itself gives (imports, classes, helpers); it runs before every program."""
    prompt: str = ""
    """The text that a recorded *completion* continues; empty where the benchmark has none."""
    language: str = "python"
    """Of its programs: a name that ``languages.language`` knows."""
    ambiguous: bool = False
    """The description admits more than one right answer on purpose."""
    domain: Domain | None = None
    """What its arguments may be; None: nobody has said."""
    public_inputs: tuple[str, ...] = ()
    """The seed inputs that everyone may know: those of the examples in the description, or of the first test."""

    relation: Relation | None = None
    """When two outcomes are both right; None: when the equality that the reader chooses says that they are equal."""
    tests: tuple[TaskTest, ...] = ()
    """Its tests, grouped, public ones first; empty: the seed inputs are its tests."""

    def __post_init__(self) -> None:
        names = ("benchmark", self.benchmark, MOST_NAME), ("entry point", self.entry_point, MOST_NAME)
        for what, name, most in (*names, ("id", self.task_id, MOST_ID)):
            if len(name) > most:
                raise BadTask(f"the {what} has at most {most} characters, got {len(name):,}: {name[:40]!r}...")
        if not (self.benchmark and self.task_id.strip() == self.task_id != "" and self.task_id.isprintable()):
            found = f"{self.benchmark!r}, {self.task_id!r}"
            raise BadTask(f"a task needs a benchmark and a plain id (printable, no space around it), got {found}")
        parts = self.entry_point.split(".")
        if len(parts) > 2 or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
            raise self.refusal(f"the entry point must be a function name, got {self.entry_point!r}")
        for seed in self.seed_inputs:
            _ = self._arguments(seed)

    def arguments(self) -> list[tuple[Any, ...]]:
        """Return the seed inputs as argument tuples."""
        return [self._arguments(seed) for seed in self.seed_inputs]

    def _arguments(self, seed: str) -> tuple[Any, ...]:
        try:
            value = read_literal(seed)
        except BadText as e:
            raise self.refusal(f"seed inputs must be literals: {e}") from None
        if not isinstance(value, tuple):
            raise self.refusal(f"a seed input is a tuple of arguments, got {seed[:80]!r}; write (x,) for one")
        return value

    def refusal(self, why: str) -> BadTask:
        """Return the error to raise where the task is not valid."""
        return BadTask(f"task {self.task_id} of {self.benchmark}: {why}")
