"""Limits of the privacy loss, and signs beside a constant such as e^{-1/32}."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from dpverdict.reading.exact.exponential import Exponential, Quotient
from dpverdict.reading.exact.limits import loss_at_infinity, loss_at_zero
from dpverdict.reading.exact.sign import Negative, Undecided
from dpverdict.reading.exact.sign_forms import Interval
from dpverdict.reading.exact.with_constant import NonnegativeByTurns, WithConstant, decide_with_constant

ALL = Interval()
parse = Exponential.parse


def loss(one: Quotient, other: Quotient, eps: Fraction) -> float:
    with ctx.workprec(2000):
        value = (one.value(eps, 2000) / other.value(eps, 2000)).log()
        return float(value / fmpq(eps.numerator, eps.denominator))


@pytest.mark.parametrize(
    ("one", "other", "at_zero", "at_infinity"),
    [
        ("1 - 1/2*exp(-eps)", "1/2*exp(-eps)", Fraction(2), Fraction(1)),
        ("1/2", "1/2*exp(-3/4*eps)", Fraction(3, 4), Fraction(3, 4)),
        ("eps", "1 - exp(-eps)", Fraction(1, 2), Fraction(0)),
        ("1/2", "1/3", math.inf, Fraction(0)),
        ("1/3", "1/2", -math.inf, Fraction(0)),
        ("1/2", "eps*exp(-eps)", math.inf, Fraction(1)),
        ("1 - exp(-eps)", "1/2", -math.inf, Fraction(0)),
        ("(1 - exp(-eps)) / (1 + exp(-eps))", "(eps*exp(-2*eps)) / (2)", Fraction(2), Fraction(2)),
    ],
)
def test_limits_of_the_loss(one: str, other: str, at_zero: float | Fraction, at_infinity: Fraction) -> None:
    pair = Quotient.parse(one), Quotient.parse(other)
    assert loss_at_zero(*pair) == at_zero
    assert loss_at_infinity(*pair) == at_infinity
    if isinstance(at_zero, Fraction):
        assert loss(*pair, Fraction(1, 10**6)) == pytest.approx(float(at_zero), abs=1e-4)
    else:
        assert loss(*pair, Fraction(1, 10**6)) * at_zero > 1000
    assert loss(*pair, Fraction(1000)) == pytest.approx(float(at_infinity), abs=2e-2)


def test_a_probability_of_zero_has_no_loss() -> None:
    with pytest.raises(ValueError, match="no limit"):
        loss_at_zero(Quotient(Exponential.zero()), Quotient.parse("1"))
    with pytest.raises(ValueError, match="no limit"):
        loss_at_infinity(Quotient.parse("1"), Quotient(Exponential.zero()))


def subject(function: str, coefficient: Fraction | int, exponent: Fraction) -> WithConstant:
    return WithConstant(parse(function), Fraction(coefficient), exponent)


def checked(one: WithConstant, interval: Interval = ALL) -> NonnegativeByTurns | Negative | Undecided:
    answer = decide_with_constant(one, interval)
    if isinstance(answer, Negative):
        at = answer.at
        assert interval.inside(at) or interval.is_point
        assert one.value_on(arb(fmpq(at.numerator, at.denominator)), 600) < 0 or one.sign_at(at) < 0
    if isinstance(answer, NonnegativeByTurns):
        for power in range(-30, 30):
            place = interval.place(Fraction(5, 4) ** power)
            assert not one.value_on(arb(fmpq(place.numerator, place.denominator)), 300) < 0
    return answer


def test_a_tie_at_one_eps_is_exact() -> None:
    tie = subject("-exp(-1/8*eps)", 1, Fraction(1, 32))
    quarter = Fraction(1, 4)
    assert tie.sign_at(quarter) == 0
    assert isinstance(checked(tie, Interval.point(quarter)), NonnegativeByTurns)
    assert isinstance(checked(tie, Interval.point(quarter - Fraction(1, 10**40))), Negative)
    # A tie at an end is no violation; beyond it there is one.
    assert isinstance(checked(tie, Interval(quarter, None)), NonnegativeByTurns)
    assert isinstance(checked(tie, Interval(quarter - Fraction(1, 10**20), None)), Negative)


def test_ends_and_turns() -> None:
    bump = "exp(-eps) - eps*exp(-eps)"  # falls to -e^{-2} at 2, then rises to 0
    two = Fraction(2)
    assert isinstance(checked(subject(bump, 1, two)), NonnegativeByTurns)  # the tie at a rational turn is exact
    less = Fraction(10**30 - 1, 10**30)
    assert isinstance(checked(subject(bump, less, two)), Negative)
    assert isinstance(checked(subject(bump, less, two), Interval(Fraction(3), None)), NonnegativeByTurns)
    assert isinstance(checked(subject("1/3 - exp(-eps)", 1, Fraction(1, 2))), Negative)  # below 0 near ε = 0
    assert isinstance(checked(subject("exp(-eps)", -1, Fraction(30))), Negative)  # only far away
    assert isinstance(checked(subject("eps - 1", 1, Fraction(0))), NonnegativeByTurns)
    assert isinstance(checked(subject("-eps", 1, Fraction(0))), Negative)
    assert isinstance(checked(subject("0", 1, Fraction(5))), NonnegativeByTurns)
    assert isinstance(checked(subject("0", -1, Fraction(5))), Negative)


def test_irrational_turns() -> None:
    # e^{-2ε} - e^{-ε} has its least value -1/4 at ln 2: e^{-r} ± a little is told from 1/4.
    valley = "exp(-2*eps) - exp(-eps)"
    assert isinstance(checked(subject(valley, 1, Fraction(13862, 10000))), NonnegativeByTurns)
    assert isinstance(checked(subject(valley, 1, Fraction(13863, 10000))), Negative)
    # A tie at an irrational place is not guessed.
    tie = subject(valley, Fraction(1, 4), Fraction(0))
    assert isinstance(checked(tie), Undecided)


def test_a_flat_place_is_no_turn() -> None:
    # The slope is (ε - 3/4)²·(1/2 - e^{-ε}): it turns at ln 2 = 0.693 only, and 3/4 is the middle of [1/2, 1].
    cube = parse("1/6*eps^3 - 3/8*eps^2 + 9/32*eps - 9/128")
    function = cube + parse("eps^2*exp(-eps) + 1/2*eps*exp(-eps) + 17/16*exp(-eps)")
    square = parse("eps^2 - 3/2*eps + 9/16")
    assert function.derivative() == square * parse("1/2 - exp(-eps)")
    at_flat = float(function.value(Fraction(3, 4)).mid())
    for below, kind in ((1e-7, Negative), (1e-6, NonnegativeByTurns)):
        one = WithConstant(function, Fraction(-1), Fraction(-math.log(at_flat - below)))
        assert one.sign_at(Fraction(3, 4)) > 0
        for interval in (ALL, Interval(Fraction(1, 2), Fraction(1))):
            assert isinstance(checked(one, interval), kind)
