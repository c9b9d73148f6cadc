"""How much room a claim with δ leaves a set of outputs, and the proofs that it leaves some.

The room is A(x) + e^{-r}·B(x): exponential polynomials A and B ≥ 0 in the unit of the probabilities, with a rational
r ≥ 0.  For r = 0 it is one exponential polynomial, whose sign is decided.  Otherwise a constant like e^{-2} is no
exponential polynomial, and a proof needs one of two further steps: e^{-r} rounded down to a rational, which makes the
room smaller; or that A/B is monotone, so that the room has its sign at an end, where it is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverdict.claim.enclosure import exp_bounds
from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.sign import Certificate
from dpverdict.reading.exact.sign_forms import Interval
from dpverdict.reading.exact.sign_recheck import recheck
from dpverdict.reading.exact.with_constant import sign_of_sum


@dataclass(frozen=True, slots=True)
class Rounded:
    """A + constant·B ≥ 0, and the constant is at most e^{-r}."""

    constant: Fraction
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class AtEnd:
    """A/B rises (or falls) on the whole interval, and the room is not negative at the end where it is least."""

    rises: bool
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class AtPlace:
    """The interval is one x, and the room is not negative there."""


SlackProof = Rounded | AtEnd | AtPlace


@dataclass(frozen=True, slots=True)
class Slack:
    """base + e^{-exponent}·weight, which the claim says is not negative on the interval; weight > 0 if exponent > 0."""

    base: Exponential
    weight: Exponential
    exponent: Fraction
    interval: Interval

    def rounded(self, constant: Fraction) -> Exponential:
        """With a rational in the place of e^{-exponent}."""
        return self.base + self.weight * constant

    def slope(self) -> Exponential:
        """Positive where base/weight rises."""
        return self.base.derivative() * self.weight - self.base * self.weight.derivative()

    def sign_at(self, place: Fraction) -> int:
        """The sign at a rational place, exactly: different rational powers of e are independent (Lindemann)."""
        multiples = powers_at(self.base, place)
        for power, multiple in powers_at(self.weight, place).items():
            shifted = power + self.exponent
            multiples[shifted] = multiples.get(shifted, Fraction(0)) + multiple
        return sign_of_sum(multiples)

    def end(self, *, rises: bool) -> Fraction | None:
        """The end at which base/weight is least, if it is a number above 0."""
        return (self.interval.low or None) if rises else self.interval.high

    def proved_by(self, proof: SlackProof) -> bool:
        """Whether the proof shows that the room is nowhere negative."""
        match proof:
            case AtPlace():
                return self.interval.is_point and self.sign_at(self.interval.low) >= 0
            case Rounded(constant, certificate):
                is_below = constant == 1 if not self.exponent else 0 <= constant <= exp_bounds(-self.exponent, 1024).low
                return is_below and recheck(self.rounded(constant), self.interval, certificate)
            case AtEnd(rises, certificate):
                slope, end = self.slope(), self.end(rises=rises)
                if not self.exponent or end is None or self.sign_at(end) < 0:
                    return False
                return recheck(slope if rises else -slope, self.interval, certificate)


def powers_at(function: Exponential, place: Fraction) -> dict[Fraction, Fraction]:
    """The value at a rational place as a sum of rational multiples of e^{-power}, by power."""
    found: dict[Fraction, Fraction] = {}
    for term in function.terms():
        power = term.rate * place
        found[power] = found.get(power, Fraction(0)) + term.coefficient * place**term.power
    return found
