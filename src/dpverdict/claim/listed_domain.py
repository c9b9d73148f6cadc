"""Domains of values that can be listed: booleans, categories, short texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from dpverdict.claim.domain import Domain, Outside, geometric_sum, is_boolean
from dpverdict.claim.exact_numbers import exact, reading, text_of
from dpverdict.claim.values import identity, items_of, natural, shown
from dpverdict.claim.written import Written


@dataclass(frozen=True)
class Boolean(Domain):
    """False and True."""

    @property
    def numeric(self) -> bool:
        """They are, or count as such."""
        return True

    @property
    def text(self) -> str:
        """``boolean``."""
        return "boolean"

    def why_outside(self, value: Any) -> Outside | None:
        """Anything but a boolean; 0 and 1 are numbers."""
        return None if is_boolean(value) else Outside((), value, "is no boolean")

    def size(self) -> int:
        """Two."""
        return 2

    def members(self) -> Iterator[Any]:
        """False, then True."""
        yield from (False, True)

    def samples(self) -> tuple[Any, ...]:
        """Both."""
        return (False, True)


@dataclass(frozen=True)
class Category(Domain):
    """One of the listed values: numbers, texts, booleans, None."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        values = tuple(_listed(value) for value in self.values)
        keys = [identity(value) for value in values]
        twice = next((value for at, value in enumerate(values) if keys[at] in keys[:at]), None)
        if not values or len(set(keys)) < len(keys):
            raise Written.of("category:", ",".join(map(str, values))).error(
                "CLAIM-062",
                "a category lists its values once each" if values else "a category has at least one value",
                why=f"{shown(twice)} stands there twice" if values else "a claim about no input says nothing",
                fix="category:yes,no",
            )
        object.__setattr__(self, "values", values)

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers or booleans."""
        return all(reading(value) is not None for value in self.values)

    @property
    def text(self) -> str:
        """``-1,0,1``, or ``category:a,b`` where all are texts."""
        if all(isinstance(value, str) for value in self.values):
            return "category:" + ",".join(map(_word, self.values))
        return ",".join(_literal(value) for value in self.values)

    def to_json(self) -> object:
        """The values, each as its text."""
        return [value if isinstance(value, str) else _literal(value) for value in self.values]

    def why_outside(self, value: Any) -> Outside | None:
        """Anything that is not listed."""
        listed = identity(value) in {identity(other) for other in self.values}
        names = ", ".join(_literal(other) for other in self.values[:6]) + (", …" if len(self.values) > 6 else "")
        return None if listed else Outside((), value, f"is none of {names}")

    def clip(self, value: Any) -> Any:
        """The nearest number, where there are numbers; else the first value."""
        number = reading(value)
        if value in self or number is None or not self.numeric:
            return super().clip(value)
        return min(self.values, key=lambda other: abs(Fraction(other) - number))

    def size(self) -> int:
        """How many values are listed."""
        return len(self.values)

    def members(self) -> Iterator[Any]:
        """The values as they were listed."""
        yield from self.values

    def samples(self) -> tuple[Any, ...]:
        """The smallest and the largest number; of other values, the first and the last."""
        ends = (min(self.values), max(self.values)) if self.numeric else (self.values[0], self.values[-1])
        return ends if len(self.values) > 1 else ends[:1]


@dataclass(frozen=True)
class Text(Domain):
    """Texts over an alphabet, up to a length."""

    alphabet: str
    longest: int

    def __post_init__(self) -> None:
        wrong = not self.alphabet or len(set(self.alphabet)) < len(self.alphabet)
        if wrong or type(self.longest) is not int or self.longest < 0:
            raise Written.of("string:", f"{self.alphabet},{self.longest}").error(
                "CLAIM-063",
                "not a domain of texts",
                why="an alphabet has each letter once" if wrong else "the largest length is a whole number, at least 0",
                fix="string:abc,3",
            )

    @property
    def text(self) -> str:
        """``string:ALPHABET,LENGTH``."""
        return f"string:{_word(self.alphabet)},{self.longest}"

    def why_outside(self, value: Any) -> Outside | None:
        """No text, a letter that is not in the alphabet, or too long."""
        if not isinstance(value, str):
            return Outside((), value, "is no text")
        strange = next((at for at, letter in enumerate(value) if letter not in self.alphabet), None)
        if strange is not None:
            return Outside((strange,), value[strange], f"is not in the alphabet {self.alphabet}")
        return None if len(value) <= self.longest else Outside((), value, f"is longer than {self.longest}")

    def size(self) -> int:
        """How many texts there are."""
        return geometric_sum(len(self.alphabet), 0, self.longest)

    def members(self) -> Iterator[Any]:
        """Shorter texts first."""
        for length in range(self.longest + 1):
            yield from map("".join, product(self.alphabet, repeat=length))

    def samples(self) -> tuple[Any, ...]:
        """The first letter and the last one, as often as they fit."""
        first, last = self.alphabet[0] * self.longest, self.alphabet[-1] * self.longest
        return (first,) if first == last else (first, last)


def _listed(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if items_of(value) is not None or isinstance(value, dict):
        raise Written.of("category:", shown(value)).error(
            "CLAIM-065",
            "a category lists single values",
            why="lists and records have domains of their own",
            fix="vector(-1,0,1; length=2)",
        )
    return natural(exact(value, "domain="))


def _literal(value: Any) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return text_of(Fraction(value))


def _word(text: str) -> str:
    """A text as it stands in the grammar: quoted where it would be misread."""
    return text if re.fullmatch(r"[\w.+*-]+", text) else json.dumps(text, ensure_ascii=False)
