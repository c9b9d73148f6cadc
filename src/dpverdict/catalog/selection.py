"""Mechanisms that select the largest of several scores."""

from __future__ import annotations

from typing import Any

from dpverdict import argmax, maximum
from dpverdict.catalog.citations import DING_ET_AL, DURFEE_ROGERS, DWORK_ROTH, MCSHERRY_TALWAR
from dpverdict.catalog.entry import Entry
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
def noisy_maximum_value(noise: Noise, queries: Any, epsilon: Any) -> Any:
    """The largest noisy query itself."""
    return maximum([noise.laplace(query, scale=2 / epsilon) for query in queries])


@mechanism
def gumbel_maximum(noise: Noise, queries: Any, epsilon: Any) -> Any:
    """The index of the largest query after adding Gumbel noise."""
    return argmax([noise.gumbel(query, scale=2 / epsilon) for query in queries])


@mechanism
def exponential_mechanism(noise: Noise, scores: Any, epsilon: Any) -> Any:
    """An index, drawn with probability proportional to exp(ε/2 · score)."""
    return noise.exponential_mechanism(scores, epsilon / 2)


_ZEROS = (0, 0, 0, 0, 0)
_ONES = (1, 1, 1, 1, 1)
_MIXED = (1, -1, -1, -1, -1)

ENTRIES = (
    Entry(
        name="noisy-maximum",
        title="Report noisy maximum (the index), Laplace noise",
        mechanism=noisy_maximum,
        paper=DWORK_ROTH,
        claim="pure:epsilon, linf:1",
        truth="holds (Dwork, Roth 2014, section 3.3, with the scale 2/epsilon for queries that may rise and fall). "
        "The exact loss for 3 queries in {-1, 0, 1} is epsilon",
        vector=True,
        example=_ZEROS,
        neighbour=_MIXED,
        published="DP-Sniper (ReportNoisyMax1), epsilon = 0.1: at least 0.0925; StatDP-Fixed: 0.0921; DiPC (NMax1) "
        "proves it for 3 queries",
        notes="StatDP's algorithm 5",
    ),
    Entry(
        name="noisy-maximum-exponential",
        title="Report noisy maximum (the index), exponential noise",
        mechanism=noisy_maximum_exponential,
        paper=DWORK_ROTH,
        claim="pure:epsilon, linf:1",
        truth="holds (Dwork, Roth 2014, section 3.3). The exact loss for 2 queries in {-1, 0, 1} is epsilon",
        vector=True,
        example=_ZEROS,
        neighbour=_MIXED,
        published="DP-Sniper (ReportNoisyMax2), epsilon = 0.1: at least 0.0979; StatDP-Fixed: 0.0997; DiPC (NMax2) "
        "proves it for 3 queries",
        notes="StatDP's algorithm 6",
    ),
    Entry(
        name="noisy-maximum-value",
        title="Report noisy maximum, but the value instead of the index",
        mechanism=noisy_maximum_value,
        paper=DING_ET_AL,
        claim="pure:epsilon, linf:1",
        truth="fails from 3 queries on: the exact loss with n queries is n·epsilon/2, in the event that the output is "
        "below all of them (1/2, 3/2 and 5/2 times epsilon at n = 1, 3, 5)",
        vector=True,
        example=_ONES,
        neighbour=_ZEROS,
        published="DP-Sniper (ReportNoisyMax3), epsilon = 0.1, 5 queries: at least 0.2488 (exact 0.25); "
        "StatDP-Fixed: 0.1991; DiPC (NMax3) refutes it with 3 queries",
        notes="StatDP's algorithm 7",
    ),
    Entry(
        name="gumbel-maximum",
        title="Report noisy maximum (the index), Gumbel noise",
        mechanism=gumbel_maximum,
        paper=DURFEE_ROGERS,
        claim="pure:epsilon, linf:1",
        truth="holds: its output has the distribution of the exponential mechanism (Durfee, Rogers 2019)",
        vector=True,
        example=_ZEROS,
        neighbour=_MIXED,
        published="",
        notes="",
    ),
    Entry(
        name="exponential-mechanism",
        title="Exponential mechanism",
        mechanism=exponential_mechanism,
        paper=MCSHERRY_TALWAR,
        claim="pure:epsilon, linf:1",
        truth="holds (McSherry, Talwar 2007). The loss stays below epsilon and tends to it as the probability of the "
        "selected index tends to 0",
        vector=True,
        example=_ZEROS,
        neighbour=_MIXED,
        published="",
        notes="the input is the vector of scores, each of sensitivity 1",
    ),
)
