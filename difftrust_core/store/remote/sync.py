"""Make the files of a folder and those at a URL the same, in steps that readers of either do not see.

The URL is the truth: what a killed command left in the folder and did not send is thrown away by the next pull, but for
replies, which were paid for. Files are sent in the order in which they speak of each other (``ORDER``) and fetched in
the opposite order, so that nothing fetched speaks of what is missing. Where merged files take the place of small ones,
the file ``difftrust-exchange.json`` names those that readers leave out: the new ones, then, in one step, the old ones.
"""

import contextlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from difftrust_core.base.files import FileState, file_state, write_whole
from difftrust_core.exceptions import BadStore, NoStore
from difftrust_core.store.checksums import LIST_FILE, forget
from difftrust_core.store.remote.url import Remote
from difftrust_core.store.settings import SETTINGS_FILE

ORDER: Final = (
    *(SETTINGS_FILE, "tasks", "replies", "programs", "tokens", "candidates"),
    *("inputs", "outcomes", "behaviours", "executions"),
    *("draws", "patterns", "classes", "members", "disagreements", "stability", "estimates", LIST_FILE),
)
"""What is sent first; each speaks of those before it."""
EXCHANGE_FILE: Final = "difftrust-exchange.json"
_ATTEMPTS = 5


class Synced:
    """Which file was last the same on both sides, with what state here and which version there."""

    def __init__(self, path: Path, root: Path):
        self.path, self._root = path, root

    def read(self) -> dict[str, tuple[FileState, str]]:
        """Return (state here, version there) of each file."""
        found: dict[str, tuple[FileState, str]] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in self.path.read_bytes().splitlines():
                with contextlib.suppress(ValueError):  # torn by a kill: that file is fetched or sent again
                    name, state, version = json.loads(line)
                    found.pop(name, None)
                    if version is not None:
                        found[name] = (tuple(state), version)
        return found

    def note(self, versions: Mapping[str, str | None]) -> None:
        """Note that these files are now the same, or on neither side (None)."""
        rows = [[name, version and file_state(self._root / name), version] for name, version in versions.items()]
        with self.path.open("ab", buffering=0) as file:  # workers add to it at the same time: one write
            file.write("".join(json.dumps(row) + "\n" for row in rows).encode())

    def shorten(self) -> None:
        """Write one line a file; nobody else may write meanwhile."""
        lines = [json.dumps([name, *found]) + "\n" for name, found in self.read().items()]
        write_whole(self.path, "".join(lines))


class Sync:
    """``root``, the folder of a store, and the URL it mirrors; ``folder`` has room for what comes."""

    def __init__(self, remote: Remote, folder: Path):
        self._remote, self._root, self._coming = remote, folder / "store", folder / "coming"
        self.synced = Synced(folder / "synced.jsonl", self._root)

    def pull(self) -> list[str]:
        """Make the folder what the URL holds; return the names that an exchange makes readers leave out."""
        for _ in range(_ATTEMPTS):
            marks = self._marks()
            left_out = [str(name) for name in json.loads(marks[0] or b"[]")]
            if marks[1] is None:
                self._pull_nothing()
                return left_out
            self._pull_once(set(left_out))
            if self._marks() == marks:
                self.synced.shorten()
                return left_out
        raise BadStore(f"{self._remote.url} was changed {_ATTEMPTS} times while it was fetched; try again later")

    def _marks(self) -> tuple[bytes | None, str | None, object]:
        """Return what tells that files were exchanged, or results made anew, meanwhile."""
        results = self._remote.versions("estimates")
        made = {name: version for name, version in results.items() if name.endswith(".fingerprint")}
        marks = (self._remote.version(LIST_FILE), made)
        return self._remote.read(EXCHANGE_FILE), self._remote.version(SETTINGS_FILE), marks

    def _pull_nothing(self) -> None:
        """No store is there: one is about to be made from here, or it was removed there."""
        if not self._remote.is_bare():
            raise NoStore(f"{self._remote.url} is there and is no difftrust store; name a new or an empty place")
        if SETTINGS_FILE in self.synced.read():
            shutil.rmtree(self._root, ignore_errors=True)
            self.synced.path.unlink()

    def _pull_once(self, left_out: set[str]) -> None:
        shutil.rmtree(self._coming, ignore_errors=True)
        synced, here = self.synced.read(), self._here()
        there: dict[str, str] = {}
        for part in reversed(ORDER):
            found = {name: version for name, version in self._there(part).items() if name not in left_out}
            missing = [name for name in found if synced.get(name) != (here.get(name), found[name])]
            gone = self._remote.get(missing, self._coming)
            there |= {name: version for name, version in found.items() if name not in gone}
        kept = {name for name in here if name.endswith(".jsonl") and self._keeps(name, synced, there)}
        for name in sorted(here.keys() - there.keys() - kept, key=_rank, reverse=True):
            (self._root / name).unlink()
        for names in _parts(name for name in _names(self._coming) if name not in kept):
            for name in names:
                (self._root / name).parent.mkdir(parents=True, exist_ok=True)
                (self._coming / name).replace(self._root / name)
            self.synced.note({name: there[name] for name in names})
        self.synced.note(dict.fromkeys(synced.keys() - there.keys()))
        if left_out:
            self._leave_out(left_out, there)

    def _there(self, part: str) -> dict[str, str]:
        if part not in (SETTINGS_FILE, LIST_FILE):
            return self._remote.versions(part)
        version = self._remote.version(part)
        return {} if version is None else {part: version}

    def _here(self) -> dict[str, FileState]:
        return {name: file_state(self._root / name) for name in _names(self._root)}

    def _keeps(self, name: str, synced: Mapping[str, tuple[FileState, str]], there: Mapping[str, str]) -> bool:
        """Tell whether replies stay as they are here. Raises BadStore if both sides have what the other lacks."""
        state, version = synced.get(name, (None, None))
        if file_state(self._root / name) == state:
            return False
        if name not in there or there[name] == version:
            return True
        mine, theirs = (self._root / name).read_bytes(), (self._coming / name).read_bytes()
        if not mine.startswith(theirs) and not theirs.startswith(mine):
            raise BadStore(
                f"replies were added to {self._remote.url}/{name} and to {self._root / name}; "
                "add the lines of the one to the other, then run it again"
            )
        return len(mine) > len(theirs)

    def _leave_out(self, left_out: set[str], there: Iterable[str]) -> None:
        """Correct what may be as before while an exchange goes on: the list, and the notes of merged files' names."""
        forget(self._root, left_out)
        for name in there:
            if _is_merged(name):
                path = self._root / name
                path.with_name("+merged.txt").write_text(path.name)

    def end_exchange(self, left_out: list[str]) -> None:
        """End what a killed command began: what readers leave out goes."""
        if left_out:
            self._delete(left_out)
            self.push()
            self._remote.delete([EXCHANGE_FILE])

    def push(self) -> None:
        """Send what is new here and delete what is gone."""
        synced, here = self.synced.read(), self._here()
        new = [name for name, state in here.items() if name not in synced or synced[name][0] != state]
        gone = list(synced.keys() - here.keys())
        merged = [name for name in new if _is_merged(name)]
        self._delete([name for name in (*new, *gone) if name.endswith(".fingerprint")])  # before what it speaks of
        if merged:
            self._remote.write(EXCHANGE_FILE, json.dumps(sorted(merged)).encode())
            self._put(merged)
            self._remote.write(EXCHANGE_FILE, json.dumps(sorted(gone)).encode())
        for part in _parts(name for name in new if name not in merged):
            self._put(part)
        self._delete(gone)
        if merged:
            self._remote.delete([EXCHANGE_FILE])

    def _put(self, names: list[str]) -> None:
        self._remote.put(names, self._root)
        self.synced.note(self._remote.versions_of(names))

    def _delete(self, names: Iterable[str]) -> None:
        for part in reversed(list(_parts(names))):
            self._remote.delete(part)
            self.synced.note(dict.fromkeys(part))


def _is_merged(name: str) -> bool:
    return name.rpartition("/")[2].startswith("+") and name.endswith(".parquet")


def _names(root: Path) -> Iterator[str]:
    """Yield the files of the store in ``root``, but for locks and what is being made."""
    for part in ORDER:
        path = root / part
        for found in [path] if path.is_file() else path.rglob("*"):
            if found.is_file() and not found.name.startswith("."):
                yield found.relative_to(root).as_posix()


def _rank(name: str) -> tuple[int, bool]:
    return ORDER.index(name.partition("/")[0]), name.endswith(".fingerprint")


def _parts(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield the names in the order of sending, those that may go at once together."""
    for _, part in groupby(sorted(names, key=lambda name: (_rank(name), name)), key=_rank):
        yield list(part)
