"""What contradicts a guarantee: against independent arithmetic, and the guarantees against each other."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain, combinations, pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpverdict.claim import Approximate, Gaussian, Guarantee, Pure, Renyi, ZeroConcentrated
from dpverdict.claim.divergence import divergence_bounds
from dpverdict.claim.enclosure import normal_bounds
from dpverdict.claim.guarantee import above_line
from dpverdict.claim.guarantee_text import guarantee as guarantee_of
from dpverdict.errors import ClaimError

RATES = st.fractions(min_value=0, max_value=1, max_denominator=10**6)
EPSILONS = st.fractions(min_value=0, max_value=5, max_denominator=1000)
DELTAS = st.fractions(min_value=0, max_value=1, max_denominator=1000)
QUICK = settings(max_examples=80, deadline=None)

GUARANTEES: list[Guarantee] = [
    Pure(Fraction(1, 2)),
    Approximate(Fraction(1, 2), Fraction(1, 100)),
    Gaussian(Fraction(1, 2)),
    Renyi(Fraction(2), Fraction(1, 4)),
    Renyi(Fraction(5, 2), Fraction(1, 4)),
    ZeroConcentrated(Fraction(1, 8)),
]
EACH = pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda guarantee: guarantee.text)


@st.composite
def laws(draw: st.DrawFn, largest: int = 4) -> tuple[list[Fraction], list[Fraction]]:
    size = draw(st.integers(2, largest))
    both = []
    for _ in range(2):
        weights = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any))
        both.append([Fraction(weight, sum(weights)) for weight in weights])
    return both[0], both[1]


def exceeds(p: Fraction, q: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """The inequality in decimal arithmetic of 60 digits; a random case is never so close to a tie."""
    with localcontext(prec=60):
        factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        left = Decimal((p - delta).numerator) / (p - delta).denominator
        return left > factor * q.numerator / q.denominator


# --- pure and approximate ----------------------------------------------------------------------------------------


@given(RATES, RATES, EPSILONS, DELTAS)
@settings(max_examples=200, deadline=None)
def test_contradicted_if_and_only_if_the_inequality_fails(
    p: Fraction, q: Fraction, epsilon: Fraction, delta: Fraction
) -> None:
    assume(epsilon != 0)
    assert Pure(epsilon).contradicts(p, q) == exceeds(p, q, epsilon, Fraction(0))
    assert Approximate(epsilon, delta).contradicts(p, q) == exceeds(p, q, epsilon, delta)


@given(RATES, RATES, DELTAS)
@QUICK
def test_at_epsilon_zero_it_is_exact(p: Fraction, q: Fraction, delta: Fraction) -> None:
    assert Approximate(Fraction(0), delta).contradicts(p, q) == (p > q + delta)
    assert Pure(Fraction(0)).contradicts(p, q) == (p > q)


def test_ties_are_no_contradictions() -> None:
    assert not Pure(Fraction(0)).contradicts(Fraction(1, 3), Fraction(1, 3))
    assert not Approximate(Fraction(0), Fraction(1, 3)).contradicts(Fraction(2, 3), Fraction(1, 3))
    assert not Approximate(Fraction(1), Fraction(1, 3)).contradicts(Fraction(1, 3), Fraction(0))
    assert Pure(Fraction(1)).contradicts(Fraction(1, 10**30), Fraction(0))
    assert not Pure(Fraction(1)).contradicts(0, 0)
    assert not Pure(Fraction(1)).contradicts(1, 1)


def test_near_ties_are_decided() -> None:
    with localcontext(prec=200):
        e = Fraction(Decimal(1).exp())
    q = Fraction(1, 4)
    for digits in (20, 60, 150):
        step = Fraction(1, 10**digits)
        assert above_line(e * q + step, q, Fraction(1), Fraction(0))
        assert not above_line(e * q - step, q, Fraction(1), Fraction(0))


def test_floats_are_the_numbers_that_they_are() -> None:
    claim = Pure(Fraction(0))
    assert claim.contradicts(math.nextafter(0.3, 1), 0.3)
    assert not claim.contradicts(0.3, 0.3)
    assert claim.contradicts(0.1, Fraction(1, 10))  # the float 0.1 is a little more
    assert claim.contradicts(np.float64(0.5), np.float64(0.25))
    # Bounds beyond the harmless side say nothing.
    assert not claim.contradicts(-0.5, 0.5)
    assert not claim.contradicts(0.5, 1.5)


@given(RATES, RATES, EPSILONS)
@QUICK
def test_pure_is_approximate_with_delta_zero(p: Fraction, q: Fraction, epsilon: Fraction) -> None:
    assert Pure(epsilon).contradicts(p, q) == Approximate(epsilon, Fraction(0)).contradicts(p, q)


@given(laws(), EPSILONS, st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=50))
@settings(max_examples=100, deadline=None)
def test_distributions_agree_with_all_events(
    both: tuple[list[Fraction], list[Fraction]], epsilon: Fraction, delta: Fraction
) -> None:
    p, q = both
    for claim in (Pure(epsilon), Approximate(epsilon, delta), Gaussian(epsilon + Fraction(1, 7))):
        events = chain.from_iterable(combinations(range(len(p)), size) for size in range(len(p) + 1))
        by_events = any(
            claim.contradicts(sum((p[i] for i in event), Fraction(0)), sum((q[i] for i in event), Fraction(0)))
            for event in events
        )
        assert claim.contradicts_distributions(p, q) == by_events
        assert claim.contradicts_distributions(dict(enumerate(p)), dict(enumerate(q))) == by_events


# --- all guarantees ----------------------------------------------------------------------------------------------


@EACH
@given(p=RATES, q=RATES, more=RATES, less=RATES)
@settings(max_examples=40, deadline=None)
def test_contradiction_is_monotone(
    guarantee: Guarantee, p: Fraction, q: Fraction, more: Fraction, less: Fraction
) -> None:
    if guarantee.contradicts(p, q):
        assert guarantee.contradicts(max(p, more), min(q, less))


@EACH
@given(q=st.floats(1e-6, 0.999))
@settings(max_examples=25, deadline=None)
def test_the_largest_rate_is_the_edge(guarantee: Guarantee, q: float) -> None:
    edge = guarantee.largest(q)
    assert q <= edge <= 1
    if edge < 1 - 1e-6:
        assert guarantee.contradicts(edge + 1e-6 * (1 - edge), q)
    assert not guarantee.contradicts(edge - 1e-6 * edge, q)


@EACH
@given(q=st.floats(1e-6, 0.999), x=st.floats(1e-6, 1))
@settings(max_examples=25, deadline=None)
def test_tangents_are_implied(guarantee: Guarantee, q: float, x: float) -> None:
    tangent = guarantee.tangent(q)
    assert tangent.largest(x) >= guarantee.largest(x) - 1e-9
    if isinstance(guarantee, Gaussian) and q < 0.3:
        assert tangent.largest(q) <= guarantee.largest(q) + 1e-6


@EACH
@given(both=laws())
@settings(max_examples=40, deadline=None)
def test_equal_laws_contradict_nothing_and_disjoint_ones_everything(
    guarantee: Guarantee, both: tuple[list[Fraction], list[Fraction]]
) -> None:
    assert not guarantee.contradicts_distributions(both[0], both[0], both_ways=True)
    assert guarantee.contradicts_distributions([1, 0], [0, 1])


@EACH
def test_both_ways_tries_the_complement(guarantee: Guarantee) -> None:
    # Pr[S | a] = 1/2 says little beside 0.001, but its complement beside 0.999 … in the other direction.
    p, q = Fraction(1, 2), Fraction(1, 1000)
    assert guarantee.contradicts(p, q)
    assert guarantee.contradicts(1 - q, 1 - p, both_ways=True)
    assert guarantee.contradicts_distributions([q, 1 - q], [p, 1 - p], both_ways=True)


def test_one_direction_is_weaker_than_both_for_pure() -> None:
    claim = Pure(Fraction(1))
    assert not claim.contradicts(Fraction(999, 1000), Fraction(1, 2))
    assert claim.contradicts(Fraction(999, 1000), Fraction(1, 2), both_ways=True)


@EACH
def test_curves_for_display(guarantee: Guarantee) -> None:
    values = [guarantee.trade_off(x / 20) for x in range(21)]
    assert values == sorted(values, reverse=True)
    symmetric = [guarantee.trade_off(x / 4, both_ways=True) for x in range(5)]
    assert all(both >= one - 1e-12 for both, one in zip(symmetric, values[::5], strict=True))
    profile = [guarantee.profile(x / 4) for x in range(20)]
    assert profile == sorted(profile, reverse=True)
    assert all(0 <= delta <= 1 for delta in profile)


def test_the_symmetric_trade_off_of_pure_is_the_known_one() -> None:
    e = math.e
    for x in (0.0, 0.1, 0.3, 0.6, 1.0):
        assert Pure(1).trade_off(x, both_ways=True) == pytest.approx(max(0, 1 - e * x, (1 - x) / e), abs=1e-9)


def test_huge_parameters() -> None:
    for claim in (Pure(10**6), Approximate(10**6, 0), Gaussian(10**6), ZeroConcentrated(10**6), Renyi(2, 10**6)):
        assert claim.contradicts(Fraction(1, 2), 0)
        assert not claim.contradicts(Fraction(1, 2), Fraction(1, 10**9))
        assert 0 <= claim.delta_at(Fraction(10)) <= 1
        assert claim.largest(0.5) <= 1
    assert Pure(10**6).profile(0.0) == 1


# --- Gaussian ------------------------------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=100), st.floats(1e-6, 0.99), EPSILONS)
@QUICK
def test_gdp_implies_its_profile_and_touches_it(mu: Fraction, q: float, epsilon: Fraction) -> None:
    guarantee = Gaussian(mu)
    implied = Approximate(epsilon, guarantee.delta_at(epsilon))
    assert implied.largest(q) >= guarantee.largest(q) - 1e-12
    # The line of slope e^ε touches the curve at q* = Φ(-μ/2 - ε/μ).
    touch = NormalDist().cdf(-float(mu) / 2 - float(epsilon / mu))
    if touch > 1e-200:
        edge = math.exp(epsilon) * touch + float(implied.delta)
        assert edge == pytest.approx(guarantee.largest(touch), rel=1e-6)
        assert guarantee.profile(float(epsilon)) == pytest.approx(float(implied.delta), rel=1e-6, abs=1e-14)


def test_gaussian_edges() -> None:
    claim = Gaussian(Fraction(1))
    assert claim.contradicts(Fraction(1, 10**400), 0)
    assert claim.contradicts(1, Fraction(999, 1000))
    assert not claim.contradicts(1, 1)
    assert claim.contradicts(Fraction(1, 10**300), Fraction(1, 10**350))
    assert not claim.contradicts(Fraction(2, 10**350), Fraction(1, 10**350))
    assert claim.contradicts(1 - Fraction(1, 10**40), Fraction(1, 2))
    assert Gaussian(0).contradicts(Fraction(1, 2), Fraction(1, 3))
    assert not Gaussian(0).contradicts(Fraction(1, 3), Fraction(1, 3))
    assert Gaussian(0).delta_at(Fraction(1)) == 0
    assert Gaussian(0).profile(1.0) == 0
    assert (claim.largest(0.0), claim.largest(1.0)) == (0.0, 1.0)


def test_a_rate_that_more_bits_alone_decide() -> None:
    # 0.69146… is Φ(1/2) to 40 digits, rounded down and up.
    below = Fraction("0.6914624612740131036377046106083377398836")
    claim = Gaussian(Fraction(1, 2))
    assert claim.contradicts(below + Fraction(1, 10**39), Fraction(1, 2))
    assert not claim.contradicts(below - Fraction(1, 10**39), Fraction(1, 2))
    # Around another quantile, so that the enclosure has to be halved; too close to call counts as no contradiction.
    low, high = below, Fraction(1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if claim.contradicts(middle, Fraction(11, 20)) else (middle, high)
    assert float(low) == pytest.approx(claim.largest(0.55), abs=1e-12)


def test_a_gaussian_tie_is_no_contradiction() -> None:
    # Φ(μ) beside Φ(0) = 1/2: closer than any precision that is tried.
    claim = Gaussian(Fraction(1, 2))
    tie = normal_bounds(Fraction(1, 2), 2000)
    assert not claim.contradicts(tie.low, Fraction(1, 2))
    assert not claim.contradicts(tie.high, Fraction(1, 2))
    assert claim.contradicts(tie.high + Fraction(1, 1 << 900), Fraction(1, 2))
    # Beside quantiles that are floating-point numbers, so that halving meets them at once.
    for z in (-0.75, -1.0, -1.5, -2.0, -2.5):
        q, p = normal_bounds(Fraction(z), 2000).low, normal_bounds(Fraction(z) + Fraction(1, 2), 2000).low
        assert not claim.contradicts(p, q)
        assert claim.contradicts(p + Fraction(1, 10**6), q)


# --- Rényi and zCDP --------------------------------------------------------------------------------------------------


def test_events_decide() -> None:
    assert [guarantee.events_decide for guarantee in GUARANTEES] == [True, True, True, False, False, False]


@given(laws(), st.sampled_from([Fraction(2), Fraction(3), Fraction(5, 2), Fraction(101, 100), Fraction(200)]))
@QUICK
def test_divergences_agree_with_floats(both: tuple[list[Fraction], list[Fraction]], alpha: Fraction) -> None:
    pairs = list(zip(*both, strict=True))
    bounds = divergence_bounds(pairs, alpha, 64)
    if any(q == 0 < p for p, q in pairs):
        assert bounds is None
        return
    assert bounds is not None
    with localcontext(prec=400):
        a = Decimal(alpha.numerator) / alpha.denominator
        total = sum(
            ((Decimal(p.numerator) / p.denominator) ** a * (Decimal(q.numerator) / q.denominator) ** (1 - a))
            for p, q in pairs
            if p
        )
        truth = Fraction(Decimal(total).ln() / (a - 1))
    slack = Fraction(1, 10**100)
    assert bounds.low - slack <= truth <= bounds.high + slack
    assert bounds.high - bounds.low < Fraction(1, 10**12)


@given(RATES, RATES)
@settings(max_examples=120, deadline=None)
def test_the_event_bound_is_the_divergence_of_a_two_point_law(p: Fraction, q: Fraction) -> None:
    for guarantee in GUARANTEES:
        if not guarantee.events_decide and guarantee.contradicts(p, q):
            assert guarantee.contradicts_distributions([p, 1 - p], [q, 1 - q])


def test_no_event_shows_what_the_divergence_does() -> None:
    # Three outputs: every event is close enough, their divergence is not.
    p = [Fraction(6, 20), Fraction(8, 20), Fraction(6, 20)]
    q = [Fraction(2, 20), Fraction(8, 20), Fraction(10, 20)]
    order = Fraction(2)
    bounds = divergence_bounds(list(zip(p, q, strict=True)), order, 64)
    assert bounds is not None
    claim = Renyi(order, bounds.low - Fraction(1, 1000))
    events = [event for size in range(4) for event in combinations(range(3), size)]
    assert not any(claim.contradicts(sum(p[i] for i in event), sum(q[i] for i in event)) for event in events)
    assert claim.contradicts_distributions(p, q)


def test_zcdp_of_a_discretised_gaussian_sits_at_its_edge() -> None:
    # Data processing: the signs and sizes of N(0,1) and N(1,1), rounded, satisfy 1/2-zCDP, and nearly not less.
    edges = [-math.inf, *(x / 4 for x in range(-24, 29)), math.inf]

    def law(mean: float) -> list[Fraction]:
        normal = NormalDist(mean, 1)
        cdf = [0.0 if edge == -math.inf else 1.0 if edge == math.inf else normal.cdf(edge) for edge in edges]
        weights = [Fraction(max(b - a, 1e-300)) for a, b in pairwise(cdf)]
        return [weight / sum(weights) for weight in weights]

    p, q = law(1.0), law(0.0)
    assert not ZeroConcentrated(Fraction(51, 100)).contradicts_distributions(p, q)
    assert ZeroConcentrated(Fraction(45, 100)).contradicts_distributions(p, q)


def test_degenerate_orders() -> None:
    assert ZeroConcentrated(0).contradicts(Fraction(1, 2), Fraction(1, 3))
    assert not ZeroConcentrated(0).contradicts(Fraction(1, 3), Fraction(1, 3))
    assert not ZeroConcentrated(0).contradicts_distributions([1, 0], [1, 0])
    assert ZeroConcentrated(0).delta_at(Fraction(0)) == 0
    assert ZeroConcentrated(1).largest(0.0) == 0
    assert Renyi(2, 1).largest(0.0) == 0
    assert Renyi(2, 0).delta_at(Fraction(0)) < 1
    assert Renyi(2, 10).delta_at(Fraction(0)) == 1


def test_too_close_to_call_is_no_contradiction() -> None:
    pairs = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4))]
    bounds = divergence_bounds(pairs, Fraction(2), 2000)
    assert bounds is not None
    law, other = [p for p, _ in pairs], [q for _, q in pairs]
    middle = (bounds.low + bounds.high) / 2
    # Longer than any number that a claim may hold, hence not through Renyi's text.
    assert not Renyi(Fraction(2), middle).contradicts_distributions(law, other)
    assert Renyi(Fraction(2), bounds.low - Fraction(1, 2**900)).contradicts_distributions(law, other)


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "neighbour_rate"),
    [(math.nan, 0.5), (0.5, math.inf), (1.5, 0.5), (0.5, -0.1), ("0.5", 0.5), (True, 0.5), (None, 0.5)],
)
def test_rates_are_probabilities(rate: object, neighbour_rate: object) -> None:
    with pytest.raises(ClaimError, match="probability") as caught:
        Pure(1).contradicts(rate, neighbour_rate)  # type: ignore[arg-type]
    assert caught.value.code == "CLAIM-012"


@pytest.mark.parametrize(
    ("law", "other"),
    [
        ([Fraction(1, 2)], [Fraction(1)]),
        ([1, 0], [1]),
        ({"a": 1}, [1]),
        ([1], {"a": 1}),
        ([Fraction(3, 2), Fraction(-1, 2)], [1, 0]),
        ([0.5, 0.5], [1, 0]),
        ([True], [1]),
        ([1] * 100, [1] * 100),
    ],
)
def test_distributions_are_exact(law: object, other: object) -> None:
    with pytest.raises(ClaimError, match="exact distributions") as caught:
        Pure(1).contradicts_distributions(law, other)  # type: ignore[arg-type]
    assert caught.value.code == "CLAIM-013"


# --- at the ends of what numbers can be ------------------------------------------------------------------------------

EXTREME = [
    "pure:0", "pure:1e300", "pure:1e-300", "approximate:0,1", "approximate:0,0", "approximate:1e300,0.5",
    "gaussian:0", "gaussian:1e-300", "gaussian:1", "gaussian:40", "gaussian:1e300",
    "renyi:2,1", "renyi:1e300,1", "renyi:2,1e300", "renyi:2,0", "renyi:10000000001/10000000000,1",
    "zcdp:0", "zcdp:1/8", "zcdp:1e-300", "zcdp:1e300",
]  # fmt: skip
TINY = Fraction(1, 10**5000)
HALF = Fraction(1, 2)


@pytest.mark.parametrize("text", EXTREME)
def test_nothing_overflows(text: str) -> None:
    promise = guarantee_of(text)
    certain = [(1, 0), (HALF, 0), (TINY, 0)]  # impossible for the neighbour
    never = [(0, 0), (0, 1), (HALF, HALF), (1, 1), (TINY, TINY), (0.0, 5e-324), (5e-324, 5e-324)]
    for rate, neighbour_rate in certain:
        allowed = isinstance(promise, Approximate) and rate <= promise.delta
        assert promise.contradicts(rate, neighbour_rate, both_ways=True) != allowed
    for rate, neighbour_rate in never:
        assert not promise.contradicts(rate, neighbour_rate, both_ways=True)
    close = [(1 - TINY, 1 - 2 * TINY), (2 * TINY, TINY), (1.0, 5e-324), (HALF, TINY), (1 - TINY, HALF)]
    for rate, neighbour_rate in close:
        # What allows nothing is contradicted by any difference; what allows nearly everything, by none of these.
        found = promise.contradicts(rate, neighbour_rate)
        if text in ("pure:0", "approximate:0,0", "gaussian:0", "renyi:2,0", "zcdp:0"):
            assert found
        if text in ("pure:1e300", "approximate:0,1", "approximate:1e300,0.5", "gaussian:1e300", "renyi:2,1e300"):
            assert found == (text == "gaussian:1e300" and rate == 1)
    for rate in (0.0, 1e-320, 0.3, 1.0):
        assert rate <= promise.largest(rate) <= 1
        assert 0 <= promise.tangent(rate).delta <= 1
        assert 0 <= promise.trade_off(rate) <= 1
    for epsilon in (Fraction(0), Fraction(5000), Fraction(10**400)):
        assert 0 <= promise.delta_at(epsilon) <= 1


def test_a_rate_may_have_any_number_of_digits() -> None:
    assert not Pure(Fraction(1)).contradicts(TINY, TINY)
    assert Pure(Fraction(1)).contradicts(3 * TINY, TINY)
    with pytest.raises(ClaimError, match="CLAIM-012") as caught:
        Pure(Fraction(1)).contradicts(1 + TINY, TINY)
    assert "too many digits to show" in str(caught.value)


def test_outputs_are_compared_as_outcomes_are() -> None:
    promise = Pure(Fraction(1))
    assert not promise.contradicts_distributions({float("nan"): Fraction(1)}, {float("nan"): Fraction(1)})
    assert not promise.contradicts_distributions({(1, float("nan")): 1}, {(1.0, float("nan")): 1})
    for one, other in ((True, 1), (0.0, -0.0)):
        assert promise.contradicts_distributions({one: Fraction(1)}, {other: Fraction(1)})
