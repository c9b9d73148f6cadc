"""Values of the program language: equality, hash and canonical text."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest

from dpverdict.mechanism.constants import from_python, number, truth
from dpverdict.mechanism.laws import Gumbel, Laplace
from dpverdict.mechanism.structure import Affine, BranchNode, Constant, Draw, Epsilon, Kind, Parameter, ReturnNode, Slot

EPSILON = Epsilon()


def test_values_are_compared_by_structure() -> None:
    one, other = (Affine(Fraction(1, 2), ((Draw(Laplace(number(0), EPSILON), 1), Fraction(3)),)) for _ in range(2))
    assert one is not other
    assert one == other
    assert hash(one) == hash(other)
    assert one.text == other.text == "(Affine 1/2 [[(Draw (Laplace (Constant integer 0) (Epsilon)) 1) 3]])"
    assert {one: 1}[other] == 1


def test_different_values_differ() -> None:
    noise = Laplace(number(0), number(1))
    different: list[Any] = [
        Draw(noise, 1),
        Draw(noise, 2),
        Draw(Gumbel(number(0), number(1)), 1),
        Draw(Laplace(number(1), number(0)), 1),
        Parameter("a"),
        Parameter("b"),
        EPSILON,
        ReturnNode(Slot()),
        BranchNode(truth(True), ReturnNode(Slot()), ReturnNode(Slot())),
        1,
        None,
    ]
    for at, one in enumerate(different):
        assert [one == other for other in different] == [at == position for position in range(len(different))]


def test_true_and_one_are_kept_apart() -> None:
    # Python finds them equal, and a cache that does so too would give a mechanism 1 where it said True.
    kinds = {"bool": Kind.TRUTH, "int": Kind.INTEGER, "float": Kind.INTEGER, "str": Kind.TEXT}
    contents = [True, 1, 1.0, "1", False, 0, 0.0, "0"]
    for content in contents + contents[::-1]:
        constant = from_python(content)
        assert constant is not None
        assert constant.kind is kinds[type(content).__name__]
    assert Constant(Kind.TRUTH, True) != Constant(Kind.INTEGER, Fraction(1))
    assert truth(True) != number(1)
    assert truth(True).text != number(1).text


def test_values_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Parameter("a").name = "b"  # type: ignore[misc]


ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
CODE = """
from dpverdict.catalog import find
from dpverdict.mechanism.graph import in_order
for name in ("svt2", "noisy-maximum", "numerical-svt", "randomised-response"):
    program = find(name).mechanism.program_for((0, 1, 1, 0))
    print(program.root.text, len(in_order(program.root)))
"""


def test_programs_have_the_same_text_in_every_process() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env={**ENVIRONMENT, **seed}
        ).stdout
        for seed in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    }
    assert len(texts) == 1
    assert texts.pop().count("\n") == 4
