"""The exact decision [barthe2020deciding]: every comparison of a claim is settled, or one is a counterexample."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from dpverdict.claim.claim import Claim
from dpverdict.evidence.verify.comparisons import Comparison
from dpverdict.evidence.verify.inequality import Bound, bound_of, gap
from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.sign import Certificate, Negative, Nonnegative, Undecided, decide

Inequality: TypeAlias = tuple[Exponential, Exponential, Exponential, Exponential, Bound]
"""Two probabilities, and how far apart they may be: comparisons that say the same are settled once."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A comparison that the claim cannot explain, and the unit's value where it cannot."""

    comparison: Comparison
    place: Fraction

    @property
    def epsilon(self) -> Fraction:
        """The ε at which the claim fails."""
        return self.place if self.comparison.unit.exponent == 1 else 1 / self.place


@dataclass(slots=True)
class Progress:
    """What is settled so far."""

    comparisons: int = 0
    settled: dict[Inequality, tuple[Comparison, Certificate]] = field(default_factory=dict)
    open: dict[Inequality, tuple[Comparison, str]] = field(default_factory=dict)
    violation: Violation | None = None
    seconds: float = 0.0
    complete: bool = False


Listener: TypeAlias = Callable[[Progress], None]


def settle(
    comparisons: Iterable[Comparison], claim: Claim, seconds: float | None = None, listen: Listener | None = None
) -> Progress:
    """Settle comparisons until there are none left, one of them is a violation, or the time is up."""
    begun, done = time.perf_counter(), Progress()
    for comparison in comparisons:
        done.comparisons += 1
        done.seconds = time.perf_counter() - begun
        bound = bound_of(claim, comparison.unit, comparison.within)
        if bound is None:
            continue
        here, there = comparison.probability, comparison.neighbour_probability
        inequality = (here.numerator, here.denominator, there.numerator, there.denominator, bound)
        if inequality in done.settled or inequality in done.open:
            continue
        match decide(gap(here, there, bound.factor), bound.interval):
            case Nonnegative(certificate):
                done.settled[inequality] = (comparison, certificate)
            case Undecided(reason):
                done.open[inequality] = (comparison, reason)
            case Negative(place):
                done.violation = Violation(comparison, place)
                return done
        if listen is not None:
            listen(done)
        if seconds is not None and done.seconds > seconds:
            return done
    done.complete = True
    return done

