"""Which pairs of neighbouring inputs an output has to be compared on: one of each class that it cannot tell apart.

An output's probability depends on some coordinates of the input, and often only on *which* values stand in a block of
them, not on their order (the exchangeable queries of the sparse vector technique).  Swapping two such coordinates in
both inputs of a pair changes neither probability, and no neighbourhood with a `Budget` notices; so one multiset of
value pairs for each block stands for all its orders: 7^10 = 2.8e8 pairs of ten queries become 8,008 classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any, TypeAlias

from dpverdict.claim.neighbours import Budget

Vector: TypeAlias = tuple[Any, ...]
Block: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Vectors of one length over a finite set of members, and what neighbours may spend."""

    members: tuple[Any, ...]
    length: int
    budget: Budget


def pair_classes(inputs: Inputs, blocks: Sequence[Block]) -> Iterator[tuple[Vector, Vector]]:
    """One pair of each class of different neighbours; coordinates outside the blocks have the first member.

    Leaving those equal is no loss: a pair that differs there too is neighbouring only if this one is, and the output
    cannot tell the two apart.
    """
    moves = list(product(range(len(inputs.members)), repeat=2))
    for chosen in _choices(inputs, blocks, 0, inputs.budget.start, moves):
        a, b = [inputs.members[0]] * inputs.length, [inputs.members[0]] * inputs.length
        for block, picked in zip(blocks, chosen, strict=True):
            for coordinate, (mine, theirs) in zip(block, picked, strict=True):
                a[coordinate], b[coordinate] = inputs.members[mine], inputs.members[theirs]
        if any(mine != theirs for picked in chosen for mine, theirs in picked):
            yield tuple(a), tuple(b)


def hardest_pairs(
    inputs: Inputs, blocks: Sequence[Block], rises: Mapping[int, bool]
) -> Iterator[tuple[Vector, Vector]]:
    """For every input up to the order within blocks, the neighbour on which the output is least probable.

    `rises` says of each coordinate in a block whether the output's probability grows with it.  Needs a budget whose
    coordinates are independent and members that are numbers.
    """
    lowest, highest = _extremes(inputs)
    for chosen in product(*(combinations_with_replacement(range(len(inputs.members)), len(block)) for block in blocks)):
        a, b = [inputs.members[0]] * inputs.length, [inputs.members[0]] * inputs.length
        for block, picked in zip(blocks, chosen, strict=True):
            for coordinate, mine in zip(block, picked, strict=True):
                a[coordinate] = inputs.members[mine]
                b[coordinate] = (lowest if rises[coordinate] else highest)[mine]
        yield tuple(a), tuple(b)


def _choices(
    inputs: Inputs, blocks: Sequence[Block], at: int, left: Hashable, moves: list[tuple[int, int]]
) -> Iterator[tuple[tuple[tuple[int, int], ...], ...]]:
    if at == len(blocks):
        yield ()
        return
    for picked, rest in _multisets(inputs, len(blocks[at]), moves, left):
        for others in _choices(inputs, blocks, at + 1, rest, moves):
            yield (picked, *others)


def _multisets(
    inputs: Inputs, size: int, moves: Sequence[tuple[int, int]], left: Hashable
) -> Iterator[tuple[tuple[tuple[int, int], ...], Hashable]]:
    """Every multiset of so many moves that can be paid for, and what it leaves."""
    if size == 0:
        yield (), left
        return
    for at, (mine, theirs) in enumerate(moves):
        rest = inputs.budget.spend(left, inputs.members[mine], inputs.members[theirs])
        if rest is not None:
            for others, final in _multisets(inputs, size - 1, moves[at:], rest):
                yield ((mine, theirs), *others), final


def _extremes(inputs: Inputs) -> tuple[list[Any], list[Any]]:
    """For each member the lowest and the highest value that a neighbour may have in its place."""
    reachable = [
        [other for other in inputs.members if inputs.budget.spend(inputs.budget.start, member, other) is not None]
        for member in inputs.members
    ]
    return [min(values) for values in reachable], [max(values) for values in reachable]
