"""Proving or refuting a claim exactly, and checking the certificate again: `dpverdict.prove` and `dpverdict.verify`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverdict.claim import Approximate, Claim, Proportional, from_arguments
from dpverdict.claim.values import plain
from dpverdict.errors import CertificateError, DPVerdictError, UnreadableError, UntraceableError
from dpverdict.evidence import event_text
from dpverdict.evidence.certificate import Certificate, certificate, read
from dpverdict.evidence.events import OutputEquals, Union
from dpverdict.evidence.verdict import Measured, Proved, Refuted, Scope, Undecided, Verdict, Witness
from dpverdict.evidence.verify import proof, set_json, violation
from dpverdict.evidence.verify.comparisons import Space, comparisons
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.violation import Counterexample
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.explain import explain
from dpverdict.mechanism.outcome import Outcome
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.search.approximate import settle_sets
from dpverdict.search.decision import Listener, Progress, settle
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

    def space(self) -> Space:
        """The mechanism's exact programs, none of them looked for yet."""

        def program_for(given: Any) -> ExactProgram:
            with user_code():
                return ExactProgram.of(self.mechanism.program_for(given, self.arguments))

        return Space(self.claim, program_for, self.prune)

    @property
    def is_about_sets(self) -> bool:
        """Whether δ > 0, so that sets of outputs have to be compared and not only single ones."""
        return isinstance(self.claim.guarantee, Proportional | Approximate) and self.claim.guarantee.delta != 0

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
        """The SHA-256 of the mechanism's program for the claim's first input, as text."""
        first, _ = next(iter(self.claim.pairs()), (None, None))
        with user_code():
            program = self.mechanism.program_for(plain(first), self.arguments)
        return hashlib.sha256(explain(program).encode()).hexdigest()


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
    try:
        if question.is_about_sets:
            if question.tight:
                tight_factor([], question.claim)  # says why there is none
            return _answer_sets(question, work)
        done = settle(question.space(), work.seconds, work.listen)
    except (UntraceableError, UnreadableError) as error:
        return _undecided(question, f"{error.message}: {error.why}; {error.fix}", Measured())
    measured = Measured(seconds=done.seconds)
    if question.tight:
        measured = _with_tight_factor(question, measured)
    if done.violation is not None:
        one = done.violation.comparison
        example = Counterexample((one.output,), one.input, one.neighbour, done.violation.epsilon)
        return _refuted(question, example, measured, work)
    if done.complete and not done.open:
        return _proved(question, [settled.to_json() for settled in done.settled], measured, work)
    return _undecided(question, _why_open(done, work), measured, (len(done.settled), len(done.open), done.complete))


def _with_tight_factor(question: Question, measured: Measured) -> Measured:
    found = tight_factor(comparisons(question.space()), question.claim)
    where = f"the tight factor is reached or approached at {found.where}"
    if found.exact is None:
        where = f"the tight factor lies from {found.low} to {found.high}: {where}"
    reasons = (where, *([found.reason] if found.reason else []))
    return replace(measured, tight_factor=found.high if found.exact is None else found.exact, findings=reasons)


def _answer_sets(question: Question, work: Work) -> Verdict:
    done = settle_sets(question.space(), work.seconds, None)
    measured, found = Measured(seconds=done.seconds), done.violation
    if found is not None:
        outputs = tuple(one.output for one in found.outputs)
        one = found.comparison
        return _refuted(question, Counterexample(outputs, one.input, one.neighbour, found.epsilon), measured, work)
    if done.complete and not done.open:
        entries: list[Any] = [
            [plain(asked.comparison.input), plain(asked.comparison.neighbour), set_json.to_json(shown, asked)]
            for asked, shown in done.settled
        ]
        return _proved(question, entries, measured, work)
    reason = _time_is_up(len(done.settled), work)
    if done.open:
        pair, why = done.open[0]
        reason = (
            f"{len(done.open)} pairs are open; the first is {plain(pair.input)!r}, {plain(pair.neighbour)!r}: {why}"
        )
    return _undecided(question, reason, measured, (len(done.settled), len(done.open), done.complete))


def _refuted(question: Question, example: Counterexample, measured: Measured, work: Work) -> Verdict:
    try:
        verdict = refutation(question, example, measured)
    except DoesNotHold as doubt:
        return _undecided(question, f"a counterexample was found, but the check does not confirm it: {doubt}", measured)
    evidence = {
        "kind": "violation",
        "outputs": verdict.witness.event,
        "input": plain(example.input),
        "neighbour": plain(example.neighbour),
        "epsilon": str(example.epsilon),
    }
    return _kept(question, verdict, evidence, work)


def refutation(question: Question, example: Counterexample, measured: Measured) -> Refuted:
    """The verdict that a counterexample gives, if the kernel confirms it.  Raises `DoesNotHold`."""
    excess = violation.check(question.space(), example)
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


def _proved(question: Question, entries: list[Any], measured: Measured, work: Work) -> Verdict:
    try:
        verdict = proved(question, entries, measured)
    except DoesNotHold as doubt:
        return _undecided(question, str(doubt), measured)
    return _kept(question, verdict, {"kind": "proof", "pruned": question.prune, "inequalities": entries}, work)


def proved(question: Question, entries: list[Any], measured: Measured) -> Proved:
    """The verdict that settled inequalities give, if the kernel settles them again.  Raises `DoesNotHold`."""
    checked = (proof.check_sets if question.is_about_sets else proof.check)(question.space(), entries)
    return Proved(scope=question.scope, method=METHOD, engine=ENGINE, measured=measured, checked=checked)


def _undecided(
    question: Question, reason: str, measured: Measured, done: tuple[int, int, bool] | None = None
) -> Undecided:
    partial = {} if done is None else dict(zip(("settled", "open", "complete"), done, strict=True))
    return Undecided(
        scope=question.scope, method=METHOD, engine=ENGINE, measured=measured, reason=reason, partial=partial
    )


def _why_open(done: Progress, work: Work) -> str:
    if done.open:
        comparison, reason = done.open[0]
        return (
            f"{len(done.open)} of {len(done.open) + len(done.settled)} inequalities are open; the first is that of the "
            f"output {comparison.output!r} on {plain(comparison.input)!r} and {plain(comparison.neighbour)!r}: {reason}"
        )
    return _time_is_up(len(done.settled), work)


def _time_is_up(settled: int, work: Work) -> str:
    return (
        f"the time is up: {settled:,} inequalities hold, and the others have not been looked at; "
        f"--seconds {4 * (work.seconds or SECONDS):g}, a shorter --length or a smaller --domain"
    )


def _kept(question: Question, verdict: Verdict, evidence: Mapping[str, Any], work: Work) -> Verdict:
    if work.out is None:
        return verdict
    made = certificate(verdict.to_json(), question.reference(), question.claim.arguments(), evidence)
    return replace(verdict, certificate=str(made.write(work.out)))


# --- checking again -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a certificate holds, and why not; how many comparisons a proof has."""

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
    return verified(read(str(path)), check)


def verified(made: Certificate, derive: Callable[[Certificate], int | None]) -> Verification:
    """Whether a certificate is as it was written, and holds as it is derived again in this way."""
    word = str(made.verdict.get("verdict"))
    try:
        if made.content.get("digest") != made.digest:
            raise DoesNotHold("its digest is another one than that of its content: it was changed after it was written")
        return Verification(True, word, None, derive(made))
    except DoesNotHold as doubt:
        return Verification(False, word, str(doubt))


def check(made: Certificate) -> int | None:
    """Derive a proof or a counterexample again; the number of a proof's comparisons.  Raises `DoesNotHold`."""
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
            verdict = refutation(question, _example(evidence), Measured())
        case other:
            raise CertificateError(
                "CERT-004",
                f"evidence of the kind {other!r}",
                why="this release checks proofs, exact counterexamples and counts of runs",
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
        return question_of(target, arguments, dict(made.claim), prune=prune is True)
    except DPVerdictError as error:
        raise DoesNotHold(f"its mechanism or its claim cannot be read again: {error.message}; {error.why}") from None


def _example(evidence: Mapping[str, Any]) -> Counterexample:
    try:
        event = event_text.from_json(evidence.get("outputs"))
        outputs = tuple(one.outcome for one in (event.events if isinstance(event, Union) else (event,)))  # type: ignore[union-attr]
        epsilon = Fraction(str(evidence.get("epsilon")))
    except (AttributeError, ValueError, ZeroDivisionError, DPVerdictError) as error:
        raise DoesNotHold(f"its event or its ε cannot be read: {error}") from None
    return Counterexample(outputs, evidence.get("input"), evidence.get("neighbour"), epsilon)


_DERIVED = ("verdict", "claim", "scope", "lower_bound", "upper_bound", "method", "engine", "witness", "probabilities")


def _compare(written: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    for name in _DERIVED:
        if written.get(name) != derived.get(name):
            raise DoesNotHold(f"its {name} is {written.get(name)!r}, and what it shows is {derived.get(name)!r}")
