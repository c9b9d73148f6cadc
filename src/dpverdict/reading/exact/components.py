"""The probability of comparisons over connected draws: which way of integration fits them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Any, TypeAlias

from dpverdict.errors import UnreadableError
from dpverdict.reading.exact.densities import Density, Even, Geometric, Ranged, WholeDensity
from dpverdict.reading.exact.exponential import ONE, Exponential, Quotient
from dpverdict.reading.exact.linear import probability_by_cells
from dpverdict.reading.exact.orders import (
    Constraint,
    Order,
    Tree,
    is_circular,
    is_contradictory,
    ordered,
    probability_of_order,
    probability_of_tree,
    tree_of,
    without_implied,
)
from dpverdict.reading.exact.whole_line import WholeLine
from dpverdict.reading.exact.whole_orders import probability_of_whole_order, probability_of_whole_tree

Memo: TypeAlias = dict[Any, Any]
"""Sub-problems that are solved, by their values: equal ones are computed once."""

MOST_TURNED = 8
"""Comparisons of whole numbers in circles are solved by turning them around: at most so many, for it is a search."""

CERTAIN = Quotient(ONE)
IMPOSSIBLE = Quotient(Exponential.zero())


def times(one: Quotient, other: Quotient) -> Quotient:
    """The product; polynomials, which are most, without a look at their denominators."""
    if one.denominator is ONE and other.denominator is ONE:
        return Quotient(one.numerator * other.numerator)
    return one * other


def plus(one: Quotient, other: Quotient) -> Quotient:
    """The sum; polynomials, which are most, without a look at their denominators."""
    if one.denominator is ONE and other.denominator is ONE:
        return Quotient(one.numerator + other.numerator)
    return one + other


@dataclass(frozen=True, slots=True)
class Component:
    """Draws that comparisons connect."""

    densities: tuple[Density | WholeDensity, ...]
    constraints: tuple[Constraint, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all draws are whole numbers."""
        return all(isinstance(density, Geometric | Ranged) for density in self.densities)

    @property
    def is_real(self) -> bool:
        """Whether no draw is a whole number."""
        return not any(isinstance(density, Geometric | Ranged) for density in self.densities)


def probability_of(component: Component, memo: Memo) -> Quotient:
    """The probability that all comparisons hold."""
    upper, lower = _tightest(component.constraints)
    for terms, least in lower.items():
        if len(terms) == 1 or terms not in upper:
            continue
        # Between two ends: at most the upper one, without at most what lies below the lower one.
        others = [one for one in component.constraints if _direction(one)[0] != terms]
        excluded = _before(component, terms, least)
        if excluded >= upper[terms]:
            return IMPOSSIBLE
        sides = [
            probability_of(Component(component.densities, (*others, Constraint(terms, -end))), memo)
            for end in (upper[terms], excluded)
        ]
        return plus(sides[0], -sides[1])
    constraints = [Constraint(terms, -end) for terms, end in upper.items()]
    constraints += [Constraint(tuple((at, -c) for at, c in terms), end) for terms, end in lower.items()]
    return _of_tightest(Component(component.densities, tuple(constraints)), memo)


def _before(component: Component, terms: _Terms, end: Fraction) -> Fraction:
    """The largest value of a linear combination below an end: none, or the end itself, where it is real."""
    whole = all(isinstance(component.densities[at], Geometric | Ranged) for at, _ in terms)
    if not whole:
        return end
    # The combination runs through multiples of 1/denominator.
    return end - Fraction(1, lcm(*(coefficient.denominator for _, coefficient in terms)))


def _of_tightest(component: Component, memo: Memo) -> Quotient:
    if len(component.constraints) >= len(component.densities) > 2:
        if is_contradictory(component.constraints, whole=not component.is_real):
            return IMPOSSIBLE
        component = Component(component.densities, without_implied(component.constraints))
    coefficients = [c for constraint in component.constraints for _, c in constraint.terms]
    if component.is_real or (component.is_whole and all(abs(c) == 1 for c in coefficients)):
        order = ordered(component.densities, component.constraints)
        if order is not None and not (component.is_whole and is_circular(order)):
            return _of_order(order, component.is_whole, memo)
    if component not in memo:
        memo[component] = _by_cells(component) if component.is_real else _whole(component, memo)
    found: Quotient = memo[component]
    return found


def _whole(component: Component, memo: Memo) -> Quotient:
    """Whole numbers whose comparisons run in circles: without one of them, less what it excludes.

    Turning a difference around often leaves an order, or makes other differences follow from it.  A component that
    comes up again while it is solved has no answer in this way.
    """
    if not component.is_whole or len(component.constraints) > MOST_TURNED or ("open", component) in memo:
        return _by_values(component, memo)
    memo["open", component] = True
    try:
        for at, constraint in enumerate(component.constraints):
            others = component.constraints[:at] + component.constraints[at + 1 :]
            if len(constraint.terms) != 2:
                continue
            turned = Constraint(tuple((place, -c) for place, c in constraint.terms), 1 - constraint.offset)
            try:
                without = probability_of_all(component.densities, map(_inequality, others), memo)
                excluded = probability_of_all(component.densities, map(_inequality, (*others, turned)), memo)
            except UnreadableError:
                continue
            return plus(without, -excluded).cancelled()
    finally:
        del memo["open", component]
    return _by_values(component, memo)


def _inequality(constraint: Constraint) -> Inequality:
    return constraint.terms, constraint.offset, False


def _of_order(order: Order, is_whole: bool, memo: Memo) -> Quotient:
    for draw in order.draws:
        if draw.low is None or draw.high is None:
            continue
        if draw.low > draw.high or (draw.low == draw.high and not is_whole):
            return IMPOSSIBLE
    tree = tree_of(order)
    key = order if tree is None else tree
    if key not in memo:
        if is_whole:
            memo[key] = probability_of_whole_order(order) if tree is None else probability_of_whole_tree(tree)
        else:
            memo[key] = _of_real_order(order, tree)
    found: Quotient = memo[key]
    return found


def _of_real_order(order: Order, tree: Tree | None) -> Quotient:
    if is_circular(order):
        return IMPOSSIBLE
    found = probability_of_order(order) if tree is None else probability_of_tree(tree)
    return _without_units(found, [draw.density for draw in order.draws])


def _by_cells(component: Component) -> Quotient:
    densities = [density for density in component.densities if not isinstance(density, Geometric | Ranged)]
    return _without_units(probability_by_cells(densities, component.constraints), densities)


def _without_units(found: Exponential, densities: Iterable[Density | WholeDensity]) -> Quotient:
    """The probability, from what integrals give: x times that for each even density."""
    even = sum(isinstance(density, Even) for density in densities)
    while even and not found.is_zero and not found.parts[0]:
        found, even = Exponential(found.scale, found.parts[1:]), even - 1
    return Quotient(found, Exponential.term(1, even)) if even else Quotient(found)


# --- draw by draw ------------------------------------------------------------------------------------------------


def _by_values(component: Component, memo: Memo) -> Quotient:
    """Sum over the values of a draw that has finitely many: what is left of the comparisons has one draw less."""
    ranges = {at: one for at, one in enumerate(component.densities) if isinstance(one, Ranged)}
    if not ranges:
        raise UnreadableError(
            "EXACT-019",
            "comparisons that mix whole and real noise, or sums, differences and multiples of whole noise",
            why="over infinitely many whole numbers, sums are known for comparisons of single draws",
            fix="noise.truncated_discrete_laplace, which has finitely many values; or one kind of noise",
        )
    at = min(ranges, key=lambda place: ranges[place].high - ranges[place].low)
    line = WholeLine([ranges[at]], ())
    weights, total = line.density(ranges[at]), IMPOSSIBLE
    for value in range(int(ranges[at].low), int(ranges[at].high) + 1):
        rest = _given(component, at, value, memo)
        if rest is not None:
            total = total + line.at(weights, value).quotient(line.scale) * rest
    return total.cancelled()


def _given(component: Component, at: int, value: int, memo: Memo) -> Quotient | None:
    """The probability of the comparisons once a draw is known, None where it contradicts one."""
    left = []
    for constraint in component.constraints:
        own = sum((c for place, c in constraint.terms if place == at), Fraction(0))
        terms = tuple((place, c) for place, c in constraint.terms if place != at)
        if terms:
            left.append((terms, constraint.offset + own * value, False))
        elif constraint.offset + own * value > 0:
            return None
    return probability_of_all(component.densities, left, memo)


Inequality: TypeAlias = tuple[tuple[tuple[int, Fraction], ...], Fraction, bool]
"""Σ coefficient · draw + offset ≤ 0, or < 0: its terms, its offset, and whether it is strict."""


def probability_of_all(
    densities: Sequence[Density | WholeDensity], inequalities: Iterable[Inequality], memo: Memo
) -> Quotient:
    """The probability of all inequalities, whether they are connected or not."""
    groups: list[tuple[set[int], list[Constraint]]] = []
    for terms, offset, strict in inequalities:
        places, listed = {at for at, _ in terms}, [_constraint(densities, terms, offset, strict)]
        apart = []
        for group in groups:
            if group[0] & places:
                places, listed = places | group[0], group[1] + listed
            else:
                apart.append(group)
        groups = [*apart, (places, listed)]
    total = CERTAIN
    for places, listed in groups:
        order = {at: number for number, at in enumerate(sorted(places))}
        moved = [Constraint(tuple((order[at], c) for at, c in one.terms), one.offset) for one in listed]
        part = probability_of(Component(tuple(densities[at] for at in order), tuple(moved)), memo)
        total = part if total is CERTAIN else times(total, part)
    return total


def _constraint(
    densities: Sequence[Density | WholeDensity], terms: tuple[tuple[int, Fraction], ...], offset: Fraction, strict: bool
) -> Constraint:
    """Whole numbers: coprime coefficients, a whole offset, and ≤; for real ones < and ≤ are the same."""
    if not all(isinstance(densities[at], Geometric | Ranged) for at, _ in terms):
        return Constraint(terms, offset)
    factor = Fraction(lcm(*(c.denominator for _, c in terms)))
    factor /= gcd(*(int(c * factor) for _, c in terms))
    least = offset * factor
    whole = Fraction(floor(least) + 1 if strict else ceil(least))
    return Constraint(tuple((at, c * factor) for at, c in terms), whole)


# --- ends --------------------------------------------------------------------------------------------------------

_Terms: TypeAlias = tuple[tuple[int, Fraction], ...]


def _direction(constraint: Constraint) -> tuple[_Terms, Fraction]:
    """The terms over the leading coefficient, which is returned as well."""
    terms = tuple(sorted(constraint.terms))
    leading = terms[0][1]
    return tuple((at, coefficient / leading) for at, coefficient in terms), leading


_Ends: TypeAlias = dict[_Terms, Fraction]


def _tightest(constraints: Sequence[Constraint]) -> tuple[_Ends, _Ends]:
    """The least upper and the largest lower end of every linear combination."""
    upper: _Ends = {}
    lower: _Ends = {}
    for constraint in constraints:
        terms, leading = _direction(constraint)
        end = -constraint.offset / leading
        if leading > 0:
            upper[terms] = min(end, upper.get(terms, end))
        else:
            lower[terms] = max(end, lower.get(terms, end))
    return upper, lower
