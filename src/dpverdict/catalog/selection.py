"""Mechanisms that select the largest of several scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpverdict import argmax, exp, maximum
from dpverdict.catalog.citations import (
    DING_ET_AL,
    DING_PERMUTE,
    DURFEE_ROGERS,
    DWORK_ROTH,
    MCKENNA_SHELDON,
    MCSHERRY_TALWAR,
)
from dpverdict.catalog.entry import Counterexample, Entry, Kind, Truth
from dpverdict.catalog.histogram import released
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


@mechanism
def noisy_maximum(noise: Noise, queries: Any, epsilon: Any) -> Any:
    """The index of the largest query after adding Laplace noise."""
    return argmax([noise.laplace(query, scale=2 / epsilon) for query in queries])


@mechanism
def noisy_maximum_exponential(noise: Noise, queries: Any, epsilon: Any) -> Any:
    """The index of the largest query after adding one-sided exponential noise."""
    return argmax([noise.exponential(2 / epsilon, loc=query) for query in queries])


@mechanism
def noisy_maximum_value(noise: Noise, queries: Any, epsilon: Any, edges: Sequence[float] | None = None) -> Any:
    """The largest noisy query itself."""
    return released(maximum([noise.laplace(query, scale=2 / epsilon) for query in queries]), edges)


@mechanism
def noisy_maximum_exponential_value(
    noise: Noise, queries: Any, epsilon: Any, edges: Sequence[float] | None = None
) -> Any:
    """The largest query after adding one-sided exponential noise, itself."""
    return released(maximum([noise.exponential(2 / epsilon, loc=query) for query in queries]), edges)


@mechanism
def gumbel_maximum(noise: Noise, queries: Any, epsilon: Any) -> Any:
    """The index of the largest query after adding Gumbel noise."""
    return argmax([noise.gumbel(query, scale=2 / epsilon) for query in queries])


@mechanism
def exponential_mechanism(noise: Noise, scores: Any, epsilon: Any) -> Any:
    """An index, drawn with probability proportional to exp(ε/2 · score)."""
    return noise.exponential_mechanism(scores, epsilon / 2)


@mechanism
def permute_and_flip(noise: Noise, scores: Any, epsilon: Any) -> Any:
    """The first index, in random order, whose coin falls right: probability exp(ε/2 · (score - best score))."""
    best, remaining = maximum(scores), list(range(len(scores)))
    while len(remaining) > 1:
        candidate = remaining.pop(int(noise.choice(len(remaining))))
        if noise.bernoulli(exp(epsilon / 2 * (scores[candidate] - best))):
            return candidate
    return remaining[0]


_ZEROS = (0, 0, 0, 0, 0)
_ONES = (1, 1, 1, 1, 1)
_MIXED = (1, -1, -1, -1, -1)

# Shared with the entries of the papers that look at these algorithms.
MAXIMUM_TRUTHS = (
    Truth(Kind.HOLDS, "holds (section 3.3, with the scale 2/epsilon for queries that may rise and fall)", DWORK_ROTH),
    Truth(
        Kind.EXACT,
        "epsilon is the supremum from two queries on: of two queries, one that is g behind is put out with probability "
        "(1/2 + g·epsilon/8)·exp(-g·epsilon/2)",
        about="any real queries, at least two",
        factor=Fraction(1),
    ),
    Truth(
        Kind.EXACT,
        "the exact loss for 3 queries in {-1, 0, 1} is epsilon",
        about="3 queries in {-1, 0, 1}",
        factor=Fraction(1),
    ),
)
EXPONENTIAL_TRUTHS = (
    Truth(Kind.HOLDS, "holds (section 3.3)", DWORK_ROTH),
    Truth(
        Kind.EXACT,
        "epsilon is the exact loss from two queries on: of two queries, one that is g behind is put out with "
        "probability exp(-g·epsilon/2)/2",
        about="any real queries, at least two",
        factor=Fraction(1),
    ),
    Truth(
        Kind.EXACT,
        "the exact loss for 2 queries in {-1, 0, 1} is epsilon",
        about="2 queries in {-1, 0, 1}",
        factor=Fraction(1),
    ),
)


def value_truths(length: int) -> tuple[Truth, ...]:
    """What is true of the noisy maximum's value for so many queries."""
    return (
        Truth(
            Kind.EXACT,
            f"{'fails' if length > 2 else 'holds'} with {length} queries: the exact loss with n queries is "
            "n·epsilon/2, in the event that the output is below all of them",
            DING_ET_AL,
            factor=Fraction(length, 2),
        ),
    )


EXPONENTIAL_VALUE_TRUTHS = (
    Truth(
        Kind.NOT_PRIVATE,
        "fails for every epsilon and any number of queries: the output is never below the largest query, so with one "
        "neighbour all of whose queries are lower there is an output that the other never gives",
        DING_ET_AL,
        value=math.inf,
    ),
)

ENTRIES = (
    Entry(
        name="noisy-maximum",
        title="Report noisy maximum (the index), Laplace noise",
        mechanism=noisy_maximum,
        paper=DWORK_ROTH,
        length=5,
        example=_ZEROS,
        neighbour=_MIXED,
        holds=True,
        truths=MAXIMUM_TRUTHS,
        notes="StatDP's algorithm 5",
    ),
    Entry(
        name="noisy-maximum-exponential",
        title="Report noisy maximum (the index), exponential noise",
        mechanism=noisy_maximum_exponential,
        paper=DWORK_ROTH,
        length=5,
        example=_ZEROS,
        neighbour=_MIXED,
        holds=True,
        truths=EXPONENTIAL_TRUTHS,
        notes="StatDP's algorithm 6",
    ),
    Entry(
        name="noisy-maximum-value",
        title="Report noisy maximum, but the value instead of the index",
        mechanism=noisy_maximum_value,
        paper=DING_ET_AL,
        length=5,
        example=_ONES,
        neighbour=_ZEROS,
        holds=False,
        truths=value_truths(5),
        counterexamples=(
            Counterexample((-1, -1, -1), (0, 0, 0), "the output is at most -1", "1/4", note="0.125 against 0.0859"),
        ),
        notes="StatDP's algorithm 7",
    ),
    Entry(
        name="noisy-maximum-exponential-value",
        title="Report noisy maximum with exponential noise, but the value instead of the index",
        mechanism=noisy_maximum_exponential_value,
        paper=DING_ET_AL,
        length=5,
        example=_ONES,
        neighbour=_ZEROS,
        holds=False,
        truths=EXPONENTIAL_VALUE_TRUTHS,
        counterexamples=(
            Counterexample((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), "the output is below 1", "1", note="the second never is"),
        ),
        notes="StatDP's algorithm 8",
    ),
    Entry(
        name="gumbel-maximum",
        title="Report noisy maximum (the index), Gumbel noise",
        mechanism=gumbel_maximum,
        paper=DURFEE_ROGERS,
        length=5,
        example=_ZEROS,
        neighbour=_MIXED,
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds: its output has the distribution of the exponential mechanism", DURFEE_ROGERS),
        ),
    ),
    Entry(
        name="exponential-mechanism",
        title="Exponential mechanism",
        mechanism=exponential_mechanism,
        paper=MCSHERRY_TALWAR,
        length=5,
        example=_ZEROS,
        neighbour=_MIXED,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds. The loss of a pair stays below epsilon and tends to it as the probability of the selected "
                "index tends to 0, so the supremum is epsilon",
                MCSHERRY_TALWAR,
                factor=Fraction(1),
            ),
        ),
        notes="the input is the vector of scores, each of sensitivity 1",
    ),
    Entry(
        name="permute-and-flip",
        title="Permute and flip",
        mechanism=permute_and_flip,
        paper=MCKENNA_SHELDON,
        length=3,
        example=(0, 0, 0),
        neighbour=(1, -1, -1),
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds (theorem 1)", MCKENNA_SHELDON),
            Truth(
                Kind.HOLDS,
                "its output has the distribution of the noisy maximum with exponential noise",
                DING_PERMUTE,
                about="the entry noisy-maximum-exponential",
            ),
        ),
        notes="the input is the vector of scores, each of sensitivity 1; 5 scores have 530 paths",
    ),
)
