"""The smallest counterexample to a pure claim: of all comparisons, the first that fails in the order of `change`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpverdict.claim.claim import EpsilonRange
from dpverdict.claim.values import items_of
from dpverdict.evidence.verify.comparisons import Comparison, Space, comparisons
from dpverdict.evidence.verify.proof import different
from dpverdict.reading.exact.sign import Negative, Undecided, decide
from dpverdict.search.decision import Violation, is_in_epsilon


@dataclass(frozen=True, slots=True)
class Smallest:
    """A violation, and whether all comparisons before it are known to hold."""

    violation: Violation
    is_certain: bool


def smallest(space: Space, epsilon: Fraction) -> Smallest | None:
    """The violation whose inputs differ the least; of several, the first in the order of inputs and of neighbours.

    Pairs that swaps of entries turn into each other count as one.  The space must not be pruned.  Where the noise has
    scales that are no multiples of 1/ε, the answer is about one ε, the one that is given.
    """
    assert not space.prune, "pruning leaves out pairs that may be smaller"
    claim = space.claim
    if not (claim.epsilon_range.only or is_in_epsilon(space)):
        claim = replace(claim, epsilon_range=EpsilonRange.one(epsilon))
    listed = sorted(comparisons(space), key=_size)
    is_certain = True
    for comparison, bound, function in different(claim, listed):
        match decide(function, bound.interval):
            case Negative(place):
                at = claim.epsilon_range.only or comparison.unit.epsilon(place)
                return Smallest(Violation(comparison, at), is_certain)
            case Undecided():
                is_certain = False
    return None


def change(one: Any, other: Any) -> Any:
    """How far two inputs lie apart: the sum over their entries, which are numbers."""
    return sum(abs(mine - theirs) for mine, theirs in zip(_entries(one), _entries(other), strict=True))


def _entries(value: Any) -> list[Any]:
    return items_of(value) or [value]


def _size(one: Comparison) -> tuple[Any, list[Any], list[Any]]:
    return change(one.input, one.neighbour), _entries(one.input), _entries(one.neighbour)
