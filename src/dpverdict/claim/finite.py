"""Two exact finite distributions, brought to one list of outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError
from dpverdict.mechanism.outcome import key

Finite: TypeAlias = Mapping[Any, Fraction | int] | Sequence[Fraction | int]
"""Outputs with their probabilities, or the probabilities alone in an agreed order of outputs."""


def paired(law: Finite, neighbour_law: Finite) -> list[tuple[Fraction, Fraction]]:
    """For each output its two probabilities.  Raises ClaimError unless both are exact distributions."""
    if isinstance(law, Mapping) != isinstance(neighbour_law, Mapping):
        raise _wrong("neighbour_law=", neighbour_law, "both distributions are mappings, or both are sequences")
    if isinstance(law, Mapping) and isinstance(neighbour_law, Mapping):
        # One NaN is like another, and True is not 1: as outcomes are compared.
        first, second = ({key(output): rate for output, rate in one.items()} for one in (law, neighbour_law))
        pairs = [(first.get(output, 0), second.get(output, 0)) for output in dict.fromkeys([*first, *second])]
    elif len(law) != len(neighbour_law):
        raise _wrong("neighbour_law=", neighbour_law, "two sequences of probabilities are about the same outputs")
    else:
        assert isinstance(law, Sequence)
        assert isinstance(neighbour_law, Sequence)
        pairs = list(zip(law, neighbour_law, strict=True))
    return list(
        zip(
            _distribution([p for p, _ in pairs], "law=", law),
            _distribution([q for _, q in pairs], "neighbour_law=", neighbour_law),
            strict=True,
        )
    )


def _distribution(values: Iterable[object], option: str, law: Finite) -> list[Fraction]:
    exactly = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value < 0:
            raise _wrong(option, value, "an exact distribution consists of Fractions that are at least 0")
        exactly.append(Fraction(value))
    if sum(exactly) != 1:
        raise _wrong(option, law, f"probabilities sum up to 1, and these to {sum(exactly)}")
    return exactly


def _wrong(option: str, got: object, why: str) -> ClaimError:
    shown = repr(got)
    return Written.of(option, shown if len(shown) <= 60 else f"{shown[:60]}…").error(
        "CLAIM-013",
        "not two exact distributions",
        why=why,
        fix=f"{option}{{'yes': Fraction(3, 4), 'no': Fraction(1, 4)}}",
    )
