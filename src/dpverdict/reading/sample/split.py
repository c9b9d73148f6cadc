"""Sampling by splitting: at a branch the runs of a batch part ways, each side going on with its own arrays.

There is no Python step per run, and noise is drawn only for the runs that need it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np

from dpverdict.errors import InputError
from dpverdict.mechanism.abilities import Array, ArrayNoise, Sampled
from dpverdict.mechanism.constants import from_python
from dpverdict.mechanism.properties import is_random, kind_of, support
from dpverdict.mechanism.structure import (
    BranchNode,
    Constant,
    Draw,
    DrawNode,
    EmitNode,
    Kind,
    Node,
    Program,
    RaiseNode,
    ReturnNode,
    Term,
)
from dpverdict.mechanism.symbolic_input import fits_form, text_of
from dpverdict.reading.sample.outputs import Batch, Coded, Column, Outputs
from dpverdict.reading.sample.plan import plan
from dpverdict.reading.sample.values import Bindings, Computed, Values, is_coded
from dpverdict.reading.why_not import unreadable


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs that stand at the same node: what they have in store, and what they have emitted."""

    count: int
    store: Mapping[Term, Array]
    slots: tuple[Column, ...]


_Onward: TypeAlias = list[tuple[int, _Runs]]
_Step: TypeAlias = Callable[[ArrayNoise, _Runs], _Onward]
_Storing: TypeAlias = Callable[[_Runs], Mapping[Term, Array]]


_CACHED = 1 << 20
_SMALLEST_CHUNK = 1 << 14


class Sampler:
    """A program with an input and ε, ready to give batches of runs."""

    def __init__(
        self, program: Program, input: Any, epsilon: float | None = None, arguments: Mapping[str, Any] | None = None
    ) -> None:
        closed = unreadable(program, "sample")
        if closed is not None:
            raise closed
        self.program = program
        bindings = bound(program, input, epsilon, arguments)
        self._plan = plan(program.root)
        self._values = Values(np, bindings, self._plan.stored)
        self._steps = [self._step_or_error(node, at) for at, node in enumerate(self._plan.order)]

    @property
    def chunk(self) -> int:
        """How many runs make a good batch: few enough for the arrays to stay in cache, many enough to be fast."""
        widest = max(len(needed) for needed in self._plan.needs)
        return max(_SMALLEST_CHUNK, _CACHED // (1 << widest.bit_length()))

    def batch(self, noise: ArrayNoise, runs: int) -> Batch:
        """`runs` fresh runs, grouped by how they ended; their order within a batch means nothing."""
        waiting: list[list[_Runs]] = [[] for _ in self._plan.order]
        waiting[0].append(_Runs(runs, {}, ()))
        found: list[Outputs] = []
        for at, node in enumerate(self._plan.order):
            arrived, waiting[at] = waiting[at], []
            if isinstance(node, (ReturnNode, RaiseNode)):
                ended = isinstance(node, RaiseNode)
                found += [Outputs(node, () if ended else runs.slots, runs.count) for runs in arrived]
                continue
            for gathered in _joined(arrived):
                for after, gone in self._steps[at](noise, gathered):
                    waiting[after].append(gone)
        return tuple(found)

    def _step_or_error(self, node: Node, at: int) -> _Step:
        """A node that these inputs never reach may divide by zero: that is an error only where runs arrive."""
        try:
            return self._step(node, at)
        except (ArithmeticError, ValueError) as error:
            found = error

        def step(_: ArrayNoise, __: _Runs) -> _Onward:
            raise found

        return step

    def _step(self, node: Node, at: int) -> _Step:
        match node:
            case DrawNode(draw, then):
                return self._draw_step(draw, self._plan.at(then), self._storing(at))
            case EmitNode(term, then):
                return self._emit_step(term, self._plan.at(then), self._storing(at))
            case BranchNode(condition, yes, no):
                sides = self._plan.at(yes), self._plan.at(no)
                return self._branch_step(self._values.of(condition), sides, self._storing(at))
            case ReturnNode() | RaiseNode():
                return lambda noise, runs: []
            case _:
                assert_never(node)

    def _storing(self, at: int) -> _Storing:
        """The runs' store, with what this node computes for later added."""
        new = [(term, self._values.fresh(term)) for term in self._plan.stores[at]]
        if not new:
            return lambda runs: runs.store

        def compute(runs: _Runs) -> Mapping[Term, Array]:
            store = dict(runs.store)
            for term, value in new:
                store[term] = value(store)
            return store

        return compute

    def _draw_step(self, draw: Draw, then: int, storing: _Storing) -> _Step:
        needed = self._plan.needs[then]
        if draw not in needed:
            return lambda noise, runs: [(then, _Runs(runs.count, storing(runs), runs.slots))]
        law = draw.law
        assert isinstance(law, Sampled)
        parameters = [self._values.of(parameter) for parameter in law.parameters]

        keep = tuple(needed - {draw})

        def step(noise: ArrayNoise, runs: _Runs) -> _Onward:
            store = storing(runs)
            kept = {term: store[term] for term in keep}
            kept[draw] = law.sample(noise, runs.count, [parameter(store) for parameter in parameters])
            return [(then, _Runs(runs.count, kept, runs.slots))]

        return step

    def _emit_step(self, term: Term, then: int, storing: _Storing) -> _Step:
        keep = tuple(self._plan.needs[then])
        column = self._column(term)

        def step(_: ArrayNoise, runs: _Runs) -> _Onward:
            store = storing(runs)
            slots = (*runs.slots, column(store))
            kept = store if len(store) == len(keep) else {inner: store[inner] for inner in keep}
            return [(then, _Runs(runs.count, kept, slots))]

        return step

    def _column(self, term: Term) -> Callable[[Mapping[Term, Array]], Column]:
        if isinstance(term, Constant):
            return lambda _: term
        if not is_random(term):
            constant = from_python(self._values.scalar(term))
            if constant is None:
                raise ValueError(f"no number of the language: {term.text}")
            if kind_of(term) is Kind.REAL and constant.kind is Kind.INTEGER:
                constant = Constant(Kind.REAL, constant.content)
            return lambda _: constant
        if is_coded(term):
            values, positions = support(term) or (), self._values.positions(term)
            return lambda store: Coded(positions(store), values)
        return self._values.of(term)

    def _branch_step(self, condition: Computed, sides: tuple[int, int], storing: _Storing) -> _Step:
        ways = [(side, goes, tuple(self._plan.needs[side])) for side, goes in zip(sides, (True, False), strict=True)]

        def step(_: ArrayNoise, runs: _Runs) -> _Onward:
            store = storing(runs)
            mask = condition(store)
            if not getattr(mask, "shape", ()):  # no noise in the condition: all go one way
                side, _goes, keep = ways[0] if mask else ways[1]
                return [(side, _Runs(runs.count, {term: store[term] for term in keep}, runs.slots))]
            hits = int(np.count_nonzero(mask))
            return [
                (side, _side(runs, {term: store[term] for term in keep}, mask if goes else ~mask, count))
                for (side, goes, keep), count in zip(ways, (hits, runs.count - hits), strict=True)
                if count
            ]

        return step


def _side(runs: _Runs, kept: dict[Term, Array], mask: Array, count: int) -> _Runs:
    """The runs where the mask holds, `count` in number."""
    if count == runs.count:
        return _Runs(count, kept, runs.slots)
    slots = runs.slots
    arrays = len(kept) + sum(not isinstance(slot, Constant) for slot in slots)
    if arrays:
        chosen = np.flatnonzero(mask)
        kept = {term: _taken(array, chosen) for term, array in kept.items()}
        slots = tuple(_taken(slot, chosen) for slot in slots)
    return _Runs(count, kept, slots)


def bound(program: Program, input: Any, epsilon: float | None, arguments: Mapping[str, Any] | None) -> Bindings:
    """The numbers of a run, checked to be those that the program was traced for."""
    if program.concrete is not None and not _is_same(input, program.concrete):
        raise InputError(
            "INPUT-020",
            f"this program is about the input {program.concrete!r}, got {input!r}",
            why=program.why_concrete or "it was traced for one input",
            fix="trace it again for this input: mechanism.program_for(input)",
        )
    if program.form is not None and not fits_form(input, program.form):
        raise InputError(
            "INPUT-026",
            f"this program is about inputs of the form {program.form}, got {input!r}",
            why="containers, lengths and kinds of numbers decide which paths there are",
            fix="trace it again for this input: mechanism.program_for(input)",
        )
    if epsilon is not None and not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError(
            "INPUT-027",
            f"epsilon must be finite and above 0, got {epsilon}",
            why="a program is about every ε > 0",
            fix="epsilon=1.0",
        )
    return Bindings(_plain(input), None if epsilon is None else float(epsilon), arguments or program.arguments)


def _is_same(one: Any, other: Any) -> bool:
    text = text_of(one)
    return text == text_of(other) if text is not None else repr(one) == repr(other)


def _plain(content: Any) -> Any:
    """The input without numpy's scalar types, whose arithmetic differs from Python's."""
    if isinstance(content, (np.ndarray, np.generic)):
        return content.tolist()
    if type(content) in (list, tuple):
        return type(content)(_plain(item) for item in content)
    if isinstance(content, dict):
        return {key: _plain(item) for key, item in content.items()}
    return content


def _taken(column: Any, chosen: Array) -> Any:
    if isinstance(column, Constant):
        return column
    if isinstance(column, Coded):
        return Coded(_taken(column.positions, chosen), column.values)
    return column.take(chosen) if getattr(column, "shape", ()) else column


# --- runs that meet again ------------------------------------------------------------------------------------


def _joined(arrived: list[_Runs]) -> list[_Runs]:
    """Runs that came on several ways, joined where their slots have the same kinds."""
    if len(arrived) < 2:
        return arrived
    alike: dict[tuple[str, ...], list[_Runs]] = {}
    for runs in arrived:
        alike.setdefault(tuple(_sort_of(slot) for slot in runs.slots), []).append(runs)
    return [_join(group) if len(group) > 1 else group[0] for group in alike.values()]


def _sort_of(slot: Column) -> str:
    if isinstance(slot, Coded):
        return "coded"
    if isinstance(slot, Constant):
        return slot.kind.value if slot.kind.is_numeric else "coded"
    kind = np.asarray(slot).dtype.kind
    return {"b": Kind.TRUTH, "i": Kind.INTEGER}.get(kind, Kind.REAL).value


def _join(group: list[_Runs]) -> _Runs:
    counts = [runs.count for runs in group]
    store = {
        term: np.concatenate([np.broadcast_to(runs.store[term], (runs.count,)) for runs in group])
        for term in group[0].store
    }
    slots = tuple(_join_slots(list(column), counts) for column in zip(*(runs.slots for runs in group), strict=True))
    return _Runs(sum(counts), store, slots)


def _join_slots(slots: list[Column], counts: list[int]) -> Column:
    first = slots[0]
    if isinstance(first, Constant) and all(isinstance(slot, Constant) and slot == first for slot in slots):
        return first
    if _sort_of(first) == "coded":
        coded = [slot if isinstance(slot, Coded) else _coded(slot, n) for slot, n in zip(slots, counts, strict=True)]
        values = tuple(dict.fromkeys(value for slot in coded for value in slot.values))
        renumber = [np.asarray([values.index(value) for value in slot.values]) for slot in coded]
        return Coded(
            np.concatenate([table[slot.positions] for table, slot in zip(renumber, coded, strict=True)]), values
        )
    return np.concatenate([_filled(slot, count) for slot, count in zip(slots, counts, strict=True)])


def _coded(slot: Column, count: int) -> Coded:
    assert isinstance(slot, Constant)
    return Coded(np.zeros(count, dtype=np.int64), (slot,))


def _filled(slot: Any, count: int) -> Array:
    if not isinstance(slot, Constant):
        return np.broadcast_to(slot, (count,))
    assert slot.content is not None
    if slot.kind is Kind.TRUTH:
        return np.full(count, bool(slot.content))
    number = slot.content
    return np.full(count, int(number) if slot.kind is Kind.INTEGER else float(number))
