"""Functions over a noise source that find their program themselves, instead of being traced path by path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from dpverdict.mechanism.structure import Node, Term
from dpverdict.mechanism.trace import Session

if TYPE_CHECKING:
    from dpverdict.mechanism.source import Source


class Explored(ABC):
    """A function `(noise, input, epsilon)` whose steps are known, and so all its paths."""

    __slots__ = ()

    source: Source
    """Where it comes from."""

    @abstractmethod
    def __call__(self, noise: Any, input: Any, epsilon: Any) -> Any:
        """Run once."""

    @abstractmethod
    def check_input(self, input: Any) -> None:
        """Raise `InputError` if this is no input."""

    @abstractmethod
    def program(self, input: Any, epsilon: Term, session: Session, *, concrete: bool) -> tuple[Node, int]:
        """The graph and its number of paths, for this input or for all inputs of its form.

        What `check_input` refuses is no input: the graph need not be right for it.

        Raises `Untraceable` and `ConcreteInputNeeded`.
        """
