"""The record of finished blocks: one SQLite file that a killed run goes on from.

Every block is one transaction.  The write-ahead log makes it last through a kill at any moment; after a power failure
the newest blocks may be missing, and are drawn again as they were.  One process holds the file at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from dpverdict.errors import RecordError
from dpverdict.execute import encoding
from dpverdict.execute.executor import Finished
from dpverdict.execute.job import Block, Job

T = TypeVar("T")

_APPLICATION = 0x64_70_76_64
_VERSION = 1

_TABLES = f"""
CREATE TABLE options (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT, phase TEXT, identity TEXT NOT NULL, UNIQUE (name, phase));
CREATE TABLE blocks (
    job INTEGER REFERENCES jobs, number INTEGER, runs INTEGER NOT NULL, seconds REAL NOT NULL,
    result BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (job, number)
);
CREATE TABLE rounds (job INTEGER REFERENCES jobs, number INTEGER, blocks INTEGER NOT NULL, PRIMARY KEY (job, number))
    WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""

_FULL = "free space there, or choose another place; what is recorded stays, and the same call goes on from it"


class Record:
    """Finished blocks and rounds in a file, for these options; threads may share it.

    `options` are whatever else the results depend on, as plain values.  A file that has other options is refused.
    """

    def __init__(self, path: str | Path, options: Mapping[str, object] | None = None) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._jobs: dict[tuple[str, str], tuple[int, dict[str, object]]] = {}
        with self._told("open"):
            self._database = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(_plain(options or {}))
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    def finished(self, job: Job[Any]) -> set[int]:
        """The numbers of the job's finished blocks.  Raises RecordError if it was recorded with other options."""
        return {number for (number,) in self._read("SELECT number FROM blocks WHERE job = ?", self._id(job))}

    def result(self, job: Job[T], block: Block) -> Finished[T]:
        """A finished block."""
        rows = self._read(
            "SELECT runs, seconds, result, digest FROM blocks WHERE job = ? AND number = ?", self._id(job), block.number
        )
        with self._told("read"):
            ((runs, seconds, result, digest),) = rows
            if runs != block.runs or digest != _digest(result):
                raise ValueError(f"{block} has been changed")
            return Finished(block, encoding.decode(result), seconds)

    def add(self, job: Job[T], finished: Finished[T]) -> None:
        """Record a block; one that is recorded is never replaced."""
        block = finished.block
        try:
            result = encoding.encode(finished.result)
        except encoding.UnencodableError as error:
            raise RecordError(
                "RECORD-006",
                f"the result of {block} cannot be recorded: it holds a {error}",
                place=str(self._path),
                why="a record holds plain values: numbers, texts, lists, tuples, dictionaries, counters, NumPy arrays",
                fix="let the work return counts and sums, and make other values of them where they are used",
            ) from error
        row = (self._id(job), block.number, block.runs, finished.seconds, result, _digest(result))
        self._write("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?)", *row)

    def rounds(self, job: Job[Any]) -> tuple[int, ...]:
        """How many blocks each round was decided to have; 0, if it is there, ended them."""
        rows = self._read("SELECT blocks FROM rounds WHERE job = ? ORDER BY number", self._id(job))
        return tuple(blocks for (blocks,) in rows)

    def add_round(self, job: Job[Any], number: int, blocks: int) -> None:
        """Record what was decided, before it is done."""
        self._write("INSERT INTO rounds VALUES (?, ?, ?)", self._id(job), number, blocks)

    def close(self) -> None:
        """Let go of the file; closing leaves no other file beside it."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # --- the file ----------------------------------------------------------------------------------------------

    def _prepare(self, options: Mapping[str, str]) -> None:
        with self._told("open"):
            # Exclusive: no second run may draw the same blocks; it also needs no shared memory beside the file.
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            (application,) = self._database.execute("PRAGMA application_id").fetchone()
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
            (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and (application, version) != (_APPLICATION, _VERSION):
            kind = f"a record of version {version}" if application == _APPLICATION else "another program's database"
            raise self._foreign(kind)
        with self._told("open"):
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            # Taking the lock for writing now, not at the first block.
            self._database.execute("BEGIN IMMEDIATE")
            if not tables:
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._database.execute(statement)
                self._database.executemany("INSERT INTO options VALUES (?, ?)", options.items())
            self._database.execute("COMMIT")
        self._same("options", dict(self._read("SELECT name, value FROM options")), dict(options))

    def _id(self, job: Job[Any]) -> int:
        identity = job.identity()
        if (job.name, job.phase) not in self._jobs:
            found = self._read("SELECT id, identity FROM jobs WHERE name = ? AND phase = ?", job.name, job.phase)
            if not found:
                self._write(
                    "INSERT INTO jobs (name, phase, identity) VALUES (?, ?, ?)",
                    *(job.name, job.phase, json.dumps(identity)),
                )
                return self._id(job)
            ((number, text),) = found
            with self._told("read"):
                self._jobs[job.name, job.phase] = number, json.loads(text)
        number, recorded = self._jobs[job.name, job.phase]
        if recorded != identity:
            self._same(f"job {job.name!r}, phase {job.phase!r}", _plain(recorded), _plain(identity))
        return number

    def _same(self, what: str, recorded: dict[str, str], given: dict[str, str]) -> None:
        if recorded == given:
            return
        names = [name for name in (recorded | given) if recorded.get(name) != given.get(name)]
        here = ", ".join(f"{name} = {given.get(name, 'nothing')}" for name in names)
        there = ", ".join(f"{name} = {recorded.get(name, 'nothing')}" for name in names)
        raise RecordError(
            "RECORD-003",
            f"the record was made with {there}; now it is {here}",
            place=f"{self._path}: {what}",
            why="blocks that were drawn under other conditions cannot be added up",
            fix="the same options as before, or another place for the record",
        )

    def _foreign(self, kind: str) -> RecordError:
        return RecordError(
            "RECORD-002",
            f"this is {kind}, no record of finished blocks that this release reads",
            place=str(self._path),
            why="what others have written is never changed",
            fix="another place for the record",
        )

    def _read(self, statement: str, *values: object) -> list[Any]:
        with self._lock, self._told("read"):
            return self._database.execute(statement, values).fetchall()

    def _write(self, statement: str, *values: object) -> None:
        with self._lock, self._told("write"):
            self._database.execute(statement, values)

    @contextlib.contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Errors of the database as ours."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explained(doing, error) from error
        except (ValueError, KeyError, IndexError, StopIteration, TypeError) as error:
            raise self._damaged(str(error)) from error

    def _explained(self, doing: str, error: sqlite3.Error) -> RecordError:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_NOTADB"):
            return self._foreign("no SQLite file")
        if name.startswith("SQLITE_CORRUPT"):
            return self._damaged(str(error))
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return RecordError(
                "RECORD-005",
                "another run is using this record",
                place=str(self._path),
                why="two runs at once would draw the same blocks",
                fix="wait for it, stop it, or choose another place",
            )
        if name.startswith("SQLITE_CONSTRAINT"):
            return self._damaged(f"it has this block or round already ({error})")
        return RecordError(
            "RECORD-001",
            f"cannot {doing} the record of finished blocks: {error}",
            place=f"{self._path} ({name})" if name else str(self._path),
            why="a block is recorded before anything looks at it; without the record nothing may go on",
            fix=_FULL if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")) else "a file in a folder that can be written",
        )

    def _damaged(self, reason: str) -> RecordError:
        return RecordError(
            "RECORD-004",
            f"the record is damaged: {reason}",
            place=str(self._path),
            why="a block that cannot be trusted can neither be used nor be drawn again",
            fix="a copy of the file from before, or a new record",
        )


def _plain(options: Mapping[str, object]) -> dict[str, str]:
    return {name: json.dumps(value, sort_keys=True, ensure_ascii=False) for name, value in options.items()}


def _digest(result: bytes) -> bytes:
    return hashlib.blake2b(result, digest_size=8).digest()
