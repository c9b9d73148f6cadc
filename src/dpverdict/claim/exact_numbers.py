"""Numbers of a claim: read exactly, written so that they read back as the same number."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d+)/(\d+)", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity|∞)", re.IGNORECASE)

# Beyond this many digits, or powers of ten, a number has no meaning for privacy, costs time, and has no float.
_MOST_DIGITS, _LARGEST_POWER = 1000, 400
_MOST_BITS = 14_000  # Python writes numbers of at most 4,300 digits
_LARGEST = Fraction(10**300)


def number(written: Written) -> Fraction:
    """The number that was written: 3, 0.1, 1e-5 or 1/8, exactly.  Raises ClaimError that points at it."""
    text = written.text
    if _NOT_FINITE.fullmatch(text):
        raise _not_finite(written)
    digits = sum(letter.isdigit() for letter in text)
    exponent = re.search(r"[eE][+-]?(\d+)$", text)
    if digits > _MOST_DIGITS or (exponent and int(exponent[1]) > _LARGEST_POWER):
        raise _too_long(written)
    if fraction := _FRACTION.fullmatch(text):
        if int(fraction[2]) == 0:
            raise written.error(
                "CLAIM-004",
                "a fraction with denominator 0 is no number",
                why="nothing can be divided by 0",
                fix=written.instead("1/2"),
            )
        return _checked(Fraction(text), written)
    if not _DECIMAL.fullmatch(text):
        raise written.error(
            "CLAIM-001" if text else "CLAIM-005",
            "not a number" if text else "a number is missing",
            why="a number is written 3, 0.1, 1e-5 or 1/8",
            fix=written.instead("1"),
        )
    return _checked(Fraction(text), written)


def exact(value: Any, option: str) -> Fraction:
    """The number that a Python value is; a float is read as its shortest decimal, which is what its author wrote."""
    if isinstance(value, str):
        return number(Written.of(option, value))
    plain = value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value
    match plain:
        case bool():
            pass
        case int() | Fraction():
            given = Fraction(plain)
            # What was computed may be long, or tiny; not so long that it cannot be shown.
            if max(given.numerator.bit_length(), given.denominator.bit_length()) > _MOST_BITS:
                raise _too_long(Written.of(option, "the given number"))
            return _checked(given, Written.of(option, str(given)))
        case float() | Decimal():
            return number(Written.of(option, str(plain)))
    written = Written.of(option, repr(plain))
    raise written.error(
        "CLAIM-006",
        "not a number",
        note=f"a {type(value).__name__}",
        why="a number is an int, a float, a Fraction, a Decimal, or a text like '1/8'",
        fix=written.with_value("1"),
    )


def _checked(value: Fraction, written: Written) -> Fraction:
    if abs(value) > _LARGEST:
        raise _too_long(written)
    return value


def _too_long(written: Written) -> ClaimError:
    return written.error(
        "CLAIM-003",
        "the number is too long",
        why=f"a number has at most {_MOST_DIGITS} digits, powers of ten up to {_LARGEST_POWER}, and is at most 1e300",
        fix=written.instead("1e-5"),
    )


def _not_finite(written: Written) -> Exception:
    return written.error(
        "CLAIM-002",
        "every number of a claim is finite",
        why="an infinite or undefined number promises nothing that could be refuted or proved",
        fix=written.instead("1"),
    )


def reading(value: object) -> Fraction | None:
    """The exact number that an input's value stands for: booleans count as 0 and 1; None if it is no finite number."""
    match value:
        case bool() | int() | Fraction():
            return Fraction(value)
        case float() | Decimal() if math.isfinite(value):
            return Fraction(str(value))
        case _:
            item = getattr(value, "item", None)
            return reading(item()) if item is not None and getattr(value, "shape", None) == () else None


def text_of(value: Fraction) -> str:
    """The shortest text that reads back as the number: 1, 0.125, 1e-5 or 1/3."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    try:
        decimal = repr(float(value))
    except OverflowError:
        return str(value)
    if math.isfinite(float(decimal)) and Fraction(decimal) == value:
        return re.sub(r"e([+-])0*", lambda found: "e-" if found[1] == "-" else "e", decimal)
    return str(value)


def json_of(value: Fraction) -> int | float | str:
    """A JSON number where it reads back exactly, else a text like "1/3"."""
    if value.denominator == 1:
        return value.numerator
    text = text_of(value)
    return text if "/" in text else float(text)
