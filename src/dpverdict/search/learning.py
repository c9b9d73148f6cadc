"""What distinguishes the outcomes on two inputs: rankings, learned from training runs.

In one dimension a histogram of the outcome is nearly the best there is; monotone orders and coarser histograms are
tried beside it, as fine ones are noisy where runs are few.  Of lists, single features are ranked in the same way, and
tables of them are added up with weights from logistic regression.  Outcomes that are few are ranked one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpverdict.evidence.features import (
    ABSENT,
    LIMIT,
    Coordinate,
    Feature,
    Integers,
    Length,
    OrderStatistic,
    Sum,
    extract,
)
from dpverdict.evidence.leaves import Leaves
from dpverdict.evidence.scores import Histogram, Linear
from dpverdict.mechanism.tally import Tally
from dpverdict.search.rankings import ByOutcome, ByScore, Ranking, View

_MOST_OUTCOMES = 256
"""More different outcomes are not ranked one by one."""
_MOST_COORDINATES = 32
_FINEST = 12
"""Real numbers are read in units of 2^-12 of their range, roughly."""
_BINS = (16, 64, 256)
_BINS_OF_LISTS = 32
_UNIT = 1024
"""Scores are in 1/1024 of a log-ratio."""
_MOST_SCORE = 20 * _UNIT
_RIDGE, _STEPS = 1e-3, 12

Floats = NDArray[np.float64]


def rankings(view: View, neighbours: View) -> Iterator[Ranking]:
    """Rankings to choose from, learned from runs on an input and on its neighbour."""
    by_outcome = _by_outcome(view.tally, neighbours.tally)
    if by_outcome is not None:
        yield by_outcome
    features = _features(view.leaves, neighbours.leaves)
    if not features:
        return
    columns, neighbour_columns = extract(features, view.leaves), extract(features, neighbours.leaves)
    numbers = _BINS if len(features) == 1 else (_BINS_OF_LISTS,)
    for at, feature in enumerate(features):
        yield ByScore(Linear((feature,), (1,)))
        yield ByScore(Linear((feature,), (-1,)))
        for bins in numbers:
            yield ByScore(_histogram((feature,), columns[:, [at]], neighbour_columns[:, [at]], bins))
    if len(features) > 1:
        yield ByScore(_weighted(features, columns, neighbour_columns))


# --- outcomes one by one ---------------------------------------------------------------------------------------------


def _by_outcome(first: Tally, second: Tally) -> ByOutcome | None:
    both = Tally()
    both.add(first)
    both.add(second)
    if len(both) > _MOST_OUTCOMES:
        return None
    runs, neighbour_runs = first.runs, second.runs
    values = [
        _log_ratio(np.array([first[outcome]]), np.array([second[outcome]]), runs, neighbour_runs)[0] for outcome in both
    ]
    return ByOutcome(tuple(both), tuple(map(int, values)))


def _log_ratio(hits: NDArray[np.int64], neighbour_hits: NDArray[np.int64], runs: int, neighbour_runs: int) -> Integers:
    """The logarithm of the ratio of two rates, with half a hit more on each side, in units."""
    ratio = np.log((hits + 0.5) / (runs + 1)) - np.log((neighbour_hits + 0.5) / (neighbour_runs + 1))
    return np.asarray(np.clip(np.rint(ratio * _UNIT), -_MOST_SCORE, _MOST_SCORE), dtype=np.int64)


# --- features --------------------------------------------------------------------------------------------------------


def _features(*views: Leaves) -> list[Feature]:
    """What is measured: the outcome itself where it is one value, else its coordinates, extremes, sum and length."""
    width = min(max(view.kinds.shape[1] for view in views), _MOST_COORDINATES)
    steps = [_step(np.concatenate([view.column(at)[1] for view in views])) for at in range(width)]
    found: list[Feature] = [Coordinate(at, step) for at, step in enumerate(steps)]
    if width > 1:
        found += [OrderStatistic(0, max(steps)), OrderStatistic(-1, max(steps)), Sum(max(steps))]
        if len({int(leaves) for view in views for leaves in np.unique(np.count_nonzero(view.kinds, axis=1))}) > 1:
            found.append(Length())
    return found


def _step(values: Floats) -> int:
    """The power of two in which a number is measured: 1 for whole numbers, else a small part of the usual range."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0
    low, high = np.quantile(finite, (0.01, 0.99))
    whole = bool(np.all(finite == np.floor(finite)))
    spread = float(high - low)
    if whole and spread < LIMIT / 4:
        return 0
    size = spread or float(np.max(np.abs(finite))) or 1.0
    return min(max(math.floor(math.log2(size)) - _FINEST, -1000), 1000) if math.isfinite(size) else 0


# --- tables ----------------------------------------------------------------------------------------------------------


def _histogram(features: tuple[Feature, ...], columns: Integers, neighbours: Integers, bins: int) -> Histogram:
    """A table of log-ratios for each feature."""
    tables = [_table(columns[:, at], neighbours[:, at], bins) for at in range(len(features))]
    return Histogram(features, tuple(edges for edges, _ in tables), tuple(values for _, values in tables))


def _table(column: Integers, neighbours: Integers, bins: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Edges that divide the runs of both inputs into about equal bins, and the log-ratio in each bin."""
    both = np.sort(np.concatenate([column, neighbours]))
    picked = both[(np.arange(1, bins) * len(both)) // bins]
    edges = np.unique(np.concatenate([picked, [ABSENT + 1]]) if both[0] == ABSENT else picked)
    hits, neighbour_hits = (
        np.bincount(np.searchsorted(edges, some, side="right"), minlength=len(edges) + 1)
        for some in (column, neighbours)
    )
    values = _log_ratio(hits, neighbour_hits, len(column), len(neighbours))
    return tuple(edges.tolist()), tuple(values.tolist())


def _weighted(features: list[Feature], columns: Integers, neighbours: Integers) -> Histogram:
    """The sum of all features' tables with weights from logistic regression on runs that did not make the tables."""
    half, neighbour_half = len(columns) // 2, len(neighbours) // 2
    tables = _histogram(tuple(features), columns[:half], neighbours[:neighbour_half], _BINS_OF_LISTS)
    inputs = [_looked_up(tables, some) / _UNIT for some in (columns[half:], neighbours[neighbour_half:])]
    weights = _regression(*inputs)
    scaled = [
        tuple(np.clip(np.rint(np.array(values) * weight), -_MOST_SCORE, _MOST_SCORE).astype(np.int64).tolist())
        for values, weight in zip(tables.values, weights, strict=True)
    ]
    return Histogram(tables.features, tables.edges, tuple(scaled))


def _looked_up(tables: Histogram, columns: Integers) -> Floats:
    found = [
        np.array(values)[np.searchsorted(np.array(edges), columns[:, at], side="right")]
        for at, (edges, values) in enumerate(zip(tables.edges, tables.values, strict=True))
    ]
    return np.stack(found, axis=1).astype(np.float64)


def _regression(ones: Floats, zeros: Floats) -> Floats:
    """The weights of a logistic regression without intercept, by Newton's method with a small ridge."""
    inputs = np.concatenate([ones, zeros])
    wanted = np.concatenate([np.ones(len(ones)), np.zeros(len(zeros))])
    weights = np.zeros(inputs.shape[1])
    ridge = _RIDGE * max(len(inputs), 1) * np.eye(len(weights))
    for _ in range(_STEPS):
        share = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        gradient = inputs.T @ (wanted - share) - ridge @ weights
        curvature = (inputs * (share * (1 - share))[:, None]).T @ inputs + ridge
        weights = np.clip(weights + np.linalg.solve(curvature, gradient), -8, 8)
    return weights
