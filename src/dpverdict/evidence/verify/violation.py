"""Checks an exact counterexample: two neighbours, an event, an ε, and probabilities that the claim cannot explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import ctx

from dpverdict.claim.claim import EpsilonRange
from dpverdict.claim.delta import Delta
from dpverdict.claim.values import shown
from dpverdict.evidence.verify.comparisons import NEVER, Space
from dpverdict.evidence.verify.inequality import bound_of
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.sets import Chances, delta_of, slack_of
from dpverdict.mechanism.outcome import Outcome, key
from dpverdict.reading.exact.epsilon_ranges import ALL
from dpverdict.reading.exact.exponential import Quotient
from dpverdict.reading.exact.numbers import Unit


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Outputs that are too likely on an input, compared with a neighbour, at an ε."""

    outputs: tuple[Outcome, ...]
    input: Any
    neighbour: Any
    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Excess:
    """The event's probabilities, as expressions in ε and as digits, and the privacy loss that they show."""

    probability: str
    neighbour_probability: str
    digits: str
    neighbour_digits: str
    loss: float
    """ln((Pr[input] - δ) / Pr[neighbour]) rounded down; infinite where the neighbour never gives the event."""

    def to_json(self) -> dict[str, object]:
        """The probabilities' part of a verdict."""
        return {
            "input": self.probability,
            "neighbour": self.neighbour_probability,
            "input_value": self.digits,
            "neighbour_value": self.neighbour_digits,
        }


def check(space: Space, example: Counterexample) -> Excess:
    """The probabilities, worked out again.  Raises `DoesNotHold`."""
    _check_scope(space, example)
    known = [_probability(space, example, value) for value in (example.input, example.neighbour)]
    (here, _), (there, _) = known
    unit = common_unit(known)
    at_one = replace(space.claim, epsilon_range=EpsilonRange.one(example.epsilon))
    bound = bound_of(at_one, unit, ALL)
    assert bound is not None, "the range holds every ε"
    place, delta = bound.interval.low, delta_of(at_one, bound, unit)
    if not all(_is_probability(one, place) for one in (here, there)):
        raise DoesNotHold(f"the program's choices have no probabilities at ε = {example.epsilon}")
    if slack_of([Chances(None, here, there)], bound, delta).sign_at(place) >= 0:
        raise DoesNotHold(
            f"at ε = {example.epsilon} the claim allows {here.digits(place)} beside {there.digits(place)}"
        )
    return Excess(
        unit.text(here), unit.text(there), here.digits(place), there.digits(place), _loss(here, there, place, delta)
    )


def common_unit(known: Sequence[tuple[Quotient, Unit]]) -> Unit:
    """What probabilities are functions of; one that is the same number for all ε goes with any unit.

    Raises `DoesNotHold` where there is none.
    """
    units = {unit for probability, unit in known if not is_number(probability)}
    if len(units) > 1:
        raise DoesNotHold("the noise is of different kinds on the two inputs")
    return next(iter(units), known[0][1])


def is_number(probability: Quotient) -> bool:
    """Whether the probability is the same for all ε."""
    return probability.numerator.is_constant and probability.denominator.is_constant


def _check_scope(space: Space, example: Counterexample) -> None:
    claim = space.claim
    why = claim.why_not_about(example.input, example.neighbour)
    if why is not None:
        raise DoesNotHold(f"the claim is not about {shown(example.input)} and {shown(example.neighbour)}: {why}")
    low, high = claim.epsilon_range.low, claim.epsilon_range.high
    if example.epsilon <= 0 or example.epsilon < low or (high is not None and example.epsilon > high):
        raise DoesNotHold(f"the claim is about ε in {claim.epsilon_range.text}, not about {example.epsilon}")


def _probability(space: Space, example: Counterexample, value: Any) -> tuple[Quotient, Unit]:
    """The event's probability on an input, as a function of the unit."""
    exact, given = space.on(value)
    within = next((one for one in exact.ranges(given) if example.epsilon in one), None)
    if within is None:
        raise DoesNotHold(f"the program says nothing about ε = {example.epsilon}")
    total = NEVER
    for output in {key(output): output for output in example.outputs}.values():
        total = total + exact.probability(output, given, within, space.memo)
    exact.distribution(given, within, space.memo)  # an error if the probabilities of all outputs do not sum to 1
    return total.cancelled(), exact.unit(given)


def _is_probability(probability: Quotient, place: Fraction) -> bool:
    value = probability.value(place, 256)
    return not (value < 0 or value > 1)


def _loss(here: Quotient, there: Quotient, place: Fraction, delta: Delta) -> float:
    if there.numerator.is_zero:
        return math.inf
    with ctx.workprec(256):
        loss = ((here.value(place, 256) - delta.value(place, 256)) / there.value(place, 256)).log()
        return math.nextafter(float(loss.lower()), -math.inf)
