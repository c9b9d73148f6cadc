"""Mechanisms that add noise of a fixed law to one number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpverdict import choose, exp, log, maximum, sqrt
from dpverdict.catalog.citations import (
    BALLE_WANG,
    CANONNE_KAMATH_STEINKE,
    DWORK_MCSHERRY_NISSIM_SMITH,
    DWORK_ROTH,
    GENG_ET_AL,
    GENG_VISWANATH,
    GHOSH_ROUGHGARDEN_SUNDARARAJAN,
)
from dpverdict.catalog.entry import Entry, Kind, Promise, Truth
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise

SIGMA_AT_ONE = 3.730632
"""The standard deviation that Balle and Wang's calibration gives for (1, 1e-5), rounded up."""


@mechanism
def laplace(noise: Noise, value: Any, epsilon: Any) -> Any:
    """A number with Laplace noise."""
    return noise.laplace(value, scale=1 / epsilon)


@mechanism
def gaussian(noise: Noise, value: Any, epsilon: Any, delta: float = 1e-5) -> Any:
    """A number with Gaussian noise, calibrated by the textbook's formula."""
    sigma = sqrt(2 * log(1.25 / delta)) / epsilon
    return noise.normal(value, scale=sigma)


@mechanism
def analytic_gaussian(noise: Noise, value: Any, sigma: float = SIGMA_AT_ONE) -> Any:
    """A number with Gaussian noise of the smallest standard deviation that its claim allows."""
    return noise.normal(value, scale=sigma)


@mechanism
def geometric(noise: Noise, count: Any, epsilon: Any) -> Any:
    """A whole number with discrete Laplace (two-sided geometric) noise."""
    return noise.discrete_laplace(count, scale=1 / epsilon)


@mechanism
def truncated_geometric(noise: Noise, count: Any, epsilon: Any, highest: int = 5) -> Any:
    """A count between 0 and `highest` with two-sided geometric noise, clamped to that range."""
    return noise.truncated_geometric(0, highest, loc=count, scale=1 / epsilon)


@mechanism
def discrete_gaussian(noise: Noise, count: Any, epsilon: Any) -> Any:
    """A whole number with discrete Gaussian noise."""
    return noise.discrete_gaussian(count, scale=1 / epsilon)


@mechanism
def staircase(noise: Noise, value: Any, epsilon: Any) -> Any:
    """A number with noise whose density is a staircase: steps of length 1, high up to γ = 1/(1 + exp(ε/2))."""
    drawn = noise.discrete_laplace(0, scale=1 / epsilon)
    # The size of a two-sided geometric number, kept with this probability and 0 otherwise, is a one-sided one.
    kept = noise.bernoulli((1 + exp(-epsilon)) / 2)
    step = choose(kept, maximum(drawn, -drawn), 0)
    gamma = 1 / (1 + exp(epsilon / 2))
    low = noise.bernoulli(1 / (1 + exp(epsilon / 2)))
    size = step + choose(low, noise.uniform(gamma, 1), noise.uniform(0, gamma))
    return value + choose(noise.bernoulli(1 / 2), size, -size)


@mechanism
def uniform(noise: Noise, value: Any, delta: float = 0.1) -> Any:
    """A number with uniform noise of width 1/δ."""
    return value + noise.uniform(-0.5 / delta, 0.5 / delta)


ENTRIES = (
    Entry(
        name="laplace",
        title="Laplace mechanism",
        mechanism=laplace,
        paper=DWORK_MCSHERRY_NISSIM_SMITH,
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss: every event right of both inputs attains it",
                DWORK_MCSHERRY_NISSIM_SMITH,
                factor=Fraction(1),
            ),
        ),
        notes="the claim is about real numbers; floating-point Laplace noise leaks more (see laplace-floating-point)",
    ),
    Entry(
        name="gaussian",
        title="Gaussian mechanism with the textbook's noise",
        mechanism=gaussian,
        paper=DWORK_ROTH,
        promise=Promise("approximate", delta=Fraction(1, 100_000)),
        epsilon="0,1",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "proved for epsilon < 1 (theorem A.1)", DWORK_ROTH, about="epsilon below 1"),
            Truth(
                Kind.HOLDS,
                "the exact profile is δ(e) = Φ(1/2σ - eσ) - exp(e)·Φ(-1/2σ - eσ): at delta = 1e-5 the claim holds with "
                "much room at epsilon = 1 (4.1e-8) and fails from epsilon = 8.42 on",
                BALLE_WANG,
            ),
        ),
        notes="delta is a parameter with default 1e-5; the formula is no calibration for large epsilon",
    ),
    Entry(
        name="analytic-gaussian",
        title="Gaussian mechanism with the least noise",
        mechanism=analytic_gaussian,
        paper=BALLE_WANG,
        promise=Promise("approximate", Fraction(1), 0, Fraction(1, 100_000)),
        epsilon="1",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.HOLDS,
                "holds, with a standard deviation that no Gaussian noise can undercut by more than rounding: "
                "δ(1) = Φ(1/2σ - σ) - e·Φ(-1/2σ - σ) is 1e-5",
                BALLE_WANG,
            ),
        ),
        notes="the standard deviation solves an equation, so it is a parameter; its default is that of (1, 1e-5)",
    ),
    Entry(
        name="geometric",
        title="Geometric mechanism (discrete Laplace)",
        mechanism=geometric,
        paper=GHOSH_ROUGHGARDEN_SUNDARARAJAN,
        domain="integer",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss",
                GHOSH_ROUGHGARDEN_SUNDARARAJAN,
                factor=Fraction(1),
            ),
        ),
        notes="inputs are whole numbers",
    ),
    Entry(
        name="truncated-geometric",
        title="Truncated geometric mechanism",
        mechanism=truncated_geometric,
        paper=GHOSH_ROUGHGARDEN_SUNDARARAJAN,
        domain="integer:0,5",
        example=2,
        neighbour=3,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss: outputs 0 and `highest` attain it",
                GHOSH_ROUGHGARDEN_SUNDARARAJAN,
                factor=Fraction(1),
            ),
        ),
        notes="inputs are whole numbers from 0 to `highest`",
    ),
    Entry(
        name="discrete-gaussian",
        title="Discrete Gaussian mechanism",
        mechanism=discrete_gaussian,
        paper=CANONNE_KAMATH_STEINKE,
        promise=Promise("zcdp", Fraction(1, 2), 2),
        domain="integer",
        epsilon="1",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds, and no smaller zcdp claim does", CANONNE_KAMATH_STEINKE),
            Truth(
                Kind.NOT_PRIVATE,
                "it is pure:e for no e: the ratio of the probabilities of i grows without bound",
                about="as a pure claim",
                value=math.inf,
            ),
        ),
        notes="inputs are whole numbers; the scale is 1/epsilon, as in the paper",
    ),
    Entry(
        name="staircase",
        title="Staircase mechanism",
        mechanism=staircase,
        paper=GENG_VISWANATH,
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss: each step is exp(-epsilon) times as high as the one before",
                GENG_VISWANATH,
                factor=Fraction(1),
            ),
        ),
        notes="γ = 1/(1 + exp(epsilon/2)), the best one for the expected size of the noise",
    ),
    Entry(
        name="uniform",
        title="Uniform noise",
        mechanism=uniform,
        paper=GENG_ET_AL,
        promise=Promise("approximate", Fraction(0), 0, Fraction(1, 10)),
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.HOLDS,
                "holds, and delta is the exact total variation distance: a shift by 1 moves that mass out of the "
                "support",
                GENG_ET_AL,
            ),
            Truth(Kind.NOT_PRIVATE, "no pure:e holds, for the same reason", about="as a pure claim", value=math.inf),
        ),
        notes="has no parameter epsilon; delta has the default 0.1",
    ),
)
