"""Random terms and random assignments to what they are made of, for property tests.

Numbers are small and mostly dyadic, so that floating point seldom tips a comparison; where it may have,
`is_clear` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import NoMeaningError, number
from dpverdict.mechanism.evaluate import Known, evaluate
from dpverdict.mechanism.laws import Bernoulli, DiscreteLaplace, Laplace, TruncatedGeometric
from dpverdict.mechanism.properties import kind_of
from dpverdict.mechanism.structure import Draw, Epsilon, Input, Kind, Parameter, Term

quick = settings(max_examples=150, deadline=None, derandomize=True, database=None)
"""The same examples at every run."""

ZERO, ONE = number(0), number(1)
COINS = tuple(Draw(Bernoulli(number(Fraction(1, 2))), occurrence) for occurrence in (1, 2, 3))
SMALL = tuple(Draw(TruncatedGeometric(ZERO, ONE, number(-1), number(2)), occurrence) for occurrence in (1, 2))
WHOLE = Draw(DiscreteLaplace(ZERO, ONE), 1)
REAL = tuple(Draw(Laplace(ZERO, ONE), occurrence) for occurrence in (1, 2))
FLAG, COUNT, SCORE = Input((0,), Kind.TRUTH), Input((1,), Kind.INTEGER), Input((2,), Kind.REAL)
NOISY: tuple[Term, ...] = (*COINS, *SMALL, WHOLE, *REAL)
PLAIN: tuple[Term, ...] = (FLAG, COUNT, SCORE, Parameter("p"), Epsilon())

VALUES: dict[Term, tuple[Any, ...]] = {
    **dict.fromkeys(COINS, (False, True)),
    **dict.fromkeys(SMALL, (-1, 0, 1, 2)),
    WHOLE: (-3, -1, 0, 2),
    **dict.fromkeys(REAL, (-1.5, 0.0, 0.25, 3.0)),
    FLAG: (False, True),
    COUNT: (-2, 0, 1, 3),
    SCORE: (-0.75, 0.0, 1.0, 2.5),
    Parameter("p"): (-1.0, 0.0, 0.5, 2.0),
    Epsilon(): (0.125, 1.0, 3.0),
}

assignments = st.fixed_dictionaries({leaf: st.sampled_from(values) for leaf, values in VALUES.items()})
coefficients = st.sampled_from([Fraction(n, d) for n in (-3, -2, -1, 1, 2, 5) for d in (1, 2, 4)])
constants = st.sampled_from([Fraction(n, d) for n in (-5, -1, 0, 1, 2, 3) for d in (1, 2, 3)]).map(number)
relations = st.sampled_from(["<=", "<", "=="])


def known(assignment: dict[Term, Any]) -> Known:
    """What a run with these values knows."""
    content = [assignment[FLAG], assignment[COUNT], assignment[SCORE]]
    draws = {leaf: given for leaf, given in assignment.items() if isinstance(leaf, Draw)}
    return Known(content, assignment[Epsilon()], {"p": assignment[Parameter("p")]}, draws)


def is_clear(run: Known) -> bool:
    """Whether every comparison of real numbers was far enough from a tie."""
    return run.closest > 1e-9


def value_of(term: Term, assignment: dict[Term, Any]) -> Any:
    """The value of a term, None where rounding may have decided it."""
    run = known(assignment)
    found = evaluate(term, run)
    return found if is_clear(run) else None


def attempt(build: Callable[..., Term], *parts: Any) -> Term:
    """What a constructor makes, or its first part where the language has no form for the whole."""
    try:
        made = build(*parts)
    except (NoMeaningError, ZeroDivisionError):
        return parts[0] if not isinstance(parts[0], str) else parts[1]
    return made


def truths(terms: st.SearchStrategy[Term], numeric: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    """Boolean terms over some boolean and some numeric terms."""
    pairs = st.lists(terms, min_size=2, max_size=3)
    return st.one_of(
        st.builds(algebra.compare, relations, numeric, numeric),
        terms.map(algebra.negate),
        pairs.map(algebra.conjunction),
        pairs.map(algebra.disjunction),
    )


def sums(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    """Linear combinations."""
    scaled = st.builds(algebra.scale, terms, coefficients)
    return st.lists(st.one_of(scaled, constants), min_size=1, max_size=3).map(algebra.total)


def _numbers(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    booleans = st.one_of(st.sampled_from((*COINS, FLAG)), truths(st.sampled_from((*COINS, FLAG)), inner))
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        sums(inner),
        st.builds(lambda a, b: attempt(algebra.multiply, a, b), inner, inner),
        st.builds(lambda a, e: attempt(algebra.power, a, Fraction(e)), inner, st.sampled_from([2, 3])),
        st.builds(algebra.choose, booleans, sums(inner), sums(inner)),
        st.builds(lambda items, at: algebra.ranked(items, at % len(items)), several, st.integers(0, 2)),
        several.map(algebra.argmax),
        booleans,
    )


numbers: st.SearchStrategy[Term] = st.recursive(
    st.one_of(st.sampled_from((*NOISY, *PLAIN)), constants), _numbers, max_leaves=5
)
booleans: st.SearchStrategy[Term] = truths(truths(st.sampled_from((*COINS, FLAG)), numbers), numbers).filter(
    lambda term: kind_of(term) is Kind.TRUTH
)


def same(mine: Any, theirs: Any) -> bool:
    """Whether two values are equal up to rounding."""
    return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9)
