"""The noise source that a mechanism gets as its first argument, and the one that really draws.

`RealNoise` is written the obvious way, one law after the other, and shares nothing with the array sampling of
`laws.py`: the agreement tests hold one against the other.  The checks are shared with symbolic noise; they ask
symbols only what a path can answer, and leave to plain numbers what it cannot (being finite, being whole).
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy

from dpverdict.mechanism.symbol import Symbol

LARGEST_WHOLE_SCALE = 2.0**40
"""Beyond this scale a 64-bit float has no bits left to tell neighbouring whole numbers apart fairly."""

LARGEST_WHOLE = 2**62
"""No whole number that a law is given may be larger: draws around it still fit 64 bits."""

TOLERANCE = 1e-9
"""How far from 1 the sum of given probabilities may be."""


class Noise(ABC):
    """A source of noise.

    Names, order and defaults follow `numpy.random.Generator` where it has the law.  Without `size`, a draw is a
    plain float, int, bool or listed value; with it, an array.  A parameter out of range raises `ValueError`.
    """

    __slots__ = ()

    @abstractmethod
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Density exp(-|x - loc| / scale) / (2 scale)."""

    @abstractmethod
    def exponential(self, scale: Any = 1.0, size: Any = None, loc: Any = 0.0) -> Any:
        """One-sided Laplace: density exp(-(x - loc) / scale) / scale from loc on."""

    @abstractmethod
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gaussian with mean loc and standard deviation scale."""

    @abstractmethod
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Pr[X ≤ x] = exp(-exp(-(x - loc) / scale))."""

    @abstractmethod
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform between low and high."""

    @abstractmethod
    def discrete_laplace(self, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """Pr[X = i] ∝ exp(-|i - loc| / scale) on the whole numbers; loc is a whole number."""

    @abstractmethod
    def truncated_discrete_laplace(self, low: Any, high: Any, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """`discrete_laplace` given that it falls into low..high."""

    @abstractmethod
    def truncated_geometric(self, low: Any, high: Any, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """`discrete_laplace` clamped to low..high."""

    @abstractmethod
    def discrete_gaussian(self, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """Pr[X = i] ∝ exp(-(i - loc)² / (2 scale²)) on the whole numbers; loc is a whole number."""

    @abstractmethod
    def bernoulli(self, p: Any = 0.5, size: Any = None) -> Any:
        """True with probability p."""

    @abstractmethod
    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """One of the listed scalars (or of range(a)), with probabilities p or else evenly; always with replacement."""

    @abstractmethod
    def exponential_mechanism(self, scores: Any, rate: Any, values: Any = None, size: Any = None) -> Any:
        """values[i] (or i itself) with a probability proportional to exp(rate · scores[i])."""


class RealNoise(Noise):
    """Noise from a NumPy generator."""

    __slots__ = ("_generator",)

    def __init__(self, generator: numpy.random.Generator) -> None:
        self._generator = generator

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_number(loc, "loc")
        check_scale(scale)
        return self._generator.laplace(loc, scale, check_size(size))

    def exponential(self, scale: Any = 1.0, size: Any = None, loc: Any = 0.0) -> Any:
        """See `Noise`."""
        check_number(loc, "loc")
        check_scale(scale)
        shape = shape_of(size, loc, scale)
        drawn = self._generator.exponential(scale, shape)
        return float(loc) + drawn if shape is None else numpy.asarray(loc, float) + drawn

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_number(loc, "loc")
        check_scale(scale)
        return self._generator.normal(loc, scale, check_size(size))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_number(loc, "loc")
        check_scale(scale)
        return self._generator.gumbel(loc, scale, check_size(size))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_range(low, high)
        return self._generator.uniform(low, high, check_size(size))

    def discrete_laplace(self, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_whole(loc, "loc")
        check_whole_scale(scale)
        return self._repeat(self._one_two_sided, shape_of(size, loc, scale), loc, scale)

    def truncated_discrete_laplace(self, low: Any, high: Any, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_whole_range(low, high)
        check_whole(loc, "loc")
        check_whole_scale(scale)
        return self._repeat(self._one_within, shape_of(size, low, high, loc, scale), low, high, loc, scale)

    def truncated_geometric(self, low: Any, high: Any, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_whole_range(low, high)
        check_whole(loc, "loc")
        check_whole_scale(scale)
        return self._repeat(self._one_clamped, shape_of(size, low, high, loc, scale), low, high, loc, scale)

    def discrete_gaussian(self, loc: Any = 0, scale: Any = 1.0, size: Any = None) -> Any:
        """See `Noise`."""
        check_whole(loc, "loc")
        check_whole_scale(scale)
        return self._repeat(self._one_gaussian, shape_of(size, loc, scale), loc, scale)

    def bernoulli(self, p: Any = 0.5, size: Any = None) -> Any:
        """See `Noise`."""
        check_probability(p)
        shape = shape_of(size, p)
        if shape is None:
            return bool(self._generator.random() < p)
        return self._generator.random(shape) < numpy.asarray(p, float)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """See `Noise`."""
        check_replace(replace)
        options = options_of(a)
        if p is None:
            return _listed(options, self._generator.integers(len(options), size=check_size(size)))
        check_weights(p, len(options))
        return _listed(options, self._position(p, size))

    def exponential_mechanism(self, scores: Any, rate: Any, values: Any = None, size: Any = None) -> Any:
        """See `Noise`."""
        check_number(rate, "rate")
        check_scores(scores)
        options = options_of(len(scores) if values is None else values)
        check_one_each(scores, options, "scores", "values")
        exponents = [float(rate) * float(score) for score in scores]
        check_number(exponents, "rate times score")
        likeliest = max(exponents)
        return _listed(options, self._position([math.exp(exponent - likeliest) for exponent in exponents], size))

    def _position(self, weights: Sequence[float], size: Any) -> Any:
        *thresholds, total = accumulate(map(float, weights))
        drawn = self._generator.random(check_size(size))
        if size is None:
            return bisect_right(thresholds, drawn * total)
        return numpy.searchsorted(numpy.asarray(thresholds, float), drawn * total, side="right")

    def _repeat(self, one: Callable[..., int], shape: tuple[int, ...] | None, *parameters: Any) -> Any:
        if shape is None:
            return one(*parameters)
        columns = [numpy.broadcast_to(numpy.asarray(given), shape).ravel().tolist() for given in parameters]
        count = math.prod(shape)
        return numpy.fromiter((one(*row) for row in zip(*columns, strict=True)), numpy.int64, count).reshape(shape)

    def _one_two_sided(self, loc: Any, scale: Any) -> int:
        stopping = -math.expm1(-1.0 / float(scale))
        return int(loc) + int(self._generator.geometric(stopping)) - int(self._generator.geometric(stopping))

    def _one_clamped(self, low: Any, high: Any, loc: Any, scale: Any) -> int:
        return min(max(self._one_two_sided(loc, scale), int(low)), int(high))

    def _one_within(self, low: Any, high: Any, loc: Any, scale: Any) -> int:
        # Given the range, the law is the same around the point of the range that is nearest to its location.
        nearest = int(min(max(loc, low), high))
        while high - low <= 4 * scale:
            proposed = int(self._generator.integers(int(low), int(high), endpoint=True))
            if self._generator.random() < math.exp(-abs(proposed - nearest) / float(scale)):
                return proposed
        while True:
            proposed = self._one_two_sided(nearest, scale)
            if low <= proposed <= high:
                return proposed

    def _one_gaussian(self, loc: Any, scale: Any) -> int:
        # Canonne, Kamath and Steinke 2020, algorithm 3.
        deviation = float(scale)
        wider = math.floor(deviation) + 1
        while True:
            proposed = self._one_two_sided(0, wider)
            gap = (abs(proposed) - deviation * deviation / wider) / deviation
            if self._generator.random() < math.exp(-gap * gap / 2):
                return int(loc) + proposed


# --- checks: for plain numbers, symbols, and arrays of either ----------------------------------------------------


def check_number(given: Any, name: str) -> None:
    """A plain number must be finite."""
    for item in _each(given):
        if not _is_finite(item):
            raise ValueError(f"{name} must be a finite number, got {item}")


def check_scale(given: Any, name: str = "scale") -> None:
    """A scale must be finite and above 0."""
    for item in _each(given):
        if not item > 0 or not _is_finite(item):
            raise ValueError(f"{name} must be a finite number above 0, got {item}")


def check_whole_scale(given: Any, name: str = "scale") -> None:
    """The scale of a law on whole numbers must also be small enough for 64-bit floats."""
    check_scale(given, name)
    for item in _each(given):
        if _is_plain(item) and item > LARGEST_WHOLE_SCALE:
            raise ValueError(f"{name} of a law on whole numbers must be at most 2 ** 40, got {item}")


def check_whole(given: Any, name: str) -> None:
    """A plain number must be whole, and fit 64 bits with room to spare."""
    for item in _each(given):
        if _is_plain(item) and not (item % 1 == 0 and abs(item) <= LARGEST_WHOLE):
            raise ValueError(f"{name} must be a whole number from -2 ** 62 to 2 ** 62, got {item}")


def check_range(low: Any, high: Any) -> None:
    """Both ends must be finite, so must their distance, and low must not be above high."""
    check_number(low, "low")
    check_number(high, "high")
    lows, highs = _each(low), _each(high)
    for first, last in zip(lows * len(highs), highs * len(lows), strict=True):
        if not first <= last or not _is_finite(last - first):
            raise ValueError(f"low must be at most high, and high - low finite, got low={first} and high={last}")


def check_whole_range(low: Any, high: Any) -> None:
    """Both ends must be whole numbers, and low must not be above high."""
    check_whole(low, "low")
    check_whole(high, "high")
    check_range(low, high)


def check_probability(given: Any, name: str = "p") -> None:
    """A probability lies from 0 to 1."""
    for item in _each(given):
        if not item >= 0 or not item <= 1:
            raise ValueError(f"{name} must lie from 0 to 1, got {item}")


def check_weights(weights: Any, count: int, name: str = "p") -> None:
    """There must be `count` probabilities; plain ones must sum to 1."""
    listed = _each(weights)
    if len(listed) != count:
        raise ValueError(f"{name} must have one probability for each of the {count} options, got {len(listed)}")
    for item in listed:
        if not item >= 0:
            raise ValueError(f"{name} must not have a negative probability, got {item}")
    if all(map(_is_plain, listed)) and not abs(math.fsum(listed) - 1) <= TOLERANCE:
        raise ValueError(f"{name} must sum to 1, got a sum of {math.fsum(listed)}")


def check_scores(scores: Any) -> None:
    """There must be at least one score, and plain scores must be finite."""
    if len(scores) == 0:
        raise ValueError("scores must not be empty, got none")
    check_number(scores, "scores")


def check_one_each(left: Any, right: Any, left_name: str, right_name: str) -> None:
    """Two lists must have the same length."""
    if len(left) != len(right):
        raise ValueError(f"{left_name} and {right_name} must have the same length, got {len(left)} and {len(right)}")


def check_replace(replace: Any) -> None:
    """Options are drawn with replacement."""
    if not replace:
        raise ValueError(
            f"choice draws with replacement only, got replace={replace}: "
            "leave replace out, and to draw different options choose again from those that are left"
        )


def check_size(size: Any) -> Any:
    """The size that was given, which is None, a whole number from 0, or a tuple of those."""
    if size is None:
        return None
    for item in size if isinstance(size, tuple) else (size,):
        if isinstance(item, bool) or not isinstance(item, (int, numpy.integer)) or item < 0:
            raise ValueError(f"size must be None or whole numbers, at least 0, got {size}")
    return size


def options_of(a: Any) -> tuple[Any, ...]:
    """The scalars to choose from: range(a), or the listed ones as plain Python values."""
    if isinstance(a, (int, numpy.integer)) and not isinstance(a, bool):
        options: tuple[Any, ...] = tuple(range(a))
    elif isinstance(a, (list, tuple, range, numpy.ndarray)):
        options = tuple(item.item() if isinstance(item, numpy.generic) else item for item in a)
    else:
        raise ValueError(f"the options must be a list, or a number n for range(n), got {a!r}")
    if not options:
        raise ValueError(f"there must be at least one option, got {a!r}")
    for item in options:
        if isinstance(item, (list, tuple, dict, set, numpy.ndarray)):
            raise ValueError(f"every option must be a number, string, boolean or None, got {item!r}")
    return options


# --- between plain values and arrays -----------------------------------------------------------------------------


def _is_plain(given: Any) -> bool:
    return type(given) in (float, int) or issubclass(type(given), numbers.Real)  # a symbol's __class__ says float


def _is_finite(given: Any) -> bool:
    try:
        return not _is_plain(given) or math.isfinite(given)
    except OverflowError:  # a whole number or fraction that no float can hold
        return False


def _is_array(given: Any) -> bool:
    if type(given) in (int, float, Symbol):  # the usual ones first: a draw asks this several times
        return False
    return isinstance(given, (list, tuple)) or getattr(given, "shape", ()) != ()


def _each(given: Any) -> tuple[Any, ...]:
    if not _is_array(given):
        return (given,)
    return tuple(inner for item in given for inner in _each(item))


def shape_of(size: Any, *parameters: Any) -> tuple[int, ...] | None:
    """The shape of the result, None for a single plain value."""
    check_size(size)
    shapes = [numpy.shape(given) for given in parameters if _is_array(given)]
    if size is None:
        return numpy.broadcast_shapes(*shapes) if shapes else None
    wanted = tuple(map(int, size)) if isinstance(size, tuple) else (int(size),)
    for shape in shapes:
        if numpy.broadcast_shapes(wanted, shape) != wanted:
            raise ValueError(f"size must fit the parameters, got size={size} for parameters of shape {shape}")
    return wanted


def _listed(options: tuple[Any, ...], position: Any) -> Any:
    if not isinstance(position, numpy.ndarray):
        return options[int(position)]
    kinds = {type(option) for option in options}
    if kinds <= {int, float} or kinds in ({str}, {bool}):
        return numpy.asarray(options)[position]
    held = numpy.empty(len(options), object)
    held[:] = options
    return held[position]
