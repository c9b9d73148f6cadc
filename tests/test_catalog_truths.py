"""What the catalogue says is true, worked out again: by numerical integration that shares nothing with the package.

An output of the sparse vector technique has the probability ∫ f(t) Π F(t) dt, with t the noisy threshold and one factor
for each answer.  Gauss-Legendre quadrature between the points where a density has a kink gives it to 12 digits
(`test_integration_is_accurate`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from dpverdict.catalog import find
from dpverdict.catalog.additive_noise import SIGMA_AT_ONE
from dpverdict.catalog.entry import Kind
from dpverdict.catalog.rappor import bloom_filter

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
BELOW, ABOVE = False, True
Factor = Callable[[np.ndarray], np.ndarray]


def _cdf(x: np.ndarray, scale: float) -> np.ndarray:
    left = np.exp(np.minimum(x, 0) / scale) / 2
    return np.where(x < 0, left, 1 - np.exp(-np.maximum(x, 0) / scale) / 2)


@dataclass(frozen=True)
class Technique:
    """Scales of the threshold's and the queries' Laplace noise at ε = 1; real answers lie in (low, high]."""

    threshold: float
    query: float
    limit: float = 0.0
    edges: tuple[float, ...] = ()

    def probability(self, queries: Sequence[float], output: Sequence[object], epsilon: float) -> float:
        """The probability of an output, which may be shorter than the queries."""
        pairs = list(zip(queries, output, strict=False))
        points = sorted({self.limit, *queries, *self.edges})
        factors = [self._factor(query, answer, epsilon) for query, answer in pairs]

        def integrand(t: np.ndarray) -> np.ndarray:
            scale = self.threshold / epsilon
            product = np.exp(-np.abs(t - self.limit) / scale) / (2 * scale)
            for factor in factors:
                product = product * factor(t)
            return product

        return _integral(integrand, points, max(self.threshold, self.query) / epsilon)

    def _factor(self, query: float, answer: object, epsilon: float) -> Factor:
        scale = self.query / epsilon
        if answer is BELOW:
            return lambda t: _cdf(t - query, scale)
        if answer is ABOVE:
            return lambda t: _cdf(query - t, scale)
        place = self.edges.index(float(answer))  # type: ignore[arg-type]
        low = -math.inf if place == 0 else self.edges[place - 1]
        high = math.inf if place == len(self.edges) - 1 else self.edges[place]
        upper = np.array(1.0) if math.isinf(high) else _cdf(np.array(high - query), scale)
        return lambda t: np.maximum(upper - _cdf(np.maximum(t, low) - query, scale), 0)

    def loss(self, one: Sequence[float], other: Sequence[float], output: Sequence[object], epsilon: float) -> float:
        """The logarithm of the ratio of both probabilities."""
        return math.log(self.probability(one, output, epsilon) / self.probability(other, output, epsilon))


def _integral(integrand: Factor, points: list[float], scale: float) -> float:
    """Over the real line, in steps of half a scale at most; the noise beyond 60 scales is left out."""
    ends = [points[0] - 60 * scale, *points, points[-1] + 60 * scale]
    total = 0.0
    for left, right in itertools.pairwise(ends):
        cuts = np.linspace(left, right, max(1, math.ceil((right - left) / (scale / 2))) + 1)
        for low, high in itertools.pairwise(cuts.tolist()):
            total += (high - low) / 2 * float(WEIGHTS @ integrand((low + high) / 2 + (high - low) / 2 * NODES))
    return total


SVT1, SVT4, SVT6 = Technique(2, 4), Technique(4, 4 / 3), Technique(2, 2)
EDGES = (-1.0, 0.0, 1.0)
TECHNIQUES = {
    "statdp-svt-as-printed": Technique(2, 2, 0.5),
    "svt4": SVT4,
    "svt6": SVT6,
    "dipc-svt4": SVT4,
    "dipc-svt6": SVT6,
    "dipc-svt3-five": Technique(2, 4, edges=(0.0, 1.0)),
    "dipc-svt3-as-printed": Technique(2, 2, edges=EDGES),
}


def test_integration_is_accurate() -> None:
    """Against values that were worked out by hand at ε = 1."""
    assert SVT1.probability((1, 1, 1), (BELOW,) * 3, 1) == pytest.approx(0.127140909393280638572, rel=1e-12)
    assert SVT1.probability((-1, 1, 0), (BELOW, ABOVE), 1) == pytest.approx(0.300080197355019576042, rel=1e-12)
    discretised = Technique(2, 4, edges=(0.0, 1.0))
    wanted = 0.00198224519089067849061310816574
    assert discretised.probability((-1,) * 5, (*(BELOW,) * 4, 0), 1) == pytest.approx(wanted, rel=1e-11)


CASES = [(name, found) for name in TECHNIQUES for found in find(name).counterexamples]


@pytest.mark.parametrize(("name", "found"), CASES, ids=[f"{name} at {found.epsilon}" for name, found in CASES])
def test_counterexamples_violate_the_claim(name: str, found: object) -> None:
    epsilon = float(Fraction(getattr(found, "epsilon")))  # noqa: B009
    one, other, output = (getattr(found, key) for key in ("input", "neighbour", "output"))
    losses = [TECHNIQUES[name].loss(a, b, output, epsilon) for a, b in ((one, other), (other, one))]
    assert max(losses) > epsilon * (1 + 1e-9)


def test_the_thesis_pair_for_svt3_is_no_violation() -> None:
    """What the catalogue calls a slip of table 8.2."""
    found = TECHNIQUES["dipc-svt3-five"]
    assert abs(found.loss((-1,) * 5, (0,) * 5, (*(BELOW,) * 4, 0), 27)) < 27


@pytest.mark.parametrize(
    ("technique", "one", "other", "output", "epsilon", "loss"),
    [
        # DP-Sniper's pairs: the largest loss is that of five crossed queries (checked over all patterns below).
        (Technique(2, 4, 0.5), (1,) * 5 + (0,) * 5, (0,) * 5 + (1,) * 5, (*(BELOW,) * 5, ABOVE), 0.1, 0.0878),
        (Technique(2, 4, 1), (1,) * 5 + (0,) * 5, (0,) * 5 + (1,) * 5, (*(BELOW,) * 5, ABOVE), 0.1, 0.08748),
        (Technique(4, 4 / 3, 1), (1,) * 5 + (0,) * 5, (0,) * 5 + (1,) * 5, (*(BELOW,) * 5, ABOVE), 0.1, 0.17166),
        # DP-Finder's AT.
        (SVT6, (-9, -9, 9, 9), (-10, -10, 10, 10), (ABOVE, ABOVE, BELOW, BELOW), 0.1, 0.17955),
        (SVT6, (-99, -99, 99, 99), (-100, -100, 100, 100), (ABOVE, ABOVE, BELOW, BELOW), 0.1, 0.1998),
        # StatDP's algorithm 11 as printed; with threshold 0 the wrong use of the noise for monotone queries.
        (Technique(2, 2, 0.5), (0,) * 9 + (1,), (1,) * 9 + (0,), (*(BELOW,) * 9, ABOVE), 0.7, 1.4904 * 0.7),
        (SVT6, (0,) * 9 + (1,), (1,) * 9 + (0,), (*(BELOW,) * 9, ABOVE), 0.7, 1.4950 * 0.7),
        # Suprema that are not attained.
        (SVT1, (801, 801, 801, -801), (800, 800, 800, -800), (BELOW, BELOW, BELOW, ABOVE), 0.1, -0.0988),
        (SVT6, (-801,) * 5 + (801,) * 5, (-800,) * 5 + (800,) * 5, (ABOVE,) * 5 + (BELOW,) * 5, 0.1, -0.5),
    ],
)
def test_losses(
    technique: Technique,
    one: Sequence[float],
    other: Sequence[float],
    output: Sequence[object],
    epsilon: float,
    loss: float,
) -> None:
    found = technique.loss(one, other, output, epsilon)
    assert abs(found) == pytest.approx(abs(loss), abs=6e-5)


PATTERNS = [
    ((1,) * 10, other)
    for other in (
        *((2,) + (1,) * 9, (0,) + (1,) * 9, (2,) + (0,) * 9, (0,) + (2,) * 9),
        *((0,) * 5 + (2,) * 5, (2,) * 10, (0,) * 10),
    )
] + [((1,) * 5 + (0,) * 5, (0,) * 5 + (1,) * 5)]


@pytest.mark.parametrize(
    ("name", "technique"),
    [
        ("sniper-svt1", Technique(2, 4, 0.5)),
        ("sniper-svt2", Technique(2, 4, 1)),
        ("sniper-svt4", Technique(4, 4 / 3, 1)),
    ],
)
def test_the_largest_loss_over_the_papers_pairs(name: str, technique: Technique) -> None:
    """With one hit there are eleven outputs, and an event's loss is at most that of its likeliest output."""
    outputs = [(*(BELOW,) * hit, ABOVE) for hit in range(10)] + [(BELOW,) * 10]
    found = max(abs(technique.loss(a, b, output, 0.1)) for a, b in PATTERNS for output in outputs)
    (stated,) = [truth.value for truth in find(name).truths if "patterns" in truth.about]
    assert found == pytest.approx(stated, abs=6e-5)


def test_the_countdown_violates_its_claim() -> None:
    """Ten queries, hits at the second and the last: query noise 8/ε up to the first hit, 4/ε after it."""
    entry = find("svt-countdown")
    output = [query == 0 for query in entry.example]  # type: ignore[attr-defined]

    def probability(queries: Sequence[float], epsilon: float) -> float:
        first, second = Technique(2, 8), Technique(2, 4)
        factors = [
            (first if number < 2 else second)._factor(query, answer, epsilon)
            for number, (query, answer) in enumerate(zip(queries, output, strict=True))
        ]
        scale = 2 / epsilon

        def integrand(t: np.ndarray) -> np.ndarray:
            return np.prod([factor(t) for factor in factors], axis=0) * np.exp(-np.abs(t) / scale) / (2 * scale)

        return _integral(integrand, [-1.0, 0.0], 8 / epsilon)

    ratio = probability(entry.example, 1) / probability(entry.neighbour, 1)  # type: ignore[arg-type]
    assert 1.05 < abs(math.log(ratio)) < 1.25


def test_svt3_loses_half_an_epsilon_for_each_query() -> None:
    for length, noise in ((3, 2), (5, 2), (3, 4)):
        technique = Technique(2, noise, edges=EDGES)
        output = (*(BELOW,) * (length - 1), -1)
        for epsilon in (0.1, 1.0, 4.0):
            found = technique.loss((-1,) * length, (0,) * length, output, epsilon)
            assert found == pytest.approx(length * epsilon / noise, rel=1e-9)
    assert [truth.factor for truth in find("dipc-svt3").truths] == [Fraction(3, 4)]
    assert find("sniper-svt3").truths[0].at(0.1) == pytest.approx(0.5)


def test_differing_bits_of_rappor() -> None:
    """The loss per bit times the bits that differ: 6 for the paper's inputs, 8 for others, never more."""
    filters = [bloom_filter(value, 20, 4) for value in range(100)]
    apart = [[sum(a != b for a, b in zip(one, other, strict=True)) for other in filters] for one in filters]
    assert (apart[0][1], apart[3][4], max(map(max, apart))) == (6, 8, 8)
    for name, bit in (("rappor", math.log(41 / 39)), ("one-time-rappor", math.log(21 / 19))):
        values = [truth.value for truth in find(name).truths]
        assert values == pytest.approx([8 * bit, 6 * bit])
    assert [truth.value for truth in find("rappor").truths] == pytest.approx([0.40008, 0.30006], abs=5e-6)
    assert [truth.value for truth in find("one-time-rappor").truths] == pytest.approx([0.80067, 0.60050], abs=5e-6)


def test_the_analytic_gaussian_has_the_least_noise() -> None:
    """Balle and Wang's profile at ε = 1, and 1e-6 below the standard deviation."""

    def delta(sigma: float) -> float:
        normal = NormalDist()
        return normal.cdf(1 / (2 * sigma) - sigma) - math.e * normal.cdf(-1 / (2 * sigma) - sigma)

    assert delta(SIGMA_AT_ONE) <= 1e-5 < delta(SIGMA_AT_ONE - 1e-6)


def test_the_exponential_mechanism_between_bounds() -> None:
    """No corner of [-10, 10] has a larger loss than the example, and neither have scores between."""

    def loss(one: Sequence[float], other: Sequence[float]) -> float:
        weights = [[math.exp(0.05 * score) for score in scores] for scores in (one, other)]
        return math.log(weights[1][0] / sum(weights[1])) - math.log(weights[0][0] / sum(weights[0]))

    stated = next(t.value for t in find("finder-exp-mech").truths if t.kind is Kind.EXACT)
    entry = find("finder-exp-mech")
    assert stated == pytest.approx(loss(entry.example, entry.neighbour), rel=1e-12)  # type: ignore[arg-type]
    grid = (-10, -9, -5, 0, 5, 9, 10)
    for first, rest in itertools.product(grid, itertools.combinations_with_replacement(grid, 3)):
        for up, down in itertools.product((-1, 0, 1), repeat=2):
            other = [
                min(10, max(-10, score + move)) for score, move in zip((first, *rest), (up, *[down] * 3), strict=True)
            ]
            assert loss((first, *rest), other) <= stated + 1e-12


@pytest.mark.parametrize("behind", [0, 1, 7.5, 40])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_smaller_of_two_noisy_queries(behind: float, epsilon: float) -> None:
    """The probability that `noisy-maximum` states; its loss for a step of 2 tends to ε and stays below it."""

    def stated(gap: float) -> float:
        return (1 / 2 + gap * epsilon / 8) * math.exp(-gap * epsilon / 2)

    found = Technique(2, 2, behind).probability((0,), (ABOVE,), epsilon)
    assert found == pytest.approx(stated(behind), rel=1e-11)
    loss = math.log(stated(behind) / stated(behind + 2))
    assert epsilon - 8 / (4 / epsilon + behind) < loss < epsilon


@pytest.mark.parametrize(
    ("name", "probability"),
    [
        ("noisy-maximum-value", lambda below, epsilon: (math.exp(-below * epsilon / 2) / 2) ** 3),
        ("dipc-nmax3", lambda below, epsilon: (math.exp(-below * epsilon / 2) / 2) ** 3),
        ("dipc-nmax4", lambda below, epsilon: 0.0 if below else 1 - math.exp(-epsilon / 2)),
        ("histogram-wrong-scale", lambda below, epsilon: math.exp(-below / epsilon) / 2),
        ("dipc-hist2", lambda below, epsilon: math.exp(-below / epsilon) / 2),
        ("statdp-histogram-wrong-scale", lambda below, epsilon: math.exp(-below / epsilon) / 2),
        ("linear-response", lambda wrong, epsilon: (1 - epsilon) / 2 if wrong else (1 + epsilon) / 2),
        ("dipc-rand2", lambda wrong, epsilon: (1 - epsilon) / 2 if wrong else (1 + epsilon) / 2),
    ],
)
def test_counterexamples_in_closed_form(name: str, probability: Callable[[int, float], float]) -> None:
    """The event's probability where its bound is the input (0), and where the input lies 1 above it (1)."""
    counterexamples = find(name).counterexamples
    assert counterexamples
    for found in counterexamples:
        epsilon = float(Fraction(found.epsilon))
        assert probability(0, epsilon) > math.exp(epsilon) * probability(1, epsilon)
