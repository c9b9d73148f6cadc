"""What a sampling run has to keep at each node: the noise that is still needed, and values worth storing.

A boolean that several nodes ask for (a count of "above" answers asks for all earlier ones at every step) is
computed once and stored; the noise behind it is then no longer needed.  Noise that no node needs is not drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from dpverdict.mechanism.graph import in_order, successors
from dpverdict.mechanism.properties import children, is_random, kind_of
from dpverdict.mechanism.structure import (
    BranchNode,
    Draw,
    DrawNode,
    EmitNode,
    Kind,
    Node,
    RaiseNode,
    ReturnNode,
    Term,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Per node (by its position in `order`): what to store there, and what has to be kept on arrival."""

    order: tuple[Node, ...]
    place: dict[int, int]
    stores: tuple[tuple[Term, ...], ...]
    needs: tuple[frozenset[Term], ...]
    stored: frozenset[Term]

    def at(self, node: Node) -> int:
        """The position of a node."""
        return self.place[id(node)]


def plan(root: Node) -> Plan:
    """Work out, backwards from the ends, what each node needs."""
    order = in_order(root)
    place = {id(node): at for at, node in enumerate(order)}
    counts: Counter[Term] = Counter()
    for node in order:
        counts.update(set(_booleans(node)))
    shared = frozenset(term for term, count in counts.items() if count > 1)
    known = _known_on_arrival(order, place, shared)
    stores: list[tuple[Term, ...]] = []
    needs: list[frozenset[Term]] = [frozenset()] * len(order)
    for at in range(len(order) - 1, -1, -1):
        node = order[at]
        new = tuple(term for term in dict.fromkeys(_booleans(node)) if term in shared and term not in known[at])
        # What an unneeded draw's law would store must be stored all the same: later nodes count on it.
        later = frozenset().union(*(needs[place[id(after)]] for after in successors(node)))
        if isinstance(node, DrawNode) and node.draw not in later and not new:
            needs[at] = later
        else:
            needs[at] = (later - _made_at(node) - set(new)) | _reads(node, known[at])
        stores.append(new)
    return Plan(tuple(order), place, tuple(reversed(stores)), tuple(needs), shared)


def terms_of(node: Node) -> tuple[Term, ...]:
    """The terms that a node computes with."""
    match node:
        case DrawNode(draw, _):
            return draw.law.parameters
        case BranchNode(condition, _, _):
            return (condition,)
        case EmitNode(term, _):
            return (term,)
        case ReturnNode() | RaiseNode():
            return ()
        case _:
            assert_never(node)


def _made_at(node: Node) -> frozenset[Term]:
    return frozenset((node.draw,)) if isinstance(node, DrawNode) else frozenset()


def _booleans(node: Node) -> Iterator[Term]:
    """The noisy booleans in a node's terms, inner ones first."""
    for term in terms_of(node):
        yield from _booleans_in(term)


@lru_cache(1 << 12)
def _booleans_in(term: Term) -> tuple[Term, ...]:
    if isinstance(term, Draw):
        return ()
    found = dict.fromkeys(part for inner in children(term) for part in _booleans_in(inner))
    if kind_of(term) is Kind.TRUTH and is_random(term):
        found[term] = None
    return tuple(found)


def _known_on_arrival(order: list[Node], place: dict[int, int], shared: frozenset[Term]) -> list[frozenset[Term]]:
    """The shared booleans that every way to a node has stored before."""
    known: list[frozenset[Term] | None] = [None] * len(order)
    known[0] = frozenset()
    for at, node in enumerate(order):
        here = known[at] or frozenset()
        onwards = here | {term for term in _booleans(node) if term in shared}
        for after in successors(node):
            there = known[place[id(after)]]
            known[place[id(after)]] = onwards if there is None else there & onwards
    return [here or frozenset() for here in known]


def _reads(node: Node, known: frozenset[Term]) -> frozenset[Term]:
    """The draws and stored booleans that a node reads."""
    found: set[Term] = set()
    waiting = list(terms_of(node))
    while waiting:
        term = waiting.pop()
        if term in known or isinstance(term, Draw):
            found.add(term)
        else:
            waiting.extend(children(term))
    return frozenset(found)
