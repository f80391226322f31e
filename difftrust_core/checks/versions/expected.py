"""What the new version is meant to do: pins of intended changes, run on the new version."""

from collections.abc import Sequence

from difftrust_core.base.records import Kind
from difftrust_core.checks.examples import got
from difftrust_core.checks.programs import Executor
from difftrust_core.checks.source.example import Example
from difftrust_core.checks.source.function import Loading
from difftrust_core.checks.source.target import Target


class Expectations:
    """Pins of ``--expect``; ``inputs`` are the argument tuples that they are about."""

    def __init__(self, target: Target, texts: Sequence[str], executor: Executor, code: str):
        """Read the pins. Raises WrongUsage for one that is no call of the function."""
        self._executor, self._code = executor, code
        self._examples: list[tuple[Example, tuple[str, ...]]] = []
        for text in texts:
            loading = Loading(target, ())
            before = set(loading.calls)
            docstring = _examples_of(loading, [])
            found = [e for e in _examples_of(loading, [text]) if e not in docstring]
            new = tuple(call for call in loading.calls if call not in before)
            self._examples += [(example, new) for example in found]
        self.inputs: frozenset[str] = frozenset(text for _, inputs in self._examples for text in inputs)
        self._holding: set[str] = set()

    def failed(self) -> tuple[str, ...]:
        """Run the pins on the new version and return those that do not hold, in words."""
        said: list[str] = []
        if not self._examples:
            return ()
        rows = self._executor.run([self._code], [example.text for example, _ in self._examples]).rows
        for (example, inputs), (outcome,) in zip(self._examples, rows, strict=True):
            if outcome == (Kind.VALUE, "True"):
                self._holding.update(inputs)
            else:
                want = example.want.strip().splitlines()[-1:] or ["it to run"]
                said.append(f"{example.shown}: expected {want[0]}, the new version gives {got(outcome)}")
        return tuple(said)

    def holds(self, arguments: str) -> bool:
        """Tell whether an input is pinned and the new version does there what it should."""
        return arguments in self._holding


def _examples_of(loading: Loading, texts: Sequence[str]) -> list[Example]:
    loading.take_examples(texts)
    return list(loading.examples)
