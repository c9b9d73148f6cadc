"""Proofs for sets of outputs as JSON values, and back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpverdict.errors import DPVerdictError
from dpverdict.evidence.verify.sets import SetProof, SetQuestion, Stretch, by_shape
from dpverdict.evidence.verify.slack import AtEnd, AtPlace, Rounded, SlackProof
from dpverdict.reading.exact import sign_json


def to_json(proof: SetProof, question: SetQuestion) -> dict[str, object]:
    """The proof as JSON can hold it; shapes are numbered in the order of `by_shape`, which the reader finds again."""
    shapes = by_shape(question.comparison, question.bound.factor)
    return {
        "stretches": [[_stretch(one) for one in proof.stretches[shape]] for shape in shapes],
        "rooms": [[sorted(numbers), _room(room)] for numbers, room in proof.rooms.items()],
    }


def from_json(content: Any, question: SetQuestion) -> SetProof:
    """What `to_json` wrote.  Raises ValueError where it is something else."""
    shapes = by_shape(question.comparison, question.bound.factor)
    try:
        tables = [tuple(_read_stretch(one) for one in table) for table in content["stretches"]]
        rooms = {_numbers(numbers, len(shapes)): _read_room(room) for numbers, room in content["rooms"]}
        return SetProof(dict(zip(shapes, tables, strict=True)), rooms)
    except (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, DPVerdictError) as error:
        raise ValueError(f"no proof for sets of outputs: {type(error).__name__}: {error}") from None


def _stretch(one: Stretch) -> list[object]:
    high = None if one.high is None else str(one.high)
    return [str(one.low), high, "-" if one.is_negative else "+", sign_json.to_json(one.certificate)]


def _read_stretch(content: Any) -> Stretch:
    low, high, sign, certificate = content
    if sign not in ("+", "-"):
        raise ValueError(f"a sign is + or -, not {sign!r}")
    top = None if high is None else Fraction(high)
    return Stretch(Fraction(low), top, sign == "-", sign_json.from_json(certificate))


def _room(room: SlackProof) -> list[object]:
    match room:
        case AtPlace():
            return ["at"]
        case Rounded(constant, certificate):
            return ["rounded", str(constant), sign_json.to_json(certificate)]
        case AtEnd(rises, certificate):
            return ["rises" if rises else "falls", sign_json.to_json(certificate)]


def _read_room(content: Any) -> SlackProof:
    match content:
        case ["at"]:
            return AtPlace()
        case ["rounded", str(constant), certificate]:
            return Rounded(Fraction(constant), sign_json.from_json(certificate))
        case ["rises" | "falls" as way, certificate]:
            return AtEnd(way == "rises", sign_json.from_json(certificate))
        case _:
            raise ValueError(f"{content!r} shows no room")


def _numbers(content: Any, count: int) -> frozenset[int]:
    found = frozenset(content)
    if not all(type(at) is int and 0 <= at < count for at in found):
        raise ValueError(f"{content!r} are no numbers below {count}")
    return found
