"""The probability of a region on one input: the product of its choices and of its connected comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from dpverdict.mechanism.structure import Law, Term
from dpverdict.reading.exact.blocks import Block, Number, blocks_of, centred
from dpverdict.reading.exact.components import Memo, probability_of_all, times
from dpverdict.reading.exact.densities import Density, Even, Geometric, OneSided, Ranged, TwoSided, WholeDensity
from dpverdict.reading.exact.exponential import ONE, Quotient
from dpverdict.reading.exact.exponential import Exponential as Polynomial
from dpverdict.reading.exact.numbers import EPSILON, Unit, at_input, exponential_of, quotient_at, rate_at, rational_at
from dpverdict.reading.exact.regions import Choice, Noise, Pattern, Region

_SCALED = Laplace | Exponential | DiscreteLaplace | TruncatedDiscreteLaplace | TruncatedGeometric

Place: TypeAlias = tuple[Pattern, int]
"""A region: its pattern, and which of the pattern's regions it is."""


@dataclass(frozen=True, slots=True)
class Solver:
    """The regions of a program, cut into independent blocks."""

    blocks: Mapping[Place, tuple[Block, ...]]
    choices: Mapping[Place, tuple[Choice, ...]]
    guards: tuple[Term, ...]
    scales: frozenset[Term]
    """All scales of noise in comparisons."""
    arguments: Mapping[str, object]

    def probability(self, place: Place, given: Any, unit: Unit, memo: Memo) -> Quotient:
        """The probability of a region on an input."""
        total: Quotient | None = None
        for choice in self.choices[place]:
            part = self._weight(choice, given, unit, memo)
            total = part if total is None else times(total, part)
        for block in self.blocks[place]:
            part = self._block(block, given, memo)
            total = part if total is None else times(total, part)
        return Quotient(ONE) if total is None else total

    def _block(self, block: Block, given: Any, memo: Memo) -> Quotient:
        offsets = [offset(given) for offset in block.offsets]
        if block.shape is None:
            return self._solved(block, offsets, given, memo)
        key = block.key(offsets)
        found: Quotient | None = memo.get(key)
        if found is None:
            found = memo[key] = self._solved(block, offsets, given, memo)
        return found

    def _solved(self, block: Block, offsets: Sequence[Number], given: Any, memo: Memo) -> Quotient:
        densities = tuple(self._density(block, noise, given, memo) for noise in block.noise)
        inequalities = [
            (terms, Fraction(offset), one.strict)
            for terms, offset, one in zip(block.terms, offsets, block.comparisons, strict=True)
        ]
        return probability_of_all(densities, inequalities, memo)

    def _density(self, block: Block, noise: Noise, given: Any, memo: Memo) -> Density | WholeDensity:
        if block.shape is None:
            return density_of(noise.law, given, self.arguments)
        law = centred(noise.law)
        if law not in memo:
            memo[law] = density_of(law, given, self.arguments)
        found: Density | WholeDensity = memo[law]
        return found

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
            blocks[pattern, number] = blocks_of(region, arguments)
            choices[pattern, number] = region.choices
    guards = dict.fromkeys(guard for listed in regions.values() for region in listed for guard in region.guards)
    scales = scales_of(block for found in blocks.values() for block in found)
    return Solver(blocks, choices, tuple(guards), scales, arguments)


def unit_of(scales: Iterable[Term], given: Any, arguments: Mapping[str, object], name: str) -> Unit:
    """The unit of the rates that belong to scales of noise; ε where there are none."""
    units = {rate_at(scale, given, arguments)[1] for scale in scales}
    if len(units) > 1:
        raise UnreadableError(
            "EXACT-015",
            f"{name} mixes noise of scales that are multiples of 1/ε with noise of other scales",
            why="probabilities are exponential polynomials in one of ε, 1/ε and fixed numbers",
            fix="one kind of scale; or a fixed ε: --arg epsilon=1/2",
        )
    return next(iter(units), Unit(EPSILON))


def scales_of(blocks: Iterable[Block]) -> frozenset[Term]:
    """The scales of the noise in blocks."""
    return frozenset(one.law.scale for block in blocks for one in block.noise if isinstance(one.law, _SCALED))


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
