"""Which inputs are neighbours: the question, and the neighbourhoods that measure a distance of numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

from dpverdict.claim.budget import Budget
from dpverdict.claim.compound_domain import Record, Vector, of_length
from dpverdict.claim.domain import Domain
from dpverdict.claim.exact_numbers import exact, reading, text_of
from dpverdict.claim.listed_domain import Category
from dpverdict.claim.patterns import Pattern, numeric_patterns
from dpverdict.claim.values import identity, items_of, shown
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError

Pair = tuple[Any, Any]


class Neighbourhood(ABC):
    """A relation between inputs.  Frozen; its text reads back as an equal one.

    An input counts as its own neighbour, which claims nothing; ``pairs`` and ``patterns`` leave such pairs out.
    """

    @property
    def symmetric(self) -> bool:
        """Whether (a′, a) is a pair of neighbours whenever (a, a′) is."""
        return True

    def are_neighbours(self, a: Any, b: Any) -> bool:
        """Whether b is a neighbour of a; exact, a float standing for its shortest decimal."""
        return self.why_not(a, b) is None

    @abstractmethod
    def why_not(self, a: Any, b: Any) -> str | None:
        """Why b is no neighbour of a, None if it is one."""

    @abstractmethod
    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """The neighbours of a in a finite domain, each once, a itself among them or not."""

    @abstractmethod
    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        """Pairs that are likely to show a violation; what is no pair of neighbours in the domain is dropped later."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The neighbourhood in the ADJACENCY grammar."""

    def why_useless(self, domain: Domain) -> str | None:
        """Why the domain can have no two different neighbours, None if it may have some."""
        return None

    @property
    def budget(self) -> Budget | None:
        """For vectors of one length: what their coordinates may spend; None where that is not how it is decided."""
        return None

    def patterns(self, domain: Domain, length: int | None = None) -> list[Pattern]:
        """StatDP's patterns of neighbours (table 1 of [ding2018detecting]) inside the domain, in both directions.

        Each stands there once, under its first name; for a neighbourhood that is not symmetric only the directions that
        it has.
        """
        where, found = of_length(domain, length), dict[object, Pattern]()
        for pattern in self._patterns(where):
            for one in (pattern, pattern.reversed()):
                key = (identity(one.input), identity(one.neighbour))
                inside = one.input in where and one.neighbour in where
                if key[0] != key[1] and key not in found and inside and self.are_neighbours(one.input, one.neighbour):
                    found[key] = one
        return list(found.values())

    def pairs(self, domain: Domain, length: int | None = None) -> Iterator[Pair]:
        """All ordered pairs of different neighbours in a finite domain, lazily, each once, in a fixed order."""
        where = of_length(domain, length)
        for a in where.members():
            itself = identity(a)
            for b in self.neighbours_of(a, where):
                if identity(b) != itself:
                    yield a, b

    def to_json(self) -> str:
        """The neighbourhood for JSON: its text."""
        return self.text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class _DistanceBudget(Budget):
    """What a distance of numbers leaves."""

    distance: Distance

    @property
    def start(self) -> Fraction:
        return self.distance._start()

    def spend(self, left: Fraction, a: Any, b: Any) -> Fraction | None:
        if identity(a) == identity(b):
            return left
        p, q = reading(a), reading(b)
        return None if p is None or q is None else self.distance._spend(left, q - p)

    @property
    def independent(self) -> bool:
        return isinstance(self.distance, MaxNorm)


class Distance(Neighbourhood):
    """Numbers that lie close to each other, coordinate by coordinate, in inputs of equal shape.

    What is left of the distance is threaded through the coordinates, so that only neighbours are ever built: a choice
    that is too far away is dropped at its own coordinate, and staying put is always possible.
    """

    word: ClassVar[str]
    radius: Fraction

    @property
    def budget(self) -> Budget:
        """The distance, coordinate by coordinate."""
        return _DistanceBudget(self)

    def _set_radius(self, radius: Any) -> None:
        exactly = exact(radius, "radius=")
        check_radius(exactly, Written.of("radius=", text_of(exactly)))
        object.__setattr__(self, "radius", exactly)

    @property
    def text(self) -> str:
        """``linf:1``, ``l1:1``, ``l2:1``, ``monotone:1``."""
        return f"{self.word}:{text_of(self.radius)}"

    @abstractmethod
    def _spend(self, left: Fraction, difference: Fraction) -> Fraction | None:
        """What is left of the distance after a coordinate that differs, None if that was too much."""

    @abstractmethod
    def _start(self) -> Fraction:
        """What can be spent on all coordinates."""

    @abstractmethod
    def _step(self, moved: int) -> Fraction:
        """How far each of so many coordinates can move at the same time, or a little less."""

    @abstractmethod
    def _too_far(self) -> str:
        """What every pair of neighbours has in common, for messages."""

    def why_not(self, a: Any, b: Any) -> str | None:
        """Another shape, something that is no number and differs, or too far away."""
        left: Fraction | None = self._start()
        for first, second in _coordinates(a, b):
            if identity(first) == identity(second):
                continue
            p, q = reading(first), reading(second)
            if p is None or q is None:
                return f"{shown(first)} and {shown(second)} differ and have no distance"
            assert left is not None
            left = self._spend(left, q - p)
            if left is None:
                return f"{shown(a)} and {shown(b)} are not neighbours: {self._too_far()}"
        return None

    def why_useless(self, domain: Domain) -> str | None:
        """Where there are no numbers."""
        match domain:
            case Vector():
                return self.why_useless(domain.item)
            case Record():
                reasons = [self.why_useless(part) for _, part in domain.fields]
                return reasons[0] if all(reasons) else None
            case Category() if sum(reading(value) is not None for value in domain.values) > 1:
                return None
            case _:
                return None if domain.numeric else f"{self.text} is a distance of numbers, and there are none"

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """By walking through the coordinates."""
        for b, _ in self._walk(a, domain, self._start()):
            yield b

    def _walk(self, a: Any, domain: Domain, left: Fraction) -> Iterator[tuple[Any, Fraction]]:
        match domain:
            case Vector():
                yield from self._walk_items(items_of(a) or [], 0, domain.item, left)
            case Record():
                yield from self._walk_fields(a, domain.fields, left)
            case _:
                centre = reading(a)
                for b in domain.near(a, self.radius):
                    number = reading(b)
                    rest = left if centre is None or number is None else self._spend(left, number - centre)
                    if rest is not None:
                        yield b, rest

    def _walk_items(self, a: list[Any], at: int, item: Domain, left: Fraction) -> Iterator[tuple[Any, Fraction]]:
        if at == len(a):
            yield [], left
            return
        for first, rest in self._walk(a[at], item, left):
            for others, final in self._walk_items(a, at + 1, item, rest):
                yield [first, *others], final

    def _walk_fields(
        self, a: Mapping[str, Any], fields: tuple[tuple[str, Domain], ...], left: Fraction
    ) -> Iterator[tuple[Any, Fraction]]:
        if not fields:
            yield {}, left
            return
        name, domain = fields[0]
        for first, rest in self._walk(a[name], domain, left):
            for others, final in self._walk_fields(a, fields[1:], rest):
                yield {name: first, **others}, final

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        return numeric_patterns(domain, self._step)


@dataclass(frozen=True)
class MaxNorm(Distance):
    """No coordinate differs by more than the radius."""

    word = "linf"
    radius: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        self._set_radius(self.radius)

    def _start(self) -> Fraction:
        return self.radius

    def _spend(self, left: Fraction, difference: Fraction) -> Fraction | None:
        return left if abs(difference) <= left else None

    def _step(self, moved: int) -> Fraction:
        return self.radius

    def _too_far(self) -> str:
        return f"no coordinate may differ by more than {text_of(self.radius)}"


@dataclass(frozen=True)
class SumNorm(Distance):
    """The differences of all coordinates add up to at most the radius."""

    word = "l1"
    radius: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        self._set_radius(self.radius)

    def _start(self) -> Fraction:
        return self.radius

    def _spend(self, left: Fraction, difference: Fraction) -> Fraction | None:
        rest = left - abs(difference)
        return rest if rest >= 0 else None

    def _step(self, moved: int) -> Fraction:
        return self.radius / moved

    def _too_far(self) -> str:
        return f"the differences may add up to {text_of(self.radius)}"


@dataclass(frozen=True)
class EuclideanNorm(Distance):
    """The squared differences of all coordinates add up to at most the squared radius."""

    word = "l2"
    radius: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        self._set_radius(self.radius)

    def _start(self) -> Fraction:
        return self.radius**2

    def _spend(self, left: Fraction, difference: Fraction) -> Fraction | None:
        rest = left - difference**2
        return rest if rest >= 0 else None

    def _step(self, moved: int) -> Fraction:
        # Rounded down to a number that people can read.
        return self.radius * Fraction(isqrt(10**6 // moved), 1000)

    def _too_far(self) -> str:
        return f"the squared differences may add up to {text_of(self.radius**2)}"


@dataclass(frozen=True)
class Monotone(Distance):
    """No coordinate differs by more than the radius, and all that differ do so in the same direction.

    The counting queries of one record more or less [durfee2019practical].
    """

    word = "monotone"
    radius: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        self._set_radius(self.radius)

    def _start(self) -> Fraction:
        # 0: no direction yet; 1 and -1: all coordinates rise, or fall.
        return Fraction(0)

    def _spend(self, left: Fraction, difference: Fraction) -> Fraction | None:
        if abs(difference) > self.radius or left * difference < 0:
            return None
        return left if difference == 0 else Fraction(1 if difference > 0 else -1)

    def _step(self, moved: int) -> Fraction:
        return self.radius

    def _too_far(self) -> str:
        return f"coordinates differ in one direction only, each by at most {text_of(self.radius)}"


def check_radius(value: Fraction, written: Written) -> None:
    """Refuse a radius that relates no two inputs."""
    if value <= 0:
        raise written.error(
            "CLAIM-050",
            "a radius is above 0",
            why="neighbours differ, and by no more than the radius",
            fix=written.instead("1"),
        )


def count(value: Any, option: str) -> int:
    """A whole number, at least 1."""
    exactly = exact(value, option)
    check_count(exactly, Written.of(option, text_of(exactly)))
    return int(exactly)


def check_count(value: Fraction, written: Written) -> None:
    """Refuse a number of changed items that is not whole, or below 1."""
    if value < 1 or value.denominator != 1:
        raise written.error(
            "CLAIM-051",
            "a number of changed items is whole and at least 1",
            why="neighbours differ in whole items",
            fix=written.instead("1"),
        )


def not_enumerable(text: str, domain: Domain) -> ClaimError:
    """The error of a neighbourhood that the domain has no use for."""
    return Written.of("adjacency=", text).error(
        "CLAIM-052",
        "this neighbourhood is about lists or records",
        why=f"the domain is {domain.text}",
        fix="--domain 'vector(integer:0,1; length=3)', or --length 3, or another --adjacency",
    )


def _coordinates(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of two inputs that stand in the same place; two different shapes give a pair that differs."""
    first, second = items_of(a), items_of(b)
    if first is not None and second is not None and len(first) == len(second):
        for left, right in zip(first, second, strict=True):
            yield from _coordinates(left, right)
    elif isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        for name in a:
            yield from _coordinates(a[name], b[name])
    else:
        yield a, b
