"""Scores: one whole number for each outcome, larger where it is more likely on a than on a′; as data.

A classifier is trained in floating point and then quantised into one of these.  All arithmetic is on 64-bit integers
and cannot overflow within the limits that are checked here, so a score is the same in every batch, on every machine.

    Histogram   a table for each feature; the score is the sum of the entries
    Linear      Σ weight · feature
    Network     layers of weights with rectifiers in between
    Trees       the sum of the leaves that are reached
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, assert_never

import numpy as np

from dpverdict.evidence.features import ABSENT, LIMIT, Feature, Integers, check_whole, extract, unusable
from dpverdict.evidence.leaves import Leaves

MOST_PARTS = 1 << 10
"""The most features, trees, and outputs of a layer."""

MOST_WEIGHT = 1 << 20
MOST_SIGNAL = 1 << 31
"""What goes into a weighted sum is cut to this size: 2^10 · 2^20 · 2^31 + 2^52 < 2^63."""

_MOST_BIAS = 1 << 52
_MOST_BINS = 1 << 16
_MOST_SHIFT = 40


@dataclass(frozen=True, slots=True)
class Histogram:
    """For each feature rising edges and one more value: values[i] where edges[i-1] ≤ x < edges[i]."""

    features: tuple[Feature, ...]
    edges: tuple[tuple[int, ...], ...]
    values: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _check_number("features", self.features)
        if not len(self.features) == len(self.edges) == len(self.values):
            raise unusable("edges", len(self.edges), "each feature has edges and values", "one table per feature")
        for edges, values in zip(self.edges, self.values, strict=True):
            check_whole("number of values", len(values), 1, _MOST_BINS)
            check_whole("number of edges", len(edges), len(values) - 1, len(values) - 1)
            _check_all("values", values, LIMIT)
            _check_all("edges", edges, LIMIT + 1)
            if any(after <= before for before, after in pairwise(edges)):
                raise unusable("edges", edges, "edges rise", "(-1, 0, 1)")


@dataclass(frozen=True, slots=True)
class Linear:
    """Σ weight · feature.  An absent feature counts as 0; `KindOf` or `Special` can tell it apart."""

    features: tuple[Feature, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_number("features", self.features)
        if len(self.weights) != len(self.features):
            raise unusable("weights", len(self.weights), "each feature has a weight", "one weight per feature")
        _check_all("weights", self.weights, MOST_WEIGHT)


@dataclass(frozen=True, slots=True)
class Layer:
    """For each output a row of weights and a bias: (Σ weight · input + bias) / 2^shift, rounded down."""

    weights: tuple[tuple[int, ...], ...]
    biases: tuple[int, ...]
    shift: int

    def __post_init__(self) -> None:
        _check_number("weights", self.weights)
        if len(self.biases) != len(self.weights):
            raise unusable("biases", len(self.biases), "each output has a bias", "one bias per row of weights")
        for row in self.weights:
            _check_all("weights", row, MOST_WEIGHT)
        _check_all("biases", self.biases, _MOST_BIAS)
        check_whole("shift", self.shift, 0, _MOST_SHIFT)


@dataclass(frozen=True, slots=True)
class Network:
    """Layers; what one passes to the next is cut to between 0 and 2^31, the last one's only output is the score."""

    features: tuple[Feature, ...]
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        _check_number("features", self.features)
        _check_number("layers", self.layers)
        inputs = len(self.features)
        for layer in self.layers:
            if any(len(row) != inputs for row in layer.weights):
                raise unusable("weights", layer.weights, "a row has a weight for each input", f"{inputs} weights")
            inputs = len(layer.weights)
        check_whole("number of outputs", inputs, 1, 1)


@dataclass(frozen=True, slots=True)
class Tree:
    """Inner node i asks whether feature `asks[i]` is at most `thresholds[i]`, and goes to `yes[i]`, or else `no[i]`.

    A number n ≥ 0 is an inner node, behind the one that goes there; -n - 1 is the leaf n, whose value is
    `leaves[n]`.  The root is node 0; a tree without inner nodes is its first leaf.
    """

    asks: tuple[int, ...]
    thresholds: tuple[int, ...]
    yes: tuple[int, ...]
    no: tuple[int, ...]
    leaves: tuple[int, ...]

    def __post_init__(self) -> None:
        nodes = len(self.asks)
        if not nodes == len(self.thresholds) == len(self.yes) == len(self.no):
            raise unusable("asks", self.asks, "the arrays of a tree have an entry for each inner node", "equal lengths")
        check_whole("number of leaves", len(self.leaves), 1, _MOST_BINS)
        check_whole("number of nodes", nodes, 0, _MOST_BINS)
        _check_all("leaves", self.leaves, LIMIT)
        _check_all("thresholds", self.thresholds, LIMIT + 1)
        for at in range(nodes):
            check_whole("asks", self.asks[at], 0, MOST_PARTS)
            for target in (self.yes[at], self.no[at]):
                check_whole("yes and no", target, -len(self.leaves), nodes - 1)
                if 0 <= target <= at:
                    raise unusable("yes and no", target, "a path goes forward, so that it ends", f"above {at}")


@dataclass(frozen=True, slots=True)
class Trees:
    """The sum of trees."""

    features: tuple[Feature, ...]
    trees: tuple[Tree, ...]

    def __post_init__(self) -> None:
        _check_number("features", self.features)
        _check_number("trees", self.trees)
        for tree in self.trees:
            if any(ask >= len(self.features) for ask in tree.asks):
                raise unusable("asks", max(tree.asks), "a tree asks for features that there are", "a feature's place")


Score: TypeAlias = Histogram | Linear | Network | Trees


def score(what: Score, runs: Leaves) -> Integers:
    """The score of every run."""
    return score_of(what, extract(what.features, runs))


def score_of(what: Score, features: Integers) -> Integers:
    """The scores that features give: one row per run, one column per feature."""
    match what:
        case Histogram(_, edges, values):
            return _looked_up(features, edges, values)
        case Linear(_, weights):
            return _signal(features) @ np.array(weights, dtype=np.int64)
        case Network(_, layers):
            return _passed_on(_signal(features), layers)
        case Trees(_, trees):
            total = np.zeros(len(features), dtype=np.int64)
            for tree in trees:
                total += _reached(features, tree)
            return total
        case _:
            assert_never(what)


def _signal(features: Integers) -> Integers:
    return np.clip(np.where(features == ABSENT, 0, features), -MOST_SIGNAL, MOST_SIGNAL)


def _looked_up(features: Integers, edges: Sequence[Sequence[int]], values: Sequence[Sequence[int]]) -> Integers:
    total = np.zeros(len(features), dtype=np.int64)
    for at in range(features.shape[1]):
        bins = np.searchsorted(np.array(edges[at], dtype=np.int64), features[:, at], side="right")
        total += np.array(values[at], dtype=np.int64)[bins]
    return total


def _passed_on(signal: Integers, layers: Sequence[Layer]) -> Integers:
    for at, layer in enumerate(layers):
        weights, biases = np.array(layer.weights, dtype=np.int64), np.array(layer.biases, dtype=np.int64)
        signal = (signal @ weights.T + biases) >> layer.shift
        if at < len(layers) - 1:
            signal = np.clip(signal, 0, MOST_SIGNAL)
    return signal[:, 0]


def _reached(features: Integers, tree: Tree) -> Integers:
    leaves = np.array(tree.leaves, dtype=np.int64)
    runs = np.arange(len(features))
    if not tree.asks:
        return leaves[np.zeros(len(runs), dtype=np.int64)]
    asks, thresholds = np.array(tree.asks), np.array(tree.thresholds, dtype=np.int64)
    yes, no = np.array(tree.yes), np.array(tree.no)
    place = np.zeros(len(runs), dtype=np.int64)
    while len(inner := runs[place >= 0]):
        node = place[inner]
        place[inner] = np.where(features[inner, asks[node]] <= thresholds[node], yes[node], no[node])
    return leaves[-place - 1]


def _check_number(name: str, parts: Sequence[object]) -> None:
    check_whole(f"number of {name}", len(parts), 1, MOST_PARTS)


def _check_all(name: str, values: Sequence[int], limit: int) -> None:
    for value in values:
        check_whole(name, value, -limit, limit)
