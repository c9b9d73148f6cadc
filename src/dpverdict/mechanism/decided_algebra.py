"""Operations that are not defined everywhere: the path decides whether they are, as Python or numpy would."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NoReturn

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import ZERO, from_python
from dpverdict.mechanism.properties import is_random, kind_of
from dpverdict.mechanism.structure import Constant, Term
from dpverdict.mechanism.tracing import Tracing


def quotient(path: Tracing, left: Term, right: Term) -> Term:
    """left / right."""
    if path.decide(algebra.compare("==", right, ZERO)):
        divided_by_zero(path, right)
    return algebra.divide(left, right)


def divided_by_zero(path: Tracing, divisor: Term) -> NoReturn:
    """What comes of a divisor that is zero on this path."""
    if not path.is_numpy:
        raise ZeroDivisionError("division by zero")
    path.concrete(divisor, "division by a number that may be zero")
    path.stop("division by a numpy number that may be zero", "numpy gives inf or nan there: check the divisor first")


def power(path: Tracing, base: Term, exponent: Term) -> Term:
    """base ** exponent; of a negative base only whole powers are real numbers."""
    known = Fraction(exponent.content or 0) if isinstance(exponent, Constant) else None
    if is_random(base) or (known is not None and known >= 0 and known.denominator == 1):
        return _power(base, exponent)
    is_whole = known is not None and known.denominator == 1
    if is_whole and not (path.is_numpy and kind_of(base).is_integral):  # numpy refuses 2 ** -1
        if path.decide(algebra.compare("==", base, ZERO)):
            divided_by_zero(path, base)
    elif not path.decide(algebra.compare("<", ZERO, base)):
        _outside(path, base, "a power of a number that may be negative")
    return _power(base, exponent)


def logarithm(path: Tracing, argument: Term) -> Term:
    """The natural logarithm, as numpy's: outside of its domain it gives nan or -inf, which are no numbers here."""
    if not path.decide(algebra.compare("<", ZERO, argument)):
        _outside(path, argument, "a logarithm of a number that is not positive")
    return algebra.elementary("log", argument)


def square_root(path: Tracing, argument: Term) -> Term:
    """The square root, as numpy's."""
    if not path.decide(algebra.compare("<=", ZERO, argument)):
        _outside(path, argument, "a square root of a negative number")
    return algebra.power(argument, Fraction(1, 2))


def _outside(path: Tracing, argument: Term, what: str) -> NoReturn:
    path.concrete(argument, what)  # known inputs may avoid it
    path.stop(what, "check the argument first")


def _power(base: Term, exponent: Term) -> Term:
    if isinstance(exponent, Constant):
        assert isinstance(exponent.content, (Fraction, bool))
        return algebra.power(base, Fraction(exponent.content))
    if isinstance(base, Constant) and base == from_python(math.e):
        return algebra.elementary("exp", exponent)
    return algebra.elementary("exp", algebra.multiply(exponent, algebra.elementary("log", base)))
