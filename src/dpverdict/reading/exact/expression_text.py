"""Exponential polynomials as text: written in one way, read strictly.

    29/120*exp(-1/8*eps) - 1/8*eps^2*exp(-eps) + 1/2

A sum has terms; a term is a product of at most one number, one power of eps and one exponential, in this order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple, NoReturn

from dpverdict.errors import Excerpt, InputError

_LONGEST = 2_000
"""Digits of a number: more than any probability of a program needs, and few enough for int()."""

_LARGEST_POWER = 10_000
_LARGEST_DEGREE = 100_000
"""Of the polynomials in w = exp(-eps/scale) that a sum becomes; they are dense."""

_NUMBER = re.compile(r"\d+(?:/\d+)?", re.ASCII)
_POWER = re.compile(r"eps(?:\^(\d+))?(?![\w(])", re.ASCII)
_DECAY = re.compile(r"exp\(-(?:(\d+(?:/\d+)?)\*)?eps\)", re.ASCII)
_QUOTIENT = re.compile(r"\((.*?)\) / \((.*)\)", re.ASCII)


class Term(NamedTuple):
    """coefficient·ε^power·e^{-rate·ε}."""

    coefficient: Fraction
    power: int
    rate: Fraction


def text_of_sum(terms: Sequence[Term]) -> str:
    """The terms in this order, with signs between them; "0" if there are none."""
    pieces = [_text_of_term(term) for term in terms]
    first = "".join("-" if term.coefficient < 0 else "" for term in terms[:1])
    rest = "".join(
        f" {'-' if term.coefficient < 0 else '+'} {piece}" for term, piece in zip(terms[1:], pieces[1:], strict=True)
    )
    return f"{first}{pieces[0]}{rest}" if pieces else "0"


def _text_of_term(term: Term) -> str:
    factors = []
    if term.power:
        factors.append("eps" if term.power == 1 else f"eps^{term.power}")
    if term.rate:
        factors.append("exp(-eps)" if term.rate == 1 else f"exp(-{term.rate}*eps)")
    size = abs(term.coefficient)
    if size != 1 or not factors:
        factors.insert(0, str(size))
    return "*".join(factors)


def read_sum(text: str) -> list[Term]:
    """The terms of a sum.  Raises InputError that points at what does not belong there."""
    return _Reader(text, 0, len(text)).sum()


def read_quotient(text: str) -> tuple[list[Term], list[Term] | None]:
    """The terms of a sum, or of both sums of `(sum) / (sum)`."""
    found = _QUOTIENT.fullmatch(text)
    if not found:
        return read_sum(text), None
    above = _Reader(text, *found.span(1)).sum()
    reader = _Reader(text, *found.span(2))
    below = reader.sum()
    if not any(term.coefficient for term in below):
        reader.at = found.start(2)
        reader.fail("a denominator that is not 0")
    return above, below


class _Reader:
    """Goes through the text between two places once, from left to right."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.at, self.end = text, start, end

    def sum(self) -> list[Term]:
        start = self.at
        terms = [self.term(-1 if self.skip("-") else 1)]
        while self.at < self.end:
            if self.skip(" + "):
                terms.append(self.term(1))
            elif self.skip(" - "):
                terms.append(self.term(-1))
            else:
                self.fail("' + ' or ' - ' between terms")
        if max(term.rate for term in terms) * lcm(*(term.rate.denominator for term in terms)) > _LARGEST_DEGREE:
            self.at = start
            self.fail(
                f"rates whose largest is at most {_LARGEST_DEGREE} times what all are multiples of", self.end - start
            )
        return terms

    def term(self, sign: int) -> Term:
        number = self.number()
        coefficient = Fraction(1) if number is None else number
        power, rate, more = 0, Fraction(0), number is None or self.skip("*")
        if more and (found := self.match(_POWER)):
            power, more = self.whole(found), self.skip("*")
            number = coefficient
        if more and (found := self.match(_DECAY)):
            rate, more = self.ratio(found[1], found.start(1)) if found[1] else Fraction(1), False
            number = coefficient
        if more or number is None:
            self.fail("a number, eps or exp(-…*eps)")
        return Term(sign * coefficient, power, rate)

    def number(self) -> Fraction | None:
        found = self.match(_NUMBER)
        return self.ratio(found[0], found.start()) if found else None

    def whole(self, found: re.Match[str]) -> int:
        if not found[1]:
            return 1
        if len(found[1]) > len(str(_LARGEST_POWER)) or int(found[1]) > _LARGEST_POWER:
            self.at = found.start(1)
            self.fail(f"a power of at most {_LARGEST_POWER}", len(found[1]))
        return int(found[1])

    def ratio(self, text: str, start: int) -> Fraction:
        above, _, below = text.partition("/")
        if max(len(above), len(below)) > _LONGEST or (below and not int(below)):
            self.at = start
            self.fail(f"a number with at most {_LONGEST} digits and no denominator 0", len(text))
        return Fraction(int(above), int(below or 1))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at, self.end)
        if found:
            self.at = found.end()
        return found

    def skip(self, word: str) -> bool:
        here = self.text.startswith(word, self.at, self.end)
        self.at += len(word) * here
        return here

    def fail(self, expected: str, length: int = 1) -> NoReturn:
        raise InputError(
            "INPUT-050",
            "not an exponential polynomial",
            why="it is a sum of terms like 1/2*eps^2*exp(-3/4*eps): a number, a power of eps and an exponential",
            fix="29/120*exp(-1/8*eps) - 1/8*eps + 1",
            excerpt=Excerpt(self.text, self.at, self.at + length, f"expected {expected}"),
        )


def decimal(value: Fraction, count: int) -> str:
    """The value rounded (half to even) to that many significant decimal digits."""
    if not value:
        return "0"
    sign, size = "-" if value < 0 else "", abs(value)
    power = (size.numerator.bit_length() - size.denominator.bit_length()) * 30103 // 100000
    while size >= Fraction(10) ** (power + 1):
        power += 1
    while size < Fraction(10) ** power:
        power -= 1
    digits = round(size * Fraction(10) ** (count - 1 - power))
    if digits == 10**count:
        digits, power = digits // 10, power + 1
    return sign + _placed(str(digits), power)


def _placed(digits: str, power: int) -> str:
    """The digits with a point such that the first one counts 10^power."""
    if -6 <= power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    if 0 <= power < len(digits):
        return f"{digits[: power + 1]}.{digits[power + 1 :]}".rstrip(".")
    return f"{digits[0]}.{digits[1:]}".rstrip(".") + f"e{power}"
