"""Any linear comparisons of real draws: one draw after the other is integrated out, cell by cell.

A cell is a polyhedron of the draws that are left, with an integrand Σ P(x, X)·e^{l·X + q·x} on it, where X = x·s are
the draws times the unit.  Integrating out one draw splits a cell by which of its lower and upper ends are the innermost
ones.  This is Fourier and Motzkin's elimination with integrands, and slow; `orders.py` has the quick ways for
comparisons of two draws at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

from flint import Ordering, fmpq_mpoly, fmpq_mpoly_ctx

from dpverdict.errors import UnreadableError
from dpverdict.reading.exact.densities import Density, Even, OneSided, TwoSided
from dpverdict.reading.exact.exponential import Exponential, fraction, rational
from dpverdict.reading.exact.expression_text import Term
from dpverdict.reading.exact.orders import Constraint

MOST_CELLS = 1 << 15

Form: TypeAlias = tuple[tuple[Fraction, ...], Fraction]
"""Σ coefficient · draw + constant."""

Integrand: TypeAlias = dict[Form, fmpq_mpoly]
"""Polynomials by the linear form in the exponent."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Where all forms are at most 0, and what is integrated there."""

    forms: frozenset[Form]
    integrand: Integrand


@dataclass(frozen=True, slots=True)
class _Side:
    """A part of a density: coefficient · e^{rate·(s - location)·x} where the forms are at most 0."""

    coefficient: Fraction
    rate: Fraction
    location: Fraction
    ends: tuple[tuple[int, Fraction], ...]
    """(1, end) is an upper end, (-1, end) a lower one."""


def probability_by_cells(densities: Sequence[Density], constraints: Sequence[Constraint]) -> Exponential:
    """The probability of the comparisons (times x for each even density)."""
    count = len(densities)
    forms = frozenset(_normal(_form(constraint, count)) for constraint in constraints)
    ring: Any = fmpq_mpoly_ctx.get(("x", *(f"s{at}" for at in range(count))), Ordering.lex)
    nothing = ((Fraction(0),) * count, Fraction(0))
    cells = [Cell(forms, {nothing: ring.constant(1)})]
    left = set(range(count))
    while left:
        at = min(left, key=lambda place: (sum(form[0][place] != 0 for cell in cells for form in cell.forms), place))
        left.remove(at)
        cells = [new for cell in cells for side in _sides(densities[at]) for new in _without(cell, at, side)]
        if len(cells) > MOST_CELLS:
            raise _too_many()
    return _total(cells)


def _form(constraint: Constraint, count: int) -> Form:
    coefficients = [Fraction(0)] * count
    for at, coefficient in constraint.terms:
        coefficients[at] = coefficient
    return tuple(coefficients), constraint.offset


def _normal(form: Form) -> Form:
    """The form over the size of its leading coefficient: equal ends are equal forms."""
    leading = next((abs(coefficient) for coefficient in form[0] if coefficient), Fraction(1))
    return tuple(coefficient / leading for coefficient in form[0]), form[1] / leading


def _sides(density: Density) -> tuple[_Side, ...]:
    match density:
        case TwoSided(rate, location):
            below = _Side(rate / 2, rate, location, ((1, location),))
            return below, _Side(rate / 2, -rate, location, ((-1, location),))
        case OneSided(rate, location, upwards):
            sign = -1 if upwards else 1
            return (_Side(rate, sign * rate, location, ((sign, location),)),)
        case Even(low, high):
            return (_Side(1 / (high - low), Fraction(0), Fraction(0), ((-1, low), (1, high))),)
        case _:
            assert_never(density)


def _without(cell: Cell, at: int, side: _Side) -> Iterator[Cell]:
    """The cells that are left of a cell once a draw, on one side of its location, is integrated out."""
    count = len(next(iter(cell.integrand))[0])
    unit = tuple(Fraction(place == at) for place in range(count))
    ends = [(tuple(sign * u for u in unit), -sign * end) for sign, end in side.ends]
    forms = cell.forms | {_normal(end) for end in ends}
    if not feasible(forms):
        return
    lower = [_solved(form, at) for form in forms if form[0][at] < 0]
    upper = [_solved(form, at) for form in forms if form[0][at] > 0]
    others = {form for form in forms if form[0][at] == 0}
    integral = _antiderivative(_times(cell.integrand, side, at), at)
    lows: list[Form | None] = [*lower] or [None]
    highs: list[Form | None] = [*upper] or [None]
    for low in lows:
        for high in highs:
            inner = [_minus(other, low) for other in lower if low is not None and other != low]
            inner += [_minus(high, other) for other in upper if high is not None and other != high]
            if low is not None and high is not None:
                inner.append(_minus(low, high))
            new = frozenset(others | {_normal(form) for form in inner})
            if feasible(new):
                yield Cell(new, _between(integral, at, low, high))


def _solved(form: Form, at: int) -> Form:
    """The end that a form sets to a draw: -(the rest) / (the draw's coefficient)."""
    own = form[0][at]
    return tuple(-c / own if place != at else Fraction(0) for place, c in enumerate(form[0])), -form[1] / own


def _minus(one: Form, other: Form) -> Form:
    return tuple(a - b for a, b in zip(one[0], other[0], strict=True)), one[1] - other[1]


def feasible(forms: Iterable[Form]) -> bool:
    """Whether all forms can be below 0 at once (the cell has an inside)."""
    forms = set(forms)
    while True:
        if any(not any(coefficients) and constant >= 0 for coefficients, constant in forms):
            return False
        forms = {form for form in forms if any(form[0])}
        if not forms:
            return True
        count = len(next(iter(forms))[0])
        places = [place for place in range(count) if any(form[0][place] for form in forms)]
        at = min(places, key=lambda place: _pairs(forms, place))
        lower = [_solved(form, at) for form in forms if form[0][at] < 0]
        upper = [_solved(form, at) for form in forms if form[0][at] > 0]
        met = {_normal(_minus(low, high)) for low in lower for high in upper}
        forms = {form for form in forms if form[0][at] == 0} | met


def _pairs(forms: Iterable[Form], at: int) -> int:
    signs = [form[0][at] for form in forms]
    return sum(sign < 0 for sign in signs) * sum(sign > 0 for sign in signs)


# --- integrands ---------------------------------------------------------------------------------------------------


def _times(integrand: Integrand, side: _Side, at: int) -> Integrand:
    found: Integrand = {}
    for (slopes, constant), polynomial in integrand.items():
        slope = tuple(s + side.rate if place == at else s for place, s in enumerate(slopes))
        found[slope, constant - side.rate * side.location] = polynomial * rational(side.coefficient)
    return found


def _antiderivative(integrand: Integrand, at: int) -> Integrand:
    found: Integrand = {}
    for exponent, polynomial in integrand.items():
        slope = exponent[0][at]
        if slope == 0:
            found[exponent] = polynomial.integral(at + 1)
            continue
        inverse = rational(1 / slope)
        part = polynomial * inverse
        total = part
        while part := part.derivative(at + 1) * -inverse:
            total += part
        found[exponent] = total
    return found


def _between(integral: Integrand, at: int, low: Form | None, high: Form | None) -> Integrand:
    """The antiderivative at the upper end minus that at the lower one; at infinity it is 0."""
    found: Integrand = {}
    for end, sign in ((high, 1), (low, -1)):
        for exponent, polynomial in integral.items():
            slope = exponent[0][at]
            if end is None:
                assert slope * sign < 0, "an integral without a limit"
                continue
            slopes = tuple(
                (s if place != at else Fraction(0)) + slope * e
                for place, (s, e) in enumerate(zip(exponent[0], end[0], strict=True))
            )
            key = slopes, exponent[1] + slope * end[1]
            value = _substituted(polynomial, at, end) * sign
            found[key] = found[key] + value if key in found else value
    return {exponent: polynomial for exponent, polynomial in found.items() if polynomial}


def _substituted(polynomial: fmpq_mpoly, at: int, end: Form) -> fmpq_mpoly:
    x, *draws = polynomial.context().gens()
    value = x * rational(end[1])
    for draw, coefficient in zip(draws, end[0], strict=True):
        value += draw * rational(coefficient)
    inner = [x, *draws]
    inner[at + 1] = value
    return polynomial.compose(*inner)


def _total(cells: Iterable[Cell]) -> Exponential:
    sums: dict[tuple[int, Fraction], Fraction] = {}
    for cell in cells:
        for (slopes, constant), polynomial in cell.integrand.items():
            assert not any(slopes), "a draw is left"
            for monomial, coefficient in polynomial.terms():
                at = monomial[0], -constant
                sums[at] = sums.get(at, Fraction(0)) + fraction(coefficient)
    return Exponential.of_terms(Term(value, power, decay) for (power, decay), value in sums.items() if value)


def _too_many() -> UnreadableError:
    return UnreadableError(
        "EXACT-018",
        f"comparisons that cut noise into more than {MOST_CELLS:,} cells",
        why="sums of several draws are integrated cell by cell",
        fix="compare two draws at a time, or fewer draws in one sum",
    )
