"""How close sampling a program comes to merely drawing its noise.  Prints ratios measured in one run.

`floor` is a bare NumPy loop that draws exactly the noise that the paths use, by the fastest method known to us
(SFC64, ziggurat exponentials, random signs from a table), into buffers that are made once.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from dpverdict.catalog import find
from dpverdict.execute import seeds
from dpverdict.execute.array_noise import NumpyNoise, keep_freed_memory
from dpverdict.reading.sample import Batch, Sampler, sample_blocks, tally

RUNS = 1 << 22
CHUNK = 1 << 17
ROUNDS = 9


class BareLaplace:
    """Standard Laplace noise, drawn in place."""

    def __init__(self) -> None:
        self._generator = np.random.Generator(np.random.SFC64(7))
        bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
        self._signs = (1 - 2 * bits).astype(np.int8).view(np.uint64).reshape(-1)  # eight signs at a time
        self._buffer = np.empty(CHUNK)

    def __call__(self, size: int) -> np.ndarray:
        drawn = self._buffer[:size]
        self._generator.standard_exponential(out=drawn)
        chosen = np.frombuffer(self._generator.bytes(-(-size // 8)), np.uint8)
        flips = self._signs.take(chosen).view(np.int8)[:size]
        np.multiply(drawn, flips, out=drawn)
        return drawn


def ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float, float]:
    """Median times of both, measured in turns, and the median of theirs / ours."""
    pairs = []
    for _ in range(ROUNDS):
        pairs.append((_time(theirs), _time(ours)))
    floor, own = (statistics.median(column) for column in zip(*pairs, strict=True))
    return floor, own, statistics.median(theirs / ours for theirs, ours in pairs)


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def count_above(batch: Batch) -> int:
    """An event count: outputs above one half."""
    return sum(int(np.count_nonzero(group.slots[0] > 0.5)) for group in batch)


def group_sizes(batch: Batch) -> list[int]:
    """The runs of each way through the program: all that an event over booleans needs."""
    return [group.runs for group in batch]


def laplace() -> None:
    """The Laplace mechanism with an event count, one thread."""
    entry = find("laplace")
    sampler = Sampler(entry.mechanism.program_for(0.0), 0.0, 0.1)
    bare = BareLaplace()

    def floor() -> int:
        hits = 0
        for _ in range(RUNS // CHUNK):
            drawn = bare(CHUNK)
            np.multiply(drawn, 10.0, out=drawn)
            hits += int(np.count_nonzero(drawn > 0.5))
        return hits

    def ours() -> int:
        return sum(sample_blocks(sampler, RUNS, 1, "bench", 1, count_above))

    base, own, share = ratio(ours, floor)
    print(f"Laplace with an event count: bare NumPy {1e9 * base / RUNS:.2f} ns a run,", end=" ")
    print(f"dpverdict {1e9 * own / RUNS:.2f} ns")
    print(f"  speed against the bare loop: {share:.2f}  (target: at least 0.8)")
    plain = np.random.default_rng(1)
    usual, _, gain = ratio(ours, lambda: np.count_nonzero(plain.laplace(scale=10.0, size=RUNS) > 0.5))
    print(f"  speed against Generator.laplace ({1e9 * usual / RUNS:.2f} ns): {gain:.2f}")


def sparse_vector() -> None:
    """SVT1 with ten queries against drawing its noise."""
    queries = [0.0] * 10
    sampler = Sampler(find("svt1").mechanism.program_for(queries), queries, 1.0)
    used = _noise_used(sampler)
    bare = BareLaplace()

    def floor() -> None:
        for sizes in used:
            for size in sizes:
                bare(size)

    for name, fold in (("runs of each way", group_sizes), ("counts of outputs", tally)):
        base, own, share = ratio(lambda fold=fold: list(sample_blocks(sampler, RUNS, 1, "bench", 1, fold)), floor)
        drawn = sum(map(sum, used)) / RUNS
        print(f"SVT1, ten queries, {name}: {drawn:.2f} draws a run, noise alone {1e9 * base / RUNS:.2f} ns, ", end="")
        print(f"dpverdict {1e9 * own / RUNS:.2f} ns a run")
        print(f"  times the noise: {1 / share:.2f}  (target: at most 1.5)")


def _noise_used(sampler: Sampler) -> list[list[int]]:
    """The sizes of the noise arrays that the paths of such a run use, batch by batch."""
    found: list[list[int]] = []

    class Counting(NumpyNoise):
        def laplace(self, size: int) -> np.ndarray:
            found[-1].append(size)
            return super().laplace(size)

    noise = Counting(seeds.generator(1, "bench", 0))
    for _ in range(RUNS // CHUNK):
        found.append([])
        sampler.batch(noise, CHUNK)
    return found


def threads() -> None:
    """The same work in two threads."""
    queries = [0.0] * 10
    sampler = Sampler(find("svt1").mechanism.program_for(queries), queries, 1.0)
    one, two, gain = ratio(
        lambda: list(sample_blocks(sampler, RUNS, 1, "bench", 2, group_sizes)),
        lambda: list(sample_blocks(sampler, RUNS, 1, "bench", 1, group_sizes)),
    )
    print(f"SVT1 in two threads: {gain:.2f} times one thread's speed", end=" ")
    print(f"({1e9 * one / RUNS:.2f} to {1e9 * two / RUNS:.2f} ns)")


if __name__ == "__main__":
    keep_freed_memory()  # the bare loop gets the same allocator settings
    laplace()
    sparse_vector()
    threads()
