"""Limits of the privacy loss ln(p/p')/ε at both ends of (0, ∞): the candidates for the tight factor."""

from __future__ import annotations

import math
from fractions import Fraction

from dpverdict.reading.exact.exponential import Exponential, Quotient, fraction

Limit = Fraction | float
"""A rational, math.inf or -math.inf."""


def loss_at_zero(one: Quotient, other: Quotient) -> Limit:
    """The limit of ln(one/other)/ε for ε → 0, for two functions that are positive for ε > 0."""
    above, below = _ratio(one, other)
    (order, lead), (order_below, lead_below) = _first(above), _first(below)
    if order != order_below:
        return math.inf if order < order_below else -math.inf
    if lead != lead_below:
        return math.inf if lead > lead_below else -math.inf
    # ln((c + aε + …)/(c + bε + …)) = (a - b)/c·ε + …
    return (_coefficient(above, order + 1) - _coefficient(below, order + 1)) / lead


def loss_at_infinity(one: Quotient, other: Quotient) -> Limit:
    """The limit of ln(one/other)/ε for ε → ∞, for two functions that are positive for ε > 0."""
    above, below = _ratio(one, other)
    return least_rate(below) - least_rate(above)


def least_rate(function: Exponential) -> Fraction:
    """The q of the term c·ε^m·e^{-qε} that falls most slowly; the function is not 0."""
    return min(term.rate for term in function.terms())


def _ratio(one: Quotient, other: Quotient) -> tuple[Exponential, Exponential]:
    """Numerator and denominator of one/other, both positive for ε > 0."""
    if one.numerator.is_zero or other.numerator.is_zero:
        raise ValueError("the privacy loss of a probability that is 0 has no limit")
    if one.denominator == other.denominator:
        return one.numerator, other.numerator
    return one.numerator * other.denominator, other.numerator * one.denominator


def _first(function: Exponential) -> tuple[int, Fraction]:
    """The first power of ε with a coefficient that is not 0, and this coefficient."""
    order = 0
    while not (found := _coefficient(function, order)):
        order += 1
    return order, found


def _coefficient(function: Exponential, order: int) -> Fraction:
    """The coefficient of ε^order in the power series at 0."""
    total = Fraction(0)
    for power, part in enumerate(function.parts[: order + 1]):
        moment, steps = part, order - power
        for _ in range(steps):
            # w·d/dw multiplies each coefficient by its exponent.
            moment = moment.derivative().left_shift(1)
        total += fraction(moment(1)) * Fraction(-1, function.scale) ** steps / math.factorial(steps)
    return total
