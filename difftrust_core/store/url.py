"""A store's files at an fsspec URL: listed, fetched, put whole or not at all, deleted, locked; the only door to fsspec.

Object stores put an object whole or not at all; elsewhere a file is put under another name and moved. Credentials are
those that the protocol's own package finds in its environment.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from difftrust_core.base.plugins import missing_package, require
from difftrust_core.exceptions import DifftrustError, NoStore, StoreInUse, StoreUnreachable, WrongUsage

LOCK_FILE: Final = "difftrust-lock.json"
_OBJECT_STORES: Final = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"})
_VERSIONS: Final = ("ETag", "etag", "generation", "mtime", "LastModified", "last_modified", "created")
"""What file systems call that which changes with a file, the best first."""
_AT_ONCE: Final = 16
Item = TypeVar("Item")
Result = TypeVar("Result")


def parse_url(text: str) -> str:
    """Return the URL without its last slashes. Raises WrongUsage if it is none, or if there is a secret in it."""
    found = urlsplit(text)
    if not re.match(r"[a-z][a-z0-9+.-]*://[^/]*/*[^/]", text) or "::" in text:
        raise WrongUsage("a store is a folder or a URL such as s3://bucket/prefix; got another thing with :// in it")
    if found.password is not None or found.query or found.fragment:
        raise WrongUsage(
            f"a store's URL holds no password, query or fragment, got one for {found.scheme}://{found.hostname}; "
            "give credentials to the protocol's own package, through its environment or files"
        )
    return text.rstrip("/")


@dataclass(frozen=True, kw_only=True)
class Remote:
    """The files below a URL. Names are paths below it. Every method raises StoreUnreachable if that is so."""

    url: str

    def versions(self, table: str) -> dict[str, str]:
        """Return the files below one folder, each with what changes when it is written; hidden ones are left out."""
        with self._system() as (system, root):
            found = _if_there(system.find, f"{root}/{table}", detail=True) or {}
            names = ((path.removeprefix(root).lstrip("/"), info) for path, info in found.items())
            return {name: _version(info) for name, info in names if not name.rpartition("/")[2].startswith(".")}

    def version(self, name: str) -> str | None:
        """Return what changes when the file is written, None if there is none."""
        with self._system() as (system, root):
            found = _if_there(system.info, f"{root}/{name}")
            return None if found is None or found.get("type") == "directory" else _version(found)

    def is_bare(self) -> bool:
        """Tell whether nothing is there, but for a lock."""
        with self._system() as (system, root):
            paths = _if_there(system.ls, root, detail=False) or ()
            names = {path.rstrip("/").rpartition("/")[2] for path in paths}
            return names <= {LOCK_FILE, root.rpartition("/")[2]}  # some list a folder in itself

    def get(self, names: Iterable[str], folder: Path) -> set[str]:
        """Fetch files to below ``folder``; return the names of those that are not there."""
        with self._system() as (system, root):

            def fetch(name: str) -> str | None:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    system.get_file(f"{root}/{name}", str(path))
                except FileNotFoundError:
                    path.unlink(missing_ok=True)
                    return name
                return None

            return {name for name in _each(system, fetch, names) if name is not None}

    def put(self, names: Iterable[str], folder: Path) -> None:
        """Put files from below ``folder``, each whole or not at all."""
        with self._system() as (system, root):

            def send(name: str) -> None:
                _put(system, f"{root}/{name}", lambda path: system.put_file(str(folder / name), path))

            _each(system, send, names)

    def versions_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return what changes when they are written of files that are there."""
        with self._system() as (system, root):
            return dict(_each(system, lambda name: (name, _version(system.info(f"{root}/{name}"))), names))

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; those that are not there are none's business."""
        with self._system() as (system, root):
            _each(system, lambda name: _if_there(system.rm_file, f"{root}/{name}"), names)

    def read(self, name: str) -> bytes | None:
        """Return a small file, None if it is not there."""
        with self._system() as (system, root):
            found: bytes | None = _if_there(system.cat_file, f"{root}/{name}")
            return found

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all."""
        with self._system() as (system, root):
            _put(system, f"{root}/{name}", lambda path: system.pipe_file(path, content))

    def create(self, name: str, content: bytes) -> bool:
        """Write a small file if there is none of its name; tell whether it was written."""
        with self._system() as (system, root):
            path = f"{root}/{name}"
            try:
                if _is_object_store(system):
                    if system.exists(path):  # some object stores know no other way
                        return False
                    system.pipe_file(path, content, mode="create")
                else:
                    system.makedirs(root, exist_ok=True)
                    with system.open(path, "xb") as file:
                        file.write(content)
            except FileExistsError:
                return False
            return self.read(name) == content

    def check_held(self, token: str) -> None:
        """Raise StoreInUse unless the lock is still the one with this token."""
        if lock_of(self).get("token") != token:
            raise StoreInUse(f"{self.url} is no longer held by the command that began this; nothing more is written")

    @contextmanager
    def _system(self) -> Iterator[tuple[Any, str]]:
        """Yield the file system, knowing nothing of before, and the place of the store in it.

        What a protocol's package raises, which may be anything, is said in one line.
        """
        try:
            system, root = _opened(self.url)
            system.invalidate_cache()
            yield system, root
        except DifftrustError:
            raise
        except ImportError as e:
            package = getattr(e.__cause__ or e, "name", None) or "its package"
            raise missing_package(f"{urlsplit(self.url).scheme}://", package, install=package) from None
        except FileNotFoundError as e:
            raise NoStore(f"{self.url}: there is no such place ({_line(e)}); make it, or name another one") from None
        except Exception as e:
            what_now = "what is finished is kept, run the command again"
            raise StoreUnreachable(f"{self.url} cannot be reached: {_line(e)}; {what_now}") from None


def lock_of(remote: Remote) -> dict[str, str]:
    """Return what the lock says, nothing if there is none or it cannot be read."""
    with suppress(ValueError):
        found = json.loads(remote.read(LOCK_FILE) or b"{}")
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
    return {}


@lru_cache(maxsize=8)
def _opened(url: str) -> tuple[Any, str]:
    fsspec = require("fsspec", extra="url", purpose="a store at a URL")  # a quarter of a second
    scheme = urlsplit(url).scheme
    if scheme not in fsspec.available_protocols():
        raise WrongUsage(f"expected a protocol that fsspec knows, such as s3, gs, abfs, sftp or file, got {scheme}")
    system, root = fsspec.url_to_fs(url)
    return system, str(root).rstrip("/")


def _is_object_store(system: Any) -> bool:
    names = system.protocol if isinstance(system.protocol, tuple) else (system.protocol,)
    return bool(_OBJECT_STORES.intersection(names))


def _if_there(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what a function of a file system returns, None where the file or folder is not there."""
    try:
        return function(*arguments, **options)
    except FileNotFoundError:
        return None


def _put(system: Any, path: str, write: Callable[[str], object]) -> None:
    if _is_object_store(system):
        write(path)
        return
    folder, _, name = path.rpartition("/")
    system.makedirs(folder, exist_ok=True)
    write(f"{folder}/.{name}.tmp")
    system.mv(f"{folder}/.{name}.tmp", path)


def _each(system: Any, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Do it for each, many at once where the file system allows it."""
    if not getattr(system, "async_impl", False):
        return [function(item) for item in items]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(function, items))


def _version(info: dict[str, Any]) -> str:
    named = next(filter(None, map(info.get, _VERSIONS)), "")
    return f"{named} {info.get('size')} {info.get('ino', '')}".rstrip()


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
