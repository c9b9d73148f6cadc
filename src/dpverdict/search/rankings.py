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
from dpverdict.evidence.leaves import leaves
from dpverdict.evidence.scores import Score, score
from dpverdict.mechanism.outcome import Outcome, key
from dpverdict.mechanism.tally import tally
from dpverdict.search.sampling import Groups

Levels: TypeAlias = NDArray[np.int64]

NOWHERE = Box((Interval(Length(), 1, 0),))
"""An event that never happens, for a side that is cut off altogether."""


@dataclass(frozen=True, slots=True)
class ByScore:
    """Outcomes by a score."""

    score: Score

    def levels(self, groups: Groups) -> Levels:
        """The level of every run."""
        return _joined([score(self.score, leaves(group)) for group in groups])

    def sides(self, above: int, below: int, *, two_sided: bool) -> Sides:
        """What lies above one level, and below another."""
        return Sides(ScoreAbove(self.score, above), ScoreBelow(self.score, below) if two_sided else None)


@dataclass(frozen=True, slots=True)
class ByOutcome:
    """Listed outcomes by their levels; all others have level 0, which no side may hold."""

    outcomes: tuple[Outcome, ...]
    values: tuple[int, ...]

    def levels(self, groups: Groups) -> Levels:
        """The levels of all runs, equal ones together."""
        known = {key(outcome): value for outcome, value in zip(self.outcomes, self.values, strict=True)}
        return _joined(
            [
                np.repeat(
                    np.array([known.get(key(outcome), 0) for outcome in tallied], dtype=np.int64),
                    np.array(list(tallied.values()), dtype=np.int64),
                )
                for tallied in map(tally, groups)
            ]
        )

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


def _joined(parts: list[Levels]) -> Levels:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
