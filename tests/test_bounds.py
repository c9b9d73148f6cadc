"""Bounds from counts: against exact arithmetic, published figures, and SciPy's mistakes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.claim import Approximate, Gaussian, Pure, Renyi, ZeroConcentrated
from dpverdict.errors import EvidenceError
from dpverdict.evidence import rates
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.bounds import (
    RightRate,
    pair_lower_bound,
    pair_rates,
    pair_refutes,
    pooled_lower_bound,
    pooled_refutes,
    right_rate,
)
from dpverdict.evidence.counts import CoinCounts, PairCounts, SideCounts
from dpverdict.evidence.rates import float_above, float_below, holds_below, lower_rate, upper_rate

ALPHA = Fraction(1, 20)
ALPHAS = st.sampled_from([Fraction(1, 20), Fraction(1, 40), Fraction(1, 10**6), Fraction(2, 5), Fraction(1, 10**12)])


@st.composite
def hits_and_runs(draw: st.DrawFn) -> tuple[int, int]:
    runs = draw(st.integers(1, 60))
    return draw(st.integers(0, runs)), runs


def tail(hits: int, runs: int, rate: Fraction) -> Fraction:
    """Pr[Bin(runs, rate) ≥ hits], exactly."""
    terms = (math.comb(runs, at) * rate**at * (1 - rate) ** (runs - at) for at in range(hits, runs + 1))
    return sum(terms, Fraction(0))


# --- rates ---------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(hits_and_runs(), ALPHAS)
def test_a_lower_rate_is_certified_and_tight(counts: tuple[int, int], alpha: Fraction) -> None:
    hits, runs = counts
    low = lower_rate(hits, runs, alpha)
    assert low == 0 if hits == 0 else tail(hits, runs, low) <= alpha
    further = low + min(low, 1 - low) / 10**5
    assert hits == 0 or tail(hits, runs, further) > alpha


@settings(deadline=None)
@given(hits_and_runs(), ALPHAS)
def test_an_upper_rate_is_the_mirror_image(counts: tuple[int, int], alpha: Fraction) -> None:
    hits, runs = counts
    high = upper_rate(hits, runs, alpha)
    assert high == 1 if hits == runs else 1 - tail(hits + 1, runs, high) <= alpha
    assert lower_rate(hits, runs, alpha) < high


@pytest.mark.parametrize(
    ("hits", "runs", "alpha", "low"),
    [(1000, 2 * 10**8, "1/40", 4.6949e-6), (10**8, 2 * 10**8, "1/20", 0.49994184), (0, 0, "1/20", 0.0)],
)
def test_large_counts(hits: int, runs: int, alpha: str, low: float) -> None:
    """The first is where SciPy 1.17.0 and 1.17.1 give 7.6e-6."""
    assert float(lower_rate(hits, runs, Fraction(alpha))) == pytest.approx(low, rel=1e-5)


@pytest.mark.parametrize("wrong", [7.6e-6, 4.6e-6, 0.0, 1.0, math.nan])
def test_a_wrong_quantile_is_noticed(monkeypatch: pytest.MonkeyPatch, wrong: float) -> None:
    right = lower_rate(1000, 2 * 10**8, Fraction(1, 40))
    monkeypatch.setattr(scipy.special, "betaincinv", lambda *_: wrong)
    found = lower_rate(1000, 2 * 10**8, Fraction(1, 40))
    assert holds_below(found, 1000, 2 * 10**8, Fraction(1, 40))
    assert float(found) == pytest.approx(float(right), rel=1e-9)


def test_without_a_guess_the_bound_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(1, 1), (3, 10), (10, 10), (999, 1000), (1, 10**6)]
    guessed = [lower_rate(*case, ALPHA) for case in cases]
    monkeypatch.setattr(rates, "_guess", lambda *_: None)
    assert [float(lower_rate(*case, ALPHA)) for case in cases] == pytest.approx([float(low) for low in guessed])


def test_if_nothing_can_be_settled_the_bound_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "holds_below", lambda *_: False)
    assert lower_rate(50, 100, ALPHA) == ALPHA / 100


def test_what_is_not_settled_does_not_hold() -> None:
    """p = α with one run: the tail is α exactly, and no precision decides a tie that is not exact in binary."""
    assert not holds_below(Fraction(1, 3), 1, 1, Fraction(1, 3))
    assert holds_below(Fraction(1, 3) - Fraction(1, 10**30), 1, 1, Fraction(1, 3))


@settings(deadline=None)
@given(st.fractions(min_value=-1000, max_value=1000))
def test_floats_are_rounded_in_the_stated_direction(value: Fraction) -> None:
    low, high = float_below(value), float_above(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high <= math.nextafter(low, math.inf)


# --- bounds on ε -----------------------------------------------------------------------------------------------------


def at_rates(runs: int, epsilon: float = 0.1, rate: float = 0.01) -> PairCounts:
    """The expected counts of an event at the boundary of ε."""
    return PairCounts(round(runs * rate * math.exp(epsilon)), runs, round(runs * rate), runs)


def one_sided(counts: PairCounts) -> CoinCounts:
    on_input, on_neighbour = (
        SideCounts(counts.runs, counts.hits),
        SideCounts(counts.neighbour_runs, counts.neighbour_hits),
    )
    return CoinCounts(on_input, on_neighbour, two_sided=False)


@pytest.mark.parametrize(
    ("runs", "pair", "pooled"),
    [(10**5, -0.0214, 0.0271), (10**6, 0.0619, 0.0772), (10**7, 0.0880, 0.0928), (2 * 10**8, 0.0973, 0.0984)],
)
def test_figures_at_expected_counts(runs: int, pair: float, pooled: float) -> None:
    counts = at_rates(runs)
    assert pair_lower_bound(counts, Allowance(ALPHA)).epsilon == pytest.approx(pair, abs=6e-5)
    assert pooled_lower_bound(one_sided(counts), Allowance(ALPHA)).epsilon == pytest.approx(pooled, abs=6e-5)


def test_a_bound_says_what_it_is() -> None:
    bound = pooled_lower_bound(one_sided(at_rates(10**6)), Allowance(ALPHA), Fraction(1, 10**6))
    assert (bound.delta, bound.alpha, bound.method) == (Fraction(1, 10**6), ALPHA, "pooled-binomial")
    assert pair_lower_bound(at_rates(10**6), Allowance(ALPHA)).method == "clopper-pearson"


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 50)]))
@settings(max_examples=60, deadline=None)
def test_a_bound_is_where_refutation_ends(hits: int, neighbour_hits: int, delta: Fraction) -> None:
    counts = PairCounts(hits, 1000, neighbour_hits, 1000)
    for bound, refutes in (
        (
            pooled_lower_bound(one_sided(counts), Allowance(ALPHA), delta).epsilon,
            lambda promise: pooled_refutes(one_sided(counts), Allowance(ALPHA), promise),
        ),
        (
            pair_lower_bound(counts, Allowance(ALPHA), delta).epsilon,
            lambda promise: pair_refutes(counts, Allowance(ALPHA), promise),
        ),
    ):
        end = Fraction(0) if bound is None or bound <= 0 else Fraction(bound)
        assert not refutes(Approximate(end + Fraction(1, 10**9), delta))
        assert end == 0 or refutes(Approximate(end - Fraction(1, 10**9), delta))


def test_no_hits_say_nothing() -> None:
    nothing = one_sided(PairCounts(0, 1000, 0, 1000))
    assert pooled_lower_bound(nothing, Allowance(ALPHA)).epsilon is None
    assert pooled_lower_bound(nothing, Allowance(ALPHA), Fraction(1, 100)).epsilon is None
    assert not pooled_refutes(nothing, Allowance(ALPHA), Approximate(Fraction(0), Fraction(0)))
    assert pair_lower_bound(PairCounts(0, 0, 0, 0), Allowance(ALPHA)).epsilon is None


def test_no_wrong_hits() -> None:
    """w = 0: r/κ is at least α^(1/K), which bounds ε by what K runs can tell."""
    bound = pooled_lower_bound(one_sided(PairCounts(100, 1000, 0, 1000)), Allowance(ALPHA)).epsilon
    share = 0.05 ** (1 / 100)
    assert bound == pytest.approx(math.log(share / (1 - share)), rel=1e-9)


def test_delta_counts_once_for_two_sides_and_half_for_one() -> None:
    sides = SideCounts(1000, 300, 0), SideCounts(1000, 100, 0)
    slacks = [right_rate(CoinCounts(*sides, two_sided=two), Allowance(ALPHA), Fraction(1, 10)).slack for two in (0, 1)]
    assert slacks[1] == 2 * slacks[0]
    assert slacks[0] > Fraction(1, 20) * 2000 / 400  # a bound for κ is below K/n, so the slack is above


def test_a_test_uses_up_its_allowance() -> None:
    counts = at_rates(1000)
    for spend in (
        lambda allowance: pooled_lower_bound(one_sided(counts), allowance),
        lambda allowance: pooled_lower_bound(one_sided(counts), allowance, Fraction(1, 10)),
        lambda allowance: pair_rates(counts, allowance),
    ):
        allowance = Allowance(ALPHA)
        spend(allowance)
        with pytest.raises(Exception, match="spent twice"):
            spend(allowance)


def test_refutation_is_decided_exactly() -> None:
    """right/(1 - right) = 3 exactly: ε = log 3 is the end, which no rational reaches."""
    rate = RightRate(Fraction(3, 4), Fraction(0))
    below, above = Fraction(math.nextafter(math.log(3), 0)), Fraction(math.nextafter(math.log(3), 2))
    assert rate.refutes(below)
    assert not rate.refutes(above)
    assert rate.epsilon is not None
    assert Fraction(rate.epsilon) <= Fraction(math.log(3))


@pytest.mark.parametrize(
    "guarantee",
    [Pure(1), Approximate(1, "1e-3"), Gaussian(1), Renyi(2, 1), ZeroConcentrated("1/2")],
    ids=lambda g: g.text,
)
def test_every_guarantee_is_refuted_by_rates_and_by_a_tangent(guarantee: Pure) -> None:
    gross, fine = PairCounts(5000, 10_000, 100, 10_000), PairCounts(110, 10_000, 100, 10_000)
    assert pair_refutes(gross, Allowance("1e-6"), guarantee)
    assert not pair_refutes(fine, Allowance("0.05"), guarantee)
    tangent = guarantee.tangent(0.01)
    assert pooled_refutes(one_sided(gross), Allowance("1e-6"), tangent)
    assert not pooled_refutes(one_sided(fine), Allowance("0.05"), tangent)


def test_the_complement_speaks_for_the_other_direction() -> None:
    """An event of 99.9 % on a and 90 % on a′ contradicts ε = 1 for (a′, a) alone."""
    counts = PairCounts(9990, 10_000, 9000, 10_000)
    assert not pair_refutes(counts, Allowance(ALPHA), Pure(1))
    assert pair_refutes(counts, Allowance(ALPHA), Pure(1), both_ways=True)


def test_a_second_side_needs_a_promise_for_the_other_direction() -> None:
    counts = CoinCounts(SideCounts(1000, 300, 100), SideCounts(1000, 100, 300), two_sided=True)
    for refused in (
        lambda allowance: pooled_refutes(counts, allowance, Approximate(Fraction(0), Fraction(0))),
        lambda allowance: pooled_lower_bound(counts, allowance),
    ):
        allowance = Allowance(ALPHA)
        with pytest.raises(EvidenceError, match="counts of S⁻ need"):
            refused(allowance)
        assert allowance.spend("something else") == ALPHA
    assert pooled_refutes(counts, Allowance(ALPHA), Approximate(Fraction(1, 2), Fraction(0)), both_ways=True)
