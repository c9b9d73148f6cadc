"""StatDP's patterns of neighbouring inputs (table 1 of [ding2018detecting]), for any sensitivity, inside a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverdict.claim.compound_domain import Record, Vector
from dpverdict.claim.domain import Domain
from dpverdict.claim.exact_numbers import reading
from dpverdict.claim.values import natural


@dataclass(frozen=True)
class Pattern:
    """Two neighbouring inputs, and what the way in which they differ is called."""

    name: str
    input: Any
    neighbour: Any

    def reversed(self) -> Pattern:
        """The same two inputs the other way round."""
        return Pattern(f"{self.name}, reversed", self.neighbour, self.input)


def directions(length: int) -> dict[str, str]:
    """How each coordinate moves in each category: up, down, or not at all."""
    less, more = length // 2, length - length // 2
    return {
        "one above": "+" + "0" * (length - 1),
        "one below": "-" + "0" * (length - 1),
        "one above, rest below": "+" + "-" * (length - 1),
        "one below, rest above": "-" + "+" * (length - 1),
        "half half": "-" * more + "+" * less,
        "all above": "+" * length,
        "all below": "-" * length,
        "X shape": "-" * less + "+" * more,
    }


def numeric_patterns(domain: Domain, step: Callable[[int], Fraction]) -> Iterator[Pattern]:
    """The patterns of the numbers of an input, whatever its shape; step says how far so many of them may move.

    The paper's base is 1 everywhere.  Where the domain is too narrow to move from one value both up and down, a
    coordinate that rises starts low and one that falls starts high; the X shape does so always.
    """
    coordinates = list(_coordinates(domain))
    length = sum(item.numeric for item in coordinates)
    if not length:
        return
    for name, moves in directions(length).items():
        reach = step(len(moves) - moves.count("0"))
        starts = {
            item: _starts(item, reach, flat=name != "X shape") for item in dict.fromkeys(coordinates) if item.numeric
        }
        a, b, directed = [], [], iter(moves)
        for item in coordinates:
            move = next(directed) if item.numeric else "0"
            # What stays is what the first coordinate starts from.
            start = starts[item][move if move != "0" else moves[0]] if item.numeric else None
            a.append(item.samples()[0] if start is None else _member(item, start))
            b.append(a[-1] if start is None or move == "0" else _member(item, item.span(start, reach)[move == "+"]))
        yield Pattern(name, _built(domain, iter(a)), _built(domain, iter(b)))


def _coordinates(domain: Domain) -> Iterator[Domain]:
    """The domains of the single values that an input of the usual length consists of."""
    match domain:
        case Vector():
            for _ in range(domain.usual_length()):
                yield from _coordinates(domain.item)
        case Record():
            for _, part in domain.fields:
                yield from _coordinates(part)
        case _:
            yield domain


def _built(domain: Domain, values: Iterator[Any]) -> Any:
    """The input that consists of these single values."""
    match domain:
        case Vector():
            return [_built(domain.item, values) for _ in range(domain.usual_length())]
        case Record():
            return {name: _built(part, values) for name, part in domain.fields}
        case _:
            return next(values)


def _starts(item: Domain, reach: Fraction, *, flat: bool) -> dict[str, Fraction]:
    """Where a coordinate starts that is to rise, and one that is to fall."""
    ends = [_inside(item, sample) for sample in item.samples()]
    candidates = [_inside(item, Fraction(1)), _inside(item, (ends[0] + ends[-1]) / 2), *ends]
    falls = {start: start - item.span(start, reach)[0] for start in candidates}
    rises = {start: item.span(start, reach)[1] - start for start in candidates}
    farthest = max(*falls.values(), *rises.values())
    middle = next((start for start in candidates if falls[start] == rises[start] == farthest), None)
    high = max(candidates, key=lambda start: falls[start]) if middle is None else middle
    if not flat:
        return {"+": item.span(high, reach)[0], "-": high}
    return {"+": max(candidates, key=lambda start: rises[start]) if middle is None else middle, "-": high}


def _inside(item: Domain, wish: Any) -> Fraction:
    return reading(item.clip(natural(wish) if isinstance(wish, Fraction) else wish)) or Fraction(0)


def _member(item: Domain, value: Fraction) -> Any:
    """The member that reads as the number: False, not 0, in a domain of booleans."""
    return next(iter(item.near(value, Fraction(0))), natural(value)) if item.size() is not None else natural(value)
