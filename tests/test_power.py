"""What a budget would have found, and StatDP's test for comparison.

Simulated powers are compared with 0.9 by bounds that fail with probability at most 1e-9 each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from boundary import ALPHA, Boundary, claims, coin_counts, pair_counts
from dpverdict.claim import Approximate, Gaussian, Pure
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.any_time import AnyTimeTest, Player, Round
from dpverdict.evidence.bets import EventBet, LearnedBet
from dpverdict.evidence.bounds import pair_refutes, pooled_refutes
from dpverdict.evidence.cells import event_cells
from dpverdict.evidence.counts import CoinCounts, PairCounts, SideCounts
from dpverdict.evidence.exploratory import ExploratoryPValue, thinned_fisher
from dpverdict.evidence.power import (
    POWER,
    any_time_power_epsilon,
    event_bet_power_epsilon,
    pair_power_epsilon,
    pooled_power_epsilon,
)
from dpverdict.execute import seeds

TENTH = Approximate(Fraction(1, 10), Fraction(0))
LOOSE = Approximate(Fraction(1, 10), Fraction(1, 50))
TESTED = CoinCounts(SideCounts(1500, 300), SideCounts(1500, 290), two_sided=False)
REPETITIONS = 300


def event_with(epsilon: float, delta: float, mean: float) -> Boundary:
    """An event whose two rates have this mean, at the boundary of (ε, δ)."""
    q = (2 * mean - delta) / (1 + math.exp(epsilon))
    return Boundary("planted", (2 * mean - q, 0.0), (q, 0.0), TENTH, runs=TESTED.runs)


def power_of(boundary: Boundary, refutes: Callable[[tuple[int, ...]], bool]) -> float:
    return claims(boundary.draw(REPETITIONS, seeds.generator(3, boundary.name, 0)), refutes) / REPETITIONS


@pytest.mark.parametrize("promise", [TENTH, LOOSE], ids=lambda promise: promise.text)
def test_power_is_reached_there_and_not_before(promise: Approximate) -> None:
    mean = TESTED.hits / TESTED.runs
    tests: list[tuple[float, Callable[[tuple[int, ...]], bool]]] = [
        (
            pooled_power_epsilon(TESTED, promise, ALPHA),
            lambda row: pooled_refutes(coin_counts(row, False), Allowance(ALPHA), promise),
        ),
        (
            pair_power_epsilon(TESTED.pair(), promise, ALPHA),
            lambda row: pair_refutes(pair_counts(row), Allowance(ALPHA), promise),
        ),
    ]
    from scipy.stats import binom

    least = binom.ppf(1e-9, REPETITIONS, POWER - 0.02) / REPETITIONS
    most = binom.isf(1e-9, REPETITIONS, POWER + 0.02) / REPETITIONS
    for epsilon, refutes in tests:
        found = power_of(event_with(epsilon, float(promise.delta), mean), refutes)
        assert least <= found <= most
        # Half way down to the promise it must fail: power there is below 0.45.
        half = (epsilon + float(promise.epsilon)) / 2
        assert power_of(event_with(half, float(promise.delta), mean), refutes) < least


def test_power_of_a_learned_bet() -> None:
    """Shares learned in 100 rounds reach nearly the power of shares learned run by run."""
    counts = CoinCounts(SideCounts(1000, 500, 500), SideCounts(1000, 500, 500), two_sided=True)
    epsilon = any_time_power_epsilon(counts, Fraction(1, 10), ALPHA)
    theta = 1 / (1 + math.exp(-epsilon))
    generator = seeds.generator(3, "learned", 0)
    refuted = 0
    for _ in range(REPETITIONS):
        test = AnyTimeTest.begin([Player("the pair")], [TENTH], Allowance(ALPHA))
        past, rounds = np.zeros(2, dtype=np.int64), []
        for _ in range(100):
            right = int(generator.binomial(20, theta))
            rounds.append(Round((LearnedBet.from_past(past.tolist()),), (right, 20 - right)))
            past += (right, 20 - right)
        refuted += test.standing(rounds).rejected
    assert 0.8 < refuted / REPETITIONS < 0.999


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("promise", [TENTH, LOOSE], ids=lambda promise: promise.text)
def test_power_of_an_event_bet(promise: Approximate, two_sided: bool) -> None:
    """Stakes learned in 50 rounds reach 90 % and more there, and much less half way down to the promise."""
    from scipy.stats import binom

    minus = 600 if two_sided else 0
    counts = CoinCounts(SideCounts(10_000, 3000, minus), SideCounts(10_000, 3000, minus), two_sided)
    epsilon = event_bet_power_epsilon(counts, promise, ALPHA)

    def refuted(loss: float) -> int:
        def rates(both: float) -> tuple[float, float]:
            small = (both - float(promise.delta)) / (1 + math.exp(loss)) if both else 0.0
            return both - small, small

        (p, q), (q_minus, p_minus) = rates(0.6), rates(0.12 if two_sided else 0.0)
        planted = Boundary("planted", (p, p_minus), (q, q_minus), promise, runs=400)
        rows = planted.draw(50 * REPETITIONS, seeds.generator(3, f"{promise.text} {two_sided}", 0))
        return sum(map(wins, rows.reshape(REPETITIONS, 50, 6).tolist()))

    def wins(rows: list[list[int]]) -> bool:
        test = AnyTimeTest.begin([Player("the pair", both_ways=two_sided)], [promise], Allowance(ALPHA))
        past, rounds = np.zeros(6, dtype=np.int64), []
        for row in rows:
            cells = event_cells(coin_counts(tuple(row), two_sided))
            rounds.append(Round((EventBet.from_past(past.tolist(), promise, two_sided),), cells))
            past += cells
        return test.standing(rounds).rejected

    least = binom.ppf(1e-9, REPETITIONS, POWER)
    assert least <= refuted(epsilon)
    assert refuted((epsilon + float(promise.epsilon)) / 2) < least


def test_more_runs_find_smaller_losses() -> None:
    previous = math.inf
    for runs in (10**3, 10**4, 10**5, 10**8):
        counts = CoinCounts(SideCounts(runs, runs // 10), SideCounts(runs, runs // 10), two_sided=False)
        found = pooled_power_epsilon(counts, TENTH, ALPHA)
        assert 0.1 < found < min(previous, pair_power_epsilon(counts.pair(), Pure(Fraction(1, 10)), ALPHA))
        previous = found
    assert previous < 0.102


def test_a_test_at_a_smaller_alpha_finds_less() -> None:
    strict = Fraction(1, 10**6)
    assert pooled_power_epsilon(TESTED, TENTH, strict) > pooled_power_epsilon(TESTED, TENTH, ALPHA)
    assert any_time_power_epsilon(TESTED, Fraction(1, 10), strict) > any_time_power_epsilon(
        TESTED, Fraction(1, 10), ALPHA
    )


def test_other_guarantees_have_a_power_too() -> None:
    curve = pair_power_epsilon(PairCounts(1000, 10_000, 900, 10_000), Gaussian(Fraction(1, 10)), ALPHA)
    # At 9.5 % the curve allows a ratio of about e^0.18.
    assert 0.18 < curve < 0.5


@pytest.mark.parametrize("hits", [0, 1])
def test_what_hardly_happens_finds_nothing(hits: int) -> None:
    counts = CoinCounts(SideCounts(1000, hits), SideCounts(1000, 0), two_sided=False)
    assert pooled_power_epsilon(counts, TENTH, ALPHA) == math.inf
    assert pooled_power_epsilon(counts, LOOSE, ALPHA) == math.inf
    assert pair_power_epsilon(counts.pair(), TENTH, ALPHA) == math.inf
    assert pair_power_epsilon(counts.pair(), LOOSE, ALPHA) == math.inf
    assert any_time_power_epsilon(counts, Fraction(1, 10), ALPHA) == math.inf
    assert event_bet_power_epsilon(counts, TENTH, ALPHA) == math.inf


def test_no_runs_find_nothing() -> None:
    nothing = CoinCounts(SideCounts(0, 0), SideCounts(0, 0), two_sided=True)
    assert pooled_power_epsilon(nothing, TENTH, ALPHA) == math.inf
    assert pair_power_epsilon(nothing.pair(), TENTH, ALPHA) == math.inf
    assert any_time_power_epsilon(nothing, Fraction(1, 10), ALPHA) == math.inf
    assert event_bet_power_epsilon(nothing, TENTH, ALPHA) == math.inf


# --- StatDP's test ---------------------------------------------------------------------------------------------------


def test_thinned_fisher_without_thinning_is_fishers_test() -> None:
    from scipy.stats import fisher_exact

    found = thinned_fisher(PairCounts(30, 1000, 15, 1000), Fraction(0), seeds.generator(1, "fisher", 0))
    assert found.mean == pytest.approx(fisher_exact([[30, 970], [15, 985]], alternative="greater").pvalue)
    assert found.thinnings == 10


def test_nothing_on_the_neighbour_is_no_proof() -> None:
    """The tail includes the count that was seen: 3 against 0 is not worth much, and 0 against 0 nothing."""
    found = thinned_fisher(PairCounts(3, 1000, 0, 1000), Fraction(0), seeds.generator(1, "fisher", 0))
    assert found.mean == pytest.approx(1 / 8, rel=0.01)
    assert thinned_fisher(PairCounts(0, 1000, 0, 1000), Fraction(1), seeds.generator(1, "fisher", 0)).mean == 1


def test_twice_the_mean_is_at_most_one() -> None:
    assert ExploratoryPValue(0.7, 10).doubled == 1
    assert ExploratoryPValue(0.2, 10).doubled == 0.4
