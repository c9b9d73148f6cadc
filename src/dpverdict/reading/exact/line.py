"""Functions of one real variable, piece by piece between rational points, and their integrals.

On each piece a function is Σ c·x^k·w^j·y^m·e^{ly/R}: x is the unit of the reading (ε, mostly), w = e^{-x/D}, and
y = x·(s - origin) is the piece's own coordinate, in which densities carry no power of x; the origin is the piece's left
end, or its right end where the piece has no left one.  Products and antiderivatives stay inside this form, and no
negative power of w occurs: every factor is bounded on its piece.  A polynomial of (x, w, y, z) with z = e^{y/R} holds
such a sum up to a power of z, since exponentials may fall as well as rise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any, TypeAlias, assert_never

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly

from dpverdict.reading.exact.densities import END, Density, Even, OneSided, TwoSided, affordable, points_of, rate_of
from dpverdict.reading.exact.exponential import Exponential, rational

_RING: Any = fmpq_mpoly_ctx.get(("x", "w", "y", "z"), Ordering.lex)

Piece: TypeAlias = tuple[fmpq_mpoly, int]
"""A polynomial and the power of z that it is to be divided by."""

Function: TypeAlias = tuple[Piece | None, ...]
"""One piece more than there are points; None is 0."""

Scalar: TypeAlias = dict[tuple[int, int], fmpq]
"""Σ c·x^k·w^j by (k, j)."""


class Line:
    """The real line, cut at points: what the functions on it share."""

    __slots__ = ("_across", "_decay", "_last", "_points", "_whole", "scale")

    def __init__(self, points: Iterable[Fraction], rates: Iterable[Fraction]) -> None:
        listed = set(points)
        self._decay = lcm(*(rate.denominator for rate in rates))
        self._across = lcm(*(point.denominator for point in listed))
        # Points as multiples of 1/across, which are quick to compare.
        self._whole = {point: point.numerator * (self._across // point.denominator) for point in listed}
        self._points = sorted(self._whole.values())
        self._last = len(self._points)
        self.scale = self._decay * self._across

    @classmethod
    def of(cls, densities: Sequence[Density], points: Iterable[Fraction]) -> Line:
        """The line for these densities, cut at these points as well."""
        cuts = {point for density in densities for point in points_of(density)}
        return cls(cuts | set(points), [rate_of(density) for density in densities])

    # --- densities and their integrals ------------------------------------------------------------------------------

    def density(self, density: Density) -> Function:
        """The density by y: without its factor x (and, where it is even, times x)."""
        return tuple(self._density_on(density, place) for place in range(self._last + 1))

    def below(self, density: Density) -> Function:
        """The probability of being at most s (times x where the density is even)."""
        return tuple(self._below_on(density, place) for place in range(self._last + 1))

    def total(self, density: Density) -> Scalar:
        """The limit of `below` at ∞."""
        return {(1 if isinstance(density, Even) else 0, 0): fmpq(1)}

    def _density_on(self, density: Density, place: int) -> Piece | None:
        match density:
            case TwoSided(rate, location):
                return self._decaying(rate / 2, rate, location, place)
            case OneSided(rate, location, upwards):
                if self._is_right(place, location) != upwards:
                    return None
                return self._decaying(rate, rate, location, place)
            case Even(low, high):
                inside = self._is_right(place, low) and not self._is_right(place, high)
                return _constant(1 / (high - low)) if inside else None
            case _:
                assert_never(density)

    def _below_on(self, density: Density, place: int) -> Piece | None:
        match density:
            case TwoSided(rate, location):
                if self._is_right(place, location):
                    return _sum(_constant(Fraction(1)), self._decaying(Fraction(-1, 2), rate, location, place))
                return self._decaying(Fraction(1, 2), rate, location, place)
            case OneSided(rate, location, True):
                if not self._is_right(place, location):
                    return None
                return _sum(_constant(Fraction(1)), self._decaying(Fraction(-1), rate, location, place))
            case OneSided(rate, location, _):
                if self._is_right(place, location):
                    return _constant(Fraction(1))
                return self._decaying(Fraction(1), rate, location, place)
            case Even(low, high):
                if not self._is_right(place, low):
                    return None
                if self._is_right(place, high):
                    return _RING.from_dict({(1, 0, 0, 0): 1}), 0
                start = fmpq(self._points[place - 1] - self._whole[low], self._whole[high] - self._whole[low])
                slope = rational(1 / (high - low))
                return _RING.from_dict({(1, 0, 0, 0): start, (0, 0, 1, 0): slope}), 0
            case _:
                assert_never(density)

    def _is_right(self, place: int, point: Fraction) -> bool:
        """Whether the piece lies to the right of a point of the line."""
        return place > 0 and self._points[place - 1] >= self._whole[point]

    def _decaying(self, factor: Fraction, rate: Fraction, location: Fraction, place: int) -> Piece:
        """factor · e^{-rate·x·|s - location|} on a piece that does not hold the location inside."""
        step = rate.numerator * (self._decay // rate.denominator)
        away = abs(self._points[max(place - 1, 0)] - self._whole[location]) * step
        if self._is_right(place, location):
            return _RING.from_dict({(0, away, 0, 0): rational(factor)}), step
        return _RING.from_dict({(0, away, 0, step): rational(factor)}), 0

    # --- algebra ----------------------------------------------------------------------------------------------------

    def within(self, function: Function, low: END, high: END) -> Function:
        """The function between two points of the line, 0 elsewhere."""
        if low is None and high is None:
            return function
        return tuple(
            piece
            if (low is None or self._is_right(place, low)) and (high is None or not self._is_right(place, high))
            else None
            for place, piece in enumerate(function)
        )

    def complement(self, function: Function, total: Scalar) -> Function:
        """total - function."""
        whole = _of_scalar(total)
        return tuple(whole if piece is None else _sum(whole, (-piece[0], piece[1])) for piece in function)

    # --- integrals --------------------------------------------------------------------------------------------------

    def cumulative(self, function: Function) -> tuple[Function, Scalar]:
        """s ↦ ∫_{-∞}^s of the function, and its limit at ∞."""
        gathered: Scalar = {}
        pieces: list[Piece | None] = []
        for place, piece in enumerate(function):
            if piece is None:
                pieces.append(_of_scalar(gathered) if gathered else None)
                continue
            terms = list(self._antiderivative(piece))
            if place > 0:
                _add(gathered, ((k, j, -c) for k, j, m, _, c in terms if m == 0))
            pieces.append(_collected(terms, gathered))
            self._move_to_end(gathered, terms, place)
        return tuple(pieces), gathered

    def integral(self, function: Function) -> Scalar:
        """∫ of the function over the whole line."""
        gathered: Scalar = {}
        for place, piece in enumerate(function):
            if piece is not None:
                terms = list(self._antiderivative(piece))
                if place > 0:
                    _add(gathered, ((k, j, -c) for k, j, m, _, c in terms if m == 0))
                self._move_to_end(gathered, terms, place)
        return gathered

    def _antiderivative(self, piece: Piece) -> Iterator[tuple[int, int, int, int, fmpq]]:
        """Terms (k, j, m, l, c): ∫ y^m e^{ly/R} = e^{ly/R} Σ_i (-1)^i m!/(m-i)! y^{m-i} (R/l)^{i+1}."""
        polynomial, shift = piece
        for (k, j, m, power), coefficient in polynomial.terms():
            rate = power - shift
            if rate == 0:
                yield k, j, m + 1, 0, coefficient / (m + 1)
                continue
            inverse = fmpq(self._decay, rate)
            factor = coefficient
            for i in range(m + 1):
                factor *= inverse
                yield k, j, m - i, rate, factor
                factor *= -(m - i)

    def _move_to_end(self, gathered: Scalar, terms: list[tuple[int, int, int, int, fmpq]], place: int) -> None:
        """Add the antiderivative's value at the piece's right end (its limit, if that is ∞, is 0)."""
        if place in (0, self._last):
            assert all(rate > 0 if place == 0 else rate < 0 for *_, rate, _ in terms), "an integral without a limit"
        if place == 0:
            _add(gathered, ((k, j, c) for k, j, m, _, c in terms if m == 0))
        elif place < self._last:
            span = self._points[place] - self._points[place - 1]
            width = fmpq(span, self._across)
            _add(gathered, ((k + m, j - rate * span, c * width**m) for k, j, m, rate, c in terms))

    def expression(self, scalar: Scalar) -> Exponential:
        """The value as an exponential polynomial in the unit."""
        rows: dict[int, dict[int, fmpq]] = {}
        for (k, j), coefficient in scalar.items():
            if coefficient != 0:
                rows.setdefault(k, {})[j] = coefficient
        assert all(j >= 0 for row in rows.values() for j in row), "an exponential that grows"
        affordable(max((int(j) for row in rows.values() for j in row), default=0))
        parts = [_dense(rows.get(k, {})) for k in range(max(rows, default=-1) + 1)]
        return Exponential(self.scale, tuple(parts)).reduced()


# --- pieces -----------------------------------------------------------------------------------------------------


def product(functions: Sequence[Function]) -> Function:
    """The product of functions on one line."""
    return tuple(_product(pieces) for pieces in zip(*functions, strict=True))


def total(functions: Sequence[Function]) -> Function:
    """The sum of functions on one line."""
    return tuple(_total(pieces) for pieces in zip(*functions, strict=True))


def power(function: Function, exponent: int) -> Function:
    """The function times itself."""
    if exponent == 1:
        return function
    return tuple(None if piece is None else (piece[0] ** exponent, piece[1] * exponent) for piece in function)


def _product(pieces: tuple[Piece | None, ...]) -> Piece | None:
    known = [piece for piece in pieces if piece is not None]
    if len(known) < len(pieces):
        return None
    return reduce(lambda one, other: (one[0] * other[0], one[1] + other[1]), known)


def _total(pieces: tuple[Piece | None, ...]) -> Piece | None:
    known = [piece for piece in pieces if piece is not None]
    return reduce(_sum, known) if known else None


def _sum(one: Piece, other: Piece) -> Piece:
    if one[1] == other[1]:
        return one[0] + other[0], one[1]
    low, high = sorted((one, other), key=lambda piece: piece[1])
    return low[0] * _RING.from_dict({(0, 0, 0, high[1] - low[1]): 1}) + high[0], high[1]


def _constant(value: Fraction) -> Piece:
    return _RING.from_dict({(0, 0, 0, 0): rational(value)}), 0


def _of_scalar(scalar: Scalar) -> Piece:
    return _RING.from_dict({(k, j, 0, 0): c for (k, j), c in scalar.items() if c != 0}), 0


def _collected(terms: list[tuple[int, int, int, int, fmpq]], gathered: Scalar) -> Piece:
    """The terms and a constant as one piece."""
    shift = max((-rate for *_, rate, _ in terms), default=0)
    shift = max(shift, 0)
    found: dict[tuple[int, int, int, int], fmpq] = {(k, j, 0, shift): c for (k, j), c in gathered.items() if c != 0}
    for k, j, m, rate, c in terms:
        at = (k, j, m, rate + shift)
        found[at] = found[at] + c if at in found else c
    return _RING.from_dict(found), shift


def _add(scalar: Scalar, terms: Iterable[tuple[int, int, fmpq]]) -> None:
    for k, j, c in terms:
        at = (k, j)
        scalar[at] = scalar[at] + c if at in scalar else c


def _dense(row: dict[int, fmpq]) -> fmpq_poly:
    if not row:
        return fmpq_poly()
    listed = [fmpq(0)] * (max(row) + 1)
    for at, coefficient in row.items():
        listed[at] = coefficient
    return fmpq_poly(listed)
