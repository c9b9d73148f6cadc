"""From the paths of a tracing to the program's graph.

Slots are emitted as early as all paths that are still possible agree on them, so that what differs is only what
is still to come; equal remainders then become one object.  (Ten queries with a count of two: 2^10 paths would
carry 2^10 different outputs, but few different futures.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from dpverdict.mechanism.path_record import Decision, PathRecord, RaisedOnPath, Returned
from dpverdict.mechanism.properties import draws_in, is_partial
from dpverdict.mechanism.structure import (
    BranchNode,
    Draw,
    DrawNode,
    EmitNode,
    Node,
    RaiseNode,
    ReturnNode,
    Term,
)
from dpverdict.mechanism.trace import not_repeatable


@dataclass(slots=True)
class _Stretch:
    """What happens between two decisions, and the decision or ending that follows."""

    draws: list[Draw] = field(default_factory=list)
    condition: Term | None = None
    sides: dict[bool, _Stretch] = field(default_factory=dict)
    ending: Returned | RaisedOnPath | None = None
    agreed: tuple[Term, ...] | None = None
    """The slots that all paths from here on begin with; None if all of them raise."""


def graph(records: Iterable[PathRecord]) -> Node:
    """The program's graph, equal sub-graphs being one object."""
    root = _Stretch()
    for record in records:
        _insert(root, record)
    order = list(_children_first(root))
    for stretch in order:
        stretch.agreed = _agreed(stretch)
    return _build(root)


def _insert(stretch: _Stretch, record: PathRecord) -> None:
    """Add a path; where it repeats earlier ones it has to repeat them exactly."""
    seen = 0
    for event in record.events:
        if isinstance(event, Draw):
            if seen < len(stretch.draws):
                if stretch.draws[seen] != event:
                    raise not_repeatable()
            elif stretch.condition is not None or stretch.ending is not None:
                raise not_repeatable()
            else:
                stretch.draws.append(event)
            seen += 1
        else:
            stretch, seen = _side(stretch, event, seen), 0
    if stretch.condition is not None or stretch.ending is not None:
        raise not_repeatable()
    stretch.ending = record.ending


def _side(stretch: _Stretch, decision: Decision, seen: int) -> _Stretch:
    if seen != len(stretch.draws) or stretch.ending is not None:
        raise not_repeatable()
    if stretch.condition is None:
        stretch.condition = decision.condition
    elif stretch.condition != decision.condition:
        raise not_repeatable()
    return stretch.sides.setdefault(decision.answer, _Stretch())


def _children_first(root: _Stretch) -> Iterator[_Stretch]:
    waiting = [root]
    found: list[_Stretch] = []
    while waiting:
        stretch = waiting.pop()
        found.append(stretch)
        waiting.extend(stretch.sides.values())
    return reversed(found)


def _agreed(stretch: _Stretch) -> tuple[Term, ...] | None:
    match stretch.ending:
        case Returned(_, slots):
            return slots
        case RaisedOnPath():
            return None
    if len(stretch.sides) != 2:
        raise not_repeatable()
    agreements = [side.agreed for side in stretch.sides.values() if side.agreed is not None]
    if not agreements:
        return None
    length = 0
    for one, other in zip(agreements[0], agreements[-1], strict=False):
        if one != other or is_partial(one):  # the decision may be what keeps 1 / x from x = 0
            break
        length += 1
    return agreements[0][:length]


@dataclass(slots=True)
class _Steps:
    """A stretch as nodes without their ends: draws and emitted slots in order."""

    stretch: _Stretch
    steps: list[Draw | Term]
    emits: list[bool]


def _build(root: _Stretch) -> Node:
    """Lay out every stretch from the root on, then tie the nodes together from the ends back."""
    laid: list[_Steps] = []
    waiting: list[tuple[_Stretch, frozenset[Draw], int]] = [(root, frozenset(), 0)]
    while waiting:
        stretch, drawn, emitted = waiting.pop()
        steps, drawn, emitted = _lay_out(stretch, drawn, emitted)
        laid.append(steps)
        waiting.extend((side, drawn, emitted) for side in stretch.sides.values())
    known: dict[Node, Node] = {}
    made: dict[int, Node] = {}
    for steps in reversed(laid):
        node = _end(steps.stretch, made)
        node = known.setdefault(node, node)
        for step, is_emit in zip(reversed(steps.steps), reversed(steps.emits), strict=True):
            node = EmitNode(step, node) if is_emit or not isinstance(step, Draw) else DrawNode(step, node)
            node = known.setdefault(node, node)
        made[id(steps.stretch)] = node
    return made[id(root)]


def _lay_out(stretch: _Stretch, drawn: frozenset[Draw], emitted: int) -> tuple[_Steps, frozenset[Draw], int]:
    laid = _Steps(stretch, [], [])
    agreed = stretch.agreed or ()

    def emit() -> None:
        nonlocal emitted
        while emitted < len(agreed) and draws_in(agreed[emitted]) <= drawn:
            laid.steps.append(agreed[emitted])
            laid.emits.append(True)
            emitted += 1

    emit()
    for draw in stretch.draws:
        laid.steps.append(draw)
        laid.emits.append(False)
        drawn |= {draw}
        emit()
    return laid, drawn, emitted


def _end(stretch: _Stretch, made: dict[int, Node]) -> Node:
    match stretch.ending:
        case Returned(shape, _):
            return ReturnNode(shape)
        case RaisedOnPath(exception):
            return RaiseNode(exception)
        case None:
            assert stretch.condition is not None
            yes, no = made[id(stretch.sides[True])], made[id(stretch.sides[False])]
            return yes if yes == no else BranchNode(stretch.condition, yes, no)


def successors(node: Node) -> tuple[Node, ...]:
    """The nodes that may come next."""
    match node:
        case DrawNode(_, then) | EmitNode(_, then):
            return (then,)
        case BranchNode(_, yes, no):
            return (yes, no)
        case ReturnNode() | RaiseNode():
            return ()
        case _:
            assert_never(node)


def in_order(root: Node) -> list[Node]:
    """Every node once, each before its successors."""
    order: list[Node] = []
    seen: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((after, False) for after in reversed(successors(node)))
    order.reverse()
    return order


def draws_of(root: Node) -> list[Draw]:
    """Every different draw, in the order of the program."""
    return list(dict.fromkeys(node.draw for node in in_order(root) if isinstance(node, DrawNode)))
