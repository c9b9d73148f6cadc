"""Constructors that keep terms in a normal form, so that equal values are equal terms.

Sums are collected into `Affine`, products of what does not depend on noise into `Product`, comparisons into
"difference against zero".  Nothing here knows about paths: what a path has already decided is `facts.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product as cartesian

from dpverdict.mechanism.constants import FALSE, ONE, TRUE, ZERO, NoMeaningError, exact, number, truth
from dpverdict.mechanism.properties import SUPPORT_LIMIT, is_random, kind_of, support
from dpverdict.mechanism.structure import (
    Affine,
    All,
    Any_,
    ArgMax,
    Choose,
    Comparison,
    Constant,
    Elementary,
    Epsilon,
    Kind,
    Lookup,
    Not,
    Product,
    Ranked,
    Term,
)

_MEMORY = 1 << 15


# --- sums and products ---------------------------------------------------------------------------------------


def parts_of(term: Term) -> tuple[Fraction, dict[Term, Fraction]]:
    """A numeric term as a constant and the coefficients of its other terms."""
    if isinstance(term, Constant):
        return exact(term), {}
    if isinstance(term, Affine):
        return term.constant, dict(term.terms)
    if not kind_of(term).is_numeric:
        raise NoMeaningError("arithmetic with a value that is not a number", "use numbers or booleans")
    return Fraction(0), {term: Fraction(1)}


def affine(constant: Fraction, terms: dict[Term, Fraction]) -> Term:
    """constant + Σ coefficient · term, simplified."""
    kept = [(term, coefficient) for term, coefficient in terms.items() if coefficient]
    if not kept:
        return number(constant)
    if constant == 0 and len(kept) == 1 and kept[0][1] == 1 and kind_of(kept[0][0]) is not Kind.TRUTH:
        return kept[0][0]
    if len(kept) > 1:
        kept.sort(key=lambda pair: pair[0].text)
    return Affine(constant, tuple(kept))


@lru_cache(_MEMORY)
def add(left: Term, right: Term) -> Term:
    """left + right."""
    constant, terms = parts_of(left)
    more, others = parts_of(right)
    for term, coefficient in others.items():
        terms[term] = terms.get(term, Fraction(0)) + coefficient
    return affine(constant + more, terms)


@lru_cache(_MEMORY)
def scale(term: Term, factor: Fraction) -> Term:
    """factor · term."""
    constant, terms = parts_of(term)
    return affine(constant * factor, {inner: c * factor for inner, c in terms.items()})


@lru_cache(_MEMORY)
def subtract(left: Term, right: Term) -> Term:
    """left - right."""
    return add(left, scale(right, Fraction(-1)))


def total(terms: Iterable[Term]) -> Term:
    """The sum of all."""
    result: Term = ZERO
    for term in terms:
        result = add(result, term)
    return result


@lru_cache(_MEMORY)
def multiply(left: Term, right: Term) -> Term:
    """left · right, where at most one depends on noise, or both are finite."""
    if isinstance(left, Constant):
        return scale(right, exact(left))
    if isinstance(right, Constant):
        return scale(left, exact(right))
    if is_random(left) and is_random(right):
        return _noisy_product(left, right)
    if is_random(left):
        left, right = right, left
    if not is_random(right):
        return _monomial([*_factors(left), *_factors(right)])
    constant, terms = parts_of(right)
    pieces = [scale(left, constant)] if constant else []
    pieces += [scale(_monomial([*_factors(left), *_factors(inner)]), c) for inner, c in terms.items()]
    return total(pieces)


def _noisy_product(left: Term, right: Term) -> Term:
    left_truth, right_truth = as_truth(left), as_truth(right)
    if left_truth is not None and right_truth is not None:
        return add(conjunction((left_truth, right_truth)), ZERO)  # True times True is 1, not True
    if left_truth is not None:
        return choose(left_truth, right, ZERO)
    if right_truth is not None:
        return choose(right_truth, left, ZERO)
    if support(left) is not None and support(right) is not None:
        return lookup((left, right), lambda a, b: number(exact(a) * exact(b)))
    raise NoMeaningError(
        "the product of two noisy values", "multiply noise only by constants, ε, parameters, inputs or booleans"
    )


def _factors(term: Term) -> list[tuple[Term, Fraction]]:
    """The factors of a term that is no sum of several; a sum stays one factor."""
    if isinstance(term, Product):
        return list(term.factors)
    if isinstance(term, Affine) and term.constant == 0 and len(term.terms) == 1:
        inner, coefficient = term.terms[0]
        return [(number(coefficient), Fraction(1)), *_factors(inner)]
    return [(term, Fraction(1))]


def _monomial(factors: Iterable[tuple[Term, Fraction]]) -> Term:
    coefficient = Fraction(1)
    exponents: dict[Term, Fraction] = {}
    for base, exponent in factors:
        if isinstance(base, Constant) and exponent.denominator == 1:
            coefficient *= exact(base) ** exponent.numerator
        else:
            exponents[base] = exponents.get(base, Fraction(0)) + exponent
    kept = [(base, exponent) for base, exponent in exponents.items() if exponent]
    for base, exponent in list(kept):
        if isinstance(base, Constant) and exponent.denominator == 1:
            coefficient *= exact(base) ** exponent.numerator
            kept.remove((base, exponent))
    if not kept:
        return number(coefficient)
    kept.sort(key=lambda pair: pair[0].text)
    alone = len(kept) == 1 and kept[0][1] == 1
    return scale(kept[0][0] if alone else Product(tuple(kept)), coefficient)


def _always_positive(base: Term) -> bool:
    match base:
        case Epsilon() | Elementary("exp", _):
            return True
        case Constant():
            return exact(base) > 0
        case _:
            return False


@lru_cache(_MEMORY)
def power(term: Term, exponent: Fraction) -> Term:
    """term ** exponent for a term without noise (or a finite one and a whole exponent)."""
    if exponent == 1:
        return add(term, ZERO)  # True ** 1 is 1, not True
    if is_random(term):
        if exponent.denominator == 1 and exponent >= 0 and support(term) is not None:
            return lookup((term,), lambda v: number(exact(v) ** exponent.numerator))
        raise NoMeaningError("a power of a noisy value", "apply powers to constants, ε, parameters or inputs only")
    if isinstance(term, Constant):
        root = _rational_power(exact(term), exponent)
        return number(root) if root is not None else Product(((term, exponent),))
    factors = _factors(term)
    if exponent.denominator == 1 or all(_always_positive(base) for base, _ in factors):
        return _monomial([(base, e * exponent) for base, e in factors])
    return Product(((term, exponent),))


def _rational_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """base ** exponent where that is rational, else None."""
    if base == 0 and exponent < 0:
        raise ZeroDivisionError("division by zero")
    if exponent.denominator == 1:
        return Fraction(base**exponent.numerator)
    if base < 0:
        raise NoMeaningError("a root of a negative number", "check the sign below the root")
    degree = exponent.denominator
    if degree == 2:
        top, bottom = math.isqrt(base.numerator), math.isqrt(base.denominator)
        if top * top == base.numerator and bottom * bottom == base.denominator:
            return Fraction(top, bottom) ** exponent.numerator
    return None


@lru_cache(_MEMORY)
def divide(left: Term, right: Term) -> Term:
    """left / right; whether the divisor can be zero is the caller's question."""
    if is_random(right):
        if support(left) is not None and support(right) is not None:
            return lookup((left, right), lambda a, b: number(exact(a) / exact(b)) if exact(b) else ZERO)
        raise NoMeaningError("division by a noisy value", "divide only by constants, ε, parameters or inputs")
    return multiply(left, power(right, Fraction(-1)))


@lru_cache(_MEMORY)
def elementary(function: str, argument: Term) -> Term:
    """exp or log."""
    if is_random(argument):
        raise NoMeaningError(
            f"{function} of a noisy value", f"compare the value itself with a threshold; {function} is monotone"
        )
    if argument == (ZERO if function == "exp" else ONE):
        return ONE if function == "exp" else ZERO
    if function == "log" and isinstance(argument, Constant) and exact(argument) <= 0:
        raise NoMeaningError("the logarithm of a number that is not positive", "check the argument of log")
    return Elementary(function, argument)


# --- truth ---------------------------------------------------------------------------------------------------


def as_truth(term: Term) -> Term | None:
    """The boolean that a term is, also when it is written as 0 + b or 1 - b; None if it is no boolean."""
    if kind_of(term) is Kind.TRUTH:
        return term
    if isinstance(term, Affine) and len(term.terms) == 1:
        inner, coefficient = term.terms[0]
        if kind_of(inner) is Kind.TRUTH:
            if term.constant == 0 and coefficient == 1:
                return inner
            if term.constant == 1 and coefficient == -1:
                return negate(inner)
    return None


@lru_cache(_MEMORY)
def compare(relation: str, left: Term, right: Term) -> Term:
    """left ≤ right, left < right or left = right, as a boolean term."""
    return against_zero(relation, subtract(left, right))


@lru_cache(_MEMORY)
def against_zero(relation: str, difference: Term) -> Term:
    """difference ≤ 0, < 0 or = 0, in the normal form."""
    constant, terms = parts_of(difference)
    if not terms:
        return truth(holds(relation, constant))
    if len(terms) == 1:
        (inner, coefficient) = next(iter(terms.items()))
        if kind_of(inner) is Kind.TRUTH:
            no, yes = holds(relation, constant), holds(relation, constant + coefficient)
            return truth(yes) if yes == no else (inner if yes else negate(inner))
    if all(kind_of(inner).is_integral for inner in terms):
        return _integral_comparison(relation, constant, terms)
    leading = next(iter(terms.values())) if len(terms) == 1 else terms[min(terms, key=lambda t: t.text)]
    factor = 1 / (leading if relation == "==" else abs(leading))
    return Comparison(relation, scale(difference, factor))


def _integral_comparison(relation: str, constant: Fraction, terms: dict[Term, Fraction]) -> Term:
    """Whole-number sides: coefficients become coprime integers and `<` becomes `≤`."""
    denominators = math.lcm(*(c.denominator for c in terms.values()))
    divisor = math.gcd(*(int(c * denominators) for c in terms.values()))
    factor = Fraction(denominators, divisor)
    if relation == "==":
        if (constant * factor).denominator != 1:
            return FALSE
        factor *= -1 if terms[min(terms, key=lambda t: t.text)] < 0 else 1
    scaled = {inner: c * factor for inner, c in terms.items()}
    offset = constant * factor
    if relation == "<":
        offset = Fraction(math.floor(offset) + 1)
    elif relation == "<=":
        offset = Fraction(math.ceil(offset))
    return Comparison("==" if relation == "==" else "<=", affine(offset, scaled))


def holds(relation: str, difference: Fraction) -> bool:
    """Whether a known difference stands in the relation to zero."""
    match relation:
        case "<=":
            return difference <= 0
        case "<":
            return difference < 0
        case _:
            return difference == 0


@lru_cache(_MEMORY)
def negate(term: Term) -> Term:
    """The opposite of a boolean term."""
    match term:
        case Constant(Kind.TRUTH, content):
            return truth(not content)
        case Not(inner):
            return inner
        case Comparison("<=", difference):
            return against_zero("<", scale(difference, Fraction(-1)))
        case Comparison("<", difference):
            return against_zero("<=", scale(difference, Fraction(-1)))
        case _:
            return Not(term)


def conjunction(terms: Iterable[Term]) -> Term:
    """All of the boolean terms hold."""
    return _junction(terms, All, FALSE, TRUE)


def disjunction(terms: Iterable[Term]) -> Term:
    """At least one of the boolean terms holds."""
    return _junction(terms, Any_, TRUE, FALSE)


def _junction(terms: Iterable[Term], form: type[All] | type[Any_], absorbing: Constant, neutral: Constant) -> Term:
    kept: dict[Term, None] = {}
    for term in terms:
        for inner in term.terms if isinstance(term, form) else (term,):
            if inner == absorbing or negate(inner) in kept:
                return absorbing
            if inner != neutral:
                kept[inner] = None
    if len(kept) < 2:
        return next(iter(kept), neutral)
    return form(tuple(sorted(kept, key=lambda inner: inner.text)))


# --- choices -------------------------------------------------------------------------------------------------


def choose(condition: Term, yes: Term, no: Term) -> Term:
    """`yes` where the condition holds, else `no`."""
    if isinstance(condition, Constant):
        return yes if condition.content else no
    if yes == no:
        return yes
    if (yes, no) == (TRUE, FALSE):
        return condition
    if (yes, no) == (FALSE, TRUE):
        return negate(condition)
    return Choose(condition, yes, no)


def ranked(items: Sequence[Term], rank: int) -> Term:
    """The item with this rank in ascending order."""
    if len(items) == 1:
        return items[0]
    if all(isinstance(item, Constant) for item in items):
        return number(sorted(exact(item) for item in items if isinstance(item, Constant))[rank])
    if all(kind_of(item) is Kind.TRUTH for item in items):
        return compare("<=", number(len(items) - rank), total(items))
    ordered = sorted((add(item, ZERO) for item in items), key=lambda item: item.text)
    return Ranked(tuple(ordered), rank)


def argmax(items: Sequence[Term]) -> Term:
    """The position of the first largest item."""
    if all(isinstance(item, Constant) for item in items):
        known = [exact(item) for item in items if isinstance(item, Constant)]
        return number(known.index(max(known)))
    return ArgMax(tuple(items)) if len(items) > 1 else ZERO


def lookup(keys: tuple[Term, ...], function: Callable[..., Constant]) -> Term:
    """A function of finite terms, tabulated."""
    supports = [support(key) for key in keys]
    known = [values for values in supports if values is not None]
    if len(known) < len(supports) or math.prod(len(values) for values in known) > SUPPORT_LIMIT:
        raise NoMeaningError(
            "a function of values that are not few",
            f"tabulated functions take arguments with at most {SUPPORT_LIMIT} combinations of values",
        )
    table = tuple((combination, function(*combination)) for combination in cartesian(*known))
    results = {result for _, result in table}
    return results.pop() if len(results) == 1 else Lookup(keys, table)
