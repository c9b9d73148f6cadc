"""How the laws are sampled as arrays, from standard draws.

Written against an array namespace and the draws of `ArrayNoise` only, so that NumPy and JAX both run it.  Arrays
that a source returns are fresh, hence changed in place (JAX rebinds the name instead).

Probabilities come out right to about 2 ** -52, the step of a 64-bit uniform draw.  Whole numbers from a real draw
times a scale lose their lowest bits once the scale nears 2 ** 50; the front (`noise.py`) refuses such scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate

import numpy

from dpverdict.errors import MechanismError
from dpverdict.mechanism.abilities import Array, ArrayNoise

_FINEST = 1e-3
"""A discrete law of a smaller scale s leaves its centre with a probability below exp(-1 / s) < 1e-434: never."""

_COARSEST = 2.0**55
"""Keeps whole numbers within 64 bits: a standard draw stays below 2 ** 6."""

_SMALLEST = 2.0**-60
"""Stands for an exponential draw of 0, whose logarithm would be infinite."""

_SEARCHED = 64
"""With more thresholds than this, binary search is faster than one comparison for each."""


def real(given: Array) -> Array:
    """A parameter as floating-point numbers; truth values count as 0 or 1."""
    if _is_number(given):
        return float(given)  # an exact constant may be a whole number that no machine integer holds
    return given if given.dtype.kind == "f" else given.astype(float)


def placed(drawn: Array, location: Array, scale: Array) -> Array:
    """location + scale · drawn, in place."""
    drawn *= real(scale)
    if not (_is_number(location) and location == 0):
        drawn += real(location)
    return drawn


def moved(noise: ArrayNoise, drawn: Array, location: Array) -> Array:
    """location + drawn in whole numbers, in place."""
    if not (_is_number(location) and location == 0):
        drawn += whole(noise, location)
    return drawn


def whole(noise: ArrayNoise, given: Array) -> Array:
    """A parameter that must be whole, as integers."""
    if isinstance(given, int):
        return given
    is_real = isinstance(given, float) or (isinstance(given, numpy.ndarray) and given.dtype.kind == "f")
    if is_real and not numpy.all(numpy.floor(given) == given):
        raise MechanismError(
            "MECH-102",
            f"a law on whole numbers needs whole parameters; got {given}",
            why="its outcomes lie a whole number away from its location, and its bounds are outcomes",
            fix="round the value before adding discrete noise",
        )
    return int(given) if isinstance(given, float) else _as_integers(noise, given)


def tempered(noise: ArrayNoise, scale: Array) -> Array:
    """The scale of a discrete law, kept where floating point can hold what follows from it."""
    if _is_number(scale):
        return min(max(float(scale), _FINEST), _COARSEST)
    return noise.xp.clip(scale, _FINEST, _COARSEST)


def gumbel(noise: ArrayNoise, size: int) -> Array:
    """Gumbel with location 0 and scale 1: minus the logarithm of an exponential draw."""
    return -noise.xp.log(noise.xp.maximum(noise.exponential(size), _SMALLEST))


def two_sided(noise: ArrayNoise, size: int, scale: Array) -> Array:
    """Discrete Laplace around 0, from one Laplace draw.

    With q = exp(-1 / scale), an exponential draw E and shift = scale · log(2 / (1 + q)), which is below 1,
    Pr[⌊scale · E + shift⌋ ≥ k] = exp(-(k - shift) / scale) = 2 qᵏ / (1 + q) for k ≥ 1: the law of |X|, exactly.
    """
    xp = noise.xp
    shift = -scale * xp.log1p(xp.expm1(-1 / scale) / 2)
    drawn = noise.laplace(size)
    drawn *= scale
    drawn += xp.copysign(shift, drawn)
    return _as_integers(noise, drawn)


def within(noise: ArrayNoise, size: int, scale: Array, place: tuple[Array, Array, Array]) -> Array:
    """Discrete Laplace given that it falls into a range; `place` is its location and the ends of the range.

    Seen from the point of the range that is nearest to the location, it is a geometric law cut off at the end of
    the range on either side: first the side is drawn, then the distance by inversion.
    """
    xp = noise.xp
    location, low, high = place
    nearest = xp.minimum(xp.maximum(location, low), high)
    above, below = high - nearest + 1, nearest - low
    cut_above, cut_below = xp.expm1(-above / scale), xp.expm1(-below / scale)
    weight_above, weight_below = -cut_above, -cut_below * xp.exp(-1 / scale)
    is_below = noise.uniform(size) * (weight_above + weight_below) >= weight_above
    steps = -scale * xp.log1p(noise.uniform(size) * xp.where(is_below, cut_below, cut_above))
    steps = xp.minimum(_as_integers(noise, steps), xp.where(is_below, below, above) - 1)
    return nearest + xp.where(is_below, -1 - steps, steps)


def discrete_gaussian(noise: ArrayNoise, size: int, scale: Array) -> Array:
    """Discrete Gaussian around 0, by rejection from discrete Laplace (Canonne, Kamath and Steinke 2020, alg. 3)."""
    if noise.xp is not numpy:
        raise MechanismError(
            "MECH-101",
            "the discrete Gaussian law cannot be compiled",
            why="it is sampled by rejection, and a compiled kernel draws a fixed amount of noise",
            fix="sample this program with NumPy",
        )
    drawn = numpy.empty(size, numpy.int64)
    missing = numpy.arange(size)
    while missing.size:
        wanted = scale if _is_number(scale) else scale[missing]
        wider = numpy.floor(wanted) + 1
        proposed = two_sided(noise, missing.size, wider)
        gap = numpy.abs(proposed) / wanted - wanted / wider
        accepted = 2 * noise.exponential(missing.size) >= gap * gap
        drawn[missing[accepted]] = proposed[accepted]
        missing = missing[~accepted]
    return drawn


def softmax_weights(noise: ArrayNoise, rate: Array, scores: Sequence[Array]) -> list[Array]:
    """exp(rate · score), up to a common factor that makes the largest weight 1: nothing overflows."""
    xp = noise.xp
    rate, scores = real(rate), [real(score) for score in scores]
    likeliest = xp.where(rate >= 0, reduce(xp.maximum, scores), reduce(xp.minimum, scores))
    with numpy.errstate(over="ignore", under="ignore"):
        return [xp.exp(rate * (score - likeliest)) for score in scores]


def positions(noise: ArrayNoise, size: int, weights: Sequence[Array]) -> Array:
    """Positions drawn with probabilities proportional to these weights; one of weight 0 never comes."""
    xp = noise.xp
    *thresholds, total = accumulate(map(real, weights))
    plain = all(_is_number(weight) for weight in weights)
    drawn = noise.uniform(size)
    if plain and len(set(weights)) == 1:
        drawn *= len(weights)
        return _as_integers(noise, drawn)
    drawn *= total  # stays below the total in floating point too, so the last weight may be 0
    if plain and len(weights) > _SEARCHED:
        return xp.searchsorted(xp.asarray(thresholds), drawn, side="right")
    found = xp.zeros(size, numpy.int64 if xp is numpy else int)
    for threshold in thresholds:
        found += drawn >= threshold
    return found


def _is_number(given: Array) -> bool:
    return isinstance(given, (int, float, numpy.generic))


def _as_integers(noise: ArrayNoise, given: Array) -> Array:
    return given.astype(numpy.int64 if noise.xp is numpy else int)
