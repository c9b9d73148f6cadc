"""Work in rounds: what comes next is decided only when a whole round is there, on its blocks in order.

So what is decided depends on the seed and on the sizes of the rounds, never on the number of workers or on timing.
The sizes are recorded: a run that decides by the clock can be resumed, and repeated, block for block.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from dpverdict.errors import RecordError, UsageError
from dpverdict.execute.executor import Executor, Finished
from dpverdict.execute.job import Job
from dpverdict.execute.progress import Ended, RoundDone, Started
from dpverdict.execute.run import Oversight, in_order

T = TypeVar("T")

Decide: TypeAlias = Callable[[Sequence[Finished[T]]], int]
"""Takes in the blocks of the round that is over (none before the first) and says how many the next one has; 0 ends."""


def rounds(
    executor: Executor,
    job: Job[T],
    decide: Decide[T],
    oversight: Oversight | None = None,
    replay: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Run rounds until `decide` says 0 or the job has no more blocks; the sizes of the rounds that were run.

    Recorded rounds, or those in `replay`, have the size that they had, whatever `decide` says this time; it is called
    all the same, so that it knows what it knew.  After the rounds in `replay` it is over.
    """
    watched = Oversight() if oversight is None else oversight
    record = watched.record
    before = () if record is None else record.rounds(job)
    planned = _planned(job, before, replay)
    begun, known = time.perf_counter(), 0 if record is None else len(record.finished(job))
    watched.listen(Started(job.name, job.phase, job.blocks, job.runs, known))
    sizes, finished, total = list[int](), tuple[Finished[T], ...](), 0
    while True:
        wanted = _whole(job, decide(finished))
        start, number = sum(sizes), len(sizes)
        if number < len(planned):
            wanted = planned[number]
        size = wanted if job.blocks is None else min(wanted, job.blocks - start)
        if record is not None and number >= len(before):
            record.add_round(job, number, size)
        if size == 0:
            break
        finished = tuple(in_order(executor, job, range(start, start + size), watched))
        sizes.append(size)
        runs = sum(done.block.runs for done in finished)
        total += runs
        watched.listen(RoundDone(job.name, job.phase, number, size, runs))
    watched.listen(Ended(job.name, job.phase, sum(sizes), total, time.perf_counter() - begun))
    return tuple(sizes)


def _planned(job: Job[T], before: tuple[int, ...], replay: Sequence[int] | None) -> tuple[int, ...]:
    if replay is None:
        return before
    planned = (*(_whole(job, size) for size in replay), 0)
    if before != planned[: len(before)]:
        raise RecordError(
            "RECORD-007",
            f"the record has rounds of {_listed(before)} blocks, the rounds to repeat have {_listed(planned)}",
            place=f"job {job.name!r}, phase {job.phase!r}; 0 ends",
            why="a round that was decided on is never decided again",
            fix="repeat these rounds with a record of their own, or with none",
        )
    return planned


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def _whole(job: Job[T], size: object) -> int:
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    raise UsageError(
        "USAGE-109",
        f"the next round was decided to have {size!r} blocks",
        place=f"job {job.name!r}, phase {job.phase!r}",
        why="a round is a whole number of blocks; 0 ends",
        fix="decide on an int, at least 0",
    )
