"""Random programs over the language: what exact probabilities are tried on.

In a *star* program every comparison is about the first draw and at most one other, so that its probabilities are single
integrals of products; `wide` programs compare any draws, up to sums of three.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpverdict import argmax, choose, discretise, exp, maximum, minimum
from dpverdict.mechanism import Mechanism

SCALES = [Fraction(1), Fraction(2), Fraction(4), Fraction(4, 3), Fraction(1, 2)]
REAL, WHOLE = ("laplace", "exponential", "uniform"), ("discrete_laplace", "truncated", "clamped")

Plane = tuple[dict[int, Fraction], Fraction]
Step = Callable[["Run"], bool]


@dataclass
class Run:
    """A run of a random program in Python."""

    noise: Any
    epsilon: Any
    draws: list[Any]
    slots: list[Any] = field(default_factory=list)
    booleans: list[Any] = field(default_factory=list)


@dataclass
class Plan:
    """A random program: its draws as (law, scale, location), its steps, and where comparisons change their answers."""

    draws: list[tuple[str, Fraction, Fraction]]
    steps: list[Step] = field(default_factory=list)
    planes: list[Plane] = field(default_factory=list)

    def mechanism(self) -> Mechanism:
        """The program as a mechanism whose input is the list of locations."""

        def program(noise: Any, places: Any, epsilon: Any) -> Any:
            run = Run(noise, epsilon, [_draw(noise, *each, epsilon) for each in zip(self.draws, places, strict=True)])
            for step in self.steps:
                if step(run):
                    break
            return run.slots

        return Mechanism(program)

    @property
    def input(self) -> list[int | float]:
        """The locations."""
        return [int(place) if place.denominator == 1 else float(place) for _, _, place in self.draws]


def _draw(noise: Any, law: tuple[str, Fraction, Fraction], place: Any, epsilon: Any) -> Any:
    name, (top, bottom), _ = law[0], law[1].as_integer_ratio(), law[2]
    scale = top / (bottom * epsilon)
    match name:
        case "laplace":
            return noise.laplace(place, scale=scale)
        case "exponential":
            return noise.exponential(scale, loc=place)
        case "uniform":
            return noise.uniform(-1, 2) + place
        case "discrete_laplace":
            return noise.discrete_laplace(place, scale=scale)
        case "truncated":
            return noise.truncated_discrete_laplace(-2, 2, loc=place, scale=scale)
        case _:
            return noise.truncated_geometric(-1, 3, loc=place, scale=scale)


def star(seed: int) -> Plan:
    """A program whose comparisons are about the first draw and at most one other."""
    rng = random.Random(seed)
    laws = rng.choice([REAL, REAL, WHOLE])
    plan = Plan([_law(rng, laws) for _ in range(rng.randint(1, 4 if laws is REAL else 2))])
    for _ in range(rng.randint(1, 3)):
        plan.steps.append(_star_step(rng, plan, laws is WHOLE))
    return plan


def wide(seed: int) -> Plan:
    """A program that compares any draws."""
    rng = random.Random(seed)
    laws = rng.choice([REAL, REAL, WHOLE])
    plan = Plan([_law(rng, laws[:1] if laws is WHOLE else laws) for _ in range(rng.randint(3, 4))])
    for _ in range(rng.randint(1, 2)):
        plan.steps.append(_wide_step(rng, len(plan.draws), laws is WHOLE))
    return plan


def _law(rng: random.Random, laws: tuple[str, ...]) -> tuple[str, Fraction, Fraction]:
    place = Fraction(rng.randint(-1, 1)) if laws != REAL else Fraction(rng.randint(-3, 3), 2)
    name = rng.choice(laws)
    # Sums over all whole numbers that weigh something are to stay short.
    return name, rng.choice(SCALES if name != "discrete_laplace" else [Fraction(1, 2), Fraction(1, 3)]), place


def _star_step(rng: random.Random, plan: Plan, whole: bool) -> Step:
    j = rng.randrange(len(plan.draws))
    a, b = Fraction(1 if whole else rng.choice([1, 2])), Fraction(1)
    if not whole and rng.random() < 0.3:
        a = -a
    c = Fraction(rng.randint(-2, 2), 1 if whole else 2)
    edges = sorted(rng.sample(range(-2, 3), 2))
    if j:
        plan.planes.append(({j: a, 0: -b}, c))
    plan.planes += [({at: Fraction(1)}, -Fraction(edge)) for edge in edges for at in {0, j}]
    if j:
        plan.planes.append(({j: Fraction(1), 0: Fraction(-1)}, Fraction(0)))

    factor, offset = int(a), float(c) if c.denominator > 1 else int(c)

    def above(run: Run) -> Any:
        return factor * run.draws[j] + offset >= run.draws[0] if j else run.draws[0] <= edges[0]

    def emit(run: Run) -> bool:
        run.booleans.append(above(run))
        run.slots.append(run.booleans[-1])
        return False

    def stop(run: Run) -> bool:
        if above(run):
            run.slots.append("stop")
            return True
        return False

    def few(run: Run) -> bool:
        run.slots.append(discretise(run.draws[j], edges))
        return False

    def pick(run: Run) -> bool:
        run.slots.append(argmax([run.draws[0], run.draws[j]]))
        return False

    def larger(run: Run) -> bool:
        run.slots.append(discretise(maximum([run.draws[0], run.draws[j]]), edges))
        return False

    def count(run: Run) -> bool:
        run.slots.append(sum(run.booleans) + above(run))
        return False

    def flip(run: Run) -> bool:
        run.slots.append(run.noise.bernoulli(1 / (1 + exp(run.epsilon))) != above(run))
        return False

    def chosen(run: Run) -> bool:
        run.slots.append(choose(above(run), run.noise.choice(3, p=[0.5, 0.25, 0.25]), 7))
        return False

    def voted(run: Run) -> bool:
        run.slots.append(choose(above(run), run.noise.exponential_mechanism([0, 1, 3], run.epsilon / 2), 7))
        return False

    return rng.choice([emit, emit, stop, few, pick, larger, count, flip, chosen, voted])


def _wide_step(rng: random.Random, count: int, whole: bool) -> Step:
    order = rng.sample(range(count), 3)
    signs = [rng.choice([-1, 1]) for _ in range(3)]
    edge = rng.randint(-1, 1)

    def picked(run: Run) -> bool:
        run.slots.append(argmax([run.draws[at] for at in order]))
        return False

    def middle(run: Run) -> bool:
        i, j, k = (run.draws[at] for at in order)
        run.slots.append(discretise(maximum([minimum([i, j]), k]), [edge, edge + 1]))
        return False

    def chain(run: Run) -> bool:
        i, j, k = (run.draws[at] for at in order)
        run.slots.append((i <= j) & (j <= k + edge))
        return False

    def circle(run: Run) -> bool:
        i, j, k = (run.draws[at] for at in order)
        run.slots.append((i <= j) & (j <= k) & (i + 1 >= k))
        return False

    def total(run: Run) -> bool:
        run.slots.append(sum(sign * run.draws[at] for sign, at in zip(signs, order, strict=True)) <= edge)
        return False

    return rng.choice([picked, chain, middle] if whole else [picked, chain, middle, circle, total])
