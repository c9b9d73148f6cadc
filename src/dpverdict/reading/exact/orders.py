"""Comparisons of two real draws at a time, as an order between placed draws, and the probability of that order.

Offsets and coefficients are taken up by placing every draw: where draws are compared along a tree, all comparisons
become s_i ≤ s_j.  A tree is integrated from its leaves to its root, one draw after the other; any other order by the
recursion I_S(s) = Σ_{i maximal in S} ∫_{-∞}^s f_i(t)·I_{S - i}(t) dt over its down-sets S.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeAlias

from dpverdict.reading.exact.densities import END, Density, Even, Geometric, OneSided, Ranged, TwoSided, WholeDensity
from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.line import Function, Line, Scalar, power, product, total


@dataclass(frozen=True, slots=True)
class Constraint:
    """Σ coefficient · draw + offset ≤ 0, draws by their numbers."""

    terms: tuple[tuple[int, Fraction], ...]
    offset: Fraction


@dataclass(frozen=True, slots=True)
class Placed:
    """A draw where it is compared, between two ends."""

    density: Density | WholeDensity
    low: END
    high: END


@dataclass(frozen=True, slots=True)
class Order:
    """Placed draws, and the pairs (i, j) with draw i ≤ draw j."""

    draws: tuple[Placed, ...]
    pairs: frozenset[tuple[int, int]]
    strict: frozenset[tuple[int, int]] = frozenset()
    """Those of the pairs whose draws, whole numbers, must not be equal."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A draw with what hangs on it: each branch lies below it or above it, and equal branches are counted."""

    draw: Placed
    below: frozenset[tuple[Tree, int]]
    above: frozenset[tuple[Tree, int]]


_Placing: TypeAlias = tuple[Fraction, Fraction]
"""(factor, shift): the placed draw is factor · draw + shift."""


# --- from comparisons to an order ---------------------------------------------------------------------------------


def ordered(densities: Sequence[Density | WholeDensity], constraints: Sequence[Constraint]) -> Order | None:
    """The comparisons as an order of placed draws, None where there is none."""
    links = [constraint for constraint in constraints if len(constraint.terms) == 2]
    if any(len(constraint.terms) > 2 for constraint in constraints):
        return None
    placing = _placings(len(densities), links)
    pairs = [_pair(link, placing) for link in links]
    strict: list[tuple[int, int]] = []
    if any(offset != 0 for _, offset in pairs):
        # Whole numbers that run in a circle: each may also be strictly below another where it stands.
        placing = [(Fraction(1), Fraction(0))] * len(densities)
        pairs = [_pair(link, placing) for link in links]
        if isinstance(densities[0], Geometric | Ranged) and all(offset in (0, 1) for _, offset in pairs):
            strict = [pair for pair, offset in pairs if pair is not None and offset == 1]
        else:
            return None
    ends = _ends(len(densities), [constraint for constraint in constraints if len(constraint.terms) == 1])
    draws = []
    for at, density in enumerate(densities):
        factor, shift = placing[at]
        low, high = (None if end is None else factor * end + shift for end in ends[at])
        if factor < 0:
            low, high = high, low
        draws.append(Placed(density.placed(factor, shift), low, high))
    known = [pair for pair, _ in pairs if pair is not None]
    return Order(tuple(draws), frozenset(known), frozenset(strict)) if len(known) == len(pairs) else None


def _placings(count: int, links: Sequence[Constraint]) -> list[_Placing]:
    """Place every draw so that the links of a spanning tree compare without factor and offset."""
    neighbours: list[list[Constraint]] = [[] for _ in range(count)]
    for link in links:
        for at, _ in link.terms:
            neighbours[at].append(link)
    root = max(range(count), key=lambda at: len(neighbours[at]))
    placing: dict[int, _Placing] = {root: (Fraction(1), Fraction(0))}
    waiting = [root]
    for at in waiting:
        for link in neighbours[at]:
            (i, a), (j, b) = link.terms if link.terms[0][0] == at else reversed(link.terms)
            if j in placing:
                continue
            # a·s_i + b·s_j + c ≤ 0 over |a/α| is ±(place of i) + (b·s_j + c - a·β/α)/|a/α| ≤ 0.
            factor, shift = placing[i]
            scale = -a / factor
            placing[j] = (b / scale, (link.offset - a * shift / factor) / scale)
            waiting.append(j)
    assert len(placing) == count, "draws that are not connected"
    return [placing[at] for at in range(count)]


def _pair(link: Constraint, placing: Sequence[_Placing]) -> tuple[tuple[int, int] | None, Fraction]:
    """(i, j) and c where the link says: placed draw i + c ≤ placed draw j."""
    (i, a), (j, b) = link.terms
    left, right = a / placing[i][0], b / placing[j][0]
    offset = link.offset - left * placing[i][1] - right * placing[j][1]
    if left != -right:
        return None, Fraction(0)
    return ((i, j) if left > 0 else (j, i)), offset / abs(left)


def _ends(count: int, bounds: Sequence[Constraint]) -> list[tuple[END, END]]:
    lows: dict[int, Fraction] = {}
    highs: dict[int, Fraction] = {}
    for bound in bounds:
        ((at, coefficient),) = bound.terms
        end = -bound.offset / coefficient
        if coefficient > 0:
            highs[at] = min(end, highs.get(at, end))
        else:
            lows[at] = max(end, lows.get(at, end))
    return [(lows.get(at), highs.get(at)) for at in range(count)]


def without_implied(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Without the differences of two draws that other differences already keep as small: x ≤ y and y ≤ z give x ≤ z."""
    kept = list(constraints)
    for constraint in constraints:
        difference = _difference(constraint)
        if difference is not None:
            i, j, most = difference
            others = [other for other in kept if other is not constraint]
            if _least_sum(i, j, others) <= most:
                kept = others
    return tuple(kept)


def is_contradictory(constraints: Sequence[Constraint], *, whole: bool) -> bool:
    """Whether differences around a circle add up to less than 0; if no draw is whole, 0 has no probability either."""
    for constraint in constraints:
        difference = _difference(constraint)
        if difference is not None:
            i, j, most = difference
            around = most + _least_sum(j, i, constraints)
            if around < 0 or (around == 0 and not whole):
                return True
    return False


def _difference(constraint: Constraint) -> tuple[int, int, Fraction] | None:
    """(i, j, most) where the comparison is draw i - draw j ≤ most."""
    if len(constraint.terms) != 2 or constraint.terms[0][1] != -constraint.terms[1][1]:
        return None
    (i, a), (j, _) = constraint.terms
    return (i, j, -constraint.offset / a) if a > 0 else (j, i, constraint.offset / a)


def _least_sum(start: int, end: int, constraints: Sequence[Constraint]) -> Fraction | float:
    """The least bound on draw `start` - draw `end` that follows by adding up differences."""
    reached: dict[int, Fraction] = {start: Fraction(0)}
    links = [link for link in map(_difference, constraints) if link is not None]
    for _ in links:
        for i, j, most in links:
            if i in reached and reached[i] + most < reached.get(j, inf):
                reached[j] = reached[i] + most
    return reached.get(end, inf)


# --- trees --------------------------------------------------------------------------------------------------------


def tree_of(order: Order) -> Tree | None:
    """The order as a tree from its most compared draw on, None where the comparisons run in circles.

    Comparisons that follow from others are left out.
    """
    pairs = order.pairs
    if order.strict:
        return None
    if len(pairs) >= len(order.draws):
        pairs = _reduced(pairs)
    if len(pairs) != len(order.draws) - 1:
        return None
    lower: list[list[int]] = [[] for _ in order.draws]
    upper: list[list[int]] = [[] for _ in order.draws]
    for i, j in pairs:
        lower[j].append(i)
        upper[i].append(j)

    def grown(at: int, origin: int | None) -> Tree:
        branches = [Counter(grown(i, at) for i in side[at] if i != origin) for side in (lower, upper)]
        return Tree(order.draws[at], *(frozenset(side.items()) for side in branches))

    return grown(max(range(len(order.draws)), key=lambda at: len(lower[at]) + len(upper[at])), None)


def is_circular(order: Order) -> bool:
    """Whether a draw would have to be at most itself: for atomless draws that has probability 0."""
    return any(i == j for i, j in _reach(order.pairs))


def _reduced(pairs: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Without the pairs that follow from others."""
    reach = _reach(pairs)
    middles = {j for _, j in reach}
    return frozenset((i, j) for i, j in pairs if not any((i, k) in reach and (k, j) in reach for k in middles))


def _reach(pairs: frozenset[tuple[int, int]]) -> set[tuple[int, int]]:
    reach = set(pairs)
    for k in {at for pair in pairs for at in pair}:
        before, after = [i for i, j in reach if j == k], [j for i, j in reach if i == k]
        reach |= {(i, j) for i in before for j in after}
    return reach


def probability_of_tree(tree: Tree) -> Exponential:
    """The probability of all comparisons in the tree (times x for each even density)."""
    draws = list(_draws_in(tree))
    line = Line.of([_real(draw) for draw in draws], [end for d in draws for end in (d.low, d.high) if end is not None])
    return line.expression(line.integral(_weighted(line, tree)))


def _real(draw: Placed) -> Density:
    assert isinstance(draw.density, TwoSided | OneSided | Even)
    return draw.density


def _draws_in(tree: Tree) -> list[Placed]:
    found = [tree.draw]
    for branch, _ in tree.below | tree.above:
        found += _draws_in(branch)
    return found


def _weighted(line: Line, tree: Tree) -> Function:
    """The density of a draw times the probability of what hangs on it, given its value."""
    factors = [line.density(_real(tree.draw))]
    for branch, count in tree.below:
        factors.append(power(_below(line, branch)[0], count))
    for branch, count in tree.above:
        below, limit = _below(line, branch)
        factors.append(power(line.complement(below, limit), count))
    return line.within(product(factors), tree.draw.low, tree.draw.high)


def _below(line: Line, tree: Tree) -> tuple[Function, Scalar]:
    """The probability that a branch holds and its draw is at most s, as a function of s, with its limit."""
    draw = tree.draw
    if tree.below or tree.above or draw.low is not None or draw.high is not None:
        return line.cumulative(_weighted(line, tree))
    return line.below(_real(draw)), line.total(_real(draw))


# --- any order ----------------------------------------------------------------------------------------------------


def probability_of_order(order: Order) -> Exponential:
    """The probability of an order by its down-sets: 2^n integrals at most, not n!."""
    bounded = [end for draw in order.draws for end in (draw.low, draw.high) if end is not None]
    line = Line.of([_real(draw) for draw in order.draws], bounded)
    densities = [line.within(line.density(_real(draw)), draw.low, draw.high) for draw in order.draws]
    upper: dict[int, int] = {}
    for i, j in order.pairs:
        upper[i] = upper.get(i, 0) | 1 << j
    known: dict[int, tuple[Function, Scalar]] = {}

    def reached(members: int) -> tuple[Function, Scalar]:
        if members not in known:
            known[members] = _reached(line, densities, _tops(members, upper), members, reached)
        return known[members]

    return line.expression(reached((1 << len(densities)) - 1)[1])


def _tops(members: int, upper: Mapping[int, int]) -> list[int]:
    return [at for at in range(members.bit_length()) if members >> at & 1 and not upper.get(at, 0) & members]


def _reached(
    line: Line,
    densities: Sequence[Function],
    tops: Sequence[int],
    members: int,
    reached: Callable[[int], tuple[Function, Scalar]],
) -> tuple[Function, Scalar]:
    """s ↦ the probability that the members are in order and at most s: the largest is one of the tops."""
    parts = [
        densities[at] if members == 1 << at else product((densities[at], reached(members & ~(1 << at))[0]))
        for at in tops
    ]
    return line.cumulative(total(parts))
