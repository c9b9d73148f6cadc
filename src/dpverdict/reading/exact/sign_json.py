"""Certificates of signs as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, assert_never

from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.sign import AtPoint, Certificate, Factor, FactorProof, SeriesProof, Vanishes
from dpverdict.reading.exact.sign_roots import Box, Start, Survey


def to_json(certificate: Certificate) -> object:
    """The certificate as JSON can hold it: a word, a number, or an object."""
    match certificate:
        case Vanishes():
            return "zero"
        case AtPoint():
            return "point"
        case SeriesProof(length):
            return length
        case FactorProof(rest, factors, place):
            return {"rest": rest.text(), "factors": [_factor(one) for one in factors], "place": str(place)}
        case _:
            assert_never(certificate)


def from_json(content: Any) -> Certificate:
    """What `to_json` wrote.  Raises ValueError, TypeError, KeyError or an InputError where it is something else."""
    if content == "zero":
        return Vanishes()
    if content == "point":
        return AtPoint()
    if isinstance(content, int) and not isinstance(content, bool) and content >= 0:
        return SeriesProof(content)
    factors = tuple(_read_factor(one) for one in content["factors"])
    return FactorProof(Exponential.parse(content["rest"]), factors, Fraction(content["place"]))


def _factor(factor: Factor) -> dict[str, object]:
    survey = factor.survey
    return {
        "function": factor.function.text(),
        "scale": factor.function.scale,
        "times": factor.multiplicity,
        "survey": None
        if survey is None
        else {
            "start": None if survey.start is None else [survey.start.order, _box(survey.start.box)],
            "boxes": [_box(box) for box in survey.boxes],
            "tail": None if survey.tail is None else str(survey.tail),
        },
    }


def _read_factor(content: Mapping[str, Any]) -> Factor:
    survey, times = content["survey"], content["times"]
    if not isinstance(times, int) or times < 1:
        raise ValueError(f"a multiplicity is at least 1, not {times!r}")
    # The boxes are in units of the scale that the search worked in.
    function = Exponential.parse(content["function"]).at_scale(content["scale"])
    return Factor(function, times, None if survey is None else _read_survey(survey))


def _read_survey(content: Mapping[str, Any]) -> Survey:
    start, tail = content["start"], content["tail"]
    return Survey(
        None if start is None else Start(int(start[0]), _read_box(start[1])),
        tuple(_read_box(box) for box in content["boxes"]),
        None if tail is None else Fraction(tail),
        (),
    )


def _box(box: Box) -> list[object]:
    return [str(box.low), str(box.high), box.order, box.bits]


def _read_box(content: Any) -> Box:
    low, high, order, bits = content
    if not 0 < int(bits) < 1 << 20 or not 0 < int(order) < 1 << 10:
        raise ValueError(f"a box of order {order!r} and {bits!r} bits")
    return Box(Fraction(low), Fraction(high), int(order), int(bits))
