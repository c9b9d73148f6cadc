"""The exact output probabilities of a mechanism, as a value: `dpverdict.distribution`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverdict.errors import InputError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.outcome import Mapping as FrozenMapping
from dpverdict.mechanism.outcome import Outcome, Raised
from dpverdict.reading.exact.epsilon_ranges import EpsilonRange
from dpverdict.reading.exact.exact_program import Distribution
from dpverdict.reading.exact.read import exact_reading
from dpverdict.target import load


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output: its probability as an expression in eps, and its value where ε is known."""

    output: Outcome
    probability: str
    value: str | None
    within: EpsilonRange


@dataclass(frozen=True, slots=True)
class ExactDistribution:
    """Every output of a mechanism on one input; a range of ε on which it behaves differently has rows of its own."""

    target: str
    input: Any
    epsilon: Fraction | None
    outputs: tuple[OutputRow, ...]

    def to_json(self) -> dict[str, object]:
        """What `dpverdict distribution --json` prints."""
        several = len({row.within for row in self.outputs}) > 1
        return {
            "target": self.target,
            "input": self.input,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "outputs": [_as_json(row, several) for row in self.outputs],
        }

    def __bool__(self) -> bool:
        raise TypeError("a distribution is neither true nor false: look at its outputs")


def distribution(
    target: Any,
    input: Any,
    *,
    epsilon: Fraction | int | float | str | None = None,
    args: Mapping[str, Any] | None = None,
) -> ExactDistribution:
    """The exact probability of every output of a mechanism (an object, a function or a TARGET) on an input.

    Probabilities hold for all ε > 0, or for those of their row's range; `epsilon` adds 30 digits at one ε (a
    float is read as its decimal).  Raises `UntraceableError` and `UnreadableError` where there is no exact form.
    """
    mechanism = load(target) if isinstance(target, str) else target
    mechanism = mechanism if isinstance(mechanism, Mechanism) else Mechanism(mechanism)
    at = None if epsilon is None else _exact(epsilon)
    exact = exact_reading(mechanism, input, args)
    fixed = mechanism.epsilon_name is None or mechanism.epsilon_name in (args or {})
    point = Fraction(1) if at is None and fixed else at
    ranges = [within for within in exact.ranges(input) if point is None or point in within]
    rows = tuple(row for within in ranges for row in _rows(exact.distribution(input, within), point))
    return ExactDistribution(target if isinstance(target, str) else mechanism.name, input, at, rows)


def _exact(epsilon: Fraction | float | str) -> Fraction:
    try:
        value = Fraction(repr(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon)
    except (ValueError, ZeroDivisionError, TypeError):
        value = Fraction(0)
    if value <= 0:
        raise InputError(
            "INPUT-021",
            "epsilon must be finite and above 0",
            place=f"got {epsilon!r}",
            why="ε measures privacy loss, and the noise of a mechanism is scaled by 1/ε",
            fix="epsilon=Fraction(1, 2)",
        )
    return value


def _rows(found: Distribution, point: Fraction | None) -> Iterator[OutputRow]:
    for one in found.outputs:
        value = None if point is None else found.digits(one.probability, point)
        yield OutputRow(one.output, found.text(one.probability), value, found.within)


def _as_json(row: OutputRow, with_range: bool) -> dict[str, object]:
    shown: dict[str, object] = {"output": plain(row.output)}
    if isinstance(row.output, Raised):
        shown = {"output": None, "exception": row.output.exception}
    shown["probability"] = row.probability
    if row.value is not None:
        shown["value"] = row.value
    return shown | ({"range": str(row.within)} if with_range else {})


def plain(outcome: Outcome) -> object:
    """An outcome as JSON knows it."""
    match outcome:
        case tuple():
            return [plain(item) for item in outcome]
        case FrozenMapping():
            return {str(name): plain(item) for name, item in outcome.items()}
        case Raised():
            return {"exception": outcome.exception}
        case float() if not math.isfinite(outcome):
            return str(outcome)
        case _:
            return outcome
