"""What a batch of runs gives: groups of runs that ended alike, slot by slot as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpverdict.mechanism.abilities import Array
from dpverdict.mechanism.constants import to_python
from dpverdict.mechanism.evaluate import arrange
from dpverdict.mechanism.outcome import Raised, freeze
from dpverdict.mechanism.structure import Constant, RaiseNode, ReturnNode, Sequence, Slot
from dpverdict.mechanism.tally import Outcomes, Tally


@dataclass(frozen=True, slots=True)
class Coded:
    """Values from a short list, by their positions in it."""

    positions: Array
    values: tuple[Constant, ...]


Column: TypeAlias = Constant | Array | Coded


@dataclass(frozen=True, slots=True)
class Outputs:
    """Runs that ended in the same way with the same kinds of slots; a constant slot is the same in all of them."""

    ending: ReturnNode | RaiseNode
    slots: tuple[Column, ...]
    runs: int


Batch: TypeAlias = tuple[Outputs, ...]


def decode(batch: Batch) -> Iterator[Any]:
    """Every run's output as a Python value; an exception is a `Raised`."""
    for group in batch:
        if isinstance(group.ending, RaiseNode):
            yield from (Raised(group.ending.exception) for _ in range(group.runs))
        else:
            columns = [_listed(column, group.runs) for column in group.slots]
            for run in range(group.runs):
                yield arrange(group.ending.shape, [column[run] for column in columns])


def outcome_groups(batch: Batch) -> Iterator[Outcomes]:
    """Every run's outcome, group by group: as an array where outcomes are numbers, or lists of numbers, of one kind."""
    for group in batch:
        if isinstance(group.ending, RaiseNode):
            yield [Raised(group.ending.exception)] * group.runs
            continue
        numbers = [_numbers(column, group.runs) for column in group.slots]
        columns = [column for column in numbers if column is not None]
        shape, kinds = group.ending.shape, {column.dtype for column in columns}
        flat = isinstance(shape, Slot) or (isinstance(shape, Sequence) and shape.items is None)
        if not flat or len(kinds) != 1 or len(columns) < len(numbers):
            yield [freeze(output) for output in decode((group,))]
        else:
            yield columns[0] if isinstance(shape, Slot) else np.stack(columns, axis=1)


_EXACT = 1 << 53


def _numbers(column: Column, runs: int) -> Array | None:
    """One boolean or float per run, None where the values are something else, or whole numbers that no float is."""
    if not isinstance(column, Constant | Coded):
        array = np.asarray(column)
        return array if array.dtype == bool else array.astype(np.float64) + 0.0
    values: list[Any] = [to_python(value) for value in ((column,) if isinstance(column, Constant) else column.values)]
    if {type(value) for value in values} == {bool}:
        known = np.array(values)
    elif all(type(value) in (int, float) and abs(value) <= _EXACT for value in values):
        known = np.array(values, dtype=np.float64) + 0.0
    else:
        return None
    return known[column.positions] if isinstance(column, Coded) else np.full(runs, known[0])


def tally(batch: Batch) -> Tally:
    """How often each outcome occurs."""
    counts = Tally()
    for group in batch:
        if isinstance(group.ending, RaiseNode):
            counts.count(Raised(group.ending.exception), group.runs)
            continue
        for slots, count in _distinct(group):
            counts.count(freeze(arrange(group.ending.shape, slots)), count)
    return counts


def _listed(column: Column, runs: int) -> list[Any]:
    match column:
        case Constant():
            return [to_python(column)] * runs
        case Coded(positions, values):
            known = [to_python(value) for value in values]
            return [known[position] for position in positions.tolist()]
        case _:
            array = np.asarray(column)
            # The numbers of programs are real ones, which have one zero.
            return list((array + 0 if array.dtype.kind == "f" else array).tolist())


def _distinct(group: Outputs) -> Iterable[tuple[list[Any], int]]:
    """The different rows of slots with their counts, without a Python step per run where slots are few-valued."""
    varying = [at for at, column in enumerate(group.slots) if not isinstance(column, Constant)]
    row = [to_python(column) if isinstance(column, Constant) else None for column in group.slots]
    if not varying:
        return [(row, group.runs)]
    keys, values = zip(*(_ranked(group.slots[at]) for at in varying), strict=True)
    combined = keys[0]
    sizes = [len(known) for known in values]
    if np.prod([float(size) for size in sizes]) < 2**62:
        for key, size in zip(keys[1:], sizes[1:], strict=True):
            combined = combined * size + key
        _, first, counts = np.unique(combined, return_index=True, return_counts=True)
    else:
        _, first, counts = np.unique(np.stack(keys), axis=1, return_index=True, return_counts=True)
    found = []
    for at, count in zip(first.tolist(), counts.tolist(), strict=True):
        filled = list(row)
        for slot, key, known in zip(varying, keys, values, strict=True):
            filled[slot] = known[key[at]]
        found.append((filled, count))
    return found


def _ranked(column: Array | Coded) -> tuple[Any, list[Any]]:
    """Per run the number of its value, and the values by number."""
    if isinstance(column, Coded):
        return column.positions.astype(np.int64), [to_python(value) for value in column.values]
    array = np.asarray(column)
    if array.dtype == bool:
        return array.astype(np.int64), [False, True]
    # The numbers of programs are real ones, which have one zero.
    values, key = np.unique(array + 0 if array.dtype.kind == "f" else array, return_inverse=True)
    return key.astype(np.int64), values.tolist()
