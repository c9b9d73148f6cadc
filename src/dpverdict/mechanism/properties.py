"""What is true of a term wherever it stands: its kind, its support, the draws and inputs that it needs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpverdict.mechanism.abilities import FiniteSupport
from dpverdict.mechanism.constants import FALSE, TRUE, exact, number
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
    Kind,
    Lookup,
    Not,
    Parameter,
    Product,
    Ranked,
    Term,
)

SUPPORT_LIMIT = 4096
"""The most values (or combinations of values) that a finite term may have to be tabulated."""

_MEMORY = 1 << 15


def children(term: Term) -> tuple[Term, ...]:
    """The terms directly inside this one."""
    match term:
        case Constant() | Input() | Parameter() | Epsilon():
            return ()
        case Draw(law, _):
            return law.parameters
        case Affine(_, terms):
            return tuple(inner for inner, _ in terms)
        case Product(factors):
            return tuple(base for base, _ in factors)
        case Elementary(_, argument):
            return (argument,)
        case Comparison(_, difference):
            return (difference,)
        case Not(inner):
            return (inner,)
        case All(inners) | Any_(inners):
            return inners
        case Choose(condition, yes, no):
            return (condition, yes, no)
        case Ranked(items, _) | ArgMax(items):
            return items
        case Lookup(keys, _):
            return keys
        case _:
            assert_never(term)


@lru_cache(_MEMORY)
def draws_in(term: Term) -> frozenset[Draw]:
    """Every draw whose value the term needs (the parameters of a draw's law are settled before it)."""
    if isinstance(term, Draw):
        return frozenset((term,))
    return frozenset().union(*(draws_in(inner) for inner in children(term)))


@lru_cache(_MEMORY)
def inputs_in(term: Term) -> frozenset[Input]:
    """Every input scalar that the term depends on, through the laws of its draws as well."""
    if isinstance(term, Input):
        return frozenset((term,))
    return frozenset().union(*(inputs_in(inner) for inner in children(term)))


def is_random(term: Term) -> bool:
    """Whether the value depends on noise."""
    return bool(draws_in(term))


@lru_cache(_MEMORY)
def kind_of(term: Term) -> Kind:
    """What sort of value the term stands for."""
    match term:
        case Constant(kind, _) | Input(_, kind):
            return kind
        case Parameter() | Epsilon() | Elementary():
            return Kind.REAL
        case Draw(law, _):
            return law.kind
        case Affine(constant, terms):
            whole = all(kind_of(inner).is_integral and c.denominator == 1 for inner, c in terms)
            return Kind.INTEGER if whole and constant.denominator == 1 else Kind.REAL
        case Product(factors):
            whole = all(kind_of(base).is_integral and e.denominator == 1 and e > 0 for base, e in factors)
            return Kind.INTEGER if whole else Kind.REAL
        case Comparison() | Not() | All() | Any_():
            return Kind.TRUTH
        case Choose(_, yes, no):
            return _common_kind((kind_of(yes), kind_of(no)))
        case Ranked(items, _):
            return _common_kind(kind_of(item) for item in items)
        case ArgMax():
            return Kind.INTEGER
        case Lookup(_, table):
            return _common_kind(result.kind for _, result in table)
        case _:
            assert_never(term)


def _common_kind(kinds: Iterable[Kind]) -> Kind:
    seen = set(kinds)
    if len(seen) == 1:
        return seen.pop()
    if seen <= {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    return Kind.MIXED


def has_python_integers(term: Term) -> bool:
    """Whether the values are whole numbers by type: a term may also stand for 1.0, which is equal to 1."""
    return isinstance(term, Draw) and term.law.kind is Kind.INTEGER and not getattr(term.law, "coded", False)


@lru_cache(_MEMORY)
def is_partial(term: Term) -> bool:
    """Whether the term may have no value for some inputs: division by zero, a root or logarithm of a negative."""
    match term:
        case Draw():
            return False
        case Product(factors) if any((e < 0 or e.denominator != 1) and not _is_positive(base) for base, e in factors):
            return True
        case Elementary("log", argument) if not _is_positive(argument):
            return True
        case _:
            return any(is_partial(inner) for inner in children(term))


def _is_positive(term: Term) -> bool:
    match term:
        case Epsilon() | Elementary("exp", _):
            return True
        case Constant():
            return exact(term) > 0
        case Affine(constant, terms):
            return constant >= 0 and all(c > 0 and _is_positive(inner) for inner, c in terms)
        case Product(factors):
            return all(_is_positive(base) for base, _ in factors)
        case _:
            return False


@lru_cache(_MEMORY)
def support(term: Term) -> tuple[Constant, ...] | None:
    """The finitely many values that the term can take (perhaps more than it does), or None."""
    match term:
        case Constant():
            return (term,)
        case Comparison() | Not() | All() | Any_():
            return (FALSE, TRUE)
        case Input(_, kind):
            return (FALSE, TRUE) if kind is Kind.TRUTH else None
        case Parameter() | Epsilon() | Product() | Elementary():
            return None
        case Draw(law, _):
            return law.support() if isinstance(law, FiniteSupport) else None
        case Affine(constant, terms):
            return _affine_support(constant, terms)
        case Choose(_, yes, no):
            return _union_support((yes, no))
        case Ranked(items, _):
            return _union_support(items)
        case ArgMax(items):
            return tuple(number(position) for position in range(len(items)))
        case Lookup(_, table):
            return tuple(dict.fromkeys(result for _, result in table))
        case _:
            assert_never(term)


@lru_cache(_MEMORY)
def has_few_values(term: Term) -> bool:
    """Whether noise gives the term finitely many values once ε, parameters and inputs are known."""
    if not is_random(term) or support(term) is not None:
        return True
    return not isinstance(term, Draw) and all(has_few_values(inner) for inner in children(term))


def _union_support(terms: Iterable[Term]) -> tuple[Constant, ...] | None:
    found: dict[Constant, None] = {}
    for term in terms:
        values = support(term)
        if values is None:
            return None
        found.update(dict.fromkeys(values))
    return tuple(found) if len(found) <= SUPPORT_LIMIT else None


def _affine_support(constant: Fraction, terms: tuple[tuple[Term, Fraction], ...]) -> tuple[Constant, ...] | None:
    sums = {constant}
    for term, coefficient in terms:
        values = support(term)
        if values is None or not all(v.kind.is_numeric for v in values):
            return None
        sums = {s + coefficient * exact(v) for s in sums for v in values}
        if len(sums) > SUPPORT_LIMIT:
            return None
    return tuple(number(s) for s in sorted(sums))
