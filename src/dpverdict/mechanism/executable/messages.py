"""The lines that dpverdict and an executable send each other (docs/executables.md is the specification)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from dpverdict.errors import Excerpt
from dpverdict.mechanism.executable.values import ValueMistakeError, from_text, to_text

VERSION = 1
FRAMES: dict[str, tuple[np.dtype[Any], np.dtype[Any]]] = {
    "float64": (np.dtype("<f8"), np.dtype(np.float64)),
    "float32": (np.dtype("<f4"), np.dtype(np.float64)),
    "int64": (np.dtype("<i8"), np.dtype(np.int64)),
    "int32": (np.dtype("<i4"), np.dtype(np.int32)),
    "int16": (np.dtype("<i2"), np.dtype(np.int16)),
    "int8": (np.dtype("<i1"), np.dtype(np.int8)),
    "bool": (np.dtype("<u1"), np.dtype(np.bool_)),
}
"""How the numbers of a frame are sent, and what they become here.

A pipe costs a fast executable about a nanosecond for eight bytes, and so does fresh memory: narrow integers are there
to save it, and stay narrow until arrays of several widths are joined.  Floats are widened, so that a comparison with
one is made in double precision.
"""

INPUT_KINDS = ("null", "boolean", "number", "string", "list", "object")
_WINDOW = 100
_ON_STDOUT = "write only the protocol's lines to standard output, and everything else to standard error"


class MistakeError(Exception):
    """What an executable did wrong, before it is known where."""

    def __init__(self, code: str, message: str, *, why: str, fix: str, excerpt: Excerpt | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.why = why
        self.fix = fix
        self.excerpt = excerpt


@dataclass(frozen=True, slots=True)
class Hello:
    """What an executable says about itself: its name, and what it can do."""

    name: str
    seed: bool = False
    max_runs: int | None = None
    inputs: tuple[str, ...] = INPUT_KINDS
    frames: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The header of a binary block: `runs` rows of `width` numbers; no width means one bare number in each row."""

    type: str
    runs: int
    width: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the block as an array."""
        return (self.runs,) if self.width is None else (self.runs, self.width)

    @property
    def sent(self) -> np.dtype[Any]:
        """The type in which the numbers are sent."""
        return FRAMES[self.type][0]

    @property
    def kept(self) -> np.dtype[Any]:
        """The type that they have here, which holds them exactly."""
        return FRAMES[self.type][1]

    @property
    def row_bytes(self) -> int:
        """The room that one run takes here."""
        return (1 if self.width is None else self.width) * self.kept.itemsize


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a reply; `more` says that another follows."""

    content: list[Any] | Frame
    more: bool


# --- what dpverdict writes ---------------------------------------------------------------------------------------


def hello_line() -> bytes:
    """The first line: who speaks, and what it understands."""
    return _line({"hello": "dpverdict", "versions": [VERSION], "frames": list(FRAMES)})


def request_line(number: int, input_form: object, runs: int, seed: int | None) -> bytes:
    """A request for `runs` independent runs on one input, which is already in its JSON form.

    The input stands last, so that a reader that searches for keys finds the request's own first.
    """
    request: dict[str, object] = {"id": number, "runs": runs}
    if seed is not None:
        request["seed"] = seed
    return _line(request | {"input": input_form})


def _line(content: object) -> bytes:
    return to_text(content).encode() + b"\n"


def kind_of(input_form: object) -> str:
    """The kind of an input, for the `inputs` of a hello."""
    match input_form:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float() | {"$int": _} | {"$float": _}:
            return "number"
        case str():
            return "string"
        case list():
            return "list"
        case _:
            return "object"


# --- what an executable writes -----------------------------------------------------------------------------------


def read_hello(line: bytes) -> Hello:
    """The first line of an executable.  Raises MistakeError."""
    content = _read_object(line, "its first line")
    version = content.get("version")
    if "version" not in content:
        raise _wrong_hello(line, "it has no version", f"it holds {_listed(content)}")
    if version != VERSION or isinstance(version, bool):
        raise _wrong_hello(line, f"it wants version {_short(version)}", f"this dpverdict speaks version {VERSION}")
    seed, frames, most = content.get("seed", False), content.get("frames", False), content.get("max_runs")
    name, inputs = content.get("hello", ""), content.get("inputs", list(INPUT_KINDS))
    for key, value in (("seed", seed), ("frames", frames)):
        if not isinstance(value, bool):
            raise _wrong_hello(line, f"{key} is {_short(value)}", f"{key} is true or false")
    if most is not None and not _is_whole(most, 1):
        raise _wrong_hello(line, f"max_runs is {_short(most)}", "max_runs is a whole number, at least 1")
    if not isinstance(inputs, list) or not inputs or any(kind not in INPUT_KINDS for kind in inputs):
        raise _wrong_hello(line, f"inputs is {_short(inputs)}", f"inputs lists some of {', '.join(INPUT_KINDS)}")
    return Hello(str(name), seed, most, tuple(inputs), frames)


def _wrong_hello(line: bytes, message: str, why: str) -> MistakeError:
    return MistakeError(
        "EXEC-004",
        f"the executable's hello cannot be used: {message}",
        excerpt=excerpt(line),
        why=why,
        fix='{"hello":"its name","version":1,"seed":true}  (docs/executables.md)',
    )


def read_part(line: bytes, number: int, *, frames: bool) -> Part:
    """One line of the reply to a request.  Raises MistakeError."""
    content = _read_object(line, "a reply")
    if not _is_whole(content.get("id"), 0) or content["id"] != number:
        got = (
            f"carries the id {_short(content['id'])}" if "id" in content else f"has no id; it holds {_listed(content)}"
        )
        raise MistakeError(
            "EXEC-008",
            f"a reply {got}, and the request has {number}",
            excerpt=excerpt(line),
            why="a reply to another request would put outcomes under the wrong input",
            fix=f'copy the request\'s id: {{"id":{number},"outcomes":[…]}}',
        )
    if "error" in content:
        raise _reported(content)
    more = content.get("more", False)
    if not isinstance(more, bool):
        raise _wrong_reply(line, f"more is {_short(more)}", "more is true or false")
    if ("outcomes" in content) == ("frame" in content):
        both = "both outcomes and a frame" if "frame" in content else "neither outcomes nor a frame nor an error"
        raise _wrong_reply(line, f"it holds {both}", f"it holds {_listed(content)}")
    if "frame" in content:
        return Part(_frame(content, line, frames), more)
    if not isinstance(content["outcomes"], list):
        raise _wrong_reply(line, f"outcomes is {_short(content['outcomes'])}", "outcomes is a list, one for each run")
    return Part(content["outcomes"], more)


def _frame(content: dict[str, Any], line: bytes, allowed: bool) -> Frame:
    kind, runs, width = content["frame"], content.get("runs"), content.get("width")
    if not allowed:
        raise _wrong_reply(line, "it announces a frame", 'the hello did not announce frames: "frames":true')
    if kind not in tuple(FRAMES):
        raise _wrong_reply(line, f"frame is {_short(kind)}", f"a frame is one of {', '.join(FRAMES)}")
    if not _is_whole(runs, 1):
        raise _wrong_reply(line, f"runs is {_short(runs)}", "a frame says how many runs it holds, at least 1")
    if width is not None and not _is_whole(width, 1):
        raise _wrong_reply(line, f"width is {_short(width)}", "width counts the numbers of each run, at least 1")
    return Frame(kind, runs, width)


def _wrong_reply(line: bytes, message: str, why: str) -> MistakeError:
    return MistakeError(
        "EXEC-014",
        f"a reply cannot be used: {message}",
        excerpt=excerpt(line),
        why=why,
        fix='{"id":1,"outcomes":[…]}, {"id":1,"frame":"int64","runs":4096} or {"id":1,"error":"ValueError"}',
    )


def _reported(content: dict[str, Any]) -> MistakeError:
    message = content.get("message")
    said = f": {message}" if isinstance(message, str) and message else ""
    return MistakeError(
        "EXEC-013",
        f"the executable refused the request: {content['error']}{said}",
        why="an error for a whole request means that it could not be run; the error of one run is an outcome",
        fix='give an input that it takes; or let it answer {"$error":"ValueError"} for each run that fails',
    )


def wrong_value(mistake: ValueMistakeError, position: int | None = None) -> MistakeError:
    """A value that the protocol does not allow, located."""
    text = _visible(_shown(mistake.value))
    note = "" if position is None else f"outcome {position} of this reply"
    excerpt = Excerpt(text, 0, len(text), note)
    return MistakeError(
        "EXEC-012", "an outcome is not written as it must be", excerpt=excerpt, why=mistake.why, fix=mistake.fix
    )


def unasked(line: bytes) -> MistakeError:
    """Output that answers nothing."""
    return MistakeError(
        "EXEC-015",
        "the executable wrote something that nobody asked for",
        excerpt=excerpt(line),
        why="between its last reply and the next request nothing may come, or replies would go astray",
        fix=_ON_STDOUT,
    )


def _read_object(line: bytes, what: str) -> dict[str, Any]:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise _garbage(line, what, len(line[: error.start].decode(errors="replace")), "the line is not UTF-8") from None
    try:
        content = from_text(text)
    except ValueMistakeError as mistake:
        raise wrong_value(mistake) from None
    except json.JSONDecodeError as error:
        raise _garbage(line, what, error.pos, f"JSON ends here: {error.msg[0].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise _garbage(line, what, None, "its lists are nested too deeply") from None
    except ValueError:
        raise _garbage(line, what, None, 'an integer is too long; write {"$int":"0x…"}') from None
    if isinstance(content, dict):
        return content
    raise _garbage(line, what, None, f"it is a JSON {kind_of(content)}, not an object")


def _garbage(line: bytes, what: str, position: int | None, why: str) -> MistakeError:
    empty = "" if line.strip() else ": the line is empty"
    return MistakeError(
        "EXEC-007",
        f"the executable wrote something else than {what}{empty}",
        excerpt=excerpt(line, position),
        why=why,
        fix=_ON_STDOUT,
    )


# --- showing what was there --------------------------------------------------------------------------------------


def _is_whole(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def excerpt(line: bytes, position: int | None = None, note: str = "") -> Excerpt:
    """The part of a line around a position, or its beginning, all underlined."""
    text = line[: 1 << 16].decode(errors="backslashreplace" if len(line) < 1 << 16 else "replace")
    start = max(0, position - _WINDOW // 2) if position is not None and position > _WINDOW else 0
    shown = _visible(text[start : start + _WINDOW])
    before, after = "…" if start else "", "…" if len(text) > start + _WINDOW else ""
    if position is None:
        return Excerpt(f"{before}{shown}{after}", 0, len(shown), note)
    column = len(before) + len(_visible(text[start:position]))
    return Excerpt(f"{before}{shown}{after}", column, column + 1, note or "here")


def _visible(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= _WINDOW else f"{text[:_WINDOW]}…"


def _short(value: object) -> str:
    return _visible(_shown(value))[:60]


def _listed(content: dict[str, Any]) -> str:
    return ", ".join(map(_short, content)) or "nothing"
