"""Tight factors: the supremum of the privacy loss divided by ε."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from dpverdict.catalog import find
from dpverdict.errors import UnreadableError
from dpverdict.evidence.verify.comparisons import comparisons
from dpverdict.evidence.verify.inequality import gap
from dpverdict.reading.exact.sign import Negative, Nonnegative, Undecided, decide
from dpverdict.search.tight import Tight, tight_factor
from exact_programs import binned, blurred, claim_of, grid, ignoring, inverse, sometimes, space_of, switching

INTERIOR = (0.7985346732462062, 1.93158)
"""Of `blurred`, and where: by numerical integration over the threshold's noise and a numerical maximum."""


def tight(subject: Any, arguments: dict[str, Any] | None = None, *, prune: bool = True, **given: Any) -> Tight:
    claim = claim_of(**{"domain": "-1,0,1", **given})
    return tight_factor(comparisons(space_of(subject, claim, arguments, prune=prune)), claim)


# --- exact factors, published ones among them -------------------------------------------------------------------------


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize(
    ("name", "length", "arguments", "factor"),
    [
        ("svt1", 1, {}, Fraction(1, 4)),
        ("svt1", 3, {}, Fraction(3, 4)),
        ("svt1", 4, {}, Fraction(1)),
        ("svt2", 3, {"stop_after": 2}, Fraction(3, 8)),
        ("svt4", 3, {}, Fraction(7, 4)),
        ("svt6", 1, {}, Fraction(1, 2)),
        ("svt6", 2, {}, Fraction(1)),
        ("noisy-maximum", 3, {}, Fraction(1)),
    ],
)
def test_factors_that_a_limit_gives(
    name: str, length: int, arguments: dict[str, Any], factor: Fraction, *, prune: bool
) -> None:
    found = tight(find(name).mechanism, arguments, prune=prune, length=length)
    assert found.exact == factor
    assert found.where == "eps -> inf"
    # The pure decision proves it, and refutes a little less.
    claim = claim_of(domain="-1,0,1", length=length)
    listed = list(comparisons(space_of(find(name).mechanism, claim, arguments, prune=prune)))
    for promised, kind in ((factor, Nonnegative), (factor * Fraction(15, 16), Negative)):
        answers = [decide(gap(one.probability, one.neighbour_probability, promised)) for one in listed]
        assert any(isinstance(one, kind) for one in answers)
        assert all(isinstance(one, Nonnegative) for one in answers) == (kind is Nonnegative)


def test_a_loss_that_is_the_same_for_all_epsilon() -> None:
    subject = find("randomised-response").mechanism
    for given in ({}, {"epsilon": 1}, {"epsilon_range": "1/3,5"}):
        found = tight(subject, domain="0,1", length=2, adjacency="substitute:1", **given)
        assert (found.exact, found.where) == (1, "every eps")
    assert tight(binned).exact == 1


def test_what_one_neighbour_never_gives_is_an_infinite_loss() -> None:
    found = tight(find("svt5").mechanism, length=2)
    assert found.exact == math.inf
    assert tight(sometimes, domain="0,1").exact == math.inf


def test_a_mechanism_that_ignores_its_input_loses_nothing() -> None:
    found = tight(ignoring)
    assert (found.exact, found.reason) == (0, None)


# --- suprema inside ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize(
    "given", [{}, {"epsilon_range": "1,inf"}, {"epsilon_range": "0,2"}, {"epsilon_range": "1,100"}]
)
def test_a_supremum_inside_is_enclosed(given: dict[str, Any], *, prune: bool) -> None:
    found = tight(blurred, length=2, prune=prune, **given)
    assert found.exact is None
    assert found.reason is None
    assert found.low < found.high < found.low + 1e-11
    assert found.low - 1e-12 < INTERIOR[0] < found.high + 1e-12
    assert found.where.startswith(f"eps = {INTERIOR[1]}")


def test_the_enclosure_agrees_with_decisions_and_with_a_grid() -> None:
    """Coarse factors on both sides are decided; no value on a grid exceeds the upper end."""
    claim, found = claim_of(domain="-1,0,1", length=2), tight(blurred, length=2)
    listed = list(comparisons(space_of(blurred, claim, {}, prune=False)))
    above, below = Fraction(799, 1000), Fraction(798, 1000)
    assert below < found.low <= found.high < above
    answers = [decide(gap(one.probability, one.neighbour_probability, above)) for one in listed]
    assert all(isinstance(one, Nonnegative) for one in answers)
    answers = [decide(gap(one.probability, one.neighbour_probability, below)) for one in listed]
    assert any(isinstance(one, Negative) for one in answers)
    largest = max(
        math.log(float(one.probability.value(eps)) / float(one.neighbour_probability.value(eps))) / float(eps)
        for one in listed
        for eps in grid(Fraction(1, 2), Fraction(8), 100)
    )
    assert float(found.low) - 1e-2 < largest <= float(found.high) + 1e-12


# --- ranges -----------------------------------------------------------------------------------------------------------


def _svt1_loss(eps: float) -> float:
    """Of below, below, above on (0, 0, 0) and (1, 1, -1), by the published probabilities of three queries."""
    claim = claim_of(domain="-1,0,1", length=3)
    (one,) = (
        one
        for one in comparisons(space_of(find("svt1").mechanism, claim))
        if (one.output, tuple(one.input), tuple(one.neighbour)) == ((False, False, True), (0, 0, 0), (1, 1, -1))
    )
    place = Fraction(eps)
    return math.log(float(one.probability.value(place)) / float(one.neighbour_probability.value(place))) / eps


@pytest.mark.parametrize(("given", "at"), [({"epsilon": 1}, 1.0), ({"epsilon_range": "1/2,2"}, 2.0)])
def test_one_epsilon_and_closed_ranges_are_enclosed(given: dict[str, Any], at: float) -> None:
    found = tight(find("svt1").mechanism, length=3, **given)
    assert 0 <= found.high - found.low < 1e-12
    assert float(found.low) == pytest.approx(_svt1_loss(at), rel=1e-13)
    assert found.where == f"eps = {at:.6g}"


def test_noise_of_scale_epsilon_at_one_epsilon() -> None:
    """ln(Pr[noise < 0]/Pr[1 + noise < 0])/ε = ln(e^2)/ε = 4 at ε = 1/2, whose noise has scale 1/2."""
    found = tight(inverse, domain="0,1", epsilon="1/2")
    assert found.low <= 4 <= found.high
    assert found.high - found.low < 1e-12


def test_a_range_to_infinity_needs_its_limit() -> None:
    assert tight(find("svt1").mechanism, length=3, epsilon_range="5,inf").exact == Fraction(3, 4)


def test_the_factor_does_not_depend_on_what_is_promised() -> None:
    assert tight(find("svt1").mechanism, length=3, factor="1/8").exact == Fraction(3, 4)
    one = tight(find("svt1").mechanism, length=1, factor="7", epsilon=2)
    other = tight(find("svt1").mechanism, length=1, epsilon=2)
    assert (one.low, one.high) == (other.low, other.high)


@pytest.mark.parametrize("delta", ["1e-5", "exp(-2)", "exp(-eps)"])
def test_there_is_no_tight_factor_with_delta(delta: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        tight(binned, delta=delta)
    assert caught.value.code == "EXACT-024"


def test_conditions_on_epsilon() -> None:
    """Pr[noise < 0]/Pr[1 + noise < 0] is e^ε up to ε = 1, and e^{2ε} from there on."""
    assert tight(switching, domain="0,1").exact == 2
    assert tight(switching, domain="0,1", epsilon_range="0,1").exact == 1
    assert tight(switching, domain="0,1", epsilon=1).exact == 1


# --- where it has to stop ---------------------------------------------------------------------------------------------


def test_a_loss_above_the_limits_is_found_by_the_decision_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpverdict.search.tight._PLACES", [Fraction(1, 2**12)])
    found = tight(blurred, length=2)
    assert found.reason is None
    assert found.low - 1e-12 < INTERIOR[0] < found.high + 1e-12


@pytest.mark.parametrize(
    ("bound", "value"), [("dpverdict.search.losses.MOST_BOXES", 3), ("dpverdict.search.tight._FINEST", 0)]
)
def test_what_is_not_enclosed_says_so(bound: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound, value)
    found = tight(blurred, length=2)
    assert found.high == math.inf
    assert found.exact is None
    assert "bound on" in str(found.reason)
    assert found.low <= INTERIOR[0] + 1e-12


@pytest.mark.parametrize(("answer", "reason"), [("undecided", "for a test"), ("close", "by too little")])
def test_an_open_comparison_leaves_the_upper_end_open(
    answer: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Undecided("for a test") if answer == "undecided" else Negative(Fraction(1, 10**12))
    monkeypatch.setattr("dpverdict.search.tight.decide", lambda function, interval: found)
    got = tight(find("svt1").mechanism, length=1)
    assert (got.low, got.high) == (Fraction(1, 4), math.inf)
    assert reason in str(got.reason)
