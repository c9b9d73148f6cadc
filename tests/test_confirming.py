"""What others' counterexamples show: confirmed, denied, or left open with a reason."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict import confirm, mechanism
from dpverdict.errors import EvidenceError, InputError
from dpverdict.evidence import event_text
from dpverdict.evidence.events import Box, Interval, OutputEquals, ScoreAbove, Sides, Union
from dpverdict.evidence.features import Coordinate, CountOf, Feature, KindOf, Length, OrderStatistic, Sum
from dpverdict.evidence.leaves import Kind
from dpverdict.evidence.scores import Histogram, Layer, Linear, Network
from dpverdict.evidence.verdict import Refuted, Undecided, Verdict
from dpverdict.evidence.verify.comparisons import Space
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.violation import Counterexample, check
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.verification import verify

TWO: dict[str, Any] = {"domain": "-1,0,1", "length": 2, "out": None}
THREE = {**TWO, "length": 3}
LINE: dict[str, Any] = {"domain": "-2,-1,0,1,2", "adjacency": "linf:1", "out": None}


@mechanism
def single(noise: Any, value: Any, epsilon: Any, scale: Any = 1) -> Any:
    return noise.laplace(value, scale=scale / epsilon)


@mechanism
def fixed(noise: Any, value: Any) -> Any:
    return noise.laplace(value, scale=1) if value > 0 else 0


@mechanism
def mixed(noise: Any, value: Any, epsilon: Any) -> Any:
    if value > 0:
        return noise.laplace(0, scale=epsilon)
    return noise.laplace(0, scale=1 / epsilon)


@mechanism
def leaking(noise: Any, value: Any, epsilon: Any) -> Any:
    noisy = noise.laplace(value, scale=1 / epsilon)
    return 0 if value <= 0 else noisy


@mechanism
def summed(noise: Any, values: Any, epsilon: Any, scale: Any = 1) -> Any:
    return [noise.laplace(value, scale=scale / epsilon) for value in values]


def at_least(feature: Feature, low: int) -> Box:
    return Box((Interval(feature, low),))


def at_most(feature: Feature, high: int) -> Box:
    return Box((Interval(feature, None, high),))


POSITIVE = at_least(Coordinate(0), 1)
BELOW_TWICE = (Interval(CountOf(False), 2, 2), Interval(Length(), 3, 3), Interval(KindOf(2), Kind.NUMBER, Kind.NUMBER))
LOW_VALUE = Interval(Coordinate(2), None, -2)
"""Below -1: exactly -1 has probability 0."""


def refuted(verdict: Verdict) -> Refuted:
    assert isinstance(verdict, Refuted), verdict.reason
    return verdict


def undecided(verdict: Verdict) -> Undecided:
    assert isinstance(verdict, Undecided)
    return verdict


# --- golden values ----------------------------------------------------------------------------------------------------


def test_released_values_of_svt3() -> None:
    event = Box((*BELOW_TWICE, LOW_VALUE))
    found = refuted(confirm("catalog:svt3", [-1] * 3, [0] * 3, event, epsilon=1, **THREE))
    assert found.probabilities["input"] == "1/192*exp(-1/2*eps)"
    assert found.probabilities["neighbour"] == "1/192*exp(-2*eps)"
    assert found.lower_bound == pytest.approx(1.5, abs=1e-12)
    assert float(str(found.probabilities["input_value"])) == pytest.approx(math.exp(-1 / 2) / 192, rel=1e-15)


def test_a_predicate_says_the_same() -> None:
    def low(output: Any) -> Any:
        return len(output) == 3 and output[0] is False and output[1] is False and output[2] <= -1

    found = refuted(confirm("catalog:svt3", [-1] * 3, [0] * 3, low, epsilon=1, **THREE))
    assert found.probabilities["input"] == "1/192*exp(-1/2*eps)"
    assert found.witness.event["is"] == "predicate"
    assert "no certificate" in found.findings[0]


def test_the_noisy_maximum_that_releases_its_value() -> None:
    """Pr[max > 0] = 1 - 2^-3 on zeros; on minus ones 1 - (1 - e^{-ε/2}/2)^3, as each query has noise 2/ε."""
    event = at_least(Coordinate(0), 0)
    found = confirm("catalog:noisy-maximum-value", [0] * 3, [-1] * 3, event, epsilon=1, **THREE)
    values = undecided(found).partial["probabilities"][0]  # type: ignore[index]
    assert float(values["input_value"]) == pytest.approx(7 / 8)
    assert float(values["neighbour_value"]) == pytest.approx(1 - (1 - math.exp(-1 / 2) / 2) ** 3, rel=1e-14)


# --- both answers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"epsilon": 1}, {"epsilon_range": "1/10,2"}, {"claim": "pure:1"}])
def test_a_tight_mechanism_is_not_refuted(given: dict[str, Any]) -> None:
    found = undecided(confirm(single, 1, 0, POSITIVE, **LINE, **given))
    assert "does not contradict" in found.reason
    assert "1/2 and 1/2*exp(-eps)" in found.reason
    only = "epsilon" in given or "claim" in given
    assert (found.lower_bound == pytest.approx(1)) if only else ("1·ε" in found.reason)
    assert not found.findings


@pytest.mark.parametrize("given", [{}, {"epsilon": 1}, {"epsilon_range": "1/10,2"}, {"claim": "pure:1"}])
def test_too_little_noise_is_refuted(given: dict[str, Any]) -> None:
    args = {"scale": Fraction(1, 2)}
    found = refuted(confirm(single, 1, 0, POSITIVE, args=args, **LINE, **given))
    assert found.probabilities["neighbour"] == "1/2*exp(-2*eps)"
    assert found.witness.epsilon is not None
    assert found.lower_bound == pytest.approx(float(2 * found.witness.epsilon))


def test_the_direction_matters_and_is_said() -> None:
    args = {"scale": Fraction(1, 2)}
    found = undecided(confirm(single, 0, 1, POSITIVE, args=args, epsilon=1, **LINE))
    assert "nowhere likelier" in found.reason
    assert "exchanged" in found.findings[0]
    refuted(confirm(single, 0, 1, at_most(Coordinate(0), -1), args=args, epsilon=1, **LINE))


def test_a_wrong_event_is_not_confirmed() -> None:
    undecided(confirm("catalog:svt3", [-1] * 3, [0] * 3, Box(BELOW_TWICE), epsilon=1, **THREE))
    undecided(confirm(single, 1, 0, at_least(Coordinate(0), -5), args={"scale": Fraction(1, 2)}, epsilon=1, **LINE))


@pytest.mark.parametrize(("factor", "is_refuted"), [("7/4", True), ("2", False), ("9/4", False)])
def test_the_factor_is_exact(factor: str, is_refuted: bool) -> None:
    """Noise of half the scale: the event's loss is 2ε."""
    found = confirm(single, 1, 0, POSITIVE, args={"scale": Fraction(1, 2)}, factor=factor, **LINE)
    assert isinstance(found, Refuted) == is_refuted


@pytest.mark.parametrize(
    ("given", "is_refuted"),
    [
        ({"epsilon": 1, "delta": "1/10"}, True),
        ({"epsilon": 1, "delta": "exp(-3)"}, True),
        ({"epsilon": 1, "delta": "1/3"}, False),
        ({"claim": "approximate:1,1/10"}, True),
        ({"claim": "approximate:1,1/3"}, False),
        ({"epsilon_range": "1/2,2", "delta": "1/3"}, True),
        ({"epsilon_range": "1/2,2", "delta": "exp(-1)"}, True),
        ({"epsilon_range": "1/2,2", "delta": "4/9"}, False),
        ({"delta": "1/2"}, False),
    ],
)
def test_delta_counts(given: dict[str, Any], is_refuted: bool) -> None:
    """1/2 against e^{-2ε}/2: δ has to be at least (1 - e^{-ε})/2, which is 0.316 at ε = 1 and 0.432 at ε = 2."""
    found = confirm(single, 1, 0, POSITIVE, args={"scale": Fraction(1, 2)}, **given, **LINE)
    assert isinstance(found, Refuted) == is_refuted
    assert is_refuted or found.lower_bound is None


@pytest.mark.parametrize(
    ("made", "event", "expected"),
    [
        (leaking, at_most(Coordinate(0, -4), -1), ("1/2*exp(-eps)", "0")),
        (leaking, OutputEquals(0), None),
        (fixed, POSITIVE, ("1/2", "0")),
    ],
)
def test_what_the_neighbour_never_gives(made: Any, event: Any, expected: tuple[str, str] | None) -> None:
    found = confirm(made, 1, 0, event, epsilon=1, **LINE)
    if expected is None:
        assert "0 and 1" in undecided(found).reason
        refuted(confirm(made, 0, 1, event, epsilon=1, **LINE))
    else:
        assert (refuted(found).probabilities["input"], found.probabilities["neighbour"]) == expected
        assert found.lower_bound == math.inf


def test_atoms_at_an_edge() -> None:
    """The constant 0 lies in "at most 0" and in "at least 0", and in nothing beyond."""
    fine = Coordinate(0, -4)
    for event, inside in ((at_most(fine, 0), True), (at_most(fine, -1), False), (at_least(fine, 1), False)):
        found = confirm(leaking, 0, 1, event, epsilon=1, **LINE)
        assert isinstance(found, Refuted) == inside


def test_noise_of_different_kinds_is_told_apart() -> None:
    """At ε = 2 the scales are 2 and 1/2: values of ε and 1/ε must not be mixed up."""
    found = undecided(confirm(mixed, 1, 0, POSITIVE, epsilon=2, **LINE))
    assert "different kinds" in found.reason
    space = Space(undecided(found).scope.claim, lambda given: ExactProgram.of(mixed.program_for(given), _positive()))
    with pytest.raises(DoesNotHold, match="different kinds"):
        check(space, Counterexample((True,), 1, 0, Fraction(2)))


def _positive() -> Any:
    from dpverdict.evidence.verify.judged_events import judge_of

    return judge_of(POSITIVE)


# --- kinds of events --------------------------------------------------------------------------------------------------


def test_finitely_many_outputs() -> None:
    event = Union((OutputEquals([False, True]), OutputEquals([True])))
    found = refuted(confirm("catalog:svt5", [1, 0], [0, 0], OutputEquals([True, False]), epsilon=1, **TWO))
    assert found.lower_bound == math.inf
    undecided(confirm("catalog:svt5", [0, 0], [1, 0], event, epsilon=1, **TWO))
    by_predicate = refuted(confirm("catalog:svt5", [1, 0], [0, 0], lambda output: output == [True, False], **TWO))
    assert by_predicate.witness.event == event_text.to_json(OutputEquals((True, False)))


def test_a_tie_counts_for_its_share() -> None:
    for tie in (Fraction(0), Fraction(1, 4), Fraction(2, 3)):
        event = ScoreAbove(Linear((Length(),), (1,)), 1, tie)
        found = undecided(confirm(single, 1, 0, event, epsilon=1, **LINE))
        assert f"{tie} and {tie}" in found.reason


def test_sums_and_order_statistics() -> None:
    args = {"scale": Fraction(1, 2)}
    found = refuted(confirm(summed, [1, 1], [0, 0], lambda output: sum(output) >= 2, args=args, epsilon=1, **TWO))
    # The sum of two Laplace variables of scale b: Pr[S ≥ s] = (1/2 + s/(4b))·e^{-s/b}.
    assert found.probabilities["input"] == "1/2"
    assert found.probabilities["neighbour"] == "1/2*exp(-4*eps) + eps*exp(-4*eps)"
    least = at_least(OrderStatistic(0), 1)
    found = refuted(confirm(summed, [1, 1], [0, 0], least, args=args, epsilon=1, **TWO))
    assert found.probabilities["neighbour"] == "1/4*exp(-4*eps)"
    undecided(confirm(summed, [1, 1], [0, 0], least, args=args, epsilon=1, factor=4, **TWO))


def test_arrays_are_what_a_predicate_expects() -> None:
    @mechanism
    def signs(noise: Any, values: Any, epsilon: Any) -> Any:
        return np.array(values) + noise.laplace(0, scale=1 / (2 * epsilon), size=2) >= 0

    found = refuted(confirm(signs, [0, 0], [-1, -1], lambda output: output.all(), epsilon=1, **TWO))
    assert found.probabilities["neighbour"] == "1/4*exp(-4*eps)"


def test_a_histogram_with_the_wrong_scale() -> None:
    """Noise of scale ε instead of 1/ε: at ε = 2 the exponent is 1/2 in the place of 2, at ε = 1/2 it is 2."""
    event, claim = at_least(Coordinate(0), 1), {"adjacency": "l1", **TWO}
    for epsilon, is_refuted in (("1/2", False), ("2", False)):
        assert (
            isinstance(confirm("catalog:histogram", [1, 0], [0, 0], event, epsilon=epsilon, **claim), Refuted)
            == is_refuted
        )
    for epsilon, is_refuted in (("1/2", True), ("2", False)):
        found = confirm("catalog:histogram-wrong-scale", [1, 0], [0, 0], event, epsilon=epsilon, **claim)
        assert isinstance(found, Refuted) == is_refuted


def test_numerical_svt() -> None:
    event = Box((Interval(Sum(-1), 1), Interval(Length(), 1, 1)))
    found = undecided(confirm("catalog:numerical-svt", [1, 0], [0, 0], event, epsilon=1, **TWO))
    assert "does not contradict" in found.reason
    refuted(confirm("catalog:numerical-svt", [1, 0], [0, 0], event, epsilon=1, factor="1/10", **TWO))


@pytest.mark.parametrize("written", ["object", "JSON", "text"])
def test_an_event_may_be_written_down(written: str) -> None:
    event = ScoreAbove(Histogram((Coordinate(0),), ((1,),), ((0, 1),)), 0)
    forms = {"object": event, "JSON": event_text.to_json(event), "text": event_text.text(event)}
    found = refuted(confirm(single, 1, 0, forms[written], args={"scale": Fraction(1, 2)}, epsilon=1, **LINE))
    assert found.probabilities["input"] == "1/2"


# --- what is left open, and what is refused ---------------------------------------------------------------------------


def test_what_cannot_be_read_is_undecided() -> None:
    network = ScoreAbove(Network((Coordinate(0),), (Layer(((1,),), (0,), 0),)), 0)
    assert "network" in undecided(confirm(single, 1, 0, network, **LINE)).reason
    assert "several noisy numbers" in undecided(confirm(summed, [1, 1], [0, 0], at_least(Sum(), 1), **TWO)).reason
    assert "zcdp" in undecided(confirm(single, 1, 0, POSITIVE, claim="zcdp:1/2", epsilon_range="1,1", **LINE)).reason


def test_the_claim_has_to_be_about_the_pair() -> None:
    assert "not about 2 and 0" in undecided(confirm(single, 2, 0, POSITIVE, epsilon=1, **LINE)).reason
    assert "not about 3 and 2" in undecided(confirm(single, 3, 2, POSITIVE, epsilon=1, **LINE)).reason


def test_an_empty_predicate_refutes_nothing() -> None:
    found = undecided(confirm("catalog:svt1", [1, 0], [0, 0], lambda output: False, epsilon=1, **TWO))
    assert "no output" in found.reason


@pytest.mark.parametrize("event", [3, Sides(POSITIVE), {"is": "sides", "plus": {}, "minus": None}, "{", None])
def test_what_is_no_event_is_an_error(event: Any) -> None:
    with pytest.raises(EvidenceError):
        confirm(single, 1, 0, event, epsilon=1, **LINE)


@pytest.mark.parametrize("target", ["catalog:svt1", summed])
def test_a_predicate_that_fails_is_an_error(target: Any) -> None:
    with pytest.raises(InputError, match="the predicate fails"):
        confirm(target, [1, 0], [0, 0], lambda output: output[7], epsilon=1, **TWO)


# --- certificates -----------------------------------------------------------------------------------------------------


def certificate(folder: Path, **given: Any) -> Path:
    event = Box((*BELOW_TWICE, LOW_VALUE))
    claim = {"epsilon": 1, **THREE, "out": folder, **given}
    return Path(str(refuted(confirm("catalog:svt3", [-1] * 3, [0] * 3, event, **claim)).certificate))


@pytest.mark.parametrize("given", [{}, {"domain": "integer:-5,5"}, {"domain": "real"}])
def test_a_certificate_holds(tmp_path: Path, given: dict[str, Any]) -> None:
    found = verify(certificate(tmp_path, **given))
    assert found.holds, found.reason
    assert found.verdict == "refuted"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("neighbour", [-1] * 3),
        ("input", [0] * 3),
        ("epsilon", "1/2"),
        ("event", event_text.to_json(Box(BELOW_TWICE))),
        ("event", {"is": "sides", "plus": event_text.to_json(Box(BELOW_TWICE)), "minus": None}),
        ("event", event_text.to_json(at_least(Coordinate(2, -40), 1))),
        ("event", None),
    ],
)
def test_a_changed_certificate_does_not(tmp_path: Path, name: str, value: Any) -> None:
    from dpverdict.evidence.certificate import digest_of

    path = certificate(tmp_path)
    content = json.loads(path.read_text())
    content["evidence"][name] = value
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    assert not verify(path).holds
