"""The front of the noise source: what it returns, and what it refuses."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpverdict.execute import seeds
from dpverdict.mechanism import noise as front
from dpverdict.mechanism.noise import Noise, RealNoise

NAN, INF = math.nan, math.inf


def real_noise() -> RealNoise:
    return RealNoise(seeds.generator(5, "test_noise", 0))


PLACED = ("laplace", "exponential", "normal", "gumbel", "discrete_laplace", "discrete_gaussian")
WHOLE = ("discrete_laplace", "discrete_gaussian")
RANGED = ("truncated_discrete_laplace", "truncated_geometric")

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    *((name, {"scale": scale}, f"scale .*, got {scale}") for name in PLACED for scale in (0, -1, NAN, INF, -INF)),
    *((name, {"loc": loc}, f"loc .*, got {loc}") for name in PLACED for loc in (NAN, INF, -INF)),
    *((name, {"loc": loc}, f"loc must be a whole number .*, got {loc}") for name in WHOLE for loc in (0.5, 2**63)),
    *((name, {"scale": 1e13}, "at most 2 \\*\\* 40, got 10000000000000.0") for name in WHOLE),
    *((name, {"low": 3, "high": 2}, "low must be at most high, .* got low=3 and high=2") for name in RANGED),
    *((name, {"low": 0.5, "high": 2}, "low must be a whole number .*, got 0.5") for name in RANGED),
    *((name, {"low": 0, "high": INF}, "high must be a whole number .*, got inf") for name in RANGED),
    *((name, {"low": 0, "high": 2, "scale": 0}, "scale .*, got 0") for name in RANGED),
    *((name, {"low": 0, "high": 2, "loc": NAN}, "loc .*, got nan") for name in RANGED),
    ("uniform", {"low": 1, "high": 0}, "low must be at most high, .* got low=1 and high=0"),
    ("uniform", {"low": NAN}, "low must be a finite number, got nan"),
    ("uniform", {"high": INF}, "high must be a finite number, got inf"),
    ("uniform", {"low": -1e308, "high": 1e308}, "high - low finite, got low=-1e\\+308"),
    ("laplace", {"loc": [0, NAN]}, "loc must be a finite number, got nan"),
    ("laplace", {"scale": np.array([1.0, 0.0])}, "scale must be a finite number above 0, got 0.0"),
    ("laplace", {"scale": 10**400}, "scale must be a finite number above 0, got 1000"),
    ("laplace", {"size": -1}, "size must be None or whole numbers, at least 0, got -1"),
    ("laplace", {"size": 2.0}, "size must be None or whole numbers, at least 0, got 2.0"),
    ("exponential", {"size": True}, "size must be None or whole numbers, at least 0, got True"),
    ("exponential", {"loc": [1, 2, 3], "size": 2}, "shape"),
    ("exponential", {"loc": [1, 2, 3], "size": 1}, "size must fit the parameters, got size=1"),
    ("bernoulli", {"p": -0.1}, "p must lie from 0 to 1, got -0.1"),
    ("bernoulli", {"p": 1.1}, "p must lie from 0 to 1, got 1.1"),
    ("bernoulli", {"p": NAN}, "p must lie from 0 to 1, got nan"),
    ("choice", {"a": []}, "there must be at least one option, got \\[\\]"),
    ("choice", {"a": 0}, "there must be at least one option, got 0"),
    ("choice", {"a": "abc"}, "the options must be a list, or a number n for range\\(n\\), got 'abc'"),
    ("choice", {"a": True}, "the options must be a list, .* got True"),
    ("choice", {"a": [[1, 2], [3]]}, "every option must be a number, string, boolean or None, got \\[1, 2\\]"),
    ("choice", {"a": 2, "replace": False}, "got replace=False: leave replace out"),
    ("choice", {"a": 2, "p": [1.0]}, "p must have one probability for each of the 2 options, got 1"),
    ("choice", {"a": 2, "p": [1.5, -0.5]}, "p must not have a negative probability, got -0.5"),
    ("choice", {"a": 2, "p": [NAN, 1]}, "p must not have a negative probability, got nan"),
    ("choice", {"a": 2, "p": [0.5, 0.75]}, "p must sum to 1, got a sum of 1.25"),
    ("choice", {"a": 2, "p": [INF, 0]}, "p must sum to 1, got a sum of inf"),
    ("exponential_mechanism", {"scores": [], "rate": 1}, "scores must not be empty"),
    ("exponential_mechanism", {"scores": [1, NAN], "rate": 1}, "scores must be a finite number, got nan"),
    ("exponential_mechanism", {"scores": [1, 2], "rate": INF}, "rate must be a finite number, got inf"),
    ("exponential_mechanism", {"scores": [1e200], "rate": 1e200}, "rate times score must be a finite number, got inf"),
    ("exponential_mechanism", {"scores": [1, 2], "rate": 1, "values": "a"}, "the options must be a list"),
    ("exponential_mechanism", {"scores": [1, 2], "rate": 1, "values": ["a"]}, "same length, got 2 and 1"),
]


@pytest.mark.parametrize(("method", "arguments", "message"), REFUSED)
def test_a_parameter_out_of_range_is_refused_with_its_value(
    method: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(real_noise(), method)(**arguments)


ACCEPTED: list[tuple[str, dict[str, Any], type]] = [
    ("laplace", {"loc": Fraction(1, 2), "scale": Fraction(3, 2)}, float),
    ("exponential", {"scale": 5e-324, "loc": np.float64(2)}, float),
    ("normal", {"loc": np.int64(3)}, float),
    ("gumbel", {"loc": True}, float),
    ("uniform", {"low": 2, "high": 2}, float),
    ("discrete_laplace", {"loc": 3.0, "scale": 5e-324}, int),
    ("discrete_gaussian", {"loc": np.int64(2), "scale": 5e-324}, int),
    ("truncated_discrete_laplace", {"low": -3.0, "high": 3, "loc": 10**6, "scale": 5e-324}, int),
    ("truncated_geometric", {"low": 2, "high": 2}, int),
    ("bernoulli", {"p": Fraction(1, 3)}, bool),
    ("bernoulli", {"p": np.float64(1)}, bool),
    ("choice", {"a": ["a", "b"], "p": [Fraction(1, 3), Fraction(2, 3)]}, str),
    ("choice", {"a": np.array([1.5, 2.5])}, float),
    ("choice", {"a": [None]}, type(None)),
    ("choice", {"a": np.int64(3), "p": np.array([0.1, 0.2, 0.7])}, int),
    ("exponential_mechanism", {"scores": np.array([1, 2]), "rate": -1, "values": ["x", "y"]}, str),
    ("exponential_mechanism", {"scores": [Fraction(1, 2), 2], "rate": Fraction(1, 2)}, int),
]


@pytest.mark.parametrize(("method", "arguments", "kind"), ACCEPTED)
def test_a_single_draw_is_a_plain_value(method: str, arguments: dict[str, Any], kind: type) -> None:
    assert type(getattr(real_noise(), method)(**arguments)) is kind


@pytest.mark.parametrize(("method", "arguments", "kind"), ACCEPTED)
@pytest.mark.parametrize("size", [0, 1, 3, (), (2, 3)])
def test_with_a_size_it_is_an_array(method: str, arguments: dict[str, Any], kind: type, size: Any) -> None:
    drawn = getattr(real_noise(), method)(**arguments, size=size)
    assert np.shape(drawn) == ((size,) if isinstance(size, int) else size)
    if size:
        assert {type(one) for one in drawn.ravel().tolist()} <= {kind}


@pytest.mark.parametrize("method", PLACED)
def test_a_list_of_locations_gets_a_fresh_draw_each(method: str) -> None:
    drawn = getattr(real_noise(), method)(loc=[0, 10**6, 2 * 10**6], scale=[100.0, 100.0, 100.0])
    assert drawn.shape == (3,)
    assert np.rint(drawn / 10**6).tolist() == [0, 1, 2]
    assert len(set(np.round(drawn % 10**6, 6).tolist())) == 3


def test_mixed_options_keep_their_types() -> None:
    drawn = real_noise().choice([1, "a", None, True], size=200)
    assert set(map(type, drawn.tolist())) == {int, str, type(None), bool}


def test_an_option_of_probability_zero_never_comes() -> None:
    noise = real_noise()
    assert {noise.choice(3, p=[0, 1, 0]) for _ in range(200)} == {1}
    assert set(noise.choice(3, 200, p=[0, 1, 0]).tolist()) == {1}


class Bounded:
    """A stand-in for a symbol: it can be compared, and is neither a number nor a string."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __gt__(self, other: float) -> bool:
        return self.value > other

    def __ge__(self, other: float) -> bool:
        return self.value >= other

    def __le__(self, other: float) -> bool:
        return self.value <= other

    def __sub__(self, other: Any) -> Any:
        return self

    __rsub__ = __sub__

    def __repr__(self) -> str:
        return "<symbol>"


def test_symbols_answer_the_checks() -> None:
    small, negative = Bounded(0.25), Bounded(-1)
    front.check_number(negative, "loc")
    front.check_whole(small, "loc")
    front.check_whole_scale(small)
    front.check_range(negative, 0)
    front.check_range(0, small)
    front.check_probability(small)
    front.check_weights([small, small], 2)
    for refused in (
        lambda: front.check_scale(negative),
        lambda: front.check_probability(negative),
        lambda: front.check_weights([small, negative], 2),
        lambda: front.check_range(0, negative),
    ):
        with pytest.raises(ValueError, match="<symbol>"):
            refused()


def test_the_front_follows_numpy_where_it_has_the_law() -> None:
    for name in ("laplace", "exponential", "normal", "gumbel", "uniform", "choice"):
        ours = list(inspect.signature(getattr(Noise, name)).parameters.values())[1:]
        shared = [parameter for parameter in ours if name != "exponential" or parameter.name != "loc"]
        theirs = inspect.getdoc(getattr(np.random.Generator, name))
        assert theirs is not None
        listed = theirs.splitlines()[0].split("(")[1].split(")")[0].split(", ")
        for parameter, text in zip(shared, listed, strict=False):
            assert text.split("=")[0] == parameter.name
            if "=" in text:
                assert text.split("=")[1] == str(parameter.default)
