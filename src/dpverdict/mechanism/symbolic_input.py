"""Inputs with symbols in the place of numbers, in the containers of an example."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpverdict.mechanism.structure import Input, Kind
from dpverdict.mechanism.symbol import Symbol, Tracing
from dpverdict.mechanism.symbol_array import symbol_array


def form_of(content: Any) -> str | None:
    """Containers, lengths, keys and number kinds as a text: inputs of one form share a symbolic program.

    None if something inside is no number (text, None, an object): then the input has to stay concrete.
    """
    if isinstance(content, np.ndarray):
        kind = _kind(content.flat[0].item()) if content.size else Kind.REAL
        return f"array{content.shape}{kind.value}" if kind is not None else None
    if isinstance(content, (list, tuple)):
        forms = [form_of(item) for item in content]
        return None if None in forms else f"{type(content).__name__}({' '.join(form or '' for form in forms)})"
    if isinstance(content, dict):
        forms = [form_of(item) for item in content.values()]
        return None if None in forms else f"dict({list(content)!r} {forms!r})"
    kind = _kind(content)
    return None if kind is None else kind.value


def symbolic_input(content: Any, path: Tracing, place: tuple[int | str, ...] = ()) -> Any:
    """The same containers, with an input symbol for every number."""
    if isinstance(content, np.ndarray):
        items = [_symbol(content[at].item(), path, (*place, *at)) for at in np.ndindex(*content.shape)]
        return symbol_array(items, content.shape)
    if isinstance(content, (list, tuple)):
        return type(content)(symbolic_input(item, path, (*place, at)) for at, item in enumerate(content))
    if isinstance(content, dict):
        return {key: symbolic_input(item, path, (*place, key)) for key, item in content.items()}
    return _symbol(content, path, place)


def _symbol(content: Any, path: Tracing, place: tuple[int | str, ...]) -> Symbol:
    kind = _kind(content)
    assert kind is not None
    return Symbol(path.known(Input(place, kind)), path)


def _kind(content: Any) -> Kind | None:
    if isinstance(content, np.generic):
        content = content.item()
    if isinstance(content, bool):
        return Kind.TRUTH
    if isinstance(content, int):
        return Kind.INTEGER
    return Kind.REAL if isinstance(content, float) else None
