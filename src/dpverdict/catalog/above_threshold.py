"""Variants of the sparse vector technique and of the noisy maximum that people build on."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from dpverdict import argmax, maximum, minimum
from dpverdict.catalog.citations import DING_FREE_GAP, DWORK_ROTH, LYU_SU_LI
from dpverdict.catalog.entry import Entry, Kind, Truth
from dpverdict.catalog.sparse_vector import compared_answers, compared_until
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


@mechanism
def above_threshold_discrete(noise: Noise, queries: Any, epsilon: Any, threshold: int = 0) -> list[Any]:
    """Whether each whole number is above the threshold, up to the first that is; discrete Laplace noise."""
    limit = noise.discrete_laplace(threshold, scale=2 / epsilon)
    answers = []
    for query in queries:
        above = noise.discrete_laplace(query, scale=4 / epsilon) >= limit
        answers.append(above)
        if above:
            break
    return answers


@mechanism
def above_threshold_monotone(
    noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0, stop_after: int = 1
) -> list[Any]:
    """The sparse vector technique with half the query noise, which is enough where all queries move one way."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    return compared_until(noise, queries, limit, 2 * stop_after / epsilon, stop_after)


@mechanism
def above_threshold_gap(noise: Noise, queries: Any, epsilon: Any, threshold: Any = 0) -> list[Any]:
    """The sparse vector technique for one hit, which says how far above the noisy threshold the noisy answer is."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    found = compared_answers(noise, queries, limit, 4 / epsilon)
    return [False if answer is None else answer - limit for answer in found]


@mechanism
def noisy_maximum_gap(noise: Noise, queries: Any, epsilon: Any) -> list[Any]:
    """The index of the largest noisy query, and how far it is ahead of the next."""
    noisy = [noise.laplace(query, scale=2 / epsilon) for query in queries]
    # Of any two one is not the largest, so the smaller ones have the second largest as their maximum.
    second = maximum([minimum(one, other) for one, other in combinations(noisy, 2)])
    return [argmax(noisy), maximum(noisy) - second]


ENTRIES = (
    Entry(
        name="above-threshold-discrete",
        title="Sparse vector technique for one hit, with whole numbers as noise",
        mechanism=above_threshold_discrete,
        paper=DWORK_ROTH,
        algorithm="AboveThreshold",
        domain="integer",
        length=3,
        example=(1, -1, 0),
        neighbour=(0, 0, -1),
        holds=True,
        truths=(
            Truth(
                Kind.HOLDS,
                "holds: the proof for Laplace noise (theorem 3.23) shifts noise by whole numbers only",
                DWORK_ROTH,
            ),
        ),
        notes="ties count as above; no floating-point number is ever released",
    ),
    Entry(
        name="above-threshold-monotone",
        title="Sparse vector technique for queries that all move in one direction",
        mechanism=above_threshold_monotone,
        paper=LYU_SU_LI,
        algorithm="Algorithm 7, monotonic queries",
        adjacency="monotone:1",
        length=5,
        example=(0, 0, 0, 1, 1),
        neighbour=(1, 1, 1, 2, 2),
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds for monotonic queries (theorem 5)", LYU_SU_LI),
            Truth(
                Kind.LOWER,
                "for queries that move both ways (linf:1) it fails: with threshold 0, ten queries and epsilon = "
                "0.7, nine of 0 and one of 1 against nine of 1 and one of 0 show more than 1.49·epsilon in the "
                "output nine times below, then above",
                about="neighbours under linf:1, ten queries",
                factor=Fraction(149, 100),
            ),
        ),
        notes="threshold noise 2/epsilon, query noise 2·stop_after/epsilon, half of what svt1 needs",
    ),
    Entry(
        name="above-threshold-gap",
        title="Sparse vector technique for one hit, with the gap to the threshold",
        mechanism=above_threshold_gap,
        paper=DING_FREE_GAP,
        length=5,
        example=(0, 0, 0, 1, 1),
        neighbour=(1, 1, 1, 0, 0),
        holds=True,
        truths=(Truth(Kind.HOLDS, "holds: the gap comes free of charge", DING_FREE_GAP),),
        notes="threshold noise 2/epsilon, query noise 4/epsilon",
    ),
    Entry(
        name="noisy-maximum-gap",
        title="Report noisy maximum (the index) with the gap to the next",
        mechanism=noisy_maximum_gap,
        paper=DING_FREE_GAP,
        length=5,
        example=(0, 0, 0, 0, 0),
        neighbour=(1, -1, -1, -1, -1),
        holds=True,
        truths=(Truth(Kind.HOLDS, "holds: the gap comes free of charge", DING_FREE_GAP),),
        notes="Laplace noise of scale 2/epsilon",
    ),
)
