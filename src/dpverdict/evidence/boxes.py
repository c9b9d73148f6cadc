"""Running a black box: how many runs make a block, where they run, and the runs that are made to be examined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverdict.evidence.independence import Evidence, Independence, examine
from dpverdict.execute import seeds
from dpverdict.execute.executor import Executor
from dpverdict.execute.job import Block, Job
from dpverdict.execute.processes import ProcessExecutor
from dpverdict.execute.run import run
from dpverdict.execute.threads import ThreadExecutor
from dpverdict.mechanism.black_box import BlackBox, FunctionBox
from dpverdict.mechanism.executable import Executable
from dpverdict.mechanism.outcome import key
from dpverdict.mechanism.tally import listed

# A block should take 10 ms at least, and leave something to show progress by and to resume from.
SINGLE, ROWS, _REQUESTED = 5_000, 1 << 18, 1 << 20
_BLOCKS = 50

# An examination takes at most this share of the runs; with fewer runs a block it would see nothing.
_EXAMINED = 1 / 10
_SEEN, _ELSEWHERE = 9, 2
FEWEST, _MOST = 20, 400

_EXAMINATION = ((*range(_SEEN), 0), tuple(range(_SEEN, _SEEN + _ELSEWHERE)))


def block_size(box: BlackBox, runs: int) -> int:
    """How many runs make a block, for so many in all: many where a call makes many."""
    if isinstance(box, Executable):
        most = _REQUESTED
    else:
        most = ROWS if isinstance(box, FunctionBox) and box.vectorised else SINGLE
    return min(most, max(1, runs // _BLOCKS))


def executor_of(box: BlackBox, workers: int) -> Executor:
    """Processes, or this one's only thread for what no other process finds."""
    apart = isinstance(box, Executable) or (isinstance(box, FunctionBox) and box.is_portable)
    return ProcessExecutor(workers) if apart else ThreadExecutor(1)


def examination_size(runs: int) -> int:
    """How many runs each block of an examination has, for so many runs in all."""
    return min(_MOST, int(runs * _EXAMINED / (_SEEN + 1 + _ELSEWHERE)))


def examined(box: BlackBox, given: Any, size: int, seed: int, job: str) -> Independence:
    """What the checks of independence say of a black box on an input, from blocks of this size."""
    here, there = (_shown(_Shown(box, given, size, numbers), seed, job) for numbers in _EXAMINATION)
    return examine(Evidence(here[:-1], here[-1], there))


def _shown(work: _Shown, seed: int, job: str) -> tuple[list[Any], ...]:
    """The outcomes of these blocks, one after the other in a worker that starts with them."""
    asked = Job(f"{job}, blocks {work.numbers}", work, seed, 1, 1, "examine")
    with executor_of(work.box, 1) as executor:
        return next(iter(run(executor, asked))).result


@dataclass(frozen=True, slots=True)
class _Shown:
    """Work: the outcomes of some blocks, one by one."""

    box: BlackBox
    given: Any
    size: int
    numbers: tuple[int, ...]

    def __call__(self, block: Block, _: np.random.Generator) -> tuple[list[Any], ...]:
        generators = (seeds.generator(block.seed, "examine", number) for number in self.numbers)
        found = (self.box.run(self.given, self.size, generator) for generator in generators)
        return tuple([key(outcome) for outcome in listed(some)] for some in found)
