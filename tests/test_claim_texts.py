"""Claims as they are written: command line, Python, TOML; and what is said when they are wrong."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim import (
    AnyPair,
    Approximate,
    Claim,
    EpsilonRange,
    Gaussian,
    Guarantee,
    Integer,
    MaxNorm,
    Proportional,
    Pure,
    Real,
    Renyi,
    Substitute,
    Vector,
    ZeroConcentrated,
    from_arguments,
    from_options,
    from_toml,
)
from dpverdict.claim.domain_text import domain_from
from dpverdict.claim.exact_numbers import exact, json_of, number, reading, text_of
from dpverdict.claim.guarantee_text import guarantee
from dpverdict.claim.neighbour_text import neighbourhood
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError

NUMBERS = st.one_of(
    st.fractions(min_value=0, max_value=100, max_denominator=10**4),
    st.floats(0, 1e6, allow_nan=False).map(lambda value: Fraction(str(value))),
)
PROBABILITIES = st.fractions(min_value=0, max_value=1, max_denominator=10**6)
GUARANTEES: st.SearchStrategy[Guarantee] = st.one_of(
    st.builds(Pure, NUMBERS),
    st.builds(Approximate, NUMBERS, PROBABILITIES),
    st.builds(ZeroConcentrated, NUMBERS),
    st.builds(Renyi, NUMBERS.map(lambda value: value + Fraction(3, 2)), NUMBERS),
    st.builds(Gaussian, NUMBERS),
)


@given(GUARANTEES)
@settings(max_examples=150, deadline=None)
def test_guarantee_round_trip(promise: Guarantee) -> None:
    assert guarantee(promise.text) == promise
    written = json.loads(json.dumps(promise.to_json()))
    assert guarantee(written["text"]) == promise
    assert written["guarantee"] == promise.kind


@given(st.fractions())
@settings(max_examples=150, deadline=None)
def test_number_round_trip(value: Fraction) -> None:
    assert number(Written.of("", text_of(value))) == value
    assert Fraction(str(json_of(value))) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/8", Fraction(1, 8)), ("0.1", Fraction(1, 10)), ("1e-5", Fraction(1, 10**5)), ("+2", Fraction(2)),
     (".5", Fraction(1, 2)), ("1E2", Fraction(100)), ("3.", Fraction(3)), ("-1/2", Fraction(-1, 2))],
)  # fmt: skip
def test_numbers_are_exact(text: str, value: Fraction) -> None:
    assert number(Written.of("", text)) == value


def test_python_numbers() -> None:
    for value in (0.1, Decimal("0.1"), "0.1", "1/10", np.float64(0.1), Fraction(1, 10)):
        assert exact(value, "epsilon=") == Fraction(1, 10)
    assert exact(np.int64(3), "epsilon=") == 3
    assert text_of(Fraction(10**30)) == "1e30"
    assert text_of(Fraction(10**400 + 1)) == str(10**400 + 1)
    assert text_of(Fraction(10**400, 3)) == f"{10**400}/3"
    assert reading(np.float64(0.1)) == Fraction(1, 10)
    assert reading("x") is reading(math.nan) is reading(np.array([1])) is None


def test_texts_of_the_design() -> None:
    assert guarantee("pure:1") == Pure(1)
    assert guarantee("approximate:1,1e-5") == Approximate(1, Fraction(1, 10**5))
    assert guarantee(" ZCDP : 1/8 ") == ZeroConcentrated(Fraction(1, 8))
    assert guarantee("renyi:2,1") == Renyi(2, 1)
    assert guarantee("gaussian:0.5").to_json() == {"guarantee": "gaussian", "mu": 0.5, "text": "gaussian:0.5"}
    assert Pure(Fraction(1, 10)).to_json() == {"guarantee": "pure", "epsilon": 0.1, "delta": 0, "text": "pure:0.1"}
    assert Approximate(1, Fraction(1, 3)).parameters() == {"epsilon": 1, "delta": "1/3"}
    assert Renyi(2, 1).to_json() == {"guarantee": "renyi", "alpha": 2, "epsilon": 1, "text": "renyi:2,1"}
    assert ZeroConcentrated(Fraction(1, 3)).to_json() == {"guarantee": "zcdp", "rho": "1/3", "text": "zcdp:1/3"}


# --- whole claims ------------------------------------------------------------------------------------------------


def test_defaults() -> None:
    claim = from_arguments()
    assert claim == Claim(Proportional(), MaxNorm())
    assert claim.guarantee_at(Fraction(1, 2)) == Pure(Fraction(1, 2))
    assert claim.to_json() == {"guarantee": "pure", "epsilon": None, "delta": 0, "factor": "1"}
    assert claim.scope_to_json() == {
        "domain": "any",
        "length": None,
        "adjacency": "linf:1",
        "epsilon_range": ["0", "inf"],
    }


def test_the_short_form() -> None:
    claim = from_arguments(epsilon=0.1)
    assert claim.guarantee_at() == Pure(Fraction(1, 10))
    assert claim.to_json() == {"guarantee": "pure", "epsilon": 0.1, "delta": 0, "factor": "1"}
    wider = from_arguments(epsilon="1/4", delta=1e-5, factor=2, domain=[-1, 0, 1], length=3, adjacency="linf")
    assert wider.guarantee_at() == Approximate(Fraction(1, 2), Fraction(1, 10**5))
    assert wider.to_json() == {"guarantee": "approximate", "epsilon": 0.25, "delta": 1e-5, "factor": "2"}
    assert wider.scope_to_json() == {
        "domain": ["-1", "0", "1"],
        "length": 3,
        "adjacency": "linf:1",
        "epsilon_range": ["0.25", "0.25"],
    }
    assert len(list(wider.pairs())) == 7**3 - 3**3
    assert wider.patterns()


def test_usual_neighbourhoods() -> None:
    usual = {
        "real": MaxNorm(),
        "vector(boolean; length=2)": MaxNorm(),
        "vector(category:a,b)": Substitute(),
        "vector(record(a=boolean))": Substitute(),
        "category:a,b": AnyPair(),
        "string:ab,3": AnyPair(),
    }
    for domain, expected in usual.items():
        assert from_arguments(domain=domain).neighbourhood == expected
    with pytest.raises(ClaimError, match="which records are neighbours"):
        from_arguments(domain="record(a=boolean)")
    assert from_arguments(domain="record(a=boolean)", adjacency="any").neighbourhood == AnyPair()


def test_ranges_of_epsilon() -> None:
    assert from_arguments(claim="pure:2").epsilon_range == EpsilonRange.one(Fraction(2))
    assert from_arguments(claim="pure:0").epsilon_range == EpsilonRange()
    assert from_arguments(claim="gaussian:1").epsilon_range == EpsilonRange()
    some = from_arguments(epsilon_range="0.1,2").epsilon_range
    assert some == EpsilonRange(Fraction(1, 10), Fraction(2)) == from_arguments(epsilon_range=[0.1, 2]).epsilon_range
    assert from_arguments(epsilon_range=some).epsilon_range is some
    assert from_arguments(epsilon_range=1).epsilon_range.only == 1
    assert from_arguments(epsilon_range="1,inf").epsilon_range == EpsilonRange(Fraction(1))
    assert [Fraction(value) in some for value in ("0.05", "0.1", "1", "2", "2.1")] == [False, True, True, True, False]
    assert 0 not in EpsilonRange()
    assert 10**9 in EpsilonRange()
    assert "1" not in EpsilonRange()


def test_questions_to_a_claim() -> None:
    claim = from_arguments(epsilon=1, domain="integer:0,5", length=2)
    assert claim.contradicts(0.5, 0.1)
    assert not claim.contradicts(0.2, 0.1)
    # The neighbourhood is symmetric, so the complement counts the other way round.
    assert claim.contradicts(0.99, 0.9)
    assert claim.contradicts_distributions([Fraction(99, 100), Fraction(1, 100)], [Fraction(9, 10), Fraction(1, 10)])
    one_way = from_arguments(epsilon=1, adjacency=[[[0], [1]]])
    assert not one_way.contradicts(0.99, 0.9)
    assert claim.why_not_about([0, 1], [1, 0]) is None
    assert claim.why_not_about([0, 1], [1, 6]) == "outside the domain: [1]: 6 is above 5"
    assert "no coordinate" in str(claim.why_not_about([0, 1], [0, 5]))
    every = from_arguments(factor="3/4")
    assert every.guarantee_at(Fraction(2)) == Pure(Fraction(3, 2))
    assert every.contradicts(0.5, 0.1, Fraction(1, 2))
    with pytest.raises(ClaimError, match="a different one for each"):
        every.guarantee_at()
    fixed = from_arguments(claim="gaussian:1")
    assert fixed.guarantee_at(Fraction(7)) == fixed.guarantee_at() == Gaussian(1)
    assert fixed.to_json() == {"guarantee": "gaussian", "mu": 1, "text": "gaussian:1", "factor": "1"}


OPTIONS: list[dict[str, Any]] = [
    {},
    {"claim": "zcdp:1/8", "adjacency": "add-remove:2,unordered", "domain": "vector(category:a,b)"},
    {"claim": "pure:1", "epsilon_range": "1,2"},
    {"epsilon": "1/3", "delta": "1e-5", "domain": "integer:-1,1", "length": "0..3", "adjacency": "l1:2"},
    {"epsilon_range": "0.1,5", "factor": "3/2"},
]


@pytest.mark.parametrize("given_options", OPTIONS)
def test_one_parser_for_all(given_options: dict[str, Any], tmp_path: Path) -> None:
    claim = from_arguments(**given_options)
    assert from_options({"delta": None, **given_options}) == claim
    file = tmp_path / "claim.toml"
    file.write_text("".join(f'{name.replace("_", "-")} = "{value}"\n' for name, value in given_options.items()))
    assert from_toml(str(file)) == claim
    assert from_arguments(**claim.arguments()) == claim


def test_toml_values(tmp_path: Path) -> None:
    file = tmp_path / "claim.toml"
    file.write_text('epsilon = 0.1\ndelta = 1e-5\ndomain = [-1, 0, 0.5]\nlength = 3\nadjacency = "l1"\n')
    claim = from_toml(str(file))
    assert claim.guarantee_at() == Approximate(Fraction(1, 10), Fraction(1, 10**5))
    assert claim.domain.text == "vector(-1,0,0.5; length=3)"
    file.write_text("epsilon-range = [0.1, 2]\n")
    assert from_toml(str(file)).epsilon_range == EpsilonRange(Fraction(1, 10), Fraction(2))
    file.write_text("[claim]\nprofile = [[0, 0.5], [1, 0]]\n")
    assert from_toml(str(file)).contradicts(0.9, 0.1)


def test_python_values() -> None:
    claim = Claim(Pure(0.5), Substitute(2), Vector(Integer(0, 1), 3, 3))  # type: ignore[arg-type]
    same = from_arguments(claim="pure:1/2", adjacency="substitute:2", domain="vector(integer:0,1)", length=3)
    assert (claim.guarantee, claim.neighbourhood, claim.domain) == (same.guarantee, same.neighbourhood, same.domain)
    assert hash(claim) == hash(Claim(Pure(0.5), Substitute(2), Vector(Integer(0, 1), 3, 3)))  # type: ignore[arg-type]
    assert from_arguments(claim=Gaussian(1), domain=Real(0, 1), adjacency=MaxNorm(2)).neighbourhood == MaxNorm(2)


# --- what is refused ---------------------------------------------------------------------------------------------

WRONG_CLAIMS = [
    ("", "CLAIM-040", "missing"),
    ("pur:1", "CLAIM-040", "try: --claim pure:1"),
    ("1", "CLAIM-040", "got 1"),
    ("rényi:2,1", "CLAIM-040", "renyi:2,1"),
    ("curv:x", "CLAIM-040", "curve:profile.csv"),
    ("pure", "CLAIM-041", "pure:E"),
    ("pure:", "CLAIM-041", "got 0"),
    ("pure:1,2", "CLAIM-041", "got 2"),
    ("pure:one", "CLAIM-001", "got one"),
    ("pure:0x1", "CLAIM-001", "0x1"),
    ("pure:1_0", "CLAIM-001", "1_0"),
    ("pure:١", "CLAIM-001", "got"),
    ("pure:nan", "CLAIM-002", "got nan"),
    ("pure:inf", "CLAIM-002", "got inf"),
    ("pure:1e999", "CLAIM-003", "1e999"),
    (f"pure:{'1' * 400}", "CLAIM-003", "too long"),
    (f"pure:{'1' * 400}/3", "CLAIM-003", "too long"),
    (f"pure:{'1' * 1500}", "CLAIM-003", "1000 digits"),
    ("pure:1/0", "CLAIM-004", "1/0"),
    ("pure:1e999999999999", "CLAIM-003", "too long"),
    ("pure:-1", "CLAIM-010", "try: --claim pure:1"),
    ("approximate:1", "CLAIM-041", "E,D"),
    ("approximate:1,", "CLAIM-005", "nothing here"),
    ("approximate:-1,0", "CLAIM-010", "got -1"),
    ("approximate:1,2", "CLAIM-011", "from 0 to 1"),
    ("approximate:1,-0.1", "CLAIM-011", "got -0.1"),
    ("approximate:1,1e-5,3", "CLAIM-041", "got 3"),
    ("zcdp:-1/8", "CLAIM-015", "got -1/8"),
    ("zcdp:", "CLAIM-041", "RHO"),
    ("renyi:1,1", "CLAIM-014", "above 1"),
    ("renyi:0.5,1", "CLAIM-014", "got 0.5"),
    ("renyi:inf,1", "CLAIM-002", "got inf"),
    ("renyi:2", "CLAIM-041", "ALPHA,E"),
    ("renyi:2,-1", "CLAIM-010", "got -1"),
    ("gaussian:-0.5", "CLAIM-016", "got -0.5"),
    ("gaussian:mu", "CLAIM-001", "got mu"),
]


@pytest.mark.parametrize(("text", "code", "shows"), WRONG_CLAIMS)
def test_wrong_claims(text: str, code: str, shows: str) -> None:
    with pytest.raises(ClaimError) as caught:
        from_options({"claim": text})
    message = str(caught.value)
    assert caught.value.code == code
    assert shows in message
    assert "--claim" in message
    assert "^" in message
    assert "why:" in message
    assert "try:" in message
    assert max(map(len, message.splitlines())) < 200


WRONG_ARGUMENTS: list[tuple[dict[str, Any], str, str]] = [
    ({"epsilon": "-0.5"}, "CLAIM-010", "epsilon=-0.5"),
    ({"epsilon": 0}, "CLAIM-094", "pure:0"),
    ({"epsilon": math.nan}, "CLAIM-002", "nan"),
    ({"epsilon": math.inf}, "CLAIM-002", "inf"),
    ({"epsilon": Decimal("NaN")}, "CLAIM-002", "NaN"),
    ({"epsilon": True}, "CLAIM-006", "a bool"),
    ({"epsilon": 10**301}, "CLAIM-003", "at most 1e300"),
    ({"epsilon": Fraction(1, 10**5000)}, "CLAIM-003", "the given number"),
    ({"epsilon": 1e305}, "CLAIM-003", "got 1e+305"),
    ({"epsilon": [1]}, "CLAIM-006", "a list"),
    ({"epsilon": np.array([1, 2])}, "CLAIM-006", "a ndarray"),
    ({"epsilon": 1, "delta": 2}, "CLAIM-011", "delta=2"),
    ({"epsilon": 1, "delta": -1e-5}, "CLAIM-011", "-1e-5"),
    ({"epsilon": 1, "factor": 0}, "CLAIM-081", "above 0"),
    ({"epsilon": 1, "factor": "x"}, "CLAIM-001", "got x"),
    ({"epsilon": 1, "epsilon_range": "0,1"}, "CLAIM-093", "twice"),
    ({"epsilon_range": "0,1,2"}, "CLAIM-095", "two ends"),
    ({"epsilon_range": "2,1"}, "CLAIM-080", "2,1"),
    ({"epsilon_range": "0,0"}, "CLAIM-080", "got 0,0"),
    ({"epsilon_range": "-1,1"}, "CLAIM-080", "got -1,1"),
    ({"epsilon_range": "inf"}, "CLAIM-002", "got inf"),
    ({"epsilon_range": "a,b"}, "CLAIM-001", "got a"),
    ({"claim": "pure:1", "epsilon": 1}, "CLAIM-092", "do not go together"),
    ({"claim": "pure:1", "delta": 0.1}, "CLAIM-092", "delta"),
    ({"claim": "pure:1", "factor": 2}, "CLAIM-092", "factor"),
    ({"claim": 1}, "CLAIM-027", "a int"),
    ({"claim": ["pure:1"]}, "CLAIM-027", "a list"),
    ({"claim": {"profile": [[0, 2]]}}, "CLAIM-011", "got 2"),
    ({"claim": {"curve": [[0, 2]]}}, "CLAIM-027", "a dict"),
    ({"epsilom": 1}, "CLAIM-091", "try: epsilon="),
    ({"xyz": 1}, "CLAIM-091", "try: claim="),
    ({"length": "x"}, "CLAIM-077", "got x"),
    ({"length": -1}, "CLAIM-077", "got -1"),
    ({"length": 1.5}, "CLAIM-077", "a float"),
    ({"length": True}, "CLAIM-077", "a bool"),
    ({"length": "3..1"}, "CLAIM-066", "3..1"),
    ({"length": 4, "domain": "vector(real; length=3)"}, "CLAIM-068", "length=3"),
    ({"domain": "category:a,b", "adjacency": "linf"}, "CLAIM-082", "distance of numbers"),
    ({"domain": "vector(category:a,b)", "adjacency": "l2"}, "CLAIM-082", "distance of numbers"),
    ({"domain": "record(a=category:x; b=string:a,2)", "adjacency": "l1"}, "CLAIM-082", "distance of numbers"),
    ({"domain": "real:0,1", "adjacency": "substitute"}, "CLAIM-082", "lists"),
    ({"domain": "record(a=boolean)", "adjacency": "add-remove"}, "CLAIM-082", "about lists"),
    ({"domain": "real", "length": 3, "adjacency": "add-remove"}, "CLAIM-082", "one length"),
    ({"adjacency": "linf:-1"}, "CLAIM-050", "got -1"),
    ({"adjacency": 5}, "CLAIM-056", "got 5"),
    ({"domain": 5}, "CLAIM-070", "a int"),
]


@pytest.mark.parametrize(("arguments", "code", "shows"), WRONG_ARGUMENTS)
def test_wrong_arguments(arguments: dict[str, Any], code: str, shows: str) -> None:
    with pytest.raises(ClaimError) as caught:
        from_arguments(**arguments)
    message = str(caught.value)
    assert caught.value.code == code
    assert shows in message
    assert "why:" in message
    assert "try:" in message


def test_the_table_is_large_enough() -> None:
    assert len(WRONG_CLAIMS) + len(WRONG_ARGUMENTS) >= 60


@pytest.mark.parametrize(
    ("content", "code", "shows"),
    [
        (None, "CLAIM-090", "no such file"),
        ("epsilon = = 1", "CLAIM-090", "TOMLDecodeError"),
        ("epsilon = -1", "CLAIM-010", "epsilon =-1"),
        ("epsilon = nan", "CLAIM-002", "claim.toml"),
        ('claim = "pure:x"', "CLAIM-001", "claim.toml"),
        ("colour = 1", "CLAIM-091", "claim.toml"),
    ],
)
def test_wrong_files(content: str | None, code: str, shows: str, tmp_path: Path) -> None:
    file = tmp_path / "claim.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ClaimError) as caught:
        from_toml(str(file))
    assert caught.value.code == code
    assert shows in str(caught.value)


def test_a_caret_under_the_part_that_is_wrong() -> None:
    with pytest.raises(ClaimError) as caught:
        from_options({"claim": "approximate:1,1.5"})
    assert str(caught.value).splitlines() == [
        "ClaimError[CLAIM-011]: delta must be from 0 to 1",
        "  --claim approximate:1,1.5",
        "                        ^^^ got 1.5",
        "  why: δ bounds a difference of probabilities; it is meant to be tiny",
        "  try: --claim approximate:1,1e-5",
    ]


def test_long_texts_are_cut_down() -> None:
    with pytest.raises(ClaimError) as caught:
        from_options({"domain": ",".join(map(str, range(200))) + ",x," + ",".join(map(str, range(200, 300)))})
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("  --domain …")
    assert lines[1].endswith("…")
    start = lines[2].index("^")
    assert lines[1][start] == "x"
    with pytest.raises(ClaimError) as caught:
        from_options({"claim": "\x1b[31m" + "z" * 300})
    assert "\x1b" not in str(caught.value)


GRAMMAR = (
    "vector( record( real integer boolean category string any true null inf nan length= pure approximate zcdp renyi "
    'gaussian curve linf l1 substitute add-remove unordered pairs module .csv .py : , ; = .. 3 -1 1/2 0.1 1e5 e " \\ a '
    ") ( / ٣ ²"
)
PIECES = st.lists(st.sampled_from([*GRAMMAR.split(" "), " ", "\n", "\x00"]), max_size=8).map("".join)


@given(PIECES, st.sampled_from([guarantee, neighbourhood, domain_from]))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text: str, reader: Any) -> None:
    refused = None
    try:
        made = reader(text)
    except ClaimError as error:
        refused = error
    if refused is None:
        assert reader(made.text) == made
    else:
        assert refused.why
        assert refused.fix
        assert "\x00" not in str(refused)
