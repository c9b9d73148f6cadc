"""What a claim with δ > 0 says of two neighbours: a bound on every set of outputs at once.

At each x the worst set consists of the outputs o with Pr[o | a] > e^{t·x}·Pr[o | a'], so that the claim holds if and
only if Σ_o max(Pr[o | a] - e^{t·x}·Pr[o | a'], 0) ≤ δ.  A proof says on which stretches of the range each output's
difference has one sign; wherever a stretch is missing, both signs are possible.  Every set of outputs that is then
possible somewhere has to leave some room (`slack`), on the whole range: no zero has to be known exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import gcd
from typing import Any

from flint import fmpz_poly

from dpverdict.claim.claim import Claim, Proportional
from dpverdict.claim.delta import Delta
from dpverdict.claim.guarantee import Approximate
from dpverdict.claim.pair_classes import pair_classes
from dpverdict.claim.values import identity, plain
from dpverdict.evidence.verify.comparisons import (
    NEVER,
    Behaviour,
    Space,
    common_ranges,
    coordinates_of,
    regions_by_output,
)
from dpverdict.evidence.verify.coverage import joint_blocks
from dpverdict.evidence.verify.inequality import Bound, bound_of, gap
from dpverdict.evidence.verify.slack import Slack, SlackProof
from dpverdict.mechanism.outcome import Outcome, key
from dpverdict.reading.exact.components import Memo
from dpverdict.reading.exact.epsilon_ranges import EpsilonRange
from dpverdict.reading.exact.exact_program import OutputProbability
from dpverdict.reading.exact.exponential import ONE, Exponential, Quotient
from dpverdict.reading.exact.expression_text import Term
from dpverdict.reading.exact.numbers import Unit
from dpverdict.reading.exact.read import ExactReading
from dpverdict.reading.exact.sign import Certificate
from dpverdict.reading.exact.sign_forms import Form, Interval
from dpverdict.reading.exact.sign_recheck import recheck

MOST_UNKNOWN = 12
"""How many signs may be unknown at one place: their combinations are all tried."""


class TooManySets(Exception):
    """Too many signs are unknown at one place for their combinations to be tried."""


# --- the pairs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chances:
    """An output, and its probabilities on both neighbours."""

    output: Outcome
    probability: Quotient
    neighbour_probability: Quotient


@dataclass(frozen=True, slots=True)
class SetComparison:
    """All outputs on two neighbours, for the ε of a range in which the program behaves alike."""

    input: Any
    neighbour: Any
    chances: tuple[Chances, ...]
    within: EpsilonRange
    unit: Unit


def set_comparisons(space: Space) -> Iterator[SetComparison]:
    """All pairs of different neighbours, up to swaps of inputs that only exchange outputs."""
    pairs, program_on = _pairs(space)
    laws = _Laws(program_on, space.memo)
    for a, b in pairs:
        unit, ranges = laws.behaviour(a)
        for within in common_ranges((unit, ranges), laws.behaviour(b)):
            here, there = laws.law(a, within), laws.law(b, within)
            chances = tuple(
                Chances(found.output, found.probability, there[at].probability if at in there else NEVER)
                for at, found in here.items()
            )
            yield SetComparison(a, b, chances, within, unit)


@dataclass(frozen=True, slots=True)
class _Laws:
    """What is known of each input, found once."""

    program_on: Callable[[Any], tuple[ExactReading, Any]]
    memo: Memo
    behaviours: dict[Hashable, Behaviour] = field(default_factory=dict)
    laws: dict[Hashable, dict[Hashable, OutputProbability]] = field(default_factory=dict)

    def behaviour(self, value: Any) -> Behaviour:
        at = identity(value)
        if at not in self.behaviours:
            exact, given = self.program_on(value)
            self.behaviours[at] = (exact.unit(given), exact.ranges(given))
        return self.behaviours[at]

    def law(self, value: Any, within: EpsilonRange) -> dict[Hashable, OutputProbability]:
        at = (identity(value), within)
        if at not in self.laws:
            exact, given = self.program_on(value)
            self.laws[at] = {key(found.output): found for found in exact.distribution(given, within, self.memo).outputs}
        return self.laws[at]


def _pairs(space: Space) -> tuple[Iterable[tuple[Any, Any]], Callable[[Any], tuple[ExactReading, Any]]]:
    """The pairs, and the program on an input."""
    symbolic = space.symbolic()
    if symbolic is None:
        return space.claim.pairs(), space.on
    exact, inputs, is_list = symbolic
    blocks = joint_blocks(regions_by_output(exact), coordinates_of(exact, inputs, is_list))
    pairs = ((list(a), list(b)) if is_list else (a[0], b[0]) for a, b in pair_classes(inputs, blocks))
    return pairs, lambda value: (exact, plain(value))


# --- the room that δ leaves -------------------------------------------------------------------------------------------


def is_about_sets(claim: Claim) -> bool:
    """Whether single outputs are not enough: δ is not 0."""
    match claim.guarantee:
        case Proportional(_, delta) | Approximate(_, delta):
            return delta != 0
        case _:
            return False


def delta_of(claim: Claim, bound: Bound, unit: Unit) -> Delta:
    """The claim's δ as a function of the unit (at one ε, of the unit's value there)."""
    match claim.guarantee:
        case Proportional(_, Delta() as delta) if unit.exponent != 1 and not delta.exponent:
            epsilon, place = claim.epsilon_range.only, bound.interval.low
            assert epsilon is not None, "other units are judged at one ε"
            terms = [
                Term(term.coefficient * epsilon**term.power, 0, term.rate * epsilon / place)
                for term in delta.function.terms()
            ]
            return Delta(Exponential.of_terms(terms))
        case Proportional(_, Delta() as delta):
            return delta
        case Proportional(_, Fraction() as delta) | Approximate(_, delta):
            return Delta(Exponential.constant(delta))
        case _:
            return Delta(Exponential.zero())


def slack_of(chances: Sequence[Chances], bound: Bound, delta: Delta) -> Slack:
    """δ + e^{t·x}·Pr[S | a'] - Pr[S | a], times e^{-t·x} and both (positive) denominators."""
    here = total(one.probability for one in chances)
    there = total(one.neighbour_probability for one in chances)
    below = here.denominator
    if there.denominator != below:
        below = below * there.denominator
    room, weight = gap(here, there, bound.factor), (delta.function * below).shifted(bound.factor)
    if delta.exponent:
        return Slack(room, weight, delta.exponent, bound.interval)
    return Slack(room + weight, Exponential.zero(), Fraction(0), bound.interval)


def total(probabilities: Iterable[Quotient]) -> Quotient:
    """The sum, over as few denominators as there are."""
    sums: dict[Exponential, Exponential] = {}
    for one in probabilities:
        sums[one.denominator] = sums.get(one.denominator, Exponential.zero()) + one.numerator
    whole = Quotient(Exponential.zero(), ONE)
    for below, above in sums.items():
        if not above.is_zero:
            whole = whole + Quotient(above, below)
    return whole


# --- signs, and the sets that they allow ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stretch:
    """Between two ends (None: ∞) a function is nowhere negative, or nowhere positive, as the certificate shows."""

    low: Fraction
    high: Fraction | None
    is_negative: bool
    certificate: Certificate

    def covers(self, low: Fraction, high: Fraction | None) -> bool:
        """Whether all between two ends lies in it."""
        return self.low <= low and (self.high is None or (high is not None and high <= self.high))

    def holds(self, function: Exponential) -> bool:
        """Whether the certificate shows it."""
        if self.low < 0 or (self.high is not None and (self.high < self.low or self.high == 0)):
            return False
        interval = Interval(self.low, self.high, closed=self.low == self.high)
        return recheck(-function if self.is_negative else function, interval, self.certificate)


@dataclass(frozen=True, slots=True)
class Shape:
    """A function up to what leaves its sign as it is: positive factors, powers of x and of e^{-x}."""

    scale: int
    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, function: Exponential) -> Shape:
        """The shape of a function."""
        least = function.reduced()
        if least.is_zero:
            return cls(1, ())
        rows = [row.coeffs() for row in Form.of(least).stripped().rows]
        content = gcd(*(int(place) for row in rows for place in row))
        return cls(least.scale, tuple(tuple(int(place) // content for place in row) for row in rows))

    def function(self) -> Exponential:
        """The function that stands for all of the shape."""
        return Form(tuple(fmpz_poly(list(row)) for row in self.rows)).exponential(self.scale)


def by_shape(comparison: SetComparison, factor: Fraction) -> dict[Shape, list[Chances]]:
    """The outputs, those together whose differences e^{t·x}·Pr[o | a'] - Pr[o | a] have the same sign everywhere."""
    found: dict[Shape, list[Chances]] = {}
    for one in comparison.chances:
        difference = gap(one.probability, one.neighbour_probability, factor)
        found.setdefault(Shape.of(difference), []).append(one)
    return found


def possible_sets(tables: Sequence[Sequence[Stretch]], interval: Interval) -> set[frozenset[int]]:
    """Which functions, by their numbers, may be negative together somewhere.  Raises TooManySets."""
    found: set[frozenset[int]] = set()
    for low, high in _cells(tables, interval):
        signs = [next((one for one in table if one.covers(low, high)), None) for table in tables]
        certain = frozenset(at for at, one in enumerate(signs) if one is not None and one.is_negative)
        unknown = [at for at, one in enumerate(signs) if one is None]
        if len(unknown) > MOST_UNKNOWN:
            raise TooManySets
        for choice in product((False, True), repeat=len(unknown)):
            found.add(certain | {at for at, taken in zip(unknown, choice, strict=True) if taken})
    return found - {frozenset()}


def _cells(tables: Sequence[Sequence[Stretch]], interval: Interval) -> list[tuple[Fraction, Fraction | None]]:
    if interval.is_point:
        return [(interval.low, interval.high)]
    ends = {end for table in tables for one in table for end in (one.low, one.high) if end is not None}
    cuts: list[Fraction | None] = [interval.low, *sorted(end for end in ends if interval.inside(end)), interval.high]
    return [(low, high) for low, high in pairwise(cuts) if low is not None]


@dataclass(frozen=True, slots=True)
class SetProof:
    """For each shape its stretches, and for each set of shapes that may be negative together the proof of its room."""

    stretches: Mapping[Shape, tuple[Stretch, ...]]
    rooms: Mapping[frozenset[int], SlackProof]
    """Shapes by their numbers in the order of `by_shape`."""


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """Whether the claim holds for all sets of outputs of a pair."""

    comparison: SetComparison
    bound: Bound
    delta: Delta


def set_questions(space: Space) -> Iterator[SetQuestion]:
    """Every different question that the claim consists of, once, in a fixed order."""
    known: set[Hashable] = set()
    for comparison in set_comparisons(space):
        bound = bound_of(space.claim, comparison.unit, comparison.within)
        if bound is None:
            continue
        # Pairs ask the same if the same probabilities stand against each other equally often.
        here = Counter((*_parts(one.probability), *_parts(one.neighbour_probability)) for one in comparison.chances)
        question = (frozenset(here.items()), bound)
        if question not in known:
            known.add(question)
            yield SetQuestion(comparison, bound, delta_of(space.claim, bound, comparison.unit))


def _parts(probability: Quotient) -> tuple[Exponential, Exponential]:
    return probability.numerator, probability.denominator


def proves(proof: SetProof, question: SetQuestion) -> bool:
    """Whether the claim holds for all sets of outputs of the pair, as the proof says."""
    comparison, bound, delta = question.comparison, question.bound, question.delta
    shapes = by_shape(comparison, bound.factor)
    tables = [proof.stretches.get(shape, ()) for shape in shapes]
    if not all(one.holds(shape.function()) for shape, table in zip(shapes, tables, strict=True) for one in table):
        return False
    try:
        needed = possible_sets(tables, bound.interval)
    except TooManySets:
        return False
    groups = list(shapes.values())
    return all(
        at in proof.rooms and slack_of(chosen(groups, at), bound, delta).proved_by(proof.rooms[at]) for at in needed
    )


def chosen(groups: Sequence[Sequence[Chances]], numbers: frozenset[int]) -> list[Chances]:
    """The outputs of some groups."""
    return [one for at in sorted(numbers) for one in groups[at]]
