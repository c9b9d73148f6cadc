"""The states that a program can be in, equal ones merged: a finite Markov chain of draws and decisions.

Where the end of a loop depends on noise alone, the chain has cycles; a reading that solves the chain's linear system
needs no program.  Where there are none, the chain is the program's graph in other words (`nodes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dpverdict.mechanism.path_record import Decision
from dpverdict.mechanism.place import Place
from dpverdict.mechanism.structure import Draw, RaiseNode, ReturnNode, Term


@dataclass(frozen=True, slots=True)
class Emitted:
    """An output slot that is settled."""

    term: Term


DOES_NOT_RETURN = "DoesNotReturn"
"""The exception that stands for runs which never return: an output like any other."""

Event: TypeAlias = Draw | Decision | Emitted


@dataclass(frozen=True, slots=True)
class Way:
    """One way out of a state: what happens, and the state (by position) or the end that follows."""

    events: tuple[Event, ...]
    to: int | ReturnNode | RaiseNode


@dataclass(frozen=True, slots=True)
class State:
    """The ways out of a state, in the order of their decisions, "yes" first.

    What is drawn inside a loop is fresh each time that the state is passed, and nothing but these ways depends on it.
    """

    ways: tuple[Way, ...]
    looping: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Chain:
    """All states that can be reached; the first one is where a run starts."""

    states: tuple[State, ...]

    def cycle(self) -> tuple[int, ...] | None:
        """The states of some cycle, None if every run passes a state at most once."""
        done: set[int] = set()
        for start in range(len(self.states)):
            if start in done:
                continue
            path, on_path, waiting = [start], {start}, [iter(self._next(start))]
            while path:
                to = next(waiting[-1], None)
                if to is None:
                    done.add(path[-1])
                    on_path.discard(path.pop())
                    waiting.pop()
                elif to in on_path:
                    return tuple(path[path.index(to) :])
                elif to not in done:
                    path.append(to)
                    on_path.add(to)
                    waiting.append(iter(self._next(to)))
        return None

    def never_ends(self) -> frozenset[int]:
        """The states from which no end can be reached: what enters them never returns."""
        before: list[list[int]] = [[] for _ in self.states]
        ending: list[int] = []
        for at, state in enumerate(self.states):
            for to in self._next(at):
                before[to].append(at)
            if any(not isinstance(way.to, int) for way in state.ways):
                ending.append(at)
        found = set(ending)
        while ending:
            for at in before[ending.pop()]:
                if at not in found:
                    found.add(at)
                    ending.append(at)
        return frozenset(range(len(self.states))) - found

    def _next(self, at: int) -> Sequence[int]:
        return [way.to for way in self.states[at].ways if isinstance(way.to, int)]
