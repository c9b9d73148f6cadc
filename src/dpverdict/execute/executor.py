"""The protocol between a run and whatever does its work: threads, processes, a cluster.

An executor does blocks; it does not order, count, record or retry by policy of its own.  `run` does that, once for
all executors.  `conformance` checks everything that is said here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

from dpverdict.errors import DPVerdictError
from dpverdict.execute.job import Block, Job

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """A block that is done, what came out, and how long it took."""

    block: Block
    result: T
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A block that could not be done, and why."""

    block: Block
    error: DPVerdictError


Ending: TypeAlias = Finished[T] | Failed


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an executor can do because of where its work runs."""

    stops_work: bool
    """Work under way is ended at once: at `close`, and when a block exceeds its time limit.  Without this ability a
    job with a time limit is refused, and `close` leaves work under way behind if it does not end soon."""

    redoes_dead: bool
    """A worker can die alone; its block is redone, and fails if that happens again and again."""

    seeds_globals: bool
    """Before each block `random` and `numpy.random` are seeded from the block.  Without this ability they are the
    caller's own, and are left alone."""

    takes_closures: bool
    """Work need not be picklable."""


class Crew(Protocol[T]):
    """Workers that are set to one job.  Blocks go in, endings come out, in any order; each block ends once."""

    def submit(self, block: Block) -> None:
        """Take on one more block, without waiting."""

    def wait(self, seconds: float) -> Ending[T] | None:
        """An ending; None if there was none for so long.

        Work that runs in the caller's own thread takes as long as it takes.
        """

    def close(self) -> Sequence[Ending[T]]:
        """End everything at once; what had ended before and was not waited for comes back."""


class Executor(Protocol):
    """Something that does the blocks of jobs.  Leaving its `with` block ends its workers."""

    @property
    def workers(self) -> int:
        """How many blocks can be under way at the same time."""

    @property
    def abilities(self) -> Abilities:
        """What it can do."""

    def crew(self, job: Job[T]) -> Crew[T]:
        """Workers for a job; refuses at once a job that it cannot do."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
