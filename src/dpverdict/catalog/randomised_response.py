"""Randomised response: bits that are flipped with a probability in ε."""

from __future__ import annotations

from typing import Any

from dpverdict import exp
from dpverdict.catalog.citations import WARNER
from dpverdict.catalog.entry import Entry
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


@mechanism
def randomised_response(noise: Noise, bits: Any, epsilon: Any) -> list[Any]:
    """Every bit, flipped with probability 1/(1 + exp(ε))."""
    answers = []
    for bit in bits:
        flipped = noise.bernoulli(1 / (1 + exp(epsilon)))
        answers.append(bit != flipped)
    return answers


ENTRIES = (
    Entry(
        name="randomised-response",
        title="Randomised response on a vector of bits",
        mechanism=randomised_response,
        paper=WARNER,
        claim="pure:epsilon, substitute:1",
        truth="holds, and epsilon is the exact loss (Warner 1965; Dwork, Roth 2014, section 3.2). When all n bits may "
        "change, it is n·epsilon",
        vector=True,
        example=(0, 1),
        neighbour=(1, 1),
        published="DiPC (Rand1) decides it; the variant that flips with probability (1 - epsilon)/2 (Rand2) is refuted",
        notes="entries are 0 or 1; answers are booleans",
    ),
)
