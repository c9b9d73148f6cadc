"""Programs compiled by JAX against NumPy threads on the same machine.  Prints ratios measured in one run.

Runs on whichever device JAX finds; without JAX it says so and stops.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpverdict.catalog import find
from dpverdict.errors import MissingExtraError
from dpverdict.execute import gpu
from dpverdict.reading.sample import Batch, Sampler, sample_blocks
from dpverdict.reading.sample.masked import Masked, MaskedSampler

RUNS = 1 << 22
ROUNDS = 5
CASES = (("laplace", 0.0), ("svt1", [0.0] * 10), ("svt2", [0.0] * 10), ("noisy-maximum", [0.0] * 10))


def lengths_of_columns(masked: Masked) -> Any:
    """Runs by number of slots, and runs whose first slot is above one half: an event count on the device."""
    xp = gpu.namespace()
    return xp.bincount(masked.length, length=len(masked.values) + 1), xp.sum(masked.values[0] > 0.5)


def lengths_of_groups(batch: Batch) -> Any:
    """The same of a batch of NumPy's."""
    counts = np.zeros(64, dtype=int)
    hits = 0
    for group in batch:
        counts[len(group.slots)] += group.runs
        first = group.slots[0]
        hits += (
            int(np.count_nonzero(first > 0.5)) if isinstance(first, np.ndarray) else group.runs * bool(first.content)
        )
    return counts, hits


def seconds(work: Callable[[], object]) -> float:
    """Median time of several rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """One line per mechanism."""
    print(f"JAX on {gpu.device()}, {RUNS:,} runs a call")
    for name, content in CASES:
        program = find(name).mechanism.program_for(content)
        compiled, arrays = MaskedSampler(program, content, 1.0), Sampler(program, content, 1.0)
        start = time.perf_counter()
        _wait(compiled.folded(gpu.key(1, name, 0), RUNS, lengths_of_columns))
        first = time.perf_counter() - start
        ours = seconds(lambda c=compiled, n=name: _wait(c.folded(gpu.key(1, n, 1), RUNS, lengths_of_columns)))
        numpy = seconds(lambda a=arrays, n=name: list(sample_blocks(a, RUNS, 1, n, 2, lengths_of_groups)))
        print(f"{name:14} JAX {RUNS / ours:.3g} runs/s (first call {first:.1f} s),", end=" ")
        print(f"NumPy, two threads {RUNS / numpy:.3g} runs/s; ratio {numpy / ours:.1f}")


def _wait(result: Any) -> None:
    for part in result:
        part.block_until_ready()


if __name__ == "__main__":
    try:
        gpu.namespace()
    except MissingExtraError:
        print("JAX is not installed: pip install 'dpverdict[gpu]'")
    else:
        main()
