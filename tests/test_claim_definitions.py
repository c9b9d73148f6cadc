"""Neighbourhoods against their definitions, written down a second time; Gaussian privacy against ball arithmetic.

Nothing here uses the room's own comparisons of values, numbers or distributions.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from dpverdict.claim import Gaussian, from_arguments
from dpverdict.claim.domain_text import domain_from
from dpverdict.claim.neighbour_text import neighbourhood
from dpverdict.claim.values import identity, shown

Related = Callable[[Any, Any], bool]

DOMAINS = [
    "integer:-1,2",
    "-1,0,1/2,3",
    "boolean",
    "category:a",
    "true,1,null",
    "string:ab,2",
    "vector(integer:0,2; length=3)",
    "vector(boolean; length=0..3)",
    "vector(-1,0,1.5; length=2)",
    "vector(category:a,b,c; length=0..3)",
    'vector(true,1,0,"x"; length=2)',
    "vector(real:1,1; length=0..3)",
    "vector(integer:0,1; length=0)",
    "vector(vector(0,1; length=1..2); length=0..2)",
    "vector(record(a=0,1; b=0,2); length=2)",
    "record(a=integer:0,2; b=boolean)",
    "record(a=integer:0,2; b=category:x,y)",
]


def name(value: Any) -> Any:
    """A value by its type and parts, to compare without Python's True == 1."""
    if isinstance(value, list):
        return ("list", *map(name, value))
    if isinstance(value, dict):
        return ("record", *((field, name(value[field])) for field in sorted(value)))
    return (str(type(value) in (int, Fraction)) if isinstance(value, int | Fraction) else type(value).__name__, value)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, list):
        return list(chain.from_iterable(map(leaves, value)))
    return (
        list(chain.from_iterable(leaves(value[field]) for field in sorted(value)))
        if isinstance(value, dict)
        else [value]
    )


def shape(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(shape, value))
    return {field: shape(value[field]) for field in value} if isinstance(value, dict) else 0


def distance(kind: str, radius: Fraction) -> Related:
    def related(a: Any, b: Any) -> bool:
        if shape(a) != shape(b):
            return False
        moves = []
        for one, other in zip(leaves(a), leaves(b), strict=True):
            if isinstance(one, str | None) or isinstance(other, str | None):
                if one != other:
                    return False
            else:
                moves.append(Fraction(other) - Fraction(one))
        match kind:
            case "l1":
                return sum(map(abs, moves)) <= radius
            case "l2":
                return sum(move * move for move in moves) <= radius * radius
        near = all(abs(move) <= radius for move in moves)
        return near and (kind == "linf" or all(move >= 0 for move in moves) or all(move <= 0 for move in moves))

    return related


def substituted(items: int) -> Related:
    def related(a: Any, b: Any) -> bool:
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and sum(name(x) != name(y) for x, y in zip(a, b, strict=True)) <= items
        both = isinstance(a, dict) and isinstance(b, dict)
        return both and sum(name(a[field]) != name(b[field]) for field in a) <= items

    return related


def longest_common(a: list[Any], b: list[Any]) -> int:
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return 1 + longest_common(a[:-1], b[:-1])
    return max(longest_common(a[:-1], b), longest_common(a, b[:-1]))


def added(items: int, unordered: bool) -> Related:
    def related(a: Any, b: Any) -> bool:
        if not (isinstance(a, list) and isinstance(b, list)):
            return False
        first, second = list(map(name, a)), list(map(name, b))
        if unordered:
            left, right = Counter(first), Counter(second)
            return sum(((left - right) + (right - left)).values()) <= items
        return len(first) + len(second) - 2 * longest_common(first, second) <= items

    return related


DEFINITIONS: dict[str, Related] = {
    **{f"{kind}:{radius}": distance(kind, Fraction(radius)) for kind in ("linf", "l1", "l2", "monotone")
       for radius in ("0.3", "1", "1.5", "2", "1e9")},
    **{f"substitute:{items}": substituted(items) for items in (1, 2, 5)},
    **{f"add-remove:{items}": added(items, False) for items in (1, 2, 3)},
    **{f"add-remove:{items},unordered": added(items, True) for items in (1, 2)},
    "any": lambda a, b: True,
}  # fmt: skip


@pytest.mark.parametrize("domain_text", DOMAINS)
def test_pairs_are_those_of_the_definition(domain_text: str) -> None:
    domain = domain_from(domain_text)
    members = list(domain.members())
    assert domain.size() == len(members) == len(set(map(name, members)))
    for text, related in DEFINITIONS.items():
        relation = neighbourhood(text)
        different = [(a, b) for a in members for b in members if name(a) != name(b)]
        wanted = {(name(a), name(b)) for a, b in different if related(a, b)}
        assert {(name(a), name(b)) for a, b in different if relation.are_neighbours(a, b)} == wanted, text
        if relation.why_useless(domain) is not None:
            assert not wanted, text
            continue
        listed = [(name(a), name(b)) for a, b in relation.pairs(domain)]
        assert len(set(listed)) == len(listed), text
        assert set(listed) == wanted, text
        assert {(name(one.input), name(one.neighbour)) for one in relation.patterns(domain)} <= wanted, text


@pytest.mark.parametrize("text", ["linf:1", "l1:1", "l2:1", "monotone:1"])
def test_patterns_move_the_numbers_of_any_shape(text: str) -> None:
    claim = from_arguments(
        claim="pure:1", adjacency=text, domain="record(a=integer:0,9; b=category:x; c=vector(real; length=2))"
    )
    patterns = {pattern.name: pattern for pattern in claim.patterns()}
    assert patterns["one above"].input == {"a": 1, "b": "x", "c": [1, 1]}
    assert patterns["one above"].neighbour["c"] == [1, 1]
    assert patterns["one above"].neighbour["a"] > 1
    assert all(claim.why_not_about(one.input, one.neighbour) is None for one in patterns.values())


def test_identity_tells_apart_what_an_input_can_be() -> None:
    assert identity({1: "a", "1": 2}) != identity({"1": "a", 1: 2})
    assert identity({1: float("nan"), "1": 2}) == identity({"1": 2, 1: float("nan")})
    assert "too many digits to show" in shown(Fraction(1, 10**5000 + 1))


# --- Gaussian privacy ------------------------------------------------------------------------------------------------


def normal(x: Any) -> Any:
    return (1 + (x / arb(2).sqrt()).erf()) / 2


def ball(value: Fraction) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


def rational(value: Any) -> Fraction:
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@pytest.mark.parametrize("mu", ["1/100", "1/2", "1", "3"])
def test_gaussian_privacy_is_decided_beside_the_tie(mu: str) -> None:
    claim, moments, before = Gaussian(Fraction(mu)), random.Random(5), ctx.prec
    ctx.prec = 500
    try:
        for _ in range(6):
            place = arb(moments.uniform(-7, 7))
            q, tie = normal(place), normal(place + ball(claim.mu))
            rest = min(rational(tie), 1 - rational(tie))
            for bits in (20, 60, 200):
                assert claim.contradicts(rational(tie) + rest / 2**bits, rational(q))
                assert not claim.contradicts(rational(tie) - rest / 2**bits, rational(q))
            tangent = claim.tangent(float(rational(q)))
            epsilon = ball(tangent.epsilon)
            least = normal(ball(claim.mu) / 2 - epsilon / ball(claim.mu)) - epsilon.exp() * normal(
                -ball(claim.mu) / 2 - epsilon / ball(claim.mu)
            )
            assert ball(tangent.delta) >= least
            assert ball(claim.delta_at(tangent.epsilon)) >= least
    finally:
        ctx.prec = before
