"""What a noise law may be able to do.  A reading asks for the ability that it needs, by these classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from dpverdict.mechanism.structure import Constant, Law, Term

Array: TypeAlias = Any
"""An array of whichever array namespace is in use (NumPy's or JAX's), or a scalar that broadcasts."""


class ArrayNoise(Protocol):
    """A source of standard noise as arrays, on top of an array namespace `xp`."""

    @property
    def xp(self) -> Any:
        """The array namespace."""

    def uniform(self, size: int) -> Array:
        """Uniform on [0, 1)."""

    def exponential(self, size: int) -> Array:
        """Exponential with rate 1."""

    def laplace(self, size: int) -> Array:
        """Laplace with location 0 and scale 1."""

    def normal(self, size: int) -> Array:
        """Normal with mean 0 and variance 1."""


class Sampled(Law, ABC):
    """A law that can be sampled as arrays."""

    __slots__ = ()

    @abstractmethod
    def sample(self, noise: ArrayNoise, size: int, parameters: Sequence[Array]) -> Array:
        """`size` fresh outcomes, given the parameters' values (numbers, or arrays of this size).

        A law with `FiniteSupport.coded` outcomes gives their positions in the support.
        """


class Compilable(Sampled, ABC):
    """A law that a compiled kernel can sample: how much noise an outcome takes does not depend on that noise."""

    __slots__ = ()


class FiniteSupport(Law, ABC):
    """A law that may have finitely many outcomes."""

    __slots__ = ()

    @abstractmethod
    def support(self) -> tuple[Constant, ...] | None:
        """The outcomes, or None where these parameters leave infinitely many."""

    @property
    def coded(self) -> bool:
        """Whether samples are positions in the support instead of the values themselves."""
        return False


class Bounded(Law, ABC):
    """A law whose outcomes have a lowest or a highest value, given by a term."""

    __slots__ = ()

    @abstractmethod
    def lowest(self) -> Term | None:
        """No outcome is below this."""

    @abstractmethod
    def highest(self) -> Term | None:
        """No outcome is above this."""
