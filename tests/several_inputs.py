"""Random programs with several inputs, made to tempt the search for symmetries and directions.

Inputs stand in locations, thresholds, scales, chances, scores and conditions, with either sign, alone and twice; draws
of equal laws occur several times; outputs coincide.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from dpverdict import argmax, choose, exp
from dpverdict.mechanism import Mechanism

Step = Callable[[Any, Any, Any, list[Any]], bool]
"""A step of a run: noise, inputs, ε and slots; whether the run ends."""


def program(seed: int, length: int) -> Mechanism:
    """A random program over so many inputs."""
    rng = random.Random(seed)
    whole = rng.random() < 0.2
    steps = [_whole_step(rng, length) if whole else _step(rng, length) for _ in range(rng.randint(1, 2))]
    merged = rng.random() < 0.3

    def run(noise: Any, queries: Any, epsilon: Any) -> Any:
        slots: list[Any] = []
        for step in steps:
            if step(noise, queries, epsilon, slots):
                break
        return sum(slots) if merged else slots

    return Mechanism(run)


def _step(rng: random.Random, length: int) -> Step:
    kinds = [_threshold, _threshold, _winner, _winner, _voting, _chance, _condition, _scales, _cancelling, _again]
    return rng.choice(kinds)(rng, length)


def _place(rng: random.Random, length: int) -> Callable[[Any], Any]:
    """Where a draw is placed: an input, its opposite, a sum, a difference, nothing."""
    i, j, kind = rng.randrange(length), rng.randrange(length), rng.randrange(7)
    places: list[Callable[[Any], Any]] = [
        lambda q: q[i],
        lambda q: q[i],
        lambda q: q[i],
        lambda q: -q[i],
        lambda q: q[i] + q[j],
        lambda q: q[i] - q[j],
        lambda q: 0,
    ]
    return places[kind]


def _threshold(rng: random.Random, length: int) -> Step:
    """A noisy threshold for all inputs, each above or below; all scales equal or not."""
    signs = [rng.choice([1, 1, -1]) if rng.random() < 0.3 else 1 for _ in range(length)]
    scales = [rng.choice([2, 4]) if rng.random() < 0.3 else 4 for _ in range(length)]
    level, stops, limit_at = rng.randint(-1, 1), rng.random() < 0.5, _place(rng, length)
    moving = rng.random() < 0.3

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        limit = noise.laplace(limit_at(q) if moving else level, scale=2 / epsilon)
        for query, sign, scale in zip(q, signs, scales, strict=True):
            above = noise.laplace(sign * query, scale=scale / epsilon) >= limit
            slots.append(above)
            if stops and above:
                return True
        return False

    return run


def _winner(rng: random.Random, length: int) -> Step:
    """The largest of noisy inputs, with Laplace or exponential noise; one of them may be moved or turned."""
    shift, turned = rng.choice([0, 0, 1]), rng.random() < 0.2
    one_sided = rng.random() < 0.5

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        items = [-one if turned and not at else one for at, one in enumerate(q)]
        items[0] = items[0] + shift
        if one_sided:
            slots.append(argmax([noise.exponential(2 / epsilon, loc=one) for one in items]))
        else:
            slots.append(argmax([noise.laplace(one, scale=2 / epsilon) for one in items]))
        return False

    return run


def _voting(rng: random.Random, length: int) -> Step:
    """The exponential mechanism with inputs, or functions of them, for scores."""
    i, factor = rng.randrange(length), rng.choice([1, 1, -1])

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        scores = list(q)
        scores[i] = factor * scores[i]
        slots.append(noise.exponential_mechanism(scores, epsilon / 2))
        return False

    return run


def _chance(rng: random.Random, length: int) -> Step:
    """A coin whose chance an input decides."""
    i, edge = rng.randrange(length), rng.randint(-1, 1)

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        kept = noise.bernoulli(exp(epsilon) / (1 + exp(epsilon)))
        slots.append(kept == (q[i] >= edge))
        return False

    return run


def _condition(rng: random.Random, length: int) -> Step:
    """Another place or another threshold where a condition on inputs holds."""
    i, j, edge, place = rng.randrange(length), rng.randrange(length), rng.randint(0, 1), _place(rng, length)
    symbolic = rng.random() < 0.5

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        level = choose(q[i] >= edge, 0, 1) if symbolic else 0 if q[i] > q[j] else 1
        slots.append(noise.laplace(place(q), scale=2 / epsilon) >= level)
        return False

    return run


def _scales(rng: random.Random, length: int) -> Step:
    """An input decides how wide the noise is."""
    i, place = rng.randrange(length), _place(rng, length)
    narrow = rng.random() < 0.5

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        scale = (2 + q[i]) / epsilon if narrow else choose(q[i] > 0, 2 / epsilon, 3 / epsilon)
        slots.append(noise.laplace(place(q), scale=scale) >= 1)
        return False

    return run


def _cancelling(rng: random.Random, length: int) -> Step:
    """Inputs that are taken away again, wholly or in part."""
    i, j, place = rng.randrange(length), rng.randrange(length), _place(rng, length)

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        slots.append(noise.laplace(q[i], scale=2 / epsilon) - q[j] >= 0)
        slots.append(noise.laplace(place(q), scale=3 / epsilon) >= place(q) + 1)
        return False

    return run


def _again(rng: random.Random, length: int) -> Step:
    """One draw in two comparisons, and a second draw of the same law."""
    i, j, sign = rng.randrange(length), rng.randrange(length), rng.choice([1, -1])

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        one, other = noise.laplace(0, scale=2 / epsilon), noise.laplace(0, scale=2 / epsilon)
        slots.append(one >= q[i])
        slots.append((one if sign > 0 else other) >= sign * q[j] + 1)
        return False

    return run


def _whole_step(rng: random.Random, length: int) -> Step:
    """Geometric noise, with ties: the winner, or thresholds."""
    wins, turned, strict = rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.5

    def run(noise: Any, q: Any, epsilon: Any, slots: list[Any]) -> bool:
        items = [-one if turned and not at else one for at, one in enumerate(q)]
        noisy = [noise.discrete_laplace(one, scale=2 / epsilon) for one in items]
        if wins:
            slots.append(argmax(noisy))
        else:
            slots.extend(one > 0 if strict else one >= noisy[0] for one in noisy)
        return False

    return run
