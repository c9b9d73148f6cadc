"""Proving or refuting a claim exactly: `dpverdict.prove`."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dpverdict.claim import Claim, from_arguments
from dpverdict.claim.values import plain
from dpverdict.errors import ClaimError, InputError, UnreadableError, UntraceableError
from dpverdict.evidence import event_text
from dpverdict.evidence.certificate import certificate, make_folder
from dpverdict.evidence.events import Event, OutputEquals, Union
from dpverdict.evidence.verdict import Measured, Proved, Refuted, Scope, Undecided, Verdict, Witness
from dpverdict.evidence.verify import proof, set_proof, violation
from dpverdict.evidence.verify.comparisons import Comparison, Space, comparisons
from dpverdict.evidence.verify.judged_events import judge_of
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.sets import is_about_sets
from dpverdict.evidence.verify.violation import Counterexample
from dpverdict.execute.cancellation import Cancel, cancel_on_signals
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.dip_language.chain import DOES_NOT_RETURN
from dpverdict.mechanism.dip_language.explain_chain import explain_chain
from dpverdict.mechanism.dip_language.program_file import program_file_of, program_or_chain
from dpverdict.mechanism.explain import explain
from dpverdict.mechanism.outcome import Outcome, Raised
from dpverdict.mechanism.structure import Program
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.exact.exact_chain import ExactChain
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.reading.exact.read import ExactReading
from dpverdict.search.approximate import SetProgress, SetViolation, settle_sets
from dpverdict.search.decision import Course, Listener, Progress, Violation, settle
from dpverdict.search.tight import tight_factor
from dpverdict.search.unfinished import Unfinished
from dpverdict.target import load

OUT = "dpverdict-out"
"""The folder for certificates where nobody names one."""

SECONDS = 600.0
"""How long a proof may take where nobody says so."""

ENGINE, METHOD = "decision", "exact"


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be proved: a mechanism with its arguments, and a claim about inputs that can be listed."""

    target: str
    mechanism: Mechanism
    arguments: Mapping[str, object]
    claim: Claim
    prune: bool = True
    tight: bool = False
    """Whether the least factor is asked for as well."""

    inputs: tuple[Any, Any] | None = None
    """The two inputs that it is about, where it is not about all pairs of the claim."""

    def space(self, event: Event | None = None) -> Space:
        """The mechanism's exact programs, none of them looked for yet; with an event: whether it happens."""
        judge = None if event is None else judge_of(event)
        known: list[ExactProgram] = []

        def program_for(given: Any) -> ExactReading:
            with user_code():
                if judge is None:
                    found = program_or_chain(self.mechanism, given, self.arguments)
                else:
                    found = self.mechanism.program_for(given, self.arguments)
            if not isinstance(found, Program):
                return ExactChain.of(found, self.mechanism.name, given)
            if not known or known[-1].program is not found:
                known.append(ExactProgram.of(found, judge))
            return known[-1]

        file = program_file_of(self.mechanism)
        if file is None:
            return Space(self.claim, program_for, self.prune)
        return Space(self.claim, program_for, self.prune, file.check_input)

    @property
    def scope(self) -> Scope:
        """What a verdict is about."""
        return Scope(self.claim, "real")

    def reference(self) -> dict[str, object]:
        """How the mechanism is found again, and what it was."""
        return {
            "target": self.target,
            "name": self.mechanism.name,
            "arguments": plain(dict(self.arguments)),
            "program": self.fingerprint(),
        }

    def check(self) -> None:
        """Refuse a claim about nothing, and one for a range of ε beside a fixed ε.  Raises `ClaimError`."""
        epsilon = self.mechanism.epsilon_name
        if epsilon is not None and epsilon in self.arguments and self.claim.epsilon_range.only is None:
            raise ClaimError(
                "CLAIM-086",
                f"the claim is about a range of ε, and the mechanism's {epsilon} is fixed",
                place=f"{epsilon} = {self.arguments[epsilon]!r}, ε in {self.claim.epsilon_range.text}",
                why="the mechanism is then the same for all ε of the claim",
                fix=f"--epsilon {self.arguments[epsilon]} instead of the argument; or --claim pure:1 beside it",
            )
        if self.inputs is None:
            with user_code():
                self._first_pair()

    def _first_pair(self) -> tuple[Any, Any]:
        found = next(iter(self.claim.pairs()), None)
        if found is None:
            raise ClaimError(
                "CLAIM-085",
                "no two different inputs of the domain are neighbours",
                place=f"inputs {self.claim.domain.text}, neighbours {self.claim.neighbourhood.text}",
                why="such a claim holds for every mechanism, and says nothing about this one",
                fix="--domain with two values or more, as in -1,0,1, or a wider --adjacency",
            )
        return found

    def fingerprint(self) -> str:
        """The SHA-256 of the mechanism's program for the claim's first input, as text."""
        with user_code():
            first, _ = self.inputs or self._first_pair()
            found = program_or_chain(self.mechanism, plain(first), self.arguments)
        text = explain(found) if isinstance(found, Program) else explain_chain(found, self.mechanism.name, plain(first))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Work:
    """How long a decision may take, who hears of it, where the certificate goes (None: nowhere), and who may stop it.

    What is settled when it stops is kept beside the certificates; the same question goes on from there.
    """

    seconds: float | None = SECONDS
    listen: Listener | None = None
    out: Path | None = field(default_factory=lambda: Path(OUT))
    cancel: Cancel = field(default_factory=Cancel)

    def __post_init__(self) -> None:
        given: Any = self.seconds
        # NaN is not above 0 either.
        if given is not None and (isinstance(given, bool) or not isinstance(given, int | float) or not given > 0):
            raise InputError(
                "INPUT-028",
                "seconds= takes a number of seconds above 0, or None for no limit",
                place=f"got {given!r}",
                why="work that has no time cannot finish",
                fix="seconds=60",
            )


def prove(
    target: Any,
    *,
    args: Mapping[str, Any] | None = None,
    tight: bool = False,
    seconds: float | None = SECONDS,
    out: str | Path | None = OUT,
    **claim: Any,
) -> Verdict:
    """Prove or refute a claim exactly, for every ε of its range, on a finite domain.

    `target` is a mechanism, a function over noise, or a TARGET; the other keyword arguments are those of a claim
    (`domain=`, `length=`, `adjacency=`, `factor=`, `epsilon=`, `epsilon_range=`, `delta=`, `claim=`).  What is proved
    is about the scope in the verdict.  The certificate is written into the folder `out`, unless that is None; so is
    what is settled when the time is up or Ctrl-C is pressed, from which the same call goes on.
    """
    question = replace(question_of(target, args, claim, prune=True), tight=tight)
    work = Work(seconds, None, None if out is None else Path(out))
    verdict = answer(question, work)
    if work.cancel.requested and isinstance(verdict, Undecided):
        raise KeyboardInterrupt(verdict.reason)
    return verdict


def question_of(target: Any, args: Mapping[str, Any] | None, claim: Mapping[str, Any], *, prune: bool) -> Question:
    """The question that Python arguments ask."""
    if isinstance(target, str):
        with user_code():
            mechanism, name = load(target), target
    else:
        mechanism = target if isinstance(target, Mechanism) else Mechanism(target)
        name = f"{mechanism.function.__module__}:{mechanism.name}"
    file = program_file_of(mechanism)
    declared = {} if file is None else file.claimed
    with user_code():
        asked = from_arguments(**{**declared, **claim})
    return Question(name, mechanism, mechanism.arguments(args), asked, prune)


def answer(question: Question, work: Work) -> Verdict:
    """Decide, let the kernel check what was decided, and write the certificate.  Raises `ClaimError`."""
    question.check()
    if work.out is not None:
        make_folder(work.out)
    try:
        # The neighbourhood may be somebody's function as well.
        with user_code():
            measured = with_tight_factor(question) if question.tight else Measured()
            before = _unfinished(question, work)
            done = _settled(question, work, before)
            verdict = _verdict(question, done, replace(measured, seconds=done.seconds), work)
    except (UntraceableError, UnreadableError) as error:
        return _undecided(question, f"{error.message}: {error.why}; {error.fix}", Measured())
    if before is not None and not done.stopped:
        before.remove()
    return verdict


def with_tight_factor(question: Question) -> Measured:
    """The least factor, and where the loss comes near it.  Raises `UnreadableError`."""
    found = tight_factor(comparisons(question.space()), question.claim)
    where = f"the tight factor is reached or approached at {found.where}"
    if found.exact is None:
        where = f"the tight factor lies from {found.low} to {found.high}: {where}"
    findings = (where, *([found.reason] if found.reason else []))
    return Measured(tight_factor=found.high if found.exact is None else found.exact, findings=findings)


def _settled(question: Question, work: Work, before: Unfinished | None) -> Progress | SetProgress:
    """What is settled until the end, or until the time is up or a signal comes; it is kept before it is checked."""
    course = Course(work.seconds, work.listen, lambda: work.cancel.requested, {} if before is None else before.read())
    # Not around the whole: a mechanism that hangs while it is traced stops at the first Ctrl-C.
    with cancel_on_signals(work.cancel):
        if is_about_sets(question.claim):
            return settle_sets(question.space(), course)
        done = settle(question.space(), course)
    if before is not None:
        before.write(done)
    return done


def _unfinished(question: Question, work: Work) -> Unfinished | None:
    # Sets of outputs are settled anew: their proofs are about pairs, and quicker than single outputs of many inputs.
    if work.out is None or is_about_sets(question.claim):
        return None
    asked = {"mechanism": question.reference(), "claim": question.claim.arguments(), "pruned": question.prune}
    return Unfinished.of(work.out, asked)


def _verdict(question: Question, done: Progress | SetProgress, measured: Measured, work: Work) -> Verdict:
    try:
        if done.violation is not None:
            return _refuted(question, done.violation, measured, work)
        if not done.stopped and not done.open:
            return _proved(question, done, measured, work)
    except KeyboardInterrupt:
        work.cancel.request(signal.SIGINT.name)
        done.stopped = True
    return _undecided(question, _why_open(done, work), measured, done)


def _refuted(question: Question, found: Violation | SetViolation, measured: Measured, work: Work) -> Verdict:
    one = found.comparison
    example = Counterexample(found.outcomes, one.input, one.neighbour, found.epsilon)
    try:
        verdict = refutation(question, example, measured)
    except DoesNotHold as doubt:
        return _undecided(question, f"a counterexample was found, but the check does not confirm it: {doubt}", measured)
    evidence = {
        "kind": "violation",
        "outputs": verdict.to_json()["witness"]["event"],  # type: ignore[index]
        "input": plain(one.input),
        "neighbour": plain(one.neighbour),
        "epsilon": str(found.epsilon),
    }
    return kept(question, verdict, evidence, work)


def refutation(question: Question, example: Counterexample, measured: Measured, event: Event | None = None) -> Refuted:
    """The verdict that a counterexample gives, if the kernel confirms it.  Raises `DoesNotHold`.

    With an event, the example's only output is True: that it happens.
    """
    space = question.space(event)
    excess = violation.check(space, example)
    measured = replace(measured, findings=(*measured.findings, *_endless(space)))
    if event is None:
        event = OutputEquals(example.outputs[0]) if len(example.outputs) == 1 else _union(example.outputs)
    has_epsilon = question.mechanism.epsilon_name is not None
    return Refuted(
        scope=question.scope,
        method=METHOD,
        engine=ENGINE,
        measured=replace(measured, lower_bound=excess.loss),
        witness=Witness(
            example.input,
            example.neighbour,
            event_text.to_json(event),
            example.epsilon if has_epsilon else None,
        ),
        probabilities=excess.to_json(),
    )


def _union(outputs: tuple[Outcome, ...]) -> Union:
    return Union(tuple(OutputEquals(output) for output in outputs))


def _proved(question: Question, done: Progress | SetProgress, measured: Measured, work: Work) -> Verdict:
    entries = done.entries()
    try:
        verdict = proved(question, entries, measured)
    except DoesNotHold as doubt:
        return _undecided(question, str(doubt), measured)
    return kept(question, verdict, {"kind": "proof", "pruned": question.prune, "inequalities": entries}, work)


def proved(question: Question, entries: list[Any], measured: Measured) -> Proved:
    """The verdict that settled inequalities give, if the kernel settles them again.  Raises `DoesNotHold`."""
    check = set_proof.check if is_about_sets(question.claim) else proof.check
    space = question.space()
    checked = check(space, entries)
    findings = (*measured.findings, *_raises_always(question, space), *_endless(space))
    measured = replace(measured, findings=findings)
    return Proved(scope=question.scope, method=METHOD, engine=ENGINE, measured=measured, checked=checked)


def _endless(space: Space) -> tuple[str, ...]:
    """A finding about runs that never return."""
    inputs = space.endless()
    if not inputs:
        return ()
    others = f" and {len(inputs) - 1} other inputs" if len(inputs) > 1 else ""
    return (f"runs on {inputs[0]!r}{others} may never return, which counts as an output ({DOES_NOT_RETURN})",)


def _raises_always(question: Question, space: Space) -> tuple[str, ...]:
    """A mechanism that ends with the same exception whatever its input is private; it is more likely a mistake."""
    first, _ = question.inputs or question._first_pair()
    exact, given = space.on(first)
    laws = (exact.distribution(given, within, space.memo) for within in exact.ranges(given))
    outputs = [one.output for law in laws for one in law.outputs]
    raised = sorted({one.exception for one in outputs if isinstance(one, Raised)})
    if not raised or len(raised) < len(outputs):
        return ()
    return (f"every run on {plain(first)!r} raises {' or '.join(raised)}, which is an output like any other",)


def _undecided(
    question: Question, reason: str, measured: Measured, done: Progress | SetProgress | None = None
) -> Undecided:
    partial: dict[str, object] = {}
    if done is not None:
        partial = {"settled": len(done.settled), "open": len(done.open), "complete": done.complete}
    return Undecided(
        scope=question.scope, method=METHOD, engine=ENGINE, measured=measured, reason=reason, partial=partial
    )


def _why_open(done: Progress | SetProgress, work: Work) -> str:
    if not done.stopped:
        comparison, reason = done.open[0]
        about = f"the output {comparison.output!r} on " if isinstance(comparison, Comparison) else ""
        return (
            f"{len(done.open)} of {len(done.open) + len(done.settled)} inequalities are open; the first is that of "
            f"{about}{plain(comparison.input)!r} and {plain(comparison.neighbour)!r}: {reason}"
        )
    stopped, more = "the time is up", f" (--seconds {4 * (work.seconds or SECONDS):g} for more at once)"
    if work.cancel.requested:
        stopped, more = f"interrupted ({work.cancel.reason})", ""
    left = "none of them has been checked again" if done.complete else "the others have not been looked at"
    is_kept = work.out is not None and isinstance(done, Progress)
    where = f"; they are kept in {work.out}, and the same question goes on from there" if is_kept else ""
    return f"{stopped}: {len(done.settled):,} inequalities hold, and {left}{where}{more}"


def kept(question: Question, verdict: Verdict, evidence: Mapping[str, Any], work: Work) -> Verdict:
    """The verdict with its certificate, if one is to be written."""
    if work.out is None:
        return verdict
    made = certificate(verdict.to_json(), question.reference(), question.claim.arguments(), evidence)
    return replace(verdict, certificate=str(made.write(work.out)))
