"""The constructors of terms: they mean what they say, and equal values become equal terms."""

from __future__ import annotations

import contextlib
import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import FALSE, TRUE, NoMeaningError, exact, from_python, number, to_python
from dpverdict.mechanism.evaluate import evaluate
from dpverdict.mechanism.properties import draws_in, inputs_in, kind_of, support
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import (
    Affine,
    All,
    Any_,
    Comparison,
    Constant,
    Epsilon,
    Input,
    Kind,
    Lookup,
    Not,
    Parameter,
    Product,
    Term,
)
from random_terms import (
    COINS,
    COUNT,
    FLAG,
    REAL,
    SCORE,
    SMALL,
    WHOLE,
    assignments,
    booleans,
    coefficients,
    is_clear,
    known,
    numbers,
    quick,
    relations,
    same,
    sums,
    value_of,
)

COMPARED = {"<=": lambda a, b: a <= b, "<": lambda a, b: a < b, "==": lambda a, b: a == b}
EPSILON, P = Epsilon(), Parameter("p")


def agree(made: Term, assignment: dict[Term, Any], wanted: Any, *parts: Term) -> None:
    """The made term has the wanted value, unless rounding may have tipped a comparison in it or in its parts."""
    run = known(assignment)
    found = evaluate(made, run)
    for part in parts:
        evaluate(part, run)
    assume(is_clear(run))
    assert same(found, wanted)


# --- they mean what they say -----------------------------------------------------------------------------------


@quick
@given(numbers, numbers, coefficients, assignments)
def test_sums(left: Term, right: Term, factor: Fraction, assignment: Any) -> None:
    a, b = value_of(left, assignment), value_of(right, assignment)
    assume(a is not None and b is not None)
    agree(algebra.add(left, right), assignment, a + b, left, right)
    agree(algebra.subtract(left, right), assignment, a - b, left, right)
    agree(algebra.scale(left, factor), assignment, float(factor) * a, left)


@quick
@given(numbers, numbers, st.sampled_from([-1, 2, 3]), assignments)
def test_products_quotients_and_powers(left: Term, right: Term, exponent: int, assignment: Any) -> None:
    a, b = value_of(left, assignment), value_of(right, assignment)
    assume(a is not None and b is not None)
    for build, wanted in (
        (lambda: algebra.multiply(left, right), lambda: a * b),
        (lambda: algebra.divide(left, right), lambda: a / b),
        (lambda: algebra.power(left, Fraction(exponent)), lambda: float(a) ** exponent),
    ):
        with contextlib.suppress(NoMeaningError, ZeroDivisionError):
            agree(build(), assignment, wanted(), left, right)


@quick
@given(relations, numbers, numbers, assignments)
def test_comparisons(relation: str, left: Term, right: Term, assignment: Any) -> None:
    a, b = value_of(left, assignment), value_of(right, assignment)
    assume(a is not None and b is not None and (a == b or abs(a - b) > 1e-9))
    made = algebra.compare(relation, left, right)
    agree(made, assignment, COMPARED[relation](a, b), left, right)
    agree(algebra.negate(made), assignment, not COMPARED[relation](a, b), left, right)


@quick
@given(st.lists(booleans, min_size=1, max_size=4), assignments)
def test_conjunctions_and_disjunctions(terms: list[Term], assignment: Any) -> None:
    given_values = [value_of(term, assignment) for term in terms]
    assume(None not in given_values)
    agree(algebra.conjunction(terms), assignment, all(given_values), *terms)
    agree(algebra.disjunction(terms), assignment, any(given_values), *terms)


@quick
@given(booleans, st.lists(numbers, min_size=2, max_size=4), st.integers(0, 3), assignments)
def test_choices(condition: Term, items: list[Term], rank: int, assignment: Any) -> None:
    test, values = value_of(condition, assignment), [value_of(item, assignment) for item in items]
    assume(test is not None and None not in values)
    ordered, rank = sorted(values), rank % len(items)
    assume(all(b == a or b - a > 1e-9 for a, b in itertools.pairwise(ordered)))
    agree(algebra.choose(condition, items[0], items[1]), assignment, values[0 if test else 1], condition, *items)
    agree(algebra.ranked(items, rank), assignment, ordered[rank], *items)
    agree(algebra.argmax(items), assignment, values.index(max(values)), *items)


@quick
@given(st.lists(st.sampled_from((*COINS, *SMALL, FLAG)), min_size=1, max_size=3), assignments)
def test_tables(keys: list[Term], assignment: Any) -> None:
    made = algebra.lookup(tuple(keys), lambda *found: number(sum(exact(key) ** 2 for key in found)))
    agree(made, assignment, sum(int(assignment[key]) ** 2 for key in keys))


@quick
@given(st.one_of(numbers, booleans), assignments)
def test_rebuilding_changes_nothing(term: Term, assignment: Any) -> None:
    value = value_of(term, assignment)
    assume(value is not None)
    rebuilt = rebuild(term, lambda inner: inner)
    assert rebuilt == term
    agree(rebuilt, assignment, value)


@quick
@given(st.one_of(numbers, booleans), assignments)
def test_kind_support_and_parts_hold(term: Term, assignment: Any) -> None:
    value = value_of(term, assignment)
    assume(value is not None)
    if kind_of(term).is_integral:
        assert value == int(value)
    listed = support(term)
    if listed is not None:
        assert any(same(float(exact(candidate)), value) for candidate in listed)
    changed = {
        leaf: given if leaf in draws_in(term) | inputs_in(term) else type(given)(0)
        for leaf, given in assignment.items()
    }
    changed |= {EPSILON: assignment[EPSILON], P: assignment[P]}
    agree(term, changed, value, term)


# --- one form for one value --------------------------------------------------------------------------------------


@quick
@given(numbers, numbers, numbers, relations, coefficients)
def test_equal_values_are_equal_terms(a: Term, b: Term, c: Term, relation: str, factor: Fraction) -> None:
    assert algebra.add(a, b) == algebra.add(b, a)
    assert algebra.add(algebra.add(a, b), c) == algebra.add(a, algebra.add(b, c))
    assert algebra.subtract(a, a) == number(0)
    assert algebra.scale(algebra.scale(a, factor), 1 / factor) == algebra.add(a, number(0))
    assert algebra.compare("<", a, b) == algebra.negate(algebra.compare("<=", b, a))
    assert algebra.compare("<=", a, b) == algebra.negate(algebra.compare("<", b, a))
    test = algebra.compare(relation, a, b)
    assert algebra.negate(algebra.negate(test)) == test
    assert algebra.compare(relation, algebra.add(a, c), algebra.add(b, c)) == test
    if factor > 0 or relation == "==":
        assert algebra.compare(relation, algebra.scale(a, factor), algebra.scale(b, factor)) == test


@quick
@given(booleans, booleans, booleans)
def test_equal_truths_are_equal_terms(a: Term, b: Term, c: Term) -> None:
    for join, neutral, absorbing in ((algebra.conjunction, TRUE, FALSE), (algebra.disjunction, FALSE, TRUE)):
        assert join([a, b]) == join([b, a])
        assert join([join([a, b]), c]) == join([a, join([b, c])])
        assert join([a, a]) == join([a]) == a
        assert join([a, neutral]) == a
        assert join([a, absorbing]) == absorbing
        if not isinstance(a, (Not, All, Any_)):
            assert join([a, algebra.negate(a)]) == absorbing
    assert algebra.choose(a, b, b) == b
    assert algebra.choose(a, TRUE, FALSE) == a
    assert algebra.choose(a, FALSE, TRUE) == algebra.negate(a)


@quick
@given(sums(st.sampled_from((COUNT, WHOLE, *SMALL, *COINS))), relations)
def test_comparisons_of_whole_numbers_are_tightened(term: Term, relation: str) -> None:
    made = algebra.compare(relation, term, number(0))
    if isinstance(made, Comparison) and isinstance(made.difference, Affine):
        numbers = [made.difference.constant, *(c for _, c in made.difference.terms)]
        assert made.relation != "<"
        assert all(part.denominator == 1 for part in numbers)
        assert math.gcd(*(part.numerator for part in numbers[1:])) == 1


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (algebra.compare("<", COUNT, number(1)), algebra.compare("<=", COUNT, number(0))),
        (algebra.compare("<=", COUNT, number(Fraction(3, 2))), algebra.compare("<=", COUNT, number(1))),
        (algebra.compare("<", algebra.scale(COUNT, Fraction(2)), number(3)), algebra.compare("<=", COUNT, number(1))),
        (algebra.compare("==", algebra.scale(COUNT, Fraction(2)), number(3)), FALSE),
        (
            algebra.compare("==", algebra.scale(COUNT, Fraction(-2)), number(4)),
            algebra.compare("==", COUNT, number(-2)),
        ),
        (algebra.compare("<=", algebra.scale(COINS[0], Fraction(3)), number(2)), algebra.negate(COINS[0])),
        (algebra.compare("<=", number(1), algebra.add(COINS[0], number(0))), COINS[0]),
        (algebra.compare("<=", COINS[0], number(1)), TRUE),
        (algebra.compare("<", SCORE, SCORE), FALSE),
    ],
)
def test_tightened_by_hand(given: Term, wanted: Term) -> None:
    assert given == wanted


def test_products_are_collected() -> None:
    quotient = algebra.divide(number(2), EPSILON)
    assert algebra.multiply(quotient, EPSILON) == number(2)
    assert algebra.multiply(quotient, quotient) == algebra.scale(algebra.power(EPSILON, Fraction(-2)), Fraction(4))
    assert (
        algebra.multiply(EPSILON, P)
        == algebra.multiply(P, EPSILON)
        == Product(((EPSILON, Fraction(1)), (P, Fraction(1))))
    )
    assert algebra.multiply(algebra.add(REAL[0], number(3)), EPSILON) == algebra.add(
        algebra.multiply(EPSILON, REAL[0]), algebra.scale(EPSILON, Fraction(3))
    )
    root = algebra.power(EPSILON, Fraction(1, 2))
    assert algebra.multiply(root, root) == EPSILON
    assert algebra.power(number(Fraction(9, 4)), Fraction(1, 2)) == number(Fraction(3, 2))
    assert algebra.power(algebra.power(number(2), Fraction(1, 2)), Fraction(2)) == number(2)
    assert algebra.elementary("exp", number(0)) == algebra.power(P, Fraction(0)) == number(1)
    assert algebra.elementary("log", number(1)) == number(0)
    # sqrt(p ** 2) is |p|, not p.
    assert algebra.power(algebra.power(P, Fraction(2)), Fraction(1, 2)) != P


@pytest.mark.parametrize(
    "build",
    [
        lambda: algebra.multiply(REAL[0], REAL[1]),
        lambda: algebra.divide(number(1), REAL[0]),
        lambda: algebra.power(REAL[0], Fraction(2)),
        lambda: algebra.power(REAL[0], Fraction(1, 2)),
        lambda: algebra.elementary("exp", REAL[0]),
        lambda: algebra.elementary("log", COINS[0]),
        lambda: algebra.elementary("log", number(0)),
        lambda: algebra.power(number(-1), Fraction(1, 2)),
        lambda: algebra.lookup((REAL[0],), lambda key: key),
        lambda: algebra.lookup((WHOLE,), lambda key: key),
        lambda: algebra.add(Input((0,), Kind.TEXT), number(1)),
        lambda: algebra.add(Constant(Kind.NONFINITE, "inf"), number(1)),
    ],
)
def test_what_has_no_form_is_refused(build: Any) -> None:
    with pytest.raises(NoMeaningError):
        build()


def test_products_of_finite_noise() -> None:
    assert isinstance(algebra.multiply(SMALL[0], SMALL[1]), Lookup)
    assert algebra.multiply(COINS[0], REAL[0]) == algebra.choose(COINS[0], REAL[0], number(0))
    both = algebra.multiply(COINS[0], COINS[1])
    assert both == algebra.multiply(COINS[1], COINS[0])
    assert kind_of(both) is Kind.INTEGER  # True times True is 1, in Python and here


def test_ranks_of_booleans_are_booleans() -> None:
    lowest, _, highest = (algebra.ranked(COINS, rank) for rank in range(3))
    assert kind_of(lowest) is kind_of(highest) is Kind.TRUTH
    assert kind_of(algebra.ranked([COINS[0], number(2)], 1)) is Kind.INTEGER


# --- constants -----------------------------------------------------------------------------------------------------


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_as_their_shortest_decimals(content: float) -> None:
    constant = from_python(content)
    assert constant is not None
    assert constant.content == Fraction(repr(content))
    assert float(to_python(constant)) == content  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [True, False, 0, 1, -7, 10**30, "", "a", None, math.inf, -math.inf])
def test_scalars_go_through_unchanged(content: Any) -> None:
    constant = from_python(content)
    assert constant is not None
    assert to_python(constant) == content
    assert type(to_python(constant)) is type(content)


def test_no_scalar_is_no_constant() -> None:
    assert [from_python(content) for content in ([], {}, object(), 1j, b"")] == [None] * 5
