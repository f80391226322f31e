"""Which folder of candidates belongs to which of several functions."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from difftrust_core.exceptions import WrongUsage


class CandidateFolders:
    """The folders below one, each of which holds the candidates of a function by its name.

    ``DIR/area/*.py`` for ``area`` and ``DIR/Box.add/*.py`` for a method; ``DIR/shapes.area/*.py``, or the path itself,
    ``DIR/pkg/shapes.py/area/*.py``, where several files have a function of that name.
    """

    def __init__(self, root: Path, functions: Sequence[str]):
        if not root.is_dir():
            raise WrongUsage(f"expected a folder of candidates, {root} cannot be read; change --candidates")
        self._root = root
        self._counts = Counter(name for where in functions for name in self._names(where))
        self._found = {where: self._find(where) for where in functions}
        if not any(self._found.values()):
            one = functions[0].rpartition("::")[2]
            direct = f", found {root}/*.py" if any(root.glob("*.py")) else ", found none"
            raise WrongUsage(
                f"expected a folder of candidates for each function, such as {root / one}/*.py{direct}; "
                "name one function, or make such folders"
            )

    def of(self, where: str) -> Path | None:
        """Return the folder of a function; None where it has none."""
        return self._found[where]

    def lacks(self, where: str) -> str:
        """Return what would have to be there for a function that has no folder."""
        return f"expected candidates in {self._root / self._names(where)[-1]}, found none; make that folder"

    def _find(self, where: str) -> Path | None:
        for name in self._names(where):
            if self._counts[name] == 1 and (self._root / name).is_dir():
                return self._root / name
        return None

    def _names(self, where: str) -> list[str]:
        """Return the names that a function's folder may have, the most exact first."""
        path, _, function = where.rpartition("::")
        exact = [] if Path(path).is_absolute() or ".." in Path(path).parts else [f"{Path(path)}/{function}"]
        return [*exact, f"{Path(path).stem}.{function}", function]
