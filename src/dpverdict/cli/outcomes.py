"""Counting what runs gave, in memory that does not grow with the number of runs.

An outcome is an ending with its discrete slots; real slots have no counts but histograms, whose bins are fixed from
a first look.  Blocks are counted one by one and added up in their order, so the sums do not depend on the workers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from dpverdict.mechanism import outcome as mechanism_outcome
from dpverdict.mechanism import structure
from dpverdict.mechanism.constants import FALSE, TRUE, from_python, number, to_python
from dpverdict.mechanism.evaluate import arrange
from dpverdict.mechanism.outcome import Raised
from dpverdict.mechanism.structure import Constant, RaiseNode, Record, ReturnNode, Shape, Slot
from dpverdict.mechanism.tally import Outcomes, listed, tally
from dpverdict.reading.sample import Batch, Coded, Outputs

Ending = ReturnNode | RaiseNode


@structure.value
class Outcome(structure.Value):
    """An ending with its slots; None stands for a real number.  Hashed once, for it is looked up in every block."""

    ending: Ending
    slots: tuple[Constant | None, ...]


_SCALARS = frozenset((bool, int, float, str, bytes, type(None)))

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MOST_OUTCOMES = 10_000
MOST_HISTOGRAMS = 200
_ROWS = 20
_TAIL = 0.002


class Placeholder(Enum):
    """Stands in an outcome where a real number varies from run to run."""

    REAL = "real"


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of one real slot of one outcome: between the edges, outside them, and not finite."""

    edges: tuple[float, ...]
    inside: tuple[int, ...]
    below: int
    above: int
    not_finite: int


@dataclass(slots=True)
class Tally:
    """Counts of outcomes, and of bins of their real slots: below, each bin, above, not finite."""

    counts: dict[Outcome, int] = field(default_factory=dict)
    bins: dict[Outcome, dict[int, Integers]] = field(default_factory=dict)
    others: int = 0

    @property
    def runs(self) -> int:
        """How many runs were counted."""
        return sum(self.counts.values()) + self.others

    def add(self, block: Tally) -> None:
        """Add the next block's counts.  What comes up only after `MOST_OUTCOMES` others is counted as 'others'."""
        self.others += block.others
        for outcome, count in block.counts.items():
            self.count(outcome, count)
        for outcome, bins in block.bins.items():
            self.fill(outcome, bins)

    def count(self, outcome: Outcome, count: int) -> None:
        """Add runs of one outcome."""
        before = self.counts.get(outcome)
        if before is None and len(self.counts) >= MOST_OUTCOMES:
            self.others += count
        else:
            self.counts[outcome] = (before or 0) + count

    def fill(self, outcome: Outcome, bins: Mapping[int, Integers]) -> None:
        """Add bins of the real slots of an outcome, by their positions."""
        if not bins or outcome not in self.counts:
            return
        filled = self.bins.setdefault(outcome, {})
        room = MOST_HISTOGRAMS - sum(map(len, self.bins.values()))
        for position, numbers in bins.items():
            if position in filled:
                filled[position] = filled[position] + numbers
            elif room > 0:
                filled[position], room = numbers, room - 1


_Column = tuple[Integers, Sequence[Constant]]
"""A discrete slot: each run's position in a list of values."""

Edges = Mapping[Ending, Mapping[int, tuple[float, ...]]]
"""The bins' edges of each real slot, by its ending and its position.

By one after the other: an ending may have thousands of slots, and comparing it takes a step for each of them.
"""


def edges_from(batch: Sequence[Outputs]) -> Edges:
    """Bins for the real slots that a first batch of outputs shows; for as many as are ever filled."""
    found, room = dict[Ending, dict[int, list[Floats]]](), MOST_HISTOGRAMS
    for outputs in batch:
        slots = found.setdefault(outputs.ending, {})
        for position, slot in enumerate(outputs.slots):
            if (position in slots or room > 0) and (values := _reals(slot, outputs.runs)) is not None:
                room -= position not in slots
                slots.setdefault(position, []).append(values)
    return {
        ending: {at: edges for at, values in slots.items() if (edges := round_edges(np.concatenate(values)))}
        for ending, slots in found.items()
    }


def round_edges(values: Floats) -> tuple[float, ...]:
    """About twenty bins with round edges that cover all but the outermost tails; none if that makes no sense."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return ()
    low, high = (float(end) for end in np.quantile(finite, (_TAIL, 1 - _TAIL), method="nearest"))
    spread = high - low
    if not math.isfinite(spread) or 0 < spread < 1e-300:
        return ()
    if spread <= 1e-12 * max(abs(low), abs(high)):
        return (low - 0.5, low + 0.5) if abs(low) < 1e15 else ()
    step = _round_up(spread / _ROWS)
    first, last = math.floor(low / step), math.ceil(high / step)
    # Dividing by a whole number where the step is a fraction keeps the edges as round as they are shown.
    return tuple(whole / round(1 / step) if step < 1 else whole * step for whole in range(first, last + 1))


def _round_up(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)


# --- counting --------------------------------------------------------------------------------------------------


def count(batch: Sequence[Outputs], edges: Edges) -> Tally:
    """The counts of one block."""
    tally = Tally()
    for outputs in batch:
        columns = [_coded(slot, outputs.runs) for slot in outputs.slots]
        given = edges.get(outputs.ending, {})
        placed = {at: given[at] for at, column in enumerate(columns) if column is None and at in given}
        grouping = _grouped(columns, outputs.runs)
        tally.others += outputs.runs
        for code, size in grouping.largest():
            run = grouping.examples[code]
            slots = tuple(None if column is None else column[1][column[0][run]] for column in columns)
            outcome = Outcome(outputs.ending, slots)
            tally.others -= size
            tally.count(outcome, size)
            members = grouping.members(code)
            reals = {at: _floats(outputs.slots[at], outputs.runs)[members] for at in placed}
            tally.fill(outcome, {at: _binned(values, placed[at]) for at, values in reals.items()})
    return tally


@dataclass(frozen=True, slots=True)
class _Grouping:
    """Runs that agree in every discrete slot have the same code: codes, how many have each, and one that has it."""

    codes: Integers
    sizes: Integers
    examples: Integers

    def largest(self) -> list[tuple[int, int]]:
        """The most frequent codes with their counts."""
        present = np.flatnonzero(self.sizes)
        order = np.argsort(-self.sizes[present], kind="stable")[:MOST_OUTCOMES]
        return [(int(code), int(self.sizes[code])) for code in present[order]]

    def members(self, code: int) -> Integers | slice:
        """The runs with this code."""
        return slice(None) if self.sizes[code] == len(self.codes) else np.flatnonzero(self.codes == code)


def _grouped(columns: Sequence[_Column | None], runs: int) -> _Grouping:
    codes, radix = np.zeros(runs, dtype=np.int64), 1
    for column in columns:
        if column is not None and len(column[1]) > 1:
            codes, radix = codes * len(column[1]) + column[0], radix * len(column[1])
            # Compact before the codes overflow, or take more room than the runs themselves.
            if radix > max(1024, 2 * runs):
                present, codes = np.unique(codes, return_inverse=True)
                codes, radix = codes.reshape(-1).astype(np.int64), len(present)
    examples = np.zeros(radix, dtype=np.int64)
    examples[codes] = np.arange(runs)
    return _Grouping(codes, np.bincount(codes, minlength=radix).astype(np.int64), examples)


def _coded(slot: Any, runs: int) -> _Column | None:
    """A slot as positions in a list of values, None if it holds real numbers."""
    if isinstance(slot, Constant):
        return np.zeros(runs, dtype=np.int64), (slot,)
    if isinstance(slot, Coded):
        return np.broadcast_to(np.asarray(slot.positions).astype(np.int64), (runs,)), slot.values
    array = np.broadcast_to(np.asarray(slot), (runs,))
    if array.dtype == np.bool_:
        return array.astype(np.int64), (FALSE, TRUE)
    if np.issubdtype(array.dtype, np.integer):
        values, positions = np.unique(array, return_inverse=True)
        return positions.reshape(-1), [number(int(value)) for value in values]
    return None


def _reals(slot: Any, runs: int) -> Floats | None:
    return _floats(slot, runs) if _coded(slot, runs) is None else None


def _floats(slot: Any, runs: int) -> Floats:
    return np.broadcast_to(np.asarray(slot, dtype=np.float64), (runs,))


def _binned(values: Floats, edges: tuple[float, ...]) -> Integers:
    finite = values[np.isfinite(values)]
    places = np.searchsorted(edges, finite, side="right")
    bins = np.bincount(places, minlength=len(edges) + 1)
    return np.append(bins, len(values) - len(finite)).astype(np.int64)


# --- the outcomes of black boxes -------------------------------------------------------------------------------


def batch_of(outcomes: Outcomes) -> Batch:
    """Outcomes as a batch of outputs, gathered by how the runs ended and by their discrete slots."""
    if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "bif" and outcomes.ndim <= 2:
        if outcomes.ndim == 1:
            return (Outputs(ReturnNode(Slot()), (_column(outcomes),), len(outcomes)),)
        shape = structure.Sequence("list", tuple(Slot() for _ in outcomes.T))
        return (Outputs(ReturnNode(shape), tuple(map(_column, outcomes.T)), len(outcomes)),)
    runs = listed(outcomes)
    kinds = set(map(type, runs))
    if kinds == {float} and np.isfinite(values := np.array(runs)).all():
        return (Outputs(ReturnNode(Slot()), (values,), len(runs)),)
    if kinds.isdisjoint((float, tuple, mechanism_outcome.Mapping)):  # nothing real in them: each is counted at once
        return tuple(
            Outputs(ending, tuple(slot for slot in slots if isinstance(slot, Constant)), count)
            for (ending, slots), count in ((_flattened(outcome), count) for outcome, count in tally(runs).items())
        )
    examples, rows = dict[object, object](), dict[object, list[tuple[float, ...]]]()
    for outcome in runs:
        kept, reals = _parted(outcome)
        examples.setdefault(kept, outcome)
        rows.setdefault(kept, []).append(reals)
    return tuple(_outputs(*_flattened(examples[kept]), reals) for kept, reals in rows.items())


def _parted(outcome: object) -> tuple[object, tuple[float, ...]]:
    """What tells an outcome's group from others, and its real numbers."""
    if type(outcome) is tuple:
        kinds = tuple(map(type, outcome))
        if _SCALARS.issuperset(kinds):  # a flat one, which is common, the quick way
            reals = tuple([item for item in outcome if type(item) is float])
            if all(map(math.isfinite, reals)):
                return (kinds, tuple([None if type(item) is float else item for item in outcome])), reals
    ending, slots = _flattened(outcome)
    discrete = tuple(slot if isinstance(slot, Constant) else None for slot in slots)
    return (ending, discrete), tuple(slot for slot in slots if not isinstance(slot, Constant))


def _column(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column; floats of any width as those of Python."""
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def _outputs(ending: Ending, example: tuple[Constant | float, ...], rows: list[tuple[float, ...]]) -> Outputs:
    columns = iter(np.array(rows, dtype=np.float64).reshape(len(rows), -1).T)
    return Outputs(ending, tuple(s if isinstance(s, Constant) else next(columns) for s in example), len(rows))


def _flattened(outcome: object) -> tuple[Ending, tuple[Constant | float, ...]]:
    """An outcome as an ending and its slots; a finite float is a real number."""
    if isinstance(outcome, Raised):
        return RaiseNode(outcome.exception), ()
    slots: list[Constant | float] = []
    return ReturnNode(_shape_of(outcome, slots)), tuple(slots)


def _shape_of(outcome: object, slots: list[Constant | float]) -> Shape:
    match outcome:
        case Mapping() if all(from_python(key) is not None for key in outcome):
            keys = tuple(key for key in map(from_python, outcome) if key is not None)
            return Record(keys, tuple(_shape_of(item, slots) for item in outcome.values()))
        case tuple():
            return structure.Sequence("list", tuple(_shape_of(item, slots) for item in outcome))
        case float() if math.isfinite(outcome):
            slots.append(outcome)
        case _:
            constant = from_python(outcome)
            slots.append(Constant(structure.Kind.TEXT, repr(outcome)) if constant is None else constant)
    return Slot()


# --- outcomes for people and for JSON --------------------------------------------------------------------------


def arranged(outcome: Outcome) -> object:
    """The output as the mechanism returns it, with a placeholder for each real number; None for an exception."""
    if isinstance(outcome.ending, RaiseNode):
        return None
    slots = [Placeholder.REAL if slot is None else to_python(slot) for slot in outcome.slots]
    return arrange(outcome.ending.shape, slots)


def written(output: object) -> str:
    """An arranged output on one line."""
    match output:
        case Placeholder():
            return output.value
        case list():
            return f"[{', '.join(map(written, output))}]"
        case tuple():
            return f"({', '.join(map(written, output))}{',' if len(output) == 1 else ''})"
        case dict():
            return f"{{{', '.join(f'{key!r}: {written(item)}' for key, item in output.items())}}}"
        case _:
            return repr(output)


def as_json(output: object) -> object:
    """An arranged output for JSON: a real number is "real", one that is not finite goes by its name."""
    match output:
        case Placeholder():
            return output.value
        case list() | tuple():
            return [as_json(item) for item in output]
        case dict():
            return {str(key): as_json(item) for key, item in output.items()}
        case float() if not math.isfinite(output):
            return str(output)
        case _:
            return output


def histogram(bins: Integers, edges: tuple[float, ...]) -> Histogram:
    """Summed bins with their edges."""
    below, *inside, above, not_finite = (int(count) for count in bins)
    return Histogram(edges, tuple(inside), below, above, not_finite)
