"""The tight factor: the least t for which (t·ε, 0)-differential privacy holds for all ε of a range.

It is the supremum of the privacy losses ln(p/p')/ε over ε and all comparisons.  At the ends 0 and ∞ their limits are
rational; if the largest limit is a factor that the pure decision proves, it is the answer, exactly.  Otherwise a loss
is larger somewhere inside: a rational between the limits and a value seen there cuts off both ends, exactly again by
the decision of signs, and what is left is enclosed by branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpverdict.claim.claim import Claim, Proportional
from dpverdict.claim.enclosure import rounded_up
from dpverdict.claim.guarantee import Approximate
from dpverdict.errors import UnreadableError
from dpverdict.evidence.verify.comparisons import Comparison
from dpverdict.evidence.verify.inequality import bound_of, factor_of, gap
from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.limits import loss_at_infinity, loss_at_zero
from dpverdict.reading.exact.sign import Negative, Nonnegative, Undecided, decide, roots
from dpverdict.reading.exact.sign_forms import Interval
from dpverdict.reading.exact.sign_roots import TooManyBoxes
from dpverdict.search.losses import Enclosure, Loss, largest

_PLACES = [Fraction(2) ** power for power in range(-8, 9)]
_FINEST = 5_000
"""The largest denominator of a factor that signs are decided for: exponents are counted in its parts."""


@dataclass(frozen=True, slots=True)
class Tight:
    """The tight factor lies from low to high; where it is known exactly, or infinite, the two are equal."""

    low: Fraction | float
    high: Fraction | float
    comparison: Comparison | None
    where: str
    """Where the loss comes near it: "eps -> 0", "eps -> inf", "every eps", or "eps = 5/2"."""

    reason: str | None = None
    """Why the two are far apart, if they are."""

    @property
    def exact(self) -> Fraction | float | None:
        """The factor where it is known exactly."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True)
class _Limit:
    """A value that losses reach or come near, exactly, and where."""

    value: Fraction | float
    comparison: Comparison | None
    where: str


def tight_factor(comparisons: Iterable[Comparison], claim: Claim) -> Tight:
    """The tight factor for the claim's pairs and range of ε, whatever factor it promises.

    Raises `UnreadableError` for a claim with δ > 0, for which it is not defined.
    """
    if isinstance(claim.guarantee, Proportional | Approximate) and claim.guarantee.delta != 0:
        raise UnreadableError(
            "EXACT-024",
            "the tight factor of a claim with δ > 0",
            why="the least ε is then another one for each δ, and no multiple of ε",
            fix="leave out --delta",
        )
    limit, losses = _Limit(Fraction(0), None, "every eps"), []
    for loss in _losses(comparisons, claim):
        if loss.comparison.neighbour_probability.numerator.is_zero:
            return Tight(math.inf, math.inf, loss.comparison, "every eps")
        found = _limits(loss)
        limit = max(limit, *found, key=lambda one: one.value)
        if limit.value == math.inf:
            return Tight(math.inf, math.inf, limit.comparison, limit.where)
        if not any(one.where == "every eps" for one in found):
            losses.append(loss)
    assert isinstance(limit.value, Fraction)
    return _above(limit.value, limit, losses)


def _losses(comparisons: Iterable[Comparison], claim: Claim) -> Iterator[Loss]:
    """The different ones, of outputs that do occur."""
    seen, promised = set(), factor_of(claim)
    for one in comparisons:
        bound = bound_of(claim, one.unit, one.within)
        here, there = one.probability, one.neighbour_probability
        if bound is None or here.numerator.is_zero:
            continue
        at = (here.numerator, here.denominator, there.numerator, there.denominator, bound)
        if at not in seen:
            seen.add(at)
            yield Loss.of(one, bound.interval, bound.factor / promised)


def _limits(loss: Loss) -> list[_Limit]:
    """What is known of a loss exactly: its limits at the ends 0 and ∞ of its range, or that it is constant."""
    comparison, interval = loss.comparison, loss.interval
    here, there = comparison.probability, comparison.neighbour_probability
    at_zero, at_infinity = loss_at_zero(here, there), loss_at_infinity(here, there)
    if at_zero == at_infinity and isinstance(at_zero, Fraction) and _is_constant(loss, at_zero):
        return [_Limit(at_zero / loss.stretch, comparison, "every eps")]
    found = [_Limit(-math.inf, comparison, "")]
    if interval.low == 0:
        found.append(_Limit(at_zero, comparison, "eps -> 0"))
    if interval.high is None:
        found.append(_Limit(at_infinity, comparison, "eps -> inf"))
    return found


def _is_constant(loss: Loss, value: Fraction) -> bool:
    one, other = loss.comparison.probability, loss.comparison.neighbour_probability
    return (gap(one, other, value) if value >= 0 else gap(other, one, -value)).is_zero


def _above(known: Fraction, limit: _Limit, losses: Sequence[Loss]) -> Tight:
    """The supremum of losses, of which the largest limit is known."""
    best = _seen(losses)
    if best is None or best.low <= known:
        losses, found = _exceeding(known, losses)
        if isinstance(found, str):
            return Tight(known, math.inf, limit.comparison, limit.where, found)
        if found is None:
            return Tight(known, known, limit.comparison, limit.where)
        best = found
    best = _climbed(best)
    cut = Interval(max(known, best.low - best.low / 16), best.low).simplest()
    try:
        stretches = [part for loss in losses for part in _parts_above(cut, loss)]
    except TooManyBoxes:
        return _enclosed(best, "bisection reached its bound on steps")
    return _enclosed(largest(stretches, best), "branch and bound reached its bound on boxes")


def _enclosed(found: Enclosure, reason: str) -> Tight:
    place, unit = found.place, found.loss.comparison.unit
    where = f"eps = {float(place):.6g}" if unit.exponent == 1 else "the only eps"
    low = -rounded_up(-found.low)
    if found.high is None:
        return Tight(low, math.inf, found.loss.comparison, where, reason)
    return Tight(low, rounded_up(found.high), found.loss.comparison, where)


def _exceeding(known: Fraction, losses: Sequence[Loss]) -> tuple[list[Loss], Enclosure | str | None]:
    """The losses that are larger than a factor somewhere, and the largest value seen; a text where that is open."""
    left, best = [], None
    for loss in losses:
        match decide(_gap(loss, known), loss.interval):
            case Negative(place):
                left.append(loss)
                bounds = loss.bounds_at(place)
                if bounds is None or bounds[0] <= known:
                    return left, "a loss exceeds the largest limit by too little to be told from it"
                if best is None or bounds[0] > best.low:
                    best = Enclosure(bounds[0], None, loss, place)
            case Undecided(reason):
                return left, reason
            case Nonnegative():
                pass
    return left, best


def _seen(losses: Sequence[Loss]) -> Enclosure | None:
    """The largest of some values of the losses."""
    best = None
    for loss in losses:
        inner = loss.interval
        places = [inner.low] if inner.is_point else [inner.place(ratio) for ratio in _PLACES]
        for place in places:
            bounds = loss.bounds_at(place)
            if bounds is not None and (best is None or bounds[0] > best.low):
                best = Enclosure(bounds[0], None, loss, place)
    return best


def _climbed(best: Enclosure) -> Enclosure:
    """A larger value of the same loss near by, found by steps that grow finer."""
    step = Fraction(1, 2)
    interval = best.loss.interval
    while step > Fraction(1, 2**20):
        moved = [best.place * (1 + step), best.place / (1 + step)]
        near = [place.limit_denominator(2**40) for place in moved]
        values = [
            (bounds[0], place) for place in near if interval.inside(place) and (bounds := best.loss.bounds_at(place))
        ]
        value, place = max(values, default=(best.low, best.place))
        if value > best.low:
            best = Enclosure(value, None, best.loss, place)
        else:
            step /= 2
    return best


def _parts_above(cut: Fraction, loss: Loss) -> list[tuple[Loss, Fraction, Fraction]]:
    """Stretches outside of which a loss is at most `cut`.  Raises TooManyBoxes where they are not found."""
    interval = loss.interval
    if cut.denominator > _FINEST or interval.is_point:
        if interval.low == 0 or interval.high is None:
            raise TooManyBoxes
        return [(loss, interval.low, interval.high)]
    function = _gap(loss, cut)
    match decide(function, interval):
        case Nonnegative():
            return []
        case Undecided():
            raise TooManyBoxes
    pattern = roots(function, interval)
    lows = [interval.low, *(low for low, _ in pattern.zeros)]
    highs = [*(high for _, high in pattern.zeros), interval.high]
    found = [(low, high) for low, high, sign in zip(lows, highs, pattern.signs, strict=True) if sign < 0]
    if any(low == 0 or high is None for low, high in found):
        # The cut lies above the limits at 0 and ∞, so that the loss is below it near them.
        raise AssertionError(f"a loss exceeds {cut} near an end where its limit is less")
    return [(loss, low, high) for low, high in found if high is not None]


def _gap(loss: Loss, factor: Fraction) -> Exponential:
    return gap(loss.comparison.probability, loss.comparison.neighbour_probability, factor * loss.stretch)
