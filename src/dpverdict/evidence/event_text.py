"""Events as JSON, and back: plain data that can be read without running anything.

Each value is an object whose key "is" names its form, with one entry for each of its fields.  Numbers are whole or
finite floats, a fraction is a text like "1/3", an outcome is written as in certificates (`outcome.to_json`).  The
canonical text, sorted and without blanks, reads back as an equal event; the digest is its SHA-256.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.errors import DPVerdictError, EvidenceError
from dpverdict.evidence import features, scores
from dpverdict.evidence.events import (
    Bins,
    Box,
    Event,
    Interval,
    OutputEquals,
    ScoreAbove,
    ScoreBelow,
    Sides,
    Union,
)
from dpverdict.mechanism.outcome import from_json as outcome_from_json
from dpverdict.mechanism.outcome import repr_of
from dpverdict.mechanism.outcome import to_json as outcome_to_json

Document: TypeAlias = "Event | Sides | Bins"
"""What is written down by itself."""

_DEEPEST = 50
_FRACTION = re.compile(r"\d{1,20}(/[1-9]\d{0,19})?", re.ASCII)


class _WrongError(Exception):
    """Something in a text that is no event: where, what, and why."""

    def __init__(self, path: str, found: object, why: str, fix: str) -> None:
        super().__init__(why)
        self.path, self.found, self.why, self.fix = path, found, why, fix


Reader: TypeAlias = Callable[[Any, str], Any]


def to_json(document: Document) -> dict[str, Any]:
    """The event as JSON values."""
    written = _written(document)
    assert isinstance(written, dict)
    return written


def from_json(content: Any) -> Document:
    """The event that `to_json` wrote.  Raises `EvidenceError`, which names the place."""
    try:
        _check_depth(content)
        return _DOCUMENT(content, "event")  # type: ignore[no-any-return]
    except _WrongError as stop:
        raise EvidenceError(
            "EVID-031",
            "this is no event",
            place=f"{stop.path}: {repr_of(stop.found, 80)}",
            why=stop.why,
            fix=stop.fix,
        ) from None


def one_event(found: object) -> Event:
    """What is read or given, if it is an event, and not sides or bins.  Raises `EvidenceError`."""
    if not isinstance(found, OutputEquals | Box | ScoreAbove | ScoreBelow | Union):
        raise EvidenceError(
            "EVID-033",
            "this is not one event",
            place=repr_of(found, 80),
            why="an event is a set of outputs, as data; a two-sided test or a bet has several",
            fix='{"is": "equals", "outcome": 1}; of a two-sided test, what stands under "plus"',
        )
    return found


def text(document: Document) -> str:
    """The canonical text."""
    return json.dumps(to_json(document), sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_text(written: str) -> Document:
    """The event that a JSON text stands for.  Raises `EvidenceError`."""
    try:
        content = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(
            "EVID-032",
            "an event is a JSON text",
            place=repr_of(written, 80),
            why=str(error),
            fix='{"is": "equals", "outcome": 1}',
        ) from None
    return from_json(content)


def digest(document: Document) -> str:
    """SHA-256 of the canonical text: the same for equal events, on every machine."""
    return hashlib.sha256(text(document).encode()).hexdigest()


# --- writing -----------------------------------------------------------------------------------------------------


def _written(value: Any) -> Any:
    match value:
        case tuple():
            return [_written(item) for item in value]
        case Fraction():
            return str(value)
        case OutputEquals(outcome):
            return {"is": "equals", "outcome": outcome_to_json(outcome)}
        case features.CountOf(counted):
            return {"is": "count-of", "value": outcome_to_json(counted)}
        case _ if type(value) in _NAMES:
            fields = {field.name: _written(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return {"is": _NAMES[type(value)], **fields}
        case _:
            return value


# --- reading -----------------------------------------------------------------------------------------------------


def _check_depth(content: Any) -> None:
    level = [content]
    for _ in range(_DEEPEST):
        level = [
            inner
            for item in level
            if isinstance(item, list | dict)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    if level:
        raise _WrongError("event", content, f"it is nested more than {_DEEPEST} deep", "a flat union")


def _whole(content: Any, path: str) -> int:
    if isinstance(content, bool) or not isinstance(content, int):
        raise _WrongError(path, content, "a whole number stands here", "1")
    return content


def _number(content: Any, path: str) -> float:
    if isinstance(content, bool) or not isinstance(content, int | float) or not abs(content) <= 1.7976931348623157e308:
        raise _WrongError(path, content, "a finite number stands here", "1.5")
    return float(content)


def _fraction(content: Any, path: str) -> Fraction:
    if not isinstance(content, str) or not _FRACTION.fullmatch(content):
        raise _WrongError(path, content, "a fraction stands here, as a text", '"1/3"')
    return Fraction(content)


def _outcome(content: Any, path: str) -> Any:
    try:
        return outcome_from_json(content)
    except DPVerdictError as error:
        raise _WrongError(path, content, error.why, error.fix) from None


def _word(content: Any, path: str) -> str:
    if not isinstance(content, str):
        raise _WrongError(path, content, "a text stands here", '"nan"')
    return content


def _many(reader: Reader) -> Reader:
    def read(content: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(content, list):
            raise _WrongError(path, content, "a list stands here", "[…]")
        return tuple(reader(item, f"{path}[{at}]") for at, item in enumerate(content))

    return read


def _or_none(reader: Reader) -> Reader:
    return lambda content, path: None if content is None else reader(content, path)


def _form(*names: str) -> Reader:
    """One of the named forms."""

    def read(content: Any, path: str) -> Any:
        name = content.get("is") if isinstance(content, dict) else None
        if name not in names:
            raise _WrongError(
                path, content, f'"is" says which form it has: {", ".join(names)}', f'{{"is": "{names[0]}"}}'
            )
        kind, fields = _FORMS[name]
        given = set(content) - {"is"}
        if given != set(fields):
            wrong = ", ".join(sorted(given ^ set(fields)))
            raise _WrongError(path, content, f'a form "{name}" has the fields {", ".join(fields)}', f"not so: {wrong}")
        parts = {field: reader(content[field], f"{path}.{field}") for field, reader in fields.items()}
        try:
            return kind(**parts)
        except DPVerdictError as error:
            raise _WrongError(f"{path} ({error.place})", content, error.why, error.fix) from None

    return read


_FEATURE = _form(
    "length",
    "form-of",
    "kind-of",
    "count-of",
    "special",
    "coordinate",
    "order-statistic",
    "sum",
    "distance",
    "log-ratio",
)
_SCORE = _form("histogram", "linear", "network", "trees")
_EVENT = _form("equals", "box", "score-above", "score-below", "union")
_DOCUMENT = _form("equals", "box", "score-above", "score-below", "union", "sides", "bins")

_WHOLES = _many(_whole)
_PLACE: Mapping[str, Reader] = {"index": _whole, "step": _whole}
_EDGE: Mapping[str, Reader] = {"score": _SCORE, "threshold": _whole, "tie": _fraction}

_FORMS: Mapping[str, tuple[type, Mapping[str, Reader]]] = {
    "length": (features.Length, {}),
    "form-of": (features.FormOf, {}),
    "kind-of": (features.KindOf, {"index": _whole}),
    "count-of": (features.CountOf, {"value": _outcome}),
    "special": (features.Special, {"what": _word}),
    "coordinate": (features.Coordinate, _PLACE),
    "order-statistic": (features.OrderStatistic, {"rank": _whole, "step": _whole}),
    "sum": (features.Sum, {"step": _whole}),
    "distance": (features.Distance, {**_PLACE, "centre": _number}),
    "log-ratio": (features.LogRatio, {**_PLACE, "centre": _number, "neighbour_centre": _number}),
    "histogram": (
        scores.Histogram,
        {"features": _many(_FEATURE), "edges": _many(_WHOLES), "values": _many(_WHOLES)},
    ),
    "linear": (scores.Linear, {"features": _many(_FEATURE), "weights": _WHOLES}),
    "layer": (scores.Layer, {"weights": _many(_WHOLES), "biases": _WHOLES, "shift": _whole}),
    "network": (scores.Network, {"features": _many(_FEATURE), "layers": _many(_form("layer"))}),
    "tree": (
        scores.Tree,
        {"asks": _WHOLES, "thresholds": _WHOLES, "yes": _WHOLES, "no": _WHOLES, "leaves": _WHOLES},
    ),
    "trees": (scores.Trees, {"features": _many(_FEATURE), "trees": _many(_form("tree"))}),
    "equals": (OutputEquals, {"outcome": _outcome}),
    "interval": (Interval, {"feature": _FEATURE, "low": _or_none(_whole), "high": _or_none(_whole)}),
    "box": (Box, {"intervals": _many(_form("interval"))}),
    "score-above": (ScoreAbove, _EDGE),
    "score-below": (ScoreBelow, _EDGE),
    "union": (Union, {"events": _many(_EVENT)}),
    "sides": (Sides, {"plus": _EVENT, "minus": _or_none(_EVENT)}),
    "bins": (Bins, {"score": _SCORE, "cuts": _WHOLES}),
}
_NAMES: Mapping[type, str] = {kind: name for name, (kind, _) in _FORMS.items()}
