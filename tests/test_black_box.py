"""Black boxes: every form of a function, every kind of result, and what can go wrong with them.

The numbers compared here are exact, except in one test of sums, which states its false-alarm probability.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import math
import os
import pickle
import random
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpverdict
from dpverdict import Mechanism, single_run, vectorised
from dpverdict.catalog import find
from dpverdict.errors import DPVerdictError, InputError, OutputError, RunError, TargetError
from dpverdict.mechanism.black_box import BlackBox, FunctionBox, Options, refuse_if_all_raised
from dpverdict.mechanism.calling import Form, Randomness
from dpverdict.mechanism.forms import black_box
from dpverdict.mechanism.fresh_copies import copier
from dpverdict.mechanism.observe import observer
from dpverdict.mechanism.outcome import Mapping, Raised
from dpverdict.mechanism.tally import Outcomes, listed, tally
from dpverdict.target import load_runnable

SOURCE = Path(dpverdict.__file__).parent.parent


def gen(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def made(found: Any, **options: Any) -> FunctionBox:
    box = black_box(found, Options(**options))
    assert isinstance(box, FunctionBox)
    return box


def run(found: Any, given: Any = 0.0, runs: int = 5, **options: Any) -> Outcomes:
    return made(found, **options).run(given, runs, gen())


# --- forms ---------------------------------------------------------------------------------------------------------


def plain(value, rng):
    return value + rng.normal()


def without_rng(value):
    return value + np.random.normal()  # noqa: NPY002


def whole(value, runs, rng):
    return value + rng.normal(size=runs)


def renamed(data, n, generator):
    return data + generator.normal(size=n)


def with_seed(value, seed):
    assert type(seed) is int
    return np.random.default_rng(seed).normal()


def many_with_seed(value, runs, seed):
    return np.random.default_rng(seed).normal(size=runs)


def with_state(value, random_state):
    assert isinstance(random_state, np.random.RandomState)
    return random_state.normal()


def with_annotation(value, prng: random.Random):
    return prng.random()


def with_written_annotation(value, rng: np.random.RandomState | None = None):
    assert isinstance(rng, np.random.RandomState)
    return rng.normal()


def by_position(value, runs, rng, scale=1.0, /):
    return value + scale * rng.normal(size=runs)


def keyword_only(value, *, rng, shift=0.0):
    return value + shift + rng.normal()


def variable(*everything):
    assert len(everything) == 1
    return everything[0]


def over_noise(noise, value, epsilon=1.0):
    return noise.laplace(value, scale=1 / epsilon)


@vectorised(runs_arg="trials", rng_arg="bits")
def declared_names(value, trials, bits):
    return value + bits.normal(size=trials)


@vectorised
def may_be_one(value, size=None, rng=None):
    return value + rng.normal(size=size)


@single_run
def is_one(value, size=None, rng=None):
    assert size is None
    return value + rng.normal(size=size)


@single_run
def input_called_rng(rng, generator):
    return rng + generator.normal()


class Called:
    def __init__(self, scale=1.0):
        self.scale = scale

    def __call__(self, value, rng):
        return value + self.scale * rng.normal()

    def run(self, value):
        raise AssertionError("calling comes first")


class Releases:
    def release(self, value, rng):
        return value + rng.normal()


class Declares:
    @property
    def expensive(self):
        raise AssertionError("properties are not computed")

    def __call__(self, value):
        raise AssertionError("what is declared comes first")

    @vectorised
    def batch(self, value, runs, rng):
        return value + rng.normal(size=runs)


def factory():
    return Called(2.0)


def factory_of_function():
    return lambda value, rng: value + rng.normal()


def factory_of_mechanism():
    return find("laplace").mechanism


FORMS = [
    (plain, Form.SINGLE_RUN, Randomness.GENERATOR),
    (without_rng, Form.SINGLE_RUN, None),
    (whole, Form.VECTORISED, Randomness.GENERATOR),
    (renamed, Form.VECTORISED, Randomness.GENERATOR),
    (with_seed, Form.SINGLE_RUN, Randomness.SEED),
    (many_with_seed, Form.VECTORISED, Randomness.SEED),
    (with_state, Form.SINGLE_RUN, Randomness.RANDOM_STATE),
    (with_annotation, Form.SINGLE_RUN, Randomness.RANDOM),
    (with_written_annotation, Form.SINGLE_RUN, Randomness.RANDOM_STATE),
    (by_position, Form.VECTORISED, Randomness.GENERATOR),
    (keyword_only, Form.SINGLE_RUN, Randomness.GENERATOR),
    (variable, Form.SINGLE_RUN, None),
    (over_noise, Form.SINGLE_RUN, Randomness.NOISE),
    (find("laplace").mechanism, Form.SINGLE_RUN, Randomness.NOISE),
    (declared_names, Form.VECTORISED, Randomness.GENERATOR),
    (may_be_one, Form.VECTORISED, Randomness.GENERATOR),
    (is_one, Form.SINGLE_RUN, Randomness.GENERATOR),
    (input_called_rng, Form.SINGLE_RUN, Randomness.GENERATOR),
    (functools.partial(keyword_only, shift=1.0), Form.SINGLE_RUN, Randomness.GENERATOR),
    (Called(), Form.SINGLE_RUN, Randomness.GENERATOR),
    (Called, Form.SINGLE_RUN, Randomness.GENERATOR),
    (Called().__call__, Form.SINGLE_RUN, Randomness.GENERATOR),
    (Releases(), Form.SINGLE_RUN, Randomness.GENERATOR),
    (Releases, Form.SINGLE_RUN, Randomness.GENERATOR),
    (Declares(), Form.VECTORISED, Randomness.GENERATOR),
    (factory, Form.SINGLE_RUN, Randomness.GENERATOR),
    (factory_of_function, Form.SINGLE_RUN, Randomness.GENERATOR),
    (factory_of_mechanism, Form.SINGLE_RUN, Randomness.NOISE),
    (lambda value, rng: value + rng.normal(), Form.SINGLE_RUN, Randomness.GENERATOR),
]


@pytest.mark.parametrize(("found", "form", "randomness"), FORMS, ids=lambda item: getattr(item, "__name__", ""))
def test_every_form_runs_and_is_repeatable(found: Any, form: Form, randomness: Randomness | None) -> None:
    box = made(found).with_arguments({}, epsilon=1.0)
    assert box.calling.form is form
    assert box.calling.rng_name is None if randomness is None else box.calling.randomness is randomness
    first, second = box.run(0.0, 50, gen()), box.run(0.0, 50, gen())
    assert len(first) == 50
    assert tally(first) == tally(second)
    if found is not variable:
        assert len(tally(first)) == 50
        assert tally(box.run(0.0, 50, gen(2))) != tally(first)
    assert len(box.run(0.0, 0, gen())) == 0


def test_names_given_as_options() -> None:
    def unusual(value, count, source):
        return value + source.normal(size=count)

    box = made(unusual, runs_arg="count", rng_arg="source")
    assert box.vectorised
    assert len(tally(box.run(0.0, 10, gen()))) == 10


def test_an_argument_is_never_taken_for_the_number_of_runs() -> None:
    def mean(values, n, rng):
        return sum(values) / n + rng.normal()

    box = black_box(mean, given={"n": 4})
    assert len(tally(box.run([1.0, 2.0], 3, gen()))) == 3


def test_the_generator_that_is_passed_is_the_batch_s() -> None:
    generator = gen()
    assert made(lambda value, rng: rng is generator).run(0, 2, generator) == [True, True]


def test_decorated_functions_stay_functions() -> None:
    assert whole(1.0, 3, gen()).shape == (3,)
    assert declared_names(1.0, 3, gen()).shape == (3,)
    assert isinstance(is_one(1.0, rng=gen()), float)


def test_a_mechanism_has_the_same_door() -> None:
    entry = find("svt1")
    arguments = {"epsilon": 1.0}
    outcomes = entry.mechanism.run([0, 1], 200, gen(), arguments)
    assert tally(outcomes) == tally(entry.mechanism.black_box(epsilon=1.0).run([0, 1], 200, gen()))
    assert all(isinstance(outcome, tuple) for outcome in outcomes)
    with pytest.raises(InputError):
        entry.mechanism.run([0, 1], 3, gen(), {"nothing": 1})


@pytest.mark.parametrize("name", ["epsilon", "eps"])
def test_epsilon_is_an_argument_like_any_other(name: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def f(value, {name}): return {name}", space)
    box = made(space["f"])
    assert box.epsilon_name == name
    assert box.parameter_names == ()
    assert box.with_arguments(None, epsilon=0.5).run(0, 1, gen()) == [0.5]
    assert box.with_arguments({name: 2}, epsilon=0.5).run(0, 1, gen()) == [2]
    with pytest.raises(InputError, match=name):
        box.run(0, 1, gen())


def test_a_mechanism_s_own_name_for_epsilon() -> None:
    @dpverdict.mechanism(epsilon="budget")
    def f(noise, value, budget):
        return budget

    assert f.black_box(epsilon=0.5).run(0, 1, gen()) == [0.5]
    assert made(f).with_arguments(None, epsilon=0.25).run(0, 1, gen()) == [0.25]


# --- what is refused ---------------------------------------------------------------------------------------------


def nothing_to_run():
    return 3


def factory_of_factories():
    return factory


def failing_factory():
    raise KeyError("no configuration")


class NeedsArguments:
    def __init__(self, scale):
        self.scale = scale


class Several:
    def run(self, value):
        return value

    def release(self, value):
        return value


class TwoDeclared:
    @single_run
    def one(self, value):
        return value

    @single_run
    def other(self, value):
        return value


async def is_async(value):
    return value


def is_generator(value):
    yield value


REFUSED: list[tuple[Any, dict[str, Any], list[str]]] = [
    (lambda value, size=None: value, {}, ["size", "@vectorised", "@single_run", "--runs-arg"]),
    (lambda value, runs=10: value, {}, ["runs", "@vectorised"]),
    (lambda value, n, size: value, {}, ["n, size", "--runs-arg"]),
    (lambda value, seed, generator: value, {}, ["generator, seed", "--rng-arg"]),
    (lambda rng, value: value, {}, ["'rng'", "input first"]),
    (lambda runs, value: value, {}, ["'runs'", "input first"]),
    (lambda value: value, {"runs_arg": "count"}, ["'count'", "runs_arg"]),
    (lambda value, a: value, {"rng_arg": "bits"}, ["'bits'", "rng_arg='a'"]),
    (lambda *, value: value, {}, ["no input"]),
    (lambda **values: values, {}, ["no input"]),
    (vectorised(lambda value, rng: value), {}, ["vectorised", "runs_arg"]),
    (nothing_to_run, {}, ["nothing_to_run", "takes no input", "3"]),
    (factory_of_factories, {}, ["cannot be run"]),
    (failing_factory, {}, ["KeyError", "no configuration", "traceback"]),
    (NeedsArguments, {}, ["scale", "def make()"]),
    (Several(), {}, ["run, release", "def mine(input)"]),
    (TwoDeclared(), {}, ["one, other"]),
    (object(), {}, ["cannot be run", "object"]),
    (3, {}, ["cannot be run", "int"]),
    (is_async, {}, ["async", "asyncio.run"]),
    (is_generator, {}, ["generator", "list"]),
    (getattr, {}, ["getattr", "def mine"]),
    (plain, {"exceptions": "ignore"}, ["'ignore'", "--exceptions"]),
]


@pytest.mark.parametrize(("found", "options", "shown"), REFUSED, ids=[str(shown[0]) for _, _, shown in REFUSED])
def test_what_is_refused_says_what_was_seen_and_what_to_do(found: Any, options: Any, shown: list[str]) -> None:
    with pytest.raises(RunError) as caught:
        made(found, **options)
    for part in shown:
        assert part in str(caught.value), str(caught.value)
    assert caught.value.code.startswith("RUN-")
    assert caught.value.why
    assert caught.value.fix


def test_what_is_built_in_cannot_be_declared() -> None:
    with pytest.raises(RunError, match="cannot be declared"):
        vectorised(len)


@pytest.mark.parametrize("given", [{"unknown": 1}, {"rng": 1}])
def test_unknown_arguments(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        made(lambda value, scale=1: value).with_arguments(given)


def test_missing_arguments_are_asked_for_before_anything_runs() -> None:
    with pytest.raises(InputError, match="scale"):
        run(lambda value, scale: 1 / 0)


# --- results -----------------------------------------------------------------------------------------------------


class Series:
    """As a series of pandas."""

    def __init__(self, content: Any) -> None:
        self._content = np.asarray(content)

    def to_numpy(self) -> Any:
        return self._content


class DeviceTensor:
    """As a tensor on a device: it has no array, but can be listed."""

    def __init__(self, content: list[Any]) -> None:
        self._content = content

    def numpy(self) -> Any:
        raise TypeError("copy it to the host first")

    def tolist(self) -> list[Any]:
        return self._content


RESULTS: list[tuple[Callable[[int], Any], list[Any]]] = [
    (np.arange, [0, 1, 2]),
    (lambda n: np.arange(n) > 1, [False, False, True]),
    (lambda n: np.arange(n) / 2, [0.0, 0.5, 1.0]),
    (lambda n: np.array([math.nan, -0.0, math.inf]), [math.nan, -0.0, math.inf]),
    (lambda n: np.arange(2 * n).reshape(n, 2), [(0, 1), (2, 3), (4, 5)]),
    (lambda n: np.arange(2 * n).reshape(2, n).T, [(0, 3), (1, 4), (2, 5)]),
    (lambda n: np.zeros((n, 1, 2)), [((0.0, 0.0),)] * 3),
    (lambda n: np.zeros((n, 0)), [()] * 3),
    (lambda n: np.array(["a", "b", ""]), ["a", "b", ""]),
    (lambda n: np.broadcast_to(1, n), [1, 1, 1]),
    (lambda n: np.array([1, 2, 3], dtype=np.longdouble), [1.0, 2.0, 3.0]),
    (lambda n: np.array([1, 2, 3], dtype=">f4"), [1.0, 2.0, 3.0]),
    (lambda n: np.array([[1], [1, 2], None], dtype=object), [(1,), (1, 2), None]),
    (lambda n: np.array([1j, 0, 1]), [(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)]),
    (lambda n: np.ma.masked_array([1, 2, 3], [0, 1, 0]), [1, None, 3]),
    (lambda n: [1, "a", None], [1, "a", None]),
    (lambda n: ([1], [1, 2], {"a": 1}), [(1,), (1, 2), Mapping([("a", 1)])]),
    (lambda n: [np.float32(1), np.array([2]), (3,)], [1.0, (2,), (3,)]),
    (range, [0, 1, 2]),
    (lambda n: Series([1, 2, 3]), [1, 2, 3]),
    (lambda n: DeviceTensor([[1], [2], [3]]), [(1,), (2,), (3,)]),
]


@pytest.mark.parametrize(("result", "expected"), RESULTS)
def test_results_of_vectorised_functions(result: Callable[[int], Any], expected: list[Any]) -> None:
    outcomes = run(lambda value, runs, rng: result(runs), runs=3)
    assert tally(outcomes) == tally(expected)
    assert [type(outcome) for outcome in listed(outcomes)] == list(map(type, expected))


@pytest.mark.parametrize(("result", "expected"), RESULTS)
def test_the_same_results_as_those_of_single_runs(result: Callable[[int], Any], expected: list[Any]) -> None:
    assert tally(run(lambda value: result(3), runs=2)) == tally([tuple(expected)] * 2)


async def later() -> list[int]:
    return [1, 2, 3]


WRONG_RESULTS: list[tuple[Callable[[int], Any], list[str]]] = [
    (lambda n: None, ["NoneType", "return"]),
    (lambda n: 1.5, ["float", "one row per run"]),
    (lambda n: np.float64(1.5), ["float64"]),
    (lambda n: np.array(1.5), ["one row per run"]),
    (lambda n: np.zeros(n + 1), ["4 outputs for 3 runs", "(4,)"]),
    (lambda n: np.zeros((2, n)), ["2 outputs for 3 runs", "column_stack"]),
    (lambda n: (np.zeros(n), np.zeros(n)), ["column_stack"]),
    (lambda n: [], ["0 outputs for 3 runs"]),
    (lambda n: "abc", ["str"]),
    (lambda n: {"a": np.zeros(n)}, ["dict", "list of dictionaries"]),
    (lambda n: (number for number in range(n)), ["generator", "list("]),
    (lambda n: [object()] * n, ["output[0]", "object", "--observe"]),
    (lambda n: np.array([object()] * n), ["object", "--observe"]),
    (lambda n: {1, 2, 3}, ["set"]),
]


@pytest.mark.parametrize(("result", "shown"), WRONG_RESULTS)
def test_wrong_results_of_vectorised_functions(result: Callable[[int], Any], shown: list[str]) -> None:
    with pytest.raises(OutputError) as caught:
        run(lambda value, runs, rng: result(runs), runs=3)
    for part in (*shown, "test_black_box.py"):
        assert part in str(caught.value), str(caught.value)
    assert caught.value.why
    assert caught.value.fix


def test_a_coroutine_is_no_result() -> None:
    waiting = later()
    with pytest.raises(OutputError, match="coroutine"):
        run(lambda value, runs, rng: waiting)
    with pytest.raises(OutputError, match="coroutine"):
        run(lambda value: waiting)
    assert asyncio.run(waiting) == [1, 2, 3]


def test_outputs_of_single_runs_that_are_no_values() -> None:
    with pytest.raises(OutputError, match=r"(?s)output\['model'\].*test_black_box"):
        run(lambda value: {"model": object()})


def test_buffers_that_are_written_again_are_copied() -> None:
    buffer, holder = np.zeros((3, 2)), [np.zeros(3)]

    def into_buffer(value: float, runs: int, rng: Any) -> Any:
        buffer[:] = value
        return buffer[:, 0]

    def kept(value: float, runs: int, rng: Any) -> Any:
        holder[0] = np.full(runs, value)
        return holder[0]

    def kept_base(value: float, runs: int, rng: Any) -> Any:
        holder[0] = np.full(2 * runs, value)
        return holder[0].reshape(runs, 2)

    for function in (into_buffer, kept, kept_base):
        box = made(function)
        first = box.run(1.0, 3, gen())
        holder[0][:] = 5.0
        box.run(2.0, 3, gen())
        assert isinstance(first, np.ndarray)
        assert set(first.ravel().tolist()) == {1.0}
    reused: list[float] = [0.0]

    def same_list(value: float) -> Any:
        reused[0] += 1
        return reused

    assert run(same_list, runs=3) == [(1.0,), (2.0,), (3.0,)]


def test_fresh_arrays_are_not_copied_and_results_cannot_be_written_to() -> None:
    places: list[Any] = []

    def fresh(value: float, runs: int, rng: Any) -> Any:
        made_here = rng.normal(size=2 * runs)
        places.append(made_here.__array_interface__["data"][0])
        return made_here.reshape(runs, 2)

    outcomes = run(fresh, runs=1000)
    assert isinstance(outcomes, np.ndarray)
    assert outcomes.__array_interface__["data"][0] == places[0]
    outcomes = run(lambda value, runs, rng: places.append(made_now := rng.normal(size=runs)) or made_now, runs=1000)
    assert isinstance(outcomes, np.ndarray)
    assert not np.may_share_memory(outcomes, places[1])
    with pytest.raises(ValueError, match="read-only"):
        outcomes[0] = 1


# --- exceptions --------------------------------------------------------------------------------------------------


def sometimes(value: float, rng: np.random.Generator) -> bool:
    if rng.random() < 0.5:
        raise ValueError(f"too large: {value}")
    return True


def test_exceptions_are_outcomes_by_type() -> None:
    counted = tally(run(sometimes, runs=1000))
    assert set(counted) == {True, Raised("ValueError")}
    # Binomial(1000, 1/2) leaves 380..620 with probability below 1e-12 (Hoeffding: 2 exp(-2 · 120² / 1000) = 6e-13).
    assert 380 < counted[True] < 620


@pytest.mark.parametrize("exception", [SystemExit, StopIteration, RecursionError, MemoryError, AssertionError])
def test_every_exception_but_an_interrupt_is_an_outcome(exception: type[BaseException]) -> None:
    def fails(value: float) -> None:
        raise exception

    assert run(fails, runs=2) == [Raised(exception.__name__)] * 2


def test_interrupts_pass() -> None:
    def interrupted(value: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)


def test_exceptions_can_stop_everything() -> None:
    with pytest.raises(RunError) as caught:
        run(sometimes, given=0.25, runs=100, exceptions="error")
    for part in ("ValueError: too large: 0.25", "run ", "on input 0.25", "test_black_box.py, line", "raise ValueError"):
        assert part in str(caught.value)
    assert any("in sometimes" in line for line in caught.value.traceback)
    assert not any("black_box.py, line" in line for line in caught.value.traceback if "test_" not in line)

    def batch(value: float, runs: int, rng: Any) -> Any:
        raise ValueError("never")

    with pytest.raises(RunError, match="a batch of 5 runs"):
        run(batch, exceptions="error")


def test_a_batch_that_always_raises_is_an_outcome_of_each_run() -> None:
    def batch(value: float, runs: int, rng: Any) -> Any:
        if value < 0:
            raise ValueError("negative")
        return rng.normal(size=runs)

    assert run(batch, given=-1.0) == [Raised("ValueError")] * 5
    assert len(tally(run(batch, given=1.0))) == 5


def test_a_batch_in_which_some_runs_raise_cannot_be_read() -> None:
    def batch(value: float, runs: int, rng: Any) -> Any:
        drawn = rng.random(runs)
        if (drawn < 0.5).any():
            raise ValueError("one of them is small")
        return drawn

    with pytest.raises(RunError, match=r"(?s)RUN-013.*not for every single run.*@single_run"):
        run(batch, runs=1000)


def test_if_every_run_of_every_input_raises_that_is_an_error() -> None:
    def broken(value: Any) -> Any:
        return value["missing"]

    box = made(broken)
    inputs = [[1], [2]]
    seen = [(given, box.run(given, 5, gen())) for given in inputs]
    with pytest.raises(RunError) as caught:
        refuse_if_all_raised(box, seen, gen())
    for part in ("TypeError", "on input [1]", 'value["missing"]', "traceback", "in broken"):
        assert part in str(caught.value)
    refuse_if_all_raised(box, [*seen, ({"missing": 1}, box.run({"missing": 1}, 5, gen()))], gen())
    refuse_if_all_raised(box, [], gen())
    assert box.failure({"missing": 1}, gen()) is None


def test_a_black_box_that_cannot_say_more_is_refused_all_the_same() -> None:
    class Silent(BlackBox):
        name = "silent"

        def run(self, input: Any, runs: int, generator: np.random.Generator) -> Outcomes:
            return [Raised("Crash")] * runs

    box = Silent()
    assert black_box(box) is box
    with pytest.raises(RunError, match=r"silent on every input raised Crash"):
        refuse_if_all_raised(box, [(0, box.run(0, 3, gen()))], gen())


# --- observing ---------------------------------------------------------------------------------------------------


class Model:
    def __init__(self, weight: float) -> None:
        self.weight = weight


@vectorised
def of_batches(rows: Any) -> Any:
    return rows[:, 0] > 0


def of_one(model: Model) -> float:
    return model.weight


def test_outputs_are_observed() -> None:
    box = made(lambda value, rng: Model(value), observe=observer(of_one))
    assert box.run(1.5, 2, gen()) == [1.5, 1.5]
    box = made(lambda value, runs, rng: [Model(value)] * runs, observe=observer(of_one))
    assert box.run(1.5, 2, gen()) == [1.5, 1.5]
    box = made(lambda value, runs, rng: rng.normal(size=(runs, 2)), observe=observer(of_batches))
    outcomes = box.run(0.0, 50, gen())
    assert isinstance(outcomes, np.ndarray)
    assert outcomes.dtype == bool
    box = made(lambda value, runs, rng: np.arange(2 * runs).reshape(runs, 2), observe=observer(lambda row: row.sum()))
    assert box.run(0.0, 2, gen()) == [1, 5]


def test_exceptions_are_not_observed_and_those_of_the_observer_are_errors() -> None:
    outcomes = run(sometimes, runs=50, observe=observer(lambda output: "seen"))
    assert set(tally(outcomes)) == {"seen", Raised("ValueError")}
    with pytest.raises(RunError, match=r"(?s)observes outputs, raised AttributeError.*observing 1") as caught:
        run(lambda value: 1, observe=observer(of_one))
    assert any("in of_one" in line for line in caught.value.traceback)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nothing", ["TARGET-021", "--observe nothing"]),
        ("json:", ["TARGET-021"]),
        ("json:nothing", ["TARGET-022", "'nothing'"]),
        ("json:decoder", ["TARGET-023", "module"]),
        ("json:JSONDecoder", ["TARGET-023", "class"]),
        ("nowhere_at_all:f", ["TARGET-005"]),
        ("nowhere.py:f", ["TARGET-006"]),
    ],
)
def test_observers_that_are_not_there(text: str, shown: list[str]) -> None:
    with pytest.raises(TargetError) as caught:
        observer(text)
    for part in shown:
        assert part in str(caught.value)


# --- surroundings ------------------------------------------------------------------------------------------------


def test_prints_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    def prints(value: float) -> int:
        print("from Python")  # noqa: T201
        os.system("echo from a child")
        return 1

    assert run(prints, runs=1) == [1]
    said = capfd.readouterr()
    assert not said.out
    assert "from Python" in said.err
    assert "from a child" in said.err


def test_global_generators_are_seeded_from_the_batch_and_put_back() -> None:
    def draws(value: float) -> tuple[float, float]:
        return random.random(), np.random.random()  # noqa: NPY002

    random.seed(7)
    np.random.seed(7)  # noqa: NPY002
    before = random.getstate(), np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    first, second, third = run(draws), run(draws), made(draws).run(0, 5, gen(2))
    assert first == second != third
    assert len(tally(first)) == 5
    assert before == (random.getstate(), np.random.get_state(legacy=False)["state"]["key"].tobytes())  # noqa: NPY002


def test_error_states_and_filters_are_put_back() -> None:
    def changes(value: float) -> float:
        np.seterr(all="raise")
        warnings.simplefilter("ignore")
        return 1.0

    before, filters = np.geterr(), list(warnings.filters)
    assert run(changes, runs=2) == [1.0, 1.0]
    assert np.geterr() == before
    assert warnings.filters == filters


def test_surroundings_are_put_back_after_an_error() -> None:
    before = random.getstate()
    with pytest.raises(OutputError):
        run(lambda value: object())
    assert random.getstate() == before


def test_batches_in_threads_do_not_mix() -> None:
    def draws(value: int) -> tuple[float, float]:
        return random.random(), np.random.random()  # noqa: NPY002

    box = made(draws)
    expected = [box.run(0, 200, gen(seed)) for seed in range(8)]
    found: dict[int, Outcomes] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: box.run(0, 200, gen(seed))})) for seed in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(8)] == expected


# --- inputs ------------------------------------------------------------------------------------------------------


class Thing:
    def __init__(self) -> None:
        self.items = [1]


def shared() -> Any:
    row = [1]
    return [row, row]


@pytest.mark.parametrize(
    ("given", "is_copied"),
    [
        (1, False),
        ("text", False),
        ((1, (2.0, None)), False),
        (np.float64(1), False),
        (frozenset({1}), False),
        ([1, 2], True),
        ([[1], [2]], True),
        ([[1], 2], True),
        ((1, [2]), True),
        ({"a": 1}, True),
        ({"a": [1]}, True),
        (np.zeros(3), True),
        ([np.zeros(3)], True),
        (np.array([[1], None], dtype=object), True),
        ({1, 2}, True),
        (Thing(), True),
        (shared(), True),
    ],
    ids=str,
)
def test_inputs_that_can_change_are_copied(given: Any, is_copied: bool) -> None:
    make = copier(given)
    assert (make is not None) == is_copied
    if make is not None:
        first, second = make(), make()
        assert first is not second
        assert first is not given
        assert type(first) is type(given)
        assert repr(first) == repr(given) or isinstance(given, Thing)


def test_a_list_in_two_places_stays_one() -> None:
    make = copier(shared())
    assert make is not None
    copied = make()
    copied[0].append(2)
    assert copied == [[1, 2], [1, 2]]
    assert make() == [[1], [1]]


@pytest.mark.parametrize("given", [[3], [[3]], {"a": 3}, {"a": [3]}, np.array([3])])
def test_runs_do_not_see_what_others_did_to_their_input(given: Any) -> None:
    def consumes(content: Any) -> Any:
        place = "a" if isinstance(content, dict) else 0
        if isinstance(content[place], list):
            return consumes(content[place])
        content[place] += 1
        return int(content[place])

    before = repr(given)
    assert run(consumes, given=given, runs=3) == [4, 4, 4]
    assert repr(given) == before


def test_runs_do_not_see_what_others_did_to_an_argument() -> None:
    def consumes(value: int, seen: list[int]) -> int:
        seen.append(value)
        return len(seen)

    box = black_box(consumes, given={"seen": []})
    assert box.run(1, 3, gen()) == [1, 1, 1]


def test_an_input_that_cannot_be_copied() -> None:
    with pytest.raises(InputError, match="cannot be copied"):
        run(lambda value: 1, given=[threading.Lock()])


# --- names, hashes and other processes ---------------------------------------------------------------------------

BOXES = """
import random
import numpy as np
from dpverdict import mechanism, single_run, vectorised

class Configured:
    def __init__(self, scale):
        self.scale = scale
    def randomise(self, value, rng):
        return value + self.scale * rng.normal()

def one(value, rng, shift=0.0):
    return [value + shift + rng.normal(), random.random()]

@vectorised(runs_arg="trials")
def many(value, trials, rng):
    return value + rng.normal(size=(trials, 2))

def make():
    return Configured(3.0)

instance = Configured(2.0)

@mechanism
def noisy(noise, value, epsilon):
    return noise.laplace(value, scale=1 / epsilon)

def ambiguous(value, size=None):
    return value

constant = 3

def watch(output):
    return str(output)[:6]
"""

IN_A_WORKER = """
import json, pickle, sys
from dpverdict.execute.seeds import generator
from dpverdict.mechanism.outcome import to_json
from dpverdict.mechanism.tally import listed
box = pickle.load(sys.stdin.buffer)
print(json.dumps([to_json(outcome) for outcome in listed(box.run(1.0, 20, generator(1, "job", 3)))]))
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boxes.py").write_text(BOXES)
    (tmp_path / "as_module.py").write_text(BOXES)
    yield tmp_path / "boxes.py"
    sys.modules.pop("as_module", None)


def in_a_worker(box: BlackBox, folder: Path) -> str:
    done = subprocess.run(
        (sys.executable, "-c", IN_A_WORKER),
        input=pickle.dumps(box),
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize(
    "target", ["boxes.py:one", "boxes.py:many", "boxes.py:make", "boxes.py:instance", "as_module:one"]
)
def test_other_processes_find_a_box_by_its_reference(file: Path, tmp_path: Path, target: str) -> None:
    options = Options(observe=observer("boxes.py:watch")) if target.endswith("one") else Options()
    box = load_runnable(target, options, {"shift": 1.0} if target.endswith("one") else None)
    assert isinstance(box, FunctionBox)
    assert box.is_portable
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    here = pickle.loads(pickle.dumps(box))
    assert in_a_worker(box, elsewhere) == in_a_worker(here, file.parent)
    assert box.source.reference == target
    assert box.source.sha256 == hashlib.sha256(BOXES.encode()).hexdigest()


def test_a_mechanism_s_plain_runs_travel_too(file: Path) -> None:
    found = load_runnable("boxes.py:noisy")
    assert isinstance(found, Mechanism)
    box = found.black_box(epsilon=2.0)
    again = pickle.loads(pickle.dumps(box))
    assert again.run(1.0, 5, gen()) == box.run(1.0, 5, gen())
    assert box.source.sha256 == hashlib.sha256(BOXES.encode()).hexdigest()
    assert pickle.loads(pickle.dumps(find("svt1").mechanism.black_box(epsilon=1.0))).name == "svt1"


def test_functions_of_this_module_have_a_reference() -> None:
    for found in (plain, whole, declared_names, factory):
        box = made(found)
        again = pickle.loads(pickle.dumps(box))
        assert tally(again.run(0.0, 5, gen())) == tally(box.run(0.0, 5, gen()))


@pytest.mark.parametrize("found", [lambda value: value, functools.partial(plain), Called(2.0).__call__])
def test_what_has_no_reference_says_so(found: Any) -> None:
    box = made(found)
    assert not box.is_portable
    with pytest.raises(TargetError, match=r"(?s)TARGET-030.*another process.*threads"):
        pickle.dumps(box)
    box = made(plain, observe=observer(lambda output: output))
    with pytest.raises(TargetError, match="lambda"):
        pickle.dumps(box)


def test_a_source_that_changed_is_not_run(file: Path) -> None:
    whole_box = pickle.dumps(load_runnable("boxes.py:one"))
    file.write_text(BOXES.replace("rng.normal()", "2 * rng.normal()"))
    with pytest.raises(TargetError, match="TARGET-032"):
        pickle.loads(whole_box)
    file.write_text(BOXES.replace("def one", "def another"))
    with pytest.raises(TargetError, match="TARGET-031"):
        pickle.loads(whole_box)


def test_line_ends_do_not_change_the_hash(file: Path) -> None:
    before = load_runnable("boxes.py:one")
    file.write_bytes(BOXES.replace("\n", "\r\n").encode())
    after = load_runnable("boxes.py:one")
    assert isinstance(before, FunctionBox)
    assert isinstance(after, FunctionBox)
    assert before.source.sha256 == after.source.sha256


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("boxes.py:ambiguous", ["RUN-007", "boxes.py:ambiguous", "size"]),
        ("boxes.py:constant", ["RUN-044", "cannot be run"]),
        ("boxes.py:nothing", ["TARGET-013"]),
        ("nowhere.py:one", ["TARGET-006"]),
        ("boxes.py:Configured", ["RUN-041", "scale"]),
        ("samples:A.npy", ["SAMPLES-003"]),
        ("catalog:nothing", ["TARGET"]),
    ],
)
def test_targets_that_cannot_be_run(file: Path, target: str, shown: list[str]) -> None:
    with pytest.raises(DPVerdictError) as caught:
        load_runnable(target)
    for part in shown:
        assert part in str(caught.value)


def test_the_whole_catalogue_can_be_run_plainly() -> None:
    assert isinstance(load_runnable("catalog:svt1"), Mechanism)


def test_an_exception_that_cannot_be_shown_is_an_error_all_the_same() -> None:
    class UnspeakableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def fails(value: int, rng: np.random.Generator) -> int:
        raise UnspeakableError

    box = made(fails)
    failed = box.failure(1, np.random.default_rng(1))
    assert failed is not None
    assert "UnspeakableError (its text cannot be shown)" in str(failed)
