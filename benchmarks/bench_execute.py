"""What running through an executor costs over a bare loop of the same blocks.  Prints ratios measured in one run.

Both sides draw the same numbers from the same generators, one block after the other.  One worker, so that nothing is
gained in parallel; the workers have started before the clock does, and what starting takes is printed by itself.
The record is the SQLite file of finished blocks; what opening and closing it takes is printed by itself, too.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpverdict.execute.executor import Executor
from dpverdict.execute.job import Block, Job
from dpverdict.execute.processes import ProcessExecutor
from dpverdict.execute.record import Record
from dpverdict.execute.run import Oversight, run
from dpverdict.execute.threads import ThreadExecutor

ROUNDS = 7


def vectorised(block: Block, generator: np.random.Generator) -> int:
    """Runs as one array, about 10 ns each: hardly any vectorised mechanism is as fast."""
    return int(np.count_nonzero(generator.laplace(0.0, 1.0, block.runs) > 0.5))


def once(generator: np.random.Generator) -> bool:
    """One run of about 10 µs."""
    total = 0.0
    for _ in range(26):
        total += generator.laplace(0.0, 1.0)
    return total > 0.5


def one_by_one(block: Block, generator: np.random.Generator) -> int:
    """Runs as calls of a Python function."""
    return sum(once(generator) for _ in range(block.runs))


JOBS = (
    Job("vectorised, 1e7 runs", vectorised, 1, 1 << 20, 10_000_000),
    Job("one run a call, 1e5 runs", one_by_one, 1, 10_000, 100_000),
)


def bare(job: Job[int]) -> int:
    """The loop that one would write without any of this."""
    blocks = map(job.block, range(job.blocks or 0))
    return sum(job.work(block, block.generator()) for block in blocks)


def through(executor: Executor, job: Job[int], record: Record | None) -> int:
    return sum(finished.result for finished in run(executor, job, None, Oversight(record)))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(job: Job[int], executor: Executor, recorded: bool) -> tuple[float, float]:
    """The bare loop's shortest time, and the ratio of the shortest times, measured in turns.

    What else a machine does only ever adds time; medians of ratios swing by a tenth on a machine that is shared.
    """
    pairs = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder, Record(Path(folder) / "record") as record:
            list(run(executor, replace(job, runs=1)))  # so that a worker has started
            pairs.append(
                (seconds(lambda: bare(job)), seconds(lambda: through(executor, job, record if recorded else None)))
            )
    alone, own = (min(column) for column in zip(*pairs, strict=True))
    return alone, own / alone


def open_and_close() -> None:
    with tempfile.TemporaryDirectory() as folder, Record(Path(folder) / "record"):
        pass


def start_and_end() -> None:
    with ProcessExecutor(1) as executor:
        list(run(executor, Job("start", one_by_one, 1, 1, 1)))


def main() -> None:
    for job, target in zip(JOBS, (1.05, 1.10), strict=True):
        assert through(ThreadExecutor(1), job, None) == bare(job)
        for name, make in (("threads", ThreadExecutor), ("processes", ProcessExecutor)):
            for recorded in (False, True):
                with make(1) as executor:
                    alone, times = ratio(job, executor, recorded)
                kept = "recorded" if recorded else "not recorded"
                each = alone / (job.runs or 1) * 1e9
                print(f"{job.name}, {name}, {kept}: {times:.3f} of the bare loop's {alone:.3f} s ", end="")
                print(f"({each:,.0f} ns a run; target {target:.2f})")
    for what, work in (("a worker process", start_and_end), ("a record", open_and_close)):
        print(
            f"starting and ending {what}: {statistics.median(seconds(work) for _ in range(ROUNDS)) * 1e3:.1f} ms, once"
        )


if __name__ == "__main__":
    main()
