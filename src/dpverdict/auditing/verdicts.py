"""From what the kernel says about counts to a verdict with its certificate; and such a certificate checked again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpverdict.auditing.subject import Task
from dpverdict.claim import Claim, from_arguments
from dpverdict.errors import DPVerdictError
from dpverdict.evidence import event_text
from dpverdict.evidence.certificate import Certificate, certificate
from dpverdict.evidence.counts import CoinCounts
from dpverdict.evidence.power import pooled_power_epsilon
from dpverdict.evidence.verdict import Measured, Refuted, Scope, Undecided, Verdict, Witness
from dpverdict.evidence.verify import counts as kernel
from dpverdict.evidence.verify.counts import METHOD, Judgement, Ledger, Shown
from dpverdict.evidence.verify.refusal import DoesNotHold

ENGINE = "adaptive"


@dataclass(frozen=True, slots=True)
class Found:
    """The ledger so far, what it shows, how many runs were made, and what was noticed about them."""

    ledger: Ledger
    judgement: Judgement
    runs: int = 0
    findings: tuple[str, ...] = ()
    fault: str | None = None
    """Why nothing of this counts: runs are not independent."""

    replayable: bool = True


def verdict_of(task: Task, found: Found) -> Verdict:
    """The verdict, and its certificate where there is something to check."""
    scope = Scope(task.claim, "as-run", found.replayable)
    refuted = found.judgement.refuted
    if found.fault is not None:
        measured = Measured(alpha=float(task.budget.alpha), **_common(task, found))
        return Undecided(scope=scope, method=METHOD, engine=ENGINE, measured=measured, reason=found.fault)
    measured = Measured(
        alpha=float(task.budget.alpha),
        lower_bound=found.judgement.lower_bound,
        power_epsilon=_power(found) if refuted is None else None,
        **_common(task, found),
    )
    if refuted is not None:
        return _kept(task, found, _refuted(scope, refuted, found.ledger, measured))
    return _kept(
        task, found, Undecided(scope=scope, method=METHOD, engine=ENGINE, measured=measured, reason=_why(found))
    )


def _common(task: Task, found: Found) -> dict[str, Any]:
    seconds = time.perf_counter() - task.begun
    return {"runs": found.runs, "seconds": seconds, "seed": task.budget.seed, "findings": found.findings}


def _refuted(scope: Scope, shown: Shown, ledger: Ledger, measured: Measured) -> Refuted:
    confirmation, candidate = shown.confirmation, shown.candidate
    return Refuted(
        scope=scope,
        method=METHOD,
        engine=ENGINE,
        measured=measured,
        witness=Witness(
            confirmation.input,
            confirmation.neighbour,
            event_text.to_json(candidate.sides),
            ledger.epsilon,
        ),
        probabilities=_rates(candidate.counts),
    )


def _rates(counts: CoinCounts) -> dict[str, object]:
    """What was counted; estimates for people, the statement is the bound."""
    sides = {"input": counts.on_input, "neighbour": counts.on_neighbour}
    texts: dict[str, object] = {
        name: f"{side.plus:,} of {side.runs:,} runs in S+" + (f", {side.minus:,} in S-" if counts.two_sided else "")
        for name, side in sides.items()
    }
    return {**texts, "right": counts.right, "hits": counts.hits}


def _power(found: Found) -> float | None:
    """What the largest confirmation would have found with 90 % probability, on the events that it had."""
    if found.ledger.is_bound or not found.judgement.shown:
        return None
    return min(
        pooled_power_epsilon(one.candidate.counts, one.candidate.promise, one.alpha) for one in found.judgement.shown
    )


def _why(found: Found) -> str:
    if found.ledger.is_bound:
        return "a lower bound judges no claim: it says how large the privacy loss is at least"
    if not found.judgement.shown:
        return "the search found nothing that distinguishes the inputs, so there was nothing to confirm"
    return "no event that the search found contradicts the claim on fresh runs; that is no proof that none does"


def _kept(task: Task, found: Found, verdict: Verdict) -> Verdict:
    if task.budget.out is None or not found.judgement.shown:
        return verdict
    evidence = {**kernel.to_json(found.ledger), "seed": task.budget.seed, "runs": found.runs}
    made = certificate(verdict.to_json(), task.subject.reference(), task.claim.arguments(), evidence)
    return replace(verdict, certificate=str(made.write(task.budget.out)))


# --- checking again --------------------------------------------------------------------------------------------------

_NAMES = ("verdict", "lower_bound", "method", "alpha", "witness", "probabilities")


def check(made: Certificate) -> None:
    """Derive what the counts of a certificate show.  Raises `DoesNotHold` where that is not what it says."""
    claim, ledger = _claim(made), kernel.from_json(made.evidence)
    judgement, said = kernel.judge(claim, ledger), made.verdict
    shown = judgement.refuted
    derived: Mapping[str, Any] = {
        "verdict": "undecided" if shown is None else "refuted",
        "lower_bound": judgement.lower_bound,
        "method": METHOD,
        "alpha": float(ledger.alpha),
        "witness": None,
        "probabilities": None,
    }
    if shown is not None:
        scope = Scope(claim, "as-run")
        full = _refuted(scope, shown, ledger, Measured()).to_json()
        derived = {**derived, "witness": full["witness"], "probabilities": full["probabilities"]}
    expected = {**derived, "claim": claim.to_json(), **_scope(claim)}
    written = {**{name: said.get(name) for name in (*_NAMES, "claim")}, **_scope_written(said, claim)}
    for name, value in expected.items():
        if written.get(name) != value:
            raise DoesNotHold(f"its {name} is {written.get(name)!r}, and what its counts show is {value!r}")


def _scope(claim: Claim) -> dict[str, object]:
    return claim.scope_to_json()


def _scope_written(said: Mapping[str, Any], claim: Claim) -> dict[str, object]:
    scope = said.get("scope")
    if not isinstance(scope, dict) or scope.get("arithmetic") != "as-run":
        raise DoesNotHold("runs are about the code as it ran, and its scope does not say so")
    return {name: scope.get(name) for name in claim.scope_to_json()}


def _claim(made: Certificate) -> Claim:
    try:
        return from_arguments(**dict(made.claim))
    except (TypeError, DPVerdictError) as error:
        raise DoesNotHold(f"its claim cannot be read again: {error}") from None
