"""The exact decision [barthe2020deciding]: every comparison of a claim is settled, or one is a counterexample."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from dpverdict.evidence.verify.comparisons import Comparison, Space
from dpverdict.evidence.verify.proof import Settled, inequalities
from dpverdict.reading.exact.sign import Negative, Nonnegative, Undecided, decide


@dataclass(frozen=True, slots=True)
class Violation:
    """A comparison that the claim cannot explain at this ε."""

    comparison: Comparison
    epsilon: Fraction


@dataclass(slots=True)
class Progress:
    """What is settled so far."""

    settled: list[Settled] = field(default_factory=list)
    open: list[tuple[Comparison, str]] = field(default_factory=list)
    violation: Violation | None = None
    seconds: float = 0.0
    complete: bool = False
    """Whether every comparison has been looked at."""


Listener: TypeAlias = Callable[[Progress], None]


def settle(space: Space, seconds: float | None = None, listen: Listener | None = None) -> Progress:
    """Settle comparisons until there are none left, one of them is a violation, or the time is up."""
    begun, done = time.perf_counter(), Progress()
    for comparison, bound, function in inequalities(space):
        match decide(function, bound.interval):
            case Nonnegative(certificate):
                done.settled.append(Settled(comparison, certificate))
            case Undecided(reason):
                done.open.append((comparison, reason))
            case Negative(place):
                # Noise of fixed scale knows no ε: the claim is then about one.
                only = space.claim.epsilon_range.only
                done.violation = Violation(comparison, only or comparison.unit.epsilon(place))
                return done
        done.seconds = time.perf_counter() - begun
        if listen is not None:
            listen(done)
        if seconds is not None and done.seconds > seconds:
            return done
    done.complete = True
    return done
