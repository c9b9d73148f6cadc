"""What a path has already decided, and what follows from it by interval bounds.

Pruning must be sound in one direction only: a condition counts as decided when every value that is still possible
agrees.  An undecided condition that is in truth impossible costs a path that never runs, not a wrong program.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, assert_never

from dpverdict.mechanism import algebra
from dpverdict.mechanism.abilities import Bounded
from dpverdict.mechanism.constants import exact, truth
from dpverdict.mechanism.intervals import EVERYTHING, POSITIVE, UNIT, Interval, hull, point
from dpverdict.mechanism.properties import children, is_random, kind_of, support
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
    Kind,
    Lookup,
    Not,
    Parameter,
    Product,
    Ranked,
    Term,
)

_Linear: TypeAlias = frozenset[tuple[Term, Fraction]]


@lru_cache(1 << 15)
def holds_conditions(term: Term) -> bool:
    """Whether a boolean stands somewhere inside the term (not inside the laws of its draws)."""
    if isinstance(term, (Constant, Draw)):
        return kind_of(term) is Kind.TRUTH and isinstance(term, Draw)
    return kind_of(term) is Kind.TRUTH or any(holds_conditions(inner) for inner in children(term))


@lru_cache(1 << 15)
def _linear(term: Term) -> tuple[Fraction, Fraction, _Linear, tuple[Term, ...]]:
    """(constant, leading coefficient, linear part over the leading coefficient, its terms)."""
    pairs = term.terms if isinstance(term, Affine) else ((term, Fraction(1)),)
    constant = term.constant if isinstance(term, Affine) else Fraction(0)
    leading = pairs[0][1]
    return constant, leading, frozenset((inner, c / leading) for inner, c in pairs), tuple(inner for inner, _ in pairs)


class Facts:
    """The decisions of one path: booleans that are known, and ranges of linear combinations."""

    def __init__(self) -> None:
        self._known: dict[Term, bool] = {}
        self._ranges: dict[_Linear, Interval] = {}

    def copy(self) -> Facts:
        """The same facts, for a path that goes on from here."""
        other = Facts()
        other._known, other._ranges = dict(self._known), dict(self._ranges)
        return other

    def decide(self, condition: Term) -> bool | None:
        """The answer that follows from the facts, or None."""
        if isinstance(condition, Constant):
            return bool(condition.content)
        if condition in self._known:
            return self._known[condition]
        match condition:
            case Comparison(relation, difference):
                answer = self.bounds(difference).decides(relation)
                return self._without_denominators(relation, difference) if answer is None else answer
            case Not(inner):
                answer = self.decide(inner)
                return None if answer is None else not answer
            case All(terms) | Any_(terms):
                absorbing = isinstance(condition, Any_)
                answers = [self.decide(inner) for inner in terms]
                if absorbing in answers:
                    return absorbing
                return None if None in answers else not absorbing
            case _:
                return None

    def _without_denominators(self, relation: str, difference: Term) -> bool | None:
        """Decide after multiplying by positive divisors: e^ε/(1+e^ε) ≤ 1 shows as e^ε ≤ 1+e^ε."""
        terms = difference.terms if isinstance(difference, Affine) else ()
        bases = {base for term, _ in terms if isinstance(term, Product) for base, e in term.factors if e < 0}
        divisors = [base for base in bases if not is_random(base) and self.bounds(base).decides("<=") is False]
        if not divisors or not isinstance(difference, Affine):
            return None
        for divisor in divisors:
            pieces = [algebra.scale(divisor, difference.constant)] if isinstance(difference, Affine) else []
            inner = difference.terms if isinstance(difference, Affine) else ((difference, Fraction(1)),)
            difference = algebra.total([*pieces, *(algebra.scale(algebra.multiply(t, divisor), c) for t, c in inner)])
        if isinstance(difference, Constant):
            return algebra.holds(relation, exact(difference))
        return self.bounds(difference).decides(relation)

    def assume(self, condition: Term, answer: bool) -> None:
        """Record a decision and what follows from it at once."""
        if isinstance(condition, Constant) or condition in self._known:
            return
        self._known[condition] = answer
        self._known[algebra.negate(condition)] = not answer
        match condition:
            case Comparison(relation, difference):
                self._narrow(relation, difference, answer)
            case Not(inner):
                self.assume(inner, not answer)
            case All(terms) if answer:
                for inner in terms:
                    self.assume(inner, True)
            case Any_(terms) if not answer:
                for inner in terms:
                    self.assume(inner, False)

    def _narrow(self, relation: str, difference: Term, answer: bool) -> None:
        constant, leading, key, terms = _linear(difference)
        edge = -constant / leading
        if relation == "==":
            if not answer:
                return
            found = point(edge)
        else:
            below = answer == (leading > 0)
            is_open = (relation == "<") == answer
            found = (
                Interval(EVERYTHING.low, edge, True, is_open)
                if below
                else Interval(edge, EVERYTHING.high, is_open, True)
            )
        if all(kind_of(inner).is_integral for inner in terms) and all(c.denominator == 1 for _, c in key):
            found = found.whole()
        found = self._ranges.get(key, EVERYTHING).meet(found)
        self._ranges[key] = found
        self._force(key, found)

    def _force(self, key: _Linear, found: Interval) -> None:
        """A sum of booleans at its extreme settles every one of them."""
        if not all(kind_of(inner) is Kind.TRUTH for inner, _ in key):
            return
        highest = sum((c for _, c in key if c > 0), Fraction(0))
        lowest = sum((c for _, c in key if c < 0), Fraction(0))
        if found.low == highest or found.high == lowest:
            for inner, c in key:
                self.assume(inner, (c > 0) == (found.low == highest))

    def simplify(self, term: Term) -> Term:
        """The term with every boolean that is decided replaced by its answer."""
        if not holds_conditions(term):
            return term
        if kind_of(term) is Kind.TRUTH:
            answer = self.decide(term)
            if answer is not None:
                return truth(answer)
        return rebuild(term, self.simplify)

    def without_decided(self, count: Affine) -> Term:
        """A sum with the booleans that were decided counted into its constant: quicker than `simplify`, and less."""
        if self._known.keys().isdisjoint(inner for inner, _ in count.terms):
            return count
        constant = count.constant + sum(c for inner, c in count.terms if self._known.get(inner))
        return algebra.affine(constant, {inner: c for inner, c in count.terms if inner not in self._known})

    def bounds(self, term: Term) -> Interval:
        """An interval that holds every value the numeric term can still take."""
        if not holds_conditions(term) and self._ranges.keys().isdisjoint(_linear_parts(term)):
            return _bounds_without_facts(term)
        return self._bounds(term)

    def _bounds(self, term: Term) -> Interval:
        match term:
            case Constant():
                return point(exact(term))
            case Epsilon():
                return POSITIVE
            case Parameter():
                return EVERYTHING
            case Input(_, kind):
                return UNIT if kind is Kind.TRUTH else self._ranged(term, EVERYTHING)
            case Draw():
                return self._ranged(term, self._draw_bounds(term))
            case Affine(constant, terms):
                return self._ranged(term, self._sum_bounds(constant, terms))
            case Product(factors):
                computed = point(Fraction(1))
                for base, exponent in factors:
                    computed *= self.bounds(base).power(exponent)
                return self._ranged(term, computed)
            case Elementary(function, argument):
                inner_bounds = self.bounds(argument)
                return inner_bounds.exponential() if function == "exp" else inner_bounds.logarithm()
            case Comparison() | Not() | All() | Any_():
                answer = self.decide(term)
                return UNIT if answer is None else point(Fraction(answer))
            case Choose() | Ranked() | ArgMax() | Lookup():
                return self._ranged(term, self._choice_bounds(term))
            case _:
                assert_never(term)

    def _sum_bounds(self, constant: Fraction, terms: tuple[tuple[Term, Fraction], ...]) -> Interval:
        low = high = constant
        rest: list[Interval] = []
        for inner, coefficient in terms:
            if kind_of(inner) is not Kind.TRUTH:
                rest.append(self.bounds(inner).scaled(coefficient))
                continue
            answer = self.decide(inner)
            if answer is not False and (answer or coefficient > 0):
                high += coefficient
            if answer is not False and (answer or coefficient < 0):
                low += coefficient
        return sum(rest, Interval(low, high, False, False))

    def _ranged(self, term: Term, computed: Interval) -> Interval:
        constant, leading, key, _ = _linear(term)
        known = self._ranges.get(key)
        return computed if known is None else computed.meet(known.scaled(leading) + point(constant))

    def _choice_bounds(self, term: Choose | Ranked | ArgMax | Lookup) -> Interval:
        match term:
            case Choose(condition, yes, no):
                answer = self.decide(condition)
                return hull(self.bounds(side) for side in ((yes, no) if answer is None else (yes if answer else no,)))
            case Ranked(items, rank):
                each = [self.bounds(item) for item in items]
                low, low_open = sorted((interval.low, interval.low_open) for interval in each)[rank]
                high, high_closed = sorted((interval.high, not interval.high_open) for interval in each)[rank]
                return Interval(low, high, low_open, not high_closed)
            case ArgMax(items):
                return Interval(Fraction(0), Fraction(len(items) - 1), False, False)
            case Lookup(_, table):
                return hull(point(exact(result)) for _, result in table)

    def _draw_bounds(self, draw: Draw) -> Interval:
        values = support(draw)
        if values is not None and all(value.kind.is_numeric for value in values):
            if draw in self._known:
                return point(Fraction(self._known[draw]))
            return hull(point(exact(value)) for value in values)
        if not isinstance(draw.law, Bounded):
            return EVERYTHING
        lowest, highest = draw.law.lowest(), draw.law.highest()
        low = EVERYTHING if lowest is None else self.bounds(lowest)
        high = EVERYTHING if highest is None else self.bounds(highest)
        return Interval(low.low, high.high, low.low_open, high.high_open)


@lru_cache(1 << 15)
def decided_without_facts(condition: Term) -> bool | None:
    """What holds on every path: that ε is positive, say."""
    return Facts().decide(condition)


@lru_cache(1 << 15)
def _bounds_without_facts(term: Term) -> Interval:
    return Facts()._bounds(term)


@lru_cache(1 << 15)
def _linear_parts(term: Term) -> frozenset[_Linear]:
    """The linear parts that stand anywhere in a term, those of the laws of its draws included."""
    return frozenset((_linear(term)[2],)).union(*(_linear_parts(inner) for inner in children(term)))
