"""Outcomes as groups, sides counted on them, and rankings cut into sides."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpverdict import mechanism
from dpverdict.claim import Approximate
from dpverdict.evidence.counts import SideCounts
from dpverdict.evidence.events import OutputEquals, Sides, Union, count_sides, sides_of
from dpverdict.evidence.features import Coordinate
from dpverdict.evidence.scores import Linear
from dpverdict.execute import seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.mechanism.outcome import freeze
from dpverdict.mechanism.tally import listed, tally
from dpverdict.reading.sample import Sampler, decode, outcome_groups
from dpverdict.search.cuts import Aim, best_cuts
from dpverdict.search.rankings import ByOutcome, ByScore, View
from dpverdict.search.sampling import counted, together


@mechanism
def number(noise: Any, value: float) -> Any:
    return noise.laplace(value)


@mechanism
def answers(noise: Any, values: list[float]) -> Any:
    found = []
    for value in values:
        above = noise.laplace(value) >= 0
        found.append(above)
        if above:
            break
    return found


@mechanism
def mixed(noise: Any, value: float) -> Any:
    if noise.laplace(value) > 2:
        raise ValueError("too large")
    return [noise.bernoulli(0.5), noise.laplace(value), 3]


@mechanism
def named(noise: Any, value: float) -> Any:
    return {"count": noise.discrete_laplace(value)}


@pytest.mark.parametrize(("program", "given"), [(number, 0), (answers, [0, 1, 0]), (mixed, 0), (named, 0)])
def test_groups_hold_the_outcomes_of_a_batch(program: Any, given: Any) -> None:
    sampler = Sampler(program.program_for(given), given)
    batch = sampler.batch(NumpyNoise(seeds.generator(1, "groups", 0)), 2000)
    expected = tally([freeze(output) for output in decode(batch)])
    for groups in (list(outcome_groups(batch)), together(outcome_groups(batch))):
        assert tally([outcome for group in groups for outcome in listed(group)]) == expected
    assert View.of(list(outcome_groups(batch))).tally == expected


def test_listed_outcomes_are_counted_as_one_by_one() -> None:
    outcomes = [(True, 1.0), (True, 1.0), (1, 1.0), None, "x", "x", "y"]
    sides = Sides(Union((OutputEquals((True, 1.0)), OutputEquals("y"))), OutputEquals("x"))
    generator = seeds.generator(1, "sides", 0)
    assert counted(sides, outcomes, generator) == count_sides(sides_of(sides, outcomes, generator))
    assert counted(sides, outcomes, generator) == SideCounts(7, 3, 2)


def test_sides_hold_what_the_cut_counted() -> None:
    generator = seeds.generator(1, "cuts", 0)
    one, other = (generator.integers(0, 40, 3000) + shift for shift in (3, 0))
    aim = Aim((Approximate(0, 0),), two_sided=True, runs=100_000, alpha=Fraction(1, 20))
    by_score = ByScore(Linear((Coordinate(0, 0),), (1,)))
    by_outcome = ByOutcome(tuple(range(43)), tuple(3 * value - 63 for value in range(43)))
    for ranking in (by_score, by_outcome):
        levels = [ranking.levels(View.of([some])) for some in (one, other)]
        (cut,) = best_cuts(levels[0], levels[1], aim)
        sides = ranking.sides(cut.above, cut.below, two_sided=True)
        hits = [counted(sides, some, generator) for some in (one, other)]
        assert sum(each.plus + each.minus for each in hits) == round(cut.hit_rate * 6000) > 0
        assert cut.gain > 0
        rare = best_cuts(levels[0], levels[1], aim, cut.hit_rate / 8)
        assert all(each.hit_rate <= cut.hit_rate / 8 for each in rare)


def test_identical_outcomes_leave_nothing_to_cut_but_noise() -> None:
    aim = Aim((Approximate(0, 0),), two_sided=True, runs=100_000, alpha=Fraction(1, 20))
    same = np.zeros(1000, dtype=np.int64)
    assert all(cut.gain <= 0 for cut in best_cuts(same, same, aim))
