"""Quotients of polynomials in w = e^{-x/D}: what sums of integer noise are made of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_poly

from dpverdict.reading.exact.exponential import Exponential, Quotient, rational

_ONE = fmpq_poly([1])


@dataclass(frozen=True, slots=True)
class Ratio:
    """above / below, without common factors and with a leading coefficient of 1 below."""

    above: fmpq_poly
    below: fmpq_poly

    @classmethod
    def of(cls, above: fmpq_poly, below: fmpq_poly) -> Ratio:
        """The quotient in its lowest terms."""
        common = above.gcd(below)
        if common.degree() > 0:
            above, below = above // common, below // common
        leading = below.leading_coefficient()
        return cls(above / leading, below / leading)

    @classmethod
    def constant(cls, value: Fraction | int) -> Ratio:
        """A number."""
        return cls(fmpq_poly([rational(value)]), _ONE)

    @classmethod
    def power_of_w(cls, exponent: int) -> Ratio:
        """w^exponent."""
        power = _ONE.left_shift(abs(exponent))
        return cls(power, _ONE) if exponent >= 0 else cls(_ONE, power)

    def __add__(self, other: Ratio) -> Ratio:
        if self.below == other.below:
            return Ratio.of(self.above + other.above, self.below)
        return Ratio.of(self.above * other.below + other.above * self.below, self.below * other.below)

    def __neg__(self) -> Ratio:
        return Ratio(-self.above, self.below)

    def __sub__(self, other: Ratio) -> Ratio:
        return self + -other

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio.of(self.above * other.above, self.below * other.below)

    def __truediv__(self, other: Ratio) -> Ratio:
        return Ratio.of(self.above * other.below, self.below * other.above)

    def __bool__(self) -> bool:
        return bool(self.above)

    def quotient(self, scale: int) -> Quotient:
        """The value as a quotient of exponential polynomials, for one whose denominator has no zero at 0 < w < 1."""
        sign = 1 if self.below(fmpq(1, 2)) > 0 else -1
        return Quotient(Exponential(scale, (self.above * sign,)), Exponential(scale, (self.below * sign,))).cancelled()


ZERO = Ratio.constant(0)
ONE = Ratio.constant(1)
