"""Which inputs a claim is about: the questions that every domain answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverdict.claim.exact_numbers import reading
from dpverdict.claim.values import identity, shown
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError

Place = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """Why a value lies outside a domain, and which part of it."""

    place: Place
    value: object
    why: str

    def __str__(self) -> str:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.place)
        return f"{where}{': ' if where else ''}{shown(self.value)} {self.why}"


class Domain(ABC):
    """A set of inputs.  Frozen; its text reads back as an equal domain."""

    @property
    def numeric(self) -> bool:
        """Whether its members are numbers (booleans count as 0 and 1)."""
        return False

    @abstractmethod
    def why_outside(self, value: Any) -> Outside | None:
        """Why the value is no member, None if it is one."""

    @abstractmethod
    def size(self) -> int | None:
        """How many members there are, None for infinitely many."""

    @abstractmethod
    def members(self) -> Iterator[Any]:
        """All members in a fixed order.  Raises ClaimError where there are infinitely many."""

    @abstractmethod
    def samples(self) -> tuple[Any, ...]:
        """One or more members, far apart: the ends of a range; patterns are made of them."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The domain in the grammar of docs/claims.md."""

    def clip(self, value: Any) -> Any:
        """A member near the value: the value itself if it is one."""
        return value if value in self else self.samples()[0]

    def near(self, value: Any, radius: Fraction) -> Iterator[Any]:
        """The members that are numbers within the radius of a number, in the domain's order; of no number, itself."""
        yield from _near(self.members(), value, radius)

    def span(self, value: Fraction, radius: Fraction) -> tuple[Fraction, Fraction]:
        """The farthest numbers below and above a member that are members too, within the radius."""
        numbers = [number for number in map(reading, self.near(value, radius)) if number is not None]
        return min(numbers, default=value), max(numbers, default=value)

    def to_json(self) -> object:
        """The domain for JSON: its text."""
        return self.text

    def __contains__(self, value: object) -> bool:
        return self.why_outside(value) is None

    def __str__(self) -> str:
        return self.text


def _near(members: Iterator[Any], value: Any, radius: Fraction) -> Iterator[Any]:
    centre = reading(value)
    for member in members:
        number = reading(member)
        if centre is None or number is None:
            if identity(member) == identity(value):
                yield member
        elif abs(number - centre) <= radius:
            yield member


@dataclass(frozen=True)
class Anything(Domain):
    """Every input."""

    @property
    def numeric(self) -> bool:
        """They are, or count as such."""
        return True

    @property
    def text(self) -> str:
        """``any``."""
        return "any"

    def why_outside(self, value: Any) -> None:
        """Nothing is outside."""

    def size(self) -> None:
        """Infinite."""

    def members(self) -> Iterator[Any]:
        """They cannot be listed."""
        raise endless(self)

    def samples(self) -> tuple[Any, ...]:
        """0 and 1."""
        return (0, 1)

    def span(self, value: Fraction, radius: Fraction) -> tuple[Fraction, Fraction]:
        """The whole radius."""
        return value - radius, value + radius


def endless(domain: Domain) -> ClaimError:
    """The error of listing infinitely many members."""
    return Written.of("domain=", domain.text).error(
        "CLAIM-064",
        "the domain has infinitely many members",
        why="pairs can only be listed where inputs can",
        fix="a finite domain, as in integer:-1,1 or -1,0,1, with a length: vector(integer:-1,1; length=3)",
    )


def geometric_sum(base: int, low: int, high: int) -> int:
    """base^low + … + base^high, for a base of at least 1; how many lists there are of these lengths."""
    return high - low + 1 if base == 1 else int(base ** (high + 1) - base**low) // (base - 1)


def is_boolean(value: Any) -> bool:
    """Whether it is True or False, Python's or NumPy's; 0 and 1 are numbers."""
    return isinstance(value, bool) or (type(value).__name__ in ("bool", "bool_") and not hasattr(value, "__len__"))
