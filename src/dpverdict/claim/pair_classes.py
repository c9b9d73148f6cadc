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

from dpverdict.claim.budget import Budget

Vector: TypeAlias = tuple[Any, ...]
Block: TypeAlias = tuple[int, ...]
Move: TypeAlias = tuple[int, int]
"""The members, by their numbers, that stand in one place of the two vectors."""


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
    for chosen in _choices(_Payer(inputs), blocks, 0, inputs.budget.start):
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


class _Payer:
    """The budget's answers, each asked for once: they are the same for all classes."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        places = range(len(inputs.members))
        self._moves = tuple((mine, theirs) for mine in places for theirs in places)
        self._known: dict[Hashable, list[tuple[int, Move, Hashable]]] = {}

    def moves(self, left: Hashable, first: int) -> Iterator[tuple[int, Move, Hashable]]:
        """The moves from this one on that can be paid for: their numbers, themselves, and what they leave."""
        if left not in self._known:
            paid = [(at, move, self._spend(left, move)) for at, move in enumerate(self._moves)]
            self._known[left] = [one for one in paid if one[2] is not None]
        return (one for one in self._known[left] if one[0] >= first)

    def _spend(self, left: Hashable, move: Move) -> Hashable:
        mine, theirs = (self._inputs.members[at] for at in move)
        return self._inputs.budget.spend(left, mine, theirs)


def _choices(payer: _Payer, blocks: Sequence[Block], at: int, left: Hashable) -> Iterator[tuple[tuple[Move, ...], ...]]:
    if at == len(blocks):
        yield ()
        return
    for picked, rest in _multisets(payer, len(blocks[at]), 0, left):
        for others in _choices(payer, blocks, at + 1, rest):
            yield (picked, *others)


def _multisets(payer: _Payer, size: int, first: int, left: Hashable) -> Iterator[tuple[tuple[Move, ...], Hashable]]:
    """Every multiset of so many moves that can be paid for, and what it leaves."""
    if size == 0:
        yield (), left
        return
    for at, move, rest in payer.moves(left, first):
        for others, final in _multisets(payer, size - 1, at, rest):
            yield (move, *others), final


def _extremes(inputs: Inputs) -> tuple[list[Any], list[Any]]:
    """For each member the lowest and the highest value that a neighbour may have in its place."""
    reachable = [
        [other for other in inputs.members if inputs.budget.spend(inputs.budget.start, member, other) is not None]
        for member in inputs.members
    ]
    return [min(values) for values in reachable], [max(values) for values in reachable]
