"""Mechanisms exactly at the boundary of what they promise, reduced to the events that a test looks at.

A test may refute none of them more often than it says.  Experiments are drawn many at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpverdict.claim import Approximate, Gaussian, Guarantee, Pure
from dpverdict.evidence.counts import CoinCounts, PairCounts, SideCounts

Counts = NDArray[np.int64]

ALPHA = Fraction(1, 20)
FALSE_ALARM = 1e-9
"""The chance that a correct test exceeds `allowed`, for each assertion; the files that use it make fewer than 200."""


def allowed(repetitions: int, alpha: Fraction = ALPHA) -> int:
    """How many false claims a test at level α makes at most, except with probability FALSE_ALARM (exact)."""
    from scipy.stats import binom

    return int(binom.isf(FALSE_ALARM, repetitions, float(alpha)))


@dataclass(frozen=True)
class Boundary:
    """Pr[S⁺] and Pr[S⁻], on a and on a′; the promise holds both ways and at least one event meets it exactly."""

    name: str
    on_input: tuple[float, float]
    on_neighbour: tuple[float, float]
    guarantee: Guarantee
    runs: int = 1000

    @property
    def two_sided(self) -> bool:
        return self.on_input[1] + self.on_neighbour[1] > 0

    @property
    def promise(self) -> Approximate:
        """A line that the promise implies, through the point where S⁺ is."""
        return self.guarantee.tangent(self.on_neighbour[0])

    def draw(self, repetitions: int, generator: np.random.Generator, *, fixed_split: bool = False) -> Counts:
        """For each experiment the runs on a, in S⁺ and S⁻ of them, and the same for a′."""
        half = np.full(repetitions, self.runs // 2)
        heads = half if fixed_split else generator.binomial(self.runs, 0.5, repetitions)
        sides = []
        for runs, (plus, minus) in ((heads, self.on_input), (self.runs - heads, self.on_neighbour)):
            hits = generator.binomial(runs, plus)
            sides += [runs, hits, generator.binomial(runs - hits, min(1.0, minus / (1 - plus)) if plus < 1 else 0.0)]
        return np.stack(sides, axis=1)


def coin_counts(row: tuple[int, ...], two_sided: bool) -> CoinCounts:
    return CoinCounts(SideCounts(*row[:3]), SideCounts(*row[3:]), two_sided)


def pair_counts(row: tuple[int, ...]) -> PairCounts:
    return PairCounts(row[1], row[0], row[4], row[3])


def claims(rows: Counts, refutes: Callable[[tuple[int, ...]], bool]) -> int:
    """In how many experiments the test refutes; the same counts are judged once."""
    different, sizes = np.unique(rows, axis=0, return_counts=True)
    return sum(size for row, size in zip(different.tolist(), sizes.tolist(), strict=True) if refutes(tuple(row)))


def _both(plus: float, neighbour_plus: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """S⁻ is to a′ what S⁺ is to a."""
    return (plus, neighbour_plus), (neighbour_plus, plus)


TENTH, ONE = Fraction(1, 10), Fraction(1)
THETA = exp(0.1) / (1 + exp(0.1))
NORMAL = NormalDist()

LAPLACE = Boundary("Laplace", *_both(0.5, 0.5 * exp(-1)), Pure(ONE))
RESPONSE = Boundary("randomised response", *_both(THETA, 1 - THETA), Pure(TENTH))
ONE_SIDED = Boundary("one-sided", (exp(1) * 0.05, 0.0), (0.05, 0.0), Pure(ONE))
TWO_POINT = Boundary("two points at 1e-4", (exp(1) * 1e-4, 0.0), (1e-4, 0.0), Pure(ONE), runs=200_000)
TIGHT = Boundary(
    "tight (1, 0.05)",
    *_both(0.05 + 0.95 * exp(1) / (1 + exp(1)), 0.95 / (1 + exp(1))),
    Approximate(ONE, Fraction(1, 20)),
)
ONLY_DELTA = Boundary("δ alone, w = 0", (0.01, 0.0), (0.0, 0.0), Approximate(ONE, Fraction(1, 100)), runs=100_000)
TINY_DELTA = Boundary(
    "tiny δ", (1e-6 + exp(1) * 1e-3, 0.0), (1e-3, 0.0), Approximate(ONE, Fraction(1, 10**6)), runs=50_000
)
NEVER = Boundary("an event that hardly happens", (exp(1) * 1e-6, 0.0), (1e-6, 0.0), Pure(ONE), runs=1000)
CURVE = Boundary("Gaussian curve", *_both(NORMAL.cdf(0.0), NORMAL.cdf(-1.0)), Gaussian(ONE))

PURE = [LAPLACE, RESPONSE, ONE_SIDED, TWO_POINT, NEVER]
ALL = [*PURE, TIGHT, ONLY_DELTA, TINY_DELTA, CURVE]
