"""A `.dip` file as a mechanism."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpverdict.errors import InputError, ProgramFileError, UntraceableError
from dpverdict.mechanism.constants import NOTHING, from_python
from dpverdict.mechanism.dip_language.chain import Chain
from dpverdict.mechanism.dip_language.check import check
from dpverdict.mechanism.dip_language.code import Code, compiled
from dpverdict.mechanism.dip_language.explore import Explorer
from dpverdict.mechanism.dip_language.grammar import parse
from dpverdict.mechanism.dip_language.mistakes import Text
from dpverdict.mechanism.dip_language.nodes import nodes
from dpverdict.mechanism.dip_language.running import Machine
from dpverdict.mechanism.dip_language.syntax import Type
from dpverdict.mechanism.explored import Explored
from dpverdict.mechanism.front import Mechanism
from dpverdict.mechanism.path_record import ConcreteInputNeeded, Limits, Untraceable
from dpverdict.mechanism.source import Source
from dpverdict.mechanism.structure import Epsilon, Input, Kind, Node, Program, Term
from dpverdict.mechanism.trace import Session

_LARGEST_FILE = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class ProgramFile(Explored):
    """A program of DiPC's language: run on plain numbers, or explored state by state.

    Its input is a list with a value for each input declaration, in their order.
    """

    code: Code
    source: Source

    @property
    def __name__(self) -> str:
        return Path(self.code.checked.text.file).stem

    @property
    def inputs(self) -> tuple[tuple[str, Type, int, int], ...]:
        """Name, type, smallest and largest value of each input, as declared."""
        return tuple(self.code.checked.inputs)

    @property
    def example(self) -> list[Any]:
        """An input: what is nearest to 0, or false."""
        return [False if kind is Type.BOOL else min(max(0, low), high) for _, kind, low, high in self.inputs]

    @property
    def claimed(self) -> dict[str, str]:
        """Domain and length that the declarations stand for, as a claim writes them.

        Where inputs differ in type or bounds, no domain of equal items says so: then there is a length alone.
        """
        first = self.inputs[0][1:]
        length = {"length": str(len(self.inputs))}
        if any(declared[1:] != first for declared in self.inputs):
            return length
        return {"domain": "boolean" if first[0] is Type.BOOL else f"integer:{first[1]},{first[2]}"} | length

    def __call__(self, noise: Any, input: Any, epsilon: Any) -> Any:
        """Run once; a run that goes wrong raises ValueError, ZeroDivisionError, OverflowError or DoesNotReturn."""
        self.check_input(input)
        store = {name: _plain(value) for (name, *_), value in zip(self.inputs, input, strict=True)}
        values = [store[name] for name in Machine(self.code, noise, epsilon).run(store)]
        return values[0] if len(values) == 1 else values

    def check_input(self, input: Any) -> None:
        """One value for each declaration, of its type and inside the range line."""
        if not isinstance(input, (list, tuple, np.ndarray)) or len(input) != len(self.inputs):
            raise self._input_error(f"{input!r} has not one value for each input")
        low, high = self.code.checked.low, self.code.checked.high
        for (name, kind, *_), value in zip(self.inputs, input, strict=True):
            given = _plain(value)
            if type(given) is not (bool if kind is Type.BOOL else int):
                raise self._input_error(f"{given!r} cannot be the value of {name}, which is {kind.value}")
            if kind is Type.INT and not low <= given <= high:
                raise self._input_error(f"{given!r} is no value of {name}: the range line allows {low} to {high}")

    def _input_error(self, message: str) -> InputError:
        listed = ", ".join(f"{kind.value} {name}" for name, kind, *_ in self.inputs)
        return InputError(
            "INPUT-040",
            message[:300],
            place=self.code.checked.text.file,
            why=f"the file declares {len(self.inputs)} inputs: {listed[:200]}",
            fix=f"--input {','.join(str(value).lower() for value in self.example)}",
        )

    def program(self, input: Any, epsilon: Term, session: Session, *, concrete: bool) -> tuple[Node, int]:
        """See `Explored`."""
        chain = self.chain(input, epsilon, session, concrete=concrete)
        cycle = chain.cycle()
        if cycle is None:
            return nodes(chain)
        place = min((chain.states[at].place for at in cycle), key=lambda place: (place.line, place.start))
        if len(chain.never_ends()) == len(chain.states):
            what, fix = "it never returns", "a way out of the loop"
        else:
            what = "a loop without a bound: a run may pass the same state again and again"
            fix = "count the rounds, and let the condition end them: while b && n < most do … n = n + one; od;"
        raise Untraceable(what, fix, place)

    def chain(
        self, input: Any, epsilon: Term | None = None, session: Session | None = None, *, concrete: bool = False
    ) -> Chain:
        """The chain of the program's states, also where loops have no bound; the input's form, or just this input.

        Raises `Untraceable` and `ConcreteInputNeeded`.
        """
        self.check_input(input)
        terms: dict[str, Term] = {}
        for at, ((name, kind, *_), value) in enumerate(zip(self.inputs, input, strict=True)):
            constant = from_python(_plain(value))
            assert constant is not None
            terms[name] = constant if concrete else Input((at,), Kind.TRUTH if kind is Type.BOOL else Kind.INTEGER)
        return Explorer(self.code, session or Session(Limits()), epsilon or Epsilon()).chain(terms)


def mechanism_from_file(path: str | Path) -> Mechanism:
    """The mechanism of a `.dip` file.  Raises `ProgramFileError`, at line and column."""
    file = Path(path)
    content = _read(file)
    text = Text(str(path), content)
    code = compiled(check(text, parse(text)))
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    return Mechanism(ProgramFile(code, Source(str(path), sha256, str(Path.cwd()))))


def program_file_of(mechanism: object) -> ProgramFile | None:
    """The program file that a mechanism was made from, None if it was made otherwise."""
    function = mechanism.function if isinstance(mechanism, Mechanism) else None
    return function if isinstance(function, ProgramFile) else None


def program_or_chain(mechanism: Mechanism, input: Any, arguments: Mapping[str, Any] | None = None) -> Program | Chain:
    """The program for an input; where a loop of a program file has no bound, the chain of its states.

    Raises `UntraceableError` where there is neither.
    """
    try:
        return mechanism.program_for(input, arguments)
    except UntraceableError:
        chain = _cyclic_chain(mechanism, input, arguments)
        if chain is None:
            raise
    return chain


def _cyclic_chain(mechanism: Mechanism, input: Any, arguments: Mapping[str, Any] | None) -> Chain | None:
    file = program_file_of(mechanism)
    if file is None:
        return None
    known = from_python(mechanism.arguments(arguments).get(mechanism.epsilon_name or ""))
    epsilon = None if known is None or known == NOTHING else known
    try:
        chain = file.chain(input, epsilon, Session(mechanism.limits), concrete=True)
        # Where other inputs of the form bring a cycle, there is no program for them all.
        cyclic = chain.cycle() or file.chain(input, epsilon, Session(mechanism.limits)).cycle()
    except (Untraceable, ConcreteInputNeeded):
        return None
    return chain if cyclic else None


def _read(file: Path) -> str:
    """The text, with line ends as `\\n` and without a byte order mark."""
    raw = b""
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise _unreadable(file, f"it has more than {_LARGEST_FILE:,} bytes")
        raw = file.read_bytes()
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _unreadable(file, f"line {line} is not UTF-8: byte {raw[error.start]:#x}") from None
    except OSError as error:
        raise _unreadable(file, f"{error.strerror or error}, seen from {Path.cwd()}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unreadable(file: Path, why: str) -> ProgramFileError:
    return ProgramFileError(
        "DIP-001",
        "the file cannot be read",
        place=str(file),
        why=why,
        fix="a text file in UTF-8, such as those in examples/dipc",
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
