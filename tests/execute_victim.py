"""A program to be killed: counts something in blocks, with a record, and prints the counts at its end.

Run as `python execute_victim.py EXECUTOR WORKERS RECORD`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter

import numpy as np

from dpverdict.errors import Interrupted
from dpverdict.execute.cancellation import cancel_on_signals
from dpverdict.execute.job import Block, Job
from dpverdict.execute.processes import ProcessExecutor
from dpverdict.execute.record import Record
from dpverdict.execute.run import Oversight, run
from dpverdict.execute.threads import ThreadExecutor

BLOCKS = 150


def work(block: Block, generator: np.random.Generator) -> Counter[int]:
    time.sleep(0.004)
    return Counter(generator.integers(0, 5, block.runs).tolist())


def slow(block: Block, generator: np.random.Generator) -> Counter[int]:
    """In the last blocks it does not end at all."""
    if block.number >= 10:
        time.sleep(3600)
    return work(block, generator)


def job_of(done: object = work) -> Job[Counter[int]]:
    return Job("victim", done, 5, 50, 50 * BLOCKS - 7)  # type: ignore[arg-type]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    kind, workers, path = sys.argv[1:4]
    job = job_of(slow if "slow" in sys.argv else work)
    make = {"threads": ThreadExecutor, "processes": ProcessExecutor}[kind]
    counts: Counter[int] = Counter()
    say("ready")
    with cancel_on_signals() as cancel, Record(path, {"kind of test": 1}) as record, make(int(workers)) as executor:
        for finished in run(executor, job, None, Oversight(record, cancel)):
            counts += finished.result
            if "slow" in sys.argv:
                say(str(finished.block.number))
    say(json.dumps(sorted(counts.items())))


if __name__ == "__main__":
    try:
        main()
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped}\n")
        sys.exit(3 if stopped.resumable else 4)
