"""Guarantees that are whole curves: points, functions, files, privacy loss distributions."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim import (
    Approximate,
    Gaussian,
    ProfileFunction,
    ProfilePoints,
    Pure,
    TradeOffFunction,
    TradeOffPoints,
)
from dpverdict.claim.guarantee_text import guarantee
from dpverdict.errors import ClaimError

RATES = st.fractions(min_value=0, max_value=1, max_denominator=10**4)
EPSILONS = st.fractions(min_value=Fraction(1, 100), max_value=4, max_denominator=100)
QUICK = settings(max_examples=80, deadline=None)

GAUSSIAN = Gaussian(Fraction(1, 2))


def gaussian_profile(epsilon: float) -> float:
    return GAUSSIAN.profile(epsilon)


def gaussian_trade_off(alpha: float) -> float:
    return GAUSSIAN.trade_off(alpha)


class LossDistribution:
    """What dp_accounting's PrivacyLossDistribution offers."""

    def get_delta_for_epsilon(self, epsilon: float) -> float:
        return gaussian_profile(epsilon)


@given(RATES, RATES, EPSILONS)
@QUICK
def test_the_profile_of_pure_is_pure(p: Fraction, q: Fraction, epsilon: Fraction) -> None:
    points = ProfilePoints(((epsilon, Fraction(0)),))
    assert points.contradicts(p, q) == Pure(epsilon).contradicts(p, q)
    assert points.delta_at(epsilon) == 0
    assert points.tangent(0.1) == Approximate(epsilon, Fraction(0))


@given(RATES, RATES)
@QUICK
def test_a_profile_claims_each_of_its_points(p: Fraction, q: Fraction) -> None:
    points = ((Fraction(0), Fraction(1, 2)), (Fraction(1), Fraction(1, 10)), (Fraction(2), Fraction(0)))
    each = any(Approximate(*point).contradicts(p, q) for point in points)
    assert ProfilePoints(points).contradicts(p, q) == each


@given(RATES, RATES)
@QUICK
def test_trade_off_points_are_exact(p: Fraction, q: Fraction) -> None:
    # f(x) = max(1 - 2x, (1 - x)/2): like ln(2)-DP in both directions.
    claim = TradeOffPoints(((0, 1), (Fraction(1, 3), Fraction(1, 3)), (1, 0)))  # type: ignore[arg-type]
    assert claim.contradicts(p, q) == (1 - p < max(1 - 2 * q, (1 - q) / 2))
    assert claim.largest(float(q)) == pytest.approx(float(1 - max(1 - 2 * q, (1 - q) / 2)))


def test_a_profile_for_display() -> None:
    claim = ProfilePoints(((0, Fraction(1, 2)), (1, 0)))  # type: ignore[arg-type]
    assert claim.largest(0.1) == pytest.approx(0.1 * math.e)
    assert claim.largest(0.4) == pytest.approx(0.9)
    assert claim.tangent(0.4) == Approximate(Fraction(0), Fraction(1, 2))
    assert claim.delta_at(Fraction(0)) == Fraction(1, 2)


def test_delta_of_trade_off_points() -> None:
    claim = TradeOffPoints(((0, 1), (Fraction(1, 3), Fraction(1, 3)), (1, 0)))  # type: ignore[arg-type]
    assert float(claim.delta_at(Fraction(0))) == pytest.approx(1 / 3)
    assert claim.delta_at(Fraction(1)) == 0
    tangent = claim.tangent(0.2)
    assert float(tangent.largest(0.2)) == pytest.approx(0.4, abs=1e-6)


@given(st.floats(1e-5, 0.999))
@settings(max_examples=10, deadline=None)
def test_functions_of_a_gaussian_are_the_gaussian(q: float) -> None:
    edge = GAUSSIAN.largest(q)
    for claim in (ProfileFunction(gaussian_profile, "p"), TradeOffFunction(gaussian_trade_off, "t")):
        assert not claim.contradicts(edge - 1e-6, q)
        assert claim.contradicts(edge + 1e-5 * (1 - edge), q, both_ways=True) or edge > 1 - 1e-4
        assert claim.largest(q) == pytest.approx(edge, abs=1e-4) or q > 0.3
        implied = claim.tangent(q)
        assert implied.largest(q) >= edge - 1e-9
        for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2)):
            assert claim.delta_at(epsilon) >= GAUSSIAN.delta_at(epsilon) - Fraction(1, 10**12)


def test_functions_at_their_ends() -> None:
    profile, trade_off = ProfileFunction(gaussian_profile, "p"), TradeOffFunction(gaussian_trade_off, "t")
    for claim in (profile, trade_off):
        assert claim.contradicts(Fraction(1, 3), 0)
        assert not claim.contradicts(Fraction(1, 3), Fraction(1, 3))
        assert not claim.contradicts(1, 1)
    # Arguments between two floats are rounded to the sound side.
    assert trade_off.contradicts(Fraction(9, 10), Fraction(1, 10))
    assert trade_off.contradicts(Fraction(9, 10), Fraction(1, 3))
    assert profile.delta_at(Fraction(1, 10)) >= 0
    assert profile.profile(1.0) == gaussian_profile(1.0)


# --- where curves come from ------------------------------------------------------------------------------------------


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("profile.csv").write_text("epsilon, delta\n0, 1/2\n\n1,1e-1\n2,0\n")
    Path("errors.csv").write_text("alpha,beta\n0,1\n1/3,1/3\n1,0\n")
    profile, errors = guarantee("curve:profile.csv"), guarantee("curve:errors.csv")
    assert profile == ProfilePoints(((0, Fraction(1, 2)), (1, Fraction(1, 10)), (2, 0)), "profile.csv")  # type: ignore[arg-type]
    assert isinstance(errors, TradeOffPoints)
    assert guarantee(profile.text) == profile
    assert profile.to_json() == {
        "guarantee": "curve",
        "profile": [[0, 0.5], [1, 0.1], [2, 0]],
        "text": "curve:profile.csv",
    }
    assert errors.to_json()["trade-off"] == [[0, 1], ["1/3", "1/3"], [1, 0]]


SOURCE = """
def delta(epsilon): return max(0.0, 0.5 - epsilon)
def errors(alpha): return max(1 - 2 * alpha, (1 - alpha) / 2)
def unclear(x): return 0.0
class Loss:
    def get_delta_for_epsilon(self, epsilon): return delta(epsilon)
loss = Loss()
number = 3
builtin = max
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("claimed_curves.py").write_text(SOURCE)
    Path("broken_curves.py").write_text("1 / 0\n")
    Path("not_python.txt").write_text("")
    return "claimed_curves.py"


def test_modules(module: str) -> None:
    assert isinstance(guarantee(f"curve:{module}:delta"), ProfileFunction)
    assert isinstance(guarantee(f"curve:{module}:errors"), TradeOffFunction)
    loss = guarantee("curve:claimed_curves:loss")
    assert isinstance(loss, ProfileFunction)
    assert loss.delta_at(Fraction(1, 4)) == Fraction(1, 4)
    assert guarantee(loss.text).text == loss.text
    assert loss.to_json() == {"guarantee": "curve", "text": "curve:claimed_curves:loss"}


def test_python_values() -> None:
    assert guarantee(LossDistribution()).contradicts(0.9, 0.1)
    assert guarantee(gaussian_profile).text == f"curve:{__name__}:gaussian_profile"
    assert guarantee(GAUSSIAN) is GAUSSIAN
    claim = guarantee({"profile": [[0, "1/2"], [1, 0.1]]})
    assert claim == ProfilePoints(((0, "1/2"), (1, 0.1)))  # type: ignore[arg-type]
    assert guarantee({"trade-off": [[0, 1], [1, 0]]}).contradicts(0.5, 0.25)
    assert guarantee(claim.to_json() and {"profile": claim.to_json()["profile"]}) == claim


def test_a_guarantee_in_a_module(module: str) -> None:
    Path("more_curves.py").write_text(
        "from dpverdict.claim import Gaussian, ProfilePoints\np = ProfilePoints(((1, 0),))\ng = Gaussian(1)\n"
    )
    found = guarantee("curve:more_curves.py:p")
    assert found == ProfilePoints(((1, 0),), "more_curves.py:p")  # type: ignore[arg-type]
    assert guarantee(found.text) == found
    assert guarantee("curve:more_curves.py:g") == Gaussian(Fraction(1))


@pytest.mark.parametrize(
    ("text", "code", "shows"),
    [
        ("curve:", "CLAIM-023", "nothing here"),
        ("curve:missing.csv", "CLAIM-024", "no such file"),
        ("curve:.", "CLAIM-024", "cannot be read"),
        ("curve:empty.csv", "CLAIM-025", "empty"),
        ("curve:columns.csv", "CLAIM-025", "x,y"),
        ("curve:row.csv", "CLAIM-026", "line 3"),
        ("curve:word.csv", "CLAIM-001", "many"),
        ("curve:nan.csv", "CLAIM-002", "nan"),
        ("curve:nothing.csv", "CLAIM-020", "list of points"),
        ("curve:negative.csv", "CLAIM-010", "-1"),
        ("curve:delta.csv", "CLAIM-011", "1.5"),
        ("curve:order.csv", "CLAIM-021", "rising order"),
        ("curve:rises.csv", "CLAIM-021", "weaker promise"),
        ("curve:start.csv", "CLAIM-021", "from alpha 0"),
        ("curve:end.csv", "CLAIM-021", "to alpha 1"),
        ("curve:above.csv", "CLAIM-021", "guessing"),
        ("curve:below.csv", "CLAIM-021", "guessing"),
        ("curve:back.csv", "CLAIM-021", "rising order"),
        ("curve:up.csv", "CLAIM-021", "never rises"),
        ("curve:concave.csv", "CLAIM-021", "convex"),
        ("curve:claimed_curves.py:absent", "CLAIM-033", "absent"),
        ("curve:claimed_curves.py:", "CLAIM-030", "nothing here"),
        ("curve::delta", "CLAIM-030", "nothing here"),
        ("curve:absent.py:delta", "CLAIM-031", "absent.py"),
        ("curve:no such:delta", "CLAIM-032", "neither"),
        ("curve:no_such_module:delta", "CLAIM-032", "no_such_module"),
        ("curve:broken_curves.py:delta", "CLAIM-034", "ZeroDivisionError"),
        ("curve:./not_python.txt:delta", "CLAIM-034", "not end in .py"),
        ("curve:claimed_curves:unclear", "CLAIM-027", "argument"),
        ("curve:claimed_curves:number", "CLAIM-027", "a int"),
        ("curve:claimed_curves:builtin", "CLAIM-027", "argument"),
        ("curve:claimed_curves:Loss", "CLAIM-022", "failed"),
    ],
)
def test_wrong_curves(module: str, text: str, code: str, shows: str) -> None:
    files = {
        "empty": "",
        "columns": "x,y\n1,2\n",
        "row": "epsilon,delta\n0,1\n1\n",
        "word": "epsilon,delta\n0,many\n",
        "nan": "epsilon,delta\n0,nan\n",
        "nothing": "epsilon,delta\n",
        "negative": "epsilon,delta\n-1,0.5\n",
        "delta": "epsilon,delta\n0,1.5\n",
        "order": "epsilon,delta\n1,0.5\n0,0.1\n",
        "rises": "epsilon,delta\n0,0.1\n1,0.5\n",
        "start": "alpha,beta\n0.1,0.5\n1,0\n",
        "end": "alpha,beta\n0,1\n0.5,0\n",
        "above": "alpha,beta\n0,1\n0.5,0.6\n1,0\n",
        "below": "alpha,beta\n0,1\n0.5,-0.1\n1,0\n",
        "back": "alpha,beta\n0,1\n0.5,0.1\n0.4,0.1\n1,0\n",
        "up": "alpha,beta\n0,0.1\n0.5,0.2\n1,0\n",
        "concave": "alpha,beta\n0,0.5\n0.5,0.4\n1,0\n",
    }
    for name, content in files.items():
        Path(f"{name}.csv").write_text(content)
    with pytest.raises(ClaimError) as caught:
        guarantee(text, "--claim")
    message = str(caught.value)
    assert caught.value.code == code
    assert shows in message
    assert "why:" in message
    assert "try:" in message


def rises(epsilon: float) -> float:
    return min(1.0, epsilon / 10)


def fails(epsilon: float) -> float:
    raise RuntimeError("not today")


def too_large(epsilon: float) -> float:
    return 2.0


def no_number(epsilon: float) -> Any:
    return "half"


def undefined(epsilon: float) -> float:
    return math.nan


def above_guessing(alpha: float) -> float:
    return 1.0


def trade_off_rises(alpha: float) -> float:
    return alpha / 10 if alpha < 0.5 else 0.0


def concave(alpha: float) -> float:
    return min(0.5, (1 - alpha) * 0.75)


@pytest.mark.parametrize(
    ("function", "shows"),
    [
        (rises, "never rises"),
        (fails, "RuntimeError: not today"),
        (too_large, "2.0"),
        (no_number, "ValueError"),
        (undefined, "nan"),
        (above_guessing, "guessing"),
        (trade_off_rises, "never rises"),
        (concave, "convex"),
    ],
)
def test_wrong_functions(function: Any, shows: str) -> None:
    with pytest.raises(ClaimError) as caught:
        guarantee(function)
    assert caught.value.code == "CLAIM-022"
    assert shows in str(caught.value)


@pytest.mark.parametrize("points", [(), 3, ((1,),), ((1, 2, 3),), [[]], (5,)])
def test_wrong_points(points: Any) -> None:
    with pytest.raises(ClaimError) as caught:
        ProfilePoints(points)
    assert caught.value.code == "CLAIM-020"
