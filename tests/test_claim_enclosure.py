"""The rigorous enclosures against the decimal module (correctly rounded) and math.erfc."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim.enclosure import (
    Bounds,
    exp_bounds,
    log_bounds,
    normal_bounds,
    rounded_up,
    sqrt_bounds,
)

POSITIVE = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6)
BITS = st.sampled_from([16, 64, 200])


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def holds(bounds: Bounds, truth: Decimal, slack: Decimal) -> bool:
    return decimal(bounds.low) <= truth + slack and truth - slack <= decimal(bounds.high)


@given(POSITIVE, BITS)
@settings(max_examples=80, deadline=None)
def test_log(value: Fraction, bits: int) -> None:
    bounds = log_bounds(value, bits)
    with localcontext(prec=120):
        assert holds(bounds, decimal(value).ln(), Decimal("1e-100"))
    assert 0 <= bounds.high - bounds.low <= Fraction(1, 1 << bits)


@given(st.fractions(min_value=-200, max_value=200, max_denominator=10**6), BITS)
@settings(max_examples=80, deadline=None)
def test_exp(value: Fraction, bits: int) -> None:
    bounds = exp_bounds(value, bits)
    with localcontext(prec=250):
        truth = decimal(value).exp()
        assert holds(bounds, truth, truth * Decimal("1e-200"))
    assert 0 <= bounds.high - bounds.low <= bounds.low / (1 << bits)


@given(POSITIVE, BITS)
@settings(max_examples=50, deadline=None)
def test_sqrt(value: Fraction, bits: int) -> None:
    low, high = sqrt_bounds(value, bits)
    assert low * low <= value <= high * high
    assert high - low <= Fraction(1, 1 << bits)


def test_exact_values() -> None:
    assert log_bounds(Fraction(1), 64) == (0, 0)
    assert exp_bounds(Fraction(0), 64) == (1, 1)
    assert sqrt_bounds(Fraction(9, 4), 64) == (Fraction(3, 2), Fraction(3, 2))
    assert rounded_up(Fraction(1, 3), 1) == Fraction(1, 2)


@given(st.floats(-37, 8), BITS)
@settings(max_examples=60, deadline=None)
def test_normal(x: float, bits: int) -> None:
    bounds = normal_bounds(Fraction(x), bits)
    truth = math.erfc(-x / math.sqrt(2)) / 2
    # erfc amplifies the rounding of its argument by about x².
    slack = Fraction(truth) * Fraction(1, 10**12)
    assert bounds.low <= Fraction(truth) + slack
    assert Fraction(truth) - slack <= bounds.high
    assert 0 <= bounds.high - bounds.low <= bounds.high / (1 << bits) * 4


@given(st.fractions(min_value=-20, max_value=20, max_denominator=1000))
@settings(max_examples=30, deadline=None)
def test_more_bits_give_overlapping_and_narrower_enclosures(x: Fraction) -> None:
    coarse, fine = normal_bounds(x, 32), normal_bounds(x, 256)
    assert coarse.low <= fine.high
    assert fine.low <= coarse.high
    assert fine.high - fine.low <= coarse.high - coarse.low
    mirrored = normal_bounds(-x, 256)
    assert fine.low + mirrored.low <= 1 <= fine.high + mirrored.high


def test_phi_of_one_to_thirty_digits() -> None:
    truth = Fraction("0.841344746068542948585232545632")  # OEIS A239382
    low, high = normal_bounds(Fraction(1), 128)
    assert low - Fraction(1, 10**29) <= truth <= high + Fraction(1, 10**29)


def test_far_away() -> None:
    assert exp_bounds(Fraction(-(10**9)), 64).low == 0
    assert 0 < exp_bounds(Fraction(-(10**9)), 64).high < Fraction(1, 10**1000)
    assert normal_bounds(Fraction(-100), 64).low == 0
    assert 0 < normal_bounds(Fraction(-100), 64).high < Fraction(1, 10**800)
    assert normal_bounds(Fraction(100), 64).high == 1
    with pytest.raises(ValueError, match="4096"):
        exp_bounds(Fraction(5000), 64)
