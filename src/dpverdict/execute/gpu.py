"""Noise and compilation through JAX: the one file that knows the optional package.

JAX computes in 32 bits unless told otherwise.  A 32-bit exponential draw ends at 16, in steps that runs on a GPU do
find, so `jit` compiles in 64 bits: then a kernel's laws are NumPy's, down to 2 ** -52.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from dpverdict.errors import MissingExtraError
from dpverdict.execute import seeds


def namespace() -> Any:
    """The array namespace jax.numpy."""
    return _module("jax.numpy")


def device() -> str:
    """The device that compiled programs run on."""
    return str(_module("jax").devices()[0].device_kind)


def key(seed: int, job: str, block: int, phase: str = "run") -> Any:
    """The JAX key of one block of a job, from the same seed sequence as `seeds.generator`."""
    words = seeds.sequence(seed, job, block, phase).generate_state(2, numpy.uint32)
    return _module("jax.random").wrap_key_data(words, impl="threefry2x32")


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as one compiled kernel that computes in 64 bits."""
    jax = _module("jax")
    compiled = jax.jit(function)
    in_64_bits = jax.enable_x64 if hasattr(jax, "enable_x64") else _module("jax.experimental").enable_x64

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with in_64_bits(True):
            return compiled(*arguments)

    return run


class JaxNoise:
    """Standard noise from one key, which is split at every call; it works inside a traced function too."""

    __slots__ = ("_key", "_random", "_xp")

    def __init__(self, key: Any) -> None:
        self._key = key
        self._random = _module("jax.random")
        self._xp = namespace()

    @property
    def xp(self) -> Any:
        """The array namespace: jax.numpy."""
        return self._xp

    def uniform(self, size: int) -> Any:
        """Uniform on [0, 1)."""
        return self._random.uniform(self._fresh(), (size,))

    def exponential(self, size: int) -> Any:
        """Exponential with rate 1."""
        return self._random.exponential(self._fresh(), (size,))

    def laplace(self, size: int) -> Any:
        """Laplace with location 0 and scale 1."""
        return self._random.laplace(self._fresh(), (size,))

    def normal(self, size: int) -> Any:
        """Normal with mean 0 and variance 1."""
        return self._random.normal(self._fresh(), (size,))

    def _fresh(self) -> Any:
        self._key, fresh = self._random.split(self._key)
        return fresh


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise MissingExtraError(
            "EXTRA-001",
            "JAX is not installed",
            why="programs are compiled for a GPU, or for the CPU, through JAX",
            fix="pip install 'dpverdict[gpu]'",
        ) from missing
