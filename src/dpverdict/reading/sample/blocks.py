"""Many runs, block by block: seeded by (seed, job, block), so that the number of threads changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from dpverdict.execute import seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.local import in_order
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

    def block(number: int) -> list[T]:
        noise = NumpyNoise(seeds.generator(seed, job, number))
        size = min(BLOCK, runs - number * BLOCK)
        return [fold(sampler.batch(noise, min(chunk, size - start))) for start in range(0, size, chunk)]

    for folded in in_order(block, range(-(-runs // BLOCK)), workers):
        yield from folded
