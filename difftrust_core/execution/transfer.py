"""Bring the few files of a chunk from a store's URL to its worker, and send them back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from difftrust_core.base.files import file_state, scratch_folder
from difftrust_core.execution.plan import ChunkJob
from difftrust_core.store.locks import share
from difftrust_core.store.remote.mirror import Mirror
from difftrust_core.store.remote.url import Remote
from difftrust_core.store.schemas import CHUNK_TABLES
from difftrust_core.store.store import MERGED_NAME, Store, chunk_name, file_name


@contextmanager
def at_hand(job: ChunkJob) -> Iterator[ChunkJob]:
    """Give the job on a folder that holds its files, and share that folder; then send what is new to the store's URL.

    Where the store is but a folder nothing is brought or sent. Raises StoreUnreachable, and StoreInUse once the command
    that began the job no longer holds the URL.
    """
    if job.holding is None or job.is_here:
        with _sent(job):
            yield job
        return
    with scratch_folder(_workers_own()) as folder:
        moved = replace(job, root=folder / "chunk")
        moved.root.mkdir()
        _fetch(Remote(url=job.holding.url), moved, keep=_workers_own() or folder)
        with _sent(moved):
            yield moved


@contextmanager
def _sent(job: ChunkJob) -> Iterator[None]:
    with share(job.root):
        paths = [job.root / folder / f"{file_name(job.task.task_id)}.parquet" for folder in _folders(job)]
        before = [file_state(path) for path in paths]
        yield
        new = [path for path, state in zip(paths, before, strict=True) if file_state(path) != state]
        if job.holding is not None:
            names, mirror = [path.relative_to(job.root).as_posix() for path in new], Mirror.of(job.root)
            if mirror:
                mirror.send(names, job.holding)
            else:
                job.holding.send(names, job.root)


def _folders(job: ChunkJob) -> list[str]:
    """Return the folders of the chunk's partition, in the order in which their files speak of each other."""
    where = {"benchmark": job.task.benchmark, "validity": job.settings.validity, "start": chunk_name(job.start)}
    store = Store(job.root)
    return [store.folder(table, where).relative_to(store.root).as_posix() for table in CHUNK_TABLES]


def _fetch(remote: Remote, job: ChunkJob, *, keep: Path) -> None:
    folders = _folders(job)
    notes = [f"{folder}/{MERGED_NAME}" for folder in folders]
    gone = remote.get([*notes, *(f"{folder}/{file_name(job.task.task_id)}.parquet" for folder in folders)], job.root)
    for note in notes:
        if note not in gone:
            _fetch_merged(remote, job.root / note, job.root, keep=keep)


def _fetch_merged(remote: Remote, note: Path, root: Path, *, keep: Path) -> None:
    """Fetch a partition's merged file, once a worker: its name changes with its content."""
    path = note.with_name(note.read_text())
    kept = keep / path.name
    with suppress(FileNotFoundError):
        os.link(kept, path)
        return
    remote.get([path.relative_to(root).as_posix()], root)
    with suppress(FileExistsError):
        os.link(path, kept)


def _workers_own() -> Path | None:
    """Return the folder of this worker of a cluster, None elsewhere: the system's own for passing files."""
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        return Path(get_worker().local_directory)
    return None
