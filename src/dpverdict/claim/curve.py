"""A guarantee that is a whole curve: points or a function; a trade-off function or a privacy profile.

A trade-off function f says Pr[S | a] ≤ 1 - f(Pr[S | a′]); a privacy profile δ says Pr[S | a] ≤ e^ε Pr[S | a′] + δ(ε)
for every ε ≥ 0 [dong2022gaussian; balle2018improving].  Points are the claim itself: a profile claims (ε, δ) at each of
its points and nothing in between; a trade-off function is the straight lines between its points.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from dpverdict.claim.enclosure import LARGEST_EXPONENT, exp_bounds
from dpverdict.claim.exact_numbers import exact, json_of, text_of
from dpverdict.claim.guarantee import PRECISIONS, Approximate, Guarantee, above_line, check_delta, check_epsilon
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError, said_by

Point = tuple[Fraction, Fraction]

_LARGEST_EPSILON = Fraction(10**300)
"""A profile is not asked beyond what a float holds; its value here bounds those further out."""

_PROFILE_FALLS = "a privacy profile never rises: a larger ε is the weaker promise"
_TRADE_OFF_FALLS = "a trade-off function never rises: rejecting more misses less"
_BELOW_GUESSING = "a trade-off function lies between 0 and 1 - alpha, which is guessing"
_CONVEX = "a trade-off function is convex: tests can be mixed by a coin"


class CurveGuarantee(Guarantee):
    """A guarantee that is a whole curve; where it was read from is part of its text."""

    kind = "curve"
    source: str

    @property
    def text(self) -> str:
        """``curve:FILE`` or ``curve:module:object``."""
        return f"curve:{self.source}"


class PointCurve(CurveGuarantee):
    """A curve given by points, exactly."""

    form: ClassVar[str]
    points: tuple[Point, ...]

    def parameters(self) -> dict[str, object]:
        """The points, so that the claim can be read without its file."""
        return {self.form: [[json_of(x), json_of(y)] for x, y in self.points]}


@dataclass(frozen=True)
class ProfilePoints(PointCurve):
    """(ε, δ)-differential privacy for every listed (ε, δ)."""

    form = "profile"
    points: tuple[Point, ...]
    source: str = "points"

    def __post_init__(self) -> None:
        points = _exact_points(self.points, "profile=")
        for epsilon, delta in points:
            check_epsilon(epsilon, Written.of("epsilon=", text_of(epsilon)))
            check_delta(delta, Written.of("delta=", text_of(delta)))
        for before, after in pairwise(points):
            if after[0] <= before[0]:
                raise _not_a_curve(after, "epsilon", "the rows of a privacy profile stand in rising order of ε")
            if after[1] > before[1]:
                raise _not_a_curve(after, "epsilon", _PROFILE_FALLS)
        object.__setattr__(self, "points", points)

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """The best that one of the points implies."""
        return min(Approximate(*point).delta_at(epsilon) for point in self.points)

    def largest(self, neighbour_rate: float) -> float:
        """The least bound of all points."""
        return min(Approximate(*point).largest(neighbour_rate) for point in self.points)

    def tangent(self, neighbour_rate: float) -> Approximate:
        """The point with the least bound there."""
        return min((Approximate(*point) for point in self.points), key=lambda one: one.largest(neighbour_rate))

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        return any(above_line(p, q, epsilon, delta) for epsilon, delta in self.points)


@dataclass(frozen=True)
class TradeOffPoints(PointCurve):
    """f-differential privacy for the piecewise linear trade-off function through the points (type I, type II error)."""

    form = "trade-off"
    points: tuple[Point, ...]
    source: str = "points"

    def __post_init__(self) -> None:
        points = _exact_points(self.points, "trade-off=")
        _check_trade_off(points)
        object.__setattr__(self, "points", points)

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """The largest 1 - f(x) - e^ε x, which stands at a point; rounded up."""
        factor = exp_bounds(min(epsilon, Fraction(LARGEST_EXPONENT)), PRECISIONS[0]).low
        return max(Fraction(0), *(1 - y - factor * x for x, y in self.points))

    def largest(self, neighbour_rate: float) -> float:
        """1 - f(q)."""
        return 1 - float(self._at(Fraction(neighbour_rate)))

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        return p > 1 - self._at(q)

    def _at(self, x: Fraction) -> Fraction:
        right = bisect_right(self.points, x, key=lambda point: point[0])
        if right == len(self.points):
            return self.points[-1][1]
        (x0, y0), (x1, y1) = self.points[right - 1], self.points[right]
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def _check_trade_off(points: tuple[Point, ...]) -> None:
    if points[0][0] != 0 or points[-1][0] != 1:
        wrong = points[0] if points[0][0] != 0 else points[-1]
        raise _not_a_curve(wrong, "alpha", "a trade-off function is defined on all of [0, 1]: from alpha 0 to alpha 1")
    for x, y in points:
        if y < 0 or x + y > 1:
            raise _not_a_curve((x, y), "alpha", _BELOW_GUESSING)
    last_slope = None
    for before, after in pairwise(points):
        if after[0] <= before[0]:
            raise _not_a_curve(after, "alpha", "the rows of a trade-off function stand in rising order of alpha")
        slope = (after[1] - before[1]) / (after[0] - before[0])
        if slope > 0:
            raise _not_a_curve(after, "alpha", _TRADE_OFF_FALLS)
        if last_slope is not None and slope < last_slope:
            raise _not_a_curve(before, "alpha", _CONVEX)
        last_slope = slope


def _exact_points(points: Iterable[Any], option: str) -> tuple[Point, ...]:
    exactly = []
    try:
        rows = [tuple(row) for row in points]
    except TypeError:
        rows = [()]
    for row in rows or [()]:
        if len(row) != 2:
            raise Written.of(option, str(list(row)) if row else "[]").error(
                "CLAIM-020",
                "a curve is a list of points",
                why="each point has two numbers",
                fix=f"{option}[[0, 1/2], [1, 0]]",
            )
        exactly.append((exact(row[0], option), exact(row[1], option)))
    return tuple(exactly)


def _not_a_curve(point: Point, name: str, why: str) -> ClaimError:
    shown = f"{text_of(point[0])},{text_of(point[1])}"
    second = "delta" if name == "epsilon" else "beta"
    fix = "epsilon,delta: 0,0.1  1,0.01  2,0" if name == "epsilon" else "alpha,beta: 0,1  0.25,0.25  1,0"
    return Written.of(f"{name},{second} =", shown).error("CLAIM-021", "not a valid curve", why=why, fix=fix)


# --- functions -------------------------------------------------------------------------------------------------


class FunctionCurve(CurveGuarantee):
    """A curve given by a Python function, whose floating-point answers are taken as they come."""

    function: Callable[[float], Any]

    def parameters(self) -> dict[str, object]:
        """Nothing: a function has no JSON; its name stands in the text."""
        return {}

    def _value(self, x: float) -> float:
        try:
            value = float(self.function(x))
        except Exception as error:
            raise self._wrong(x, said_by(error), "it failed there") from error
        if not 0 <= value <= 1:
            raise self._wrong(x, str(value), "its values are probabilities")
        return value

    def _wrong(self, x: float, got: str, why: str) -> ClaimError:
        return Written.of(f"{self.source} at", f"{x:g}").error(
            "CLAIM-022",
            "the function is not a valid curve",
            note=f"gave {got}",
            why=why,
            fix="a privacy profile δ(epsilon), falling, or a trade-off function f(alpha), falling and convex",
        )


@dataclass(frozen=True)
class ProfileFunction(FunctionCurve):
    """(ε, δ(ε))-differential privacy for every ε ≥ 0, for a Python function δ.

    Any ε that refutes is a proof; which ones are tried is a search, so "not contradicted" means that none was found.
    """

    function: Callable[[float], Any]
    source: str

    def __post_init__(self) -> None:
        steps = [step / 4 for step in range(41)]
        values = [self._value(epsilon) for epsilon in steps]
        for epsilon, before, after in zip(steps[1:], values, values[1:], strict=False):
            if after > before + 1e-9:
                raise self._wrong(
                    epsilon, str(after), "a privacy profile never rises: a larger ε is the weaker promise"
                )

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """δ(ε), at a floating-point number that is not above ε."""
        below = float(min(epsilon, _LARGEST_EPSILON))
        if Fraction(below) > epsilon:
            below = math.nextafter(below, -math.inf)
        return Fraction(self._value(max(below, 0.0)))

    def profile(self, epsilon: float) -> float:
        """δ(ε)."""
        return self._value(epsilon)

    def largest(self, neighbour_rate: float) -> float:
        """The least e^ε q + δ(ε) that was found."""
        epsilon = float(self._tangent(min(max(neighbour_rate, 1e-300), 1.0)).epsilon)
        return min(1.0, math.exp(epsilon) * neighbour_rate + self._value(epsilon))

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        if p <= q:
            return False
        tangent = self._tangent(max(float(q), 1e-300))
        # At an end of the range the search stops short of the end itself.
        candidates = [tangent, *(Approximate(end, self.delta_at(end)) for end in (Fraction(0), Fraction(700)))]
        return any(above_line(p, q, one.epsilon, one.delta) for one in candidates)


@dataclass(frozen=True)
class TradeOffFunction(FunctionCurve):
    """f-differential privacy for a Python function f."""

    function: Callable[[float], Any]
    source: str

    def __post_init__(self) -> None:
        steps = [step / 40 for step in range(41)]
        values = [self._value(alpha) for alpha in steps]
        for at, alpha in enumerate(steps):
            if values[at] > 1 - alpha + 1e-9:
                raise self._wrong(
                    alpha, str(values[at]), "a trade-off function is at most 1 - alpha, which is guessing"
                )
            if at and values[at] > values[at - 1] + 1e-9:
                raise self._wrong(
                    alpha, str(values[at]), "a trade-off function never rises: rejecting more misses less"
                )
            if 0 < at < 40 and 2 * values[at] > values[at - 1] + values[at + 1] + 1e-9:
                raise self._wrong(
                    alpha, str(values[at]), "a trade-off function is convex: tests can be mixed by a coin"
                )

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """A bound on 1 - f(x) - e^ε x from a grid: between two points, f is at least its value at the right one."""
        factor = exp_bounds(min(epsilon, Fraction(LARGEST_EXPONENT)), PRECISIONS[0]).low
        grid = [*(2.0**-power for power in range(60, 8, -1)), *(step / 256 for step in range(1, 257))]
        worst, left = Fraction(0), 0.0
        for right in grid:
            worst = max(worst, 1 - Fraction(self._value(right)) - factor * Fraction(left))
            left = right
        return worst

    def largest(self, neighbour_rate: float) -> float:
        """1 - f(q)."""
        return 1 - self._value(neighbour_rate)

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        above = float(q)
        if Fraction(above) < q:
            # f falls, so a larger argument gives the weaker bound.
            above = math.nextafter(above, math.inf)
        return p > 1 - Fraction(self._value(min(above, 1.0)))
