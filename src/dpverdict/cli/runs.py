"""What a command runs, as the work of jobs: a program in threads, anything else in worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np

from dpverdict.cli import outcomes
from dpverdict.cli.plain_counts import edges_of, plain_edges, plain_tally
from dpverdict.evidence import boxes
from dpverdict.evidence.independence import Independence
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.executor import Executor
from dpverdict.execute.job import Block
from dpverdict.execute.threads import ThreadExecutor
from dpverdict.mechanism.black_box import BlackBox
from dpverdict.mechanism.recorded import RecordedSamples, Recording
from dpverdict.reading.sample import Batch, Sampler
from dpverdict.reading.sample.blocks import BLOCK


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
        return boxes.block_size(self.box, runs)

    def executor(self, workers: int) -> Executor:
        """Processes, or this one's only thread for what no other process finds."""
        return boxes.executor_of(self.box, workers)

    def batches(self, block: Block, generator: np.random.Generator) -> Iterator[Batch]:
        """All runs at once."""
        yield outcomes.batch_of(self.box.run(self.given, block.runs, generator))

    def examined(self, runs: int, seed: int, job: str) -> Independence | None:
        """What the checks of independence say, None if the runs are too few for them to see anything."""
        size = boxes.examination_size(runs)
        return None if size < boxes.FEWEST else boxes.examined(self.box, self.given, size, seed, job)


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """Recorded outputs: run number n is row number n."""

    recording: Recording

    def block_size(self, runs: int) -> int:
        """As for vectorised functions."""
        return boxes.ROWS

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
