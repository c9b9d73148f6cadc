"""Neighbourhoods of lists and records: some items substituted, added or removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any

from dpverdict.claim.budget import Budget
from dpverdict.claim.compound_domain import Record, Vector
from dpverdict.claim.domain import Anything, Domain
from dpverdict.claim.neighbours import Neighbourhood, count, not_enumerable
from dpverdict.claim.patterns import Pattern
from dpverdict.claim.values import identity, items_of, shown


@dataclass(frozen=True)
class _Changes(Budget):
    """How many coordinates may still differ."""

    items: int

    @property
    def start(self) -> int:
        return self.items

    def spend(self, left: int, a: Any, b: Any) -> int | None:
        if identity(a) == identity(b):
            return left
        return left - 1 if left else None


@dataclass(frozen=True)
class Substitute(Neighbourhood):
    """Lists of equal length that differ in at most so many items; records that differ in so many fields."""

    items: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", count(self.items, "items="))

    @property
    def budget(self) -> Budget:
        """So many changes, wherever they are."""
        return _Changes(self.items)

    @property
    def text(self) -> str:
        """``substitute:K``."""
        return f"substitute:{self.items}"

    def why_not(self, a: Any, b: Any) -> str | None:
        """No two lists of equal length, or too many items that differ."""
        first, second = _parts(a), _parts(b)
        if first is None or second is None or first.keys() != second.keys():
            return f"{shown(a)} and {shown(b)} are not two lists of equal length, nor records with the same fields"
        changed = sum(identity(first[at]) != identity(second[at]) for at in first)
        if changed > self.items:
            return f"{shown(a)} and {shown(b)} are not neighbours: {changed} items differ, not {self.items}"
        return None

    def why_useless(self, domain: Domain) -> str | None:
        """Where there are no items."""
        fits = isinstance(domain, (Vector, Record, Anything))
        return None if fits else f"{self.text} is about lists and records"

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """Every choice of at most so many places, with every other value there."""
        parts = _parts(a)
        if parts is None or not isinstance(domain, (Vector, Record)):
            raise not_enumerable(self.text, domain)
        fields = dict(domain.fields) if isinstance(domain, Record) else dict.fromkeys(parts, domain.item)
        others = {at: _others(fields[at], value) for at, value in parts.items()}
        for changed in range(1, min(self.items, len(parts)) + 1):
            for places in combinations(parts, changed):
                yield from _filled(a, places, others)

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        for first, last in _contrasts(domain):
            parts, wanted = _parts(first), _parts(last)
            if parts is None or wanted is None:
                continue
            places = list(parts)
            for name, chosen in (("first", places[: self.items]), ("last", places[-self.items :])):
                yield Pattern(f"{name} changed", first, _replaced(first, {at: wanted[at] for at in chosen}))


@dataclass(frozen=True)
class AddRemove(Neighbourhood):
    """Lists of which one arises from the other by adding and removing at most so many items.

    The order of the items that stay is kept, unless the neighbourhood is unordered: then a list stands for the multiset
    of its items, and lists that differ in their order only are neighbours too.
    """

    items: int = 1
    unordered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", count(self.items, "items="))

    @property
    def text(self) -> str:
        """``add-remove:K``, ``add-remove:K,unordered``."""
        return f"add-remove:{self.items}{',unordered' if self.unordered else ''}"

    def why_not(self, a: Any, b: Any) -> str | None:
        """No two lists, or too many items to add and remove."""
        first, second = _keys(a), _keys(b)
        if first is None or second is None:
            return f"{shown(a)} and {shown(b)} are not two lists"
        if self.unordered:
            left, right = Counter(first), Counter(second)
            near = (left - right).total() + (right - left).total() <= self.items
        else:
            near = edits_within(first, second, self.items)
        return (
            None if near else f"{shown(a)} and {shown(b)} are not neighbours: more than {self.items} added or removed"
        )

    def why_useless(self, domain: Domain) -> str | None:
        """Where there are no lists, or only lists of one length, which one item more or less leaves."""
        if not isinstance(domain, (Vector, Anything)):
            return f"{self.text} is about lists"
        fixed = isinstance(domain, Vector) and domain.shortest == domain.longest
        # Unordered, lists of one length are neighbours in another order.
        useless = fixed and self.items == 1 and not self.unordered
        return f"all lists are of one length, which {self.text} changes" if useless else None

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """First remove, then add: every neighbour arises so, and what was met before is left out."""
        items = items_of(a)
        if items is None or not isinstance(domain, Vector):
            raise not_enumerable(self.text, domain)
        additions, met = list(domain.item.members()), set[Hashable]()
        for removed in range(min(self.items, len(items)) + 1):
            for kept in combinations(items, len(items) - removed):
                for added in range(self.items - removed + 1):
                    if domain.has_length(len(kept) + added):
                        for new in combinations_with_replacement(additions, added):
                            yield from self._made(list(kept), list(new), met)

    def _made(self, kept: list[Any], added: list[Any], met: set[Hashable]) -> Iterator[Any]:
        if self.unordered:
            # All orders of a multiset are met together.
            multiset = frozenset(Counter(map(identity, [*kept, *added])).items())
            if multiset not in met:
                met.add(multiset)
                yield from arrangements([*kept, *added])
            return
        for made in _inserted(kept, added):
            key = identity(made)
            if key not in met:
                met.add(key)
                yield made

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        for first, last in _contrasts(domain):
            items, others = items_of(first), items_of(last)
            if items is None or others is None:
                continue
            few = self.items
            for base in (items[few:], items):
                for name, new in (("added", items[:few]), ("another kind added", others[:few])):
                    yield Pattern(f"{name} at the start", base, [*new, *base])
                    yield Pattern(f"{name} at the end", base, [*base, *new])
            yield Pattern("exchanged", items, [*others[: few // 2], *items[few // 2 :]])


def edits_within(first: list[Hashable], second: list[Hashable], most: int) -> bool:
    """Whether at most so many insertions and deletions lead from one sequence to the other.

    Myers' greedy algorithm: for each number of edits, how far one gets on each diagonal; (n + m)·most steps.
    """
    farthest = {1: 0}
    for edits in range(most + 1):
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and farthest.get(diagonal - 1, -1) < farthest.get(diagonal + 1, -1)
            )
            x = farthest.get(diagonal + 1, 0) if down else farthest[diagonal - 1] + 1
            while x < len(first) and 0 <= x - diagonal < len(second) and first[x] == second[x - diagonal]:
                x += 1
            farthest[diagonal] = x
            if x >= len(first) and x - diagonal >= len(second):
                return True
    return False


def arrangements(items: list[Any]) -> Iterator[list[Any]]:
    """All different orders of the items."""
    if not items:
        yield []
        return
    seen = set()
    for at, item in enumerate(items):
        key = identity(item)
        if key not in seen:
            seen.add(key)
            for rest in arrangements(items[:at] + items[at + 1 :]):
                yield [item, *rest]


def _inserted(kept: list[Any], added: list[Any]) -> Iterator[list[Any]]:
    """The kept items in their order with the added ones anywhere, in any order."""
    for new in arrangements(added):
        for places in combinations(range(len(kept) + len(new)), len(new)):
            old, fresh = iter(kept), iter(new)
            yield [next(fresh) if at in places else next(old) for at in range(len(kept) + len(new))]


def _keys(value: Any) -> list[Hashable] | None:
    items = items_of(value)
    return None if items is None else [identity(item) for item in items]


def _parts(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, Mapping):
        return dict(value)
    items = items_of(value)
    return None if items is None else dict(enumerate(items))


def _replaced(value: Any, new: Mapping[Any, Any]) -> Any:
    if isinstance(value, Mapping):
        return {**value, **new}
    return [new.get(at, item) for at, item in enumerate(value)]


def _others(domain: Domain, value: Any) -> list[Any]:
    itself = identity(value)
    return [other for other in domain.members() if identity(other) != itself]


def _filled(value: Any, places: tuple[Any, ...], others: Mapping[Any, list[Any]]) -> Iterator[Any]:
    if not places:
        yield _replaced(value, {})
        return
    for new in others[places[0]]:
        yield from _filled(_replaced(value, {places[0]: new}), places[1:], others)


def _contrasts(domain: Domain) -> Iterator[tuple[Any, Any]]:
    """Pairs of samples that differ as much as the domain allows, both ways."""
    samples = domain.samples()
    yield samples[0], samples[-1]
    yield samples[-1], samples[0]
