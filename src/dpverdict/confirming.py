"""Whether an event that anyone found contradicts a claim, exactly: `dpverdict.confirm`."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from dpverdict.claim import Approximate, Proportional
from dpverdict.claim.values import plain, shown
from dpverdict.errors import InputError, UnreadableError, UntraceableError
from dpverdict.evidence import event_text
from dpverdict.evidence.events import Event, OutputEquals, Union
from dpverdict.evidence.verdict import Measured, Refuted, Undecided, Verdict
from dpverdict.evidence.verify.comparisons import Comparison, Space, common_ranges
from dpverdict.evidence.verify.inequality import bound_of
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.sets import Chances, delta_of, is_about_sets, slack_of
from dpverdict.evidence.verify.violation import Counterexample, common_unit
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.explored import Explored
from dpverdict.mechanism.outcome import Raised, freeze
from dpverdict.mechanism.surroundings import user_code
from dpverdict.proving import ENGINE, METHOD, OUT, Question, Work, kept, question_of, refutation
from dpverdict.reading.exact.exact_chain import ExactChain
from dpverdict.reading.exact.read import ExactReading
from dpverdict.reading.exact.sign import Negative
from dpverdict.reading.exact.sign import Undecided as Open
from dpverdict.search.approximate import decide_slack
from dpverdict.search.tight import Tight, tight_factor

Predicate: TypeAlias = Callable[[Any], Any]
"""Whether an output is in the event, as a Python function of what the mechanism returns."""


def confirm(  # noqa: PLR0913 (two inputs and an event are what a counterexample is)
    target: Any,
    input: Any,
    neighbour: Any,
    event: Any,
    *,
    args: Mapping[str, Any] | None = None,
    out: str | Path | None = OUT,
    **claim: Any,
) -> Verdict:
    """Whether an event contradicts a claim for two neighbours, with its exact probabilities.

    `event` is an event (`evidence.events`), its JSON, or a Python predicate of what the mechanism returns, which is not
    asked where the mechanism raises an exception.  The other arguments are those of `prove`; without `epsilon=` every ε
    of the claim's range is looked at.  The answer is Refuted, or Undecided with the event's probabilities and the
    largest loss that it shows, or with the reason why they cannot be worked out.  No answer is a proof of the claim.
    """
    question = replace(question_of(target, args, claim, prune=True), inputs=(input, neighbour))
    work = Work(None, None, None if out is None else Path(out))
    begun = time.perf_counter()
    try:
        why = question.claim.why_not_about(input, neighbour)
        if why is not None:
            return _undecided(question, f"the claim is not about {shown(input)} and {shown(neighbour)}: {why}", begun)
        if callable(event):
            return _of_predicate(question, event, begun, work)
        return _answer(_Case(question, _event(event)), begun, work)
    except (UntraceableError, UnreadableError) as error:
        return _undecided(question, f"{error.message}: {error.why}; {error.fix}", begun)
    except DoesNotHold as doubt:
        return _undecided(question, str(doubt), begun)


def _event(given: Any) -> Event:
    if isinstance(given, str):
        return event_text.one_event(event_text.from_text(given))
    return event_text.one_event(event_text.from_json(given) if isinstance(given, Mapping) else given)


@dataclass(frozen=True, slots=True)
class _Case:
    """A question about two inputs, and the event; without one, the mechanism's own outputs True and False are meant."""

    question: Question
    event: Event | None

    @property
    def space(self) -> Space:
        """The programs of whether the event happens."""
        return self.question.space(self.event)

    def exchanged(self) -> _Case:
        """The same event with the two inputs in the other roles."""
        assert self.question.inputs is not None
        input, neighbour = self.question.inputs
        return _Case(replace(self.question, inputs=(neighbour, input)), self.event)


def _comparisons(case: _Case) -> Iterator[Comparison]:
    """The event's probabilities on both inputs, for each range of ε on which the mechanism behaves alike."""
    space, inputs = case.space, case.question.inputs
    assert inputs is not None
    programs = [space.on(value) for value in inputs]
    ranges = [exact.ranges(given) for exact, given in programs]
    unit = programs[0][0].unit(programs[0][1])
    for within in common_ranges((unit, ranges[0]), (unit, ranges[1])):
        known = [(exact.probability(True, given, within, space.memo), exact.unit(given)) for exact, given in programs]
        (here, _), (there, _) = known
        yield Comparison(True, *inputs, here, there, within, common_unit(known))


def _answer(case: _Case, begun: float, work: Work) -> Verdict:
    listed, reasons = list(_comparisons(case)), []
    for one in listed:
        found = _contradicted(case.question, one)
        if isinstance(found, Fraction):
            return _refuted(case, found, begun, work)
        if found is not None:
            reasons.append(found)
    if reasons:
        return _undecided(case.question, f"whether the event contradicts the claim is open: {reasons[0]}", begun)
    return _not_contradicted(case, listed, begun)


def _contradicted(question: Question, one: Comparison) -> Fraction | str | None:
    """An ε at which the event contradicts the claim; a text where that is open, None where there is no such ε."""
    bound = bound_of(question.claim, one.unit, one.within)
    if bound is None:
        return None
    chances = Chances(True, one.probability, one.neighbour_probability)
    match decide_slack(slack_of([chances], bound, delta_of(question.claim, bound, one.unit))):
        case Negative(place):
            return question.claim.epsilon_range.only or one.unit.epsilon(place)
        case Open(reason):
            return reason
    return None


def _refuted(case: _Case, epsilon: Fraction, begun: float, work: Work) -> Verdict:
    question, inputs = case.question, case.question.inputs
    assert inputs is not None
    measured = Measured(seconds=time.perf_counter() - begun)
    verdict = refutation(question, Counterexample((True,), *inputs, epsilon), measured, case.event)
    if case.event is None:
        return verdict
    evidence = {
        "kind": "violation",
        "event": event_text.to_json(case.event),
        "input": plain(inputs[0]),
        "neighbour": plain(inputs[1]),
        "epsilon": str(epsilon),
    }
    return kept(question, verdict, evidence, work)


# --- an event that contradicts nothing --------------------------------------------------------------------------------


def _not_contradicted(case: _Case, listed: list[Comparison], begun: float) -> Undecided:
    question, only = case.question, case.question.claim.epsilon_range.only
    shown_on = [one for one in listed if bound_of(question.claim, one.unit, one.within) is not None]
    pairs = [_probabilities(one, only) for one in shown_on]
    loss = _largest_loss(question, shown_on)
    text = "; ".join(f"{pair['input']} and {pair['neighbour']} for ε in {pair['range']}" for pair in pairs)
    reason = f"the event does not contradict the claim: its probabilities are {text}; {_loss_text(loss, only)}"
    measured = Measured(
        lower_bound=_bound(question, loss), findings=_findings(case), seconds=time.perf_counter() - begun
    )
    return Undecided(
        scope=question.scope,
        method=METHOD,
        engine=ENGINE,
        measured=measured,
        reason=reason,
        partial={"probabilities": pairs, "largest_loss": _loss_text(loss, only)},
    )


def _probabilities(one: Comparison, only: Fraction | None) -> dict[str, str]:
    found = {"input": one.unit.text(one.probability), "neighbour": one.unit.text(one.neighbour_probability)}
    if only is not None:
        place = one.unit.at(only)
        found["input_value"] = one.probability.digits(place)
        found["neighbour_value"] = one.neighbour_probability.digits(place)
    return {**found, "range": str(one.within) if only is None else f"{{{only}}}"}


def _largest_loss(question: Question, listed: list[Comparison]) -> Tight:
    """ln(Pr[input] / Pr[neighbour]) / ε where it is largest; 0 where the event is nowhere likelier on the input."""
    claim, promise = question.claim, question.claim.guarantee
    if isinstance(promise, Proportional | Approximate):
        claim = replace(claim, guarantee=replace(promise, delta=Fraction(0)))
    return tight_factor(listed, claim)


def _loss_text(loss: Tight, only: Fraction | None) -> str:
    if loss.high == 0:
        return "it is nowhere likelier on the input than on the neighbour"
    at = "" if only is not None else f", for {loss.where}"
    unit = "·ε" if only is None else ""
    known, factor = loss.exact, 1 if only is None else only
    if isinstance(known, Fraction):
        size = f"{known * factor}{unit}"
    else:
        ends = [f"{float(end) * float(factor):.15g}{unit}" for end in (loss.low, loss.high)]
        size = " to ".join(dict.fromkeys(ends))
    return f"the largest loss ln(Pr[input] / Pr[neighbour]) that it shows is {size}{at}"


def _bound(question: Question, loss: Tight) -> float | None:
    """What the event shows the privacy loss to be at least, at one ε and without δ; rounded down."""
    only = question.claim.epsilon_range.only
    if only is None or loss.low <= 0 or is_about_sets(question.claim):
        return None
    if loss.low == math.inf:
        return math.inf
    return math.nextafter(float(Fraction(loss.low) * only), -math.inf)


def _findings(case: _Case) -> tuple[str, ...]:
    """What the same event says with the inputs exchanged."""
    other = case.exchanged()
    assert other.question.inputs is not None
    if other.question.claim.why_not_about(*other.question.inputs) is not None:
        return ()
    answers = [_contradicted(other.question, one) for one in _comparisons(other)]
    places = [answer for answer in answers if isinstance(answer, Fraction)]
    return tuple(f"with input and neighbour exchanged, it contradicts the claim at ε = {at}" for at in places[:1])


def _undecided(question: Question, reason: str, begun: float) -> Undecided:
    measured = Measured(seconds=time.perf_counter() - begun)
    return Undecided(scope=question.scope, method=METHOD, engine=ENGINE, measured=measured, reason=reason)


# --- predicates -------------------------------------------------------------------------------------------------------


def _of_predicate(question: Question, predicate: Predicate, begun: float, work: Work) -> Verdict:
    try:
        event = _listed(question, predicate)
    except UnreadableError:
        return _of_traced(question, predicate, begun, work)
    except InputError:
        if isinstance(question.mechanism.function, Explored):
            raise
        # What is listed as a list may be an array: the mechanism's own outputs are tried.
        return _of_traced(question, predicate, begun, work)
    if event is None:
        return _undecided(question, "no output on either input satisfies the predicate", begun)
    return _answer(_Case(question, event), begun, work)


def _listed(question: Question, predicate: Predicate) -> Event | None:
    """The outputs that a predicate holds for, if there are finitely many outputs."""
    found, space = {}, question.space()
    assert question.inputs is not None
    for value in question.inputs:
        exact, given = space.on(value)
        for output in _outputs(exact, given):
            if not isinstance(output, Raised) and _holds(predicate, output):
                event = OutputEquals(freeze(output))
                found[event] = event
    events = tuple(found)
    return None if not events else events[0] if len(events) == 1 else Union(events)


def _outputs(exact: ExactReading, given: Any) -> Iterable[Any]:
    """The outputs on an input, as the mechanism returns them; a chain knows them as outcomes only."""
    if isinstance(exact, ExactChain):
        return [one.output for within in exact.ranges(given) for one in exact.distribution(given, within).outputs]
    return exact.returned(given)


class _FailedPredicateError(Exception):
    """What a predicate raised, told apart from what the mechanism raises."""


def _holds(predicate: Predicate, output: Any) -> bool:
    try:
        with user_code():
            return bool(predicate(output))
    except Exception as error:
        raise _failed(f"the output {output!r}", f"{type(error).__name__}: {error}") from error


def _failed(where: str, why: str) -> InputError:
    return InputError(
        "INPUT-060",
        f"the predicate fails on {where}",
        why=why,
        fix="a function that is true or false for every output",
    )


def _check_that_it_answers(case: _Case) -> None:
    space, inputs = case.space, case.question.inputs
    assert inputs is not None
    for value in inputs:
        exact, given = space.on(value)
        for output in _outputs(exact, given):
            if isinstance(output, Raised) and output.exception.endswith(_FailedPredicateError.__name__):
                raise _failed("an output", "it raises an exception where the mechanism returns a value")


def _of_traced(question: Question, predicate: Predicate, begun: float, work: Work) -> Verdict:
    """A predicate of outputs that are not finitely many: the mechanism that returns its answer is looked into."""
    mechanism = question.mechanism
    if isinstance(mechanism.function, Explored):
        raise UnreadableError(
            "EXACT-031",
            "a predicate of a .dip program's numbers",
            why="only a Python function can be looked into together with a predicate",
            fix="the event as data, such as a box",
        )

    @functools.wraps(mechanism.function)
    def answered(*given: Any, **named: Any) -> bool:
        output = mechanism.function(*given, **named)
        try:
            return bool(predicate(output))
        except Exception as error:
            raise _FailedPredicateError(f"{type(error).__name__}: {error}") from error

    judged = Mechanism(answered, epsilon=mechanism.epsilon_name, limits=mechanism.limits)
    case = _Case(replace(question, mechanism=judged), None)
    _check_that_it_answers(case)
    verdict = _answer(case, begun, work)
    if not isinstance(verdict, Refuted):
        return verdict
    name = f"{predicate.__module__}:{getattr(predicate, '__qualname__', predicate)}"
    return replace(
        verdict,
        witness=replace(verdict.witness, event={"is": "predicate", "name": name}),
        measured=replace(verdict.measured, findings=("the event is Python code, so that there is no certificate",)),
    )
