"""Programs compiled by JAX, here for the CPU, against the same programs in NumPy.

False alarms: each comparison rejects equal distributions with a probability of at most `ALPHA` (`plain_runs.py` says
by which bounds), and there are fewer than 20: below 2e-8 for this file.
Power: noise that is 10 % too small is found (`test_ten_percent_less_noise_is_told_apart`).
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import pytest

import dpverdict
from dpverdict.catalog import find
from dpverdict.errors import InputError, MechanismError
from dpverdict.execute import gpu, seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.mechanism import Mechanism, mechanism
from dpverdict.mechanism.evaluate import Raised
from dpverdict.mechanism.structure import ReturnNode
from dpverdict.reading.sample import Batch, Sampler, decode, tally
from dpverdict.reading.sample.masked import MaskedSampler
from plain_runs import Observed, _found, p_value

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")

ALPHA = 1e-9
RUNS = 300_000


def observed(batch: Batch) -> Observed:
    seen = Observed()
    for outputs in batch:
        if isinstance(outputs.ending, ReturnNode):
            for label, count, columns in _found((outputs,)):
                seen.add(label, count, columns)
        else:
            seen.add(((Raised,), (outputs.ending.exception,)), outputs.runs, [])
    return seen


def compiled(made: Mechanism, given: Any, epsilon: float | None, arguments: dict[str, Any], runs: int = RUNS) -> Batch:
    sampler = MaskedSampler(made.program_for(given, arguments), given, epsilon)
    return sampler.batch(gpu.key(1, "test_gpu", 0), runs)


def split(made: Mechanism, given: Any, epsilon: float | None, arguments: dict[str, Any], runs: int = RUNS) -> Batch:
    sampler = Sampler(made.program_for(given, arguments), given, epsilon)
    return sampler.batch(NumpyNoise(seeds.generator(2, "test_gpu", 0)), runs)


@mechanism
def coded(noise: Any, x: Any, epsilon: Any) -> Any:
    colour = noise.exponential_mechanism([x, 0, 1], epsilon, ["red", "green", None])
    number = noise.choice([-1, 0.5, 3], p=[0.5, 0.25, 0.25])
    flag = colour == "red"
    return [colour, number * 2, flag, "same", noise.truncated_geometric(-2, 2, 0, 1 / epsilon)]


@mechanism
def raising(noise: Any, x: Any, epsilon: Any) -> Any:
    answers = []
    for query in x:
        noisy = noise.laplace(query, 1 / epsilon)
        if noisy > 2:
            raise ValueError("too large")
        if noisy > 0:
            answers.append(noisy)
        elif noise.bernoulli(0.25):
            raise KeyError
        else:
            answers.append("below" if noise.bernoulli(0.5) else False)
    return answers


@mechanism
def vectors(noise: Any, x: Any, epsilon: Any) -> Any:
    noisy = noise.laplace(x, 1 / epsilon)
    ordered = sorted_vector(noisy)
    return [ordered[1], dpverdict.discretise(noisy.max(), [0, 1, 2]), (noisy > 0).sum(), noisy.argmax()]


def sorted_vector(noisy: Any) -> Any:
    noisy = noisy.copy()
    noisy.sort()
    return noisy


CASES: dict[str, tuple[Mechanism, Any, dict[str, Any]]] = {
    "svt1": (find("svt1").mechanism, (4, -4, -4, 4, -4), {"stop_after": 2}),
    "svt2": (find("svt2").mechanism, (6, -6, 6, -6), {"stop_after": 2}),
    "noisy maximum": (find("noisy-maximum").mechanism, (0, 1, 1, -1, 0), {}),
    "numerical svt": (find("numerical-svt").mechanism, (3, 0, -9), {"threshold": -9, "stop_after": 2}),
    "coded": (coded, 1, {}),
    "raising": (raising, (0, 0.5, -1), {}),
    "vectors": (vectors, (0.0, 1.0, 0.5), {}),
}


@cache
def reference(name: str) -> Observed:
    made, given, arguments = CASES[name]
    return observed(split(made, given, 1.0, arguments))


@pytest.mark.parametrize("name", CASES)
def test_compiled_runs_have_the_same_distribution(name: str) -> None:
    made, given, arguments = CASES[name]
    found = observed(compiled(made, given, 1.0, arguments))
    assert found.runs == reference(name).runs == RUNS
    assert p_value(found, reference(name)) > ALPHA


@pytest.mark.parametrize("name", CASES)
def test_ten_percent_less_noise_is_told_apart(name: str) -> None:
    """Negative control: dividing ε by 0.9 makes every scale 10 % smaller."""
    made, given, arguments = CASES[name]
    assert p_value(observed(compiled(made, given, 1 / 0.9, arguments)), reference(name)) <= ALPHA


def test_compiled_runs_can_be_repeated() -> None:
    made, given, arguments = CASES["svt1"]
    sampler = MaskedSampler(made.program_for(given, arguments), given, 1.0)
    first, again, other = (sampler.batch(gpu.key(seed, "repeat", 0), 1000) for seed in (1, 1, 2))
    assert list(decode(first)) == list(decode(again)) != list(decode(other))
    assert tally(first).runs == 1000


def test_the_compiled_program_takes_other_numbers() -> None:
    laplace = mechanism(lambda noise, x, epsilon: noise.laplace(x, 1e-9 / epsilon))
    program = laplace.program_for(0.0)
    (group,) = MaskedSampler(program, 7.5, 2.0).batch(gpu.key(1, "numbers", 0), 10)
    assert group.slots[0] == pytest.approx([7.5] * 10)


def test_what_cannot_be_compiled_is_refused_at_once() -> None:
    whole = mechanism(lambda noise, x: noise.discrete_gaussian(x, 2))
    with pytest.raises(MechanismError, match="DiscreteGaussian, which cannot be compiled"):
        MaskedSampler(whole.program_for(0), 0)
    rappor = find("one-time-rappor").mechanism
    with pytest.raises(InputError, match="about the input 3, got 4"):
        MaskedSampler(rappor.program_for(3), 4, 1.0)
