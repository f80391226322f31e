"""Seed inputs drawn from type hints, through Hypothesis."""

import functools
import typing
from collections.abc import Callable
from typing import Any, NewType

from difftrust_core.base.files import scratch_folder
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.languages.python.argument_types import plain

# Types of our own, so that how their values are drawn changes nothing for anybody else: see _register.
_Whole = NewType("_Whole", int)
_Real = NewType("_Real", float)
_Text = NewType("_Text", str)
STANDS_FOR: dict[Any, Any] = {
    int: _Whole,
    float: _Real,
    str: _Text,
    typing.Any: _Whole,
    object: _Whole,
    list: list[_Whole],
    typing.List: list[_Whole],  # noqa: UP006
    tuple: tuple[_Whole, ...],
    set: set[_Whole],
    frozenset: frozenset[_Whole],
    dict: dict[_Text, _Whole],
    typing.Dict: dict[_Text, _Whole],  # noqa: UP006
}
"""What hints stand for when seeds are drawn: small numbers and texts of few characters.

Mutations reach little beyond the seeds, and programs that loop over a large number would only time out."""
_ALPHABETS = ("ab", "aAbB", "ab ", "abc, .-", "01a", "a B1.,-")
"""One for all texts of an input, so that repetitions, overlaps and differences of case alone come up."""


def sample_seeds(hints: list[Any], *, accepts: Callable[[str], bool], seed: int, n_seeds: int = 40) -> tuple[str, ...]:
    """Return up to ``n_seeds`` distinct argument tuples of the types ``hints``, in the text form of ``literals``.

    What ``accepts`` refuses is left out. Deterministic in ``seed``; empty where Hypothesis knows no values of a type.
    """
    from hypothesis.errors import HypothesisException

    found: dict[str, None] = {}

    def collect(drawn: tuple[Any, ...]) -> None:
        try:
            text = write_literal(plain(drawn))
        except BadText:
            return
        if len(found) < n_seeds and accepts(text):
            found[text] = None

    try:
        _draw(hints, collect, seed=seed, n_draws=2 * n_seeds)
    except (HypothesisException, TypeError):
        return tuple(found)
    return tuple(found)


def _draw(hints: list[Any], collect: Callable[[tuple[Any, ...]], None], *, seed: int, n_draws: int) -> None:
    import hypothesis
    from hypothesis import strategies
    from hypothesis.configuration import set_hypothesis_home_dir

    settings = hypothesis.settings(
        backend=_backend(),
        database=None,
        deadline=None,
        max_examples=n_draws,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    with scratch_folder() as folder:  # Hypothesis would leave a folder of its own where the user stands
        set_hypothesis_home_dir(folder)
        try:
            _register()
            arguments = strategies.tuples(*map(strategies.from_type, hints))
            hypothesis.seed(seed)(settings(hypothesis.given(arguments)(collect)))()
        finally:
            set_hypothesis_home_dir(None)


@functools.cache
def _backend() -> str:
    """Return the name of Hypothesis's own way to draw, but for its look at the modules around it.

    Otherwise it would mix constants from whatever local modules happen to be loaded into what it draws: the same seed
    would give other values in another process, after reading every one of these files.
    """
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

    class Secluded(HypothesisProvider):
        def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
            return None

    AVAILABLE_PROVIDERS["difftrust-secluded"] = Secluded
    return "difftrust-secluded"


def _register() -> None:
    """Tell Hypothesis how values of our own types are drawn."""
    from hypothesis import strategies as st

    small = st.integers(-10, 10)
    alphabet = st.shared(st.sampled_from(_ALPHABETS), key="difftrust alphabet")
    texts = alphabet.flatmap(lambda characters: st.lists(st.sampled_from(characters), max_size=12))
    quarters = st.integers(-40, 40).map(lambda x: x / 4)
    hundredths = st.integers(-1000, 1000).map(lambda x: x / 100)
    wide = st.integers(-1000, 1000)
    mostly_small = st.sampled_from(range(8)).flatmap(lambda k: wide if k == 0 else small)
    st.register_type_strategy(_Whole, mostly_small)
    st.register_type_strategy(_Real, st.one_of(small.map(float), quarters, hundredths))
    st.register_type_strategy(_Text, texts.map("".join))
