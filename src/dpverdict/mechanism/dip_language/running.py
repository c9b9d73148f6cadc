"""The interpreter: one instruction at a time, on plain numbers as on symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverdict.mechanism import functions
from dpverdict.mechanism.dip_language.code import Code, Goto, Leave, Step, Test, is_draw
from dpverdict.mechanism.dip_language.syntax import (
    Apply,
    Assignment,
    Choice,
    Expression,
    Literal,
    Name,
    Noise,
    Type,
)
from dpverdict.mechanism.noise import Noise as Source
from dpverdict.mechanism.path_record import ConcreteInputNeeded
from dpverdict.mechanism.properties import inputs_in, is_random, support
from dpverdict.mechanism.symbol import Symbol, divided_whole


class DoesNotReturn(RuntimeError):
    """A run that provably never ends; the name of its class is an output (`chain.DOES_NOT_RETURN`)."""


_MOST_BITS = 4096
"""Powers with more bits than this are no rate: they would fill the memory."""

_MOST_VALUES = 128
"""Values of a noisy int that are decided one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """What instructions are carried out with: the code, a noise source, and ε."""

    code: Code
    noise: Source
    epsilon: Any
    lift: Callable[[Any], Any] = lambda number: number
    """Makes a symbol of a number, so that e ** (1/2) stays exact, and fractions do not take symbols for floats."""

    def run(self, store: dict[str, Any]) -> tuple[str, ...]:
        """Run to the end on plain numbers; the variables to return.  `DoesNotReturn` where the end cannot come."""
        after: int | tuple[str, ...] = 0
        seen: set[tuple[object, ...]] = set()
        while isinstance(after, int):
            instruction = self.code.instructions[after]
            if is_draw(instruction):
                seen.clear()
            elif isinstance(instruction, Goto) and instruction.to <= after:
                state = (after, *store.items())
                if state in seen:  # and nothing random has happened since
                    raise DoesNotReturn(f"{self.code.checked.text.where(instruction.at)}: this loop never ends")
                seen.add(state)
            after = self.step(after, store)
        return after

    def step(self, place: int, store: dict[str, Any]) -> int | tuple[str, ...]:
        """Carry out the instruction; the place of the next one, or the variables to return.

        What goes wrong raises ValueError, ZeroDivisionError or OverflowError and names the line.
        """
        instruction = self.code.instructions[place]
        match instruction:
            case Goto(to):
                return to
            case Leave(names):
                return names
            case _:
                try:
                    return self._carried_out(place, instruction, store)
                except (ValueError, ZeroDivisionError, OverflowError) as error:
                    where = self.code.checked.text.where(instruction.at)
                    raise type(error)(f"{where}: {error}") from error

    def _carried_out(self, place: int, instruction: Step | Test, store: dict[str, Any]) -> int:
        match instruction:
            case Test(condition, True, otherwise):
                holds = self.noise.bernoulli(self._formula(condition, store))
                return place + 1 if holds else otherwise
            case Test(condition, _, otherwise):
                return place + 1 if self._value(condition, store) else otherwise
            case Step(does):
                kind = self.code.checked.variables[does.target.name]
                found = self._found(does, store)
                settled = self._settled(found, kind) if instruction.looping else found
                store[does.target.name] = self._in_range(settled) if kind is Type.INT else settled
        return place + 1

    def _found(self, does: Assignment | Noise | Choice, store: dict[str, Any]) -> Any:
        match does:
            case Assignment(_, value):
                return self._value(value, store)
            case Noise(_, law, rate, operands):
                scale = self.lift(Fraction(1)) / self._rate(rate, store)
                given = [self._value(operand, store) for operand in operands]
                if law == "Lap":
                    return self.noise.laplace(given[0], scale=scale)
                if law == "DLap":
                    return self.noise.discrete_laplace(given[0], scale=scale)
                location, low, high = given
                return self.noise.truncated_geometric(low, high, loc=location, scale=scale)
            case Choice(_, None, values, weights):
                chances = [self._formula(weight, store) for weight in weights]
                return self.noise.choice([value.value for value in values], p=chances)
            case Choice(_, rate, values, scores):
                listed = [value.value for value in values]
                assert rate is not None
                points = [self._formula(score, store) for score in scores]
                return self.noise.exponential_mechanism(points, self._rate(rate, store), values=listed)

    def _rate(self, rate: Expression, store: dict[str, Any]) -> Any:
        found = self._formula(rate, store)
        if not found > 0:
            raise ValueError(f"a rate has to be positive, got {found}")
        return found

    def _settled(self, found: Any, kind: Type) -> Any:
        """Inside a loop, states have to be values: finitely many, so that they can come back."""
        return bool(found) if kind is Type.BOOL else _known(found)

    def _in_range(self, found: Any) -> Any:
        low, high = self.code.checked.low, self.code.checked.high
        if not (found >= low and found <= high):
            raise OverflowError(f"{found} is outside of the range line, which allows {low} to {high}")
        return found

    # --- expressions -----------------------------------------------------------------------------------------

    def _value(self, expression: Expression, store: dict[str, Any]) -> Any:
        match expression:
            case Literal(value):
                return value
            case Name(name):
                return store[name]
            case Apply("!", (operand,)):
                return self._value(operand, store) ^ True
            case Apply("-", (operand,)):
                return -self._value(operand, store)
            case Apply(symbol, (left, right)):
                first = self._value(left, store)
                first = self.lift(first) if type(first) is Fraction else first
                return _OPERATIONS[symbol](first, self._value(right, store))
            case _:
                raise AssertionError(expression)

    def _formula(self, formula: Expression, store: dict[str, Any]) -> Any:
        """The value of a rate or probability; exact where ε is symbolic."""
        match formula:
            case Literal(value):
                return Fraction(value)
            case Name("eps"):
                return self.epsilon
            case Name("E"):
                return functions.exp(self.lift(1))
            case Name(name):
                found = _known(store[name]) if _is_noisy(store[name]) else store[name]
                return found if type(found) is Symbol else Fraction(found)
            case Apply("^", (Name("E"), exponent)):
                return functions.exp(self.lift(self._formula(exponent, store)))
            case Apply("-", (operand,)):
                return -self._formula(operand, store)
            case Apply(symbol, (operand,)):
                return _FUNCTIONS[symbol](self.lift(self._formula(operand, store)))
            case Apply(symbol, (left, right)):
                return _ARITHMETIC[symbol](self.lift(self._formula(left, store)), self._formula(right, store))
            case _:
                raise AssertionError(formula)


def _product(left: Any, right: Any) -> Any:
    """A noisy int times unbounded noise has a form once the int is known."""
    if _is_unbounded(left) and _is_unbounded(right):
        _ask_for_input(left, right)
    if _is_unbounded(left) != _is_unbounded(right):
        left, right = (_known(one) if _is_noisy(one) and not _is_unbounded(one) else one for one in (left, right))
    return left * right


def _is_noisy(given: Any) -> bool:
    return type(given) is Symbol and is_random(given._term)


def _is_unbounded(given: Any) -> bool:
    return _is_noisy(given) and support(given._term) is None


def _ask_for_input(*given: Any) -> None:
    """Values that the input leaves open, beside noise: for a known input they may be few."""
    for one in given:
        if type(one) is Symbol and support(one._term) is None and inputs_in(one._term):
            raise ConcreteInputNeeded("an int that depends on noise and on the input", None)


def _known(given: Any) -> int:
    """The int itself, decided value by value; where it depends on the input too, there is a program for each input."""
    _ask_for_input(given)
    values = support(given._term) if type(given) is Symbol else ()
    if values is None or len(values) > _MOST_VALUES:
        given._path.stop(
            f"{len(values) if values else 'too many'} possible values of an int that has to be known",
            f"narrower cutoffs: each value is a state of its own, and {_MOST_VALUES} are the most",
        )
    return operator.index(given)


def _whole(function: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    """An operation of ints that symbols tabulate."""

    def apply(left: Any, right: Any) -> Any:
        if _is_noisy(left) or _is_noisy(right):
            _ask_for_input(left, right)
        if type(left) is Symbol:
            return divided_whole(left, right, function)
        if type(right) is Symbol:
            return divided_whole(right, left, function, reverse=True)
        return function(left, right)

    return apply


def _quotient(left: int, right: int) -> int:
    """As C++ divides: what remains is dropped, towards zero."""
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _divided(left: Any, right: Any) -> Any:
    """Division of noise; an int that was stored in a real stays exact."""
    return (Fraction(left) if type(left) is int else left) / right


def _power(base: Any, exponent: Any) -> Any:
    power = int(exponent)
    if type(base) is not Symbol and isinstance(base, Fraction):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(power) > _MOST_BITS:
            raise OverflowError(f"a power of more than {_MOST_BITS} bits")
    return base**power


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": _power,
}

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": _product,
    "/": _divided,
    "div": _whole(_quotient),
    "%": _whole(lambda left, right: left - right * _quotient(left, right)),
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "&&": operator.and_,
    "||": operator.or_,
}

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Exp": functions.exp,
    "Log": functions.log,
    "Sqrt": functions.sqrt,
}
