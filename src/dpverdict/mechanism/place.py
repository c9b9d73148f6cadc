"""Where in the user's code something happened: file, line and, exactly, the expression."""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, TracebackType

from dpverdict.errors import Excerpt

_FRONT = "dpverdict.mechanism.front"
"""The room from which traced functions are called: beyond its frames stands whoever asked for the tracing."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source file; `start` and `end` are columns of the expression on its line."""

    file: str
    line: int
    start: int = 0
    end: int = 0

    @property
    def source(self) -> str:
        """The line of source code."""
        return linecache.getline(self.file, self.line).rstrip()

    @property
    def expression(self) -> str:
        """The expression that was running."""
        return self.source.encode()[self.start : self.end].decode(errors="replace")

    def called(self, module: str) -> str | None:
        """The function of this module that the expression calls, if it does."""
        found = re.match(rf"\s*{module}\.(\w+)\s*\(", self.expression)
        return found.group(1) if found else None

    def excerpt(self) -> Excerpt:
        """The line with the expression underlined."""
        source = self.source
        indent = len(source) - len(source.lstrip())
        start = len(source.encode()[: self.start].decode(errors="replace")) if self.end else indent
        end = start + len(self.expression) if self.end else len(source)
        return Excerpt(source.lstrip(), max(0, start - indent), max(1, end - indent))

    def __str__(self) -> str:
        return f"{Path(self.file).name}, line {self.line}"


def user_place(*, quick: bool = False) -> Place | None:
    """The innermost place inside the traced function that is neither ours nor a library's, if there is one.

    `quick` leaves out the columns.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame):
        frame = None if frame.f_globals.get("__name__") == _FRONT else frame.f_back
    if frame is None:
        return None
    return (
        Place(frame.f_code.co_filename, frame.f_lineno)
        if quick
        else _place(frame.f_code, frame.f_lasti, frame.f_lineno)
    )


def place_of_error(error: BaseException) -> Place | None:
    """The innermost place in the user's code that an exception passed through."""
    found: TracebackType | None = None
    step = error.__traceback__
    while step is not None:
        if is_users(step.tb_frame):
            found = step
        step = step.tb_next
    return _place(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno) if found else None


def is_users(frame: FrameType) -> bool:
    """Whether a frame belongs to the mechanism, not to us, numpy or the standard library."""
    name = frame.f_globals.get("__name__") or ""
    if name == "__main__":
        return True
    top = name.split(".")[0]
    ours = top == "dpverdict" and not name.startswith("dpverdict.catalog")
    return not ours and top != "numpy" and top not in sys.stdlib_module_names


def _place(code: CodeType, instruction: int, line: int) -> Place:
    position = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    first, last, start, end = position
    if first is None or start is None or end is None:
        return Place(code.co_filename, line)
    if last != first:  # underline what stands on the first line
        end = len(linecache.getline(code.co_filename, first).rstrip().encode())
    return Place(code.co_filename, first, start, end)
