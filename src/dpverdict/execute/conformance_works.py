"""Work for the conformance suite: picklable, and strange in one way each."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from dpverdict.errors import InputError
from dpverdict.execute.job import Block


def count(block: Block, generator: numpy.random.Generator) -> tuple[int, float]:
    """Hits and a sum, which show any change of the stream."""
    drawn = generator.standard_exponential(block.runs)
    return int(numpy.count_nonzero(drawn > 1)), float(drawn.sum())


def identify(block: Block, generator: numpy.random.Generator) -> tuple[str, str, int, int, int, int]:
    """The block itself, as it arrived."""
    return block.job, block.phase, block.seed, block.number, block.start, block.runs


def draw_globally(block: Block, generator: numpy.random.Generator) -> tuple[float, float]:
    """Draws from generators that nobody has handed out."""
    return random.random(), float(numpy.random.random())  # noqa: NPY002  (what is to be examined)


def large(block: Block, generator: numpy.random.Generator) -> numpy.ndarray[Any, Any]:
    """32 MB."""
    return numpy.full(4_000_000, block.number, dtype=numpy.int64)


def chatter(block: Block, generator: numpy.random.Generator) -> int:
    """Prints, from Python and past it."""
    sys.stdout.write(f"python says {block.number}\n")
    os.write(1, b"the system says so too\n")
    return block.number


@dataclass(frozen=True, slots=True)
class Unlike:
    """Blocks that take the longer the earlier they come, so that they end out of order."""

    seconds: float

    def __call__(self, block: Block, generator: numpy.random.Generator) -> tuple[int, float]:
        """Like `count`, after a while."""
        time.sleep(self.seconds / (1 + block.number % 4))
        return count(block, generator)


@dataclass(frozen=True, slots=True)
class Raising:
    """Raises in one block."""

    number: int

    def __call__(self, block: Block, generator: numpy.random.Generator) -> int:
        """The block's number."""
        if block.number == self.number:
            raise ArithmeticError(f"planted in {block.number}")
        return block.number


@dataclass(frozen=True, slots=True)
class Exiting:
    """Calls `sys.exit` in one block."""

    number: int

    def __call__(self, block: Block, generator: numpy.random.Generator) -> int:
        """The block's number."""
        if block.number == self.number:
            raise SystemExit("planted")
        return block.number


@dataclass(frozen=True, slots=True)
class Complaining:
    """Raises one of dpverdict's own errors in one block."""

    number: int

    def __call__(self, block: Block, generator: numpy.random.Generator) -> int:
        """The block's number."""
        if block.number == self.number:
            raise InputError("INPUT-000", f"planted in {block.number}", why="to be seen", fix="nothing")
        return block.number


@dataclass(frozen=True, slots=True)
class Dying:
    """Kills its process in one block: the first time, or every time."""

    folder: Path
    number: int
    always: bool

    def __call__(self, block: Block, generator: numpy.random.Generator) -> tuple[int, float]:
        """Like `count`, if it lives."""
        sign = self.folder / "died"
        if block.number == self.number and (self.always or not sign.exists()):
            sign.touch()
            os.kill(os.getpid(), signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
            time.sleep(3600)
        return count(block, generator)


@dataclass(frozen=True, slots=True)
class Hanging:
    """Never ends in one block, and leaves a sign that it has begun."""

    folder: Path
    number: int

    def __call__(self, block: Block, generator: numpy.random.Generator) -> tuple[int, float]:
        """Like `count`, if it ends."""
        if block.number == self.number:
            (self.folder / "hanging").write_text(str(os.getpid()))
            threading.Event().wait()
        return count(block, generator)


@dataclass(frozen=True, slots=True)
class Noting:
    """Leaves a file for each time that a block is done."""

    folder: Path

    def __call__(self, block: Block, generator: numpy.random.Generator) -> tuple[int, float]:
        """Like `count`."""
        times = len(list(self.folder.glob(f"done-{block.number}-*")))
        (self.folder / f"done-{block.number}-{times}").touch()
        return count(block, generator)
