"""What one run gives when its noise is known: the program read with plain numbers, one run at a time.

This is the slow, obvious reading.  `replay.py` holds it against the mechanism's own Python code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from dpverdict.mechanism.constants import from_python, to_python
from dpverdict.mechanism.outcome import Raised
from dpverdict.mechanism.structure import (
    Affine,
    All,
    Any_,
    ArgMax,
    BranchNode,
    Choose,
    Comparison,
    Constant,
    Draw,
    DrawNode,
    Elementary,
    EmitNode,
    Epsilon,
    Input,
    Lookup,
    Node,
    Not,
    Parameter,
    Product,
    RaiseNode,
    Ranked,
    Record,
    ReturnNode,
    Sequence,
    Shape,
    Slot,
    Term,
)


def at_path(content: Any, path: tuple[int | str, ...]) -> Any:
    """The scalar of an input that a path leads to."""
    for step in path:
        content = content[step]
    return content


@dataclass(slots=True)
class Known:
    """Everything that a run depends on.

    `closest` is the narrowest margin of a comparison of reals so far, `sides` are the branches taken.  Noise is drawn
    once, so a comparison has one outcome in a run: `compared` keeps it.
    """

    input: Any
    epsilon: float | None
    arguments: Mapping[str, object]
    draws: dict[Draw, Any] = field(default_factory=dict)
    closest: float = math.inf
    sides: set[tuple[int, bool]] = field(default_factory=set)
    compared: dict[Comparison, bool] = field(default_factory=dict)


def evaluate(term: Term, known: Known) -> Any:
    """The value of a term."""

    def inner(part: Term) -> Any:
        return evaluate(part, known)

    match term:
        case Constant():
            return to_python(term)
        case Input(path, _):
            return at_path(known.input, path)
        case Parameter(name):
            return known.arguments[name]
        case Epsilon():
            return known.epsilon
        case Draw():
            return known.draws[term]
        case Affine(constant, terms):
            return float(constant) + sum(float(c) * inner(part) for part, c in terms)
        case Product(factors):
            return math.prod(inner(base) ** float(exponent) for base, exponent in factors)
        case Elementary(function, argument):
            return math.exp(inner(argument)) if function == "exp" else math.log(inner(argument))
        case Comparison():
            if term not in known.compared:
                known.compared[term] = _compare(term.relation, term.difference, known)
            return known.compared[term]
        case Not(part):
            return not inner(part)
        case All(parts):
            return all(inner(part) for part in parts)
        case Any_(parts):
            return any(inner(part) for part in parts)
        case Choose(condition, yes, no):
            return inner(yes if inner(condition) else no)
        case Ranked(items, rank):
            return sorted(inner(item) for item in items)[rank]
        case ArgMax(items):
            values = [inner(item) for item in items]
            known.closest = min([known.closest, *(abs(max(values) - v) for v in values if v != max(values))])
            return values.index(max(values))
        case Lookup(keys, table):
            return _look_up(tuple(inner(key) for key in keys), table)
        case _:
            assert_never(term)


def _compare(relation: str, difference: Term, known: Known) -> bool:
    value = evaluate(difference, known)
    size = max([1.0, *(abs(float(c) * evaluate(part, known)) for part, c in _summands(difference))])
    if not float(value).is_integer():  # whole-number sides are exact: their ties are no rounding accident
        known.closest = min(known.closest, abs(value) / size)
    return bool(value <= 0 if relation == "<=" else value < 0 if relation == "<" else value == 0)


def _summands(term: Term) -> tuple[tuple[Term, Any], ...]:
    return term.terms if isinstance(term, Affine) else ()


def _look_up(keys: tuple[Any, ...], table: tuple[tuple[tuple[Constant, ...], Constant], ...]) -> Any:
    wanted = [from_python(key) for key in keys]
    for combination, result in table:
        if all(_same(have, want) for have, want in zip(combination, wanted, strict=True)):
            return to_python(result)
    raise LookupError(f"no row of the table for {keys}")


def _same(have: Constant, want: Constant | None) -> bool:
    if want is None:
        return False
    if have.kind.is_numeric and want.kind.is_numeric:
        return math.isclose(float(have.content or 0), float(want.content or 0), rel_tol=1e-9, abs_tol=1e-12)
    return have == want


def run(root: Node, known: Known, draw: Callable[[Draw], Any]) -> Any:
    """Follow one run from the root; `draw` supplies the noise, in the order in which the program asks for it."""
    node, slots = root, list[Any]()
    while True:
        match node:
            case DrawNode(fresh, then):
                known.draws[fresh] = draw(fresh)
                node = then
            case BranchNode(condition, yes, no):
                holds = bool(evaluate(condition, known))
                known.sides.add((id(node), holds))
                node = yes if holds else no
            case EmitNode(term, then):
                slots.append(evaluate(term, known))
                node = then
            case ReturnNode(shape):
                return arrange(shape, slots)
            case RaiseNode(exception):
                return Raised(exception)
            case _:
                assert_never(node)


def arrange(shape: Shape, slots: list[Any]) -> Any:
    """The output that a shape makes of its slots."""
    remaining = iter(slots)

    def build(part: Shape) -> Any:
        match part:
            case Slot():
                return next(remaining)
            case Sequence(container, items):
                content = list(remaining) if items is None else [build(item) for item in items]
                return tuple(content) if container == "tuple" else content
            case Record(keys, items):
                return {to_python(key): build(item) for key, item in zip(keys, items, strict=True)}
            case _:
                assert_never(part)

    return build(shape)
