"""What a file declares, and the rules of the language that a grammar cannot express."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dpverdict.mechanism.dip_language import positive
from dpverdict.mechanism.dip_language.mistakes import Text
from dpverdict.mechanism.dip_language.syntax import (
    Apply,
    Assignment,
    At,
    Chance,
    Choice,
    Declaration,
    Exit,
    Expression,
    File,
    If,
    Input,
    Literal,
    Name,
    Noise,
    Return,
    Statement,
    Type,
    While,
)
from dpverdict.mechanism.dip_language.types import RESERVED, Types, constant_of

LARGEST = 2**53
"""Bounds of the range line: beyond them floats cannot tell whole numbers apart."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a file after its check: the range, the inputs, and all variables with their types."""

    text: Text
    low: int
    high: int
    inputs: tuple[tuple[str, Type, int, int], ...]
    variables: Mapping[str, Type]
    outputs: tuple[str, ...]
    statements: tuple[Statement, ...]

    @property
    def types(self) -> Types:
        """The types of the variables, and of expressions over them."""
        return Types(self.text, self.variables)


@dataclass(slots=True)
class _Checking:
    """What is declared above the statement that is being checked."""

    text: Text
    low: int
    high: int
    inputs: list[tuple[str, Type, int, int]] = field(default_factory=list)
    variables: dict[str, Type] = field(default_factory=dict)
    outputs: list[Name] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    returned: tuple[Type, ...] | None = None

    @property
    def types(self) -> Types:
        return Types(self.text, self.variables)

    def checked(self) -> Checked:
        outputs = tuple(name.name for name in self.outputs)
        inputs, statements = tuple(self.inputs), tuple(self.statements)
        return Checked(self.text, self.low, self.high, inputs, dict(self.variables), outputs, statements)


def check(text: Text, file: File) -> Checked:
    """The file's declarations and statements.  Raises `ProgramFileError` at the first rule that it breaks."""
    checked = _Checking(text, _bound(text, file.low), _bound(text, file.high))
    if checked.low > checked.high:
        raise text.error(
            "DIP-030",
            "the range is empty",
            At(file.low.at.start, file.high.at.end),
            why="the range line holds the smallest value of int variables, then the largest",
            fix=f"{checked.high} {checked.low}",
        )
    for item in file.items:
        if isinstance(item, Input):
            _input(checked, item)
        else:
            _statement(checked, item, looping=False)
            checked.statements.append(item)
    if not checked.inputs:
        raise text.error(
            "DIP-031",
            "the file has no input",
            At(file.low.at.start, file.high.at.end),
            why="privacy is about what an output tells of the input",
            fix="input int q0 -1 1;  below the range line",
        )
    return checked.checked()


def _bound(text: Text, bound: Literal) -> int:
    if not isinstance(bound.value, int) or abs(bound.value) > LARGEST:
        raise text.error(
            "DIP-032",
            "not a bound",
            bound.at,
            why=f"bounds are whole numbers from -{LARGEST} to {LARGEST}",
            fix="-5 5",
        )
    return bound.value


def _declare(checked: _Checking, name: Name, kind: Type) -> None:
    if name.name in checked.variables or name.name in RESERVED:
        known = name.name in checked.variables
        raise checked.text.error(
            "DIP-033",
            f"{name.name} is {'declared twice' if known else 'a word of the language'}",
            name.at,
            why="a name stands for one thing in the whole file" if known else f"it stands for {RESERVED[name.name]}",
            fix=f"another name: {name.name}2",
        )
    checked.variables[name.name] = kind


def _input(checked: _Checking, item: Input) -> None:
    text = checked.text
    if checked.statements:
        raise text.error(
            "DIP-034",
            "an input below other statements",
            item.at,
            why="inputs stand directly below the range line",
            fix="move the line up",
        )
    if item.type.is_noise or (item.type is Type.BOOL and item.low is not None):
        raise text.error(
            "DIP-035",
            "not an input",
            item.at,
            why="inputs are int, with or without bounds, or bool, which has none",
            fix=f"input int {item.name.name} -1 1;  or  input bool {item.name.name};",
        )
    low = checked.low if item.low is None else _bound(text, item.low)
    high = checked.high if item.high is None else _bound(text, item.high)
    if item.low is not None and item.high is not None and not checked.low <= low <= high <= checked.high:
        raise text.error(
            "DIP-036",
            f"{low} {high} are no bounds of an input here",
            At(item.low.at.start, item.high.at.end),
            why=f"the range line allows {checked.low} to {checked.high}, and the lower bound comes first",
            fix=f"a wider range line, or input int {item.name.name} {checked.low} {checked.high};",
        )
    _declare(checked, item.name, item.type)
    checked.inputs.append((item.name.name, item.type, low, high))


# --- statements ----------------------------------------------------------------------------------------------


def _statement(checked: _Checking, statement: Statement, *, looping: bool) -> None:
    types = checked.types
    match statement:
        case Declaration(kind, name, is_output):
            _declaration(checked, kind, name, is_output)
        case Assignment(target, value):
            _target(checked, target, looping=looping)
            types.storable(value, target)
            _in_range(checked, value, types.of(value))
        case Noise():
            _target(checked, statement.target, looping=looping)
            _noise(checked, statement)
        case Choice():
            _target(checked, statement.target, looping=looping)
            _choice(checked, statement)
        case Chance(probability, inner):
            types.formula(probability)
            positive.probability(checked.text, probability)
            _statement(checked, inner, looping=looping)
        case If(condition, yes, no):
            types.demand(condition, Type.BOOL, "an if asks for a truth value")
            for inner in (*yes, *no):
                _statement(checked, inner, looping=looping)
        case While(condition, body):
            types.demand(condition, Type.BOOL, "a while asks for a truth value")
            for inner in body:
                _statement(checked, inner, looping=True)
        case Return(names, at):
            _returned(checked, names, at)
        case Exit(at):
            _returned(checked, checked.outputs, at)


def _declaration(checked: _Checking, kind: Type, name: Name, is_output: bool) -> None:
    if is_output and kind.is_noise:
        raise _noise_leaves(checked, name, kind)
    _declare(checked, name, kind)
    if is_output:
        checked.outputs.append(name)


def _target(checked: _Checking, target: Name, *, looping: bool) -> None:
    kind = checked.types.of_name(target)
    if target.name in {name for name, *_ in checked.inputs}:
        raise checked.text.error(
            "DIP-040",
            f"{target.name} is an input, and cannot be assigned",
            target.at,
            why="inputs are what the claim is about, and stay as they are",
            fix=f"{kind.value} copy; copy = {target.name};  and go on with the copy",
        )
    if looping and kind.is_noise:
        raise checked.text.error(
            "DIP-041",
            f"{target.name} is {kind.value} and cannot be assigned inside a loop",
            target.at,
            why="noise has to be drawn a bounded number of times, or the output's probabilities are not decidable",
            fix="unroll the loop, or draw int values in it (TDLap, Exp, choose, Prob)",
        )


def _in_range(checked: _Checking, value: Expression, kind: Type) -> None:
    known = value.value if isinstance(value, Literal) else None
    if kind is Type.INT and isinstance(known, int) and not checked.low <= known <= checked.high:
        raise checked.text.error(
            "DIP-042",
            f"{known} is outside of the range line",
            value.at,
            why=f"int variables take values from {checked.low} to {checked.high}",
            fix=f"a first line such as {min(known, checked.low)} {max(known, checked.high)}",
        )


def _noise(checked: _Checking, statement: Noise) -> None:
    kind, types = checked.types.of_name(statement.target), checked.types
    wanted = {"Lap": Type.REAL, "DLap": Type.INTEGER, "TDLap": Type.INT}[statement.law]
    if kind is not wanted:
        raise checked.text.error(
            "DIP-043",
            f"{statement.law} cannot be stored in {statement.target.name}, which is {kind.value}",
            statement.target.at,
            why="Lap draws a real, DLap integer noise, TDLap an int between its cutoffs",
            fix=f"declare it: {wanted.value} {statement.target.name};",
        )
    types.formula(statement.rate)
    positive.rate(checked.text, statement.rate)
    for operand in statement.operands:
        types.demand(operand, Type.INT, "noise is centred at, and cut off at, int values")
        _in_range(checked, operand, Type.INT)
    if statement.law == "TDLap":
        _cutoffs(checked, statement.operands)


def _cutoffs(checked: _Checking, operands: Sequence[Expression]) -> None:
    low, high = constant_of(operands[1]), constant_of(operands[2])
    if low is not None and high is not None and low > high:
        raise checked.text.error(
            "DIP-044",
            "the cutoffs are the wrong way round",
            At(operands[1].at.start, operands[2].at.end),
            why="TDLap takes the mean, the lower and the upper cutoff",
            fix=f"{high} {low}",
        )


def _choice(checked: _Checking, statement: Choice) -> None:
    types, text = checked.types, checked.text
    seen = set()
    for value in statement.values:
        types.storable(value, statement.target)
        _in_range(checked, value, types.of(value))
        if value.value in seen:
            raise text.error(
                "DIP-045", "listed twice", value.at, why="every value is listed once", fix="add up its two weights"
            )
        seen.add(value.value)
    if types.of_name(statement.target).is_noise:
        raise text.error(
            "DIP-043",
            f"a choice cannot be stored in {statement.target.name}",
            statement.target.at,
            why="Exp and choose give one of finitely many values, for an int or a bool",
            fix=f"declare it: int {statement.target.name};",
        )
    if statement.rate is None:
        for weight in statement.weights:
            types.formula(weight)
        positive.distribution(text, statement.weights)
        return
    types.formula(statement.rate)
    positive.rate(text, statement.rate)
    for score in statement.weights:
        types.formula(score)
        _no_epsilon(checked, score)


def _no_epsilon(checked: _Checking, score: Expression) -> None:
    match score:
        case Name("eps" | "E"):
            checked.types.of_name(score)  # says that it stands in rates and probabilities only
        case Apply(_, operands):
            for operand in operands:
                _no_epsilon(checked, operand)


def _returned(checked: _Checking, names: Sequence[Name], at: At) -> None:
    text = checked.text
    if not names:
        raise text.error(
            "DIP-046",
            "exit has nothing to return",
            at,
            why="exit returns the variables that are declared as outputs",
            fix="output int out;  above, or  return out;",
        )
    kinds = tuple(checked.types.of_name(name) for name in names)
    for name, kind in zip(names, kinds, strict=True):
        if kind.is_noise:
            raise _noise_leaves(checked, name, kind)
    if checked.returned is not None and checked.returned != kinds:
        raise text.error(
            "DIP-047",
            "returns differ",
            at,
            why=f"this one gives {_listed(kinds)}, an earlier one {_listed(checked.returned)}; all give equally many "
            "variables, of the same types",
            fix="return the same variables everywhere; give those that are not decided yet a value of their own",
        )
    checked.returned = kinds


def _listed(kinds: Sequence[Type]) -> str:
    return " ".join(kind.value for kind in kinds)


def _noise_leaves(checked: _Checking, name: Name, kind: Type) -> Exception:
    return checked.text.error(
        "DIP-048",
        f"{name.name} is {kind.value} and cannot be an output",
        name.at,
        why="the language has finitely many outputs: int and bool variables",
        fix="round it to thresholds first: below = r <= edge; if below then out = low; else out = high; fi;",
    )
