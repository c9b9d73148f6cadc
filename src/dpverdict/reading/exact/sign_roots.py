"""Where an exponential polynomial without repeated factors changes its sign.

The functions h(τ) here are square-free as polynomials in τ and w = e^{-τ}, not divisible by w, and without a factor in
τ alone.  Then h is coprime to its derivative: at a common zero τ > 0 both resultants would vanish and both τ and e^{-τ}
be algebraic, against Lindemann (baker1975transcendental).  So zeros are simple, none is rational, and bisection ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial

from flint import arb, arb_poly, ctx, fmpz, fmpz_poly

from dpverdict.reading.exact.exponential import ball
from dpverdict.reading.exact.sign_forms import Form, Interval

ORDERS = (1, 4, 12)
"""Orders of the Taylor models that a box is tried with, in turn."""

MOST_BOXES = 20_000
"""The seat belt of bisection, which ends by the argument above."""


class TooManyBoxes(Exception):
    """Bisection was given up; nothing is known."""


@dataclass(frozen=True, slots=True)
class Box:
    """From low to high, h or its derivative has no zero, as the Taylor model of this order and precision shows."""

    low: Fraction
    high: Fraction
    order: int
    bits: int


@dataclass(frozen=True, slots=True)
class Start:
    """In the box, from 0 on, the sign is that of the derivative number `order`: the first that is not 0 at 0."""

    order: int
    box: Box


@dataclass(frozen=True, slots=True)
class Crossing:
    """h changes its sign once between low and high (or at low = high), and there is no other zero between them."""

    form: Form
    low: Fraction
    high: Fraction
    sign_before: int

    def halved(self) -> Crossing:
        """The same zero between closer ends."""
        if self.low == self.high:
            return self
        middle = (self.low + self.high) / 2
        sign = self.form.sign_at(middle)[0]
        if sign == 0:
            return Crossing(self.form, middle, middle, self.sign_before)
        if sign == self.sign_before:
            return Crossing(self.form, middle, self.high, sign)
        return Crossing(self.form, self.low, middle, self.sign_before)


@dataclass(frozen=True, slots=True)
class Survey:
    """All of an interval: what holds near 0, the boxes, the sign changes, and from where on the tail rules."""

    start: Start | None
    boxes: tuple[Box, ...]
    tail: Fraction | None
    crossings: tuple[Crossing, ...]


@dataclass(slots=True)
class Derivatives:
    """A function with its derivatives, made when asked for."""

    forms: list[Form] = field(default_factory=list)

    def __getitem__(self, order: int) -> Form:
        while len(self.forms) <= order:
            self.forms.append(self.forms[-1].derivative())
        return self.forms[order]

    def model(self, offset: int, box: Box) -> arb_poly:
        """A Taylor model of the derivative number `offset`, at the current precision: a polynomial in the distance from
        the middle of the box whose last coefficient is a ball."""
        middle, whole = ball((box.low + box.high) / 2), ball(box.low).union(ball(box.high))
        inner = [self[offset + k].enclose(middle) / factorial(k) for k in range(box.order)]
        return arb_poly([*inner, self[offset + box.order].enclose(whole) / factorial(box.order)])


def excludes_zero(value: arb) -> bool:
    """Whether a ball has one sign."""
    return bool(value > 0 or value < 0)


def stays_off_zero(chain: Derivatives, offset: int, box: Box) -> bool:
    """Whether the derivative number `offset` has no zero in the box, by its model."""
    with ctx.workprec(box.bits):
        return excludes_zero(chain.model(offset, box)(_distances(box)))


def is_simple(chain: Derivatives, box: Box) -> bool:
    """Whether, in the box, the function has no zero or is monotone, by its model."""
    with ctx.workprec(box.bits):
        model, distances = chain.model(0, box), _distances(box)
        return excludes_zero(model(distances)) or excludes_zero(model.derivative()(distances))


def is_monotone(chain: Derivatives, box: Box) -> bool:
    """Whether the function is strictly monotone in the box, by its model."""
    with ctx.workprec(box.bits):
        return excludes_zero(chain.model(0, box).derivative()(_distances(box)))


def _distances(box: Box) -> arb:
    radius = ball((box.high - box.low) / 2)
    return radius.union(-radius)


# --- near 0 and near ∞ ----------------------------------------------------------------------------------------------


def order_at_zero(chain: Derivatives) -> int:
    """The number of the first derivative that is not 0 at τ = 0."""
    order = 0
    while value_at_zero(chain[order]) == 0:
        order += 1
    return order


def value_at_zero(form: Form) -> int:
    """The value at τ = 0, exactly."""
    return int(form.rows[0](1)) if form.rows else 0


def _start(chain: Derivatives, longest: Fraction) -> Start:
    order, end = order_at_zero(chain), min(Fraction(1), longest)
    while True:
        box = Box(Fraction(0), end, 4, 64 + chain[order + 4].height())
        if stays_off_zero(chain, order, box):
            return Start(order, box)
        end /= 2


def tail_rules(form: Form, place: Fraction) -> bool:
    """Whether from `place` on the sign is that of the leading term, for a form that w does not divide.

    The leading term is τ^d with the largest d of those without w.  Divided by τ^d, every other term falls in τ from
    max(1, degree - d) on; so its size at `place` bounds it for ever.
    """
    lead = _lead(form)
    if place < max(1, len(form.rows) - 1 - lead):
        return False
    with ctx.workprec(64):
        tau, total = ball(place), arb(0)
        w = (-tau).exp()
        for power, row in enumerate(form.rows):
            sizes = [abs(coefficient) for coefficient in row.coeffs()]
            if power == lead:
                sizes[0] = fmpz(0)
            total += fmpz_poly(sizes)(w) * tau ** (power - lead)
        return bool(total < abs(form.rows[lead][0]))


def _lead(form: Form) -> int:
    return max(power for power, row in enumerate(form.rows) if row[0] != 0)


def _tail(form: Form, least: Fraction) -> Fraction:
    place = max(least, Fraction(max(1, len(form.rows) - 1 - _lead(form))))
    while not tail_rules(form, place):
        place *= 2
    return place


# --- between --------------------------------------------------------------------------------------------------------


def survey(form: Form, interval: Interval) -> Survey:
    """All sign changes inside the interval (in τ), and why there are no others.  Raises TooManyBoxes."""
    chain = Derivatives([form])
    tail = None if interval.high is not None else _tail(form, 2 * interval.low)
    high = tail if interval.high is None else interval.high
    assert high is not None
    start = None if interval.low > 0 else _start(chain, high)
    low = start.box.high if start else interval.low
    boxes, crossings = _bisect(chain, low, high) if low < high else ([], [])
    return Survey(start, tuple(boxes), tail, tuple(crossings))


def _bisect(chain: Derivatives, low: Fraction, high: Fraction) -> tuple[list[Box], list[Crossing]]:
    form, boxes, crossings = chain[0], list[Box](), list[Crossing]()
    stack = [(low, high, form.sign_at(low), form.sign_at(high))]
    steps = 0
    while stack:
        low, high, (before, bits_low), (after, bits_high) = stack.pop()
        steps += 1
        if steps > MOST_BOXES:
            raise TooManyBoxes
        bits = max(64 + 4 * _depth(high - low), 32 + bits_low, 32 + bits_high)
        box = _accepted(chain, low, high, bits, crossing=before != after)
        if box is None:
            # Far from 0 relative to the width, boxes are halved; otherwise they grow with their distance from it.
            middle = 2 * low if high > 4 * low else (low + high) / 2
            found = form.sign_at(middle, max(64, bits_low // 2))
            stack.append((middle, high, found, (after, bits_high)))
            stack.append((low, middle, (before, bits_low), found))
        else:
            boxes.append(box)
        if box is not None and before != after:
            crossings.append(Crossing(form, low, high, before))
    return boxes, crossings


def _accepted(chain: Derivatives, low: Fraction, high: Fraction, bits: int, *, crossing: bool) -> Box | None:
    if high > 4 * low:
        return None
    test = is_monotone if crossing else is_simple
    for order in ORDERS:
        box = Box(low, high, order, bits)
        if test(chain, box):
            return box
    return None


def _depth(width: Fraction) -> int:
    """log2(1/width), at least 0, rounded up."""
    return max(0, width.denominator.bit_length() - width.numerator.bit_length() + 1)
