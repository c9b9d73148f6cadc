"""What a command runs, as the work of jobs: a program in threads, anything else in worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np

from dpverdict.cli import outcomes
from dpverdict.cli.plain_counts import edges_of, plain_edges, plain_tally
from dpverdict.evidence.independence import Evidence, Independence, examine
from dpverdict.execute import seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.executor import Executor
from dpverdict.execute.job import Block, Job
from dpverdict.execute.processes import ProcessExecutor
from dpverdict.execute.run import run
from dpverdict.execute.threads import ThreadExecutor
from dpverdict.mechanism.black_box import BlackBox, FunctionBox
from dpverdict.mechanism.executable import Executable
from dpverdict.mechanism.outcome import key
from dpverdict.mechanism.recorded import RecordedSamples, Recording
from dpverdict.mechanism.tally import listed
from dpverdict.reading.sample import Batch, Sampler
from dpverdict.reading.sample.blocks import BLOCK

# A block should take 10 ms at least, and leave something to show progress by and to resume from.
_SINGLE, _ROWS, _REQUESTED = 5_000, 1 << 18, 1 << 20
_BLOCKS = 50

# An examination takes at most this share of the runs; with fewer runs a block it would see nothing.
_EXAMINED = 1 / 10
_SEEN, _ELSEWHERE = 9, 2
_FEWEST, _MOST = 20, 400


class Runs(Protocol):
    """Something to run on one input."""

    def block_size(self, runs: int) -> int:
        """How many runs make a block, for so many in all."""

    def executor(self, workers: int) -> Executor:
        """Where it runs."""

    def batches(self, block: Block, generator: np.random.Generator) -> Iterator[Batch]:
        """The outputs of a block."""


@dataclass(frozen=True, slots=True)
class ProgramRuns:
    """A program, which lets go of the interpreter lock."""

    sampler: Sampler

    def block_size(self, runs: int) -> int:
        """That of `sample_blocks`."""
        return BLOCK

    def executor(self, workers: int) -> Executor:
        """Threads."""
        return ThreadExecutor(workers)

    def batches(self, block: Block, generator: np.random.Generator) -> Iterator[Batch]:
        """Batches that stay in cache."""
        noise, chunk = NumpyNoise(generator), self.sampler.chunk
        for start in range(0, block.runs, chunk):
            yield self.sampler.batch(noise, min(chunk, block.runs - start))


@dataclass(frozen=True, slots=True)
class BoxRuns:
    """A black box, which may hang, crash, print or draw from global generators."""

    box: BlackBox
    given: Any

    def block_size(self, runs: int) -> int:
        """Many runs where a call makes many."""
        if isinstance(self.box, Executable):
            most = _REQUESTED
        else:
            most = _ROWS if isinstance(self.box, FunctionBox) and self.box.vectorised else _SINGLE
        return min(most, max(1, runs // _BLOCKS))

    def executor(self, workers: int) -> Executor:
        """Processes, or this one's only thread for what no other process finds."""
        apart = isinstance(self.box, Executable) or (isinstance(self.box, FunctionBox) and self.box.is_portable)
        return ProcessExecutor(workers) if apart else ThreadExecutor(1)

    def batches(self, block: Block, generator: np.random.Generator) -> Iterator[Batch]:
        """All runs at once."""
        yield outcomes.batch_of(self.box.run(self.given, block.runs, generator))

    def examined(self, runs: int, seed: int, job: str) -> Independence | None:
        """What the checks of independence say, None if the runs are too few for them to see anything."""
        size = min(_MOST, int(runs * _EXAMINED / (_SEEN + 1 + _ELSEWHERE)))
        if size < _FEWEST:
            return None
        here, there = (self._shown(size, numbers, seed, job) for numbers in _EXAMINATION)
        return examine(Evidence(here[:-1], here[-1], there))

    def _shown(self, size: int, numbers: tuple[int, ...], seed: int, job: str) -> tuple[list[Any], ...]:
        """The outcomes of these blocks, one after the other in a worker that starts with them."""
        work = Job(f"{job}, blocks {numbers}", _Shown(self, size, numbers), seed, 1, 1, "examine")
        with self.executor(1) as executor:
            return next(iter(run(executor, work))).result


_EXAMINATION = ((*range(_SEEN), 0), tuple(range(_SEEN, _SEEN + _ELSEWHERE)))


@dataclass(frozen=True, slots=True)
class _Shown:
    """Work: the outcomes of some blocks, one by one."""

    runs: BoxRuns
    size: int
    numbers: tuple[int, ...]

    def __call__(self, block: Block, _: np.random.Generator) -> tuple[list[Any], ...]:
        generators = (seeds.generator(block.seed, "examine", number) for number in self.numbers)
        found = (self.runs.box.run(self.runs.given, self.size, generator) for generator in generators)
        return tuple([key(outcome) for outcome in listed(some)] for some in found)


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """Recorded outputs: run number n is row number n."""

    recording: Recording

    def block_size(self, runs: int) -> int:
        """As for vectorised functions."""
        return _ROWS

    def executor(self, workers: int) -> Executor:
        """The caller's own thread: rows are read in order."""
        return ThreadExecutor(1)

    def batches(self, block: Block, generator: np.random.Generator) -> Iterator[Batch]:
        """The rows of the block."""
        yield outcomes.batch_of(self.recording.rows(block.start, block.runs))


def box_runs(box: BlackBox, given: Any) -> BoxRuns | RecordedRuns:
    """A black box on an input; recorded outputs are found by the name of their file."""
    if isinstance(box, RecordedSamples):
        return RecordedRuns(box.recording(given))
    return BoxRuns(box, given)


# --- the work ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Look:
    """Work: where the bins of real numbers have their edges."""

    runs: Runs

    def __call__(self, block: Block, generator: np.random.Generator) -> object:
        """The edges, as plain values."""
        return plain_edges(outcomes.edges_from(tuple(chain(*self.runs.batches(block, generator)))))


@dataclass(frozen=True, slots=True)
class Count:
    """Work: how often each outcome occurs."""

    runs: Runs
    edges: object

    def __call__(self, block: Block, generator: np.random.Generator) -> object:
        """The counts, as plain values."""
        tally, edges = outcomes.Tally(), edges_of(self.edges)
        for batch in self.runs.batches(block, generator):
            tally.add(outcomes.count(batch, edges))
        return plain_tally(tally)
