"""Bets against a promise of (ε, δ)-differential privacy, as data: what wealth is multiplied by for each kind of run.

A bet divides runs into cells and has a factor ≥ 0 for each; if the promise is kept, a run's expected factor is at most
1, whatever the mechanism is, so that wealth is a supermartingale [ville1939etude; ramdas2023game].  What a bet is made
of may depend on all *earlier* rounds, never on the one that it is for.  Factors are written once and evaluated twice:
in floating point to choose and to screen, in ball arithmetic to decide.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from flint import arb

from dpverdict.claim.guarantee import Approximate
from dpverdict.errors import EvidenceError
from dpverdict.evidence.rates import ball

Number: TypeAlias = Any
"""A float or a ball."""

MOST_BINS = 32
_RESOLUTION = 1 << 16
_LEAST_SHARE = Fraction(1, 1 << 10)
"""Learned shares keep away from 0 and 1, where one surprise would end the game."""
_STEPS = 64


@dataclass(frozen=True, slots=True)
class Stakes:
    """A promise as numbers of one kind: e^ε, δ, how to read a rational, and whether it holds for (a′, a) as well."""

    growth: Number
    delta: Number
    read: Callable[[Fraction], Number]
    both_ways: bool

    @classmethod
    def certified(cls, promise: Approximate, both_ways: bool) -> Stakes:
        """In balls, at the precision that is set."""
        return cls(ball(promise.epsilon).exp(), ball(promise.delta), ball, both_ways)

    @classmethod
    def rough(cls, promise: Approximate, both_ways: bool) -> Stakes:
        """In floats."""
        return cls(float(np.exp(min(float(promise.epsilon), 700.0))), float(promise.delta), float, both_ways)


class Bet(ABC):
    """One bet; its runs are counted in `cells` cells."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many kinds of runs it tells apart."""

    @abstractmethod
    def factors(self, stakes: Stakes) -> list[Number]:
        """What wealth is multiplied by for a run in each cell."""


@dataclass(frozen=True, slots=True)
class LearnedBet(Bet):
    """For pure promises: the output of a run with a fair coin b is put into a bin, where b = 1 has about this share.

    Under ε-DP the share of b = 1 given the output is at most θ = e^ε/(1 + e^ε).  In a bin with share η > θ the bet is
    η against θ; where 1 - η > θ it is the mirror image, if the promise holds both ways; elsewhere none is made.
    Cells: (bin 0, on a), (bin 0, on a′), (bin 1, on a), …  Not for δ > 0, which leaves the likelihood ratio unbounded.
    """

    shares: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.shares) <= MOST_BINS or not all(0 < share < 1 for share in self.shares):
            raise EvidenceError(
                "EVID-020",
                f"a learned bet has 1 to {MOST_BINS} shares between 0 and 1",
                place=f"got {len(self.shares)}: {', '.join(map(str, self.shares[:4]))}",
                why="a share of 0 or 1 loses everything at the first surprise; every bin is a number to verify",
                fix="LearnedBet.from_past(counts)",
            )

    @classmethod
    def from_past(cls, counts: Sequence[int]) -> LearnedBet:
        """Shares from the cells of earlier rounds, by the rule of [krichevsky1981performance]; multiples of 2^-16."""
        rough = [Fraction(2 * a + 1, 2 * (a + b + 1)) for a, b in zip(counts[::2], counts[1::2], strict=True)]
        clipped = [min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE) for share in rough]
        return cls(tuple(Fraction(round(share * _RESOLUTION), _RESOLUTION) for share in clipped))

    @property
    def cells(self) -> int:
        """Two for each bin."""
        return 2 * len(self.shares)

    def factors(self, stakes: Stakes) -> list[Number]:
        """η/θ and (1 - η)/(1 - θ), or their mirror image, or 1 and 1."""
        if stakes.delta != 0:
            raise EvidenceError(
                "EVID-021",
                "a learned bet is about pure differential privacy",
                place=f"delta={float(stakes.delta)}",
                why="δ allows outputs whose likelihood ratio is unbounded, which this bet would win on",
                fix="an EventBet, or a CoupledBet",
            )
        theta = stakes.growth / (1 + stakes.growth)
        rest = 1 / (1 + stakes.growth)
        found: list[Number] = []
        for share in self.shares:
            eta = stakes.read(share)
            other = 1 - eta
            # A ball is larger than another only if that is certain; what is uncertain passes.
            if eta > theta:
                found += [eta / theta, other / rest]
            elif stakes.both_ways and other > theta:
                found += [eta / rest, other / theta]
            else:
                found += [stakes.read(Fraction(1))] * 2
        return found


@dataclass(frozen=True, slots=True)
class PayoffBet(Bet):
    """A bet on S⁺ for a and on S⁻ for a′, disjoint: factor 1 + λ₊·payoff₊ + λ₋·payoff₋.

    `plus` and `minus` say which part of the largest λ is at stake; the largest keeps every factor at 0 or above for
    every ε, so that one bet may be tried against several promises.  S⁻ is allowed if the promise holds both ways.
    """

    plus: Fraction
    minus: Fraction = Fraction(0)

    most_together: ClassVar[Fraction]
    """What plus + minus stays below, so that no cell has a factor of 0."""

    count: ClassVar[int]

    def __post_init__(self) -> None:
        inside = 0 <= self.plus < 1 and 0 <= self.minus < 1 and self.plus + self.minus < self.most_together
        if not inside:
            raise EvidenceError(
                "EVID-022",
                "what is at stake lies from 0 to below 1",
                place=f"plus={self.plus}, minus={self.minus}, together below {self.most_together}",
                why="at 1 a single run can lose everything; a negative stake is a bet for the promise",
                fix=f"{type(self).__name__}.from_past(counts, promise)",
            )

    @property
    def cells(self) -> int:
        """As many as the kind has."""
        return self.count

    def factors(self, stakes: Stakes) -> list[Number]:
        """1 + plus·A + minus·B for the payoffs A and B of each cell."""
        if self.minus and not stakes.both_ways:
            raise EvidenceError(
                "EVID-023",
                "a bet on S⁻ needs a promise for (a′, a)",
                place=f"minus={self.minus}",
                why="S⁻ is evidence that a′ can be told from a, which the claim does not exclude",
                fix="minus=0, or the pair in the other order",
            )
        plus, minus = stakes.read(self.plus), stakes.read(self.minus)
        return [1 + plus * one + minus * other for one, other in self.payoffs(stakes)]

    @staticmethod
    @abstractmethod
    def payoffs(stakes: Stakes) -> list[tuple[Number, Number]]:
        """For each cell the payoffs of S⁺ and S⁻, divided by the largest loss; none is below -1."""

    @classmethod
    def from_past(cls, counts: Sequence[int], promise: Approximate, both_ways: bool = False) -> PayoffBet:
        """The stakes, as multiples of 1/64, with which wealth would have grown most in earlier rounds."""
        a, b = np.array(cls.payoffs(Stakes.rough(promise, both_ways)), dtype=float).T
        steps = np.arange(_STEPS) / _STEPS
        minus = steps if both_ways else steps[:1]
        together = steps[:, None] + minus
        factors = 1 + steps[:, None, None] * a + minus[None, :, None] * b
        growth = np.where(
            together < float(cls.most_together), np.log(np.maximum(factors, 1e-12)) @ np.asarray(counts), -np.inf
        )
        best = np.unravel_index(int(np.argmax(growth)), growth.shape)
        return cls(Fraction(int(best[0]), _STEPS), Fraction(int(best[1]), _STEPS))


@dataclass(frozen=True, slots=True)
class EventBet(PayoffBet):
    """For (ε, δ) promises and runs with a fair coin for their input.

    Cells: S⁺ on a, S⁺ on a′, S⁻ on a, S⁻ on a′, neither on a, neither on a′.  Payoff₊ is 2·1{S⁺ on a}
    - 2e^ε·1{S⁺ on a′} - δ, of mean Pr[S⁺ | a] - e^ε Pr[S⁺ | a′] - δ ≤ 0; payoff₋ is its mirror image.
    The largest λ is 1/(2e^ε + 2δ): then a run that loses on one side and pays δ for both keeps a factor ≥ 0.
    """

    most_together = Fraction(2)
    count = 6

    @staticmethod
    def payoffs(stakes: Stakes) -> list[tuple[Number, Number]]:
        """In the order of the cells."""
        largest = 2 * stakes.growth + 2 * stakes.delta
        win = (2 - stakes.delta) / largest
        lose = (-2 * stakes.growth - stakes.delta) / largest
        pay = -stakes.delta / largest
        return [(win, pay), (lose, pay), (pay, lose), (pay, win), (pay, pay), (pay, pay)]


@dataclass(frozen=True, slots=True)
class CoupledBet(PayoffBet):
    """For (ε, δ) promises and runs in pairs, X on a and Y on a′ from the same seed [bichsel2018dpfinder].

    Sound for every coupling in which X and Y each follow the mechanism's law and pairs are independent: one fresh seed
    for each pair, and none that the search has used.  Cells: X in S⁺, S⁻ or neither, times Y in S⁺, S⁻ or neither.
    Payoff₊ is 1{X in S⁺} - e^ε·1{Y in S⁺} - δ, payoff₋ is 1{Y in S⁻} - e^ε·1{X in S⁻} - δ; X and Y can lose both.
    """

    most_together = Fraction(1)
    count = 9

    @staticmethod
    def payoffs(stakes: Stakes) -> list[tuple[Number, Number]]:
        """In the order of the cells."""
        largest = stakes.growth + stakes.delta
        cells = [(x, y) for x in (1, -1, 0) for y in (1, -1, 0)]
        return [
            (
                ((x == 1) - stakes.growth * (y == 1) - stakes.delta) / largest,
                ((y == -1) - stakes.growth * (x == -1) - stakes.delta) / largest,
            )
            for x, y in cells
        ]


def product(factors: Sequence[arb], counts: Sequence[int]) -> arb:
    """Π factor^count: an enclosure."""
    wealth = arb(1)
    for factor, count in zip(factors, counts, strict=True):
        if count:
            wealth *= factor**count
    return wealth
