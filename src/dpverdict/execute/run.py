"""Running a job: its blocks in order, recorded before anything looks at them, stopped and resumed without loss.

What holds for every executor is done here, once: at most three blocks per worker are under way or wait for their turn;
a failure is reported when it is its block's turn, so that it too does not depend on timing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NoReturn, TypeVar

from dpverdict.errors import Interrupted, UsageError
from dpverdict.execute.cancellation import Cancel
from dpverdict.execute.executor import Crew, Ending, Executor, Failed, Finished
from dpverdict.execute.job import Block, Job
from dpverdict.execute.progress import BlockDone, Ended, Listener, Started, unheard
from dpverdict.execute.record import Record

T = TypeVar("T")

BLOCKS_PER_WORKER = 3
"""Blocks of each worker that are under way, or done and not yet taken: one in work, one asked for, one to ask next."""

_GLANCE = 0.1
"""Seconds between looks at the token while nothing ends."""


@dataclass(frozen=True, slots=True)
class Oversight:
    """What keeps a run's blocks, may stop it, and hears of it."""

    record: Record | None = None
    cancel: Cancel = field(default_factory=Cancel)
    listen: Listener = unheard


def run(
    executor: Executor, job: Job[T], blocks: Iterable[int] | None = None, oversight: Oversight | None = None
) -> Generator[Finished[T], None, None]:
    """The blocks with these (increasing) numbers, all if none are given, in order; what is recorded is not redone.

    Whoever stops taking blocks stops the work.  Raises ExecutionError for a block that fails, RecordError if the
    record does not fit or cannot be written, and Interrupted when stopped by the token or by Ctrl-C.
    """
    watched = Oversight() if oversight is None else oversight
    started, done, runs = time.perf_counter(), 0, 0
    recorded = 0 if watched.record is None else len(watched.record.finished(job))
    watched.listen(Started(job.name, job.phase, job.blocks, job.runs, recorded))
    for finished in in_order(executor, job, job.numbers() if blocks is None else blocks, watched):
        done, runs = done + 1, runs + finished.block.runs
        yield finished
    watched.listen(Ended(job.name, job.phase, done, runs, time.perf_counter() - started))


def in_order(executor: Executor, job: Job[T], numbers: Iterable[int], oversight: Oversight) -> Iterator[Finished[T]]:
    """`run` without its beginning and end, for whoever runs a job part by part."""
    line = _Line(executor, job, oversight)
    try:
        yield from line.blocks(iter(numbers))
    except KeyboardInterrupt:
        line.interrupted("KeyboardInterrupt")
    finally:
        line.close()


class _Line(Generic[T]):
    """The blocks between the first that has not been taken and the last that has been given out."""

    def __init__(self, executor: Executor, job: Job[T], oversight: Oversight) -> None:
        self._executor, self._job = executor, job
        self._record, self._cancel, self._listen = oversight.record, oversight.cancel, oversight.listen
        self._known = set[int]() if self._record is None else self._record.finished(job)
        self._queue = deque[Block]()
        self._ready = dict[int, Ending[T]]()
        self._crew: Crew[T] | None = None
        self._taken = 0

    def blocks(self, numbers: Iterator[int]) -> Iterator[Finished[T]]:
        """The blocks, in order."""
        room = BLOCKS_PER_WORKER * self._executor.workers
        failing, last, more = False, -1, True
        while True:
            if self._cancel.requested and (more or self._queue):
                self.interrupted(self._cancel.reason)
            while more and not failing and len(self._queue) < room:
                number = next(numbers, None)
                more = number is not None
                if number is not None:
                    self._give_out(number, last)
                    last = number
            if not self._queue:
                return
            head = self._queue[0]
            recorded = self._recorded(head)
            ending = self._ready.pop(head.number, None) if recorded is None else recorded
            if ending is None:
                failing |= self._wait()
                continue
            self._queue.popleft()
            if isinstance(ending, Failed):
                raise ending.error
            self._taken += 1
            self._listen(BlockDone(head.job, head.phase, head.number, head.runs, ending.seconds, recorded is not None))
            yield ending

    def interrupted(self, reason: str) -> NoReturn:
        """Say what is finished and how to go on."""
        self.close()
        record, whole = self._record, "any number of" if self._job.blocks is None else self._job.blocks
        finished = self._taken if record is None else len(self._known)
        error = Interrupted(
            "STOP-001",
            f"stopped by {reason} after {finished} of {whole} blocks of {self._job.name!r}, phase {self._job.phase!r}",
            place=f"no record of them is kept, seed {self._job.seed}" if record is None else f"record: {record.path}",
            why="it was asked to stop; blocks that are recorded are not run again",
            fix="a record (--out), to go on from next time" if record is None else "the same again, to go on from here",
        )
        error.finished, error.resumable = finished, record is not None
        raise error from None

    def close(self) -> None:
        """Stop the workers; what they have finished is kept."""
        crew, self._crew = self._crew, None
        if crew is None:
            return
        for ending in crew.close():
            self._keep(ending)

    def _give_out(self, number: int, last: int) -> None:
        block = self._job.block(number)
        if number <= last:
            raise UsageError(
                "USAGE-108",
                f"block {number} was asked for after block {last}",
                place=f"job {self._job.name!r}, phase {self._job.phase!r}",
                why="blocks are taken once, in increasing order",
                fix="sorted(set(blocks))",
            )
        self._queue.append(block)
        if number not in self._known:
            if self._crew is None:
                self._crew = self._executor.crew(self._job)
            self._crew.submit(block)

    def _recorded(self, block: Block) -> Finished[T] | None:
        if self._record is None or block.number not in self._known or block.number in self._ready:
            return None
        return self._record.result(self._job, block)

    def _wait(self) -> bool:
        """Wait for one ending; whether it is a failure."""
        assert self._crew is not None, "a block that is not recorded has been submitted"
        ending = self._crew.wait(_GLANCE)
        if ending is None:
            return False
        self._keep(ending)
        self._ready[ending.block.number] = ending
        return isinstance(ending, Failed)

    def _keep(self, ending: Ending[T]) -> None:
        """Record a finished block, before anything looks at it."""
        if self._record is not None and isinstance(ending, Finished):
            self._record.add(self._job, ending)
            self._known.add(ending.block.number)
