"""δ as a function of ε: read, written, rounded up, refused where it is no probability."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from dpverdict.claim import Approximate, Claim, MaxNorm, Proportional, Pure, from_arguments, from_options
from dpverdict.claim.delta import Delta, read_delta
from dpverdict.errors import ClaimError
from dpverdict.reading.exact.exponential import Exponential

WRITTEN = [
    ("exp(-2)", "exp(-2)"),
    ("0.5*exp(-0.1)", "1/2*exp(-1/10)"),
    ("exp(-1)*1/2", "1/2*exp(-1)"),
    ("exp(-eps)", "exp(-eps)"),
    ("exp(-eps/32)", "exp(-1/32*eps)"),
    ("exp(-1/32*eps)", "exp(-1/32*eps)"),
    ("1/10*exp(-eps)", "1/10*exp(-eps)"),
    ("1e-3*exp(-eps) + 1e-5", "1/100000 + 1/1000*exp(-eps)"),
    ("1/2-1/2*exp(-eps)", "1/2 - 1/2*exp(-eps)"),
    ("eps*exp(-eps)", "eps*exp(-eps)"),
    ("eps^2/4*exp(-2*eps)", "1/4*eps^2*exp(-2*eps)"),
    ("exp(-ε)", "exp(-eps)"),
]


@pytest.mark.parametrize(("written", "text"), WRITTEN)
def test_a_written_delta_reads_back(written: str, text: str) -> None:
    for claim in (from_arguments(delta=written, domain="0,1"), from_options({"delta": written, "domain": "0,1"})):
        assert claim.arguments()["delta"] == text
        assert claim.to_json()["delta"] == text
        assert claim.to_json()["guarantee"] == "approximate"
        assert from_arguments(**claim.arguments()) == claim
        assert hash(from_arguments(**claim.arguments())) == hash(claim)


@pytest.mark.parametrize("written", ["1e-5", 1e-5, Fraction(1, 100000), "1e-5*exp(-eps) + 1e-5 - 1e-5*exp(-eps)"])
def test_a_number_stays_a_number(written: Any) -> None:
    claim = from_arguments(delta=written, domain="0,1")
    assert claim.guarantee == Proportional(delta=Fraction(1, 100000))
    assert claim.to_json()["delta"] == 1e-5


@pytest.mark.parametrize(
    ("written", "code", "marked"),
    [
        ("exp(eps)", "CLAIM-013", "exp(eps)"),
        ("exp(-", "CLAIM-013", "exp(-"),
        ("exp(-x)", "CLAIM-001", "x"),
        ("exp(-0)", "CLAIM-013", "0"),
        ("exp(-eps/0)", "CLAIM-013", "0"),
        ("1/0*exp(-eps)", "CLAIM-004", "1/0"),
        ("exp(-eps) +", "CLAIM-005", " "),
        ("1 +- exp(-eps)", "CLAIM-013", "-"),
        ("2*exp(-eps)", "CLAIM-014", "2*exp(-eps)"),
        ("2*exp(-1/2)", "CLAIM-014", "2*exp(-1/2)"),
        ("-exp(-2)", "CLAIM-014", "-exp(-2)"),
        ("eps", "CLAIM-014", "eps"),
        ("exp(-eps) - 1/2", "CLAIM-014", "exp(-eps) - 1/2"),
        ("exp(-2)*exp(-eps)", "CLAIM-013", "exp(-2)*exp(-eps)"),
        ("exp(-2) + exp(-3)", "CLAIM-013", "exp(-2) + exp(-3)"),
        ("exp(-5000)", "CLAIM-013", "exp(-5000)"),
        ("exp(-123457/123456789*eps) + exp(-eps)", "CLAIM-013", "exp(-123457/123456789*eps) + exp(-eps)"),
        ("2*exp(-0.5) - 1", "CLAIM-013", "2*exp(-0.5) - 1"),
    ],
)
def test_what_is_no_delta_is_refused_where_it_stands(written: str, code: str, marked: str) -> None:
    with pytest.raises(ClaimError) as caught:
        from_options({"delta": written, "domain": "0,1"})
    assert caught.value.code == code
    excerpt = caught.value.excerpt
    assert excerpt is not None
    assert f"--delta {written} "[excerpt.start : excerpt.end] == marked


def test_the_range_of_epsilon_decides_what_is_a_probability() -> None:
    assert from_arguments(delta="eps/4", epsilon_range="0,4", domain="0,1").guarantee.at(Fraction(2)).text  # type: ignore[union-attr]
    assert from_arguments(delta="2*exp(-eps)", epsilon=1, domain="0,1")
    for given in ({"epsilon_range": "0,5"}, {"epsilon": 5}):
        with pytest.raises(ClaimError) as caught:
            from_arguments(delta="eps/4", domain="0,1", **given)
        assert caught.value.code == "CLAIM-014"


def test_a_claim_that_is_made_directly_is_checked_too() -> None:
    assert Claim(Proportional(delta="exp(-eps)"), MaxNorm()).guarantee.delta == Delta(Exponential.parse("exp(-eps)"))  # type: ignore[arg-type, union-attr]
    with pytest.raises(ClaimError) as caught:
        Claim(Proportional(delta=Delta(Exponential.parse("2*exp(-eps)"))), MaxNorm())
    assert caught.value.code == "CLAIM-014"
    with pytest.raises(ValueError, match="no δ"):
        Delta(Exponential.parse("exp(-eps)"), Fraction(1))


@pytest.mark.parametrize(("written", "_"), WRITTEN)
def test_the_promise_at_one_epsilon_is_rounded_up(written: str, _: str) -> None:
    claim = from_arguments(delta=written, domain="0,1")
    assert isinstance(claim.guarantee, Proportional)
    for eps in (Fraction(1, 7), Fraction(1), Fraction(9, 2)):
        promise, delta = claim.guarantee.at(eps), claim.guarantee.delta
        assert isinstance(promise, Approximate)
        assert isinstance(delta, Delta)
        exactly = float(delta.function.value(eps)) * math.exp(-float(delta.exponent))
        assert float(promise.delta) == pytest.approx(exactly, rel=1e-12)
        with ctx.workprec(2000):
            rounded = arb(fmpq(promise.delta.numerator, promise.delta.denominator))
            assert rounded > delta.value(eps, 2000)


def test_what_contradicts_the_rounded_promise_contradicts_the_claim() -> None:
    claim = from_arguments(delta="exp(-2)", domain="0,1", epsilon=1)
    assert claim.contradicts(0.14, 0)
    assert not claim.contradicts(0.1353, 0)
    assert from_arguments(delta="0*exp(-2)", domain="0,1").guarantee.at(Fraction(1)) == Pure(Fraction(1))  # type: ignore[union-attr]
    assert read_delta("0*exp(-2)", "delta=") == 0
