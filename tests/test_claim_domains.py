"""Domains: membership, clipping, listing, and the grammar."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim import (
    Anything,
    Boolean,
    Category,
    Domain,
    Integer,
    Real,
    Record,
    Text,
    Vector,
    plain,
)
from dpverdict.claim.compound_domain import of_length
from dpverdict.claim.domain_text import domain_from
from dpverdict.claim.values import identity, shown
from dpverdict.errors import ClaimError

NUMBERS = st.one_of(st.integers(-50, 50), st.fractions(-50, 50, max_denominator=12))
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=5)


def ends(whole: bool) -> st.SearchStrategy[tuple[Any, Any]]:
    end = st.integers(-20, 20) if whole else NUMBERS
    return st.tuples(st.none() | end, st.none() | end).map(
        lambda pair: pair if None in pair or pair[0] <= pair[1] else pair[::-1]
    )


SCALARS: st.SearchStrategy[Domain] = st.one_of(
    st.builds(Anything),
    st.builds(Boolean),
    ends(whole=False).map(lambda pair: Real(*pair)),
    ends(whole=True).map(lambda pair: Integer(*pair)),
    st.lists(st.one_of(NUMBERS, WORDS, st.booleans(), st.none()), min_size=1, max_size=4, unique_by=identity).map(
        lambda values: Category(tuple(values))
    ),
    st.builds(
        lambda letters, longest: Text("".join(sorted(letters)), longest),
        st.sets(st.sampled_from('ab ",;(x'), min_size=1),
        st.integers(0, 2),
    ),
)


def grown(inner: st.SearchStrategy[Domain]) -> st.SearchStrategy[Domain]:
    lengths = st.tuples(st.integers(0, 2), st.none() | st.integers(2, 3))
    fields = st.dictionaries(st.sampled_from(["age", "name", "x"]), inner, min_size=1)
    return st.one_of(
        st.builds(lambda item, length: Vector(item, *length), inner, lengths),
        st.builds(lambda by_name: Record(tuple(by_name.items())), fields),
    )


DOMAINS = st.recursive(SCALARS, grown, max_leaves=3)
VALUES: list[Any] = [
    0, 1, -7, 0.5, 1e300, True, None, "a", "ab", "", [], [1], [0.5, "x"], {}, {"age": 3}, {"x": [1], "y": 2},
    math.nan, math.inf, Fraction(1, 3), Decimal("0.1"), np.float64(2), np.array([1, 0]), np.True_, (1, 2), b"x", object,
]  # fmt: skip


@given(DOMAINS)
@settings(max_examples=150, deadline=None)
def test_text_round_trip(domain: Domain) -> None:
    assert domain_from(domain.text) == domain
    assert str(domain) == domain.text


@given(DOMAINS)
@settings(max_examples=150, deadline=None)
def test_samples_and_clipped_values_are_members(domain: Domain) -> None:
    assert all(sample in domain for sample in domain.samples())
    for value in VALUES:
        clipped = domain.clip(value)
        assert clipped in domain
        if value in domain:
            assert identity(clipped) == identity(value)


@given(DOMAINS)
@settings(max_examples=150, deadline=None)
def test_listing_agrees_with_size_and_membership(domain: Domain) -> None:
    size = domain.size()
    if size is None:
        with pytest.raises(ClaimError, match="infinitely many"):
            next(iter(domain.members()))
        return
    members = list(islice(domain.members(), 3000))
    assert size > 3000 or len(members) == size
    assert len({identity(member) for member in members}) == len(members)
    assert all(member in domain for member in members)


@pytest.mark.parametrize(
    ("domain", "value", "where"),
    [
        ("integer:-1,1", 2, "2 is above 1"),
        ("integer:-1,1", -2, "-2 is below -1"),
        ("integer:-1,1", 0.5, "0.5 is not whole"),
        ("integer", True, "True is no number"),
        ("real", math.nan, "nan is no finite number"),
        ("real", "3", "'3' is no number"),
        ("boolean", 1, "1 is no boolean"),
        ("-1,0,1", 2, "2 is none of -1, 0, 1"),
        ("0,1,2,3,4,5,6,7", 9, "9 is none of 0, 1, 2, 3, 4, 5, …"),
        ("category:a,b", "c", '\'c\' is none of "a", "b"'),
        ("string:ab,2", "abc", "[2]: 'c' is not in the alphabet ab"),
        ("string:ab,2", "aba", "'aba' is longer than 2"),
        ("string:ab,2", 3, "3 is no text"),
        ("vector(integer:0,1; length=2)", [0, 3], "[1]: 3 is above 1"),
        ("vector(integer:0,1; length=2)", [0], "[0] has 1 items, not 2"),
        ("vector(integer:0,1; length=1..2)", [], "[] has 0 items, not 1 to 2"),
        ("vector(integer:0,1; length=1..)", [], "[] has 0 items, not 1 or more"),
        ("vector(integer:0,1)", 1, "1 is no list"),
        ("vector(vector(boolean))", [[True], [0]], "[1][0]: 0 is no boolean"),
        ("record(age=integer:0,120; ok=boolean)", {"age": 130, "ok": True}, ".age: 130 is above 120"),
        ("record(age=integer:0,120; ok=boolean)", {"age": 13}, "has no field ok"),
        ("record(ok=boolean)", {"ok": True, "why": 1}, ".why: 1 is a field that is not expected"),
        ("record(ok=boolean)", [True], "is no record"),
        ("vector(record(ok=boolean))", [{"ok": 3}], "[0].ok: 3 is no boolean"),
    ],
)
def test_why_outside(domain: str, value: Any, where: str) -> None:
    outside = domain_from(domain).why_outside(value)
    assert outside is not None
    assert where in str(outside)
    assert value not in domain_from(domain)


def test_floats_stand_for_their_shortest_decimals() -> None:
    assert 0.1 in Real(0, Fraction(1, 10))
    assert 0.3 in domain_from("0.1,0.3")
    assert 1.0 in Integer(0, 1)
    assert np.int64(1) in Integer(0, 1)
    assert np.array([0.0, 1.0]) in domain_from("vector(integer:0,1; length=2)")


def test_clipping_takes_the_nearest() -> None:
    assert Real(0, 1).clip(7) == 1
    assert Real(0, 1).clip(-7.5) == 0
    assert Integer(0, 10).clip(3.7) == 4
    assert Integer(0, 10).clip(33.7) == 10
    assert Category((-1, 0, 5)).clip(4) == 5
    assert Category(("a", "b")).clip(4) == "a"
    assert Vector(Real(0, 1), 3, 3).clip([5]) == [1, 0, 0]
    assert Vector(Real(0, 1), 1, 1).clip([5, 5]) == [1]
    assert Record((("a", Real(0, 1)), ("b", Boolean()))).clip({"a": 3}) == {"a": 1, "b": False}


def test_spans() -> None:
    assert Anything().span(Fraction(0), Fraction(2)) == (-2, 2)
    assert Integer(0, 5).span(Fraction(1), Fraction(5, 2)) == (0, 3)
    assert Category((-1, 0, 5)).span(Fraction(0), Fraction(2)) == (-1, 0)
    assert list(Integer(0, 5).near("a", Fraction(1))) == []
    assert list(Integer(None, None).near(3, Fraction(1))) == [2, 3, 4]
    assert list(Category(("a", 1)).near("a", Fraction(1))) == ["a"]


def test_lists_and_sets_are_domains() -> None:
    assert domain_from([-1, 0, 1]) == Category((-1, 0, 1)) == domain_from("-1,0,1") == domain_from(range(-1, 2))
    assert domain_from({1, 0}) == Category((0, 1))
    assert domain_from(Real(0, 1)) == domain_from("real:0,1")
    assert domain_from("REAL : 0 , 1") == Real(0, 1)
    assert domain_from("integer:,3") == Integer(None, 3)
    assert domain_from("real:-inf,+inf") == Real()
    assert domain_from("true,false").to_json() == ["true", "false"]
    assert domain_from('"a b",3').text == '"a b",3'
    assert domain_from("-1,0,1").to_json() == ["-1", "0", "1"]
    assert domain_from("category:a,b").to_json() == ["a", "b"]
    assert domain_from("boolean").to_json() == "boolean"
    assert domain_from(r'category:"a\"b",c').text == r'category:"a\"b",c'


def test_sizes() -> None:
    assert list(Vector(Real(), 0, 0).members()) == [[]]
    assert (Vector(Real(), 0, 0).size(), Vector(Boolean(), 0, 3).size(), Vector(Boolean(), 1).size()) == (1, 15, None)
    assert (Text("ab", 2).size(), Text("a", 5).size(), Category((1,)).size()) == (7, 6, 1)
    assert Vector(Category((1,)), 2, 4).size() == 3
    assert list(Real(2, 2).members()) == [2]
    for endless in (Integer(0), Integer(None, 0), Real(0, 1), Anything(), Vector(Boolean()), Record((("a", Real()),))):
        assert endless.size() is None
        with pytest.raises(ClaimError, match="infinitely many"):
            list(endless.members())


def test_lengths() -> None:
    assert of_length(Real(), 3) == Vector(Real(), 3, 3)
    assert of_length(Vector(Real()), 3) == Vector(Real(), 3, 3)
    assert of_length(Vector(Real(), 1, 5), (2, 3)) == Vector(Real(), 2, 3)
    assert of_length(Real(), None) == Real()
    assert of_length(Real(), (0, None)) == Vector(Real())
    for length in (4, (2, 4), (2, None)):
        with pytest.raises(ClaimError, match="no lists of this length"):
            of_length(Vector(Real(), 1, 3), length)  # type: ignore[arg-type]


def test_plain_and_identity() -> None:
    assert plain([Fraction(1, 2), {"a": Fraction(2)}, (1, "x")]) == [0.5, {"a": 2}, [1, "x"]]
    assert identity(1) == identity(1.0) == identity(np.float32(1)) != identity(True)
    assert identity(math.nan) == identity(math.nan)
    assert identity(math.inf) != identity(-math.inf)
    assert identity(np.True_) == identity(True)
    assert identity([1, (2,)]) == identity([np.int64(1), [2]])
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    assert identity(None) != identity("None") != identity(b"None") != identity(object)
    assert shown(Fraction(1, 3)) == "1/3"
    assert shown("x" * 100).endswith("…")


WRONG = [
    ("", "CLAIM-005"),
    ("0,,1", "CLAIM-005"),
    ("0,x", "CLAIM-001"),
    ("0,nan", "CLAIM-002"),
    ("0,0", "CLAIM-062"),
    ("1/0,2", "CLAIM-004"),
    ("1e999,2", "CLAIM-003"),
    ('"a,1', "CLAIM-071"),
    ("integr:0,1", "CLAIM-079"),
    ("integer:0", "CLAIM-074"),
    ("integer:", "CLAIM-074"),
    ("integer:0,1,2", "CLAIM-074"),
    ("integer:1,0", "CLAIM-060"),
    ("integer:0.5,1", "CLAIM-061"),
    ("integer(0,1)", "CLAIM-079"),
    ("real:a,1", "CLAIM-001"),
    ("real:nan,1", "CLAIM-002"),
    ("real:1,0", "CLAIM-060"),
    ("boolean:1", "CLAIM-079"),
    ("any:1", "CLAIM-079"),
    ("category", "CLAIM-079"),
    ("category:", "CLAIM-072"),
    ("category:a,,b", "CLAIM-072"),
    ("category:a,a", "CLAIM-062"),
    ('category:"a', "CLAIM-071"),
    ("string:abc", "CLAIM-073"),
    ("string:abc,x", "CLAIM-073"),
    ("string:aa,2", "CLAIM-063"),
    ('string:"",2', "CLAIM-063"),
    ("string:abc,1234567", "CLAIM-073"),
    ("vector", "CLAIM-075"),
    ("vector:real", "CLAIM-075"),
    ("vector(real", "CLAIM-075"),
    ("vector()", "CLAIM-005"),
    ("vector(real; size=3)", "CLAIM-076"),
    ("vector(real; length)", "CLAIM-076"),
    ("vector(real; length=3; length=4)", "CLAIM-076"),
    ("vector(real; length=x)", "CLAIM-077"),
    ("vector(real; length=-1)", "CLAIM-077"),
    ("vector(real; length=3..1)", "CLAIM-066"),
    ("vector(reel; length=3)", "CLAIM-079"),
    ("vector(" * 3000 + "real" + ")" * 3000, "CLAIM-069"),
    ("record(boolean)", "CLAIM-078"),
    ("record()", "CLAIM-078"),
    ("record(a=boolean; a=real)", "CLAIM-067"),
    ("record(1a=boolean)", "CLAIM-067"),
    ("record(a=boolen)", "CLAIM-079"),
]


@pytest.mark.parametrize(("text", "code"), WRONG)
def test_wrong_texts(text: str, code: str) -> None:
    with pytest.raises(ClaimError) as caught:
        domain_from(text, "--domain")
    assert caught.value.code == code
    message = str(caught.value)
    assert "--domain" in message
    assert "^" in message
    assert "why:" in message
    assert "try:" in message


def test_the_caret_points_at_the_part() -> None:
    with pytest.raises(ClaimError) as caught:
        domain_from("vector(integer:0,many; length=3)", "--domain")
    assert str(caught.value).splitlines()[1:3] == [
        "  --domain vector(integer:0,many; length=3)",
        "                            ^^^^ got many",
    ]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Category(()),
        lambda: Category(([1],)),
        lambda: Category((object,)),
        lambda: Category((math.nan,)),
        lambda: Text("", 1),
        lambda: Text("a", -1),
        lambda: Text("a", 1.5),  # type: ignore[arg-type]
        lambda: Vector(Real(), -1),
        lambda: Vector(Real(), 2, 1),
        lambda: Vector(Real(), 1.0),  # type: ignore[arg-type]
        lambda: Record(()),
        lambda: Real("x"),  # type: ignore[arg-type]
        lambda: Real(True),
        lambda: domain_from(3),
        lambda: domain_from(None),
    ],
)
def test_wrong_values(made: Any) -> None:
    with pytest.raises(ClaimError, match=r"not|has|finite|lists|takes"):
        made()
