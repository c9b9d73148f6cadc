"""What running black boxes costs over the functions' own time.  Prints ratios measured in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpverdict.execute.seeds import generator
from dpverdict.mechanism.forms import black_box
from dpverdict.mechanism.fresh_copies import copier

ROUNDS = 9
RUNS = 20_000
BATCH = 10_000_000
WORK = 450
"""Steps that make a function take about ten microseconds."""


def ten_microseconds(value: float, rng: np.random.Generator) -> float:
    total = value
    for step in range(WORK):
        total += step * 1e-9
    return total + rng.laplace()


def list_of_answers(queries: list[float], rng: np.random.Generator) -> list[bool]:
    total = 0.0
    for step in range(WORK // 2):
        total += step * 1e-9
    return [query + total > rng.laplace() for query in queries]


def laplace(value: float, runs: int, rng: np.random.Generator) -> Any:
    return value + rng.laplace(size=runs)


def laplace_pairs(value: float, runs: int, rng: np.random.Generator) -> Any:
    return value + rng.laplace(size=(runs // 2, 2)).reshape(runs, 1)


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """The median time of the bare loop, and the median of ours / bare, measured in turns."""
    pairs = [(_time(bare), _time(ours)) for _ in range(ROUNDS)]
    return statistics.median(base for base, _ in pairs), statistics.median(own / base for base, own in pairs)


def one_run(function: Callable[..., Any], given: Any) -> None:
    """A bare loop that calls the function as often and keeps its outputs."""
    box = black_box(function)

    def bare() -> None:
        rng, kept = generator(1, "bench", 0), []
        for _ in range(RUNS):
            kept.append(function(given, rng))

    base, share = ratio(lambda: box.run(given, RUNS, generator(1, "bench", 0)), bare)
    print(f"{function.__name__}: {1e6 * base / RUNS:.1f} µs a run, ", end="")
    print(f"dpverdict takes {share:.3f} times that  (target: at most 1.10)")


def batches(function: Callable[..., Any], runs: int) -> None:
    """One call of a vectorised function."""
    box = black_box(function)
    base, share = ratio(
        lambda: box.run(0.0, runs, generator(1, "bench", 0)), lambda: function(0.0, runs, generator(1, "bench", 0))
    )
    print(f"{function.__name__}, {runs:,} runs: {1e3 * base:.2f} ms, ", end="")
    print(f"dpverdict takes {share:.3f} times that  (target: at most 1.05 at 10,000,000)")


def copying() -> None:
    """What a fresh copy of the input costs for each run."""
    inputs = {
        "a number": 1.0,
        "5 numbers in a list": [0.0] * 5,
        "a tuple of numbers": (0.0,) * 5,
        "5 lists of 5": [[0.0] * 5 for _ in range(5)],
        "a dictionary of 5 numbers": dict.fromkeys("abcde", 1.0),
        "an array of 1,000": np.zeros(1000),
        "a dictionary of lists (deepcopy)": {"a": [1.0, 2.0]},
    }
    for name, given in inputs.items():
        make = copier(given)
        cost = 0.0 if make is None else min(_time(lambda make=make: [make() for _ in range(1000)]) for _ in range(5))
        print(f"copying {name}: {1e6 * cost:.0f} ns a run" if make else f"copying {name}: not needed")


if __name__ == "__main__":
    one_run(ten_microseconds, 0.0)
    one_run(list_of_answers, [0.0] * 5)
    batches(laplace, BATCH)
    batches(laplace_pairs, BATCH)
    batches(laplace, 1000)
    copying()
