"""The standard error of a child process: always drained, the last lines kept."""

from __future__ import annotations

import os
import select
import threading
from collections import deque

_LINES = 12
_LINE_BYTES = 400
_BLOCK = 1 << 16


class LastWords:
    """Reads a pipe in a thread, so that a child that writes much to standard error never waits for us.

    Owns the descriptor that it reads.
    """

    def __init__(self, descriptor: int) -> None:
        self._lines = deque[bytes](maxlen=_LINES)
        # A grandchild may hold the pipe open for ever; closing this one wakes the thread.
        woken, self._wake = os.pipe()
        # The thread must not hold this object, or it would never be collected.
        self._thread = threading.Thread(target=_drain, args=(descriptor, woken, self._lines), daemon=True)
        self._thread.start()

    def end(self, patience: float = 1.0) -> None:
        """Read what is left, until the pipe is closed by its writers or for so many seconds, and stop."""
        self._thread.join(patience)
        if self._wake >= 0:
            os.close(self._wake)
            self._wake = -1
        self._thread.join()

    @property
    def lines(self) -> list[str]:
        """The last lines, made printable."""
        texts = [line[:_LINE_BYTES].decode(errors="backslashreplace").rstrip() for line in tuple(self._lines)]
        shown = ["".join(c if c.isprintable() else repr(c)[1:-1] for c in text.expandtabs(4)) for text in texts]
        return [line for line in shown if line]


def _drain(descriptor: int, woken: int, lines: deque[bytes]) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.register(woken, select.POLLIN)
    unfinished = False
    try:
        while True:
            ready = dict(poll.poll())
            block = b"" if woken in ready else os.read(descriptor, _BLOCK)
            if not block:
                return
            *whole, rest = block.split(b"\n")
            for line in whole:
                _add(lines, line, unfinished)
                unfinished = False
            if rest:
                _add(lines, rest, unfinished)
                unfinished = True
    finally:
        os.close(descriptor)
        os.close(woken)


def _add(lines: deque[bytes], text: bytes, unfinished: bool) -> None:
    if unfinished:
        text = lines.pop() + text
    lines.append(text[:_LINE_BYTES])
