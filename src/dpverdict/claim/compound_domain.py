"""Which inputs a claim is about: vectors of one domain, and records with a domain for each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from dpverdict.claim.domain import Domain, Outside, endless, geometric_sum
from dpverdict.claim.values import items_of
from dpverdict.claim.written import Written


@dataclass(frozen=True)
class Vector(Domain):
    """Lists whose items are members of a domain, of a fixed length or from a shortest to a longest one."""

    item: Domain
    shortest: int = 0
    longest: int | None = None

    def __post_init__(self) -> None:
        ends = (self.shortest, self.shortest if self.longest is None else self.longest)
        if any(type(end) is not int or end < 0 for end in ends) or ends[0] > ends[1]:
            written = f"{self.shortest}..{'' if self.longest is None else self.longest}"
            raise Written.of("length=", written).error(
                "CLAIM-066",
                "not a length",
                why="a vector has a length, at least 0, or a range from a shortest to a longest one",
                fix="vector(real; length=3), or length=0..3",
            )

    @property
    def text(self) -> str:
        """``vector(DOMAIN; length=3)``, ``vector(DOMAIN; length=1..3)``, ``vector(DOMAIN)``."""
        if self.shortest == self.longest:
            return f"vector({self.item.text}; length={self.shortest})"
        if self.longest is None and self.shortest == 0:
            return f"vector({self.item.text})"
        return f"vector({self.item.text}; length={self.shortest}..{'' if self.longest is None else self.longest})"

    def has_length(self, length: int) -> bool:
        """Whether lists of this length are members."""
        return self.shortest <= length and (self.longest is None or length <= self.longest)

    def why_outside(self, value: Any) -> Outside | None:
        """No list, of another length, or with an item that is outside."""
        items = items_of(value)
        if items is None:
            return Outside((), value, "is no list")
        if not self.has_length(len(items)):
            return Outside((), value, f"has {len(items)} items, not {self._lengths()}")
        for at, item in enumerate(items):
            outside = self.item.why_outside(item)
            if outside is not None:
                return Outside((at, *outside.place), outside.value, outside.why)
        return None

    def _lengths(self) -> str:
        if self.longest is None:
            return f"{self.shortest} or more"
        return str(self.shortest) if self.shortest == self.longest else f"{self.shortest} to {self.longest}"

    def clip(self, value: Any) -> Any:
        """The items clipped one by one, and cut off or filled up to the length."""
        items = items_of(value)
        if items is None:
            return super().clip(value)
        clipped = [self.item.clip(item) for item in items[: self.longest]]
        return clipped + [self.item.samples()[0]] * (self.shortest - len(clipped))

    def size(self) -> int | None:
        """The sizes of all lengths together."""
        item = self.item.size()
        if self.longest == 0:
            return 1
        if item is None or self.longest is None:
            return None
        return geometric_sum(item, self.shortest, self.longest)

    def members(self) -> Iterator[Any]:
        """Shorter lists first, each length in the order of an odometer."""
        if self.size() is None or self.longest is None:
            raise endless(self)
        items = list(self.item.members()) if self.longest else []
        for length in range(self.shortest, self.longest + 1):
            yield from map(list, product(items, repeat=length))

    def samples(self) -> tuple[Any, ...]:
        """Lists of one and the same sample, of the length that patterns have."""
        return tuple([item] * self.usual_length() for item in self.item.samples())

    def usual_length(self) -> int:
        """The length of patterns: the largest, but no more than five (StatDP's) or the shortest."""
        return max(self.shortest, 5 if self.longest is None else min(self.longest, 5))


@dataclass(frozen=True)
class Record(Domain):
    """Dictionaries with these fields, each with its domain."""

    fields: tuple[tuple[str, Domain], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.fields]
        if not names or len(set(names)) < len(names) or not all(map(str.isidentifier, names)):
            raise Written.of("record", f"({'; '.join(names)})").error(
                "CLAIM-067",
                "not a record",
                why="a record has one or more fields, each with a name of its own",
                fix="record(age=integer:0,120; smoker=boolean)",
            )

    @property
    def text(self) -> str:
        """``record(NAME=DOMAIN; NAME=DOMAIN)``."""
        return f"record({'; '.join(f'{name}={domain.text}' for name, domain in self.fields)})"

    def why_outside(self, value: Any) -> Outside | None:
        """No dictionary, other fields, or a field that is outside."""
        if not isinstance(value, Mapping):
            return Outside((), value, "is no record")
        for name, domain in self.fields:
            if name not in value:
                return Outside((), value, f"has no field {name}")
            outside = domain.why_outside(value[name])
            if outside is not None:
                return Outside((name, *outside.place), outside.value, outside.why)
        strange = next((name for name in value if name not in dict(self.fields)), None)
        return None if strange is None else Outside((str(strange),), value[strange], "is a field that is not expected")

    def clip(self, value: Any) -> Any:
        """The fields clipped one by one."""
        given = value if isinstance(value, Mapping) else {}
        return {
            name: domain.clip(given[name]) if name in given else domain.samples()[0] for name, domain in self.fields
        }

    def size(self) -> int | None:
        """The product of the fields' sizes."""
        sizes = [domain.size() for _, domain in self.fields]
        return None if None in sizes else prod(size for size in sizes if size is not None)

    def members(self) -> Iterator[Any]:
        """In the order of an odometer whose last field turns fastest."""
        if self.size() is None:
            raise endless(self)
        names = [name for name, _ in self.fields]
        for values in product(*(list(domain.members()) for _, domain in self.fields)):
            yield dict(zip(names, values, strict=True))

    def samples(self) -> tuple[Any, ...]:
        """All fields at their first sample, all at their last one."""
        first = {name: domain.samples()[0] for name, domain in self.fields}
        last = {name: domain.samples()[-1] for name, domain in self.fields}
        return (first,) if first == last else (first, last)


def of_length(domain: Domain, length: int | tuple[int, int | None] | None) -> Domain:
    """The domain of lists that ``--length`` asks for: vectors of the domain, or the domain's own vectors cut down."""
    if length is None:
        return domain
    shortest, longest = (length, length) if isinstance(length, int) else length
    if not isinstance(domain, Vector):
        return Vector(domain, shortest, longest)
    lengths_fit = domain.has_length(shortest) and (domain.longest is None or domain.has_length(longest or 0))
    if not lengths_fit:
        asked = str(shortest) if shortest == longest else f"{shortest}..{'' if longest is None else longest}"
        raise Written.of("length=", asked).error(
            "CLAIM-068",
            "the domain has no lists of this length",
            why=f"the domain is {domain.text}",
            fix=f"length={domain.shortest}, or another domain",
        )
    return Vector(domain.item, shortest, longest)
