"""Bring published files into the cache: `difftrust fetch`.

The two benchmarks are single files and are checked against a pinned sha256. The candidates of the paper are
published as a repository of many small pickles, without a release or a hash to pin: the user clones it, and
``fetch`` checks and converts what the clone holds.
"""

import hashlib
import http.client
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from tqdm import tqdm

from difftrust.sql.spider import questions_of
from difftrust_core.datasets.artifact import read_artifact
from difftrust_core.datasets.benchmarks import LAYOUT, cache_root
from difftrust_core.datasets.sources import read_parquet
from difftrust_core.exceptions import BadBenchmark, BadSource, NoBenchmark, WrongUsage

_BLOCK = 2**16


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a single file comes from and what it must be."""

    url: str
    sha256: str
    """Of what is installed."""
    max_bytes: int = 16 * 2**20
    convert: Callable[[bytes], bytes] | None = None
    """From the published file to what is installed; None: as it is."""
    also: str | None = None
    """Another of the ORIGINS, fetched along; its local copy lies beside this one's."""


_SPIDER = (
    "https://raw.githubusercontent.com/taoyds/spider/"
    "7036cf422b1da08a907acbdc062e598bb0761bf7/evaluation_examples/examples"
)
ORIGINS: Mapping[str, Origin] = MappingProxyType(
    {
        "humaneval": Origin(
            url="https://raw.githubusercontent.com/openai/human-eval/"
            "6d43fb980f9fee3c892a914eda09951f772ad10d/data/HumanEval.jsonl.gz",
            sha256="b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
        ),
        # A branch is enough: the hash decides, and the file has not changed since it was published.
        "mbpp": Origin(
            url="https://raw.githubusercontent.com/google-research/google-research/master/mbpp/sanitized-mbpp.json",
            sha256="ca95deaa9a01ef0a6f439f88bcf0dd3db3563d22f22aad6cae04ebb9a8d8c8e9",
        ),
        "bigcodebench": Origin(
            url="https://raw.githubusercontent.com/bigcode-project/bigcodebench-annotation/main/data/BigCodeBench.jsonl.gz",
            sha256="720f1378fa4bed69a67432b0e5aa14684e60cd7e7a69fa12ebac1d1a592d6e2a",
        ),
        "spider": Origin(
            url=f"{_SPIDER}/dev.json",
            sha256="10418d740bebf3f17833bbcca07688aa77d573d14cd62b264dd351f0e3dac404",
            convert=questions_of,
            also="spider-tables",
        ),
        "spider-tables": Origin(
            url=f"{_SPIDER}/tables.json",
            sha256="61bb20aa401f03164e2d7f3b16509b7b5f79cc9c943ca7bd159046df1159e2ed",
        ),
    }
)


def fetch(
    name: str,
    *,
    source: Path | None = None,
    destination: Path | None = None,
    origins: Mapping[str, Origin] = ORIGINS,
    timeout: float = 30.0,
) -> Path:
    """Install what ``name`` (of LAYOUT) stands for below ``destination`` (the cache) and return its path.

    ``source`` is a local copy to take instead of a download; for "difftrust" it is needed: a clone of the
    artifact or a ``candidates.parquet``. A file that is there already and has the pinned hash is left alone.
    ``timeout`` is in seconds, for each wait on the network. Whatever goes wrong, the destination holds
    either the whole checked file or what it held before.
    Raises BadBenchmark on a wrong hash or size, NoBenchmark if the source cannot be reached or the
    destination written, BadSource on damaged candidates, WrongUsage on another name.
    """
    key = name.lower()
    if key not in LAYOUT:
        raise WrongUsage(f"nothing to fetch is called {name!r}; the known names are {', '.join(LAYOUT)}")
    target = (destination if destination is not None else cache_root()) / LAYOUT[key]
    if key == "difftrust":
        return _install_candidates(source, target)
    origin = origins[key]
    if origin.also is not None and (source is None or source.is_dir()):
        _ = fetch(origin.also, source=source, destination=destination, origins=origins, timeout=timeout)
    if source is None and _has_hash(target, origin.sha256):
        return target
    if source is not None and source.is_dir():
        names = (LAYOUT[key].name, origin.url.rpartition("/")[2])
        source = next((source / name for name in names if (source / name).is_file()), source / names[0])
    raw = _copied(source, origin) if source is not None else _downloaded(key, origin, timeout)
    came = source if source is not None else origin.url
    made = _converted(raw, origin, f"{came}: expected the published file, found another", key)
    digest = hashlib.sha256(made).hexdigest()
    if digest != origin.sha256:
        raise BadBenchmark(
            f"{came}: expected sha256 {origin.sha256}, found {digest}; nothing was installed; "
            f"{_remedy(key) if source is None else f'take the file from {origin.url}'}"
        )
    with _installed(target) as stream:
        stream.write(made)
    return target


def _converted(raw: bytes, origin: Origin, refusal: str, key: str) -> bytes:
    """Return what is to be installed of a published file; of one that is converted already, itself."""
    if origin.convert is None or hashlib.sha256(raw).hexdigest() == origin.sha256:
        return raw
    try:
        return origin.convert(raw)
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise BadBenchmark(f"{refusal} ({e}); {_remedy(key)}") from None


def _remedy(key: str) -> str:
    where = LAYOUT[key].as_posix()
    return f"run `difftrust fetch {key} --from PATH`, or set DIFFTRUST_DATA to a folder that holds {where}"


def _has_hash(path: Path, sha256: str) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
    except OSError:
        return False


@contextmanager
def _installed(target: Path) -> Iterator[BinaryIO]:
    """Give a stream to a file beside ``target``, moved there at the end and removed on any exception."""
    part = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as e:
        raise NoBenchmark(
            f"{target}: expected a place to write to, found: {e.strerror}; set DIFFTRUST_CACHE to another folder"
        ) from None


def _downloaded(key: str, origin: Origin, timeout: float) -> bytes:
    try:
        with urllib.request.urlopen(origin.url, timeout=timeout) as reply:
            announced = reply.headers.get("Content-Length")
            total = int(announced) if announced and announced.isdigit() else None
            with tqdm(desc=f"fetching {key}", total=total, unit="B", unit_scale=True, disable=None) as bar:
                content = _read(reply, origin, bar.update)
    except urllib.error.HTTPError as e:
        # An HTTPError is the open reply as well.
        e.close()
        raise NoBenchmark(f"{origin.url}: the server answered {e.code} {e.reason}; {_remedy(key)}") from None
    except (OSError, http.client.HTTPException) as e:
        why = getattr(e, "reason", None) or e
        raise NoBenchmark(f"{origin.url} could not be fetched: {why}; {_remedy(key)}") from None
    if total is not None and len(content) < total:
        raise BadBenchmark(
            f"{origin.url}: expected {total} bytes, the connection ended after {len(content)}; "
            f"nothing was installed; try again, or {_remedy(key)}"
        )
    return content


def _copied(source: Path, origin: Origin) -> bytes:
    try:
        with source.open("rb") as copy:
            return _read(copy, origin)
    except OSError as e:
        raise NoBenchmark(f"{source}: expected a readable file, found: {e.strerror}; check the path") from None


def _read(source: BinaryIO, origin: Origin, progress: Callable[[int], object] = lambda size: None) -> bytes:
    content = bytearray()
    while block := source.read(_BLOCK):
        content += block
        if len(content) > origin.max_bytes:
            raise BadBenchmark(
                f"{origin.url}: expected at most {origin.max_bytes} bytes, found more; "
                "nothing was installed; take the file from its official home"
            )
        progress(len(block))
    return bytes(content)


def _install_candidates(source: Path | None, target: Path) -> Path:
    if source is None:
        raise NoBenchmark(
            "the candidates of the paper are published as a repository, not as one file; clone "
            "https://github.com/mpi-softsec/difftrust and run `difftrust fetch difftrust --from CLONE`, "
            "or read it at once with `difftrust import CLONE`"
        )
    if not source.exists():
        raise NoBenchmark(f"{source}: expected a clone or a candidates.parquet, found nothing; check the path")
    table = source / "candidates.parquet" if source.is_dir() else source
    if table.is_file():
        # Damage is found now; single bad rows stay, for the import to list them.
        _ = read_parquet(table)
        with _installed(target) as stream, table.open("rb") as copy:
            shutil.copyfileobj(copy, stream)
        return target
    recorded = read_artifact(source)
    if recorded.bad_rows or recorded.candidates.is_empty():
        first = "; first ".join(f"{bad.where}: {bad.why}" for bad in recorded.bad_rows[:1])
        raise BadSource(
            f"{source}: expected candidates only, found {recorded.candidates.height} and "
            f"{len(recorded.bad_rows)} that cannot be used ({first or 'no file to read'}); "
            f"`difftrust import {source}` takes the rest and lists what it left out"
        )
    with _installed(target) as stream:
        recorded.candidates.write_parquet(stream, compression="zstd")
    return target
