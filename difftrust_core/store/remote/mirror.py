"""A store at a URL as a folder of this machine, on which everything works: found, brought up to date, held.

The folder of a mirror holds ``store``, the store itself, and beside it a note of the URL. Whoever holds it for writing
holds the URL too, by a file there that names its owner, and sends what is new when it ends.
"""

import contextlib
import fcntl
import getpass
import hashlib
import json
import os
import re
import socket
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from difftrust_core.exceptions import BadStore, StoreInUse, StoreUnreachable
from difftrust_core.store.locks import hold
from difftrust_core.store.remote.sync import Sync
from difftrust_core.store.remote.url import LOCK_FILE, Remote, lock_of, parse_url
from difftrust_core.store.settings import SETTINGS_FILE

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
    own = os.environ.get("DIFFTRUST_CACHE")
    name = re.sub(r"[^A-Za-z0-9.]+", "-", url)[-60:].strip("-")
    name += f"-{hashlib.blake2b(url.encode(), digest_size=4).hexdigest()}"
    mirror = Mirror.make((Path(own) if own else user_cache_path("difftrust")) / "mirrors" / name, url)
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
        is_one = root.name == "store" and (root.parent / _NOTE).is_file()
        return cls.make(root.parent, "") if is_one else None

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
