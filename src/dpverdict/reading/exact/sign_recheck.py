"""Checks the certificate of a sign again, without the search that found it.

What it trusts: rational arithmetic, polynomials and balls of FLINT, and the statements in `sign_series` and
`sign_roots`.  Zeros of a polynomial in ε alone are counted here by Sturm's theorem; the search isolates them instead.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from flint import fmpq_poly

from dpverdict.reading.exact.exponential import Exponential, fraction, rational
from dpverdict.reading.exact.sign import AtPoint, Certificate, Factor, FactorProof, SeriesProof, Vanishes
from dpverdict.reading.exact.sign_forms import Form, Interval
from dpverdict.reading.exact.sign_roots import (
    Derivatives,
    Start,
    Survey,
    is_simple,
    stays_off_zero,
    tail_rules,
    value_at_zero,
)
from dpverdict.reading.exact.sign_series import succeeds


def recheck(function: Exponential, interval: Interval, certificate: Certificate) -> bool:
    """Whether the certificate proves that G ≥ 0 on the whole interval."""
    match certificate:
        case Vanishes():
            return function.is_zero
        case AtPoint():
            return interval.is_point and _sign_at(function, interval.low) >= 0
        case SeriesProof(length):
            return not function.is_zero and succeeds(Form.of(function).stripped(), length)
        case FactorProof():
            return not interval.is_point and _factors_prove(function, interval, certificate)


def _sign_at(function: Exponential, eps: Fraction) -> int:
    return 0 if function.is_zero else Form.of(function).sign_at(eps / function.scale)[0]


def _factors_prove(function: Exponential, interval: Interval, proof: FactorProof) -> bool:
    """The product is G, no odd factor changes its sign inside, and G is positive at an inner place."""
    product = proof.rest
    for factor in proof.factors:
        for _ in range(factor.multiplicity):
            product = product * factor.function
    return (
        product == function
        and interval.inside(proof.place)
        and _sign_at(function, proof.place) > 0
        and _keeps_sign(proof.rest, interval)
        and all(factor.multiplicity % 2 == 0 or _has_one_sign(factor, interval) for factor in proof.factors)
    )


def _has_one_sign(factor: Factor, interval: Interval) -> bool:
    """Whether the survey covers the interval and each of its parts shows that there is no sign change."""
    seen, scale = factor.survey, factor.function.scale
    if seen is None or factor.function.is_zero:
        return False
    inner, chain = interval.shrunk(scale), Derivatives([Form.of(factor.function)])
    low, high = _ends(seen, inner)
    cuts = [low, *(box.high for box in seen.boxes)]
    return (
        cuts[-1] == high
        and all(box.low == cut for box, cut in zip(seen.boxes, cuts, strict=False))
        and all(before < after for before, after in pairwise(cuts))
        and all(is_simple(chain, box) for box in seen.boxes)
        and len({chain[0].sign_at(cut)[0] for cut in cuts}) == 1
        and (seen.start is None or _starts(chain, seen.start))
        and (seen.tail is None or _ends_well(chain[0], seen.tail))
    )


def _ends(seen: Survey, inner: Interval) -> tuple[Fraction, Fraction]:
    """What the boxes have to cover; an interval that nothing covers, if a part is missing."""
    low = inner.low if seen.start is None else seen.start.box.high
    high = inner.high if seen.tail is None else seen.tail
    missing = (inner.low == 0 and seen.start is None) or high is None
    return (Fraction(0), Fraction(-1)) if missing or high is None else (low, high)


def _starts(chain: Derivatives, start: Start) -> bool:
    return (
        start.box.low == 0 < start.box.high
        and all(value_at_zero(chain[order]) == 0 for order in range(start.order))
        and stays_off_zero(chain, start.order, start.box)
    )


def _ends_well(form: Form, tail: Fraction) -> bool:
    return any(row[0] != 0 for row in form.rows) and tail_rules(form, tail)


def _keeps_sign(rest: Exponential, interval: Interval) -> bool:
    """Whether a polynomial in ε times a power of w changes its sign nowhere inside the interval."""
    places = {part.degree() for part in rest.parts if part}
    if len(places) != 1 or any(part and part.truncate(part.degree()) for part in rest.parts):
        return False
    place = places.pop()
    _, factors = fmpq_poly([part[place] for part in rest.parts]).factor_squarefree()
    return not any(times % 2 and _zeros_inside(line, interval) for line, times in factors)


def _zeros_inside(line: fmpq_poly, interval: Interval) -> int:
    """How many zeros a square-free polynomial has inside the interval, by Sturm's theorem."""
    for end in (interval.low, interval.high):
        if end is not None and line(rational(end)) == 0:
            line = line // fmpq_poly([-rational(end), 1])
    chain = [line, line.derivative()]
    while chain[-1]:
        chain.append(-(chain[-2] % chain[-1]))
    chain.pop()
    at_low = [fraction(one(rational(interval.low))) for one in chain]
    if interval.high is None:
        at_high = [fraction(one.leading_coefficient()) for one in chain]
    else:
        at_high = [fraction(one(rational(interval.high))) for one in chain]
    return _changes(at_low) - _changes(at_high)


def _changes(values: list[Fraction]) -> int:
    signs = [value > 0 for value in values if value]
    return sum(before != after for before, after in pairwise(signs))
