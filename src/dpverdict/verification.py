"""Checking a certificate again: `dpverdict.verify`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from dpverdict.auditing import verdicts
from dpverdict.claim.exact_numbers import exact
from dpverdict.errors import CertificateError, DPVerdictError
from dpverdict.evidence import event_text
from dpverdict.evidence.certificate import Certificate, read
from dpverdict.evidence.events import Event, Union
from dpverdict.evidence.verdict import Measured, Proved, Verdict
from dpverdict.evidence.verify.counts import KIND
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.violation import Counterexample
from dpverdict.mechanism.loading import is_path
from dpverdict.mechanism.outcome import Outcome
from dpverdict.mechanism.surroundings import user_code
from dpverdict.proving import Question, proved, question_of, refutation, with_tight_factor


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a certificate holds, and why not."""

    holds: bool
    verdict: str
    reason: str | None
    comparisons: int | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError("ask .holds, and .verdict for what it is that holds")

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
        with user_code():
            return Verification(True, word, None, _check(made, Path(path).parent))
    except DoesNotHold as doubt:
        return Verification(False, word, str(doubt))


def _check(made: Certificate, folder: Path) -> int | None:
    if made.content.get("digest") != made.digest:
        raise DoesNotHold("its digest is another one than that of its content: it was changed after it was written")
    if made.evidence.get("kind") == KIND:
        verdicts.check(made)
        return None
    try:
        question = _question(made, folder)
        verdict = _derived(question, made.evidence)
    except CertificateError:
        raise
    except DPVerdictError as error:
        target = made.mechanism.get("target")
        raise DoesNotHold(f"{target} cannot be judged again: {error.message}; {error.why}") from None
    _compare("claim", made.claim, dict(question.claim.arguments()))
    derived = verdict.to_json()
    if "event" in made.evidence:
        # What an event shows with the inputs exchanged is a remark beside the verdict.
        derived["findings"] = made.verdict.get("findings")
    _compare("verdict", made.verdict, derived)
    return verdict.checked.settled if isinstance(verdict, Proved) else None


def _derived(question: Question, evidence: Mapping[str, Any]) -> Verdict:
    """The verdict that the evidence gives."""
    measured = with_tight_factor(question) if question.tight else Measured()
    match evidence.get("kind"):
        case "proof":
            entries = evidence.get("inequalities")
            if not isinstance(entries, list):
                raise DoesNotHold("it lists no inequalities")
            return proved(question, entries, measured)
        case "violation":
            example, event = _counterexample(evidence)
            return refutation(question, example, measured, event)
        case other:
            raise CertificateError(
                "CERT-004",
                f"evidence of the kind {other!r}",
                why="this release checks proofs, exact counterexamples and counts of runs",
                fix="the release of dpverdict that wrote it, named under its key environment",
            )


def _question(made: Certificate, folder: Path) -> Question:
    target, arguments = made.mechanism.get("target"), made.mechanism.get("arguments")
    if not isinstance(target, str) or not isinstance(arguments, dict):
        raise DoesNotHold("it does not say which mechanism it is about")
    prune = made.evidence.get("pruned", True)
    if not isinstance(prune, bool):
        raise DoesNotHold(f"pairs were left out or not, which is no {prune!r}")
    found = question_of(_found(target, folder), arguments, dict(made.claim), prune=prune)
    inputs = (made.evidence.get("input"), made.evidence.get("neighbour")) if "event" in made.evidence else None
    tight = made.verdict.get("tight_factor") is not None
    question = replace(found, target=target, inputs=inputs, tight=tight)
    question.check()
    if question.fingerprint() != made.mechanism.get("program"):
        raise DoesNotHold(f"{target} is another program now than the one that was judged")
    _compare("mechanism", made.mechanism, question.reference())
    return question


def _found(target: str, folder: Path) -> str:
    """A relative file as seen from here, else from the certificate's folder, else from the one around that."""
    source, _, name = target.rpartition(":")
    if is_path(source) and not Path(source).exists():
        for place in (folder, folder.absolute().parent):
            if (place / source).is_file():
                return f"{place / source}:{name}"
    return target


def _counterexample(evidence: Mapping[str, Any]) -> tuple[Counterexample, Event | None]:
    event: Event | None = None
    outputs: tuple[Outcome, ...] = (True,)
    try:
        if "event" in evidence:
            event = event_text.one_event(event_text.from_json(evidence["event"]))
        else:
            found = event_text.from_json(evidence.get("outputs"))
            outputs = tuple(one.outcome for one in (found.events if isinstance(found, Union) else (found,)))  # type: ignore[union-attr]
        epsilon = exact(str(evidence["epsilon"]), "epsilon=")
        if str(epsilon) != evidence["epsilon"]:
            raise ValueError(f"{evidence['epsilon']!r} is written {str(epsilon)!r}")
    except (AttributeError, KeyError, ValueError, DPVerdictError) as error:
        raise DoesNotHold(f"its event or its ε cannot be read: {error}") from None
    return Counterexample(outputs, evidence.get("input"), evidence.get("neighbour"), epsilon), event


_UNDERIVED = ("seconds",)
"""What says nothing about the mechanism: the digest alone protects it."""


def _compare(part: str, written: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    """Keys that nothing here derives are those of another release: they are kept, and nobody vouches for them."""
    for name, value in derived.items():
        # As text: to Python, 1, 1.0 and True are equal.
        if name not in _UNDERIVED and json.dumps(written.get(name)) != json.dumps(value):
            raise DoesNotHold(f"the {name} of its {part} is {written.get(name)!r}, and what it shows is {value!r}")
