"""Features: what can be asked about an outcome, as data, answered with whole numbers.

The search proposes features, but what they *mean* is part of an event, which confirmation and verification evaluate
too.  Evidence must not import search, so the one extractor lives here; search/ only chooses among these.

Real numbers are quantised before anything is added or compared: `floor(x / 2^step)`, at most `LIMIT` in size.  From
there on everything is exact integer arithmetic, so that a run's features do not depend on the batch, the order of
summation or the processor: otherwise the last bit of a score could tell a from a′ where the mechanism does not.

    Length          how many leaves (`leaves.py`) the outcome has
    FormOf          single, list, dictionary or exception
    KindOf          what one leaf is
    CountOf         how many leaves are a given value
    Special         how many leaves are NaN, infinite, negative zero
    Coordinate      one leaf
    OrderStatistic  the k-th smallest number (-1: the largest)
    Sum             the sum of all numbers
    Distance        |x - centre| of one leaf
    LogRatio        |x - neighbour's centre| - |x - centre| of one leaf: the shape of Laplace noise's log-ratio

A leaf that is absent, no number, or NaN has the value `ABSENT`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, assert_never, get_args

import numpy as np
from numpy.typing import NDArray

from dpverdict.errors import EvidenceError
from dpverdict.evidence.leaves import Kind, Leaves, leaf
from dpverdict.mechanism.outcome import Mapping, Outcome, key, same

Booleans: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]

LIMIT = 1 << 40
"""The largest size of a feature."""

ABSENT = -LIMIT - 1
"""The value of a feature where there is nothing to measure: below all others, and in no interval."""

_MOST_LEAVES = 1 << 20
_MOST_INDEX = 1 << 20
_MOST_STEP = 1000

SpecialValue: TypeAlias = Literal["nan", "infinite", "negative-zero"]


@dataclass(frozen=True, slots=True)
class Length:
    """How many leaves."""


@dataclass(frozen=True, slots=True)
class FormOf:
    """The number of the outcome's `Form`."""


@dataclass(frozen=True, slots=True)
class KindOf:
    """The number of the `Kind` of a leaf."""

    index: int

    def __post_init__(self) -> None:
        check_whole("index", self.index, 0, _MOST_INDEX)


@dataclass(frozen=True, slots=True)
class CountOf:
    """How many leaves are this plain value; 1 and 1.0 are the same, and so are 0.0 and -0.0 here."""

    value: Outcome

    def __post_init__(self) -> None:
        if isinstance(self.value, tuple | Mapping):
            raise unusable("value", self.value, "lists and dictionaries are counted by what is in them", "CountOf(1)")

    # Python takes True for 1, and NaN for no NaN; outcomes do not.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountOf) and same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(key(self.value))


@dataclass(frozen=True, slots=True)
class Special:
    """How many leaves are such a number."""

    what: SpecialValue

    def __post_init__(self) -> None:
        if self.what not in get_args(SpecialValue):
            raise unusable("what", self.what, f"it is one of {', '.join(get_args(SpecialValue))}", "Special('nan')")


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A leaf, in units of 2^step."""

    index: int
    step: int = 0

    def __post_init__(self) -> None:
        check_whole("index", self.index, 0, _MOST_INDEX)
        check_whole("step", self.step, -_MOST_STEP, _MOST_STEP)


@dataclass(frozen=True, slots=True)
class OrderStatistic:
    """The number at this rank among all numbers of the outcome, in units of 2^step; -1 is the largest."""

    rank: int
    step: int = 0

    def __post_init__(self) -> None:
        check_whole("rank", self.rank, -_MOST_INDEX, _MOST_INDEX)
        check_whole("step", self.step, -_MOST_STEP, _MOST_STEP)


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of all numbers, each in units of 2^step."""

    step: int = 0

    def __post_init__(self) -> None:
        check_whole("step", self.step, -_MOST_STEP, _MOST_STEP)


@dataclass(frozen=True, slots=True)
class Distance:
    """|x - centre| of a leaf, in units of 2^step."""

    index: int
    centre: float
    step: int = 0

    def __post_init__(self) -> None:
        check_whole("index", self.index, 0, _MOST_INDEX)
        check_finite("centre", self.centre)
        check_whole("step", self.step, -_MOST_STEP, _MOST_STEP)


@dataclass(frozen=True, slots=True)
class LogRatio:
    """|x - neighbour_centre| - |x - centre| of a leaf, in units of 2^step."""

    index: int
    centre: float
    neighbour_centre: float
    step: int = 0

    def __post_init__(self) -> None:
        check_whole("index", self.index, 0, _MOST_INDEX)
        check_finite("centre", self.centre)
        check_finite("neighbour_centre", self.neighbour_centre)
        check_whole("step", self.step, -_MOST_STEP, _MOST_STEP)


Feature: TypeAlias = (
    Length | FormOf | KindOf | CountOf | Special | Coordinate | OrderStatistic | Sum | Distance | LogRatio
)


def extract(features: Sequence[Feature], runs: Leaves) -> Integers:
    """One row per run, one column per feature."""
    columns = [_column(feature, runs) for feature in features]
    return np.stack(columns, axis=1) if columns else np.zeros((len(runs.kinds), 0), dtype=np.int64)


def _column(feature: Feature, runs: Leaves) -> Integers:
    match feature:
        case Length():
            return _number_of(runs.kinds != Kind.ABSENT)
        case FormOf():
            return runs.forms.astype(np.int64)
        case KindOf(index):
            return runs.column(index)[0].astype(np.int64)
        case CountOf(value):
            return _counted(value, runs)
        case Special(what):
            return _number_of(_special(what, runs))
        case Coordinate(index, step):
            return quantised(_number(index, runs), step)
        case OrderStatistic(rank, step):
            return quantised(_ranked(rank, runs), step)
        case Sum(step):
            return _summed(step, runs)
        case Distance(index, centre, step):
            return quantised(_distance(_number(index, runs), centre), step)
        case LogRatio(index, centre, other, step):
            return quantised(_log_ratio(_number(index, runs), centre, other), step)
        case _:
            assert_never(feature)


def quantised(values: NDArray[np.float64], step: int) -> Integers:
    """floor(x / 2^step), at most `LIMIT` in size; `ABSENT` for NaN."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scaled = np.floor(np.ldexp(values, -step))
    absent = np.isnan(scaled)
    whole = np.clip(np.where(absent, 0.0, scaled), -LIMIT, LIMIT).astype(np.int64)
    return np.where(absent, np.int64(ABSENT), whole)


def _number(index: int, runs: Leaves) -> NDArray[np.float64]:
    kinds, values = runs.column(index)
    return np.where(_numeric(kinds), values, np.nan)


def _numeric(kinds: NDArray[np.int8]) -> Booleans:
    return np.isin(kinds, (Kind.NUMBER, Kind.BOOLEAN))


def _distance(x: NDArray[np.float64], centre: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.abs(x - centre)


def _log_ratio(x: NDArray[np.float64], centre: float, other: float) -> NDArray[np.float64]:
    one, two = _distance(x, other), _distance(x, centre)
    far = np.isinf(one) & np.isinf(two)
    # In the limit, as infinity minus infinity is nothing: centre - other on the right, other - centre on the left.
    limit = np.where(x > 0, centre - other, other - centre)
    return np.where(far, limit, np.where(far, 0.0, one) - np.where(far, 0.0, two))


def _counted(value: Outcome, runs: Leaves) -> Integers:
    kind, content = leaf(value)
    alike = np.isnan(runs.values) if math.isnan(content) else runs.values == content
    return _number_of((runs.kinds == kind) & alike)


def _number_of(marked: Booleans) -> Integers:
    """How many leaves of each run are marked."""
    return np.asarray(np.count_nonzero(marked, axis=1), dtype=np.int64)


def _special(what: SpecialValue, runs: Leaves) -> Booleans:
    values = np.where(runs.kinds == Kind.NUMBER, runs.values, 1.0)
    marked: Booleans
    match what:
        case "nan":
            marked = np.isnan(values)
        case "infinite":
            marked = np.isinf(values)
        case "negative-zero":
            marked = (values == 0) & np.signbit(values)
        case _:
            assert_never(what)
    return marked


def _ranked(rank: int, runs: Leaves) -> NDArray[np.float64]:
    ordered = np.sort(np.where(_numeric(runs.kinds), runs.values, np.nan), axis=1)  # NaN comes last
    numbers = np.count_nonzero(~np.isnan(ordered), axis=1)
    at = rank + numbers if rank < 0 else np.full(len(numbers), rank)
    inside = (at >= 0) & (at < numbers)
    found = np.full(len(numbers), np.nan)
    found[inside] = ordered[np.flatnonzero(inside), at[inside]]
    return found


def _summed(step: int, runs: Leaves) -> Integers:
    if runs.kinds.shape[1] > _MOST_LEAVES:
        raise unusable("outcome", f"{runs.kinds.shape[1]:,} leaves", "their sum could overflow", "--observe")
    numbers = quantised(np.where(_numeric(runs.kinds), runs.values, np.nan), step)
    total: Integers = np.where(numbers == ABSENT, 0, numbers).sum(axis=1)
    return np.clip(total, -LIMIT, LIMIT)


# --- what data may hold ------------------------------------------------------------------------------------------


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Refuse what is no whole number between two ends."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise unusable(name, value, f"it is a whole number from {low:,} to {high:,}", f"{name}={max(low, 0)}")


def check_finite(name: str, value: object) -> None:
    """Refuse what is no finite float."""
    if not isinstance(value, float) or not math.isfinite(value):
        raise unusable(name, value, "it is a finite floating-point number", f"{name}=0.0")


def unusable(name: str, value: Any, why: str, fix: str) -> EvidenceError:
    """The error of an event whose data does not fit."""
    shown = repr(value)
    return EvidenceError(
        "EVID-030",
        "an event cannot be made of this",
        place=f"{name}: {shown if len(shown) <= 80 else shown[:79] + '…'}",
        why=why,
        fix=fix,
    )
