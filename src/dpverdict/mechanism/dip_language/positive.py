"""Rates and probabilities that are wrong whatever the inputs are, found before anything runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpverdict.mechanism.dip_language.mistakes import Text
from dpverdict.mechanism.dip_language.syntax import Apply, At, Expression, Literal, Name
from dpverdict.mechanism.dip_language.types import constant_of

_EPSILONS = (0.001, 0.1, 1.0, 10.0)
"""A formula that is out of bounds at all of these is wrong; one that is so at some may be meant for other ε."""


def rate(text: Text, formula: Expression) -> None:
    """Raise `ProgramFileError` if a rate is positive for no ε."""
    _nothing_by_zero(text, formula)
    if _never(formula, lambda value: value > 0):
        raise text.error(
            "DIP-050",
            "a rate has to be positive",
            formula.at,
            why='the density at distance d is proportional to exp(-rate · d); Lap "eps / 2" has the scale 2/ε',
            fix='Lap "eps / 2" q',
        )


def probability(text: Text, formula: Expression) -> None:
    """Raise `ProgramFileError` if a probability lies between 0 and 1 for no ε."""
    _nothing_by_zero(text, formula)
    if _never(formula, lambda value: -1e-9 <= value <= 1 + 1e-9):
        raise text.error(
            "DIP-051",
            "a probability lies from 0 to 1",
            formula.at,
            why="this one does not, for any ε",
            fix="Prob{1 / (Exp[eps] + 1)}",
        )


def distribution(text: Text, weights: Sequence[Expression]) -> None:
    """Raise `ProgramFileError` if probabilities are out of bounds, or known and do not sum to 1."""
    for weight in weights:
        probability(text, weight)
    known = [constant_of(weight) for weight in weights]
    numbers = [value for value in known if value is not None]
    if len(numbers) == len(known) and sum(numbers) != 1:
        raise text.error(
            "DIP-052",
            f"the probabilities sum to {sum(numbers)}",
            At(weights[0].at.start, weights[-1].at.end),
            why="one of the values is always chosen",
            fix="probabilities that sum to 1",
        )


def _never(formula: Expression, fits: object) -> bool:
    assert callable(fits)
    values = [_at(formula, epsilon) for epsilon in _EPSILONS]
    return all(value is not None and not fits(value) for value in values)


def _nothing_by_zero(text: Text, formula: Expression) -> None:
    if isinstance(formula, Apply):
        for operand in formula.operands:
            _nothing_by_zero(text, operand)
        if formula.operator == "/" and constant_of(formula.operands[1]) == 0:
            raise text.error(
                "DIP-053",
                "division by zero",
                formula.operands[1].at,
                why="nothing can be divided by 0",
                fix="eps / 2",
            )


def _at(formula: Expression, epsilon: float) -> float | None:
    """The formula's value at an ε, None if it needs variables or has no value."""
    try:
        return _value(formula, epsilon)
    except (ArithmeticError, ValueError, LookupError):
        return None


def _value(formula: Expression, epsilon: float) -> float:
    match formula:
        case Literal(value):
            return float(Fraction(value))
        case Name(name):
            return {"eps": epsilon, "E": math.e}[name]
        case Apply(operator, operands):
            first, *others = (_value(operand, epsilon) for operand in operands)
            second = others[0] if others else 0.0
            if operator == "-" and not others:
                return -first
            return float(
                {
                    "+": lambda: first + second,
                    "-": lambda: first - second,
                    "*": lambda: first * second,
                    "/": lambda: first / second,
                    "^": lambda: math.pow(first, second),
                    "Exp": lambda: math.exp(first),
                    "Log": lambda: math.log(first),
                    "Sqrt": lambda: math.sqrt(first),
                }[operator]()
            )
