"""What a `.dip` file says, as values: expressions and statements, each with its place in the text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import NamedTuple, TypeAlias


class At(NamedTuple):
    """Where something stands: offsets into the text."""

    start: int
    end: int


class Type(Enum):
    """The types of variables, by the words that declare them."""

    INT = "int"
    BOOL = "bool"
    REAL = "real"
    INTEGER = "integer"
    """Integer noise: the whole numbers without bounds."""

    @property
    def is_noise(self) -> bool:
        """Whether values may be unbounded, so that loops must not assign them."""
        return self in (Type.REAL, Type.INTEGER)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a truth value; a number that was written with a decimal point is a `Fraction`."""

    value: bool | int | Fraction
    at: At
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Name:
    """A variable; in formulas also `eps` and `E`."""

    name: str
    at: At
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator, or a function of a formula, applied to its operands."""

    operator: str
    operands: tuple[Expression, ...]
    at: At
    depth: int


Expression: TypeAlias = Literal | Name | Apply


@dataclass(frozen=True, slots=True)
class Input:
    """`input int q0 -1 1;`; without bounds they are those of the range line."""

    type: Type
    name: Name
    low: Literal | None
    high: Literal | None
    at: At


@dataclass(frozen=True, slots=True)
class Declaration:
    """`int c;` or, with what `exit` returns, `output int c;`."""

    type: Type
    name: Name
    is_output: bool
    at: At


@dataclass(frozen=True, slots=True)
class Assignment:
    """`c = a + b;`."""

    target: Name
    value: Expression
    at: At


@dataclass(frozen=True, slots=True)
class Noise:
    """`r = Lap "eps / 2" q;`: fresh noise with a rate, around or between operands."""

    target: Name
    law: str
    rate: Expression
    operands: tuple[Expression, ...]
    at: At


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values, by scores (`Exp`, with a rate) or by probabilities (`choose`)."""

    target: Name
    rate: Expression | None
    values: tuple[Literal, ...]
    weights: tuple[Expression, ...]
    at: At


@dataclass(frozen=True, slots=True)
class Chance:
    """`Prob{p} statement`: carried out with probability p."""

    probability: Expression
    statement: Statement
    at: At
    depth: int


@dataclass(frozen=True, slots=True)
class If:
    """`if b then … else … fi;`; `end` is where the statement ends."""

    condition: Expression
    yes: tuple[Statement, ...]
    no: tuple[Statement, ...]
    at: At
    depth: int


@dataclass(frozen=True, slots=True)
class While:
    """`while b do … od;`."""

    condition: Expression
    body: tuple[Statement, ...]
    at: At
    depth: int


@dataclass(frozen=True, slots=True)
class Return:
    """`return a b;`."""

    names: tuple[Name, ...]
    at: At


@dataclass(frozen=True, slots=True)
class Exit:
    """`exit;`: return the variables that were declared as outputs."""

    at: At


Statement: TypeAlias = Declaration | Assignment | Noise | Choice | Chance | If | While | Return | Exit


@dataclass(frozen=True, slots=True)
class File:
    """A whole file: the range line, the inputs, and the statements."""

    low: Literal
    high: Literal
    items: tuple[Input | Statement, ...]
