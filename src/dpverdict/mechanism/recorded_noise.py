"""Real noise that remembers what it gave, and that can be made wild.

Holding a program against its function needs noise that reaches the rare branches too.  Any values that the laws can
take will do, however unlikely: so a wild source stretches real noise by a factor that is drawn anew for each call
(in half of the runs towards one side only), gives finite laws all their outcomes equally often, and other laws now
and then a value at or near those that the program compares them with.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpverdict.mechanism.noise import RealNoise, options_of

_MARGIN = 1e-6
"""A probability so close to 0 or 1 is left alone: its rarer outcome may be there through rounding only."""

_SPECIAL_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scalar of noise as the function received it, and the scalars that it was asked for with."""

    method: str
    outcome: Any
    given: Mapping[str, Any]


class RecordedNoise:
    """A noise source that remembers every scalar that it gives."""

    def __init__(self, generator: np.random.Generator, *, wild: bool, special: Sequence[int] = ()) -> None:
        self._real = RealNoise(generator)
        self._generator = generator
        self._wild = wild
        self._special = special
        self._side = (-1, 0, 0, 1)[int(generator.integers(4))] if wild else 0
        self.record: list[Drawn] = []

    def __getattr__(self, method: str) -> Any:
        real = getattr(self._real, method)

        def call(*args: Any, **keywords: Any) -> Any:
            outcome = real(*args, **keywords)
            bound = _signature(method).bind(None, *args, **keywords)
            bound.apply_defaults()
            given = bound.arguments
            if not isinstance(outcome, np.ndarray):
                made = self._made(method, outcome, given)
                self.record.append(Drawn(method, made, given))
                return made
            for at, single in _each(given, outcome.shape):
                made = self._made(method, outcome[at].item() if outcome.dtype != object else outcome[at], single)
                outcome[at] = made
                self.record.append(Drawn(method, made, single))
            return outcome

        return call

    def _made(self, method: str, outcome: Any, given: Mapping[str, Any]) -> Any:
        if not self._wild:
            return outcome
        chance = self._generator
        stretch = math.exp(2 * chance.normal())
        match method:
            case "exponential":
                return float(given["loc"] + stretch * (outcome - given["loc"]))
            case "laplace" | "normal" | "gumbel":
                if self._special and chance.random() < _SPECIAL_SHARE:
                    return float(chance.choice(self._special) + chance.normal())
                return float(given["loc"] + self._sided(stretch * (outcome - given["loc"])))
            case "discrete_laplace" | "discrete_gaussian":
                if self._special and chance.random() < _SPECIAL_SHARE:
                    return int(chance.choice(self._special))
                return int(given["loc"]) + round(self._sided(stretch * (outcome - int(given["loc"]))))
            case "truncated_discrete_laplace" | "truncated_geometric":
                return int(chance.integers(int(given["low"]), int(given["high"]), endpoint=True))
            case "bernoulli":
                return bool(chance.random() < 0.5) if _MARGIN < given["p"] < 1 - _MARGIN else outcome
            case "choice":
                weights = given["p"]
                options = options_of(given["a"])
                if weights is not None:
                    options = tuple(o for o, weight in zip(options, weights, strict=True) if weight > _MARGIN)
                return options[int(chance.integers(len(options)))]
            case "exponential_mechanism":
                values = len(given["scores"]) if given["values"] is None else given["values"]
                options = options_of(list(values) if isinstance(values, range) else values)
                return options[int(chance.integers(len(options)))]
            case _:
                return outcome

    def _sided(self, distance: float) -> float:
        return self._side * abs(distance) if self._side else distance


@lru_cache
def _signature(method: str) -> inspect.Signature:
    return inspect.signature(getattr(RealNoise, method))


_BROADCAST = ("loc", "scale", "low", "high")


def _each(given: Mapping[str, Any], shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """For each place of an array of draws, the scalars that this draw was asked for with."""
    spread: dict[str, Any] = {
        name: np.broadcast_to(np.asarray(value), shape)
        for name, value in given.items()
        if name in _BROADCAST or (name == "p" and "a" not in given)
    }
    for at in np.ndindex(*shape):
        yield at, {**given, **{name: array[at].item() for name, array in spread.items()}}
