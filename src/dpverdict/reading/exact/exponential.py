"""Exponential polynomials Σ c·ε^m·e^{-qε} and their quotients: what the probabilities of a program are.

Everything is exact: c and q are rationals, m a natural number.  The form is Σ_i ε^i·A_i(w) with w = exp(-ε/scale), and
all arithmetic is that of rational polynomials in w.  It is a normal form once the scale is the smallest: ε and e^{-ε/D}
are algebraically independent as functions of ε, so that equal functions have equal polynomials.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Self

from flint import arb, ctx, fmpq, fmpq_poly, fmpz_poly

from dpverdict.reading.exact.expression_text import Term, decimal, read_quotient, read_sum, text_of_sum

ZERO = fmpq_poly()


def rational(value: int | Fraction | fmpq) -> fmpq:
    """The same number as flint's type."""
    return fmpq(value.numerator, value.denominator) if isinstance(value, Fraction) else fmpq(value)


def fraction(value: fmpq) -> Fraction:
    """The same number as Python's type."""
    return Fraction(int(value.p), int(value.q))


def ball(value: int | Fraction) -> arb:
    """A ball around the number, at the current precision."""
    return arb(rational(value))


@dataclass(frozen=True, slots=True, eq=False)
class Exponential:
    """Σ_i ε^i·parts[i](w) with w = exp(-ε/scale); zero has no parts.

    Equality and hash are those of the function, whatever the scale.  The parts are not to be changed.
    """

    scale: int
    parts: tuple[fmpq_poly, ...]

    def __post_init__(self) -> None:
        if self.scale < 1:
            raise ValueError(f"the scale is a positive integer, not {self.scale}")
        count = len(self.parts)
        while count and not self.parts[count - 1]:
            count -= 1
        if count != len(self.parts):
            object.__setattr__(self, "parts", self.parts[:count])

    # --- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def zero(cls) -> Self:
        """The function 0."""
        return cls(1, ())

    @classmethod
    def constant(cls, value: int | Fraction | fmpq) -> Self:
        """The same value for all ε."""
        return cls(1, (fmpq_poly([rational(value)]),))

    @classmethod
    def term(cls, coefficient: int | Fraction | fmpq, power_of_eps: int = 0, rate: int | Fraction = 0) -> Self:
        """coefficient·ε^power·e^{-rate·ε}, with power ≥ 0 and rate ≥ 0."""
        if power_of_eps < 0 or rate < 0:
            raise ValueError(f"ε^{power_of_eps}·exp(-{rate}·ε) has a negative exponent")
        decay = Fraction(rate)
        part = fmpq_poly([rational(coefficient)]).left_shift(decay.numerator)
        return cls(decay.denominator, (ZERO,) * power_of_eps + (part,))

    @classmethod
    def of_terms(cls, terms: Iterable[Term]) -> Self:
        """The sum of many terms, made at once."""
        listed = [term for term in terms if term.coefficient]
        scale = lcm(*(term.rate.denominator for term in listed))
        rows: dict[int, dict[int, fmpq]] = {}
        for term in listed:
            row, place = rows.setdefault(term.power, {}), int(term.rate * scale)
            row[place] = row.get(place, fmpq(0)) + rational(term.coefficient)
        return cls(scale, tuple(_dense(rows.get(power, {})) for power in range(max(rows, default=-1) + 1)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads what `text` writes.  Raises InputError that points at what does not belong there."""
        return cls.of_terms(read_sum(text))

    # --- looking --------------------------------------------------------------------------------------------------

    @property
    def is_zero(self) -> bool:
        """Whether this is 0 for all ε."""
        return not self.parts

    @property
    def is_constant(self) -> bool:
        """Whether this has the same value for all ε."""
        return not self.parts or (len(self.parts) == 1 and self.parts[0].degree() == 0)

    def terms(self) -> list[Term]:
        """The terms that are not 0, ordered by rate, then by power of ε."""
        found = [
            Term(fraction(coefficient), power, Fraction(place, self.scale))
            for power, part in enumerate(self.parts)
            for place, coefficient in enumerate(part.coeffs())
            if coefficient != 0
        ]
        return sorted(found, key=lambda term: (term.rate, term.power))

    def text(self) -> str:
        """A canonical expression, such as `29/120*exp(-1/8*eps) - 1/8*eps^2*exp(-eps)`."""
        return text_of_sum(self.terms())

    def __str__(self) -> str:
        return self.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exponential):
            return NotImplemented
        if len(self.parts) != len(other.parts):
            return False
        left, right = _aligned(self, other)
        return left.parts == right.parts

    def __hash__(self) -> int:
        least = self.reduced()
        return hash((least.scale, tuple((part.denom(), *part.numer().coeffs()) for part in least.parts)))

    def __reduce__(self) -> tuple[object, ...]:
        # flint's polynomials cannot be pickled.
        rows = [([int(place) for place in part.numer().coeffs()], int(part.denom())) for part in self.parts]
        return _restored, (self.scale, rows)

    # --- the same function at another scale -------------------------------------------------------------------------

    def at_scale(self, multiple: int) -> Exponential:
        """The same function with w = exp(-ε/multiple); `multiple` is one of the scale."""
        if multiple == self.scale:
            return self
        stretch, rest = divmod(multiple, self.scale)
        if rest or multiple < 1:
            raise ValueError(f"{multiple} is no multiple of the scale {self.scale}")
        return Exponential(multiple, tuple(_inflated(part, stretch) for part in self.parts))

    def reduced(self) -> Exponential:
        """The same function at its smallest scale."""
        step = self.scale
        for part in self.parts:
            if step == 1:
                return self
            step = gcd(step, spacing(part.numer()))
        if step == 1:
            return self
        return Exponential(self.scale // step, tuple(_deflated(part, step) for part in self.parts))

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def __neg__(self) -> Exponential:
        return Exponential(self.scale, tuple(-part for part in self.parts))

    def __add__(self, other: Exponential) -> Exponential:
        left, right = _aligned(self, other)
        if len(left.parts) < len(right.parts):
            left, right = right, left
        shared = len(right.parts)
        sums = tuple(one + two for one, two in zip(left.parts, right.parts, strict=False))
        return Exponential(left.scale, sums + left.parts[shared:])

    def __sub__(self, other: Exponential) -> Exponential:
        return self + -other

    def __mul__(self, other: Exponential | int | Fraction) -> Exponential:
        if not isinstance(other, Exponential):
            factor = rational(other)
            return Exponential(self.scale, tuple(part * factor for part in self.parts))
        if not self.parts or not other.parts:
            return Exponential.zero()
        left, right = _aligned(self, other)
        products = [ZERO] * (len(left.parts) + len(right.parts) - 1)
        for i, one in enumerate(left.parts):
            if one:
                for j, two in enumerate(right.parts):
                    products[i + j] += one * two
        return Exponential(left.scale, tuple(products))

    __rmul__ = __mul__

    def shifted(self, rate: int | Fraction) -> Exponential:
        """This times e^{-rate·ε}; a negative rate is allowed where no exponential comes to grow."""
        decay = Fraction(rate)
        wide = self.at_scale(lcm(self.scale, decay.denominator))
        places = int(decay * wide.scale)
        if places >= 0:
            return Exponential(wide.scale, tuple(part.left_shift(places) for part in wide.parts))
        if any(part and part.truncate(-places) for part in wide.parts):
            raise ValueError(f"times exp({-decay}·ε), an exponential would grow")
        return Exponential(wide.scale, tuple(part.right_shift(-places) for part in wide.parts))

    def derivative(self) -> Exponential:
        """The derivative by ε."""
        slope = fmpq(-1, self.scale)
        inner = Exponential(self.scale, tuple(part.derivative().left_shift(1) * slope for part in self.parts))
        outer = tuple(part * power for power, part in enumerate(self.parts))[1:]
        return inner + Exponential(self.scale, outer)

    # --- values ---------------------------------------------------------------------------------------------------

    def value(self, eps: int | Fraction, bits: int = 128) -> arb:
        """A ball that contains the value at a rational ε, computed with that many bits."""
        with ctx.workprec(bits):
            return self._ball(ball(eps))

    def value_on(self, eps: arb, bits: int = 128) -> arb:
        """A ball that contains the values at all ε of a ball."""
        with ctx.workprec(bits):
            return self._ball(eps)

    def _ball(self, eps: arb) -> arb:
        total, w = arb(0), (-eps / self.scale).exp()
        for part in reversed(self.parts):
            total = total * eps + part.numer()(w) / part.denom()
        return total

    def at(self, eps: int | Fraction) -> fmpq_poly:
        """The polynomial in w that this is at one rational ε.  For ε ≠ 0 the value is 0 only if the polynomial is: w is
        then transcendental (Lindemann; baker1975transcendental)."""
        total, place = ZERO, rational(eps)
        for part in reversed(self.parts):
            total = total * place + part
        return total

    def digits(self, eps: int | Fraction, count: int = 30) -> str:
        """The value at a rational ε ≥ 0, correctly rounded to that many significant decimal digits."""
        return Quotient(self, ONE).digits(eps, count)


def _restored(scale: int, rows: Sequence[tuple[list[int], int]]) -> Exponential:
    return Exponential(scale, tuple(fmpq_poly(fmpz_poly(places), below) for places, below in rows))


def _dense(row: dict[int, fmpq]) -> fmpq_poly:
    return fmpq_poly([row.get(place, fmpq(0)) for place in range(max(row, default=-1) + 1)])


def _inflated(part: fmpq_poly, stretch: int) -> fmpq_poly:
    return fmpq_poly(part.numer().inflate(stretch), part.denom())


def _deflated(part: fmpq_poly, step: int) -> fmpq_poly:
    return fmpq_poly(part.numer().deflate(step), part.denom()) if part.degree() > 0 else part


def spacing(part: fmpz_poly) -> int:
    """The greatest common divisor of the exponents; 0 for a constant."""
    return part.deflation()[1] if part.degree() > 0 else 0


def _aligned(left: Exponential, right: Exponential) -> tuple[Exponential, Exponential]:
    scale = left.scale if left.scale == right.scale else lcm(left.scale, right.scale)
    return left.at_scale(scale), right.at_scale(scale)


ONE = Exponential.constant(1)


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """numerator / denominator; whoever makes one states that the denominator is positive for all ε > 0 (or, where it is
    not free of ε, for those of the range that the quotient is about).

    Equality is that of the function.
    """

    numerator: Exponential
    denominator: Exponential = ONE

    def __post_init__(self) -> None:
        if self.denominator.is_zero:
            raise ValueError("a denominator is not 0")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads what `text` writes.  Raises InputError that points at what does not belong there.

        That the denominator is positive is taken over, not checked: see `sign.positive`.
        """
        above, below = read_quotient(text)
        return cls(Exponential.of_terms(above), ONE if below is None else Exponential.of_terms(below))

    def text(self) -> str:
        """A sum, or `(sum) / (sum)`."""
        if self.denominator == ONE:
            return self.numerator.text()
        return f"({self.numerator.text()}) / ({self.denominator.text()})"

    def __str__(self) -> str:
        return self.text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quotient):
            return NotImplemented
        if self.denominator == other.denominator:
            return self.numerator == other.numerator
        return self.numerator * other.denominator == other.numerator * self.denominator

    # Equal quotients may be written in different ways; values that are equal only after a multiplication have no hash.
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Quotient:
        return Quotient(-self.numerator, self.denominator)

    def __add__(self, other: Quotient) -> Quotient:
        if self.denominator == other.denominator:
            return Quotient(self.numerator + other.numerator, self.denominator)
        above = self.numerator * other.denominator + other.numerator * self.denominator
        return Quotient(above, self.denominator * other.denominator)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + -other

    def __mul__(self, other: Quotient | Exponential | int | Fraction) -> Quotient:
        if not isinstance(other, Quotient):
            return Quotient(self.numerator * other, self.denominator)
        return Quotient(self.numerator * other.numerator, self.denominator * other.denominator)

    def cancelled(self) -> Quotient:
        """The same function without common factors, as far as they are cheap to find: constants, powers of ε and w,
        and any common factor in w where the denominator is free of ε."""
        above, below = _aligned(self.numerator, self.denominator)
        if len(below.parts) == 1:
            common = below.parts[0]
            for part in above.parts:
                if common.degree() < 1:
                    break
                common = common.gcd(part)
            above = Exponential(above.scale, tuple(part // common for part in above.parts))
            below = Exponential(below.scale, (below.parts[0] // common,))
            # A divisor of a denominator without zeros has none, but it may be negative.
            if _negative_at_one(below):
                above, below = -above, -below
        return Quotient(above, below).reduced()

    def reduced(self) -> Quotient:
        """The same function at its smallest scales; a constant denominator is divided out."""
        return _unit_constant(self.numerator.reduced(), self.denominator.reduced())

    def value(self, eps: int | Fraction, bits: int = 128) -> arb:
        """A ball that contains the value at a rational ε, computed with that many bits."""
        with ctx.workprec(bits):
            return self.numerator.value(eps, bits) / self.denominator.value(eps, bits)

    def digits(self, eps: int | Fraction, count: int = 30) -> str:
        """The value at a rational ε, correctly rounded (half to even) to that many significant decimal digits."""
        above, below = _aligned(self.numerator, self.denominator)
        upper, lower = above.at(eps), below.at(eps)
        if eps == 0:
            upper, lower = fmpq_poly([upper(1)]), fmpq_poly([lower(1)])
        if not lower:
            raise ZeroDivisionError(f"the denominator is 0 at ε = {eps}")
        # w is transcendental: the value is rational if and only if the polynomials are proportional.
        ratio = upper.leading_coefficient() / lower.leading_coefficient()
        if upper == lower * ratio:
            return decimal(fraction(ratio), count)
        bits = 64 + 4 * count
        while True:
            texts = {decimal(end, count) for end in _ends(self.value(eps, bits), bits)}
            if len(texts) == 1:
                return texts.pop()
            bits *= 2


def _ends(value: arb, bits: int) -> tuple[Fraction, ...]:
    # Within the precision: also the ends are rounded to it.
    with ctx.workprec(bits):
        return (fraction(value.lower().fmpq()), fraction(value.upper().fmpq())) if value.is_finite() else ()


def _negative_at_one(below: Exponential) -> bool:
    bits = 64
    while 0 in (value := below.value(1, bits)):
        bits *= 2
    return bool(value < 0)


def _unit_constant(above: Exponential, below: Exponential) -> Quotient:
    """With the denominator's constant divided out: 1 where there is nothing else."""
    if below.is_constant:
        return Quotient(above * (1 / fraction(below.parts[0][0])), ONE)
    return Quotient(above, below)
