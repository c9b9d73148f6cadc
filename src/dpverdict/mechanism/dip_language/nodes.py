"""From a chain without cycles to the program's graph.

The nodes come out as tracing lays them out (`graph.py`): slots are emitted as early as all ways on agree on them, and
equal remainders are one object.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from dpverdict.mechanism.dip_language.chain import Chain, Emitted, Event, Way
from dpverdict.mechanism.graph import in_order
from dpverdict.mechanism.path_record import Decision
from dpverdict.mechanism.properties import draws_in, is_partial
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import (
    BranchNode,
    Draw,
    DrawNode,
    EmitNode,
    Law,
    Node,
    RaiseNode,
    ReturnNode,
    Term,
)

_Key: TypeAlias = tuple[int, frozenset[tuple[Law, int]]]
"""A state, and how often loops have drawn from each law by then."""


@dataclass(slots=True)
class _Nodes:
    """Makes nodes, equal ones once."""

    known: dict[Node, Node] = field(default_factory=dict)
    raising: set[int] = field(default_factory=set)
    """The nodes from which every way raises, by identity."""

    def one(self, node: Node, *, raises: bool = False) -> Node:
        found = self.known.setdefault(node, node)
        if raises:
            self.raising.add(id(found))
        return found

    def draw(self, draw: Draw, then: Node) -> Node:
        """A draw; slots that do not need it go first."""
        slots: list[Term] = []
        while isinstance(then, EmitNode) and draw not in draws_in(then.term):
            slots.append(then.term)
            then = then.then
        return self.emit(slots, self.one(DrawNode(draw, then), raises=id(then) in self.raising))

    def branch(self, condition: Term, yes: Node, no: Node) -> Node:
        """A branch; slots that both sides begin with go first."""
        slots: list[Term] = []
        while (slot := self._agreed(yes, no)) is not None:
            slots.append(slot)
            yes = yes.then if isinstance(yes, EmitNode) else yes
            no = no.then if isinstance(no, EmitNode) else no
        raises = id(yes) in self.raising and id(no) in self.raising
        return self.emit(slots, yes if yes == no else self.one(BranchNode(condition, yes, no), raises=raises))

    def _agreed(self, yes: Node, no: Node) -> Term | None:
        """The slot that comes next on all ways that return; the decision may be what keeps 1 / x from x = 0."""
        sides = [side for side in (yes, no) if id(side) not in self.raising]
        slots = {side.term if isinstance(side, EmitNode) else None for side in sides}
        slot = slots.pop() if len(slots) == 1 else None
        return None if slot is None or is_partial(slot) else slot

    def emit(self, slots: list[Term], then: Node) -> Node:
        """The slots, then the node."""
        for slot in reversed(slots):
            then = self.one(EmitNode(slot, then), raises=id(then) in self.raising)
        return then


def nodes(chain: Chain) -> tuple[Node, int]:
    """The root of the program's graph, and its number of paths; the chain must have no cycle."""
    assert chain.cycle() is None
    made: dict[_Key, Node] = {}
    laid: dict[_Key, list[tuple[tuple[Event, ...], _Key | ReturnNode | RaiseNode]]] = {}
    maker, taken = _Nodes(), _drawn_outside_loops(chain)
    start: _Key = (0, frozenset())
    waiting = [start]
    while waiting:
        key = waiting[-1]
        if key in made:
            waiting.pop()
            continue
        if key not in laid:
            looping = chain.states[key[0]].looping
            laid[key] = [
                _numbered(way, key, taken) if looping else (way.events, _to(way, key[1]))
                for way in chain.states[key[0]].ways
            ]
        missing = [to for _, to in laid[key] if isinstance(to, tuple) and to not in made]
        if missing:
            waiting.extend(missing)
            continue
        made[key] = _tree(maker, [(events, _node(maker, made, to)) for events, to in laid.pop(key)])
        waiting.pop()
    root = made[start]
    return root, _paths(root)


def _to(way: Way, drawn: frozenset[tuple[Law, int]]) -> _Key | ReturnNode | RaiseNode:
    return (way.to, drawn) if isinstance(way.to, int) else way.to


def _node(maker: _Nodes, made: dict[_Key, Node], to: _Key | ReturnNode | RaiseNode) -> Node:
    match to:
        case ReturnNode():
            return maker.one(to)
        case RaiseNode():
            return maker.one(to, raises=True)
        case _:
            return made[to]


def _drawn_outside_loops(chain: Chain) -> Counter[Law]:
    """How often each law is drawn outside of loops, at most; draws inside of loops are numbered from there on."""
    found: Counter[Law] = Counter()
    for state in chain.states:
        for way in state.ways if not state.looping else ():
            for event in way.events:
                if isinstance(event, Draw):
                    found[event.law] = max(found[event.law], event.occurrence)
    return found


def _numbered(way: Way, key: _Key, taken: Counter[Law]) -> tuple[tuple[Event, ...], _Key | ReturnNode | RaiseNode]:
    """A way out of a state inside a loop, its draws being the next ones on this path."""
    counts = Counter(dict(key[1]))
    new: dict[Draw, Draw] = {}
    events: list[Event] = []
    for event in way.events:
        match event:
            case Draw(law, _):
                counts[law] += 1
                new[event] = Draw(law, taken[law] + counts[law])
                events.append(new[event])
            case Decision(condition, answer):
                events.append(Decision(_renamed(condition, new), answer))
            case Emitted(term):
                events.append(Emitted(_renamed(term, new)))
    return tuple(events), _to(way, frozenset(counts.items()))


def _renamed(term: Term, new: dict[Draw, Draw]) -> Term:
    if not new or draws_in(term).isdisjoint(new):
        return term
    return new[term] if isinstance(term, Draw) else rebuild(term, lambda inner: _renamed(inner, new))


def _tree(maker: _Nodes, ways: list[tuple[tuple[Event, ...], Node]]) -> Node:
    """The ways out of a state as nodes.

    They come in the order of their decisions, "yes" first: seen from the last one, a way goes back to the decision
    where it said "no", and waits there for the ways that said "yes".
    """
    noes: list[Node] = []
    for events, end in reversed(ways):
        node = end
        for event in reversed(events):
            if isinstance(event, Decision) and not event.answer:
                noes.append(node)
                break
            node = _before(maker, event, node, noes)
        else:
            return node
    raise AssertionError("the first way says yes throughout")


def _before(maker: _Nodes, event: Event, node: Node, noes: list[Node]) -> Node:
    match event:
        case Draw():
            return maker.draw(event, node)
        case Emitted(term):
            return maker.emit([term], node)
        case Decision(condition):
            return maker.branch(condition, node, noes.pop())


def _paths(root: Node) -> int:
    counts: dict[int, int] = {}
    for node in reversed(in_order(root)):
        match node:
            case DrawNode(_, then) | EmitNode(_, then):
                counts[id(node)] = counts[id(then)]
            case BranchNode(_, yes, no):
                counts[id(node)] = counts[id(yes)] + counts[id(no)]
            case ReturnNode() | RaiseNode():
                counts[id(node)] = 1
            case _:
                assert_never(node)
    return counts[id(root)]
