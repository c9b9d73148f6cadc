"""Tests that may be looked at after every round, and stopped at any: wealth that a promise keeps from growing.

Each player bets on one pair of inputs with a weight that is fixed before the data, Σ weights ≤ 1; which player's runs
come next, and every bet, may depend on all earlier rounds.  If every promise is kept, Σ weight·wealth is a
supermartingale that starts at no more than 1, and the chance that it *ever* reaches 1/α is at most α [ville1939etude].
Assumptions: runs are independent of the past given their input; coins are fair and independent; no run is used twice.

    Σ weight·wealth ≥ 1/α        the mechanism breaks the claim
    one weight·wealth ≥ 1/α      that player's pair breaks it: the pair is named

A grid of ε gives a lower bound: report ε > g_j only if every g_i with i ≤ j is rejected.  A false report needs the
first point that the claim allows to be rejected, so the whole grid costs α once.  (The largest rejected point is no
bound, as wealth is not monotone in ε.)

Floating point finds the round at which wealth is largest; there it is multiplied out in ball arithmetic, and what
counts is the lower end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import index
from typing import TypeAlias

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpverdict.claim.guarantee import Approximate
from dpverdict.errors import EvidenceError
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.bets import Bet, Stakes, product
from dpverdict.evidence.bounds import LowerBound
from dpverdict.evidence.rates import ball, float_below

METHOD = "e-process"

_BITS = 128
_DOUBT = 1e-6
"""Where floating point says that wealth stays below 1/α by more than this factor, nothing is multiplied out."""

Path: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Player:
    """Who bets on one pair of inputs: a name, a weight, and whether the promise holds for (a′, a) as well."""

    name: str
    weight: Fraction = Fraction(1)
    both_ways: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """The counts of one round of one player, and the bet that was fixed before it.

    With a grid there may be one bet for each of its points, about the same events, or one for all.
    """

    bets: tuple[Bet, ...]
    counts: tuple[int, ...]
    player: int = 0

    def __post_init__(self) -> None:
        counts = tuple(index(count) for count in self.counts)
        object.__setattr__(self, "counts", counts)
        fitting = {bet.cells for bet in self.bets} == {len(counts)} and len(set(map(type, self.bets))) == 1
        if not fitting or min(counts) < 0:
            raise EvidenceError(
                "EVID-024",
                "a round has a count of runs for each cell of its bets",
                place=f"{len(counts)} counts, bets with {[bet.cells for bet in self.bets]} cells",
                why="the counts say what the bets won and lost",
                fix="count the runs in the order of the bet's cells",
            )

    def bet(self, point: int) -> Bet:
        """The bet against one point of the grid."""
        return self.bets[point] if len(self.bets) > 1 else self.bets[0]


@dataclass(frozen=True, slots=True)
class Standing:
    """What the rounds show, at the look with the greatest wealth.

    `rejected` is settled in ball arithmetic; `after` is a number of rounds; `log_wealth` is for display.
    """

    rejected: bool
    after: int
    log_wealth: float
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnyTimeTest:
    """A test of one promise for each player; its α is spent when it begins (`begin`)."""

    players: tuple[Player, ...]
    promises: tuple[Approximate, ...]
    alpha: Fraction

    @classmethod
    def begin(cls, players: Sequence[Player], promises: Sequence[Approximate], allowance: Allowance) -> AnyTimeTest:
        """The test, before the first run.  A pair may have several players, with one tangent of a curve each."""
        checked = _checked(players)
        if len(promises) != len(checked):
            raise _unfit(f"{len(checked)} players and {len(promises)} promises", "each player bets against a promise")
        return cls(checked, tuple(promises), allowance.spend("an any-time test"))

    def standing(self, rounds: Sequence[Round]) -> Standing:
        """What all rounds so far show."""
        return _Table(self.players, self.promises, self.alpha, 0).standing(rounds)


@dataclass(frozen=True, slots=True)
class AnyTimeBound:
    """A lower bound on ε from a grid, for one δ; its α is spent when it begins (`begin`).

    With `naming` the bound is about the pair that is named with it; without, about the mechanism, and it is larger.
    Which one is decided before the first run.
    """

    players: tuple[Player, ...]
    grid: tuple[Fraction, ...]
    delta: Fraction
    alpha: Fraction
    naming: bool

    @classmethod
    def begin(
        cls,
        players: Sequence[Player],
        grid: Sequence[Fraction],
        allowance: Allowance,
        delta: Fraction = Fraction(0),
        *,
        naming: bool = False,
    ) -> AnyTimeBound:
        """The bound, before the first run."""
        points = tuple(map(Fraction, grid))
        if not points or points[0] < 0 or any(after <= before for before, after in pairwise(points)):
            raise _unfit(f"grid={[float(point) for point in points[:6]]}", "its points are ε ≥ 0 in rising order")
        return cls(_checked(players), points, delta, allowance.spend("an any-time bound"), naming)

    def standing(self, rounds: Sequence[Round], point: int) -> Standing:
        """What all rounds so far show about one point of the grid; by itself no bound."""
        promises = (Approximate(self.grid[point], self.delta),) * len(self.players)
        return _Table(self.players, promises, self.alpha, point).standing(rounds)

    def lower_bound(self, rounds: Sequence[Round]) -> tuple[LowerBound, tuple[str, ...]]:
        """The bound and, with naming, the pairs that it holds for."""
        reached: Fraction | None = None
        names: tuple[str, ...] = ()
        for point, epsilon in enumerate(self.grid):
            standing = self.standing(rounds, point)
            rejecting = standing.named if point == 0 else tuple(name for name in names if name in standing.named)
            if not (rejecting if self.naming else standing.rejected):
                break
            reached, names = epsilon, rejecting
        epsilon_below = None if reached is None else float_below(reached)
        return LowerBound(epsilon_below, self.delta, self.alpha, METHOD), names if self.naming else ()


def log_growth(one: Round, promise: Approximate, both_ways: bool, point: int = 0) -> float:
    """By how much a round changes the logarithm of its player's wealth, in floating point: to decide when to look."""
    factors = one.bet(point).factors(Stakes.rough(promise, both_ways))
    return math.fsum(
        count * math.log(factor) if factor > 0 else -math.inf
        for factor, count in zip(factors, one.counts, strict=True)
        if count
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The players against one promise each, at one point of a grid."""

    players: tuple[Player, ...]
    promises: tuple[Approximate, ...]
    alpha: Fraction
    point: int

    def standing(self, rounds: Sequence[Round]) -> Standing:
        paths = self._paths(rounds)
        together = np.logaddexp.reduce(paths, axis=1)
        after = int(np.argmax(together))
        named = tuple(
            player.name
            for at, player in enumerate(self.players)
            if self._reached(rounds[: int(np.argmax(paths[:, at]))], float(paths[:, at].max()), [at])
        )
        everyone = range(len(self.players))
        # A named player's weighted wealth alone reaches 1/α, and the others' is not negative.
        rejected = bool(named) or self._reached(rounds[:after], float(together[after]), everyone)
        return Standing(rejected, after, float(together[after]), named)

    def _paths(self, rounds: Sequence[Round]) -> Path:
        """The logarithm of each player's weighted wealth after none, one, two, … rounds."""
        steps = np.zeros((len(rounds) + 1, len(self.players)))
        steps[0] = [math.log(player.weight) for player in self.players]
        for at, one in enumerate(rounds, start=1):
            mover = self.players[one.player]
            steps[at, one.player] = log_growth(one, self.promises[one.player], mover.both_ways, self.point)
        path: Path = np.cumsum(steps, axis=0)
        return path

    def _reached(self, rounds: Sequence[Round], rough: float, players: Sequence[int]) -> bool:
        """Whether Σ weight·wealth of these players is certainly at least 1/α after these rounds."""
        if rough < -math.log(self.alpha) - _DOUBT:
            return False
        with ctx.workprec(_BITS):
            total = sum((self._wealth(rounds, player) for player in players), arb(0))
            return bool(total * ball(self.alpha) >= 1)

    def _wealth(self, rounds: Sequence[Round], player: int) -> arb:
        stakes = Stakes.certified(self.promises[player], self.players[player].both_ways)
        wealth = ball(self.players[player].weight)
        for one in rounds:
            if one.player == player:
                wealth *= product(one.bet(self.point).factors(stakes), one.counts)
        return wealth


def _checked(players: Sequence[Player]) -> tuple[Player, ...]:
    weights = [player.weight for player in players]
    if not weights or min(weights) <= 0 or sum(weights) > 1:
        raise _unfit(f"weights {', '.join(map(str, weights))}", "weights are positive, and together at most 1")
    if len({player.name for player in players}) < len(players):
        raise _unfit(f"players {', '.join(player.name for player in players)}", "a name stands for one player")
    return tuple(players)


def _unfit(place: str, why: str) -> EvidenceError:
    return EvidenceError(
        "EVID-025",
        "an any-time test cannot begin like this",
        place=place,
        why=why,
        fix="Player('0 against 1', Fraction(1, 2)), Player('1 against 0', Fraction(1, 2))",
    )
