"""Two ways to run a mechanism many times, and a test whether they have the same output distribution.

An output is split into its *label* (the types of its slots and the values of all slots that are not real numbers)
and its real numbers.  The test never rejects equal distributions with a probability above its p-value's level, at
any sample size: labels are compared by Hoeffding's bound for samples without replacement (hoeffding1963probability,
theorems 1 and 4), given the pooled outputs; the real numbers of one label by two Dvoretzky-Kiefer-Wolfowitz bounds
with Massart's constant (massart1990tight), given all labels; both with Bonferroni's correction.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from dpverdict.execute.seeds import generator
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.constants import exact, to_python
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.structure import Constant, Kind, ReturnNode
from dpverdict.reading.sample import Coded, Outputs, Sampler, sample_blocks

Label: TypeAlias = tuple[tuple[type, ...], tuple[object, ...]]
Found: TypeAlias = tuple[Label, int, list[Any]]


@dataclass(frozen=True)
class Setting:
    """One way to call a mechanism."""

    input: Any
    epsilon: float | None
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass
class Observed:
    """How often each label was seen, and the real numbers that came with it."""

    runs: int = 0
    counts: dict[Label, int] = field(default_factory=dict)
    reals: dict[Label, list[list[Any]]] = field(default_factory=dict)

    def add(self, label: Label, count: int, columns: list[Any]) -> None:
        self.runs += count
        self.counts[label] = self.counts.get(label, 0) + count
        if columns:
            for gathered, column in zip(self.reals.setdefault(label, [[] for _ in columns]), columns, strict=True):
                gathered.append(column)

    def columns(self, label: Label) -> list[Any]:
        return [np.sort(np.concatenate(parts)) for parts in self.reals.get(label, [])]


# --- plain execution -------------------------------------------------------------------------------------------


def flat(output: object) -> list[Any]:
    """The scalars of an output, in order."""
    if not isinstance(output, list | tuple):
        return [output]
    if any(isinstance(item, list | tuple) for item in output):
        return [scalar for item in output for scalar in flat(item)]
    return list(output)


def plain_runs(mechanism: Mechanism, setting: Setting, runs: int, seed: int) -> Observed:
    """The decorated function called with real noise, one run at a time."""
    noise = RealNoise(generator(seed, "plain runs", 0))
    arguments = dict(setting.arguments)
    if mechanism.epsilon_name is not None:
        arguments[mechanism.epsilon_name] = setting.epsilon
    gathered: dict[Label, list[list[float]]] = {}
    counts: dict[Label, int] = {}
    for _ in range(runs):
        scalars = flat(mechanism(noise, setting.input, **arguments))
        types = tuple(map(type, scalars))
        if float in types:
            label = (types, tuple(None if type(scalar) is float else scalar for scalar in scalars))
            gathered.setdefault(label, []).append([scalar for scalar in scalars if type(scalar) is float])
        else:
            label = (types, tuple(scalars))
        counts[label] = counts.get(label, 0) + 1
    observed = Observed()
    for label, count in counts.items():
        columns = list(np.array(gathered[label]).T) if label in gathered else []
        observed.add(label, count, columns)
    return observed


# --- the traced program ----------------------------------------------------------------------------------------


def traced_runs(mechanism: Mechanism, setting: Setting, runs: int, seed: int) -> Observed:
    """The traced program, read by the sampling reading."""
    program = mechanism.program_for(setting.input, setting.arguments)
    sampler = Sampler(program, setting.input, setting.epsilon, setting.arguments)
    observed = Observed()
    for block in sample_blocks(sampler, runs, seed, "traced runs", 1, _found):
        for label, count, columns in block:
            observed.add(label, count, columns)
    return observed


def _found(batch: tuple[Outputs, ...]) -> list[Found]:
    return [found for outputs in batch for found in _labels_of(outputs)]


def _labels_of(outputs: Outputs) -> Iterable[Found]:
    assert isinstance(outputs.ending, ReturnNode), outputs.ending
    tables, positions, real = [], [], []
    for slot in outputs.slots:
        if _is_real(slot):
            real.append(_as_column(slot, outputs.runs))
            tables.append([None])
            positions.append(np.zeros(outputs.runs, dtype=np.int64))
        else:
            table, where = _table_of(slot, outputs.runs)
            tables.append(table)
            positions.append(where)
    types = [float if _is_real(slot) else None for slot in outputs.slots]
    return _split(tables, positions, types, real, outputs.runs)


def _split(tables: list[list[Any]], positions: list[Any], types: list[Any], real: list[Any], runs: int) -> list[Found]:
    code = np.zeros(runs, dtype=np.int64)
    assert math.prod(map(len, tables)) < 1 << 62
    for table, where in zip(tables, positions, strict=True):
        code = code * len(table) + where
    _, first, inverse, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    cuts = np.cumsum(counts)[:-1]
    parts = [np.split(column[order], cuts) for column in real]
    picked = [[table[at] for at in where[first].tolist()] for table, where in zip(tables, positions, strict=True)]
    rows = list(zip(*picked, strict=True)) if picked else [()]
    found = []
    for number, (values, count) in enumerate(zip(rows, counts.tolist(), strict=True)):
        label = (tuple(known or type(value) for known, value in zip(types, values, strict=True)), values)
        found.append((label, count, [part[number] for part in parts]))
    return found


def _is_real(slot: Any) -> bool:
    if isinstance(slot, Constant):
        return slot.kind is Kind.REAL
    return not isinstance(slot, Coded) and np.asarray(slot).dtype.kind == "f"


def _as_column(slot: Any, runs: int) -> Any:
    content = float(exact(slot)) if isinstance(slot, Constant) else np.asarray(slot)
    return np.broadcast_to(content, (runs,))


def _table_of(slot: Any, runs: int) -> tuple[list[Any], Any]:
    if isinstance(slot, Constant):
        return [to_python(slot)], np.zeros(runs, dtype=np.int64)
    if isinstance(slot, Coded):
        return [to_python(value) for value in slot.values], np.broadcast_to(np.asarray(slot.positions), (runs,))
    values, inverse = np.unique(np.broadcast_to(np.asarray(slot), (runs,)), return_inverse=True)
    return values.tolist(), inverse


# --- the test --------------------------------------------------------------------------------------------------


def p_value(left: Observed, right: Observed) -> float:
    """The p-value of "both have the same output distribution": at most a chance of p of a value p or less."""
    return min(1.0, 2 * min(_labels_p_value(left, right), _reals_p_value(left, right)))


def tail_bound(hits: Any, runs: Any, probability: Any) -> Any:
    """A bound on the chance that a mean of `runs` 0/1 draws lies so far to this side (Hoeffding's theorem 1)."""
    share = hits / runs
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(share > 0, share * np.log(share / probability), 0.0)
        no = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - probability)), 0.0)
    return np.exp(-runs * np.maximum(yes + no, 0.0))


def _labels_p_value(left: Observed, right: Observed) -> float:
    labels = list({**left.counts, **right.counts})
    mine = np.array([left.counts.get(label, 0) for label in labels], dtype=float)
    both = mine + np.array([right.counts.get(label, 0) for label in labels], dtype=float)
    bounds, total = 1.0, left.runs + right.runs
    tests = 0
    for codes in _cells(labels):
        hits, pooled = np.bincount(codes, weights=mine), np.bincount(codes, weights=both)
        one_sided = np.minimum(tail_bound(hits, left.runs, pooled / total), tail_bound(hits, pooled, left.runs / total))
        bounds = min(bounds, float(2 * one_sided.min()))
        tests += len(hits)
    return min(1.0, tests * bounds)


def _cells(labels: list[Label]) -> Iterator[Any]:
    """Partitions of the labels: single ones, the values of every slot, of every slot and the next one."""
    yield np.arange(len(labels))
    width = max(len(types) for types, _ in labels)
    slots = [_numbered((types[at : at + 1], values[at : at + 1]) for types, values in labels) for at in range(width)]
    yield from slots
    for codes, after in itertools.pairwise(slots):
        yield np.unique(codes * (after.max() + 1) + after, return_inverse=True)[1]


def _numbered(things: Iterable[object]) -> Any:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(thing, len(numbers)) for thing in things])


def _reals_p_value(left: Observed, right: Observed) -> float:
    bounds = [
        kolmogorov_bound(mine, theirs)
        for label in left.reals.keys() & right.reals.keys()
        for mine, theirs in zip(left.columns(label), right.columns(label), strict=True)
    ]
    return min(1.0, len(bounds) * min(bounds)) if bounds else 1.0


def kolmogorov_bound(left: Any, right: Any) -> float:
    """A bound on the chance of so large a distance between two empirical distributions (sorted samples).

    The distance d exceeds no sum of two deviations; the two are weighted so that their bounds are equal.
    """
    points = np.concatenate([left, right])
    shares = [np.searchsorted(sample, points, side="right") / len(sample) for sample in (left, right)]
    distance = float(np.max(np.abs(shares[0] - shares[1])))
    weight = len(left) * len(right) / (math.sqrt(len(left)) + math.sqrt(len(right))) ** 2
    return min(1.0, 4 * math.exp(-2 * distance * distance * weight))
