"""From runs to the cells of bets: the one place that knows their order (`bets.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpverdict.errors import EvidenceError
from dpverdict.evidence.counts import CoinCounts
from dpverdict.evidence.events import MINUS, NEITHER, PLUS, Bins, count_bins
from dpverdict.mechanism.tally import Outcomes

Cells = tuple[int, ...]


def learned_cells(bins: Bins, outcomes: Outcomes, neighbour_outcomes: Outcomes) -> Cells:
    """For a `LearnedBet`: the runs on a and on a′, each of which tossed a coin for its input."""
    on_input, on_neighbour = count_bins(bins, outcomes), count_bins(bins, neighbour_outcomes)
    return tuple(count for both in zip(on_input, on_neighbour, strict=True) for count in both)


def event_cells(counts: CoinCounts) -> Cells:
    """For an `EventBet`."""
    one, other = counts.on_input, counts.on_neighbour
    missed = one.runs - one.plus - one.minus, other.runs - other.plus - other.minus
    return (one.plus, other.plus, one.minus, other.minus, *missed)


def coupled_cells(sides: NDArray[np.int8], neighbour_sides: NDArray[np.int8]) -> Cells:
    """For a `CoupledBet`: the sides (`events.sides_of`) of pairs of runs on a and on a′, in the same order."""
    if sides.shape != neighbour_sides.shape:
        raise EvidenceError(
            "EVID-026",
            "coupled runs come in pairs",
            place=f"{len(sides):,} runs on the input, {len(neighbour_sides):,} on the neighbour",
            why="the runs of a pair share their seed, and each is in one pair",
            fix="run both inputs from the same block",
        )
    order = (PLUS, MINUS, NEITHER)
    return tuple(int(np.count_nonzero((sides == x) & (neighbour_sides == y))) for x in order for y in order)
