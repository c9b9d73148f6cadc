"""Values of inputs: compared by what they mean, shown so that people recognise them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from dpverdict.claim.exact_numbers import reading


def identity(value: Any) -> Hashable:
    """A key that two values share if they are the same input: 1, 1.0 and Fraction(1) are, True and 1 are not.

    Floats are read as their shortest decimals.
    """
    items = items_of(value)
    if items is not None:
        return ("list", *(identity(item) for item in items))
    if isinstance(value, Mapping):
        return ("record", *sorted(((identity(name), identity(item)) for name, item in value.items()), key=repr))
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return ("boolean", bool(value))
    number = reading(value)
    if number is not None:
        return ("number", number)
    if isinstance(value, (str, bytes)) or value is None:
        return (type(value).__name__, value)
    if isinstance(value, float):
        return ("number", "nan" if math.isnan(value) else str(value))
    return ("other", type(value).__name__, repr(value))


def items_of(value: Any) -> list[Any] | None:
    """The items of a list, a tuple or an array; None for everything else."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if getattr(value, "shape", None) and hasattr(value, "tolist"):
        return list(value.tolist())
    return None


def plain(value: Any) -> Any:
    """The value with ordinary numbers: a Fraction becomes an int or the nearest float.  For mechanisms and JSON."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return value


def shown(value: object) -> str:
    """A short text of a value, for messages."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(plain(value))
    except (OverflowError, ValueError):  # Python writes at most 4,300 digits, and a Fraction may have no float
        return f"a {type(value).__name__} with too many digits to show"
    return text if len(text) <= 60 else f"{text[:57]}…"


def natural(number: Fraction) -> int | Fraction:
    """An int where the number is whole."""
    return number.numerator if number.denominator == 1 else number
