"""The factors of an exponential polynomial over Q[ε, w], and the sign changes of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpz, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_poly

from dpverdict.reading.exact.exponential import fraction
from dpverdict.reading.exact.sign_forms import Form, Interval
from dpverdict.reading.exact.sign_roots import Crossing, survey


@dataclass(frozen=True, slots=True)
class Split:
    """rest · Π factor^multiplicity; rest is a power of w times a polynomial in τ, whose irreducible factors `content`
    lists."""

    rest: Form
    content: tuple[tuple[Form, int], ...]
    mixed: tuple[tuple[Form, int], ...]

    def odd_mixed(self) -> list[Form]:
        """The factors with w that change the sign of the whole where they do."""
        return [one for one, multiplicity in self.mixed if multiplicity % 2]

    def odd_content(self) -> list[Form]:
        """The factors in τ alone that change the sign of the whole where they do."""
        return [one for one, multiplicity in self.content if multiplicity % 2]

    def odd(self) -> list[Form]:
        """All factors that change the sign of the whole where they do."""
        return self.odd_content() + self.odd_mixed()

    def every(self) -> list[Form]:
        """All factors."""
        return [one for one, _ in (*self.content, *self.mixed)]


def split_factors(form: Form) -> Split:
    """The square-free factors of a form that is not 0, those in τ alone apart."""
    places = range(form.degree + 1)
    columns = [fmpz_poly([row[place] for row in form.rows]) for place in places]
    first = next(place for place in places if columns[place])
    content = fmpz_poly()
    for column in columns[first:]:
        content = content.gcd(column)
        if content.degree() == 0:
            break
    content = content if content.degree() > 0 else fmpz_poly([1])
    core = [column // content for column in columns[first:]]
    constant, factors = _mixed(core)
    rest = content * constant
    _, irreducible = content.factor()
    return Split(
        Form(tuple(fmpz_poly([coefficient]).left_shift(first) for coefficient in rest.coeffs())),
        tuple((Form(tuple(fmpz_poly([place]) for place in one.coeffs())), int(times)) for one, times in irreducible),
        tuple(factors),
    )


def _mixed(columns: list[fmpz_poly]) -> tuple[int, list[tuple[Form, int]]]:
    context = fmpz_mpoly_ctx.get(("t", "w"))
    terms: dict[tuple[int, ...], int | fmpz] = {
        (power, place): coefficient
        for place, column in enumerate(columns)
        for power, coefficient in enumerate(column.coeffs())
        if coefficient != 0
    }
    constant, factors = context.from_dict(terms).factor_squarefree()
    return int(constant), [(_form(factor), int(times)) for factor, times in factors]


def _form(factor: fmpz_mpoly) -> Form:
    powers, places = (int(degree) for degree in factor.degrees())
    rows = [[0] * (places + 1) for _ in range(powers + 1)]
    for (power, place), coefficient in factor.to_dict().items():
        rows[int(power)][int(place)] = int(coefficient)
    return Form(tuple(fmpz_poly(row) for row in rows))


def crossings(form: Form, inner: Interval) -> tuple[Crossing, ...]:
    """The sign changes of one factor inside an interval.  Raises TooManyBoxes."""
    if form.degree > 0:
        return survey(form, inner).crossings
    within = (_within(zero, inner) for zero in _algebraic(form))
    return tuple(zero for zero in within if zero)


def _algebraic(form: Form) -> list[Crossing]:
    """The real zeros of an irreducible polynomial in τ."""
    line = fmpz_poly([row[0] for row in form.rows])
    if line.degree() == 1:
        zero = Fraction(-int(line[0]), int(line[1]))
        return [Crossing(form, zero, zero, -1 if line[1] > 0 else 1)]
    # Real zeros come with an imaginary part of exactly 0, in balls that hold one zero each.
    found = []
    zeros: list[Any] = line.complex_roots()  # pairs with multiplicities, whatever flint's stubs say
    for zero, _ in zeros:
        if zero.imag == 0:
            middle, radius = fraction(zero.real.mid().fmpq()), fraction(zero.real.rad().fmpq())
            found.append(Crossing(form, middle - radius, middle + radius, form.sign_at(middle - radius)[0]))
    return found


def _within(zero: Crossing, inner: Interval) -> Crossing | None:
    """The zero, enclosed by inner points, if it is inside.  An irrational zero is no end of an interval."""
    while not (inner.inside(zero.low) and inner.inside(zero.high)):
        if zero.high <= inner.low or (inner.high is not None and zero.low >= inner.high):
            return None
        zero = zero.halved()
    return zero
