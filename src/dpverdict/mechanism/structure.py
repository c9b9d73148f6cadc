"""The program language: a sealed, tiny set of terms and nodes.

A *program* is what a mechanism does, written down so that it can be looked into: a graph of draws, branches,
emitted output slots and ends.  Terms are the values that a run computes; nodes are the steps of a run.  Both are
frozen values compared by structure, and their union types are closed: every reading matches on them and ends in
``assert_never``, so that a type checker lists each reading that a new member would break.

Noise laws are the open side of the language: subclasses of `Law` (see ``laws.py``) that carry the abilities
which they have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast, dataclass_transform


class Kind(Enum):
    """What sort of value a term stands for."""

    REAL = "real"
    INTEGER = "integer"
    TRUTH = "truth"
    TEXT = "text"
    NOTHING = "nothing"
    NONFINITE = "nonfinite"
    MIXED = "mixed"

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic makes sense (a boolean counts as 0 or 1)."""
        return self in (Kind.REAL, Kind.INTEGER, Kind.TRUTH)

    @property
    def is_integral(self) -> bool:
        """Whether every value is a whole number."""
        return self in (Kind.INTEGER, Kind.TRUTH)


class Value:
    """A frozen value, compared by structure, that computes its hash and its canonical text once.

    Terms are deep and shared: hashing them field by field at every look-up would dominate tracing.
    """

    __slots__ = ("_hash", "_text")

    _fields: ClassVar[tuple[str, ...]] = ()

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._fields)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            computed = hash((type(self).__name__, self._parts()))
            object.__setattr__(self, "_hash", computed)
            return computed

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self) or hash(self) != hash(other):
            return False
        assert isinstance(other, Value)
        return self._parts() == other._parts()

    @property
    def text(self) -> str:
        """A canonical text: equal values have equal texts, on every machine and in every process."""
        try:
            return self._text
        except AttributeError:
            inner = "".join(f" {_text_of(part)}" for part in self._parts())
            computed = f"({type(self).__name__}{inner})"
            object.__setattr__(self, "_text", computed)
            return computed

    _hash: int
    _text: str


def _text_of(part: object) -> str:
    match part:
        case Value():
            return part.text
        case tuple():
            return f"[{' '.join(_text_of(item) for item in part)}]"
        case Enum():
            return str(part.value)
        case Fraction():
            return str(part)
        case _:
            return repr(part)


C = TypeVar("C", bound=type[Any])


@dataclass_transform(frozen_default=True, eq_default=False)
def value(cls: C) -> C:
    """Make a class a frozen, slotted dataclass under `Value`'s equality and hash."""
    made: Any = dataclass(frozen=True, slots=True, eq=False)(cls)
    made._fields = tuple(made.__dataclass_fields__)
    return cast(C, made)


# --- terms ---------------------------------------------------------------------------------------------------


@value
class Constant(Value):
    """A known value.  A number that is not finite is kept by name: 'nan', 'inf' or '-inf'."""

    kind: Kind
    content: Fraction | bool | str | None


@value
class Input(Value):
    """One scalar of the mechanism's input; `path` leads to it through nested lists and keys."""

    path: tuple[int | str, ...]
    kind: Kind


@value
class Parameter(Value):
    """A parameter of the mechanism that is kept symbolic."""

    name: str


@value
class Epsilon(Value):
    """The mechanism's privacy parameter ε, a positive real number."""


@value
class Draw(Value):
    """Fresh noise: the `occurrence`-th draw from this law (with these parameters) on a path."""

    law: Law
    occurrence: int


@value
class Affine(Value):
    """constant + Σ coefficient · term; booleans count as 0 or 1."""

    constant: Fraction
    terms: tuple[tuple[Term, Fraction], ...]


@value
class Product(Value):
    """Π base ** exponent; at most one base depends on noise, and that one has exponent 1."""

    factors: tuple[tuple[Term, Fraction], ...]


@value
class Elementary(Value):
    """exp or log of a term that does not depend on noise."""

    function: str
    argument: Term


@value
class Comparison(Value):
    """difference ≤ 0, < 0 or = 0."""

    relation: str
    difference: Term


@value
class Not(Value):
    """Negation of a boolean term."""

    term: Term


@value
class All(Value):
    """Conjunction of boolean terms."""

    terms: tuple[Term, ...]


@value
class Any_(Value):
    """Disjunction of boolean terms."""

    terms: tuple[Term, ...]


@value
class Choose(Value):
    """`yes` where the condition holds, else `no`."""

    condition: Term
    yes: Term
    no: Term


@value
class Ranked(Value):
    """The item with this rank in ascending order: rank 0 is the minimum, the last rank the maximum."""

    items: tuple[Term, ...]
    rank: int


@value
class ArgMax(Value):
    """The position of the largest item; the first one where several are largest."""

    items: tuple[Term, ...]


@value
class Lookup(Value):
    """A function of terms with finitely many values: one result for each combination of keys."""

    keys: tuple[Term, ...]
    table: tuple[tuple[tuple[Constant, ...], Constant], ...]


Term: TypeAlias = (
    Constant
    | Input
    | Parameter
    | Epsilon
    | Draw
    | Affine
    | Product
    | Elementary
    | Comparison
    | Not
    | All
    | Any_
    | Choose
    | Ranked
    | ArgMax
    | Lookup
)


class Law(Value, ABC):
    """A noise distribution, given by terms as parameters.

    Subclasses are leaves that anyone may add; what a reading needs of a law it asks for as an ability
    (``laws.py``), so a law that lacks one only closes the readings that need it.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name shown to people."""

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """The kind of the outcomes."""

    @property
    def parameters(self) -> tuple[Term, ...]:
        """The terms that the law depends on, in order."""
        return self._parts()

    def with_parameters(self, parameters: tuple[Term, ...]) -> Self:
        """The same law with other parameters, given in the order of `parameters`."""
        return type(self)(*parameters)


# --- nodes ---------------------------------------------------------------------------------------------------


@value
class DrawNode(Value):
    """Draw fresh noise, then go on."""

    draw: Draw
    then: Node


@value
class BranchNode(Value):
    """Go on with `yes` where the condition holds, else with `no`."""

    condition: Term
    yes: Node
    no: Node


@value
class EmitNode(Value):
    """Append one slot to the output, then go on."""

    term: Term
    then: Node


@value
class ReturnNode(Value):
    """End with the emitted slots, arranged in this shape."""

    shape: Shape


@value
class RaiseNode(Value):
    """End with an exception, which is an outcome like any other; emitted slots are not part of it."""

    exception: str


Node: TypeAlias = DrawNode | BranchNode | EmitNode | ReturnNode | RaiseNode


# --- shapes of outputs and inputs ----------------------------------------------------------------------------


@value
class Slot(Value):
    """A single scalar."""


@value
class Sequence(Value):
    """A list, tuple or array; `items` is None for a flat one that takes every slot there is."""

    container: str
    items: tuple[Shape, ...] | None


@value
class Record(Value):
    """A dictionary with these keys."""

    keys: tuple[Constant, ...]
    items: tuple[Shape, ...]


Shape: TypeAlias = Slot | Sequence | Record


@dataclass(frozen=True, slots=True)
class Program:
    """A traced mechanism: the graph, and what it was traced for.

    `form` says which inputs it is about (`symbolic_input.form_of`); None where the input is concrete.
    `concrete` is None when the inputs are symbolic; otherwise it is the one input that the graph is about, and
    `why_concrete` says which line asked for concrete values.
    """

    root: Node
    name: str
    arguments: Mapping[str, object]
    form: str | None
    concrete: object | None
    why_concrete: str | None
    decimals: tuple[str, ...]
    paths: int
