"""Recorded outputs: two files, the outputs on one input and on its neighbour, one row per run.

Rows are read in order and each is used once; the files say nothing else about the mechanism.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpverdict.errors import Excerpt, SamplesError, TargetError
from dpverdict.mechanism.black_box import BlackBox
from dpverdict.mechanism.recorded_files import SUFFIXES, Rows, open_rows
from dpverdict.mechanism.tally import Outcomes

SAMPLES = "samples:"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of recorded outputs; rows are found by their number, so any process can read its part."""

    path: Path

    def rows(self, first: int, runs: int) -> Outcomes:
        """The outcomes of so many runs from the given one on.  Raises `SamplesError`."""
        return _needed(open_rows(self.path), self.path, first, runs)

    def count(self) -> int:
        """How many runs there are; reads the whole of a text file."""
        rows = open_rows(self.path)
        rows.skip(sys.maxsize)
        return rows.position


class RecordedSamples(BlackBox):
    """Two recordings in the place of a mechanism: its inputs are the names of the files, A and B.

    It remembers how far it has read, so it stays in one process; `Recording.rows` is for several.
    """

    def __init__(self, first: Path | str, second: Path | str) -> None:
        self.recordings = (Recording(Path(first)), Recording(Path(second)))
        self.inputs = (str(first), str(second))
        self.name = f"{SAMPLES}{first},{second}"
        if self.recordings[0].path.resolve() == self.recordings[1].path.resolve():
            raise SamplesError(
                "SAMPLES-001",
                "both recordings are the same file",
                place=self.name,
                why="the outputs on an input and on its neighbour have to come from different runs",
                fix=f"{SAMPLES}A.npy,B.npy with one file for each of the two inputs",
            )
        self._opened = {name: open_rows(item.path) for name, item in zip(self.inputs, self.recordings, strict=True)}
        self._reading = threading.Lock()

    def recording(self, input: Any) -> Recording:
        """The recording that is called like the input.  Raises `SamplesError`."""
        if input not in self._opened:
            raise SamplesError(
                "SAMPLES-002",
                f"there are no recorded outputs on input {input!r}",
                place=self.name,
                why="recorded outputs cannot be run on anything else than what they were recorded on",
                fix=f"one of {self.inputs[0]!r} and {self.inputs[1]!r}",
            )
        return self.recordings[self.inputs.index(input)]

    def run(self, input: Any, runs: int, generator: np.random.Generator) -> Outcomes:
        """The next rows of the file that is called like the input; the generator is not used."""
        path = self.recording(input).path
        with self._reading:
            rows = self._opened[input]
            return _needed(rows, path, rows.position, runs)

    def __reduce__(self) -> Any:
        raise TargetError(
            "TARGET-033",
            "recorded outputs cannot be sent to another process",
            place=self.name,
            why="each row is used once and in order, so one process reads them all",
            fix="--workers 1; or Recording(path).rows(first, runs), which reads a part by its position",
        )


def load_samples(target: str) -> RecordedSamples:
    """The recordings that ``samples:A,B`` names.  Raises `SamplesError`."""
    names = [name.strip() for name in target.removeprefix(SAMPLES).split(",")]
    if len(names) != 2 or not all(names):
        raise SamplesError(
            "SAMPLES-003",
            f"{SAMPLES} takes two files, got {len([name for name in names if name])}",
            excerpt=Excerpt(target, min(len(SAMPLES), len(target)), max(len(target), len(SAMPLES) + 1)),
            why="a claim is about two neighbouring inputs: one file has the outputs on each",
            fix=f"{SAMPLES}A.npy,B.npy  (or {', '.join(SUFFIXES)})",
        )
    return RecordedSamples(*names)


def _needed(rows: Rows, path: Path, first: int, runs: int) -> Outcomes:
    """So many rows from the given one on, all of them there."""
    rows.skip(first - rows.position)
    found = rows.take(runs) if rows.position == first else []
    if len(found) < runs:
        raise SamplesError(
            "SAMPLES-010",
            f"{first + runs:,} recorded outputs are needed, and there are {rows.position:,}",
            place=str(path),
            why="each row is used once, so there are no more runs than rows",
            fix=f"record {first + runs - rows.position:,} more, or ask for fewer with --runs",
        )
    return found
