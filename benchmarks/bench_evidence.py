"""What evidence costs: events against bare NumPy, certified bounds against SciPy's quantile, any-time bounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.special import betaincinv

from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.any_time import AnyTimeBound, Player, Round
from dpverdict.evidence.bets import LearnedBet
from dpverdict.evidence.events import ScoreAbove, happened
from dpverdict.evidence.features import Coordinate
from dpverdict.evidence.rates import lower_rate
from dpverdict.evidence.scores import Histogram
from dpverdict.execute.seeds import generator

REPEATS = 7
RUNS = 1_000_000
BINS = 32


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(work: Callable[[], object]) -> float:
    return statistics.median(seconds(work) for _ in range(REPEATS))


def events() -> None:
    draw = generator(1, "bench evidence", 0)
    values = draw.laplace(size=RUNS)
    edges = np.arange(-128, 127)
    table = draw.integers(0, 1000, 256)
    event = ScoreAbove(Histogram((Coordinate(0, -5),), (tuple(edges.tolist()),), (tuple(table.tolist()),)), 500)

    def bare() -> object:
        return table[np.searchsorted(edges, np.floor(values * 32), side="right")] > 500

    pairs = [(seconds(bare), seconds(lambda: happened(event, values, draw))) for _ in range(REPEATS)]
    ratio = statistics.median(ours / base for base, ours in pairs)
    base = statistics.median(base for base, _ in pairs)
    print(f"event of a 256-bin histogram: bare NumPy {base / RUNS * 1e9:.1f} ns per run, ours {ratio:.2f} times that")


def bounds() -> None:
    for hits, runs in ((1000, 2 * 10**8), (10**6, 10**8), (10**8, 2 * 10**8)):
        guess = median(lambda hits=hits, runs=runs: betaincinv(hits, runs - hits + 1, 0.025))  # type: ignore[misc]
        certified = median(lambda hits=hits, runs=runs: lower_rate(hits, runs, Fraction(1, 40)))  # type: ignore[misc]
        print(
            f"bound for {hits:,} of {runs:,}: {certified * 1e3:.2f} ms, {certified / guess:.0f} times SciPy's quantile"
        )


def wealth() -> None:
    draw = generator(1, "bench evidence", 1)
    shares = draw.uniform(0.45, 0.55, BINS)
    bet = LearnedBet(tuple(Fraction(round(share * 65536), 65536) for share in shares))
    rounds = [
        Round((bet,), tuple(np.stack([draw.binomial(300, shares), draw.binomial(300, 1 - shares)], 1).ravel().tolist()))
        for _ in range(200)
    ]
    bound = AnyTimeBound.begin(
        [Player("pair", both_ways=True)], [Fraction(at, 100) for at in range(20)], Allowance(0.05)
    )
    taken = median(lambda: bound.lower_bound(rounds))
    cells = len(rounds) * len(rounds[0].counts) * len(bound.grid)
    print(f"any-time bound, 200 rounds of 32 bins, 20 points: {taken:.2f} s, {taken / cells * 1e6:.2f} µs per cell")


if __name__ == "__main__":
    events()
    bounds()
    wealth()
