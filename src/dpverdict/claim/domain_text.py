"""The grammar of domains: ``-1,0,1``, ``integer:-1,1``, ``vector(real:0,1; length=3)``, ``record(a=boolean)``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from dpverdict.claim.compound_domain import Record, Vector
from dpverdict.claim.domain import Anything, Domain
from dpverdict.claim.exact_numbers import number
from dpverdict.claim.listed_domain import Boolean, Category, Text
from dpverdict.claim.number_domain import Integer, Real
from dpverdict.claim.values import natural
from dpverdict.claim.written import Written, nearest
from dpverdict.errors import ClaimError

_DEEPEST = 50
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_EXAMPLES = {
    "any": "any",
    "boolean": "boolean",
    "category": "category:yes,no",
    "integer": "integer:-1,1",
    "real": "real:0,1",
    "record": "record(age=integer:0,120; smoker=boolean)",
    "string": "string:abc,3",
    "vector": "vector(real:0,1; length=3)",
}


def domain_from(given: Any, option: str = "domain=") -> Domain:
    """The domain that is written as text, or given as a Domain or as a list of values."""
    match given:
        case Domain():
            return given
        case str():
            return parse(Written.of(option, given))
        case list() | tuple() | range() | set() | frozenset():
            return Category(tuple(sorted(given) if isinstance(given, (set, frozenset)) else given))
    raise Written.of(option, repr(given)[:60]).error(
        "CLAIM-070",
        "not a domain",
        note=f"a {type(given).__name__}",
        why="a domain is a text, a list of values, or a Domain",
        fix=f"{option}'integer:-1,1'",
    )


def parse(written: Written) -> Domain:
    """The domain that a text names.  Raises ClaimError that points at the part that is wrong."""
    if max(accumulate((letter == "(") - (letter == ")") for letter in written.text), default=0) > _DEEPEST:
        raise written.part(0, 1).error(
            "CLAIM-069",
            "the domain is nested too deeply",
            note="here",
            why=f"nobody's input has more than {_DEEPEST} levels",
            fix=written.with_value(_EXAMPLES["vector"]),
        )
    try:
        return _parse(written)
    except ClaimError as error:
        # What a constructor refuses is shown inside the text that was typed.
        if error.excerpt is not None and not error.excerpt.text.startswith(written.with_value("")):
            error.excerpt = written.excerpt(f"got {written.text[:40]}")
        raise


def _parse(written: Written) -> Domain:
    found = re.match(r"\s*([A-Za-z_]+)\s*([:(]|$)", written.text)
    if found is None or found[1].lower() in _CONSTANTS:
        return _values(written)
    word, sign = found[1].lower(), found[2]
    rest = written.part(found.end()).stripped()
    if word in ("vector", "record"):
        inside = _in_brackets(written, word, sign, rest)
        return _vector(inside) if word == "vector" else _record(inside)
    simple = {"any": Anything, "boolean": Boolean}
    if word in simple and not sign:
        return simple[word]()
    reader: dict[str, Callable[[Written], Domain]] = {"category": _category, "string": _string}
    if word in reader and sign == ":":
        return reader[word](rest)
    if word in ("real", "integer") and sign != "(":
        return _range(Real if word == "real" else Integer, rest if sign else None, word)
    raise _unknown(written, word)


def _values(written: Written) -> Category:
    return Category(tuple(_value(part) for part in written.split(",")))


def _value(written: Written) -> Any:
    text = written.text
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    return _quoted(written) if text.startswith('"') else natural(number(written))


def _quoted(written: Written) -> str:
    try:
        return str(json.loads(written.text))
    except json.JSONDecodeError as error:
        raise written.part(error.pos).error(
            "CLAIM-071",
            "not a quoted text",
            why=f"quotes are those of JSON: {error.msg}",
            fix=written.instead('"text"'),
        ) from None


def _plain(written: Written) -> str:
    if not written.text:
        raise written.error(
            "CLAIM-072", "a word is missing", why="an empty text is written with quotes", fix=written.instead('""')
        )
    return _quoted(written) if written.text.startswith('"') else written.text


def _category(written: Written) -> Category:
    return Category(tuple(_plain(part) for part in written.split(",")))


def _string(written: Written) -> Text:
    parts = written.split(",")
    if len(parts) != 2 or not parts[1].text.isdecimal() or len(parts[1].text) > 6:
        raise written.error(
            "CLAIM-073",
            "not a domain of texts",
            why="it is written string:ALPHABET,LONGEST",
            fix=written.with_value(_EXAMPLES["string"]),
        )
    return Text(_plain(parts[0]), int(parts[1].text))


def _range(kind: type[Real] | type[Integer], written: Written | None, word: str) -> Domain:
    if written is None:
        return kind()
    parts = written.split(",")
    if len(parts) != 2:
        raise written.error(
            "CLAIM-074",
            "a range has two ends",
            note=f"got {len(parts)}",
            why=f"it is written {word}:LOW,HIGH; an end may be inf or -inf",
            fix=written.with_value(_EXAMPLES[word]),
        )
    low = None if parts[0].text in ("-inf", "") else number(parts[0])
    return kind(low, None if parts[1].text in ("inf", "+inf", "") else number(parts[1]))


def _in_brackets(written: Written, word: str, sign: str, rest: Written) -> Written:
    if sign != "(" or not rest.text.endswith(")"):
        raise written.error(
            "CLAIM-075",
            f"a {word} is written with brackets",
            why="what belongs to it stands between ( and )",
            fix=written.with_value(_EXAMPLES[word]),
        )
    return rest.part(0, len(rest.text) - 1).stripped()


def _vector(inside: Written) -> Vector:
    parts = inside.split(";")
    if len(parts) == 1:
        return Vector(_parse(parts[0]))
    name, value = parts[1].cut("=")
    if len(parts) > 2 or name.text != "length" or value is None:
        raise parts[1].error(
            "CLAIM-076",
            "a vector has a domain and a length",
            why="after the semicolon only length= may stand",
            fix=parts[1].instead("length=3"),
        )
    return Vector(_parse(parts[0]), *length_in(value))


def length_in(written: Written) -> tuple[int, int | None]:
    """The shortest and the longest length that ``3``, ``1..3`` or ``1..`` says."""
    found = re.fullmatch(r"(\d{1,6})(\.\.(\d{1,6})?)?", written.text, re.ASCII)
    if found is None:
        raise written.error(
            "CLAIM-077",
            "not a length",
            why="a length is a whole number, or a range like 0..3",
            fix=written.instead("3"),
        )
    shortest = int(found[1])
    longest = shortest if found[2] is None else int(found[3]) if found[3] else None
    return shortest, longest


def _record(inside: Written) -> Record:
    fields = []
    for part in inside.split(";"):
        name, domain = part.cut("=")
        if domain is None:
            raise part.error(
                "CLAIM-078",
                "a field of a record has a name and a domain",
                why="it is written NAME=DOMAIN; fields are separated by semicolons",
                fix=part.instead("age=integer:0,120"),
            )
        fields.append((name.text, _parse(domain)))
    return Record(tuple(fields))


def _unknown(written: Written, word: str) -> ClaimError:
    near = nearest(word, _EXAMPLES)
    return written.error(
        "CLAIM-079",
        "not a domain",
        why=f"a domain is a list of numbers, or starts with {', '.join(_EXAMPLES)}",
        fix=written.with_value(_EXAMPLES[near or "integer"]),
    )
