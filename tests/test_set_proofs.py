"""Claims with δ > 0 through `prove` and `verify`: certificates hold, and changed ones do not."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpverdict.evidence.verdict import Measured, Proved, Refuted, Undecided
from dpverdict.evidence.verify import violation
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.violation import Counterexample
from dpverdict.proving import Question, Work, answer, prove, proved, refutation
from dpverdict.search.approximate import settle_sets
from dpverdict.verification import verify
from exact_questions import question

SPARSE: dict[str, Any] = {"domain": "0,1", "factor": "1/2"}
QUIET = Work(out=None)


def sparse(delta: str, **given: Any) -> Question:
    return question("dipc-sparse", 3, delta=delta, **{**SPARSE, **given})


def test_a_proof_is_written_and_holds(tmp_path: Path) -> None:
    verdict = prove("catalog:dipc-sparse", length=3, delta="exp(-1/32)", out=tmp_path, **SPARSE)
    assert isinstance(verdict, Proved)
    assert verdict.checked.confirmed > 0
    assert verdict.certificate is not None
    checked = verify(verdict.certificate)
    assert (checked.holds, checked.verdict, checked.comparisons) == (True, "proved", verdict.checked.settled)


def test_a_set_is_written_and_holds(tmp_path: Path) -> None:
    """No single output needs so much: δ is exceeded by two together."""
    verdict = prove("catalog:svt6", length=2, domain="-1,0,1", factor="1/8", delta="1/3", out=tmp_path)
    assert isinstance(verdict, Refuted)
    assert verdict.witness.event["is"] == "union"
    assert verdict.certificate is not None
    assert verify(verdict.certificate).holds


@pytest.mark.parametrize("delta", ["exp(-1/32)", "1/4", "1/4 + 1/4*exp(-eps)"])
def test_changed_proofs_do_not_hold(delta: str) -> None:
    asked = sparse(delta)
    entries = settle_sets(asked.space()).entries()
    assert proved(asked, entries, Measured()).checked.settled == len(entries)
    for changed in _changed(entries):
        with pytest.raises(DoesNotHold):
            proved(asked, changed, Measured())


def _changed(entries: list[list[Any]]) -> list[list[Any]]:
    at = next(at for at, entry in enumerate(entries) if entry[2]["rooms"])
    without_room, turned, other_pair = (copy.deepcopy(entries) for _ in range(3))
    without_room[at][2]["rooms"].pop()
    turned[at][2]["stretches"][0][0][2] = {"+": "-", "-": "+"}[turned[at][2]["stretches"][0][0][2]]
    other_pair[at][0] = [1 - one for one in other_pair[at][0]]
    return [entries[:-1], [*entries, entries[-1]], entries[::-1], without_room, turned, other_pair]


def test_a_proof_of_a_larger_delta_does_not_show_a_smaller_one() -> None:
    entries = settle_sets(sparse("exp(-1/32)").space()).entries()
    with pytest.raises(DoesNotHold):
        proved(sparse("exp(-4)"), entries, Measured())


def test_delta_is_part_of_what_a_counterexample_exceeds() -> None:
    verdict = answer(sparse("exp(-4)"), QUIET)
    assert isinstance(verdict, Refuted)
    found = settle_sets(sparse("exp(-4)").space()).violation
    assert found is not None
    one = found.comparison
    example = Counterexample(found.outcomes, one.input, one.neighbour, found.epsilon)
    refutation(sparse("exp(-4)"), example, Measured())
    for delta in ("exp(-1/32)", "1", "1*exp(-1/1000*eps)"):
        with pytest.raises(DoesNotHold, match="the claim allows"):
            refutation(sparse(delta), example, Measured())


def test_a_tie_is_no_counterexample() -> None:
    """Pr[⊥] is 1/2 on 0 and at most 1/2 on 1: with factor t and δ = 1/2 nothing is left over."""
    asked = question("svt1", 1, delta="1/2", factor="1/1000")
    example = Counterexample(((False,),), [0], [1], Fraction(1))
    with pytest.raises(DoesNotHold, match="the claim allows"):
        violation.check(asked.space(), example)


def test_delta_beside_noise_of_another_unit() -> None:
    """A function of ε is compared at the ε of the counterexample; a range of ε is not decided there."""
    about = {"domain": "-1,0,1", "adjacency": "l1:1", "delta": "1/100*exp(-eps)"}
    asked = question("dipc-hist2", 1, args={"edges": (-1, 0, 1)}, **about)
    assert isinstance(answer(asked, QUIET), Undecided)
    example = Counterexample(((-1,),), [-1], [0], Fraction(1, 4))
    assert violation.check(asked.space(), example).loss > 1 / 4
    with pytest.raises(DoesNotHold):
        violation.check(asked.space(), Counterexample(((-1,),), [-1], [0], Fraction(2)))
    at_one = question("dipc-hist2", 1, args={"edges": (-1, 0, 1)}, epsilon="1/4", **about)
    assert isinstance(answer(at_one, QUIET), Refuted)
