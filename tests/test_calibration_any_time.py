"""Any-time tests on mechanisms exactly at the boundary of their promise, looked at after every round.

Each assertion about a correct test fails with probability at most 1e-9 (`boundary.FALSE_ALARM`); seeds are fixed.  Each
deliberately broken variant must fail in the same experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from boundary import (
    ALPHA,
    CURVE,
    LAPLACE,
    NEVER,
    ONE,
    ONE_SIDED,
    ONLY_DELTA,
    RESPONSE,
    TIGHT,
    TINY_DELTA,
    Boundary,
    Counts,
    allowed,
    coin_counts,
)
from dpverdict.claim import Approximate, Pure
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.any_time import AnyTimeBound, AnyTimeTest, Player, Round
from dpverdict.evidence.bets import Bet, CoupledBet, EventBet, LearnedBet
from dpverdict.evidence.bounds import pooled_refutes
from dpverdict.execute import seeds

REPETITIONS = pytest.mark.parametrize("repetitions", [300, pytest.param(2000, marks=pytest.mark.slow)])
LOOKS = 12

Past = Counts
Rule = Callable[[Past, Counts], Bet]
"""A bet from the counts of earlier rounds; the second argument is the round itself, which only a broken rule reads."""


def generator(what: str) -> np.random.Generator:
    return seeds.generator(11, what, 0, "calibration")


def with_coins(boundary: Boundary, repetitions: int, what: str, runs: int = 400) -> Counts:
    """[experiment, round, cell]; the cells of an `EventBet`, which are also those of a `LearnedBet` with three bins."""
    small = Boundary(boundary.name, boundary.on_input, boundary.on_neighbour, boundary.guarantee, runs)
    rows = small.draw(repetitions * LOOKS, generator(f"{boundary.name} {what}")).reshape(repetitions, LOOKS, 6)
    a, plus, minus, b, neighbour_plus, neighbour_minus = np.moveaxis(rows, 2, 0)
    cells = [plus, neighbour_plus, minus, neighbour_minus, a - plus - minus, b - neighbour_plus - neighbour_minus]
    return np.stack(cells, axis=2)


def coupled(boundary: Boundary, repetitions: int, runs: int = 400) -> Counts:
    """[experiment, round, cell of a `CoupledBet`]; both runs of a pair read the same uniform number."""

    def parts(plus: float, minus: float) -> list[tuple[float, float]]:
        return [(0.0, plus), (1 - minus, 1.0), (plus, 1 - minus)]

    chances = [
        max(0.0, min(x[1], y[1]) - max(x[0], y[0]))
        for x in parts(*boundary.on_input)
        for y in parts(*boundary.on_neighbour)
    ]
    drawn: Counts = generator(f"{boundary.name} coupled").multinomial(runs, chances, (repetitions, LOOKS))
    return drawn


def rounds_of(cells: Counts, rule: Rule) -> list[Round]:
    past = np.zeros(cells.shape[1], dtype=np.int64)
    rounds = []
    for counts in cells:
        rounds.append(Round((rule(past, counts),), tuple(counts.tolist())))
        past = past + counts
    return rounds


def claims(boundary: Boundary, experiments: Counts, rule: Rule) -> int:
    player = Player("the pair", both_ways=boundary.two_sided)
    found = 0
    for cells in experiments:
        test = AnyTimeTest.begin([player], [boundary.promise], Allowance(ALPHA))
        found += test.standing(rounds_of(cells, rule)).rejected
    return found


def learned(past: Past, counts: Counts) -> Bet:
    return LearnedBet.from_past(past.tolist())


def event_rule(boundary: Boundary) -> Rule:
    return lambda past, counts: EventBet.from_past(past.tolist(), boundary.promise, boundary.two_sided)


def coupled_rule(boundary: Boundary) -> Rule:
    return lambda past, counts: CoupledBet.from_past(past.tolist(), boundary.promise, boundary.two_sided)


def named(boundary: Boundary) -> str:
    return boundary.name


# --- the tests keep their level ------------------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", [LAPLACE, RESPONSE, ONE_SIDED, NEVER], ids=named)
@REPETITIONS
def test_learned_bet(boundary: Boundary, repetitions: int) -> None:
    assert claims(boundary, with_coins(boundary, repetitions, "learned"), learned) <= allowed(repetitions)


@pytest.mark.parametrize("boundary", [LAPLACE, TIGHT, ONLY_DELTA, TINY_DELTA, CURVE], ids=named)
@REPETITIONS
def test_event_bet(boundary: Boundary, repetitions: int) -> None:
    assert claims(boundary, with_coins(boundary, repetitions, "event"), event_rule(boundary)) <= allowed(repetitions)


@pytest.mark.parametrize("boundary", [LAPLACE, RESPONSE, TIGHT, ONLY_DELTA, CURVE], ids=named)
@REPETITIONS
def test_coupled_bet(boundary: Boundary, repetitions: int) -> None:
    assert claims(boundary, coupled(boundary, repetitions), coupled_rule(boundary)) <= allowed(repetitions)


@REPETITIONS
def test_bounds_are_below_the_truth(repetitions: int) -> None:
    grid = [Fraction(step, 50) for step in range(11)]  # the truth, 1/10, is a point of it
    found = 0
    for cells in with_coins(RESPONSE, repetitions, "grid"):
        bound = AnyTimeBound.begin([Player("the pair", both_ways=True)], grid, Allowance(ALPHA))
        reached = bound.lower_bound(rounds_of(cells, learned))[0].epsilon
        found += reached is not None and reached >= 0.1
    assert found <= allowed(repetitions)


PLAYERS = 8


def played(experiments: Counts, players: Sequence[Player]) -> list[Round]:
    """One experiment, [player, round, cell]: the next to move is who is richest, in hits that were right."""
    past = np.zeros((len(players), 6), dtype=np.int64)
    moved = [0] * len(players)
    rounds = []
    for step in range(3 * LOOKS):
        lead = past[:, 0] + past[:, 3] - past[:, 1] - past[:, 2]
        waiting = [at for at in range(len(players)) if moved[at] < LOOKS]
        at = waiting[step % len(waiting)] if step < len(players) else max(waiting, key=lambda who: int(lead[who]))
        counts = experiments[at, moved[at]]
        rounds.append(Round((LearnedBet.from_past(past[at].tolist()),), tuple(counts.tolist()), at))
        past[at] += counts
        moved[at] += 1
    return rounds


@REPETITIONS
def test_naming_of_pairs(repetitions: int) -> None:
    """One pair breaks the promise, seven are at its boundary; one of these is named falsely at most with chance α."""
    broken = Boundary("broken", *[(0.62, 0.38), (0.38, 0.62)], RESPONSE.guarantee)
    others = with_coins(RESPONSE, repetitions * (PLAYERS - 1), "naming").reshape(repetitions, PLAYERS - 1, LOOKS, 6)
    worst = with_coins(broken, repetitions, "naming").reshape(repetitions, 1, LOOKS, 6)
    players = [Player(f"pair {at}", Fraction(1, PLAYERS), both_ways=True) for at in range(PLAYERS)]
    promises = [RESPONSE.promise] * PLAYERS
    falsely = truly = 0
    for experiments in np.concatenate([worst, others], axis=1):
        test = AnyTimeTest.begin(players, promises, Allowance(ALPHA))
        standing = test.standing(played(experiments, players))
        falsely += bool(set(standing.named) - {"pair 0"})
        truly += "pair 0" in standing.named
        assert standing.rejected or not standing.named
    assert falsely <= allowed(repetitions)
    assert truly > repetitions * 0.9  # a planted violation is found


# --- broken variants fail -------------------------------------------------------------------------------------------


def test_a_bet_that_has_seen_its_round() -> None:
    def peeking(past: Past, counts: Counts) -> Bet:
        return LearnedBet.from_past(counts.tolist())

    assert claims(RESPONSE, with_coins(RESPONSE, 300, "learned"), peeking) > allowed(300)


def test_rounds_that_are_used_twice() -> None:
    def claims_of(times: int) -> int:
        experiments = with_coins(RESPONSE, 300, "reused", runs=2000)
        found = 0
        for cells in experiments:
            test = AnyTimeTest.begin([Player("the pair", both_ways=True)], [RESPONSE.promise], Allowance(ALPHA))
            found += test.standing(rounds_of(np.concatenate([cells] * times), learned)).rejected
        return found

    assert claims_of(1) <= allowed(300)
    assert claims_of(8) > allowed(300)


@pytest.mark.parametrize("weight", [Fraction(1, 16), ONE])
def test_an_allowance_for_each_player(weight: Fraction) -> None:
    """Sixteen pairs at the boundary; with weight 1 each, which `begin` refuses, somebody is rejected too often."""
    players = tuple(Player(f"pair {at}", weight) for at in range(16))
    experiments = with_coins(LAPLACE, 300 * 16, "weights").reshape(300, 16, LOOKS, 6)
    bets = (EventBet(Fraction(1, 8)),)
    found = 0
    for each in experiments:
        rounds = [Round(bets, tuple(counts.tolist()), at) for at in range(16) for counts in each[at]]
        test = AnyTimeTest(players, (LAPLACE.promise,) * 16, ALPHA)
        found += bool(test.standing(rounds).named)
    assert found > allowed(300) if weight == 1 else found <= allowed(300)


def test_a_fixed_test_that_is_looked_at_after_every_round() -> None:
    """Why there are any-time tests: the pooled test twelve times over, on a stream that it would be sound for once."""
    once = repeatedly = 0
    for cells in with_coins(RESPONSE, 300, "looks"):
        refuted = [
            pooled_refutes(
                coin_counts((a + c + e, a, c, b + d + f, b, d), True),
                Allowance(ALPHA),
                RESPONSE.promise,
                both_ways=True,
            )
            for a, b, c, d, e, f in np.cumsum(cells, axis=0).tolist()
        ]
        once += refuted[-1]
        repeatedly += any(refuted)
    assert once <= allowed(300)
    assert repeatedly > allowed(300)


def test_a_learned_bet_where_delta_is_allowed() -> None:
    """Against ε alone it wins on the mass δ, so it says nothing about (ε, δ); `factors` refuses the combination."""
    experiments = with_coins(ONLY_DELTA, 300, "no delta")
    alone = Boundary("ε alone", ONLY_DELTA.on_input, ONLY_DELTA.on_neighbour, Pure(ONE))
    assert claims(alone, experiments, learned) > allowed(300)
    assert claims(ONLY_DELTA, experiments, event_rule(ONLY_DELTA)) <= allowed(300)


# --- violations are found -------------------------------------------------------------------------------------------


def test_promises_that_are_too_strong_are_refuted() -> None:
    """ε = 0.05 claimed of randomised response with 0.2, 12 rounds of 20,000 runs: missed with chance below 1e-9."""
    theta = math.exp(0.2) / (1 + math.exp(0.2))
    wrong = Boundary("wrong", (theta, 1 - theta), (1 - theta, theta), Pure(Fraction(1, 20)))
    tests: list[tuple[Counts, Rule]] = [
        (with_coins(wrong, 1, "power", runs=20_000), learned),
        (with_coins(wrong, 1, "power", runs=20_000), event_rule(wrong)),
        (coupled(wrong, 1, runs=20_000), coupled_rule(wrong)),
    ]
    for experiments, rule in tests:
        assert claims(wrong, experiments, rule) == 1


def test_seeded_coupling_needs_fewer_runs() -> None:
    """The wealth of coupled pairs grows faster than that of as many runs with coins, at equal numbers of runs."""
    theta = math.exp(0.2) / (1 + math.exp(0.2))
    wrong = Boundary("wrong", (theta, 1 - theta), (1 - theta, theta), Pure(Fraction(1, 10)))
    promise = Approximate(Fraction(1, 10), Fraction(0))

    def wealth(cells: Counts, rule: Rule) -> float:
        test = AnyTimeTest.begin([Player("the pair", both_ways=True)], [promise], Allowance(ALPHA))
        return test.standing(rounds_of(cells, rule)).log_wealth

    pairs = wealth(coupled(wrong, 1, runs=10_000)[0], coupled_rule(wrong))
    coins = wealth(with_coins(wrong, 1, "coins", runs=20_000)[0], event_rule(wrong))
    assert pairs > 3 * coins > 0
