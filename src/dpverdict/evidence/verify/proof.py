"""Checks a proof: all comparisons are derived again from the program and the claim, and every sign is settled again.

The certificate only says how each sign was shown.  Which comparisons there are, which of them stand for others, and
their probabilities are found here, so that a proof that leaves one out does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from dpverdict.claim.claim import Claim
from dpverdict.claim.values import plain
from dpverdict.errors import DPVerdictError
from dpverdict.evidence.verdict import Checked
from dpverdict.evidence.verify.comparisons import Comparison, Space, comparisons, regions_of
from dpverdict.evidence.verify.inequality import Bound, bound_of, gap
from dpverdict.evidence.verify.passes import probability_at
from dpverdict.evidence.verify.quadrature import BITS, NoAnswer, Point, probability_of
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.mechanism.outcome import Outcome
from dpverdict.mechanism.outcome import to_json as outcome_to_json
from dpverdict.reading.exact.epsilon_ranges import EpsilonRange
from dpverdict.reading.exact.exact_chain import ExactChain
from dpverdict.reading.exact.exponential import Exponential, Quotient
from dpverdict.reading.exact.numbers import Unit
from dpverdict.reading.exact.read import ExactReading
from dpverdict.reading.exact.sign import Certificate, Nonnegative, decide, positive
from dpverdict.reading.exact.sign_json import from_json, to_json
from dpverdict.reading.exact.sign_recheck import recheck

SAMPLED = frozenset((0, 1, 4, 16, 64, 256, 1024, 4096, 16384))
"""The inequalities whose probabilities are worked out in a second way, and whose inputs' outputs have to sum to 1."""

BETWEEN = Fraction(7, 5)
"""Where in the range of ε that is done; any place would do."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A comparison and how its sign was shown."""

    comparison: Comparison
    certificate: Certificate

    def to_json(self) -> list[object]:
        """An entry of the certificate."""
        one = self.comparison
        return [outcome_to_json(one.output), plain(one.input), plain(one.neighbour), to_json(self.certificate)]


def inequalities(space: Space) -> Iterator[tuple[Comparison, Bound, Exponential]]:
    """Every different inequality that the claim consists of, once, in a fixed order: the function must be ≥ 0."""
    return different(space.claim, comparisons(space))


def different(claim: Claim, listed: Iterable[Comparison]) -> Iterator[tuple[Comparison, Bound, Exponential]]:
    """What the claim says of each comparison, unless it has said the same of an earlier one."""
    known, numbers = set[tuple[int, int, Bound]](), Numbers()
    bounds: dict[tuple[Unit, EpsilonRange], Bound | None] = {}
    for comparison in listed:
        about = comparison.unit, comparison.within
        if about not in bounds:
            bounds[about] = bound_of(claim, *about)
        bound = bounds[about]
        if bound is None:
            continue
        here, there = comparison.probability, comparison.neighbour_probability
        inequality = numbers.of(here), numbers.of(there), bound
        if inequality not in known:
            known.add(inequality)
            yield comparison, bound, gap(here, there, bound.factor)


_MOST_MET = 100_000


class Numbers:
    """Numbers for probabilities: the same for those that are written alike.

    One that has been met is known without a look at its coefficients, of which there may be hundreds.
    """

    def __init__(self) -> None:
        self._written: dict[tuple[Exponential, Exponential], int] = {}
        self._met: dict[int, tuple[Quotient, int]] = {}

    def of(self, probability: Quotient) -> int:
        """The number."""
        met = self._met.get(id(probability))
        if met is None:
            if len(self._met) >= _MOST_MET:
                self._met.clear()
            number = self._written.setdefault((probability.numerator, probability.denominator), len(self._written))
            # The probability is kept with it: as long as it is, nothing else has its id.
            met = self._met[id(probability)] = probability, number
        return met[1]


def check(space: Space, entries: Sequence[Any]) -> Checked:
    """Settle everything again.  Raises `DoesNotHold`."""
    listed, settled, sampled = iter(entries), 0, list[tuple[Comparison, Bound]]()
    probabilities, numbers = dict[tuple[int, Bound], Quotient](), Numbers()
    for comparison, bound, function in inequalities(space):
        entry = next(listed, None)
        if entry is None:
            raise DoesNotHold(f"it says nothing about {_shown(comparison)}")
        if not _is_about(entry, comparison):
            raise DoesNotHold(f"{entry!r} stands where the comparison of {_shown(comparison)} has to")
        if not recheck(function, bound.interval, _certificate(entry)):
            raise DoesNotHold(f"it does not show the inequality of {_shown(comparison)}: {entry[3]!r}")
        if settled in SAMPLED:
            sampled.append((comparison, bound))
        settled += 1
        for one in (comparison.probability, comparison.neighbour_probability):
            probabilities[numbers.of(one), bound] = one
    if settled == 0:
        raise DoesNotHold("the claim is about no two different inputs")
    if next(listed, None) is not None:
        raise DoesNotHold(f"it lists more than the {settled} inequalities that there are")
    for (_, bound), one in probabilities.items():
        check_probability(one, bound)
    confirmed = sum(is_confirmed(space, comparison, bound) for comparison, bound in sampled)
    return Checked(settled, 0, confirmed)


def check_probability(probability: Quotient, bound: Bound) -> None:
    """A function that is no probability for some ε of the claim would make the inequalities meaningless."""
    below, above = probability.denominator, probability.numerator
    if (below.is_constant or positive(below, bound.interval)) and (
        above.is_constant or isinstance(decide(above, bound.interval), Nonnegative)
    ):
        return
    raise DoesNotHold(f"{probability.text()} is no probability for every ε of the claim")


def is_confirmed(space: Space, comparison: Comparison, bound: Bound) -> bool:
    """Whether both probabilities were confirmed by quadrature.  Raises `DoesNotHold` where the two ways differ."""
    place = bound.interval.low if bound.interval.is_point else bound.interval.place(BETWEEN)
    both = ((comparison.input, comparison.probability), (comparison.neighbour, comparison.neighbour_probability))
    for value, probability in both:
        exact, given = space.on(value)
        exact.distribution(given, comparison.within, space.memo)  # an error if its sum is not 1
        arguments = {} if isinstance(exact, ExactChain) else exact.program.arguments
        point = Point(given, arguments, comparison.unit.epsilon(place))
        try:
            found = _again(exact, comparison.output, point)
        except NoAnswer:
            return False
        if not found.overlaps(probability.value(place, BITS)):
            raise DoesNotHold(f"quadrature gives {found} for {_shown(comparison)}, not {probability.digits(place)}")
    return True


def _again(exact: ExactReading, output: Outcome, point: Point) -> arb:
    """The probability of an output, worked out in a second way.  Raises `NoAnswer`."""
    if isinstance(exact, ExactChain):
        return probability_at(exact, output, point)
    return probability_of(regions_of(exact, output, point.given), point)


def _is_about(entry: Any, comparison: Comparison) -> bool:
    wanted = [outcome_to_json(comparison.output), plain(comparison.input), plain(comparison.neighbour)]
    return isinstance(entry, list) and len(entry) == 4 and entry[:3] == wanted


def _certificate(entry: Sequence[Any]) -> Certificate:
    try:
        return from_json(entry[3])
    except (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, DPVerdictError) as error:
        raise DoesNotHold(f"{entry[3]!r} is no certificate of a sign: {error}") from None


def _shown(comparison: Comparison) -> str:
    return f"the output {comparison.output!r} on {plain(comparison.input)!r} and {plain(comparison.neighbour)!r}"
