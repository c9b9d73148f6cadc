"""The probability of comparisons over connected real draws: which way of integration fits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.reading.exact.densities import Density
from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.linear import probability_by_cells
from dpverdict.reading.exact.orders import (
    Constraint,
    Order,
    is_circular,
    ordered,
    probability_of_order,
    probability_of_tree,
    tree_of,
)

Memo: TypeAlias = dict[Any, Any]
"""Sub-problems that are solved, by their values: equal ones are computed once."""


@dataclass(frozen=True, slots=True)
class Component:
    """Draws that comparisons connect."""

    densities: tuple[Density, ...]
    constraints: tuple[Constraint, ...]


def probability_of(component: Component, memo: Memo) -> Exponential:
    """The probability that all comparisons hold (times x for each even density)."""
    upper, lower = _tightest(component.constraints)
    for terms, least in lower.items():
        if len(terms) == 1 or terms not in upper:
            continue
        # Between two ends: at most the upper one, without at most the lower one.
        if least >= upper[terms]:
            return Exponential.zero()
        others = [one for one in component.constraints if _direction(one)[0] != terms]
        sides = [
            probability_of(replace(component, constraints=(*others, Constraint(terms, -end))), memo)
            for end in (upper[terms], least)
        ]
        return sides[0] - sides[1]
    constraints = [Constraint(terms, -end) for terms, end in upper.items()]
    constraints += [Constraint(tuple((at, -c) for at, c in terms), end) for terms, end in lower.items()]
    order = ordered(component.densities, constraints)
    return _of_order(order, memo) if order is not None else _of_any(component.densities, constraints, memo)


def _of_order(order: Order, memo: Memo) -> Exponential:
    if any(draw.low is not None and draw.high is not None and draw.low >= draw.high for draw in order.draws):
        return Exponential.zero()
    tree = tree_of(order)
    key = order if tree is None else tree
    if key not in memo:
        if tree is not None:
            memo[key] = probability_of_tree(tree)
        else:
            memo[key] = Exponential.zero() if is_circular(order) else probability_of_order(order)
    found: Exponential = memo[key]
    return found


def _of_any(densities: tuple[Density, ...], constraints: Sequence[Constraint], memo: Memo) -> Exponential:
    key = densities, frozenset(constraints)
    if key not in memo:
        memo[key] = probability_by_cells(densities, constraints)
    found: Exponential = memo[key]
    return found


def _direction(constraint: Constraint) -> tuple[tuple[tuple[int, Fraction], ...], Fraction]:
    """The terms over the leading coefficient, which is returned as well."""
    terms = tuple(sorted(constraint.terms))
    leading = terms[0][1]
    return tuple((at, coefficient / leading) for at, coefficient in terms), leading


_Ends: TypeAlias = dict[tuple[tuple[int, Fraction], ...], Fraction]


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
