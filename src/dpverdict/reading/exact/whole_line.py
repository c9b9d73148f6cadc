"""Functions of one whole number, piece by piece, and their sums.

On each piece a function is Σ c·v^m·e^{kxv/D}: v counts from the piece's origin, and c is a quotient of polynomials in
w = e^{-x/D}.  The first piece ends at the first point, which is its origin; every other piece begins behind a point,
its origin.  Sums stay inside this form: with q = w^k, Σ_{t≤v} t^m q^{-t} = q^{-v}·Q(v) + constant for the polynomial Q
with Q(v) - q·Q(v - 1) = v^m.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, lcm
from typing import TypeAlias, assert_never

from dpverdict.reading.exact.densities import END, Geometric, Ranged, WholeDensity
from dpverdict.reading.exact.ratio import ONE, ZERO, Ratio

Piece: TypeAlias = dict[tuple[int, int], Ratio]
"""Coefficients by (m, k)."""

Function: TypeAlias = tuple[Piece, ...]


class WholeLine:
    """The whole numbers, cut behind points: what the functions on them share."""

    __slots__ = ("_last", "_points", "scale")

    def __init__(self, densities: Sequence[WholeDensity], points: Iterable[int]) -> None:
        cuts = {int(cut) for density in densities for cut in _cuts(density)}
        self._points = sorted(cuts | set(points))
        self._last = len(self._points)
        self.scale = lcm(*(density.rate.denominator for density in densities))

    # --- functions --------------------------------------------------------------------------------------------------

    def density(self, density: WholeDensity) -> Function:
        """The probability of each whole number."""
        step, location = int(density.rate * self.scale), int(density.location)
        decay = tuple(self._decaying(step, location, place) for place in range(self._last + 1))
        match density:
            case Geometric():
                return _scaled(decay, _share(step))
            case Ranged(_, _, low, high, False):
                inside = self.within(decay, low, high)
                return _scaled(inside, ONE / self.cumulative(inside)[1])
            case Ranged(_, _, low, high, _):
                return self._clamped(_scaled(decay, _share(step)), int(low), int(high))
            case _:
                assert_never(density)

    def _decaying(self, step: int, location: int, place: int) -> Piece:
        """r^|s - location| with r = w^step: it rises up to the location, which is a point, and falls behind it."""
        away = abs(self._points[max(place - 1, 0)] - location)
        rises = place < self._last and self._points[place] <= location
        return {(0, step if rises else -step): Ratio.power_of_w(step * away)}

    def _clamped(self, function: Function, low: int, high: int) -> Function:
        """The ends take the mass beyond them."""
        if low == high:
            return self.point(low)
        below = self.cumulative(self.within(function, None, Fraction(low)))[1]
        above = self.cumulative(self.within(function, Fraction(high), None))[1]
        inside = self.within(function, Fraction(low + 1), Fraction(high - 1))
        return total([inside, _scaled(self.point(low), below), _scaled(self.point(high), above)])

    def point(self, at: int) -> Function:
        """1 at one number, 0 elsewhere; the line is cut around it."""
        one: Piece = {(0, 0): ONE}
        return self.within((one,) * (self._last + 1), Fraction(at), Fraction(at))

    def within(self, function: Function, low: END, high: END) -> Function:
        """The function from low to high, 0 elsewhere; the line is cut behind low - 1 and behind high."""
        first = 0 if low is None else self._points.index(int(low) - 1) + 1
        last = self._last if high is None else self._points.index(int(high))
        return tuple(piece if first <= place <= last else {} for place, piece in enumerate(function))

    def at(self, function: Function, number: int) -> Ratio:
        """The value at a number."""
        place = bisect_left(self._points, number)
        return _value(function[place], number - self._points[max(place - 1, 0)])

    # --- sums -------------------------------------------------------------------------------------------------------

    def cumulative(self, function: Function) -> tuple[Function, Ratio]:
        """s ↦ Σ_{t≤s} of the function, and its limit at ∞."""
        gathered = ZERO
        pieces: list[Piece] = []
        for place, piece in enumerate(function):
            summed = _summed(piece)
            if place > 0:
                gathered = gathered - _value(summed, 0)
            elif any(k <= 0 for _, k in piece):
                raise AssertionError("a sum without a limit")
            pieces.append(_plus(summed, {(0, 0): gathered}))
            if place == 0:
                gathered = _value(summed, 0)
            elif place < self._last:
                gathered = gathered + _value(summed, self._points[place] - self._points[place - 1])
            elif any(k >= 0 for _, k in piece):
                raise AssertionError("a sum without a limit")
        return tuple(pieces), gathered


def _cuts(density: WholeDensity) -> tuple[Fraction, ...]:
    match density:
        case Geometric(_, location):
            return (location,)
        case Ranged(_, location, low, high, _):
            return (location, low - 1, low, high - 1, high)
        case _:
            assert_never(density)


def _share(step: int) -> Ratio:
    """The probability of the location: (1 - r)/(1 + r) with r = w^step."""
    r = Ratio.power_of_w(step)
    return (ONE - r) / (ONE + r)


def product(functions: Sequence[Function]) -> Function:
    """The product of functions on one line."""
    result = functions[0]
    for function in functions[1:]:
        result = tuple(_times(one, other) for one, other in zip(result, function, strict=True))
    return result


def total(functions: Sequence[Function]) -> Function:
    """The sum of functions on one line."""
    result = functions[0]
    for function in functions[1:]:
        result = tuple(_plus(one, other) for one, other in zip(result, function, strict=True))
    return result


def negated(function: Function) -> Function:
    """The function times -1."""
    return _scaled(function, Ratio.constant(-1))


def constant(value: Ratio, like: Function) -> Function:
    """The same value everywhere."""
    return ({(0, 0): value},) * len(like)


def _scaled(function: Function, factor: Ratio) -> Function:
    return tuple({at: c * factor for at, c in piece.items()} for piece in function)


def _times(one: Piece, other: Piece) -> Piece:
    found: Piece = {}
    for (m, k), c in one.items():
        for (n, h), d in other.items():
            at = m + n, k + h
            found[at] = found[at] + c * d if at in found else c * d
    return found


def _plus(one: Piece, other: Piece) -> Piece:
    found = dict(one)
    for at, c in other.items():
        found[at] = found[at] + c if at in found else c
    return {at: c for at, c in found.items() if c}


def _value(piece: Piece, v: int) -> Ratio:
    value = ZERO
    for (m, k), c in piece.items():
        value = value + c * Ratio.constant(v**m) * Ratio.power_of_w(-k * v)
    return value


def _summed(piece: Piece) -> Piece:
    """A function whose differences are the piece."""
    found: Piece = {}
    for (m, k), c in piece.items():
        found = _plus(found, {(j, k): c * a for j, a in enumerate(_summing(m, k)) if a})
    return found


@lru_cache(1 << 12)
def _summing(m: int, k: int) -> tuple[Ratio, ...]:
    """The coefficients of Q with Q(v) - w^k·Q(v - 1) = v^m."""
    if k == 0:
        found = [ZERO] * (m + 2)
        for j in range(m, -1, -1):
            rest = sum((found[i] * Ratio.constant(comb(i, j) * (-1) ** (i - j)) for i in range(j + 2, m + 2)), ZERO)
            found[j + 1] = (Ratio.constant(int(j == m)) + rest) / Ratio.constant(j + 1)
        return tuple(found)
    found, q = [ZERO] * (m + 1), Ratio.power_of_w(k)
    for j in range(m, -1, -1):
        rest = sum((found[i] * Ratio.constant(comb(i, j) * (-1) ** (i - j)) for i in range(j + 1, m + 1)), ZERO)
        found[j] = (Ratio.constant(int(j == m)) + q * rest) / (ONE - q)
    return tuple(found)
