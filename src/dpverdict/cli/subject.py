"""What a command is about: the mechanism that TARGET names, with its input and its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dpverdict.catalog import Entry
from dpverdict.cli import options
from dpverdict.cli.values import Typed, parse
from dpverdict.errors import InputError, UsageError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox, FunctionBox, Options
from dpverdict.mechanism.calling import name_of
from dpverdict.mechanism.dip_language.program_file import program_file_of
from dpverdict.mechanism.recorded import RecordedSamples
from dpverdict.mechanism.surroundings import user_code
from dpverdict.target import entry_of, load, load_runnable

M = TypeVar("M", bound=Mechanism | BlackBox, covariant=True)


@dataclass(frozen=True, slots=True)
class Subject(Generic[M]):
    """A mechanism, how it was named, and the values of its parameters."""

    target: str
    mechanism: M
    entry: Entry | None
    arguments: dict[str, object]

    @property
    def epsilon_name(self) -> str | None:
        """What the mechanism calls its ε, None if it has none."""
        return self.mechanism.epsilon_name if isinstance(self.mechanism, Mechanism | FunctionBox) else None

    def input_from(self, text: str | None, option: str = "--input") -> object:
        """The input that was typed for an option, by default the example that the mechanism brings with it.

        A lone number is a vector of one for a `.dip` file or an entry about vectors.
        """
        if text is None:
            if self.example is None:
                raise _no_input(self.target)
            return self.example
        if isinstance(self.mechanism, RecordedSamples):
            return text
        value = parse(Typed(option, text))
        is_vector = program_file_of(self.mechanism) is not None or (self.entry is not None and self.entry.vector)
        return [value] if is_vector and not isinstance(value, list | dict) else value

    @property
    def example(self) -> object:
        """An input that the mechanism brings with it, None if it has none."""
        file = program_file_of(self.mechanism)
        return file.example if file is not None else None if self.entry is None else plain(self.entry.example)

    def input_or_zeros(self, command: str, text: str | None, length: int | None) -> object:
        """The input of --input, that of --length, or the mechanism's example.  Raises UsageError and InputError."""
        if text is not None and length is not None:
            raise UsageError(
                "USAGE-014",
                "the input is given twice, by --input and by --length",
                excerpt=Typed("--input", f"{text} --length {length}").whole("got both"),
                why="--length N stands for an input of N zeros",
                fix=f"leave out one of them: --input {text}",
            )
        if text is not None:
            return self.input_from(text)
        example = self.example
        if length is not None:
            fits = isinstance(example, list) and len(example) == length and self.entry is None
            return example if fits else [0] * length
        if example is not None:
            return example
        raise InputError(
            "INPUT-025",
            "the mechanism needs an input to be looked into",
            excerpt=Typed(f"dpverdict {command}", self.target).whole("neither --input nor --length"),
            why="nothing here says whether the input is a number or a list, and how long it is",
            fix="--length 3 for a list of three numbers, or --input 0 for a number",
        )


def find(target: str, arguments: Sequence[str] | None) -> Subject[Mechanism]:
    """Load a target that can be looked into, and read its arguments."""
    with user_code():
        mechanism = load(target)
    return _with_arguments(target, mechanism, arguments)


def find_runnable(target: str, arguments: Sequence[str] | None, how: Options) -> Subject[Mechanism | BlackBox]:
    """Load a target of any form, and read its arguments."""
    with user_code():
        # Arguments decide what a function's other parameters are for, so they are needed to load it.
        mechanism = load_runnable(target, how, options.arguments(arguments or (), None))
    if isinstance(mechanism, Mechanism):
        _refuse_how(target, how)
        return _with_arguments(target, mechanism, arguments)
    entry = entry_of(target)
    calling = mechanism.calling if isinstance(mechanism, FunctionBox) else None
    parsed = options.arguments(arguments or (), calling.others if calling and not calling.takes_any_name else None)
    subject: Subject[Mechanism | BlackBox] = Subject(target, mechanism, entry, {**_of_entry(entry), **parsed})
    _check_epsilon(subject.epsilon_name, parsed)
    return subject


def _with_arguments(target: str, mechanism: Mechanism, arguments: Sequence[str] | None) -> Subject[Any]:
    epsilon = mechanism.epsilon_name
    known = (*mechanism.parameter_names, *([epsilon] if epsilon else []))
    parsed = options.arguments(arguments or (), known)
    _check_epsilon(epsilon, parsed)
    entry = entry_of(target)
    return Subject(target, mechanism, entry, {**_of_entry(entry), **parsed})


def _of_entry(entry: Entry | None) -> Mapping[str, object]:
    return {} if entry is None else entry.arguments


def _no_input(target: str) -> InputError:
    return InputError(
        "INPUT-029",
        "--input is missing",
        excerpt=Typed("dpverdict sample", target).whole("--input belongs here"),
        why="only entries of the catalogue have an example that could stand in for it",
        fix="--input 0,1 for a list of numbers, or --input 0 for a number",
    )


def _check_epsilon(name: str | None, parsed: dict[str, object]) -> None:
    if name in parsed:
        options.epsilon(Typed(f"--arg {name}=", str(parsed[name])))


def _refuse_how(target: str, how: Options) -> None:
    """Options of black boxes mean nothing for a function over a noise source."""
    given = {
        "--observe": how.observe and name_of(how.observe.function),
        "--runs-arg": how.runs_arg,
        "--rng-arg": how.rng_arg,
    }
    for option, value in given.items():
        if isinstance(value, str):
            raise UsageError(
                "USAGE-015",
                f"{option} is for black boxes, and {target} is a function over a noise source",
                excerpt=Typed(option, value).whole("here"),
                why="such a function is called in one way, and returns plain values",
                fix=f"leave {option} out",
            )


def plain(value: object) -> object:
    """An input as JSON knows it: tuples are lists."""
    match value:
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case _:
            return value
