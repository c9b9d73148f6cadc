"""A second way to an output's probability at one ε: numerical integration in ball arithmetic, to 30 digits.

It shares the regions with the exact reading and nothing else.  It knows real noise that is compared with one draw at
most besides constants (the noisy threshold, the winner of a maximum), and choices among listed values; where a region
is of another form it has no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from flint import acb, arb, ctx, fmpq

from dpverdict.mechanism.constants import exact, number
from dpverdict.mechanism.laws import Bernoulli, Exponential, ExponentialMechanism, FiniteChoice, Laplace
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import (
    Affine,
    Comparison,
    Constant,
    Elementary,
    Epsilon,
    Law,
    Not,
    Product,
    Term,
)
from dpverdict.reading.exact.numbers import at_input
from dpverdict.reading.exact.regions import Choice, LinearComparison, Noise, Region

BITS = 160
TOLERANCE = Fraction(1, 10**31)


class NoAnswer(Exception):
    """The region has a form that is not integrated here."""


@dataclass(frozen=True, slots=True)
class Point:
    """An input, the mechanism's arguments, and ε."""

    given: Any
    arguments: Mapping[str, object]
    epsilon: Fraction


def probability_of(regions: Sequence[Region], point: Point) -> arb:
    """A ball around the probability of an output.  Raises `NoAnswer`."""
    with ctx.workprec(BITS):
        return sum((_region(region, point) for region in regions), arb(0))


def _region(region: Region, point: Point) -> arb:
    if not all(_holds(guard, point) for guard in region.guards):
        return arb(0)
    total = arb(1)
    for choice in region.choices:
        total *= _chance(choice, point)
    for block in _connected(region.comparisons):
        total *= _star(block, point)
    return total


# --- terms at a point -----------------------------------------------------------------------------------------------


def _holds(guard: Term, point: Point) -> bool:
    match guard:
        case Constant():
            return bool(guard.content)
        case Not(inner):
            return not _holds(inner, point)
        case Comparison(relation, difference):
            value = _rational(difference, point)
            return value <= 0 if relation == "<=" else value < 0 if relation == "<" else value == 0
        case _:
            raise NoAnswer


def _rational(term: Term, point: Point) -> Fraction:
    value = _at_epsilon(at_input(term, point.given, point.arguments), point.epsilon)
    if not isinstance(value, Constant):
        raise NoAnswer
    return exact(value)


def _at_epsilon(term: Term, epsilon: Fraction) -> Term:

    return number(epsilon) if isinstance(term, Epsilon) else rebuild(term, lambda one: _at_epsilon(one, epsilon))


def _ball(term: Term, point: Point) -> arb:
    """A term without noise; exp and log have no rational value."""
    match term:
        case Constant():
            return _q(exact(term))
        case Epsilon():
            return _q(point.epsilon)
        case Affine(constant, terms):
            return sum((_q(c) * _ball(inner, point) for inner, c in terms), _q(constant))
        case Product(factors):
            total = arb(1)
            for base, exponent in factors:
                total *= _ball(base, point) ** _q(exponent)
            return total
        case Elementary("exp", argument):
            return _ball(argument, point).exp()
        case Elementary(_, argument):
            return _ball(argument, point).log()
        case _:
            raise NoAnswer


def _chance(choice: Choice, point: Point) -> arb:
    law = choice.noise.law
    settled = law.with_parameters(tuple(at_input(one, point.given, point.arguments) for one in law.parameters))
    match settled:
        case Bernoulli(probability):
            yes = _ball(probability, point)
            return yes if choice.position == 1 else 1 - yes
        case FiniteChoice(_, weights):
            listed = [_ball(weight, point) for weight in weights]
        case ExponentialMechanism(_, rate, scores):
            listed = [(_ball(rate, point) * _ball(score, point)).exp() for score in scores]
        case _:
            raise NoAnswer
    return listed[choice.position] / sum(listed, arb(0))


# --- comparisons ----------------------------------------------------------------------------------------------------


def _connected(comparisons: Sequence[LinearComparison]) -> list[list[LinearComparison]]:
    blocks: list[tuple[set[Noise], list[LinearComparison]]] = []
    for comparison in comparisons:
        noise, listed = {one for one, _ in comparison.terms}, [comparison]
        for block in [block for block in blocks if block[0] & noise]:
            blocks.remove(block)
            noise, listed = noise | block[0], block[1] + listed
        blocks.append((noise, listed))
    return [listed for _, listed in blocks]


@dataclass(frozen=True, slots=True)
class _End:
    """slope·s + height, s being the pivot."""

    slope: Fraction
    height: Fraction

    def at(self, s: Fraction) -> Fraction:
        return self.slope * s + self.height


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a draw has to be above and below."""

    low: tuple[_End, ...] = ()
    high: tuple[_End, ...] = ()


def _star(block: Sequence[LinearComparison], point: Point) -> arb:
    """∫ density of the pivot · Π Pr[another draw lies between its ends], piece by piece where all is analytic."""
    pivot = _pivot(block)
    ends = {noise: _Ends() for comparison in block for noise, _ in comparison.terms}
    for comparison in block:
        _add(ends, comparison, pivot, point)
    rates = {noise: _rate(noise.law, point) for noise in ends}
    own = ends.pop(pivot)
    cuts = {Fraction(0)}
    for noise_ends in [own, *ends.values()]:
        cuts |= _cuts(noise_ends)
    reach = _reach(cuts, rates[pivot])
    listed = sorted({-reach, *cuts, reach})
    total = arb(0, _q(TOLERANCE / 10))
    for low, high in pairwise(listed):
        middle = (low + high) / 2
        if _inside(own, middle, middle):
            total += _piece(ends, rates, pivot, (low, high))
    return total


def _pivot(block: Sequence[LinearComparison]) -> Noise:
    """A draw that stands in every comparison of two draws."""
    candidates = [{noise for noise, _ in comparison.terms} for comparison in block if len(comparison.terms) > 1]
    if any(len(one) > 2 for one in candidates):
        raise NoAnswer
    common = set.intersection(*candidates) if candidates else {block[0].terms[0][0]}
    if not common:
        raise NoAnswer
    return min(common, key=lambda noise: noise.draw.text)


def _add(ends: dict[Noise, _Ends], comparison: LinearComparison, pivot: Noise, point: Point) -> None:
    terms, offset = dict(comparison.terms), _rational(comparison.offset, point)
    slope = terms.pop(pivot, Fraction(0))
    noise, coefficient = next(iter(terms.items()), (pivot, slope))
    if noise is pivot:
        slope = Fraction(0)
    end = _End(-slope / coefficient, -offset / coefficient)
    known = ends[noise]
    ends[noise] = _Ends(known.low, (*known.high, end)) if coefficient > 0 else _Ends((*known.low, end), known.high)


def _cuts(ends: _Ends) -> set[Fraction]:
    """Where an end passes 0 or another end, or the pivot meets its own."""
    listed = [*ends.low, *ends.high, _End(Fraction(0), Fraction(0))]
    cuts = {end.height for end in listed if end.slope == 0}
    for one in listed:
        for other in listed:
            if one.slope != other.slope:
                cuts.add((other.height - one.height) / (one.slope - other.slope))
    return cuts


def _reach(cuts: set[Fraction], rate: Fraction) -> Fraction:
    """Beyond this the pivot has a probability below the tolerance: e^-76 is less than 1e-32."""
    return max(abs(cut) for cut in cuts) + Fraction(76) / rate


def _inside(ends: _Ends, value: Fraction, s: Fraction) -> bool:
    return all(end.at(s) < value for end in ends.low) and all(value < end.at(s) for end in ends.high)


def _piece(
    ends: Mapping[Noise, _Ends], rates: Mapping[Noise, Fraction], pivot: Noise, piece: tuple[Fraction, Fraction]
) -> arb:
    middle = (piece[0] + piece[1]) / 2
    factors = Counter[_Factor]()
    for noise, around in ends.items():
        low = max(around.low, key=lambda end: end.at(middle), default=None)
        high = min(around.high, key=lambda end: end.at(middle), default=None)
        if low is not None and high is not None and low.at(middle) >= high.at(middle):
            return arb(0)
        factors[type(noise.law), rates[noise], low, high] += 1
    density = _density(type(pivot.law), rates[pivot], middle)
    chances = [(_between(factor, middle), times) for factor, times in factors.items()]

    def integrand(s: acb, _: bool) -> acb:
        total = density(s)
        for chance, times in chances:
            total *= chance(s) ** times
        return total

    value = acb.integral(integrand, acb(_q(piece[0])), acb(_q(piece[1])), abs_tol=_q(TOLERANCE / 100))
    return value.real


_Function: TypeAlias = Callable[[acb], acb]
_Factor: TypeAlias = tuple[type[Law], Fraction, _End | None, _End | None]
"""A draw's law and rate, and what it has to be above and below."""


def _between(factor: _Factor, middle: Fraction) -> _Function:
    """Pr[the draw lies between its ends], as a function of the pivot."""
    law, rate, low, high = factor
    above = None if high is None else _below(law, rate, high, middle)
    below = None if low is None else _below(law, rate, low, middle)
    if above is None or below is None:
        alone = above or below
        assert alone is not None, "a draw that nothing is said about"
        return alone if below is None else lambda s: 1 - alone(s)
    return lambda s: above(s) - below(s)


# --- laws: the side of the kink is that of the rational, so that the formulas are analytic ----------------------------


def _rate(law: Law, point: Point) -> Fraction:
    match law:
        case Laplace(_, scale) | Exponential(_, scale):
            return 1 / _rational(scale, point)
        case _:
            raise NoAnswer


def _density(law: type[Law], rate: Fraction, side: Fraction) -> _Function:
    if law is not Laplace and side <= 0:
        return lambda s: acb(0)
    slope, height = _q(-rate if side > 0 else rate), _q(rate / 2 if law is Laplace else rate)
    return lambda s: (s * slope).exp() * height


def _below(law: type[Law], rate: Fraction, end: _End, middle: Fraction) -> _Function:
    """Pr[the draw lies below the end]."""
    side = end.at(middle)
    if law is not Laplace and side <= 0:
        return lambda s: acb(0)
    slope, height = _q(end.slope), _q(end.height)
    rise, share = _q(-rate if side > 0 else rate), _q(Fraction(1, 2) if law is Laplace else Fraction(1))
    if side > 0:
        return lambda s: 1 - ((s * slope + height) * rise).exp() * share
    return lambda s: ((s * slope + height) * rise).exp() * share


def _q(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
