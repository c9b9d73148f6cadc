"""What a comparison claims, as the sign of one exponential polynomial on a range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverdict.claim.claim import Claim, Proportional
from dpverdict.claim.guarantee import Approximate, Pure
from dpverdict.errors import UnreadableError
from dpverdict.reading.exact.epsilon_ranges import EpsilonRange
from dpverdict.reading.exact.exponential import Exponential, Quotient
from dpverdict.reading.exact.numbers import Unit
from dpverdict.reading.exact.sign_forms import Interval


@dataclass(frozen=True, slots=True)
class Bound:
    """Pr[o | a] ≤ e^{factor·x}·Pr[o | a'] for every x of an interval, x being the unit of the probabilities."""

    factor: Fraction
    interval: Interval


def gap(probability: Quotient, neighbour_probability: Quotient, factor: Fraction) -> Exponential:
    """A function of x that is not negative exactly where the first is at most e^{factor·x} times the second.

    The second minus e^{-factor·x} times the first, over their (positive) denominators.
    """
    above, below = neighbour_probability.numerator, probability.numerator
    if probability.denominator != neighbour_probability.denominator:
        above, below = above * probability.denominator, below * neighbour_probability.denominator
    return above - below.shifted(factor)


def bound_of(claim: Claim, unit: Unit, within: EpsilonRange) -> Bound | None:
    """What a pure claim says of the probabilities' unit; None where it says nothing about this range of ε."""
    low, high = claim.epsilon_range.low, claim.epsilon_range.high
    only = claim.epsilon_range.only
    factor = factor_of(claim)
    if only is not None:
        if only not in within:
            return None
        # x = ε^n, so that factor·ε = (factor·ε^(1-n))·x.
        return Bound(factor * only ** (1 - unit.exponent), Interval.point(only**unit.exponent))
    if unit.exponent != 1:
        raise UnreadableError(
            "EXACT-031",
            "a claim for a range of ε about noise whose scale is no multiple of 1/ε",
            why="e^ε and the probabilities are then functions of different powers of ε",
            fix="one ε: --epsilon 1",
        )
    low, high = max(low, within.low), _least(high, within.high)
    if high is not None and high < low:
        return None
    if high == low:
        return Bound(factor, Interval.point(low)) if low > 0 and low in within else None
    return Bound(factor, Interval(low, high))


def factor_of(claim: Claim) -> Fraction:
    """t where the claim is (t·ε, δ)-differential privacy."""
    match claim.guarantee:
        case Proportional(factor, _):
            return factor
        case Pure(promised) | Approximate(promised, _):
            only = claim.epsilon_range.only
            if only is not None:
                return promised / only
            raise UnreadableError(
                "EXACT-032",
                f"the claim {claim.guarantee.text} for a range of ε",
                why="a promise that does not grow with ε is decided at one ε",
                fix="--epsilon-range 1 for one ε, or --factor 1 for a promise that is a multiple of ε",
            )
        case other:
            raise UnreadableError(
                "EXACT-033",
                f"a {other.kind} claim",
                why="the exact decision is about pure and approximate differential privacy",
                fix="--factor T, with --delta D where δ is not 0",
            )


def _least(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    ends = [end for end in (one, other) if end is not None]
    return min(ends, default=None)
