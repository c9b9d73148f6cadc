"""Events: sets of outcomes, as data; some toss a coin at their edge.

    OutputEquals  one outcome
    Box           every listed feature lies in its interval
    ScoreAbove    the score is above a threshold; at the threshold a coin decides
    ScoreBelow    the score is below a threshold; at the threshold a coin decides
    Union         at least one of several events, at most one of which tosses a coin

`happened` is the one function that says whether an event happened: in the search, in the confirmation and in the
verification.  It looks at each run by itself, in integers, so the two inputs may be evaluated together or apart.  The
coin at an edge is drawn for every run, with the same probability for both inputs, and independent of the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpverdict.evidence.bets import MOST_BINS
from dpverdict.evidence.counts import SideCounts
from dpverdict.evidence.features import ABSENT, LIMIT, Booleans, Feature, Integers, check_whole, extract, unusable
from dpverdict.evidence.leaves import Leaves, leaves
from dpverdict.evidence.scores import Score, score
from dpverdict.mechanism.outcome import Mapping, Outcome, Raised, freeze, key, same
from dpverdict.mechanism.tally import Array, Outcomes, listed

_MOST_SCORE = 1 << 62
_MOST_PARTS = 1 << 16
_MOST_DENOMINATOR = 1 << 32

PLUS, NEITHER, MINUS = 1, 0, -1


@dataclass(frozen=True, slots=True)
class OutputEquals:
    """The outcome is this one (`outcome.same`)."""

    outcome: Outcome

    def __post_init__(self) -> None:
        object.__setattr__(self, "outcome", freeze(self.outcome))

    # Python takes True for 1, 0.0 for -0.0, and NaN for no NaN; outcomes do not.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputEquals) and same(self.outcome, other.outcome)

    def __hash__(self) -> int:
        return hash(key(self.outcome))


@dataclass(frozen=True, slots=True)
class Interval:
    """A feature from low to high, both inside; None is no end.  An absent feature is in no interval."""

    feature: Feature
    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        for name, end in (("low", self.low), ("high", self.high)):
            if end is not None:
                check_whole(name, end, -LIMIT, LIMIT)


@dataclass(frozen=True, slots=True)
class Box:
    """All of these."""

    intervals: tuple[Interval, ...]

    def __post_init__(self) -> None:
        check_whole("number of intervals", len(self.intervals), 1, _MOST_PARTS)


@dataclass(frozen=True, slots=True)
class ScoreAbove:
    """score > threshold, or score = threshold and a coin that falls so with chance `tie`."""

    score: Score
    threshold: int
    tie: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _check_edge(self)


@dataclass(frozen=True, slots=True)
class ScoreBelow:
    """score < threshold, or score = threshold and a coin that falls so with chance `tie`."""

    score: Score
    threshold: int
    tie: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _check_edge(self)


@dataclass(frozen=True, slots=True)
class Union:
    """At least one of these."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        check_whole("number of events", len(self.events), 1, _MOST_PARTS)
        coins = sum(edge(event) != 0 for event in self.events)
        if coins > 1:
            raise unusable("events", f"{coins} that toss a coin", "an event tosses one coin at most", "tie=0")


Event: TypeAlias = "OutputEquals | Box | ScoreAbove | ScoreBelow | Union"


@dataclass(frozen=True, slots=True)
class Sides:
    """The events of a two-sided test: S⁺ is evidence for a; S⁻, without what is in S⁺, for a′.  None: not in use."""

    plus: Event
    minus: Event | None = None


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a learned bet: bin i holds the scores from cuts[i-1] to below cuts[i]."""

    score: Score
    cuts: tuple[int, ...]

    def __post_init__(self) -> None:
        check_whole("number of cuts", len(self.cuts), 0, MOST_BINS - 1)
        for cut in self.cuts:
            check_whole("cuts", cut, -_MOST_SCORE, _MOST_SCORE)
        if any(after <= before for before, after in pairwise(self.cuts)):
            raise unusable("cuts", self.cuts, "cuts rise", "(-1, 0, 1)")


def happened(event: Event, outcomes: Outcomes, generator: np.random.Generator) -> Booleans:
    """Whether the event happened in each run.  The generator tosses the coins at its edge."""
    return _Runs(outcomes).happened(event, generator)


def membership(event: Event, outcomes: Outcomes) -> tuple[Booleans, Booleans]:
    """Which runs are inside the event, and which at its edge, where the coin decides."""
    return _Runs(outcomes).membership(event)


def sides_of(sides: Sides, outcomes: Outcomes, generator: np.random.Generator) -> NDArray[np.int8]:
    """PLUS, MINUS or NEITHER for each run; never both, whatever the events are."""
    runs = _Runs(outcomes)
    found = np.where(runs.happened(sides.plus, generator), PLUS, NEITHER)
    if sides.minus is not None:
        found = np.where((found == NEITHER) & runs.happened(sides.minus, generator), MINUS, found)
    return found.astype(np.int8)


def count_sides(found: NDArray[np.int8]) -> SideCounts:
    """How many runs there were, and how many fell on each side."""
    return SideCounts(len(found), int(np.count_nonzero(found == PLUS)), int(np.count_nonzero(found == MINUS)))


def count_bins(bins: Bins, outcomes: Outcomes) -> tuple[int, ...]:
    """How many runs fell into each bin."""
    scores = score(bins.score, leaves(outcomes))
    places = np.searchsorted(np.array(bins.cuts, dtype=np.int64), scores, side="right")
    return tuple(np.bincount(places, minlength=len(bins.cuts) + 1).tolist())


def edge(event: Event) -> Fraction:
    """The chance of the coin that the event tosses at its edge; 0 if it tosses none."""
    match event:
        case OutputEquals() | Box():
            return Fraction(0)
        case ScoreAbove(_, _, tie) | ScoreBelow(_, _, tie):
            return tie
        case Union(events):
            return max(edge(part) for part in events)
        case _:
            assert_never(event)


class _Runs:
    """Outcomes with their leaves, which are made once, and only if a feature asks for them."""

    __slots__ = ("_leaves", "outcomes")

    def __init__(self, outcomes: Outcomes) -> None:
        self.outcomes = outcomes
        self._leaves: Leaves | None = None

    @property
    def leaves(self) -> Leaves:
        if self._leaves is None:
            self._leaves = leaves(self.outcomes)
        return self._leaves

    def happened(self, event: Event, generator: np.random.Generator) -> Booleans:
        inside, at_edge = self.membership(event)
        tie = edge(event)
        if not tie:
            return inside
        # Whole numbers below the denominator: a coin of exactly this chance.
        return inside | (at_edge & (generator.integers(0, tie.denominator, len(inside)) < tie.numerator))

    def membership(self, event: Event) -> tuple[Booleans, Booleans]:
        """Which runs are inside, and which at an edge where a coin decides."""
        nowhere = np.zeros(len(self.outcomes), dtype=np.bool_)
        match event:
            case OutputEquals(outcome):
                return _equal(self.outcomes, outcome), nowhere
            case Box(intervals):
                return _inside(intervals, self.leaves), nowhere
            case ScoreAbove(what, threshold, tie):
                scores = score(what, self.leaves)
                return scores > threshold, (scores == threshold) if tie else nowhere
            case ScoreBelow(what, threshold, tie):
                scores = score(what, self.leaves)
                return scores < threshold, (scores == threshold) if tie else nowhere
            case Union(events):
                inside, at_edge = nowhere, nowhere
                for part in events:
                    more, more_at_edge = self.membership(part)
                    inside, at_edge = inside | more, at_edge | more_at_edge
                return inside, at_edge
            case _:
                assert_never(event)


def _inside(intervals: Sequence[Interval], runs: Leaves) -> Booleans:
    columns = extract([interval.feature for interval in intervals], runs)
    inside: Booleans = np.all(columns != ABSENT, axis=1)
    for at, interval in enumerate(intervals):
        column: Integers = columns[:, at]
        if interval.low is not None:
            inside &= column >= interval.low
        if interval.high is not None:
            inside &= column <= interval.high
    return inside


def _equal(outcomes: Outcomes, wanted: Outcome) -> Booleans:
    if not isinstance(outcomes, np.ndarray):
        name = key(wanted)
        return np.array([key(outcome) == name for outcome in outcomes], dtype=np.bool_)
    row = _as_row(wanted, outcomes)
    if row is None:
        return np.zeros(len(outcomes), dtype=np.bool_)
    alike = outcomes == row
    if outcomes.dtype.kind == "f":
        alike = (alike & (np.signbit(outcomes) == np.signbit(row))) | (np.isnan(outcomes) & np.isnan(row))
    return np.asarray(alike.reshape(len(outcomes), row.size).all(axis=1))


def _as_row(wanted: Outcome, outcomes: Array) -> Array | None:
    """The outcome as a row of the array, None if no row can be that outcome."""
    if isinstance(wanted, Mapping | Raised) or wanted is None:
        return None
    try:
        row = np.array(wanted, dtype=outcomes.dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    # Conversion may have rounded, cut or stretched it: then it is another outcome, and none of this array's.
    fits = row.shape == outcomes.shape[1:] and same(listed(row[None])[0], wanted)
    return row if fits else None


def _check_edge(event: ScoreAbove | ScoreBelow) -> None:
    check_whole("threshold", event.threshold, -_MOST_SCORE, _MOST_SCORE)
    tie: Any = event.tie
    if not isinstance(tie, Fraction) or not 0 <= tie < 1 or tie.denominator > _MOST_DENOMINATOR:
        why = "it is a fraction from 0 to below 1 with a denominator of at most 2^32, tossed exactly"
        raise unusable("tie", tie, why, "tie=Fraction(1, 3)")
