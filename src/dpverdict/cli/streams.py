"""Standard output belongs to the answer, standard error to everything else."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

_QUIET_SECONDS = 1.0
_EVERY_SECONDS = 0.2


@contextlib.contextmanager
def user_code() -> Iterator[None]:
    """Run somebody else's code: what it prints goes to standard error, also from C and from child processes."""
    with contextlib.redirect_stdout(sys.stderr), _descriptor_redirected():
        yield


@contextlib.contextmanager
def _descriptor_redirected() -> Iterator[None]:
    try:
        out, err = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
        saved = os.dup(out)
    except (AttributeError, OSError, ValueError):
        # No real streams (embedded, or closed): then there is nothing that could be mixed up.
        yield
        return
    try:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            sys.__stdout__.flush()  # type: ignore[union-attr]
        os.dup2(err, out)
        yield
    finally:
        os.dup2(saved, out)
        os.close(saved)


class Progress:
    """A line on standard error that says how far long work is; nothing where nobody looks."""

    def __init__(self, whole: int) -> None:
        self._whole = whole
        self._started = self._shown = time.monotonic()
        self._watched = sys.stderr.isatty()
        self._width = 0

    def show(self, done: int) -> None:
        """Say how many runs are done, a few times a second, once the work has taken a while."""
        now = time.monotonic()
        if not self._watched or now - self._started < _QUIET_SECONDS or now - self._shown < _EVERY_SECONDS:
            return
        self._shown = now
        left = (now - self._started) * (self._whole - done) / max(done, 1)
        line = f"{done:,} of {self._whole:,} runs, about {left:,.0f} s left"
        self._width = max(self._width, len(line))
        sys.stderr.write(f"\r{line:<{self._width}}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            sys.stderr.write(f"\r{'':<{self._width}}\r")
            sys.stderr.flush()
