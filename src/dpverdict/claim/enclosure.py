"""Enclosures of logarithm, exponential, square root and the normal distribution: two rationals around the true value.

Everything is integer arithmetic on multiples of 2^-width.  Sums of positive terms are kept twice, once with every step
rounded down and once with every step rounded up; what is cut off is bounded by a geometric series and added above.  No
floating-point number takes part.  (An arbitrary-precision ball library would do the same; the rest of this room does
not need one, and these few series keep it free of dependencies.)
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

LARGEST_EXPONENT = 4096
"""exp is only asked for up to here; below minus this, its enclosure starts at 0."""

FARTHEST = 64
"""The normal distribution farther out than this is enclosed by 0 and exp(-64²/2) < 2^-2954."""
_FARTHEST_TAIL = Fraction(1, 1 << 2954)

_GUARD = 32


class Bounds(NamedTuple):
    """low ≤ the true value ≤ high."""

    low: Fraction
    high: Fraction


def _down(value: Fraction, width: int) -> int:
    return (value.numerator << width) // value.denominator


def _up(value: Fraction, width: int) -> int:
    return -((-value.numerator << width) // value.denominator)


def _shift_up(value: int, width: int) -> int:
    return -(-value >> width)


def rounded_up(value: Fraction, bits: int = 64) -> Fraction:
    """A short rational that is at least the value, by less than 2^-bits."""
    return Fraction(_up(value, bits), 1 << bits)


def log_bounds(value: Fraction, bits: int) -> Bounds:
    """The natural logarithm of a positive rational, to about 2^-bits.

    log(2^k m) = k log 2 + 2 artanh((m - 1)/(m + 1)) with 1/2 < m < 2, so that the series runs in z with |z| < 1/3.
    """
    if value == 1:
        return Bounds(Fraction(0), Fraction(0))
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    width = bits + _GUARD + abs(shift).bit_length()
    scaled = value / (Fraction(2) ** shift)
    low, high = _artanh((scaled - 1) / (scaled + 1), width)
    two_low, two_high = _log_two(width)
    ends = (shift * two_low, shift * two_high)
    unit = 1 << width
    return Bounds(Fraction(2 * low + min(ends), unit), Fraction(2 * high + max(ends), unit))


@lru_cache(32)
def _log_two(width: int) -> tuple[int, int]:
    low, high = _artanh(Fraction(1, 3), width)
    return 2 * low, 2 * high


def _artanh(z: Fraction, width: int) -> tuple[int, int]:
    if z < 0:
        low, high = _artanh(-z, width)
        return -high, -low
    term_low, term_high = _down(z, width), _up(z, width)
    square_low, square_high = _down(z * z, width), _up(z * z, width)
    low = high = 0
    # z² ≤ 1/9: each term is worth at least three bits.
    for odd in range(1, 2 * (width // 3 + 2), 2):
        low += term_low // odd
        high -= -term_high // odd
        term_low = term_low * square_low >> width
        term_high = _shift_up(term_high * square_high, width)
    # The rest is below the next term times 1/(1 - 1/9), divided by an odd number above 2.
    return low, high + term_high


def exp_bounds(exponent: Fraction, bits: int) -> Bounds:
    """exp of a rational of at most LARGEST_EXPONENT, to a relative error of about 2^-bits."""
    if exponent > 0:
        if exponent > LARGEST_EXPONENT:
            raise ValueError(f"exp of a number above {LARGEST_EXPONENT}")
        inverse = exp_bounds(-exponent, bits)
        return Bounds(1 / inverse.high, 1 / inverse.low)
    if exponent < -LARGEST_EXPONENT:
        return Bounds(Fraction(0), exp_bounds(Fraction(-LARGEST_EXPONENT), 8).high)
    size = -exponent
    halvings = max(0, (size.numerator // size.denominator).bit_length() + 3)
    # The value may be as small as 2^(-1.4427 size); halvings double the relative error each time.
    width = bits + _GUARD + 2 * halvings + 3 * (size.numerator // size.denominator) // 2
    low, high = _exp_small(size / (1 << halvings), width)
    unit_squared = 1 << 2 * width
    low, high = unit_squared // high, -(-unit_squared // low)
    for _ in range(halvings):
        low, high = low * low >> width, _shift_up(high * high, width)
    return Bounds(Fraction(low, 1 << width), Fraction(high, 1 << width))


def _exp_small(x: Fraction, width: int) -> tuple[int, int]:
    """exp on [0, 1/2] by its Taylor series."""
    low_x, high_x = _down(x, width), _up(x, width)
    low = high = low_term = high_term = 1 << width
    order = 0
    while high_term > 1:
        order += 1
        low_term = (low_term * low_x >> width) // order
        high_term = -(-_shift_up(high_term * high_x, width) // order)
        low += low_term
        high += high_term
    # The rest is at most the last term times (1/2 + 1/4 + …).
    return low, high + high_term


def sqrt_bounds(value: Fraction, bits: int) -> Bounds:
    """The square root of a rational that is not negative, to 2^-bits."""
    root = isqrt((value.numerator << 2 * bits) // value.denominator)
    unit = 1 << bits
    exact = Fraction(root, unit)
    return Bounds(exact, exact if exact * exact == value else Fraction(root + 1, unit))


@lru_cache(32)
def _pi(width: int) -> Bounds:
    """π = 16 arctan(1/5) - 4 arctan(1/239), each an alternating series of falling terms."""
    low, high = 0, 0
    for factor, inverse in ((16, 5), (-4, 239)):
        total, power, odd, sign, steps = 0, (1 << width) // inverse, 1, 1, 0
        while power:
            total += sign * (power // odd)
            power //= inverse * inverse
            odd, sign, steps = odd + 2, -sign, steps + 1
        # Each step rounds at most two units away, and the rest is below one.
        slack = 2 * steps + 2
        ends = (factor * (total - slack), factor * (total + slack))
        low, high = low + min(ends), high + max(ends)
    return Bounds(Fraction(low, 1 << width), Fraction(high, 1 << width))


def normal_bounds(x: Fraction, bits: int) -> Bounds:
    """The standard normal distribution function at x, to a relative error of about 2^-bits (|x| ≤ FARTHEST).

    Φ(-y) = 1/2 - φ(y) Σ y^(2k+1)/(1·3·…·(2k+1)), a series of positive terms, whose difference from 1/2 is taken with
    as many more bits as exp(-y²/2) is small.
    """
    if x > 0:
        low, high = normal_bounds(-x, bits)
        return Bounds(1 - high, 1 - low)
    y = -x
    if y > FARTHEST:
        return Bounds(Fraction(0), _FARTHEST_TAIL)
    width = bits + _GUARD + int(y * y * 3 / 4) + 8
    low, high = _odd_series(y, width)
    density = exp_bounds(-y * y / 2, width)
    pi = _pi(width)
    scale = Bounds(sqrt_bounds(1 / (2 * pi.high), width).low, sqrt_bounds(1 / (2 * pi.low), width).high)
    half = Fraction(1, 2)
    below = half - density.high * scale.high * high
    return Bounds(max(below, Fraction(0)), half - density.low * scale.low * low)


def _odd_series(y: Fraction, width: int) -> Bounds:
    low_term, high_term = _down(y, width), _up(y, width)
    low_square, high_square = _down(y * y, width), _up(y * y, width)
    low, high, odd = low_term, high_term, 1
    enough = int(2 * y * y) + 3
    while high_term > 2 or odd < enough:
        odd += 2
        low_term = (low_term * low_square >> width) // odd
        high_term = -(-_shift_up(high_term * high_square, width) // odd)
        low += low_term
        high += high_term
    # From here on each term is at most half of the one before.
    return Bounds(Fraction(low, 1 << width), Fraction(high + high_term, 1 << width))
