"""Mechanisms for audits, where worker processes find them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpverdict import single_run, vectorised


@vectorised
def laplace(value: float, runs: int, rng: np.random.Generator, epsilon: float = 1.0) -> Any:
    return value + rng.laplace(scale=1 / epsilon, size=runs)


@vectorised
def half_the_noise(value: float, runs: int, rng: np.random.Generator, epsilon: float = 1.0) -> Any:
    return value + rng.laplace(scale=0.5 / epsilon, size=runs)


@vectorised
def response(bit: int, runs: int, rng: np.random.Generator, epsilon: float = 1.0) -> Any:
    truth = rng.random(runs) < np.exp(epsilon) / (1 + np.exp(epsilon))
    return np.where(truth, bit, 1 - bit)


@vectorised
def fixed_seed(value: float, runs: int) -> Any:
    return value + np.random.default_rng(0).laplace(size=runs)


@single_run
def texts(bit: int, rng: np.random.Generator) -> str:
    return "yes" if rng.random() < 0.2 + 0.6 * bit else "no"


@vectorised
def gaussian(value: float, runs: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return value + rng.normal(scale=scale, size=runs)


@single_run
def fails(value: float) -> float:
    raise ValueError(value)


@single_run
def fails_on_larger(value: float, rng: np.random.Generator) -> float:
    if value > 1 and rng.random() < 0.5:
        raise ValueError(value)
    return 0.0


@vectorised
def leaky(value: float, runs: int, rng: np.random.Generator) -> Any:
    """(0, δ) with δ = 0.01: one run in a hundred shows its input, the others show nothing."""
    return np.where(rng.random(runs) < 0.01, value, 0.5)
