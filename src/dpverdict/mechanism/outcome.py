"""What one run ends in: a plain, frozen value that can be compared, counted, written down and shown.

An outcome is None, a boolean, a number, text, bytes, a tuple of outcomes, a `Mapping`, or `Raised`.  Two outcomes are
the same if `key` says so:

- NaN is the same as NaN, so that it can be counted;
- True is not 1 and False is not 0; 1 and 1.0 are the same number;
- -0.0 is not 0.0: whoever sees the output sees the sign bit, and it can tell inputs apart;
- dictionaries are the same if they have the same items in the same order, which is seen as well.
"""

from __future__ import annotations

import dataclasses
import math
from collections import abc, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpverdict.errors import OutputError, said_by

Outcome: TypeAlias = "bool | int | float | str | bytes | tuple[Outcome, ...] | Mapping | Raised | None"

_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of a run that ended with an exception: its type, not its message."""

    exception: str


class Mapping(abc.Mapping[Outcome, Outcome]):
    """A frozen dictionary: the keys may vary from run to run, and their order counts."""

    __slots__ = ("_key", "_pairs", "_positions")

    def __init__(self, pairs: Iterable[tuple[Outcome, Outcome]] = ()) -> None:
        self._pairs = tuple((name, item) for name, item in pairs)
        self._positions = {key(name): position for position, (name, _) in enumerate(self._pairs)}
        self._key = (_MAPPING, tuple((key(name), key(item)) for name, item in self._pairs))
        if len(self._positions) < len(self._pairs):
            raise ValueError(f"a dictionary has each key once, got {[name for name, _ in self._pairs]!r}")

    def __getitem__(self, name: Outcome) -> Outcome:
        try:
            return self._pairs[self._positions[key(name)]][1]
        except KeyError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[Outcome]:
        return (name for name, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Mapping({list(self._pairs)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Mapping, (self._pairs,)


# --- which outcomes are the same ---------------------------------------------------------------------------------

# No outcome is a frozenset, so these collide with none; their hash is remembered, and they can be pickled.
_TRUE = frozenset({"True"})
_FALSE = frozenset({"False"})
_NAN = frozenset({"nan"})
_NEGATIVE_ZERO = frozenset({"-0.0"})
_MAPPING = frozenset({"Mapping"})

_OWN_KEYS = frozenset({int, str, bytes, type(None), Raised})


def key(outcome: Outcome) -> Hashable:
    """A value that is equal for the same outcomes, and for no others, by Python's == and hash."""
    kind = type(outcome)
    if kind is float:
        if outcome != outcome:
            return _NAN
        return outcome if outcome or math.copysign(1.0, outcome) > 0 else _NEGATIVE_ZERO  # type: ignore[arg-type]
    if kind is bool:
        return _TRUE if outcome else _FALSE
    if kind is tuple:
        if _OWN_KEYS.issuperset(map(type, outcome)):  # type: ignore[arg-type]
            return outcome
        return tuple([key(item) for item in outcome])  # type: ignore[union-attr]
    if isinstance(outcome, Mapping):
        return outcome._key
    return outcome


def same(left: Outcome, right: Outcome) -> bool:
    """Whether two outcomes are the same."""
    return key(left) == key(right)


# --- from what a function returns --------------------------------------------------------------------------------

PLAIN = frozenset({bool, int, float, str, bytes, type(None), Raised, Mapping})
"""Types whose values are outcomes as they are."""


class _UnfreezableError(Exception):
    """Something inside an output that is no value: what, where, why and what would help."""

    def __init__(self, found: object, why: str, fix: str = "") -> None:
        super().__init__(why)
        self.found = found
        self.why = why
        self.fix = fix
        self.path: list[object] = []


def freeze(output: Any) -> Outcome:
    """The outcome that an output is.

    Lists, arrays and other sequences become tuples, sets sorted tuples, dictionaries and data classes `Mapping`;
    numpy's and tensors' scalars become Python's; fractions and decimals become the nearest float, complex numbers
    pairs, members of an Enum their names.  Raises `OutputError` for what is no value.
    """
    if type(output) in PLAIN:
        return output  # type: ignore[no-any-return]
    try:
        return _frozen(output, 0)
    except _UnfreezableError as stop:
        raise _no_outcome(stop) from None


def _frozen(output: Any, depth: int) -> Outcome:
    kind = type(output)
    if kind in PLAIN:
        return output  # type: ignore[no-any-return]
    if depth > _DEEPEST:
        raise _UnfreezableError(output, f"it is nested more than {_DEEPEST} deep, or contains itself")
    if kind is list or kind is tuple:
        return tuple(output) if PLAIN.issuperset(map(type, output)) else _sequence(output, depth)
    if kind is dict:
        return _mapping(output.items(), depth)
    if isinstance(output, np.generic | np.ndarray):
        return _frozen(plain_array(output).tolist(), depth + 1)
    return _unusual(output, depth)


def _sequence(items: Iterable[Any], depth: int) -> tuple[Outcome, ...]:
    return tuple(_within(item, position, depth) for position, item in enumerate(items))


def _mapping(items: Iterable[tuple[Any, Any]], depth: int) -> Mapping:
    pairs = [(_within(name, name, depth), _within(item, name, depth)) for name, item in items]
    try:
        return Mapping(pairs)
    except ValueError:
        raise _UnfreezableError(dict(pairs), "two of its keys are the same once they are plain values") from None


def _within(item: Any, place: object, depth: int) -> Outcome:
    try:
        return _frozen(item, depth + 1)
    except _UnfreezableError as stop:
        stop.path.append(place)
        raise


def _unusual(output: Any, depth: int) -> Outcome:
    match output:
        case Enum() if not isinstance(output, int | str):
            return output.name
        case int():
            return int.__int__(output)
        case float():
            return float.__float__(output)
        case str():
            return str.__str__(output)
        case bytes() | bytearray() | memoryview():
            return bytes(output)
        case complex():
            return (output.real, output.imag)
        case Fraction() | Decimal():
            return _nearest_float(output)
        case set() | frozenset():
            return tuple(sorted((_within(item, item, depth) for item in output), key=_in_order))
        case abc.Mapping():
            return _mapping(output.items(), depth)
        case tuple() | list() | range() | deque() | abc.Sequence():
            return _sequence(output, depth)
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        return _mapping(((field.name, getattr(output, field.name)) for field in dataclasses.fields(output)), depth)
    convert = array_like(output)
    if convert is None:
        raise _UnfreezableError(output, *_what_it_is(output))
    return _frozen(_converted(output, convert), depth + 1)


def _nearest_float(number: Fraction | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def _in_order(outcome: Outcome) -> tuple[str, Any]:
    """An order of all outcomes, for sets: they have none that is the same in every process."""
    if isinstance(outcome, int | float) and not isinstance(outcome, bool) and outcome == outcome:
        return "", outcome
    return type(outcome).__name__, repr(outcome)


def plain_array(array: np.generic | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array whose items are Python's own once they are listed: without extended precision."""
    whole = array if isinstance(array, np.ndarray) else np.asarray(array)
    if whole.dtype.kind == "f" and whole.dtype.itemsize > 8:
        return whole.astype(np.float64)
    return whole.astype(np.complex128) if whole.dtype.kind == "c" and whole.dtype.itemsize > 16 else whole


def array_like(output: Any) -> Callable[[], Any] | None:
    """How a data frame, series or tensor becomes an array or list; None if it is none of these."""
    if isinstance(output, type):
        return None
    for name in ("to_numpy", "tolist", "to_list", "numpy"):
        convert = getattr(output, name, None)
        if callable(convert):
            return convert  # type: ignore[no-any-return]
    return None


def _converted(output: Any, convert: Callable[[], Any]) -> Any:
    try:
        return convert()
    except Exception as error:  # noqa: BLE001  (whatever a library raises here, it is shown)
        why = f"its .{getattr(convert, '__name__', 'conversion')}() raised {said_by(error)}"
        raise _UnfreezableError(output, why) from None


def _what_it_is(output: Any) -> tuple[str, str]:
    name = type(output).__name__
    if isinstance(output, abc.Coroutine | abc.AsyncGenerator | abc.Awaitable):
        return "it is a coroutine: the function is async, and nobody awaits it", "asyncio.run(…) inside the function"
    if isinstance(output, abc.Iterator):
        return "an iterator can be read only once", "list(…) around it"
    if callable(output):
        return "it is something to call, not what a call returns", "return what it returns when it is called"
    return f"an object of type {name} is not a value that can be compared and counted", ""


def _no_outcome(stop: _UnfreezableError) -> OutputError:
    name = type(stop.found).__name__
    at = "".join(f"[{place!r}]" for place in reversed(stop.path))
    return OutputError(
        "OUTPUT-001",
        f"an output holds a {name}, which is no plain value" if at else f"an output is a {name}, no plain value",
        place=f"output{at}: {_shortened(repr_of(stop.found), 80)}" if at else f"got {repr_of(stop.found)[:80]}",
        why=stop.why,
        fix=stop.fix or "--observe module:function, which maps an output to numbers, text, lists or dictionaries",
    )


def repr_of(found: object, limit: int = 200) -> str:
    """The repr on one line, whatever the object does."""
    try:
        return _shortened(" ".join(repr(found).split()), limit)
    except Exception:  # noqa: BLE001  (an object whose repr fails is shown by its type)
        return f"<{type(found).__name__}>"


# --- for people and for JSON -------------------------------------------------------------------------------------


def text(outcome: Outcome, limit: int = 80) -> str:
    """The outcome on one line of at most so many characters."""
    return _shortened(_text(outcome), limit)


def _text(outcome: Outcome) -> str:
    match outcome:
        case Raised(exception):
            return f"raises {exception}"
        case tuple():
            return f"[{', '.join(map(_text, outcome))}]"
        case Mapping():
            return f"{{{', '.join(f'{_text(name)}: {_text(item)}' for name, item in outcome.items())}}}"
        case int() if not isinstance(outcome, bool) and outcome.bit_length() > 128:
            return hex(outcome)  # Python refuses to write out very long decimals
        case _:
            return repr(outcome)


def _shortened(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[: max(1, limit - 1)]}…"


_MOST_PLAIN = 1 << 63


def to_json(outcome: Outcome) -> Any:
    """The outcome as JSON can hold it, exactly: what JSON cannot say is an object with one key, a tag.

    The tags are those of the protocol for executables: $float, $int, $bytes, $object, $pairs, $error.
    """
    match outcome:
        case Raised(exception):
            return {"$error": exception}
        case tuple():
            return [to_json(item) for item in outcome]
        case Mapping():
            return _mapping_to_json(outcome)
        case bytes():
            return {"$bytes": outcome.hex()}
        case float() if not math.isfinite(outcome):
            return {"$float": repr(outcome)}
        case int() if not -_MOST_PLAIN <= outcome < _MOST_PLAIN:
            return {"$int": hex(outcome)}
        case _:
            return outcome


def _mapping_to_json(outcome: Mapping) -> Any:
    if not all(isinstance(name, str) for name in outcome):
        return {"$pairs": [[to_json(name), to_json(item)] for name, item in outcome.items()]}
    content = {str(name): to_json(item) for name, item in outcome.items()}
    return {"$object": content} if any(name.startswith("$") for name in content) else content


def from_json(content: Any) -> Outcome:
    """The outcome that `to_json` wrote.  Raises `OutputError`."""
    match content:
        case None | bool() | int() | float() | str():
            return content
        case list():
            return tuple(from_json(item) for item in content)
        case dict() if not any(name.startswith("$") for name in content):
            return Mapping((name, from_json(item)) for name, item in content.items())
        case dict() if len(content) == 1:
            ((tag, inner),) = content.items()
            try:
                return _READERS[tag](inner)
            except (KeyError, TypeError, ValueError, AttributeError):
                pass
    raise OutputError(
        "OUTPUT-002",
        f"this stands for no outcome: {repr_of(content, 80)}",
        why="it is not what dpverdict writes for a number, text, bytes, list, dictionary or exception",
        fix=f"one of the tags {', '.join(_READERS)}, alone in its object",
    )


def _raised_from_json(name: Any) -> Raised:
    if not isinstance(name, str):
        raise TypeError(name)
    return Raised(name)


_READERS: dict[str, Callable[[Any], Outcome]] = {
    "$float": float,
    "$int": lambda digits: int(digits, 0),
    "$bytes": bytes.fromhex,
    "$object": lambda content: Mapping((name, from_json(item)) for name, item in content.items()),
    "$pairs": lambda pairs: Mapping((from_json(name), from_json(item)) for name, item in pairs),
    "$error": _raised_from_json,
}
