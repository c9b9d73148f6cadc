"""Intervals with rational or infinite ends, each end open or closed: what is known of a number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

End: TypeAlias = Fraction | float
"""A rational, or a float that is infinite."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers between two ends."""

    low: End
    high: End
    low_open: bool
    high_open: bool

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            _total(self.low, other.low),
            _total(self.high, other.high),
            self.low_open or other.low_open,
            self.high_open or other.high_open,
        )

    def scaled(self, factor: Fraction) -> Interval:
        """Every number times a factor that is not 0."""
        low, high = _product(self.low, factor), _product(self.high, factor)
        if factor > 0:
            return Interval(low, high, self.low_open, self.high_open)
        return Interval(high, low, self.high_open, self.low_open)

    def __mul__(self, other: Interval) -> Interval:
        corners = [
            (_product(a, b), _corner_open(a, a_open, b, b_open))
            for a, a_open in self._ends()
            for b, b_open in other._ends()
        ]
        low = min(value for value, _ in corners)
        high = max(value for value, _ in corners)
        return Interval(
            low,
            high,
            all(is_open for value, is_open in corners if value == low),
            all(is_open for value, is_open in corners if value == high),
        )

    def power(self, exponent: Fraction) -> Interval:
        """Every number to a power; only signs are kept where the exact ends would be irrational."""
        if self.low < 0 or (self.low == 0 and exponent < 0 and not self.low_open):
            even = exponent.denominator == 1 and exponent.numerator % 2 == 0
            return NOT_NEGATIVE if even else EVERYTHING
        if exponent.denominator != 1:
            return POSITIVE if self.low > 0 or self.low_open else NOT_NEGATIVE
        low, high = _power(self.low, exponent.numerator), _power(self.high, exponent.numerator)
        if exponent > 0:
            return Interval(low, high, self.low_open, self.high_open)
        return Interval(high, low, self.high_open, self.low_open)

    def exponential(self) -> Interval:
        """exp of every number, by 1 + x ≤ exp(x)."""
        low = max(Fraction(0), self.low + 1) if isinstance(self.low, Fraction) else Fraction(0)
        high = Fraction(1) if self.high <= 0 else math.inf
        return Interval(low, high, low == 0 or self.low_open or self.low != 0, self.high != 0 or self.high_open)

    def logarithm(self) -> Interval:
        """log of every number, by log(x) ≤ x - 1 and its sign."""
        low: End = Fraction(0) if self.low >= 1 else -math.inf
        high = self.high - 1 if isinstance(self.high, Fraction) else math.inf
        return Interval(low, high, self.low != 1 or self.low_open, self.high != 1 or self.high_open)

    def meet(self, other: Interval) -> Interval:
        """The numbers in both."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, high_closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return Interval(low, high, low_open, not high_closed)

    def whole(self) -> Interval:
        """The smallest closed interval around the whole numbers inside."""
        low, high = self.low, self.high
        if isinstance(low, Fraction):
            low = Fraction(math.floor(low) + 1 if self.low_open else math.ceil(low))
        if isinstance(high, Fraction):
            high = Fraction(math.ceil(high) - 1 if self.high_open else math.floor(high))
        return Interval(low, high, isinstance(low, float), isinstance(high, float))

    def decides(self, relation: str) -> bool | None:
        """Whether all numbers inside stand in the relation to zero, or none does; None if neither."""
        below = self.high < 0 or (self.high == 0 and self.high_open)
        above = self.low > 0 or (self.low == 0 and self.low_open)
        if relation == "==":
            if below or above:
                return False
            return True if self.low == self.high == 0 else None
        if below or (relation == "<=" and self.high <= 0):
            return True
        return False if above or (relation == "<" and self.low >= 0) else None

    def _ends(self) -> tuple[tuple[End, bool], tuple[End, bool]]:
        return (self.low, self.low_open), (self.high, self.high_open)


def _total(a: End, b: End) -> End:
    """The sum of two ends of one side; a fraction may be too large to become a float."""
    return b if isinstance(b, float) else a if isinstance(a, float) else a + b


def _product(a: End, b: End) -> End:
    if a == 0 or b == 0:
        return Fraction(0)
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    return math.inf if (a > 0) == (b > 0) else -math.inf


def _corner_open(a: End, a_open: bool, b: End, b_open: bool) -> bool:
    if (a == 0 and not a_open) or (b == 0 and not b_open):
        return False
    return a_open or b_open


def _power(end: End, exponent: int) -> End:
    if end == 0:
        return Fraction(0) if exponent > 0 else math.inf
    if isinstance(end, Fraction):
        return Fraction(end**exponent)
    return math.inf if exponent > 0 else Fraction(0)


EVERYTHING = Interval(-math.inf, math.inf, True, True)
POSITIVE = Interval(Fraction(0), math.inf, True, True)
NOT_NEGATIVE = Interval(Fraction(0), math.inf, False, True)
UNIT = Interval(Fraction(0), Fraction(1), False, False)


def point(content: Fraction) -> Interval:
    """A single number."""
    return Interval(content, content, False, False)


def hull(intervals: Iterable[Interval]) -> Interval:
    """The smallest interval around all."""
    found = list(intervals)
    low, low_open = min((interval.low, interval.low_open) for interval in found)
    high, high_closed = max((interval.high, not interval.high_open) for interval in found)
    return Interval(low, high, low_open, not high_closed)
