"""What runs leave behind: whole numbers.

Two ways to divide runs between an input a and its neighbour a′ are two types, as their tests differ:

- `PairCounts`: so many runs on a and so many on a′, fixed beforehand or not;
- `CoinCounts`: each run tossed a fair coin of its own for its input.  Half the runs on each side is *not* that: the
  pooled test is false for it.

Counts of different blocks are added with `+`.  A count that came from runs which also chose the event is no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

import numpy as np

from dpverdict.errors import EvidenceError


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often one event happened in the runs on a, and in the runs on a′."""

    hits: int
    runs: int
    neighbour_hits: int
    neighbour_runs: int

    def __post_init__(self) -> None:
        _make_whole(self)
        _check(self.hits, self.runs)
        _check(self.neighbour_hits, self.neighbour_runs)

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(
            self.hits + other.hits,
            self.runs + other.runs,
            self.neighbour_hits + other.neighbour_hits,
            self.neighbour_runs + other.neighbour_runs,
        )


@dataclass(frozen=True, slots=True)
class SideCounts:
    """The runs on one input: how many, how many in S⁺ (evidence for a), how many in S⁻ (evidence for a′)."""

    runs: int
    plus: int
    minus: int = 0

    def __post_init__(self) -> None:
        _make_whole(self)
        _check(self.plus, self.runs)
        _check(self.plus + self.minus, self.runs)
        _check(self.minus, self.runs)

    def __add__(self, other: SideCounts) -> SideCounts:
        return SideCounts(self.runs + other.runs, self.plus + other.plus, self.minus + other.minus)


@dataclass(frozen=True, slots=True)
class CoinCounts:
    """Runs that each tossed a fair coin for a or a′ (`toss`), and disjoint events S⁺ and S⁻.

    `two_sided` says whether S⁻ was in use: beforehand, not whether it happened.  It needs a claim that holds for
    (a′, a) as well.
    """

    on_input: SideCounts
    on_neighbour: SideCounts
    two_sided: bool

    def __post_init__(self) -> None:
        if not self.two_sided and (self.on_input.minus or self.on_neighbour.minus):
            raise EvidenceError(
                "EVID-012",
                "runs fell into S⁻, which is not in use",
                place=f"S⁻: {self.on_input.minus:,} on the input, {self.on_neighbour.minus:,} on the neighbour",
                why="whether S⁻ counts decides how much δ explains, so it is fixed before the runs",
                fix="two_sided=True",
            )

    @property
    def runs(self) -> int:
        """How many runs there were, on both inputs."""
        return self.on_input.runs + self.on_neighbour.runs

    @property
    def right(self) -> int:
        """Runs whose event points at the input that they had."""
        return self.on_input.plus + self.on_neighbour.minus

    @property
    def wrong(self) -> int:
        """Runs whose event points at the other input."""
        return self.on_neighbour.plus + self.on_input.minus

    @property
    def hits(self) -> int:
        """Runs in S⁺ or S⁻."""
        return self.right + self.wrong

    def pair(self) -> PairCounts:
        """The counts of S⁺ alone.  Given how the coins fell, they are counts of fixed numbers of runs."""
        return PairCounts(self.on_input.plus, self.on_input.runs, self.on_neighbour.plus, self.on_neighbour.runs)

    def __add__(self, other: CoinCounts) -> CoinCounts:
        if self.two_sided != other.two_sided:
            raise EvidenceError(
                "EVID-013",
                "counts with and without S⁻ are no counts of the same events",
                why="the events are fixed before the runs that judge them",
                fix="add counts of one witness only",
            )
        return CoinCounts(self.on_input + other.on_input, self.on_neighbour + other.on_neighbour, self.two_sided)


def toss(runs: int, generator: np.random.Generator) -> tuple[int, int]:
    """How many of so many runs are on a, and how many on a′, if each tosses its own fair coin.

    The heads are counted bit by bit: a fair coin exactly, where a binomial sampler in floating point is one nearly.
    """
    whole, rest = divmod(runs, 8)
    heads = int.from_bytes(generator.bytes(whole)).bit_count()
    heads += (int.from_bytes(generator.bytes(1)) & ((1 << rest) - 1)).bit_count()
    return heads, runs - heads


def _make_whole(counts: PairCounts | SideCounts) -> None:
    """NumPy's integers become Python's, which never overflow; a float is no count."""
    for name in counts.__slots__:
        given = getattr(counts, name)
        try:
            object.__setattr__(counts, name, index(given))
        except TypeError:
            raise EvidenceError(
                "EVID-010",
                "a count is a whole number",
                place=f"{name}={given!r}",
                why="a count that was rebuilt from a rate can be off by one, on the side that hurts",
                fix="count the runs themselves",
            ) from None


def _check(hits: int, runs: int) -> None:
    if not 0 <= hits <= runs:
        raise EvidenceError(
            "EVID-011",
            "an event happens in none to all of the runs",
            place=f"{hits:,} of {runs:,} runs",
            why="the hits and the runs are not of the same experiment",
            fix="count hits and runs of the same blocks",
        )
