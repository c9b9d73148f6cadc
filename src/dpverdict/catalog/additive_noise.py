"""Mechanisms that add noise of a fixed law to one number."""

from __future__ import annotations

from typing import Any

from dpverdict import log, sqrt
from dpverdict.catalog.citations import (
    CANONNE_KAMATH_STEINKE,
    DWORK_MCSHERRY_NISSIM_SMITH,
    DWORK_ROTH,
    GENG_ET_AL,
    GHOSH_ROUGHGARDEN_SUNDARARAJAN,
)
from dpverdict.catalog.entry import Entry
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


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
def uniform(noise: Noise, value: Any, delta: float = 0.1) -> Any:
    """A number with uniform noise of width 1/δ."""
    return value + noise.uniform(-0.5 / delta, 0.5 / delta)


ENTRIES = (
    Entry(
        name="laplace",
        title="Laplace mechanism",
        mechanism=laplace,
        paper=DWORK_MCSHERRY_NISSIM_SMITH,
        claim="pure:epsilon, linf:1",
        truth="holds, and epsilon is the exact loss: every event right of both inputs attains it "
        "(Dwork, McSherry, Nissim, Smith 2006)",
        vector=False,
        example=0,
        neighbour=1,
        published="DP-Sniper, epsilon = 0.1: at least 0.0976; StatDP-Fixed: 0.0998",
        notes="the claim is about real numbers; floating-point Laplace noise leaks more (Mironov 2012)",
    ),
    Entry(
        name="gaussian",
        title="Gaussian mechanism with the textbook's noise",
        mechanism=gaussian,
        paper=DWORK_ROTH,
        claim="approximate:epsilon,delta, linf:1",
        truth="proved for epsilon < 1 (Dwork, Roth 2014, theorem A.1). The exact profile is "
        "δ(e) = Φ(1/2σ - eσ) - exp(e)·Φ(-1/2σ - eσ) (Balle, Wang 2018): at delta = 1e-5 the claim holds with much "
        "room at epsilon = 1 (4.1e-8) and fails from epsilon = 8.42 on",
        vector=False,
        example=0,
        neighbour=1,
        published="",
        notes="delta is a parameter with default 1e-5; the formula is no calibration for large epsilon",
    ),
    Entry(
        name="geometric",
        title="Geometric mechanism (discrete Laplace)",
        mechanism=geometric,
        paper=GHOSH_ROUGHGARDEN_SUNDARARAJAN,
        claim="pure:epsilon, linf:1",
        truth="holds, and epsilon is the exact loss (Ghosh, Roughgarden, Sundararajan 2009)",
        vector=False,
        example=0,
        neighbour=1,
        published="",
        notes="inputs are whole numbers",
    ),
    Entry(
        name="truncated-geometric",
        title="Truncated geometric mechanism",
        mechanism=truncated_geometric,
        paper=GHOSH_ROUGHGARDEN_SUNDARARAJAN,
        claim="pure:epsilon, linf:1",
        truth="holds, and epsilon is the exact loss: outputs 0 and `highest` attain it "
        "(Ghosh, Roughgarden, Sundararajan 2009)",
        vector=False,
        example=2,
        neighbour=3,
        published="DP-Sniper, epsilon = 0.12, highest = 5: at least 0.1156; StatDP-Fixed: 0.1169, claiming 0.204",
        notes="inputs are whole numbers from 0 to `highest`",
    ),
    Entry(
        name="discrete-gaussian",
        title="Discrete Gaussian mechanism",
        mechanism=discrete_gaussian,
        paper=CANONNE_KAMATH_STEINKE,
        claim="zcdp:epsilon**2/2, linf:1",
        truth="holds (Canonne, Kamath, Steinke 2020); it is pure:e for no e",
        vector=False,
        example=0,
        neighbour=1,
        published="",
        notes="inputs are whole numbers; the scale is 1/epsilon, as in the paper",
    ),
    Entry(
        name="uniform",
        title="Uniform noise",
        mechanism=uniform,
        paper=GENG_ET_AL,
        claim="approximate:0,delta, linf:1",
        truth="holds, and delta is the exact total variation distance: a shift by 1 moves that mass out of the "
        "support, so no pure:e holds",
        vector=False,
        example=0,
        neighbour=1,
        published="",
        notes="has no parameter epsilon; delta has the default 0.1",
    ),
)
