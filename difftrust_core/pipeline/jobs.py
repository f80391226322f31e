"""What is asked of a worker, and what it reports: chunks, pieces of them, their programs; nothing else."""

from dataclasses import dataclass, field
from pathlib import Path

from difftrust_core.mirrors import Holding
from difftrust_core.sandbox import Limits, ProgramRun
from difftrust_core.sandbox.outcomes import Outcome
from difftrust_core.store import Settings
from difftrust_core.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program to execute: its tree, one of its texts, and how many candidates (of any coder) share it."""

    tree_id: str
    code: str
    n_candidates: int = 1


@dataclass(frozen=True, kw_only=True)
class ChunkJob:
    """What is missing of one task on its inputs ``start`` to ``stop``: the programs that have not met them yet.

    ``jury``: the task's programs, for the quorum policy. ``holding``: the store's URL, if it has one. ``is_here``:
    whether workers reach ``root`` as well.
    """

    root: Path
    task: Task
    settings: Settings
    start: int
    stop: int
    programs: tuple[Program, ...]
    jury: tuple[Program, ...] = ()
    limits: Limits = field(default_factory=Limits)
    allow_weak: bool = False
    holding: Holding | None = None
    is_here: bool = True

    @property
    def n(self) -> int:
        """Inputs."""
        return self.stop - self.start


@dataclass(frozen=True, kw_only=True)
class PieceJob:
    """The programs ``first`` to ``last`` of a chunk, in its own order, for a worker that only runs them."""

    chunk: ChunkJob
    first: int
    last: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """Programs of a chunk as they ran: ``outcomes`` lists those of each distinct input, ``runs`` index these lists."""

    first: int
    of: int
    """Programs that were missing of the chunk, its reference among them."""
    runs: tuple[ProgramRun, ...]
    outcomes: tuple[tuple[Outcome, ...], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class JoinJob:
    """All pieces of a chunk, in any order, for a worker that writes it."""

    chunk: ChunkJob
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ChunkReport:
    """What became of a chunk or of a piece of it: written, or a piece of what will be, or why it failed."""

    chunk: ChunkJob
    piece: Piece | None = None
    """What ran, where it could not all be run in time; nothing of it is written."""
    failure: str = ""

    @property
    def benchmark(self) -> str:
        """The task's benchmark."""
        return self.chunk.task.benchmark

    @property
    def task_id(self) -> str:
        """The task."""
        return self.chunk.task.task_id
