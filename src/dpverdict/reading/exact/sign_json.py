"""Certificates of signs as JSON values, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, assert_never

from dpverdict.reading.exact.exponential import Exponential
from dpverdict.reading.exact.sign import AtPoint, Certificate, Factor, FactorProof, SeriesProof, Vanishes
from dpverdict.reading.exact.sign_roots import Box, Start, Survey
from dpverdict.reading.exact.sign_series import LONGEST

_FRACTION = re.compile(r"-?\d{1,4000}(?:/\d{1,4000})?", re.ASCII)
_LARGEST_MULTIPLICITY, _LARGEST_SCALE = 1 << 10, 1 << 20
_HIGHEST_ORDER, _MOST_BITS = 1 << 10, 1 << 20


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
    if isinstance(content, int):
        return SeriesProof(_whole(content, 0, LONGEST))
    if not isinstance(content, dict):
        raise TypeError(f"a certificate is a word, a whole number or an object, not {content!r}")
    factors = tuple(_read_factor(one) for one in content["factors"])
    return FactorProof(Exponential.parse(content["rest"]), factors, _fraction(content["place"]))


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
    survey, times = content["survey"], _whole(content["times"], 1, _LARGEST_MULTIPLICITY)
    # The boxes are in units of the scale that the search worked in.
    function = Exponential.parse(content["function"]).at_scale(_whole(content["scale"], 1, _LARGEST_SCALE))
    return Factor(function, times, None if survey is None else _read_survey(survey))


def _read_survey(content: Mapping[str, Any]) -> Survey:
    start, tail = content["start"], content["tail"]
    return Survey(
        None if start is None else Start(_whole(start[0], 0, _HIGHEST_ORDER), _read_box(start[1])),
        tuple(_read_box(box) for box in content["boxes"]),
        None if tail is None else _fraction(tail),
        (),
    )


def _box(box: Box) -> list[object]:
    return [str(box.low), str(box.high), box.order, box.bits]


def _read_box(content: Any) -> Box:
    low, high, order, bits = content
    return Box(_fraction(low), _fraction(high), _whole(order, 1, _HIGHEST_ORDER), _whole(bits, 1, _MOST_BITS))


def _whole(content: Any, least: int, most: int) -> int:
    """A whole number that costs no more than searches ever need: a certificate may come from anybody."""
    if type(content) is not int or not least <= content <= most:
        raise ValueError(f"a whole number from {least} to {most}, not {content!r}")
    return content


def _fraction(content: Any) -> Fraction:
    # Fraction itself would also work out 1e999999999.
    if not isinstance(content, str) or not _FRACTION.fullmatch(content):
        raise ValueError(f"a fraction is written 3 or -3/4, not {content!r}")
    return Fraction(content)
