"""Check every file and every row of a store, and move damaged files aside if asked."""

import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TypeVar

import polars as pl

from difftrust.verify.repair import DAMAGED, move_aside, table_of, with_remedies
from difftrust.verify.rows import Finding, check_chunk, check_tables
from difftrust_core.base.files import is_plain
from difftrust_core.base.parallel import Progress, in_parallel
from difftrust_core.exceptions import BadStore
from difftrust_core.store.checksums import LIST_FILE, ROOM_FILE, is_whole, read_list, sound_list
from difftrust_core.store.replies import FILE as REPLIES_FILE
from difftrust_core.store.replies import ReplyFile
from difftrust_core.store.schemas import (
    CHUNK_TABLES,
    FORMER_TABLES,
    MAY_BE_MISSING,
    NEVER_NULL,
    PARTITIONS,
    SCHEMAS,
    columns_with_nulls,
)
from difftrust_core.store.settings import has_checksums
from difftrust_core.store.store import (
    MERGED_NAME,
    SCRATCH,
    SETTINGS_FILE,
    Store,
    file_names,
    merged_file,
    partition_of,
)
from difftrust_core.store.tree_ids import count_former_ids

SUGGESTIONS = "suggestions"
"""The folder of files that a check keeps and its user edits."""
_OWN = {SETTINGS_FILE, LIST_FILE, ROOM_FILE, ".lock", ".workers"}
_BATCH = 32
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What a store was found to be."""

    n_files: int
    n_bytes: int
    n_unsealed: int
    """Files without a checksum, written before there were any; their rows were checked."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    """What is unusual and not wrong."""
    moved: tuple[str, ...] = ()
    """Files that were moved to the folder ``damaged``."""


def verify(store: Store, *, n_jobs: int = 1, repair: bool = False) -> Verification:
    """Check every file against its checksum, every row against what must hold, and say what brings back what is wrong.

    With ``repair`` the files that are wrong are moved to the folder ``damaged`` of the store, with those whose rows
    speak of them; the commands named then bring them back. Nothing else is written. Raises StoreInUse if ``repair`` is
    asked for while another process writes.
    """
    if repair:
        with store.writing(is_repair=True):
            found = _verify(store, n_jobs)
            return replace(found, moved=tuple(move_aside(store, found.findings)))
    return _verify(store, n_jobs)


def _verify(store: Store, n_jobs: int) -> Verification:
    findings, notes, names = _sort_out(store)
    files = [name for name in names if name.endswith(".parquet")]
    look_at = partial(_look_at, store.root, has_checksums(store.root))
    looks = sorted(_for_each(look_at, files, n_jobs, unit="file", desc="verify"), key=lambda look: look.name)
    findings += [_found(look.name, look.flaw) for look in looks if look.flaw]
    findings += _check_chunks(store, looks, n_jobs)
    findings += check_tables(store)
    findings += _check_replies(store)
    with suppress(BadStore):  # of a damaged file; the findings name it
        if former := count_former_ids(store):
            notes.append(f"{former:,} programs have ids of an earlier version, which the next `execute` renews")
    return Verification(
        n_files=len(names),
        n_bytes=sum((store.root / name).stat().st_size for name in names),
        n_unsealed=sum(not look.is_sealed for look in looks),
        findings=tuple(with_remedies(store, findings)),
        notes=tuple(notes),
    )


def _for_each(
    check: Callable[[Item], Result], items: Sequence[Item], n_jobs: int, *, unit: str, desc: str
) -> Iterator[Result]:
    """Yield what ``check`` says of each item, in any order, from as many processes as are worth starting."""
    batches = [items[i : i + _BATCH] for i in range(0, len(items), _BATCH)]
    with Progress(total=len(items), unit=unit, desc=desc, delay=1) as bar:
        for found in in_parallel(partial(_check_all, check), batches, n_jobs=min(n_jobs, 1 + len(batches) // 4)):
            yield from found
            bar.update(len(found))


def _check_all(check: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [check(item) for item in items]


def _sort_out(store: Store) -> tuple[list[Finding], list[str], list[str]]:
    """Return what is wrong with the names of files, what is unusual about them, and the names of the store's own."""
    findings, notes, names, former = list[Finding](), list[str](), list[str](), set[str]()
    for path in sorted(store.root.rglob("*")):
        name = path.relative_to(store.root).as_posix()
        if name.startswith(f"{DAMAGED}/"):
            continue
        if not is_plain(path):
            what = "expected files and folders of the store only, found a symbolic link, a pipe or a device"
            findings.append(_found(name, what))
            continue
        if path.is_dir() or name in _OWN or table_of(name) in (SCRATCH, SUGGESTIONS):
            continue
        if path.name.startswith(".") and path.suffix == ".tmp":
            notes.append(f"{name} was left by a command that was killed; the next one removes it")
        elif table_of(name) in FORMER_TABLES:
            former.add(name)
        elif table_of(name) not in PARTITIONS:
            notes.append(f"{name} is no file of a store; it is not looked at")
        elif _is_own(name) or (path.name == MERGED_NAME and _names_its_own(path.parent)):
            names.append(name)
        else:
            findings.append(Finding(path=name, what="expected files of the store only, found another one"))
    if former:
        notes.append(f"{len(former):,} files of an earlier version ({', '.join(FORMER_TABLES)}) that nothing reads")
    for name in sorted(read_list(store.root).difference(names, former)):
        findings.append(_found(name, "expected this file, found none"))
    if sound_list(store.root) is None:
        findings.append(Finding(path=LIST_FILE, what="expected the list that was written, found another one"))
    return findings, notes, names


def _found(name: str, what: str) -> Finding:
    """Return what is wrong with a file."""
    table = table_of(name)
    return Finding(path=name, what=what, table=table if table in PARTITIONS else "")


def _names_its_own(folder: Path) -> bool:
    """Tell whether the note of a merged file names one that is there."""
    with suppress(BadStore):
        return (found := merged_file(folder)) is not None and found.is_file()
    return False


def _is_own(name: str) -> bool:
    table, *folders, file = PurePosixPath(name).parts
    if table == "estimates" and not folders:
        return file.endswith(".fingerprint")
    if [folder.partition("=")[0] for folder in folders] != list(PARTITIONS[table]):
        return False
    try:
        partition_of(Path(name), table)
    except BadStore:
        return False
    return file == REPLIES_FILE if table == "replies" else file.endswith(".parquet")


@dataclass(frozen=True, kw_only=True)
class _Look:
    """What one file was found to be. ``task_ids``: whose rows it holds, if it is of a chunk."""

    name: str
    flaw: str = ""
    is_sealed: bool = True
    task_ids: tuple[str, ...] = ()


def _look_at(root: Path, is_sealed: bool, name: str) -> _Look:
    try:
        content = (root / name).read_bytes()
        whole = is_whole(content, name)
        if whole is False:
            return _Look(name=name, flaw="expected the bytes that were written here, found others")
        found = pl.read_parquet_schema(io.BytesIO(content))
        flaw, task_ids = _schema_flaw(table_of(name), found), ()
        if not flaw:
            never_null = pl.read_parquet(io.BytesIO(content), columns=[c for c in NEVER_NULL if c in found])
            empty = ", ".join(columns_with_nulls(never_null))
            flaw = f"expected a value in every row, found nulls in {empty}" if empty else ""
        if not flaw and table_of(name) in CHUNK_TABLES:
            task_ids = tuple(never_null["task_id"].unique())
            flaw = _owner_flaw(PurePosixPath(name).stem, task_ids)
        if not flaw and whole is None and is_sealed:
            flaw = "expected a checksum, as every file of this store was given, found none"
    except (OSError, ValueError, pl.exceptions.PolarsError) as e:
        return _Look(name=name, flaw=f"expected a whole Parquet file, found damage: {str(e).splitlines()[0]}")
    return _Look(name=name, flaw=flaw, is_sealed=whole is True, task_ids=() if flaw else task_ids)


def _schema_flaw(table: str, found: Mapping[str, object]) -> str:
    optional = MAY_BE_MISSING.get(table, ())
    missing = [c for c, kind in SCHEMAS[table].items() if c not in optional and found.get(c) != kind]
    foreign = [c for c, kind in found.items() if SCHEMAS[table].get(c) != kind]
    wrong = ", ".join(dict.fromkeys(missing + foreign))
    return f"expected the columns of {table}, found otherwise: {wrong}" if wrong else ""


def _owner_flaw(stem: str, task_ids: Sequence[str]) -> str:
    if stem.startswith(MERGED_NAME[0]) or (len(task_ids) == 1 and stem in file_names(*task_ids)):
        return ""
    return "expected rows of the task that the file is named after, found others"


def _check_chunks(store: Store, looks: list[_Look], n_jobs: int) -> list[Finding]:
    tasks: dict[str, set[str]] = defaultdict(set)
    spoilt: set[tuple[str, str]] = set()
    for look in looks:
        if table_of(look.name) in CHUNK_TABLES:
            folder = str(PurePosixPath(look.name).parent).partition("/")[2]
            tasks[folder].update(look.task_ids)
            if look.flaw:
                spoilt.add((folder, PurePosixPath(look.name).stem))
    jobs = [
        (folder, task_id)
        for folder in sorted(tasks)
        for task_id in sorted(tasks[folder])
        if not any((folder, name) in spoilt for name in file_names(task_id))
    ]
    found = _for_each(partial(check_chunk, store.root), jobs, n_jobs, unit="task", desc="verify rows")
    return sorted(chain.from_iterable(found), key=lambda finding: (finding.path, finding.what))


def _check_replies(store: Store) -> Iterator[Finding]:
    for path in sorted((store.root / "replies").rglob(REPLIES_FILE)):
        try:
            ReplyFile(store, partition_of(path, "replies"))
        except BadStore as e:
            yield _found(path.relative_to(store.root).as_posix(), str(e).removeprefix(str(path)).lstrip(": "))
