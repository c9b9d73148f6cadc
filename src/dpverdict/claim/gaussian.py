"""Gaussian differential privacy [dong2022gaussian]: as hard to tell apart as N(0, 1) and N(μ, 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from dpverdict.claim.enclosure import FARTHEST, LARGEST_EXPONENT, Bounds, exp_bounds, normal_bounds, rounded_up
from dpverdict.claim.exact_numbers import exact, json_of, text_of
from dpverdict.claim.guarantee import PRECISIONS, Guarantee
from dpverdict.claim.written import Written


@dataclass(frozen=True)
class Gaussian(Guarantee):
    """μ-GDP: Pr[S | a] ≤ Φ(Φ⁻¹(Pr[S | a′]) + μ) for every event S.

    The bound is symmetric: it holds for (a′, a) if it holds for (a, a′).
    """

    kind = "gaussian"
    mu: Fraction

    def __post_init__(self) -> None:
        mu = exact(self.mu, "mu=")
        check_mu(mu, Written.of("mu=", text_of(mu)))
        object.__setattr__(self, "mu", mu)

    @property
    def text(self) -> str:
        """``gaussian:MU``."""
        return f"gaussian:{text_of(self.mu)}"

    def parameters(self) -> dict[str, object]:
        """μ."""
        return {"mu": json_of(self.mu)}

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ), rounded up [balle2018improving]."""
        if self.mu == 0:
            return Fraction(0)
        bits = PRECISIONS[1]
        upper = normal_bounds(self.mu / 2 - epsilon / self.mu, bits).high
        lower = normal_bounds(-self.mu / 2 - epsilon / self.mu, bits).low
        # A smaller e^ε only makes δ larger, which is the sound side.
        factor = exp_bounds(min(epsilon, Fraction(LARGEST_EXPONENT)), bits).low
        delta = upper - factor * lower
        zeros = delta.denominator.bit_length() - delta.numerator.bit_length()
        return rounded_up(delta, PRECISIONS[1] + zeros)

    def largest(self, neighbour_rate: float) -> float:
        """Φ(Φ⁻¹(q) + μ)."""
        if not 0 < neighbour_rate < 1:
            return float(neighbour_rate >= 1)
        return _cdf(NormalDist().inv_cdf(neighbour_rate) + float(self.mu))

    def profile(self, epsilon: float) -> float:
        """δ(ε) in floating point."""
        mu = float(self.mu)
        if mu == 0:
            return 0.0
        tail = _cdf(-mu / 2 - epsilon / mu)
        return max(0.0, _cdf(mu / 2 - epsilon / mu) - (math.exp(min(epsilon, 700.0)) * tail if tail else 0.0))

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        if p <= q or q <= 0 or p >= 1:
            # The bound is above 0 for q > 0, and reaches 1 only at q = 1; at q = 0 it is 0.
            return p > q and (q <= 0 or q < 1 <= p)
        if q > 1 - p:
            # The same question about the complement, whose probabilities are small: those near 1 take many bits.
            p, q = 1 - q, 1 - p
        return _above_curve(p, q, self.mu)


def check_mu(value: Fraction, written: Written) -> None:
    """Refuse a μ that is no privacy parameter."""
    if value < 0:
        raise written.error(
            "CLAIM-016",
            "mu must be finite and at least 0",
            why="μ is the distance of two normal distributions",
            fix=written.instead(text_of(-value)),
        )


def _cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _above_curve(p: Fraction, q: Fraction, mu: Fraction) -> bool:
    """Whether p > Φ(Φ⁻¹(q) + μ), for 0 < q < p < 1.

    z is enclosed by rationals with Φ(low) ≤ q ≤ Φ(high), which certified values of Φ confirm; then p is compared with
    Φ(high + μ) and Φ(low + μ), and the enclosure halved until one of them decides.
    """
    if mu == 0:
        return True
    for bits in PRECISIONS:
        low, high = _quantile(q, bits)
        while True:
            if p > normal_bounds(high + mu, bits).high:
                return True
            if p <= normal_bounds(low + mu, bits).low:
                return False
            if (high - low) * (1 << bits) < 1:
                break
            middle = (low + high) / 2
            bounds = normal_bounds(middle, bits)
            if bounds.high <= q:
                low = middle
            elif bounds.low >= q:
                high = middle
            else:
                break
    return False


def _quantile(q: Fraction, bits: int) -> Bounds:
    """A certified enclosure of Φ⁻¹(q): around its floating-point value if that is confirmed, else the whole line."""
    rest = min(q, 1 - q)
    if float(rest) <= 1e-300:
        return Bounds(Fraction(-FARTHEST), Fraction(FARTHEST))
    size = NormalDist().inv_cdf(float(rest))
    guess, step = Fraction(size if rest == q else -size), Fraction(1, 1 << 36)
    low, high = guess - step, guess + step
    return Bounds(
        low if normal_bounds(low, bits).high <= q else Fraction(-FARTHEST),
        high if normal_bounds(high, bits).low >= q else Fraction(FARTHEST),
    )
