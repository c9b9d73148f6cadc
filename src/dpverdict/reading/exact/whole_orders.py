"""The probability of an order between placed draws of whole numbers, where draws may be equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dpverdict.reading.exact.densities import Geometric, Ranged, WholeDensity
from dpverdict.reading.exact.exponential import Quotient
from dpverdict.reading.exact.orders import Order, Placed, Tree
from dpverdict.reading.exact.ratio import Ratio
from dpverdict.reading.exact.whole_line import Function, WholeLine, constant, negated, product, total


def probability_of_whole_tree(tree: Tree) -> Quotient:
    """The probability of all comparisons in the tree."""
    line = _line(list(_draws_in(tree)))
    return line.cumulative(_weighted(line, tree))[1].quotient(line.scale)


def probability_of_whole_order(order: Order) -> Quotient:
    """The probability of an order by its down-sets: the set of all draws that are equal to the largest is peeled off.

    I_S(s) = Σ_{t≤s} Σ_M Π_{i in M} f_i(t)·I_{S - M}(t - 1), over the non-empty sets M of S that hold with a draw all
    draws above it.
    """
    line = _line(list(order.draws))
    densities = [_bounded(line, draw) for draw in order.draws]
    upper = [0] * len(densities)
    for i, j in order.pairs:
        upper[i] |= 1 << j
    known: dict[int, tuple[Function, Function, Ratio]] = {}

    def reached(members: int) -> tuple[Function, Function, Ratio]:
        """Increments, sums and their limit."""
        if members not in known:
            parts = [_peeled(densities, members, peel, reached) for peel in _up_sets(members, upper)]
            increments = total(parts)
            known[members] = increments, *line.cumulative(increments)
        return known[members]

    return reached((1 << len(densities)) - 1)[2].quotient(line.scale)


def _peeled(
    densities: Sequence[Function],
    members: int,
    peel: int,
    reached: Callable[[int], tuple[Function, Function, Ratio]],
) -> Function:
    factors = [density for at, density in enumerate(densities) if peel >> at & 1]
    if members != peel:
        increments, sums, _ = reached(members & ~peel)
        factors.append(total([sums, negated(increments)]))
    return product(factors)


def _up_sets(members: int, upper: Sequence[int]) -> Iterator[int]:
    """The non-empty subsets that hold with each draw all members above it."""
    subset = members
    while subset:
        if all(not upper[at] & members & ~subset for at in range(len(upper)) if subset >> at & 1):
            yield subset
        subset = (subset - 1) & members


def _line(draws: Sequence[Placed]) -> WholeLine:
    cuts = [int(draw.low) - 1 for draw in draws if draw.low is not None]
    cuts += [int(draw.high) for draw in draws if draw.high is not None]
    return WholeLine([_whole(draw) for draw in draws], cuts)


def _whole(draw: Placed) -> WholeDensity:
    assert isinstance(draw.density, Geometric | Ranged)
    return draw.density


def _bounded(line: WholeLine, draw: Placed) -> Function:
    return line.within(line.density(_whole(draw)), draw.low, draw.high)


def _draws_in(tree: Tree) -> Iterator[Placed]:
    yield tree.draw
    for branch, _ in tree.below | tree.above:
        yield from _draws_in(branch)


def _weighted(line: WholeLine, tree: Tree) -> Function:
    """The probability of each value of a draw times that of what hangs on it."""
    factors = [_bounded(line, tree.draw)]
    for branch, count in tree.below:
        factors += [line.cumulative(_weighted(line, branch))[0]] * count
    for branch, count in tree.above:
        weights = _weighted(line, branch)
        below, limit = line.cumulative(weights)
        factors += [total([constant(limit, below), negated(below), weights])] * count
    return product(factors)
