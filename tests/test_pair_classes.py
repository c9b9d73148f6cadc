"""Classes of pairs against all pairs, listed by the neighbourhood's own definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from dpverdict.claim import MaxNorm, Neighbourhood
from dpverdict.claim.neighbour_text import neighbourhood
from dpverdict.claim.pair_classes import Inputs, hardest_pairs, pair_classes

BLOCKS: list[list[tuple[int, ...]]] = [
    [(0, 1, 2)],
    [(0, 1), (2,)],
    [(0,), (1,), (2,)],
    [(2, 0)],
    [(1,)],
    [],
]


def _inputs(relation: Neighbourhood, members: Sequence[int]) -> Inputs:
    assert relation.budget is not None
    return Inputs(tuple(members), 3, relation.budget)


def _seen_by(blocks: Sequence[tuple[int, ...]], a: Sequence[Any], b: Sequence[Any]) -> object:
    """All that is left of a pair if neither the order within blocks nor other coordinates count."""
    return tuple(frozenset(Counter((a[at], b[at]) for at in block).items()) for block in blocks)


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("word", ["linf:1", "linf:2", "l1:1", "l1:2", "l2:2", "monotone:1", "substitute:2", "any"])
@pytest.mark.parametrize("members", [(-1, 0, 1), (0, 1), (0, 2, 5)])
def test_one_pair_of_each_class(word: str, blocks: list[tuple[int, ...]], members: tuple[int, ...]) -> None:
    relation = neighbourhood(word, "--adjacency")
    listed = [_seen_by(blocks, a, b) for a, b in pair_classes(_inputs(relation, members), blocks)]
    everything = {
        _seen_by(blocks, a, b)
        for a, b in product(product(members, repeat=3), repeat=2)
        if relation.are_neighbours(list(a), list(b)) and any(a[at] != b[at] for block in blocks for at in block)
    }
    assert len(listed) == len(set(listed))
    assert set(listed) == everything


@pytest.mark.parametrize("word", ["linf:1", "l1:2", "monotone:1", "substitute:1"])
def test_representatives_are_neighbours(word: str) -> None:
    relation = neighbourhood(word, "--adjacency")
    for a, b in pair_classes(_inputs(relation, (-1, 0, 1)), [(0, 2), (1,)]):
        assert relation.are_neighbours(list(a), list(b))


MOVING = [
    (blocks, rises)
    for blocks in BLOCKS[:3]
    for rises in product((False, True), repeat=3)
    if all(rises[at] == rises[block[0]] for block in blocks for at in block)  # a block moves in one direction
]


@pytest.mark.parametrize(("blocks", "rises"), MOVING)
def test_the_hardest_neighbour_is_the_least_one(blocks: list[tuple[int, ...]], rises: tuple[bool, ...]) -> None:
    """For any function that is monotone as stated and does not see the order within blocks."""
    inputs, relation = _inputs(MaxNorm(), (-1, 0, 2)), MaxNorm()

    def height(vector: Sequence[int]) -> int:
        return sum(
            (5 if rises[at] else -5) * vector[at] + vector[at] ** 3 * (1 if rises[at] else -1) for at in range(3)
        )

    hardest = {
        tuple(sorted(a[at] for at in block) for block in blocks).__repr__(): b
        for a, b in hardest_pairs(inputs, blocks, dict(enumerate(rises)))
    }
    for a in product((-1, 0, 2), repeat=3):
        least = min(height(b) for b in product((-1, 0, 2), repeat=3) if relation.are_neighbours(list(a), list(b)))
        key = tuple(sorted(a[at] for at in block) for block in blocks).__repr__()
        assert height(hardest[key]) == least


def test_only_order_within_a_block_is_given_up() -> None:
    """Negative control: with blocks that are too large, classes are missing."""
    relation = MaxNorm()
    found = {_seen_by([(0,), (1,), (2,)], a, b) for a, b in pair_classes(_inputs(relation, (0, 1)), [(0, 1, 2)])}
    everything = {_seen_by([(0,), (1,), (2,)], a, b) for a, b in product(product((0, 1), repeat=3), repeat=2) if a != b}
    assert found < everything
