"""A fresh copy of the input for each run, as cheap as the input allows.

A function may change its input, and runs must not see each other.  What cannot be changed is passed as it is; lists,
dictionaries and arrays of plain values are copied by their own methods (tens to hundreds of nanoseconds), anything
else by `copy.deepcopy` (microseconds).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dpverdict.errors import InputError, said_by
from dpverdict.mechanism.outcome import repr_of

_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, type(None), range})

Maker: TypeAlias = Callable[[], Any]


def copier(content: Any) -> Maker | None:
    """What makes fresh copies of this value; None if it cannot change, so that it serves all runs itself."""
    if _cannot_change(content):
        return None
    return _own_copier(content, set()) or _deep(content)


def _cannot_change(content: Any) -> bool:
    kind = type(content)
    if kind is tuple or kind is frozenset:
        return all(map(_cannot_change, content))
    return kind in _IMMUTABLE or isinstance(content, np.generic)


def _own_copier(content: Any, seen: set[int]) -> Maker | None:
    """The copy method of the value itself, if that copies all that can change."""
    if id(content) in seen:  # the same list in two places: only deepcopy keeps them one
        return None
    seen.add(id(content))
    kind = type(content)
    if kind is np.ndarray:
        return None if content.dtype.hasobject else content.copy
    if kind is dict and all(map(_cannot_change, content.values())):
        return content.copy  # type: ignore[no-any-return]
    if kind is not list:
        return None
    if all(map(_cannot_change, content)):
        return content.copy  # type: ignore[no-any-return]
    makers = [_own_copier(item, seen) for item in content]
    ready = [maker for maker in makers if maker is not None]
    return (lambda: [maker() for maker in ready]) if len(ready) == len(makers) else None


def _deep(content: Any) -> Maker:
    try:
        copy.deepcopy(content)
    except Exception as error:  # noqa: BLE001  (whatever an object raises here, it is shown)
        raise InputError(
            "INPUT-041",
            f"the input cannot be copied: {said_by(error)}",
            place=f"got {repr_of(content, 80)}",
            why="each run gets a fresh copy, so that a function that changes its input does not change later runs",
            fix="pass plain values (numbers, lists, dictionaries, arrays), or what the function can make the object of",
        ) from None
    return lambda: copy.deepcopy(content)
