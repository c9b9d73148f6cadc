"""Which comparisons a proof consists of: every output on every pair of neighbours, up to what is shown to be the same.

Outputs that swapping inputs turns into each other are one group, and for the output that stands for it inputs that can
be swapped are one block: of each class of pairs that differ in the order within blocks one is compared.  Where an
output's probability is monotone in every input, where each coordinate may move for itself and where the claim is about
single outputs (δ = 0), each input is compared only with the neighbour on which the output is least probable, which is
the same one for every ε.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from dpverdict.claim.pair_classes import Block, Inputs, Vector, hardest_pairs, pair_classes
from dpverdict.evidence.verify.symmetry import Key, directions, inputs_of, key_of, swap
from dpverdict.mechanism.structure import Input
from dpverdict.reading.exact.regions import Region

Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class Group(Generic[Output]):
    """Outputs that are compared together: the first stands for all of them."""

    outputs: tuple[Output, ...]
    blocks: tuple[Block, ...]
    """The coordinates that its probability depends on, those that can be swapped together."""

    rises: Mapping[int, bool] | None
    """Whether its probability rises with each coordinate; None where the pairs cannot be pruned."""

    def pairs(self, inputs: Inputs) -> Iterator[tuple[Vector, Vector]]:
        """The pairs on which the first output has to be compared; one where no input matters to it."""
        if not self.blocks:
            anywhere = (inputs.members[0],) * inputs.length
            return iter([(anywhere, anywhere)])
        if self.rises is None:
            return pair_classes(inputs, self.blocks)
        return hardest_pairs(inputs, self.blocks, self.rises)


def groups(
    outputs: Mapping[Output, Sequence[Region]], coordinates: Sequence[Input], inputs: Inputs, *, prune: bool = True
) -> list[Group[Output]]:
    """The groups of a program's outputs, for comparisons of single outputs."""
    place = {coordinate: at for at, coordinate in enumerate(coordinates)}
    prunable = prune and inputs.budget.independent
    found = []
    for together in _orbits(outputs, coordinates):
        regions = outputs[together[0]]
        rises = directions(regions) if prunable else None
        found.append(
            Group(
                tuple(together),
                blocks(regions, coordinates),
                None if rises is None else {place[one]: up for one, up in rises.items()},
            )
        )
    return found


def blocks(regions: Sequence[Region], coordinates: Sequence[Input]) -> tuple[Block, ...]:
    """The coordinates that the regions depend on, in blocks of those that can be swapped."""
    place = {coordinate: at for at, coordinate in enumerate(coordinates)}
    used, here = inputs_of(regions), key_of(regions)
    found: list[list[Input]] = []
    for coordinate in coordinates:
        if coordinate in used:
            # Swaps generate all orders of a block, so that one with a single member is enough.
            block = next((block for block in found if key_of(regions, swap(block[0], coordinate)) == here), None)
            if block is None:
                found.append([coordinate])
            else:
                block.append(coordinate)
    return tuple(tuple(place[coordinate] for coordinate in block) for block in found)


def joint_blocks(outputs: Mapping[Any, Sequence[Region]], coordinates: Sequence[Input]) -> tuple[Block, ...]:
    """Blocks of coordinates whose swaps turn the outputs into each other, for comparisons of sets of outputs."""
    here = {key_of(regions) for regions in outputs.values()}
    used = frozenset[Input]().union(*(inputs_of(regions) for regions in outputs.values()))
    found: list[list[int]] = []
    for at, coordinate in enumerate(coordinates):
        if coordinate not in used:
            continue
        for block in found:
            renaming = swap(coordinates[block[0]], coordinate)
            if {key_of(regions, renaming) for regions in outputs.values()} == here:
                block.append(at)
                break
        else:
            found.append([at])
    return tuple(map(tuple, found))


def _orbits(outputs: Mapping[Output, Sequence[Region]], coordinates: Sequence[Input]) -> Iterable[list[Output]]:
    """Outputs that swaps of two inputs turn into each other, step by step."""
    by_key: dict[Key, Output] = {key_of(regions): output for output, regions in outputs.items()}
    left = dict.fromkeys(outputs)
    while left:
        first = next(iter(left))
        del left[first]
        orbit = [first]
        for member in orbit:
            for renaming in _swaps(outputs[member], coordinates):
                image = by_key.get(key_of(outputs[member], renaming))
                if image is not None and image in left:
                    del left[image]
                    orbit.append(image)
        yield orbit


def _swaps(regions: Sequence[Region], coordinates: Sequence[Input]) -> Iterator[Mapping[Input, Input]]:
    """Neighbouring places: they generate all orders of coordinates that stand together."""
    used = inputs_of(regions)
    for one, other in pairwise(coordinates):
        if one in used or other in used:
            yield swap(one, other)
