"""The outcomes of many runs: as a list, or as an array with one row per run; and how often each occurs.

An array keeps what a vectorised function returned: no Python step per run is taken until somebody asks for the
outcomes one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpverdict.mechanism.outcome import Outcome, Raised, freeze, key, plain_array

Array: TypeAlias = npt.NDArray[Any]

Outcomes: TypeAlias = "list[Outcome] | Array"
"""One outcome per run; an array (of booleans, numbers, text or bytes) has one row per run and is not written to."""

_KEPT_KINDS = "biufUS"
_SMALL_RANGE = 1 << 12


class Tally(Mapping[Outcome, int]):
    """How often each outcome occurs.  Outcomes that are the same (`outcome.same`) are one; unseen ones have 0."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, int] = {}
        self._outcomes: dict[Hashable, Outcome] = {}

    @property
    def runs(self) -> int:
        """How many runs were counted."""
        return sum(self._counts.values())

    def count(self, outcome: Outcome, count: int = 1) -> None:
        """Add runs that ended in this outcome."""
        name = key(outcome)
        self._outcomes.setdefault(name, outcome)
        self._counts[name] = self._counts.get(name, 0) + count

    def add(self, other: Tally) -> None:
        """Add the counts of further runs."""
        for outcome, count in other.items():
            self.count(outcome, count)

    def __getitem__(self, outcome: Outcome) -> int:
        return self._counts.get(key(outcome), 0)

    def __contains__(self, outcome: object) -> bool:
        return key(outcome) in self._counts  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._outcomes.values())

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        return self._counts == other._counts if isinstance(other, Tally) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<tally of {self.runs:,} runs: {len(self):,} outcomes>"


def tally(outcomes: Outcomes) -> Tally:
    """How often each outcome occurs, in the order of first occurrence for a list."""
    counted = Tally()
    if isinstance(outcomes, np.ndarray):
        examples, sizes = _distinct_rows(outcomes)
        for outcome, size in zip(listed(outcomes[examples]), sizes.tolist(), strict=True):
            counted.count(outcome, size)
        return counted
    keys = [key(outcome) for outcome in outcomes]
    known = dict(zip(keys, outcomes, strict=True))
    for name, count in Counter(keys).items():
        counted.count(known[name], count)
    return counted


def listed(outcomes: Outcomes) -> list[Outcome]:
    """The outcomes one by one."""
    if not isinstance(outcomes, np.ndarray):
        return outcomes
    rows = outcomes.tolist()
    return rows if outcomes.ndim == 1 else [freeze(row) for row in rows]


def all_raised(outcomes: Outcomes) -> bool:
    """Whether there are runs, and each of them ended with an exception."""
    return not isinstance(outcomes, np.ndarray) and bool(outcomes) and set(map(type, outcomes)) == {Raised}


def from_array(array: Array) -> Outcomes:
    """The outcomes that the rows of an array are: the array itself where its items are plain values.

    Raises `OutputError` for items that are none.
    """
    rows = plain_array(array)
    if rows.dtype.kind == "c":
        rows = np.stack((rows.real, rows.imag), axis=-1)
    if isinstance(rows, np.ma.MaskedArray) or rows.dtype.kind not in _KEPT_KINDS:
        return [freeze(row) for row in (rows.tolist() if rows.ndim == 1 else list(rows))]
    return np.asarray(rows, dtype=rows.dtype.newbyteorder("="))


# --- different rows of an array ----------------------------------------------------------------------------------


def _distinct_rows(array: Array) -> tuple[Array, Array]:
    """One position of each different row, and how many rows are like it."""
    runs = len(array)
    columns = array.reshape(runs, -1).T if array.ndim > 1 and array.size else array[None, :]
    if not array.size:
        return np.arange(min(runs, 1)), np.array([runs][: min(runs, 1)])
    codes, radix = _codes(columns[0])
    for column in columns[1:]:
        further, size = _codes(column)
        codes, radix = codes * size + further, radix * size
        # Compact before the codes overflow, or take more room than the runs themselves.
        if radix > max(_SMALL_RANGE, 2 * runs):
            present, codes = np.unique(codes, return_inverse=True)
            codes, radix = codes.reshape(-1), len(present)
    if radix <= max(_SMALL_RANGE, 2 * runs):
        examples = np.zeros(radix, dtype=np.intp)
        examples[codes[::-1]] = np.arange(runs - 1, -1, -1)
        sizes = np.bincount(codes, minlength=radix)
        present = np.flatnonzero(sizes)
        return examples[present], sizes[present]
    _, examples, sizes = np.unique(codes, return_index=True, return_counts=True)
    return examples, sizes


def _codes(column: Array) -> tuple[Array, int]:
    """A whole number for each row, the same for the same values, and a bound that all of them are below."""
    kind = column.dtype.kind
    if kind == "b":
        return column.astype(np.int64), 2
    if kind in "iu":
        low, high = int(column.min()), int(column.max())
        if high - low < max(_SMALL_RANGE, len(column)):
            shifted = column - column.dtype.type(low) if kind == "u" else column.astype(np.int64) - low
            return shifted.astype(np.int64), high - low + 1
    values = _bits(column) if kind == "f" else column
    present, codes = np.unique(values, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), len(present)


def _bits(column: Array) -> Array:
    """Floats as bit patterns: they keep -0.0 apart from 0.0; all NaN become one."""
    canonical = np.where(np.isnan(column), column.dtype.type(np.nan), column)
    return canonical.view(f"u{column.dtype.itemsize}")
