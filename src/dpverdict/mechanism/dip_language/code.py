"""A checked file as a list of instructions, and what is known of each: what is live, and what is decided by then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dpverdict.mechanism.dip_language.check import Checked
from dpverdict.mechanism.dip_language.syntax import (
    Apply,
    Assignment,
    At,
    Chance,
    Choice,
    Declaration,
    Exit,
    Expression,
    If,
    Literal,
    Name,
    Noise,
    Return,
    Statement,
    While,
)


@dataclass(frozen=True, slots=True)
class Step:
    """An assignment or a draw, then the next instruction; inside a loop its value is settled at once."""

    does: Assignment | Noise | Choice
    at: At
    looping: bool


@dataclass(frozen=True, slots=True)
class Test:
    """Go on if the condition holds, or with the probability; else at `otherwise`."""

    condition: Expression
    is_chance: bool
    otherwise: int
    at: At
    looping: bool


@dataclass(frozen=True, slots=True)
class Goto:
    """Go on elsewhere."""

    to: int
    at: At
    looping: bool = True


@dataclass(frozen=True, slots=True)
class Leave:
    """End with the values of these variables."""

    names: tuple[str, ...]
    at: At
    looping: bool = False


Instruction: TypeAlias = Step | Test | Goto | Leave


@dataclass(frozen=True, slots=True)
class Code:
    """The instructions, and for each position what is known there; sets of variables are bits of a number."""

    checked: Checked
    instructions: tuple[Instruction, ...]
    bits: Mapping[str, int]
    live: tuple[int, ...]
    """The variables whose values are read before they change."""
    assigned: tuple[int, ...]
    """The variables that are assigned from here on."""
    read: tuple[int, ...]
    """The variables that are read from here on by something else than a return."""
    returned: tuple[tuple[str, ...], ...]
    """The variables that all returns which can be reached begin with."""
    moving: int
    """The variables that returns have at more than one position."""

    def needs(self, place: int, name: str, emitted: Container[str]) -> bool:
        """Whether a variable's value matters from here on, when the slots of those variables are emitted."""
        bit = self.bits[name]
        only_returned = name in emitted and not bit & (self.read[place] | self.moving)
        return bool(bit & self.live[place]) and not only_returned

    def is_final(self, place: int, name: str) -> bool:
        """Whether a variable keeps its value from here on."""
        return not self.bits[name] & self.assigned[place]

    def is_read(self, place: int, name: str) -> bool:
        """Whether a variable is read from here on by something else than a return."""
        return bool(self.bits[name] & self.read[place])


def compiled(checked: Checked) -> Code:
    """The code of a checked file.  Raises `ProgramFileError` where a variable may have no value, or no return comes."""
    builder = _Builder(checked)
    builder.block(checked.statements, looping=False)
    end = len(checked.text.content.rstrip())
    builder.instructions.append(Leave(checked.outputs, At(max(0, end - 1), end)))
    code = tuple(builder.instructions)
    _check_ends(checked, code)
    _check_defined(checked, code)
    return _analysed(checked, code)


class _Builder:
    """Lays statements out one after the other."""

    def __init__(self, checked: Checked) -> None:
        self._outputs = checked.outputs
        self._types = checked.types
        self.instructions: list[Instruction] = []

    def block(self, statements: Iterable[Statement], *, looping: bool) -> None:
        for statement in statements:
            self._statement(statement, looping=looping)

    def _statement(self, statement: Statement, *, looping: bool) -> None:
        code, resolved = self.instructions, self._types.resolved
        match statement:
            case Declaration():
                pass
            case Assignment(target, value, at):
                code.append(Step(Assignment(target, resolved(value), at), at, looping))
            case Noise(target, law, rate, operands, at):
                code.append(Step(Noise(target, law, rate, tuple(map(resolved, operands)), at), at, looping))
            case Choice():
                code.append(Step(statement, statement.at, looping))
            case Return(names, at):
                code.append(Leave(tuple(name.name for name in names), at))
            case Exit(at):
                code.append(Leave(self._outputs, at))
            case Chance(probability, inner, at):
                self._guarded(Test(probability, True, 0, at, looping), (inner,), looping=looping)
            case If(condition, yes, no, at):
                self._guarded(Test(resolved(condition), False, 0, at, looping), yes, looping=looping, otherwise=no)
            case While(condition, body, at):
                start = len(code)
                self._guarded(Test(resolved(condition), False, 0, at, True), body, looping=True, back_to=start)

    def _guarded(
        self,
        test: Test,
        body: Sequence[Statement],
        *,
        looping: bool,
        otherwise: Sequence[Statement] = (),
        back_to: int | None = None,
    ) -> None:
        """The body behind its test; then, if there is one, the other side, or the way back."""
        code, place = self.instructions, len(self.instructions)
        code.append(test)
        self.block(body, looping=looping)
        skip = len(code)
        if otherwise or back_to is not None:
            code.append(Goto(back_to or 0, test.at, looping))
        code[place] = Test(test.condition, test.is_chance, len(code), test.at, test.looping)
        if back_to is not None:
            return
        self.block(otherwise, looping=looping)
        if otherwise:
            code[skip] = Goto(len(code), test.at, looping)


# --- what an instruction does ---------------------------------------------------------------------------------


def next_of(place: int, instruction: Instruction) -> tuple[int, ...]:
    """Where it may go on."""
    match instruction:
        case Step():
            return (place + 1,)
        case Test():
            always = not instruction.is_chance and instruction.condition == Literal(True, instruction.condition.at)
            return (place + 1,) if always else (place + 1, instruction.otherwise)
        case Goto(to):
            return (to,)
        case Leave():
            return ()


def is_draw(instruction: Instruction) -> bool:
    """Whether it draws noise."""
    match instruction:
        case Step(does):
            return not isinstance(does, Assignment)
        case Test():
            return instruction.is_chance
        case _:
            return False


def _read_by(instruction: Instruction) -> list[Name]:
    match instruction:
        case Step(Assignment(_, value)):
            return names_in(value)
        case Step(Noise(_, _, rate, operands)):
            return [name for part in (rate, *operands) for name in names_in(part)]
        case Step(Choice(_, rate, _, weights)):
            return [name for part in (*((rate,) if rate else ()), *weights) for name in names_in(part)]
        case Test(condition):
            return names_in(condition)
        case _:
            return []


def names_in(expression: Expression) -> list[Name]:
    """The variables of an expression or formula."""
    match expression:
        case Literal():
            return []
        case Name(name):
            return [] if name in ("eps", "E") else [expression]
        case Apply(_, operands):
            return [name for operand in operands for name in names_in(operand)]


# --- what is known at each position ---------------------------------------------------------------------------


def _forward(code: Sequence[Instruction], start: int, writes: Sequence[int], everything: int) -> list[int | None]:
    """For each position, the variables (as bits) that have a value on every way there; None if there is no way."""
    known: list[int | None] = [None] * len(code)
    known[0], waiting = start, [0]
    while waiting:
        place = waiting.pop()
        after = (known[place] or 0) | writes[place]
        for to in next_of(place, code[place]):
            before = known[to]
            now = after if before is None else before & after
            if now != before:
                known[to] = now
                waiting.append(to)
    return known


def _bits(checked: Checked) -> dict[str, int]:
    return {name: 1 << at for at, name in enumerate(checked.variables)}


def _writes(code: Sequence[Instruction], bits: dict[str, int]) -> list[int]:
    return [bits[one.does.target.name] if isinstance(one, Step) else 0 for one in code]


def _check_ends(checked: Checked, code: Sequence[Instruction]) -> None:
    """The end of the file must not be reached, unless there is something to return there."""
    if checked.outputs:
        return
    nothing = [0] * len(code)
    if _forward(code, 0, nothing, 0)[-1] is not None:
        raise checked.text.error(
            "DIP-060",
            "the program may end without a return",
            code[-1].at,
            why="every way through the program ends with a return",
            fix="return out0;  as the last line",
        )


def _check_defined(checked: Checked, code: Sequence[Instruction]) -> None:
    """Every variable has a value where it is read."""
    bits = _bits(checked)
    given = sum(bits[name] for name, *_ in checked.inputs)
    known = _forward(code, given, _writes(code, bits), 0)
    for instruction, defined in zip(code, known, strict=True):
        if defined is None:
            continue
        read = _read_by(instruction)
        if isinstance(instruction, Leave):
            read = [Name(name, instruction.at) for name in instruction.names]
        for name in read:
            if not defined & bits[name.name]:
                raise checked.text.error(
                    "DIP-061",
                    f"{name.name} may have no value here",
                    name.at,
                    why="a variable is given a value before it is read, on every way through the program",
                    fix=f"assign {name.name} above, before any if",
                )


def _analysed(checked: Checked, code: tuple[Instruction, ...]) -> Code:
    bits = _bits(checked)
    writes = _writes(code, bits)
    reads = [sum(bits[name] for name in {name.name for name in _read_by(one)}) for one in code]
    leaves = [sum(bits[name] for name in set(one.names)) if isinstance(one, Leave) else 0 for one in code]
    live = _backward(code, lambda at, after: (after & ~writes[at]) | reads[at] | leaves[at])
    assigned = _backward(code, lambda at, after: after | writes[at])
    read = _backward(code, lambda at, after: after | reads[at])
    moving = sum(bits[name] for name in _moving(code))
    return Code(checked, code, bits, tuple(live), tuple(assigned), tuple(read), _returned(code), moving)


def _moving(code: Sequence[Instruction]) -> frozenset[str]:
    places = {(name, at) for one in code if isinstance(one, Leave) for at, name in enumerate(one.names)}
    return frozenset(name for name, count in Counter(name for name, _ in places).items() if count > 1)


def _backward(code: Sequence[Instruction], before: Callable[[int, int], int]) -> list[int]:
    """For each position, what the instruction makes of what holds after it; the union over all ways on."""
    found = [0] * len(code)
    changed = True
    while changed:
        changed = False
        for place in range(len(code) - 1, -1, -1):
            after = 0
            for to in next_of(place, code[place]):
                after |= found[to]
            now = before(place, after)
            changed = changed or now != found[place]
            found[place] = now
    return found


def _returned(code: Sequence[Instruction]) -> tuple[tuple[str, ...], ...]:
    """For each position, the longest beginning that all returns share; loops need a few rounds."""
    found: list[tuple[str, ...] | None] = [None] * len(code)
    changed = True
    while changed:
        changed = False
        for place in range(len(code) - 1, -1, -1):
            instruction = code[place]
            if isinstance(instruction, Leave):
                now: tuple[str, ...] | None = instruction.names
            else:
                ways = [found[to] for to in next_of(place, instruction)]
                now = _shared([way for way in ways if way is not None])
            changed = changed or now != found[place]
            found[place] = now
    return tuple(names or () for names in found)


def _shared(ways: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    if not ways:
        return None
    first, *others = ways
    if not others:
        return first
    length = 0
    while all(length < len(way) for way in ways) and all(way[length] == first[length] for way in others):
        length += 1
    return first[:length]
