"""What a command is about: the mechanism that TARGET names, with its input and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpverdict.catalog import Entry
from dpverdict.cli import options
from dpverdict.cli.values import Typed, parse
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.surroundings import user_code
from dpverdict.target import entry_of, load


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism, how it was named, and the values of its parameters."""

    target: str
    mechanism: Mechanism
    entry: Entry | None
    arguments: dict[str, object]

    def input_from(self, text: str) -> object:
        """The input that was typed; a catalogue entry about vectors takes a lone number as a vector of one."""
        value = parse(Typed("--input", text))
        if self.entry is not None and self.entry.vector and not isinstance(value, list | dict):
            return [value]
        return value


def find(target: str, arguments: Sequence[str] | None) -> Subject:
    """Load the target and read its arguments."""
    with user_code():
        mechanism = load(target)
    epsilon = mechanism.epsilon_name
    known = (*mechanism.parameter_names, *([epsilon] if epsilon else []))
    parsed = options.arguments(arguments or (), known)
    if epsilon in parsed:
        options.epsilon(Typed(f"--arg {epsilon}=", str(parsed[epsilon])))
    return Subject(target, mechanism, entry_of(target), parsed)


def plain(value: object) -> object:
    """An input as JSON knows it: tuples are lists."""
    match value:
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case _:
            return value
