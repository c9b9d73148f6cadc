"""The outcomes of many runs, flattened: for each run the plain values in it from left to right, as arrays.

A list counts as its items, a dictionary as key, value, key, value, …, anything else as itself.  A number keeps its
value as a float; a boolean is 0 or 1; a text, bytes or the name of an exception is a digest, which only serves to
compare.  What a run's leaves are depends on its outcome alone, not on the batch, nor on whether that is an array.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverdict.mechanism.outcome import Mapping, Outcome, Raised
from dpverdict.mechanism.tally import Outcomes, listed


class Kind(IntEnum):
    """What a leaf is."""

    ABSENT = 0
    NONE = 1
    BOOLEAN = 2
    NUMBER = 3
    TEXT = 4
    BYTES = 5
    RAISED = 6


class Form(IntEnum):
    """What an outcome is as a whole."""

    SINGLE = 0
    LIST = 1
    DICTIONARY = 2
    RAISED = 3


@dataclass(frozen=True, slots=True)
class Leaves:
    """One row per run, padded with absent leaves (kind 0, value NaN) to the longest of the batch."""

    kinds: NDArray[np.int8]
    values: NDArray[np.float64]
    forms: NDArray[np.int8]

    def column(self, index: int) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Kinds and values of one leaf of every run."""
        if index < self.kinds.shape[1]:
            return self.kinds[:, index], self.values[:, index]
        runs = len(self.kinds)
        return np.zeros(runs, dtype=np.int8), np.full(runs, np.nan)


def leaves(outcomes: Outcomes) -> Leaves:
    """The leaves of every run."""
    if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "biuf":
        return _of_array(outcomes)
    return _of_list(listed(outcomes))


def leaf(outcome: Outcome) -> tuple[Kind, float]:
    """Kind and value of a single plain value."""
    match outcome:
        case None:
            return Kind.NONE, math.nan
        case bool():
            return Kind.BOOLEAN, float(outcome)
        case float():
            return Kind.NUMBER, outcome
        case int():
            return Kind.NUMBER, _nearest(outcome)
        case str():
            return Kind.TEXT, _digest(outcome.encode("utf-8", "surrogatepass"))
        case bytes():
            return Kind.BYTES, _digest(outcome)
        case Raised(exception):
            return Kind.RAISED, _digest(exception.encode("utf-8", "surrogatepass"))
        case _:
            raise TypeError(f"{type(outcome).__name__} is no leaf")


def _of_array(array: NDArray[Any]) -> Leaves:
    runs = len(array)
    kind = Kind.BOOLEAN if array.dtype.kind == "b" else Kind.NUMBER
    form = Form.SINGLE if array.ndim == 1 else Form.LIST
    values = array.reshape(runs, math.prod(array.shape[1:])).astype(np.float64)
    kinds = np.broadcast_to(np.int8(kind), values.shape)
    return Leaves(kinds, values, np.broadcast_to(np.int8(form), (runs,)))


def _of_list(outcomes: list[Outcome]) -> Leaves:
    rows = [[leaf(part) for part in _flattened(outcome)] for outcome in outcomes]
    width = max(map(len, rows), default=0)
    kinds = np.zeros((len(rows), width), dtype=np.int8)
    values = np.full((len(rows), width), np.nan)
    for at, row in enumerate(rows):
        if row:
            kinds[at, : len(row)], values[at, : len(row)] = zip(*row, strict=True)
    return Leaves(kinds, values, np.array([_form(outcome) for outcome in outcomes], dtype=np.int8))


def _flattened(outcome: Outcome) -> Iterator[Outcome]:
    if isinstance(outcome, tuple):
        for item in outcome:
            yield from _flattened(item)
    elif isinstance(outcome, Mapping):
        for name, item in outcome.items():
            yield from _flattened(name)
            yield from _flattened(item)
    else:
        yield outcome


def _form(outcome: Outcome) -> Form:
    match outcome:
        case tuple():
            return Form.LIST
        case Mapping():
            return Form.DICTIONARY
        case Raised():
            return Form.RAISED
        case _:
            return Form.SINGLE


def _nearest(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _digest(content: bytes) -> float:
    """48 bits, so that a float holds them exactly.  A collision joins two outcomes in an event; that is sound."""
    return float(int.from_bytes(hashlib.sha256(content).digest()[:6]))
