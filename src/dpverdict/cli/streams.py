"""Standard output belongs to the answer, standard error to everything else."""

from __future__ import annotations

import sys
import time

_QUIET_SECONDS = 1.0
_EVERY_SECONDS = 0.2


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
