"""Neighbourhoods that are given: every pair, a list of pairs, a user's predicate or generator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from dpverdict.claim.budget import Budget
from dpverdict.claim.compound_domain import Vector, of_length
from dpverdict.claim.domain import Domain
from dpverdict.claim.neighbours import Neighbourhood, Pair
from dpverdict.claim.patterns import Pattern, numeric_patterns
from dpverdict.claim.values import identity, items_of, shown
from dpverdict.claim.written import Written
from dpverdict.errors import ClaimError, said_by

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Unlimited(Budget):
    """Every coordinate may differ."""

    @property
    def start(self) -> bool:
        return True

    def spend(self, left: bool, a: Any, b: Any) -> bool:
        return True

    @property
    def independent(self) -> bool:
        return True


@dataclass(frozen=True)
class AnyPair(Neighbourhood):
    """All inputs are neighbours of each other: local differential privacy."""

    @property
    def text(self) -> str:
        """``any``."""
        return "any"

    @property
    def budget(self) -> Budget:
        """Without a limit."""
        return _Unlimited()

    def why_not(self, a: Any, b: Any) -> None:
        """Nothing stands against it."""

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """All members."""
        return domain.members()

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        samples = domain.samples()
        yield Pattern("far apart", samples[0], samples[-1])
        yield from _widest(domain)


@dataclass(frozen=True)
class PairList(Neighbourhood):
    """The listed pairs, in the listed direction."""

    listed: tuple[Pair, ...]
    source: str = "pairs"

    def __post_init__(self) -> None:
        rows = []
        for pair in self.listed:
            two = items_of(pair)
            if two is None or len(two) != 2:
                raise Written.of("pairs:", shown(pair)).error(
                    "CLAIM-053",
                    "a pair of neighbours has two inputs",
                    why="a list of neighbours is a list of pairs",
                    fix="[[[0, 1], [1, 1]], [[0, 0], [0, 1]]]",
                )
            rows.append((two[0], two[1]))
        if not rows:
            raise Written.of("pairs:", "[]").error(
                "CLAIM-054",
                "the list of neighbours is empty",
                why="a claim about no pair says nothing",
                fix="[[[0, 1], [1, 1]]]",
            )
        object.__setattr__(self, "listed", tuple(rows))

    @property
    def symmetric(self) -> bool:
        """Whether every pair is listed in both directions."""
        keys = {(identity(a), identity(b)) for a, b in self.listed}
        return all((b, a) in keys for a, b in keys)

    @property
    def text(self) -> str:
        """``pairs:FILE``."""
        return f"pairs:{self.source}"

    def why_not(self, a: Any, b: Any) -> str | None:
        """A pair that is not listed, or listed in the other direction only."""
        keys = {(identity(first), identity(second)) for first, second in self.listed}
        key = (identity(a), identity(b))
        if key in keys or key[0] == key[1]:
            return None
        turned = " in this direction" if key[::-1] in keys else ""
        return f"{shown(a)} and {shown(b)} are not listed{turned}"

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """What stands beside it in the list."""
        itself, met = identity(a), set()
        for first, second in self.listed:
            key = identity(second)
            if identity(first) == itself and key not in met and second in domain:
                met.add(key)
                yield second

    def pairs(self, domain: Domain, length: int | None = None) -> Iterator[Pair]:
        """The listed pairs that lie in the domain, which need not be finite."""
        where, met = of_length(domain, length), set()
        for a, b in self.listed:
            key = (identity(a), identity(b))
            if key[0] != key[1] and key not in met and a in where and b in where:
                met.add(key)
                yield a, b

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        for at, (a, b) in enumerate(self.listed):
            yield Pattern(f"pair {at}", a, b)


class UserRelation(Neighbourhood):
    """A relation that a user's function decides."""

    function: Callable[..., Any]
    source: str

    @property
    def symmetric(self) -> bool:
        """What the function's attribute of this name says; without one, False."""
        return bool(getattr(self.function, "symmetric", False))

    @property
    def text(self) -> str:
        """``module:name``."""
        return self.source

    def _asked(self, question: Callable[[], Answer], *inputs: Any) -> Answer:
        try:
            return question()
        except Exception as error:
            raise Written.of(self.source, ", ".join(map(shown, inputs))).error(
                "CLAIM-055",
                f"the user's neighbourhood failed: {said_by(error)}",
                note="on these inputs",
                why="it has to answer for every input of the domain",
                fix="return False (or no neighbour) for inputs that it is not about",
            ) from error

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        yield from numeric_patterns(domain, lambda _: Fraction(1))
        samples = domain.samples()
        yield Pattern("far apart", samples[0], samples[-1])


@dataclass(frozen=True)
class Predicate(UserRelation):
    """A function of two inputs that says whether the second is a neighbour of the first."""

    function: Callable[[Any, Any], Any]
    source: str

    def why_not(self, a: Any, b: Any) -> str | None:
        """What the function answers."""
        return None if self._says(a, b) else f"{self.source} says that {shown(a)} and {shown(b)} are not neighbours"

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """The members for which the function says so: a predicate can only be tried on all of them."""
        return (b for b in domain.members() if self._says(a, b))

    def _says(self, a: Any, b: Any) -> bool:
        return self._asked(lambda: bool(self.function(a, b)), a, b)


@dataclass(frozen=True)
class Generator(UserRelation):
    """A function of one input that returns or yields its neighbours."""

    function: Callable[[Any], Iterable[Any]]
    source: str

    def why_not(self, a: Any, b: Any) -> str | None:
        """Whether it is among the neighbours that the function gives."""
        found = any(identity(other) == identity(b) for other in [a, *self._given(a)])
        return None if found else f"{self.source} does not give {shown(b)} as a neighbour of {shown(a)}"

    def neighbours_of(self, a: Any, domain: Domain) -> Iterator[Any]:
        """What the function gives and the domain has."""
        met = set()
        for b in self._given(a):
            key = identity(b)
            if key not in met and b in domain:
                met.add(key)
                yield b

    def _given(self, a: Any) -> list[Any]:
        return self._asked(lambda: list(self.function(a)), a)

    def _patterns(self, domain: Domain) -> Iterator[Pattern]:
        for a in domain.samples():
            for at, b in enumerate(self._given(a)):
                yield Pattern(f"neighbour {at}", a, b)
        yield from super()._patterns(domain)


def relation_of(function: Any, source: str, written: Written) -> UserRelation:
    """The relation that a function is: of two inputs a predicate, of one a generator.  Raises ClaimError."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    required = [one for one in parameters if one.default is one.empty and one.kind in (0, 1)]
    if callable(function) and len(required) in (1, 2):
        return Predicate(function, source) if len(required) == 2 else Generator(function, source)
    raise written.error(
        "CLAIM-056",
        "not a neighbourhood",
        note=f"a {type(function).__name__} with {len(required)} required arguments" if callable(function) else None,
        why="a neighbourhood is a function of two inputs that says yes or no, or of one that gives its neighbours",
        fix="def close(a, b): return …",
    )


def relation_error(written: Written, why: str) -> ClaimError:
    """The error of a file of pairs that cannot be read."""
    return written.error(
        "CLAIM-057", "not a file of pairs", why=why, fix="a .json file that holds [[[0, 1], [1, 1]], …]"
    )


def _widest(domain: Domain) -> Iterator[Pattern]:
    """StatDP's patterns over the whole width of the domain."""
    item = domain.item if isinstance(domain, Vector) else domain
    if item.numeric:
        samples = item.samples()
        yield from numeric_patterns(domain, lambda _: Fraction(samples[-1]) - Fraction(samples[0]) or Fraction(1))
