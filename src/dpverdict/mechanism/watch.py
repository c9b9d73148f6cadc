"""Keeping an eye on a function while it is traced: time, and randomness that is not the noise source's."""

from __future__ import annotations

import contextlib
import ctypes
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from dpverdict.mechanism.place import Place, is_users


class OutOfTime(BaseException):
    """Raised inside a function that runs for too long."""


ALONE = threading.RLock()
"""Held while a function is looked into: its output and the global generators belong to the whole process."""


class Watcher:
    """Raises `OutOfTime` in the watched thread when a path, or all of them together, take too long.

    A loop that never touches a symbol cannot be stopped from within; an asynchronous exception is CPython's way to
    reach it.  A function may swallow it (`except:`): so it comes again and again until the path has ended, and a
    path that ends after one is too late all the same.
    """

    def __init__(self, seconds: float, path_seconds: float) -> None:
        self._thread = ctypes.c_ulong(threading.get_ident())
        self._end = time.monotonic() + seconds
        self._path_seconds = path_seconds
        self._path_end: float | None = None
        self._late = False
        self._turn = threading.Lock()
        self._over = threading.Event()

    @contextlib.contextmanager
    def one_path(self) -> Iterator[None]:
        """Watch one execution."""
        self._late = False
        self._path_end = time.monotonic() + self._path_seconds
        try:
            yield
        finally:
            self._leave_path()
        if self._late:
            raise OutOfTime

    def _leave_path(self) -> None:
        """Raise no more, and let what has been raised arrive here.

        Taking it back instead (an exception of NULL) would make CPython 3.11 look for it at every step from then on,
        and hang at the next call under a debugger.
        """
        closed = False
        while not closed:
            with contextlib.suppress(OutOfTime):
                with self._turn:
                    self._path_end = None
                closed = True
                if self._late:  # one more takes the place of one that may still be on its way
                    self._raise()
                    while True:
                        time.sleep(0.001)

    def _watch(self) -> None:
        while not self._over.wait(0.001 if self._late else 0.05):
            with self._turn:
                limit = self._path_end
                if limit is not None and time.monotonic() > min(self._end, limit):
                    self._late = True
                    self._raise()

    def _raise(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(OutOfTime))

    @contextlib.contextmanager
    def running(self) -> Iterator[Watcher]:
        """Watch until the block ends."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            thread.join()


def _states() -> tuple[Any, str]:
    """Where the global generators stand; nothing is drawn from them here."""
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002
    return random.getstate(), f"{state['state']['pos']} {state['has_gauss']} {state['state']['key'].tobytes().hex()}"


def uses_global_randomness(execute: Callable[[], object]) -> bool:
    """Whether an execution moves the global generators of `random` or `numpy.random`; they are put back."""
    before, numpy_before = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
    known = _states()
    try:
        execute()
        return _states() != known
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # noqa: NPY002


def line_of_global_randomness(execute: Callable[[], object]) -> Place | None:
    """The line of the user's code that moves a global generator, found by executing line by line."""
    found: list[Place] = []
    last: dict[str, Any] = {"state": _states(), "place": None}

    def look(frame: FrameType, _event: str, _: Any) -> Any:
        if not is_users(frame):
            return None
        state = _states()
        if state != last["state"] and not found and last["place"] is not None:
            found.append(last["place"])
        last["state"], last["place"] = state, Place(frame.f_code.co_filename, frame.f_lineno)
        return look

    previous = sys.gettrace()
    sys.settrace(look)
    try:
        uses_global_randomness(execute)
    finally:
        sys.settrace(previous)
    return found[0] if found else last["place"]
