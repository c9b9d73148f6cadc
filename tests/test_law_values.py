"""What the laws know of themselves: kinds, ends, supports, parameters."""

from __future__ import annotations

from typing import Any

import pytest

from dpverdict.mechanism import laws
from dpverdict.mechanism.abilities import Bounded, FiniteSupport, Sampled
from dpverdict.mechanism.constants import from_python, number
from dpverdict.mechanism.structure import Kind, Law, Parameter


def constants(*contents: Any) -> tuple[Any, ...]:
    return tuple(from_python(content) for content in contents)


LAWS: dict[Law, Kind] = {
    laws.Laplace(*constants(0, 1)): Kind.REAL,
    laws.Exponential(*constants(0, 1)): Kind.REAL,
    laws.DiscreteLaplace(*constants(0, 1)): Kind.INTEGER,
    laws.TruncatedDiscreteLaplace(*constants(0, 1, -2, 3)): Kind.INTEGER,
    laws.TruncatedGeometric(*constants(0, 1, -2, 3)): Kind.INTEGER,
    laws.Gaussian(*constants(0, 1)): Kind.REAL,
    laws.DiscreteGaussian(*constants(0, 1)): Kind.INTEGER,
    laws.Gumbel(*constants(0, 1)): Kind.REAL,
    laws.Uniform(*constants(0, 1)): Kind.REAL,
    laws.Bernoulli(*constants(0.5)): Kind.TRUTH,
    laws.FiniteChoice(constants("a", "b"), constants(0.5, 0.5)): Kind.TEXT,
    laws.FiniteChoice(constants(1, 0.5), constants(0.5, 0.5)): Kind.REAL,
    laws.FiniteChoice(constants(1, "b"), constants(0.5, 0.5)): Kind.MIXED,
    laws.ExponentialMechanism(constants(1, 2), number(1), constants(0, 1)): Kind.INTEGER,
}


@pytest.mark.parametrize(("law", "kind"), LAWS.items(), ids=lambda given: getattr(given, "name", None))
def test_every_law_has_a_name_a_kind_and_parameters_that_can_be_replaced(law: Law, kind: Kind) -> None:
    assert law.name == type(law).__name__
    assert law.kind is kind
    assert isinstance(law, Sampled)
    others = tuple(Parameter(f"p{i}") for i in range(len(law.parameters)))
    changed = law.with_parameters(others)
    assert changed.parameters == others
    assert changed != law
    assert changed.with_parameters(law.parameters) == law


def test_there_are_twelve() -> None:
    assert len({type(law) for law in LAWS}) == 12


def test_the_ends_of_bounded_laws() -> None:
    ends = {law.name: (law.lowest(), law.highest()) for law in LAWS if isinstance(law, Bounded)}
    assert ends == {
        "Exponential": (number(0), None),
        "TruncatedDiscreteLaplace": constants(-2, 3),
        "TruncatedGeometric": constants(-2, 3),
        "Uniform": constants(0, 1),
    }


def test_the_supports_of_laws_that_have_finitely_many_outcomes() -> None:
    supports = {law.name: law.support() for law in LAWS if isinstance(law, FiniteSupport)}
    assert supports == {
        "TruncatedDiscreteLaplace": constants(-2, -1, 0, 1, 2, 3),
        "TruncatedGeometric": constants(-2, -1, 0, 1, 2, 3),
        "Bernoulli": constants(False, True),
        "FiniteChoice": constants(1, "b"),
        "ExponentialMechanism": constants(1, 2),
    }


def test_a_range_that_is_unknown_or_too_long_to_list_has_no_support() -> None:
    assert laws.TruncatedDiscreteLaplace(*constants(0, 1, 0, 10**9)).support() is None
    assert laws.TruncatedGeometric(*constants(0, 1, 0), Parameter("n")).support() is None
    assert laws.TruncatedGeometric(*constants(0, 1, 0, 0.5)).support() is None


def test_only_listed_values_are_coded() -> None:
    coded = {law.name for law in LAWS if isinstance(law, FiniteSupport) and law.coded}
    assert coded == {"FiniteChoice", "ExponentialMechanism"}
