"""Inputs with symbols in the place of numbers, in the containers of an example."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from dpverdict.mechanism.structure import Input, Kind
from dpverdict.mechanism.symbol import Symbol
from dpverdict.mechanism.symbol_array import symbol_array
from dpverdict.mechanism.tracing import Tracing

_PLAIN = (type(None), bool, int, float, complex, str, bytes, Fraction, Decimal, range)
_BY_IDENTITY = (type, FunctionType, BuiltinFunctionType)
_WIDEST = {np.dtype(bool): Kind.TRUTH, np.dtype(np.int64): Kind.INTEGER, np.dtype(np.float64): Kind.REAL}


def form_of(content: Any) -> str | None:
    """Containers, lengths, keys and number kinds as a text: inputs of one form share a symbolic program.

    None if something inside is no finite number, or a number or container with rules of its own (8-bit integers that
    wrap around, masked arrays, a list that stands in two places): then the input has to stay concrete.
    """
    return _form(content, set())


def _form(content: Any, seen: set[int]) -> str | None:
    if type(content) in (bool, int, float):
        kind = _kind(content)
        return None if kind is None else kind.value
    if isinstance(content, np.generic):
        scalar = _form(np.asarray(content), set())
        return None if scalar is None else f"numpy {scalar}"
    if id(content) in seen:
        return None
    if type(content) is not tuple:  # one that can change
        seen.add(id(content))
    if type(content) is np.ndarray:
        kind = _WIDEST.get(content.dtype)
        finite = kind is not Kind.REAL or bool(np.isfinite(content).all())
        return f"array{content.shape}{kind.value}" if kind is not None and finite else None
    if type(content) in (list, tuple):
        forms = [_form(item, seen) for item in content]
        return None if None in forms else f"{type(content).__name__}({' '.join(form or '' for form in forms)})"
    if type(content) is dict:
        forms = [_form(item, seen) for item in content.values()]
        return None if None in forms else f"dict({list(content)!r} {forms!r})"
    return None


def fits_form(content: Any, form: str) -> bool:
    """Whether an input has this form; whole numbers may stand where the form says real ones."""
    have, want = (_KIND.split(text) for text in (form_of(content) or "", form))
    return len(have) == len(want) and all(
        mine == theirs or (mine, theirs) == (Kind.INTEGER.value, Kind.REAL.value)
        for mine, theirs in zip(have, want, strict=True)
    )


_KIND = re.compile(rf"({Kind.TRUTH.value}|{Kind.INTEGER.value}|{Kind.REAL.value})")


def text_of(content: Any) -> str | None:
    """A text that two values share only if no function could tell them apart; None where there is no such text."""
    if type(content) in _PLAIN:
        return f"{type(content).__name__} {content!r}"
    if isinstance(content, _BY_IDENTITY):
        return f"{content!r} {id(content)}"
    if isinstance(content, np.generic):
        return f"{type(content).__name__} {content.item()!r}"
    if type(content) is np.ndarray and content.dtype != object:
        return f"array {content.dtype.str} {content.shape} {content.tobytes().hex()}"
    if type(content) in (list, tuple, dict):
        pairs = content.items() if isinstance(content, dict) else enumerate(content)
        texts = [part for key, item in pairs for part in (text_of(key), text_of(item))]
        return None if None in texts else f"{type(content).__name__}({', '.join(text or '' for text in texts)})"
    return None


def symbolic_input(content: Any, path: Tracing, place: tuple[int | str, ...] = ()) -> Any:
    """The same containers, with an input symbol for every number."""
    if isinstance(content, np.ndarray):
        items = [_symbol(content[at].item(), path, (*place, *at)) for at in np.ndindex(*content.shape)]
        return symbol_array(items, content.shape)
    if isinstance(content, (list, tuple)):
        return type(content)(symbolic_input(item, path, (*place, at)) for at, item in enumerate(content))
    if isinstance(content, dict):
        return {key: symbolic_input(item, path, (*place, key)) for key, item in content.items()}
    if isinstance(content, np.generic):
        return _symbol(content.item(), path.numpy, place)
    return _symbol(content, path, place)


def _symbol(content: Any, path: Tracing, place: tuple[int | str, ...]) -> Symbol:
    kind = _kind(content)
    assert kind is not None
    return Symbol(_input(place, kind), path)


@lru_cache(1 << 12)
def _input(place: tuple[int | str, ...], kind: Kind) -> Input:
    return Input(place, kind)


def _kind(content: Any) -> Kind | None:
    if isinstance(content, bool):
        return Kind.TRUTH
    if isinstance(content, int):
        return Kind.INTEGER
    return Kind.REAL if math.isfinite(content) else None
