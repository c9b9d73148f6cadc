"""Signs of G(ε) + c·e^{-r} with a rational r: an exponential polynomial and a constant that is none.

The derivative is that of G, so that its sign is known everywhere; what remains are the values where the function turns
and at the ends.  At rational ε, a value is a sum of rational multiples of powers of e with different rational
exponents, which is 0 only if all multiples are (Lindemann and Weierstrass).  At an irrational place where the function
turns, a value that cannot be told from 0 leaves the sign undecided: only Schanuel's conjecture would exclude a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dpverdict.reading.exact.exponential import Exponential, ball, fraction
from dpverdict.reading.exact.sign import Negative, SignPattern, Undecided, roots
from dpverdict.reading.exact.sign_forms import Form, Interval
from dpverdict.reading.exact.sign_roots import TooManyBoxes

MOST_BITS = 2000
"""The precision up to which a value at an irrational place is told from 0."""


@dataclass(frozen=True, slots=True)
class WithConstant:
    """function(ε) + coefficient·e^{-exponent}."""

    function: Exponential
    coefficient: Fraction
    exponent: Fraction

    def value_on(self, eps: arb, bits: int = 128) -> arb:
        """A ball that contains the values at all ε of a ball."""
        with ctx.workprec(bits):
            constant = (-ball(self.exponent)).exp() * ball(self.coefficient)
            return self.function.value_on(eps, bits) + constant

    def sign_at(self, eps: Fraction) -> int:
        """The sign at a rational ε ≥ 0, exactly."""
        multiples = {self.exponent: self.coefficient}
        for term in self.function.terms():
            power = term.rate * eps
            multiples[power] = multiples.get(power, Fraction(0)) + term.coefficient * eps**term.power
        return sign_of_sum(multiples)

    def sign_at_infinity(self) -> int:
        """The sign of the limit for ε → ∞."""
        lasting = [fraction(part[0]) for part in self.function.parts]
        while len(lasting) > 1 and not lasting[-1]:
            lasting.pop()
        if len(lasting) > 1:
            return 1 if lasting[-1] > 0 else -1
        multiples = {self.exponent: self.coefficient}
        multiples[Fraction(0)] = multiples.get(Fraction(0), Fraction(0)) + (lasting[0] if lasting else Fraction(0))
        return sign_of_sum(multiples)


@dataclass(frozen=True, slots=True)
class NonnegativeByTurns:
    """G + c·e^{-r} ≥ 0: at both ends, and at all places where it turns from falling to rising."""

    slope: SignPattern


def decide_with_constant(subject: WithConstant, interval: Interval) -> NonnegativeByTurns | Negative | Undecided:
    """Whether G(ε) + c·e^{-r} ≥ 0 on the whole interval."""
    if interval.is_point:
        sign = subject.sign_at(interval.low)
        return Negative(interval.low) if sign < 0 else NonnegativeByTurns(SignPattern((), (0,)))
    try:
        slope = roots(subject.function.derivative(), interval)
    except TooManyBoxes:
        return Undecided("the places where the function turns are too close to tell apart")
    if subject.sign_at(interval.low) < 0:
        return Negative(_negative_near(subject, interval, at_low=True))
    at_end = subject.sign_at_infinity() if interval.high is None else subject.sign_at(interval.high)
    if at_end < 0:
        return Negative(_negative_near(subject, interval, at_low=False))
    for (low, high), before in zip(slope.zeros, slope.signs, strict=False):
        if before < 0 and (answer := _at_minimum(subject, low, high)) is not None:
            return answer
    return NonnegativeByTurns(slope)


def sign_of_sum(multiples: dict[Fraction, Fraction]) -> int:
    """The sign of Σ multiple·e^{-exponent} over different rational exponents."""
    present = {exponent: multiple for exponent, multiple in multiples.items() if multiple}
    bits = 64
    while present:
        with ctx.workprec(bits):
            total = arb(0)
            for exponent, multiple in present.items():
                total += (-ball(exponent)).exp() * ball(multiple)
        if total > 0 or total < 0:
            return 1 if total > 0 else -1
        bits *= 2
    return 0


def _negative_near(subject: WithConstant, interval: Interval, *, at_low: bool) -> Fraction:
    """An inner ε near an end in whose neighbourhood the function is negative."""
    ratio = Fraction(1)
    while subject.sign_at(interval.place(ratio)) >= 0:
        ratio = ratio / 2 if at_low else ratio * 2
    return interval.place(ratio)


def _at_minimum(subject: WithConstant, low: Fraction, high: Fraction) -> Negative | Undecided | None:
    """What the value at the only minimum between low and high says; None: it is not negative."""
    slope, scale, bits = Form.of(subject.function.derivative()), subject.function.scale, 64
    while low < high:
        with ctx.workprec(bits):
            value = subject.value_on(ball(low).union(ball(high)), bits)
        if value > 0:
            return None
        if bits > MOST_BITS:
            return Undecided("at an irrational ε, the value cannot be told from 0")
        for _ in range(bits // 2):
            middle, rising = _inner_sign(slope, scale, Interval(low, high))
            low, high = (low, middle) if rising > 0 else (middle, high)
        if subject.sign_at(low) < 0:
            return Negative(low)
        bits *= 2
    return Negative(low) if subject.sign_at(low) < 0 else None


def _inner_sign(slope: Form, scale: int, interval: Interval) -> tuple[Fraction, int]:
    """An inner ε at which the slope is not 0, the middle if possible, and its sign there.

    The turn is irrational here; a slope of 0 at a rational ε is one that the function passes without a turn.
    """
    ratio = Fraction(1)
    while (sign := slope.sign_at(interval.place(ratio) / scale)[0]) == 0:
        ratio /= 2
    return interval.place(ratio), sign
