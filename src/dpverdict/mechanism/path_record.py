"""What one execution of a traced function leaves behind: a path from start to end, or the reason for stopping."""

from __future__ import annotations

from dataclasses import dataclass

from dpverdict.mechanism.place import Place
from dpverdict.mechanism.structure import Draw, Shape, Term


@dataclass(frozen=True, slots=True)
class Limits:
    """How far tracing goes before it gives up."""

    paths: int = 20_000
    draws: int = 5_000
    decisions: int = 2_000
    seconds: float = 60.0
    path_seconds: float = 10.0


class StopTracing(BaseException):
    """Leaves the traced function; derives from BaseException so that `except Exception` cannot swallow it."""


class Untraceable(StopTracing):
    """The function has no program: what stands in the way, where, and what would help."""

    def __init__(self, what: str, fix: str, place: Place | None) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.place = place


class ConcreteInputNeeded(StopTracing):
    """The function needs concrete inputs: one program per input instead of one for all."""

    def __init__(self, demand: str, place: Place | None) -> None:
        super().__init__(demand)
        self.demand = demand
        self.place = place


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that both answers were possible for, and the answer on this path."""

    condition: Term
    answer: bool


@dataclass(frozen=True, slots=True)
class Returned:
    """A path that ended with these slots in this shape."""

    shape: Shape
    slots: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class RaisedOnPath:
    """A path that ended with an exception."""

    exception: str


@dataclass(frozen=True, slots=True)
class PathRecord:
    """What happened on one path, in order, and how it ended."""

    events: tuple[Draw | Decision, ...]
    ending: Returned | RaisedOnPath

    @property
    def answers(self) -> tuple[bool, ...]:
        """The decisions' answers, which identify the path."""
        return tuple(event.answer for event in self.events if isinstance(event, Decision))
