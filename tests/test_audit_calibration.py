"""The whole of an audit, search included, on mechanisms exactly at the boundary of their claim.

A correct audit fails an assertion here with probability at most 1e-9 (`boundary.FALSE_ALARM`); seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import dpverdict
from boundary import ALPHA, allowed
from dpverdict import mechanism
from dpverdict.auditing import conductor
from dpverdict.evidence.counts import CoinCounts, SideCounts
from dpverdict.execute import seeds
from dpverdict.search import adaptive
from dpverdict.search.adaptive import Bench, Learned
from dpverdict.search.sampling import NOTHING_SEEN, Groups, Pair, Seen, counted

REPETITIONS, RUNS = 100, 20_000


@mechanism
def laplace(noise: Any, value: float, epsilon: float) -> Any:
    return noise.laplace(value, scale=1 / epsilon)


@mechanism
def response(noise: Any, bit: float) -> Any:
    """Tells the truth in three of four runs: a loss of log 3."""
    return noise.bernoulli(Fraction(1, 4) + bit / 2)


@mechanism
def silent(noise: Any, value: float) -> Any:
    """Says nothing about its input: a loss of 0."""
    return noise.laplace(0, scale=1)


LOG_3 = "1.09861228867"
"""log 3, rounded up in the last place."""

CASES = [(laplace, "pure:1"), (response, f"pure:{LOG_3}"), (silent, "pure:0")]


def false_claims(judged: Any, claim: str, repetitions: int = REPETITIONS) -> int:
    found = 0
    for seed in range(repetitions):
        verdict = dpverdict.audit(
            judged, claim=claim, input=0, neighbour=1, alpha=ALPHA, runs=RUNS, seed=seed, out=None
        )
        found += verdict.verdict == "refuted"
    return found


@pytest.mark.parametrize(("judged", "claim"), CASES, ids=["laplace", "response", "silent"])
def test_correct_mechanisms_are_hardly_ever_refuted(judged: Any, claim: str) -> None:
    assert false_claims(judged, claim) <= allowed(REPETITIONS)


def test_bounds_are_hardly_ever_above_the_truth() -> None:
    above = 0
    for seed in range(REPETITIONS):
        bound = dpverdict.lower_bound(laplace, epsilon=1, input=0, neighbour=1, runs=RUNS, seed=seed, out=None)
        above += bound.lower_bound is not None and bound.lower_bound > 1
    assert above <= allowed(REPETITIONS)


def test_confirming_on_the_runs_that_were_learned_from_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Seen] = {}
    no_coin = seeds.generator(1, "no event here tosses a coin", 0)
    shown: Callable[..., Seen] = adaptive.shown

    def remembered(bench: Bench, pair: Pair, runs: int, phase: str) -> Seen:
        found = shown(bench, pair, runs, phase)
        seen["all"] = seen.get("all", NOTHING_SEEN) + found
        return found

    def again(bench: Bench, learned: Learned, runs: int, phase: str) -> tuple[CoinCounts, ...]:
        (fit, other_fit), (choose, other_choose) = seen["all"].fit, seen["all"].choose
        del seen["all"]

        def count(groups: Groups, finalist: Any) -> SideCounts:
            total = SideCounts(0, 0)
            for group in groups:
                total += counted(finalist.sides, group, no_coin)
            return total

        return tuple(
            CoinCounts(count(fit + choose, each), count(other_fit + other_choose, each), two_sided=True)
            for each in learned.finalists
        )

    monkeypatch.setattr(adaptive, "shown", remembered)
    monkeypatch.setattr(conductor, "confirm", again)
    assert false_claims(silent, "pure:0") > allowed(REPETITIONS)


def test_half_the_noise_is_refuted_at_one_in_a_million() -> None:
    verdict = dpverdict.audit(laplace, args={"epsilon": 2}, claim="pure:1", domain="real", runs=100_000, out=None)
    assert verdict.verdict == "refuted"
    assert verdict.alpha == 1e-6
    assert verdict.runs <= 100_000
