"""Proving or refuting a claim exactly, and checking the certificate again: `dpverdict.prove` and `dpverdict.verify`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from dpverdict.claim import Claim, from_arguments
from dpverdict.claim.values import plain
from dpverdict.errors import CertificateError, DPVerdictError, UnreadableError, UntraceableError
from dpverdict.evidence import event_text
from dpverdict.evidence.certificate import Certificate, certificate, read
from dpverdict.evidence.events import Event, OutputEquals, Union
from dpverdict.evidence.verdict import Measured, Proved, Refuted, Scope, Undecided, Verdict, Witness
from dpverdict.evidence.verify import proof, set_proof, violation
from dpverdict.evidence.verify.comparisons import Comparison, Space, comparisons
from dpverdict.evidence.verify.judged_events import judge_of
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.sets import is_about_sets
from dpverdict.evidence.verify.violation import Counterexample
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.explain import explain
from dpverdict.mechanism.outcome import Outcome
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.search.approximate import SetProgress, SetViolation, settle_sets
from dpverdict.search.decision import Progress, Violation, settle
from dpverdict.search.tight import tight_factor
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

        def program_for(given: Any) -> ExactProgram:
            with user_code():
                program = self.mechanism.program_for(given, self.arguments)
            if not known or known[-1].program is not program:
                known.append(ExactProgram.of(program, judge))
            return known[-1]

        return Space(self.claim, program_for, self.prune)

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

    def fingerprint(self) -> str:
        """The SHA-256 of the mechanism's program for the first input, as text."""
        first, _ = self.inputs or next(iter(self.claim.pairs()), (None, None))
        with user_code():
            program = self.mechanism.program_for(plain(first), self.arguments)
        return hashlib.sha256(explain(program).encode()).hexdigest()


Listener: TypeAlias = Callable[[Progress | SetProgress], None]
"""Hears, after each comparison, what is settled so far."""


@dataclass(frozen=True, slots=True)
class Work:
    """How long a decision may take, who hears of it, and where the certificate goes (None: nowhere)."""

    seconds: float | None = SECONDS
    listen: Listener | None = None
    out: Path | None = field(default_factory=lambda: Path(OUT))


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
    is about the scope in the verdict.  The certificate is written into the folder `out`, unless that is None.
    """
    question = replace(question_of(target, args, claim, prune=True), tight=tight)
    return answer(question, Work(seconds, None, None if out is None else Path(out)))


def question_of(target: Any, args: Mapping[str, Any] | None, claim: Mapping[str, Any], *, prune: bool) -> Question:
    """The question that Python arguments ask."""
    if isinstance(target, str):
        with user_code():
            mechanism, name = load(target), target
    else:
        mechanism = target if isinstance(target, Mechanism) else Mechanism(target)
        name = f"{mechanism.function.__module__}:{mechanism.name}"
    return Question(name, mechanism, mechanism.arguments(args), from_arguments(**claim), prune)


def answer(question: Question, work: Work) -> Verdict:
    """Decide, let the kernel check what was decided, and write the certificate."""
    done: Progress | SetProgress
    try:
        measured = _with_tight_factor(question) if question.tight else Measured()
        if is_about_sets(question.claim):
            done = settle_sets(question.space(), work.seconds, work.listen)
        else:
            done = settle(question.space(), work.seconds, work.listen)
    except (UntraceableError, UnreadableError) as error:
        return _undecided(question, f"{error.message}: {error.why}; {error.fix}", Measured())
    measured = replace(measured, seconds=done.seconds)
    if done.violation is not None:
        return _refuted(question, done.violation, measured, work)
    if done.complete and not done.open:
        return _proved(question, done, measured, work)
    return _undecided(question, _why_open(done, work), measured, done)


def _with_tight_factor(question: Question) -> Measured:
    found = tight_factor(comparisons(question.space()), question.claim)
    where = f"the tight factor is reached or approached at {found.where}"
    if found.exact is None:
        where = f"the tight factor lies from {found.low} to {found.high}: {where}"
    findings = (where, *([found.reason] if found.reason else []))
    return Measured(tight_factor=found.high if found.exact is None else found.exact, findings=findings)


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
    excess = violation.check(question.space(event), example)
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
    checked = check(question.space(), entries)
    return Proved(scope=question.scope, method=METHOD, engine=ENGINE, measured=measured, checked=checked)


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
    if done.open:
        comparison, reason = done.open[0]
        about = f"the output {comparison.output!r} on " if isinstance(comparison, Comparison) else ""
        return (
            f"{len(done.open)} of {len(done.open) + len(done.settled)} inequalities are open; the first is that of "
            f"{about}{plain(comparison.input)!r} and {plain(comparison.neighbour)!r}: {reason}"
        )
    return (
        f"the time is up: {len(done.settled):,} inequalities hold, and the others have not been looked at; "
        f"--seconds {4 * (work.seconds or SECONDS):g}, a shorter --length or a smaller --domain"
    )


def kept(question: Question, verdict: Verdict, evidence: Mapping[str, Any], work: Work) -> Verdict:
    """The verdict with its certificate, if one is to be written."""
    if work.out is None:
        return verdict
    made = certificate(verdict.to_json(), question.reference(), question.claim.arguments(), evidence)
    return replace(verdict, certificate=str(made.write(work.out)))


# --- checking again -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a certificate holds, and why not."""

    holds: bool
    verdict: str
    reason: str | None
    comparisons: int | None = None

    def to_json(self) -> dict[str, object]:
        """What `dpverdict verify --json` prints."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "reason": self.reason,
            "comparisons": self.comparisons,
        }


def verify(path: str | Path) -> Verification:
    """Derive a certificate again: its digest, its mechanism, its claim, and everything that backs the verdict."""
    made = read(str(path))
    word = str(made.verdict.get("verdict"))
    try:
        return Verification(True, word, None, _check(made))
    except DoesNotHold as doubt:
        return Verification(False, word, str(doubt))
    except UnreadableError as error:
        return Verification(False, word, f"{error.message}: {error.why}")


def _check(made: Certificate) -> int | None:
    if made.content.get("digest") != made.digest:
        raise DoesNotHold("its digest is another one than that of its content: it was changed after it was written")
    question = _question(made)
    if question.fingerprint() != made.mechanism.get("program"):
        raise DoesNotHold(f"{question.target} is another program now than the one that was judged")
    evidence = made.evidence
    match evidence.get("kind"):
        case "proof":
            entries = evidence.get("inequalities")
            if not isinstance(entries, list):
                raise DoesNotHold("it lists no inequalities")
            verdict: Verdict = proved(question, entries, Measured())
        case "violation":
            verdict = refutation(question, *_counterexample(evidence))
        case other:
            raise CertificateError(
                "CERT-004",
                f"evidence of the kind {other!r}",
                why="this release checks proofs and exact counterexamples",
                fix="the release of dpverdict that wrote it, named under its key environment",
            )
    _compare(made.verdict, verdict.to_json())
    return verdict.checked.settled if isinstance(verdict, Proved) else None


def _question(made: Certificate) -> Question:
    target, arguments = made.mechanism.get("target"), made.mechanism.get("arguments")
    if not isinstance(target, str) or not isinstance(arguments, dict):
        raise DoesNotHold("it does not say which mechanism it is about")
    prune = made.evidence.get("pruned", True)
    try:
        question = question_of(target, arguments, dict(made.claim), prune=prune is True)
        inputs = (made.evidence.get("input"), made.evidence.get("neighbour")) if "event" in made.evidence else None
        return replace(question, inputs=inputs)
    except DPVerdictError as error:
        raise DoesNotHold(f"its mechanism or its claim cannot be read again: {error.message}; {error.why}") from None


def _counterexample(evidence: Mapping[str, Any]) -> tuple[Counterexample, Measured, Event | None]:
    event: Event | None = None
    outputs: tuple[Outcome, ...] = (True,)
    try:
        epsilon = Fraction(str(evidence.get("epsilon")))
        if "event" in evidence:
            event = event_text.one_event(event_text.from_json(evidence["event"]))
        else:
            found = event_text.from_json(evidence.get("outputs"))
            outputs = tuple(one.outcome for one in (found.events if isinstance(found, Union) else (found,)))  # type: ignore[union-attr]
    except (AttributeError, ValueError, ZeroDivisionError, DPVerdictError) as error:
        raise DoesNotHold(f"its event or its ε cannot be read: {error}") from None
    return Counterexample(outputs, evidence.get("input"), evidence.get("neighbour"), epsilon), Measured(), event


_DERIVED = ("verdict", "claim", "scope", "lower_bound", "upper_bound", "method", "engine", "witness", "probabilities")


def _compare(written: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    for name in _DERIVED:
        if written.get(name) != derived.get(name):
            raise DoesNotHold(f"its {name} is {written.get(name)!r}, and what it shows is {derived.get(name)!r}")
