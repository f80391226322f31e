"""Pairs of versions of one small function: behaviour changes, and refactorings that keep it.

`=== NAME` in the texts beside this file begins a pair, `---` stands between the old and the new version.
"""

from dataclasses import dataclass
from pathlib import Path

from difftrust.diff.diff import DiffReport, diff, load_version


@dataclass(frozen=True, kw_only=True)
class VersionPair:
    """One pair; ``changes``: behaviour does."""

    name: str
    changes: bool
    old: str
    new: str

    @property
    def entry_point(self) -> str:
        """``f`` or ``Class.f``."""
        owner = self.old.partition("class ")[2].partition(":")[0]
        return f"{owner}.f" if owner else "f"


def _read(name: str, *, changes: bool) -> tuple[VersionPair, ...]:
    blocks = (Path(__file__).with_name(name).read_text().removeprefix("=== ")).split("\n=== ")
    named = [block.partition("\n") for block in blocks]
    parted = [(title, both.partition("\n---\n")) for title, _, both in named]
    return tuple(
        VersionPair(name=title, changes=changes, old=f"{old}\n", new=f"{new.rstrip()}\n")
        for title, (old, _, new) in parted
    )


CHANGED = _read("changed.txt", changes=True)
REFACTORED = _read("refactored.txt", changes=False)


def compared(pair: VersionPair, folder: Path) -> DiffReport:
    """Write both versions of a pair into files and compare them."""
    places = []
    for which, text in (("old", pair.old), ("new", pair.new)):
        path = folder / pair.name / f"{which}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        places.append(load_version(f"{path}::{pair.entry_point}"))
    return diff(places[0], places[1])
