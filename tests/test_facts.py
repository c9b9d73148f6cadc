"""What a path has decided, and what follows: never anything that is not so."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import number
from dpverdict.mechanism.facts import Facts
from dpverdict.mechanism.intervals import EVERYTHING, POSITIVE, Interval, hull, point
from dpverdict.mechanism.laws import Exponential, Uniform
from dpverdict.mechanism.properties import kind_of
from dpverdict.mechanism.structure import Comparison, Constant, Draw, Epsilon, Input, Kind, Parameter, Term
from random_terms import (
    COINS,
    COUNT,
    NOISY,
    REAL,
    SCORE,
    SMALL,
    VALUES,
    assignments,
    booleans,
    numbers,
    quick,
    relations,
    sums,
    value_of,
)

EPSILON = Epsilon()
ONE = number(1)

# --- facts, by brute force -------------------------------------------------------------------------------------

FEW = (*COINS[:2], *SMALL, REAL[0], COUNT)
SAMPLE = [
    {**{leaf: given[0] for leaf, given in VALUES.items()}, EPSILON: 1.0, **dict(zip(FEW, row, strict=True))}
    for row in itertools.product(*(VALUES[leaf] for leaf in FEW))
][::3]
"""A third of all values of some leaves: enough to catch a wrong decision, and quick."""

few_numbers = st.recursive(
    st.sampled_from(FEW),
    lambda inner: st.one_of(sums(inner), st.lists(inner, min_size=2).map(algebra.argmax)),
    max_leaves=4,
)
few_tests = st.builds(algebra.compare, relations, few_numbers, few_numbers)
conditions = st.one_of(
    few_tests,
    st.lists(few_tests, min_size=2, max_size=3).map(algebra.conjunction),
    st.lists(few_tests, min_size=2, max_size=3).map(algebra.disjunction),
)


def possible(assumed: list[tuple[Term, bool]]) -> Iterator[dict[Term, Any]]:
    """The assignments that agree with what was assumed."""
    return (one for one in SAMPLE if all(value_of(term, one) in (answer, None) for term, answer in assumed))


def is_in(value: float, interval: Interval) -> bool:
    slack = 1e-9 * max(1.0, abs(value))
    return float(interval.low) - slack <= value <= float(interval.high) + slack


@quick
@given(st.lists(conditions, max_size=4), conditions, few_numbers, st.sampled_from(SAMPLE))
def test_nothing_is_decided_wrongly(assumed: list[Term], asked: Term, term: Term, truth: Any) -> None:
    """One assignment is the truth; what it says is assumed; whatever then counts as known holds in all that fit."""
    facts, path = Facts(), list[tuple[Term, bool]]()
    for condition in assumed:
        answer = value_of(condition, truth)
        simpler = facts.simplify(condition)
        if answer is not None and not isinstance(simpler, Constant):
            facts.assume(simpler, answer)
            path.append((condition, answer))
    decided, bounds, simplified = facts.decide(asked), facts.bounds(term), facts.simplify(asked)
    for one in itertools.islice(possible(path), 60):
        value, number_value = value_of(asked, one), value_of(term, one)
        assert decided is None or value in (decided, None)
        assert value is None or value_of(simplified, one) in (value, None)
        assert number_value is None or is_in(float(number_value), bounds)


@quick
@given(st.one_of(numbers, booleans), assignments)
def test_bounds_hold_without_facts(term: Term, assignment: Any) -> None:
    value = value_of(term, assignment)
    assert value is None or is_in(float(value), Facts().bounds(term))
    if kind_of(term) is Kind.TRUTH and Facts().decide(term) is not None:
        assert value in (Facts().decide(term), None)


@quick
@given(booleans, st.booleans())
def test_what_was_assumed_is_known(condition: Term, answer: bool) -> None:
    facts = Facts()
    if facts.decide(condition) is None:
        facts.assume(condition, answer)
        assert facts.decide(condition) is answer
        assert facts.decide(algebra.negate(condition)) is not answer


# --- by hand -----------------------------------------------------------------------------------------------------


def facts_of(*assumed: tuple[Term, bool]) -> Facts:
    facts = Facts()
    for condition, answer in assumed:
        facts.assume(condition, answer)
    return facts


def below(left: Term, right: Term) -> Term:
    return algebra.compare("<=", left, right)


E = algebra.elementary("exp", EPSILON)
LOGISTIC = algebra.divide(E, algebra.add(ONE, E))
KNOWN: list[tuple[Term, bool | None]] = [
    (below(EPSILON, number(0)), False),
    (below(algebra.divide(number(2), EPSILON), number(0)), False),
    (algebra.compare("==", EPSILON, number(0)), False),
    (below(EPSILON, ONE), None),
    (below(E, ONE), False),
    # Divisors that are known to be positive may be multiplied away: probabilities lie from 0 to 1.
    (below(LOGISTIC, ONE), True),
    (below(number(0), LOGISTIC), True),
    (below(number(Fraction(1, 2)), LOGISTIC), True),
    (below(LOGISTIC, number(Fraction(1, 2))), False),
    (below(algebra.divide(ONE, algebra.add(ONE, E)), number(Fraction(1, 2))), True),
    (below(algebra.divide(ONE, algebra.add(EPSILON, number(-1))), ONE), None),
    (below(algebra.divide(ONE, Parameter("p")), ONE), None),
    (below(Draw(Uniform(ONE, number(2)), 1), number(2)), True),
    (below(number(1), Draw(Exponential(ONE, EPSILON), 1)), True),
    (below(Draw(Exponential(ONE, EPSILON), 1), number(7)), None),
    (below(SMALL[0], number(2)), True),
    (below(number(3), SMALL[0]), False),
    (below(algebra.total(COINS), number(3)), True),
    (below(algebra.ranked([SMALL[0], SMALL[1]], 1), number(2)), True),
    (below(algebra.argmax([REAL[0], REAL[1]]), ONE), True),
    (below(algebra.power(algebra.add(SCORE, Parameter("p")), Fraction(2)), number(-1)), False),
    (below(Input((5,), Kind.TRUTH), ONE), True),
]


@pytest.mark.parametrize(("condition", "answer"), KNOWN, ids=range(len(KNOWN)))
def test_known_without_facts(condition: Term, answer: bool | None) -> None:
    assert Facts().decide(condition) is answer


@quick
@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=4), relations, st.sampled_from([EPSILON, E, algebra.add(ONE, E)])
)
def test_quotients_are_never_decided_wrongly(numbers: list[int], relation: str, part: Term) -> None:
    """(a + b·x) / (c + d·x) against 0, at many ε."""
    a, b, c, d = (algebra.scale(ONE, Fraction(n)) if n else number(0) for n in numbers)
    above, divisor = algebra.add(a, algebra.multiply(b, part)), algebra.add(c, algebra.multiply(d, part))
    if isinstance(divisor, Constant) and divisor.content == 0:
        return
    asked = algebra.compare(relation, algebra.divide(above, divisor), ONE)
    decided = Facts().decide(asked)
    for epsilon in (1e-6, 0.1, math.log(2), 1.0, 2.0, 5.0, 20.0):
        x = {EPSILON: epsilon, E: math.exp(epsilon)}.get(part, 1 + math.exp(epsilon))
        below_line = numbers[2] + numbers[3] * x
        if abs(below_line) > 1e-9:
            gap = (numbers[0] + numbers[1] * x) / below_line - 1
            if abs(gap) > 1e-9 and decided is not None:
                assert decided is {"<=": gap < 0, "<": gap < 0, "==": False}[relation]


def test_a_sum_of_booleans_at_its_end_settles_each() -> None:
    hits = algebra.total(COINS)
    assert facts_of((below(number(3), hits), True)).simplify(COINS[1]).content is True  # type: ignore[union-attr]
    assert facts_of((below(hits, number(0)), True)).decide(COINS[2]) is False
    one_out = facts_of((COINS[0], True), (below(number(2), hits), False))
    assert one_out.decide(below(ONE, hits)) is True


def test_ranges_of_the_same_combination_meet() -> None:
    gap = algebra.subtract(REAL[0], REAL[1])
    facts = facts_of((below(gap, number(2)), True), (below(gap, ONE), False))
    assert facts.bounds(gap) == Interval(Fraction(1), Fraction(2), True, False)
    assert facts.bounds(algebra.scale(gap, Fraction(-3))) == Interval(Fraction(-6), Fraction(-3), False, True)
    assert facts.decide(below(algebra.add(gap, number(5)), number(7))) is True
    assert facts.decide(below(gap, number(Fraction(3, 2)))) is None
    whole = facts_of((below(SMALL[0], number(0)), False), (below(ONE, SMALL[0]), True))
    assert whole.bounds(SMALL[0]) == Interval(Fraction(1), Fraction(2), False, False)


def test_junctions_tell_of_their_parts() -> None:
    tests = [algebra.compare("<", REAL[0], number(0)), COINS[0]]
    assert facts_of((algebra.conjunction(tests), True)).decide(COINS[0]) is True
    assert facts_of((algebra.disjunction(tests), False)).decide(below(number(0), REAL[0])) is True
    assert facts_of((algebra.disjunction(tests), True)).decide(COINS[0]) is None


def test_a_law_takes_decided_booleans_as_numbers() -> None:
    scale = algebra.add(ONE, algebra.scale(COINS[0], Fraction(2)))
    assert facts_of((COINS[0], True)).simplify(scale) == number(3)
    assert facts_of((COINS[0], False)).simplify(scale) == ONE
    assert Facts().simplify(scale) == scale


# --- intervals -----------------------------------------------------------------------------------------------------

ends = st.fractions(-4, 4, max_denominator=4)


@st.composite
def intervals(draw: Any) -> tuple[Interval, Fraction]:
    """An interval and a number inside."""
    low, inner, high = sorted(draw(st.lists(ends, min_size=3, max_size=3)))
    low_open, high_open = low < inner and draw(st.booleans()), inner < high and draw(st.booleans())
    made = Interval(low, high, low_open, high_open)
    if draw(st.integers(0, 4)) == 0:
        made = Interval(-math.inf, high, True, high_open)
    elif draw(st.integers(0, 4)) == 0:
        made = Interval(low, math.inf, low_open, True)
    return made, inner


def holds(interval: Interval, value: Any) -> bool:
    above = interval.low < value or (interval.low == value and not interval.low_open)
    return above and (value < interval.high or (value == interval.high and not interval.high_open))


@quick
@given(intervals(), intervals(), ends, st.sampled_from([-2, -1, 1, 2, 3]))
def test_intervals_hold_every_result(left: Any, right: Any, factor: Fraction, exponent: int) -> None:
    (one, x), (other, y) = left, right
    assert holds(one + other, x + y)
    assert holds(one * other, x * y)
    assert holds(hull([one, other]), x)
    assert holds(hull([one, other]), y)
    if factor:
        assert holds(one.scaled(factor), x * factor)
    if x or exponent > 0:
        assert holds(one.power(Fraction(exponent)), x**exponent)
    if x > 0:
        assert holds(one.power(Fraction(1, 2)), math.sqrt(x))
        assert holds(one.meet(POSITIVE).logarithm(), math.log(x))
    assert holds(one.exponential(), math.exp(x))
    assert holds(one.meet(other), x) == holds(other, x)
    if x.denominator == 1:
        assert holds(one.whole(), x)
    for relation, truth in (("<=", x <= 0), ("<", x < 0), ("==", x == 0)):
        assert one.decides(relation) in (truth, None)


def test_intervals_decide_what_they_can() -> None:
    assert point(Fraction(0)).decides("==") is True
    assert Interval(Fraction(0), Fraction(1), True, False).decides("<=") is False
    assert Interval(Fraction(0), Fraction(1), False, False).decides("<") is False
    assert Interval(-math.inf, Fraction(0), True, True).decides("<") is True
    assert Interval(-math.inf, Fraction(0), True, False).decides("<=") is True
    assert EVERYTHING.decides("==") is None
    half = Fraction(1, 2)
    assert Interval(-half, half, False, False).whole() == point(Fraction(0))
    assert Interval(Fraction(-1), Fraction(1), True, True).whole() == point(Fraction(0))


def test_every_leaf_has_bounds() -> None:
    for leaf in (*NOISY, COUNT, SCORE, EPSILON, Parameter("p")):
        assert Facts().bounds(leaf).low <= Facts().bounds(leaf).high
    assert isinstance(below(REAL[0], REAL[1]), Comparison)
