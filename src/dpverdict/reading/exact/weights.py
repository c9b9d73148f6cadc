"""The probability of a region on one input: the product of its choices and of its connected comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.errors import UnreadableError
from dpverdict.mechanism import algebra
from dpverdict.mechanism.laws import (
    Bernoulli,
    DiscreteLaplace,
    Exponential,
    ExponentialMechanism,
    FiniteChoice,
    Laplace,
    TruncatedDiscreteLaplace,
    TruncatedGeometric,
    Uniform,
)
from dpverdict.mechanism.properties import inputs_in
from dpverdict.mechanism.structure import Law, Term
from dpverdict.reading.exact.components import Memo, probability_of_all
from dpverdict.reading.exact.densities import Density, Even, Geometric, OneSided, Ranged, TwoSided, WholeDensity
from dpverdict.reading.exact.exponential import ONE, Quotient
from dpverdict.reading.exact.exponential import Exponential as Polynomial
from dpverdict.reading.exact.numbers import Unit, at_input, exponential_of, quotient_at, rate_at, rational_at
from dpverdict.reading.exact.regions import Choice, LinearComparison, Noise, Pattern, Region

_SCALED = Laplace | Exponential | DiscreteLaplace | TruncatedDiscreteLaplace | TruncatedGeometric

Place: TypeAlias = tuple[Pattern, int]
"""A region: its pattern, and which of the pattern's regions it is."""


@dataclass(frozen=True, slots=True)
class Block:
    """Draws that a region's comparisons connect, with the comparisons."""

    noise: tuple[Noise, ...]
    comparisons: tuple[LinearComparison, ...]
    terms: tuple[tuple[tuple[int, Fraction], ...], ...]


@dataclass(frozen=True, slots=True)
class Solver:
    """The regions of a program, cut into independent blocks."""

    blocks: Mapping[Place, tuple[Block, ...]]
    choices: Mapping[Place, tuple[Choice, ...]]
    arguments: Mapping[str, object]

    def probability(self, place: Place, given: Any, unit: Unit, memo: Memo) -> Quotient:
        """The probability of a region on an input."""
        total: Quotient | None = None
        for choice in self.choices[place]:
            part = self._weight(choice, given, unit, memo)
            total = part if total is None else total * part
        for block in self.blocks[place]:
            part = self._block(block, given, memo)
            total = part if total is None else total * part
        return Quotient(ONE) if total is None else total

    def _block(self, block: Block, given: Any, memo: Memo) -> Quotient:
        densities = tuple(self._density(noise.law, given, memo) for noise in block.noise)
        inequalities = [
            (terms, rational_at(one.offset, given, self.arguments), one.strict)
            for terms, one in zip(block.terms, block.comparisons, strict=True)
        ]
        return probability_of_all(densities, inequalities, memo)

    def _density(self, law: Law, given: Any, memo: Memo) -> Density | WholeDensity:
        known: Density | WholeDensity | None = memo.get(law)
        if known is None:
            known = density_of(law, given, self.arguments)
            if not any(inputs_in(parameter) for parameter in law.parameters):
                memo[law] = known
        return known

    def _weight(self, choice: Choice, given: Any, unit: Unit, memo: Memo) -> Quotient:
        law = choice.noise.law
        settled = law.with_parameters(tuple(at_input(term, given, self.arguments) for term in law.parameters))
        at = (settled, unit)
        if at not in memo:
            memo[at] = weights_of(settled, unit)
        found: Quotient = memo[at][choice.position]
        return found


def prepared(regions: Mapping[Pattern, Sequence[Region]], arguments: Mapping[str, object]) -> Solver:
    """Cut every region into blocks that share no noise."""
    blocks: dict[Place, tuple[Block, ...]] = {}
    choices: dict[Place, tuple[Choice, ...]] = {}
    for pattern, listed in regions.items():
        for number, region in enumerate(listed):
            blocks[pattern, number] = tuple(_blocks(region))
            choices[pattern, number] = region.choices
    return Solver(blocks, choices, arguments)


def _blocks(region: Region) -> list[Block]:
    groups: list[tuple[set[Noise], list[LinearComparison]]] = []
    for comparison in region.comparisons:
        noise, listed = {one for one, _ in comparison.terms}, [comparison]
        apart = []
        for group in groups:
            if group[0] & noise:
                noise |= group[0]
                listed = group[1] + listed
            else:
                apart.append(group)
        groups = [*apart, (noise, listed)]
    return [_block_of(listed) for _, listed in groups]


def _block_of(comparisons: Sequence[LinearComparison]) -> Block:
    noise = tuple(dict.fromkeys(one for comparison in comparisons for one, _ in comparison.terms))
    place = {one: at for at, one in enumerate(noise)}
    terms = tuple(tuple((place[one], c) for one, c in comparison.terms) for comparison in comparisons)
    return Block(noise, tuple(comparisons), terms)


def units_in(solver: Solver, given: Any) -> set[Unit]:
    """The units of all rates that comparisons need."""
    laws = {noise.law for blocks in solver.blocks.values() for block in blocks for noise in block.noise}
    return {rate_at(law.scale, given, solver.arguments)[1] for law in laws if isinstance(law, _SCALED)}


# --- laws -----------------------------------------------------------------------------------------------------------


def density_of(law: Law, given: Any, arguments: Mapping[str, object]) -> Density | WholeDensity:
    """A law around its location, or (where it is bounded) as it stands."""
    match law:
        case Laplace(_, scale):
            return TwoSided(rate_at(scale, given, arguments)[0], Fraction(0))
        case Exponential(_, scale):
            return OneSided(rate_at(scale, given, arguments)[0], Fraction(0), True)
        case Uniform(low, high):
            return Even(rational_at(low, given, arguments), rational_at(high, given, arguments))
        case DiscreteLaplace(location, scale):
            return Geometric(rate_at(scale, given, arguments)[0], _whole_at(location, given, arguments))
        case TruncatedDiscreteLaplace(location, scale, low, high) | TruncatedGeometric(location, scale, low, high):
            placed, least, most = (_whole_at(term, given, arguments) for term in (location, low, high))
            rate = rate_at(scale, given, arguments)[0]
            return Ranged(rate, placed, least, most, isinstance(law, TruncatedGeometric))
        case _:
            raise UnreadableError(
                "EXACT-013",
                f"noise with the law {law.name}",
                why="its probabilities are no exponential polynomials in ε",
                fix="Laplace, exponential, uniform or discrete Laplace noise, or choices among few values",
            )


def _whole_at(term: Term, given: Any, arguments: Mapping[str, object]) -> Fraction:
    value = rational_at(term, given, arguments)
    if value.denominator != 1:
        raise UnreadableError(
            "EXACT-020",
            f"whole noise that is placed at {value}",
            why="the location and the range of a discrete law are whole numbers",
            fix="an input of whole numbers",
        )
    return value


def weights_of(law: Law, unit: Unit) -> tuple[Quotient, ...]:
    """The probabilities of a law's values; its parameters are free of noise and inputs."""
    match law:
        case Bernoulli(probability):
            yes = quotient_at(probability, unit, None, {}).cancelled()
            return (Quotient(ONE) - yes, yes)
        case FiniteChoice(_, weights):
            return _shares([quotient_at(weight, unit, None, {}) for weight in weights])
        case ExponentialMechanism(_, rate, scores):
            exponents = [algebra.multiply(rate, score) for score in scores]
            return _shares([exponential_of(quotient_at(one, unit, None, {}), unit, one) for one in exponents])
        case _:
            raise AssertionError(f"a law without weights: {law.name}")


def _shares(weights: Sequence[Quotient]) -> tuple[Quotient, ...]:
    total = Quotient(Polynomial.zero())
    for weight in weights:
        total = total + weight
    total = total.cancelled()
    return tuple((weight * Quotient(total.denominator, total.numerator)).cancelled() for weight in weights)
