"""The privacy loss ln(p/p')/ε of one comparison in ball arithmetic, and its largest value between rational ends."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dpverdict.evidence.verify.comparisons import Comparison
from dpverdict.reading.exact.exponential import Exponential, ball, fraction
from dpverdict.reading.exact.sign_forms import Interval

BITS = 192
TOLERANCE = Fraction(1, 2**52)
"""How far apart the ends of an enclosure come to lie, relative to max(1, value)."""

MOST_BOXES = 200_000


@dataclass(frozen=True, slots=True)
class Loss:
    """ln(p/p')/x · 1/stretch, where p and p' are not the function 0 and x is the unit of the probabilities.

    The stretch turns multiples of x into multiples of ε; where x is ε it is 1.
    """

    comparison: Comparison
    interval: Interval
    stretch: Fraction
    factors: tuple[tuple[Exponential, Exponential, int], ...]
    """The functions of which p/p' is the product, with their derivatives and exponents 1 or -1."""

    @classmethod
    def of(cls, comparison: Comparison, interval: Interval, stretch: Fraction) -> Loss:
        """The loss of a comparison."""
        here, there = comparison.probability, comparison.neighbour_probability
        parts = [(here.numerator, 1), (there.numerator, -1)]
        if here.denominator != there.denominator:
            parts += [(here.denominator, -1), (there.denominator, 1)]
        return cls(comparison, interval, stretch, tuple((one, one.derivative(), sign) for one, sign in parts))

    def on(self, x: arb) -> arb:
        """A ball that contains the loss at all x of a ball above 0; not finite where that is too wide."""
        total = arb(0)
        for function, _, sign in self.factors:
            total += function.value_on(x, ctx.prec).log() * sign
        return total / x / ball(self.stretch)

    def slope_on(self, x: arb) -> arb:
        """The same for the loss's derivative."""
        total = arb(0)
        for function, derivative, sign in self.factors:
            total += derivative.value_on(x, ctx.prec) / function.value_on(x, ctx.prec) * sign
        return (total / ball(self.stretch) - self.on(x)) / x

    def bounds_at(self, x: Fraction) -> tuple[Fraction, Fraction] | None:
        """Two rationals around the loss at a rational x; None where p or p' cannot be told from 0."""
        with ctx.workprec(BITS):
            value = self.on(ball(x))
            return (_down(value), _up(value)) if value.is_finite() else None


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The supremum of some losses lies from low to high (None: not bounded); the loss comes near it at the place."""

    low: Fraction
    high: Fraction | None
    loss: Loss
    place: Fraction


@dataclass(frozen=True, slots=True, order=True)
class _Box:
    """Orders by what is to be looked at first: the largest upper bound."""

    first: Fraction
    number: int
    low: Fraction
    high: Fraction
    is_final: bool


def largest(stretches: Iterable[tuple[Loss, Fraction, Fraction]], known: Enclosure) -> Enclosure:
    """The supremum of losses between rational ends above 0, and of a lower bound that is known already."""
    return _Search(known).run(list(stretches))


class _Search:
    """Branch and bound: the box with the largest upper bound is split until it is close to the best value seen."""

    def __init__(self, known: Enclosure) -> None:
        self.best = known
        self.boxes: list[_Box] = []

    def run(self, stretches: list[tuple[Loss, Fraction, Fraction]]) -> Enclosure:
        losses = [loss for loss, _, _ in stretches]
        for number, (_, low, high) in enumerate(stretches):
            self._add(losses, number, low, high)
        for _ in range(MOST_BOXES):
            if not self.boxes:
                return self._enclosed(self.best.low)
            box = heapq.heappop(self.boxes)
            upper = -box.first
            if box.is_final or upper - self.best.low <= TOLERANCE * max(Fraction(1), self.best.low):
                return self._enclosed(max(upper, self.best.low))
            middle = 2 * box.low if box.high > 4 * box.low else (box.low + box.high) / 2
            self._add(losses, box.number, box.low, middle)
            self._add(losses, box.number, middle, box.high)
        return self.best

    def _enclosed(self, high: Fraction) -> Enclosure:
        return Enclosure(self.best.low, high, self.best.loss, self.best.place)

    def _add(self, losses: list[Loss], number: int, low: Fraction, high: Fraction) -> None:
        loss, middle = losses[number], (low + high) / 2
        with ctx.workprec(BITS):
            whole = ball(low).union(ball(high))
            slope, value = loss.slope_on(whole), loss.on(ball(middle))
            is_final = low == high or bool(slope > 0 or slope < 0)
            if is_final:
                # A monotone loss is largest at an end.
                ends = [(loss.on(ball(end)), end) for end in {low, high}]
                bounds = [_up(value) for value, _ in ends if value.is_finite()]
                upper = max(bounds) if len(bounds) == len(ends) else None
                for value, end in ends:
                    self._see(loss, value, end)
            else:
                self._see(loss, value, middle)
                tangent = value + slope * (whole - ball(middle))
                bounds = [_up(bound) for bound in (tangent, loss.on(whole)) if bound.is_finite()]
                upper = min(bounds, default=None)
        if upper is None:
            upper, is_final = _FAR, False
        if upper > self.best.low:
            heapq.heappush(self.boxes, _Box(-upper, number, low, high, is_final))

    def _see(self, loss: Loss, value: arb, place: Fraction) -> None:
        if value.is_finite() and (seen := _down(value)) > self.best.low:
            self.best = Enclosure(seen, None, loss, place)


_FAR = Fraction(2**64)


def _down(value: arb) -> Fraction:
    return fraction(value.lower().fmpq())


def _up(value: arb) -> Fraction:
    return fraction(value.upper().fmpq())
