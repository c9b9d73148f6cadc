"""Where a curve comes from: a file of points, or an object in a module."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpverdict.claim.curve import ProfileFunction, ProfilePoints, TradeOffFunction, TradeOffPoints
from dpverdict.claim.exact_numbers import number
from dpverdict.claim.guarantee import Guarantee
from dpverdict.claim.python_object import named_object
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError

_PROFILE, _TRADE_OFF = ("epsilon", "delta"), ("alpha", "beta")
_PROFILE_ARGUMENTS, _TRADE_OFF_ARGUMENTS = ("epsilon", "eps"), ("alpha", "type_one_error", "fpr")


def curve(written: Written) -> Guarantee:
    """The curve that ``curve:`` names: a .csv file, else module:object or file.py:object."""
    text = written.text
    if not text:
        raise written.error(
            "CLAIM-023",
            "a curve is read from somewhere",
            why="it is a file of points, or an object in a module",
            fix=written.instead("profile.csv"),
        )
    if ":" in text and not text.lower().endswith(".csv"):
        return curve_of(named_object(written), text, written)
    return _from_file(written)


def _from_file(written: Written) -> Guarantee:
    try:
        lines = Path(written.text).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        raise written.error(
            "CLAIM-024",
            "no such file" if missing else "the file cannot be read",
            why=f"there is no such file seen from {Path.cwd()}" if missing else f"{type(error).__name__}: {error}",
            fix="a .csv file that exists, or module:object",
        ) from None
    rows = [[word.strip() for word in row] for row in csv.reader(lines)]
    header = tuple(word.lower() for word in rows[0]) if rows else ()
    if header not in (_PROFILE, _TRADE_OFF):
        raise written.error(
            "CLAIM-025",
            "the file's columns are not those of a curve",
            note=f"its first line is {','.join(header)[:40] or 'empty'}",
            why="the first line says which curve it is: epsilon,delta or alpha,beta (type I and type II error)",
            fix="epsilon,delta as the first line",
        )
    points = []
    for at, row in enumerate(rows[1:], start=2):
        place = f"{written.text}, line {at}:"
        if not any(row):
            continue
        if len(row) != 2:
            raise Written.of(place, ",".join(row)).error(
                "CLAIM-026",
                "a row of a curve has two numbers",
                why=f"the columns are {' and '.join(header)}",
                fix="0.5,0.001",
            )
        points.append((number(Written.of(place, row[0])), number(Written.of(place, row[1]))))
    made = ProfilePoints if header == _PROFILE else TradeOffPoints
    try:
        return made(tuple(points), written.text)
    except ClaimError as error:
        error.place = written.text
        raise


def curve_of(found: Any, source: str, written: Written) -> Guarantee:
    """The curve that a Python object is.

    A guarantee of this room (a curve then goes by the name under which it was found), a privacy loss distribution
    (anything with dp_accounting's ``get_delta_for_epsilon``), a function of one argument called epsilon or eps (a
    privacy profile) or alpha, type_one_error or fpr (a trade-off function).
    """
    if isinstance(found, ProfilePoints | TradeOffPoints | ProfileFunction | TradeOffFunction):
        return replace(found, source=source)
    if isinstance(found, Guarantee):
        return found
    profile = getattr(found, "get_delta_for_epsilon", None)
    if callable(profile):
        return ProfileFunction(profile, source)
    if callable(found):
        argument = _first_argument(found)
        if argument in _PROFILE_ARGUMENTS:
            return ProfileFunction(found, source)
        if argument in _TRADE_OFF_ARGUMENTS:
            return TradeOffFunction(found, source)
        why = "its argument says which curve it is: epsilon for a privacy profile, alpha for a trade-off function"
        fix = "def delta(epsilon): …"
    else:
        why = "a curve is a function, a privacy loss distribution, or a guarantee"
        fix = "a function delta(epsilon)"
    raise written.error("CLAIM-027", "not a curve", note=f"a {type(found).__name__}", why=why, fix=fix)


def _first_argument(function: Callable[..., Any]) -> str | None:
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError):
        return None
