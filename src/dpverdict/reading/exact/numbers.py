"""Terms without noise as numbers, for one input: offsets as rationals, rates in the program's unit, weights in ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, assert_never

from flint import fmpq

from dpverdict.errors import UnreadableError
from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import ONE as ONE_TERM
from dpverdict.mechanism.constants import ZERO, exact, from_python
from dpverdict.mechanism.evaluate import at_path
from dpverdict.mechanism.explain import Names
from dpverdict.mechanism.facts import decided_without_facts
from dpverdict.mechanism.properties import children, draws_in
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import (
    Affine,
    All,
    Any_,
    ArgMax,
    Choose,
    Comparison,
    Constant,
    Draw,
    Elementary,
    Epsilon,
    Input,
    Lookup,
    Not,
    Parameter,
    Product,
    Ranked,
    Term,
)
from dpverdict.reading.exact.exponential import ONE, Exponential, Quotient, fraction

EPSILON = Epsilon()
_RECIPROCAL = Product(((EPSILON, Fraction(-1)),))
_X = Exponential.term(1, 1, 0)


def at_input(term: Term, given: Any, arguments: Mapping[str, object]) -> Term:
    """The term with the input's and the parameters' values in it."""
    if isinstance(term, Input):
        return _constant(at_path(given, term.path))
    if isinstance(term, Parameter):
        return _constant(arguments[term.name])
    return rebuild(term, lambda inner: at_input(inner, given, arguments))


def _constant(content: object) -> Constant:
    found = from_python(content)
    assert found is not None, "an input that is no scalar"
    return found


def rational_at(term: Term, given: Any, arguments: Mapping[str, object]) -> Fraction:
    """A term as a rational.  Raises `UnreadableError` where ε or an irrational constant is left."""
    if isinstance(term, Constant):
        return exact(term)
    value = at_input(term, given, arguments)
    if not isinstance(value, Constant):
        raise UnreadableError(
            "EXACT-010",
            f"noise is compared with {_text(value)}",
            why="noise is integrated between rational numbers, whatever ε is",
            fix="a threshold that is a rational number; --arg with a fixed ε may make it one",
        )
    return exact(value)


# --- rates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """What the rates of a program's noise are rational multiples of: x = ε, 1/ε, or 1."""

    term: Term

    @property
    def exponent(self) -> int:
        """x = ε to the power of this."""
        return {EPSILON: 1, ONE_TERM: 0, _RECIPROCAL: -1}[self.term]

    def at(self, epsilon: Fraction) -> Fraction:
        """The value of x at an ε."""
        return epsilon**self.exponent

    def epsilon(self, place: Fraction) -> Fraction:
        """An ε at which x has this value."""
        return place**self.exponent if self.exponent else Fraction(1)

    def text(self, value: Quotient) -> str:
        """The value as an expression in eps."""
        return value.text().replace("eps", {1: "eps", 0: "1", -1: "(1/eps)"}[self.exponent])


def rate_at(scale: Term, given: Any, arguments: Mapping[str, object]) -> tuple[Fraction, Unit]:
    """1/scale as a multiple of a unit."""
    rate = algebra.power(at_input(scale, given, arguments), Fraction(-1))
    constant, terms = algebra.parts_of(rate)
    factor, unit = (constant, ONE_TERM) if not terms else (next(iter(terms.values())), next(iter(terms)))
    if len(terms) > 1 or (terms and constant) or unit not in (EPSILON, _RECIPROCAL, ONE_TERM):
        raise UnreadableError(
            "EXACT-011",
            f"noise of scale {_text(scale)}",
            why="exact probabilities are known where scales are rational multiples of 1/ε (or of ε, or fixed)",
            fix="a scale of this form; a rational number in the place of a root or a logarithm",
        )
    return factor, Unit(unit)


# --- weights ------------------------------------------------------------------------------------------------------


def quotient_at(term: Term, unit: Unit, given: Any, arguments: Mapping[str, object]) -> Quotient:
    """A term without noise as a quotient of exponential polynomials in the unit."""
    return _quotient(at_input(term, given, arguments), unit)


def _quotient(term: Term, unit: Unit) -> Quotient:
    match term:
        case Constant():
            return Quotient(Exponential.constant(exact(term)))
        case Epsilon() if unit.exponent == 1:
            return Quotient(_X)
        case Epsilon() if unit.exponent == -1:
            return Quotient(ONE, _X)
        case Affine(constant, terms):
            total = Quotient(Exponential.constant(constant))
            for inner, coefficient in terms:
                total = total + _quotient(inner, unit) * coefficient
            return total
        case Product(factors) if all(exponent.denominator == 1 for _, exponent in factors):
            result = Quotient(ONE)
            for base, exponent in factors:
                result = result * _power(base, int(exponent), unit)
            return result
        case Elementary("exp", argument):
            return exponential_of(_quotient(argument, unit), unit, term)
        case Epsilon() | Product() | Elementary() | Input() | Parameter() | Draw():
            raise _no_form(term)
        case Comparison() | Not() | All() | Any_() | Choose() | Ranked() | ArgMax() | Lookup():
            raise _no_form(term)
        case _:
            assert_never(term)


def _power(base: Term, exponent: int, unit: Unit) -> Quotient:
    value = _quotient(base, unit)
    if exponent < 0:
        if not _is_positive(base):
            raise _no_form(base)
        value, exponent = Quotient(value.denominator, value.numerator), -exponent
    result = Quotient(ONE)
    for _ in range(exponent):
        result = result * value
    return result


def _is_positive(term: Term) -> bool:
    return decided_without_facts(algebra.compare("<=", term, ZERO)) is False


def exponential_of(exponent: Quotient, unit: Unit, term: Term) -> Quotient:
    """e to the power of a rational multiple of the unit (the term, which an error shows)."""
    rate = _multiple_of(unit, exponent.cancelled())
    if rate is None:
        raise _no_form(term)
    if rate >= 0:
        return Quotient(ONE, Exponential.term(1, 0, rate))
    return Quotient(Exponential.term(1, 0, -rate))


def _multiple_of(unit: Unit, value: Quotient) -> Fraction | None:
    """q where the value is q times the unit, else None."""
    if value.denominator != ONE:
        return None
    parts = value.numerator.parts
    if not parts:
        return Fraction(0)
    if any(part.degree() > 0 for part in parts):
        return None
    if unit.exponent == 0:  # x is 1
        return fraction(sum((part[0] for part in parts), fmpq(0)))
    return fraction(parts[1][0]) if len(parts) == 2 and not parts[0] else None


def has_epsilon(term: Term) -> bool:
    """Whether ε stands somewhere inside."""
    return isinstance(term, Epsilon) or any(has_epsilon(inner) for inner in children(term))


def _no_form(term: Term) -> UnreadableError:
    return UnreadableError(
        "EXACT-012",
        f"a probability with {_text(term)} in it",
        why="weights are made of rational numbers, ε and exponentials of rational multiples of ε",
        fix="a weight of this form",
    )


def _text(term: Term) -> str:
    return Names(draws_in(term)).term(term)
