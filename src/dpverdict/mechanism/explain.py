"""A program for people: as an indented tree, and as Graphviz text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import assert_never

from dpverdict.mechanism.constants import to_python
from dpverdict.mechanism.graph import draws_of, in_order, successors
from dpverdict.mechanism.properties import kind_of
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
    Kind,
    Law,
    Lookup,
    Node,
    Not,
    Parameter,
    Product,
    Program,
    RaiseNode,
    Ranked,
    Record,
    ReturnNode,
    Sequence,
    Shape,
    Slot,
    Term,
)


class Names:
    """Short names for the draws of a program: the law's first letters and a number."""

    def __init__(self, draws: Iterable[Draw]) -> None:
        counts: Counter[str] = Counter()
        self._names: dict[Draw, str] = {}
        for draw in draws:
            stem = draw.law.name.lower()
            counts[stem] += 1
            self._names[draw] = f"{stem}{counts[stem]}"

    def of(self, draw: Draw) -> str:
        """The name of a draw."""
        return self._names.get(draw) or f"{draw.law.name.lower()}?"

    def term(self, term: Term) -> str:
        """A term as an expression."""
        match term:
            case Constant():
                return _fraction(term.content) if isinstance(term.content, Fraction) else repr(to_python(term))
            case Input(path, _):
                return "input" + "".join(f"[{step!r}]" for step in path)
            case Parameter(name):
                return name
            case Epsilon():
                return "ε"
            case Draw():
                return self.of(term)
            case Affine(constant, terms):
                return self._sum(constant, terms)
            case Product(factors):
                return self._product(factors)
            case Elementary(function, argument):
                return f"{function}({self.term(argument)})"
            case Comparison(relation, difference):
                return self._comparison(relation, difference)
            case Not(inner):
                return f"not {self._grouped(inner)}"
            case All(inners):
                return " and ".join(self._grouped(inner) for inner in inners)
            case Any_(inners):
                return " or ".join(self._grouped(inner) for inner in inners)
            case Choose(condition, yes, no):
                return f"({self.term(yes)} if {self.term(condition)} else {self.term(no)})"
            case Ranked(items, rank):
                return self._ranked(items, rank)
            case ArgMax(items):
                return f"argmax({', '.join(self.term(item) for item in items)})"
            case Lookup(keys, table):
                return f"table({', '.join(self.term(key) for key in keys)}; {len(table)} rows)"
            case _:
                assert_never(term)

    def law(self, law: Law) -> str:
        """A law with its parameters."""
        return f"{law.name}({', '.join(self.term(parameter) for parameter in law.parameters)})"

    def _grouped(self, term: Term) -> str:
        text = self.term(term)
        return f"({text})" if isinstance(term, (All, Any_, Comparison, Not)) else text

    def _sum(self, constant: Fraction, terms: Iterable[tuple[Term, Fraction]]) -> str:
        pieces = [(coefficient, self._factor(term)) for term, coefficient in terms]
        pieces.sort(key=lambda piece: piece[0] < 0)
        if constant or not pieces:
            pieces.append((constant, ""))
        text = ""
        for coefficient, name in pieces:
            sign = ("-" if coefficient < 0 else "") if not text else (" - " if coefficient < 0 else " + ")
            text += sign + _scaled(abs(coefficient), name)
        return text

    def _factor(self, term: Term) -> str:
        text = self.term(term)
        boolean = kind_of(term) is Kind.TRUTH and not isinstance(term, (Draw, Input))
        return f"[{text}]" if boolean else text

    def _product(self, factors: Iterable[tuple[Term, Fraction]]) -> str:
        above = [self._power(base, exponent) for base, exponent in factors if exponent > 0]
        below = [self._power(base, -exponent) for base, exponent in factors if exponent < 0]
        text = "·".join(above) or "1"
        if not below:
            return text
        return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'·'.join(below)})"

    def _power(self, base: Term, exponent: Fraction) -> str:
        text = self._factor(base)
        if exponent == Fraction(1, 2):
            return f"sqrt({text})"
        if isinstance(base, Affine):
            text = f"({text})"
        return text if exponent == 1 else f"{text}^{exponent if exponent.denominator == 1 else f'({exponent})'}"

    def _comparison(self, relation: str, difference: Term) -> str:
        constant = difference.constant if isinstance(difference, Affine) else Fraction(0)
        terms = difference.terms if isinstance(difference, Affine) else ((difference, Fraction(1)),)
        left = [(term, c) for term, c in terms if c > 0]
        right = [(term, -c) for term, c in terms if c < 0]
        if left and not right and constant:
            return f"{self._sum(Fraction(0), left)} {relation} {self._sum(-constant, [])}"
        flipped = {"<=": ">=", "<": ">", "==": "=="}[relation]
        if right and not left:
            return f"{self._sum(Fraction(0), right)} {flipped} {self._sum(constant, [])}"
        return (
            f"{self._sum(max(constant, Fraction(0)), left)} {relation} {self._sum(max(-constant, Fraction(0)), right)}"
        )

    def _ranked(self, items: tuple[Term, ...], rank: int) -> str:
        inner = ", ".join(self.term(item) for item in items)
        if rank in (0, len(items) - 1):
            return f"{'min' if rank == 0 else 'max'}({inner})"
        return f"ranked({rank + 1} of {inner})"


def _fraction(content: Fraction) -> str:
    return str(content)


def _scaled(size: Fraction, name: str) -> str:
    if not name:
        return _fraction(size)
    if size == 1:
        return name
    if name.startswith("1/"):
        if size.denominator == 1:
            return f"{size}{name[1:]}"
        return f"({size}){name[1:]}"
    return f"{size}·{name}" if size.denominator == 1 else f"({size})·{name}"


def shape_text(shape: Shape) -> str:
    """How a shape arranges the slots."""
    match shape:
        case Slot():
            return "the slot"
        case Sequence(container, None):
            return f"{_article(container)} {container} of the slots"
        case Sequence(container, items):
            return f"{_article(container)} {container} ({', '.join(shape_text(item) for item in items or ())})"
        case Record(keys, items):
            inner = (f"{to_python(key)!r}: {shape_text(item)}" for key, item in zip(keys, items, strict=True))
            return f"a dict {{{', '.join(inner)}}}"
        case _:
            assert_never(shape)


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def summary(program: Program) -> str:
    """What was traced, in one or a few lines."""
    nodes = in_order(program.root)
    about = "every input of this form" if program.concrete is None else f"the input {program.concrete!r} only"
    lines = [
        f"{program.name}: a program for {about}",
        "  "
        + ", ".join(
            (_count(program.paths, "path"), _count(len(draws_of(program.root)), "draw"), _count(len(nodes), "node"))
        ),
    ]
    if program.why_concrete:
        lines.append(f"  one program per input, since {program.why_concrete}")
    if program.arguments:
        lines.append("  with " + ", ".join(f"{name} = {given!r}" for name, given in program.arguments.items()))
    lines += [f"  the float {text} is read as {Fraction(text)}" for text in program.decimals]
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def explain(program: Program) -> str:
    """The program as an indented tree; a part that several places lead to is written once and then named."""
    names = Names(draws_of(program.root))
    arrivals = Counter(id(after) for node in in_order(program.root) for after in successors(node))
    labels: dict[int, str] = {}
    lines: list[str] = [summary(program), ""]
    waiting: list[tuple[Node, int, str]] = [(program.root, 1, "")]
    while waiting:
        node, depth, lead = waiting.pop()
        pad = "  " * depth
        if lead:
            lines.append("  " * (depth - 1) + lead)
        if id(node) in labels:
            lines.append(f"{pad}go to {labels[id(node)]}")
            continue
        if arrivals[id(node)] > 1 and not isinstance(node, (ReturnNode, RaiseNode)):
            labels[id(node)] = f"({len(labels) + 1})"
            lines.append(f"{pad}{labels[id(node)]}")
        lines.append(pad + _step(node, names))
        if isinstance(node, BranchNode):
            waiting += [(node.no, depth + 1, "else:"), (node.yes, depth + 1, "")]
        else:
            waiting += [(after, depth, "") for after in successors(node)]
    return "\n".join(lines)


def _step(node: Node, names: Names) -> str:
    match node:
        case DrawNode(draw, _):
            return f"{names.of(draw)} ~ {names.law(draw.law)}"
        case EmitNode(term, _):
            return f"emit {names.term(term)}"
        case BranchNode(condition, _, _):
            return f"if {names.term(condition)}:"
        case ReturnNode(shape):
            return f"return {shape_text(shape)}"
        case RaiseNode(exception):
            return f"raise {exception}"
        case _:
            assert_never(node)


def graphviz(program: Program) -> str:
    """The program as Graphviz text: ellipses draw, diamonds branch, boxes emit, double boxes end."""
    names = Names(draws_of(program.root))
    nodes = in_order(program.root)
    numbers = {id(node): f"n{at}" for at, node in enumerate(nodes)}
    lines = [f"digraph {_quoted(program.name)} {{", '  node [fontname="monospace"];']
    for node in nodes:
        shape, extra = _figure(node)
        label = _quoted(_step(node, names).removeprefix("if ").removesuffix(":"))
        lines.append(f"  {numbers[id(node)]} [shape={shape}{extra}, label={label}];")
        tags = ("yes", "no") if isinstance(node, BranchNode) else ("",)
        for tag, after in zip(tags, successors(node), strict=False):
            lines.append(
                f"  {numbers[id(node)]} -> {numbers[id(after)]}" + (f" [label={_quoted(tag)}];" if tag else ";")
            )
    return "\n".join([*lines, "}"])


def _figure(node: Node) -> tuple[str, str]:
    match node:
        case DrawNode():
            return "ellipse", ""
        case BranchNode():
            return "diamond", ""
        case EmitNode():
            return "box", ""
        case ReturnNode() | RaiseNode():
            return "box", ", peripheries=2"
        case _:
            assert_never(node)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
