"""What happens while work runs, as values for whoever shows it; `report` draws them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Started:
    """A run of a job begins; so many of its blocks are in the record already."""

    job: str
    phase: str
    blocks: int | None
    runs: int | None
    recorded: int


@dataclass(frozen=True, slots=True)
class BlockDone:
    """The next block in order is there: freshly drawn, or from the record."""

    job: str
    phase: str
    number: int
    runs: int
    seconds: float
    recorded: bool


@dataclass(frozen=True, slots=True)
class RoundDone:
    """All blocks of a round are there, and nothing has been decided yet."""

    job: str
    phase: str
    number: int
    blocks: int
    runs: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The run gave all blocks that it was asked for."""

    job: str
    phase: str
    blocks: int
    runs: int
    seconds: float


Event: TypeAlias = Started | BlockDone | RoundDone | Ended
Listener: TypeAlias = Callable[[Event], None]


def unheard(event: Event) -> None:
    """Listen to nothing."""
