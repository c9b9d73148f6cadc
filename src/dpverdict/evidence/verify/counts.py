"""The kernel's part for runs: what counts of a confirmation show, from the counts alone.

A confirmation is planned before its runs: how α is divided among rounds, and in each round the pair, the events and the
promise that each event is held against.  All statements together are wrong with probability at most α, if runs are
independent and the coin of each run was fair, which no count can show.  That the events were fixed before the runs
is what their digest records; whoever repeats the runs with fresh seeds need not believe it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverdict.claim.claim import Claim, Proportional
from dpverdict.claim.guarantee import Approximate, Guarantee
from dpverdict.claim.values import plain
from dpverdict.errors import DPVerdictError
from dpverdict.evidence import event_text
from dpverdict.evidence.allowance import Allowance, error_probability
from dpverdict.evidence.bounds import RightRate, right_rate
from dpverdict.evidence.counts import CoinCounts, SideCounts
from dpverdict.evidence.events import Sides
from dpverdict.evidence.verify.refusal import DoesNotHold

KIND, METHOD = "counts", "pooled-binomial"

_MOST_ROUNDS = 64
_MOST_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two events, the promise that they are held against, and how often they happened."""

    sides: Sides
    promise: Approximate
    counts: CoinCounts


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A round: a pair, its candidates, and which part of α they share (by its number among all planned ones)."""

    round: int
    input: Any
    neighbour: Any
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Ledger:
    """α, how it is divided among rounds, the rounds that were run, and the mechanism's ε where it has one.

    `is_bound` says that no promise is judged: the promises have ε = 0, and their δ is that of the bound.
    """

    alpha: Fraction
    weights: tuple[int, ...]
    confirmations: tuple[Confirmation, ...]
    epsilon: Fraction | None
    is_bound: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What one candidate shows, and with which error."""

    confirmation: Confirmation
    candidate: Candidate
    rate: RightRate
    alpha: Fraction
    refutes: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """What all candidates show together; the strongest one comes first."""

    shown: tuple[Shown, ...]
    lower_bound: float | None

    @property
    def refuted(self) -> Shown | None:
        """The strongest candidate that refutes its promise."""
        return next((one for one in self.shown if one.refutes), None)


def judge(claim: Claim, ledger: Ledger) -> Judgement:
    """What the counts show about the claim.  Raises `DoesNotHold` where they are not about it."""
    guarantee, delta = promised(claim, ledger.epsilon)
    if not ledger.weights or min(ledger.weights) < 1:
        raise DoesNotHold("α is divided by positive weights")
    if len({one.round for one in ledger.confirmations}) < len(ledger.confirmations):
        raise DoesNotHold("two rounds share one part of α")
    parts = dict(enumerate(Allowance(ledger.alpha).split(*ledger.weights)))
    shown = list[Shown]()
    for confirmation in ledger.confirmations:
        why = claim.why_not_about(confirmation.input, confirmation.neighbour)
        if why is not None:
            raise DoesNotHold(f"the claim says nothing about its pair: {why}")
        if confirmation.round not in parts or not confirmation.candidates:
            raise DoesNotHold(f"round {confirmation.round} has no part of α, or nothing to spend it on")
        shares = parts[confirmation.round].split(*[1] * len(confirmation.candidates))
        for candidate, share in zip(confirmation.candidates, shares, strict=True):
            _check(candidate, claim, ledger, guarantee)
            alpha = share.probability
            rate = right_rate(candidate.counts, share, candidate.promise.delta)
            refutes = not ledger.is_bound and rate.refutes(candidate.promise.epsilon)
            shown.append(Shown(confirmation, candidate, rate, alpha, refutes))
    bounds = [one.rate.epsilon for one in shown if one.candidate.promise.delta == delta]
    known = [bound for bound in bounds if bound is not None]
    return Judgement(tuple(sorted(shown, key=_strength)), max(known, default=None))


def promised(claim: Claim, epsilon: Fraction | None) -> tuple[Guarantee, Fraction]:
    """The promise at the mechanism's ε, and its δ, which a bound on ε goes with."""
    proportional = isinstance(claim.guarantee, Proportional)
    if proportional and epsilon is not None and epsilon not in claim.epsilon_range:
        raise DoesNotHold(f"the claim is about ε in {claim.epsilon_range.text}, and the runs had {epsilon}")
    guarantee = claim.guarantee_at(epsilon if proportional else None)
    if isinstance(guarantee, Approximate):
        return guarantee, guarantee.delta
    return guarantee, Fraction(0)


def _check(candidate: Candidate, claim: Claim, ledger: Ledger, guarantee: Guarantee) -> None:
    """Whether the claim, if it is true, keeps the promise that the candidate is held against."""
    promise = candidate.promise
    if candidate.counts.two_sided != (candidate.sides.minus is not None):
        raise DoesNotHold("its counts and its events differ in whether S⁻ is in use")
    if candidate.counts.two_sided and not claim.neighbourhood.symmetric:
        raise DoesNotHold("S⁻ is evidence about (a′, a), of which the claim says nothing")
    if ledger.is_bound:
        if promise.epsilon != 0:
            raise DoesNotHold("a bound is held against no ε")
    elif promise.delta < guarantee.delta_at(promise.epsilon):
        raise DoesNotHold(f"the claim {guarantee.text} does not imply {promise.text}")


def _strength(one: Shown) -> tuple[bool, float]:
    epsilon = one.rate.epsilon
    excess = -1e9 if epsilon is None else epsilon - float(one.candidate.promise.epsilon)
    return not one.refutes, -excess


# --- as JSON ---------------------------------------------------------------------------------------------------------


def to_json(ledger: Ledger) -> dict[str, Any]:
    """The evidence of a certificate."""
    return {
        "kind": KIND,
        "method": METHOD,
        "asks": "bound" if ledger.is_bound else "claim",
        "alpha": str(ledger.alpha),
        "weights": list(ledger.weights),
        "epsilon": None if ledger.epsilon is None else str(ledger.epsilon),
        "rounds": [
            {
                "round": one.round,
                "input": plain(one.input),
                "neighbour": plain(one.neighbour),
                "candidates": [_candidate_to_json(candidate) for candidate in one.candidates],
            }
            for one in ledger.confirmations
        ],
    }


def _candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    counts, promise = candidate.counts, candidate.promise
    return {
        "event": event_text.to_json(candidate.sides),
        "digest": event_text.digest(candidate.sides),
        "epsilon": str(promise.epsilon),
        "delta": str(promise.delta),
        "on_input": [counts.on_input.runs, counts.on_input.plus, counts.on_input.minus],
        "on_neighbour": [counts.on_neighbour.runs, counts.on_neighbour.plus, counts.on_neighbour.minus],
        "two_sided": counts.two_sided,
    }


def from_json(content: Mapping[str, Any]) -> Ledger:
    """The ledger that `to_json` wrote.  Raises `DoesNotHold`."""
    try:
        if content["method"] != METHOD:
            raise DoesNotHold(f"its method is {content['method']!r}, and this release knows {METHOD}")
        epsilon, rounds = content["epsilon"], content["rounds"]
        if len(rounds) > _MOST_ROUNDS:
            raise DoesNotHold(f"it has {len(rounds):,} rounds")
        return Ledger(
            error_probability(Fraction(content["alpha"])),
            tuple(_whole(weight) for weight in content["weights"]),
            tuple(_confirmation(one) for one in rounds),
            None if epsilon is None else Fraction(epsilon),
            content["asks"] == "bound",
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, DPVerdictError) as error:
        raise DoesNotHold(f"its counts cannot be read: {type(error).__name__}: {error}") from None


def _confirmation(content: Mapping[str, Any]) -> Confirmation:
    candidates = content["candidates"]
    if len(candidates) > _MOST_CANDIDATES:
        raise DoesNotHold(f"a round has {len(candidates):,} candidates")
    return Confirmation(
        _whole(content["round"]),
        content["input"],
        content["neighbour"],
        tuple(_candidate(one) for one in candidates),
    )


def _candidate(content: Mapping[str, Any]) -> Candidate:
    sides = event_text.from_json(content["event"])
    if not isinstance(sides, Sides):
        raise DoesNotHold("its event does not say which sides it has")
    if event_text.digest(sides) != content["digest"]:
        raise DoesNotHold("the digest of its event is another one: the event was changed")
    on_input, on_neighbour = (SideCounts(*content[name]) for name in ("on_input", "on_neighbour"))
    promise = Approximate(Fraction(content["epsilon"]), Fraction(content["delta"]))
    return Candidate(sides, promise, CoinCounts(on_input, on_neighbour, content["two_sided"] is True))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value
