"""Where an exponential polynomial without repeated factors changes its sign.

The functions h(τ) here are square-free as polynomials in τ and w = e^{-τ}, not divisible by w, and without a factor in
τ alone.  Then h is coprime to its derivative: at a common zero τ > 0 both resultants would vanish and both τ and e^{-τ}
be algebraic, against Lindemann (baker1975transcendental).  So zeros are simple, none is rational, and bisection ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import factorial

from flint import arb, arb_poly, ctx, fmpz, fmpz_poly

from dpverdict.reading.exact.exponential import ball, fraction
from dpverdict.reading.exact.sign_forms import Form, Interval

ORDERS = (1, 4, 12)
"""Orders of the Taylor models that a box is tried with, in turn."""

MOST_BITS_OF_TURNS = 4096
"""The precision up to which the turn of a function that almost touches 0 is sought; after that, boxes are split."""

MOST_BOXES = 20_000
"""The seat belt of bisection, which ends by the argument above."""


class TooManyBoxes(Exception):
    """Bisection was given up; nothing is known."""


@dataclass(frozen=True, slots=True)
class Box:
    """From low to high, h or its derivative has no zero, as the Taylor model of this order and precision shows.

    With a turn, it is h'' that has none, and the parabola below (or above) h at the turn stays off 0.
    """

    low: Fraction
    high: Fraction
    order: int
    bits: int
    turn: Fraction | None = None


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
    if box.turn is not None:
        return _bends_away(chain, box, box.turn)
    with ctx.workprec(box.bits):
        model, distances = chain.model(0, box), _distances(box)
        return excludes_zero(model(distances)) or excludes_zero(model.derivative()(distances))


def _bends_away(chain: Derivatives, box: Box, turn: Fraction) -> bool:
    """Whether |h| ≥ |h(turn)| - h'(turn)²/(2·min|h''|) > 0 in the box, with h(turn) and h'' of the same sign."""
    with ctx.workprec(box.bits):
        bend, place = _bend(chain, box), ball(turn)
        value, slope = chain[0].enclose(place), chain[1].enclose(place)
        return box.low <= turn <= box.high and excludes_zero(bend) and bool(2 * value * bend > slope * slope)


def _bend(chain: Derivatives, box: Box) -> arb:
    """A ball that contains h'' in the box, from a model of order 2 or more; at the current precision."""
    return chain.model(0, box).derivative().derivative()(_distances(box))


def _crosses_once(chain: Derivatives, box: Box) -> bool:
    """Whether the function, of different signs at the ends, is monotone, convex or concave in the box, by its model."""
    with ctx.workprec(box.bits):
        slope, distances = chain.model(0, box).derivative(), _distances(box)
        return excludes_zero(slope(distances)) or (box.order > 1 and excludes_zero(slope.derivative()(distances)))


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
        # Far from 0 relative to the width, boxes are halved; otherwise they grow with their distance from it.
        middle = 2 * low if high > 4 * low else (low + high) / 2
        if box is None and before == after and high <= 4 * low:
            box, middle = _at_turn(chain, Box(low, high, 4, bits, middle), before)
        if box is None:
            found = form.sign_at(middle, max(64, bits_low // 2))
            stack.append((middle, high, found, (after, bits_high)))
            stack.append((low, middle, (before, bits_low), found))
            continue
        boxes.append(box)
        if before != after:
            crossings.append(Crossing(form, low, high, before))
    return boxes, crossings


def _accepted(chain: Derivatives, low: Fraction, high: Fraction, bits: int, *, crossing: bool) -> Box | None:
    if high > 4 * low:
        return None
    test = _crosses_once if crossing else is_simple
    for order in ORDERS:
        box = Box(low, high, order, bits)
        if test(chain, box):
            return box
    return None


def _at_turn(chain: Derivatives, box: Box, sign: int) -> tuple[Box | None, Fraction]:
    """Where h almost touches 0 in a box whose ends have this sign: the box with the place of the turn, if that settles
    it; otherwise a place to split the box, beyond 0 if possible."""
    turn, unsettled = (box.low + box.high) / 2, (None, (box.low + box.high) / 2)
    with ctx.workprec(box.bits):
        bend = _bend(chain, box)
    if not bend * sign > 0 or chain[1].sign_at(box.low)[0] == chain[1].sign_at(box.high)[0]:
        return unsettled
    bits = 64
    while bits <= MOST_BITS_OF_TURNS:
        turn = _newton(chain, turn, bits)
        if not box.low < turn < box.high:
            return unsettled
        found, needed = chain[0].sign_at(turn)
        if found != sign:
            return None, turn
        settled = replace(box, turn=turn, bits=max(box.bits, 2 * needed))
        if _bends_away(chain, settled, turn):
            return settled, turn
        bits *= 2
    return unsettled


def _newton(chain: Derivatives, turn: Fraction, bits: int) -> Fraction:
    """A place closer to the zero of h', in general: what it is used for is checked."""
    with ctx.workprec(bits):
        for _ in range(2):
            place = ball(turn)
            step = chain[1].enclose(place) / chain[2].enclose(place)
            turn = fraction((place - step).mid().fmpq()) if step.is_finite() else Fraction(-1)
    return turn


def _depth(width: Fraction) -> int:
    """log2(1/width), at least 0, rounded up."""
    return max(0, width.denominator.bit_length() - width.numerator.bit_length() + 1)
