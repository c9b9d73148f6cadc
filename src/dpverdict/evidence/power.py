"""What a budget would have found: the smallest ε that it would have refuted with 90 % probability.

For the pair and the event that were tested, at the hit rate that was seen: a mechanism whose loss on *this* event is
that large is caught.  It bounds nothing about other events; a violation in a region that is hit less often hides from
it.  These are plans in floating point, not evidence; no verdict of "refuted" or "proved" rests on one.

The number of hits is averaged over `_LEVELS` equally likely values, the critical count of each is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpverdict.claim.guarantee import Approximate, Guarantee
from dpverdict.evidence.bets import EventBet, Stakes
from dpverdict.evidence.bounds import RATE_WEIGHTS
from dpverdict.evidence.counts import CoinCounts, PairCounts

POWER = 0.9

_LEVELS = 64
_LARGEST = 60.0
"""No number of runs shows a larger ε."""

Floats: TypeAlias = NDArray[np.float64]


def pooled_power_epsilon(counts: CoinCounts, promise: Approximate, alpha: Fraction) -> float:
    """For `pooled_refutes` with as many runs and the same chance of a hit; infinite if no ε would have been refuted."""
    from scipy.special import betaincinv
    from scipy.stats import binom

    hit_rate = counts.hits / max(counts.runs, 1)
    if hit_rate == 0:
        return math.inf
    explained = float(promise.delta) if counts.two_sided else float(promise.delta) / 2
    hits = _likely(binom, counts.runs, hit_rate)
    for_right, for_hits = _levels(alpha, explained)
    least_rate = betaincinv(hits, counts.runs - hits + 1, for_hits) if explained else np.ones(_LEVELS)
    allowed = _right_share(float(promise.epsilon), explained / least_rate)
    critical = _critical(binom, hits, allowed, for_right)

    def power(epsilon: float) -> float:
        right = _right_share(epsilon, np.full(_LEVELS, explained / hit_rate))
        return float(np.mean(binom.sf(critical - 1, hits, right)))

    return _smallest(power, float(promise.epsilon))


def pair_power_epsilon(counts: PairCounts, guarantee: Guarantee, alpha: Fraction) -> float:
    """For `pair_refutes` with as many runs and the same mean of both rates; infinite if no ε would have been refuted.

    For an (ε, δ) promise ε is the loss at its δ, for other guarantees the logarithm of the ratio of the two rates.
    What the complement of the event may show on (a′, a) is left out.
    """
    from scipy.special import betaincinv
    from scipy.stats import binom

    runs, neighbour_runs = counts.runs, counts.neighbour_runs
    both = (counts.hits + counts.neighbour_hits) / max(runs + neighbour_runs, 1) * 2
    delta = float(guarantee.delta) if isinstance(guarantee, Approximate) else 0.0
    if both <= delta or runs == 0 or neighbour_runs == 0:
        return math.inf
    share = float(alpha) / 2

    def power(epsilon: float) -> float:
        # With rate + neighbour's rate as seen: rate = e^ε · neighbour's rate + δ.
        neighbour_rate = max((both - delta) / (1 + math.exp(epsilon)), both - 1)
        neighbour_hits = _likely(binom, neighbour_runs, neighbour_rate)
        missed = neighbour_runs - neighbour_hits
        highest = np.where(missed > 0, 1 - betaincinv(np.maximum(missed, 1), neighbour_hits + 1, share), 1.0)
        allowed = np.array([guarantee.largest(float(rate)) for rate in highest])
        critical = _critical(binom, np.full(_LEVELS, float(runs)), allowed, share)
        return float(np.mean(binom.sf(critical - 1, runs, both - neighbour_rate)))

    return _smallest(power, 0.0)


def any_time_power_epsilon(counts: CoinCounts, epsilon: Fraction, alpha: Fraction) -> float:
    """For a `LearnedBet` against ε with as many runs, all hits in one bin; infinite if no ε would have been refuted.

    Its share is learned after every run by the rule of [krichevsky1981performance], so that wealth at the end is a
    ratio of beta functions.  Looking earlier only helps; fixing bets for whole rounds costs a little.
    """
    from scipy.special import betaln
    from scipy.stats import binom

    hits = counts.hits
    theta = float(_right_share(float(epsilon), np.zeros(1))[0])

    def log_wealth(right: int) -> float:
        wrong = hits - right
        rough = betaln(right + 0.5, wrong + 0.5) - betaln(0.5, 0.5)
        return float(rough - right * math.log(theta) - wrong * math.log1p(-theta))

    low, high = math.floor(hits * theta), hits + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if log_wealth(middle) >= -math.log(alpha) else (middle, high)

    def power(larger: float) -> float:
        return float(binom.sf(high - 1, hits, _right_share(larger, np.zeros(1))[0]))

    return _smallest(power, float(epsilon))


def event_bet_power_epsilon(counts: CoinCounts, promise: Approximate, alpha: Fraction) -> float:
    """For an `EventBet` with as many runs, S⁺ and S⁻ hit as often; infinite if no ε would have been refuted.

    By the normal law of the logarithm of wealth at the end, with the best stakes; what it costs to learn them is put
    at half the logarithm of the number of runs for each.  That is cautious: the power there is about 99 %.
    """
    runs = counts.runs
    plus = (counts.on_input.plus + counts.on_neighbour.plus) / max(runs, 1)
    minus = (counts.on_input.minus + counts.on_neighbour.minus) / max(runs, 1)
    if counts.hits == 0:
        return math.inf
    stakes = Stakes.rough(promise, counts.two_sided)
    needed = -math.log(alpha) + (1 + counts.two_sided) * math.log(runs) / 2

    def power(epsilon: float) -> float:
        chances = _cell_chances(epsilon, float(promise.delta), plus, minus)
        bet = EventBet.from_past([round(chance * 10**9) for chance in chances], promise, counts.two_sided)
        growth = np.log(np.array(bet.factors(stakes), dtype=np.float64))
        mean = float(chances @ growth)
        spread = math.sqrt(max(float(chances @ (growth - mean) ** 2) * runs, 1e-300))
        return NormalDist().cdf((runs * mean - needed) / spread)

    return _smallest(power, float(promise.epsilon))


def _cell_chances(epsilon: float, delta: float, plus: float, minus: float) -> Floats:
    """The cells of an `EventBet` where S⁺ and S⁻ are hit this often and have the loss (ε, δ), each with its own δ."""
    right, mirrored = (
        float(_right_share(epsilon, np.array([delta / 2 / rate]))[0]) * rate if rate else 0.0 for rate in (plus, minus)
    )
    hits = np.array([right, plus - right, minus - mirrored, mirrored])
    missed = 0.5 - hits[0] - hits[2], 0.5 - hits[1] - hits[3]
    return np.asarray(np.maximum([*hits, *missed], 0.0))


def _likely(binom: Any, runs: int, rate: float) -> Floats:
    """Equally likely numbers of hits."""
    return np.asarray(binom.ppf((np.arange(_LEVELS) + 0.5) / _LEVELS, runs, rate), dtype=np.float64)


def _levels(alpha: Fraction, explained: float) -> tuple[float, float]:
    """How `right_rate` divides α."""
    if not explained:
        return float(alpha), 0.0
    right, hits = (float(alpha * weight / sum(RATE_WEIGHTS)) for weight in RATE_WEIGHTS)
    return right, hits


def _right_share(epsilon: float, slack: Floats) -> Floats:
    """The largest share of right hits under (ε, δ): (e^ε + slack)/(1 + e^ε), at most 1."""
    shrink = math.exp(-epsilon)
    return np.asarray(np.minimum(1.0, (1 + slack * shrink) / (1 + shrink)))


def _critical(binom: Any, trials: Floats, allowed: Floats, alpha: float) -> Floats:
    """The least count whose lower bound is above the allowed rate; more than all trials where there is none."""
    possible = np.minimum(allowed, 1.0) < 1.0
    least = binom.isf(alpha, trials, np.where(possible, allowed, 0.5)) + 1
    return np.asarray(np.where(possible, least, trials + 1))


def _smallest(power: Callable[[float], float], start: float) -> float:
    """The least ε above the start with enough power, by bisection; rounded up."""
    low, high = start, _LARGEST
    if power(high) < POWER:
        return math.inf
    while high - low > 1e-6 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high
