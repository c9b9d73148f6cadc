"""``dpverdict prove``: decide a claim exactly, for every ε; ``dpverdict verify``: check a certificate again."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dpverdict.cli import claimed, options
from dpverdict.cli.statuses import DOES_NOT_HOLD, DONE, INTERRUPTED, REFUTED
from dpverdict.cli.subject import find
from dpverdict.cli.values import Typed
from dpverdict.errors import UsageError
from dpverdict.evidence.verdict import Proved, Refuted, Undecided, Verdict
from dpverdict.execute.cancellation import Cancel
from dpverdict.mechanism.outcome import from_json
from dpverdict.mechanism.outcome import text as outcome_text
from dpverdict.mechanism.surroundings import user_code
from dpverdict.proving import OUT, SECONDS, Question, Work, answer
from dpverdict.search.approximate import SetProgress
from dpverdict.search.decision import Progress
from dpverdict.verification import verify as verify_file


def prove(
    target: options.Target,
    claim: claimed.Claimed = None,
    epsilon: claimed.Epsilon = None,
    delta: claimed.Delta = None,
    factor: claimed.Factor = None,
    epsilon_range: claimed.EpsilonRange = None,
    adjacency: claimed.Adjacency = None,
    domain: claimed.Domain = None,
    length: claimed.Length = None,
    arguments: options.Arguments = None,
    tight: Annotated[bool, typer.Option("--tight", help="find the least factor as well")] = False,
    seconds: Annotated[
        str | None, typer.Option("--seconds", metavar="S", help=f"how long it may take ({SECONDS:g})")
    ] = None,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="the folder for the certificate")] = OUT,
    every_pair: Annotated[
        bool, typer.Option("--every-pair", help="leave no pair out because another one is harder")
    ] = False,
    as_json: options.Json = False,
) -> str | tuple[str, int]:
    """Prove or refute a claim exactly, for every ε, on a finite domain."""
    subject = find(target, arguments)
    given = {
        "claim": claim,
        "epsilon": epsilon,
        "delta": delta,
        "factor": factor,
        "epsilon_range": epsilon_range,
        "adjacency": adjacency,
        "domain": domain,
        "length": length,
    }
    with user_code():
        asked = claimed.claim_of(given, claimed.brought_by(subject))
    known = subject.mechanism.arguments(subject.arguments)
    question = Question(target, subject.mechanism, known, asked, not every_pair, tight)
    limit = options.seconds("--seconds", seconds)
    watcher, cancel = _Watcher(), Cancel()
    work = Work(SECONDS if limit is None else limit, watcher.show, options.folder(out), cancel)
    try:
        verdict = answer(question, work)
    finally:
        watcher.clear()
    text = verdict.text() if as_json else "\n".join(_lines(question, verdict))
    if isinstance(verdict, Undecided) and cancel.requested:
        return text, INTERRUPTED
    return text, REFUTED if isinstance(verdict, Refuted) else DONE


# --- what is shown --------------------------------------------------------------------------------------------------


def _lines(question: Question, verdict: Verdict) -> list[str]:
    scope = [
        question.target,
        f"scope: inputs {question.claim.domain.text}, neighbours {question.claim.neighbourhood.text}, "
        f"ε in {question.claim.epsilon_range.text}, over the real numbers",
        "",
    ]
    tight = [] if verdict.tight_factor is None else [f"tight factor: {verdict.to_json()['tight_factor']}"]
    certificate = [f"certificate: {verdict.certificate}"] if verdict.certificate else []
    return [*scope, *_answer(verdict), *tight, *verdict.findings, *certificate]


def _answer(verdict: Verdict) -> list[str]:
    match verdict:
        case Proved():
            return [
                f"PROVED: {_promise(verdict)} in this scope",
                f"  {verdict.checked.settled:,} different inequalities hold, "
                f"each settled and checked again; {verdict.seconds:.2f} s",
            ]
        case Refuted():
            witness, found = verdict.witness, verdict.probabilities
            at = "" if witness.epsilon is None else f" at ε = {witness.epsilon}"
            return [
                f"REFUTED: not {_promise(verdict)}{at}",
                f"  on {witness.input}: the event has probability {found['input_value']}",
                f"      = {found['input']}",
                f"  on {witness.neighbour}: {found['neighbour_value']}",
                f"      = {found['neighbour']}",
                f"  event: {_event(witness.event)}",
                f"  privacy loss: at least {verdict.lower_bound:.10g}; {verdict.seconds:.2f} s",
            ]
        case Undecided():
            return [f"UNDECIDED: {verdict.reason}"]
        case _:
            raise AssertionError(f"a verdict of an unknown kind: {verdict!r}")


def _event(event: Mapping[str, Any]) -> str:
    """The event in words, where it lists outputs; else as it is written down."""
    listed = event["events"] if event["is"] == "union" else [event]
    if all(one["is"] == "equals" for one in listed):
        outputs = [outcome_text(from_json(one["outcome"])) for one in listed]
        return f"the output is {outputs[0]}" if len(outputs) == 1 else f"the output is one of {', '.join(outputs)}"
    return json.dumps(dict(event), ensure_ascii=False)


def _promise(verdict: Verdict) -> str:
    claim = verdict.claim
    factor = "" if claim["factor"] == "1" else f"{claim['factor']}·"
    epsilon = f"{factor}ε" if claim["epsilon"] is None else f"{factor}{claim['epsilon']}"
    kind = f"({epsilon}, {claim['delta']})" if claim["delta"] else epsilon
    return f"{kind}-differentially private"


class _Watcher:
    """A line on standard error about how far the decision is; nothing where nobody looks."""

    def __init__(self) -> None:
        self._watched, self._shown, self._width = sys.stderr.isatty(), time.monotonic(), 0

    def show(self, done: Progress | SetProgress) -> None:
        """Say how many inequalities are settled, a few times a second."""
        now = time.monotonic()
        if self._watched and now - self._shown >= 0.5:
            self._shown = now
            line = f"{len(done.settled):,} inequalities hold, {len(done.open):,} open, {done.seconds:,.0f} s"
            self._width = max(self._width, len(line))
            sys.stderr.write(f"\r{line:<{self._width}}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            sys.stderr.write(f"\r{'':<{self._width}}\r")
            sys.stderr.flush()


# --- verify ---------------------------------------------------------------------------------------------------------


def verify(
    certificate: Annotated[str, typer.Argument(metavar="CERTIFICATE", help="a .json file that dpverdict wrote")],
    as_json: options.Json = False,
) -> str | tuple[str, int]:
    """Check a certificate again: everything that it says is derived anew."""
    if not Path(certificate).exists() and ":" in certificate:
        raise UsageError(
            "USAGE-031",
            "verify takes a certificate, and this looks like a target",
            excerpt=Typed("dpverdict verify", certificate).whole("no such file"),
            why="verify checks the evidence of a verdict that is already there",
            fix=f"did you mean: dpverdict audit {certificate}",
        )
    found = verify_file(certificate)
    status = DONE if found.holds else DOES_NOT_HOLD
    if as_json:
        return json.dumps(found.to_json(), ensure_ascii=False), status
    if found.holds:
        more = f": {found.comparisons:,} inequalities were derived and settled again" if found.comparisons else ""
        return f"the certificate holds ({found.verdict}){more}", status
    return f"the certificate does not hold ({found.verdict}): {found.reason}", status
