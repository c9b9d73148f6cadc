"""Constants, and the line between Python's values and the language's."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpverdict.mechanism.structure import Constant, Kind


class NoMeaningError(Exception):
    """An operation that has no form in the language; says what it was and what would help."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


TRUE = Constant(Kind.TRUTH, True)
FALSE = Constant(Kind.TRUTH, False)
NOTHING = Constant(Kind.NOTHING, None)


@lru_cache(1 << 12)
def number(content: Fraction | int) -> Constant:
    """A finite number."""
    exact = Fraction(content)
    return Constant(Kind.INTEGER if exact.denominator == 1 else Kind.REAL, exact)


def truth(content: bool) -> Constant:
    """True or false."""
    return TRUE if content else FALSE


ZERO = number(0)
ONE = number(1)


def exact(term: Constant) -> Fraction:
    """The number that a numeric constant holds (booleans count as 0 or 1)."""
    if not term.kind.is_numeric:
        raise NoMeaningError(f"arithmetic with {term.content!r}", "use finite numbers")
    assert isinstance(term.content, (Fraction, bool))
    return Fraction(term.content)


def from_python(content: object) -> Constant | None:
    """The constant for a Python (or numpy) scalar, None if it is no scalar.

    A float is read as its shortest decimal: 0.1 is one tenth, which is what its author wrote.
    """
    if type(content) in (int, float, bool, str):
        return _plain_constant(content)
    return _constant(content)


@lru_cache(1 << 12, typed=True)
def _plain_constant(content: object) -> Constant | None:
    return _constant(content)


def _constant(content: object) -> Constant | None:
    if hasattr(content, "item") and getattr(content, "shape", None) == ():
        content = content.item()
    match content:
        case bool():
            return truth(content)
        case int() | Fraction():
            return number(content)
        case float() | Decimal():
            if math.isfinite(content):
                return number(Fraction(repr(float(content))) if isinstance(content, float) else Fraction(content))
            return Constant(Kind.NONFINITE, str(float(content)))
        case str():
            return Constant(Kind.TEXT, str(content))
        case None:
            return NOTHING
        case _:
            return None


def settled(term: Constant, *, is_real: bool, is_numpy: bool) -> object:
    """A constant that operations on symbols came to, as their result in a real run.

    A number that is not exactly a float's shortest decimal, such as one third, stays a fraction.
    """
    content = term.content
    if isinstance(content, bool):
        return np.bool_(content) if is_numpy else content
    if not isinstance(content, Fraction):
        return to_python(term)
    if content.denominator == 1 and not is_real:
        whole = content.numerator
        return np.int64(whole) if is_numpy and -(2**63) <= whole < 2**63 else whole
    try:
        nearest = float(content)
    except OverflowError:
        return content
    if Fraction(repr(nearest)) != content:
        return content
    return np.float64(nearest) if is_numpy else nearest


def to_python(term: Constant) -> object:
    """The Python value of a constant; a number that is no integer becomes the nearest float."""
    match term.content:
        case Fraction() as content:
            return content.numerator if content.denominator == 1 else float(content)
        case str() as content if term.kind is Kind.NONFINITE:
            return float(content)
        case content:
            return content
