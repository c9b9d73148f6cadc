"""δ as a function of the mechanism's ε: an exponential polynomial, or a rational times a power of e."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from flint import arb, ctx

from dpverdict.claim.exact_numbers import exact, json_of, number, text_of
from dpverdict.claim.written import Written
from dpverdict.reading.exact.exponential import Exponential, ball, fraction
from dpverdict.reading.exact.expression_text import Term
from dpverdict.reading.exact.sign import Nonnegative, decide
from dpverdict.reading.exact.sign_forms import Interval
from dpverdict.reading.exact.with_constant import WithConstant

_EXP = re.compile(r"exp\s*\(\s*-(.*)\)", re.DOTALL)
_EPS = re.compile(r"(?:(?P<times>[^*]+)\*)?\s*(?:eps|ε)\s*(?:/(?P<below>.+))?", re.DOTALL)
_POWER = re.compile(r"(?:eps|ε)(?:\s*\^\s*(\d{1,2}))?\s*(?:/(.+))?", re.ASCII | re.DOTALL)
_LARGEST_DEGREE = 10_000
_LARGEST_EXPONENT = 4096


@dataclass(frozen=True, slots=True)
class Delta:
    """δ(ε) = function(ε)·e^{-exponent}; where the exponent is not 0, the function is a positive constant."""

    function: Exponential
    exponent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.exponent and not (self.function.is_constant and self.constant > 0):
            raise ValueError(f"no δ: ({self.function.text()})·exp(-{self.exponent})")

    @property
    def constant(self) -> Fraction:
        """The value of a constant function."""
        return fraction(self.function.parts[0][0]) if self.function.parts else Fraction(0)

    @property
    def text(self) -> str:
        """``exp(-1/32*eps)``, ``1/2*exp(-2)``: reads back as the same function."""
        if not self.exponent:
            return self.function.text()
        power = f"exp(-{self.exponent})"
        return power if self.constant == 1 else f"{self.constant}*{power}"

    def value(self, epsilon: Fraction, bits: int = 128) -> arb:
        """A ball that contains δ(ε)."""
        with ctx.workprec(bits):
            return self.function.value(epsilon, bits) * (-ball(self.exponent)).exp()

    def rounded_up(self, epsilon: Fraction) -> Fraction:
        """A rational that is at least δ(ε), by a relative error of about 2^-60, and at most 1."""
        value = self.value(epsilon)
        with ctx.workprec(64):
            return min(fraction(value.upper().fmpq()), Fraction(1))

    def is_probability_on(self, low: Fraction, high: Fraction | None) -> bool:
        """Whether 0 ≤ δ(ε) ≤ 1 is shown for all ε from low to high."""
        if self.exponent:
            return WithConstant(Exponential.constant(1), -self.constant, self.exponent).sign_at(Fraction(1)) >= 0
        within = Interval.point(low) if low == high else Interval(low, high)
        rest = Exponential.constant(1) - self.function
        return all(isinstance(decide(one, within), Nonnegative) for one in (self.function, rest))


def read_delta(value: Any, option: str) -> Fraction | Delta:
    """δ as somebody wrote it: a number, ``c*exp(-r)``, or a sum of terms in eps such as ``1/10*exp(-eps/32)``."""
    if isinstance(value, Delta):
        return value
    if not isinstance(value, str) or not re.search(r"exp|eps|ε", value):
        return exact(value, option)
    written = Written.of(option, value)
    terms, exponents = [], []
    for sign, part in _signed(written):
        term, exponent = _term(part, sign)
        terms.append(term)
        exponents.append(exponent)
    scale = lcm(*(term.rate.denominator for term in terms))
    if max(term.rate for term in terms) * scale > _LARGEST_DEGREE:
        raise _no_delta(written, "its rates are too far from simple multiples of each other")
    if len(terms) > 1 and any(exponents):
        raise _no_delta(written, "a power of e without eps stands with one number")
    function, exponent = Exponential.of_terms(terms), exponents[0]
    if not function.is_constant:
        if exponent:
            raise _no_delta(written, "a power of e without eps stands with one number")
        return Delta(function)
    constant = fraction(function.parts[0][0]) if function.parts else Fraction(0)
    if exponent and constant < 0:
        raise _no_probability(written)
    return Delta(function, exponent) if exponent and constant else constant


def check_delta_on(delta: Delta, low: Fraction, high: Fraction | None, written: Written) -> None:
    """Refuse a δ that is not shown to be a probability for all ε from low to high."""
    if not delta.is_probability_on(low, high):
        raise _no_probability(written)


def delta_text(delta: Fraction | Delta) -> str:
    """The text that reads back as this δ."""
    return delta.text if isinstance(delta, Delta) else text_of(delta)


def delta_json(delta: Fraction | Delta) -> int | float | str:
    """A number where δ is one, else its text."""
    return delta.text if isinstance(delta, Delta) else json_of(delta)


def _signed(written: Written) -> list[tuple[int, Written]]:
    """The terms with their signs; a sign in brackets or in 1e-5 parts no terms."""
    text, depth, start, sign, found = written.text, 0, 0, 1, []
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter not in "+-" or depth or re.search(r"\d[eE]$", text[:at]):
            continue
        if text[start:at].strip():
            found.append((sign, written.part(start, at).stripped()))
        elif start:
            raise _no_delta(written.part(at, at + 1), "two signs follow each other")
        start, sign = at + 1, -1 if letter == "-" else 1
    return [*found, (sign, written.part(start).stripped())]


def _term(written: Written, sign: int) -> tuple[Term, Fraction]:
    """A term in eps, and the exponent of its power of e without eps."""
    coefficient, power, rate, exponent = Fraction(sign), 0, Fraction(0), Fraction(0)
    for factor in written.split("*"):
        if found := _EXP.fullmatch(factor.text):
            inner = factor.part(*found.span(1)).stripped()
            if inside := _EPS.fullmatch(inner.text):
                rate += _share(inner, inside)
            else:
                exponent += _positive(inner)
        elif found := _POWER.fullmatch(factor.text):
            power += int(found[1] or 1)
            if found[2]:
                coefficient /= _positive(factor.part(*found.span(2)).stripped())
        elif "exp" in factor.text or "eps" in factor.text:
            raise _no_delta(factor, "its factors are numbers, eps, eps^2, exp(-eps/32) and exp(-2)")
        else:
            coefficient *= number(factor)
    if exponent > _LARGEST_EXPONENT:
        raise _no_delta(written, f"powers of e go down to exp(-{_LARGEST_EXPONENT})")
    return Term(coefficient, power, rate), exponent


def _share(inner: Written, found: re.Match[str]) -> Fraction:
    """The q of q*eps or eps/n."""
    rate = Fraction(1)
    if found["times"]:
        rate *= _positive(inner.part(*found.span("times")).stripped())
    if found["below"]:
        rate /= _positive(inner.part(*found.span("below")).stripped())
    return rate


def _positive(written: Written) -> Fraction:
    value = number(written)
    if value <= 0:
        raise _no_delta(written, "exponents fall with eps: exp(-eps), and what divides is above 0")
    return value


def _no_delta(written: Written, why: str) -> Exception:
    return written.error(
        "CLAIM-013", "not a δ", why=why, fix=written.with_value("1e-5, or 'exp(-2)', or 'exp(-eps/32)'")
    )


def _no_probability(written: Written) -> Exception:
    return written.error(
        "CLAIM-014",
        "delta must be from 0 to 1 for every ε of the range",
        why="δ bounds a difference of probabilities; it is meant to be tiny",
        fix=written.with_value("'exp(-eps)'"),
    )
