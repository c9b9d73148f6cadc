"""Error probabilities that are spent once, and counts that stay whole."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.errors import ClaimError, EvidenceError
from dpverdict.evidence.allowance import Allowance, error_probability
from dpverdict.evidence.counts import CoinCounts, PairCounts, SideCounts, toss
from dpverdict.execute import seeds

WEIGHTS = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1000), min_size=1, max_size=8)


def test_an_allowance_is_spent_once() -> None:
    allowance = Allowance("1e-6")
    assert allowance.spend("one claim") == Fraction(1, 10**6)
    with pytest.raises(EvidenceError, match="spent twice") as caught:
        allowance.spend("another claim")
    assert "first for: one claim; now for: another claim" in str(caught.value)
    with pytest.raises(EvidenceError, match="spent twice"):
        allowance.split(1, 1)
    assert allowance.probability == Fraction(1, 10**6)
    assert repr(allowance) == "<allowance of 1e-6, spent for: one claim>"


@settings(deadline=None)
@given(WEIGHTS)
def test_parts_are_exactly_the_whole(weights: list[Fraction]) -> None:
    allowance = Allowance(Fraction(1, 20))
    parts = allowance.split(*weights)
    assert sum(part.spend("a part") for part in parts) == Fraction(1, 20)
    with pytest.raises(EvidenceError, match="spent twice"):
        allowance.spend("the whole as well")


def test_a_float_is_the_decimal_that_was_written() -> None:
    assert Allowance(0.05).split(0.9, 0.1)[0].probability == Fraction(45, 1000)
    assert repr(Allowance(0.05)) == "<allowance of 0.05, unspent>"


@pytest.mark.parametrize("weights", [(), (1, 0), (2, -1)])
def test_weights_are_positive(weights: tuple[int, ...]) -> None:
    with pytest.raises(EvidenceError, match="positive weights"):
        Allowance(0.05).split(*weights)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_allowance_has_no_copies(duplicate: object) -> None:
    assert callable(duplicate)
    with pytest.raises(EvidenceError, match="cannot be copied"):
        duplicate(Allowance(0.05))


@pytest.mark.parametrize("value", [0, 1, 0.5, -0.1, 1e-301])
def test_an_error_probability_is_below_one_half(value: float) -> None:
    with pytest.raises(EvidenceError, match="above 0 and below 1/2"):
        error_probability(value)


def test_an_error_probability_is_a_number() -> None:
    with pytest.raises(ClaimError, match="finite"):
        error_probability(float("nan"))


# --- counts --------------------------------------------------------------------------------------------------------


def test_counts_add_up() -> None:
    assert PairCounts(1, 10, 2, 20) + PairCounts(3, 30, 4, 40) == PairCounts(4, 40, 6, 60)
    one = CoinCounts(SideCounts(10, 1, 2), SideCounts(9, 3, 4), two_sided=True)
    both = one + one
    assert (both.runs, both.right, both.wrong, both.hits) == (38, 10, 10, 20)
    assert both.pair() == PairCounts(2, 20, 6, 18)


def test_numpy_integers_become_pythons() -> None:
    counts = PairCounts(np.int32(2**31 - 1), np.int32(2**31 - 1), np.uint8(255), np.uint8(255))  # type: ignore[arg-type]
    doubled = counts + counts
    assert doubled == PairCounts(2**32 - 2, 2**32 - 2, 510, 510)
    assert {type(getattr(doubled, name)) for name in doubled.__slots__} == {int}


@pytest.mark.parametrize("hits", [0.99 * 100, "3", None])
def test_a_count_is_whole(hits: object) -> None:
    with pytest.raises(EvidenceError, match="a count is a whole number"):
        PairCounts(hits, 100, 0, 100)  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [(11, 10, 0, 10), (0, 10, 11, 10), (-1, 10, 0, 10), (0, -1, 0, 10)])
def test_hits_are_among_the_runs(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(EvidenceError, match="none to all"):
        PairCounts(*counts)


@pytest.mark.parametrize("counts", [(10, 6, 5), (10, 11, 0), (10, 0, 11), (10, 11, -1)])
def test_both_events_are_among_the_runs_and_disjoint(counts: tuple[int, int, int]) -> None:
    with pytest.raises(EvidenceError, match="none to all"):
        SideCounts(*counts)


def test_the_second_event_is_declared() -> None:
    with pytest.raises(EvidenceError, match="not in use"):
        CoinCounts(SideCounts(10, 1, 2), SideCounts(9, 3), two_sided=False)
    one = CoinCounts(SideCounts(10, 1), SideCounts(9, 3), two_sided=False)
    other = CoinCounts(SideCounts(10, 1), SideCounts(9, 3), two_sided=True)
    with pytest.raises(EvidenceError, match="same events"):
        one + other


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_every_run_has_an_input(runs: int) -> None:
    on_input, on_neighbour = toss(runs, seeds.generator(1, "toss", runs))
    assert on_input + on_neighbour == runs
    assert min(on_input, on_neighbour) >= 0


@pytest.mark.parametrize("runs", [5, 8, 13])
def test_coins_are_fair_and_independent(runs: int) -> None:
    """20,000 tosses: heads follow Bin(runs, 1/2); chi-squared, false alarm 1e-9.  A fixed half must fail."""
    from scipy.stats import binom, chi2

    generator = seeds.generator(1, "coins", runs)

    def statistic(heads: list[int]) -> float:
        expected = binom.pmf(range(runs + 1), runs, 0.5) * len(heads)
        seen = np.bincount(heads, minlength=runs + 1)
        return float(np.sum((seen - expected) ** 2 / expected))

    limit = chi2.isf(1e-9, runs)
    assert statistic([toss(runs, generator)[0] for _ in range(20_000)]) < limit
    assert statistic([runs // 2] * 20_000) > limit
