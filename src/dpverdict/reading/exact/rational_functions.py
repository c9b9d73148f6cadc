"""The field Q(ε, w), w = e^{-ε/D}: quotients of polynomials in two variables, in lowest terms.

ε and w are algebraically independent as functions of ε, so that what is cancelled here is equal as a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from flint import fmpq_poly, fmpz, fmpz_mpoly, fmpz_mpoly_ctx

from dpverdict.reading.exact.exponential import Exponential, Quotient

_CONTEXT = fmpz_mpoly_ctx.get(("e", "w"))
_ONE = _CONTEXT.constant(1)

_Parts: TypeAlias = tuple[fmpq_poly, ...]


@dataclass(frozen=True, slots=True)
class RationalFunction:
    """above / below without common factors; the first coefficient below is positive, so that equal ones look alike."""

    above: fmpz_mpoly
    below: fmpz_mpoly

    @classmethod
    def of(cls, value: Quotient, scale: int) -> RationalFunction:
        """The quotient at a multiple of its scales."""
        above, below = value.numerator.at_scale(scale), value.denominator.at_scale(scale)
        (upper, divisor), (lower, multiple) = _polynomial(above.parts), _polynomial(below.parts)
        return _lowest(upper * multiple, lower * divisor)

    def __add__(self, other: RationalFunction) -> RationalFunction:
        if self.below == other.below:
            return _lowest(self.above + other.above, self.below)
        return _lowest(self.above * other.below + other.above * self.below, self.below * other.below)

    def __mul__(self, other: RationalFunction) -> RationalFunction:
        left, right = _lowest(self.above, other.below), _lowest(other.above, self.below)
        return _signed(left.above * right.above, left.below * right.below)

    def repeated(self) -> RationalFunction:
        """1 / (1 - this): the sum of its powers, where it is below 1."""
        rest = self.below - self.above
        if rest.is_zero():
            raise ZeroDivisionError("what happens again with probability 1 is repeated for ever")
        return _signed(self.below, rest)

    def quotient(self, scale: int, place: Fraction) -> Quotient:
        """As exponential polynomials; whoever asks states that the denominator has no zero where it matters, such as
        at the place, where it is made positive."""
        above, below = Exponential(scale, _parts(self.above)), Exponential(scale, _parts(self.below))
        bits = 64
        while 0 in (value := below.value(place, bits)):
            bits *= 2
        if value < 0:
            above, below = -above, -below
        return Quotient(above, below).reduced()


NOTHING = RationalFunction(_CONTEXT.constant(0), _ONE)
CERTAIN = RationalFunction(_ONE, _ONE)


def _lowest(above: fmpz_mpoly, below: fmpz_mpoly) -> RationalFunction:
    common = above.gcd(below)
    return _signed(above, below) if common.is_one() else _signed(above // common, below // common)


def _signed(above: fmpz_mpoly, below: fmpz_mpoly) -> RationalFunction:
    return RationalFunction(-above, -below) if below.leading_coefficient() < 0 else RationalFunction(above, below)


def _polynomial(parts: _Parts) -> tuple[fmpz_mpoly, int]:
    """Integer coefficients, and what they are to be divided by."""
    divisor = lcm(*(int(part.denom()) for part in parts))
    terms: dict[tuple[int, ...], int | fmpz] = {
        (power, place): coefficient * (divisor // int(part.denom()))
        for power, part in enumerate(parts)
        for place, coefficient in enumerate(part.numer().coeffs())
        if coefficient != 0
    }
    return _CONTEXT.from_dict(terms), divisor


def _parts(polynomial: fmpz_mpoly) -> _Parts:
    powers, places = (int(degree) for degree in polynomial.degrees())
    rows = [[0] * (places + 1) for _ in range(powers + 1)]
    for (power, place), coefficient in polynomial.to_dict().items():
        rows[int(power)][int(place)] = int(coefficient)
    return tuple(fmpq_poly(row) for row in rows)
