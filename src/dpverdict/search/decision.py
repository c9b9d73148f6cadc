"""The exact decision [barthe2020deciding]: every comparison of a claim is settled, or one is a counterexample."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from dpverdict.claim.claim import EpsilonRange
from dpverdict.evidence.verify.comparisons import Comparison, Space, comparisons
from dpverdict.evidence.verify.proof import Settled, inequalities
from dpverdict.mechanism.outcome import Outcome
from dpverdict.reading.exact.sign import Negative, Nonnegative, Undecided, decide


@dataclass(frozen=True, slots=True)
class Violation:
    """A comparison that the claim cannot explain at this ε."""

    comparison: Comparison
    epsilon: Fraction

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The event."""
        return (self.comparison.output,)


@dataclass(slots=True)
class Progress:
    """What is settled so far."""

    settled: list[Settled] = field(default_factory=list)
    open: list[tuple[Comparison, str]] = field(default_factory=list)
    violation: Violation | None = None
    seconds: float = 0.0
    complete: bool = False
    """Whether every comparison has been looked at."""

    def entries(self) -> list[list[object]]:
        """What the certificate says of each that is settled."""
        return [one.to_json() for one in self.settled]


Listener: TypeAlias = Callable[[Progress], None]


def settle(space: Space, seconds: float | None = None, listen: Listener | None = None) -> Progress:
    """Settle comparisons until there are none left, one of them is a violation, or the time is up."""
    begun, done = time.perf_counter(), Progress()
    if not (space.claim.epsilon_range.only or is_in_epsilon(space)):
        return _probed(space, begun)
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


# --- ranges of ε that are no ranges of the unit -----------------------------------------------------------------------

_PLACES = tuple(Fraction(2) ** power for power in (0, -2, 2, -4, 4, -1, 1))


def is_in_epsilon(space: Space) -> bool:
    """Whether probabilities are functions of ε, so that they can be compared with e^ε over a range."""
    first = next(iter(space.claim.pairs()), None)
    if first is None:
        return True
    exact, given = space.on(first[0])
    return exact.unit(given).exponent == 1


def _probed(space: Space, begun: float) -> Progress:
    """Single values of ε, each decided: what fails at one of them fails; nothing is proved."""
    low, high = space.claim.epsilon_range.low, space.claim.epsilon_range.high
    done = Progress()
    for place in _PLACES:
        epsilon = low + place if high is None else low + (high - low) * place / (1 + place)
        at_one = replace(space.claim, epsilon_range=EpsilonRange.one(epsilon))
        found = settle(Space(at_one, space.program_for, space.prune))
        if found.violation is not None:
            done.violation = found.violation
            break
    else:
        done.open = [(next(comparisons(space)), _NO_RANGE)]
    done.seconds = time.perf_counter() - begun
    return done


_NO_RANGE = (
    "the noise has a scale that is no multiple of 1/ε, so that only single values of ε are decided (--epsilon 1); "
    f"it holds at {len(_PLACES)} of them"
)
