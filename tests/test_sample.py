"""The sampling reading: the same counts whatever the number of threads, no noise drawn in vain, every kind of output.

That it has the right distribution is checked elsewhere: against plain runs in `test_catalog.py`, against exact
probabilities in `test_catalog_exact.py`.  Here chance decides only in `test_slots_of_every_kind_keep_their_shares`,
which states its false-alarm probability.
"""

from __future__ import annotations

import math
import threading
import time
import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpverdict
from dpverdict.catalog import find
from dpverdict.errors import InputError, MechanismError
from dpverdict.execute import seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.mechanism import Mechanism, mechanism
from dpverdict.mechanism.outcome import Mapping, Raised, freeze
from dpverdict.mechanism.structure import Constant, RaiseNode
from dpverdict.mechanism.tally import Tally
from dpverdict.mechanism.tally import tally as outcome_tally
from dpverdict.reading.sample import Batch, Coded, Sampler, decode, sample_blocks, tally

RUNS = 3 * (1 << 18) + 1000  # four blocks, the last one short


def sampler(made: Mechanism, given: Any, epsilon: float | None = 1.0, **arguments: Any) -> Sampler:
    return Sampler(made.program_for(given, arguments), given, epsilon)


def batch(made: Mechanism, given: Any, epsilon: float | None = 1.0, runs: int = 20_000, **arguments: Any) -> Batch:
    return sampler(made, given, epsilon, **arguments).batch(NumpyNoise(seeds.generator(5, "sample", 0)), runs)


class CountingNoise:
    """NumPy's noise, with a count of the draws of each kind."""

    def __init__(self) -> None:
        self._real = NumpyNoise(seeds.generator(2, "counting", 0))
        self.drawn: Counter[str] = Counter()

    @property
    def xp(self) -> Any:
        return np

    def __getattr__(self, kind: str) -> Any:
        def draw(size: int) -> Any:
            self.drawn[kind] += size
            return getattr(self._real, kind)(size)

        return draw


# --- seeds, threads, memory --------------------------------------------------------------------------------------


def restless(counted: Batch) -> tuple[Batch, Tally]:
    """A fold that lets other threads go first, each time in another way."""
    time.sleep(0.002 * (threading.get_ident() % 3))
    return (), tally(counted)


def test_the_number_of_threads_changes_nothing() -> None:
    svt = sampler(find("svt1").mechanism, (0, 1, -1, 1), stop_after=2)
    folds = [
        [found for _, found in sample_blocks(svt, RUNS, 1, "threads", workers, restless)] for workers in (1, 2, 4, 2)
    ]
    assert folds[0] == folds[1] == folds[2] == folds[3]
    assert sum(counted.runs for counted in folds[0]) == RUNS


def test_real_numbers_are_the_same_too() -> None:
    laplace = sampler(find("laplace").mechanism, 0.0)
    sums = [list(sample_blocks(laplace, RUNS, 1, "threads", workers, _sum)) for workers in (1, 3)]
    assert sums[0] == sums[1]


def _sum(counted: Batch) -> float:
    return float(np.sum(counted[0].slots[0]))


def test_another_seed_or_job_gives_other_runs() -> None:
    laplace = sampler(find("laplace").mechanism, 0.0)
    starts = [next(sample_blocks(laplace, 1000, *place, 1, _sum)) for place in ((1, "a"), (2, "a"), (1, "b"), (1, "a"))]
    assert len(set(starts[:3])) == 3
    assert starts[0] == starts[3]


def test_a_block_can_be_redone_alone() -> None:
    """The runs of a block do not depend on how many blocks there are."""
    laplace = sampler(find("laplace").mechanism, 0.0)
    few, many = (list(sample_blocks(laplace, runs, 1, "alone", 2, _sum)) for runs in (1 << 18, RUNS))
    assert many[: len(few)] == few


def test_memory_does_not_grow_with_the_runs() -> None:
    svt = sampler(find("svt1").mechanism, (0, 1, 1), stop_after=1)

    def peak(runs: int) -> int:
        tracemalloc.start()
        try:
            total = sum(sample_blocks(svt, runs, 1, "memory", 2, lambda found: sum(group.runs for group in found)))
            assert total == runs
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1 << 19)
    assert peak(8_000_000) < 1.5 * peak(1_000_000) + 100_000


# --- no noise in vain ----------------------------------------------------------------------------------------------


def drawn(made: Mechanism, given: Any, runs: int = 1000, **arguments: Any) -> dict[str, int]:
    noise = CountingNoise()
    found = sampler(made, given, **arguments).batch(noise, runs)
    assert sum(group.runs for group in found) == runs
    return dict(noise.drawn)


def test_runs_that_have_ended_draw_no_more() -> None:
    # With an answer that is certainly above, all runs end after the threshold and one query.
    assert drawn(find("svt1").mechanism, (1e9, 0, 0, 0)) == {"laplace": 2000}
    assert drawn(find("svt1").mechanism, (-1e9, -1e9, 1e9, 0)) == {"laplace": 4000}


def test_each_side_of_a_branch_draws_for_its_own_runs() -> None:
    @mechanism
    def split(noise: Any, x: Any) -> Any:
        return noise.laplace(0, 1) if noise.bernoulli(0.25) else noise.normal(0, 1)

    counts = drawn(split, 0)
    assert counts["uniform"] == counts["laplace"] + counts["normal"] == 1000
    assert 0 < counts["laplace"] < counts["normal"]


def test_noise_that_nothing_needs_is_not_drawn() -> None:
    @mechanism
    def wasteful(noise: Any, x: Any) -> Any:
        noise.normal(0, 1)
        unused = noise.laplace(0, 1)
        used = noise.exponential(1)
        if used > 1:
            return used
        return unused * 0

    assert drawn(wasteful, 0) == {"exponential": 1000}


def test_a_draw_is_only_made_where_its_value_is_needed() -> None:
    @mechanism
    def thrifty(noise: Any, x: Any) -> Any:
        early = noise.normal(0, 1)
        return early if noise.laplace(0, 1) > 1e9 else 0

    assert drawn(thrifty, 0)["laplace"] == 1000


# --- every kind of output --------------------------------------------------------------------------------------------


@mechanism
def mixed(noise: Any, x: Any) -> Any:
    which = noise.choice([0, 1, 2, 3, 4, 5])
    if which == 0:
        first: Any = True
    elif which == 1:
        first = 1
    elif which == 2:
        first = noise.bernoulli(0.5)
    elif which == 3:
        first = noise.choice(["a", None, 2])
    elif which == 4:
        first = 0.5
    else:
        first = "b"
    return [first, noise.bernoulli(0.5), "end"]


def test_slots_of_every_kind_keep_their_shares() -> None:
    """Branches meet again with slots of several kinds.

    False alarms: 20 counts beyond 6.5 standard deviations of a binomial of 60,000 runs, below 20 · 1e-10 (their
    expectations are at least 1,600, where the binomial's tail stays near the normal one).
    """
    runs = 60_000
    counts = tally(batch(mixed, 0, None, runs))
    typed: Counter[Any] = Counter()
    for output in decode(batch(mixed, 0, None, runs)):
        typed[tuple((type(item).__name__, item) for item in output)] += 1
    first = {("bool", True): 1 / 6 + 1 / 12, ("bool", False): 1 / 12, ("int", 1): 1 / 6, ("float", 0.5): 1 / 6}
    first |= {("str", "a"): 1 / 18, ("NoneType", None): 1 / 18, ("int", 2): 1 / 18, ("str", "b"): 1 / 6}
    expected = {(item, ("bool", flag), ("str", "end")): p / 2 for item, p in first.items() for flag in (False, True)}
    assert set(typed) == set(expected)
    for label, p in expected.items():
        assert abs(typed[label] - runs * p) < 6.5 * math.sqrt(runs * p * (1 - p)), label
    assert counts.runs == runs


def test_exceptions_are_outcomes() -> None:
    @mechanism
    def fragile(noise: Any, x: Any) -> Any:
        if noise.bernoulli(0.5):
            raise KeyError("gone")
        return [noise.choice(["a", "b"])]

    found = batch(fragile, 0, None)
    counts = tally(found)
    assert set(counts) == {Raised("KeyError"), ("a",), ("b",)}
    assert counts == outcome_tally([freeze(output) for output in decode(found)])
    (raised,) = (group for group in found if isinstance(group.ending, RaiseNode))
    assert raised.slots == ()


def test_constant_and_coded_slots_stay_short() -> None:
    @mechanism
    def labelled(noise: Any, x: Any) -> Any:
        return ["head", noise.choice(["yes", "no", None], p=[0.5, 0.25, 0.25]), noise.bernoulli(0.5), x]

    (group,) = batch(labelled, 2.5, None)
    head, answer, coin, given = group.slots
    assert isinstance(head, Constant)
    assert isinstance(given, Constant)
    assert isinstance(answer, Coded)
    assert {value.content for value in answer.values} == {"yes", "no", None}
    assert coin.dtype == bool  # type: ignore[union-attr]
    assert next(decode((group,)))[3] == 2.5


RECORDS = {(("coin", coin), ("pick", pick)) for coin in (False, True) for pick in (-2, 1, 6)}


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda coin, pick: (coin, [pick]), {(a, (b,)) for a in (False, True) for b in (-1, 0.5, 3)}),
        (
            lambda coin, pick: {"coin": coin, "pick": pick * 2},
            {Mapping([("coin", a), ("pick", b)]) for a in (False, True) for b in (-2, 1, 6)},
        ),
        (lambda coin, pick: coin + pick, {-1, 0.5, 3, 0, 1.5, 4}),
        (lambda coin, pick: dpverdict.choose(coin, pick, 7), {-1, 0.5, 3, 7}),
        (lambda coin, pick: pick > 0, {False, True}),
        (lambda coin, pick: dpverdict.argmax([pick, 1, coin]), {0, 1}),
        (lambda coin, pick: dpverdict.maximum(pick, 1 - coin), {0, 0.5, 1, 3}),
        (lambda coin, pick: (pick * 2) // 1 % 4, {2, 1}),
        (lambda coin, pick: "abc"[int(dpverdict.choose(coin, 2, 0))], {"a", "c"}),
        (lambda coin, pick: {False: "tails", True: "heads"}[coin], {"tails", "heads"}),
        (lambda coin, pick: f"{coin}", {"False", "True"}),
        (lambda coin, pick: None, {None}),
        (lambda coin, pick: math.inf, {math.inf}),
        (lambda coin, pick: [], {()}),
    ],
)
def test_finite_terms_have_the_values_that_python_gives(build: Any, wanted: set[Any]) -> None:
    made = mechanism(lambda noise, x: build(noise.bernoulli(0.5), noise.choice([-1, 0.5, 3])))
    found = batch(made, 0, None, 2000)
    assert set(tally(found)) == wanted
    plain = [freeze(build(coin, pick)) for coin in (False, True) for pick in (-1, 0.5, 3)]
    assert {exactly(freeze(output)) for output in decode(found)} == set(map(exactly, plain))


def exactly(output: Any) -> Any:
    """Tells True and 1 apart (but not 1 and 1.0: a number is a number)."""
    if isinstance(output, tuple):
        return tuple(map(exactly, output))
    if isinstance(output, Mapping):
        return tuple((name, exactly(item)) for name, item in output.items())
    return ("number" if type(output) in (int, float) else type(output).__name__, output)


def test_many_values_are_tallied_without_overflow() -> None:
    made = mechanism(lambda noise, x: [noise.discrete_laplace(0, 10_000) for _ in range(8)])
    found = batch(made, 0, None, 3000)
    assert tally(found) == outcome_tally([freeze(output) for output in decode(found)])


def test_whole_numbers_beyond_64_bits_are_refused() -> None:
    """Arrays would wrap around without a word."""
    fits = mechanism(lambda noise, x: noise.discrete_laplace() * 10**16 + x)
    assert {output % 10**16 for output in decode(batch(fits, 5, None))} == {5}
    for wide in (10**18, 10**20):
        times = mechanism(lambda noise, x, wide=wide: noise.discrete_laplace() * wide + x)
        plus = mechanism(lambda noise, x, wide=wide: noise.discrete_laplace(scale=10**6) + 10 * wide + x)
        for made in (times, plus):
            with pytest.raises(MechanismError, match="may not fit 64 bits"):
                sampler(made, 5, None)


# --- what it is given ------------------------------------------------------------------------------------------------


def test_a_program_for_one_input_refuses_another() -> None:
    rappor = find("one-time-rappor").mechanism
    program = rappor.program_for(3)
    assert Sampler(program, 3, 1.0)
    with pytest.raises(InputError, match="about the input 3, got 4") as refused:
        Sampler(program, 4, 1.0)
    assert refused.value.code == "INPUT-020"


@pytest.mark.parametrize("given", [[1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0])])
def test_a_symbolic_program_takes_every_input_of_its_form(given: Any) -> None:
    total = mechanism(lambda noise, x: noise.laplace(x[0] + x[1], 1e-9))
    (group,) = batch(total, given, None, 100)
    assert group.slots[0] == pytest.approx(np.full(100, 3.0))


def test_arguments_and_epsilon_are_bound() -> None:
    scaled = mechanism(lambda noise, x, epsilon, unit=1.0: noise.laplace(x, 1e-12 * unit / epsilon) * unit)
    program = scaled.program_for(2.0, symbolic=frozenset({"unit"}))
    noise = NumpyNoise(seeds.generator(5, "bound", 0))
    (group,) = Sampler(program, 2.0, 0.5, {"unit": 3.0}).batch(noise, 10)
    assert group.slots[0] == pytest.approx(np.full(10, 6.0))
