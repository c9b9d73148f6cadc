"""A child process, and the bytes that go to it and come from it.

The child leads a process group of its own: ending it ends whatever it started, and Ctrl-C in a terminal reaches us
first.  Nothing here waits without a deadline.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpverdict.mechanism.executable.last_words import LastWords

_BLOCK = 1 << 20
_GRACE = 0.5
"""Seconds that a child has to end by itself, and again after it was asked to."""


_LOOK = 0.25
"""Seconds of silence after which we look whether it still runs."""


class StreamEndedError(Exception):
    """The child closed a stream; `left` is what came of an unfinished line."""

    def __init__(self, stream: str, left: bytes = b"") -> None:
        super().__init__(stream)
        self.stream = stream
        self.left = left


class TooLongError(Exception):
    """The child sends more than it may."""


class Child:
    """A running program with its three streams.

    It is ended by `end`, when it is no longer referred to, and when the interpreter ends, whichever comes first.
    """

    def __init__(self, command: tuple[str, ...], folder: Path, variables: Mapping[str, str]) -> None:
        """Start it.  Raises OSError."""
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._words = LastWords(os.dup(process.stderr.fileno()))
        process.stderr.close()
        self._owner = os.getpid()
        self._end = weakref.finalize(self, _end, process, self._words, self._owner)
        self._buffer = bytearray()
        self._scratch = memoryview(bytearray(_BLOCK))
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        _widen(self._out)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_ours(self) -> bool:
        """Whether this process started it; a copy that was forked off must leave it alone."""
        return os.getpid() == self._owner

    @property
    def last_words(self) -> list[str]:
        """The last lines of its standard error."""
        return self._words.lines

    # --- the streams -------------------------------------------------------------------------------------------

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it; what the child writes meanwhile is kept, so that neither waits for the other.

        Raises TimeoutError, StreamEndedError, TooLongError.
        """
        rest = memoryview(data)
        while rest:
            ready = self._wait(deadline, select.POLLOUT)
            if self._out in ready:
                self._fill()
                if len(self._buffer) > _BLOCK:
                    raise TooLongError
            if self._in in ready:
                try:
                    rest = rest[os.write(self._in, rest) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    raise StreamEndedError("standard input") from None

    def line(self, deadline: float, limit: int) -> bytes:
        """The next line, without its end.  Raises TimeoutError, StreamEndedError, TooLongError."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > limit:
                raise TooLongError
            self._wait(deadline)
            self._fill()
        line = bytes(memoryview(self._buffer)[:end])
        del self._buffer[: end + 1]
        if len(line) > limit:
            raise TooLongError
        return line.removesuffix(b"\r")

    def block(self, into: npt.NDArray[Any], deadline: float) -> None:
        """Fill an array with the next bytes.  Raises TimeoutError, StreamEndedError."""
        target = into.reshape(-1).view(np.uint8).data
        done = min(len(self._buffer), len(target))
        target[:done] = memoryview(self._buffer)[:done]
        del self._buffer[:done]
        while done < len(target):
            self._wait(deadline)
            with contextlib.suppress(BlockingIOError):
                got = os.readv(self._out, [target[done:]])
                if not got:
                    raise StreamEndedError("standard output")
                done += got

    def unread(self) -> bytes:
        """What has come and was not read yet, without waiting.  Raises StreamEndedError."""
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        if poll.poll(0):
            self._fill()
        return bytes(self._buffer)

    def _fill(self) -> None:
        with contextlib.suppress(BlockingIOError):
            got = os.readv(self._out, [self._scratch])
            if not got:
                raise StreamEndedError("standard output", bytes(self._buffer))
            self._buffer += self._scratch[:got]

    def _wait(self, deadline: float, also: int = 0) -> set[int]:
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        if also:
            poll.register(self._in, also)
        while (seconds := deadline - time.monotonic()) > 0:  # a child that never stops writing is late too
            ready = poll.poll(min(seconds, _LOOK) * 1000)
            if ready:
                return {descriptor for descriptor, _ in ready}
            # What it started may hold its output open although it has ended; what it wrote itself is read by now.
            if self._process.poll() is not None and not poll.poll(0):
                raise StreamEndedError("standard output", bytes(self._buffer))
        raise TimeoutError

    # --- the end -----------------------------------------------------------------------------------------------

    def end(self, *, at_once: bool = False) -> int | None:
        """End it and all that it started; its exit status if it had ended, or did so when its input was closed.

        `at_once` spares it the time to notice that its input is closed.
        """
        if not self.is_ours:
            self._disown()
        elif self._end.alive:
            self._end.detach()
            return _end(self._process, self._words, self._owner, at_once)
        return None

    def ended_by_itself(self) -> int | None:
        """Its exit status if it ends within a moment without being asked."""
        try:
            return self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return None

    def _disown(self) -> None:
        # In a copy of the process that was forked off: let go of the pipes, so that the owner's end is the last.
        self._end.detach()
        self._process.returncode = 0
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def _widen(pipe: int) -> None:
    """Make a pipe hold more, for fewer changes between the two processes; some systems cannot, or refuse."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl  # here, for this module can be imported on Windows too

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _BLOCK)


def _end(process: subprocess.Popen[bytes], words: LastWords, owner: int, at_once: bool = False) -> int | None:
    if os.getpid() != owner:
        return None
    status = None
    try:
        if process.stdin is not None:
            process.stdin.close()
        status = process.poll() if at_once else _wait(process)
        if status is None:
            _signal(process, signal.SIGTERM)
            _wait(process)
    finally:
        # Also when it has ended: what it started may still run.  An interrupt above must not leave it behind either.
        _signal(process, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        words.end()
    return status


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        return None


def _signal(process: subprocess.Popen[bytes], which: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)
