"""Results as bytes and back, exactly: the same types, the same bits, the same order.

Not pickle: reading a record must never run code that somebody else has put there.
A result is a tree of None, booleans, numbers, texts, bytes, lists, tuples, dictionaries, counters and NumPy values.
Written as JSON in which everything that holds others, or that JSON does not know, is a list that begins with its kind;
arrays follow the text, in NumPy's own format.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy

_LARGEST_DECIMAL = 1 << 4096
"""Integers beyond this are written in hexadecimal: Python refuses to read very long decimals."""

_LENGTH_BYTES = 4


class UnencodableError(Exception):
    """A result holds something that is no plain value."""


def encode(result: object) -> bytes:
    """The bytes of a result.  Raises UnencodableError, with the type of what is not plain."""
    arrays: list[numpy.ndarray[Any, Any]] = []
    text = json.dumps(_written(result, arrays), separators=(",", ":")).encode("ascii")
    out = io.BytesIO()
    out.write(len(text).to_bytes(_LENGTH_BYTES, "big"))
    out.write(text)
    for array in arrays:
        numpy.lib.format.write_array(out, array, allow_pickle=False)
    return out.getvalue()


def decode(data: bytes) -> Any:
    """The result that was encoded.  Raises ValueError if these bytes are not one."""
    source = io.BytesIO(data)
    length = int.from_bytes(source.read(_LENGTH_BYTES), "big")
    tree = json.loads(source.read(length))
    return _read(tree, _arrays(source))


def _written(value: object, arrays: list[numpy.ndarray[Any, Any]]) -> object:
    kind = type(value)
    if value is None or kind in (bool, float):
        return value
    if isinstance(value, str) and kind is str:
        # JSON would join two halves of a surrogate pair that were apart.
        return value if not _has_surrogates(value) else ["str", value.encode("utf-8", "surrogatepass").hex()]
    if kind is int:
        assert isinstance(value, int)
        return value if -_LARGEST_DECIMAL < value < _LARGEST_DECIMAL else ["int", hex(value)]
    if isinstance(value, bytes) and kind is bytes:
        return ["bytes", value.hex()]
    if isinstance(value, (list, tuple)) and kind in (list, tuple):
        return [kind.__name__, *(_written(item, arrays) for item in value)]
    if isinstance(value, dict) and kind in (dict, Counter):
        items = ((_written(key, arrays), _written(item, arrays)) for key, item in value.items())
        return [kind.__name__, *(part for item in items for part in item)]
    if isinstance(value, numpy.ndarray | numpy.generic) and kind in (numpy.ndarray, value.dtype.type):
        if value.dtype.hasobject:
            raise UnencodableError(f"NumPy value of dtype {value.dtype}")
        arrays.append(numpy.asarray(value))
        return ["array" if kind is numpy.ndarray else "scalar"]
    raise UnencodableError(f"{kind.__module__}.{kind.__qualname__}")


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _arrays(source: io.BytesIO) -> Iterator[numpy.ndarray[Any, Any]]:
    while True:
        yield numpy.lib.format.read_array(source, allow_pickle=False)


def _read(tree: Any, arrays: Iterator[numpy.ndarray[Any, Any]]) -> Any:
    if not isinstance(tree, list):
        return tree
    kind, *parts = tree
    match kind:
        case "int":
            return int(parts[0], 16)
        case "bytes":
            return bytes.fromhex(parts[0])
        case "str":
            return bytes.fromhex(parts[0]).decode("utf-8", "surrogatepass")
        case "array":
            return next(arrays)
        case "scalar":
            return next(arrays)[()]
    items = [_read(part, arrays) for part in parts]
    match kind:
        case "list":
            return items
        case "tuple":
            return tuple(items)
        case "dict":
            return dict(zip(items[::2], items[1::2], strict=True))
        case "Counter":
            return Counter(dict(zip(items[::2], items[1::2], strict=True)))
    raise ValueError(f"unknown kind {kind!r}")
