"""Bounds for a probability from counts, certified [clopper1934use].

`lower_rate` and `upper_rate` are Clopper and Pearson's one-sided bounds, each wrong with probability at most α.  They
assume independent runs in which the event has the same probability, a number of runs that was fixed before, and an
event that was chosen on other runs.

SciPy guesses, ball arithmetic [johansson2017arb] decides: a guess c is returned only if Pr[Bin(n, c) ≥ k] ≤ α is
proved, which is all that a lower bound needs.  So a wrong quantile (SciPy 1.17.0 and 1.17.1 have one) costs time,
never soundness.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpq

from dpverdict.evidence.allowance import error_probability

_PRECISIONS = (64, 128, 256)
"""Bits of successive attempts to settle a comparison.  The setting is FLINT's own, and shared by threads: whatever it
is, an enclosure stays one, so at worst a comparison stays open and a weaker bound is returned."""

_MARGIN = 40
"""A guess is moved outwards by its distance from 0 or 1 times 2^-40, which no plot shows."""
_CLOSE = 20
"""A guess is taken if SciPy itself says that 2^-20 of that distance further inwards is too far."""


def lower_rate(hits: int, runs: int, alpha: Fraction) -> Fraction:
    """A lower bound for the probability of an event; rounded down."""
    alpha = error_probability(alpha)
    if hits == 0:
        return Fraction(0)
    guess = _guess(hits, runs, float(alpha))
    if guess is not None and holds_below(guess, hits, runs, alpha):
        return guess
    return _bisected(hits, runs, alpha)


def upper_rate(hits: int, runs: int, alpha: Fraction) -> Fraction:
    """An upper bound for the probability of an event; rounded up."""
    return 1 - lower_rate(runs - hits, runs, alpha)


def holds_below(rate: Fraction, hits: int, runs: int, alpha: Fraction) -> bool:
    """Whether it is proved that Pr[Bin(runs, rate) ≥ hits] ≤ α, so that the rate is a lower bound at level α."""
    for bits in _PRECISIONS:
        with ctx.workprec(bits):
            limit = ball(alpha)
            # Pr[Bin(n, p) ≥ k] = I_p(k, n - k + 1).  The object is the argument p; any other order gives NaN.
            tail = ball(rate).beta_lower(hits, runs - hits + 1, 1)
            if tail <= limit:
                return True
            if tail > limit:
                return False
    return False


def _guess(hits: int, runs: int, alpha: float) -> Fraction | None:
    """SciPy's quantile, moved outwards; None where SciPy itself does not find it close to the bound."""
    from scipy.special import betainc, betaincinv

    quantile = float(betaincinv(hits, runs - hits + 1, alpha))
    if not 0 < quantile < 1:
        return None
    room = min(quantile, 1 - quantile)
    if not betainc(hits, runs - hits + 1, quantile + room / (1 << _CLOSE)) > alpha:
        return None
    return Fraction(quantile) - Fraction(room) / (1 << _MARGIN)


def _bisected(hits: int, runs: int, alpha: Fraction) -> Fraction:
    """The bound without a guess: a rate that holds, while one that is larger by its margin does not."""
    low, high = Fraction(1, 2), Fraction(1)
    # α/n holds by Markov's inequality, Pr[Bin(n, p) ≥ 1] ≤ np, so this ends even if nothing else could be settled.
    least = alpha / runs
    while low > least and not holds_below(low, hits, runs, alpha):
        low, high = max(low / 2, least), low
    while (high - low) * (1 << _MARGIN) > min(low, 1 - low):
        middle = (low + high) / 2
        low, high = (middle, high) if holds_below(middle, hits, runs, alpha) else (low, middle)
    return low


def ball(value: Fraction) -> arb:
    """A ball around a rational."""
    return arb(fmpq(value.numerator, value.denominator))


def float_below(value: Fraction) -> float:
    """The nearest float that is not above the value."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """The nearest float that is not below the value."""
    return -float_below(-value)
