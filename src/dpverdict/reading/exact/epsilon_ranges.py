"""Where a program behaves alike for all ε: conditions on ε alone cut (0, ∞) into ranges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpverdict.errors import UnreadableError
from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import number
from dpverdict.mechanism.properties import children
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import Comparison, Constant, Epsilon, Term


@dataclass(frozen=True, slots=True)
class EpsilonRange:
    """The ε between two ends, each open or closed; `high` is None where there is no largest."""

    low: Fraction
    high: Fraction | None
    low_closed: bool = False
    high_closed: bool = False

    @property
    def sample(self) -> Fraction:
        """An ε inside."""
        if self.high is None:
            return self.low + 1
        return (self.low + self.high) / 2

    def __contains__(self, epsilon: Fraction) -> bool:
        above = epsilon > self.low or (self.low_closed and epsilon == self.low)
        below = self.high is None or epsilon < self.high or (self.high_closed and epsilon == self.high)
        return above and below

    def covers(self, other: EpsilonRange) -> bool:
        """Whether all ε of the other range are in this one."""
        low = other.low > self.low or (other.low == self.low and (self.low_closed or not other.low_closed))
        if self.high is None or other.high is None:
            return low and self.high is None
        high = other.high < self.high or (other.high == self.high and (self.high_closed or not other.high_closed))
        return low and high

    def __str__(self) -> str:
        high = "inf" if self.high is None else str(self.high)
        return f"{'[' if self.low_closed else '('}{self.low}, {high}{']' if self.high_closed else ')'}"


ALL = EpsilonRange(Fraction(0), None)


def ranges_of(conditions: Iterable[Term]) -> tuple[EpsilonRange, ...]:
    """The ranges on each of which every condition (on ε alone) either holds or does not."""
    listed = list(dict.fromkeys(conditions))
    cuts = sorted({cut for condition in listed for cut in _cuts(condition) if cut > 0})
    if not cuts:
        return (ALL,)
    found: list[EpsilonRange] = [EpsilonRange(Fraction(0), cuts[0])]
    for cut, after in pairwise([*cuts, None]):
        assert cut is not None
        found.append(EpsilonRange(cut, cut, True, True))
        found.append(EpsilonRange(cut, after))
    joined = found[:1]
    for one in found[1:]:
        last = joined[-1]
        if all(holds(condition, last.sample) == holds(condition, one.sample) for condition in listed):
            joined[-1] = EpsilonRange(last.low, one.high, last.low_closed, one.high_closed)
        else:
            joined.append(one)
    return tuple(joined)


def check_alike(name: str, ranges: tuple[EpsilonRange, ...], within: EpsilonRange) -> None:
    """Raise `UnreadableError` unless the program behaves alike for all ε of a range."""
    if not any(one.covers(within) for one in ranges):
        raise UnreadableError(
            "EXACT-016",
            f"{name} behaves in different ways for different ε in {within}",
            why=f"its conditions on ε cut (0, inf) into {', '.join(map(str, ranges))}",
            fix=f"a range of ε: {ranges[0]}; or --epsilon with a value",
        )


def holds(condition: Term, epsilon: Fraction) -> bool:
    """Whether a condition on ε alone holds at an ε."""
    value = _at(condition, epsilon)
    if not isinstance(value, Constant):
        raise _not_linear()
    return bool(value.content)


def _at(term: Term, epsilon: Fraction) -> Term:
    return number(epsilon) if isinstance(term, Epsilon) else rebuild(term, lambda inner: _at(inner, epsilon))


def _cuts(condition: Term) -> list[Fraction]:
    """Where the truth of a condition may change."""
    if isinstance(condition, Constant):
        return []
    if not isinstance(condition, Comparison):
        return [cut for inner in children(condition) for cut in _cuts(inner)]
    constant, terms = algebra.parts_of(condition.difference)
    if set(terms) != {Epsilon()}:
        raise _not_linear()
    return [-constant / terms[Epsilon()]]


def _not_linear() -> UnreadableError:
    return UnreadableError(
        "EXACT-014",
        "a condition on ε that is not linear",
        why="it cuts the range of ε at a point that has no exact form here",
        fix="a condition such as epsilon <= 1",
    )
