"""Programs for tests of the exact decision, and an independent evaluation of what they need."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from dpverdict import mechanism
from dpverdict.claim import Claim, from_arguments
from dpverdict.evidence.verify.comparisons import Space
from dpverdict.evidence.verify.sets import SetComparison
from dpverdict.reading.exact.exact_program import ExactProgram


@mechanism
def sparse(noise: Any, queries: Any, epsilon: Any, stop_after: int = 1) -> list[Any]:
    """Sparse with σ = ε/2: threshold noise 2/ε, drawn again after a hit, and query noise 4/ε."""
    limit, hits, answers = noise.laplace(0, scale=2 / epsilon), 0, []
    for query in queries:
        above = noise.laplace(query, scale=4 / epsilon) >= limit
        answers.append(above)
        if above:
            hits += 1
            if hits >= stop_after:
                break
            limit = noise.laplace(0, scale=2 / epsilon)
    return answers


@mechanism
def binned(noise: Any, value: Any, epsilon: Any, scale: Any = 1, cuts: Any = (-1, 0, 1)) -> list[Any]:
    """Which cuts a noisy value reaches."""
    noisy = noise.laplace(value, scale=scale / epsilon)
    return [noisy >= cut for cut in cuts]


@mechanism
def binned_pair(noise: Any, values: Any, epsilon: Any, scale: Any = 1, cuts: Any = (0, 1)) -> list[Any]:
    """Which cuts each noisy value reaches."""
    noisy = [noise.laplace(value, scale=scale / epsilon) for value in values]
    return [one >= cut for one in noisy for cut in cuts]


@mechanism
def binned_whole(noise: Any, value: Any, epsilon: Any, cuts: Any = (-1, 0, 1)) -> list[Any]:
    """The same with integer noise, whose probabilities are quotients."""
    noisy = noise.discrete_laplace(value, scale=1 / epsilon)
    return [noisy >= cut for cut in cuts]


@mechanism
def inverse(noise: Any, value: Any, epsilon: Any) -> Any:
    """Noise of scale ε instead of 1/ε."""
    return noise.laplace(value, scale=epsilon) >= 0


@mechanism
def blurred(noise: Any, queries: Any, epsilon: Any, honest: Fraction = Fraction(49, 50)) -> list[Any]:
    """Two comparisons with one noisy threshold, or sometimes coins: its loss is largest at an inner ε."""
    limit = noise.laplace(0, scale=2 / epsilon)
    answers = [noise.laplace(query, scale=2 / epsilon) >= limit for query in queries]
    coins = [noise.bernoulli(Fraction(1, 2)) for _ in queries]
    return answers if noise.bernoulli(honest) else coins


@mechanism
def ignoring(noise: Any, value: Any, epsilon: Any) -> Any:
    """The same whatever the input is."""
    return noise.laplace(0, scale=1 / epsilon) >= 1


@mechanism
def sometimes(noise: Any, value: Any, epsilon: Any) -> Any:
    """Only the input 1 can give 1, with probability e^{-ε}/2."""
    return noise.laplace(0, scale=1 / epsilon) >= 1 if value >= 1 else False


@mechanism
def turning(noise: Any, value: Any, epsilon: Any) -> Any:
    """At t = 1/2, the input 1 needs δ ≥ ε·e^{-ε}/4, which is largest at ε = 1."""
    one, other = noise.laplace(0, scale=1 / epsilon), noise.laplace(0, scale=1 / epsilon)
    return one + other >= 1 if value >= 1 else one >= Fraction(3, 2)


@mechanism
def switching(noise: Any, value: Any, epsilon: Any) -> Any:
    """Noise of scale 1/ε, but half as much where ε exceeds 1."""
    scale = 1 / epsilon if epsilon <= 1 else 1 / (2 * epsilon)
    return noise.laplace(value, scale=scale) >= 0


def space_of(subject: Any, claim: Claim, arguments: dict[str, Any] | None = None, *, prune: bool = True) -> Space:
    """The exact programs of a mechanism on the inputs of a claim."""
    given = arguments or {}
    return Space(claim, lambda value: ExactProgram.of(subject.program_for(value, given)), prune)


def claim_of(**given: Any) -> Claim:
    """A claim about numbers, neighbours being at most 1 apart in each place."""
    return from_arguments(**{"adjacency": "linf:1", **given})


def needed(comparison: SetComparison, factor: Fraction, epsilon: Fraction, bits: int = 160) -> arb:
    """Σ max(p - e^{tε}·p', 0): the least δ for a pair of neighbours at one ε (the unit being ε)."""
    with ctx.workprec(bits):
        growth = arb(fmpq(factor.numerator, factor.denominator) * fmpq(epsilon.numerator, epsilon.denominator)).exp()
        total = arb(0)
        for one in comparison.chances:
            here, there = one.probability.value(epsilon, bits), one.neighbour_probability.value(epsilon, bits)
            excess = here - growth * there
            total += excess.max(arb(0))
        return total


def grid(low: Fraction = Fraction(1, 64), high: Fraction = Fraction(64), steps: int = 60) -> Iterable[Fraction]:
    """Rational ε between two ends, at about equal ratios."""
    ratio = float(high / low) ** (1 / steps)
    return [low, *(Fraction(float(low) * ratio**step).limit_denominator(1000) for step in range(1, steps)), high]
