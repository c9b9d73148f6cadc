"""What cannot become a program, or cannot be read: the right reason at the right place, and never a wrong program."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpverdict.errors import MechanismError, UntraceableError
from dpverdict.execute import seeds
from dpverdict.mechanism import Mechanism, laws, mechanism
from dpverdict.mechanism.abilities import Array, ArrayNoise, Compilable, Sampled
from dpverdict.mechanism.constants import number
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.path_record import Limits
from dpverdict.mechanism.structure import Draw, DrawNode, EmitNode, Kind, Law, Program, ReturnNode, Slot, Term, value
from dpverdict.reading.sample import Sampler
from dpverdict.reading.sample.masked import MaskedSampler
from dpverdict.reading.why_not import unreadable, why_not

# --- mechanisms without a program: the line that is named ends in "# here" ----------------------------------------


def exponential_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    noisy = noise.laplace(x, 1 / epsilon)
    return math.exp(noisy) > 2  # here


def exponential_of_epsilon(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.bernoulli(1 / (1 + math.exp(epsilon)))  # here


def rounded_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return round(noise.laplace(x, 1 / epsilon))  # here


def dictionary_key(noise: Any, x: Any, epsilon: Any) -> Any:
    counts = {}
    counts[noise.laplace(x, 1 / epsilon)] = 1  # here
    return list(counts)


def list_index(noise: Any, x: Any, epsilon: Any) -> Any:
    return "abcdef"[noise.discrete_laplace(0, 1 / epsilon) % 6]  # here


def text_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return f"{noise.laplace(x, 1 / epsilon):.2f}"  # here


def json_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return json.dumps(noise.laplace(x, 1 / epsilon))  # here


def product_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, 1 / epsilon) * noise.laplace(x, 1 / epsilon)  # here


def quotient_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return x / noise.exponential(1 / epsilon, loc=1)  # here


def noisy_scale(noise: Any, x: Any, epsilon: Any) -> Any:
    width = noise.exponential(1 / epsilon, loc=1)
    return noise.laplace(x, width)  # here


def noisy_probability(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.bernoulli(noise.uniform(0, 1))  # here


def bits_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.discrete_laplace(0, 1 / epsilon) & 3  # here


def order_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return list(np.argsort(noise.laplace(x, 1 / epsilon, size=3)))  # here


def method_of_noise(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, 1 / epsilon).hex()  # here


@dataclass
class Report:
    answer: Any


def object_as_output(noise: Any, x: Any, epsilon: Any) -> Any:
    return Report(noise.laplace(x, 1 / epsilon))


def global_randomness(noise: Any, x: Any, epsilon: Any) -> Any:
    half = noise.laplace(x, 1 / epsilon) / 2
    return half + random.random()  # here


def numpys_global_randomness(noise: Any, x: Any, epsilon: Any) -> Any:
    return x + np.random.normal(0, 1 / 2)  # noqa: NPY002  # here


def own_generator(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, 1 / epsilon) + np.random.default_rng().normal()


CALLS = itertools.count()


def state_between_calls(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, 1 / epsilon) + next(CALLS)


def forever(noise: Any, x: Any, epsilon: Any) -> Any:
    while True:
        pass


def rejection(noise: Any, x: Any, epsilon: Any) -> Any:
    noisy = noise.laplace(x, 1 / epsilon)
    while noisy < 0:  # here
        noisy = noise.laplace(x, 1 / epsilon)
    return noisy


def unbounded_draws(noise: Any, x: Any, epsilon: Any) -> Any:
    while True:
        noise.laplace(x, 1 / epsilon)  # here


def recursive(noise: Any, x: Any, epsilon: Any) -> Any:
    noisy = noise.laplace(x, 1 / epsilon)
    return noisy if noisy > 0 else recursive(noise, x, epsilon)


def bottomless(noise: Any, x: Any, epsilon: Any) -> Any:
    return bottomless(noise, x, epsilon)  # here


def thirty_ifs(noise: Any, x: Any, epsilon: Any) -> Any:
    answers = []
    for _ in range(30):
        if noise.laplace(x, 1 / epsilon) > 0:  # here
            answers.append(1)
        else:
            answers.append(0)
    return answers


def leaving(noise: Any, x: Any, epsilon: Any) -> Any:
    raise SystemExit  # here


SMALL, HASTY = Limits(decisions=200, draws=300), Limits(path_seconds=0.3)
SYMBOLIC_TEXT = "text of a symbolic value"
CASES: list[tuple[Any, str, str, str]] = [
    # function, what the message says, what is underlined, what would help
    (exponential_of_noise, "float() of a symbolic value", "math.exp(noisy)", "dpverdict.exp (or numpy.exp)"),
    (exponential_of_epsilon, "float() of a symbolic value", "math.exp(epsilon)", "dpverdict.exp (or numpy.exp)"),
    (rounded_noise, "round() of a symbolic value", "round(noise.laplace(x, 1 / epsilon))", "discretise()"),
    (dictionary_key, "dictionary key", "counts[noise.laplace(x, 1 / epsilon)]", "keys that do not depend on"),
    (list_index, "values that are not few", "noise.discrete_laplace(0, 1 / epsilon) % 6", "at most 4096"),
    (text_of_noise, SYMBOLIC_TEXT, 'f"{noise.laplace(x, 1 / epsilon):.2f}"', "thresholds"),
    (json_of_noise, "TypeError: Object of type float", "json.dumps(noise.laplace(x, 1 / epsilon))", "keep symbolic"),
    (
        product_of_noise,
        "the product of two noisy values",
        "noise.laplace(x, 1 / epsilon) * noise.laplace(x, 1 / epsilon)",
        "multiply noise only by",
    ),
    (quotient_of_noise, "division by a noisy value", "x / noise.exponential(1 / epsilon, loc=1)", "divide only by"),
    (noisy_scale, "parameter that depends on continuous noise", "noise.laplace(x, width)", "let scales"),
    (noisy_probability, "Bernoulli", "noise.bernoulli(noise.uniform(0, 1))", "let scales and probabilities"),
    (bits_of_noise, "a bitwise operation on numbers", "noise.discrete_laplace(0, 1 / epsilon) & 3", "comparisons"),
    (order_of_noise, "argsort", "np.argsort(noise.laplace(x, 1 / epsilon, size=3))", "argmax, max, min or sort"),
    (method_of_noise, "the attribute .hex", "noise.laplace(x, 1 / epsilon).hex", "arithmetic and comparisons"),
    (object_as_output, "an output of type Report", "", "return numbers"),
    (global_randomness, "randomness that does not come from `noise`", "", "from the `noise` argument"),
    (numpys_global_randomness, "randomness that does not come from `noise`", "", "from the `noise` argument"),
    (own_generator, "two executions with the same noise went different ways", "", "own generators"),
    (state_between_calls, "two executions with the same noise went different ways", "", "keep no state between"),
    (forever, "does not come to an end", "", "bound every loop"),
    (rejection, "more than 200 decisions on one path", "noisy < 0", "bound"),
    (unbounded_draws, "more than 300 draws on one path", "noise.laplace(x, 1 / epsilon)", "bound the loop"),
    (recursive, "", "", "bound"),
    (bottomless, "recursion without an end", "", "bound the recursion"),
    (thirty_ifs, "more than 20,000 paths; this line alone decided", "", "instead of branching on it"),
    (leaving, "leaves the interpreter", "raise SystemExit", "raise an exception instead"),
]


NOWHERE = (object_as_output, own_generator, state_between_calls)
"""Mechanisms whose fault stands in no line in particular."""


@pytest.mark.parametrize(("function", "what", "underlined", "fix"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_reason_its_place_and_a_fix_are_named(function: Any, what: str, underlined: str, fix: str) -> None:
    made = Mechanism(function, limits=HASTY if function is forever else SMALL)
    reason = made.why_not(0.5)
    assert reason is not None
    assert reason.code == "MECH-100"
    assert reason.message.startswith(f"{function.__name__} cannot be looked into: ")
    assert what in reason.message
    assert fix in reason.fix
    assert reason.place is None or reason.place.startswith("test_why_not.py, line ")
    assert (reason.place is None) == (function in NOWHERE)
    with pytest.raises(UntraceableError):
        made.program_for(0.5)
    line, source = marked_line(function)
    if line:
        assert reason.place == f"test_why_not.py, line {line}"
        assert reason.excerpt is not None
        assert reason.excerpt.text == source
    if underlined:
        assert reason.excerpt is not None
        assert reason.excerpt.text[reason.excerpt.start : reason.excerpt.end] == underlined
        carets = " " * reason.excerpt.start + "^" * len(underlined)
        assert f"  {source}\n  {carets}\n" in str(reason)


def marked_line(function: Any) -> tuple[int, str]:
    lines, first = inspect.getsourcelines(function)
    for at, line in enumerate(lines, start=first):
        if "# here" in line:
            return at, line.strip()
    return 0, ""


@pytest.mark.parametrize(
    "function",
    [case[0] for case in CASES if case[0] not in (forever, unbounded_draws, bottomless, leaving)],
    ids=lambda function: function.__name__,
)
def test_it_still_runs_as_it_is(function: Any) -> None:
    Mechanism(function)(
        RealNoise(seeds.generator(1, "plain", 0)), [0.5] * 3 if function is order_of_noise else 0.5, 1.0
    )


def test_the_whole_message() -> None:
    line, _ = marked_line(exponential_of_noise)
    assert (
        str(Mechanism(exponential_of_noise).why_not(0.5))
        == f"""\
UntraceableError[MECH-100]: exponential_of_noise cannot be looked into: float() of a symbolic value
  test_why_not.py, line {line}
  return math.exp(noisy) > 2  # here
         ^^^^^^^^^^^^^^^
  why: this has no form in the program language, so the mechanism can only be run, as a black box
  try: dpverdict.exp (or numpy.exp), which works on symbols as on numbers"""
    )


def test_global_generators_stay_where_they_were() -> None:
    random.seed(1)
    before = random.getstate()
    assert Mechanism(global_randomness).why_not(0.5) is not None
    assert random.getstate() == before


def test_a_reason_is_remembered() -> None:
    made = Mechanism(product_of_noise)
    assert made.why_not(0.5) is made.why_not(1.5)


DEBUGGED = """
import sys
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.path_record import Limits

def forever(noise, x):
    while True:
        pass

made = Mechanism(forever, limits=Limits(path_seconds=0.2))
assert made.why_not(0) is not None
assert Mechanism(lambda noise, x: noise.laplace(x, 1)).why_not(0.0) is None
sys.settrace(lambda *_: None)
(lambda: None)()
"""


def test_a_debugger_can_follow_after_a_time_out() -> None:
    """CPython 3.11 hangs here if an asynchronous exception is taken back instead of being let through."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", DEBUGGED], check=True, timeout=60, env=environment)


# --- readings --------------------------------------------------------------------------------------------------------


@value
class Silent(Law):
    """A law that can do nothing."""

    scale: Term

    @property
    def name(self) -> str:
        return "Silent"

    @property
    def kind(self) -> Kind:
        return Kind.REAL


@value
class Patient(Sampled):
    """A law that can be sampled, but not compiled."""

    scale: Term

    @property
    def name(self) -> str:
        return "Patient"

    @property
    def kind(self) -> Kind:
        return Kind.REAL

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        return noise.uniform(size)


def drawing(law: Law) -> Program:
    draw = Draw(law, 1)
    return Program(DrawNode(draw, EmitNode(draw, ReturnNode(Slot()))), "home_made", {}, None, None, None, (), 1)


@mechanism
def whole_gaussian(noise: Any, x: Any) -> Any:
    return noise.discrete_gaussian(x, 2)


def test_a_reading_is_open_or_says_why_not() -> None:
    laplace = mechanism(lambda noise, x, epsilon: noise.laplace(x, 1 / epsilon))
    assert why_not(laplace, 0, "sample") is why_not(laplace, 0, "gpu") is None
    assert why_not(whole_gaussian, 0, "sample") is None
    reason = why_not(whole_gaussian, 0, "gpu")
    assert reason is not None
    assert reason.code == "MECH-101"
    assert "whole_gaussian draws from the law DiscreteGaussian, which cannot be compiled" in str(reason)
    assert "sample this program with NumPy" in reason.fix


def test_what_has_no_program_has_no_reading() -> None:
    reason = why_not(Mechanism(product_of_noise), 0.5, "sample")
    assert isinstance(reason, UntraceableError)


def test_a_law_without_the_ability_closes_the_readings_that_need_it() -> None:
    silent, patient = drawing(Silent(number(1))), drawing(Patient(number(1)))
    assert [getattr(unreadable(silent, reading), "code", None) for reading in ("sample", "gpu")] == ["MECH-110"] * 2  # type: ignore[arg-type]
    assert unreadable(patient, "sample") is None
    with pytest.raises(MechanismError, match="Silent, which cannot be sampled"):
        Sampler(silent, 0)
    with pytest.raises(MechanismError, match="Patient, which cannot be compiled"):
        MaskedSampler(patient, 0)


def test_only_the_discrete_gaussian_is_not_compiled() -> None:
    found = {law for law in vars(laws).values() if isinstance(law, type) and issubclass(law, Sampled)}
    concrete = {law for law in found if not inspect.isabstract(law) and law.__module__ == laws.__name__}
    assert {law.__name__ for law in concrete if not issubclass(law, Compilable)} == {"DiscreteGaussian"}
