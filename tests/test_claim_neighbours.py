"""Neighbourhoods: the question against its definition, listing against brute force, StatDP's patterns."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim import (
    AddRemove,
    AnyPair,
    EuclideanNorm,
    Generator,
    MaxNorm,
    Monotone,
    Neighbourhood,
    PairList,
    Predicate,
    Substitute,
    SumNorm,
)
from dpverdict.claim.domain_text import domain_from
from dpverdict.claim.lists import arrangements, edits_within
from dpverdict.claim.neighbour_text import neighbourhood
from dpverdict.claim.values import identity
from dpverdict.errors import ClaimError

VECTORS = st.integers(1, 4).flatmap(
    lambda size: st.tuples(*[st.lists(st.fractions(-2, 2, max_denominator=4), min_size=size, max_size=size)] * 2)
)
RADII = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2)])
LETTERS = st.lists(st.sampled_from("abc"), max_size=6)
QUICK = settings(max_examples=150, deadline=None)

TEXTS = [
    "linf:1", "linf:0.5", "l1:2", "l1:1/3", "l2:1.5", "monotone:1", "substitute:1", "substitute:2",
    "add-remove:1", "add-remove:2,unordered", "any",
]  # fmt: skip
SMALL = [
    "vector(-1,0,1; length=3)",
    "vector(integer:0,2; length=2)",
    "vector(0,1/3,1/2,2; length=2)",
    "vector(boolean; length=0..3)",
    "vector(integer:0,1; length=0..4)",
    "vector(category:a,b,c; length=1..3)",
    "vector(vector(boolean; length=2); length=0..2)",
    "record(age=integer:0,3; ok=boolean)",
    "record(name=category:a,b; age=integer:0,2)",
    "record(x=vector(integer:0,1; length=2); y=integer:0,2)",
    "integer:-2,2",
    "boolean",
]


def brute_force(relation: Neighbourhood, domain: Any) -> list[tuple[Any, Any]]:
    members = list(domain.members())
    return [
        (a, b) for a, b in product(members, members) if identity(a) != identity(b) and relation.are_neighbours(a, b)
    ]


def keys(pairs: Any) -> list[Any]:
    return [(identity(a), identity(b)) for a, b in pairs]


# --- listing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain_text", SMALL)
@pytest.mark.parametrize("text", TEXTS)
def test_listing_agrees_with_brute_force(text: str, domain_text: str) -> None:
    relation, domain = neighbourhood(text), domain_from(domain_text)
    if relation.why_useless(domain) is not None:
        return
    listed = keys(relation.pairs(domain))
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(keys(brute_force(relation, domain)))
    assert listed == keys(relation.pairs(domain))
    if relation.symmetric:
        assert {(b, a) for a, b in listed} == set(listed)


def test_listing_is_lazy_and_takes_no_quadratic_time() -> None:
    # 3^60 inputs: a filter over pairs, or even a list of inputs, would never return.
    domain = domain_from("-1,0,1")
    for text in ("linf", "l1", "l2", "monotone", "substitute:2", "any"):
        assert len(list(islice(neighbourhood(text).pairs(domain, 60), 50))) == 50
    assert len(list(islice(neighbourhood("add-remove").pairs(domain_from("vector(0,1; length=59..60)")), 50))) == 50


@pytest.mark.parametrize(("length", "expected"), [(1, 4), (2, 40), (3, 316)])
def test_counts_of_the_thesis(length: int, expected: int) -> None:
    # Per coordinate of {-1, 0, 1} there are 7 ordered pairs at distance at most 1, 3 of them equal.
    assert expected == 7**length - 3**length
    assert len(list(neighbourhood("linf").pairs(domain_from("-1,0,1"), length))) == expected


def test_lists_need_lists_and_finite_domains() -> None:
    for text in ("substitute", "add-remove"):
        with pytest.raises(ClaimError, match="lists or records"):
            list(neighbourhood(text).pairs(domain_from("-1,0,1")))
    for text in ("linf", "substitute", "add-remove", "any"):
        with pytest.raises(ClaimError, match="infinitely many"):
            list(neighbourhood(text).pairs(domain_from("real"), 2))


# --- the question ----------------------------------------------------------------------------------------------------


@given(VECTORS, RADII)
@QUICK
def test_distances(pair: tuple[list[Fraction], list[Fraction]], radius: Fraction) -> None:
    a, b = pair
    differences = [y - x for x, y in zip(a, b, strict=True)]
    assert MaxNorm(radius).are_neighbours(a, b) == (max(map(abs, differences)) <= radius)
    assert SumNorm(radius).are_neighbours(a, b) == (sum(map(abs, differences)) <= radius)
    assert EuclideanNorm(radius).are_neighbours(a, b) == (sum(d * d for d in differences) <= radius**2)
    one_way = all(d >= 0 for d in differences) or all(d <= 0 for d in differences)
    assert Monotone(radius).are_neighbours(a, b) == (one_way and max(map(abs, differences)) <= radius)


def longest_common(a: list[str], b: list[str]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(LETTERS, LETTERS, st.integers(1, 5))
@settings(max_examples=300, deadline=None)
def test_lists(a: list[str], b: list[str], items: int) -> None:
    edits = len(a) + len(b) - 2 * longest_common(a, b)
    assert AddRemove(items).are_neighbours(a, b) == (edits <= items)
    assert edits_within(list(a), list(b), items) == (edits <= items)
    left, right = Counter(a), Counter(b)
    assert AddRemove(items, unordered=True).are_neighbours(a, b) == (((left - right) + (right - left)).total() <= items)
    differ = sum(x != y for x, y in zip(a, b, strict=False))
    assert Substitute(items).are_neighbours(a, b) == (len(a) == len(b) and differ <= items)


def test_arrangements() -> None:
    assert sorted(map(tuple, arrangements(list("aab")))) == sorted(set(permutations("aab")))


def test_numbers_are_compared_exactly() -> None:
    assert neighbourhood("linf").are_neighbours([0.1], [1.1])  # as decimals; as binary numbers they are not
    assert not neighbourhood("linf").are_neighbours([0.1], [Fraction(11, 10) + Fraction(1, 10**30)])
    assert neighbourhood("l2").are_neighbours([0, 0], [0.6, 0.8])
    assert neighbourhood("linf").are_neighbours(np.array([0, 1]), [1, 1])
    assert neighbourhood("linf").are_neighbours(np.array([[0, 1], [2, 3]]), [[1, 1], [2, 2]])
    assert neighbourhood("linf").are_neighbours({"a": 1, "b": "x"}, {"a": 2, "b": "x"})
    assert neighbourhood("linf").are_neighbours(0.0, -0.0)


@pytest.mark.parametrize(
    ("text", "a", "b", "why"),
    [
        ("linf", [0, 0], [0, 2], "no coordinate may differ by more than 1"),
        ("l1:1.5", [0, 0], [1, 1], "add up to 1.5"),
        ("l2", [0, 0], [1, 1], "squared differences"),
        ("monotone", [0, 0], [1, -1], "one direction"),
        ("linf", [0, 0], [0], "have no distance"),
        ("linf", ["a"], ["b"], "have no distance"),
        ("linf", [math.nan], [0], "have no distance"),
        ("linf", {"a": 1}, {"b": 1}, "have no distance"),
        ("substitute", [0, 0], [1, 1], "2 items differ, not 1"),
        ("substitute", [0, 0], [1], "equal length"),
        ("substitute", 0, 1, "not two lists"),
        ("add-remove", [0, 0], [1, 0], "more than 1 added"),
        ("add-remove:1,unordered", [0, 0], [1, 1], "more than 1 added"),
        ("add-remove", 3, [3], "not two lists"),
    ],
)
def test_why_not(text: str, a: Any, b: Any, why: str) -> None:
    reason = neighbourhood(text).why_not(a, b)
    assert reason is not None
    assert why in reason


@pytest.mark.parametrize("text", TEXTS)
def test_text_round_trip(text: str) -> None:
    relation = neighbourhood(text)
    assert relation.text == str(relation) == relation.to_json() == text.replace("1/3", str(Fraction(1, 3)))
    assert neighbourhood(relation.text) == relation
    assert relation.symmetric
    assert neighbourhood(relation) is relation


def test_short_forms() -> None:
    assert neighbourhood("linf") == MaxNorm(Fraction(1))
    assert neighbourhood("LINF : 2") == MaxNorm(Fraction(2))
    assert neighbourhood("substitute") == Substitute(1)
    assert neighbourhood("add-remove:unordered") == AddRemove(1, unordered=True)
    assert neighbourhood("any") == AnyPair()


# --- patterns --------------------------------------------------------------------------------------------------------

TABLE_1 = {
    "one above": ([1, 1, 1, 1, 1], [2, 1, 1, 1, 1]),
    "one below": ([1, 1, 1, 1, 1], [0, 1, 1, 1, 1]),
    "one above, rest below": ([1, 1, 1, 1, 1], [2, 0, 0, 0, 0]),
    "one below, rest above": ([1, 1, 1, 1, 1], [0, 2, 2, 2, 2]),
    "half half": ([1, 1, 1, 1, 1], [0, 0, 0, 2, 2]),
    "all above": ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2]),
    "all below": ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]),
    "X shape": ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]),
}


@pytest.mark.parametrize("domain", ["any", "real", "integer:-10,10", "real:0,2", "0,1,2"])
def test_table_1(domain: str) -> None:
    found = {pattern.name: (pattern.input, pattern.neighbour) for pattern in MaxNorm().patterns(domain_from(domain), 5)}
    for name, (a, b) in TABLE_1.items():
        assert found[name] == (a, b)
        assert found[f"{name}, reversed"] == (b, a)


def test_sensitivity_scales_the_moves() -> None:
    found = {pattern.name: pattern.neighbour for pattern in MaxNorm(Fraction(5, 2)).patterns(domain_from("real"), 2)}
    assert found["one above, rest below"] == [Fraction(7, 2), Fraction(-3, 2)]
    whole = {pattern.name: pattern.neighbour for pattern in MaxNorm(Fraction(5, 2)).patterns(domain_from("integer"), 2)}
    assert whole["one above, rest below"] == [3, -1]


@pytest.mark.parametrize("domain_text", [*SMALL, "real:0,1", "vector(real:0,1)", "vector(real:-1/3,1/5; length=7)",
    "vector(integer; length=6..)", "vector(string:ab,2; length=2..4)", "vector(any; length=0)", "string:ab,3",
    "vector(category:a; length=0..3)", "vector(true,false; length=3)", "real:5,5"])  # fmt: skip
@pytest.mark.parametrize("text", TEXTS)
def test_patterns_are_neighbours_inside_the_domain(text: str, domain_text: str) -> None:
    relation, domain = neighbourhood(text), domain_from(domain_text)
    patterns = relation.patterns(domain)
    for pattern in patterns:
        assert pattern.input in domain
        assert pattern.neighbour in domain
        assert relation.are_neighbours(pattern.input, pattern.neighbour)
        assert identity(pattern.input) != identity(pattern.neighbour)
    listed = keys((pattern.input, pattern.neighbour) for pattern in patterns)
    assert len(set(listed)) == len(listed)
    assert {(b, a) for a, b in listed} == set(listed)


@pytest.mark.parametrize("text", TEXTS)
def test_there_are_patterns(text: str) -> None:
    for domain in ("vector(real:0,1; length=2..4)", "vector(integer; length=3..)", "vector(any)"):
        if text != "l1:1/3" or "integer" not in domain:
            found = neighbourhood(text).patterns(domain_from(domain))
            assert found or (text == "linf:0.5" and "integer" in domain)


# --- given relations ---------------------------------------------------------------------------------------------


def close(a: Any, b: Any) -> bool:
    return isinstance(a, list) and len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) <= 1


def close_both(a: Any, b: Any) -> bool:
    return close(a, b)


close_both.symmetric = True  # type: ignore[attr-defined]


def one_less(a: list[Any]) -> Iterator[list[Any]]:
    for at in range(len(a)):
        yield a[:at] + a[at + 1 :]


def fails(a: Any, b: Any) -> bool:
    raise RuntimeError("not today")


def breaks_off(a: Any) -> Iterator[Any]:
    yield a
    raise RuntimeError("not today")


def test_predicates() -> None:
    relation = neighbourhood(close)
    assert isinstance(relation, Predicate)
    assert relation.text == f"{__name__}:close"
    assert not relation.symmetric
    assert neighbourhood(close_both).symmetric
    domain = domain_from("vector(0,1; length=2)")
    assert keys(relation.pairs(domain)) == keys(Substitute(1).pairs(domain)) or set(
        keys(relation.pairs(domain))
    ) == set(keys(Substitute(1).pairs(domain)))
    assert "says that" in str(relation.why_not([0, 0], [1, 1]))
    assert {pattern.name for pattern in relation.patterns(domain)} >= {"one above", "one below"}


def test_generators() -> None:
    relation = neighbourhood(one_less)
    assert isinstance(relation, Generator)
    domain = domain_from("vector(0,1; length=0..2)")
    assert relation.are_neighbours([0, 1], [1])
    assert relation.are_neighbours([0, 1], [0, 1])
    assert "does not give" in str(relation.why_not([1], [0, 1]))
    assert keys(relation.pairs(domain)) == keys(
        [([0], []), ([1], []), ([0, 0], [0]), ([0, 1], [1]), ([0, 1], [0]), ([1, 0], [0]), ([1, 0], [1]), ([1, 1], [1])]
    )
    assert [(p.input, p.neighbour) for p in relation.patterns(domain)] == [([0, 0], [0]), ([1, 1], [1])]


def test_pair_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[[0, 1], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [1, 1]], [[0.1, 5], [0, 0]], [[1, 1], [1, 1]]]
    Path("pairs.json").write_text(json.dumps(rows))
    relation = neighbourhood("pairs:pairs.json")
    assert isinstance(relation, PairList)
    assert neighbourhood(relation.text) == relation
    assert not relation.symmetric
    assert neighbourhood(rows[:2]).symmetric
    assert relation.are_neighbours([0.1, 5], [0, 0])
    assert "in this direction" in str(relation.why_not([0, 0], [0.1, 5]))
    assert "are not listed" in str(relation.why_not([0, 0], [3, 5]))
    assert relation.are_neighbours([7], [7])
    # Outside the domain, equal, or listed twice: left out.  The domain need not be finite.
    for domain in ("vector(integer:0,1; length=2)", "vector(real:0,1; length=2)"):
        assert list(relation.pairs(domain_from(domain))) == [([0, 1], [1, 1]), ([1, 1], [0, 1])]
    inside = domain_from("integer:0,1")
    assert list(relation.pairs(inside, 2)) == [([0, 1], [1, 1]), ([1, 1], [0, 1])]
    assert list(relation.neighbours_of([0, 1], domain_from("vector(integer:0,1; length=2)"))) == [[1, 1]]
    assert [pattern.input for pattern in relation.patterns(inside, 2)] == [[0, 1], [1, 1]]


def test_the_users_errors_are_shown() -> None:
    for relation in (neighbourhood(fails), neighbourhood(breaks_off)):
        with pytest.raises(ClaimError, match="RuntimeError: not today") as caught:
            relation.are_neighbours([0], [1])
        assert caught.value.code == "CLAIM-055"


SOURCE = """
def close(a, b): return abs(a - b) <= 1
def three(a, b, c): return True
def optional(a, b=1): yield a
number = 3
"""


@pytest.mark.parametrize(
    ("text", "code", "shows"),
    [
        ("linf:0", "CLAIM-050", "above 0"),
        ("linf:-1", "CLAIM-050", "-1"),
        ("linf:", "CLAIM-005", "nothing here"),
        ("linf:x", "CLAIM-001", "got x"),
        ("l1:nan", "CLAIM-002", "got nan"),
        ("l2:inf", "CLAIM-002", "got inf"),
        ("monotone:1/0", "CLAIM-004", "1/0"),
        ("substitute:0", "CLAIM-051", "at least 1"),
        ("substitute:1.5", "CLAIM-051", "whole"),
        ("substitute:1,unordered", "CLAIM-059", "unordered"),
        ("add-remove:1,sorted", "CLAIM-059", "sorted"),
        ("add-remove:x", "CLAIM-001", "got x"),
        ("linff", "CLAIM-058", "linf"),
        ("any:1", "CLAIM-058", "any"),
        ("", "CLAIM-058", "nothing here"),
        ("pairs", "CLAIM-057", "names no file"),
        ("pairs:absent.json", "CLAIM-057", "no such file"),
        ("pairs:.", "CLAIM-057", "IsADirectoryError"),
        ("pairs:text.json", "CLAIM-057", "JSONDecodeError"),
        ("pairs:object.json", "CLAIM-057", "a dict"),
        ("pairs:single.json", "CLAIM-053", "two inputs"),
        ("pairs:empty.json", "CLAIM-054", "no pair"),
        ("relations.py:clos", "CLAIM-033", "relations.py:close"),
        ("relations.py:three", "CLAIM-056", "3 required"),
        ("relations.py:number", "CLAIM-056", "got"),
        ("absent.py:close", "CLAIM-031", "absent.py"),
        ("relatons:close", "CLAIM-032", "relatons"),
    ],
)
def test_wrong_texts(text: str, code: str, shows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "relations.py": SOURCE,
        "text.json": "nothing",
        "object.json": "{}",
        "single.json": "[[1]]",
        "empty.json": "[]",
    }
    for name, content in files.items():
        Path(name).write_text(content)
    assert neighbourhood("relations.py:close").are_neighbours(1, 2)
    assert isinstance(neighbourhood("relations.py:optional"), Generator)
    with pytest.raises(ClaimError) as caught:
        neighbourhood(text, "--adjacency")
    message = str(caught.value)
    assert caught.value.code == code
    assert shows in message
    assert "why:" in message
    assert "try:" in message


@pytest.mark.parametrize("made", [lambda: neighbourhood(3), lambda: neighbourhood(max), lambda: neighbourhood(print)])
def test_wrong_values(made: Any) -> None:
    with pytest.raises(ClaimError, match="not a neighbourhood"):
        made()
