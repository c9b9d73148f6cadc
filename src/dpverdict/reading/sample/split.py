"""Sampling by splitting: at a branch the runs of a batch part ways, each side going on with its own arrays.

There is no Python step per run, and noise is drawn only for the runs that need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from dpverdict.errors import InputError, MechanismError
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
from dpverdict.reading.sample.outputs import Batch, Coded, Column, Outputs
from dpverdict.reading.sample.plan import plan
from dpverdict.reading.sample.values import Bindings, Computed, Values, is_coded


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs that stand at the same node: what they have in store, and what they have emitted."""

    count: int
    store: Mapping[Term, Array]
    slots: tuple[Column, ...]


_Step = Callable[[ArrayNoise, _Runs], Iterator[tuple[int, _Runs]]]


class Sampler:
    """A program with an input and ε, ready to give batches of runs."""

    def __init__(
        self, program: Program, input: Any, epsilon: float | None = None, arguments: Mapping[str, Any] | None = None
    ) -> None:
        self.program = program
        bindings = bound(program, input, epsilon, arguments)
        self._plan = plan(program.root)
        self._values = Values(np, bindings, self._plan.stored)
        self._steps = [self._step(node, at) for at, node in enumerate(self._plan.order)]

    def batch(self, noise: ArrayNoise, runs: int) -> Batch:
        """`runs` fresh runs, grouped by how they ended; their order within a batch means nothing."""
        waiting: list[list[_Runs]] = [[] for _ in self._plan.order]
        waiting[0].append(_Runs(runs, {}, ()))
        found: list[Outputs] = []
        for at, node in enumerate(self._plan.order):
            for arrived in _joined(waiting[at]):
                if isinstance(node, (ReturnNode, RaiseNode)):
                    slots = arrived.slots if isinstance(node, ReturnNode) else ()
                    found.append(Outputs(node, slots, arrived.count))
                else:
                    for after, gone in self._steps[at](noise, arrived):
                        waiting[after].append(gone)
            waiting[at] = []
        return tuple(found)

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
                return lambda noise, runs: iter(())
            case _:
                assert_never(node)

    def _storing(self, at: int) -> Callable[[_Runs], Mapping[Term, Array]]:
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

    def _draw_step(self, draw: Draw, then: int, storing: Callable[[_Runs], Mapping[Term, Array]]) -> _Step:
        needed = self._plan.needs[then]
        if draw not in needed:
            return lambda noise, runs: iter([(then, _Runs(runs.count, storing(runs), runs.slots))])
        law = draw.law
        if not isinstance(law, Sampled):
            raise MechanismError(
                "MECH-110",
                f"the law {law.name} cannot be sampled",
                why="it has no method `sample` (abilities.Sampled)",
                fix="give the law that ability, or draw from another law",
            )
        parameters = [self._values.of(parameter) for parameter in law.parameters]

        def step(noise: ArrayNoise, runs: _Runs) -> Iterator[tuple[int, _Runs]]:
            store = storing(runs)
            fresh = law.sample(noise, runs.count, [parameter(store) for parameter in parameters])
            kept = {term: array for term, array in store.items() if term in needed}
            kept[draw] = fresh
            yield then, _Runs(runs.count, kept, runs.slots)

        return step

    def _emit_step(self, term: Term, then: int, storing: Callable[[_Runs], Mapping[Term, Array]]) -> _Step:
        needed = self._plan.needs[then]
        column = self._column(term)

        def step(noise: ArrayNoise, runs: _Runs) -> Iterator[tuple[int, _Runs]]:
            store = storing(runs)
            slot = column(store)
            kept = {inner: array for inner, array in store.items() if inner in needed}
            yield then, _Runs(runs.count, kept, (*runs.slots, slot))

        return step

    def _column(self, term: Term) -> Callable[[Mapping[Term, Array]], Column]:
        if isinstance(term, Constant):
            return lambda _: term
        if not is_random(term):
            constant = from_python(self._values.scalar(term))
            assert constant is not None
            if kind_of(term) is Kind.REAL and constant.kind is Kind.INTEGER:
                constant = Constant(Kind.REAL, constant.content)
            return lambda _: constant
        if is_coded(term):
            values, positions = support(term) or (), self._values.positions(term)
            return lambda store: Coded(positions(store), values)
        return self._values.of(term)

    def _branch_step(
        self, condition: Computed, sides: tuple[int, int], storing: Callable[[_Runs], Mapping[Term, Array]]
    ) -> _Step:
        yes, no = sides

        def step(noise: ArrayNoise, runs: _Runs) -> Iterator[tuple[int, _Runs]]:
            store = storing(runs)
            mask = np.asarray(condition(store))
            hits = int(np.count_nonzero(mask)) if mask.shape else runs.count * bool(mask)
            for side, count, goes in ((yes, hits, True), (no, runs.count - hits, False)):
                if count:
                    yield side, self._side(runs, store, side, count, mask if goes else ~mask)

        return step

    def _side(self, runs: _Runs, store: Mapping[Term, Array], side: int, count: int, mask: Array) -> _Runs:
        needed = self._plan.needs[side]
        kept = {term: array for term, array in store.items() if term in needed}
        if count == runs.count:
            return _Runs(count, kept, runs.slots)
        chosen: Array = None
        if kept or any(not isinstance(slot, Constant) for slot in runs.slots):
            chosen = np.flatnonzero(mask)
        return _Runs(
            count,
            {term: _taken(array, chosen) for term, array in kept.items()},
            tuple(_taken(s, chosen) for s in runs.slots),
        )


def bound(program: Program, input: Any, epsilon: float | None, arguments: Mapping[str, Any] | None) -> Bindings:
    """The numbers of a run, checked to be those that the program was traced for."""
    if program.concrete is not None and repr(input) != repr(program.concrete):
        raise InputError(
            "INPUT-020",
            f"this program is about the input {program.concrete!r}, got {input!r}",
            why=program.why_concrete or "it was traced for one input",
            fix="trace it again for this input: mechanism.program_for(input)",
        )
    return Bindings(_plain(input), None if epsilon is None else float(epsilon), arguments or program.arguments)


def _plain(content: Any) -> Any:
    """The input without numpy's scalar types, whose arithmetic differs from Python's."""
    if isinstance(content, (np.ndarray, np.generic)):
        return content.tolist()
    if isinstance(content, (list, tuple)):
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
    if isinstance(first, Constant) and all(slot == first for slot in slots):
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
