"""One child's hello and its answers to requests; whatever goes wrong ends the child and says where it was."""

from __future__ import annotations

import contextlib
import errno
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpverdict.errors import Excerpt, ExecutableError
from dpverdict.mechanism.executable import messages
from dpverdict.mechanism.executable.child import Child, StreamEndedError, TooLongError
from dpverdict.mechanism.executable.messages import Frame, Hello, MistakeError
from dpverdict.mechanism.executable.values import ValueMistakeError, to_array, to_outcome
from dpverdict.mechanism.outcome import Outcome

Numbers = npt.NDArray[Any]
Piece = Numbers | list[Outcome]
"""Consecutive outcomes: an array if they are numbers or rows of numbers, else one by one."""

_HELLO_BYTES = 1 << 16
_FLUSH = "flush standard output after every reply"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an executable may take to say hello and to answer one request, and how large a reply may be."""

    start_seconds: float = 30.0
    request_seconds: float = 600.0
    reply_bytes: int = 1 << 28


@dataclass(frozen=True, slots=True)
class Launch:
    """What is started: the command as given and as words, the folder that it runs in, environment variables."""

    command: str
    words: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str]


class Conversation:
    """A started executable that has said hello.  After any error it is ended, and so is the conversation."""

    def __init__(self, launch: Launch, limits: Limits) -> None:
        """Start it.  Raises ExecutableError."""
        self._launch, self._limits = launch, limits
        self._number = 0
        self._runs = 0
        self._child = _started(launch)
        with self._located(limits.start_seconds):
            deadline = time.monotonic() + limits.start_seconds
            self._send(messages.hello_line(), deadline)
            self.hello: Hello = messages.read_hello(self._child.line(deadline, _HELLO_BYTES))

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._child.pid

    @property
    def is_ours(self) -> bool:
        """Whether this process started it."""
        return self._child.is_ours

    @property
    def last_words(self) -> list[str]:
        """The last lines of its standard error."""
        return self._child.last_words

    def ask(self, input_form: object, runs: int, seed: int | None) -> list[Piece]:
        """The outcomes of one request, in order.  Raises ExecutableError."""
        self._number += 1
        self._runs = runs
        with self._located(self._limits.request_seconds):
            deadline = time.monotonic() + self._limits.request_seconds
            self._child_must_be_silent()
            self._send(messages.request_line(self._number, input_form, runs, seed), deadline)
            return self._reply(deadline)

    def end(self, *, at_once: bool = False) -> int | None:
        """End it; its exit status if it ended by itself when its input was closed."""
        return self._child.end(at_once=at_once)

    def silence(self) -> None:
        """Check that nothing came after the last reply.  Raises ExecutableError."""
        with self._located(self._limits.request_seconds):
            self._child_must_be_silent()

    # --- the exchange --------------------------------------------------------------------------------------------

    def _child_must_be_silent(self) -> None:
        rest = self._child.unread()
        if rest:
            raise messages.unasked(rest.partition(b"\n")[0])

    def _send(self, data: bytes, deadline: float) -> None:
        try:
            self._child.send(data, deadline)
        except TooLongError:
            self._child_must_be_silent()
            raise
        except StreamEndedError:
            if b"\n" not in self._child.unread():  # what it wrote before it left says more
                raise

    def _reply(self, deadline: float) -> list[Piece]:
        pieces, missing, left = list[Piece](), self._runs, self._limits.reply_bytes
        frames: Numbers | None = None  # consecutive frames of one type fill one array
        while True:
            line = self._child.line(deadline, left)
            left -= len(line)
            part = messages.read_part(line, self._number, frames=self.hello.frames)
            count = part.content.runs if isinstance(part.content, Frame) else len(part.content)
            if count > missing or (count < missing and not part.more):
                raise self._wrong_number(self._runs - missing + count)
            if isinstance(part.content, Frame):
                left -= count * part.content.row_bytes
                if left < 0:
                    raise TooLongError
                frames = self._frame(part.content, frames, missing, deadline)
                pieces.append(frames[:count])
                frames = frames[count:]
            else:
                pieces.append(_piece(part.content))
                frames = None
            missing -= count
            if not part.more:
                return _merged(pieces)
            if not missing:
                raise self._wrong_number(self._runs, more=True)

    def _frame(self, frame: Frame, room: Numbers | None, missing: int, deadline: float) -> Numbers:
        """An array whose first rows are the frame's; the rest is room for those that follow."""
        if room is None or room.dtype != frame.kept or room.shape[1:] != frame.shape[1:] or len(room) < frame.runs:
            rows = missing if missing * frame.row_bytes <= self._limits.reply_bytes else frame.runs
            room = np.empty((rows, *frame.shape[1:]), dtype=frame.kept)
        rows_here = room[: frame.runs]
        if frame.sent == frame.kept:
            self._child.block(rows_here, deadline)
            return room
        sent = np.empty(frame.shape, dtype=frame.sent)
        self._child.block(sent, deadline)
        if frame.type == "bool" and (worst := int(sent.max())) > 1:
            raise messages.wrong_value(ValueMistakeError(worst, "a byte of a bool frame is 0 or 1", "write 0 or 1"))
        rows_here[...] = sent
        return room

    def _wrong_number(self, got: int, *, more: bool = False) -> MistakeError:
        too = "more are announced" if more else f"{got} came"
        return MistakeError(
            "EXEC-009",
            f"{self._runs} outcomes were asked for, and {too}",
            why="a missing or additional outcome would bias every count",
            fix='one outcome for each run, the error of a run too; "more":true only when another line follows',
        )

    # --- what went wrong -----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _located(self, seconds: float) -> Iterator[None]:
        """End the child on any error or interrupt, and say where it was."""
        try:
            yield
        except BaseException as error:
            fault = self._fault(error, seconds)
            self._child.end(at_once=True)
            if fault is None:
                raise
            words = self._child.last_words
            heard = "".join(f"\n    | {line}" for line in words)
            raise ExecutableError(
                fault.code,
                fault.message,
                place=self._place(),
                excerpt=fault.excerpt,
                why=f"{fault.why}; its last lines on standard error:{heard}" if words else fault.why,
                fix=fault.fix,
            ) from None

    def _fault(self, error: BaseException, seconds: float) -> MistakeError | None:
        match error:
            case MistakeError():
                return error
            case ValueMistakeError():
                return messages.wrong_value(error)
            case TimeoutError():
                return self._too_late(seconds)
            case TooLongError():
                return self._too_long()
            case StreamEndedError():
                return self._stream_ended(error)
        return None

    def _too_late(self, seconds: float) -> MistakeError:
        if self._number:
            return MistakeError(
                "EXEC-006",
                f"the executable did not answer within {seconds:g} seconds",
                why=f"the request for {self._runs} runs is not answered; it was ended, and nothing of it is counted",
                fix=f"fewer runs in a request (max_runs in its hello), a longer request time-out; or {_FLUSH}",
            )
        return MistakeError(
            "EXEC-003",
            f"the executable did not say hello within {seconds:g} seconds",
            why="its first line says which protocol it speaks (docs/executables.md)",
            fix=f"a longer start time-out if it is slow to start; {_FLUSH}",
        )

    def _too_long(self) -> MistakeError:
        limit = self._limits.reply_bytes if self._number else _HELLO_BYTES
        return MistakeError(
            "EXEC-011",
            f"a reply is longer than {limit} bytes",
            why="replies are kept in memory, and this limit keeps it bounded",
            fix="fewer runs in a request (max_runs in its hello), smaller outcomes, or a larger limit",
        )

    def _stream_ended(self, error: StreamEndedError) -> MistakeError:
        status = self._child.ended_by_itself()
        left = messages.excerpt(error.left, note="an unfinished line") if error.left else None
        task = f"the request for {self._runs} runs" if self._number else "saying hello"
        if status is None:
            return MistakeError(
                "EXEC-010",
                f"the executable closed its {error.stream}, and still runs",
                excerpt=left,
                why=f"{task} is not finished, and nothing of it is counted",
                fix="keep standard input and output open until standard input ends",
            )
        return MistakeError(
            "EXEC-005",
            f"the executable {_ending(status)} in the middle of {task}",
            excerpt=left,
            why="nothing of this request is counted; the next request starts it again",
            fix=f"run it by hand to see what it does: {self._launch.command}",
        )

    def _place(self) -> str:
        request = f", request {self._number} for {self._runs} runs" if self._number else ", hello"
        return f"exec:{self._launch.command} (process {self._child.pid}){request}"


def _piece(content: list[Any]) -> Piece:
    array = to_array(content)
    if array is not None:
        return array
    outcomes = list[Outcome]()
    for position, item in enumerate(content):
        try:
            outcomes.append(to_outcome(item))
        except ValueMistakeError as mistake:
            raise messages.wrong_value(mistake, position) from None
    return outcomes


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Frames that fill one array one after the other are that array."""
    bases = [piece.base if isinstance(piece, np.ndarray) else None for piece in pieces]
    base = bases[0]
    if len(pieces) > 1 and isinstance(base, np.ndarray) and all(other is base for other in bases):
        return [base[: sum(map(len, pieces))]]
    return pieces


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was killed by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"was killed by signal {-status}"


def _started(launch: Launch) -> Child:
    try:
        return Child(launch.words, launch.folder, launch.variables)
    except (OSError, ValueError) as error:
        raise _not_started(launch, error) from None


def _not_started(launch: Launch, error: OSError | ValueError) -> ExecutableError:
    program = launch.words[0]
    path = launch.folder / program
    exists = "/" in program and path.is_file()
    number = error.errno if isinstance(error, OSError) else None
    if not launch.folder.is_dir():
        why, fix = f"there is no folder {launch.folder} to run it in", "a folder that exists"
    elif number == errno.ENOENT and not exists:
        where = f"in {launch.folder}" if "/" in program else "on the PATH"
        local = (launch.folder / program).is_file()
        why, fix = f"there is no program of this name {where}", f"exec:./{launch.command}" if local else "its full path"
    elif number == errno.ENOENT:
        why, fix = "the program that its first line (#!) names does not exist", f"exec:python {launch.command}"
    elif path.suffix == ".py":
        why, fix = "a Python file is run by Python", f"exec:python {launch.command}"
    elif number == errno.EACCES:
        why, fix = "it is not a program that may be run", f"chmod +x {program}"
    else:
        why, fix = (
            f"the system says: {getattr(error, 'strerror', None) or error}",
            "a program for this machine, or a script whose first line starts with #!",
        )
    start = max(0, launch.command.find(program))
    return ExecutableError(
        "EXEC-002",
        "the executable cannot be started",
        excerpt=Excerpt(f"exec:{launch.command}", 5 + start, 5 + start + len(program), f"got {program!r}"),
        why=why,
        fix=fix,
    )
