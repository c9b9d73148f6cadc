"""Many runs, block by block: seeded by (seed, job, block), so that the number of threads changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy

from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.job import Block, Job
from dpverdict.execute.run import run
from dpverdict.execute.threads import ThreadExecutor
from dpverdict.reading.sample.outputs import Batch
from dpverdict.reading.sample.split import Sampler

BLOCK = 1 << 18
"""Runs per block: enough to make the seeding of a block cheap."""

T = TypeVar("T")


def sample_blocks(  # noqa: PLR0913 (what a block's result depends on, and what is done with it)
    sampler: Sampler, runs: int, seed: int, job: str, workers: int, fold: Callable[[Batch], T]
) -> Iterator[T]:
    """What `fold` makes of each batch, in the order of blocks and batches; memory does not grow with `runs`."""

    chunk = sampler.chunk

    def work(block: Block, generator: numpy.random.Generator) -> list[T]:
        noise = NumpyNoise(generator)
        return [fold(sampler.batch(noise, min(chunk, block.runs - start))) for start in range(0, block.runs, chunk)]

    for finished in run(ThreadExecutor(workers), Job(job, work, seed, BLOCK, runs)):
        yield from finished.result
