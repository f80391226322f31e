"""A store at a URL as a folder of this machine, on which everything works: found, brought up to date, held.

The folder of a mirror holds ``store``, the store itself, and beside it a note of the URL. Whoever holds it for writing
holds the URL too, by a file there that names its owner, and sends what is new when it ends.

Both sides become the same in steps that readers of either do not see. The URL is the truth: what a killed command left
in the folder and did not send is thrown away by the next pull, but for replies, which were paid for. Files are sent in
the order in which they speak of each other (``ORDER``) and fetched in the opposite order, so that nothing fetched
speaks of what is missing. Where merged files take the place of small ones, the file ``difftrust-exchange.json`` names
those that readers leave out: the new ones, then, in one step, the old ones.
"""

import contextlib
import fcntl
import getpass
import hashlib
import json
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from difftrust_core.base.files import FileState, file_state, write_whole
from difftrust_core.exceptions import BadStore, NoStore, StoreInUse, StoreUnreachable
from difftrust_core.store.checksums import LIST_FILE, forget
from difftrust_core.store.settings import SETTINGS_FILE, hold
from difftrust_core.store.url import LOCK_FILE, Remote, lock_of, parse_url

_NOTE: Final = "url.json"
_GRACE = 5.0
"""Seconds for what the workers of a killed command have begun to send."""
_shown: dict[str, str] = {}


def folder_of(place: str | Path) -> Path:
    """Return the folder to work on: ``place`` itself, or of a URL its mirror, brought up to date.

    Mirrors lie in ``mirrors`` below the environment variable DIFFTRUST_CACHE, or below the user's cache folder.
    Raises WrongUsage, StoreUnreachable, NoStore if something else is there.
    """
    if "://" not in str(place):
        return Path(place)
    url = parse_url(str(place))
    name = re.sub(r"[^A-Za-z0-9.]+", "-", url)[-60:].strip("-")
    name += f"-{hashlib.blake2b(url.encode(), digest_size=4).hexdigest()}"
    cache = Path(os.environ.get("DIFFTRUST_CACHE") or user_cache_path("difftrust"))
    mirror = Mirror.make(cache / "mirrors" / name, url)
    mirror.refresh()
    _shown[str(mirror.root)] = url
    return mirror.root


def with_urls(text: str) -> str:
    """Return a message with a URL in place of its mirror's folder."""
    for root, url in _shown.items():
        text = text.replace(root, url)
    return text


@dataclass(frozen=True, kw_only=True)
class Holding:
    """A URL that a command holds for writing, for its workers to send to."""

    url: str
    token: str

    def send(self, names: Iterable[str], root: Path) -> None:
        """Send files from below ``root``, one after the other.

        Raises StoreInUse if the command holds the URL no longer.
        """
        remote = Remote(url=self.url)
        remote.check_held(self.token)
        for name in names:
            remote.put([name], root)


class Mirror:
    """The mirror in a folder."""

    def __init__(self, folder: Path, *, url: str, mirror_id: str):
        self.root = folder / "store"
        self._folder, self._id, self._remote = folder, mirror_id, Remote(url=url)
        self._sync = Sync(self._remote, folder)
        self.holding: Holding | None = None

    @classmethod
    def make(cls, folder: Path, url: str) -> "Mirror":
        """Open the mirror in ``folder``, or begin one of ``url``."""
        folder, note = folder.absolute(), folder.absolute() / _NOTE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not note.is_file():
                begun = folder / f".{uuid.uuid4().hex}.tmp"
                begun.write_text(json.dumps({"url": url, "mirror_id": uuid.uuid4().hex}))
                with contextlib.suppress(FileExistsError):
                    os.link(begun, note)
                begun.unlink()
            return cls(folder, **json.loads(note.read_text()))
        except (OSError, ValueError, TypeError) as e:
            raise BadStore(
                f"the mirror {folder} cannot be used ({e}); give it room and the right to, or remove it"
            ) from e

    @classmethod
    def of(cls, root: Path) -> "Mirror | None":
        """Return the mirror whose store ``root`` is, None for any other folder."""
        return cls.make(root.parent, "") if root.name == "store" and (root.parent / _NOTE).is_file() else None

    def refresh(self) -> None:
        """Fetch what is new, unless a command of this machine writes here: then this is the newest there is."""
        with self._alone(), contextlib.ExitStack() as stack:
            if (self.root / SETTINGS_FILE).is_file():
                try:
                    stack.enter_context(hold(self.root))
                except StoreInUse:
                    return
            self._sync.pull()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the mirror and its URL for writing; at the end, send what is new.

        Raises StoreInUse, naming who it is, if another command writes; StoreUnreachable.
        """
        with contextlib.ExitStack() as stack:
            with self._alone():
                stack.enter_context(hold(self.root))
                stack.enter_context(self._locked())
                self._sync.end_exchange(self._sync.pull())
            try:
                yield
            except BaseException:
                with contextlib.suppress(StoreUnreachable, StoreInUse):  # what went wrong first is what is told
                    self._send_all()
                raise
            self._send_all()

    def bring(self) -> None:
        """Fetch what workers elsewhere have sent to the URL that is held."""
        self._send_all()
        self._sync.pull()

    def _send_all(self) -> None:
        assert self.holding is not None
        self._remote.check_held(self.holding.token)
        self._sync.push()

    def send(self, names: list[str], holding: Holding) -> None:
        """Send what a worker has finished here. Raises StoreInUse if the command holds the URL no longer."""
        holding.send(names, self.root)
        self._sync.synced.note(self._remote.versions_of(names))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with (self._folder / ".pulling").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        holding = Holding(url=self._remote.url, token=uuid.uuid4().hex)
        owner = f"{getpass.getuser()}@{socket.gethostname()}, process {os.getpid()}"
        words = json.dumps({"owner": owner, "mirror": self._id, "token": holding.token}).encode()
        if not self._remote.create(LOCK_FILE, words):
            self._take_over(words)
        self.holding = holding
        try:
            yield
        finally:
            self.holding = None
            with contextlib.suppress(StoreUnreachable, StoreInUse):  # the next command here takes it over
                self._remote.check_held(holding.token)
                self._remote.delete([LOCK_FILE])

    def _take_over(self, words: bytes) -> None:
        """Replace the lock that a killed command on this mirror has left: the mirror is held here, so it has ended."""
        found = lock_of(self._remote)
        if found.get("mirror") != self._id:
            raise StoreInUse(
                f"{found.get('owner', 'another difftrust command')} writes to {self._remote.url}; wait until it has "
                f"ended; if it was killed, run it there again, or delete {self._remote.url}/{LOCK_FILE}"
            )
        self._remote.write(LOCK_FILE, words)
        time.sleep(_GRACE)


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
