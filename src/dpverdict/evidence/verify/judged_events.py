"""Events as judges of a program's outputs: so the exact reading finds their probability.

An output whose parts are all known is put before `events.membership`, the one evaluation function.  Where some parts
are noise (a real number, or a whole number of any size), the event asks whether the noise reaches its edges, and the
reading integrates between them.  A coin at an edge is a draw of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, assert_never, cast

import numpy as np

from dpverdict.evidence.events import (
    Box,
    Event,
    Interval,
    OutputEquals,
    ScoreAbove,
    ScoreBelow,
    Union,
    edge,
    membership,
)
from dpverdict.evidence.features import ABSENT
from dpverdict.evidence.leaves import leaves
from dpverdict.evidence.scores import MOST_SIGNAL, Histogram, Linear, Network, Score, Tree, Trees, score_of
from dpverdict.evidence.verify.known_features import Column, Measured, Numbers, not_exact
from dpverdict.mechanism.constants import number, to_python
from dpverdict.mechanism.evaluate import arrange
from dpverdict.mechanism.laws import Bernoulli
from dpverdict.mechanism.outcome import Mapping, Outcome, Raised, freeze, same
from dpverdict.mechanism.properties import kind_of
from dpverdict.mechanism.structure import Constant, Draw, RaiseNode, ReturnNode, Term, Value
from dpverdict.reading.exact.paths import Ask, Judge

_OWN = -1
"""The occurrence of the event's own coin: a program's draws count from 0."""


class _Side(Enum):
    """Where an output lies."""

    OUTSIDE = 0
    EDGE = 1
    INSIDE = 2


def judge_of(event: Event) -> Judge:
    """Whether the event happens, as a judge of outputs."""
    tie = edge(event)

    def judge(ending: ReturnNode | RaiseNode, slots: tuple[Term, ...], ask: Ask) -> bool:
        side = _side(event, ending, slots, ask)
        if side is _Side.EDGE:
            return ask(Draw(Bernoulli(number(tie)), _OWN))
        return side is _Side.INSIDE

    return judge


def _side(event: Event, ending: ReturnNode | RaiseNode, slots: tuple[Term, ...], ask: Ask) -> _Side:
    if isinstance(ending, RaiseNode):
        return _of_known(event, Raised(ending.exception))
    parts = [to_python(slot) if isinstance(slot, Constant) else slot for slot in slots]
    output = arrange(ending.shape, parts)
    noisy = [part for part in parts if isinstance(part, Value)]
    if not noisy:
        return _of_known(event, freeze(output))
    for part in noisy:
        if not kind_of(part).is_numeric:
            raise not_exact("an output that is no number on some runs", "noise is integrated between numbers")
    return _Judged.of(output, ask).side(event)


def _of_known(event: Event, outcome: Outcome) -> _Side:
    inside, at_edge = membership(event, [outcome])
    return _Side.INSIDE if inside[0] else _Side.EDGE if at_edge[0] else _Side.OUTSIDE


@dataclass(frozen=True, slots=True)
class _Judged:
    """An output, some parts of which are noise."""

    output: Any
    numbers: Numbers

    @classmethod
    def of(cls, output: Any, ask: Ask) -> _Judged:
        placed = list(_leaves(output))
        noisy = {place: cast(Term, part) for place, part in enumerate(placed) if isinstance(part, Value)}
        return cls(output, Numbers(leaves([freeze(_without_noise(output))]), noisy, ask))

    def side(self, event: Event) -> _Side:
        match event:
            case OutputEquals(outcome):
                return _Side.INSIDE if self._equals(self.output, outcome) else _Side.OUTSIDE
            case Box(intervals):
                return _Side.INSIDE if all(map(self._is_in, intervals)) else _Side.OUTSIDE
            case ScoreAbove(what, threshold, tie):
                inside = self._reaches(what, threshold + 1)
                at_edge = not inside and tie != 0 and self._reaches(what, threshold)
            case ScoreBelow(what, threshold, tie):
                inside = not self._reaches(what, threshold)
                at_edge = not inside and tie != 0 and not self._reaches(what, threshold + 1)
            case Union(events):
                return self._of_union(events)
            case _:
                assert_never(event)
        return _Side.INSIDE if inside else _Side.EDGE if at_edge else _Side.OUTSIDE

    def _of_union(self, events: tuple[Event, ...]) -> _Side:
        found = _Side.OUTSIDE
        for event in events:
            side = self.side(event)
            if side is _Side.INSIDE:
                return side
            found = side if side is _Side.EDGE else found
        return found

    def _equals(self, part: Any, wanted: Outcome) -> bool:
        match part:
            case Value():
                return self.numbers.equals(cast(Term, part), wanted)
            case list() | tuple():
                if not isinstance(wanted, tuple) or len(wanted) != len(part):
                    return False
                return all(self._equals(*pair) for pair in zip(part, wanted, strict=True))
            case dict():
                if not isinstance(wanted, Mapping) or not same(freeze(list(part)), tuple(wanted)):
                    return False
                return all(self._equals(item, wanted[name]) for name, item in part.items())
            case _:
                return same(freeze(part), wanted)

    def _is_in(self, interval: Interval) -> bool:
        column = self.numbers.column(interval.feature)
        if column == Measured(ABSENT):
            return False
        above = interval.low is None or column.at_least(interval.low)
        return above and (interval.high is None or not column.at_least(interval.high + 1))

    def _reaches(self, what: Score, bound: int) -> bool:
        """Whether a score is at least this number."""
        columns = [self.numbers.column(feature) for feature in what.features]
        known = [column.value for column in columns if isinstance(column, Measured)]
        if len(known) == len(columns):
            return int(score_of(what, np.array([known], dtype=np.int64))[0]) >= bound
        match what:
            case Histogram(_, edges, values):
                tables = zip(columns, edges, values, strict=True)
                return sum(_looked_up(column, *table) for column, *table in tables) >= bound
            case Linear(_, weights):
                return _weighted(columns, weights, bound)
            case Trees(_, trees):
                return sum(_reached(columns, tree) for tree in trees) >= bound
            case Network():
                raise not_exact("a network's score of noise", "its edges are no half-spaces that can be listed")
            case _:
                assert_never(what)


def _looked_up(column: Column, edges: tuple[int, ...], values: tuple[int, ...]) -> int:
    # Edges between equal values tell nothing.
    telling = [(at, after) for at, (before, after) in zip(edges, pairwise(values), strict=True) if before != after]
    low, high = 0, len(telling)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if column.at_least(telling[middle][0]) else (low, middle)
    return telling[low - 1][1] if low else values[0]


def _reached(columns: list[Column], tree: Tree) -> int:
    place = 0 if tree.asks else -1
    while place >= 0:
        above = columns[tree.asks[place]].at_least(tree.thresholds[place] + 1)
        place = tree.no[place] if above else tree.yes[place]
    return tree.leaves[-place - 1]


def _weighted(columns: list[Column], weights: tuple[int, ...], bound: int) -> bool:
    """Σ weight · signal ≥ bound, a signal being a feature cut to ±MOST_SIGNAL, 0 where it is absent."""
    noisy: list[tuple[Column, int]] = []
    for column, weight in zip(columns, weights, strict=True):
        if isinstance(column, Measured):
            value = 0 if column.value == ABSENT else column.value
            bound -= weight * max(-MOST_SIGNAL, min(MOST_SIGNAL, value))
        elif weight:
            noisy.append((column, weight))
    if len(noisy) > 1:
        raise not_exact(
            "a weighted sum of several noisy features",
            "each is rounded down before they are added, so that the edge is no half-space",
        )
    if not noisy:
        return bound <= 0
    ((column, weight),) = noisy
    if weight > 0:
        return _signal_reaches(column, -(-bound // weight))
    return not _signal_reaches(column, -bound // -weight + 1)


def _signal_reaches(column: Column, bound: int) -> bool:
    if not -MOST_SIGNAL < bound <= MOST_SIGNAL:
        return bound <= -MOST_SIGNAL
    return column.at_least(bound)


def _leaves(output: Any) -> Iterator[Any]:
    """The leaves in the order of `leaves.py`."""
    if isinstance(output, list | tuple):
        for item in output:
            yield from _leaves(item)
    elif isinstance(output, dict):
        for name, item in output.items():
            yield from _leaves(name)
            yield from _leaves(item)
    else:
        yield output


def _without_noise(output: Any) -> Any:
    if isinstance(output, list | tuple):
        return [_without_noise(item) for item in output]
    if isinstance(output, dict):
        return {name: _without_noise(item) for name, item in output.items()}
    return 0.0 if isinstance(output, Value) else output
