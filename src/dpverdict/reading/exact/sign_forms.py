"""What the decision of signs computes on: integer polynomials in τ and w = e^{-τ}, and ranges of ε.

With τ = ε/scale and a positive common denominator multiplied out, an exponential polynomial becomes Σ τ^i·rows[i](w)
with integer rows; its sign stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from flint import arb, ctx, fmpq, fmpq_poly, fmpz_poly

from dpverdict.reading.exact.exponential import Exponential, ball, spacing


@dataclass(frozen=True, slots=True)
class Interval:
    """The ε from `low` ≥ 0 to `high` (None: ∞).  Without `closed`, the ends do not belong to it; 0 never does.

    Exponential polynomials are continuous: on more than one point, G ≥ 0 holds with the ends if it holds without them.
    """

    low: Fraction = Fraction(0)
    high: Fraction | None = None
    closed: bool = False

    def __post_init__(self) -> None:
        if self.low < 0 or (self.high is not None and self.high < self.low):
            raise ValueError(f"no range of ε: {self.low} to {self.high}")
        if self.low == self.high and not (self.closed and self.low > 0):
            raise ValueError(f"the range of ε is empty: {self.low} to {self.high}")

    @classmethod
    def point(cls, eps: Fraction) -> Interval:
        """One ε."""
        return cls(eps, eps, closed=True)

    @property
    def is_point(self) -> bool:
        """Whether there is only one ε."""
        return self.low == self.high

    def place(self, ratio: Fraction) -> Fraction:
        """An inner ε; ratio > 0 goes from the low end to the high one."""
        if self.high is None:
            return self.low + ratio
        return self.low + (self.high - self.low) * ratio / (1 + ratio)

    def simplest(self) -> Fraction:
        """The inner ε with the smallest denominator: what is left of a continued fraction where the ends part."""
        low, high, wholes = self.low, self.high, []
        while high is not None and high <= low // 1 + 1:
            whole = low // 1
            wholes.append(whole)
            low, high = 1 / (high - whole), 1 / (low - whole) if low > whole else None
        found = Fraction(low // 1 + 1)
        for whole in reversed(wholes):
            found = whole + 1 / found
        return found

    def inside(self, eps: Fraction) -> bool:
        """Whether ε is inside, ends excluded."""
        return self.low < eps and (self.high is None or eps < self.high)

    def shrunk(self, scale: int) -> Interval:
        """The same range in τ = ε/scale."""
        return Interval(self.low / scale, None if self.high is None else self.high / scale, self.closed)


@dataclass(frozen=True, slots=True)
class Form:
    """Σ τ^i·rows[i](e^{-τ}), with integer polynomials that are not to be changed."""

    rows: tuple[fmpz_poly, ...]

    @classmethod
    def of(cls, function: Exponential) -> Form:
        """A positive multiple of the function, in τ = ε/scale, with coefficients that have no common divisor."""
        return cls.split(function)[1]

    @classmethod
    def split(cls, function: Exponential) -> tuple[Fraction, Form]:
        """The positive number and the form whose product the function is."""
        below = lcm(*(int(part.denom()) for part in function.parts))
        rows, stretch = list[fmpz_poly](), below
        for part in function.parts:
            rows.append(part.numer() * (stretch // int(part.denom())))
            stretch *= function.scale
        common = gcd(*(int(row.content()) for row in rows))
        return Fraction(common, below), cls(tuple(row // common for row in rows) if common > 1 else tuple(rows))

    def exponential(self, scale: int) -> Exponential:
        """The same function of ε = scale·τ."""
        return Exponential(scale, tuple(fmpq_poly(row, scale**power) for power, row in enumerate(self.rows)))

    @property
    def degree(self) -> int:
        """The largest exponent of w."""
        return max((row.degree() for row in self.rows), default=-1)

    def stripped(self) -> Form:
        """Without the powers of τ and w that it is divisible by, and stretched in τ so that the exponents of w have no
        common divisor (not for zero)."""
        first = next(power for power, row in enumerate(self.rows) if row)
        places = min(_valuation(row) for row in self.rows[first:] if row)
        rows = [row.right_shift(places) for row in self.rows[first:]]
        step = gcd(*(spacing(row) for row in rows))
        if step > 1:
            rows = [row.deflate(step) * step ** (len(rows) - 1 - power) for power, row in enumerate(rows)]
        return Form(tuple(rows))

    def derivative(self) -> Form:
        """The derivative by τ."""
        rows = [row.derivative().left_shift(1) * -1 for row in self.rows]
        for power, row in enumerate(self.rows[1:]):
            rows[power] += row * (power + 1)
        while rows and not rows[-1]:
            rows.pop()
        return Form(tuple(rows))

    def enclose(self, tau: arb) -> arb:
        """A ball that contains the values at all τ of a ball, at the current precision."""
        w, total = (-tau).exp(), arb(0)
        for row in reversed(self.rows):
            total = total * tau + row(w)
        return total

    def vanishes_at(self, tau: Fraction) -> bool:
        """Whether the value at a rational τ > 0 is 0: w is transcendental there, so the polynomial in w must be 0."""
        total, place = fmpq_poly(), fmpq(tau.numerator, tau.denominator)
        for row in reversed(self.rows):
            total = total * place + row
        return not total

    def sign_at(self, tau: Fraction, bits: int = 64) -> tuple[int, int]:
        """The sign at a rational τ > 0, and the bits that it took."""
        checked = False
        while True:
            with ctx.workprec(bits):
                value = self.enclose(ball(tau))
            if value > 0:
                return 1, bits
            if value < 0:
                return -1, bits
            if not checked and self.vanishes_at(tau):
                return 0, bits
            checked, bits = True, bits * 2

    def height(self) -> int:
        """The bits of the largest coefficient."""
        return max((row.height_bits() for row in self.rows), default=0)


def _valuation(row: fmpz_poly) -> int:
    return next(place for place, coefficient in enumerate(row.coeffs()) if coefficient != 0)
