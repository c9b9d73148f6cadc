"""What a program's outputs depend on, as data: each output is a union of disjoint regions of noise.

A region is a conjunction of linear comparisons over noise, of conditions without noise, and of choices among finitely
many values.  Inputs are symbols, so that one list of regions serves all inputs of a program.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverdict.mechanism import structure
from dpverdict.mechanism.structure import Draw, Law, RaiseNode, ReturnNode, Term


@structure.value
class Noise(structure.Value):
    """A draw, and its law with the parameters that it has in the region: free of noise, not of inputs and ε."""

    draw: Draw
    law: Law


@dataclass(frozen=True, slots=True)
class LinearComparison:
    """Σ coefficient · (noise - its location) + offset ≤ 0, or < 0 where it is strict.

    The offset is free of noise: it takes up the locations of Laplace and exponential noise.  Noise of other laws (on
    whole numbers, or between bounds) stands for itself, and what its law depends on are the law's parameters.
    """

    terms: tuple[tuple[Noise, Fraction], ...]
    offset: Term
    strict: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The noise has the value at this position of its law's support."""

    noise: Noise
    position: int


@dataclass(frozen=True, slots=True)
class Region:
    """Where all guards (conditions without noise), all comparisons and all choices hold."""

    guards: tuple[Term, ...]
    comparisons: tuple[LinearComparison, ...]
    choices: tuple[Choice, ...]


@structure.value
class Pattern(structure.Value):
    """An output: how a run ends, and its slots, which are constants or functions of the input alone."""

    ending: ReturnNode | RaiseNode
    slots: tuple[Term, ...]
