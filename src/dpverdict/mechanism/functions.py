"""Functions for mechanisms that work on plain numbers and on symbols alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dpverdict.mechanism import primitives, symbol_array
from dpverdict.mechanism.symbol import Symbol


def exp(x: Any) -> Any:
    """e to the power of x."""
    return x.exp() if type(x) is Symbol else np.exp(x) if isinstance(x, np.ndarray) else math.exp(x)


def log(x: Any) -> Any:
    """The natural logarithm of x."""
    if type(x) is Symbol:
        if not x > 0:
            raise ValueError("math domain error: the logarithm of a number that is not positive")
        return x.log()
    return np.log(x) if isinstance(x, np.ndarray) else math.log(x)


def sqrt(x: Any) -> Any:
    """The square root of x."""
    if type(x) is Symbol:
        if not x >= 0:
            raise ValueError("math domain error: the square root of a negative number")
        return x.sqrt()
    return np.sqrt(x) if isinstance(x, np.ndarray) else math.sqrt(x)


def maximum(*items: Any) -> Any:
    """The largest of several values, or of one sequence."""
    return primitives.extremum(_several(items), largest=True)


def minimum(*items: Any) -> Any:
    """The smallest of several values, or of one sequence."""
    return primitives.extremum(_several(items), largest=False)


def argmax(items: Sequence[Any]) -> Any:
    """The position of the first largest item."""
    return primitives.argmax(items)


def argmin(items: Sequence[Any]) -> Any:
    """The position of the first smallest item."""
    return primitives.argmin(items)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`; for numbers, tracing does not fork on it."""
    return primitives.choose(condition, yes, no)


def discretise(x: Any, edges: Sequence[float]) -> Any:
    """The first of the ascending edges that x does not exceed; the last edge if x exceeds them all."""
    if not edges or any(a >= b for a, b in pairwise(edges)):
        raise ValueError(f"edges must be ascending and at least one, got {list(edges)!r}")
    if type(x) is not Symbol and isinstance(x, (np.ndarray, list, tuple)):
        found = [discretise(item, edges) for item in x]
        return symbol_array.symbol_array(found) if any(type(f) is Symbol for f in found) else np.asarray(found)
    result: Any = edges[-1]
    for edge in reversed(edges[:-1]):
        result = choose(x <= edge, edge, result)
    return result


def _several(items: tuple[Any, ...]) -> Sequence[Any]:
    return list(items[0]) if len(items) == 1 else items
