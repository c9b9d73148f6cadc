"""Where the runs of a finite chain end: its linear system, solved over the field Q(ε, w).

States are eliminated one after the other, strongly connected ones together, in the order in which runs come to them:
whoever went to a state goes on to where it leads.  A way back to the state itself is a geometric series.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from dpverdict.reading.exact.rational_functions import CERTAIN, NOTHING, RationalFunction

E = TypeVar("E", bound=Hashable)

Ways: TypeAlias = Sequence[Iterable[tuple[int | E, RationalFunction]]]
"""For each state its ways out: to a state (by position), or to an end."""


def ends(ways: Ways[E]) -> dict[E, RationalFunction]:
    """The probability of each end, from the first state on.  No state may be one that runs stay in for ever."""
    rows: dict[int, dict[int | E, RationalFunction]] = {-1: {0: CERTAIN}}
    before: list[set[int]] = [set() for _ in ways]
    before[0].add(-1)
    for at, row in enumerate(ways):
        rows[at] = {}
        for to, weight in row:
            rows[at][to] = rows[at].get(to, NOTHING) + weight
            if isinstance(to, int):
                before[to].add(at)
    for component in components([[to for to in rows[at] if isinstance(to, int)] for at in range(len(ways))]):
        left = set(component)
        while left:
            at = min(left, key=lambda one: (len(before[one]) * len(rows[one]), one))
            left.remove(at)
            _eliminate(at, rows, before)
    return {to: weight for to, weight in rows[-1].items() if not isinstance(to, int)}


def _eliminate(at: int, rows: dict[int, dict[int | E, RationalFunction]], before: list[set[int]]) -> None:
    """Let whoever goes to this state go on at once."""
    row, sources = rows.pop(at), before[at]
    sources.discard(at)
    back = row.pop(at, None)
    if back is not None:
        often = back.repeated()
        row = {to: weight * often for to, weight in row.items()}
    for source in sources:
        coming, onward = rows[source].pop(at), rows[source]
        for to, weight in row.items():
            onward[to] = onward.get(to, NOTHING) + coming * weight
    for to in row:
        if isinstance(to, int):
            before[to].discard(at)
            before[to].update(sources)


def components(following: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components (Tarjan's algorithm), those that runs pass first before the others."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    assigned: set[int] = set()
    for start in range(len(following)):
        work = [] if start in order else [(start, 0)]
        while work:
            at, step = work.pop()
            if step == 0:
                order[at] = lowest[at] = len(order)
                stack.append(at)
            elif (child := following[at][step - 1]) not in assigned:
                lowest[at] = min(lowest[at], lowest[child])
            if step < len(following[at]):
                work.append((at, step + 1))
                if following[at][step] not in order:
                    work.append((following[at][step], 0))
            elif lowest[at] == order[at]:
                place = stack.index(at)
                found.append(stack[place:])
                assigned.update(found[-1])
                del stack[place:]
    return found[::-1]


def leading_to(following: Sequence[Iterable[int]], goals: Iterable[int]) -> set[int]:
    """The states from which a goal can be reached."""
    before: Mapping[int, list[int]] = {at: [] for at in range(len(following))}
    for at, steps in enumerate(following):
        for to in steps:
            before[to].append(at)
    found = set(goals)
    waiting = list(found)
    while waiting:
        new = [at for at in before[waiting.pop()] if at not in found]
        found.update(new)
        waiting.extend(new)
    return found
