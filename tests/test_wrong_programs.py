"""Attempts to make tracing accept a program that differs from its function.

Each mechanism here must either be refused or have a program with the function's own distribution.  A program is held
against its function by counting: runs of both are reduced to few outcomes, and a frequency may differ by at most
five standard deviations and one per cent; all seeds are fixed, so nothing here can fail by chance.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from dpverdict.errors import UntraceableError
from dpverdict.execute.seeds import generator
from dpverdict.mechanism import Mechanism, front
from dpverdict.mechanism import functions as traced
from dpverdict.mechanism.noise import Noise, RealNoise
from dpverdict.mechanism.outcome import Raised
from dpverdict.mechanism.path_record import Limits
from dpverdict.mechanism.structure import Kind
from dpverdict.mechanism.symbolic_input import form_of, text_of
from dpverdict.reading.sample import Sampler, decode, sample_blocks

RUNS = 2_000
QUICK = Limits(seconds=2.0, path_seconds=0.5)


def counts(outputs: Iterable[Any]) -> dict[Any, float]:
    counted = collections.Counter(plain(output) for output in outputs)
    return {output: count / counted.total() for output, count in counted.items()}


def plain(output: Any) -> Any:
    """A hashable output with rounded numbers; True is not 1."""
    if isinstance(output, (np.ndarray, np.generic)):
        output = output.tolist()
    if isinstance(output, (list, tuple)):
        return tuple(plain(item) for item in output)
    if isinstance(output, dict):
        return tuple((key, plain(item)) for key, item in output.items())
    return round(float(output), 9) if type(output) in (int, float) else str(output)


def outcome(function: Callable[..., Any], *given: Any, **arguments: Any) -> Any:
    try:
        return function(*given, **arguments)
    except Exception as error:  # noqa: BLE001 (any exception is an outcome)
        return Raised(type(error).__name__)


def agree(function: Callable[..., Any], given: Any, traced_for: Any = None) -> bool:
    """Whether the program has the function's distribution, or is refused for this input (not for the other)."""
    made = Mechanism(function, limits=QUICK)
    made.program_for(given if traced_for is None else traced_for)
    if traced_for is not None and made.why_not(given) is not None:
        return True
    sampler = Sampler(made.program_for(given), given, 1.0)
    batches = sample_blocks(sampler, 10 * RUNS, 1, "wrong programs", 1, decode)
    ours = [output for batch in batches for output in batch]
    noise, arguments = RealNoise(generator(2, "wrong programs", 0)), made.arguments(None, epsilon=1.0)
    really = [outcome(function, noise, given, **arguments) for _ in range(RUNS)]
    one, other = counts(ours), counts(really)
    outcomes = {*one, *other}
    return all(abs(one.get(o, 0) - other.get(o, 0)) <= 0.01 + 5 * math.sqrt(0.25 / RUNS) for o in outcomes)


def refused(function: Callable[..., Any], given: Any = 0) -> str:
    found = Mechanism(function, limits=QUICK).why_not(given)
    assert isinstance(found, UntraceableError)
    return str(found)


# --- numpy's rules are not Python's ------------------------------------------------------------------------------


def masks(noise: Noise) -> tuple[Any, Any]:
    return noise.laplace(size=2) > 0, noise.laplace(size=2) > 0.5


AS_NUMPY: dict[str, Callable[[Any], Any]] = {
    "or of two items": lambda noise: (lambda m: m[0] + m[1])(masks(noise)[0]),
    "or of two arrays": lambda noise: np.add(*masks(noise)),
    "and": lambda noise: (lambda m: m[0] * m[1] + m[0])(masks(noise)[0]),
    "not": lambda noise: ~masks(noise)[0],
    "dot": lambda noise: (lambda m: np.dot(m, m))(masks(noise)[0]),
    "sums count": lambda noise: (lambda m: (m.sum(), np.cumsum(m), sum(m), np.prod(m), m.mean()))(masks(noise)[0]),
    "sums of lists count": lambda noise: np.sum([noise.bernoulli(), noise.bernoulli()]),
    "sums of stacks count": lambda noise: np.stack(masks(noise)).sum(axis=0),
    "one type after concatenate": lambda noise: (lambda b: b[0] + b[1])(np.concatenate([masks(noise)[0], [5]])),
    "one type after where": lambda noise: (lambda m: (lambda b: b[0] + b[1])(np.where(m, m, 3)))(masks(noise)[0]),
    "lists have Python's rules": lambda noise: (lambda m: m[0] + m[1])(masks(noise)[0].tolist()),
    "isinstance": lambda noise: isinstance(noise.discrete_laplace(size=2)[0], int),
    "masks as indices": lambda noise: (lambda y: len(y[y > 1]))(noise.laplace(size=3)),
    "axes": lambda noise: (lambda y: (y.argmax(axis=1), y.any(axis=0)))(noise.laplace(size=(2, 2)) > 0),
    "nested outputs": lambda noise: ([noise.bernoulli(), [1, 2]], {"a": [noise.bernoulli()]}, noise.bernoulli()),
}


@pytest.mark.parametrize("name", AS_NUMPY)
def test_arrays_have_the_rules_of_numpy(name: str) -> None:
    assert agree(lambda noise, _: AS_NUMPY[name](noise), 0)


def halved_in_place(noise: Noise, _: Any) -> Any:
    counted = noise.discrete_laplace(size=2)
    counted[0] = counted[0] / 2  # a whole-number array rounds this
    return counted


def into_booleans(noise: Noise, _: Any) -> Any:
    found = noise.bernoulli(size=2)
    found[0] = 5
    return found


NOT_AS_NUMPY: dict[str, Callable[[Any], Any]] = {
    "difference of booleans": lambda noise: (lambda m: m[0] - m[1])(masks(noise)[0]),
    "minus a boolean": lambda noise: -masks(noise)[0],
    "diff of booleans": lambda noise: np.diff(masks(noise)[0]),
    "arrays of booleans": lambda noise: np.array([noise.bernoulli(), noise.bernoulli()]),
    "eight bits": lambda noise: np.uint8(250) + noise.choice([1, 10]),
    "32 bits": lambda noise: np.float32(2**24) + 1 + noise.bernoulli(),
    "start value": lambda noise: np.sum(noise.laplace(size=2), initial=5) > 0,
    "condition": lambda noise: np.max(noise.laplace(size=2), initial=0, where=[False, True]) > 0,
    "kept dimensions": lambda noise: noise.laplace(size=(2, 2)).max(axis=1, keepdims=True).shape,
    "an error of numpy": lambda noise: np.select([noise.laplace(size=2) > 0], [1], 0),
    "text of a number": lambda noise: str(noise.choice([0.5, 1.0, 2])),
}


@pytest.mark.parametrize("name", NOT_AS_NUMPY)
def test_what_numpy_does_differently_is_refused(name: str) -> None:
    refused(lambda noise, _: NOT_AS_NUMPY[name](noise))


@pytest.mark.parametrize("function", [halved_in_place, into_booleans])
def test_arrays_that_would_round_are_refused(function: Callable[..., Any]) -> None:
    assert "narrower type" in refused(function)


# --- values that are not defined for all inputs ------------------------------------------------------------------

PARTIAL: dict[str, Callable[..., Any]] = {
    "division": lambda noise, x: 1 / x + noise.bernoulli(),
    "negative power": lambda noise, x: x**-1 + noise.bernoulli(),
    "powers that cancel": lambda noise, x: x**2 * x**-2 + noise.bernoulli(),
    "root": lambda noise, x: (x**0.5 > 1) + noise.bernoulli(),
    "power of epsilon": lambda noise, x, epsilon: (x**epsilon > 0) + noise.bernoulli(),
    "logarithm": lambda noise, x: (traced.log(x) < 0) + noise.bernoulli(),
    "square root": lambda noise, x: (traced.sqrt(x) < 1) + noise.bernoulli(),
    "numpy's logarithm": lambda noise, x: bool(np.log(x) < 0) + noise.bernoulli(),
    "numpy's square root": lambda noise, x: bool(np.sqrt(x) < 1) + noise.bernoulli(),
    "branch without noise": lambda noise, x: noise.bernoulli() if x > 0 else 5,
    "division by an item": lambda noise, x: bool(1 / np.array([x, 1.0])[0] > 5) + noise.bernoulli(),
    "division by numpy's sum": lambda noise, x: bool(1 / np.sum([x, x]) > 5) + noise.bernoulli(),
    "division by numpy's largest": lambda noise, x: bool(1 / np.max([x, x]) > 5) + noise.bernoulli(),
    "negative power of an item": lambda noise, x: bool(np.array([x, 1.0])[0] ** -1 > 5) + noise.bernoulli(),
}


@pytest.mark.parametrize("given", [2.0, 0.0, -1.0])
@pytest.mark.parametrize("name", PARTIAL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_are_asked_for_only_where_they_exist(name: str, given: float) -> None:
    assert agree(PARTIAL[name], given, traced_for=2.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arrays_divide_by_zero_without_an_error() -> None:
    assert agree(lambda noise, x: bool(1 / x[0] > 5) + noise.bernoulli(), np.array([0.0]), np.array([2.0]))


@pytest.mark.parametrize("given", [math.nan, math.inf])
def test_inputs_that_are_not_finite_have_their_own_program(given: float) -> None:
    assert agree(lambda noise, x: (not x > 0, x <= 0, noise.bernoulli()), given, traced_for=1.0)


# --- finite values are what the function would see ---------------------------------------------------------------

FINITE: dict[str, Callable[[Any], Any]] = {
    "division by some": lambda noise: 1 / noise.choice([0, 1, 2]),
    "guarded division": lambda noise: (lambda c, e: e / c if c else -1)(noise.choice([0, 1]), noise.choice([1, 3])),
    "remainder of floats": lambda noise: noise.choice([0.3, 0.5]) % 0.1,
    "floor of floats": lambda noise: noise.choice([0.3, 0.6]) // 0.1,
    "rounding of floats": lambda noise: round(noise.choice([0.15, 2.5]), 1),
    "format of floats": lambda noise: f"{noise.choice([0.5, 1]):.2f}",
    "power of a boolean": lambda noise: noise.bernoulli() ** 1,
    "largest of a boolean and a number": lambda noise: traced.maximum(noise.bernoulli(), 0.5),
    "product of booleans": lambda noise: noise.bernoulli() * noise.bernoulli() + 1,
    "mixed choice": lambda noise: traced.choose(noise.bernoulli(), 5, noise.bernoulli()),
    "half locations": lambda noise: noise.discrete_laplace(noise.choice([0, 0.5]), 0.1),
}


@pytest.mark.parametrize("name", FINITE)
def test_finite_values_are_floats_as_in_a_run(name: str) -> None:
    assert agree(lambda noise, _: FINITE[name](noise), 0)


@pytest.mark.parametrize("given", [[0.5, 0.5], [0.3, 0.3]])
def test_probabilities_must_sum_to_one(given: list[float]) -> None:
    assert agree(lambda noise, p: noise.choice([0, 1], p=p), given, traced_for=[0.5, 0.5])


# --- rare branches -----------------------------------------------------------------------------------------------


def three_times(noise: Noise) -> bool:
    return all(noise.laplace() > 3 for _ in range(3))


GATES: dict[str, Callable[[Any], Any]] = {
    "far tail": lambda noise: noise.laplace() > 30,
    "rare coin": lambda noise: noise.bernoulli(1e-4),
    "rare whole number": lambda noise: noise.discrete_laplace() == 7,
    "rare three times": three_times,
}

SEEN_BY_RUNNING: dict[str, Callable[[Any], Any]] = {
    "type": lambda noise: type(noise.laplace()) is float,
    "identity": lambda noise: (noise.laplace() > 0) is True,
    "type of a quotient": lambda noise: isinstance(noise.discrete_laplace() / 1, int),
}


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("name", SEEN_BY_RUNNING)
def test_differences_in_rare_branches_are_found(name: str, gate: str) -> None:
    differ = SEEN_BY_RUNNING[name]
    assert "differ" in refused(lambda noise, _: differ(noise) if GATES[gate](noise) else 0)


@pytest.mark.parametrize("differ", SEEN_BY_RUNNING.values(), ids=SEEN_BY_RUNNING)
def test_differences_on_rare_inputs_are_found(differ: Callable[[Any], Any]) -> None:
    assert "differ" in refused(lambda noise, x: differ(noise) if x == 7 else noise.bernoulli(), 2.0)


# --- what replays would find late ---------------------------------------------------------------------------------

WITHOUT_REPLAY: dict[str, Callable[[Any], Any]] = {
    "largest of a boolean and a number": lambda noise: np.max([noise.bernoulli(), 0.5]),
    "sum of one boolean": lambda noise: np.sum([noise.bernoulli()]),
    "sums of rows": lambda noise: np.sum([[noise.bernoulli()], [noise.bernoulli()]], axis=1).tolist(),
    "running sums": lambda noise: np.cumsum([noise.bernoulli(), noise.bernoulli()]).tolist(),
    "sum of a plain array": lambda noise: np.asarray(noise.bernoulli(size=2)).sum(),
    "product of a plain array": lambda noise: np.array(noise.bernoulli(size=2)).prod(),
    "sum of plain arrays": lambda noise: (np.asarray(noise.bernoulli(size=2)) + np.array(masks(noise)[0])).tolist(),
    "known zero": lambda noise: (lambda y: bool(1 / (y[0] - y[0]) > 5))(noise.laplace(size=2)),
    "known zero in an array": lambda noise: (lambda y: 1 / (y - y[0]) > 0)(noise.laplace(size=2)).tolist(),
    "sums of known booleans": lambda noise: (masks(noise)[0] + [True, False]).tolist(),
    "a whole float as text": lambda noise: str(noise.laplace() * 0 + 1),
    "a whole float's type": lambda noise: isinstance(noise.laplace() * 0 + 1, float),
    "a whole quotient": lambda noise: str((lambda c: (c - c + 4) / 2)(noise.bernoulli())),
    "pickled": lambda noise: len(pickle.dumps(noise.bernoulli())) > 0,
    "is None": lambda noise: noise.choice([None, 1]) is None,
    "beyond floats": lambda noise: noise.discrete_laplace() < 10**400,
}


def agree_at_once(monkeypatch: pytest.MonkeyPatch, function: Callable[[Any], Any]) -> bool:
    """Whether the program has the function's distribution, or is refused, without a replay."""
    monkeypatch.setattr(front, "replay", lambda *_: None)
    try:
        return agree(lambda noise, _: function(noise), 0)
    except UntraceableError:
        return True


@pytest.mark.parametrize("name", WITHOUT_REPLAY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tracing_alone_is_not_fooled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agree_at_once(monkeypatch, WITHOUT_REPLAY[name])


def test_numbers_in_a_list_that_numpy_has_read_keep_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(noise: Noise, x: Any) -> Any:
        np.mean(x)
        return isinstance(x[0], int) + noise.bernoulli()

    monkeypatch.setattr(front, "replay", lambda *_: None)
    assert agree(asked, [2.0, 1.0])
    assert "a list that numpy has read" in refused(asked, [2, 1])


def test_what_only_a_replay_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control of the test above."""
    assert not agree_at_once(monkeypatch, SEEN_BY_RUNNING["identity"])


# --- state between runs ------------------------------------------------------------------------------------------


def test_a_default_that_remembers_is_refused() -> None:
    def remembering(noise: Noise, _: Any, seen: list[int] = []) -> Any:  # noqa: B006 (the point)
        seen.append(1)
        return noise.bernoulli()

    refused(remembering)


def test_a_symbol_in_a_cache_is_refused() -> None:
    @functools.lru_cache
    def doubled(flag: bool) -> int:
        return flag * 2

    refused(lambda noise, _: doubled(noise.bernoulli()))


def test_a_symbol_left_behind_is_refused() -> None:
    kept: dict[str, Any] = {}
    refused(lambda noise, _: 1 if kept.setdefault("flag", noise.bernoulli()) else 2)


# --- which questions are the same --------------------------------------------------------------------------------


def test_programs_are_kept_for_equal_arguments_only() -> None:
    def above(noise: Noise, x: Any, limits: Any) -> Any:
        return bool(limits[-1] > 0.123456789) + noise.bernoulli()

    made = Mechanism(above)
    long = np.zeros(2_000)
    other = long.copy()
    other[1_000] = 1.0
    digits = np.array([0.1234567891]), np.array([0.1234567889])
    assert repr(digits[0]) == repr(digits[1])
    assert made.program_for(0.0, {"limits": long}) is not made.program_for(0.0, {"limits": other})
    assert made.program_for(0.0, {"limits": digits[0]}) is not made.program_for(0.0, {"limits": digits[1]})
    assert made.program_for(0.0, {"limits": digits[0]}) is made.program_for(0.0, {"limits": digits[0].copy()})


def test_texts_tell_values_apart() -> None:
    values = [1, 1.0, True, "1", np.float64(1), np.float32(1), np.array([1]), np.array([1.0]), [1], (1,), {0: 1}, None]
    texts = {text_of(value) for value in values}
    assert None not in texts
    assert len(texts) == len(values)
    assert text_of(object()) is None
    assert text_of([object()]) is None


@pytest.mark.parametrize(
    "given",
    [
        np.array([1], np.uint8),
        np.array([1.0], np.float32),
        np.array([1, 2.5], object),
        np.ma.masked_array([1.0], mask=[True]),
        np.float32(1),
        collections.defaultdict(int, a=1),
        [[0]] * 2,
        [math.nan],
        np.array([math.inf]),
    ],
)
def test_inputs_with_rules_of_their_own_have_no_form(given: Any) -> None:
    assert form_of(given) is None


def test_forms_of_scalars() -> None:
    kinds = [(True, Kind.TRUTH), (1, Kind.INTEGER), (1.0, Kind.REAL)]
    assert [form_of(scalar) for scalar, _ in kinds] == [kind.value for _, kind in kinds]
    assert form_of(np.float64(1)) != form_of(1.0)


# --- time and threads --------------------------------------------------------------------------------------------


def swallows_once(noise: Noise, _: Any) -> Any:
    try:
        while True:
            pass
    except BaseException:  # noqa: BLE001 (the point)
        return noise.bernoulli()


def swallows_always(noise: Noise, _: Any) -> Any:
    while True:
        with contextlib.suppress(BaseException):
            sum(range(100))


def waits_with_numbers_only(noise: Noise, x: Any) -> Any:
    while type(x) is float:
        pass
    return noise.bernoulli()


@pytest.mark.parametrize("function", [swallows_once, swallows_always, waits_with_numbers_only])
def test_endless_functions_are_left(function: Callable[..., Any]) -> None:
    assert "does not come to an end" in refused(function, 1.0)


def test_threads_may_trace_at_once() -> None:
    def printing(noise: Noise, x: Any) -> Any:
        print("not shown")  # noqa: T201 (the point)
        time.sleep(0.005)
        return noise.bernoulli()

    made, output = Mechanism(printing), sys.stdout
    found: list[Any] = []
    threads = [threading.Thread(target=lambda x=x: found.append(made.why_not(x))) for x in (1, 1.0, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [None] * 3
    assert sys.stdout is output


def test_leaving_the_interpreter_is_refused() -> None:
    class Unusual(BaseException):
        pass

    def leaving(noise: Noise, _: Any) -> Any:
        raise Unusual

    assert "leaves the interpreter" in refused(leaving)
