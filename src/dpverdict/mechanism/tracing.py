"""What symbols ask of the path that they stand on."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from dpverdict.mechanism.structure import Affine, Constant, Term


class Tracing(Protocol):
    """A path, seen from its symbols.

    A path has two sides: Python's own numbers stand on one, the items of arrays and what comes of them on the other,
    where numpy's rules hold (True + True is True, and 1 / 0 is no error).  A number that numpy has taken from a list
    is both: in the list it is still Python's, and stops where the rules differ.
    """

    is_numpy: bool
    is_taken: bool

    @property
    def python(self) -> Tracing:
        """The side of the path where Python's rules hold."""

    @property
    def numpy(self) -> Tracing:
        """The side of the path where numpy's rules hold."""

    @property
    def taken(self) -> Tracing:
        """The side of a number that numpy takes from a list."""

    def decide(self, condition: Term) -> bool:
        """Answer a condition, now and for the rest of the path."""

    def concrete(self, term: Term, demand: str) -> Any:
        """A concrete value for the term, where there can be one."""

    def stop(self, what: str, fix: str) -> NoReturn:
        """Give up tracing: this has no meaning for symbols."""

    def read(self, content: object) -> Constant | None:
        """A Python scalar as a constant, noting floats that are read as decimals."""

    def known(self, term: Term) -> Term:
        """One object for equal terms."""

    def without_decided(self, count: Affine) -> Term:
        """A sum with the booleans that the path has decided counted into its constant."""
