"""Primitives over several values, for plain numbers and symbols alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import ZERO
from dpverdict.mechanism.properties import kind_of
from dpverdict.mechanism.structure import Kind, Term
from dpverdict.mechanism.symbol import Symbol, lower, wrap
from dpverdict.mechanism.tracing import Tracing


def path_of(items: Sequence[Any]) -> Tracing:
    """The path that the symbols among the items stand on, on numpy's side if one of them does."""
    paths = [item._path for item in items if type(item) is Symbol]
    return next((path for path in paths if path.is_numpy), paths[0])


def numeric_terms(items: Sequence[Any]) -> tuple[Tracing, list[Term]]:
    """The items' path and terms, where all are finite numbers or booleans."""
    path = path_of(items)
    terms = [lower(item, path) for item in items]
    if not all(term is not None and kind_of(term).is_numeric for term in terms):
        path.stop("this operation on values that are not all finite numbers", "use finite numbers and booleans")
    return path, [term for term in terms if term is not None]


def has_symbol(items: Sequence[Any]) -> bool:
    """Whether one of the items is a symbol."""
    return any(type(item) is Symbol for item in items)


def argmax(items: Sequence[Any]) -> Any:
    """The position of the first largest item."""
    items = list(items)
    if not has_symbol(items):
        return int(np.argmax(np.asarray(items)))
    path, terms = numeric_terms(items)
    return wrap(algebra.argmax(terms), path)


def argmin(items: Sequence[Any]) -> Any:
    """The position of the first smallest item."""
    items = list(items)
    return argmax([-item for item in items]) if has_symbol(items) else int(np.argmin(np.asarray(items)))


def extremum(items: Sequence[Any], *, largest: bool) -> Any:
    """The largest or the smallest item."""
    items = list(items)
    if not has_symbol(items):
        found = max(items) if largest else min(items)
        return found if all(isinstance(item, (bool, np.bool_)) for item in items) else found + 0
    path, terms = numeric_terms(items)
    return wrap(algebra.ranked(terms, len(terms) - 1 if largest else 0), path)


def order_statistics(items: Sequence[Any]) -> list[Any]:
    """The items in ascending order."""
    items = list(items)
    if not has_symbol(items):
        return sorted(items)
    path, terms = numeric_terms(items)
    return [wrap(algebra.ranked(terms, rank), path) for rank in range(len(terms))]


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`, without forking."""
    if type(condition) is not Symbol:
        return yes if condition else no
    path = path_of((condition, yes, no))
    terms = [lower(side, path) for side in (yes, no)]
    if terms[0] is None or terms[1] is None or not all(kind_of(t).is_numeric for t in terms if t is not None):
        return yes if condition else no
    test = condition._term
    if kind_of(test) is not Kind.TRUTH:
        test = algebra.negate(algebra.compare("==", test, ZERO))
    mixed = {kind_of(term) is Kind.TRUTH for term in terms if term is not None}
    if len(mixed) > 1:  # a boolean here, a number there: one type for all only where numpy makes it so
        return yes if condition else no
    return wrap(algebra.choose(test, terms[0], terms[1]), path)
