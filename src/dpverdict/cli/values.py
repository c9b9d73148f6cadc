"""Inputs and arguments as they are typed: ``0,1``, ``3``, ``1/2``, ``[[0,1],[2]]``, ``true``, ``"text"``."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import NoReturn

from dpverdict.errors import Excerpt, InputError

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FRACTION = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}

# More digits than this are no privacy parameter and no count; Python itself refuses beyond 4,300.
_MOST_DIGITS = 400
_AROUND = 50
_NESTED = "'[[0, 1], [2]]'"
_QUOTED = "'\"text\"'"


@dataclass(frozen=True, slots=True)
class Typed:
    """Text that was typed for an option: what an error underlines."""

    option: str
    text: str

    def with_value(self, value: str) -> str:
        """The option with another value, for a fix; ``--arg name=`` takes it without a space."""
        return f"{self.option}{value}" if self.option.endswith("=") else f"{self.option} {value}"

    def excerpt(self, start: int, end: int, note: str) -> Excerpt:
        """The option and its text with this part underlined; a long text is cut down to the part's surroundings."""
        shown = "".join(letter if letter.isprintable() else "·" for letter in self.text)
        left = start - _AROUND if start > _AROUND else 0
        right = min(len(shown), min(end, start + _AROUND) + _AROUND)
        head = self.with_value("…" if left else "")
        tail = "…" if right < len(shown) else ""
        shift = len(head) - left
        return Excerpt(f"{head}{shown[left:right]}{tail}", start + shift, min(end, right) + shift, note)

    def whole(self, note: str) -> Excerpt:
        """The option and its text, all of it underlined."""
        return self.excerpt(0, len(self.text), note)


def parse(typed: Typed) -> object:
    """The value that was typed.  Raises InputError that points at the part which is wrong."""
    text = typed.text.strip()
    if not text:
        raise InputError(
            "INPUT-001",
            f"{typed.option} is empty",
            excerpt=typed.excerpt(0, 1, "nothing here"),
            why="there is no value to run the mechanism on",
            fix=f"{typed.with_value('0,1')} for a list, or {typed.with_value('3')} for a number",
        )
    if text[0] in '[{"':
        return _json(typed)
    if "," not in text:
        return _scalar(typed, 0, len(typed.text))
    return _list(typed)


def _list(typed: Typed) -> list[object]:
    words, start = typed.text.split(","), 0
    # A closing comma makes a list of a single number: "3," is [3].
    if not words[-1].strip() and len(words) > 1:
        words.pop()
    values = []
    for word in words:
        values.append(_scalar(typed, start, start + len(word)))
        start += len(word) + 1
    return values


def _scalar(typed: Typed, start: int, end: int) -> object:
    raw = typed.text[start:end]
    word = raw.strip()
    start += len(raw) - len(raw.lstrip())
    end = start + len(word)
    if word in _WORDS:
        return _WORDS[word]
    if len(word) > _MOST_DIGITS:
        _refuse_long(typed, start, end)
    if _INTEGER.fullmatch(word):
        return int(word)
    if fraction := _FRACTION.fullmatch(word):
        return _fraction(typed, (start, end), int(fraction[1]), int(fraction[2]))
    if _DECIMAL.fullmatch(word):
        return _finite(typed, start, end, float(word))
    if _NOT_FINITE.fullmatch(word):
        _refuse_not_finite(typed, start, end)
    _refuse_word(typed, start, end)


def _fraction(typed: Typed, place: tuple[int, int], numerator: int, denominator: int) -> float:
    start, end = place
    if denominator == 0:
        raise InputError(
            "INPUT-003",
            "a fraction with denominator 0 is no number",
            excerpt=typed.excerpt(start, end, f"got {typed.text[start:end]}"),
            why="nothing can be divided by 0",
            fix=typed.with_value("1/2"),
        )
    try:
        return numerator / denominator
    except OverflowError:
        _refuse_not_finite(typed, start, end)


def _finite(typed: Typed, start: int, end: int, value: float) -> float:
    if not math.isfinite(value):
        _refuse_not_finite(typed, start, end)
    return value


def _refuse_not_finite(typed: Typed, start: int, end: int) -> NoReturn:
    raise InputError(
        "INPUT-002",
        "every number must be finite",
        excerpt=typed.excerpt(start, end, f"got {typed.text[start:end]}"),
        why="neighbouring inputs differ by a finite amount, and so do parameters",
        fix=typed.with_value(_repaired(typed.text, start, end)),
    )


def _refuse_long(typed: Typed, start: int, end: int) -> NoReturn:
    raise InputError(
        "INPUT-004",
        f"{typed.option} has a word of {end - start:,} letters",
        excerpt=typed.excerpt(start, end, f"got {typed.text[start : start + 20]}…"),
        why=f"numbers have at most {_MOST_DIGITS} digits here, and texts are quoted",
        fix=f"{typed.with_value('1e9')}, or a quoted text: {typed.with_value(_QUOTED)}",
    )


def _refuse_word(typed: Typed, start: int, end: int) -> NoReturn:
    word = typed.text[start:end]
    if not word:
        raise InputError(
            "INPUT-005",
            "a value is missing between commas",
            excerpt=typed.excerpt(start, start + 1, "nothing here"),
            why="every place of a list needs a value",
            fix=typed.with_value(_repaired(typed.text, start, end)),
        )
    if len(parts := word.replace(";", " ").split()) > 1:
        fix = typed.with_value(",".join(parts))
    else:
        quoted = f"'{json.dumps(word, ensure_ascii=False)}'" if len(word) <= _AROUND else _QUOTED
        fix = f"{typed.with_value('0,1')} for numbers, or {typed.with_value(quoted)} for a text"
    raise InputError(
        "INPUT-006",
        "not a value",
        excerpt=typed.excerpt(start, end, f"got {word}" if len(word) <= _AROUND else "here"),
        why="a value is a number, true, false, null, a fraction like 1/2, or JSON; texts are quoted",
        fix=fix,
    )


def _repaired(text: str, start: int, end: int) -> str:
    """The text with a 1 in place of what is wrong, for a fix; short texts only."""
    repaired = f"{text[:start].strip()}1{text[end:].strip()}"
    return repaired if len(repaired) <= _AROUND else "0,1"


# --- JSON ------------------------------------------------------------------------------------------------------


def _json(typed: Typed) -> object:
    def constant(word: str) -> NoReturn:
        start = typed.text.index(word)
        _refuse_not_finite(typed, start, start + len(word))

    def decimal(word: str) -> float:
        start = typed.text.index(word)
        return _finite(typed, start, start + len(word), float(word))

    def integer(word: str) -> int:
        if len(word) > _MOST_DIGITS:
            start = typed.text.index(word)
            _refuse_long(typed, start, start + len(word))
        return int(word)

    try:
        value: object = json.loads(typed.text, parse_constant=constant, parse_float=decimal, parse_int=integer)
    except json.JSONDecodeError as error:
        raise InputError(
            "INPUT-007",
            f"not valid JSON: {error.msg}",
            excerpt=typed.excerpt(error.pos, error.pos + 1, "here"),
            why='a value that starts with [, { or " is read as JSON',
            fix=f"{typed.with_value(_NESTED)}, with the quotes that your shell needs",
        ) from None
    except RecursionError:
        raise InputError(
            "INPUT-008",
            f"{typed.option} is nested too deeply",
            excerpt=typed.excerpt(0, 1, "here"),
            why="nobody's input has thousands of levels",
            fix=typed.with_value(_NESTED),
        ) from None
    return value
