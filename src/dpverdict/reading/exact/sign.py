"""Which sign an exponential polynomial G(ε) has: decided for all ε of a range, with a proof or a counterexample.

Cheap things come first: values at a few ε, then the power series (`sign_series`).  What they leave open is decided by
factoring: of G as a polynomial in ε and w = e^{-ε/scale}, only factors of odd multiplicity can change the sign.  Those
in ε alone have algebraic zeros, which are isolated exactly; the others have simple, irrational ones (`sign_roots`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.sign_factors import crossings, split_factors
from dpverdict.reading.exact.sign_forms import Form, Interval
from dpverdict.reading.exact.sign_roots import Crossing, Survey, TooManyBoxes, survey
from dpverdict.reading.exact.sign_series import find_length

FIRST_PLACES = (Fraction(1), Fraction(1, 4), Fraction(8))
FURTHER_PLACES = (Fraction(1, 2), Fraction(2), Fraction(4), Fraction(16), Fraction(32), Fraction(1, 16))


# --- answers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Vanishes:
    """G is 0 for all ε."""


@dataclass(frozen=True, slots=True)
class AtPoint:
    """The range is one ε, and G is not negative there."""


@dataclass(frozen=True, slots=True)
class SeriesProof:
    """The power series of G times an exponential has no negative coefficient; see `sign_series`."""

    length: int


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor without zeros at rational ε > 0; if its multiplicity is odd, the survey shows that it has one sign."""

    function: Exponential
    multiplicity: int
    survey: Survey | None


@dataclass(frozen=True, slots=True)
class FactorProof:
    """G = rest · Π function^multiplicity; rest is a polynomial in ε times a power of w, and no odd factor changes its
    sign inside the range.  So G has one sign there, and it is positive at `place`."""

    rest: Exponential
    factors: tuple[Factor, ...]
    place: Fraction


Certificate = Vanishes | AtPoint | SeriesProof | FactorProof


@dataclass(frozen=True, slots=True)
class Nonnegative:
    """G ≥ 0 on the whole range, and why."""

    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Negative:
    """G < 0 at this rational ε of the range."""

    at: Fraction


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing is known, for this reason."""

    reason: str


SignAnswer = Nonnegative | Negative | Undecided


@dataclass(frozen=True, slots=True)
class SignPattern:
    """The zeros inside an interval at which G changes its sign, in rational intervals without common points (a rational
    zero is one of length 0), and G's sign before, between and after them, apart from zeros without a change.

    If G is 0 for all ε, there is one sign, 0.
    """

    zeros: tuple[tuple[Fraction, Fraction], ...]
    signs: tuple[int, ...]


# --- the decision ---------------------------------------------------------------------------------------------------


def decide(function: Exponential, interval: Interval = Interval()) -> SignAnswer:  # noqa: B008 (a frozen value)
    """Whether G ≥ 0 on the whole interval."""
    if function.is_zero:
        return Nonnegative(Vanishes())
    function = function.reduced()
    form, scale = Form.of(function), function.scale
    if interval.is_point:
        negative = form.sign_at(interval.low / scale)[0] < 0
        return Negative(interval.low) if negative else Nonnegative(AtPoint())
    if at := _negative_place(form, scale, [interval.place(ratio) for ratio in FIRST_PLACES]):
        return Negative(at)
    length = find_length(form.stripped())
    if length is not None:
        return Nonnegative(SeriesProof(length))
    if at := _negative_place(form, scale, [interval.place(ratio) for ratio in FURTHER_PLACES]):
        return Negative(at)
    try:
        return _decide_by_factors(function, interval)
    except TooManyBoxes:
        return Undecided("bisection reached its bound on steps: zeros are too close to tell apart")


def positive(function: Exponential, interval: Interval = Interval()) -> bool | None:  # noqa: B008 (a frozen value)
    """Whether G > 0 strictly inside the interval, as a denominator must be; None if that is not decided."""
    match decide(function, interval):
        case Undecided():
            return None
        case Negative():
            return False
        case Nonnegative():
            pass
    if function.is_zero or interval.is_point:
        return not function.is_zero and Form.of(function).sign_at(interval.low / function.scale)[0] > 0
    # G ≥ 0 has only zeros of even order: those of the factors, each of which changes its sign once.
    try:
        split = split_factors(Form.of(function))
        inner = interval.shrunk(function.scale)
        return not any(crossings(form, inner) for form in split.every())
    except TooManyBoxes:
        return None


def roots(function: Exponential, interval: Interval = Interval()) -> SignPattern:  # noqa: B008 (a frozen value)
    """The sign changes of G inside the interval.  Raises TooManyBoxes where `decide` is undecided."""
    if function.is_zero:
        return SignPattern((), (0,))
    form, scale = Form.of(function), function.scale
    if interval.is_point:
        return SignPattern((), (form.sign_at(interval.low / scale)[0],))
    inner = interval.shrunk(scale)
    found = [crossing for odd in split_factors(form).odd() for crossing in crossings(odd, inner)]
    zeros = _apart(found, inner)
    sign = form.sign_at(_place_off_zero(form, _gap(inner, zeros, 0)))[0]
    signs = tuple(sign * (-1) ** number for number in range(len(zeros) + 1))
    return SignPattern(tuple((zero.low * scale, zero.high * scale) for zero in zeros), signs)


def _negative_place(form: Form, scale: int, places: list[Fraction]) -> Fraction | None:
    return next((eps for eps in places if form.sign_at(eps / scale)[0] < 0), None)


def _decide_by_factors(function: Exponential, interval: Interval) -> SignAnswer:
    (multiple, form), scale = Form.split(function), function.scale
    inner, split = interval.shrunk(scale), split_factors(form)
    surveys = [survey(one, inner) if multiplicity % 2 else None for one, multiplicity in split.mixed]
    found = [crossing for one in surveys if one for crossing in one.crossings]
    found += [crossing for odd in split.odd_content() for crossing in crossings(odd, inner)]
    zeros = _apart(found, inner)
    place = _place_off_zero(form, _gap(inner, zeros, 0))
    if form.sign_at(place)[0] < 0:
        return Negative(place * scale)
    if zeros:
        return Negative(_place_off_zero(form, _gap(inner, zeros, 1)) * scale)
    factors = tuple(
        Factor(one.exponential(scale), multiplicity, seen)
        for (one, multiplicity), seen in zip(split.mixed, surveys, strict=True)
    )
    rest = split.rest.exponential(scale) * multiple
    return Nonnegative(FactorProof(rest, factors, place * scale))


def _gap(inner: Interval, zeros: list[Crossing], number: int) -> Interval:
    """The open interval before the zero with this number, or after the last one."""
    low = zeros[number - 1].high if number else inner.low
    return Interval(low, zeros[number].low if number < len(zeros) else inner.high)


def _place_off_zero(form: Form, gap: Interval) -> Fraction:
    # Only finitely many rationals are zeros.
    place, ratio = gap.simplest(), Fraction(1)
    while form.sign_at(place)[0] == 0:
        place, ratio = gap.place(ratio), ratio / 2
    return place


def _apart(found: list[Crossing], inner: Interval) -> list[Crossing]:
    """The zeros in order, enclosed so closely that gaps lie before, between and after them."""
    zeros = sorted(found, key=lambda zero: (zero.low, zero.high))
    while True:
        close = {
            number for number, zero in enumerate(zeros) if not (inner.inside(zero.low) and inner.inside(zero.high))
        }
        for number in range(1, len(zeros)):
            if zeros[number - 1].high >= zeros[number].low:
                close |= {number - 1, number}
        if not close:
            return zeros
        zeros = [zero.halved() if number in close else zero for number, zero in enumerate(zeros)]
        zeros.sort(key=lambda zero: (zero.low, zero.high))
