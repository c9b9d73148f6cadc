"""The ADJACENCY grammar: ``linf:1``, ``substitute:2``, ``add-remove:1,unordered``, ``pairs:FILE``, ``module:name``."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverdict.claim.exact_numbers import number
from dpverdict.claim.lists import AddRemove, Substitute
from dpverdict.claim.neighbours import (
    EuclideanNorm,
    MaxNorm,
    Monotone,
    Neighbourhood,
    SumNorm,
    check_count,
    check_radius,
)
from dpverdict.claim.python_object import named_object
from dpverdict.claim.relations import AnyPair, PairList, relation_error, relation_of
from dpverdict.claim.values import natural
from dpverdict.claim.written import Written, nearest
from dpverdict.errors import ClaimError

_NORMS: dict[str, Callable[[Fraction], Neighbourhood]] = {
    "linf": MaxNorm,
    "l1": SumNorm,
    "l2": EuclideanNorm,
    "monotone": Monotone,
}
_LISTS = ("substitute", "add-remove")
_WORDS = (*_NORMS, *_LISTS, "any", "pairs")
FORMS = (
    "linf[:r], l1[:r], l2[:r], monotone[:r], substitute[:k], add-remove[:k][,unordered], any, pairs:FILE, module:name"
)


def neighbourhood(given: Any, option: str = "adjacency=") -> Neighbourhood:
    """The neighbourhood that is written as text, or given as a Neighbourhood, a list of pairs or a function."""
    match given:
        case Neighbourhood():
            return given
        case str():
            return parse(Written.of(option, given))
        case list() | tuple():
            return PairList(tuple(given))
    name = f"{getattr(given, '__module__', '')}:{getattr(given, '__qualname__', type(given).__qualname__)}"
    return relation_of(given, name, Written.of(option, repr(given)[:60]))


def parse(written: Written) -> Neighbourhood:
    """The neighbourhood that an ADJACENCY text names.  Raises ClaimError that points at the part that is wrong."""
    word, rest = written.cut(":")
    kind = word.text.lower()
    if kind == "any" and rest is None:
        return AnyPair()
    if kind == "pairs":
        return _pairs(rest or written.part(len(written.text)))
    if kind in _NORMS:
        return _NORMS[kind](_size(rest, check_radius))
    if kind in _LISTS:
        return _list(kind, rest, written)
    if rest is None or kind == "any":
        near = nearest(word.text, _WORDS)
        if kind.endswith((".cpp", ".cc", ".c", ".h")):
            raise written.error(
                "CLAIM-056",
                "C++ is not read",
                why="DiPC's function `compare` becomes a neighbourhood's name, or a predicate of two inputs in Python",
                fix=written.with_value("linf:1") + "  or  " + written.with_value("compare.py:compare"),
            )
        raise written.error(
            "CLAIM-058",
            "not a neighbourhood",
            why=f"a neighbourhood is {FORMS}",
            fix=written.with_value("pairs:pairs.json" if near == "pairs" else near or "linf:1"),
        )
    return relation_of(named_object(written), written.text, written)


def _size(written: Written | None, check: Callable[[Fraction, Written], None]) -> Fraction:
    if written is None:
        return Fraction(1)
    value = number(written)
    check(value, written)
    return value


def _list(kind: str, rest: Written | None, written: Written) -> Neighbourhood:
    size, option = rest.cut(",") if rest is not None else (None, None)
    if option is not None and (kind, option.text) != ("add-remove", "unordered"):
        raise option.error(
            "CLAIM-059",
            "not an option of this neighbourhood",
            why="only add-remove has one: unordered, which disregards the order of items",
            fix=written.with_value("add-remove:1,unordered"),
        )
    # The word may stand alone: add-remove:unordered.
    alone = kind == "add-remove" and size is not None and size.text == "unordered"
    items = int(_size(None if alone else size, check_count))
    return Substitute(items) if kind == "substitute" else AddRemove(items, alone or option is not None)


def _pairs(written: Written) -> PairList:
    if not written.text:
        raise relation_error(written, "it names no file")
    try:
        text = Path(written.text).read_text(encoding="utf-8")
        rows = json.loads(text, parse_float=lambda word: natural(Fraction(Decimal(word))))
    except FileNotFoundError:
        raise relation_error(written, f"there is no such file seen from {Path.cwd()}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise relation_error(written, f"{type(error).__name__}: {error}") from None
    if not isinstance(rows, list):
        raise relation_error(written, f"it holds a {type(rows).__name__}, not a list of pairs")
    try:
        return PairList(tuple(rows), written.text)
    except ClaimError as error:
        error.place = written.text
        raise
