"""Draw again the inputs of a domain that repeat an earlier one.

Random mutation meets the same input again and again where a domain is small, and an input that is there twice shows
nothing new. So a position whose first valid draw already stands at an earlier position is drawn further, up to
MAX_ATTEMPTS draws in all, until it brings an input that does not. If none does, the first one stays: it repeats.

What stands at a position depends on the positions before it alone. So the first n inputs are the same however many
follow, and in whatever chunks they are executed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from difftrust_core.languages.language import MAX_ATTEMPTS

PATIENCE: Final = 10
"""After so many positions in a row that brought no new input, a position is drawn once, until one is new: the domain
is exhausted, or what drawing reaches of it. The first of them were drawn MAX_ATTEMPTS times."""
_AHEAD: Final = 64
"""So many positions that repeat an earlier one are drawn and judged at a time: the sandbox is asked less often."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The inputs of some positions and what they took: lists with an element each."""

    texts: list[str]
    attempts: list[int]
    """How often it was drawn; MAX_ATTEMPTS + 1 where an unchanged seed input stands for want of a valid draw."""
    repeats: list[int]
    """How many of these draws were valid and not kept, for they stand at an earlier position or are what repeats."""


class Redraws:
    """Further draws of positions, made and judged when they are first needed.

    ``draw`` returns the input of each (position, attempt); attempts above MAX_ATTEMPTS are further draws.
    ``judge`` tells which inputs are valid; it is asked once about each.
    """

    def __init__(
        self,
        first: Drawn,
        draw: Callable[[Sequence[tuple[int, int]]], list[str]],
        judge: Callable[[Sequence[str]], Sequence[bool]],
    ):
        self._first, self._draw, self._judge = first, draw, judge
        self._further: list[list[str]] = [[] for _ in first.texts]
        self._is_valid = {
            text: n <= MAX_ATTEMPTS for text, n in zip(first.texts, first.attempts, strict=True) if n <= MAX_ATTEMPTS
        }

    def distinct(self) -> Drawn:
        """Return the inputs with those that repeat an earlier one drawn again."""
        kept = Drawn(**{name: list(values) for name, values in vars(self._first).items()})
        seen: set[str] = set()
        idle = 0
        for position, text in enumerate(self._first.texts):
            if text in seen and idle < PATIENCE and kept.attempts[position] < MAX_ATTEMPTS:
                self._replace(position, kept, seen)
            idle = idle + 1 if kept.texts[position] in seen else 0
            seen.add(kept.texts[position])
        return kept

    def _replace(self, position: int, kept: Drawn, seen: set[str]) -> None:
        """Put the first further draw of a position there that is valid and not ``seen``, and count what it took."""
        place = 0
        while kept.attempts[position] < MAX_ATTEMPTS:
            if place == len(self._further[position]):
                self._look_ahead(position, seen)
            text = self._further[position][place]
            place += 1
            kept.attempts[position] += 1
            kept.repeats[position] += self._is_valid[text]
            if self._is_valid[text] and text not in seen:
                kept.texts[position] = text
                return

    def _look_ahead(self, position: int, seen: set[str]) -> None:
        """Draw a position further, and with it the next ones that will have to be, as it seems now."""
        there, chosen = set(seen), [position]
        for later in range(position + 1, len(self._first.texts)):
            if len(chosen) == _AHEAD:
                break
            offered = [self._first.texts[later], *(t for t in self._further[later] if self._is_valid[t])]
            new = next((text for text in offered if text not in there), None)
            if new is None and self._left(later):
                chosen.append(later)
            elif new is not None:
                there.add(new)
        places = [(p, a) for p in chosen for a in self._next_attempts(p)]
        texts = self._draw(places)
        unknown = [text for text in dict.fromkeys(texts) if text not in self._is_valid]
        self._is_valid |= dict(zip(unknown, self._judge(unknown), strict=True)) if unknown else {}
        for (p, _), text in zip(places, texts, strict=True):
            self._further[p].append(text)

    def _left(self, position: int) -> int:
        """Return how often a position may still be drawn."""
        return max(0, MAX_ATTEMPTS - self._first.attempts[position] - len(self._further[position]))

    def _next_attempts(self, position: int) -> range:
        """Return the next attempts of a position, each time twice as many; they are numbered above MAX_ATTEMPTS."""
        done = len(self._further[position])
        start = MAX_ATTEMPTS + self._first.attempts[position] + done
        return range(start, start + min(max(1, done), self._left(position)))
