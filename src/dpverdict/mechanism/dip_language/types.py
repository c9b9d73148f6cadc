"""The types of expressions: what may be added, compared and stored, and the errors where it may not."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverdict.errors import ProgramFileError
from dpverdict.mechanism.dip_language.mistakes import Text
from dpverdict.mechanism.dip_language.syntax import Apply, At, Expression, Literal, Name, Type

RESERVED = {"eps": "ε, the privacy parameter", "E": "the number e", "Exp": "exp", "Log": "log", "Sqrt": "a root"}

_RELATIONS = ("<", "<=", "==", ">=", ">")


@dataclass(frozen=True, slots=True)
class Types:
    """The variables that are declared at some place of a text, and what expressions over them are."""

    text: Text
    variables: Mapping[str, Type]

    def of_name(self, name: Name) -> Type:
        """The type of a variable.  Raises `ProgramFileError` if there is no such variable."""
        found = self.variables.get(name.name)
        if found is not None:
            return found
        if name.name in RESERVED:
            raise self.text.error(
                "DIP-020",
                f"{name.name} cannot stand here",
                name.at,
                why=f"{name.name} is {RESERVED[name.name]}, and stands only in the quotes of a rate or the braces of "
                "a probability",
                fix='r = Lap "eps / 2" q;  or  Prob{1 / (Exp[eps] + 1)} b = ! b;',
            )
        near = difflib.get_close_matches(name.name, self.variables, n=1)
        raise self.text.error(
            "DIP-021",
            f"there is no variable {name.name!r} here",
            name.at,
            why="a variable has to be declared above its first use; "
            + (f"those above are {', '.join(list(self.variables)[-6:])}" if self.variables else "there are none above"),
            fix=near[0] if near else f"int {name.name};  (or bool, real) on a line above",
        )

    def of(self, expression: Expression) -> Type:
        """The type of an expression.  Raises `ProgramFileError` where its parts do not go together."""
        match expression:
            case Literal(value):
                return Type.BOOL if isinstance(value, bool) else Type.REAL if isinstance(value, Fraction) else Type.INT
            case Name():
                return self.of_name(expression)
            case Apply("||" | "&&" | "!", operands):
                for operand in operands:
                    self.demand(operand, Type.BOOL, f"{expression.operator} joins truth values")
                return Type.BOOL
            case Apply(operator, operands) if operator in _RELATIONS:
                self._comparable(expression, self._number(operands[0]), self._number(operands[1]))
                return Type.BOOL
            case Apply("-", (operand,)):
                return self._number(operand)
            case Apply():
                return self._arithmetic(expression)

    def demand(self, expression: Expression, wanted: Type, why: str) -> None:
        """Raise `ProgramFileError` unless the expression has this type."""
        found = self.of(expression)
        if found is not wanted:
            raise self.text.error(
                "DIP-022",
                f"this is {_a(found)}, and has to be {_a(wanted)}",
                expression.at,
                why=why,
                fix=_instead(found, wanted),
            )

    def storable(self, expression: Expression, target: Name) -> None:
        """Raise `ProgramFileError` unless the target can hold the expression's values."""
        found, wanted = self.of(expression), self.of_name(target)
        if found is wanted or (found is Type.INT and wanted.is_noise):
            return
        why = f"{target.name} is declared as {wanted.value}"
        self.demand(expression, wanted, why)

    def formula(self, expression: Expression) -> None:
        """Check a rate or a probability: ε, numbers, int variables, arithmetic, Exp, Log and Sqrt."""
        match expression:
            case Name(name) if name not in ("eps", "E"):
                self.demand(expression, Type.INT, "rates and probabilities depend on ε and on int variables alone")
            case Apply("^", (base, exponent)):
                self.formula(base)
                self.formula(exponent)
                if base != Name("E", base.at) and not _small_power(exponent):
                    raise self.text.error(
                        "DIP-023",
                        "this power cannot be taken",
                        exponent.at,
                        why="an exponent is a whole number from -64 to 64, unless the base is E",
                        fix="E ^ (…), Sqrt[…], or a whole number",
                    )
            case Apply(_, operands):
                for operand in operands:
                    self.formula(operand)

    def resolved(self, expression: Expression) -> Expression:
        """The expression with divisions that drop what remains marked as such: `/` of ints becomes `div`."""
        if not isinstance(expression, Apply):
            return expression
        whole = expression.operator == "/" and self.of(expression) is Type.INT
        inner = tuple(map(self.resolved, expression.operands))
        return replace(expression, operator="div" if whole else expression.operator, operands=inner)

    # --- arithmetic ------------------------------------------------------------------------------------------

    def _number(self, expression: Expression) -> Type:
        found = self.of(expression)
        if found is Type.BOOL:
            raise self.text.error(
                "DIP-022",
                "this is a truth value, and has to be a number",
                expression.at,
                why="truth values are joined by &&, || and !, and neither counted nor compared",
                fix="if b then n = n + one; fi;",
            )
        return found

    def _comparable(self, expression: Expression, left: Type, right: Type) -> None:
        if {left, right} == {Type.REAL, Type.INTEGER}:
            raise self._mixed(expression.at)

    def _arithmetic(self, expression: Apply) -> Type:
        left, right = (self._number(operand) for operand in expression.operands)
        together = {left, right}
        if together == {Type.REAL, Type.INTEGER}:
            raise self._mixed(expression.at)
        if expression.operator in ("/", "%") and constant_of(expression.operands[1]) == 0:
            raise self.text.error(
                "DIP-053",
                "division by zero",
                expression.operands[1].at,
                why="nothing can be divided by 0",
                fix="another divisor",
            )
        result = next((kind for kind in (Type.REAL, Type.INTEGER) if kind in together), Type.INT)
        if result is Type.INT:
            return result
        for operand in expression.operands:
            self._no_whole_division(operand)
        allowed = {
            "+": True,
            "-": True,
            "*": Type.INT in together or any(map(_is_constant, expression.operands)),
            "/": result is Type.REAL and (right is Type.INT or _is_constant(expression.operands[1])),
            "%": False,
        }[expression.operator]
        if not allowed:
            raise self.text.error(
                "DIP-024",
                f"{expression.operator} is not linear here",
                expression.at,
                why="noise is added up, and multiplied by numbers and int variables (reals also divided); the language "
                "has nothing else for it",
                fix="compare noise with thresholds instead",
            )
        return result

    def _no_whole_division(self, operand: Expression) -> None:
        """`1 / 2 * r` would be 0: a whole division is never meant inside a real expression."""
        if isinstance(operand, Apply) and operand.operator == "/" and self.of(operand) is Type.INT:
            raise self.text.error(
                "DIP-025",
                "a division of whole numbers inside a sum or product of noise",
                operand.at,
                why="between int values, / drops what remains, so that 1 / 2 is 0",
                fix="divide the noise (r / 2), or write a decimal (0.5 * r)",
            )

    def _mixed(self, at: At) -> ProgramFileError:
        return self.text.error(
            "DIP-026",
            "real and integer noise do not meet",
            at,
            why="the language compares and adds reals with reals and integer noise with integer noise; only then are "
            "its probabilities decidable",
            fix="draw both with Lap, or both with DLap",
        )


def constant_of(expression: Expression) -> Fraction | None:
    """The value of a formula of numbers alone, None if it needs anything else."""
    match expression:
        case Literal(value):
            return Fraction(value)
        case Apply("-", (operand,)):
            value_of = constant_of(operand)
            return None if value_of is None else -value_of
        case Apply("+" | "-" | "*" | "/" as operator, (first, second)):
            left, right = constant_of(first), constant_of(second)
            if left is None or right is None or (operator == "/" and right == 0):
                return None
            return {"+": left + right, "-": left - right, "*": left * right, "/": left / (right or 1)}[operator]
        case _:
            return None


def _is_constant(expression: Expression) -> bool:
    match expression:
        case Literal():
            return True
        case Name():
            return False
        case Apply(_, operands):
            return all(map(_is_constant, operands))


def _small_power(exponent: Expression) -> bool:
    return isinstance(exponent, Literal) and isinstance(exponent.value, int) and abs(exponent.value) <= 64


def _a(kind: Type) -> str:
    return {
        Type.INT: "an int",
        Type.BOOL: "a bool (true or false)",
        Type.REAL: "a real",
        Type.INTEGER: "integer noise",
    }[kind]


def _instead(found: Type, wanted: Type) -> str:
    if wanted is Type.BOOL:
        return "a comparison: b = x >= y;"
    if found.is_noise and wanted is Type.INT:
        return "compare it with thresholds: below = r <= edge; if below then out = low; else out = high; fi;"
    return f"declare a variable of type {wanted.value} for it"
