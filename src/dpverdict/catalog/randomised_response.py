"""Answers about one's own value that are randomised before they are given: local differential privacy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpverdict import choose, exp
from dpverdict.catalog.citations import KAIROUZ_OH_VISWANATH, RAVI, WANG_LOCAL, WARNER
from dpverdict.catalog.entry import Counterexample, Entry, Kind, Truth
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


@mechanism
def linear_response(noise: Noise, bits: Any, epsilon: Any) -> list[Any]:
    """Every bit, flipped with probability (1 - ε)/2; that is one for ε up to 1 only."""
    return [bit != noise.bernoulli((1 - epsilon) / 2) for bit in bits]


@mechanism
def k_randomised_response(noise: Noise, value: Any, epsilon: Any, options: int = 5) -> Any:
    """One of the numbers below `options`: the true one exp(ε) times as probable as each other one."""
    return noise.exponential_mechanism([value == option for option in range(options)], epsilon)


@mechanism
def symmetric_unary_encoding(noise: Noise, value: Any, epsilon: Any, options: int = 5) -> list[Any]:
    """One bit for each option, set for the value's own; each flipped with probability 1/(1 + exp(ε/2))."""
    answers = []
    for option in range(options):
        flipped = noise.bernoulli(1 / (1 + exp(epsilon / 2)))
        answers.append((value == option) != flipped)
    return answers


@mechanism
def optimised_unary_encoding(noise: Noise, value: Any, epsilon: Any, options: int = 5) -> list[Any]:
    """One bit for each option: a fair coin for the value's own, set with probability 1/(1 + exp(ε)) for the others."""
    answers = []
    for option in range(options):
        fair, rare = noise.bernoulli(1 / 2), noise.bernoulli(1 / (1 + exp(epsilon)))
        answers.append(choose(value == option, fair, rare))
    return answers


ENTRIES = (
    Entry(
        name="randomised-response",
        title="Randomised response on a vector of bits",
        mechanism=randomised_response,
        paper=WARNER,
        adjacency="substitute:1",
        domain="0,1",
        length=2,
        example=(0, 1),
        neighbour=(1, 1),
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss (Warner's survey; the calibration is in Dwork, Roth 2014, "
                "section 3.2)",
                WARNER,
                factor=Fraction(1),
            ),
            Truth(
                Kind.EXACT,
                "when all n bits may change, it is n·epsilon",
                about="any neighbours, two bits",
                factor=Fraction(2),
            ),
        ),
        notes="entries are 0 or 1; answers are booleans",
    ),
    Entry(
        name="linear-response",
        title="Randomised response with a probability that is linear in epsilon (wrong)",
        mechanism=linear_response,
        paper=RAVI,
        adjacency="substitute:1",
        domain="0,1",
        length=2,
        epsilon="0,1",
        example=(0, 1),
        neighbour=(1, 1),
        holds=False,
        truths=(
            Truth(
                Kind.EXACT,
                "the exact loss is log((1 + epsilon)/(1 - epsilon)), which is above epsilon for every epsilon up to 1; "
                "at 1 the answers are the truth",
                RAVI,
                loss="log((1+epsilon)/(1-epsilon))",
            ),
        ),
        counterexamples=(Counterexample((0, 0), (1, 0), (False, False), "1/2", note="ratio exp(1.0986) = 3"),),
        notes="entries are 0 or 1; above epsilon = 1 there is no such probability, and the mechanism raises ValueError",
    ),
    Entry(
        name="k-randomised-response",
        title="Randomised response among k options",
        mechanism=k_randomised_response,
        paper=KAIROUZ_OH_VISWANATH,
        adjacency="any",
        domain="integer:0,4",
        example=0,
        neighbour=1,
        holds=True,
        truths=(Truth(Kind.EXACT, "holds, and epsilon is the exact loss", KAIROUZ_OH_VISWANATH, factor=Fraction(1)),),
        notes="the value is one of 0 to options - 1",
    ),
    Entry(
        name="symmetric-unary-encoding",
        title="Unary encoding with equal error rates (basic RAPPOR)",
        mechanism=symmetric_unary_encoding,
        paper=WANG_LOCAL,
        adjacency="any",
        domain="integer:0,4",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss: two values differ in two bits of epsilon/2 each",
                WANG_LOCAL,
                factor=Fraction(1),
            ),
        ),
        notes="the value is one of 0 to options - 1",
    ),
    Entry(
        name="optimised-unary-encoding",
        title="Unary encoding with the error rates of least variance",
        mechanism=optimised_unary_encoding,
        paper=WANG_LOCAL,
        adjacency="any",
        domain="integer:0,4",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss: log(p(1 - q)/((1 - p)q)) with p = 1/2, q = 1/(1 + exp(epsilon))",
                WANG_LOCAL,
                factor=Fraction(1),
            ),
        ),
        notes="the value is one of 0 to options - 1",
    ),
)
