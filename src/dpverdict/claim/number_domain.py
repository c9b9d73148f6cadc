"""Domains of numbers: real numbers and whole numbers between two ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpverdict.claim.domain import Domain, Outside, endless, is_boolean
from dpverdict.claim.exact_numbers import exact, reading, text_of
from dpverdict.claim.values import natural
from dpverdict.claim.written import Written


class Range(Domain):
    """Numbers between two ends, each of which may be missing."""

    word: ClassVar[str]
    low: Fraction | None
    high: Fraction | None

    @property
    def numeric(self) -> bool:
        """They are."""
        return True

    @property
    def text(self) -> str:
        """``integer:-1,1``, ``real:0,inf``; the word alone where both ends are missing."""
        if self.low is None and self.high is None:
            return self.word
        low = "-inf" if self.low is None else text_of(self.low)
        return f"{self.word}:{low},{'inf' if self.high is None else text_of(self.high)}"

    def _set_ends(self, low: Any, high: Any) -> None:
        first, last = _end(low, -math.inf), _end(high, math.inf)
        if first is not None and last is not None and first > last:
            raise Written.of(f"{self.word}:", f"{text_of(first)},{text_of(last)}").error(
                "CLAIM-060",
                "a range starts at its lower end",
                why="there is no number between these ends",
                fix=f"{self.word}:{text_of(last)},{text_of(first)}",
            )
        object.__setattr__(self, "low", first)
        object.__setattr__(self, "high", last)

    def why_outside(self, value: Any) -> Outside | None:
        """A number of another kind, or one beyond an end."""
        number = None if is_boolean(value) else reading(value)
        if number is None:
            return Outside((), value, "is no finite number" if isinstance(value, float) else "is no number")
        if self.low is not None and number < self.low:
            return Outside((), value, f"is below {text_of(self.low)}")
        if self.high is not None and number > self.high:
            return Outside((), value, f"is above {text_of(self.high)}")
        return self._why_not_kind(value, number)

    def _why_not_kind(self, value: Any, number: Fraction) -> Outside | None:
        return None

    def clip(self, value: Any) -> Any:
        """The nearest member of a number; of anything else, an end."""
        number = reading(value)
        if value in self or number is None:
            return super().clip(value)
        return natural(self._moved_in(number))

    def _moved_in(self, number: Fraction) -> Fraction:
        if self.low is not None and number < self.low:
            return self.low
        return self.high if self.high is not None and number > self.high else number

    def samples(self) -> tuple[Any, ...]:
        """The two ends; a missing end is one away from the other, or from 0."""
        low = self.low if self.low is not None else (self.high - 1 if self.high is not None else Fraction(0))
        high = self.high if self.high is not None else low + 1
        return (natural(low),) if low == high else (natural(low), natural(high))

    def span(self, value: Fraction, radius: Fraction) -> tuple[Fraction, Fraction]:
        """The radius, cut off at the ends."""
        return self._moved_in(value - radius), self._moved_in(value + radius)


@dataclass(frozen=True)
class Real(Range):
    """Real numbers from low to high."""

    word = "real"
    low: Fraction | None = None
    high: Fraction | None = None

    def __post_init__(self) -> None:
        self._set_ends(self.low, self.high)

    def size(self) -> int | None:
        """Infinite, but for a single number."""
        return 1 if self.low is not None and self.low == self.high else None

    def members(self) -> Iterator[Any]:
        """They cannot be listed, but for a single number."""
        if self.size() is None:
            raise endless(self)
        yield from self.samples()


@dataclass(frozen=True)
class Integer(Range):
    """Whole numbers from low to high."""

    word = "integer"
    low: Fraction | None = None
    high: Fraction | None = None

    def __post_init__(self) -> None:
        self._set_ends(self.low, self.high)
        for end in (self.low, self.high):
            if end is not None and end.denominator != 1:
                raise Written.of("integer:", text_of(end)).error(
                    "CLAIM-061",
                    "the ends of a range of integers are whole",
                    why="a range of integers holds whole numbers only",
                    fix=f"real:{text_of(end)},inf, or integer:{math.floor(end)},{math.ceil(end)}",
                )

    def _why_not_kind(self, value: Any, number: Fraction) -> Outside | None:
        return None if number.denominator == 1 else Outside((), value, "is not whole")

    def _moved_in(self, number: Fraction) -> Fraction:
        return super()._moved_in(Fraction(round(number)))

    def span(self, value: Fraction, radius: Fraction) -> tuple[Fraction, Fraction]:
        """The whole steps inside the radius, cut off at the ends."""
        step = math.floor(radius)
        return self._moved_in(value - step), self._moved_in(value + step)

    def near(self, value: Any, radius: Fraction) -> Iterator[Any]:
        """The whole numbers inside the radius, rising."""
        centre = reading(value)
        if centre is None:
            return
        low = math.ceil(centre - radius if self.low is None else max(centre - radius, self.low))
        high = math.floor(centre + radius if self.high is None else min(centre + radius, self.high))
        yield from range(low, high + 1)

    def size(self) -> int | None:
        """How many whole numbers lie between the ends."""
        return None if self.low is None or self.high is None else int(self.high - self.low) + 1

    def members(self) -> Iterator[Any]:
        """The whole numbers, rising."""
        if self.low is None or self.high is None:
            raise endless(self)
        yield from range(int(self.low), int(self.high) + 1)


def _end(value: Any, missing: float) -> Fraction | None:
    return None if value is None or value == missing else exact(value, "domain=")
