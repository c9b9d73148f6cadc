"""The runs of a search: a mechanism on two inputs, as the work of jobs.

Both inputs are run in one way, as a program or as a black box: a search that compared one with the other could find
differences between two ways of computing instead of between two inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpverdict.evidence import boxes
from dpverdict.evidence.counts import CoinCounts, SideCounts, toss
from dpverdict.evidence.events import Event, OutputEquals, Sides, Union, count_sides, sides_of
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.job import Block
from dpverdict.mechanism.black_box import BlackBox
from dpverdict.mechanism.outcome import Outcome
from dpverdict.mechanism.tally import Array, Outcomes, tally
from dpverdict.reading.sample import Sampler, outcome_groups
from dpverdict.reading.sample.blocks import BLOCK

Groups: TypeAlias = list[Outcomes]
"""The outcomes of some runs, in parts of any size."""


class Runner(Protocol):
    """A mechanism on one input."""

    def groups(self, runs: int, generator: np.random.Generator) -> Iterator[Outcomes]:
        """The outcomes of so many runs."""


@dataclass(frozen=True, slots=True)
class ProgramRunner:
    """A program on an input."""

    sampler: Sampler

    def groups(self, runs: int, generator: np.random.Generator) -> Iterator[Outcomes]:
        """Those of batches that stay in cache; what ended alike is put together."""
        noise, chunk = NumpyNoise(generator), self.sampler.chunk
        for start in range(0, runs, chunk):
            yield from together(outcome_groups(self.sampler.batch(noise, min(chunk, runs - start))))


def together(groups: Iterable[Outcomes]) -> Groups:
    """The same outcomes in few groups: all lists in one, and arrays whose rows are alike."""
    lists, arrays = list[Outcome](), dict[object, list[Array]]()
    for group in groups:
        if isinstance(group, np.ndarray):
            arrays.setdefault((group.dtype, group.shape[1:]), []).append(group)
        else:
            lists += group
    joined: Groups = [np.concatenate(some) for some in arrays.values()]
    return [*joined, lists] if lists else joined


@dataclass(frozen=True, slots=True)
class BoxRunner:
    """A black box on an input."""

    box: BlackBox
    given: Any

    def groups(self, runs: int, generator: np.random.Generator) -> Iterator[Outcomes]:
        """All runs at once."""
        if runs:
            yield self.box.run(self.given, runs, generator)


@dataclass(frozen=True, slots=True)
class Pair:
    """A mechanism on an input and on its neighbour; the inputs as the claim has them, and ready to run."""

    input: Any
    neighbour: Any
    runners: tuple[ProgramRunner, ProgramRunner] | tuple[BoxRunner, BoxRunner]

    @property
    def box(self) -> BlackBox | None:
        """The black box, None for a program."""
        first = self.runners[0]
        return first.box if isinstance(first, BoxRunner) else None

    def block_size(self, runs: int) -> int:
        """How many runs make a block, for so many in all."""
        return min(BLOCK, max(1, runs)) if self.box is None else boxes.block_size(self.box, runs)


@dataclass(frozen=True, slots=True)
class Seen:
    """Outcomes on both inputs: some to fit scores to, and others to choose cuts on."""

    fit: tuple[Groups, Groups]
    choose: tuple[Groups, Groups]

    def __add__(self, other: Seen) -> Seen:
        return Seen(
            (self.fit[0] + other.fit[0], self.fit[1] + other.fit[1]),
            (self.choose[0] + other.choose[0], self.choose[1] + other.choose[1]),
        )


NOTHING_SEEN = Seen(([], []), ([], []))


@dataclass(frozen=True, slots=True)
class Show:
    """Work: the outcomes of training runs, a quarter of the block for each part."""

    pair: Pair

    def __call__(self, block: Block, generator: np.random.Generator) -> Seen:
        """What came out."""
        quarter = block.runs // 4
        one, other = self.pair.runners
        first, second, third, fourth = (list(runner.groups(quarter, generator)) for runner in (one, other, one, other))
        return Seen((first, second), (third, fourth))


@dataclass(frozen=True, slots=True)
class Count:
    """Work: each run tosses a coin for its input; how many of them fell on which side, for each of several sides."""

    pair: Pair
    sides: tuple[Sides, ...]

    def __call__(self, block: Block, generator: np.random.Generator) -> tuple[CoinCounts, ...]:
        """The counts, in the order of the sides."""
        found = []
        runners: tuple[Runner, ...] = self.pair.runners
        for runner, runs in zip(runners, toss(block.runs, generator), strict=True):
            counts = [SideCounts(0, 0) for _ in self.sides]
            for group in runner.groups(runs, generator):
                counts = [
                    known + counted(sides, group, generator) for known, sides in zip(counts, self.sides, strict=True)
                ]
            found.append(counts)
        return tuple(
            CoinCounts(on_input, on_neighbour, sides.minus is not None)
            for sides, on_input, on_neighbour in zip(self.sides, *found, strict=True)
        )


def counted(sides: Sides, outcomes: Outcomes, generator: np.random.Generator) -> SideCounts:
    """How many runs fell on each side; where sides list outcomes, equal ones are looked at once."""
    if not (_lists_outcomes(sides.plus) and (sides.minus is None or _lists_outcomes(sides.minus))):
        return count_sides(sides_of(sides, outcomes, generator))
    tallied = tally(outcomes)
    found = sides_of(sides, list(tallied), generator)
    sizes = np.array(list(tallied.values()), dtype=np.int64)
    return SideCounts(int(sizes.sum()), int(sizes[found > 0].sum()), int(sizes[found < 0].sum()))


def _lists_outcomes(event: Event) -> bool:
    """Whether the event is a list of outcomes, which tosses no coin."""
    return isinstance(event, OutputEquals) or (isinstance(event, Union) and all(map(_lists_outcomes, event.events)))
