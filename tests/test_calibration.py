"""Tests with a number of runs fixed beforehand, on mechanisms exactly at the boundary of their promise.

Each assertion about a correct test fails with probability at most 1e-9 (`boundary.FALSE_ALARM`), by an exact binomial
bound; seeds are fixed.  Each deliberately broken variant must fail in the same experiment.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from boundary import (
    ALL,
    ALPHA,
    LAPLACE,
    ONE,
    ONE_SIDED,
    ONLY_DELTA,
    PURE,
    RESPONSE,
    TIGHT,
    TINY_DELTA,
    Boundary,
    Counts,
    allowed,
    claims,
    coin_counts,
    pair_counts,
)
from dpverdict.claim import Approximate, Pure
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.bounds import (
    RightRate,
    pair_lower_bound,
    pair_refutes,
    pooled_lower_bound,
    pooled_refutes,
)
from dpverdict.evidence.counts import CoinCounts, PairCounts, toss
from dpverdict.evidence.events import ScoreAbove, Sides, count_sides, sides_of
from dpverdict.evidence.exploratory import thinned_fisher
from dpverdict.evidence.features import Coordinate
from dpverdict.evidence.rates import lower_rate
from dpverdict.evidence.scores import Linear
from dpverdict.execute import seeds

REPETITIONS = pytest.mark.parametrize("repetitions", [300, pytest.param(2000, marks=pytest.mark.slow)])
EACH = pytest.mark.parametrize("boundary", ALL, ids=lambda boundary: boundary.name)


def generator(what: str) -> np.random.Generator:
    return seeds.generator(7, what, 0, "calibration")


def experiments(boundary: Boundary, repetitions: int, what: str = "") -> Counts:
    return boundary.draw(repetitions, generator(f"{boundary.name} {what}"))


class SpentAgain(Allowance):
    """The broken allowance: it gives the whole to everyone who asks."""

    def spend(self, purpose: str) -> Fraction:
        return self.probability

    def split(self, *weights: Fraction | float | str) -> tuple[Allowance, ...]:
        return tuple(SpentAgain(self.probability) for _ in weights)


# --- the tests keep their level ------------------------------------------------------------------------------------


@EACH
@REPETITIONS
def test_pooled(boundary: Boundary, repetitions: int) -> None:
    def refutes(row: tuple[int, ...]) -> bool:
        return pooled_refutes(coin_counts(row, boundary.two_sided), Allowance(ALPHA), boundary.promise, both_ways=True)

    assert claims(experiments(boundary, repetitions), refutes) <= allowed(repetitions)


@EACH
@REPETITIONS
def test_pair(boundary: Boundary, repetitions: int) -> None:
    def refutes(row: tuple[int, ...]) -> bool:
        return pair_refutes(pair_counts(row), Allowance(ALPHA), boundary.guarantee, both_ways=True)

    assert claims(experiments(boundary, repetitions), refutes) <= allowed(repetitions)


@pytest.mark.parametrize("boundary", PURE, ids=lambda boundary: boundary.name)
@REPETITIONS
def test_bounds_are_below_the_truth(boundary: Boundary, repetitions: int) -> None:
    assert isinstance(boundary.guarantee, Pure)
    truth = float(boundary.guarantee.epsilon)

    def pooled(row: tuple[int, ...]) -> bool:
        bound = pooled_lower_bound(coin_counts(row, boundary.two_sided), Allowance(ALPHA), both_ways=True).epsilon
        return bound is not None and bound > truth

    def pair(row: tuple[int, ...]) -> bool:
        bound = pair_lower_bound(pair_counts(row), Allowance(ALPHA)).epsilon
        return bound is not None and bound > truth

    rows = experiments(boundary, repetitions, "bounds")
    assert claims(rows, pooled) <= allowed(repetitions)
    assert claims(rows, pair) <= allowed(repetitions)


@pytest.mark.parametrize("boundary", [TIGHT, ONLY_DELTA, TINY_DELTA], ids=lambda boundary: boundary.name)
@REPETITIONS
def test_bounds_at_a_delta_are_below_the_truth(boundary: Boundary, repetitions: int) -> None:
    promise = boundary.promise

    def pooled(row: tuple[int, ...]) -> bool:
        bound = pooled_lower_bound(
            coin_counts(row, boundary.two_sided), Allowance(ALPHA), promise.delta, both_ways=True
        ).epsilon
        return bound is not None and bound > float(promise.epsilon)

    def pair(row: tuple[int, ...]) -> bool:
        bound = pair_lower_bound(pair_counts(row), Allowance(ALPHA), promise.delta).epsilon
        return bound is not None and bound > float(promise.epsilon)

    rows = experiments(boundary, repetitions, "bounds")
    assert claims(rows, pooled) <= allowed(repetitions)
    assert claims(rows, pair) <= allowed(repetitions)


@pytest.mark.parametrize("boundary", PURE, ids=lambda boundary: boundary.name)
@REPETITIONS
def test_thinned_fisher_twice_the_mean(boundary: Boundary, repetitions: int) -> None:
    assert isinstance(boundary.guarantee, Pure)
    thinning = generator(f"thinning {boundary.name}")
    found = [
        thinned_fisher(pair_counts(tuple(row)), boundary.guarantee.epsilon, thinning)
        for row in experiments(boundary, repetitions).tolist()
    ]
    assert sum(value.doubled <= ALPHA for value in found) <= allowed(repetitions)


def test_exact_level_of_small_experiments() -> None:
    """No simulation: every outcome of 24 runs, with its probability."""
    from scipy.stats import multinomial

    runs = 24
    for boundary in (LAPLACE, ONE_SIDED, TIGHT):
        (p, p_minus), (q, q_minus) = boundary.on_input, boundary.on_neighbour
        right, wrong = (p + q_minus) / 2, (q + p_minus) / 2
        for alpha in (Fraction(1, 20), Fraction(1, 5), Fraction(2, 5)):
            level = 0.0
            for hits in range(runs + 1):
                for rights in range(hits + 1):
                    wrongs = hits - rights
                    counts = coin_counts((runs - wrongs, rights, 0, wrongs, wrongs, 0), boundary.two_sided)
                    if pooled_refutes(counts, Allowance(alpha), boundary.promise, both_ways=True):
                        chance = multinomial.pmf([rights, wrongs, runs - hits], runs, [right, wrong, 1 - right - wrong])
                        level += float(chance)
            assert level <= float(alpha) * (1 + 1e-9)


# --- discrete outputs, with a coin at the tie ------------------------------------------------------------------------


@REPETITIONS
def test_pooled_with_randomised_ties(repetitions: int) -> None:
    """Two-sided geometric noise on 1 and on 0: above a threshold ≥ 1 the ratio is e^ε exactly, ties included."""
    draw = generator("ties")
    ratio = math.exp(-0.5)
    score = Linear((Coordinate(0),), (1,))
    sides = Sides(ScoreAbove(score, 1, Fraction(1, 3)))

    def outcomes(value: int, runs: int) -> Counts:
        noise: Counts = draw.geometric(1 - ratio, runs) - draw.geometric(1 - ratio, runs)
        return value + noise

    refuted = 0
    for _ in range(repetitions):
        on_input, on_neighbour = toss(500, draw)
        plus = count_sides(sides_of(sides, outcomes(1, on_input), draw))
        neighbour = count_sides(sides_of(sides, outcomes(0, on_neighbour), draw))
        counts = CoinCounts(plus, neighbour, two_sided=False)
        refuted += pooled_refutes(counts, Allowance(ALPHA), Approximate(Fraction(1, 2), Fraction(0)))
    assert refuted <= allowed(repetitions)


# --- broken variants fail -------------------------------------------------------------------------------------------


def keeping_the_least_hits(rows: Counts) -> Counts:
    """The tenth of the experiments with the fewest hits: a choice by K, which the pooled test allows."""
    hits = rows[:, 1] + rows[:, 2] + rows[:, 4] + rows[:, 5]
    return rows[np.argsort(hits, kind="stable")[: len(rows) // 10]]


def test_no_coin_for_each_run() -> None:
    """The pooled test holds given K.  With half of the runs on each input it does not.

    (Over all K together, half and half makes it conservative in every case that we tried.)
    """
    boundary = Boundary("always on a", (1.0, 0.0), (math.exp(-3), 0.0), Pure(Fraction(3)), runs=1000)

    def refutes(row: tuple[int, ...]) -> bool:
        return pooled_refutes(coin_counts(row, False), Allowance(ALPHA), boundary.promise)

    sound = boundary.draw(4000, generator("a coin each"))
    broken = boundary.draw(4000, generator("half and half"), fixed_split=True)
    assert claims(keeping_the_least_hits(sound), refutes) <= allowed(400)
    assert claims(keeping_the_least_hits(broken), refutes) > allowed(400)


@pytest.mark.parametrize("allowance", [Allowance, SpentAgain])
def test_an_allowance_spent_twice(allowance: type[Allowance]) -> None:
    """Eight pairs of inputs, one claim if any of them is refuted."""
    repetitions = 200
    rows = experiments(RESPONSE, 8 * repetitions).reshape(repetitions, 8, 6)

    def refutes(row: tuple[int, ...]) -> bool:
        shares = allowance(ALPHA).split(*[1] * 8)
        found = [
            pooled_refutes(coin_counts(row[6 * at : 6 * at + 6], True), share, RESPONSE.promise, both_ways=True)
            for at, share in enumerate(shares)
        ]
        return any(found)

    refuted = claims(rows.reshape(repetitions, 48), refutes)
    assert refuted > allowed(repetitions) if allowance is SpentAgain else refuted <= allowed(repetitions)


@pytest.mark.parametrize("fresh", [True, False])
def test_runs_that_chose_the_event(fresh: bool) -> None:
    """Thirty outputs, each at the boundary; the one that looks worst is tested, on other runs or on the same."""
    repetitions, outputs = 400, 30
    many = Boundary("one of thirty", (math.exp(0.1) / 40, 0.0), (1 / 40, 0.0), RESPONSE.guarantee, runs=8000)
    chosen_on = experiments(many, repetitions * outputs, "choice").reshape(repetitions, outputs, 6)
    tested_on = (
        experiments(many, repetitions * outputs, "test").reshape(repetitions, outputs, 6) if fresh else chosen_on
    )
    worst = np.argmax((chosen_on[:, :, 1] - chosen_on[:, :, 4]) / np.sqrt(chosen_on[:, :, 1] + 1), axis=1)
    rows = tested_on[np.arange(repetitions), worst]

    def refutes(row: tuple[int, ...]) -> bool:
        return pooled_refutes(coin_counts(row, False), Allowance(ALPHA), many.promise)

    refuted = claims(rows, refutes)
    assert refuted <= allowed(repetitions) if fresh else refuted > allowed(repetitions)


def test_a_plug_in_hit_rate() -> None:
    """K/n instead of a bound for κ.  (The sound test on the same mechanism is among `test_pooled`.)"""
    repetitions = 400
    promise = ONLY_DELTA.promise

    def plugged_in(row: tuple[int, ...]) -> bool:
        counts = coin_counts(row, False)
        slack = promise.delta / 2 * counts.runs / counts.hits
        return RightRate(lower_rate(counts.right, counts.hits, ALPHA), slack).refutes(promise.epsilon)

    assert claims(experiments(ONLY_DELTA, repetitions), plugged_in) > allowed(repetitions)


def test_a_plug_in_rate_of_the_pair() -> None:
    repetitions = 400

    def plugged_in(row: tuple[int, ...]) -> bool:
        counts = pair_counts(row)
        rates = Fraction(counts.hits, counts.runs), Fraction(counts.neighbour_hits, counts.neighbour_runs)
        return LAPLACE.guarantee.contradicts(*rates)

    assert claims(experiments(LAPLACE, repetitions), plugged_in) > allowed(repetitions)


def test_delta_is_halved_only_without_the_second_side() -> None:
    """δ/2 for a two-sided test is the bug; TIGHT needs all of δ."""
    repetitions = 400
    loud = Boundary("loud", TIGHT.on_input, TIGHT.on_neighbour, TIGHT.guarantee, runs=20_000)
    halved = Approximate(ONE, TIGHT.promise.delta / 2)

    def refutes(row: tuple[int, ...], promise: Approximate) -> bool:
        return pooled_refutes(coin_counts(row, True), Allowance(ALPHA), promise, both_ways=True)

    rows = experiments(loud, repetitions)
    assert claims(rows, lambda row: refutes(row, loud.promise)) <= allowed(repetitions)
    assert claims(rows, lambda row: refutes(row, halved)) > allowed(repetitions)


def test_the_printed_tail_of_statdp() -> None:
    """Pr[X > kept] instead of Pr[X ≥ kept] claims whenever nothing was hit on a′."""
    from scipy.stats import hypergeom

    rare = Boundary("rare", (math.exp(1) * 1e-4, 0.0), (1e-4, 0.0), Pure(ONE), runs=2000)
    rows = experiments(rare, 400)
    sound = [thinned_fisher(pair_counts(tuple(row)), ONE, generator("rare")).doubled for row in rows.tolist()]
    kept = generator("printed").binomial(rows[:, 1], math.exp(-1))
    printed = hypergeom.sf(kept, rows[:, 0] + rows[:, 3], rows[:, 0], kept + rows[:, 4])
    assert sum(value <= ALPHA for value in sound) <= allowed(400)
    assert int(np.sum(printed <= float(ALPHA))) > allowed(400)


# --- violations are found -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", [LAPLACE, RESPONSE, ONE_SIDED, TIGHT], ids=lambda boundary: boundary.name)
def test_a_promise_that_is_too_strong_is_refuted(boundary: Boundary) -> None:
    """An ε of a tenth less, with 200,000 runs: missed with probability below 1e-9."""
    loud = Boundary("loud", boundary.on_input, boundary.on_neighbour, boundary.guarantee, runs=400_000)
    row = tuple(loud.draw(1, generator(f"loud {boundary.name}"))[0].tolist())
    promise = Approximate(boundary.promise.epsilon * Fraction(7, 10), boundary.promise.delta)
    assert pooled_refutes(coin_counts(row, loud.two_sided), Allowance(ALPHA), promise, both_ways=True)
    assert pair_refutes(PairCounts(row[1], row[0], row[4], row[3]), Allowance(ALPHA), promise)
