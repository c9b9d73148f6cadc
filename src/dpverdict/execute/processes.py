"""Worker processes on this machine, for work that holds the interpreter lock, hangs, crashes or draws from globals.

Blocks wait in one queue; for each worker one thread here takes a block, asks the worker and reports what came of it.
So a worker never waits for the caller, and the caller never waits for a pipe.
"""

from __future__ import annotations

import contextlib
import math
import pickle
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from dpverdict.errors import DPVerdictError
from dpverdict.execute import failures
from dpverdict.execute.executor import Abilities, Crew, Ending, Failed, Finished
from dpverdict.execute.job import Block, Job
from dpverdict.execute.messages import Do, Load, NotDone, Result
from dpverdict.execute.threads import check_workers, emptied
from dpverdict.execute.worker_process import Died, WorkerProcess, main_program

T = TypeVar("T")

_DEATHS = 3
"""So many workers may die of a block; then it fails."""

_LOADING_SECONDS = 300.0
"""How long a worker may take to start and to load its work, which can import a lot, under a time limit for blocks."""

_GLANCE = 0.05
"""Seconds between looks at the clock while blocks have a time limit."""

_PATIENCE = 0.1
"""Seconds for work under way to end by itself when nobody wants it any more."""

_QUICK = 0.05
"""A block that takes less is over before another place would have been worth it; the next one is asked for ahead."""

_LAST_SECONDS = 10.0
"""How long to wait for what has been killed; more than a system under load needs."""


class ProcessExecutor:
    """So many worker processes, which start when first needed and are kept from job to job until `with` is left."""

    def __init__(self, workers: int = 1) -> None:
        check_workers(workers)
        self._workers = workers
        self._pool = _Pool(workers)
        # Whoever forgets `with` leaves nothing behind either.
        self._close = weakref.finalize(self, self._pool.close)

    @property
    def workers(self) -> int:
        """How many processes."""
        return self._workers

    @property
    def abilities(self) -> Abilities:
        """A process can be killed and replaced, and has its global generators to itself."""
        return Abilities(stops_work=True, redoes_dead=True, seeds_globals=True, takes_closures=False)

    def crew(self, job: Job[T]) -> Crew[T]:
        """The processes, set to a job."""
        if not self._close.alive:
            raise failures.closed(job)
        load = Load(_pickled(job), main_program(sys.modules["__main__"]))
        self._pool.start()
        return _Processes(job, self._pool, load)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()


def _pickled(job: Job[Any]) -> bytes:
    try:
        return pickle.dumps(job.work, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # the work's own pickling may raise anything
        raise failures.unpicklable(job, str(error)) from error


@dataclass(slots=True, eq=False)
class _Task:
    """A block on its way; `outcome` is set when it comes back through `crew.ended`."""

    block: Block
    crew: _Processes[Any]
    outcome: Result | DPVerdictError | None = None


class _Processes(Generic[T]):
    """One job's blocks in a pool."""

    def __init__(self, job: Job[T], pool: _Pool, load: Load) -> None:
        self.load = load
        self.limit = job.seconds_per_block
        self.ended: SimpleQueue[_Task] = SimpleQueue()
        self.closed = False
        self._pool = pool

    def submit(self, block: Block) -> None:
        self._pool.tasks.put(_Task(block, self))

    def wait(self, seconds: float) -> Ending[T] | None:
        until = time.monotonic() + seconds
        while True:
            if self.limit is not None:
                self._pool.kill_overdue(self)
            left = max(0.0, until - time.monotonic())
            with contextlib.suppress(Empty):
                return self._ending(self.ended.get(timeout=left if self.limit is None else min(left, _GLANCE)))
            if time.monotonic() >= until:
                return None

    def close(self) -> Sequence[Ending[T]]:
        self.closed = True
        self._pool.drop(self)
        return [self._ending(task) for task in emptied(self.ended)]

    @staticmethod
    def _ending(task: _Task) -> Ending[T]:
        outcome = task.outcome
        if not isinstance(outcome, Result):
            assert outcome is not None
            return Failed(task.block, outcome)
        try:
            return Finished(task.block, pickle.loads(outcome.result), outcome.seconds)
        except Exception as error:  # noqa: BLE001  (the result's own unpickling may raise anything)
            return Failed(task.block, failures.failure(task.block, failures.describe(error)))


class _Pool:
    """The places, and the queue of blocks that they share."""

    def __init__(self, workers: int) -> None:
        self.tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._places = [_Place(self.tasks) for _ in range(workers)]

    def start(self) -> None:
        for place in self._places:
            place.start()

    def kill_overdue(self, crew: _Processes[Any]) -> None:
        for place in self._places:
            place.kill_overdue(crew)

    def drop(self, crew: _Processes[Any]) -> None:
        """End the work of this crew's; the places skip what it has queued.

        A block that is nearly done may end by itself: that is cheaper than a new process.
        """
        until = time.monotonic() + _PATIENCE
        for place in self._places:
            place.wait_for_end_of(crew, until - time.monotonic())
        for place in self._places:
            place.kill_for(crew)
        for place in self._places:
            place.wait_for_end_of(crew, _LAST_SECONDS)

    def close(self) -> None:
        for place in self._places:
            place.close()
        for _ in self._places:
            self.tasks.put(None)
        for place in self._places:
            place.join()


class _Place:
    """Room for one worker process and the thread that asks it; a process that dies is replaced."""

    def __init__(self, tasks: SimpleQueue[_Task | None]) -> None:
        self._tasks = tasks
        self._changed = threading.Condition()
        # What the lock of _changed protects: whoever kills sees whom he kills.
        self._process: WorkerProcess | None = None
        self._task: _Task | None = None
        self._allowed = self._deadline = math.inf
        self._overdue = False
        self._closed = False
        # Only the place's own thread knows these: the block to go on with, who has been asked for it already,
        # and the crew whose last block was quick.
        self._coming: _Task | None = None
        self._asked: WorkerProcess | None = None
        self._quick: _Processes[Any] | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        if not self._closed and self._thread.ident is None:
            self._thread.start()

    def kill_overdue(self, crew: _Processes[Any]) -> None:
        with self._changed:
            if self._task is not None and self._task.crew is crew and time.monotonic() > self._deadline:
                self._overdue = True
                self._kill()

    def kill_for(self, crew: _Processes[Any]) -> None:
        with self._changed:
            if self._task is not None and self._task.crew is crew:
                self._kill()

    def wait_for_end_of(self, crew: _Processes[Any], seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._task is None or self._task.crew is not crew, max(0.0, seconds))

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._kill()

    def join(self) -> None:
        if self._thread.ident is not None:
            self._thread.join(_LAST_SECONDS)

    # --- in the place's own thread -----------------------------------------------------------------------------

    def _serve(self) -> None:
        with contextlib.suppress(DPVerdictError):  # it is tried again, and reported, with the first block
            self._living()
        while (task := self._coming or self._tasks.get()) is not None:
            self._coming = None
            with self._changed:
                self._task, self._overdue = task, False
            outcome = self._do(task)
            with self._changed:
                # Whoever waits for the end of a crew's work waits for the block that has been asked for as well.
                self._task, self._deadline = self._coming, math.inf
                if outcome is not None:
                    task.outcome = outcome
                    task.crew.ended.put(task)
                self._changed.notify_all()
        self._bury()

    def _do(self, task: _Task) -> Result | DPVerdictError | None:
        """What came of the block; None if nobody wants to know any more."""
        deaths, status = 0, None
        while deaths < _DEATHS:
            if task.crew.closed or self._closed:
                self._discard()
                return None
            try:
                return self._try(task)
            except DPVerdictError as error:
                return error
            except Died:
                self._asked = None
                status = self._bury()
                deaths += 1
            if self._overdue:
                return failures.overdue(task.block, self._allowed)
        return failures.dead(task.block, status, deaths)

    def _try(self, task: _Task) -> Result | DPVerdictError:
        process, asked = self._living(), self._asked
        self._asked = None
        if process is not asked:
            # A time limit for blocks is not one for starting: that imports modules, which can take long.
            self._limit(task, _LOADING_SECONDS)
            refused = process.loads(task.crew.load)
            if refused is not None:
                return failures.not_loaded(task.block, refused.raised)
            process.send(Do(task.block))
        self._limit(task, task.crew.limit)
        self._ask_ahead(task, process)
        reply = process.receive()
        if isinstance(reply, NotDone):
            return failures.failure(task.block, reply.raised)
        assert isinstance(reply, Result)
        self._quick = task.crew if reply.seconds < _QUICK else None
        return reply

    def _ask_ahead(self, task: _Task, process: WorkerProcess) -> None:
        """Ask for the next block already, so that the process need not wait for this thread to wake up.

        Only where blocks are quick: another place may be free for a long one.  A time limit is one block's alone.
        """
        if self._coming is None and self._quick is task.crew and task.crew.limit is None:
            with contextlib.suppress(Empty):
                self._coming = self._tasks.get_nowait()
                if self._coming is None:  # the end, which is for the loop
                    self._tasks.put(None)
                elif self._coming.crew is task.crew:
                    process.send(Do(self._coming.block))
                    self._asked = process

    def _discard(self) -> None:
        """Take the reply that nobody waits for any more, so that the next one is the next request's."""
        asked, self._asked = self._asked, None
        if asked is not None:
            try:
                asked.receive()
            except Died:
                self._bury()

    def _living(self) -> WorkerProcess:
        """The process, or a new one if it has died meanwhile."""
        if self._process is not None and self._process.alive:
            return self._process
        self._bury()
        started = WorkerProcess()
        with self._changed:
            self._process = started
            if self._closed:
                self._kill()
        return started

    def _limit(self, task: _Task, seconds: float | None) -> None:
        with self._changed:
            self._allowed = math.inf if seconds is None else seconds
            self._deadline = time.monotonic() + self._allowed
            if task.crew.closed or self._closed:
                # It was closed while there was no process to kill.
                self._kill()

    def _bury(self) -> int | None:
        with self._changed:
            process, self._process = self._process, None
        return None if process is None else process.bury()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
