"""How long tracing takes.  Prints seconds, and ratios to calling the plain function once per path in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpverdict.catalog import find
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.graph import draws_of, in_order

ROUNDS = 5


def svt6_with_branches(noise: Any, queries: Any, epsilon: Any) -> list[bool]:
    """Sparse vector technique without a stop, written so that every answer is a branch."""
    limit, answers = noise.laplace(0, scale=2 / epsilon), []
    for query in queries:
        if noise.laplace(query, scale=2 / epsilon) >= limit:
            answers.append(True)
        else:
            answers.append(False)
    return answers


def svt2_without_stop(noise: Any, queries: Any, epsilon: Any) -> list[bool]:
    """A fresh threshold after each answer, and no stop."""
    limit, answers = noise.laplace(0, scale=2 / epsilon), []
    for query in queries:
        above = noise.laplace(query, scale=4 / epsilon) >= limit
        answers.append(above)
        if above:
            limit = noise.laplace(0, scale=2 / epsilon)
    return answers


CASES: tuple[tuple[str, Callable[..., Any], int, dict[str, Any], str], ...] = (
    ("SVT1, 30 queries", find("svt1").mechanism.function, 30, {}, "0.1 s"),
    ("SVT1, 30 queries, stop after 10", find("svt1").mechanism.function, 30, {"stop_after": 10}, ""),
    ("noisy maximum of 10", find("noisy-maximum").mechanism.function, 10, {}, ""),
    ("SVT6, 10 queries", find("svt6").mechanism.function, 10, {}, "0.5 s"),
    ("SVT6 with branches, 10 queries", svt6_with_branches, 10, {}, "0.5 s"),
    ("SVT2 without stop, 10 queries", svt2_without_stop, 10, {}, ""),
)


def main() -> None:
    """One line per case."""
    for title, function, queries, arguments, target in CASES:
        content = [0.0] * queries
        times, program = [], None
        for _ in range(ROUNDS):
            mechanism = Mechanism(function)
            start = time.perf_counter()
            program = mechanism.program_for(content, arguments)
            times.append(time.perf_counter() - start)
        assert program is not None
        took, plain = statistics.median(times), _plain(function, content, arguments)
        print(f"{title}: {took:.3f} s" + (f" (target {target})" if target else ""), end="; ")
        print(
            f"{program.paths} paths, {len(draws_of(program.root))} draws, {len(in_order(program.root))} nodes", end="; "
        )
        print(f"{took / program.paths / plain:.0f} times a plain call per path")


def _plain(function: Callable[..., Any], content: list[float], arguments: dict[str, Any]) -> float:
    mechanism, generator = Mechanism(function), np.random.Generator(np.random.SFC64(1))
    start = time.perf_counter()
    for _ in range(200):
        mechanism(generator, content, epsilon=1.0, **arguments)
    return (time.perf_counter() - start) / 200


if __name__ == "__main__":
    main()
