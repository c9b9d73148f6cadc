"""A chain of states together with what a run knows of the noise that was drawn outside of loops.

Inside loops only choices and bounded whole numbers are drawn; each is settled within one step, and drawn afresh in the
next round.  Real and unbounded noise is drawn outside of loops, once.  So a node of this graph is a state of the chain,
the slots that it has emitted, and the facts about noise that some step ahead still asks for; facts only grow, so that
they are the same all along a cycle.  Facts that no step ahead can ask for any more leave with an edge, as its region:
with the draws that they are connected with, they are independent of all that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from dpverdict.errors import UnreadableError
from dpverdict.mechanism.dip_language.chain import Chain, Emitted, Way
from dpverdict.mechanism.path_record import Decision
from dpverdict.mechanism.place import Place
from dpverdict.mechanism.properties import children
from dpverdict.mechanism.structure import Draw, ReturnNode, Term
from dpverdict.reading.exact.paths import Fork, PathState
from dpverdict.reading.exact.regions import Pattern, Region

MOST_NODES = 20_000

_Noise: TypeAlias = frozenset[Draw]


@dataclass(frozen=True, slots=True)
class Edge:
    """A step: with the probability of the region (by position), on to a node (by position) or to an output."""

    region: int
    to: int | Pattern


@dataclass(frozen=True, slots=True)
class Node:
    """A state with what is known there.

    `known` are the (disjoint) regions of what no edge has taken up so far: a run that stays for ever has their
    probability as well.
    """

    edges: tuple[Edge, ...]
    known: tuple[int, ...]
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """All that a run can come to, from the first node on."""

    nodes: tuple[Node, ...]
    regions: tuple[Region, ...]


def graph_of(chain: Chain, name: str) -> Graph:
    """The graph of a chain.  Raises `UnreadableError`, located."""
    builder = _Builder(chain, _asked_for(chain))
    builder.number(0, (), PathState.of((), {}))
    nodes: list[Node] = []
    for at, slots, state in builder.waiting:  # it grows meanwhile
        place = chain.states[at].place
        if len(builder.waiting) > MOST_NODES:
            raise located(_too_many(name), place)
        try:
            known = tuple(dict.fromkeys(builder.region(one.region()) for one in _settled(state)))
            nodes.append(Node(tuple(builder.edges(at, slots, state)), known, place))
        except UnreadableError as error:
            raise located(error, place) from None
    return Graph(tuple(nodes), tuple(builder.regions))


def _settled(state: PathState) -> Iterator[PathState]:
    """The state, cut until all laws in its region are known."""
    waiting = [state]
    while waiting:
        state = waiting.pop()
        try:
            state.region()
        except Fork as fork:
            waiting.extend(_options(state, fork))
        else:
            yield state


def _options(state: PathState, fork: Fork) -> list[PathState]:
    options = (state.extended(answer) for answer in reversed(fork.answers))
    return [option for option in options if option is not None]


@dataclass(slots=True)
class _Builder:
    """Numbers what is found."""

    chain: Chain
    asked_for: list[_Noise]
    regions: dict[Region, int] = field(default_factory=dict)
    waiting: list[tuple[int, tuple[Term, ...], PathState]] = field(default_factory=list)
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)

    def number(self, at: int, slots: tuple[Term, ...], state: PathState) -> int:
        """The number of a node."""
        key = (at, slots, frozenset(state.conditions), frozenset(state.draws.items()))
        if key not in self.numbers:
            self.numbers[key] = len(self.waiting)
            self.waiting.append((at, slots, state))
        return self.numbers[key]

    def region(self, region: Region) -> int:
        """The number of a region."""
        return self.regions.setdefault(region, len(self.regions))

    def edges(self, at: int, slots: tuple[Term, ...], start: PathState) -> Iterator[Edge]:
        """All steps out of a state."""
        for way in self.chain.states[at].ways:
            waiting = [start]
            while waiting:
                state = waiting.pop()
                try:
                    edge = self._edge(way, slots, state)
                except Fork as fork:
                    waiting.extend(_options(state, fork))
                    continue
                if edge is not None:
                    yield edge

    def _edge(self, way: Way, slots: tuple[Term, ...], state: PathState) -> Edge | None:
        """The step along a way, None if the state takes another one.  Raises `Fork`."""
        for event in way.events:
            match event:
                case Decision(condition, answer):
                    if state.truth(condition) != answer:
                        return None
                case Emitted(term):
                    slots = (*slots, state.slot(term))
                case Draw():
                    pass
        if isinstance(way.to, int):
            done, kept = _parted(state, self.asked_for[way.to])
            return Edge(self.region(done.region()), self.number(way.to, slots, kept))
        pattern = Pattern(way.to, slots if isinstance(way.to, ReturnNode) else ())
        return Edge(self.region(state.region()), pattern)


def _parted(state: PathState, asked_for: _Noise) -> tuple[PathState, PathState]:
    """What is over, with all facts still at hand, and what goes on."""
    alive = set(asked_for)
    about = {condition: _noise_in(condition) for condition in state.conditions}
    groups = [*about.values(), *(_noise_in(draw) for draw in state.draws)]
    while joined := [group for group in groups if not alive.isdisjoint(group) and not alive.issuperset(group)]:
        alive.update(*joined)
    over = tuple(one for one in state.conditions if alive.isdisjoint(about[one]))
    kept = tuple(one for one in state.conditions if not alive.isdisjoint(about[one]))
    done = PathState(
        state.facts, over, {draw: at for draw, at in state.draws.items() if draw not in alive}, state.selections
    )
    return done, PathState.of(kept, {draw: at for draw, at in state.draws.items() if draw in alive})


@lru_cache(1 << 15)
def _noise_in(term: Term) -> _Noise:
    """Every draw that the term depends on, through the laws of its draws as well."""
    own = frozenset((term,)) if isinstance(term, Draw) else _Noise()
    return own.union(*(_noise_in(inner) for inner in children(term)))


def _asked_for(chain: Chain) -> list[_Noise]:
    """For each state, the earlier draws that some step from there on may ask for."""
    found: list[_Noise] = [_Noise()] * len(chain.states)
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(found))):
            needed = _Noise().union(*(_needed(way, found) for way in chain.states[at].ways))
            if needed != found[at]:
                found[at], changed = needed, True
    return found


def _needed(way: Way, found: list[_Noise]) -> _Noise:
    terms: Iterable[Term] = (event.condition if isinstance(event, Decision) else event.term
                             for event in way.events if not isinstance(event, Draw))  # fmt: skip
    needed = _Noise().union(*map(_noise_in, terms), found[way.to] if isinstance(way.to, int) else ())
    return needed.difference(event for event in way.events if isinstance(event, Draw))


def located(error: UnreadableError, place: Place) -> UnreadableError:
    """The error with its place in the file."""
    if error.place is not None:
        return error
    return UnreadableError(
        error.code, error.message, why=error.why, fix=error.fix, excerpt=place.excerpt(), place=str(place)
    )


def _too_many(name: str) -> UnreadableError:
    return UnreadableError(
        "EXACT-030",
        f"{name} comes to more than {MOST_NODES:,} states, with what is known of the noise in each",
        why="every state is an unknown of a linear system",
        fix="fewer comparisons of noise inside loops, fewer variables that are still read, or smaller ranges",
    )
