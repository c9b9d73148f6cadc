"""Sampling with masks: every node works on the whole batch, and a mask says which runs really stand there.

Shapes do not depend on the noise, so JAX can compile the whole program into one fused kernel.  Each draw is made
once for the whole batch, however many branches share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, assert_never

import numpy as np

from dpverdict.execute import gpu
from dpverdict.mechanism.abilities import Array, ArrayNoise, Sampled
from dpverdict.mechanism.constants import exact
from dpverdict.mechanism.graph import in_order, successors
from dpverdict.mechanism.properties import kind_of, support
from dpverdict.mechanism.structure import (
    BranchNode,
    Constant,
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
from dpverdict.reading.sample.split import bound
from dpverdict.reading.sample.values import Bindings, Values, is_coded
from dpverdict.reading.why_not import unreadable

T = TypeVar("T")


class Masked(NamedTuple):
    """A batch by columns: which ending each run met, how many slots it has, each slot's value and its source.

    A named tuple, so that JAX carries it through compiled functions.
    """

    ending: Array
    length: Array
    values: tuple[Array, ...]
    sources: tuple[Array, ...]


class MaskedSampler:
    """A program with an input and ε, compiled by JAX; the drop-in twin of `Sampler`."""

    def __init__(
        self, program: Program, input: Any, epsilon: float | None = None, arguments: Mapping[str, Any] | None = None
    ) -> None:
        closed = unreadable(program, "gpu")
        if closed is not None:
            raise closed
        self.program = program
        self._bindings = bound(program, input, epsilon, arguments)
        self._nodes = in_order(program.root)
        self._endings = [node for node in self._nodes if isinstance(node, (ReturnNode, RaiseNode))]
        self._terms = [node.term for node in self._nodes if isinstance(node, EmitNode)]
        self._emits = {id(node): at for at, node in enumerate(n for n in self._nodes if isinstance(n, EmitNode))}
        self._compiled: dict[tuple[int, Callable[[Masked], Any]], Callable[..., Any]] = {}

    def folded(self, key: Any, runs: int, fold: Callable[[Masked], T]) -> T:
        """What `fold` makes of `runs` fresh runs; it is compiled with the program, so that counts leave no columns."""
        if (runs, fold) not in self._compiled:
            self._compiled[runs, fold] = gpu.jit(
                lambda key, input, epsilon: fold(
                    self._run(gpu.JaxNoise(key), runs, Bindings(input, epsilon, self._bindings.arguments))
                )
            )
        made: T = self._compiled[runs, fold](key, self._bindings.input, self._bindings.epsilon)
        return made

    def batch(self, key: Any, runs: int) -> Batch:
        """`runs` fresh runs, grouped by how they ended."""
        return self._regrouped(self.folded(key, runs, _columns))

    def _run(self, noise: ArrayNoise, runs: int, bindings: Bindings) -> Masked:
        xp = noise.xp
        values = Values(xp, bindings)
        reach: dict[int, Array] = {id(self._nodes[0]): xp.ones(runs, dtype=bool)}
        columns = _Columns(xp, runs, _most_slots(self._nodes))
        store: dict[Term, Array] = {}
        ending = xp.zeros(runs, dtype=xp.int32)
        for node in self._nodes:
            here = reach.pop(id(node))
            match node:
                case DrawNode(draw, _):
                    if draw not in store:
                        store[draw] = _drawn(draw.law, noise, runs, [values.of(p)(store) for p in draw.law.parameters])
                case EmitNode(term, _):
                    columns.emit(here, self._emits[id(node)], _number(values, term, store))
                case ReturnNode() | RaiseNode():
                    ending = xp.where(here, self._endings.index(node), ending)
                case BranchNode():
                    pass
                case _:
                    assert_never(node)
            for after, mask in _onwards(node, here, values, store):
                reach[id(after)] = mask if id(after) not in reach else reach[id(after)] | mask
        return Masked(ending, columns.length, tuple(columns.values), tuple(columns.sources))

    def _regrouped(self, masked: Masked) -> Batch:
        ending, length, values, sources = (
            tuple(map(np.asarray, part)) if isinstance(part, tuple) else np.asarray(part) for part in masked
        )
        kinds = [self._sort(term) for term in self._terms]
        sorts = [np.asarray([*kinds, -1])[source] for source in sources]
        found: list[Outputs] = []
        rows, which = np.unique(np.stack([ending, length, *sorts]), axis=1, return_inverse=True)
        for number, row in enumerate(rows.T):
            chosen = np.flatnonzero(which.reshape(-1) == number)
            node = self._endings[int(row[0])]
            slots = range(int(row[1])) if isinstance(node, ReturnNode) else range(0)
            columns = tuple(self._column(int(row[2 + at]), values[at][chosen], sources[at][chosen]) for at in slots)
            found.append(Outputs(node, columns, len(chosen)))
        return tuple(found)

    def _sort(self, term: Term) -> int:
        kind = kind_of(term)
        return {Kind.TRUTH: 0, Kind.INTEGER: 1, Kind.REAL: 2}.get(kind, 3)

    def _column(self, sort: int, values: Array, sources: Array) -> Column:
        if sort == 0:
            return values != 0
        if sort == 1:
            return np.rint(values).astype(np.int64)
        if sort == 2:
            return values
        known: dict[Constant, int] = {}
        positions = np.zeros(len(values), dtype=np.int64)
        for source in np.unique(sources):
            here = sources == source
            table = [known.setdefault(value, len(known)) for value in support(self._terms[int(source)]) or ()]
            positions[here] = np.asarray(table)[np.rint(values[here]).astype(int)]
        return Coded(positions, tuple(known))


def _columns(masked: Masked) -> Masked:
    return masked


class _Columns:
    """The slots that runs have emitted; where ways of different lengths met, each run has its own next slot."""

    def __init__(self, xp: Any, runs: int, slots: int) -> None:
        self._xp = xp
        self.length = xp.zeros(runs, dtype=xp.int32)
        self.values = [xp.zeros(runs) for _ in range(slots)]
        self.sources = [xp.full(runs, -1, dtype=xp.int32) for _ in range(slots)]

    def emit(self, here: Array, source: int, value: Array) -> None:
        """Append a value for the runs that stand here."""
        for at in range(len(self.values)):
            wanted = here & (self.length == at)
            self.values[at] = self._xp.where(wanted, value, self.values[at])
            self.sources[at] = self._xp.where(wanted, source, self.sources[at])
        self.length = self.length + here


def _onwards(node: Node, here: Array, values: Values, store: Mapping[Term, Array]) -> list[tuple[Node, Array]]:
    if isinstance(node, BranchNode):
        test = values.of(node.condition)(store)
        return [(node.yes, here & test), (node.no, here & ~values_as_array(test))]
    return [(after, here) for after in successors(node)]


def values_as_array(test: Any) -> Any:
    """A condition as an array, so that ~ negates it (on Python's booleans it would not)."""
    return np.asarray(test) if isinstance(test, bool) else test


def _drawn(law: Any, noise: ArrayNoise, runs: int, parameters: list[Array]) -> Array:
    assert isinstance(law, Sampled)
    return law.sample(noise, runs, parameters)


def _number(values: Values, term: Term, store: Mapping[Term, Array]) -> Array:
    if is_coded(term):
        return values.positions(term)(store)
    if isinstance(term, Constant):
        return float(exact(term))
    return values.of(term)(store)


def _most_slots(nodes: list[Node]) -> int:
    """The largest number of slots on any way through the program."""
    most: dict[int, int] = {}
    for node in reversed(nodes):
        later = max((most[id(after)] for after in successors(node)), default=0)
        most[id(node)] = later + isinstance(node, EmitNode)
    return most[id(nodes[0])]
