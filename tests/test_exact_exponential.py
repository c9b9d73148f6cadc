"""Exponential polynomials and their quotients: arithmetic, normal form, values, text."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from dpverdict.errors import InputError
from dpverdict.reading.exact.exponential import Exponential, Quotient, Term

SMALL = st.fractions(min_value=-5, max_value=5, max_denominator=12)
RATES = st.fractions(min_value=0, max_value=4, max_denominator=6)
TERMS = st.lists(st.builds(Term, SMALL, st.integers(0, 4), RATES), max_size=6)
SUMS = st.builds(Exponential.of_terms, TERMS)
POINTS = st.fractions(min_value=Fraction(1, 8), max_value=6, max_denominator=9)


def direct(terms: list[Term], eps: Fraction) -> arb:
    """The value, summed term by term from the written form."""
    with ctx.workprec(300):
        place = arb(fmpq(eps.numerator, eps.denominator))
        total = arb(0)
        for coefficient, power, rate in terms:
            decay = (-place * fmpq(rate.numerator, rate.denominator)).exp()
            total += place**power * decay * fmpq(coefficient.numerator, coefficient.denominator)
        return total


@given(TERMS, POINTS)
def test_values_are_those_of_the_terms(terms: list[Term], eps: Fraction) -> None:
    value = Exponential.of_terms(terms).value(eps, 200)
    assert value.overlaps(direct(terms, eps))
    assert value.rad() < arb(2) ** -150


@given(SUMS, SUMS, SUMS)
def test_sums_form_a_ring(one: Exponential, two: Exponential, three: Exponential) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one * two == two * one
    assert (one * two) * three == one * (two * three)
    assert one * (two + three) == one * two + one * three
    assert (one - one).is_zero
    assert one * Exponential.constant(1) == one
    assert -one == one * -1


@given(TERMS, TERMS, POINTS)
def test_products_multiply_values(one: list[Term], two: list[Term], eps: Fraction) -> None:
    product = Exponential.of_terms(one) * Exponential.of_terms(two)
    assert product.value(eps, 300).overlaps(direct(one, eps) * direct(two, eps))


@given(SUMS, st.integers(1, 6))
def test_the_scale_does_not_matter(one: Exponential, stretch: int) -> None:
    wide = one.at_scale(one.scale * stretch)
    assert wide == one
    assert hash(wide) == hash(one)
    assert wide.reduced().scale == one.reduced().scale
    assert wide.reduced().parts == one.reduced().parts


@given(SUMS)
def test_text_and_pickle_give_the_same_back(one: Exponential) -> None:
    assert Exponential.parse(one.text()) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert Exponential.parse(one.text()).text() == one.text()


@given(SUMS, SUMS)
def test_the_derivative_is_a_derivation(one: Exponential, two: Exponential) -> None:
    assert (one * two).derivative() == one.derivative() * two + one * two.derivative()


@given(st.integers(0, 4), RATES)
def test_the_derivative_of_a_term(power: int, rate: Fraction) -> None:
    expected = Exponential.term(-rate, power, rate)
    if power:
        expected += Exponential.term(power, power - 1, rate)
    assert Exponential.term(1, power, rate).derivative() == expected


@given(SUMS, RATES)
def test_shifts_multiply_by_an_exponential(one: Exponential, rate: Fraction) -> None:
    assert one.shifted(rate) == one * Exponential.term(1, 0, rate)
    assert one.shifted(rate).shifted(-rate) == one


def test_no_exponential_may_grow() -> None:
    with pytest.raises(ValueError, match="would grow"):
        (Exponential.constant(1) + Exponential.term(1, 0, 2)).shifted(-1)
    with pytest.raises(ValueError, match="negative exponent"):
        Exponential.term(1, 0, -1)


def test_the_canonical_text() -> None:
    text = "29/120*exp(-1/8*eps) - 1/8*exp(-1/4*eps) + 1/2*eps*exp(-eps)"
    assert Exponential.parse(text).text() == text
    assert Exponential.zero().text() == "0"
    assert Exponential.parse("-eps^2 + 1 - exp(-eps)").text() == "1 - eps^2 - exp(-eps)"
    assert Exponential.parse("3").is_constant


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", 0),
        ("1 +", 1),
        ("1+2", 1),
        ("1/0", 0),
        ("eps^", 3),
        ("eps*eps", 4),
        ("exp(-eps)*2", 9),
        ("exp(eps)", 0),
        ("exp(--1*eps)", 0),
        ("2*", 2),
        ("0.5", 1),
        ("epsilon", 0),
        ("1 - - 2", 4),
        ("eps^99999999999", 4),
        ("__import__('os')", 0),
        ("9" * 3000, 0),
        ("²", 0),
        ("1 - exp(-100001*eps)", 0),
        ("exp(-1/9999*eps) + exp(-20/9997*eps)", 0),
    ],
)
def test_what_is_no_sum_is_located(text: str, place: int) -> None:
    with pytest.raises(InputError) as caught:
        Exponential.parse(text)
    assert caught.value.excerpt is not None
    assert caught.value.excerpt.start == place


@given(st.text(alphabet="1/2eps^*exp(-) +", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read = Exponential.parse(text)
    except InputError:
        return
    assert Exponential.parse(read.text()) == read


def test_digits_are_rounded_correctly() -> None:
    seen = Exponential.parse("23/80*exp(-1/2*eps) - 1/10*exp(-3/4*eps)")
    assert seen.digits(Fraction(1, 2)) == "0.155176297253931679765966217842"
    assert seen.digits(2) == "0.0834523233219466845653850368450"
    assert Exponential.constant(Fraction(1, 2)).digits(1, 5) == "0.50000"
    assert Exponential.constant(Fraction(25, 10)).digits(1, 1) == "2"
    assert Exponential.term(1, 3).digits(10, 2) == "1.0e3"
    assert Exponential.term(1, 0, 1).digits(1000, 4) == "5.076e-435"
    assert Exponential.constant(-1).digits(1, 3) == "-1.00"
    assert Exponential.parse("1 - exp(-eps)").digits(0) == "0"
    assert Exponential.term(1, 0, 1).digits(100_000, 3) == "3.56e-43430"


@given(SUMS, POINTS)
def test_digits_enclose_the_value(one: Exponential, eps: Fraction) -> None:
    shown, value = Fraction(one.digits(eps, 20)), one.value(eps, 400)
    with ctx.workprec(400):
        error = abs(value - fmpq(shown.numerator, shown.denominator))
        assert error <= abs(value) * arb(10) ** -19 * arb("0.5001") or one.at(eps) == 0


DENOMINATORS = st.builds(
    lambda size, rate, power: Exponential.constant(size) + Exponential.term(1, power, rate),
    st.integers(1, 3),
    RATES,
    st.integers(0, 2),
)
QUOTIENTS = st.builds(Quotient, SUMS, DENOMINATORS)


@given(QUOTIENTS, QUOTIENTS, QUOTIENTS)
def test_quotients_form_a_field(one: Quotient, two: Quotient, three: Quotient) -> None:
    assert one + two == two + one
    assert one * (two + three) == one * two + one * three
    assert (one - one).numerator.is_zero
    assert one.cancelled() == one
    assert Quotient.parse(one.text()) == one


@given(SUMS, DENOMINATORS, DENOMINATORS)
def test_common_factors_cancel(one: Exponential, two: Exponential, three: Exponential) -> None:
    below = Exponential(three.scale, three.parts[:1])  # free of ε
    least = Quotient(one * below * -1, below * -1).cancelled()
    assert least == Quotient(one)
    assert least.denominator == Exponential.constant(1)
    assert Quotient(one * two, two) == Quotient(one)


@given(QUOTIENTS, POINTS)
def test_values_of_quotients(one: Quotient, eps: Fraction) -> None:
    value, shown = one.value(eps, 300), Fraction(one.digits(eps, 20))
    with ctx.workprec(300):
        assert (value * one.denominator.value(eps, 300)).overlaps(one.numerator.value(eps, 300))
        assert abs(value - fmpq(shown.numerator, shown.denominator)) <= abs(value) * arb(10) ** -19


def test_a_denominator_is_not_zero() -> None:
    with pytest.raises(ValueError, match="denominator"):
        Quotient(Exponential.constant(1), Exponential.zero())
    with pytest.raises(InputError, match="not an exponential"):
        Quotient.parse("(1) / (0)")
    with pytest.raises(ZeroDivisionError):
        Quotient.parse("(1) / (1 - exp(-eps))").digits(0)


def test_a_quotient_that_is_constant_has_exact_digits() -> None:
    assert Quotient.parse("(1/2 + 1/2*exp(-eps)) / (1 + exp(-eps))").digits(1, 6) == "0.500000"
