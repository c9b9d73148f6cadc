"""The noise laws: what each is, what is known about it, and which draws it needs (`law_sampling.py` says how)."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Self

from dpverdict.mechanism.abilities import Array, ArrayNoise, Bounded, Compilable, FiniteSupport, Sampled
from dpverdict.mechanism.constants import FALSE, TRUE, exact, number
from dpverdict.mechanism.law_sampling import (
    discrete_gaussian,
    gumbel,
    moved,
    placed,
    positions,
    real,
    softmax_weights,
    tempered,
    two_sided,
    whole,
    within,
)
from dpverdict.mechanism.properties import SUPPORT_LIMIT
from dpverdict.mechanism.structure import Constant, Kind, Term, value


class _Real(Compilable, ABC):
    """A law on the real numbers."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def kind(self) -> Kind:
        return Kind.REAL


class _Whole(Sampled, ABC):
    """A law on the whole numbers."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def kind(self) -> Kind:
        return Kind.INTEGER


# --- on the real numbers -----------------------------------------------------------------------------------------


@value
class Laplace(_Real):
    """Density exp(-|x - location| / scale) / (2 scale)."""

    location: Term
    scale: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` real numbers."""
        return placed(noise.laplace(size), *parameters)


@value
class Exponential(_Real, Bounded):
    """One-sided Laplace: density exp(-(x - location) / scale) / scale from the location on."""

    location: Term
    scale: Term

    def lowest(self) -> Term:
        """The location."""
        return self.location

    def highest(self) -> None:
        """None: there is no largest outcome."""

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` real numbers."""
        return placed(noise.exponential(size), *parameters)


@value
class Gaussian(_Real):
    """The normal law; the scale is its standard deviation."""

    location: Term
    scale: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` real numbers."""
        return placed(noise.normal(size), *parameters)


@value
class Gumbel(_Real):
    """Pr[X ≤ x] = exp(-exp(-(x - location) / scale))."""

    location: Term
    scale: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` real numbers."""
        location, scale = parameters
        return placed(gumbel(noise, size), location, scale)


@value
class Uniform(_Real, Bounded):
    """Uniform between two numbers."""

    low: Term
    high: Term

    def lowest(self) -> Term:
        """The lower end."""
        return self.low

    def highest(self) -> Term:
        """The upper end."""
        return self.high

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` real numbers."""
        low, high = parameters
        return placed(noise.uniform(size), low, real(high) - real(low))


# --- on the whole numbers ----------------------------------------------------------------------------------------


@value
class DiscreteLaplace(_Whole, Compilable):
    """Pr[X = i] ∝ exp(-|i - location| / scale), the two-sided geometric law; the location is a whole number."""

    location: Term
    scale: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` whole numbers."""
        location, scale = parameters
        return moved(noise, two_sided(noise, size, tempered(noise, scale)), location)


class _Ranged(_Whole, Compilable, Bounded, FiniteSupport, ABC):
    """A law on the whole numbers from low to high."""

    __slots__ = ()

    low: Term
    high: Term

    def lowest(self) -> Term:
        return self.low

    def highest(self) -> Term:
        return self.high

    def support(self) -> tuple[Constant, ...] | None:
        if not all(isinstance(end, Constant) and end.kind.is_integral for end in (self.low, self.high)):
            return None
        first, last = (int(exact(end)) for end in (self.low, self.high) if isinstance(end, Constant))
        return tuple(map(number, range(first, last + 1))) if last - first < SUPPORT_LIMIT else None


@value
class TruncatedDiscreteLaplace(_Ranged):
    """`DiscreteLaplace` given that it falls into low..high; the location may lie outside."""

    location: Term
    scale: Term
    low: Term
    high: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` whole numbers."""
        location, scale, low, high = parameters
        location, low, high = (whole(noise, bound) for bound in (location, low, high))
        return within(noise, size, tempered(noise, scale), (location, low, high))


@value
class TruncatedGeometric(_Ranged):
    """`DiscreteLaplace` clamped to low..high: the ends take the mass beyond them (Ghosh, Roughgarden, Sundararajan)."""

    location: Term
    scale: Term
    low: Term
    high: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` whole numbers."""
        location, scale, low, high = parameters
        drawn = moved(noise, two_sided(noise, size, tempered(noise, scale)), location)
        return noise.xp.clip(drawn, whole(noise, low), whole(noise, high))


@value
class DiscreteGaussian(_Whole):
    """Pr[X = i] ∝ exp(-(i - location)² / (2 scale²)); the location is a whole number."""

    location: Term
    scale: Term

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` whole numbers; NumPy only."""
        location, scale = parameters
        return moved(noise, discrete_gaussian(noise, size, tempered(noise, scale)), location)


# --- finitely many outcomes --------------------------------------------------------------------------------------


@value
class Bernoulli(Compilable, FiniteSupport):
    """True with this probability, else false."""

    probability: Term

    @property
    def name(self) -> str:
        """The name shown to people."""
        return "Bernoulli"

    @property
    def kind(self) -> Kind:
        """Outcomes are truth values."""
        return Kind.TRUTH

    def support(self) -> tuple[Constant, ...]:
        """False and true."""
        return (FALSE, TRUE)

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` booleans."""
        return noise.uniform(size) < parameters[0]


class _Coded(Compilable, FiniteSupport, ABC):
    """A law on listed values, whose samples are positions in the list (equal values may stand in it twice)."""

    __slots__ = ()

    values: tuple[Constant, ...]

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def kind(self) -> Kind:
        kinds = {listed.kind for listed in self.values}
        if len(kinds) == 1:
            return kinds.pop()
        return Kind.REAL if kinds <= {Kind.INTEGER, Kind.REAL} else Kind.MIXED

    @property
    def coded(self) -> bool:
        return True

    def support(self) -> tuple[Constant, ...]:
        return self.values


@value
class FiniteChoice(_Coded):
    """The i-th value with a probability proportional to the i-th weight."""

    values: tuple[Constant, ...]
    weights: tuple[Term, ...]

    @property
    def parameters(self) -> tuple[Term, ...]:
        """The weights."""
        return self.weights

    def with_parameters(self, parameters: tuple[Term, ...]) -> Self:
        """The same values with other weights."""
        return type(self)(self.values, parameters)

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` positions in `values`."""
        return positions(noise, size, parameters)


@value
class ExponentialMechanism(_Coded):
    """The i-th value with a probability proportional to exp(rate · score of i)."""

    values: tuple[Constant, ...]
    rate: Term
    scores: tuple[Term, ...]

    @property
    def parameters(self) -> tuple[Term, ...]:
        """The rate, then the scores."""
        return (self.rate, *self.scores)

    def with_parameters(self, parameters: tuple[Term, ...]) -> Self:
        """The same values with another rate and other scores."""
        return type(self)(self.values, parameters[0], parameters[1:])

    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` positions in `values`."""
        rate, *scores = parameters
        return positions(noise, size, softmax_weights(noise, rate, scores))
