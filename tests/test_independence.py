"""The checks of independence: planted faults are found, independent runs raise no alarm.

Each examination raises a false alarm with a probability of at most 1e-9; there are fewer than 300 here.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Hashable, Sequence
from itertools import chain

import numpy as np
import pytest

from dpverdict.evidence.independence import Evidence, examine, largest_probability, tail
from dpverdict.execute import seeds

RUNS = 400
BLOCKS = 9

Run = Callable[[np.random.Generator], Hashable]


def evidence(make: Callable[[], Run], *, elsewhere: int = 2) -> Evidence:
    """Blocks as a worker runs them: `make` starts a worker, its function makes one run from the block's generator."""

    def block(run: Run, number: int) -> Sequence[Hashable]:
        generator = seeds.generator(1, "independence test", number)
        return [run(generator) for _ in range(RUNS)]

    worker = make()
    blocks = tuple(block(worker, number) for number in range(BLOCKS))
    again = block(worker, 0)
    fresh = make()
    return Evidence(blocks, again, tuple(block(fresh, BLOCKS + number) for number in range(elsewhere)))


INDEPENDENT: dict[str, Run] = {
    "Laplace": lambda rng: float(rng.laplace()),
    "coin": lambda rng: bool(rng.random() < 0.5),
    "rare": lambda rng: bool(rng.random() < 0.001),
    "constant": lambda rng: 7,
    "rounded": lambda rng: round(float(rng.laplace(scale=3))),
    "vector": lambda rng: tuple(rng.laplace(size=3).tolist()),
    "ragged": lambda rng: tuple(bool(x) for x in rng.random(int(rng.integers(0, 4))) < 0.5),
    "text": lambda rng: "abcdefgh"[: int(rng.integers(1, 8))],
    "infinite": lambda rng: float("inf") if rng.random() < 0.5 else float(rng.normal()),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_runs_raise_no_alarm(name: str) -> None:
    found = examine(evidence(lambda: INDEPENDENT[name]))
    assert found.findings == ()
    assert found.replayable
    assert found.runs == RUNS * (BLOCKS + 3)


def test_many_independent_examinations_raise_no_alarm() -> None:
    for repetition in range(60):
        rng = seeds.generator(repetition, "calibration", 0)
        draw = [lambda g: g.integers(0, 2), lambda g: g.integers(0, 50), lambda g: g.random()][repetition % 3]
        parts = [tuple(draw(rng) for _ in range(150)) for _ in range(8)]
        assert examine(Evidence(tuple(parts[:6]), parts[0], tuple(parts[6:]))).findings == ()


def fixed_seed() -> Run:
    """A function that makes its own generator anew in each call of a block."""
    own: dict[int, np.random.Generator] = {}
    return lambda rng: float(own.setdefault(id(rng), np.random.Generator(np.random.SFC64(5))).laplace())


def same_noise_each_call() -> Run:
    return lambda _: float(np.random.Generator(np.random.SFC64(5)).laplace())


def memoised() -> Run:
    kept: list[float] = []

    def run(rng: np.random.Generator) -> float:
        if not kept:
            kept.append(float(rng.laplace()))
        return kept[0]

    return run


def periodic() -> Run:
    noise = np.random.Generator(np.random.SFC64(random.Random(3).getrandbits(32))).laplace(size=37).tolist()
    cycle = itertools.cycle(noise)
    return lambda _: float(next(cycle))


def drifting() -> Run:
    counter = itertools.count()
    return lambda rng: float(rng.laplace() + next(counter) / 400)


def shrinking_budget() -> Run:
    counter = itertools.count()
    return lambda rng: bool(rng.random() < 0.5) if next(counter) < 1500 else False


def follows_the_last() -> Run:
    last = [0.0]

    def run(rng: np.random.Generator) -> float:
        last[0] = 0.9 * last[0] + float(rng.normal())
        return last[0]

    return run


def alternating() -> Run:
    counter = itertools.count()
    return lambda rng: bool((rng.random() < 0.9) == (next(counter) % 2 == 0))


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        (fixed_seed, {"fixed seed", "periodic"}),
        (memoised, {"memoised"}),
        (periodic, {"periodic"}),
        (drifting, {"state"}),
        (shrinking_budget, {"state"}),
        (follows_the_last, {"state"}),
        (alternating, {"state", "periodic"}),
    ],
)
def test_planted_faults_are_found(fault: Callable[[], Run], kinds: set[str]) -> None:
    found = examine(evidence(fault))
    assert {finding.kind for finding in found.findings} & kinds
    assert all(finding.message for finding in found.findings)


def test_a_mechanism_that_is_always_the_same_is_no_fault_here() -> None:
    """The same noise in every call of every worker is a constant: constants are independent, but it is said."""
    found = examine(evidence(same_noise_each_call))
    assert found.findings == ()
    assert found.constant
    assert not examine(evidence(fixed_seed)).constant


def test_own_entropy_cannot_be_replayed() -> None:
    own = np.random.Generator(np.random.SFC64(9))
    found = examine(evidence(lambda: lambda _: float(own.laplace())))
    assert not found.replayable
    assert found.findings == ()


def test_nothing_to_examine() -> None:
    found = examine(Evidence((), ()))
    assert found.findings == ()
    assert not found.constant
    assert examine(Evidence(((1,), (2,)), (1,))).findings == ()


def test_outcomes_of_every_kind_are_compared() -> None:
    """A drift is found in texts, in lists and in dictionaries that are never the same twice."""
    makers: list[Callable[[float], Hashable]] = [
        lambda size: "x" * int(size),
        lambda size: (size, "a"),
        lambda size: (math.nan, size),
    ]
    for make in makers:
        rng = seeds.generator(4, "kinds", 0)
        parts = [tuple(make(1e3 * rng.random() + 3e3 * (at > 4)) for _ in range(400)) for at in range(9)]
        assert {finding.kind for finding in examine(Evidence(tuple(parts), parts[0])).findings} == {"state"}
    unordered = [tuple(frozenset({str(number), str(at)}) for number in range(150)) for at in range(8)]
    assert examine(Evidence(tuple(unordered), unordered[0])).findings == ()
    assert examine(Evidence(((1,),), (1,))).findings == ()


@pytest.mark.parametrize("probability", [0.0, 0.01, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("trials", [1, 7, 60])
def test_the_tail_bound_is_above_the_exact_tail(probability: float, trials: int) -> None:
    from scipy.stats import binom

    for hits in range(trials + 1):
        assert tail(hits, trials, probability) >= binom.sf(hits - 1, trials, probability) * (1 - 1e-12)


@pytest.mark.parametrize(("hits", "trials"), [(0, 50), (3, 50), (50, 50), (400, 1000)])
def test_the_upper_bound_leaves_alpha_below(hits: int, trials: int) -> None:
    from scipy.stats import binom

    upper = largest_probability(hits, trials, 1e-6)
    assert upper >= hits / trials
    assert binom.cdf(hits, trials, upper) <= 1e-6 * (1 + 1e-9) or upper == 1.0


def test_numbers_beyond_floats_are_examined_too() -> None:
    draws = np.random.default_rng(8).integers(2**62, size=(11, 200)).tolist()
    huge = [[(10**400 if n % 2 else -(10**400)) + n for n in block] for block in draws]
    assert not examine(Evidence(tuple(huge[:9]), huge[0], tuple(huge[9:]))).findings
    fixed = examine(Evidence((huge[0],) * 9, huge[0], tuple(huge[9:])))
    assert "fixed seed" in [finding.kind for finding in fixed.findings]
    # Large outcomes first, small ones later: another law, which only the size of such numbers shows.
    falling = [sorted(block, reverse=True) for block in huge[:9]]
    drifting = [[n for n in chain(*falling) if n > 0][:800], [n for n in chain(*falling) if n < 0][:800]]
    blocks = [huge[0], *(part[at : at + 200] for part in drifting for at in range(0, 800, 200))]
    assert "state" in [finding.kind for finding in examine(Evidence(tuple(blocks), blocks[0])).findings]
