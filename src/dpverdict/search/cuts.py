"""Where to cut a ranking: at the levels that let the confirmation expect the best bound.

A plan in floating point, and no evidence.  The share of right hits that the choosing runs show is lowered by 4.5
standard deviations first, as the best of many cuts looks better than it is, and then by what the confirmation's own
bound will cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpverdict.claim.guarantee import Approximate
from dpverdict.search.rankings import Levels

PENALTY = 4.5
_MOST_LEVELS = 96
_FEW_LEVELS = 32

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Aim:
    """What the confirmation is for: promises of which one is to be refuted, and the runs and the error it will have."""

    promises: tuple[Approximate, ...]
    two_sided: bool
    runs: int
    alpha: Fraction

    @property
    def deviations(self) -> float:
        """How many standard deviations the confirmation's bound costs."""
        return -NormalDist().inv_cdf(max(float(self.alpha), 1e-300))


@dataclass(frozen=True, slots=True)
class Cut:
    """The levels of both sides, by how much the promise should be exceeded, and how often a run is a hit."""

    above: int
    below: int
    promise: Approximate
    gain: float
    hit_rate: float


def best_cuts(levels: Levels, neighbour_levels: Levels, aim: Aim, most: float = 1.0) -> list[Cut]:
    """For each promise the cut with the largest gain among those that at most this share of the runs hits."""
    thresholds = _thresholds(np.concatenate([levels, neighbour_levels]))
    if not len(thresholds):
        return []
    plus, neighbour_plus = (_above(some, thresholds) for some in (levels, neighbour_levels))
    minus, neighbour_minus = (_below(some, thresholds) for some in (levels, neighbour_levels))
    if aim.two_sided:
        right, wrong = plus[:, None] + neighbour_minus[None, :], neighbour_plus[:, None] + minus[None, :]
        # {level > above} and {level < below} are disjoint if below ≤ above + 1.
        allowed = thresholds[None, :] <= thresholds[:, None] + 1
    else:
        right, wrong = plus[:, None], neighbour_plus[:, None]
        allowed = np.ones(right.shape, dtype=np.bool_)
    hits = right + wrong
    hit_rate = hits / (len(levels) + len(neighbour_levels))
    found = list[Cut]()
    for promise in aim.promises:
        usable = allowed & (hits > 0) & (hit_rate <= most)
        gains = np.where(usable, _gains(right, hits, hit_rate, aim, promise), -np.inf)
        at, under = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if np.isfinite(gains[at, under]):
            above, below = int(thresholds[at]), int(thresholds[under]) if aim.two_sided else int(thresholds[0])
            found.append(Cut(above, below, promise, float(gains[at, under]), float(hit_rate[at, under])))
    return found


def _gains(right: Floats, hits: Floats, hit_rate: Floats, aim: Aim, promise: Approximate) -> Floats:
    """By how much the bound on ε is expected to exceed the promised ε."""
    safe = np.maximum(hits, 1)
    lowered = _lowered(right / safe, safe, PENALTY)
    share = _lowered(lowered, np.maximum(hit_rate * aim.runs, 1e-9), aim.deviations)
    explained = float(promise.delta) if aim.two_sided else float(promise.delta) / 2
    slack = explained / _lowered(hit_rate, np.full(hit_rate.shape, float(aim.runs)), aim.deviations)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.log((share - slack) / (1 - share))
    return np.where(np.isnan(bound), -np.inf, bound) - float(promise.epsilon)


def _lowered(share: Floats, trials: Floats, deviations: float) -> Floats:
    """The lower end of Wilson's interval [wilson1927probable], which does not collapse where all or none are hits."""
    square = deviations * deviations / trials
    middle = share + square / 2
    width = deviations * np.sqrt(np.maximum(share * (1 - share) / trials, 0) + square / trials / 4)
    return np.asarray(np.clip((middle - width) / (1 + square), 1e-300, 1 - 1e-12))


def _thresholds(levels: Levels) -> Levels:
    """Levels to cut at, from one below the lowest to one above the highest: all of them, or quantiles."""
    present = np.unique(levels)
    if len(present) > _MOST_LEVELS:
        ordered = np.sort(levels)
        present = np.unique(ordered[np.linspace(0, len(ordered) - 1, _MOST_LEVELS).astype(np.int64)])
    if not len(present):
        return present
    if len(present) > _FEW_LEVELS:
        return present
    # Both sides of every level: {> level} and {< level} leave it out, {> level - 1} and {< level + 1} do not.
    return np.unique(np.concatenate([present - 1, present, present + 1]))


def _above(levels: Levels, thresholds: Levels) -> Floats:
    return (len(levels) - np.searchsorted(np.sort(levels), thresholds, side="right")).astype(np.float64)


def _below(levels: Levels, thresholds: Levels) -> Floats:
    return np.searchsorted(np.sort(levels), thresholds, side="left").astype(np.float64)
