"""Every law's samples against its exact distribution, computed here from scratch.

False alarms: each check rejects a correct sampler with a probability of at most 1e-9 (Dvoretzky-Kiefer-Wolfowitz with
Massart's constant for distribution functions, exact binomial tails with a union bound over cells for probabilities:
neither is asymptotic), and `test_the_false_alarm_budget` counts at most 200 checks: 2e-7 for this file.
Power: a scale that is 5 % off is found, with 400,000 draws of an array and 150,000 of the front; the negative controls
hold that down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpverdict.errors import MechanismError
from dpverdict.execute import gpu, seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.mechanism import laws
from dpverdict.mechanism.constants import from_python
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.structure import Kind

ALPHA = 1e-9
DRAWS = 400_000
REAL_DRAWS = 150_000
FEWER_DRAWS = 40_000

try:
    import jax  # noqa: F401

    HAS_JAX = True
except ImportError:
    HAS_JAX = False

needs_jax = pytest.mark.skipif(not HAS_JAX, reason="JAX is not installed")


# --- the two tests -----------------------------------------------------------------------------------------------


def cdf_agrees(drawn: Any, cdf: Callable[[Any], Any], alpha: float = ALPHA) -> bool:
    """Whether draws fit a distribution function, at every point where they can depart from it."""
    points, counts = np.unique(np.asarray(drawn, float), return_counts=True)
    upto = np.cumsum(counts) / len(drawn)
    exact = cdf(points)
    before = cdf(np.nextafter(points, -np.inf))
    gap = max(np.abs(upto - exact).max(), np.abs(upto - counts / len(drawn) - before).max())
    return bool(gap <= math.sqrt(math.log(2 / alpha) / (2 * len(drawn))))


def pmf_agrees(drawn: Any, pmf: dict[Any, float], alpha: float = ALPHA) -> bool:
    """Whether the count of every outcome fits its probability; outcomes that are not listed may not come."""
    counts = dict.fromkeys(pmf, 0)
    for outcome, count in zip(*np.unique(drawn, return_counts=True), strict=True):
        if outcome.item() not in counts:
            return False
        counts[outcome.item()] = int(count)
    seen, p = np.array(list(counts.values())), np.array(list(pmf.values()))
    assert abs(p.sum() - 1) < 1e-9
    p = np.minimum(p, 1.0)
    tail = np.minimum(stats.binom.cdf(seen, len(drawn), p), stats.binom.sf(seen - 1, len(drawn), p))
    return bool((tail >= alpha / (2 * len(p))).all())


def normalised(weights: dict[Any, float]) -> dict[Any, float]:
    total = math.fsum(weights.values())
    return {outcome: weight / total for outcome, weight in weights.items()}


def discrete_laplace(loc: int, scale: float, low: int | None = None, high: int | None = None) -> dict[int, float]:
    reach = math.ceil(45 * scale) + 2
    first, last = (loc - reach if low is None else low), (loc + reach if high is None else high)
    near = min(abs(i - loc) for i in (first, last, min(max(loc, first), last)))
    return normalised({i: math.exp(-(abs(i - loc) - near) / scale) for i in range(first, last + 1)})


def clamped(loc: int, scale: float, low: int, high: int) -> dict[int, float]:
    found = dict.fromkeys(range(low, high + 1), 0.0)
    for i, p in discrete_laplace(loc, scale).items():
        found[min(max(i, low), high)] += p
    return found


def discrete_gaussian(loc: int, scale: float) -> dict[int, float]:
    reach = math.ceil(9 * scale) + 2
    return normalised({loc + i: math.exp(-i * i / (2 * scale * scale)) for i in range(-reach, reach + 1)})


# --- the cases ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A law with plain parameters, its exact distribution, and how the front asks for it."""

    law: Any
    exact: Any  # a distribution function, or a dictionary of probabilities
    front: Callable[[RealNoise, int | None], Any]

    @property
    def parameters(self) -> list[Any]:
        return [None if term.content is None else plain(term) for term in self.law.parameters]

    def agrees(self, drawn: Any, alpha: float = ALPHA) -> bool:
        if isinstance(self.exact, dict):
            return pmf_agrees(drawn, self.exact, alpha)
        return cdf_agrees(drawn, self.exact, alpha)

    def __str__(self) -> str:
        shown = ",".join(f"{value:.3g}" for value in self.parameters)
        return f"{self.law.name}({shown[:60]})"


def plain(term: Any) -> Any:
    return int(term.content) if term.kind.is_integral else float(term.content)


def constants(*contents: Any) -> tuple[Any, ...]:
    return tuple(from_python(content) for content in contents)


def real(law: Any, method: str, frozen: Any, *parameters: float) -> Case:
    names = ("low", "high") if method == "uniform" else ("loc", "scale")
    given = dict(zip(names, parameters, strict=True))
    return Case(law(*constants(*parameters)), frozen.cdf, lambda noise, n: getattr(noise, method)(size=n, **given))


def whole(law: Any, method: str, exact: Any, *parameters: float) -> Case:
    given = dict(zip(("loc", "scale", "low", "high"), parameters, strict=False))
    return Case(law(*constants(*parameters)), exact, lambda noise, n: getattr(noise, method)(size=n, **given))


def two_sided(loc: int, scale: float) -> Case:
    return whole(laws.DiscreteLaplace, "discrete_laplace", discrete_laplace(loc, scale), loc, scale)


def truncated(loc: int, scale: float, low: int, high: int) -> Case:
    exact = discrete_laplace(loc, scale, low, high)
    return whole(laws.TruncatedDiscreteLaplace, "truncated_discrete_laplace", exact, loc, scale, low, high)


def geometric(loc: int, scale: float, low: int, high: int) -> Case:
    exact = clamped(loc, scale, low, high)
    return whole(laws.TruncatedGeometric, "truncated_geometric", exact, loc, scale, low, high)


def gaussian(loc: int, scale: float) -> Case:
    return whole(laws.DiscreteGaussian, "discrete_gaussian", discrete_gaussian(loc, scale), loc, scale)


def bernoulli(p: float) -> Case:
    return Case(laws.Bernoulli(*constants(p)), {False: 1 - p, True: p}, lambda noise, n: noise.bernoulli(p, n))


def choice(weights: list[float]) -> Case:
    law = laws.FiniteChoice(constants(*range(len(weights))), constants(*weights))
    return Case(law, dict(enumerate(weights)), lambda noise, n: noise.choice(len(weights), n, p=weights))


def selection(rate: float, scores: list[float]) -> Case:
    law = laws.ExponentialMechanism(constants(*range(len(scores))), *constants(rate), constants(*scores))
    best = max(rate * score for score in scores)
    exact = normalised({i: math.exp(rate * score - best) for i, score in enumerate(scores)})
    return Case(law, exact, lambda noise, n: noise.exponential_mechanism(scores, rate, size=n))


ORDINARY = [
    real(laws.Laplace, "laplace", stats.laplace(3, 0.5), 3, 0.5),
    real(laws.Exponential, "exponential", stats.expon(-2, 4), -2, 4),
    real(laws.Gaussian, "normal", stats.norm(-5, 2.5), -5, 2.5),
    real(laws.Gumbel, "gumbel", stats.gumbel_r(1, 3), 1, 3),
    real(laws.Uniform, "uniform", stats.uniform(-2, 5), -2, 3),
    two_sided(-4, 3.0),
    truncated(1, 2.5, -3, 6),
    geometric(1, 2.5, -3, 6),
    gaussian(7, 2.5),
    bernoulli(0.3),
    choice([0.1, 0.2, 0.3, 0.4]),
    selection(0.5, [0, 1, 3, 1]),
]

EXTREME = [
    real(laws.Laplace, "laplace", stats.laplace(0, 1), 0, 1),
    real(laws.Laplace, "laplace", stats.laplace(0, 1e300), 0, 1e300),
    real(laws.Laplace, "laplace", stats.laplace(0, 1e-300), 0, 1e-300),
    real(laws.Exponential, "exponential", stats.expon(0, 1e-9), 0, 1e-9),
    real(laws.Gumbel, "gumbel", stats.gumbel_r(0, 1e6), 0, 1e6),
    two_sided(0, 0.02),
    two_sided(0, 0.3),
    two_sided(2**40, 25.0),
    whole(laws.DiscreteLaplace, "discrete_laplace", stats.dlaplace(1e-7).cdf, 0, 1e7),
    truncated(0, 1.0, -500, 500),
    truncated(0, 0.01, -2, 9),
    truncated(40, 1.5, 0, 6),
    truncated(-40, 1.5, 0, 6),
    truncated(2, 1e9, 0, 6),
    truncated(2, 3.0, 8, 8),
    geometric(40, 1.5, 0, 6),
    geometric(0, 30.0, 0, 1),
    gaussian(0, 0.15),
    gaussian(0, 0.6),
    gaussian(0, 60.0),
    bernoulli(0.0),
    bernoulli(1.0),
    bernoulli(1e-4),
    choice([0.2] * 5),
    choice([0.0, 0.5, 0.0, 0.5, 0.0]),
    choice([(i % 7) / 295 for i in range(100)]),
    selection(-2.0, [0.5, 0, 1]),
    selection(1e300, [0, 1, 1, -5]),
]

COMPILED = [case for case in (*ORDINARY, *EXTREME) if not isinstance(case.law, laws.DiscreteGaussian)]
"""JAX runs all but the discrete Gaussian law."""


def numpy_noise(job: object) -> NumpyNoise:
    return NumpyNoise(seeds.generator(20, f"test_laws {job}", 0))


def in_blocks(sample: Callable[[int], Any], total: int = DRAWS) -> Any:
    """Draws in blocks of an uneven size, as samplers take them."""
    blocks = [32_768] * (total // 32_768) + [total % 32_768]
    return np.concatenate([sample(size) for size in blocks])


# --- NumPy, JAX, and the front -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*ORDINARY, *EXTREME], ids=str)
def test_numpy_samples_follow_the_law(case: Case) -> None:
    noise = numpy_noise(case)
    drawn = in_blocks(lambda size: case.law.sample(noise, size, case.parameters))
    wanted = {Kind.REAL: np.float64, Kind.INTEGER: np.int64, Kind.TRUTH: np.bool_}[case.law.kind]
    assert drawn.shape == (DRAWS,)
    assert drawn.dtype == wanted
    assert case.agrees(drawn)


@needs_jax
@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_jax_samples_follow_the_law(case: Case) -> None:
    def draw(key: Any) -> Any:
        return case.law.sample(gpu.JaxNoise(key), DRAWS, case.parameters)

    drawn = np.asarray(gpu.jit(draw)(gpu.key(20, f"test_laws {case}", 0)))
    assert drawn.shape == (DRAWS,)
    assert case.agrees(drawn)


@pytest.mark.parametrize(
    ("case", "count"),
    [*((case, REAL_DRAWS) for case in ORDINARY), *((case, FEWER_DRAWS) for case in EXTREME)],
    ids=str,
)
def test_real_noise_follows_the_law(case: Case, count: int) -> None:
    drawn = case.front(RealNoise(seeds.generator(21, f"test_laws {case}", 0)), count)
    assert isinstance(drawn, np.ndarray)
    assert drawn.shape == (count,)
    assert case.agrees(drawn)


@pytest.mark.parametrize("case", ORDINARY, ids=str)
def test_real_noise_follows_the_law_one_by_one(case: Case) -> None:
    noise = RealNoise(seeds.generator(22, f"test_laws {case}", 0))
    drawn = [case.front(noise, None) for _ in range(FEWER_DRAWS)]
    assert {type(one) for one in drawn} == {{Kind.REAL: float, Kind.INTEGER: int, Kind.TRUTH: bool}[case.law.kind]}
    assert case.agrees(np.array(drawn))


# --- parameters that differ from run to run ----------------------------------------------------------------------


def varied(case: Case) -> list[Any]:
    """Parameters as arrays: as they are in even runs, something else in odd ones."""
    if isinstance(case.law, laws.FiniteChoice):
        others = case.parameters[::-1]
    else:
        others = [value + 1 if isinstance(value, int) else 0.7 * value for value in case.parameters]
    odd = np.arange(DRAWS) % 2 == 1
    return [np.where(odd, other, value) for value, other in zip(case.parameters, others, strict=True)]


@pytest.mark.parametrize("case", ORDINARY, ids=str)
def test_numpy_takes_parameters_as_arrays(case: Case) -> None:
    drawn = case.law.sample(numpy_noise(f"varied {case}"), DRAWS, varied(case))
    assert case.agrees(drawn[::2])
    assert not case.agrees(drawn[1::2])


@needs_jax
@pytest.mark.parametrize("case", [case for case in ORDINARY if case in COMPILED], ids=str)
def test_jax_takes_parameters_as_arrays(case: Case) -> None:
    def draw(key: Any, *parameters: Any) -> Any:
        return case.law.sample(gpu.JaxNoise(key), DRAWS, parameters)

    drawn = np.asarray(gpu.jit(draw)(gpu.key(20, f"varied {case}", 0), *varied(case)))
    assert case.agrees(drawn[::2])
    assert not case.agrees(drawn[1::2])


# --- negative controls -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", [case for case in ORDINARY if not isinstance(case.law, (laws.Bernoulli, laws.FiniteChoice))], ids=str
)
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_scale_that_is_five_percent_off_is_found(case: Case, factor: float) -> None:
    position = 0 if isinstance(case.law, laws.ExponentialMechanism) else 1
    parameters = [value * factor if i == position else value for i, value in enumerate(case.parameters)]
    drawn = case.law.sample(numpy_noise(f"off {case}"), DRAWS, parameters)
    assert not case.agrees(drawn)


@pytest.mark.parametrize(
    ("case", "off"),
    [
        (ORDINARY[0], real(laws.Laplace, "laplace", stats.laplace(3, 0.525), 3, 0.525)),
        (two_sided(-4, 3.0), two_sided(-4, 3.15)),
        (gaussian(7, 2.5), gaussian(7, 2.625)),
    ],
    ids=str,
)
def test_a_front_that_is_five_percent_off_is_found(case: Case, off: Case) -> None:
    assert not case.agrees(off.front(RealNoise(seeds.generator(23, f"off {case}", 0)), REAL_DRAWS))


def test_wrong_probabilities_are_found() -> None:
    case = choice([0.1, 0.2, 0.3, 0.4])
    assert not case.agrees(case.law.sample(numpy_noise("off"), DRAWS, [0.105, 0.195, 0.3, 0.4]))
    assert not bernoulli(0.3).agrees(numpy_noise("off").uniform(DRAWS) < 0.305)


# --- what the marginals do not show ------------------------------------------------------------------------------


@pytest.mark.parametrize("primitive", ["uniform", "exponential", "laplace", "normal"])
@pytest.mark.parametrize("bits", [30, 42])
def test_low_bits_are_even(primitive: str, bits: int) -> None:
    drawn = getattr(numpy_noise(f"bits {primitive}"), primitive)(DRAWS)
    assert cdf_agrees(np.abs(drawn) * 2.0**bits % 1, stats.uniform.cdf)


def test_signs_do_not_depend_on_sizes_or_neighbours() -> None:
    drawn = numpy_noise("signs").laplace(DRAWS)
    up = drawn > 0
    assert cdf_agrees(drawn[up], stats.expon.cdf)
    for distance in (1, 7, 8, 9, 64):
        assert pmf_agrees(up[distance:][:: distance + 1] ^ up[:-distance][:: distance + 1], {False: 0.5, True: 0.5})


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 1000])
def test_any_size(size: int) -> None:
    for case in (*ORDINARY, *EXTREME):
        assert case.law.sample(numpy_noise("size"), size, case.parameters).shape == (size,)
    for primitive in ("uniform", "exponential", "laplace", "normal"):
        drawn = getattr(numpy_noise("size"), primitive)(size)
        assert drawn.shape == (size,)
        assert drawn.flags.writeable


@pytest.mark.parametrize("scale", [1e-320, 1e-30, 1e15, 1e30, 1e300])
def test_extreme_scales_give_numbers_without_a_warning(scale: float) -> None:
    for parameters in ([0, scale], [np.zeros(100), np.full(100, scale)]):
        for law in (laws.DiscreteLaplace, laws.DiscreteGaussian):
            drawn = law(*constants(0, 1)).sample(numpy_noise("scale"), 100, parameters)
            assert abs(drawn).max() < 2**62
            assert (drawn == 0).all() == (scale < 1)
        inside = laws.TruncatedDiscreteLaplace(*constants(0, 1, -5, 5))
        assert abs(inside.sample(numpy_noise("scale"), 100, [*parameters, -5, 5])).max() <= 5


def test_the_false_alarm_budget() -> None:
    each = [*ORDINARY, *EXTREME]
    checks = 2 * len(each) + len(COMPILED) + 3 * len(ORDINARY) + 4 * 2 + 6
    assert checks <= 200


def test_truth_values_count_as_numbers() -> None:
    noise, yes, no = numpy_noise("truth"), np.ones(100, bool), np.zeros(100, bool)
    sure = laws.FiniteChoice(constants(1, 2, 3), constants(0, 1, 1))
    assert set(sure.sample(noise, 100, [no, yes, yes]).tolist()) == {1, 2}
    steep = laws.ExponentialMechanism(constants(1, 2), *constants(1), constants(0, 1))
    assert steep.sample(noise, 100, [1e9, no, yes]).all()
    assert laws.Uniform(*constants(0, 1)).sample(noise, 100, [yes, yes]).tolist() == [1.0] * 100
    assert laws.DiscreteLaplace(*constants(0, 1)).sample(noise, 100, [yes, 1e-3]).tolist() == [1] * 100


def test_a_location_that_is_not_whole_is_refused() -> None:
    law = laws.DiscreteLaplace(*constants(0, 1))
    for location in (0.5, np.array([1.0, 0.5])):
        with pytest.raises(MechanismError, match="whole parameters"):
            law.sample(numpy_noise("whole"), 2, [location, 1.0])
    assert law.sample(numpy_noise("whole"), 2, [np.array([3.0, 4.0]), 1e-3]).tolist() == [3, 4]


@needs_jax
def test_the_discrete_gaussian_is_not_compiled() -> None:
    law = laws.DiscreteGaussian(*constants(0, 1))
    with pytest.raises(MechanismError, match="cannot be compiled"):
        gpu.jit(lambda key: law.sample(gpu.JaxNoise(key), 8, [0, 1.0]))(gpu.key(1, "job", 0))
