"""Features of an output of which some numbers are known only as noise: what an event asks about them, exactly.

The meaning is that of `features.py`, over the real numbers.  A feature is quantised, so that it is at least a whole
number k where what it measures is at least k·2^step; all that an event asks about noise is whether it reaches an edge.
What does not depend on noise is measured by `features.extract` itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpverdict.errors import UnreadableError
from dpverdict.evidence.features import (
    ABSENT,
    LIMIT,
    Coordinate,
    CountOf,
    Distance,
    Feature,
    LogRatio,
    OrderStatistic,
    Sum,
    extract,
)
from dpverdict.evidence.leaves import Kind, Leaves, leaf
from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import number
from dpverdict.mechanism.outcome import Outcome
from dpverdict.mechanism.structure import Term
from dpverdict.reading.exact.paths import Ask

_FINEST = 1 << 20
"""The largest numerator and denominator of an edge: exponents of e^{-ε/D} are counted one by one."""

Reaches: TypeAlias = Callable[[Fraction], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """A feature that depends on noise; it is never absent."""

    step: int
    reaches: Reaches

    def at_least(self, bound: int) -> bool:
        """Whether the feature is at least this number."""
        if not -LIMIT < bound <= LIMIT:
            return bound <= -LIMIT
        return self.reaches(bound * Fraction(2) ** self.step)


@dataclass(frozen=True, slots=True)
class Measured:
    """A feature that is known."""

    value: int

    def at_least(self, bound: int) -> bool:
        """Whether the feature is at least this number."""
        return self.value >= bound


Column: TypeAlias = Asked | Measured


@dataclass(frozen=True, slots=True)
class Numbers:
    """The leaves of one output (0 in the place of noise), the noise by its places, and who is asked about it."""

    leaves: Leaves
    noisy: dict[int, Term]
    ask: Ask

    def column(self, feature: Feature) -> Column:
        """What is known of a feature."""
        match feature:
            case Coordinate(index, step) if index in self.noisy:
                return Asked(step, lambda edge: self.reaches(self.noisy[index], edge))
            case Distance(index, centre, step) if index in self.noisy:
                return Asked(step, lambda edge: self._is_far(self.noisy[index], Fraction(centre), edge))
            case LogRatio(index, centre, other, step) if index in self.noisy:
                ends = Fraction(centre), Fraction(other)
                return Asked(step, lambda edge: self._leans(self.noisy[index], ends, edge))
            case OrderStatistic(rank, step) if self.noisy:
                return self._ranked(rank, step)
            case Sum(step) if self.noisy:
                return self._summed(step)
            case CountOf(value) if self.noisy:
                return Measured(self._count_of(value))
            case _:
                return Measured(int(extract([feature], self.leaves)[0, 0]))

    def reaches(self, term: Term, edge: Fraction) -> bool:
        """Whether a number that is noise is at least an edge."""
        return self.ask(algebra.compare("<=", number(_checked(edge)), term))

    def equals(self, term: Term, value: Outcome) -> bool:
        """Whether a number that is noise is this value."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        if value == 0 and math.copysign(1, value) < 0:
            return False
        return self.ask(algebra.compare("==", term, number(_checked(Fraction(value)))))

    def _is_far(self, term: Term, centre: Fraction, edge: Fraction) -> bool:
        """|x - centre| ≥ edge."""
        if edge <= 0:
            return True
        return self.reaches(term, centre + edge) or self._is_at_most(term, centre - edge)

    def _leans(self, term: Term, ends: tuple[Fraction, Fraction], edge: Fraction) -> bool:
        """|x - other| - |x - centre| ≥ edge: it goes from one extreme to the other between the two."""
        centre, other = ends
        most = abs(centre - other)
        if not -most < edge <= most:
            return edge <= -most
        if centre > other:
            return self.reaches(term, (centre + other + edge) / 2)
        return self._is_at_most(term, (centre + other - edge) / 2)

    def _is_at_most(self, term: Term, edge: Fraction) -> bool:
        return self.ask(algebra.compare("<=", term, number(_checked(edge))))

    def _ranked(self, rank: int, step: int) -> Column:
        known = self._known_numbers()
        count = len(known) + len(self.noisy)
        place = rank + count if rank < 0 else rank
        if not 0 <= place < count:
            return Measured(ABSENT)

        def reaches(edge: Fraction) -> bool:
            missing = count - place - sum(value >= edge for value in known)
            left = len(self.noisy)
            for term in self.noisy.values():
                if not 0 < missing <= left:
                    break
                missing, left = missing - self.reaches(term, edge), left - 1
            return missing <= 0

        return Asked(step, reaches)

    def _known_numbers(self) -> list[float]:
        """Numbers and booleans that are no noise, without NaN."""
        kinds, values = self.leaves.kinds[0].tolist(), self.leaves.values[0].tolist()
        return [
            value
            for place, (kind, value) in enumerate(zip(kinds, values, strict=True))
            if place not in self.noisy and kind in (Kind.NUMBER, Kind.BOOLEAN) and not math.isnan(value)
        ]

    def _summed(self, step: int) -> Column:
        if len(self.noisy) > 1:
            raise not_exact(
                "a sum of several noisy numbers",
                "each is rounded down before they are added, which no line between two half-spaces is",
            )
        (term,) = self.noisy.values()
        rest = int(extract([Sum(step)], self.leaves)[0, 0])
        if abs(rest) >= LIMIT:
            raise not_exact("a sum beyond the limit of features", f"sums are cut at {LIMIT:,}")
        one = Asked(step, lambda edge: self.reaches(term, edge))
        return Asked(step, lambda edge: one.at_least(int(edge / Fraction(2) ** step) - rest))

    def _count_of(self, value: Outcome) -> int:
        kind, content = leaf(value)
        kinds, values = self.leaves.kinds[0].tolist(), self.leaves.values[0].tolist()
        count = 0
        for place, (one, found) in enumerate(zip(kinds, values, strict=True)):
            if place in self.noisy:
                # -0.0 and 0.0 count as the same here.
                count += kind == Kind.NUMBER and self.equals(self.noisy[place], content or 0.0)
            else:
                count += one == kind and (found == content or (math.isnan(found) and math.isnan(content)))
        return count


def not_exact(what: str, why: str) -> UnreadableError:
    """The error of an event that noise does not let us read exactly."""
    return UnreadableError(
        "EXACT-030",
        f"an event that asks about {what}",
        why=why,
        fix="a box of single numbers; or a Python predicate of the output: lambda output: sum(output) >= 1",
    )


def _checked(edge: Fraction) -> Fraction:
    if abs(edge.numerator) > _FINEST or edge.denominator > _FINEST:
        raise not_exact(f"an edge at {float(edge)!r}", f"edges are fractions of numbers up to {_FINEST:,}")
    return edge
