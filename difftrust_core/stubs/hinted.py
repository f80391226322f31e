"""Seed inputs from type hints, through Hypothesis; and nothing else."""

import itertools
import math
import tempfile
import typing
from collections.abc import Callable
from typing import Any

from difftrust_core.literals import BadText, write_literal
from difftrust_core.stubs.types import plain

_BARE: dict[Any, Any] = {
    list: list[int],
    tuple: tuple[int, ...],
    set: set[int],
    frozenset: frozenset[int],
    dict: dict[str, int],
    typing.List: list[int],  # noqa: UP006
    typing.Dict: dict[str, int],  # noqa: UP006
}
_MAX_INT = 10
_ALPHABETS = ("ab", "aAbB", "ab ", "abc, .-", "01a", "a B1.,-")
"""Few characters, one set for all texts of an input: repetitions, overlaps and differences of case alone come up."""
_MAX_TEXT = 12


def sample_seeds(hints: list[Any], *, accepts: Callable[[str], bool], seed: int, n_seeds: int = 40) -> tuple[str, ...]:
    """Return up to ``n_seeds`` distinct argument tuples of the types ``hints``, in the text form of ``literals``.

    Hypothesis draws their shape; numbers are then made small and texts plain, for mutations reach little beyond the
    seeds and programs that loop over a number would only time out on large ones. What ``accepts`` refuses after that
    is taken as drawn. Deterministic in ``seed``; empty where Hypothesis knows no values of some type.
    """
    from hypothesis.errors import HypothesisException

    found: dict[str, None] = {}
    alphabets = itertools.cycle(_ALPHABETS)

    def collect(drawn: tuple[Any, ...]) -> None:
        for arguments in (_tame(drawn, next(alphabets)), drawn):
            text = _written(arguments)
            if text is not None and accepts(text):
                if len(found) < n_seeds:
                    found[text] = None
                return

    try:
        _draw(hints, collect, seed=seed, n_draws=3 * n_seeds)
    except (HypothesisException, TypeError):
        return tuple(found)
    return tuple(found)


def _draw(hints: list[Any], collect: Callable[[tuple[Any, ...]], None], *, seed: int, n_draws: int) -> None:
    import hypothesis
    from hypothesis import strategies
    from hypothesis.configuration import set_hypothesis_home_dir

    from difftrust_core.stubs.secluded import NAME

    settings = hypothesis.settings(
        backend=NAME,
        database=None,
        deadline=None,
        max_examples=n_draws,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    with tempfile.TemporaryDirectory() as folder:  # Hypothesis would leave a folder of its own where the user stands
        set_hypothesis_home_dir(folder)
        try:
            arguments = strategies.tuples(*[strategies.from_type(_BARE.get(hint, hint)) for hint in hints])
            hypothesis.seed(seed)(settings(hypothesis.given(arguments)(collect)))()
        finally:
            set_hypothesis_home_dir(None)


def _tame(value: Any, alphabet: str) -> Any:
    """Return ``value`` with small numbers and texts of few characters, its shape kept."""
    kind = type(value)
    if kind is int:
        return int(math.copysign(abs(value) % (_MAX_INT + 1), value)) if abs(value) < 2**53 else _MAX_INT
    if kind is float:
        return round(math.fmod(value, _MAX_INT), 2) if math.isfinite(value) else 0.5
    if kind is str:
        return "".join([alphabet[ord(c) % len(alphabet)] for c in value[:_MAX_TEXT]])
    if kind in (list, tuple, set, frozenset):
        return kind([_tame(v, alphabet) for v in value])
    if kind is dict:
        return {_tame(k, alphabet): _tame(v, alphabet) for k, v in value.items()}
    return value


def _written(arguments: tuple[Any, ...]) -> str | None:
    try:
        return write_literal(plain(arguments))
    except BadText:
        return None
