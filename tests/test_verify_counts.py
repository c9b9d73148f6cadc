"""The kernel's part for counts: what they show, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpverdict.claim import Approximate, Claim, from_arguments
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.bounds import pooled_refutes
from dpverdict.evidence.certificate import certificate
from dpverdict.evidence.counts import CoinCounts, SideCounts
from dpverdict.evidence.events import OutputEquals, Sides
from dpverdict.evidence.verify.counts import (
    Candidate,
    Confirmation,
    Ledger,
    from_json,
    judge,
    promised,
    to_json,
)
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.verification import verify

CLAIM = from_arguments(epsilon="1", domain="real")
SIDES = Sides(OutputEquals(1), OutputEquals(0))
TRUE = CoinCounts(SideCounts(5000, 3655, 1345), SideCounts(5000, 1345, 3655), two_sided=True)
"""A loss of log(3655/1345), a little below 1."""
FALSE = CoinCounts(SideCounts(5000, 4400, 600), SideCounts(5000, 600, 4400), two_sided=True)


def ledger(*counts: CoinCounts, alpha: str = "1e-6", **changes: Any) -> Ledger:
    candidates = tuple(Candidate(SIDES, Approximate(1, 0), each) for each in counts)
    return replace(Ledger(Fraction(alpha), (1, 3), (Confirmation(1, 1, 0, candidates),), Fraction(1)), **changes)


def test_what_counts_show() -> None:
    found = judge(CLAIM, ledger(TRUE, FALSE))
    assert found.refuted is not None
    assert found.refuted.candidate.counts == FALSE
    assert found.refuted.alpha == Fraction(3, 8 * 10**6)
    assert found.lower_bound == found.refuted.rate.epsilon
    assert judge(CLAIM, ledger(TRUE)).refuted is None


def test_candidates_and_rounds_share_the_error_probability() -> None:
    """Counts at which the whole α refutes and a part of it does not."""
    edge = next(
        counts
        for right in range(6200, 7000)
        if pooled_refutes(
            counts := CoinCounts(SideCounts(10**4, right - 3600), SideCounts(10**4, 8600 - right, 3600), True),
            Allowance("0.05"),
            Approximate(1, 0),
            both_ways=True,
        )
    )
    alone = replace(ledger(edge, alpha="0.05"), weights=(1,))
    alone = replace(alone, confirmations=(replace(alone.confirmations[0], round=0),))
    assert judge(CLAIM, alone).refuted is not None
    assert judge(CLAIM, ledger(edge, alpha="0.05")).refuted is None
    shared = replace(
        alone,
        confirmations=(replace(alone.confirmations[0], candidates=ledger(edge, edge).confirmations[0].candidates),),
    )
    assert judge(CLAIM, shared).refuted is None


def changed(**changes: Any) -> Ledger:
    whole = ledger(FALSE)
    return replace(whole, confirmations=(replace(whole.confirmations[0], **changes),))


def candidate(**changes: Any) -> Ledger:
    return changed(candidates=(replace(ledger(FALSE).confirmations[0].candidates[0], **changes),))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (changed(neighbour=3), "says nothing about its pair"),
        (changed(round=2), "has no part of α"),
        (changed(candidates=()), "nothing to spend it on"),
        (replace(ledger(FALSE), confirmations=ledger(FALSE).confirmations * 2), "share one part"),
        (replace(ledger(FALSE), weights=(1, 0)), "positive weights"),
        (replace(ledger(FALSE), epsilon=Fraction(2)), "is about ε in 1"),
        (candidate(promise=Approximate("0.9", 0)), "does not imply"),
        (candidate(sides=Sides(OutputEquals(1))), "whether S⁻ is in use"),
        (replace(candidate(promise=Approximate(1, 0)), is_bound=True), "no ε"),
    ],
)
def test_what_is_not_about_the_claim_is_refused(wrong: Ledger, why: str) -> None:
    with pytest.raises(DoesNotHold, match=why):
        judge(CLAIM, wrong)


def test_sides_need_a_claim_for_both_directions(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("[[1, 0]]")
    one_way = from_arguments(epsilon="1", domain="real", adjacency=f"pairs:{tmp_path / 'one.json'}")
    with pytest.raises(DoesNotHold, match="evidence about"):
        judge(one_way, ledger(FALSE))


def test_a_promise_that_the_claim_implies() -> None:
    gaussian: Claim = from_arguments(claim="gaussian:1", domain="real")
    guarantee, _ = promised(gaussian, None)
    implied = guarantee.tangent(0.1)
    assert judge(gaussian, replace(candidate(promise=implied), epsilon=None)).shown
    sharper = Approximate(implied.epsilon, implied.delta / 2)
    with pytest.raises(DoesNotHold, match="does not imply"):
        judge(gaussian, replace(candidate(promise=sharper), epsilon=None))


def test_it_is_read_as_it_was_written() -> None:
    whole = ledger(TRUE, FALSE)
    assert from_json(json.loads(json.dumps(to_json(whole)))) == whole


def at(path: list[Any], value: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        *way, last = path
        part: Any = content
        for step in way:
            part = part[step]
        part[last] = value

    return change


FIRST = ["rounds", 0, "candidates", 0]


@pytest.mark.parametrize(
    "change",
    [
        at([*FIRST, "event", "plus", "outcome"], 2),
        at([*FIRST, "on_input"], [5000, 6000, 0]),
        at([*FIRST, "on_input"], [5000.0, 1, 0]),
        at([*FIRST, "on_input"], None),
        at([*FIRST, "two_sided"], False),
        at([*FIRST, "delta"], "-1"),
        at([*FIRST, "epsilon"], "1/0"),
        at(["alpha"], "0"),
        at(["alpha"], "x"),
        at(["weights"], [0.5, 0.5]),
        at(["weights"], []),
        at(["method"], "guess"),
        at(["rounds"], None),
        at(["rounds", 0], {}),
        at(["rounds", 0, "round"], True),
    ],
)
def test_evidence_that_was_changed_does_not_hold(change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(json.dumps(to_json(ledger(FALSE))))
    change(content)
    with pytest.raises(DoesNotHold):
        judge(CLAIM, from_json(content))


def test_a_verdict_that_its_counts_do_not_show(tmp_path: Path) -> None:
    """The digest is right each time: whoever changes a certificate can compute it as well."""
    import dpverdict
    from audited import half_the_noise

    good = dpverdict.audit(half_the_noise, epsilon=1, domain="real", runs=20_000, out=tmp_path)
    content = json.loads(Path(good.certificate).read_text())
    assert verify(good.certificate).holds

    def holds(change: Callable[[dict[str, Any]], None]) -> bool:
        wrong = copy.deepcopy(content)
        change(wrong)
        made = certificate(wrong["verdict"], wrong["mechanism"], wrong["claim"], wrong["evidence"])
        return verify(made.write(tmp_path / "wrong")).holds

    assert holds(lambda _: None)
    last = len(content["evidence"]["rounds"]) - 1
    counts = ["evidence", "rounds", last, "candidates", 0, "on_input"]
    assert not holds(at(counts, [10, 5, 5]))
    assert not holds(at(["verdict", "lower_bound"], 5.0))
    assert not holds(at(["verdict", "verdict"], "proved"))
    assert not holds(at(["verdict", "alpha"], 1e-9))
    assert not holds(at(["verdict", "scope", "arithmetic"], "real"))
    assert not holds(at(["verdict", "scope", "adjacency"], "linf:9"))
    assert not holds(at(["claim", "adjacency"], "linf:1/2"))
    assert not holds(at(["claim", "factor"], "9"))
    Path(good.certificate).write_text(json.dumps({**content, "verdict": {**content["verdict"], "runs": 1}}))
    assert not verify(good.certificate).holds
