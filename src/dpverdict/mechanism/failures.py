"""What a function raised: where, and the lines of the traceback that its author can change."""

from __future__ import annotations

import traceback
from pathlib import Path

from dpverdict.errors import Excerpt
from dpverdict.mechanism.place import place_of_error

_OURS = str(Path(__file__).parent.parent)
_CATALOGUE = str(Path(_OURS, "catalog"))
_MOST_FRAMES = 8


def last_place(error: BaseException) -> str:
    """The innermost place in the user's code, else wherever it was raised."""
    place = place_of_error(error)
    if place is not None:
        return str(place)
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "no place"


def excerpt_of(error: BaseException) -> Excerpt | None:
    """The expression that raised it, underlined."""
    place = place_of_error(error)
    return place.excerpt() if place is not None and place.source else None


def lines_of(error: BaseException) -> tuple[str, ...]:
    """The traceback without our own frames, the innermost ones of a long one, and the exception's own line."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_OURS) or frame.filename.startswith(_CATALOGUE)
    ]
    lines = [line for frame in frames[-_MOST_FRAMES:] for line in _lines(frame)]
    return (*lines, *"".join(traceback.format_exception_only(error)).rstrip().splitlines())


def _lines(frame: traceback.FrameSummary) -> list[str]:
    at = f"{frame.filename}, line {frame.lineno}, in {frame.name}"
    return [at, f"  {frame.line}"] if frame.line else [at]
