"""What a worker process and its parent say to each other, as pickles through two pipes.

What comes from user code travels as bytes inside a message, so that a message itself can always be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dpverdict.execute.failures import Raised
from dpverdict.execute.job import Block


@dataclass(frozen=True, slots=True)
class Main:
    """The program that the parent runs, for work that is defined in it: its path, or its module's name."""

    path: str | None
    module: str | None


@dataclass(frozen=True, slots=True)
class Load:
    """Take this work; answered by `Ready` or `NotDone`."""

    work: bytes
    main: Main


@dataclass(frozen=True, slots=True)
class Do:
    """Do a block; answered by `Result` or `NotDone`."""

    block: Block


@dataclass(frozen=True, slots=True)
class Ready:
    """The work is loaded."""


@dataclass(frozen=True, slots=True)
class Result:
    """A block is done."""

    result: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class NotDone:
    """Something was raised on the way."""

    raised: Raised


Request: TypeAlias = Load | Do
Reply: TypeAlias = Ready | Result | NotDone
