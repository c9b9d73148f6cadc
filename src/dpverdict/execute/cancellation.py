"""Stopping on purpose: a token that anybody may pull, and signals that pull it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Cancel:
    """A token that, once requested, stops what watches it; it stays requested."""

    __slots__ = ("_reason", "_requested")

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._reason = ""

    def request(self, reason: str) -> None:
        """Ask to stop; the first reason counts."""
        if not self._requested.is_set():
            self._reason = reason
            self._requested.set()

    @property
    def requested(self) -> bool:
        """Whether anybody has asked."""
        return self._requested.is_set()

    @property
    def reason(self) -> str:
        """Why, in a few words."""
        return self._reason


@contextlib.contextmanager
def cancel_on_signals(cancel: Cancel | None = None) -> Iterator[Cancel]:
    """A token that Ctrl-C and SIGTERM pull; a second Ctrl-C raises KeyboardInterrupt at once.

    Python delivers signals to the main thread; elsewhere this installs nothing.
    """
    token = Cancel() if cancel is None else cancel

    def pull(number: int, frame: FrameType | None) -> None:
        if token.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        token.request(signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield token
        return
    before = {number: signal.signal(number, pull) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield token
    finally:
        for number, handler in before.items():
            # None: a handler that was not installed from Python, which cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
