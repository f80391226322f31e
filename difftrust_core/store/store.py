"""The store: Parquet files with fixed schemas, written whole or not at all.

A store is a folder. Everything about one task on one range of inputs (a *chunk*, ``start=``) lies in one file a table,
so a finished task survives whatever happens to the next one, and raising n adds a chunk and leaves others as they are.
A *merged* file (``merge_files``) holds many tasks of one partition; what comes later lies in files beside it. It is
made in a folder of its own, with a note of its name, and that folder and the partition's are then exchanged in one step
of the file system. A kill leaves either; what the other holds is thrown away by the next writer.
"""

import contextlib
import ctypes
import ctypes.util
import errno
import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import polars as pl

from difftrust_core.base.parallel import Progress
from difftrust_core.base.records import AS_STORED, Reading
from difftrust_core.base.task import MOST_NAME, Domain, Relation, Task, TaskTest
from difftrust_core.exceptions import BadStore, DifftrustError, NoStore
from difftrust_core.store.checksums import (
    BLANK,
    LISTED,
    forget,
    read_list,
    room_for_list,
    seal,
    why_not_written,
    write_list,
)
from difftrust_core.store.mirror import Mirror
from difftrust_core.store.schemas import (
    CHUNK_TABLES,
    KEYS,
    MAY_BE_MISSING,
    PARTITIONS,
    REFERENCE,
    REMEDIES,
    SCHEMAS,
    conform,
    read_at_once,
)  # fmt: skip
from difftrust_core.store.settings import (
    SETTINGS_FILE,
    OnWait,
    Settings,
    attempts,
    hold,
    list_files,
    load_settings,
    refuse_foreign,
    restless,
    while_the_same,
    write_settings,
)

__all__ = ["MAY_BE_MISSING", "PARTITIONS", "REFERENCE", "SCHEMAS", "SETTINGS_FILE", "Settings", "Store", "conform"]
_PACKED: dict[str, Any] = {"compression": "zstd", "compression_level": 9, "metadata": BLANK}
_READABLE = 80
"""Characters of a task's id in the name of its files where that has a digest."""
LONGEST_PART = 255
"""Bytes of the name of a folder."""
SCRATCH = ".scratch"
"""Folder for what is being made; whatever the next writer finds there was left by a kill."""
MERGED = "+"
"""First character of a merged file's name, which no task's file has."""
MERGED_NAME = "+merged.txt"
"""File that holds the name of its folder's merged file, which differs from merge to merge."""


class Store:
    """One folder of tables. Readers need no lock; writers hold ``writing()``."""

    def __init__(self, root: Path, reading: Reading = AS_STORED):
        self.root = root.absolute()  # workers may have another working directory
        self.reading = reading
        self._is_held = False
        self.mirror: Mirror | None = None
        """While it is held: what sends its files to the store's URL, if it has one."""

    @classmethod
    def open(cls, root: Path, reading: Reading = AS_STORED) -> "Store":
        """Open an existing store. Raises NoStore if the folder holds none."""
        if not (root / SETTINGS_FILE).is_file():
            raise NoStore(f"no difftrust store in {root}; make one with `difftrust import ... --store {root}`")
        store = cls(root, reading)
        store.settings()
        return store

    @classmethod
    def create(cls, root: Path, settings: Settings | None = None) -> "Store":
        """Open the store in ``root``, making it (with ``settings``) if the folder is new or empty."""
        cls.refuse_what_is_none(root)
        if not (root / SETTINGS_FILE).is_file():
            try:
                root.mkdir(parents=True, exist_ok=True)
            except OSError as e:
                raise NoStore(f"the store {root} cannot be made: {e.strerror}") from None
            cls(root).write_settings(settings or Settings())
        return cls.open(root)

    @staticmethod
    def refuse_what_is_none(root: Path) -> None:
        """Raise NoStore if ``root`` is neither a store nor a place for a new one; make nothing."""
        if not (root / SETTINGS_FILE).is_file() and not Store.may_be_made(root):
            raise NoStore(f"{root} is there and is no difftrust store; name a new or an empty folder")

    @staticmethod
    def may_be_made(root: Path) -> bool:
        """Tell whether ``root`` is new, empty, or what a kill left of making a store."""
        left = f".{SETTINGS_FILE}.tmp"
        return not root.exists() or (root.is_dir() and all(path.name == left for path in root.iterdir()))

    def read_as(self, reading: Reading) -> "Store":
        """Return this store in another reading; it is held while this one is."""
        other = copy(self)
        other.reading = reading
        return other

    def settings(self) -> Settings:
        """Return the store's settings, as it is read. Raises BadStore if they cannot be read."""
        found = load_settings(self.root)
        return replace(found, validity=self.reading.inputs) if self.reading.inputs else found

    def write_settings(self, settings: Settings) -> None:
        """Write the settings."""
        write_settings(self.root, settings)

    @contextlib.contextmanager
    def writing(self, *, is_repair: bool = False, on_wait: OnWait = None) -> Iterator[None]:
        """Hold the store for writing; may be nested. Raises StoreInUse if another process does.

        ``on_wait``: as of ``hold``; a store at a URL is not waited for.
        At the end the list of the store's files is brought up to date. Raises BadStore where something leads out of the
        store, unless this is a repair.
        """
        if self._is_held:
            yield
            return
        mirror = Mirror.of(self.root)
        with mirror.held() if mirror else hold(self.root, on_wait=on_wait):
            for folder, folders, files in os.walk(self.root):
                for path in [Path(folder, name) for name in (*folders, *files)]:
                    if path.match(".*.tmp"):
                        path.unlink(missing_ok=True)
                    elif not is_repair:
                        refuse_foreign(path)
            shutil.rmtree(self.root / SCRATCH, ignore_errors=True)
            self._is_held, self.mirror = True, mirror
            try:
                with room_for_list(self.root):
                    yield
            except BaseException:  # as of a full disk: what is written by then is listed
                with contextlib.suppress(OSError, DifftrustError):
                    self._list_files()
                raise
            finally:
                self._is_held, self.mirror = False, None
            self._list_files()

    def _list_files(self) -> None:
        write_list(self.root, read_list(self.root) | self.names())

    def names(self) -> set[str]:
        """Return the files that belong to the tables, as paths below the root, none of several lines."""
        found = (path for table in PARTITIONS for path in (self.root / table).rglob("*") if path.suffix in LISTED)
        return {name for path in found if (name := path.relative_to(self.root).as_posix()).isprintable()}

    def folder(self, table: str, partition: Mapping[str, object]) -> Path:
        """Return the hive folder of one partition, values percent-encoded; ``partition`` may be a prefix."""
        parts = _spell(table, partition)
        for part in parts:
            if len(part) > LONGEST_PART:
                name = part.partition("=")[0]
                raise BadStore(f"{part[:40]}...: expected a shorter {name}, found one that no folder can be named by")
        return self.root.joinpath(table, *parts)

    def holds(self, table: str) -> bool:
        """Tell whether the table belongs to this store; it may be empty."""
        tables = self.settings().tables
        return tables is None or table in tables

    def files(self, table: str, partition: Mapping[str, object] | None = None) -> list[Path]:
        """Return the Parquet files of a table, or of the part of it below ``partition``, sorted.

        Raises NoStore where a results store lacks it, saying what brings it; BadStore where a folder is none of it.
        """
        if not self.holds(table):
            raise NoStore(f"{self.root} holds results only, no {table}; {REMEDIES[table]}")
        found = list_files(self.folder(table, partition or {}))
        for folder in {path.parent for path in found}:
            partition_of(folder, table)
        return found

    def write(self, table: str, frame: pl.DataFrame, partition: Mapping[str, object], name: str) -> Path:
        """Write one file of a table atomically: readers see the old file, or the new one, or none."""
        if list(partition) != list(PARTITIONS[table]):
            raise BadStore(f"{table} is partitioned by {list(PARTITIONS[table])}, got {list(partition)}")
        folder = self.folder(table, partition)
        for place in (folder, *list(folder.parents)[: len(partition)]):
            refuse_foreign(place)
        path = folder / f"{name}.parquet"
        temporary = folder / f".{name}.{os.getpid()}.parquet.tmp"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            conform(frame, table).write_parquet(temporary, **_PACKED)
            seal(temporary, path.relative_to(self.root).as_posix())
            temporary.replace(path)
        except (OSError, pl.exceptions.PolarsError) as e:
            why = why_not_written(e, folder)
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)  # where the disk is full, others need the room
            raise BadStore(f"{path} could not be written: {why}; what is finished is kept, run it again") from None
        return path

    def write_task(self, table: str, frame: pl.DataFrame, partition: Mapping[str, object], task_id: str) -> None:
        """Write one task's file: all its rows but those in a merged file."""
        merged = self._merged_rows(table, self.folder(table, partition), task_id)
        if merged is not None:
            frame = conform(frame, table).join(merged, on=KEYS[table], how="anti", maintain_order="left")
            if frame.is_empty():
                return
        self.write(table, frame, partition, self.task_file(table, partition, task_id).stem)

    def read_task(self, table: str, partition: Mapping[str, object], task_id: str) -> pl.DataFrame | None:
        """Return one task's rows, None where it has neither a file nor rows in a merged one."""
        folder = self.folder(table, partition)

        def read() -> pl.DataFrame | None:
            merged = self._merged_rows(table, folder, task_id)
            own = self.read_file(table, self.task_file(table, partition, task_id))
            return own if merged is None else merged if own is None else pl.concat([merged, own])

        return while_the_same(folder, read)

    def task_file(self, table: str, partition: Mapping[str, object], task_id: str) -> Path:
        """Return the file of one task's rows: that of its name, or its one of the name that former versions gave."""
        own, *former = [self.folder(table, partition) / f"{name}.parquet" for name in file_names(task_id)]
        for path in former if not own.is_file() else ():
            with contextlib.suppress(pl.exceptions.PolarsError, OSError):
                if _scanned(path).select("task_id").unique().collect()["task_id"].to_list() == [task_id]:
                    return path
        return own

    def _merged_rows(self, table: str, folder: Path, task_id: str) -> pl.DataFrame | None:
        if (path := merged_file(folder)) is None:
            return None
        found = self.read_file(table, path, pl.col("task_id") == task_id)
        return None if found is None or found.is_empty() else found

    def read_file(self, table: str, path: Path, rows: pl.Expr | bool = True) -> pl.DataFrame | None:
        """Return one file's rows, or these, None where it does not exist. Raises BadStore if it is damaged."""
        refuse_foreign(path)
        try:
            return conform(_scanned(path).filter(rows).collect(), table)
        except FileNotFoundError:
            return None
        except (pl.exceptions.PolarsError, OSError) as e:
            raise self.damaged(path, e) from None

    def damaged(self, path: Path, error: Exception) -> BadStore:
        """Return the error for a file that cannot be read."""
        why = str(error).splitlines()[0]
        return BadStore(f"{path} is damaged ({why}); `difftrust verify --store {self.root}` says what to do")

    def read(
        self,
        table: str,
        partition: Mapping[str, object] | None = None,
        *,
        columns: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Return a table, or what is below ``partition``: these ``columns`` and ``tasks``, partition columns first."""
        rows = True if tasks is None else pl.col("task_id").is_in(tasks)
        wanted = list(SCHEMAS[table]) if columns is None else list(columns)
        for _ in attempts():
            paths = self.files(table, partition)
            read = read_at_once(table, paths, wanted, rows)
            if read is not None:
                return read
            found = [
                pl.DataFrame([partition_of(path, table)], PARTITIONS[table]).join(frame, how="cross")
                for path in paths
                if (frame := self.read_file(table, path, rows)) is not None
            ]
            if len(found) == len(paths):  # else some were merged since they were listed
                whole = pl.concat([pl.DataFrame(schema={**PARTITIONS[table], **SCHEMAS[table]}), *found])
                return whole.select(*PARTITIONS[table], *wanted)
        raise restless(self.root)

    def read_tasks(self, benchmark: str, names: Sequence[str] | None = None) -> list[Task]:
        """Return the tasks of one benchmark, or those named; a task that names no language is in the default one."""
        rows = self.read("tasks", {"benchmark": benchmark}, tasks=names)
        if twice := rows.filter(pl.col("task_id").is_duplicated())["task_id"].to_list():
            raise self.damaged(self.folder("tasks", {"benchmark": benchmark}), ValueError(f"{twice[0]} is there twice"))
        return [_task(row) for row in rows.iter_rows(named=True)]


def _scanned(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, hive_partitioning=False, glob=False)


_RECORDS: dict[str, type[Any]] = {"domain": Domain, "relation": Relation}


def _task(row: dict[str, Any]) -> Task:
    try:
        records = {name: _record(kind, json.loads(row[name])) if row[name] else None for name, kind in _RECORDS.items()}
        tests = tuple(_record(TaskTest, test) for test in json.loads(row["tests"] or "[]"))
        inputs = {name: tuple(row[name] or ()) for name in ("seed_inputs", "public_inputs")}
        if None in inputs["seed_inputs"] + inputs["public_inputs"]:
            raise TypeError("an input that is null")
    except (ValueError, TypeError, RecursionError) as e:
        parts = "domain, relation, tests and inputs as difftrust writes them"
        raise BadStore(f"task {row['task_id']}: expected {parts}, found {str(e)[:80]}; import it anew") from None
    return Task(**{**row, **inputs, **records, "language": row["language"] or Task.language, "tests": tests})


def _record(kind: type[Any], found: dict[str, Any]) -> Any:
    record = kind(**found)
    for field in fields(kind):
        wanted: Any = int | float if field.type is float else field.type
        if not isinstance(getattr(record, field.name), wanted):
            raise TypeError(f"{field.name} of a {kind.__name__}")
    return record


def merged_file(folder: Path) -> Path | None:
    """Return the merged file that a folder's note names. Raises BadStore if that is none of this folder."""
    refuse_foreign(folder / MERGED_NAME)
    try:
        name = (folder / MERGED_NAME).read_text(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as e:
        raise BadStore(f"{folder / MERGED_NAME} cannot be read: {e.strerror}; restore it") from None
    if not re.fullmatch(r"\+[\w-]+\.parquet", name):
        raise BadStore(f"{folder / MERGED_NAME}: expected a merged file of its folder, found {name[:80]!a}; restore it")
    return folder / name


def partition_of(path: Path, table: str) -> dict[str, Any]:
    """Return the partition values that a file's path, or its folder's, spells. Raises BadStore if no writer does so."""
    kinds = PARTITIONS[table]
    parts = [part for part in path.parts if "=" in part][-len(kinds) :]
    convert = {pl.Float64: float, pl.Int64: int}
    with contextlib.suppress(ValueError):
        spelled = [unquote(part.partition("=")[2]) for part in parts]
        values = {name: convert.get(kinds[name], str)(text) for name, text in zip(kinds, spelled, strict=True)}
        is_sound = all(isinstance(value, str) or 0 <= value < 1 << 32 for value in values.values())
        if is_sound and _spell(table, values) == parts:
            return values
    remedy = "`difftrust verify --repair` moves them aside"
    raise BadStore(f"{path}: expected folders {'=.../'.join(kinds)}=... as difftrust spells them; {remedy}")


def _spell(table: str, partition: Mapping[str, object]) -> list[str]:
    """Return the folders of a partition: each value in one spelling, percent-encoded, ``start`` with six digits."""
    values = {name: partition[name] for name in PARTITIONS[table] if name in partition}
    texts = {name: str(value + 0.0 if isinstance(value, float) else value) for name, value in values.items()}  # no -0.0
    return [f"{name}={quote(text.zfill(6 if name == 'start' else 0), safe='')}" for name, text in texts.items()]


def file_names(task_id: str) -> tuple[str, ...]:
    """Return the name of a task's files, which no other id has, and the former one where it is another.

    ``HumanEval_0`` is of HumanEval/0: the first ``_`` stands for ``/``, any other for itself. Of an id that this does
    not spell, the name has a digest.
    """
    former = re.sub(r"[^A-Za-z0-9.\-]", "_", task_id)
    is_short = len(former) <= MOST_NAME
    if is_short and former.replace("_", "/", 1) == task_id and not former.startswith("."):
        return (former,)
    own = f"{former[:_READABLE].lstrip('.')}~{hashlib.blake2b(task_id.encode(), digest_size=8).hexdigest()}"
    return (own, former) if is_short else (own,)


def chunk_starts(spans: Sequence[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """Return the chunks that n inputs need: of those at hand (``spans``, ascending), one for each gap and for the rest.

    A gap is what `difftrust verify --repair` leaves of damaged inputs.
    """
    needed, reached = [], 0
    for start, stop in [*(span for span in spans if span[0] < n), (n, n)]:
        needed += [(begin, end) for begin, end in ((reached, start), (start, stop)) if begin < end]
        reached = max(reached, stop)
    return needed


_MERGEABLE = (*CHUNK_TABLES, "programs", "tokens")
_ROWS = {"behaviours": 64}
_OTHER_ROWS = 16_384
"""Rows of a row group, small enough that one task is read without the others; a row of behaviours is a long list."""
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def merge_files(store: Store) -> tuple[int, int]:
    """Merge the files of every partition that has several, and return how many files there were and are.

    Readers go on meanwhile. Rows are sorted by their keys.

    Raises StoreInUse if another process writes, BadStore if a file is damaged or the disk is full, DifftrustError if
    the file system cannot exchange two folders.
    """
    with store.writing():
        before = len(store.names())
        folders = list(_folders(store))
        with Progress(folders, unit="folder", desc="compact", delay=1) as bar:
            for table, folder in bar:
                _merge(store, table, folder)
        return before, len(store.names())


def _folders(store: Store) -> Iterator[tuple[str, Path]]:
    for table in _MERGEABLE:
        if store.holds(table):
            for folder, n_files in Counter(path.parent for path in store.files(table)).items():
                if n_files > 1:
                    yield table, folder


def _merge(store: Store, table: str, folder: Path) -> None:
    paths = sorted(folder.glob("*.parquet"))
    names = [path.relative_to(store.root).as_posix() for path in paths]
    made = store.root / SCRATCH / folder.relative_to(store.root)
    merged = f"{MERGED}{_digest(paths)}.parquet"
    try:
        made.mkdir(parents=True)
        rows = pl.concat(map(_scanned, paths), how="diagonal").sort(KEYS[table], maintain_order=True)
        rows.sink_parquet(made / merged, row_group_size=_ROWS.get(table, _OTHER_ROWS), **_PACKED)
        seal(made / merged, (folder / merged).relative_to(store.root).as_posix())
        (made / MERGED_NAME).write_text(merged)
        forget(store.root, names)
        try:
            exchange_folders(made, folder)
        except (OSError, DifftrustError):
            write_list(store.root, read_list(store.root).union(names))
            raise
    except (OSError, pl.exceptions.PolarsError) as e:
        why = why_not_written(e, store.root)
        raise BadStore(f"{folder} could not be merged: {why}; it is as before, verify it or make room") from None
    finally:
        shutil.rmtree(store.root / SCRATCH, ignore_errors=True)


def _digest(paths: list[Path]) -> str:
    """Return a name for what is merged: another for other rows."""
    digest = hashlib.blake2b(digest_size=8)
    for path in paths:
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def exchange_folders(one: Path, other: Path) -> None:
    """Exchange two folders in one step, so that each name leads to one of them at every moment."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        raise DifftrustError("merging needs Linux (renameat2), this system has none; the store is as before")
    words = os.fsencode(one), os.fsencode(other)
    if libc.renameat2(_AT_FDCWD, words[0], _AT_FDCWD, words[1], _RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        if number in (errno.EINVAL, errno.ENOSYS):
            raise DifftrustError(
                f"merging needs a file system that can exchange two folders, that of {other} cannot; "
                "the store is as before, copy it to a local disk"
            )
        raise OSError(number, os.strerror(number))
