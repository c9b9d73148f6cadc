"""Terms over other terms: the way in which what a path has decided enters a term."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import assert_never

from dpverdict.mechanism.algebra import (
    affine,
    against_zero,
    argmax,
    choose,
    conjunction,
    disjunction,
    elementary,
    lookup,
    multiply,
    negate,
    parts_of,
    power,
    ranked,
)
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


def rebuild(term: Term, transform: Callable[[Term], Term]) -> Term:
    """The same term over transformed inner terms, simplified; draws and leaves are left alone."""
    match term:
        case Constant() | Input() | Parameter() | Epsilon() | Draw():
            return term
        case Affine(constant, terms):
            pairs = [(transform(inner), c) for inner, c in terms]
            unchanged = all(new is old for (new, _), (old, _) in zip(pairs, terms, strict=True))
            return term if unchanged else _rebuild_sum(constant, pairs)
        case Product(factors):
            return reduce(multiply, (power(transform(base), e) for base, e in factors))
        case Elementary(function, argument):
            return elementary(function, transform(argument))
        case Comparison(relation, difference):
            moved = transform(difference)
            return term if moved is difference else against_zero(relation, moved)
        case Not(inner):
            return negate(transform(inner))
        case All(inners):
            return conjunction(transform(inner) for inner in inners)
        case Any_(inners):
            return disjunction(transform(inner) for inner in inners)
        case Choose(condition, yes, no):
            return choose(transform(condition), transform(yes), transform(no))
        case Ranked(items, rank):
            return ranked([transform(item) for item in items], rank)
        case ArgMax(items):
            return argmax([transform(item) for item in items])
        case Lookup(keys, table):
            return _rebuild_lookup(tuple(transform(key) for key in keys), dict(table))
        case _:
            assert_never(term)


def _rebuild_sum(constant: Fraction, pairs: list[tuple[Term, Fraction]]) -> Term:
    terms: dict[Term, Fraction] = {}
    for inner, coefficient in pairs:
        more, others = parts_of(inner)
        constant += coefficient * more
        for other, factor in others.items():
            terms[other] = terms.get(other, Fraction(0)) + coefficient * factor
    return affine(constant, terms)


def _rebuild_lookup(keys: tuple[Term, ...], table: dict[tuple[Constant, ...], Constant]) -> Term:
    return lookup(keys, lambda *combination: table[combination])
