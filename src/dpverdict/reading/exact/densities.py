"""Noise with numbers for parameters: rates are multiples of the unit of the reading."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

from dpverdict.errors import UnreadableError

END: TypeAlias = Fraction | None
"""An end of a range; None where there is none."""


@dataclass(frozen=True, slots=True)
class TwoSided:
    """Density rate·x/2 · exp(-rate·x·|s - location|), x being the unit."""

    rate: Fraction
    location: Fraction

    def placed(self, factor: Fraction, shift: Fraction) -> TwoSided:
        """The law of factor · noise + shift."""
        return TwoSided(self.rate / abs(factor), factor * self.location + shift)


@dataclass(frozen=True, slots=True)
class OneSided:
    """Density rate·x · exp(-rate·x·|s - location|) on one side of the location."""

    rate: Fraction
    location: Fraction
    upwards: bool

    def placed(self, factor: Fraction, shift: Fraction) -> OneSided:
        """The law of factor · noise + shift."""
        return OneSided(self.rate / abs(factor), factor * self.location + shift, self.upwards == (factor > 0))


@dataclass(frozen=True, slots=True)
class Even:
    """The same density everywhere between two numbers."""

    low: Fraction
    high: Fraction

    def placed(self, factor: Fraction, shift: Fraction) -> Even:
        """The law of factor · noise + shift."""
        low, high = sorted((factor * self.low + shift, factor * self.high + shift))
        return Even(low, high)


@dataclass(frozen=True, slots=True)
class Geometric:
    """On the whole numbers, proportional to exp(-rate·x·|s - location|)."""

    rate: Fraction
    location: Fraction

    def placed(self, factor: Fraction, shift: Fraction) -> Geometric:
        """The law of factor · noise + shift, whole numbers with factor 1 or -1."""
        return Geometric(self.rate, factor * self.location + shift)


@dataclass(frozen=True, slots=True)
class Ranged:
    """`Geometric` on the whole numbers from low to high: given that it falls there, or clamped to there."""

    rate: Fraction
    location: Fraction
    low: Fraction
    high: Fraction
    clamped: bool

    def placed(self, factor: Fraction, shift: Fraction) -> Ranged:
        """The law of factor · noise + shift, whole numbers with factor 1 or -1."""
        low, high = sorted((factor * self.low + shift, factor * self.high + shift))
        return Ranged(self.rate, factor * self.location + shift, low, high, self.clamped)


Density: TypeAlias = TwoSided | OneSided | Even
WholeDensity: TypeAlias = Geometric | Ranged


MOST_POWERS = 1 << 18


def affordable(powers: int) -> None:
    """Refuse polynomials of a degree that only numbers with long decimals lead to.  Raises `UnreadableError`."""
    if powers > MOST_POWERS:
        raise UnreadableError(
            "EXACT-021",
            "scales and thresholds whose fractions have large denominators",
            why=f"a common denominator makes polynomials of degree {int(powers):,}",
            fix="fractions instead of long decimals: 4 / (3 * epsilon) is exact, (4 / 3) / epsilon is not",
        )


def points_of(density: Density) -> tuple[Fraction, ...]:
    """Where the density is not smooth."""
    match density:
        case TwoSided(_, location) | OneSided(_, location, _):
            return (location,)
        case Even(low, high):
            return (low, high)
        case _:
            assert_never(density)


def rate_of(density: Density) -> Fraction:
    """The rate of decay, 1 where there is none."""
    return Fraction(1) if isinstance(density, Even) else density.rate
