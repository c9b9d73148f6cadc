"""Files of recorded outputs: npy, npz, csv, json lines and parquet, read row by row from the start."""

from __future__ import annotations

import csv
import itertools
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpverdict.errors import MissingExtraError, OutputError, SamplesError
from dpverdict.mechanism.outcome import Outcome, freeze, repr_of
from dpverdict.mechanism.tally import Array, Outcomes, from_array

_LOOK_AHEAD = 1000
"""Rows of a csv file that are looked at to tell whether its first one is a header."""

_WORDS = {"true": True, "false": False}


class Rows(ABC):
    """The rows of a file, from the first one on; `position` is the number of rows taken so far."""

    position = 0

    @abstractmethod
    def take(self, runs: int) -> Outcomes:
        """The next rows, fewer only at the end of the file.  Raises `SamplesError`."""

    @abstractmethod
    def skip(self, runs: int) -> None:
        """Pass over the next rows, as far as there are any."""


class ArrayRows(Rows):
    """Rows of an array, which may lie in a file that is mapped into memory."""

    def __init__(self, path: Path, array: Array) -> None:
        self._path = path
        self._array = array
        if array.ndim == 0 or not len(array):
            raise _empty(path)

    def take(self, runs: int) -> Outcomes:
        """See `Rows`."""
        part = np.array(self._array[self.position : self.position + runs])
        self.position += len(part)
        try:
            return from_array(part)
        except OutputError as error:
            raise _wrong_type(self._path, f"items of type {self._array.dtype}", error.why) from None

    def skip(self, runs: int) -> None:
        """See `Rows`."""
        self.position = min(self.position + runs, len(self._array))


class TextRows(Rows):
    """Rows that are read one after the other, never more than asked for."""

    def __init__(self, path: Path, rows: Iterator[Outcome]) -> None:
        self._rows = rows
        first = next(rows, self)
        if isinstance(first, TextRows):
            raise _empty(path)
        self._rows = itertools.chain((first,), rows)

    def take(self, runs: int) -> list[Outcome]:
        """See `Rows`."""
        taken = list(itertools.islice(self._rows, runs))
        self.position += len(taken)
        return taken

    def skip(self, runs: int) -> None:
        """See `Rows`."""
        self.position += sum(1 for _ in itertools.islice(self._rows, runs))


def open_rows(path: Path) -> Rows:
    """The rows of a file, by the form that its name's ending says.  Raises `SamplesError`."""
    opened = SUFFIXES.get(path.suffix.lower())
    if opened is None:
        raise SamplesError(
            "SAMPLES-021",
            f"a recording cannot end in {path.suffix!r}" if path.suffix else "a recording's name has an ending",
            place=str(path),
            why=f"the ending says how to read it: {', '.join(SUFFIXES)}",
            fix=f"{path.with_suffix('.npy')}, written by numpy.save, with one row per run",
        )
    if not path.is_file():
        raise SamplesError(
            "SAMPLES-022",
            "no such file" if not path.is_dir() else "a recording is a file, not a folder",
            place=str(path),
            why=f"there is no file of that name, seen from {Path.cwd()}",
            fix="a path that exists, from this folder or absolute",
        )
    try:
        return opened(path)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error) from None


# --- arrays ------------------------------------------------------------------------------------------------------


def _npy(path: Path) -> Rows:
    if not path.stat().st_size:
        raise _empty(path)
    return ArrayRows(path, np.load(path, mmap_mode="r", allow_pickle=False))


def _npz(path: Path) -> Rows:
    try:
        whole = np.load(path, allow_pickle=False)
    except Exception as error:  # noqa: BLE001  (zipfile has errors of its own)
        raise _unreadable(path, error) from None
    if not isinstance(whole, np.lib.npyio.NpzFile):
        return ArrayRows(path, whole)
    with whole:
        if len(whole.files) != 1:
            raise SamplesError(
                "SAMPLES-023",
                f"a recording holds one array, this file has {len(whole.files)}: {', '.join(whole.files) or 'none'}",
                place=str(path),
                why="each row of a recording is the output of one run",
                fix="numpy.save('A.npy', array) for the one that holds the outputs",
            )
        try:
            return ArrayRows(path, whole[whole.files[0]])
        except SamplesError:
            raise
        except Exception as error:  # noqa: BLE001
            raise _unreadable(path, error) from None


def _parquet(path: Path) -> Rows:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(
            "EXTRA-002",
            "pyarrow is not installed",
            place=str(path),
            why="it reads parquet files, and is not among the packages that dpverdict needs for everything else",
            fix="pip install 'dpverdict[parquet]', or save the outputs with numpy.save",
        ) from None
    try:
        file = parquet.ParquetFile(path)
    except Exception as error:  # noqa: BLE001  (pyarrow has errors of its own)
        raise _unreadable(path, error) from None
    names = list(file.schema_arrow.names)
    return TextRows(path, _parquet_rows(path, file.iter_batches(), names))


def _parquet_rows(path: Path, batches: Iterable[Any], names: list[str]) -> Iterator[Outcome]:
    number = 0
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        for row in columns[0] if len(names) == 1 else zip(*columns, strict=True):
            number += 1
            yield _outcome(path, number, row)


# --- text --------------------------------------------------------------------------------------------------------


def _json_lines(path: Path) -> Rows:
    return TextRows(path, _json_rows(path))


def _json_rows(path: Path) -> Iterator[Outcome]:
    with path.open(encoding="utf-8") as lines:
        for number, line in _numbered(path, lines):
            if not line.strip():
                if any(rest.strip() for rest in lines):
                    raise _bad_line(path, number, "the line is empty", "a run is missing there", line)
                return
            try:
                content = json.loads(line, parse_int=_whole if "-0" in line else None)
            except (ValueError, RecursionError) as error:
                raise _bad_line(path, number, "the line is not JSON", str(error), line) from None
            yield _outcome(path, number, content)


def _whole(digits: str) -> int | float:
    return -0.0 if digits == "-0" else int(digits)  # as C writes the float -0.0


def _csv(path: Path) -> Rows:
    return TextRows(path, _csv_rows(path))


def _csv_rows(path: Path) -> Iterator[Outcome]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines, strict=True)
        numbered = ((reader.line_num, row) for _, row in _numbered(path, reader))
        ahead = list(itertools.islice(numbered, _LOOK_AHEAD))
        width = len(ahead[0][1]) if ahead else 0
        skip = 1 if _has_header([row for _, row in ahead]) else 0
        rest = itertools.chain(ahead[skip:], numbered)
        for number, row in rest:
            if not row:
                if any(later for _, later in rest):
                    raise _bad_line(path, number, "the line is empty", "a run is missing there", "")
                return
            if len(row) != width:
                why = f"the first one has {width}, and each row is the output of one run"
                raise _bad_line(path, number, f"the row has {len(row)} cells", why, ",".join(row))
            cells = tuple(_cell(cell) for cell in row)
            yield cells[0] if width == 1 else cells


def _numbered(path: Path, lines: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    reading, number = iter(lines), 0
    while True:
        number += 1
        try:
            line = next(reading)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            raise _bad_line(path, number, "the file is not text in UTF-8", str(error), "") from None
        except csv.Error as error:
            raise _bad_line(path, getattr(lines, "line_num", number), "the line is not csv", str(error), "") from None
        yield number, line


def _cell(text: str) -> Outcome:
    """A number, a boolean, nothing, or else text."""
    word = text.strip()
    if not word:
        return None
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if "_" in word or not word.isascii():
        return text
    return _number(word, text)


def _number(word: str, text: str) -> int | float | str:
    try:
        return int(word) if word != "-0" else -0.0
    except ValueError:
        pass
    try:
        number = float(word)
    except ValueError:
        return text
    # What exceeds all floats is not infinite: it stays what was written.
    return text if math.isinf(number) and "inf" not in word.lower() else number


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: all of it text, above something else or not seen again below."""
    if len(rows) < 2 or not rows[0] or not all(isinstance(_cell(cell), str) for cell in rows[0]):
        return False
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    if any(not isinstance(_cell(cell), str) for row in below for cell in row):
        return True
    return all(row[at] != name for row in below for at, name in enumerate(rows[0]))


# --- messages ----------------------------------------------------------------------------------------------------


def _outcome(path: Path, number: int, content: Any) -> Outcome:
    try:
        return freeze(content)
    except OutputError as error:
        raise _wrong_type(path, f"row {number:,}: {repr_of(content, 60)}", error.why) from None


def _empty(path: Path) -> SamplesError:
    return SamplesError(
        "SAMPLES-024",
        "the recording is empty",
        place=str(path),
        why="there is not a single run in it",
        fix="record outputs first, one row per run",
    )


def _unreadable(path: Path, error: Exception) -> SamplesError:
    pickled = any(word in str(error) for word in ("pickle", "Object arrays", "Python objects"))
    said = str(error).replace("\n", " ").partition(". ")[0]  # NumPy goes on to advise how to load it unsafely
    return SamplesError(
        "SAMPLES-025",
        f"the recording cannot be read: {said}"[:300],
        place=str(path),
        why="its items are Python objects, and reading those could run anything"
        if pickled
        else f"its content is not what files that end in {path.suffix} hold, or it is cut off",
        fix="numbers, text or booleans in the array; or json lines for lists of varying length"
        if pickled
        else "write it again: numpy.save('A.npy', outputs)",
    )


def _wrong_type(path: Path, found: str, why: str) -> SamplesError:
    return SamplesError(
        "SAMPLES-026",
        "a recorded output is no plain value",
        place=f"{path}, {found}",
        why=why,
        fix="record numbers, booleans, text, or lists of these",
    )


def _bad_line(path: Path, number: int, message: str, why: str, line: str) -> SamplesError:
    shown = f": {line.strip()[:60]}" if line.strip() else ""
    return SamplesError(
        "SAMPLES-027",
        message,
        place=f"{path}, line {number:,}{shown}",
        why=why,
        fix=f"correct line {number:,}, or record the outputs again",
    )


SUFFIXES: dict[str, Callable[[Path], Rows]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
