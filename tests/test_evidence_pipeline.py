"""From the outcomes of a mechanism to a statement, through events as data.  Each assertion fails with p < 1e-9."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverdict.claim import Approximate, Pure
from dpverdict.errors import EvidenceError
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.any_time import AnyTimeBound, AnyTimeTest, Player, Round
from dpverdict.evidence.bets import CoupledBet, EventBet, LearnedBet
from dpverdict.evidence.bounds import pair_lower_bound, pooled_lower_bound
from dpverdict.evidence.cells import coupled_cells, event_cells, learned_cells
from dpverdict.evidence.counts import CoinCounts, SideCounts, toss
from dpverdict.evidence.event_text import from_text, text
from dpverdict.evidence.events import Bins, ScoreAbove, ScoreBelow, Sides, count_sides, sides_of
from dpverdict.evidence.features import LogRatio
from dpverdict.evidence.scores import Linear
from dpverdict.execute import seeds

ALPHA = Fraction(1, 10**10)
PROMISE = Approximate(Fraction(1, 2), Fraction(0))
RATIO = Linear((LogRatio(0, 1.0, 0.0, -10),), (1,))
"""On Laplace noise of scale 1 around 1 and 0, |x| - |x - 1| is the logarithm of the likelihood ratio, in 1/1024."""

SIDES = Sides(ScoreAbove(RATIO, 1000), ScoreBelow(RATIO, -1000, Fraction(1, 2)))
BINS = Bins(RATIO, (-1000, -500, 0, 500, 1000))


def laplace(value: float, runs: int, generator: np.random.Generator) -> NDArray[np.float64]:
    return value + generator.laplace(size=runs)


def test_a_fixed_number_of_runs() -> None:
    """The claim is ε = 1/2, the truth 1: the bound lies in between, and the event reads back from its text."""
    generator = seeds.generator(1, "pipeline", 0)
    on_input, on_neighbour = toss(400_000, generator)
    read = from_text(text(SIDES))
    assert read == SIDES
    counts = CoinCounts(
        count_sides(sides_of(SIDES, laplace(1.0, on_input, generator), generator)),
        count_sides(sides_of(SIDES, laplace(0.0, on_neighbour, generator), generator)),
        two_sided=True,
    )
    pooled = pooled_lower_bound(counts, Allowance(ALPHA), both_ways=True).epsilon
    pair = pair_lower_bound(counts.pair(), Allowance(ALPHA)).epsilon
    assert pooled is not None
    assert pair is not None
    assert 0.9 < pair < pooled < 1


def test_learned_bets_in_bins() -> None:
    generator = seeds.generator(1, "pipeline", 1)
    grid = [Fraction(at, 20) for at in range(31)]
    bound = AnyTimeBound.begin([Player("1 against 0", both_ways=True)], grid, Allowance(ALPHA))
    past, rounds = np.zeros(12, dtype=np.int64), []
    for _ in range(20):
        on_input, on_neighbour = toss(5000, generator)
        cells = learned_cells(BINS, laplace(1.0, on_input, generator), laplace(0.0, on_neighbour, generator))
        rounds.append(Round((LearnedBet.from_past(past.tolist()),), cells))
        past += cells
    reached = bound.lower_bound(rounds)[0].epsilon
    assert reached is not None
    assert 0.7 < reached < 1


def test_event_bets_and_coupled_bets() -> None:
    generator = seeds.generator(1, "pipeline", 2)
    player = Player("1 against 0", both_ways=True)
    tests = [AnyTimeTest.begin([player], [PROMISE], Allowance(ALPHA)) for _ in range(2)]
    coins: list[Round] = []
    pairs: list[Round] = []
    for _ in range(10):
        runs = toss(4000, generator)
        sides = [
            sides_of(SIDES, laplace(value, of, generator), generator)
            for value, of in zip((1.0, 0.0), runs, strict=True)
        ]
        counts = CoinCounts(count_sides(sides[0]), count_sides(sides[1]), two_sided=True)
        coins.append(Round((EventBet(Fraction(1, 4), Fraction(1, 4)),), event_cells(counts)))
        noise = generator.laplace(size=2000)
        cells = coupled_cells(sides_of(SIDES, 1 + noise, generator), sides_of(SIDES, noise, generator))
        pairs.append(Round((CoupledBet(Fraction(1, 4), Fraction(1, 4)),), cells))
    assert tests[0].standing(coins).rejected
    assert tests[1].standing(pairs).rejected
    true = AnyTimeTest.begin([player], [Pure(Fraction(1)).tangent(0.1)], Allowance(ALPHA))
    assert not true.standing(coins).rejected
    assert not true.standing(pairs).rejected


def test_cells_stand_in_the_order_of_the_bets() -> None:
    counts = CoinCounts(SideCounts(10, 1, 2), SideCounts(20, 3, 4), two_sided=True)
    assert event_cells(counts) == (1, 3, 2, 4, 7, 13)
    identity = Bins(Linear((LogRatio(0, 1e9, 0.0, 0),), (1,)), (10**9,))
    assert sum(learned_cells(identity, np.zeros(3), np.ones(5))) == 8
    x, y = np.array([1, 1, -1, 0, 0], dtype=np.int8), np.array([1, -1, 1, 0, 0], dtype=np.int8)
    assert coupled_cells(x, y) == (1, 1, 0, 1, 0, 0, 0, 0, 2)


def test_coupled_runs_come_in_pairs() -> None:
    with pytest.raises(EvidenceError, match="come in pairs"):
        coupled_cells(np.zeros(3, dtype=np.int8), np.zeros(2, dtype=np.int8))
