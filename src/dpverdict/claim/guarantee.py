"""What a claim promises about one ordered pair of neighbours, and whether probabilities contradict the promise.

A guarantee is about the laws of the output on an input a and on its neighbour a′.  Where the neighbourhood is
symmetric, the promise holds for (a′, a) too; the methods take ``both_ways`` for that.

Every "yes, contradicted" is a proof: decisions are made with exact rationals and outward-rounded enclosures.  Where
numbers are so close to a tie that 1,024 bits do not decide, the answer is "not contradicted".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from dpverdict.claim.enclosure import exp_bounds, log_bounds, rounded_up
from dpverdict.claim.exact_numbers import exact, json_of, text_of
from dpverdict.claim.finite import Finite, paired
from dpverdict.claim.values import shown
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError

Rate: TypeAlias = Fraction | int | float
"""A probability.  A float stands for the binary number that it is; who computed it rounds in the stated direction."""

_ENDLESS = (math.inf, -math.inf)

PRECISIONS = (64, 256, 1024)
"""The bits of successive attempts to decide a comparison."""


class Guarantee(ABC):
    """A promise about every pair of neighbours.  Frozen; equal promises of one kind compare equal."""

    kind: ClassVar[str]

    events_decide: ClassVar[bool] = True
    """Whether a promise that no event contradicts is kept.

    True for pure, approximate, Gaussian and curve guarantees, which are equivalent to their bound on every event.
    False for Rényi and zCDP, whose bound on events is only necessary: a contradiction is real, its absence supports
    nothing.
    """

    def contradicts(self, rate: Rate, neighbour_rate: Rate, *, both_ways: bool = False) -> bool:
        """Whether Pr[S | a] ≥ rate and Pr[S | a′] ≤ neighbour_rate contradict the promise.

        A float rate is to be rounded down, a float neighbour_rate up.  With both_ways, the complement of S is tried on
        (a′, a) as well.
        """
        p, q = _probability(rate, "rate="), _probability(neighbour_rate, "neighbour_rate=")
        return self._event_exceeds(p, q) or (both_ways and self._event_exceeds(1 - q, 1 - p))

    def contradicts_distributions(self, law: Finite, neighbour_law: Finite, *, both_ways: bool = False) -> bool:
        """Whether two exact finite distributions contradict the promise.

        Each is a mapping from outputs to rationals, or a sequence of rationals (the same outputs in the same order).
        """
        pairs = paired(law, neighbour_law)
        return self._laws_exceed(pairs) or (both_ways and self._laws_exceed([(q, p) for p, q in pairs]))

    @abstractmethod
    def delta_at(self, epsilon: Fraction) -> Fraction:
        """A δ for which the promise implies (ε, δ)-differential privacy; rounded up, for ε ≥ 0."""

    @abstractmethod
    def largest(self, neighbour_rate: float) -> float:
        """About the largest Pr[S | a] that the promise allows if Pr[S | a′] is this; for display and search."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The promise in the CLAIM grammar."""

    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """The numbers of the promise, ready for JSON."""

    @abstractmethod
    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        """Whether Pr[S | a] ≥ p and Pr[S | a′] ≤ q contradict the promise for (a, a′)."""

    def _laws_exceed(self, pairs: list[tuple[Fraction, Fraction]]) -> bool:
        """Whether the laws of the outputs of a and a′ contradict the promise for (a, a′).

        By the lemma of Neyman and Pearson the events with a likelihood ratio above a level are the strongest; what
        tosses coins in between lies on a line between two of them, below the concave bound if both are.
        """
        return any(self._event_exceeds(p, q) for p, q in strongest_events(pairs))

    def trade_off(self, error: float, *, both_ways: bool = False) -> float:
        """About the trade-off function f: Pr[S | a] ≤ 1 - f(Pr[S | a′]); for display and search.

        With both_ways, of the promise for (a, a′) and (a′, a) together: the larger of f and its inverse.
        """
        one_way = 1 - self.largest(error)
        if not both_ways:
            return one_way
        # The inverse at `error` is the least x with f(x) ≤ error.
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if 1 - self.largest(middle) <= error else (middle, high)
        return max(one_way, low)

    def profile(self, epsilon: float) -> float:
        """About the least δ for which the promise implies (ε, δ)-differential privacy; for display and search."""
        return float(self.delta_at(Fraction(epsilon)))

    def tangent(self, neighbour_rate: float) -> Approximate:
        """An (ε, δ) promise that this one implies, chosen to be tight where Pr[S | a′] is neighbour_rate.

        Sound for every event, so a test may use it instead of the curve; choose the place on other data.
        """
        return self._tangent(min(max(neighbour_rate, 1e-300), 1.0))

    def _tangent(self, q: float) -> Approximate:
        def bound(epsilon: float) -> float:
            return math.exp(epsilon) * q + self.profile(epsilon)

        highest = min(-math.log(q) + 1, 700.0)
        grid = [highest * step / 40 for step in range(41)]
        best = min(range(41), key=lambda step: bound(grid[step]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
        for _ in range(30):
            left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
            low, high = (low, right) if bound(left) <= bound(right) else (left, high)
        epsilon = Fraction(str(round(low, 9)))
        return Approximate(epsilon, min(rounded_up(self.delta_at(epsilon)), Fraction(1)))

    def to_json(self) -> dict[str, object]:
        """The promise as DESIGN's JSON of a claim has it, with the text that reads back as it."""
        return {"guarantee": self.kind, **self.parameters(), "text": self.text}


@dataclass(frozen=True)
class Pure(Guarantee):
    """ε-differential privacy: Pr[S | a] ≤ e^ε Pr[S | a′] for every event S."""

    kind = "pure"
    epsilon: Fraction

    def __post_init__(self) -> None:
        epsilon = exact(self.epsilon, "epsilon=")
        check_epsilon(epsilon, Written.of("epsilon=", text_of(epsilon)))
        object.__setattr__(self, "epsilon", epsilon)

    @property
    def text(self) -> str:
        """``pure:E``."""
        return f"pure:{text_of(self.epsilon)}"

    def parameters(self) -> dict[str, object]:
        """ε, and δ = 0."""
        return {"epsilon": json_of(self.epsilon), "delta": 0}

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """1 - e^(ε - ε₀) below the promised ε₀, 0 from there on."""
        return _linear_delta(self.epsilon, Fraction(0), epsilon)

    def largest(self, neighbour_rate: float) -> float:
        """min(1, e^ε q)."""
        return _linear_largest(self.epsilon, Fraction(0), neighbour_rate)

    def tangent(self, neighbour_rate: float) -> Approximate:
        """The promise itself."""
        return Approximate(self.epsilon, Fraction(0))

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        return above_line(p, q, self.epsilon, Fraction(0))


@dataclass(frozen=True)
class Approximate(Guarantee):
    """(ε, δ)-differential privacy: Pr[S | a] ≤ e^ε Pr[S | a′] + δ for every event S."""

    kind = "approximate"
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        epsilon, delta = exact(self.epsilon, "epsilon="), exact(self.delta, "delta=")
        check_epsilon(epsilon, Written.of("epsilon=", text_of(epsilon)))
        check_delta(delta, Written.of("delta=", text_of(delta)))
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    @property
    def text(self) -> str:
        """``approximate:E,D``."""
        return f"approximate:{text_of(self.epsilon)},{text_of(self.delta)}"

    def parameters(self) -> dict[str, object]:
        """ε and δ."""
        return {"epsilon": json_of(self.epsilon), "delta": json_of(self.delta)}

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """1 - (1 - δ) e^(ε - ε₀) below the promised ε₀, δ from there on."""
        return _linear_delta(self.epsilon, self.delta, epsilon)

    def largest(self, neighbour_rate: float) -> float:
        """min(1, e^ε q + δ)."""
        return _linear_largest(self.epsilon, self.delta, neighbour_rate)

    def tangent(self, neighbour_rate: float) -> Approximate:
        """The promise itself."""
        return self

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        return above_line(p, q, self.epsilon, self.delta)


def check_epsilon(value: Fraction, written: Written) -> None:
    """Refuse an ε that is no privacy parameter."""
    if value < 0:
        raise written.error(
            "CLAIM-010",
            "epsilon must be finite and at least 0",
            why="(ε, δ)-differential privacy is defined for ε ≥ 0",
            fix=written.instead(text_of(-value)),
        )


def check_delta(value: Fraction, written: Written) -> None:
    """Refuse a δ that is no probability."""
    if not 0 <= value <= 1:
        raise written.error(
            "CLAIM-011",
            "delta must be from 0 to 1",
            why="δ bounds a difference of probabilities; it is meant to be tiny",
            fix=written.instead("1e-5"),
        )


# --- comparisons -----------------------------------------------------------------------------------------------


def above_line(p: Fraction, q: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether p > e^ε q + δ; exact.

    Compared as log((p - δ)/q) > ε.  The two sides are equal only if ε = 0 and the ratio is 1 (the exponential of any
    other rational is transcendental, by Lindemann), so more bits decide in the end.
    """
    if p <= q or p <= delta:
        return False
    if q <= 0:
        return True
    ratio = (p - delta) / q
    if epsilon == 0 or ratio <= 1:
        return ratio > 1
    bits = PRECISIONS[0]
    while True:
        low, high = log_bounds(ratio, bits)
        if low > epsilon or high < epsilon:
            return low > epsilon
        bits *= 2


def strongest_events(pairs: list[tuple[Fraction, Fraction]]) -> Iterator[tuple[Fraction, Fraction]]:
    """The probabilities of the events {outputs whose likelihood ratio is at least t}, for falling t."""
    # p/q falls where p/(p+q) falls, and the latter needs no infinity.
    possible = [(p, q) for p, q in pairs if p + q > 0]
    falling = sorted(possible, key=lambda pair: pair[0] / (pair[0] + pair[1]), reverse=True)
    p_sum = q_sum = Fraction(0)
    for p, q in falling:
        p_sum, q_sum = p_sum + p, q_sum + q
        yield p_sum, q_sum


def _linear_delta(promised: Fraction, delta: Fraction, epsilon: Fraction) -> Fraction:
    if epsilon >= promised:
        return delta
    return 1 - (1 - delta) * exp_bounds(epsilon - promised, PRECISIONS[0]).low


def _linear_largest(epsilon: Fraction, delta: Fraction, neighbour_rate: float) -> float:
    factor = math.exp(min(float(epsilon), 700.0)) if epsilon < 700 else math.inf
    return min(1.0, float(delta) + (factor * neighbour_rate if neighbour_rate > 0 else 0.0))


def _probability(value: object, option: str) -> Fraction:
    """The exact value of a bound on a probability; a bound on the harmless side of [0, 1] is moved to its end."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)) or value != value or value in _ENDLESS:
        raise _no_probability(option, value)
    exactly = Fraction(value)
    if (exactly > 1 and option == "rate=") or (exactly < 0 and option == "neighbour_rate="):
        raise _no_probability(option, value)
    return min(max(exactly, Fraction(0)), Fraction(1))


def _no_probability(option: str, value: object) -> ClaimError:
    written = Written.of(option, shown(value))
    return written.error(
        "CLAIM-012",
        "an error rate is a probability",
        why="it bounds Pr[S | input] or Pr[S | neighbour], which lie between 0 and 1",
        fix=written.with_value("0.5"),
    )
