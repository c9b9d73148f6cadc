"""The cheap proof that an exponential polynomial is not negative for any ε > 0: its power series is not.

With τ = ε/scale and J the largest exponent of w, e^{Jτ}·G(τ) = Σ g·τ^i·e^{bτ} with b = J - j ≥ 0, and k! times its k-th
coefficient is the integer Σ g·k(k-1)…(k-i+1)·b^(k-i).  Let (i₀, B) be the term with the largest base, and of those the
one with the largest power, g₀ > 0.  If at some K ≥ all i

- all coefficients up to K are ≥ 0,
- the term of (i₀, B) is at least the sum of the sizes of all others, and
- (K+1-i₀)·b ≤ (K+1-i)·B for every other (i, b),

then from each k ≥ K to k+1 no other term grows by a larger factor than the one of (i₀, B), so that all later
coefficients are ≥ 0 too.  For B = 0 there are no later coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from math import exp, lgamma, log, perm
from operator import mul
from typing import NamedTuple

from dpverdict.reading.exact.sign_forms import Form

LONGEST = 1000
"""Coefficients that the search is ready to compute."""


class GrowingTerm(NamedTuple):
    """coefficient·τ^power·e^{base·τ}."""

    coefficient: int
    power: int
    base: int


def find_length(form: Form) -> int | None:
    """A K with which the proof succeeds for a stripped form, or None."""
    terms = _terms(form)
    lead, others = _split(terms)
    if lead.coefficient < 0:
        return None
    length = _expected_length(lead, others)
    if length is None or any(value < 0 for value in islice(_coefficients(terms), length + 1)):
        return None
    return length if _dominates(lead, others, length) else None


def succeeds(form: Form, length: int) -> bool:
    """Whether the proof with this K holds for a stripped form: everything is computed again."""
    terms = _terms(form)
    lead, others = _split(terms)
    return (
        lead.coefficient > 0
        and length >= max(term.power for term in (lead, *others))
        and all(_keeps_up(lead, term, length) for term in others)
        and _dominates(lead, others, length)
        and all(value >= 0 for value in islice(_coefficients(terms), length + 1))
    )


def _terms(form: Form) -> list[GrowingTerm]:
    top = form.degree
    return [
        GrowingTerm(int(coefficient), power, top - place)
        for power, row in enumerate(form.rows)
        for place, coefficient in enumerate(row.coeffs())
        if coefficient != 0
    ]


def _split(terms: list[GrowingTerm]) -> tuple[GrowingTerm, list[GrowingTerm]]:
    lead = max(terms, key=lambda term: (term.base, term.power))
    return lead, [term for term in terms if term is not lead]


def _keeps_up(lead: GrowingTerm, other: GrowingTerm, length: int) -> bool:
    return (length + 1 - lead.power) * other.base <= (length + 1 - other.power) * lead.base


def _dominates(lead: GrowingTerm, others: list[GrowingTerm], length: int) -> bool:
    """Whether the leading term of the coefficient `length` is at least the sum of the sizes of the others."""
    if lead.base == 0:
        return True
    return abs(_size(lead, length)) >= sum(abs(_size(term, length)) for term in others)


def _size(term: GrowingTerm, k: int) -> int:
    return int(term.coefficient * perm(k, term.power) * term.base ** (k - term.power)) if k >= term.power else 0


def _expected_length(lead: GrowingTerm, others: list[GrowingTerm]) -> int | None:
    """The K from which on, in floating point, the leading term dominates; it is tried, not trusted."""
    least = max(term.power for term in (lead, *others))
    if lead.base == 0:
        return least
    for term in others:
        if term.base < lead.base:
            needed = -((lead.power * term.base - term.power * lead.base) // (lead.base - term.base)) - 1
            least = max(least, needed)
    top, rest = _logarithms(lead), [_logarithms(term) for term in others if term.base]
    low = high = least
    while not _seems_to_dominate(top, rest, high):
        low, high = high + 1, 2 * high + 4
        if high > LONGEST:
            return None
    # Close to the least one is good enough.
    while high - low > low // 8:
        middle = (low + high) // 2
        if _seems_to_dominate(top, rest, middle):
            high = middle
        else:
            low = middle + 1
    return high


class Logarithms(NamedTuple):
    """Of the sizes of a coefficient and a base, with the power of τ."""

    coefficient: float
    power: int
    base: float


def _logarithms(term: GrowingTerm) -> Logarithms:
    return Logarithms(log(abs(term.coefficient)), term.power, log(term.base))


def _seems_to_dominate(lead: Logarithms, others: list[Logarithms], k: int) -> bool:
    falling = [-lgamma(k - power + 1) for power in range(1 + max((term.power for term in others), default=0))]
    top = lead.coefficient - lgamma(k - lead.power + 1) + (k - lead.power) * lead.base
    total = 0.0
    for coefficient, power, base in others:
        total += exp(min(coefficient + falling[power] + (k - power) * base - top, 50.0))
    return total < 1 - 1e-9


def _coefficients(terms: list[GrowingTerm]) -> Iterator[int]:
    """k!·c_k of e^{Jτ}·G for k = 0, 1, 2, …"""
    rows: dict[int, tuple[list[int], list[int]]] = {}
    for term in terms:
        values, bases = rows.setdefault(term.power, ([], []))
        values.append(term.coefficient)
        bases.append(term.base)
    moving = sorted((power, values, bases) for power, (values, bases) in rows.items())
    for k in count():
        total = 0
        for row, (power, values, bases) in enumerate(moving):
            if power > k:
                break
            total += perm(k, power) * sum(values)
            # These terms have grown k - power times; with 0⁰ = 1, those of base 0 have counted once.
            moving[row] = power, list(map(mul, values, bases)), bases
        yield total
