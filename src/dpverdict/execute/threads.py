"""Threads on this machine, for work that lets go of the interpreter lock, as NumPy does."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Generic, Self, TypeVar

from dpverdict.errors import UsageError
from dpverdict.execute import failures
from dpverdict.execute.executor import Abilities, Crew, Ending, Failed, Finished
from dpverdict.execute.job import Block, Job

T = TypeVar("T")

_PATIENCE = 2.0
"""Seconds that `close` waits for work under way; then it is left behind, in daemon threads that end after it."""


@dataclass(frozen=True, slots=True)
class ThreadExecutor:
    """So many threads; a single one is the caller's own, which a debugger can follow."""

    workers: int = 1

    def __post_init__(self) -> None:
        check_workers(self.workers)

    @property
    def abilities(self) -> Abilities:
        """Threads share everything, so that they can neither be killed nor die alone."""
        return Abilities(stops_work=False, redoes_dead=False, seeds_globals=False, takes_closures=True)

    def crew(self, job: Job[T]) -> Crew[T]:
        """Threads for a job, which end with it."""
        if job.seconds_per_block is not None:
            raise failures.unlimited(job)
        return _Threads(job, self.workers) if self.workers > 1 else _Inline(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


def check_workers(given: object) -> None:
    """Refuse what is no number of workers."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError(
            "USAGE-107",
            f"a number of workers must be a whole number, at least 1; got {given!r}",
            why="each worker does one block at a time, and somebody has to",
            fix="--workers 2",
        )


def do(job: Job[T], block: Block) -> Ending[T]:
    """One block, here and now."""
    started = time.perf_counter()
    try:
        result = job.work(block, block.generator())
    except BaseException as error:  # whatever it is, it is reported with its block
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise
        failed = failures.failure(block, failures.describe(error))
        if failed is not error:
            failed.__cause__ = error
        return Failed(block, failed)
    return Finished(block, result, time.perf_counter() - started)


class _Inline(Generic[T]):
    """The caller's thread does a block whenever it waits for one."""

    def __init__(self, job: Job[T]) -> None:
        self._job = job
        self._submitted: deque[Block] = deque()

    def submit(self, block: Block) -> None:
        self._submitted.append(block)

    def wait(self, seconds: float) -> Ending[T] | None:
        return do(self._job, self._submitted.popleft()) if self._submitted else None

    def close(self) -> Sequence[Ending[T]]:
        self._submitted.clear()
        return ()


class _Threads(Generic[T]):
    """Daemon threads, so that work that hangs cannot keep the interpreter from ending."""

    def __init__(self, job: Job[T], workers: int) -> None:
        self._job = job
        self._submitted: SimpleQueue[Block | None] = SimpleQueue()
        self._ended: SimpleQueue[Ending[T]] = SimpleQueue()
        # Each thread sees the caller's context variables, among them NumPy's handling of floating-point errors.
        self._threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(self._serve,), daemon=True)
            for _ in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, block: Block) -> None:
        self._submitted.put(block)

    def wait(self, seconds: float) -> Ending[T] | None:
        try:
            return self._ended.get(timeout=seconds)
        except Empty:
            return None

    def close(self) -> Sequence[Ending[T]]:
        emptied(self._submitted)
        for _ in self._threads:
            self._submitted.put(None)
        deadline = time.monotonic() + _PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return emptied(self._ended)

    def _serve(self) -> None:
        while (block := self._submitted.get()) is not None:
            self._ended.put(do(self._job, block))


def emptied(queue: SimpleQueue[T]) -> list[T]:
    """Everything that is in the queue right now."""
    taken = []
    try:
        while True:
            taken.append(queue.get_nowait())
    except Empty:
        return taken
