"""Terms as functions of arrays, written against an array namespace (NumPy's or JAX's).

What does not depend on noise is computed once, as a scalar; what does becomes a function of an environment that
holds the drawn noise and the values that were stored on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, TypeAlias, assert_never

from dpverdict.errors import MechanismError
from dpverdict.mechanism.abilities import Array, FiniteSupport
from dpverdict.mechanism.constants import exact, to_python
from dpverdict.mechanism.evaluate import at_path
from dpverdict.mechanism.properties import children, is_random, kind_of, support
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

Environment: TypeAlias = Mapping[Term, Array]
Computed: TypeAlias = Callable[[Environment], Array]


@dataclass(frozen=True, slots=True)
class Bindings:
    """The numbers that a program runs with: input, ε, parameters; plain, or traced by JAX."""

    input: Any
    epsilon: Any
    arguments: Mapping[str, Any]


def is_coded(term: Term) -> bool:
    """Whether the term's values are no numbers, so that arrays hold their positions in its support."""
    return not kind_of(term).is_numeric


def coded_law(draw: Draw) -> bool:
    """Whether samples of the draw are positions in its support."""
    return isinstance(draw.law, FiniteSupport) and draw.law.coded


class Values:
    """Terms of one program as array functions, for fixed bindings."""

    def __init__(self, xp: Any, bindings: Bindings, stored: frozenset[Term] = frozenset()) -> None:
        self._xp = xp
        self._bindings = bindings
        self._stored = stored

    def scalar(self, term: Term) -> Any:
        """The value of a numeric term that does not depend on noise."""
        return self._compute(term)({})

    def of(self, term: Term) -> Computed:
        """The value of a numeric term, as a function of the environment."""
        if not is_random(term):
            known = self.scalar(term)
            return lambda _: known
        if term in self._stored:
            return lambda environment: environment[term]
        return self._compute(term)

    def fresh(self, term: Term) -> Computed:
        """Like `of`, for computing a stored term itself."""
        return self._compute(term)

    def _compute(self, term: Term) -> Computed:
        match term:
            case Constant():
                known = to_python(term)
                return lambda _: known
            case Input(path, _):
                return lambda _: at_path(self._bindings.input, path)
            case Parameter(name):
                return lambda _: self._bindings.arguments[name]
            case Epsilon():
                return lambda _: self._bindings.epsilon
            case Draw():
                return self._draw(term)
            case Affine(constant, terms):
                return self._sum(constant, terms)
            case Product(factors):
                return self._product(factors)
            case Elementary(function, argument):
                apply, inner = getattr(self._xp, function), self.of(argument)
                return lambda environment: apply(inner(environment))
            case Comparison(relation, difference):
                return self._comparison(relation, difference)
            case Not(inner_term):
                inner = self.of(inner_term)
                return lambda environment: self._xp.logical_not(inner(environment))
            case All(terms):
                return self._reduced(self._xp.logical_and, terms)
            case Any_(terms):
                return self._reduced(self._xp.logical_or, terms)
            case Choose(condition, yes, no):
                test, left, right = self.of(condition), self.of(yes), self.of(no)
                return lambda environment: self._xp.where(test(environment), left(environment), right(environment))
            case Ranked(items, rank):
                return self._ranked(items, rank)
            case ArgMax(items):
                return self._argmax([self.of(item) for item in items])
            case Lookup():
                return self._table_of_numbers(term)
            case _:
                assert_never(term)

    def _draw(self, draw: Draw) -> Computed:
        if not coded_law(draw):
            return lambda environment: environment[draw]
        values = support(draw)
        assert values is not None
        table = self._xp.asarray([to_python(value) for value in values])
        return lambda environment: self._xp.take(table, environment[draw])

    def _sum(self, constant: Fraction, terms: Sequence[tuple[Term, Fraction]]) -> Computed:
        known, noisy = self._split(constant, terms)
        self._check_width(known, terms)
        xp = self._xp

        def compute(environment: Environment) -> Array:
            total = known
            for coefficient, inner in noisy:
                part = inner(environment)
                if getattr(part, "dtype", None) == xp.bool_:
                    part = xp.asarray(part, dtype=int)
                if coefficient == -1:
                    total = total - part
                else:
                    total = total + (part if coefficient == 1 else coefficient * part)
            return total

        return compute

    def _split(
        self, constant: Fraction, terms: Sequence[tuple[Term, Fraction]]
    ) -> tuple[Any, list[tuple[Any, Computed]]]:
        """The part of a sum that no noise enters, as a scalar, and the rest."""
        known: Any = _plain(constant)
        noisy = []
        for term, coefficient in terms:
            if is_random(term):
                noisy.append((_plain(coefficient), self.of(term)))
            else:
                known = known + _plain(coefficient) * self.scalar(term)
        return known, noisy

    def _product(self, factors: Sequence[tuple[Term, Fraction]]) -> Computed:
        known: Any = 1
        noisy: list[Computed] = []
        for base, exponent in factors:
            if is_random(base):
                noisy.append(self.of(base))
            else:
                known = known * self.scalar(base) ** _plain(exponent)
        self._check_width(0, [(base, known) for base, _ in factors if is_random(base)])
        return lambda environment: reduce(lambda total, inner: total * inner(environment), noisy, known)

    def _comparison(self, relation: str, difference: Term) -> Computed:
        xp = self._xp
        compare = {"<=": xp.less_equal, "<": xp.less, "==": xp.equal}[relation]
        terms = difference.terms if isinstance(difference, Affine) else ((difference, Fraction(1)),)
        constant = difference.constant if isinstance(difference, Affine) else Fraction(0)
        known, noisy = self._split(constant, terms)
        left = [inner for coefficient, inner in noisy if coefficient == 1]
        right = [inner for coefficient, inner in noisy if coefficient == -1]
        plain = len(left) + len(right) == len(noisy) and len(left) <= 1 and len(right) <= 1
        if not noisy or not plain:
            whole = self._sum(constant, terms)
            return lambda environment: compare(whole(environment), 0)
        if not right:
            return lambda environment: compare(left[0](environment), -known)
        if not left:
            return lambda environment: compare(known, right[0](environment))
        if isinstance(known, (int, float)) and known == 0:
            return lambda environment: compare(left[0](environment), right[0](environment))
        self._check_width(known, terms)
        return lambda environment: compare(left[0](environment) + known, right[0](environment))

    def _reduced(self, operation: Callable[[Array, Array], Array], terms: Sequence[Term]) -> Computed:
        inners = [self.of(term) for term in terms]
        return lambda environment: reduce(operation, (inner(environment) for inner in inners))

    def _ranked(self, items: tuple[Term, ...], rank: int) -> Computed:
        if rank == 0:
            return self._reduced(self._xp.minimum, items)
        if rank == len(items) - 1:
            return self._reduced(self._xp.maximum, items)
        inners = [self.of(item) for item in items]
        xp = self._xp
        return lambda env: xp.sort(xp.stack(xp.broadcast_arrays(*(inner(env) for inner in inners))), axis=0)[rank]

    def _argmax(self, inners: list[Computed]) -> Computed:
        xp = self._xp

        def compute(environment: Environment) -> Array:
            best, winner = inners[0](environment), 0
            for position, inner in enumerate(inners[1:], start=1):
                item = inner(environment)
                winner = xp.where(item > best, position, winner)
                best = xp.maximum(best, item)
            return winner

        return compute

    def _check_width(self, known: Any, terms: Sequence[tuple[Term, Any]]) -> None:
        """Raise where a sum of whole numbers may leave 64 bits: arrays would wrap around without a word."""
        noisy = [(term, factor) for term, factor in terms if is_random(term)]
        numbers = (known, *(factor for _, factor in noisy))
        if not all(isinstance(number, (int, Fraction)) and number.denominator == 1 for number in numbers):
            return
        if not noisy or not all(kind_of(term).is_integral for term, _ in noisy):
            return
        if abs(known) + sum(abs(factor) * self._farthest(term) for term, factor in noisy) >= 2**63:
            raise _too_wide()

    def _farthest(self, term: Term) -> int | Fraction:
        """How far from 0 the whole numbers of a term may be."""
        values = support(term)
        if values is not None:
            return max(abs(exact(value)) for value in values)
        scale = getattr(term.law, "scale", None) if isinstance(term, Draw) else None
        if scale is None or any(is_random(parameter) for parameter in children(term)):
            return _FARTHEST
        sizes = [self.scalar(parameter) for parameter in children(term)]
        if not all(isinstance(size, (int, float)) and abs(size) < _FARTHEST for size in sizes):
            return _FARTHEST
        return math.ceil(_FAR * sum(abs(float(size)) for size in sizes))

    # Terms with few values, by position.
    def positions(self, term: Term) -> Computed:
        """The position of a term's value in its support."""
        values = support(term)
        assert values is not None
        if isinstance(term, Constant):
            return lambda _: 0
        if isinstance(term, Draw) and coded_law(term):
            return lambda environment: environment[term]
        if not is_coded(term):
            return self._number_positions(term, [exact(value) for value in values])
        match term:
            case Lookup():
                return self._table(term, [values.index(result) for _, result in term.table])
            case Choose(condition, yes, no):
                test = self.of(condition)
                sides = [self._renumbered(side, values) for side in (yes, no)]
                return lambda env: self._xp.where(test(env), sides[0](env), sides[1](env))
            case _:
                raise AssertionError(f"a term without numbers: {term.text}")

    def _number_positions(self, term: Term, numbers: list[Fraction]) -> Computed:
        xp, inner = self._xp, self.of(term)
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        ascending = [float(numbers[at]) for at in order]
        edges = xp.asarray([(a + b) / 2 for a, b in pairwise(ascending)])
        places = xp.asarray(order)
        return lambda environment: xp.take(places, xp.searchsorted(edges, xp.asarray(inner(environment), dtype=float)))

    def _renumbered(self, term: Term, values: tuple[Constant, ...]) -> Computed:
        own = support(term)
        assert own is not None
        table = self._xp.asarray([values.index(value) for value in own])
        inner = self.positions(term)
        return lambda environment: self._xp.take(table, inner(environment))

    def _table_of_numbers(self, term: Lookup) -> Computed:
        return self._table(term, [to_python(result) for _, result in term.table])

    def _table(self, term: Lookup, results: list[Any]) -> Computed:
        """The table's results, by the combined positions of the keys (the last key varies fastest)."""
        xp = self._xp
        supports = [support(key) for key in term.keys]
        sizes = [len(values) for values in supports if values is not None]
        inners = [self.positions(key) for key in term.keys]
        table = xp.asarray(results)

        def compute(environment: Environment) -> Array:
            combined: Any = 0
            for inner, size in zip(inners, sizes, strict=True):
                combined = combined * size + inner(environment)
            return xp.take(table, combined)

        assert math.prod(sizes) == len(results)
        return compute


_FARTHEST = 2**46
"""No draw of whole numbers is likely to be farther from 0: scales end at 2**40."""

_FAR = 64
"""A draw is this many scales from its location with a chance below 1e-27."""


def _too_wide() -> MechanismError:
    return MechanismError(
        "MECH-111",
        "whole numbers that may not fit 64 bits cannot be sampled as arrays",
        why="arrays of whole numbers wrap around beyond 64 bits, and the counts would be wrong",
        fix="run it as a black box, or work with smaller numbers",
    )


def _plain(content: Fraction) -> int | float:
    return content.numerator if content.denominator == 1 else float(content)
