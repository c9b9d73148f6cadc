"""From the parser's tree to syntax values; what the grammar cannot say is checked on the way."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lark import Token, Tree

from dpverdict.mechanism.dip_language import syntax
from dpverdict.mechanism.dip_language.mistakes import Text
from dpverdict.mechanism.dip_language.syntax import At, Expression, Statement, Type

DEEPEST = 64
"""How deep expressions and blocks may be nested: all who walk over them may call themselves."""

_MOST_DIGITS = 300

_SAME = {"or": "||", "and": "&&", "not": "!"}

_Piece = Tree[Token] | Token | None


class Builder:
    """Builds bottom up, without calling itself: a text may be nested as deep as it likes."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def file(self, root: Tree[Token]) -> syntax.File:
        """The whole file."""
        built: dict[int, Any] = {}
        order: list[Tree[Token]] = [root]
        for tree in order:
            order.extend(child for child in tree.children if isinstance(child, Tree))
        for tree in reversed(order):
            pieces = [built[id(child)] if isinstance(child, Tree) else child for child in tree.children]
            build: Callable[[At, list[Any]], Any] = getattr(self, f"_{tree.data}")
            built[id(tree)] = build(_at(tree), pieces)
        found = built[id(root)]
        assert isinstance(found, syntax.File)
        return found

    def _file(self, _: At, pieces: list[Any]) -> syntax.File:
        return syntax.File(pieces[0], pieces[1], tuple(pieces[2:]))

    # --- statements ------------------------------------------------------------------------------------------

    def _input(self, at: At, pieces: list[Any]) -> syntax.Input:
        return syntax.Input(Type(str(pieces[0])), pieces[1], pieces[2], pieces[3], at)

    def _declaration(self, at: At, pieces: list[Any]) -> syntax.Declaration:
        return syntax.Declaration(Type(str(pieces[1])), pieces[2], pieces[0] is not None, at)

    def _assignment(self, at: At, pieces: list[Any]) -> syntax.Assignment:
        return syntax.Assignment(pieces[0], pieces[1], at)

    def _noise(self, at: At, pieces: list[Any]) -> syntax.Noise:
        target, law, rate, *operands = pieces
        return syntax.Noise(target, str(law), rate, tuple(operands), at)

    _pair = _noise

    def _exponential(self, at: At, pieces: list[Any]) -> syntax.Choice:
        target, rate, *scores = pieces
        return syntax.Choice(target, rate, tuple(v for v, _ in scores), tuple(s for _, s in scores), at)

    def _choice(self, at: At, pieces: list[Any]) -> syntax.Choice:
        target, *weights = pieces
        return syntax.Choice(target, None, tuple(v for v, _ in weights), tuple(w for _, w in weights), at)

    def _score(self, _: At, pieces: list[Any]) -> tuple[Any, Any]:
        return pieces[0], pieces[1]

    _weight = _score

    def _chance(self, at: At, pieces: list[Any]) -> syntax.Chance:
        return syntax.Chance(pieces[0], pieces[1], at, self._deeper(at, pieces))

    def _condition(self, at: At, pieces: list[Any]) -> syntax.If:
        condition, yes, no = pieces
        return syntax.If(condition, yes, no or (), at, self._deeper(at, [*yes, *(no or ())]))

    def _loop(self, at: At, pieces: list[Any]) -> syntax.While:
        return syntax.While(pieces[0], pieces[1], at, self._deeper(at, list(pieces[1])))

    def _block(self, _: At, pieces: list[Any]) -> tuple[Statement, ...]:
        return tuple(pieces)

    def _leave(self, at: At, pieces: list[Any]) -> syntax.Return:
        return syntax.Return(tuple(pieces), at)

    def _exit(self, at: At, _: list[Any]) -> syntax.Exit:
        return syntax.Exit(at)

    # --- expressions -----------------------------------------------------------------------------------------

    def _name(self, at: At, pieces: list[Any]) -> syntax.Name:
        return syntax.Name(str(pieces[0]), at)

    def _number(self, at: At, pieces: list[Any]) -> syntax.Literal:
        word = str(pieces[-1])
        if len(word) > _MOST_DIGITS:
            raise self._text.error(
                "DIP-013",
                f"a number of {len(word):,} digits",
                At(at.start, at.start + 20),
                why=f"no range, rate or probability needs more than {_MOST_DIGITS} digits",
                fix="a shorter number",
            )
        value = Fraction(word) if "." in word else int(word)
        return syntax.Literal(-value if len(pieces) > 1 and pieces[0] is not None else value, at)

    _bound = _number

    def _truth(self, at: At, pieces: list[Any]) -> syntax.Literal:
        return syntax.Literal(str(pieces[0]) == "true", at)

    def _binary(self, at: At, pieces: list[Any]) -> Expression:
        left, operator, right = pieces
        operator = _SAME.get(str(operator), str(operator))
        return syntax.Apply(operator, (left, right), at, self._deeper(at, [left, right]))

    def _unary(self, at: At, pieces: list[Any]) -> Expression:
        operator, operand = _SAME.get(str(pieces[0]), str(pieces[0])), pieces[1]
        if operator == "-" and isinstance(operand, syntax.Literal) and not isinstance(operand.value, bool):
            return syntax.Literal(-operand.value, at)
        return syntax.Apply(operator, (operand,), at, self._deeper(at, [operand]))

    def _deeper(self, at: At, inner: list[Any]) -> int:
        depth = 1 + max((getattr(item, "depth", 1) for item in inner), default=0)
        if depth > DEEPEST:
            raise self._text.error(
                "DIP-014",
                "nested too deeply",
                At(at.start, at.start + 1),
                why=f"expressions and blocks are nested at most {DEEPEST} deep",
                fix="store a part in a variable of its own, or return early",
            )
        return depth


def _at(tree: Tree[Token]) -> At:
    if tree.meta.empty:
        return At(0, 0)
    return At(tree.meta.start_pos, tree.meta.end_pos)
