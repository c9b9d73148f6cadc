"""Exact probabilities of random programs against two independent ways: quadrature (or nested sums) and sampling.

The quadrature knows nothing of regions: it cuts the line of the first draw and, for each of its values, those of the
others where a comparison may change its answer, asks the program itself for the output inside each cell, and integrates
the cells' probabilities by ball arithmetic at a rational ε.

False alarms: each comparison with a sample fails with probability 1e-13 at most (Hoeffding); fewer than 2,000 of them
here, and fewer than 80,000 in the slow test.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq

from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.seeds import generator
from dpverdict.mechanism.evaluate import Known, run
from dpverdict.mechanism.graph import draws_of
from dpverdict.mechanism.laws import Bernoulli, ExponentialMechanism, FiniteChoice
from dpverdict.mechanism.outcome import freeze, key
from dpverdict.mechanism.structure import Draw, Program
from dpverdict.reading.exact.components import probability_of_all
from dpverdict.reading.exact.densities import Geometric, OneSided, Ranged, TwoSided
from dpverdict.reading.exact.exact_program import Distribution, ExactProgram
from dpverdict.reading.exact.exponential import Quotient
from dpverdict.reading.exact.linear import probability_by_cells
from dpverdict.reading.exact.orders import Constraint
from dpverdict.reading.sample import Sampler, tally
from random_programs import Plan, star, wide

EPSILON = Fraction(3, 4)
BITS = 110
TOLERANCE = arb(10) ** -20
RUNS = 20_000
ALLOWED = math.sqrt(math.log(2 / 1e-13) / (2 * RUNS))


def exact_of(plan: Plan) -> tuple[Program, Distribution]:
    program = plan.mechanism().program_for(plan.input)
    return program, ExactProgram.of(program).distribution(plan.input)


# --- an independent way ------------------------------------------------------------------------------------------


def by_quadrature(plan: Plan, program: Program) -> dict[Any, arb]:
    """The probability of every output at EPSILON."""
    found: dict[Any, arb] = {}
    for values, weight in _finite(program):
        cells = _summed(plan, program, values) if plan.draws[0][0] not in REAL else _integrated(plan, program, values)
        for output, probability in cells:
            found[output] = found.get(output, arb(0)) + weight * probability
    return found


REAL = ("laplace", "exponential", "uniform")


def _finite(program: Program) -> Iterator[tuple[dict[Draw, Any], arb]]:
    """All combinations of the draws with few values, with their probabilities."""
    flip = 1 / (1 + arb(_q(EPSILON)).exp())
    votes = [(arb(_q(EPSILON)) / 2 * score).exp() for score in (0, 1, 3)]
    known: dict[type, list[tuple[Any, arb]]] = {
        Bernoulli: [(False, 1 - flip), (True, flip)],
        FiniteChoice: [(0, arb(1) / 2), (1, arb(1) / 4), (2, arb(1) / 4)],
        ExponentialMechanism: [(at, vote / (votes[0] + votes[1] + votes[2])) for at, vote in enumerate(votes)],
    }
    draws = [draw for draw in draws_of(program.root) if type(draw.law) in known]
    tables = [known[type(draw.law)] for draw in draws]
    for chosen in product(*tables):
        weight = arb(1)
        for _, part in chosen:
            weight *= part
        yield {draw: value for draw, (value, _) in zip(draws, chosen, strict=True)}, weight


def _output(plan: Plan, program: Program, finite: dict[Draw, Any], values: tuple[Fraction, ...]) -> Any:
    """The program's own answer for these values of its draws."""

    def drawn(draw: Draw) -> Any:
        if draw in finite:
            return finite[draw]
        at = _number(plan, draw)
        return float(values[at] - (plan.draws[at][2] if plan.draws[at][0] == "uniform" else 0))

    return key(freeze(run(program.root, Known(plan.input, float(EPSILON), {}), drawn)))


def _number(plan: Plan, draw: Draw) -> int:
    """Which draw of the plan it is: inputs are different symbols, and even noise is counted."""
    location = getattr(draw.law, "location", None)
    if location is not None:
        return int(location.path[0])
    even = [at for at, (name, _, _) in enumerate(plan.draws) if name == "uniform"]
    return even[draw.occurrence - 1]


def _below(law: tuple[str, Fraction, Fraction], at: Any, side: Fraction) -> Any:
    """Pr[X ≤ at] by the formula that holds at `side`."""
    name, scale, place = law
    rate = acb(_q(EPSILON / scale))
    if name == "uniform":
        if side <= place - 1:
            return acb(0)
        return acb(1) if side >= place + 2 else (at - acb(_q(place - 1))) / 3
    if name == "laplace" and side < place:
        return (rate * (at - acb(_q(place)))).exp() / 2
    if side < place:
        return acb(0)
    tail = (-rate * (at - acb(_q(place)))).exp()
    return 1 - (tail / 2 if name == "laplace" else tail)


def _density(law: tuple[str, Fraction, Fraction], at: Any, side: Fraction) -> Any:
    name, scale, place = law
    rate = acb(_q(EPSILON / scale))
    if name == "uniform":
        return acb(1) / 3 if place - 1 < side < place + 2 else acb(0)
    if side < place:
        return rate * (rate * (at - acb(_q(place)))).exp() / 2 if name == "laplace" else acb(0)
    tail = rate * (-rate * (at - acb(_q(place)))).exp()
    return tail / 2 if name == "laplace" else tail


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _kinks(law: tuple[str, Fraction, Fraction]) -> list[Fraction]:
    return [law[2] - 1, law[2] + 2] if law[0] == "uniform" else [law[2]]


def _lines(plan: Plan, at: int) -> list[tuple[Fraction, Fraction]]:
    """Where draw `at` is cut, as slope · (first draw) + constant."""
    lines = [(Fraction(0), kink) for kink in _kinks(plan.draws[at])]
    for terms, constant in plan.planes:
        if at in terms:
            lines.append((-terms.get(0, Fraction(0)) / terms[at], -constant / terms[at]))
    return list(dict.fromkeys(lines))


def _integrated(plan: Plan, program: Program, finite: dict[Draw, Any]) -> Iterator[tuple[Any, arb]]:
    others = range(1, len(plan.draws))
    lines = {at: _lines(plan, at) for at in others}
    first = [-constant / terms[0] for terms, constant in plan.planes if list(terms) == [0]] + _kinks(plan.draws[0])
    for listed in lines.values():
        first += [(d - b) / (a - c) for i, (a, b) in enumerate(listed) for c, d in listed[:i] if a != c]
    cuts = sorted(set(first))
    far = 60 * plan.draws[0][1] / EPSILON
    for low, high in zip([cuts[0] - far, *cuts], [*cuts, cuts[-1] + far], strict=True):
        middle = (low + high) / 2
        cells = [_cells(lines[at], middle) for at in others]
        found: dict[Any, list[tuple[Any, ...]]] = {}
        for combination in product(*cells):
            inside = (middle, *(_inside(cell, middle) for cell in combination))
            found.setdefault(_output(plan, program, finite, inside), []).append(combination)
        for output, combinations in found.items():

            def integrand(s: acb, _: bool, listed: Any = combinations, m: Fraction = middle) -> acb:
                total = acb(0)
                for combination in listed:
                    weight = acb(1)
                    for at, cell in zip(others, combination, strict=True):
                        weight *= _mass(plan.draws[at], cell, s, m)
                    total += weight
                return total * _density(plan.draws[0], s, m)

            value = acb.integral(integrand, acb(_q(low)), acb(_q(high)), abs_tol=arb(10) ** -24)
            yield output, value.real


Cell = tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]


def _cells(lines: list[tuple[Fraction, Fraction]], at: Fraction) -> list[Cell]:
    ordered = sorted(lines, key=lambda line: line[0] * at + line[1])
    return list(zip([None, *ordered], [*ordered, None], strict=True))


def _inside(cell: Cell, at: Fraction) -> Fraction:
    ends = [None if line is None else line[0] * at + line[1] for line in cell]
    if ends[0] is None:
        return ends[1] - 1  # type: ignore[operator]
    return ends[0] + 1 if ends[1] is None else (ends[0] + ends[1]) / 2


def _mass(law: tuple[str, Fraction, Fraction], cell: Cell, s: acb, middle: Fraction) -> acb:
    side = _inside(cell, middle)
    high = acb(1) if cell[1] is None else _below(law, s * acb(_q(cell[1][0])) + acb(_q(cell[1][1])), side)
    low = acb(0) if cell[0] is None else _below(law, s * acb(_q(cell[0][0])) + acb(_q(cell[0][1])), side)
    return high - low


def _summed(plan: Plan, program: Program, finite: dict[Draw, Any]) -> Iterator[tuple[Any, arb]]:
    """Whole numbers: all values, as far out as they weigh 1e-24 and more."""
    tables = [_masses(law) for law in plan.draws]
    for combination in product(*tables):
        weight = arb(1)
        for _, mass in combination:
            weight *= mass
        yield _output(plan, program, finite, tuple(Fraction(value) for value, _ in combination)), weight


def _masses(law: tuple[str, Fraction, Fraction]) -> list[tuple[int, arb]]:
    name, scale, place = law
    r, far = (-arb(_q(EPSILON / scale))).exp(), int(60 * scale / EPSILON) + 1
    shares = {int(place) + k: (1 - r) / (1 + r) * r ** abs(k) for k in range(-far, far + 1)}
    if name == "discrete_laplace":
        return list(shares.items())
    low, high = (-2, 2) if name == "truncated" else (-1, 3)
    kept = {value: share for value, share in shares.items() if low <= value <= high}
    if name == "truncated":
        whole = sum(kept.values(), arb(0))
        return [(value, share / whole) for value, share in kept.items()]
    kept[low] += sum((share for value, share in shares.items() if value < low), arb(0))
    kept[high] += sum((share for value, share in shares.items() if value > high), arb(0))
    return list(kept.items())


# --- the comparisons ---------------------------------------------------------------------------------------------


def agrees_with_quadrature(seed: int) -> None:
    plan = star(seed)
    program, found = exact_of(plan)
    with ctx.workprec(BITS):
        expected = by_quadrature(plan, program)
        for one in found.outputs:
            value = one.probability.value(EPSILON, BITS)
            assert abs(value - expected.get(key(one.output), arb(0))) < TOLERANCE, (seed, one)
        assert abs(sum(expected.values(), arb(0)) - 1) < TOLERANCE


def agrees_with_sampling(seed: int, plan: Plan) -> None:
    program, found = exact_of(plan)
    batch = Sampler(program, plan.input, float(EPSILON), {}).batch(NumpyNoise(generator(seed, "exact", 0)), RUNS)
    counts = {key(outcome): count for outcome, count in tally(batch).items()}
    for one in found.outputs:
        exact = float(one.probability.digits(EPSILON, 15))
        assert abs(counts.pop(key(one.output), 0) / RUNS - exact) < ALLOWED, (seed, one.output)
    assert not counts, "outputs that the exact reading does not know"


def agrees_with_cells(seed: int) -> int:
    """Two ways of elimination: by orders of draws, and cell by cell in two sequences of the draws."""
    rng, tried = random.Random(seed), 0
    densities = [_density_of(rng) for _ in range(3)]
    for _ in range(4):
        constraints = [_constraint_of(rng) for _ in range(rng.randint(2, 3))]
        if {at for one in constraints for at, _ in one.terms} < {0, 1, 2}:
            continue
        turned = [Constraint(tuple((2 - at, c) for at, c in one.terms), one.offset) for one in constraints]
        found = probability_of_all(densities, [(one.terms, one.offset, False) for one in constraints], {})
        for laws, listed in ((densities, constraints), (densities[::-1], turned)):
            assert found == Quotient(probability_by_cells(laws, listed)), (seed, laws, listed)
        tried += 1
    return tried


def _density_of(rng: random.Random) -> TwoSided | OneSided:
    rate, place = Fraction(rng.randint(1, 4), rng.randint(1, 3)), Fraction(rng.randint(-2, 2), 2)
    return TwoSided(rate, place) if rng.random() < 0.6 else OneSided(rate, place, rng.random() < 0.5)


def _constraint_of(rng: random.Random) -> Constraint:
    places = rng.sample(range(3), rng.choice([1, 2, 2, 2, 3]))
    factors = [Fraction(rng.choice([-2, -1, -1, 1, 1, 2])) for _ in places]
    return Constraint(tuple(zip(places, factors, strict=True)), Fraction(rng.randint(-2, 2), 2))


def whole_agrees_with_sums(seed: int) -> None:
    """Comparisons of three whole numbers, circles among them, against plain sums in floating point at ε = 1."""
    rng, far = random.Random(seed), 40
    densities = [_whole_density_of(rng) for _ in range(3)]
    masses = [np.array([float(mass) for mass in _float_masses(density, far)]) for density in densities]
    values = np.arange(-far, far + 1)
    grid = np.meshgrid(values, values, values, indexing="ij")
    weights = masses[0][:, None, None] * masses[1][None, :, None] * masses[2][None, None, :]
    for _ in range(4):
        listed = [(one.terms, Fraction(int(one.offset)), rng.random() < 0.5) for one in _whole_constraints(rng)]
        found = float(probability_of_all(densities, listed, {}).digits(Fraction(1), 18))
        inside = np.ones_like(weights, dtype=bool)
        for terms, offset, strict in listed:
            total = sum(int(c) * grid[at] for at, c in terms) + int(offset)
            inside &= total < 0 if strict else total <= 0
        assert abs(found - float(weights[inside].sum())) < 1e-11, (seed, densities, listed)


def _whole_density_of(rng: random.Random) -> Geometric | Ranged:
    rate, place = Fraction(rng.randint(2, 4), 2), Fraction(rng.randint(-2, 2))
    if rng.random() < 0.6:
        return Geometric(rate, place)
    low = Fraction(rng.randint(-2, 1))
    return Ranged(rate, place, low, low + rng.randint(0, 3), rng.random() < 0.5)


def _whole_constraints(rng: random.Random) -> list[Constraint]:
    return [
        Constraint(((i, Fraction(1)), (j, Fraction(-1))), Fraction(rng.randint(-1, 1)))
        if rng.random() < 0.8
        else Constraint(((i, Fraction(rng.choice([-1, 1, 2]))),), Fraction(rng.randint(-2, 2)))
        for i, j in (rng.sample(range(3), 2) for _ in range(rng.randint(2, 4)))
    ]


def _float_masses(density: Geometric | Ranged, far: int) -> list[float]:
    r = math.exp(-density.rate)
    shares = {k: (1 - r) / (1 + r) * r ** abs(k - int(density.location)) for k in range(-far, far + 1)}
    if isinstance(density, Geometric):
        return list(shares.values())
    low, high = int(density.low), int(density.high)
    if density.clamped:
        kept = dict.fromkeys(shares, 0.0)
        for k, share in shares.items():
            kept[min(max(k, low), high)] += share
        return list(kept.values())
    whole = sum(share for k, share in shares.items() if low <= k <= high)
    return [share / whole if low <= k <= high else 0.0 for k, share in shares.items()]


def test_whole_numbers_agree_with_sums() -> None:
    for seed in range(30):
        whole_agrees_with_sums(seed)


def test_eliminations_agree() -> None:
    assert sum(agrees_with_cells(seed) for seed in range(40)) > 80


def test_star_programs_agree_with_quadrature() -> None:
    for seed in range(40):
        agrees_with_quadrature(seed)


def test_programs_agree_with_sampling() -> None:
    for seed in range(30):
        agrees_with_sampling(seed, star(seed))
        agrees_with_sampling(seed, wide(seed))


def test_a_wrong_probability_is_noticed() -> None:
    plan = star(6)
    program, found = exact_of(plan)
    with ctx.workprec(BITS):
        expected = by_quadrature(plan, program)
        near = EPSILON + Fraction(1, 10**15)
        gaps = [abs(one.probability.value(near, BITS) - expected[key(one.output)]) for one in found.outputs]
    assert any(gap > TOLERANCE for gap in gaps)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 3000, 100))
def test_many_programs(start: int) -> None:
    for seed in range(start, start + 100):
        agrees_with_quadrature(seed)
        agrees_with_sampling(seed, star(seed))
        agrees_with_sampling(seed, wide(seed))
        agrees_with_cells(seed)
        whole_agrees_with_sums(seed)
