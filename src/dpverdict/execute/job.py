"""What is to be run, as values: a job, cut into blocks that can be redone one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeAlias, TypeVar

import numpy

from dpverdict.errors import UsageError
from dpverdict.execute import seeds

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """Some of a job's runs.  Its fields decide everything random in it."""

    job: str
    phase: str
    seed: int
    number: int
    start: int
    """The position of its first run among all runs of the job."""

    runs: int

    def generator(self) -> numpy.random.Generator:
        """A fresh generator at the start of the block's stream."""
        return seeds.generator(self.seed, self.job, self.number, self.phase)

    def __str__(self) -> str:
        return f"block {self.number} of {self.job!r}, phase {self.phase!r}, seed {self.seed}"


Work: TypeAlias = Callable[[Block, numpy.random.Generator], T]
"""What is done for a block.  It may draw only from the generator that it is given, and depend only on the block."""


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """Work for a number of runs (None: as many as are asked for), in blocks of equal size; the last may be smaller.

    The result of a block depends on (seed, name, phase, block number) alone, so the name has to say everything that
    distinguishes this job from others under the same seed: the mechanism, the input, the arguments.  For executors
    that use processes, `work` must be picklable: a function at the top level of a module, a `functools.partial` of
    one, or an instance of a class there.
    """

    name: str
    work: Work[T]
    seed: int
    block_size: int
    runs: int | None = None
    phase: str = "run"
    seconds_per_block: float | None = None
    """How long a block may take.  It is no part of the job's identity: a finished block has kept to it."""

    def __post_init__(self) -> None:
        seeds.sequence(self.seed, self.name, 0, self.phase)
        _at_least("a block size", self.block_size, 1)
        if self.runs is not None:
            _at_least("a number of runs", self.runs, 0)
        limit = self.seconds_per_block
        if limit is not None and not limit > 0:
            raise UsageError(
                "USAGE-103",
                f"a time limit must be above 0 seconds; got {limit!r}",
                place=f"job {self.name!r}",
                why="a block that has no time cannot finish",
                fix="seconds_per_block=60, or None for no limit",
            )

    @property
    def blocks(self) -> int | None:
        """How many blocks there are; None if there is always another one."""
        return None if self.runs is None else -(-self.runs // self.block_size)

    def numbers(self) -> Iterable[int]:
        """The numbers of all blocks, in order."""
        return itertools.count() if self.blocks is None else range(self.blocks)

    def block(self, number: int) -> Block:
        """The block with this number."""
        start = number * self.block_size
        if number < 0 or (self.runs is not None and start >= self.runs):
            raise UsageError(
                "USAGE-104",
                f"there is no block {number}",
                place=f"job {self.name!r}: {self.runs} runs in blocks of {self.block_size}",
                why=f"its blocks are numbered from 0, and there are {self.blocks}",
                fix="job.numbers() lists them",
            )
        size = self.block_size if self.runs is None else min(self.block_size, self.runs - start)
        return Block(self.name, self.phase, int(self.seed), number, start, size)

    def identity(self) -> dict[str, object]:
        """What decides the results, as plain values for a record."""
        return {
            "seed": int(self.seed),
            "block_size": self.block_size,
            "runs": self.runs,
            "work": name_of(self.work),
        }


def name_of(work: object) -> str:
    """Where the work is defined, as module:name."""
    if isinstance(work, partial):
        return name_of(work.func)
    named = work if hasattr(work, "__qualname__") else type(work)
    return f"{named.__module__}:{named.__qualname__}"


def _at_least(what: str, given: object, least: int) -> None:
    if isinstance(given, int) and not isinstance(given, bool) and given >= least:
        return
    raise UsageError(
        "USAGE-102",
        f"{what} must be a whole number, at least {least}; got {given!r}",
        why="runs are counted, in whole blocks and a rest",
        fix=str(max(least, 1000)),
    )
