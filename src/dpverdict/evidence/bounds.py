"""Lower bounds on the privacy loss, and refutations, from runs whose number was fixed beforehand.

Every function takes an `Allowance` and spends it; what it says is wrong with at most that probability, if

- runs are independent, and the law of the output depends on the input alone;
- the pair and the events were chosen on other runs, and the number of runs before these were looked at;
- a randomised edge of an event tossed its own coins, with the same probability for both inputs.

Counts are whole numbers, claims rationals, probabilities are rounded outwards, an ε is rounded down.

**Pair** [clopper1934use; bichsel2021dpsniper]: a lower bound for Pr[S | a] and an upper bound for Pr[S | a′], each at
α/2, by the union bound.  For every guarantee.

**Pooled**: each run tosses a fair coin for its input.  r and w are the chances that a run is right and wrong
(`CoinCounts`), κ = r + w.  Adding the promises for S⁺ on (a, a′) and S⁻ on (a′, a) gives r ≤ e^ε w + δ̄ with δ̄ = δ,
or δ/2 if S⁺ is used alone.  So r/κ ≤ (e^ε + δ̄/κ)/(1 + e^ε).  Given K hits, the right ones are Bin(K, r/κ), since runs
are independent.  One bound θ_L for r/κ decides, without a union bound, if δ = 0; otherwise κ has a lower bound κ_L of
its own, which costs a tenth of α.  K/n itself is no bound: a test with K/n is wrong six times as often as it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverdict.claim.enclosure import log_bounds
from dpverdict.claim.guarantee import Approximate, Guarantee, above_line
from dpverdict.errors import EvidenceError
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.counts import CoinCounts, PairCounts
from dpverdict.evidence.rates import float_below, lower_rate, upper_rate

RATE_WEIGHTS = (9, 1)
"""How α is divided between the bound on r/κ and that on κ, where δ > 0."""

_BITS = 64


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The mechanism is not (ε, δ)-differentially private for any ε < `epsilon`, except with probability `alpha`.

    `epsilon` is rounded down.  It is None if the runs say nothing; a bound below 0 says nothing either, and shows how
    far they are from saying something.
    """

    epsilon: float | None
    delta: Fraction
    alpha: Fraction
    method: str


@dataclass(frozen=True, slots=True)
class RightRate:
    """Bounds from pooled counts: r/κ ≥ `right`, and δ̄/κ ≤ `slack`."""

    right: Fraction
    slack: Fraction

    def refutes(self, epsilon: Fraction) -> bool:
        """Whether r/κ > (e^ε + δ̄/κ)/(1 + e^ε): the same as right - slack > e^ε (1 - right)."""
        return above_line(self.right, 1 - self.right, epsilon, self.slack)

    @property
    def epsilon(self) -> float | None:
        """The ε up to which it refutes, rounded down."""
        return _log_below(self.right - self.slack, 1 - self.right)


def pooled_lower_bound(
    counts: CoinCounts, allowance: Allowance, delta: Fraction = Fraction(0), *, both_ways: bool = False
) -> LowerBound:
    """The lower bound from runs with a coin each, for (ε, δ)-differential privacy with this δ.

    With both_ways it is about (a, a′) and (a′, a) together, which counts of S⁻ need.
    """
    _check_direction(counts, both_ways)
    alpha = allowance.probability
    return LowerBound(right_rate(counts, allowance, delta).epsilon, delta, alpha, "pooled-binomial")


def pooled_refutes(counts: CoinCounts, allowance: Allowance, promise: Approximate, *, both_ways: bool = False) -> bool:
    """Whether runs with a coin each refute an (ε, δ) promise, which with both_ways is about (a′, a) as well.

    For another guarantee, the promise is its `tangent`, chosen on other runs; several tangents share an allowance.
    """
    _check_direction(counts, both_ways)
    return right_rate(counts, allowance, promise.delta).refutes(promise.epsilon)


def right_rate(counts: CoinCounts, allowance: Allowance, delta: Fraction) -> RightRate:
    """Both bounds of the pooled test.  δ = 0 needs only one, and gives it the whole allowance."""
    if delta == 0:
        return RightRate(lower_rate(counts.right, counts.hits, allowance.spend("the pooled test")), Fraction(0))
    for_right, for_hits = (part.spend("the pooled test") for part in allowance.split(*RATE_WEIGHTS))
    right = lower_rate(counts.right, counts.hits, for_right)
    hit = lower_rate(counts.hits, counts.runs, for_hits)
    explained = delta if counts.two_sided else delta / 2
    # κ is a probability above 0 wherever there are hits; without them r/κ ≥ 0 refutes nothing, whatever the slack.
    return RightRate(right, explained / hit if hit else Fraction(1))


def _check_direction(counts: CoinCounts, both_ways: bool) -> None:
    if counts.two_sided and not both_ways:
        raise EvidenceError(
            "EVID-014",
            "counts of S⁻ need a promise for (a′, a)",
            place="two_sided=True, both_ways=False",
            why="S⁻ is evidence that a′ can be told from a, which the claim does not exclude",
            fix="both_ways=True for a symmetric neighbourhood, or counts of S⁺ alone",
        )


def pair_lower_bound(counts: PairCounts, allowance: Allowance, delta: Fraction = Fraction(0)) -> LowerBound:
    """The lower bound from the rates of one event on both inputs, for (ε, δ)-differential privacy with this δ."""
    alpha = allowance.probability
    rate, neighbour_rate = pair_rates(counts, allowance)
    return LowerBound(_log_below(rate - delta, neighbour_rate), delta, alpha, "clopper-pearson")


def pair_refutes(counts: PairCounts, allowance: Allowance, guarantee: Guarantee, *, both_ways: bool = False) -> bool:
    """Whether the rates of one event on both inputs refute a guarantee of any kind.

    With both_ways the guarantee is about (a′, a) as well.  The direction is part of the event: whoever tries S on
    (a, a′) and on (a′, a) makes two statements.
    """
    rate, neighbour_rate = pair_rates(counts, allowance)
    return guarantee.contradicts(rate, neighbour_rate, both_ways=both_ways)


def pair_rates(counts: PairCounts, allowance: Allowance) -> tuple[Fraction, Fraction]:
    """A lower bound for Pr[S | a] and an upper bound for Pr[S | a′]; both hold except with the allowance."""
    alpha, neighbour_alpha = (part.spend("a rate of the pair") for part in allowance.split(1, 1))
    return (
        lower_rate(counts.hits, counts.runs, alpha),
        upper_rate(counts.neighbour_hits, counts.neighbour_runs, neighbour_alpha),
    )


def _log_below(high: Fraction, low: Fraction) -> float | None:
    """log(high/low), rounded down; None if high ≤ 0.  Bounds leave low above 0."""
    if high <= 0:
        return None
    return float_below(log_bounds(high / low, _BITS).low)
