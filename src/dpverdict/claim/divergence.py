"""Guarantees about Rényi divergences: Rényi differential privacy and zero-concentrated differential privacy.

Their bound on an event follows from data processing: the divergence between the two coins "S happened" is at most that
of the outputs.  It is necessary, not sufficient [mironov2017renyi; bun2016concentrated].
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpverdict.claim.enclosure import Bounds, exp_bounds, log_bounds, rounded_up
from dpverdict.claim.exact_numbers import exact, json_of, text_of
from dpverdict.claim.guarantee import PRECISIONS, Guarantee, check_epsilon
from dpverdict.claim.written import Written

Pairs = list[tuple[Fraction, Fraction]]

_SMALLEST_RHO = 1e-300
"""What the search takes for a smaller ρ, which has no float; the proof takes ρ itself."""


class DivergenceGuarantee(Guarantee):
    """A bound on Rényi divergences.  Events contradict it soundly; that none does supports nothing."""

    events_decide = False

    @abstractmethod
    def _laws_exceed(self, pairs: Pairs) -> bool:
        """By the divergence itself."""

    @abstractmethod
    def _allows(self, p: float, q: float) -> bool:
        """Whether the coins p and q are as close as promised, about."""

    def _event_exceeds(self, p: Fraction, q: Fraction) -> bool:
        # The divergence between two coins rises with p and falls with q as long as p > q.
        return p > q and self._laws_exceed([(p, q), (1 - p, 1 - q)])

    def largest(self, neighbour_rate: float) -> float:
        """The largest p whose coin is close enough to that of q, by bisection."""
        low, high = neighbour_rate, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self._allows(middle, neighbour_rate) else (low, middle)
        return low


@dataclass(frozen=True)
class Renyi(DivergenceGuarantee):
    """(α, ε)-Rényi differential privacy: D_α(M(a) ‖ M(a′)) ≤ ε, for one order α > 1."""

    kind = "renyi"
    alpha: Fraction
    epsilon: Fraction

    def __post_init__(self) -> None:
        alpha, epsilon = exact(self.alpha, "alpha="), exact(self.epsilon, "epsilon=")
        check_alpha(alpha, Written.of("alpha=", text_of(alpha)))
        check_epsilon(epsilon, Written.of("epsilon=", text_of(epsilon)))
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "epsilon", epsilon)

    @property
    def text(self) -> str:
        """``renyi:ALPHA,E``."""
        return f"renyi:{text_of(self.alpha)},{text_of(self.epsilon)}"

    def parameters(self) -> dict[str, object]:
        """α and ε."""
        return {"alpha": json_of(self.alpha), "epsilon": json_of(self.epsilon)}

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Proposition 12 of [canonne2020discrete], rounded up."""
        return _delta_of_order(self.alpha, self.epsilon, epsilon)

    def _laws_exceed(self, pairs: Pairs) -> bool:
        return _divergence_exceeds(pairs, self.alpha, self.epsilon)

    def _allows(self, p: float, q: float) -> bool:
        return _divergence(_coins(p, q), float(self.alpha)) <= float(self.epsilon)


@dataclass(frozen=True)
class ZeroConcentrated(DivergenceGuarantee):
    """ρ-zCDP: D_α(M(a) ‖ M(a′)) ≤ ρα for every order α > 1.

    Whether a distribution contradicts it is searched among the orders and then proved at the best of them: "yes" is a
    proof, "no" means that no order was found.
    """

    kind = "zcdp"
    rho: Fraction

    def __post_init__(self) -> None:
        rho = exact(self.rho, "rho=")
        check_rho(rho, Written.of("rho=", text_of(rho)))
        object.__setattr__(self, "rho", rho)

    @property
    def text(self) -> str:
        """``zcdp:RHO``."""
        return f"zcdp:{text_of(self.rho)}"

    def parameters(self) -> dict[str, object]:
        """ρ."""
        return {"rho": json_of(self.rho)}

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Proposition 12 of [canonne2020discrete] at an order that is nearly the best."""
        if self.rho == 0:
            return Fraction(0)
        order = max((epsilon + self.rho) / (2 * self.rho), Fraction(101, 100))
        # Any order is sound; a short one is quick.
        order = order.limit_denominator(1000)
        return _delta_of_order(order, self.rho * order, epsilon)

    def _laws_exceed(self, pairs: Pairs) -> bool:
        if any(q == 0 < p for p, q in pairs):
            return True
        if self.rho == 0:
            return any(p != q for p, q in pairs)
        logs = _logarithms(pairs)
        if not logs:
            return False
        order, excess = _worst_order(logs, max(float(self.rho), _SMALLEST_RHO))
        # Floats are believed only where they say no, with room to spare.
        if excess < -1e-6 * float(self.rho):
            return False
        exactly = Fraction(order).limit_denominator(1000)
        return _divergence_exceeds(pairs, exactly, self.rho * exactly)

    def _allows(self, p: float, q: float) -> bool:
        if self.rho == 0:
            return p == q
        pairs = _coins(p, q)
        if any(q == 0 < p for p, q in pairs):
            return False
        logs = _logarithms(pairs)
        return not logs or _worst_order(logs, max(float(self.rho), _SMALLEST_RHO))[1] <= 0


def check_alpha(value: Fraction, written: Written) -> None:
    """Refuse an order at which Rényi differential privacy is not defined."""
    if value <= 1:
        raise written.error(
            "CLAIM-014",
            "alpha must be above 1",
            why="Rényi divergence of order 1 is its limit; privacy is claimed at orders above it",
            fix=written.instead("2"),
        )


def check_rho(value: Fraction, written: Written) -> None:
    """Refuse a ρ that is no privacy parameter."""
    if value < 0:
        raise written.error(
            "CLAIM-015",
            "rho must be finite and at least 0",
            why="ρ-zCDP bounds a divergence, and divergences are at least 0",
            fix=written.instead(text_of(-value)),
        )


# --- exactly ---------------------------------------------------------------------------------------------------


def divergence_bounds(pairs: Pairs, alpha: Fraction, bits: int) -> Bounds | None:
    """An enclosure of D_α, α > 1, of the two distributions; None if it is infinite."""
    if any(q == 0 < p for p, q in pairs):
        return None
    exponents = []
    for p, q in pairs:
        if p > 0:
            up, down = log_bounds(p, bits), log_bounds(q, bits)
            exponents.append(
                Bounds(
                    alpha * up.low - (alpha - 1) * down.high,
                    alpha * up.high - (alpha - 1) * down.low,
                )
            )
    # The largest term comes out of each sum, so that huge orders neither overflow nor lose their bits.
    bottom = rounded_up(max(bounds.low for bounds in exponents), bits)
    top = rounded_up(max(bounds.high for bounds in exponents), bits)
    low = sum((exp_bounds(bounds.low - bottom, bits).low for bounds in exponents), Fraction(0))
    high = sum((exp_bounds(bounds.high - top, bits).high for bounds in exponents), Fraction(0))
    return Bounds(
        (bottom + log_bounds(low, bits).low) / (alpha - 1),
        (top + log_bounds(high, bits).high) / (alpha - 1),
    )


def _divergence_exceeds(pairs: Pairs, alpha: Fraction, limit: Fraction) -> bool:
    if all(p == q for p, q in pairs):
        return False
    if limit == 0:
        return True
    for bits in PRECISIONS:
        bounds = divergence_bounds(pairs, alpha, bits)
        if bounds is None or bounds.low > limit:
            return True
        if bounds.high <= limit:
            return False
    return False


def _delta_of_order(alpha: Fraction, divergence: Fraction, epsilon: Fraction) -> Fraction:
    """exp((α-1)(D - ε)) (1/α) (1 - 1/α)^(α-1), at most 1, rounded up."""
    bits = PRECISIONS[0]
    exponent = (alpha - 1) * (divergence - epsilon + log_bounds(1 - 1 / alpha, bits).high) - log_bounds(alpha, bits).low
    return min(Fraction(1), exp_bounds(exponent, bits).high) if exponent < 0 else Fraction(1)


# --- about, for search ------------------------------------------------------------------------------------------


def _coins(p: float, q: float) -> Pairs:
    exact_p, exact_q = Fraction(p), Fraction(q)
    return [(exact_p, exact_q), (1 - exact_p, 1 - exact_q)]


def _log(value: Fraction) -> float:
    if Fraction(1, 2) < value < 2:
        return math.log1p(value - 1)
    return math.log(value.numerator) - math.log(value.denominator)


def _logarithms(pairs: Pairs) -> list[tuple[float, float]]:
    """log p and log(p/q) of every output that is possible; none if the two laws are equal."""
    if all(p == q for p, q in pairs):
        return []
    return [(_log(p), _log(p / q)) for p, q in pairs if p > 0]


def _divergence(pairs: Pairs, alpha: float) -> float:
    if any(q == 0 < p for p, q in pairs):
        return math.inf
    logs = _logarithms(pairs)
    return _divergence_of(logs, alpha) if logs else 0.0


def _divergence_of(logs: list[tuple[float, float]], alpha: float) -> float:
    exponents = [log_p + (alpha - 1) * log_ratio for log_p, log_ratio in logs]
    peak = max(exponents)
    return (peak + math.log(math.fsum(math.exp(exponent - peak) for exponent in exponents))) / (alpha - 1)


def _worst_order(logs: list[tuple[float, float]], rho: float) -> tuple[float, float]:
    """The order at which D_α - ρα is about largest, and that difference."""

    def excess(log_step: float) -> float:
        alpha = 1 + math.exp(log_step)
        return _divergence_of(logs, alpha) - rho * alpha

    # D_α is at most the largest log ratio, so no order above that over ρ can exceed.
    highest = max(ratio for _, ratio in logs) / rho
    low, high = math.log(1e-2), math.log(max(highest, 2e-2))
    low, high = _peak(excess, low, high)
    step = (low + high) / 2
    return 1 + math.exp(step), excess(step)


def _peak(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """A small interval around the highest point of a function with one hill."""
    grid = [low + (high - low) * step / 24 for step in range(25)]
    best = max(range(25), key=lambda step: function(grid[step]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 24)]
    for _ in range(24):
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, right) if function(left) >= function(right) else (left, high)
    return low, high
