"""Programs as people read them."""

from __future__ import annotations

import re
import shutil
import subprocess
from fractions import Fraction
from typing import Any

import pytest

import dpverdict
from dpverdict.catalog import entries, find
from dpverdict.mechanism import Mechanism, algebra, mechanism
from dpverdict.mechanism.constants import from_python, number
from dpverdict.mechanism.explain import Names, explain, graphviz, shape_text
from dpverdict.mechanism.graph import in_order, successors
from dpverdict.mechanism.structure import Constant, Epsilon, Input, Kind, Parameter, Record, Sequence, Slot, Term
from random_terms import COINS, COUNT, REAL, SCORE, SMALL

SVT = """\
svt1: a program for every input of this form
  4 paths, 4 draws, 12 nodes
  with threshold = 0.1, stop_after = 1
  the float 0.1 is read as 1/10

  laplace1 ~ Laplace(1/10, 2/ε)
  laplace2 ~ Laplace(input[0], 4/ε)
  if laplace1 <= laplace2:
    (1)
    emit True
    return a list of the slots
  else:
    emit False
    laplace3 ~ Laplace(input[1], 4/ε)
    if laplace1 <= laplace3:
      go to (1)
    else:
      emit False
      laplace4 ~ Laplace(input[2], 4/ε)
      if laplace1 <= laplace4:
        go to (1)
      else:
        emit False
        return a list of the slots"""

MAXIMUM = """\
noisy_maximum: a program for every input of this form
  1 path, 3 draws, 5 nodes

  laplace1 ~ Laplace(input[0], 2/ε)
  laplace2 ~ Laplace(input[1], 2/ε)
  laplace3 ~ Laplace(input[2], 2/ε)
  emit argmax(laplace1, laplace2, laplace3)
  return the slot"""

SURVEY = """\
survey: a program for the input {'name': 'Ada', 'age': 36} only
  3 paths, 2 draws, 10 nodes
  one program per input, since the input holds something that is no number

  bernoulli1 ~ Bernoulli(exp(ε)/(exp(ε) + 1))
  if bernoulli1:
    emit 'Ada'
    discretelaplace1 ~ DiscreteLaplace(36, 1/ε)
    emit max(18, discretelaplace1)
    if discretelaplace1 <= 0:
      raise ValueError
    else:
      return a dict {'name': the slot, 'age': the slot}
  else:
    emit None
    return a tuple of the slots"""


@mechanism
def survey(noise: Any, person: Any, epsilon: Any) -> Any:
    if noise.bernoulli(dpverdict.exp(epsilon) / (1 + dpverdict.exp(epsilon))):
        age = noise.discrete_laplace(person["age"], 1 / epsilon)
        if age <= 0:
            raise ValueError("too young")
        return {"name": person["name"], "age": dpverdict.maximum(age, 18)}
    return (None,)


def test_a_sparse_vector_technique() -> None:
    arguments = {"stop_after": 1, "threshold": 0.1}
    assert explain(find("svt1").mechanism.program_for([0, 1, 1], arguments)) == SVT


def test_a_noisy_maximum() -> None:
    assert explain(find("noisy-maximum").mechanism.program_for([0, 1, 2])) == MAXIMUM


def test_a_program_with_text_exceptions_and_a_dictionary() -> None:
    assert explain(survey.program_for({"name": "Ada", "age": 36})) == SURVEY


NAMES = Names((*REAL, *COINS))
TERMS: list[tuple[Term, str]] = [
    (algebra.divide(number(2), Epsilon()), "2/ε"),
    (algebra.divide(Epsilon(), number(3)), "(1/3)·ε"),
    (algebra.power(Epsilon(), Fraction(1, 2)), "sqrt(ε)"),
    (algebra.power(algebra.multiply(Epsilon(), Parameter("p")), Fraction(-2)), "1/(ε^2·p^2)"),
    (algebra.subtract(number(1), REAL[0]), "-laplace1 + 1"),
    (algebra.subtract(REAL[1], algebra.scale(REAL[0], Fraction(5, 2))), "laplace2 - (5/2)·laplace1"),
    (algebra.compare("<", REAL[0], REAL[1]), "laplace1 < laplace2"),
    (algebra.compare("<=", number(1), REAL[0]), "laplace1 >= 1"),
    (algebra.compare("==", COUNT, number(2)), "input[1] == 2"),
    (algebra.negate(COINS[0]), "not bernoulli1"),
    (algebra.conjunction([COINS[0], algebra.negate(COINS[1])]), "bernoulli1 and (not bernoulli2)"),
    (algebra.disjunction([COINS[0], algebra.compare("<", SCORE, number(0))]), "(input[2] < 0) or bernoulli1"),
    (algebra.add(algebra.compare("<", SCORE, number(0)), number(1)), "[input[2] < 0] + 1"),
    (algebra.choose(COINS[0], REAL[0], number(0)), "(laplace1 if bernoulli1 else 0)"),
    (algebra.ranked([REAL[0], REAL[1], SCORE], 0), "min(laplace1, laplace2, input[2])"),
    (algebra.ranked([REAL[0], REAL[1], SCORE], 1), "ranked(2 of laplace1, laplace2, input[2])"),
    (algebra.multiply(SMALL[0], SMALL[1]), "table(truncatedgeometric?, truncatedgeometric?; 16 rows)"),
    (Input(("rows", 0), Kind.REAL), "input['rows'][0]"),
    (Constant(Kind.TEXT, "it's"), '"it\'s"'),
    (Constant(Kind.NONFINITE, "inf"), "inf"),
    (algebra.elementary("log", Parameter("p")), "log(p)"),
]


@pytest.mark.parametrize(("term", "text"), TERMS, ids=[text for _, text in TERMS])
def test_terms_read_well(term: Term, text: str) -> None:
    assert NAMES.term(term) == text


def test_shapes_read_well() -> None:
    key = from_python("a")
    assert key is not None
    nested = Sequence("array", (Slot(), Record((key,), (Sequence("tuple", None),))))
    assert shape_text(nested) == "an array (the slot, a dict {'a': a tuple of the slots})"


GRAPH = """\
digraph "svt1" {
  node [fontname="monospace"];
  n0 [shape=ellipse, label="laplace1 ~ Laplace(0, 2/ε)"];
  n0 -> n1;
  n1 [shape=ellipse, label="laplace2 ~ Laplace(input[0], 4/ε)"];
  n1 -> n2;
  n2 [shape=diamond, label="laplace1 <= laplace2"];
  n2 -> n7 [label="yes"];
  n2 -> n3 [label="no"];
  n3 [shape=box, label="emit False"];
  n3 -> n4;
  n4 [shape=ellipse, label="laplace3 ~ Laplace(input[1], 4/ε)"];
  n4 -> n5;
  n5 [shape=diamond, label="laplace1 <= laplace3"];
  n5 -> n7 [label="yes"];
  n5 -> n6 [label="no"];
  n6 [shape=box, label="emit False"];
  n6 -> n8;
  n7 [shape=box, label="emit True"];
  n7 -> n8;
  n8 [shape=box, peripheries=2, label="return a list of the slots"];
}"""


def test_a_graph() -> None:
    assert graphviz(find("svt1").mechanism.program_for([0, 1])) == GRAPH


def test_text_in_a_graph_is_escaped() -> None:
    drawn = graphviz(mechanism(lambda noise, x: 'a "quoted" \\ word').program_for(0))
    assert r"""label="emit 'a \"quoted\" \\\\ word'"];""" in drawn


@pytest.mark.parametrize("name", [entry.name for entry in entries() if not entry.why_black_box])
def test_every_entry_can_be_shown(name: str) -> None:
    entry = find(name)
    assert isinstance(entry.mechanism, Mechanism)
    program = entry.mechanism.program_for(entry.example)
    text, drawn = explain(program), graphviz(program)
    nodes = in_order(program.root)
    assert text.startswith(f"{program.name}: a program for ")
    assert len(re.findall(r"^  n\d+ \[", drawn, re.MULTILINE)) == len(nodes)
    assert drawn.count(" -> ") == sum(len(successors(node)) for node in nodes)
    assert not re.search(r"Fraction|object at 0x|Kind\.", text + drawn)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it() -> None:
    drawn = graphviz(survey.program_for({"name": 'A "quoted" name', "age": 36}))
    done = subprocess.run(["dot", "-Tsvg"], input=drawn, capture_output=True, text=True, check=True, timeout=60)
    assert "<svg" in done.stdout
