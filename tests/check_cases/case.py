"""Read the cases, and write one as files to be checked."""

import tomllib
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "cases"
SETS = {each.name: each for each in sorted(Path(__file__).parent.iterdir()) if any(each.glob("*.toml"))}
"""Folders of cases by name: ``cases``, and sets that nothing was tuned on."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A user's function, candidates for it, and the truth about them."""

    name: str
    kind: str
    target: str
    module: str
    candidates: dict[str, str]
    same: tuple[frozenset[str], ...]
    why: str
    draw: str
    expected: str
    differs: dict[tuple[str, str], str] = field(default_factory=dict)
    contradicts: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    ruled_out: str = ""
    """A call that the docstring does not allow, and on which candidates differ."""
    allows: str = ""
    """What the docstring says in prose of the domain, as a Python expression over the parameters; no check sees it."""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages that the case needs and that are not installed."""
        return tuple(name for name in self.needs if find_spec(name) is None)

    def are_same(self, first: str, second: str) -> bool:
        """Tell whether two candidates have the same behaviour inside the documented domain."""
        return any({first, second} <= group for group in self.same)

    def pairs(self) -> list[tuple[str, str]]:
        """All pairs of candidates, by name."""
        return list(combinations(sorted(self.candidates), 2))

    def differing_call(self, first: str, second: str) -> str:
        """Return a call on which two candidates of different groups differ."""
        for (one, other), call in self.differs.items():
            if (self.are_same(one, first) and self.are_same(other, second)) or (
                self.are_same(one, second) and self.are_same(other, first)
            ):
                return call
        raise KeyError(f"{self.name}: no call for {first} and {second}")

    def write(self, folder: Path, names: tuple[str, ...] | None = None) -> tuple[str, Path]:
        """Write module and candidates (those of ``names``); return what names the function, and their folder."""
        programs = folder / "candidates"
        programs.mkdir(parents=True)
        (folder / "module.py").write_text(self.module)
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        for name in names or tuple(self.candidates):
            (programs / f"{name}.py").write_text(self.candidates[name])
        return f"{folder / 'module.py'}::{self.target}", programs


def load_case(path: Path) -> Case:
    """Read one case."""
    table: dict[str, Any] = tomllib.loads(path.read_text())
    same = tuple(frozenset(group) for group in table.pop("same"))
    differs = {(key.split()[0], key.split()[1]): call for key, call in table.pop("differs", {}).items()}
    return Case(
        name=path.stem,
        kind=table.pop("class"),
        same=same,
        differs=differs,
        expected=table.pop("expected", "coherent" if len(same) == 1 else "incoherent"),
        contradicts=frozenset(table.pop("contradicts", ())),
        options=tuple(table.pop("options", ())),
        needs=tuple(table.pop("needs", ())),
        **table,
    )


def load_cases(folder: Path = FOLDER) -> list[Case]:
    """Read all cases of a folder, by name."""
    return [load_case(path) for path in sorted(folder.glob("*.toml"))]
