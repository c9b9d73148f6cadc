"""Running a mechanism that is no program: one call of its function after the other, in seeded blocks."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpverdict.cli.outcomes import flattened
from dpverdict.execute.seeds import generator
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.structure import Constant, RaiseNode, ReturnNode
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.sample import Outputs

_BLOCK = 5_000


@dataclass(frozen=True, slots=True)
class PlainRuns:
    """A mechanism with everything that it needs to run."""

    mechanism: Mechanism
    given: object
    arguments: Mapping[str, Any]

    def blocks(self, seed: int, job: str, runs: int) -> Iterator[tuple[Outputs, ...]]:
        """The outputs of so many runs, block by block; a block depends on its number and the seed alone."""
        for block, first in enumerate(range(0, runs, _BLOCK)):
            yield self.batch(seed, job, block, min(_BLOCK, runs - first))

    def batch(self, seed: int, job: str, block: int, runs: int) -> tuple[Outputs, ...]:
        """The outputs of one block, gathered by how the runs ended and by their discrete slots."""
        noise = generator(seed, job, block)
        gathered = dict[tuple[ReturnNode | RaiseNode, tuple[Constant | None, ...]], list[tuple[float, ...]]]()
        with user_code():
            for _ in range(runs):
                ending, slots = self._once(noise)
                discrete = tuple(slot if isinstance(slot, Constant) else None for slot in slots)
                reals = tuple(slot for slot in slots if not isinstance(slot, Constant))
                gathered.setdefault((ending, discrete), []).append(reals)
        return tuple(_outputs(ending, discrete, rows) for (ending, discrete), rows in gathered.items())

    def exception(self, seed: int) -> str | None:
        """What a single run raises, in words and with its line; None if it raises nothing."""
        noise = generator(seed, "sample: an exception", 0)
        try:
            with user_code():
                self.mechanism(noise, copy.deepcopy(self.given), **self.arguments)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is shown)
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__}: {error} ({Path(frame.filename).name}, line {frame.lineno})"
        return None

    def _once(self, noise: np.random.Generator) -> tuple[ReturnNode | RaiseNode, tuple[Constant | float, ...]]:
        try:
            # A fresh copy each time: a function may change its input, and runs must not see each other.
            return flattened(self.mechanism(noise, copy.deepcopy(self.given), **self.arguments))
        except Exception as error:  # noqa: BLE001  (an exception is an outcome)
            return RaiseNode(type(error).__name__), ()


def _outputs(
    ending: ReturnNode | RaiseNode, discrete: tuple[Constant | None, ...], rows: list[tuple[float, ...]]
) -> Outputs:
    columns = iter(np.array(rows, dtype=np.float64).reshape(len(rows), -1).T)
    return Outputs(ending, tuple(next(columns) if slot is None else slot for slot in discrete), len(rows))
