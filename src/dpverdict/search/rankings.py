"""Rankings: orders of outcomes from those that speak for an input to those that speak for its neighbour.

They are learned on training runs and handed over as data: cut at both ends, a ranking gives the two events of a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpverdict.evidence.events import Box, Event, Interval, OutputEquals, ScoreAbove, ScoreBelow, Sides, Union
from dpverdict.evidence.features import Length
from dpverdict.evidence.leaves import Leaves, leaves
from dpverdict.evidence.scores import Score, score
from dpverdict.mechanism.outcome import Outcome, key
from dpverdict.mechanism.tally import Tally, tally
from dpverdict.search.sampling import Groups, together


@dataclass(frozen=True, slots=True)
class View:
    """Outcomes as rankings look at them: how often each occurs, and the leaves of each run."""

    tally: Tally
    leaves: Leaves

    @classmethod
    def of(cls, groups: Groups) -> View:
        """The view of all groups."""
        parts, whole = together(groups), Tally()
        for part in parts:
            whole.add(tally(part))
        return cls(whole, _in_one([leaves(part) for part in parts]))


def _in_one(parts: list[Leaves]) -> Leaves:
    """All rows, padded with absent leaves."""
    width, runs = max((part.kinds.shape[1] for part in parts), default=0), sum(len(part.kinds) for part in parts)
    kinds, values = np.zeros((runs, width), dtype=np.int8), np.full((runs, width), np.nan)
    start = 0
    for part in parts:
        rows, columns = part.kinds.shape
        kinds[start : start + rows, :columns] = part.kinds
        values[start : start + rows, :columns] = part.values
        start += rows
    return Leaves(kinds, values, np.concatenate([np.zeros(0, dtype=np.int8), *(part.forms for part in parts)]))


Levels: TypeAlias = NDArray[np.int64]

NOWHERE = Box((Interval(Length(), 1, 0),))
"""An event that never happens, for a side that is cut off altogether."""


@dataclass(frozen=True, slots=True)
class ByScore:
    """Outcomes by a score."""

    score: Score

    def levels(self, view: View) -> Levels:
        """The level of every run."""
        return score(self.score, view.leaves)

    def sides(self, above: int, below: int, *, two_sided: bool) -> Sides:
        """What lies above one level, and below another."""
        return Sides(ScoreAbove(self.score, above), ScoreBelow(self.score, below) if two_sided else None)


@dataclass(frozen=True, slots=True)
class ByOutcome:
    """Listed outcomes by their levels; all others have level 0, which no side may hold."""

    outcomes: tuple[Outcome, ...]
    values: tuple[int, ...]

    def levels(self, view: View) -> Levels:
        """The levels of all runs, equal ones together."""
        known = {key(outcome): value for outcome, value in zip(self.outcomes, self.values, strict=True)}
        found = np.array([known.get(key(outcome), 0) for outcome in view.tally], dtype=np.int64)
        return np.repeat(found, np.array(list(view.tally.values()), dtype=np.int64))

    def sides(self, above: int, below: int, *, two_sided: bool) -> Sides:
        """The listed outcomes above one level, and below another."""
        ranked = list(zip(self.outcomes, self.values, strict=True))
        plus = _any_of([outcome for outcome, value in ranked if value > max(above, 0)])
        minus = _any_of([outcome for outcome, value in ranked if value < min(below, 0)])
        return Sides(plus, minus if two_sided else None)


Ranking: TypeAlias = ByScore | ByOutcome


def _any_of(outcomes: list[Outcome]) -> Event:
    if not outcomes:
        return NOWHERE
    events = tuple(OutputEquals(outcome) for outcome in outcomes)
    return events[0] if len(events) == 1 else Union(events)
