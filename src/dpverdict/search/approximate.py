"""The exact decision of claims with δ > 0 [barthe2020deciding]: every set of outputs of every pair is settled, or one
is a counterexample."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from dpverdict.claim.enclosure import exp_bounds
from dpverdict.evidence.verify import set_proof
from dpverdict.evidence.verify.comparisons import Space
from dpverdict.evidence.verify.sets import (
    Chances,
    SetComparison,
    SetProof,
    SetQuestion,
    Shape,
    Stretch,
    TooManySets,
    by_shape,
    chosen,
    possible_sets,
    set_questions,
    slack_of,
    total,
)
from dpverdict.evidence.verify.slack import AtEnd, AtPlace, Rounded, Slack, SlackProof
from dpverdict.mechanism.outcome import Outcome
from dpverdict.reading.exact.exponential import Exponential, Quotient
from dpverdict.reading.exact.sign import Negative, Nonnegative, Undecided, decide, roots
from dpverdict.reading.exact.sign_forms import Form, Interval
from dpverdict.reading.exact.sign_roots import TooManyBoxes
from dpverdict.search.decision import Course

_Settled: TypeAlias = SetProof | Undecided | tuple[tuple[Chances, ...], Fraction]

_PRECISIONS = (64, 512)
_HALVINGS = 20


@dataclass(frozen=True, slots=True)
class SetViolation:
    """A pair and a set of outputs that the claim cannot explain at this ε, and the value of the unit there."""

    comparison: SetComparison
    outputs: tuple[Chances, ...]
    epsilon: Fraction
    place: Fraction

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The event."""
        return tuple(one.output for one in self.outputs)

    @property
    def probabilities(self) -> tuple[Quotient, Quotient]:
        """Of the set, on the input and on its neighbour."""
        here = total(one.probability for one in self.outputs)
        return here, total(one.neighbour_probability for one in self.outputs)


@dataclass(slots=True)
class SetProgress:
    """What is settled so far."""

    settled: list[tuple[SetQuestion, SetProof]] = field(default_factory=list)
    open: list[tuple[SetComparison, str]] = field(default_factory=list)
    violation: SetViolation | None = None
    seconds: float = 0.0
    complete: bool = False
    """Whether every pair has been looked at."""

    stopped: bool = False
    """Whether the time was up, or somebody asked to stop."""

    def entries(self) -> list[list[object]]:
        """What the certificate says of each that is settled."""
        return [set_proof.to_json(question, proof) for question, proof in self.settled]


def settle_sets(space: Space, course: Course = Course()) -> SetProgress:  # noqa: B008 (a frozen value)
    """Settle pairs until there are none left, one of them is a violation, or it is to stop."""
    begun, done, known = time.perf_counter(), SetProgress(), _Known({}, {})
    for question in set_questions(space):
        match _settled(question, known):
            case SetProof() as proof:
                done.settled.append((question, proof))
            case Undecided(reason):
                done.open.append((question.comparison, reason))
            case (outputs, place):
                # At one ε the unit may be another function of it, or none.
                epsilon = space.claim.epsilon_range.only or place
                done.violation = SetViolation(question.comparison, outputs, epsilon, place)
                return done
        done.seconds = time.perf_counter() - begun
        if course.listen is not None:
            course.listen(done)
        if course.stopped() or (course.seconds is not None and done.seconds > course.seconds):
            done.stopped = True
            return done
    done.complete = True
    return done


@dataclass(frozen=True, slots=True)
class _Known:
    """What other pairs have settled already."""

    stretches: dict[tuple[Shape, Interval], tuple[Stretch, ...]]
    rooms: dict[Slack, SlackProof]


def _settled(question: SetQuestion, known: _Known) -> _Settled:
    comparison, bound, delta = question.comparison, question.bound, question.delta
    shapes = by_shape(comparison, bound.factor)
    stretches = {}
    for shape in shapes:
        at = (shape, bound.interval)
        if at not in known.stretches:
            known.stretches[at] = _stretches(shape.function(), bound.interval)
        stretches[shape] = known.stretches[at]
    try:
        needed = possible_sets(list(stretches.values()), bound.interval)
    except TooManySets:
        return Undecided("too many differences of probabilities change their signs at places that lie close together")
    groups = list(shapes.values())
    rooms, reason = {}, None
    for numbers in sorted(needed, key=sorted):
        outputs = chosen(groups, numbers)
        slack = slack_of(outputs, bound, delta)
        answer = known.rooms.get(slack) or decide_slack(slack)
        match answer:
            case Negative(place):
                return tuple(outputs), place
            case Undecided(why):
                reason = why
            case _:
                rooms[numbers] = known.rooms[slack] = answer
    return Undecided(reason) if reason else SetProof(stretches, rooms)


# --- where a difference of probabilities has which sign ---------------------------------------------------------------


def _stretches(function: Exponential, interval: Interval) -> tuple[Stretch, ...]:
    """Stretches that leave out little more than the zeros; none where nothing is known."""
    match decide(function, interval):
        case Nonnegative(certificate):
            return (Stretch(interval.low, interval.high, False, certificate),)
        case Undecided():
            return ()
    try:
        pattern = roots(function, interval)
    except TooManyBoxes:
        return ()
    zeros = [_narrowed(function, zero) for zero in pattern.zeros]
    lows = [interval.low, *(high for _, high in zeros)]
    highs = [*(low for low, _ in zeros), interval.high]
    found = []
    for low, high, sign in zip(lows, highs, pattern.signs, strict=True):
        stretch = Interval(low, high, closed=low == high)
        match decide(-function if sign < 0 else function, stretch):
            case Nonnegative(certificate):
                found.append(Stretch(low, high, sign < 0, certificate))
    return tuple(found)


def _narrowed(function: Exponential, zero: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """Closer ends around a change of sign, so that those of different functions seldom overlap."""
    (low, high), form = zero, Form.of(function)
    before = 0 if low == high else form.sign_at(low / function.scale)[0]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        sign = form.sign_at(middle / function.scale)[0]
        if not before or not sign:
            break
        low, high = (middle, high) if sign == before else (low, middle)
    return low, high


# --- whether there is room --------------------------------------------------------------------------------------------


def decide_slack(slack: Slack) -> SlackProof | Negative | Undecided:
    """Whether the claim leaves room for a set on the whole interval."""
    if slack.interval.is_point:
        return AtPlace() if slack.sign_at(slack.interval.low) >= 0 else Negative(slack.interval.low)
    if not slack.exponent:
        answer = decide(slack.base, slack.interval)
        return Rounded(Fraction(1), answer.certificate) if isinstance(answer, Nonnegative) else answer
    for bits in _PRECISIONS:
        bounds = exp_bounds(-slack.exponent, bits)
        match decide(slack.rounded(bounds.low), slack.interval):
            case Nonnegative(certificate):
                return Rounded(bounds.low, certificate)
            case Negative(place) if slack.sign_at(place) < 0:
                return Negative(place)
        match decide(slack.rounded(bounds.high), slack.interval):
            case Negative(place):
                # The room is smaller than with the constant rounded up.
                return Negative(place)
        if proof := _at_end(slack):
            return proof
    return Undecided("δ is so close to what a set of outputs needs that the two cannot be told apart")


def _at_end(slack: Slack) -> AtEnd | None:
    slope = slack.slope()
    for rises in (True, False):
        end = slack.end(rises=rises)
        if end is not None and slack.sign_at(end) >= 0:
            answer = decide(slope if rises else -slope, slack.interval)
            if isinstance(answer, Nonnegative):
                return AtEnd(rises, answer.certificate)
    return None
