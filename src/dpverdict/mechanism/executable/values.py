"""Values as the protocol writes them: JSON, with tags for what JSON cannot say exactly (docs/executables.md).

A tag is an object with one key that starts with a dollar sign.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from dpverdict.mechanism.outcome import Mapping, Outcome, Raised

_DEEPEST = 100
_FINITE = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", re.ASCII
)
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(\d+))", re.ASCII)
_MINUS_ZERO = re.compile(r"(?<![\w.+-])-0(?![\d.eE])")


class ValueMistakeError(Exception):
    """A value that the protocol does not allow: the value, why not, and what to write."""

    def __init__(self, value: object, why: str, fix: str) -> None:
        super().__init__(why)
        self.value = value
        self.why = why
        self.fix = fix


# --- writing ---------------------------------------------------------------------------------------------------


def to_text(content: object) -> str:
    """One line of JSON, in ASCII so that a reader in any language gets it right."""
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


# --- reading ---------------------------------------------------------------------------------------------------


class _Token(float):
    """NaN or an infinity that was written as such; a number that became infinite is a plain float."""


def from_text(line: str) -> Any:
    """The JSON of a line, with tags unread.  Raises ValueError as json does, and ValueMistakeError."""
    # json makes the integer 0 of -0, which C's printf writes for the float -0.0.
    minus_zero = "-0" in line and _MINUS_ZERO.search(line) is not None
    return (_WITH_MINUS_ZERO if minus_zero else _DECODER).decode(line)


def _whole_or_minus_zero(digits: str) -> int | float:
    return -0.0 if digits == "-0" else int(digits)


def _object_of_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen = set[str]()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueMistakeError(twice, f"the key {twice!r} stands twice in one object", "each key once")
    return content


_DECODER = json.JSONDecoder(parse_constant=_Token, object_pairs_hook=_object_of_pairs)
_WITH_MINUS_ZERO = json.JSONDecoder(
    parse_constant=_Token, object_pairs_hook=_object_of_pairs, parse_int=_whole_or_minus_zero
)


def to_outcome(content: object) -> Outcome:
    """The outcome that one element of a reply says."""
    match content:
        case {"$error": name, **rest} if not rest:
            if isinstance(name, str) and name:
                return Raised(name)
            raise ValueMistakeError(content, "an error goes by its type's name", '{"$error":"ValueError"}')
        case _:
            return _frozen(content)


def _frozen(content: object, depth: int = 0) -> Outcome:
    match content:
        case None | bool() | str() | int():
            return content
        case float():
            if math.isinf(content) and not isinstance(content, _Token):
                raise _too_large(content)
            return float(content)
        case list() | dict() if depth > _DEEPEST:
            raise ValueMistakeError(content, f"it is nested more than {_DEEPEST} deep", "a flatter outcome")
        case list():
            return tuple([_frozen(item, depth + 1) for item in content])
        case dict():
            tag = next((key for key in content if key.startswith("$")), None)
            if tag is None:
                return _mapping(content.items(), content, depth)
            if len(content) == 1 and tag in _READERS:
                return _READERS[tag](content[tag], content)
            if len(content) == 1 and tag in _HOLDERS:
                return _HOLDERS[tag](content[tag], content, depth)
    is_error = isinstance(content, dict) and content.keys() == {"$error"}
    raise ValueMistakeError(
        content,
        "an error is a whole outcome, never a part of one" if is_error else "keys that start with $ are tags",
        f'one of the tags {", ".join(TAGS)}, alone in its object; or {{"$object":{{…}}}} around such a dictionary',
    )


def _mapping(pairs: Iterable[tuple[object, object]], whole: object, depth: int) -> Mapping:
    try:
        return Mapping([(_frozen(key, depth + 1), _frozen(item, depth + 1)) for key, item in pairs])
    except ValueError:
        raise ValueMistakeError(whole, "a key stands twice in one dictionary", "each key once") from None


def _float(text: object, whole: object) -> Outcome:
    if isinstance(text, str) and _NOT_FINITE.fullmatch(text):
        return float(text)
    if isinstance(text, str) and _FINITE.fullmatch(text):
        try:
            value = float.fromhex(text) if "x" in text.lower() else float(text)
        except OverflowError:
            value = math.inf
        if math.isinf(value):
            raise _too_large(whole)
        return value
    raise ValueMistakeError(whole, "a tagged float is a string", '{"$float":"0x1.8p+1"}, or "nan", "inf", "-inf"')


def _too_large(value: object) -> ValueMistakeError:
    return ValueMistakeError(value, "the number exceeds what a 64-bit float can hold", '{"$float":"inf"}, if meant so')


def _whole(text: object, whole: object) -> Outcome:
    found = _WHOLE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueMistakeError(whole, "a tagged integer is a string of digits", '{"$int":"-0x1f"} or {"$int":"-31"}')
    sign, hexadecimal, decimal = found.groups()
    try:
        size = int(hexadecimal, 16) if hexadecimal else int(decimal)
    except ValueError:  # Python reads at most some thousand decimal digits: that takes quadratic time
        raise ValueMistakeError(
            whole, "an integer has too many decimal digits", 'hexadecimal: {"$int":"0x…"}'
        ) from None
    return -size if sign == "-" else size


def _bytes(text: object, whole: object) -> Outcome:
    if isinstance(text, str) and re.fullmatch(r"(?:[0-9a-fA-F]{2})*", text):
        return bytes.fromhex(text)
    raise ValueMistakeError(whole, "bytes are written as pairs of hexadecimal digits", '{"$bytes":"00ff"}')


def _object(content: object, whole: object, depth: int) -> Outcome:
    if isinstance(content, dict):
        return _mapping(content.items(), whole, depth)
    raise ValueMistakeError(whole, "this tag holds an object", '{"$object":{"$key":1}}')


def _pairs(content: object, whole: object, depth: int) -> Outcome:
    if isinstance(content, list) and all(isinstance(item, list) and len(item) == 2 for item in content):
        return _mapping(((key, item) for key, item in content), whole, depth)
    raise ValueMistakeError(whole, "this tag holds a list of pairs", '{"$pairs":[[1,"one"],[2,"two"]]}')


_READERS: dict[str, Callable[[object, object], Outcome]] = {"$float": _float, "$int": _whole, "$bytes": _bytes}
_HOLDERS: dict[str, Callable[[object, object, int], Outcome]] = {"$object": _object, "$pairs": _pairs}
TAGS = (*_READERS, *_HOLDERS, "$error")


# --- many at once ----------------------------------------------------------------------------------------------


def to_array(content: list[Any]) -> npt.NDArray[Any] | None:
    """Outcomes of one numeric type, or rows of one width, as an array; None if they are anything else.

    Integers and floats are kept apart: 2⁵³ + 1 next to 0.5 has no exact place in an array of floats.
    """
    if set(map(type, content)) == {list}:
        widths = set(map(len, content))
        flat = _flat_array(list(chain.from_iterable(content))) if len(widths) == 1 else None
        return None if flat is None else flat.reshape(len(content), -1)
    return _flat_array(content)


def _flat_array(content: list[Any]) -> npt.NDArray[Any] | None:
    types = set(map(type, content))
    if types == {bool}:
        return np.array(content, dtype=np.bool_)
    if types == {int}:
        try:
            return np.array(content, dtype=np.int64)
        except OverflowError:
            return None
    if types and types <= {float, _Token}:
        numbers = np.array(content, dtype=np.float64)
        for position in np.flatnonzero(np.isinf(numbers)):
            if not isinstance(content[position], _Token):
                raise _too_large(content[position])
        return numbers
    return None
